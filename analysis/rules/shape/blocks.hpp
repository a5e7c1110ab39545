// The events of a run as a tree: where one of them lies, and what lies below another.
#pragma once

#include "rules/rule.hpp"

#include <vector>

namespace stepzero::rules {

// One step down: the event of a block that is, or holds, what was looked for.
struct Descent {
  const interpreter::Block* block;
  std::size_t index;
};

// From the block down to the event, which is the last step; empty where it does not lie below.
std::vector<Descent> path_to(const interpreter::Block& block, const interpreter::Event& wanted);
// The blocks directly below an event: both sides of a branch, the body of a call, the iterations of a loop…
std::vector<const interpreter::Block*> blocks_of(const interpreter::Event& event);
// Does something fail at the place, anywhere below?
bool fails_at(const interpreter::Block& block, interpreter::Place place);

}  // namespace stepzero::rules
