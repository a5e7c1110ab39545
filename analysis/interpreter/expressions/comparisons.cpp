// Truth: of values, of comparisons, of `and`, `or` and `not`.
#include "interpreter/builtins/builtins.hpp"
#include "interpreter/calls/noted_at.hpp"
#include "interpreter/calls/unseen.hpp"
#include "interpreter/expressions/ambiguous_truth.hpp"
#include "interpreter/expressions/rank_questions.hpp"
#include "interpreter/interpreter.hpp"
#include "interpreter/roots/presumed.hpp"
#include "values/devices.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

Cond Interpreter::named_condition(std::string_view name, Sharing sharing) {
  if (const auto it = record_.conditions.find(name); it != record_.conditions.end()) return it->second;
  const Cond made = symbols().opaque(std::string(name), sharing);
  record_.conditions.emplace(std::string(name), made);
  return made;
}

Cond Interpreter::truth(Value value) {
  const Nested nested(nesting_);
  value = resolve(value);
  auto& s = symbols();
  if (nested.too_deep()) return mark_unseen(s.opaque("", Sharing::unseen), true);
  switch (value.kind) {
  case Kind::boolean: return value.condition();
  case Kind::none: return s.boolean(false);
  case Kind::integer: return s.compared(symbolic::Compare::ne, value.integer(), s.constant(0));
  case Kind::real: return s.boolean(value.real() != 0);
  case Kind::string: return s.boolean(!value.text().empty());
  case Kind::tuple: return s.boolean(!value.as<values::Tuple>()->items.empty());
  case Kind::list: {
    const auto* state = values::Heap::list_state(value);
    if (!state->items.empty()) return s.boolean(true);
    if (!state->open) return s.boolean(false);
    if (state->length) return s.compared(symbolic::Compare::ne, state->length, s.constant(0));
    const Sharing of_items = heap().sharing(value);
    return mark_unseen(s.opaque("a list", of_items == Sharing::local ? Sharing::unseen : of_items),
        state->rest && heap().is_unseen(state->rest));
  }
  case Kind::dict: {
    const auto* state = values::Heap::dict_state(value);
    if (!state->open) return s.boolean(!state->items.empty());
    return mark_unseen(s.opaque("a dict", Sharing::unseen), true);
  }
  case Kind::choice: {
    const auto* choice = value.as<values::Choice>();
    // `a and b` is a where a is false: its truth is the condition that chose it.
    const Cond yes = truth(choice->yes), no = truth(choice->no);
    if (no == choice->condition) return s.logical_and(choice->condition, yes);
    if (yes == choice->condition) return s.logical_or(choice->condition, no);
    return s.logical_or(
        s.logical_and(choice->condition, yes), s.logical_and(s.logical_not(choice->condition), no));
  }
  case Kind::unknown: {
    auto* unknown = value.as<values::Unknown>();
    if (unknown->integer) return s.compared(symbolic::Compare::ne, unknown->integer, s.constant(0));
    if (!unknown->truth)
      unknown->truth = mark_unseen(s.opaque(std::string(unknown->name), unknown->sharing), unknown->unseen);
    return unknown->truth;
  }
  case Kind::tensor: {
    const auto* state = value.as<values::Tensor>()->now();
    if (const auto* content = heap().content_of(*state); content && content->numbers.size() == 1)
      if (const Value number = heap().number(*content, 0)) return truth(number);
    return mark_unseen(s.opaque("a tensor", state->sharing), state->unseen);
  }
  case Kind::range: {
    const auto* range = value.as<values::Range>();
    return s.compared(symbolic::Compare::lt, range->start, range->stop);
  }
  case Kind::instance: {
    if (const Value method = find_method(value.as<values::Instance>(), Name("__bool__")))
      return truth(call(method, {}, {}));
    if (const Value plain = builtins_->plain_member(value); !(plain == value)) return truth(plain);
    if (find_method(value.as<values::Instance>(), Name("__len__"))) return truth(length_of(value, {}));
    if (is_presumed(value))
      return asked(value.as<values::Instance>()->name, value, {}, heap().sharing(value));
    return s.boolean(true);
  }
  case Kind::iterator:
  case Kind::state:
  case Kind::absent: return mark_unseen(s.opaque("", Sharing::unseen), true);
  default: return s.boolean(true);
  }
}

