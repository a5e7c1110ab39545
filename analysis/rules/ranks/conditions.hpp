// Under which answers of the program's own questions does something go wrong that other answers get past?
// Knows what became of each way that was followed, and no rule.
#pragma once

#include "rules/ranks/job_explorer.hpp"

#include <optional>
#include <set>
#include <string>

namespace stepzero::rules {

class Conditions {
public:
  void clear() { ways_.clear(); }
  // One way: what its ranks got past or, if it stopped, the key of what went wrong.
  void note(const JobRun& world, std::set<int> past, std::optional<int> wrong);
  // The answers with which it always goes wrong, in the program's own words: "When `args.test`: ". Empty:
  // there are none that can be said.
  std::string of(const interpreter::Record& record, JobExplorer& worlds, int key) const;

private:
  struct Answer {
    bool yes = false;
    Place place;
    const interpreter::BranchEvent* branch = nullptr;  // in the run of the rank that was asked
    int rank = 0;
  };
  struct Way {
    int size = 0;                                   // of the world
    std::map<std::pair<int, int>, Answer> answers;  // by site and which time
    std::vector<std::pair<int, int>> order;         // in which they were asked
    std::set<int> past;
    std::optional<int> wrong;
  };
  static std::string said(
      const interpreter::Record& record, const interpreter::Record& own, const Answer& answer);

  std::vector<Way> ways_;
};

}  // namespace stepzero::rules
