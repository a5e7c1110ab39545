#include "snapshot/snapshot.hpp"

namespace stepzero::snapshot {
std::string Shown::short_text() const { return kind; }
Result analyze(const program::Sources& sources, const std::string& path, const Options&) {
  Result result;
  if (!sources.module(path)) result.read.push_back(path);
  return result;
}
} // namespace stepzero::snapshot
