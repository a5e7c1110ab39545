#include "rules/ranks/block_queries.hpp"

#include "rules/ranks/communication.hpp"
#include "rules/report.hpp"
#include "values/internal_rows.hpp"

#include <algorithm>

namespace stepzero::rules {

using symbolic::Answer;
using values::Operation;

bool BlockQueries::starts_group(const Block& block) {
  bool any = false;
  visit(block, [&](const Event& event) {
    any = any ||
        (event.kind == EventKind::operation &&
            static_cast<const OperationEvent&>(event).row->operation == Operation::group_settings);
  });
  return any;
}

bool BlockQueries::leads_on(const CallEvent& call) {
  return runs_.leads_on(own_, call) || communicates(call.body);
}

bool BlockQueries::leads_on(const Event& event) {
  if (event.kind == EventKind::attempt) return runs_.leads_on(own_, event);
  if (event.kind != EventKind::branch) return false;
  const auto& branch = static_cast<const BranchEvent&>(event);
  // What all ranks decide alike this one decides, too, where only others have something to enter.
  const bool equivalent = symbols_.form(branch.condition) == symbolic::Context::Form::constant ||
      (symbols_.sharing(branch.condition) == symbolic::Sharing::uniform &&
          !record_.unseen.contains(branch.condition));
  return equivalent && runs_.leads_on(own_, branch);
}

bool BlockQueries::communicates(const Block& block) {
  if (const auto it = own_.communicates.find(&block); it != own_.communicates.end()) return it->second;
  bool any = false;
  for (const Event* event : block.events) {
    if (event->kind == EventKind::operation)
      any = is_traced(static_cast<const OperationEvent&>(*event));
    else if (event->kind == EventKind::problem)
      any = static_cast<const ProblemEvent*>(event)->problem == values::ProblemKind::unbound;
    else if (event->kind == EventKind::call)
      any = leads_on(static_cast<const CallEvent&>(*event));
    else
      any = leads_on(*event) || any_in(*event, [&](const Block& part) { return communicates(part); });
    if (any) break;
  }
  return own_.communicates[&block] = any;
}

bool BlockQueries::sends(const Block& block) {
  return once(own_.sends, block, [&] {
    return std::ranges::any_of(block.events, [&](const Event* event) {
      if (event->kind == EventKind::operation)
        return static_cast<const OperationEvent*>(event)->row->operation == Operation::message;
      return event->kind == EventKind::call ? sends(static_cast<const CallEvent*>(event)->body)
                                            : any_in(*event, [&](const Block& part) { return sends(part); });
    });
  });
}

const OperationEvent* BlockQueries::taken_by(const Block& handler) {
  const auto* first = !handler.events.empty() && handler.events.front()->kind == EventKind::operation
      ? static_cast<const OperationEvent*>(handler.events.front())
      : nullptr;
  return first && first->row->path == values::InternalRow::handler && first->arguments.size() > 1 ? first
                                                                                                  : nullptr;
}

const Block* BlockQueries::handler_of_files(const AttemptEvent& attempt) const {
  for (const Block& handler : attempt.handlers)
    if (const auto* taken = taken_by(handler); !taken ||
        (taken->arguments[0].is(values::Kind::boolean) &&
            symbols_.decide(taken->arguments[0].condition()) == Answer::yes))
      return taken ? &handler : nullptr;
  return nullptr;
}

const Block* BlockQueries::handler_of(const AttemptEvent& attempt, values::Value raised) {
  if (!raised) return nullptr;
  for (const Block& handler : attempt.handlers) {
    const auto* taken = taken_by(handler);
    if (!taken || !taken->arguments[1].is(values::Kind::tuple)) return nullptr;
    const auto& items = taken->arguments[1].as<values::Tuple>()->items;
    if (std::find(items.begin(), items.end(), raised) != items.end()) return &handler;
  }
  return nullptr;
}

bool BlockQueries::fails_in(const Block& block) {
  for (const Event* event : block.events) {
    if (event->kind == EventKind::attempt && handler_of_files(static_cast<const AttemptEvent&>(*event))) {
      const auto& inner = static_cast<const AttemptEvent&>(*event);
      if (fails_in(inner.orelse) || fails_in(inner.finally)) return true;
      continue;
    }
    if (event->kind == EventKind::operation ? runs_.may_fail(own_, *event)
            : event->kind == EventKind::call
            ? fails_in(static_cast<const CallEvent*>(event)->body)
            : any_in(*event, [&](const Block& part) { return fails_in(part); }))
      return true;
  }
  return false;
}

bool BlockQueries::leads_past(const Block& handler) {
  return std::ranges::any_of(handler.events, [](const Event* event) {
    if (event->kind == EventKind::exit) return static_cast<const ExitEvent*>(event)->exit != ExitKind::raise;
    if (event->kind != EventKind::branch) return false;
    const auto& branch = static_cast<const BranchEvent&>(*event);
    return leads_past(branch.yes) || leads_past(branch.no);
  });
}

bool BlockQueries::leaves(const Block& iteration, bool in_loop) {
  return once(in_loop ? own_.leaves_loop : own_.leaves, iteration, [&] {
    return std::ranges::any_of(iteration.events, [&](const Event* event) {
      switch (event->kind) {
      case EventKind::exit: {
        const ExitKind exit = static_cast<const ExitEvent*>(event)->exit;
        return exit != ExitKind::continue_ && (exit != ExitKind::break_ || !in_loop);
      }
      case EventKind::loop:
        return std::ranges::any_of(static_cast<const LoopEvent*>(event)->iterations,
            [&](const Block& inner) { return leaves(inner, true); });
      case EventKind::call: return raises(static_cast<const CallEvent*>(event)->body);
      default: return any_in(*event, [&](const Block& part) { return leaves(part, in_loop); });
      }
    });
  });
}

// An iteration.
static bool may_leave(const Block& iteration, bool in_loop = false, bool in_function = false) {
  return std::any_of(iteration.events.begin(), iteration.events.end(), [&](const Event* event) {
    switch (event->kind) {
    case EventKind::exit: {
      const auto& exit = *static_cast<const ExitEvent*>(event);
      return exit.exit == ExitKind::return_ ? !in_function
          : exit.exit == ExitKind::break_   ? !in_loop
                                            : exit.exit == ExitKind::raise && !exit.fails;
    }
    case EventKind::branch: {
      const auto& branch = *static_cast<const BranchEvent*>(event);
      return may_leave(branch.yes, in_loop, in_function) || may_leave(branch.no, in_loop, in_function);
    }
    case EventKind::call: return may_leave(static_cast<const CallEvent*>(event)->body, false, true);
    case EventKind::loop:
      return std::ranges::any_of(static_cast<const LoopEvent*>(event)->iterations,
          [&](const Block& inner) { return may_leave(inner, true, in_function); });
    case EventKind::attempt: {
      const auto& attempt = *static_cast<const AttemptEvent*>(event);
      return may_leave(attempt.body, in_loop, in_function) ||
          may_leave(attempt.orelse, in_loop, in_function) ||
          may_leave(attempt.finally, in_loop, in_function) ||
          std::ranges::any_of(attempt.handlers,
              [&](const Block& handler) { return may_leave(handler, in_loop, in_function); });
    }
    default: return false;
    }
  });
}

bool BlockQueries::is_left(const LoopEvent& loop) {
  if (const auto it = own_.left.find(&loop); it != own_.left.end()) return it->second;
  return own_.left[&loop] = std::ranges::any_of(
             loop.iterations, [](const Block& each) { return may_leave(each); });
}

bool BlockQueries::raises(const Block& block) {
  return once(own_.raises, block, [&] {
    return std::ranges::any_of(block.events, [&](const Event* event) {
      if (event->kind == EventKind::exit)
        return static_cast<const ExitEvent*>(event)->exit == ExitKind::raise;
      return event->kind == EventKind::call ? raises(static_cast<const CallEvent*>(event)->body)
                                            : any_in(*event, [&](const Block& part) { return raises(part); });
    });
  });
}

bool BlockQueries::ends_in_exception(const Block& block) {
  return !block.events.empty() && block.events.back()->kind == EventKind::exit &&
      static_cast<const ExitEvent*>(block.events.back())->exit == ExitKind::raise;
}

bool BlockQueries::matters(const Block& block) {
  if (const auto it = own_.matters.find(&block); it != own_.matters.end()) return it->second;
  bool any = false;
  for (const Event* event : block.events) {
    if (event->kind == EventKind::operation)
      any = is_traced(static_cast<const OperationEvent&>(*event));
    else if (event->kind == EventKind::exit)
      any = true;
    else if (event->kind == EventKind::call)
      any = leads_on(static_cast<const CallEvent&>(*event));
    else
      any = leads_on(*event) || any_in(*event, [&](const Block& part) { return matters(part); });
    if (any) break;
  }
  return own_.matters[&block] = any;
}

}  // namespace stepzero::rules
