// data/exhausted-iterator: a loop in a loop reads an iterator that was made before both: the first iteration
// of the outer one reads it to its end, and the others find nothing. Knows what the run knows of the
// iterator, and where the text makes it.
#include "rules/name_hints.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/absent.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

namespace stepzero::rules::data::exhausted_iterator {

using namespace interpreter;
using namespace syntax;
using values::code;
using values::Kind;
using values::Operation;

namespace {

// Does the method begin anew what its object goes through: `self.batches = iter(self.loader)`, `self.i = 0`?
bool begins_anew(const FunctionStmt& method) {
  bool found = false;
  for_each_expression(method, [&](const Expr& each) {
    const auto* call = each.kind == ExprKind::call ? &as<CallExpr>(each) : nullptr;
    found = found ||
        (call && call->function->kind == ExprKind::name && says(last_name(*call->function), Says::iterating));
  });
  for_each_statement(method, [&](const Stmt& each) {
    const auto* assigned = each.kind == StmtKind::assign ? &as<AssignStmt>(each) : nullptr;
    found = found || (assigned && assigned->value->kind == ExprKind::integer);
  });
  return found;
}

// An iterator that the program writes itself: __iter__ gives the object as it is, and only its constructor
// begins.
bool is_own_iterator(Value value) {
  const auto* object = value.is(Kind::instance) ? value.as<values::Instance>() : nullptr;
  const values::Class* cls = object && !object->open && !object->native ? object->cls : nullptr;
  if (!cls || !cls->stmt || cls->open || cls->native || cls->order.size() != 1) return false;
  bool gives_itself = false, has_next = false;
  for (const Stmt* stmt : cls->stmt->body) {
    if (stmt->kind != StmtKind::function) continue;
    const auto& method = as<FunctionStmt>(*stmt);
    const std::string_view name = method.name.text();
    if (name == "__iter__") {
      const Stmt* last = method.body.empty() ? nullptr : method.body.back();
      const auto* given = last && last->kind == StmtKind::return_ ? as<ReturnStmt>(*last).value : nullptr;
      const std::size_t of_text = method.docstring.empty() ? 0 : 1;
      gives_itself = method.body.size() == 1 + of_text && given && given->kind == ExprKind::name &&
          as<NameExpr>(*given).id.text() == "self";
    } else if (name != "__init__" && begins_anew(method)) {
      return false;
    }
    has_next = has_next || name == "__next__";
  }
  return gives_itself && has_next;
}

bool is_read_once(Value value) {
  return value.is(Kind::iterator) || is_own_iterator(value) ||
      (value.is(Kind::list) && value.as<values::List>()->kind == values::ListKind::iterator);
}

const Stmt* function_of(const Record& record, Place place) {
  const Stmt* found = nullptr;
  for (const Enclosing& each : enclosing(*record.chunk(place).chunk->stmt, place.span))
    if (each.stmt->kind == StmtKind::function || each.stmt->kind == StmtKind::class_) found = each.stmt;
  return found;
}

// Does the body leave its loop, so that something may be left for the next one?
bool may_stop_early(const ForStmt& loop) {
  bool found = false;
  for (const Stmt* stmt : loop.body)
    for_each_statement(*stmt, [&](const Stmt& each) {
      found = found || each.kind == StmtKind::break_ || each.kind == StmtKind::return_;
    });
  return found;
}

// Does a decision stand between the outer loop and what is in it? It may be read in one iteration alone.
bool is_decided(const Record& record, const LoopEvent& outer, Place inner) {
  if (inner.chunk != outer.place.chunk) return false;
  return std::ranges::any_of(
      enclosing(*record.chunk(inner).chunk->stmt, inner.span), [&](const Enclosing& each) {
        return each.stmt != outer.stmt && outer.stmt->span.holds(each.stmt->span) &&
            (each.stmt->kind == StmtKind::if_ || each.stmt->kind == StmtKind::try_ ||
                each.stmt->kind == StmtKind::while_);
      });
}

class Check {
public:
  Check(const Record& record, Report& report) : record_(record), report_(report) {
    for (const Fact& fact : record.facts) {
      if (!is_read_once(fact.value)) continue;
      if (fact.role != Fact::Role::expression) continue;
      made_.try_emplace(fact.value.object(), fact.place);
      iterators_[key(fact.place)] = &fact;
    }
  }

