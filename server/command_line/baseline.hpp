// Findings that are known already: what `--baseline` leaves out. They are recognized by rule and content, not
// by line, so that edits elsewhere in a file do not bring them back.
#pragma once

#include "server/command_line/fingerprint.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>

namespace stepzero::server {

class Baseline {
public:
  void add(const Fingerprint& finding, std::size_t count = 1) { counts_[finding] += count; }
  // True if the finding is a known one; each known one answers once.
  bool take(const Fingerprint& finding);
  // Known ones of these files that were not taken: they are mended, or their line has changed.
  std::size_t left(const std::set<std::string>& paths) const;
  const std::map<Fingerprint, std::size_t>& counts() const { return counts_; }

private:
  std::map<Fingerprint, std::size_t> counts_;
};

struct ReadBaseline {
  std::optional<Baseline> baseline;
  std::string reason;  // why there is none, in one line
};
ReadBaseline read_baseline(const std::string& path);

// The text of a baseline file that lies in `folder`. Sorted, a finding a line: made to be reviewed and
// merged.
std::string baseline_text(const Report& report, const std::string& folder);

}  // namespace stepzero::server
