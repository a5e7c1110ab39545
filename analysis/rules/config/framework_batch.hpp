// The batch that a framework's trainer learns from, by the arguments of the program's own calls: Lightning's
// Trainer, and that of transformers.
#pragma once

#include "rules/report.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace stepzero::rules::config {

// A number that a call gives by its name; `otherwise` where it is not given, nothing where it is not known.
std::optional<std::int64_t> number_given(const Record& record, const syntax::CallExpr& call,
    std::uint32_t chunk, std::string_view name, std::int64_t otherwise);

struct FrameworkBatch {
  Place place;  // where the size of a batch is given
  const interpreter::CallSite* calls = nullptr;
  Place trained;  // where the training is begun
  std::int64_t batch = 0, accumulation = 1, processes = 1;
  bool of_loader = true;  // a loader has the size; else the framework's arguments
};
// `launched`: the processes of a known launch. Nothing where something of a training is not known.
std::optional<std::vector<FrameworkBatch>> framework_batches(
    const Record& record, std::optional<std::int64_t> launched);

}  // namespace stepzero::rules::config
