// Communication that is started and waited for later: is it? Knows no rule.
#pragma once

#include "rules/deadlock/story.hpp"

#include <set>

namespace stepzero::rules {

// Of one root, over all its runs that end well.
class Requests {
public:
  void note(const Story& story);
  // What no run waits for, in a program that is seen wholly.
  std::vector<Mismatch> never_waited(Worlds& worlds) const;

private:
  struct Started {
    Mismatch told;
    int rank = 0;
    const values::Object* request = nullptr;
  };
  std::map<int, Started> started_;  // by site
  std::set<int> awaited_;
};

// Is what the call at the place returns dropped, or given a name that its function never reads? Then no caller can wait for it.
bool is_dropped(const Record& record, Place call);

} // namespace stepzero::rules
