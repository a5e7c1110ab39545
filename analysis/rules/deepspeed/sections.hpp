// The tables of a configuration of DeepSpeed under the names that keys.hpp has for them, and its values as
// DeepSpeed takes them.
#pragma once

#include "rules/deepspeed/keys.hpp"
#include "rules/documents/check.hpp"

#include <functional>
#include <optional>

namespace stepzero::rules::deepspeed {

// Each table whose keys are known: the configuration itself first.
void each_section(
    const Node& root, const std::function<void(std::string_view section, const Node& table)>& each);
// The section that a key opens in `section`, for where tables lie in it.
std::string section_of(const Node& root, std::string_view section, std::string_view key);

bool is_auto(const Node* value);
// What is written for a number or a truth value, as pydantic reads it; nothing where it is absent, "auto" or
// unreadable.
std::optional<std::int64_t> integer(const Node* value);
std::optional<bool> truth(const Node* value);
// The stage of ZeRO; nothing where it is "auto" or cannot be read.
std::optional<std::int64_t> stage_of(const Node& root);

}  // namespace stepzero::rules::deepspeed
