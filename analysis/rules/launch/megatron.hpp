// Launches of Megatron: what tells them from others, and the options that its parser declares.
#pragma once

#include "rules/documents/check.hpp"
#include "rules/launch/line.hpp"

#include <string_view>

namespace stepzero::rules::launch {

// Is the script of the launch, or a module of the program that it imports, of this package? Of a script whose
// text is not there, only its name could tell otherwise: yes.
bool is_of_package(const DocumentInput& input, const LaunchLine& line, std::string_view package);
// It hands over several options that only Megatron has under these names.
bool is_megatron(const DocumentInput& input, const LaunchLine& line);

// Tells each option that Megatron does not declare and that is nearly one that it does.
void judge_megatron_options(const DocumentInput& input, const LaunchLine& line, DocumentReport& report);

}  // namespace stepzero::rules::launch
