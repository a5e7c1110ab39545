// The arguments of Lightning's Trainer: which there are, and which values it refuses. Data that the run of a
// program and the rules of configurations share. As Trainer(…) of lightning 2.6 answered.
#pragma once

#include "interpreter/refusals.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stepzero::libraries {

struct LightningSetting {
  enum class Kind : unsigned char { none, truth, whole, real, text, unknown };
  std::string name;
  Kind kind = Kind::unknown;
  bool truth = false;
  double number = 0;
  std::string text;
};

struct LightningMisuse {
  std::size_t at = 0;  // of the settings
  std::optional<std::size_t> other;
  interpreter::Refusal refusal;
  std::string_view meant;  // the name, or the value, that looks meant
  bool of_name = false;
  bool is_certain = true;  // whatever else is installed
  bool is_former = false;  // right in Lightning 1
};

std::vector<LightningMisuse> misuses_of_lightning(std::span<const LightningSetting> settings);
bool is_lightning_argument(std::string_view name);
std::vector<std::string_view> lightning_arguments();
// The values that are named, with '|' between them; empty: any.
std::string_view lightning_choices(std::string_view name);

}  // namespace stepzero::libraries
