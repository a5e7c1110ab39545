// What the configuration of DeepSpeed may hold: the keys, their types and defaults, as the package itself
// told them to tests/jobs/record_deepspeed.py, and in our words what the most important ones mean.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stepzero::rules::deepspeed {

enum class KeyType : unsigned char { any, boolean, integer, number, text, list, table, removed };
constexpr double unbounded = -std::numeric_limits<double>::infinity();

struct Key {
  std::string_view
      section;  // "", "zero_optimization", "zero_optimization.offload_param"; "optimizer.params:AdamW"
  std::string_view name;
  KeyType type;
  std::string_view default_value;  // empty: none, or it is made by code
  double least;
  std::string_view choices;  // "none|cpu|nvme"
  std::string_view instead;  // what replaces a deprecated key
  bool strict;               // another key in the section is refused
};

// The version that was asked.
constexpr std::string_view asked = "DeepSpeed 0.19";

std::span<const Key> keys();
const Key* find_key(std::string_view section, std::string_view name);
// Those that may be written in the section.
std::vector<std::string_view> names_of(std::string_view section);
bool is_section(std::string_view section);
bool is_strict(std::string_view section);
// Strict today, and a plain dictionary in versions that are still in use; or not read in every program.
bool was_open(std::string_view section);
// The parameters of an optimizer.
bool is_of_optimizer(std::string_view section);

// "an integer, 500000000 by default"
std::string displayed_type(const Key& key);
// What it means; empty for most.
std::string_view purpose(std::string_view section, std::string_view name);

}  // namespace stepzero::rules::deepspeed
