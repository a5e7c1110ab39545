// Calls that are not run, of code that communicates or is handed some: a server that calls back, recursion
// that goes too deep. What the text of a function calls decides; which ranks come to it, and how often, is
// not known.
#include "interpreter/calls/called_names.hpp"
#include "interpreter/calls/noted_events.hpp"
#include "interpreter/calls/unseen_code.hpp"
#include "values/internal_rows.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

namespace {
constexpr int deepest_callee = 3;  // functions that call functions
}  // namespace

bool UnseenCode::may_communicate(const values::Function& function, int depth) {
  if (!function.stmt) return false;
  if (const auto known = communicating_.find(function.stmt); known != communicating_.end()) {
    for (const FunctionStmt* read : known->second.read) run_.note_calls_read(*read);
    return known->second.found;
  }
  Communicates made{false, {function.stmt}};
  communicating_[function.stmt] = made;  // of one that calls itself the rest decides
  run_.note_calls_read(*function.stmt);
  const std::string_view text = record_.text({function.chunk, function.stmt->span});
  bool found = false;
  for (const auto& [name, of] : called_names(text)) {
    if (found) break;
    if (const Row* row = run_.library_.find(std::string(run_.library_.types().communication).append(name));
        row && (row->collective || row->message))
      found = true;
    if (found || depth >= deepest_callee) continue;
    Value called;
    if (of == CalledName::Of::self && function.owner)
      called = run_.find_in_order(function.owner->order, Name(name));
    else if (of == CalledName::Of::scope && function.closure && function.closure->globals)
      if (const values::Slot* slot = function.closure->globals->names.find(Name(name))) called = slot->value;
    if (!called.is(Kind::function) || called.as<values::Function>() == &function) continue;
    found = may_communicate(*called.as<values::Function>(), depth + 1);
    if (const auto inner = communicating_.find(called.as<values::Function>()->stmt);
        inner != communicating_.end())
      made.read.insert(inner->second.read.begin(), inner->second.read.end());
  }
  made.found = found;
  communicating_[function.stmt] = std::move(made);
  return found;
}

void UnseenCode::note_unseen_communication(Value function, const Arguments& arguments, Place where) {
  if (run_.dry_runs_ > 0) return;
  int depth = 0;  // of functions that hold functions
  const std::function<bool(Value)> may = [&](Value value) {
    value = run_.resolve(value);
    switch (value.kind) {
    case Kind::function: {
      const auto& held = *value.as<values::Function>();
      if (may_communicate(held)) return true;
      // A wrapper calls what the function around it was given.
      if (++depth > deepest_callee) return --depth, false;
      bool any = false;
      for (const values::Scope* scope = held.closure; scope && scope->parent && !any; scope = scope->parent)
        any = !scope->is_class && std::ranges::any_of(scope->names.entries(), [&](const auto& entry) {
          const Value inside = entry.second->value;
          return (inside.is(Kind::function) || inside.is(Kind::bound) || inside.is(Kind::partial)) &&
              !(inside == value) && may(inside);
        });
      --depth;
      return any;
    }
    case Kind::bound: return may(value.as<values::Bound>()->function);
    case Kind::partial: return may(value.as<values::Partial>()->function);
    case Kind::instance: {
      const auto* cls = value.as<values::Instance>()->cls;
      return cls && cls->body && std::ranges::any_of(cls->body->names.entries(), [&](const auto& entry) {
        return entry.second->value.is(Kind::function) &&
            may_communicate(*entry.second->value.template as<values::Function>());
      });
    }
    default: return false;
    }
  };
  const bool any = may(function) || std::ranges::any_of(arguments.positional, may) ||
      std::ranges::any_of(arguments.keywords, [&](const auto& named) { return may(named.second); });
  if (!any) return;
  if (OperationEvent* event = run_.noted_->record_implied(
          values::InternalRow::unseen_communication, {}, {}, {}, where))
    run_.append(event);
}

}  // namespace stepzero::interpreter
