#include "rules/shape/blocks.hpp"

#include <algorithm>

namespace stepzero::rules {

using interpreter::AttemptEvent;
using interpreter::Block;
using interpreter::BranchEvent;
using interpreter::CallEvent;
using interpreter::Event;
using interpreter::EventKind;
using interpreter::LoopEvent;
using interpreter::Place;

std::vector<const Block*> blocks_of(const Event& event) {
  std::vector<const Block*> found;
  const auto add = [&](const std::vector<Block>& blocks) {
    found.reserve(blocks.size());
    for (const Block& block : blocks) found.push_back(&block);
  };
  switch (event.kind) {
  case EventKind::branch:
    return {&static_cast<const BranchEvent&>(event).yes, &static_cast<const BranchEvent&>(event).no};
  case EventKind::call: return {&static_cast<const CallEvent&>(event).body};
  case EventKind::loop: add(static_cast<const LoopEvent&>(event).iterations); break;
  case EventKind::attempt: {
    const auto& attempt = static_cast<const AttemptEvent&>(event);
    found = {&attempt.body, &attempt.orelse, &attempt.finally};
    add(attempt.handlers);
    break;
  }
  default: break;
  }
  return found;
}

namespace {
bool find(const Block& block, const Event& wanted, std::vector<Descent>& path) {
  for (std::size_t i = 0; i < block.events.size(); ++i) {
    path.push_back({&block, i});
    if (block.events[i] == &wanted) return true;
    for (const Block* inner : blocks_of(*block.events[i]))
      if (find(*inner, wanted, path)) return true;
    path.pop_back();
  }
  return false;
}
}  // namespace

std::vector<Descent> path_to(const Block& block, const Event& wanted) {
  std::vector<Descent> path;
  static_cast<void>(find(block, wanted, path));
  return path;
}

bool fails_at(const Block& block, Place place) {
  return std::any_of(block.events.begin(), block.events.end(), [&](const Event* event) {
    if (event->kind == EventKind::problem && event->place == place) return true;
    const auto inner = blocks_of(*event);
    return std::any_of(inner.begin(), inner.end(), [&](const Block* each) { return fails_at(*each, place); });
  });
}

}  // namespace stepzero::rules
