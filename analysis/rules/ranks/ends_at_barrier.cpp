// Communication that is started before a barrier: what the function reads between the two.
#include "rules/name_hints.hpp"
#include "rules/ranks/communication.hpp"
#include "rules/ranks/requests.hpp"
#include "rules/source.hpp"
#include "values/limits.hpp"

#include <algorithm>

namespace stepzero::rules {

using namespace interpreter;
using namespace syntax;

namespace {

values::Value group_of(const OperationEvent& event) {
  const values::Value given = argument_at(event, event.row->collective->group);
  return !given || given.is(values::Kind::none) ? values::Value{} : given;
}

// Its first parameter is the group: it carries nothing.
bool is_barrier(const OperationEvent& event) {
  return event.row->collective && !event.row->collective->hidden && event.row->collective->tensor < 0 &&
      event.row->collective->group == 0 && !event.row->collective->makes_group;
}

struct BeforeBarrier {
  std::vector<values::Value> given;  // the first arguments of the call, once for each run of the function
  Place barrier;                     // the first one after it, of the group that it was started in
};
BeforeBarrier look(const Record& record, const FunctionStmt& function, Place call) {
  BeforeBarrier found;
  std::vector<const OperationEvent*> after;
  values::Value group;
  visit_roots(record, [&](const Event& event) {
    if (event.kind != EventKind::operation || event.place.chunk != call.chunk) return;
    const auto& operation = static_cast<const OperationEvent&>(event);
    if (event.place.span == call.span && operation.row->collective && !operation.arguments.empty()) {
      const values::Value given = operation.arguments[0];
      found.given.push_back(given);
      // Facts have the tensor that it turned out to be.
      if (given.is(values::Kind::unknown) && given.as<values::Unknown>()->state.value.object())
        found.given.push_back(given.as<values::Unknown>()->state.value);
      group = group_of(operation);
    } else if (is_barrier(operation) && event.place.span.begin >= call.span.end &&
        function.span.holds(event.place.span)) {
      after.push_back(&operation);
    }
  });
  if (found.given.empty()) return found;  // a message, which no barrier ends
  for (const OperationEvent* each : after)
    if (group_of(*each) == group && (!found.barrier || each->place.span.begin < found.barrier.span.begin))
      found.barrier = each->place;
  return found;
}

// What part of a function reads of values that it gave away. Putting one into a list, or asking whether it is
// None, reads nothing.
class ReadsBetween {
public:
  ReadsBetween(const FunctionStmt& function, Span between, Span call) : between_(between), harmless_{call} {
    for_each_expression(function, [&](const Expr& each) {
      if (!between_.holds(each.span)) return;
      if (each.kind == ExprKind::compare)
        for (const CompareOp op : as<CompareExpr>(each).ops)
          if (op == CompareOp::is || op == CompareOp::is_not) harmless_.push_back(each.span);
      if (each.kind == ExprKind::call && puts_into_list(as<CallExpr>(each))) harmless_.push_back(each.span);
    });
    for_each_statement(function, [&](const Stmt& each) {
      if (each.kind == StmtKind::aug_assign && between_.holds(each.span))
        changed_.push_back(as<AugAssignStmt>(each).target->span);
    });
  }

  bool any(const Record& record, std::uint32_t chunk, const std::vector<values::Value>& given) const {
    return std::ranges::any_of(record.facts, [&](const Fact& fact) {
      const Span at = fact.place.span;
      return fact.place.chunk == chunk && between_.holds(at) &&
          (fact.role == Fact::Role::expression || std::ranges::find(changed_, at) != changed_.end()) &&
          std::ranges::none_of(harmless_, [&](Span span) { return span.holds(at); }) &&
          std::ranges::any_of(
              given, [&](const values::Value& value) { return holds_it(fact.value, value, 0); });
    });
  }

private:
  static bool puts_into_list(const CallExpr& call) {
    return call.function->kind == ExprKind::attribute && call.arguments.size() == 1 &&
        is_attribute(*call.function, Says::collecting) && call.arguments[0]->kind == ExprKind::name;
  }
  // The same object, or a list of it.
  static bool holds_it(values::Value value, values::Value given, int depth) {
    if (value.object() && value.object() == given.object()) return true;
    const auto any = [&](const std::vector<values::Value>& items) {
      return std::ranges::any_of(
          items, [&](const values::Value& item) { return holds_it(item, given, depth + 1); });
    };
    if (depth > values::most_choices) return false;
    if (value.is(values::Kind::tuple)) return any(value.as<values::Tuple>()->items);
    if (!value.is(values::Kind::list)) return false;
    const values::ListState& list = *values::Heap::list_state(value);
    return any(list.items) || (list.open && holds_it(list.rest, given, depth + 1));
  }

  const Span between_;
  std::vector<Span> harmless_;
  std::vector<Span> changed_;  // `total /= 2` reads its target
};

}  // namespace

bool ends_at_barrier(const Record& record, Place call) {
  const FunctionStmt* function = record.in_file(call) ? function_around(record, call) : nullptr;
  if (!function) return false;
  const auto [given, barrier] = look(record, *function, call);
  if (!barrier) return false;
  // Whoever starts it comes to the barrier, too.
  const auto around = enclosing(*function, barrier.span), started = enclosing(*function, call.span);
  if (around.empty() || started.size() < around.size()) return false;
  for (std::size_t i = 0; i + 1 < around.size(); ++i)
    if (around[i].stmt != started[i].stmt) return false;
  // What is no variable of the function others may read, too.
  const bool follows_at_once = started[around.size() - 1].index + 1 == around.back().index;
  bool is_own = false;
  for_each_expression(*function, [&](const Expr& each) {
    if (each.kind == ExprKind::call && each.span == call.span && !as<CallExpr>(each).arguments.empty())
      is_own = as<CallExpr>(each).arguments[0]->kind == ExprKind::name;
  });
  // A loop around the call may read in its next iteration what was started in the one before.
  const Span outermost = started[around.size() - 1].stmt->span;
  return (is_own || follows_at_once) &&
      !ReadsBetween(*function, {outermost.begin, barrier.span.begin}, call.span)
           .any(record, call.chunk, given);
}

}  // namespace stepzero::rules