  void look(const interpreter::Block& block, std::vector<const LoopEvent*>& around) {
    for (const Event* event : block.events) {
      switch (event->kind) {
      case EventKind::branch:
        look(static_cast<const BranchEvent*>(event)->yes, around);
        look(static_cast<const BranchEvent*>(event)->no, around);
        break;
      case EventKind::call: look(static_cast<const CallEvent*>(event)->body, around); break;
      case EventKind::attempt: look(static_cast<const AttemptEvent*>(event)->body, around); break;
      case EventKind::loop: {
        const auto& loop = *static_cast<const LoopEvent*>(event);
        if (!around.empty()) judge(loop, *around.back());
        judge_within(loop);
        around.push_back(&loop);
        for (const interpreter::Block& iteration : loop.iterations) look(iteration, around);
        around.pop_back();
        break;
      }
      default: break;
      }
    }
  }

private:
  const Record& record_;
  Report& report_;
  Once once_;
  std::unordered_map<const values::Object*, Place> made_;  // the first expression that gave it

  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
  std::map<Key, const Fact*> iterators_;
  static Key key(Place place) { return {place.chunk, place.span.begin, place.span.end}; }

  // Does an iteration of the inner loop train or compute anything that matters?
  static bool works(const LoopEvent& loop) {
    bool found = false;
    for (const interpreter::Block& iteration : loop.iterations)
      visit(iteration, [&](const Event& each) {
        if (each.kind != EventKind::operation) return;
        const Operation operation = static_cast<const OperationEvent&>(each).row->operation;
        found = found || operation == Operation::backward || operation == Operation::optimizer_step ||
            operation == Operation::scaler_step || operation == Operation::forward;
      });
    return found;
  }

  // Does the outer loop do more with it than read it? It may begin it anew.
  bool is_used_elsewhere(const LoopEvent& outer, Place iterable) const {
    const std::string text(record_.text(iterable));
    bool found = false;
    for_each_expression(*outer.stmt, [&](const Expr& each) {
      found = found ||
          ((each.kind == ExprKind::name || each.kind == ExprKind::attribute) &&
              !(each.span == iterable.span) && record_.text({outer.place.chunk, each.span}) == text);
    });
    return found;
  }

  void judge(const LoopEvent& inner, const LoopEvent& outer) {
    if (inner.stmt && inner.stmt->kind == StmtKind::for_ && works(inner))
      judge(as<ForStmt>(*inner.stmt), inner.place.chunk, inner.calls, outer);
  }
  // The loops that stand in it: the body of one over a generator runs where that yields.
  void judge_within(const LoopEvent& outer) {
    if (!outer.stmt || !works(outer)) return;
    for_each_statement(*outer.stmt, [&](const Stmt& each) {
      if (each.kind == StmtKind::for_ && &each != outer.stmt)
        judge(as<ForStmt>(each), outer.place.chunk, outer.calls, outer);
    });
  }

  void judge(const ForStmt& loop, std::uint32_t chunk, const CallSite* calls, const LoopEvent& outer) {
    if (!outer.stmt || !repeats(outer) || may_stop_early(loop)) return;
    const Place iterable{chunk, loop.iterable->span};
    if (is_decided(record_, outer, iterable)) return;
    const auto fact = iterators_.find(key(iterable));
    if (fact == iterators_.end()) return;
    if (fact->second->value.is(Kind::instance) && is_used_elsewhere(outer, iterable)) return;
    // The methods of an own one have it first.
    const Place born = fact->second->value.is(Kind::instance) ? fact->second->value.object()->born
                                                              : made_.at(fact->second->value.object());
    if (!born) return;
    const Place around{outer.place.chunk, outer.stmt->span};
    if (record_.chunk(born).path != record_.chunk(around).path ||
        record_.span(born).end > record_.span(around).begin ||
        function_of(record_, born) != function_of(record_, around) || !once_(iterable))
      return;
    Finding* finding = report_.add(Severity::warning, iterable, calls,
        code(std::string(record_.text(iterable))) +
            " can be read once: the first iteration of the outer loop reads it to its end, and all others find nothing to work on. Create it inside the outer loop.");
    if (!finding) return;
    report_.relate(*finding, born, "it is made before the loops");
    report_.relate(*finding, outer.place, "the outer loop");
  }
};

void check(const Record& record, Report& report) {
  Check rule(record, report);
  std::vector<const LoopEvent*> around;
  for (const auto& root : record.roots)
    if (!root->truncated) rule.look(root->block, around);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "data/exhausted-iterator",
    .severity = Severity::warning,
    .summary = "a loop over epochs reads an iterator that is empty after the first",
    .why =
        "`iter(loader)`, `enumerate(loader)`, `zip(a, b)`, `map` and generators give each element once. Made before the loop over epochs they feed the first epoch, and every other one ends "
        "at once, without an error: the losses of the log stand still, and the model has seen its data once.",
    .wrong = "batches = enumerate(loader)\n"
             "for epoch in range(epochs):\n"
             "    for i, (x, y) in batches:\n"
             "        train_step(x, y)\n",
    .right = "for epoch in range(epochs):\n"
             "    for i, (x, y) in enumerate(loader):\n"
             "        train_step(x, y)\n",
    .silent =
        "Loops that stop early and go on with the rest later; iterators that are made in the outer loop, or by code that is not seen; loops that call no model; own iterators that a method begins anew, or that the outer loop hands on.",
    .fix = "None: decide where to create it.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::data::exhausted_iterator
