// The memory of training steps as one self-contained page, without a script.
#pragma once

#include "footprint/footprint.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stepzero::server {

// The peak with so many samples in a batch.
struct BatchRow {
  std::int64_t batch = 0;
  footprint::Amount peak;
  std::int64_t saved = 0;  // for the backward
};
struct Batches {
  std::vector<BatchRow> rows;
  std::optional<std::int64_t> fits;  // the largest; 0: not even one
  // Of larger batches less is known than of those in `rows`; then, where there is a limit, what fits by the
  // growth of the last rows.
  bool ends_early = false;
  std::optional<std::int64_t> estimate;
};

// One program.
struct MemoryPart {
  std::string path;  // as it is shown
  std::shared_ptr<const footprint::Footprint> footprint;
  Batches batches;
  std::string batch_name;
};
// `limit`: bytes of the GPU; 0: not said.
std::string memory_page(const std::vector<MemoryPart>& parts, std::int64_t limit, int world);

}  // namespace stepzero::server
