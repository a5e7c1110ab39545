// What is wrong with the name or the value of a variable of the environment, whoever sets it: a script of the
// shell or a program.
#pragma once

#include "rules/finding.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepzero::rules::launch {

struct SettingProblem {
  Severity severity{};
  bool at_value = false;  // of the value, and not of the name
  std::string message;
  std::string rename;       // what the name should be; empty: nothing is offered
  bool is_certain = false;  // the new name means the same
};

// `value`: nothing where it is not known.
std::vector<SettingProblem> judge_setting(std::string_view name, const std::optional<std::string>& value);

}  // namespace stepzero::rules::launch