Value Interpreter::evaluate_bool(const BooleanOpExpr& expr, std::size_t from) {
  const Value left = evaluate(*expr.operands[from]);
  if (from + 1 == expr.operands.size() || killed_) return left;
  const Cond holds = truth(asked_for_truth(*this, left, here(*expr.operands[from])));
  const Place where = here(expr);
  // A plain truth value stays one, so that `a and b` reads as a condition.
  if (expr.op == BoolOp::logical_and)
    return fork_value(
        holds, where, [&] { return evaluate_bool(expr, from + 1); },
        [&] { return left.is(Kind::boolean) ? heap().boolean(false) : left; });
  return fork_value(
      holds, where, [&] { return left.is(Kind::boolean) ? heap().boolean(true) : left; },
      [&] { return evaluate_bool(expr, from + 1); });
}

Value Interpreter::unary(UnaryOp op, Value operand, const Expr& node) {
  if (op == UnaryOp::logical_not)
    return Value::of(
        symbols().logical_not(truth(asked_for_truth(*this, operand, here(*as<UnaryExpr>(node).operand)))));
  operand = refined(operand);
  if (operand.is(Kind::choice))
    return over_choices(operand, [&](Value side) { return unary(op, side, node); }, here(node));
  if (operand.is(Kind::boolean))
    if (const auto constant = to_constant(operand)) operand = heap().integer(*constant);
  if (op == UnaryOp::minus) {
    if (operand.is(Kind::integer)) return Value::of(symbols().negate(operand.integer()));
    if (operand.is(Kind::real)) return Value::of(-operand.real());
  }
  if (op == UnaryOp::plus && (operand.is(Kind::integer) || operand.is(Kind::real))) return operand;
  if (op == UnaryOp::invert && operand.is(Kind::integer))
    return Value::of(symbols().sub(symbols().constant(-1), operand.integer()));
  if (operand.is(Kind::tensor)) return library_.unary(*this, op, operand, node, here(node));
  if (operand.is(Kind::instance)) {
    const std::string_view name = op == UnaryOp::minus ? "__neg__"
        : op == UnaryOp::plus                          ? "__pos__"
                                                       : "__invert__";
    if (const Value method = find_method(operand.as<values::Instance>(), Name(name)))
      return call(method, {}, {});
  }
  Value result = heap().unknown_from({operand});
  result.as<values::Unknown>()->is_real = operand.is(Kind::unknown) && operand.as<values::Unknown>()->is_real;
  return result;
}

Value Interpreter::refined(Value value) {
  value = resolve(value);
  if (value.is(Kind::unknown) && value.as<values::Unknown>()->state.value.is(Kind::tensor))
    return value.as<values::Unknown>()->state.value;
  return value;
}

