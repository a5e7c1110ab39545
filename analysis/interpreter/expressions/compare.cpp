// What a comparison of two values says of which much is known: `in`, `==` and `is`, orders.
#include "interpreter/builtins/builtins.hpp"
#include "interpreter/builtins/keys_view.hpp"
#include "interpreter/calls/noted_at.hpp"
#include "interpreter/classes/object_model.hpp"
#include "interpreter/classes/self_writes.hpp"
#include "interpreter/expressions/comparison.hpp"
#include "interpreter/expressions/rank_questions.hpp"
#include "interpreter/interpreter.hpp"
#include "interpreter/roots/presumed.hpp"
#include "interpreter/statements/module_loader.hpp"
#include "values/devices.hpp"
#include "values/kept_by_packages.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

namespace {
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
}  // namespace

Value Interpreter::compare(CompareOp op, Value left, Value right) {
  left = resolve(left);
  right = resolve(right);
  note_choice_by_text(left);
  note_choice_by_text(right);
  if (left.is(Kind::choice))
    return over_choices(left, [&](Value side) { return Value::of(truth(compare(op, side, right))); });
  if (right.is(Kind::choice))
    return over_choices(right, [&](Value side) { return Value::of(truth(compare(op, left, side))); });
  return Comparison{*this, op, left, right, symbols(),
      op == CompareOp::ne || op == CompareOp::is_not || op == CompareOp::not_in}
      .result();
}

Value Interpreter::Comparison::result() {
  if ((is_presumed(left) && !is_membership()) || is_presumed(right)) return of_presumed();
  if (is_membership()) return membership();
  if (is_equality())
    if (const Value made = equality()) return made;
  if (left.is(Kind::boolean) || right.is(Kind::boolean)) {
    const auto number = [&](Value value) -> Value {
      if (!value.is(Kind::boolean)) return value;
      const auto constant = run.to_constant(value);
      return constant ? run.heap().integer(*constant) : value;
    };
    left = number(left);
    right = number(right);
  }
  if (const Value known = of_bounded()) return known;
  if (is_order() && !is_plain_number(left) && !left.is(Kind::tensor))
    if (const Value made = order()) return made;
  if (is_plain_number(left) && is_plain_number(right)) return of_numbers();
  // Whether it is the same object is one answer, however many numbers it holds.
  if ((left.is(Kind::tensor) || right.is(Kind::tensor)) && !is_identity()) return of_tensors();
  return of_unknowns();
}

Value Interpreter::Comparison::open() const {
  const Sharing sharing = symbolic::mix(run.heap().sharing(left), run.heap().sharing(right));
  return Value::of(
      run.mark_unseen(s.opaque("", sharing), run.heap().is_unseen(left) || run.heap().is_unseen(right)));
}

Value Interpreter::Comparison::membership() {
  if (right.is(Kind::instance)) {
    auto* object = right.as<values::Instance>();
    if (const Value method = run.find_method(object, Name("__contains__")))
      return answer(run.truth(run.call(method, {{left}, {}, false}, {})));
  }
  if (const KeysView* keys = keys_view(right)) return run.compare(op, left, keys->dict);
  if (right.is(Kind::dict)) return in_dict();
  if (right.is(Kind::string) && left.is(Kind::string))
    return answer(right.text().find(left.text()) != std::string_view::npos);
  if (right.is(Kind::range)) {
    const auto* range = right.as<values::Range>();
    const auto at = run.to_constant(left), from = s.value(range->start), to = s.value(range->stop),
               by = s.value(range->step);
    if (at && from && to && by && *by != 0)
      return answer(
          (*by > 0 ? *at >= *from && *at < *to : *at <= *from && *at > *to) && (*at - *from) % *by == 0);
  }
  if (right.is(Kind::class_) && right.as<values::Class>()->is_enum && left.is(Kind::instance))
    return answer(
        std::find(right.as<values::Class>()->members.begin(), right.as<values::Class>()->members.end(),
            left) != right.as<values::Class>()->members.end());
  return in_items();
}

Value Interpreter::Comparison::in_dict() {
  const auto* state = values::Heap::dict_state(right);
  bool known = run.known_key(left);
  for (const auto& [key, value] : state->items) {
    if (key == left || run.same_key(key, left)) {
      if (value && !value.is(Kind::choice)) return answer(true);
      if (value.is(Kind::choice) && value.as<values::Choice>()->yes && value.as<values::Choice>()->no)
        return answer(true);
      return open();
    }
    known = known && run.known_key(key);
  }
  if (!state->open && known) return run.loader_->load_registering(left) ? in_dict() : answer(false);
  return open();
}

