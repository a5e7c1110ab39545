// What a comparison says where one value is not known: by what is presumed of it, by its bounds, as an
// integer that it may be, or by what was asked of it before.
#include "interpreter/builtins/real_text.hpp"
#include "interpreter/expressions/comparison.hpp"
#include "interpreter/roots/presumed.hpp"
#include "values/devices.hpp"
#include "values/kept_by_packages.hpp"

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

namespace {
bool is_constant_like(Value value) {
  return value.is(Kind::string) || value.is(Kind::none) || value.is(Kind::boolean) ||
      is_plain_number(value) || value.is(Kind::dtype) || value.is(Kind::device);
}
std::string constant_text(symbolic::Context& symbols, Value value) {
  switch (value.kind) {
  case Kind::string: return "'" + std::string(value.text()) + "'";
  case Kind::integer: return symbols.text(value.integer());
  case Kind::real: return text_of_real(value.real());
  case Kind::boolean: return symbols.text(value.condition());
  case Kind::dtype: return std::string(values::name(value.dtype()));
  case Kind::device: return "device " + std::string(value.as<values::Device>()->text);
  default: return "None";
  }
}
std::string_view spelled(CompareOp op) {
  constexpr std::string_view names[] = {"==", "!=", "<", "<=", ">", ">=", "is", "is not", "in", "not in"};
  return names[static_cast<int>(op)];
}
}  // namespace

Value Interpreter::Comparison::of_presumed() {
  // Whatever is asked of it, the answer is open, and the same each time.
  if (is_identity() && left == right) return answer(true);
  const bool turned = !is_presumed(left);
  const Value object = turned ? right : left, other = turned ? left : right;
  const CompareOp positive = op == CompareOp::ne || op == CompareOp::is || op == CompareOp::is_not
      ? CompareOp::eq
      : op == CompareOp::not_in ? CompareOp::in
                                : op;
  const bool equality = positive == CompareOp::eq;
  const Sharing sharing = symbolic::mix(run.heap().sharing(left), run.heap().sharing(right));
  if (!is_constant_like(other))
    return Value::of(run.mark_unseen(s.opaque("", sharing), run.heap().is_unseen(other)));
  const std::string name(object.as<values::Instance>()->name), constant = constant_text(s, other);
  const std::string sign(equality && other.is(Kind::none) ? "is" : spelled(positive));
  const std::string key = turned && !equality ? constant + " " + sign : sign + constant;
  const bool is_word = equality && other.is(Kind::string);
  if (is_word)
    for (const OpenQuestions::Asked& before : run.questions_.all(object.object()))
      if (before.is_word && before.question != key && s.decide(before.answer) == symbolic::Answer::yes)
        return answer(false);
  Cond known = run.questions_.find(object.object(), key);
  if (!known) {
    known = s.opaque(
        turned && !equality ? constant + " " + sign + " " + name : name + " " + sign + " " + constant,
        sharing);
    run.questions_.add(object.object(), key, known, is_word);
  }
  return answer(known);
}

// A number of which only bounds are known, beside one that does not lie between them.
Value Interpreter::Comparison::of_bounded() const {
  const bool turned = right.is(Kind::unknown);
  const Value number = turned ? right : left, other = turned ? left : right;
  if (!number.is(Kind::unknown) || !is_plain_number(other)) return {};
  const auto bound = [&](values::KeptKey key) -> std::optional<double> {
    const values::Slot* slot = number.as<values::Unknown>()->attributes.find(Name(key));
    return slot && slot->value.is(Kind::real) ? std::optional(slot->value.real()) : std::nullopt;
  };
  const auto low = bound(values::BoundedState::low), high = bound(values::BoundedState::high);
  const auto given = other.is(Kind::real) ? std::optional(other.real())
      : s.value(other.integer())          ? std::optional(static_cast<double>(*s.value(other.integer())))
                                          : std::nullopt;
  if (!low || !high || !given || (*low <= *given && *given <= *high)) return {};
  if (!is_order()) return is_equality() ? answer(false) : Value{};
  const bool is_less = (*high < *given) != turned;
  return run.heap().boolean((op == CompareOp::lt || op == CompareOp::le) == is_less);
}

// A probability may lie between 0 and 1, where no integer does: what nobody used as an integer is not taken
// for one.
bool Interpreter::Comparison::may_be_share(Value value, Value bound) const {
  if (!is_order() || !value.is(Kind::unknown) || !bound.is(Kind::integer)) return false;
  const auto* unknown = value.as<values::Unknown>();
  if (unknown->integer && !unknown->only_compared) return false;
  const auto constant = s.value(bound.integer());
  return constant && (*constant == 0 || *constant == 1);
}

