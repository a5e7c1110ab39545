#include "interpreter/loops/iteration_ways.hpp"

#include "interpreter/loops/loop_shape.hpp"

#include <algorithm>

namespace stepzero::interpreter {

bool leaves_the_loop(const Block& iteration, bool in_function, bool in_loop) {
  return std::any_of(iteration.events.begin(), iteration.events.end(), [&](const Event* event) {
    switch (event->kind) {
    case EventKind::exit: {
      const ExitKind exit = static_cast<const ExitEvent*>(event)->exit;
      if (exit == ExitKind::return_) return !in_function;
      return exit != ExitKind::continue_ && !(exit == ExitKind::break_ && in_loop);
    }
    case EventKind::branch:
      return leaves_the_loop(static_cast<const BranchEvent*>(event)->yes, in_function, in_loop) ||
          leaves_the_loop(static_cast<const BranchEvent*>(event)->no, in_function, in_loop);
    case EventKind::call: return leaves_the_loop(static_cast<const CallEvent*>(event)->body, true, false);
    case EventKind::loop: {
      const auto& iterations = static_cast<const LoopEvent*>(event)->iterations;
      return std::any_of(iterations.begin(), iterations.end(),
          [&](const Block& inner) { return leaves_the_loop(inner, in_function, true); });
    }
    case EventKind::attempt: return true;
    default: return false;
    }
  });
}

const BranchEvent* only_communicating_branch(const Block& iteration) {
  const BranchEvent* found = nullptr;
  const auto goes_on = [](const Block& side) {
    return std::ranges::any_of(side.events, [](const Event* event) {
      return event->kind == EventKind::exit &&
          static_cast<const ExitEvent*>(event)->exit == ExitKind::continue_;
    });
  };
  bool after = false;  // a `continue`
  for (const Event* event : iteration.events) {
    Block one{{event}};
    const auto* branch = event->kind == EventKind::branch ? static_cast<const BranchEvent*>(event) : nullptr;
    if (branch && !found && (goes_on(branch->yes) != goes_on(branch->no))) {
      if (communicates(goes_on(branch->yes) ? branch->yes : branch->no)) return nullptr;
      found = branch;
      after = true;
    } else if (communicates(one)) {
      if (after) continue;
      if (found || !branch || (communicates(branch->yes) && communicates(branch->no))) return nullptr;
      found = branch;
    }
  }
  return found;
}

EarlyEnd early_end(symbolic::Context& symbols, const Block& iteration, symbolic::Int number) {
  using symbolic::Compare;
  if (iteration.events.empty() || iteration.events.front()->kind != EventKind::branch) return {};
  const auto& asked = *static_cast<const BranchEvent*>(iteration.events.front());
  const auto only_breaks = [](const Block& side) {
    return side.events.size() == 1 && side.events[0]->kind == EventKind::exit &&
        static_cast<const ExitEvent*>(side.events[0])->exit == ExitKind::break_;
  };
  const bool yes = only_breaks(asked.yes);
  if (!asked.condition || yes == only_breaks(asked.no) || !(yes ? asked.no : asked.yes).events.empty())
    return {};
  const auto compared = symbols.comparison(yes ? asked.condition : symbols.logical_not(asked.condition));
  if (!compared) return {};
  symbolic::Int count = nullptr;
  if (compared->left == number && compared->op == Compare::ge) count = compared->right;
  if (compared->right == number && compared->op == Compare::le) count = compared->left;
  if (compared->right == number && compared->op == Compare::lt)
    count = symbols.add(compared->left, symbols.constant(1));
  if (compared->left == number && compared->op == Compare::gt)
    count = symbols.add(compared->right, symbols.constant(1));
  if (!count) return {};
  bool stays = true;  // the same in each iteration
  symbols.atoms(count, [&](symbolic::Int atom) {
    const auto* info = symbols.atom_info(atom);
    stays = stays && atom != number && info && !info->varies;
  });
  return stays ? EarlyEnd{&asked, yes, count} : EarlyEnd{};
}

}  // namespace stepzero::interpreter
