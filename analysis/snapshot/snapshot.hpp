// The analysis of one file: Python text in, findings and facts out. The top of analysis/; what the server and
// the command line call. A pure function of the sources and the options; safe to call from many threads at
// once.
#pragma once

#include "footprint/footprint.hpp"
#include "program/sources.hpp"
#include "rules/finding.hpp"
#include "rules/rule.hpp"
#include "snapshot/launches.hpp"
#include "syntax/background.hpp"
#include "syntax/phase.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stepzero::snapshot {

// A known value, ready to be shown. `kind`: tensor, tuple, list, dict, int, float, bool, str, module, none,
// dtype, device.
struct DisplayValue {
  std::string kind;
  // tensor: each dimension an int or the text of an expression; nullopt: unknown rank; a partly known shape
  // starts or ends with "...".
  struct Dim {
    bool is_int = false;
    std::int64_t value = 0;
    std::string text;
  };
  std::optional<std::vector<Dim>> shape;
  std::string dtype;                // "float32", or empty
  std::string device;               // "cuda", "cuda:0", "cpu", or empty
  std::string value;                // int, float, bool, str: the value's text, if known
  std::vector<DisplayValue> items;  // tuple, list
  bool optional = false;            // or None
  // One line: "float32[B, T, 768]", "(float32[2, 3], int64[2])", "int = 3 * B".
  std::string short_text() const;
};

// What the run knows of a place: each assigned name, each parameter with a known value, each attribute set on
// self and each expression statement (`is_place`), and every other expression (for hover).
struct Fact {
  syntax::Span span;  // absolute bytes, in the analyzed file
  std::string name;   // "x", "self.fc1"; the text of an expression statement; empty for other expressions
  bool is_place = false;
  bool is_assignment = false;  // takes an inlay hint after the name
  DisplayValue value;
  // Where each dimension came from; null: not told. Facts of one shape share it.
  std::shared_ptr<const std::vector<rules::Related>> origins;
};

struct Result;
struct Options;
struct Run;
struct Schedule;

// What the analysis of a file leaves for the next one of the same path: its whole run. Belongs to one
// analysis at a time.
class RunCache {
public:
  RunCache();
  ~RunCache();
  RunCache(RunCache&&) noexcept;
  RunCache& operator=(RunCache&&) noexcept;

  // Edits have left so much behind in it that a run from the beginning, where nobody waits for it, is better.
  // Some edits later it is dropped.
  bool is_bloated() const;

private:
  friend Result analyze(const program::Sources&, const std::string&, const Options&);
  // The run, if the file can be run again from it; the memory is empty then.
  std::unique_ptr<Run> take(const program::Sources& sources, const std::string& path, std::uint64_t steps);
  void keep(std::unique_ptr<Run> run);
  std::unique_ptr<Run> run_;
};

struct Options {
  std::uint64_t steps = 1'500'000;  // budget of abstract steps; out of budget means unknown
  // A rule is not run if it stands here.
  std::vector<std::string> ignore;
  // Not empty: only these run. Both lists take ids ("amp/unscaled-step") and families ("amp").
  std::vector<std::string> select;
  std::int64_t gpu_memory = 0;  // bytes that a program may take; 0: not told
  bool want_facts = true;
  bool want_schedule = false;
  bool want_footprint = false;          // beside the facts
  bool want_launched = false;           // with it: that of each launch
  std::uint32_t why_line = 0;           // of which to tell why nothing is found there, from 1; 0: none
  syntax::PhaseClock* clock = nullptr;  // told what goes on; then `background` is empty
  int world = 0;  // ranks of the schedule; 0: two, or as many as the program is made for
  // Called with the result as it is before its facts and schedule are collected, on the same thread: findings
  // are what somebody waits for. Before that perhaps with a partial one, where an edit of one function is
  // answered before the rest of the file has been run again.
  std::function<void(const Result&)> on_findings;
  // How scripts launch the path, asked once and only where the program reads something of it. Empty: nobody
  // knows.
  std::function<LaunchesOfOne()> launches;
  // What launch lines and programs take the path for, if it is a configuration. Empty: nobody knows.
  std::function<rules::Role()> named_as;
  // Of the same path: the analysis goes on from what it holds, if nothing but the file has changed, and
  // leaves what it has run in it. The result is the same as without.
  RunCache* memory = nullptr;
  // Another core, if one is free: somebody waits for this analysis, and few others go on.
  syntax::BackgroundRunner background;
  const std::atomic<bool>* cancelled =
      nullptr;  // looked at between steps; the result is then empty and `cancelled` set
};

// What is known of a word of a configuration or a script, as Markdown.
struct KeyHover {
  syntax::Span span;
  std::string markdown;
};

struct Result {
  std::vector<rules::Finding> findings;  // in this file, sorted by place, then rule; suppressed ones left out
  std::vector<Fact> facts;               // sorted by place
  std::shared_ptr<const Schedule> schedule;  // who communicates what, if it was wanted
  std::shared_ptr<const footprint::Footprint>
      footprint;  // of the file's models and steps, if it was wanted and there are any
  std::vector<std::shared_ptr<const Schedule>>
      launched;                           // the same as scripts launch the file, if that was wanted
  std::vector<std::string> read;          // paths of the other files that the result depends on, found or not
  std::vector<std::string> failed_rules;  // "id: what it threw"; the rule is left out of this result
  std::vector<std::string> why;           // of `Options::why_line`
  std::vector<KeyHover> words;            // of a script, if facts were wanted: arguments of its programs
  rules::Role named_as = {};              // of a configuration: what launch lines and programs take it for
  std::string not_checked;  // why no rule reads the file, which is no Python; empty: it was checked
  bool out_of_budget = false;
  bool cancelled = false;
  // Local rules have judged what has been run again; the other findings are those of the last analysis, at
  // their new places.
  bool partial = false;
  std::uint64_t steps = 0;
  bool went_on = false;       // from what the memory held: only what the change touches was run
  std::size_t units_run = 0;  // functions that nobody calls and classes, as far as they were not taken over
  std::vector<std::pair<std::string, std::uint64_t>>
      costly_roots;                // with a clock: the roots that took the most steps
  std::size_t roots_compared = 0;  // whose ranks were held against each other: of others that stands
  std::size_t objects_made = 0;  // of classes, to run their methods on: the others stood from the run before
};

Result analyze(const program::Sources& sources, const std::string& path, const Options& options = {});

}  // namespace stepzero::snapshot