Value Interpreter::evaluate_compare(const CompareExpr& expr) {
  Value left = evaluate(*expr.left);
  Value result;
  for (std::size_t i = 0; i < expr.ops.size(); ++i) {
    const Value right = evaluate(*expr.rights[i]);
    const bool of_values = expr.ops[i] <= CompareOp::ge;
    const Value a = refined(left), b = refined(right);
    // An object of a library compares as the library says: an array gives an array of truths.
    const auto by_method = [&](Value object, Value other, CompareOp how) -> Value {
      constexpr std::string_view names[] = {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"};
      if (!object.is(Kind::instance) || object.as<values::Instance>()->cls ||
          !object.as<values::Instance>()->native)
        return {};
      const Value method = find_method(object.as<values::Instance>(), Name(names[static_cast<int>(how)]));
      return method ? call(method, {{other}, {}, false}, here(expr)) : Value{};
    };
    constexpr CompareOp turned[] = {
        CompareOp::eq, CompareOp::ne, CompareOp::gt, CompareOp::ge, CompareOp::lt, CompareOp::le};
    Value said = of_values ? by_method(a, b, expr.ops[i]) : Value{};
    if (!said && of_values && !a.is(Kind::tensor))
      said = by_method(b, a, turned[static_cast<int>(expr.ops[i])]);
    const std::function<bool(Value)> holds_tensor = [&](Value value) {
      if (!value.is(Kind::choice)) return refined(value).is(Kind::tensor);
      return holds_tensor(value.as<values::Choice>()->yes) || holds_tensor(value.as<values::Choice>()->no);
    };
    const bool is_identity = expr.ops[i] == CompareOp::is || expr.ops[i] == CompareOp::is_not;
    const Cond none = is_identity && i == 0 ? asks_for_none(*this, frame_->function, *expr.left, a, b)
                                            : nullptr;
    Value part = said ? said
        : none        ? Value::of(expr.ops[i] == CompareOp::is ? none : symbols().logical_not(none))
        : of_values && (holds_tensor(a) || holds_tensor(b))
        ? library_.compare(*this, expr.ops[i], a, b, expr, here(expr))
        : compare(expr.ops[i], left, right);
    if (handling_ && !of_values && a.is(Kind::string) && !b.is(Kind::string) &&
        (expr.ops[i] == CompareOp::in || expr.ops[i] == CompareOp::not_in) && library_.exhausts(a.text())) {
      handling_->exhausted = static_cast<int>(handling_->handlers.size()) - 1;
      handling_->exhausted_when.push_back(
          expr.ops[i] == CompareOp::in ? truth(part) : symbols().logical_not(truth(part)));
    }
    // Compared with something unknown, it may be a tensor of truths: a value of which only its truth is
    // known.
    const auto may_be_tensor = [](Value value) {
      return value.is(Kind::unknown) && !value.as<values::Unknown>()->is_real;
    };
    const auto may_meet_tensor = [](Value value) {
      return value.is(Kind::unknown) || value.is(Kind::integer) || value.is(Kind::real) ||
          value.is(Kind::boolean);
    };
    if (of_values && expr.ops.size() == 1 && part.is(Kind::boolean) &&
        ((may_be_tensor(a) && may_meet_tensor(b)) || (may_be_tensor(b) && may_meet_tensor(a))) &&
        symbols().form(part.condition()) != symbolic::Context::Form::constant) {
      const Value made = heap().unknown("", symbols().sharing(part.condition()), here(expr));
      made.as<values::Unknown>()->truth = part.condition();
      made.as<values::Unknown>()->unseen = record_.unseen.contains(part.condition());
      note_beside_number(heap(), made, a, b);
      part = made;
    }
    result = result ? Value::of(symbols().logical_and(truth(result), truth(part))) : part;
    if (i + 1 < expr.ops.size() && symbols().decide(truth(result)) == symbolic::Answer::no)
      break;  // the rest is not evaluated
    left = right;
  }
  return result;
}

void Interpreter::note_choice_by_text(Value word) {
  if (in_roots_ || !word.is(Kind::unknown)) return;
  const auto* unknown = word.as<values::Unknown>();
  chosen_by_text_ = chosen_by_text_ || (unknown->is_option && unknown->default_value.is(Kind::string));
}

// Where something is equal to one constant, it is equal to none of the others that it was compared with.
void Interpreter::exclude_others(Cond holds) {
  auto& s = symbols();
  // Only what is asked itself, or among all that holds, can be known by it to be so.
  const auto form = s.form(holds);
  if (form != symbolic::Context::Form::opaque && form != symbolic::Context::Form::conjunction) return;
  std::vector<std::pair<Cond, const void*>> equal;
  s.parts(
      holds, [](Int) {},
      [&](Cond part) {
        if (const void* about = questions_.worded(part)) equal.emplace_back(part, about);
      });
  for (const auto& [part, about] : equal) {
    if (s.decide(part) != symbolic::Answer::yes) continue;
    for (const OpenQuestions::Asked& other : questions_.all(about))
      if (other.is_word && other.answer != part && s.decide(other.answer) == symbolic::Answer::unknown)
        static_cast<void>(s.assume(s.logical_not(other.answer)));
  }
}

}  // namespace stepzero::interpreter
