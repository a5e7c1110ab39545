// Communication that is started and waited for later: is it? Knows no rule.
#pragma once

#include "rules/ranks/job_explorer.hpp"
#include "rules/ranks/job_view.hpp"

#include <set>

namespace stepzero::rules {

// Of one root, over all its runs that end well.
class Requests {
public:
  void note(const JobView& view);
  // What no run waits for, in a program that is seen wholly. `by_program`: the root is the program, and no
  // function that nobody calls.
  std::vector<Mismatch> never_waited(const Record& main, JobExplorer& worlds, bool by_program) const;

private:
  struct Started {
    Mismatch told;
    int rank = 0;
    const values::Object* request = nullptr;
  };
  std::map<int, Started> started_;  // by site
  std::set<int> awaited_;
};

// Is what the call at the place returns dropped, or kept in names and lists of its function alone that are
// never read to wait for it? Then no caller can, either. dropped.cpp
bool is_dropped(const Record& record, Place call);
// Does the function come to a barrier of the same group, which returns when what was started before it has
// ended, and read nothing of what is sent or filled until then? ends_at_barrier.cpp
bool ends_at_barrier(const Record& record, Place call);
// What functions start and drop in this way, whoever calls them.
std::vector<Mismatch> dropped_requests(const Record& record);

}  // namespace stepzero::rules
