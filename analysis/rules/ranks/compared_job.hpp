// The comparison of the ranks of a program with the runs that it rests on. For the snapshot alone.
#pragma once

#include "rules/ranks/compared_before.hpp"
#include "rules/ranks/comparison.hpp"
#include "rules/ranks/job_explorer.hpp"

#include <memory>

namespace stepzero::rules {

struct ComparedJob : Comparison {
  // `before`: of the comparisons of the same file's runs so far; may be null.
  ComparedJob(const Record& record, RunOfRank run, ComparedBefore* before = nullptr);
  RunOfRank run;       // null: nothing can be run
  JobExplorer worlds;  // owns what the places of `found` lead through
  std::unique_ptr<JobExplorer>
      by_defaults;  // the same, where what may be given is not given; null where nobody asked
};

}  // namespace stepzero::rules
