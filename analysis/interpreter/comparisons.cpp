// Truth: of values, of comparisons, of `and`, `or` and `not`.
#include "interpreter/ambiguous_truth.hpp"
#include "interpreter/interpreter.hpp"
#include "interpreter/keys_view.hpp"
#include "interpreter/noted_at.hpp"
#include "interpreter/presumed.hpp"
#include "interpreter/set_on_self.hpp"
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
  if (nested.too_deep()) return mark_external(s.opaque("", Sharing::unseen), true);
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
    return mark_external(s.opaque("a list", of_items == Sharing::local ? Sharing::unseen : of_items), state->rest && heap().is_external(state->rest));
  }
  case Kind::dict: {
    const auto* state = values::Heap::dict_state(value);
    if (!state->open) return s.boolean(!state->items.empty());
    return mark_external(s.opaque("a dict", Sharing::unseen), true);
  }
  case Kind::choice: {
    const auto* choice = value.as<values::Choice>();
    // `a and b` is a where a is false: its truth is the condition that chose it.
    const Cond yes = truth(choice->yes), no = truth(choice->no);
    if (no == choice->condition) return s.logical_and(choice->condition, yes);
    if (yes == choice->condition) return s.logical_or(choice->condition, no);
    return s.logical_or(s.logical_and(choice->condition, yes), s.logical_and(s.logical_not(choice->condition), no));
  }
  case Kind::unknown: {
    auto* unknown = value.as<values::Unknown>();
    if (unknown->integer) return s.compared(symbolic::Compare::ne, unknown->integer, s.constant(0));
    if (!unknown->truth) unknown->truth = mark_external(s.opaque(std::string(unknown->name), unknown->sharing), unknown->external);
    return unknown->truth;
  }
  case Kind::tensor: {
    const auto* state = value.as<values::Tensor>()->now();
    if (const auto* content = heap().content_of(*state); content && content->numbers.size() == 1)
      if (const Value number = heap().number(*content, 0)) return truth(number);
    return mark_external(s.opaque("a tensor", state->sharing), state->external);
  }
  case Kind::range: {
    const auto* range = value.as<values::Range>();
    return s.compared(symbolic::Compare::lt, range->start, range->stop);
  }
  case Kind::instance: {
    if (const Value method = find_method(value.as<values::Instance>(), Name("__bool__"))) return truth(call(method, {}, {}));
    if (const Value plain = plain_member(value); !(plain == value)) return truth(plain);
    if (find_method(value.as<values::Instance>(), Name("__len__"))) return truth(length_of(value, {}));
    if (is_presumed(value)) return asked(value.as<values::Instance>()->name, value, {}, heap().sharing(value));
    return s.boolean(true);
  }
  case Kind::iterator:
  case Kind::state:
  case Kind::absent: return mark_external(s.opaque("", Sharing::unseen), true);
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
  if (op == UnaryOp::logical_not) return Value::of(symbols().logical_not(truth(asked_for_truth(*this, operand, here(*as<UnaryExpr>(node).operand)))));
  operand = settled(operand);
  if (operand.is(Kind::choice)) return over_choices(operand, [&](Value side) { return unary(op, side, node); }, here(node));
  if (operand.is(Kind::boolean))
    if (const auto constant = to_constant(operand)) operand = heap().integer(*constant);
  if (op == UnaryOp::minus) {
    if (operand.is(Kind::integer)) return Value::of(symbols().negate(operand.integer()));
    if (operand.is(Kind::real)) return Value::of(-operand.real());
  }
  if (op == UnaryOp::plus && (operand.is(Kind::integer) || operand.is(Kind::real))) return operand;
  if (op == UnaryOp::invert && operand.is(Kind::integer)) return Value::of(symbols().sub(symbols().constant(-1), operand.integer()));
  if (operand.is(Kind::tensor)) return library_.unary(*this, op, operand, node, here(node));
  if (operand.is(Kind::instance)) {
    const std::string_view name = op == UnaryOp::minus ? "__neg__" : op == UnaryOp::plus ? "__pos__" : "__invert__";
    if (const Value method = find_method(operand.as<values::Instance>(), Name(name))) return call(method, {}, {});
  }
  Value result = heap().unknown_from({operand});
  result.as<values::Unknown>()->is_real = operand.is(Kind::unknown) && operand.as<values::Unknown>()->is_real;
  return result;
}

