// The GPUs that a job asks for, where they are of a kind without units for bfloat16.
#pragma once

#include "documents/document.hpp"
#include "rules/launch/line.hpp"

#include <string>

namespace stepzero::rules::config::precision_mismatch {

// "V100"; empty: the launch asks for no kind, or for one that has them.
std::string gpus_without_bfloat16(const documents::Document& document, const launch::LaunchLine& line);

}  // namespace stepzero::rules::config::precision_mismatch