Value Interpreter::Comparison::in_items() {
  const bool is_set = right.is(Kind::list) && right.as<values::List>()->kind == values::ListKind::set;
  const auto items = is_set && !values::Heap::list_state(right)->open
      ? std::optional(values::Heap::list_state(right)->items)
      : right.is(Kind::unknown) ? std::nullopt
                                : run.elements(right, {});
  if (items) {
    if (run.known_key(left)) {
      bool known = true;
      for (const Value& raw : *items) {
        const Value item = run.resolve(raw);
        if (run.known_key(item) ? run.same_key(item, left) : item == left) return answer(true);
        known = known && run.known_key(item);
      }
      if (known) return answer(false);
    }
    constexpr std::size_t most_alternatives =
        16;  // of one condition: a list of modes or names, no vocabulary
    if (items->size() <= most_alternatives) {
      Cond any = s.boolean(false);
      for (const Value& item : *items)
        any = s.logical_or(any, run.truth(run.compare(CompareOp::eq, left, item)));
      return answer(any);
    }
  }
  return in_named();
}

// `"RANK" in os.environ`, `"seed" in config`: open, in the program's words. What each process of a job is
// given is there where one runs.
Value Interpreter::Comparison::in_named() {
  const std::string_view container = right.is(Kind::library) ? right.as<values::LibrarySymbol>()->path
      : right.is(Kind::unknown)                              ? right.as<values::Unknown>()->name
                                                             : std::string_view{};
  if (container.empty() || !left.is(Kind::string)) return open();
  if (right.is(Kind::library) && (run.limits_.as_rank || run.limits_.launch) &&
      run.library_.find(std::string(container) + "[" + std::string(left.text()) + "]"))
    return answer(true);
  const Sharing sharing = symbolic::mix(run.heap().sharing(left), run.heap().sharing(right));
  return answer(
      run.mark_unseen(s.opaque("\"" + std::string(left.text()) + "\" in " + std::string(container), sharing),
          run.heap().is_unseen(left) || run.heap().is_unseen(right)));
}

Value Interpreter::Comparison::equality() {
  if (left == right && (!left.is(Kind::tensor) || is_identity())) return with_itself();
  if (left.is(Kind::instance) && right.is(Kind::instance)) return of_instances();
  for (const auto& [member, other] : {std::pair{left, right}, std::pair{right, left}})
    if (member.is(Kind::instance) && (other.is(Kind::string) || is_plain_number(other)) &&
        member.as<values::Instance>()->cls) {
      if (const Value plain = run.builtins_->plain_member(member); !(plain == member))
        return run.compare(op, plain, other);
      if (member.as<values::Instance>()->cls->is_enum) return answer(false);
    }
  if (left.is(Kind::list) && right.is(Kind::list)) return of_lists();
  if (left.is(Kind::dict) && right.is(Kind::dict)) return of_dicts();
  if (left.is(Kind::none) || right.is(Kind::none)) return with_none();
  if (const Value made = of_constants()) return made;
  return left.is(Kind::tuple) && right.is(Kind::tuple) ? of_tuples() : Value{};
}

Value Interpreter::Comparison::with_itself() {
  if (is_identity() || !may_differ_from_itself(run, left)) return answer(true);
  // nan is not equal to itself, and an array says it of each of its items.
  const std::string_view name = left.is(Kind::unknown) ? left.as<values::Unknown>()->name
                                                       : std::string_view{};
  const Cond equal = run.asked(name.empty() ? "" : std::string(name) + " == " + std::string(name), left, left,
      run.heap().sharing(left));
  return answer(run.mark_unseen(equal, run.heap().is_unseen(left)));
}

Value Interpreter::Comparison::of_instances() {
  // Identity, unless the class says otherwise.
  auto* object = left.as<values::Instance>();
  const bool by_identity = is_identity() || run.known_key(left);
  if (by_identity && run.known_key(left) && run.known_key(right) && !object->symbolic &&
      !right.as<values::Instance>()->symbolic)
    return answer(run.same_key(left, right));
  if (!by_identity && object->cls)
    if (const Value method = run.find_in_order(object->cls->order, Name("__eq__")); method.is(Kind::function))
      return answer(run.truth(
          run.call(run.object_model_->bind_method(method, left, object->cls, {}), {{right}, {}, false}, {})));
  if (!by_identity && object->cls && object->cls->is_dataclass &&
      object->cls == right.as<values::Instance>()->cls) {
    const auto a = run.field_values(*object), b = run.field_values(*right.as<values::Instance>());
    Cond all = s.boolean(true);
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
      all = s.logical_and(all, run.truth(run.compare(CompareOp::eq, a[i].second, b[i].second)));
    return answer(all);
  }
  return open();
}

