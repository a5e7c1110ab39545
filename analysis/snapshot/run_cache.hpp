// The run that an analysis of a file leaves for the next one, and what it was told of other files.
#pragma once

#include "interpreter/interpreter.hpp"
#include "rules/ranks/compared_before.hpp"
#include "snapshot/snapshot.hpp"
#include "snapshot/standing_findings.hpp"

#include <map>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace stepzero::snapshot {

// Hands questions on to the sources of the present analysis, and keeps the answers.
class RecordingSources final : public program::Sources {
public:
  void ask(const program::Sources* sources) { sources_ = sources; }
  // Do the sources answer as these did, of all but `path`?
  bool agrees(const program::Sources& sources, const std::string& path) const;

  std::shared_ptr<const syntax::Module> module(const std::string& path) const override;
  bool is_file(const std::string& path) const override;
  bool is_folder(const std::string& path) const override;
  std::shared_ptr<const program::Data> data(
      const std::string& path, program::DataFormat format) const override;
  const std::vector<std::string>& roots() const override;
  const std::vector<std::string>& libraries() const override;

private:
  const program::Sources* sources_ = nullptr;
  mutable std::map<std::string, std::shared_ptr<const syntax::Module>> modules_;
  mutable std::map<std::string, bool> files_, folders_;
  mutable std::map<std::pair<std::string, program::DataFormat>, std::shared_ptr<const program::Data>> data_;
  mutable std::vector<std::string> roots_, libraries_;
};

struct LaunchedRun;

struct Run {
  RecordingSources sources;
  interpreter::Record record;
  std::unique_ptr<interpreter::Interpreter>
      interpreter;  // null: of the run nothing is kept but what was said of it
  std::string path;
  std::uint64_t steps = 0;       // its budget
  std::size_t fresh_events = 0;  // of the record, after the run from the beginning
  std::map<std::pair<int, int>, std::shared_ptr<Run>>
      ranks;  // the same file as a process of a small job runs it: by rank and world
  std::unordered_set<const syntax::Stmt*>
      roots_of_ranks;                // what these were asked to run of functions and classes
  rules::ComparedBefore compared;    // of these runs, held against each other
  std::shared_ptr<Run> by_defaults;  // the same file where the command line gives nothing
  std::vector<std::shared_ptr<LaunchedRun>> launched;  // the same file as scripts launch it
  std::unique_ptr<interpreter::AllGiven> given;        // of a run to be shown: what its parameters begin with
  std::shared_ptr<Run> displayed;      // the same file to be shown, begun with what this run found
  std::shared_ptr<Run> without_words;  // the same, without what some functions' words say: that it refuted
  StandingFindings standing;           // what the last analysis that came to its end said
  std::string told;                    // the last analysis came to its end: what it was asked for, as a text
};

}  // namespace stepzero::snapshot
