// What rows that are written by hand share: answers that many of them give, and what native objects keep as
// attributes.
#pragma once

#include "libraries/table/shapes.hpp"
#include "values/kept.hpp"

namespace stepzero::libraries {

Value nothing(Call& call);  // None
Value never(Call& call);    // False
Value itself(Call& call);   // the object whose method it is
Value first_argument(Call& call);
Value uniform(Call& call);     // not known, and the same on all ranks
Value unknown_of(Call& call);  // computed from the arguments in a way that is not followed
Value context(Call& call);     // a context manager that changes nothing that is followed
template <symbolic::Role role> Value role_value(Call& call) { return Value::of(call.run.role(role)); }
// The same as a variable of the environment has it: as text, which is taken for the number that it names.
void note_role_read(Call& call, symbolic::Role role);
template <symbolic::Role role> Value role_text(Call& call) {
  note_role_read(call, role);
  return role_value<role>(call);
}

// The object whose method or constructor it is.
Instance& object(const Call& call);
void keep(Runtime& run, Instance& object, values::AttributeKey name, Value value);
void keep(const Call& call, values::AttributeKey name, Value value);  // nothing if there is no object
// Resolved; absent if it was never kept.
Value kept(Runtime& run, const Instance& object, values::AttributeKey name);
Value kept(const Call& call, values::AttributeKey name);
// A constructor that keeps its keyword arguments as attributes.
Value keep_options(Call& call);

// Where a value is asked for that the program wrote nothing for.
inline const syntax::Expr nowhere{syntax::ExprKind::none, {}};

// One of the further keyword arguments, resolved; absent if it was not given.
Value option(const Call& call, std::string_view name);

}  // namespace stepzero::libraries