Value Interpreter::Comparison::of_lists() {
  const auto* a = values::Heap::list_state(left);
  const auto* b = values::Heap::list_state(right);
  if (is_identity()) return answer(false);
  if (a->open || b->open) return open();
  if (left.as<values::List>()->kind == values::ListKind::set ||
      right.as<values::List>()->kind == values::ListKind::set) {
    const auto within = [&](const auto* part, const auto* whole) {
      return std::all_of(part->items.begin(), part->items.end(), [&](Value item) {
        return std::any_of(
            whole->items.begin(), whole->items.end(), [&](Value other) { return run.same_key(item, other); });
      });
    };
    const auto known = [&](const auto* one) {
      return std::all_of(
          one->items.begin(), one->items.end(), [&](Value item) { return run.known_key(item); });
    };
    if (!known(a) || !known(b)) return open();
    return answer(within(a, b) && within(b, a));
  }
  if (a->items.size() != b->items.size()) return answer(false);
  Cond all = s.boolean(true);
  for (std::size_t i = 0; i < a->items.size(); ++i)
    all = s.logical_and(all, run.truth(run.compare(CompareOp::eq, a->items[i], b->items[i])));
  return answer(all);
}

Value Interpreter::Comparison::of_dicts() {
  const auto* a = values::Heap::dict_state(left);
  const auto* b = values::Heap::dict_state(right);
  if (is_identity()) return answer(false);
  if (a->open || b->open) return open();
  Cond all = s.boolean(a->items.size() == b->items.size());
  for (const auto& [key, value] : a->items) {
    if (!run.known_key(key) || s.decide(all) == symbolic::Answer::no) break;
    Value counterpart;
    for (const auto& [k, v] : b->items)
      if (run.same_key(k, key)) counterpart = v;
    all = counterpart ? s.logical_and(all, run.truth(run.compare(CompareOp::eq, value, counterpart)))
                      : s.boolean(false);
  }
  return answer(all);
}

Value Interpreter::Comparison::of_tuples() {
  const auto& a = left.as<values::Tuple>()->items;
  const auto& b = right.as<values::Tuple>()->items;
  if (a.size() != b.size()) return answer(false);
  Cond all = s.boolean(true);
  for (std::size_t i = 0; i < a.size(); ++i)
    all = s.logical_and(all, run.truth(run.compare(CompareOp::eq, a[i], b[i])));
  return answer(all);
}

Value Interpreter::Comparison::with_none() {
  const Value other = left.is(Kind::none) ? right : left;
  if (!other.is(Kind::unknown)) return answer(false);
  if (other.as<values::Unknown>()->is_real) return answer(false);
  auto* unknown = other.as<values::Unknown>();
  if (unknown->state.value) return answer(false);  // it has been used as a tensor
  // Sums and products are something.
  if (unknown->integer && !s.is_atom(unknown->integer)) return answer(false);
  // What was computed from data of this process may be there whatever the data are: who says that it is not
  // does not say why.
  if (!unknown->is_none)
    unknown->is_none = run.mark_unseen(
        s.opaque(unknown->name.empty() || unknown->attributes.find(was_none)
                ? ""
                : std::string(unknown->name) + " is None",
            unknown->sharing == Sharing::local ? Sharing::unseen : unknown->sharing),
        unknown->unseen);
  return answer(unknown->is_none);
}