// An unknown that is compared as an integer need not be one.
Int Interpreter::Comparison::compared_int(Value value) {
  auto* unknown = value.as<values::Unknown>();
  const bool before = !unknown->integer || unknown->only_compared;
  const Int integer = run.to_int(value);
  unknown->only_compared = before;
  return integer;
}

// What was found to be above 1 is not 1, also where it was not taken for an integer then.
Value Interpreter::Comparison::known_by_bounds() {
  if ((op == CompareOp::eq || op == CompareOp::ne) && left.is(Kind::unknown) && right.is(Kind::integer))
    if (const auto asked = s.value(right.integer()))
      for (const std::int64_t bound : {0, 1}) {
        const Cond above = run.questions_.find(left.as<values::Unknown>(), ">" + std::to_string(bound)),
                   below = run.questions_.find(left.as<values::Unknown>(), "<" + std::to_string(bound));
        const auto is = [&](Cond question, symbolic::Answer expected) {
          return question && s.decide(question) == expected;
        };
        if ((is(above, symbolic::Answer::yes) && *asked <= bound) ||
            (is(above, symbolic::Answer::no) && *asked > bound) ||
            (is(below, symbolic::Answer::yes) && *asked >= bound) ||
            (is(below, symbolic::Answer::no) && *asked < bound))
          return answer(false);
      }
  return {};
}

Value Interpreter::Comparison::of_unknowns() {
  if (may_be_share(right, left)) {
    std::swap(left, right);
    op = op == CompareOp::lt  ? CompareOp::gt
        : op == CompareOp::le ? CompareOp::ge
        : op == CompareOp::gt ? CompareOp::lt
                              : CompareOp::le;
  }
  const bool share = may_be_share(left, right);
  if (share && (op == CompareOp::ge || op == CompareOp::le))
    return Value::of(s.logical_not(
        run.truth(run.compare(op == CompareOp::ge ? CompareOp::lt : CompareOp::gt, left, right))));
  if (const Value known = known_by_bounds()) return known;
  // Asked before it was known to be an integer, the question has the answer that it had then.
  if (left.is(Kind::unknown) && right.is(Kind::integer) && is_constant_like(right))
    if (const Cond before = run.questions_.find(left.as<values::Unknown>(),
            std::string(spelled(negative ? CompareOp::eq : op)) + constant_text(s, right)))
      return answer(before);
  if (left.is(Kind::unknown) && right.is(Kind::integer) && !left.as<values::Unknown>()->unseen && !share)
    return Value::of(s.compared(ordering(op), compared_int(left), right.integer()));
  if (right.is(Kind::unknown) && left.is(Kind::integer) && !right.as<values::Unknown>()->unseen)
    return Value::of(s.compared(ordering(op), left.integer(), compared_int(right)));
  return left.is(Kind::unknown) && is_constant_like(right) ? asked_of_unknown() : open();
}

// The same question about the same value has the same answer.
Value Interpreter::Comparison::asked_of_unknown() {
  const auto* unknown = left.as<values::Unknown>();
  const CompareOp positive = op == CompareOp::ne || op == CompareOp::is_not ? CompareOp::eq
      : op == CompareOp::is                                                 ? CompareOp::eq
                                                                            : op;
  const std::string constant = constant_text(s, right),
                    equals = std::string(spelled(CompareOp::eq)) + constant;
  const std::string key = std::string(spelled(positive)) + constant;
  // What is known to be equal is not less.
  if (positive != CompareOp::eq && is_order() && is_plain_number(right)) {
    const Cond same = run.questions_.find(unknown, equals);
    const bool equal = (same && s.decide(same) == symbolic::Answer::yes) ||
        (unknown->integer && right.is(Kind::integer) &&
            s.decide(s.compared(symbolic::Compare::eq, unknown->integer, right.integer())) ==
                symbolic::Answer::yes);
    if (equal) return run.heap().boolean(op == CompareOp::le || op == CompareOp::ge);
  }
  const bool is_word = positive == CompareOp::eq && right.is(Kind::string);
  if (is_word)
    for (const OpenQuestions::Asked& other : run.questions_.all(unknown))
      if (other.is_word && other.question != key && s.decide(other.answer) == symbolic::Answer::yes)
        return answer(false);
  Cond known = run.questions_.find(unknown, key);
  if (!known) {
    const std::string name = unknown->name.empty()
        ? ""
        : std::string(unknown->name) + " " + std::string(spelled(positive)) + " " + constant;
    known = run.mark_unseen(s.opaque(name, unknown->sharing), unknown->unseen);
    run.questions_.add(unknown, key, known, is_word);
  }
  return positive == CompareOp::eq ? answer(known) : Value::of(known);
}

}  // namespace stepzero::interpreter
