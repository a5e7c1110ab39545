// The rows of optimizers.
#pragma once

#include "libraries/table/native.hpp"

#include <string>
#include <vector>

namespace stepzero::libraries {

std::vector<Row> optimizer_rows();
// Those of other packages, and what their constructors take.
struct PackageOptimizer {
  std::string path;
  std::string_view signature;
};
const std::vector<PackageOptimizer>& package_optimizers();
Value optimizer_step(Call& call);
// Does it keep something of the gradients for its next step? Plain descent does not; what a class of the
// program does is its own.
bool keeps_state(const Instance& optimizer);
bool has_step_hooks(Runtime& run, const Instance& optimizer);

}  // namespace stepzero::libraries