// Texts, numbers in texts, truths, dtypes, classes.
Value Interpreter::Comparison::of_constants() {
  if (left.is(Kind::string) && right.is(Kind::string)) return answer(left.text() == right.text());
  // torch.device("cpu") == "cpu" is false: a device is no text.
  if ((left.is(Kind::string) && values::is_device(right)) ||
      (right.is(Kind::string) && values::is_device(left)))
    return answer(false);
  // os.environ["RANK"] == "0": what the environment holds is text.
  for (const auto& [text, number] : {std::pair{left, right}, std::pair{right, left}})
    if (text.is(Kind::string) && number.is(Kind::integer) &&
        (run.limits_.as_rank || !s.value(number.integer()))) {
      std::int64_t parsed = 0;
      const std::string_view digits = text.text();
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), parsed);
      if (error == std::errc{} && end == digits.data() + digits.size())
        return run.compare(op, number, run.heap().integer(parsed));
    }
  // Values of different kinds are not equal; numbers are compared below.
  if ((op == CompareOp::eq || op == CompareOp::ne) && left.kind != right.kind && run.known_key(left) &&
      run.known_key(right) && !(is_plain_number(left) && is_plain_number(right)))
    return answer(run.same_key(left, right));
  // `type(x) is str`: a class of the program is none of a library's.
  if (is_identity() &&
      ((left.is(Kind::class_) && right.is(Kind::library)) ||
          (left.is(Kind::library) && right.is(Kind::class_))))
    return answer(false);
  if (left.is(Kind::boolean) && right.is(Kind::boolean)) {
    const Cond both = s.logical_and(left.condition(), right.condition());
    const Cond neither = s.logical_and(s.logical_not(left.condition()), s.logical_not(right.condition()));
    return answer(s.logical_or(both, neither));
  }
  if (left.is(Kind::dtype) && right.is(Kind::dtype) && left.dtype() != values::Dtype::unknown &&
      right.dtype() != values::Dtype::unknown)
    return answer(left.dtype() == right.dtype());
  if ((left.is(Kind::class_) || left.is(Kind::function) || left.is(Kind::library)) && right.kind == left.kind)
    return answer(false);
  return {};
}

Value Interpreter::Comparison::order() {
  if (left.is(Kind::list) && right.is(Kind::list) && left.as<values::List>()->kind == values::ListKind::set) {
    Arguments other{{op == CompareOp::le || op == CompareOp::lt ? right : left}, {}, false};
    const Value subset = run.builtins_->list_method(
        op == CompareOp::le || op == CompareOp::lt ? left : right, "issubset", other, {});
    if (op == CompareOp::le || op == CompareOp::ge) return subset;
    return Value::of(
        s.logical_and(run.truth(subset), s.logical_not(run.truth(run.compare(CompareOp::eq, left, right)))));
  }
  if (const auto sign = run.order(left, right))
    return run.heap().boolean(op == CompareOp::lt ? *sign < 0
            : op == CompareOp::le                 ? *sign <= 0
            : op == CompareOp::gt                 ? *sign > 0
                                                  : *sign >= 0);
  if (left.is(Kind::instance) && left.as<values::Instance>()->cls) {
    const std::string_view name = op == CompareOp::lt ? "__lt__"
        : op == CompareOp::le                         ? "__le__"
        : op == CompareOp::gt                         ? "__gt__"
                                                      : "__ge__";
    if (const Value method = run.find_in_order(left.as<values::Instance>()->cls->order, Name(name));
        method.is(Kind::function))
      return Value::of(run.truth(
          run.call(run.object_model_->bind_method(method, left, left.as<values::Instance>()->cls, {}),
              {{right}, {}, false}, {})));
  }
  return {};
}

Value Interpreter::Comparison::of_numbers() {
  if (left.is(Kind::integer) && right.is(Kind::integer)) {
    const Cond question = asks_for_rank(run, ordering(op), left.integer(), right.integer());
    return Value::of(question ? question : s.compared(ordering(op), left.integer(), right.integer()));
  }
  const auto real = [&](Value value) -> std::optional<double> {
    if (value.is(Kind::real)) return value.real();
    if (const auto constant = s.value(value.integer())) return static_cast<double>(*constant);
    return std::nullopt;
  };
  const auto a = real(left), b = real(right);
  if (!a || !b) return open();
  switch (ordering(op)) {
  case symbolic::Compare::eq: return run.heap().boolean(*a == *b);
  case symbolic::Compare::ne: return run.heap().boolean(*a != *b);
  case symbolic::Compare::lt: return run.heap().boolean(*a < *b);
  case symbolic::Compare::le: return run.heap().boolean(*a <= *b);
  case symbolic::Compare::gt: return run.heap().boolean(*a > *b);
  case symbolic::Compare::ge: break;
  }
  return run.heap().boolean(*a >= *b);
}

Value Interpreter::Comparison::of_tensors() {
  const Value operand = left.is(Kind::tensor) ? left : right;
  values::TensorState state = *operand.as<values::Tensor>()->now();
  if (left.is(Kind::tensor) && right.is(Kind::tensor)) {
    state.shape = {};
    state.first.clear();
  }
  state.dtype = values::Dtype::boolean;
  state.requires_grad = values::Known::no;
  state.graph.clear();
  state.scaled_by = nullptr;
  state.content = nullptr;
  state.extent = nullptr;
  state.sharing = symbolic::mix(run.heap().sharing(left), run.heap().sharing(right));
  return run.heap().tensor(state, {});
}

}  // namespace stepzero::interpreter