Value Interpreter::settled(Value value) {
  value = resolve(value);
  if (value.is(Kind::unknown) && value.as<values::Unknown>()->state.value.is(Kind::tensor)) return value.as<values::Unknown>()->state.value;
  return value;
}

Value Interpreter::evaluate_compare(const CompareExpr& expr) {
  Value left = evaluate(*expr.left);
  Value result;
  for (std::size_t i = 0; i < expr.ops.size(); ++i) {
    const Value right = evaluate(*expr.rights[i]);
    const bool of_values = expr.ops[i] <= CompareOp::ge;
    const Value a = settled(left), b = settled(right);
    // An object of a library compares as the library says: an array gives an array of truths.
    const auto by_method = [&](Value object, Value other, CompareOp how) -> Value {
      constexpr std::string_view names[] = {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"};
      if (!object.is(Kind::instance) || object.as<values::Instance>()->cls || !object.as<values::Instance>()->native) return {};
      const Value method = find_method(object.as<values::Instance>(), Name(names[static_cast<int>(how)]));
      return method ? call(method, {{other}, {}, false}, here(expr)) : Value{};
    };
    constexpr CompareOp turned[] = {CompareOp::eq, CompareOp::ne, CompareOp::gt, CompareOp::ge, CompareOp::lt, CompareOp::le};
    Value said = of_values ? by_method(a, b, expr.ops[i]) : Value{};
    if (!said && of_values && !a.is(Kind::tensor)) said = by_method(b, a, turned[static_cast<int>(expr.ops[i])]);
    const std::function<bool(Value)> holds_tensor = [&](Value value) {
      if (!value.is(Kind::choice)) return settled(value).is(Kind::tensor);
      return holds_tensor(value.as<values::Choice>()->yes) || holds_tensor(value.as<values::Choice>()->no);
    };
    Value part = said ? said : of_values && (holds_tensor(a) || holds_tensor(b)) ? library_.compare(*this, expr.ops[i], a, b, expr, here(expr))
                                                                         : compare(expr.ops[i], left, right);
    if (handling_ && !of_values && a.is(Kind::string) && !b.is(Kind::string) && (expr.ops[i] == CompareOp::in || expr.ops[i] == CompareOp::not_in) && library_.exhausts(a.text())) {
      handling_->exhausted = static_cast<int>(handling_->handlers.size()) - 1;
      handling_->exhausted_when.push_back(expr.ops[i] == CompareOp::in ? truth(part) : symbols().logical_not(truth(part)));
    }
    // Compared with something unknown, it may be a tensor of truths: a value of which only its truth is known.
    const auto may_be_tensor = [](Value value) { return value.is(Kind::unknown) && !value.as<values::Unknown>()->is_real; };
    const auto may_meet_tensor = [](Value value) { return value.is(Kind::unknown) || value.is(Kind::integer) || value.is(Kind::real) || value.is(Kind::boolean); };
    if (of_values && expr.ops.size() == 1 && part.is(Kind::boolean) && ((may_be_tensor(a) && may_meet_tensor(b)) || (may_be_tensor(b) && may_meet_tensor(a))) &&
        symbols().form(part.condition()) != symbolic::Context::Form::constant) {
      const Value made = heap().unknown("", symbols().sharing(part.condition()), here(expr));
      made.as<values::Unknown>()->truth = part.condition();
      made.as<values::Unknown>()->external = record_.external.contains(part.condition());
      part = made;
    }
    result = result ? Value::of(symbols().logical_and(truth(result), truth(part))) : part;
    if (i + 1 < expr.ops.size() && symbols().decide(truth(result)) == symbolic::Answer::no) break;  // the rest is not evaluated
    left = right;
  }
  return result;
}

namespace {
symbolic::Compare ordering(CompareOp op) {
  switch (op) {
  case CompareOp::ne: return symbolic::Compare::ne;
  case CompareOp::lt: return symbolic::Compare::lt;
  case CompareOp::le: return symbolic::Compare::le;
  case CompareOp::gt: return symbolic::Compare::gt;
  case CompareOp::ge: return symbolic::Compare::ge;
  default: return symbolic::Compare::eq;
  }
}
bool is_number(Value value) { return value.is(Kind::integer) || value.is(Kind::real); }
bool is_constant_like(Value value) {
  return value.is(Kind::string) || value.is(Kind::none) || value.is(Kind::boolean) || is_number(value) || value.is(Kind::dtype) ||
         value.is(Kind::device);
}
std::string constant_text(symbolic::Context& symbols, Value value) {
  switch (value.kind) {
  case Kind::string: return "'" + std::string(value.text()) + "'";
  case Kind::integer: return symbols.text(value.integer());
  case Kind::real: return std::to_string(value.real());
  case Kind::boolean: return symbols.text(value.condition());
  case Kind::dtype: return std::string(values::name(value.dtype()));
  case Kind::device: return "device " + std::string(value.as<values::Device>()->text);
  default: return "None";
  }
}
// May `x == x` not hold?
bool may_differ_from_itself(const Interpreter& run, Value value) {
  switch (value.kind) {
  case Kind::real: return std::isnan(value.real());
  case Kind::unknown: {
    const auto* unknown = value.as<values::Unknown>();
    return unknown->is_real || !unknown->integer || unknown->only_compared;
  }
  case Kind::instance: {
    const values::Class* cls = value.as<values::Instance>()->cls;
    return cls && (cls->open || run.find_in_order(cls->order, Name("__eq__")));
  }
  default: return false;
  }
}
std::string_view spelled(CompareOp op) {
  constexpr std::string_view names[] = {"==", "!=", "<", "<=", ">", ">=", "is", "is not", "in", "not in"};
  return names[static_cast<int>(op)];
}
} // namespace

// By its name alone `local_rank` may be what one process without a launcher has, which is below 0 by custom: who compares it with such
// numbers asks for that. Null: the question is another.
static Cond asks_for_rank(Interpreter& run, symbolic::Compare op, Int left, Int right) {
  using symbolic::Compare;
  auto& s = run.symbols();
  const Record& record = run.record();
  const auto is_rank = [&](Int side) { return side && (side == record.roles[static_cast<int>(symbolic::Role::rank)] || side == record.roles[static_cast<int>(symbolic::Role::local_rank)]); };
  if (is_rank(right)) {
    std::swap(left, right);
    op = op == Compare::lt ? Compare::gt : op == Compare::le ? Compare::ge : op == Compare::gt ? Compare::lt : op == Compare::ge ? Compare::le : op;
  }
  const auto number = is_rank(left) ? s.value(right) : std::nullopt;
  if (!number) return nullptr;
  const bool at_none = *number == -1, above_none = *number == 0;
  const bool there = (at_none && (op == Compare::ne || op == Compare::gt)) || (above_none && op == Compare::ge);
  const bool missing = (at_none && (op == Compare::eq || op == Compare::le)) || (above_none && op == Compare::lt);
  if (!there && !missing) return nullptr;
  const symbolic::Role role = left == record.roles[static_cast<int>(symbolic::Role::rank)] ? symbolic::Role::rank : symbolic::Role::local_rank;
  // Where the program has a value of its own for it, that question is the same one.
  bool known = false;
  each_noted(record, told(role), [&](Cond asked) { known = known || s.decide(asked) == symbolic::Answer::yes; });
  if (known) return s.boolean(there);
  const std::string name = role == symbolic::Role::rank ? "rank" : "local_rank";
  const Cond question = run.named_condition(name + " != -1", Sharing::uniform);
  return there ? question : s.logical_not(question);
}

void Interpreter::note_choice_by_text(Value word) {
  if (in_roots_ || !word.is(Kind::unknown)) return;
  const auto* unknown = word.as<values::Unknown>();
  chosen_by_text_ = chosen_by_text_ || (unknown->is_option && unknown->default_value.is(Kind::string));
}

Value Interpreter::compare(CompareOp op, Value left, Value right) {
  left = resolve(left);
  right = resolve(right);
  note_choice_by_text(left);
  note_choice_by_text(right);
  auto& s = symbols();
  const auto negate_if = [&](bool negate, Cond condition) { return Value::of(negate ? s.logical_not(condition) : condition); };
  if (left.is(Kind::choice))
    return over_choices(left, [&](Value side) { return Value::of(truth(compare(op, side, right))); });
  if (right.is(Kind::choice))
    return over_choices(right, [&](Value side) { return Value::of(truth(compare(op, left, side))); });
  const auto open = [&](std::string name) {
    const Sharing sharing = symbolic::mix(heap().sharing(left), heap().sharing(right));
    return Value::of(mark_external(s.opaque(std::move(name), sharing), heap().is_external(left) || heap().is_external(right)));
  };
  const bool negative = op == CompareOp::ne || op == CompareOp::is_not || op == CompareOp::not_in;

  if ((is_presumed(left) && op != CompareOp::in && op != CompareOp::not_in) || is_presumed(right)) {
    // Whatever is asked of it, the answer is open, and the same each time.
    if ((op == CompareOp::is || op == CompareOp::is_not) && left == right) return heap().boolean(!negative);
    const bool turned = !is_presumed(left);
    const Value object = turned ? right : left, other = turned ? left : right;
    const CompareOp positive = op == CompareOp::ne || op == CompareOp::is || op == CompareOp::is_not ? CompareOp::eq : op == CompareOp::not_in ? CompareOp::in : op;
    const bool equality = positive == CompareOp::eq;
    const Sharing sharing = symbolic::mix(heap().sharing(left), heap().sharing(right));
    if (!is_constant_like(other)) return Value::of(mark_external(s.opaque("", sharing), heap().is_external(other)));
    const std::string name(object.as<values::Instance>()->name), constant = constant_text(s, other);
    const std::string sign(equality && other.is(Kind::none) ? "is" : spelled(positive));
    const std::string key = turned && !equality ? constant + " " + sign : sign + constant;
    const bool is_word = equality && other.is(Kind::string);
    if (is_word)
      for (const Questions::Asked& before : questions_.all(object.object()))
        if (before.is_word && before.question != key && s.decide(before.answer) == symbolic::Answer::yes) return heap().boolean(negative);
    Cond answer = questions_.find(object.object(), key);
    if (!answer) {
      answer = s.opaque(turned && !equality ? constant + " " + sign + " " + name : name + " " + sign + " " + constant, sharing);
      questions_.add(object.object(), key, answer, is_word);
    }
    return negate_if(negative, answer);
  }
  if (op == CompareOp::in || op == CompareOp::not_in) {
    if (right.is(Kind::instance)) {
      auto* object = right.as<values::Instance>();
      if (const Value method = find_method(object, Name("__contains__"))) return negate_if(negative, truth(call(method, {{left}, {}, false}, {})));
    }
    if (const KeysView* keys = keys_view(right)) return compare(op, left, keys->dict);
    if (right.is(Kind::dict)) {
      const auto* state = values::Heap::dict_state(right);
      bool known = known_key(left);
      for (const auto& [key, value] : state->items) {
        if (key == left || same_key(key, left)) {
          if (value && !value.is(Kind::choice)) return heap().boolean(!negative);
          if (value.is(Kind::choice) && value.as<values::Choice>()->yes && value.as<values::Choice>()->no) return heap().boolean(!negative);
          return open("");
        }
        known = known && known_key(key);
      }
      if (!state->open && known) return heap().boolean(negative);
      return open("");
    }
    if (right.is(Kind::string) && left.is(Kind::string))
      return heap().boolean((right.text().find(left.text()) != std::string_view::npos) != negative);
    if (right.is(Kind::range)) {
      const auto* range = right.as<values::Range>();
      const auto at = to_constant(left), from = s.value(range->start), to = s.value(range->stop), by = s.value(range->step);
      if (at && from && to && by && *by != 0)
        return heap().boolean(((*by > 0 ? *at >= *from && *at < *to : *at <= *from && *at > *to) && (*at - *from) % *by == 0) != negative);
    }
    if (right.is(Kind::class_) && right.as<values::Class>()->is_enum && left.is(Kind::instance))
      return heap().boolean((std::find(right.as<values::Class>()->members.begin(), right.as<values::Class>()->members.end(), left) != right.as<values::Class>()->members.end()) != negative);
    const bool is_set = right.is(Kind::list) && right.as<values::List>()->kind == values::ListKind::set;
    const auto items = is_set && !values::Heap::list_state(right)->open ? std::optional(values::Heap::list_state(right)->items)
                       : right.is(Kind::unknown)                         ? std::nullopt
                                                                         : elements(right, {});
    if (items) {
      if (known_key(left)) {
        bool known = true;
        for (const Value& raw : *items) {
          const Value item = resolve(raw);
          if (known_key(item) ? same_key(item, left) : item == left) return heap().boolean(!negative);
          known = known && known_key(item);
        }
        if (known) return heap().boolean(negative);
      }
      constexpr std::size_t most_alternatives = 16;  // of one condition: a list of modes or names, no vocabulary
      if (items->size() <= most_alternatives) {
        Cond any = s.boolean(false);
        for (const Value& item : *items) any = s.logical_or(any, truth(compare(CompareOp::eq, left, item)));
        return negate_if(negative, any);
      }
    }
    return open("");
  }

  if (op == CompareOp::is || op == CompareOp::is_not || op == CompareOp::eq || op == CompareOp::ne) {
    const bool identity = op == CompareOp::is || op == CompareOp::is_not;
    if (left == right && (!left.is(Kind::tensor) || identity)) {
      if (identity || !may_differ_from_itself(*this, left)) return heap().boolean(!negative);
      // nan is not equal to itself, and an array says it of each of its items.
      const std::string_view name = left.is(Kind::unknown) ? left.as<values::Unknown>()->name : std::string_view{};
      const Cond equal = asked(name.empty() ? "" : std::string(name) + " == " + std::string(name), left, left, heap().sharing(left));
      return negate_if(negative, mark_external(equal, heap().is_external(left)));
    }
    if (left.is(Kind::instance) && right.is(Kind::instance)) {
      // Identity, unless the class says otherwise.
      auto* object = left.as<values::Instance>();
      const bool by_identity = identity || known_key(left);
      if (by_identity && known_key(left) && known_key(right) && !object->symbolic && !right.as<values::Instance>()->symbolic)
        return heap().boolean(same_key(left, right) != negative);
      if (!by_identity && object->cls)
        if (const Value method = find_in_order(object->cls->order, Name("__eq__")); method.is(Kind::function))
          return negate_if(negative, truth(call(bind_method(method, left, object->cls, {}), {{right}, {}, false}, {})));
      if (!by_identity && object->cls && object->cls->is_dataclass && object->cls == right.as<values::Instance>()->cls) {
        const auto a = field_values(*object), b = field_values(*right.as<values::Instance>());
        Cond all = s.boolean(true);
        for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) all = s.logical_and(all, truth(compare(CompareOp::eq, a[i].second, b[i].second)));
        return negate_if(negative, all);
      }
      return open("");
    }
    for (const auto& [member, other] : {std::pair{left, right}, std::pair{right, left}})
      if (member.is(Kind::instance) && (other.is(Kind::string) || is_number(other)) && member.as<values::Instance>()->cls) {
        if (const Value plain = plain_member(member); !(plain == member)) return compare(op, plain, other);
        if (member.as<values::Instance>()->cls->is_enum) return heap().boolean(negative);
      }
    if (left.is(Kind::list) && right.is(Kind::list)) {
      const auto* a = values::Heap::list_state(left);
      const auto* b = values::Heap::list_state(right);
      if (op == CompareOp::is || op == CompareOp::is_not) return heap().boolean(negative);
      if (a->open || b->open) return open("");
      if (left.as<values::List>()->kind == values::ListKind::set || right.as<values::List>()->kind == values::ListKind::set) {
        const auto within = [&](const auto* part, const auto* whole) {
          return std::all_of(part->items.begin(), part->items.end(), [&](Value item) {
            return std::any_of(whole->items.begin(), whole->items.end(), [&](Value other) { return same_key(item, other); });
          });
        };
        const auto known = [&](const auto* one) { return std::all_of(one->items.begin(), one->items.end(), [&](Value item) { return known_key(item); }); };
        if (!known(a) || !known(b)) return open("");
        return heap().boolean((within(a, b) && within(b, a)) != negative);
      }
      if (a->items.size() != b->items.size()) return heap().boolean(negative);
      Cond all = s.boolean(true);
      for (std::size_t i = 0; i < a->items.size(); ++i) all = s.logical_and(all, truth(compare(CompareOp::eq, a->items[i], b->items[i])));
      return negate_if(negative, all);
    }
    if (left.is(Kind::dict) && right.is(Kind::dict)) {
      const auto* a = values::Heap::dict_state(left);
      const auto* b = values::Heap::dict_state(right);
      if (op == CompareOp::is || op == CompareOp::is_not) return heap().boolean(negative);
      if (a->open || b->open) return open("");
      Cond all = s.boolean(a->items.size() == b->items.size());
      for (const auto& [key, value] : a->items) {
        if (!known_key(key) || s.decide(all) == symbolic::Answer::no) break;
        Value counterpart;
        for (const auto& [k, v] : b->items)
          if (same_key(k, key)) counterpart = v;
        all = counterpart ? s.logical_and(all, truth(compare(CompareOp::eq, value, counterpart))) : s.boolean(false);
      }
      return negate_if(negative, all);
    }
    if (left.is(Kind::none) || right.is(Kind::none)) {
      const Value other = left.is(Kind::none) ? right : left;
      if (!other.is(Kind::unknown)) return heap().boolean(negative);
      if (other.as<values::Unknown>()->is_real) return heap().boolean(negative);
      auto* unknown = other.as<values::Unknown>();
      if (unknown->state.value) return heap().boolean(negative);  // it has been used as a tensor
      // Sums and products are something.
      if (unknown->integer && !s.is_atom(unknown->integer)) return heap().boolean(negative);
      // What was computed from data of this process may be there whatever the data are: who says that it is not does not say why.
      if (!unknown->is_none)
        unknown->is_none = mark_external(s.opaque(unknown->name.empty() || unknown->attributes.find(was_none) ? "" : std::string(unknown->name) + " is None", unknown->sharing == Sharing::local ? Sharing::unseen : unknown->sharing), unknown->external);
      return negate_if(negative, unknown->is_none);
    }
    if (left.is(Kind::string) && right.is(Kind::string)) return heap().boolean((left.text() == right.text()) != negative);
    // torch.device("cpu") == "cpu" is false: a device is no text.
    if ((left.is(Kind::string) && values::is_device(right)) || (right.is(Kind::string) && values::is_device(left))) return heap().boolean(negative);
    // os.environ["RANK"] == "0": what the environment holds is text.
    for (const auto& [text, number] : {std::pair{left, right}, std::pair{right, left}})
      if (text.is(Kind::string) && number.is(Kind::integer) && (limits_.as_rank || !s.value(number.integer()))) {
        std::int64_t parsed = 0;
        const std::string_view digits = text.text();
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), parsed);
        if (error == std::errc{} && end == digits.data() + digits.size()) return compare(op, number, heap().integer(parsed));
      }
    // Values of different kinds are not equal; numbers are compared below.
    if ((op == CompareOp::eq || op == CompareOp::ne) && left.kind != right.kind && known_key(left) && known_key(right) &&
        !(is_number(left) && is_number(right)))
      return heap().boolean(same_key(left, right) != negative);
    if (left.is(Kind::boolean) && right.is(Kind::boolean)) {
      const Cond both = s.logical_and(left.condition(), right.condition());
      const Cond neither = s.logical_and(s.logical_not(left.condition()), s.logical_not(right.condition()));
      return negate_if(negative, s.logical_or(both, neither));
    }
    if (left.is(Kind::dtype) && right.is(Kind::dtype) && left.dtype() != values::Dtype::unknown && right.dtype() != values::Dtype::unknown)
      return heap().boolean((left.dtype() == right.dtype()) != negative);
    if ((left.is(Kind::class_) || left.is(Kind::function) || left.is(Kind::library)) && right.kind == left.kind)
      return heap().boolean(negative);
    if (left.is(Kind::tuple) && right.is(Kind::tuple)) {
      const auto& a = left.as<values::Tuple>()->items;
      const auto& b = right.as<values::Tuple>()->items;
      if (a.size() != b.size()) return heap().boolean(negative);
      Cond all = s.boolean(true);
      for (std::size_t i = 0; i < a.size(); ++i) all = s.logical_and(all, truth(compare(CompareOp::eq, a[i], b[i])));
      return negate_if(negative, all);
    }
  }
  if (left.is(Kind::boolean) || right.is(Kind::boolean)) {
    const auto number = [&](Value value) -> Value {
      if (!value.is(Kind::boolean)) return value;
      const auto constant = to_constant(value);
      return constant ? heap().integer(*constant) : value;
    };
    left = number(left);
    right = number(right);
  }
  if (op != CompareOp::eq && op != CompareOp::ne && op != CompareOp::is && op != CompareOp::is_not && !is_number(left) && !left.is(Kind::tensor)) {
    if (left.is(Kind::list) && right.is(Kind::list) && left.as<values::List>()->kind == values::ListKind::set) {
      Arguments other{{op == CompareOp::le || op == CompareOp::lt ? right : left}, {}, false};
      const Value subset = list_method(op == CompareOp::le || op == CompareOp::lt ? left : right, "issubset", other, {});
      if (op == CompareOp::le || op == CompareOp::ge) return subset;
      return Value::of(s.logical_and(truth(subset), s.logical_not(truth(compare(CompareOp::eq, left, right)))));
    }
    if (const auto answer = order(left, right))
      return heap().boolean(op == CompareOp::lt ? *answer < 0 : op == CompareOp::le ? *answer <= 0 : op == CompareOp::gt ? *answer > 0 : *answer >= 0);
    if (left.is(Kind::instance) && left.as<values::Instance>()->cls) {
      const std::string_view name = op == CompareOp::lt ? "__lt__" : op == CompareOp::le ? "__le__" : op == CompareOp::gt ? "__gt__" : "__ge__";
      if (const Value method = find_in_order(left.as<values::Instance>()->cls->order, Name(name)); method.is(Kind::function))
        return Value::of(truth(call(bind_method(method, left, left.as<values::Instance>()->cls, {}), {{right}, {}, false}, {})));
    }
  }
  if (is_number(left) && is_number(right)) {
    if (left.is(Kind::integer) && right.is(Kind::integer)) {
      const Cond question = asks_for_rank(*this, ordering(op), left.integer(), right.integer());
      return Value::of(question ? question : s.compared(ordering(op), left.integer(), right.integer()));
    }
    const auto real = [&](Value value) -> std::optional<double> {
      if (value.is(Kind::real)) return value.real();
      if (const auto constant = s.value(value.integer())) return static_cast<double>(*constant);
      return std::nullopt;
    };
    const auto a = real(left), b = real(right);
    if (!a || !b) return open("");
    switch (ordering(op)) {
    case symbolic::Compare::eq: return heap().boolean(*a == *b);
    case symbolic::Compare::ne: return heap().boolean(*a != *b);
    case symbolic::Compare::lt: return heap().boolean(*a < *b);
    case symbolic::Compare::le: return heap().boolean(*a <= *b);
    case symbolic::Compare::gt: return heap().boolean(*a > *b);
    case symbolic::Compare::ge: return heap().boolean(*a >= *b);
    }
  }
  // Whether it is the same object is one answer, however many numbers it holds.
  if ((left.is(Kind::tensor) || right.is(Kind::tensor)) && op != CompareOp::is && op != CompareOp::is_not) {
    const Value operand = left.is(Kind::tensor) ? left : right;
    values::TensorState state = *operand.as<values::Tensor>()->now();
    if (left.is(Kind::tensor) && right.is(Kind::tensor)) state.shape = {};
    state.dtype = values::Dtype::boolean;
    state.requires_grad = values::Known::no;
    state.graph.clear();
    state.scaled_by = nullptr;
    state.content = nullptr;
    state.extent = nullptr;
    state.sharing = symbolic::mix(heap().sharing(left), heap().sharing(right));
    return heap().tensor(state, {});
  }
  // A probability may lie between 0 and 1, where no integer does: what nobody used as an integer is not taken for one.
  const bool orders = op == CompareOp::lt || op == CompareOp::le || op == CompareOp::gt || op == CompareOp::ge;
  const auto may_be_share = [&](Value value, Value bound) {
    if (!orders || !value.is(Kind::unknown) || !bound.is(Kind::integer)) return false;
    const auto* unknown = value.as<values::Unknown>();
    if (unknown->integer && !unknown->only_compared) return false;
    const auto constant = s.value(bound.integer());
    return constant && (*constant == 0 || *constant == 1);
  };
  if (may_be_share(right, left)) {
    std::swap(left, right);
    op = op == CompareOp::lt ? CompareOp::gt : op == CompareOp::le ? CompareOp::ge : op == CompareOp::gt ? CompareOp::lt : CompareOp::le;
  }
  const bool share = may_be_share(left, right);
  if (share && (op == CompareOp::ge || op == CompareOp::le)) return Value::of(s.logical_not(truth(compare(op == CompareOp::ge ? CompareOp::lt : CompareOp::gt, left, right))));
  const auto compared_int = [&](Value value) {
    auto* unknown = value.as<values::Unknown>();
    const bool before = !unknown->integer || unknown->only_compared;
    const Int integer = to_int(value);
    unknown->only_compared = before;
    return integer;
  };
  // What was found to be above 1 is not 1, also where it was not taken for an integer then.
  if ((op == CompareOp::eq || op == CompareOp::ne) && left.is(Kind::unknown) && right.is(Kind::integer))
    if (const auto asked = s.value(right.integer()))
      for (const std::int64_t bound : {0, 1}) {
        const Cond above = questions_.find(left.as<values::Unknown>(), ">" + std::to_string(bound)), below = questions_.find(left.as<values::Unknown>(), "<" + std::to_string(bound));
        const auto is = [&](Cond question, symbolic::Answer answer) { return question && s.decide(question) == answer; };
        if ((is(above, symbolic::Answer::yes) && *asked <= bound) || (is(above, symbolic::Answer::no) && *asked > bound) || (is(below, symbolic::Answer::yes) && *asked >= bound) ||
            (is(below, symbolic::Answer::no) && *asked < bound))
          return heap().boolean(negative);
      }
  // Asked before it was known to be an integer, the question has the answer that it had then.
  if (left.is(Kind::unknown) && right.is(Kind::integer) && is_constant_like(right))
    if (const Cond before = questions_.find(left.as<values::Unknown>(), std::string(spelled(negative ? CompareOp::eq : op)) + constant_text(s, right))) return negate_if(negative, before);
  if (left.is(Kind::unknown) && right.is(Kind::integer) && !left.as<values::Unknown>()->external && !share)
    return Value::of(s.compared(ordering(op), compared_int(left), right.integer()));
  if (right.is(Kind::unknown) && left.is(Kind::integer) && !right.as<values::Unknown>()->external)
    return Value::of(s.compared(ordering(op), left.integer(), compared_int(right)));
  if (left.is(Kind::unknown) && is_constant_like(right)) {
    // The same question about the same value has the same answer.
    const auto* unknown = left.as<values::Unknown>();
    const CompareOp positive = op == CompareOp::ne || op == CompareOp::is_not ? CompareOp::eq : op == CompareOp::is ? CompareOp::eq : op;
    const std::string constant = constant_text(s, right), equals = std::string(spelled(CompareOp::eq)) + constant;
    const std::string key = std::string(spelled(positive)) + constant;
    // What is known to be equal is not less.
    if (positive != CompareOp::eq && orders && is_number(right)) {
      const Cond same = questions_.find(unknown, equals);
      const bool equal = (same && s.decide(same) == symbolic::Answer::yes) ||
                         (unknown->integer && right.is(Kind::integer) && s.decide(s.compared(symbolic::Compare::eq, unknown->integer, right.integer())) == symbolic::Answer::yes);
      if (equal) return heap().boolean(op == CompareOp::le || op == CompareOp::ge);
    }
    const bool is_word = positive == CompareOp::eq && right.is(Kind::string);
    if (is_word)
      for (const Questions::Asked& other : questions_.all(unknown))
        if (other.is_word && other.question != key && s.decide(other.answer) == symbolic::Answer::yes) return heap().boolean(negative);
    Cond answer = questions_.find(unknown, key);
    if (!answer) {
      const std::string name = unknown->name.empty() ? "" : std::string(unknown->name) + " " + std::string(spelled(positive)) + " " + constant;
      answer = mark_external(s.opaque(name, unknown->sharing), unknown->external);
      questions_.add(unknown, key, answer, is_word);
    }
    return negate_if(negative && positive == CompareOp::eq, answer);
  }
  return open("");
}

// Where something is equal to one constant, it is equal to none of the others that it was compared with.
void Interpreter::exclude_others(Cond holds) {
  auto& s = symbols();
  // Only what is asked itself, or among all that holds, can be known by it to be so.
  const auto form = s.form(holds);
  if (form != symbolic::Context::Form::opaque && form != symbolic::Context::Form::conjunction) return;
  std::vector<std::pair<Cond, const void*>> equal;
  s.parts(holds, [](Int) {}, [&](Cond part) {
    if (const void* about = questions_.worded(part)) equal.emplace_back(part, about);
  });
  for (const auto& [part, about] : equal) {
    if (s.decide(part) != symbolic::Answer::yes) continue;
    for (const Questions::Asked& other : questions_.all(about))
      if (other.is_word && other.answer != part && s.decide(other.answer) == symbolic::Answer::unknown)
        static_cast<void>(s.assume(s.logical_not(other.answer)));
  }
}

} // namespace stepzero::interpreter
