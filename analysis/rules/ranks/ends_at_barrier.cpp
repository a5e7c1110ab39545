// Communication that is started before a barrier: reads the text between the two.
#include "rules/ranks/communication.hpp"
#include "rules/ranks/requests.hpp"
#include "rules/source.hpp"

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

// The first barrier after the call in the function, of the group that the call was started in.
Place barrier_after(const Record& record, const FunctionStmt& function, Place call) {
  const OperationEvent* started = nullptr;
  visit_roots(record, [&](const Event& event) {
    if (event.kind != EventKind::operation || event.place.chunk != call.chunk) return;
    if (event.place.span == call.span && static_cast<const OperationEvent&>(event).row->collective)
      started = &static_cast<const OperationEvent&>(event);
  });
  Place found;
  if (!started) return found;
  visit_roots(record, [&](const Event& event) {
    if (event.kind != EventKind::operation || event.place.chunk != call.chunk ||
        event.place.span.begin < call.span.end || !function.span.holds(event.place.span))
      return;
    const auto& operation = static_cast<const OperationEvent&>(event);
    if (is_barrier(operation) && group_of(operation) == group_of(*started) &&
        (!found || event.place.span.begin < found.span.begin))
      found = event.place;
  });
  return found;
}

// What a part of a function does with names.
class NamesBetween {
public:
  NamesBetween(const FunctionStmt& function, Span between) : function_(function), between_(between) {}

  void follow(const Expr& value) {
    for_each_expression(value, [&](const Expr& each) {
      if (each.kind == ExprKind::name) names_.push_back(as<NameExpr>(each).id);
    });
  }
  void leave_out(Span span) { harmless_.push_back(span); }

  // Put into a list, or asked whether it is None: nothing of the tensor is read.
  bool any_is_read() {
    for_each_expression(function_, [&](const Expr& each) {
      if (!between_.holds(each.span)) return;
      if (each.kind == ExprKind::compare)
        for (const CompareOp op : as<CompareExpr>(each).ops)
          if (op == CompareOp::is || op == CompareOp::is_not) harmless_.push_back(each.span);
      if (each.kind == ExprKind::call) put_into_list(as<CallExpr>(each));
    });
    bool read = false;
    for_each_expression(function_, [&](const Expr& each) {
      if (each.kind != ExprKind::name || !between_.holds(each.span)) return;
      const bool is_followed = std::ranges::find(names_, as<NameExpr>(each).id) != names_.end();
      const bool is_harmless = std::ranges::any_of(
          harmless_, [&](Span span) { return span.holds(each.span); });
      read = read || (is_followed && !is_harmless);
    });
    return read;
  }

private:
  void put_into_list(const CallExpr& call) {
    if (call.function->kind != ExprKind::attribute || call.arguments.size() != 1) return;
    const auto& method = as<AttributeExpr>(*call.function);
    if (method.attribute.text() != "append" || call.arguments[0]->kind != ExprKind::name) return;
    leave_out(call.span);
    if (std::ranges::find(names_, as<NameExpr>(*call.arguments[0]).id) != names_.end())
      follow(*method.object);
  }

  const FunctionStmt& function_;
  const Span between_;
  std::vector<Name> names_;
  std::vector<Span> harmless_;
};

}  // namespace

bool ends_at_barrier(const Record& record, Place call) {
  const FunctionStmt* function = record.in_file(call) ? function_around(record, call) : nullptr;
  if (!function) return false;
  const Place barrier = barrier_after(record, *function, call);
  if (!barrier) return false;
  // Whoever starts it comes to the barrier, too.
  const auto around = enclosing(*function, barrier.span), started = enclosing(*function, call.span);
  if (around.empty() || started.size() < around.size()) return false;
  for (std::size_t i = 0; i + 1 < around.size(); ++i)
    if (around[i].stmt != started[i].stmt) return false;
  // A loop around the call may read in its next iteration what was started in the one before.
  const Span outermost = started[around.size() - 1].stmt->span;
  NamesBetween names(*function, {outermost.begin, barrier.span.begin});
  const bool follows_at_once = started[around.size() - 1].index + 1 == around.back().index;
  bool known = false;
  for_each_expression(*function, [&](const Expr& each) {
    if (each.kind != ExprKind::call || !(each.span == call.span)) return;
    const auto& given = as<CallExpr>(each);
    if (given.arguments.size() == 0) return;
    // What is no name of the function others may read by other names.
    known = given.arguments[0]->kind == ExprKind::name || follows_at_once;
    names.follow(*given.arguments[0]);
  });
  names.leave_out(call.span);
  return known && !names.any_is_read();
}

}  // namespace stepzero::rules
