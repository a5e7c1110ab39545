// Numbers and operators: sizes, roles, constants, and what `+` and its like do to everything but tensors.
#include "interpreter/builtins/builtins.hpp"
#include "interpreter/builtins/texts.hpp"
#include "interpreter/calls/library_calls.hpp"
#include "interpreter/calls/no_result.hpp"
#include "interpreter/incremental/incremental_run.hpp"
#include "interpreter/interpreter.hpp"
#include "interpreter/launch.hpp"
#include "interpreter/loops/loop_runner.hpp"
#include "interpreter/loops/merged_values.hpp"
#include "interpreter/statements/module_loader.hpp"

#include "interpreter/calls/unseen.hpp"
#include "values/devices.hpp"
#include "values/internal_rows.hpp"
#include "values/numbers.hpp"

#include <algorithm>
#include <cmath>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

Int Interpreter::role(symbolic::Role role_wanted) {
  if (limits_.as_rank) {
    const int rank = limits_.as_rank->rank, world = limits_.as_rank->world;
    // All on one node, but where a launch of as many processes has them on several.
    const Launch* launch = limits_.launch;
    const bool on_several = launch && launch->world == world && launch->local_world &&
        *launch->local_world > 0;
    const int on_each = on_several ? static_cast<int>(*launch->local_world) : world;
    switch (role_wanted) {
    case symbolic::Role::rank: return symbols().constant(rank);
    case symbolic::Role::local_rank: return symbols().constant(rank % on_each);
    case symbolic::Role::world_size: return symbols().constant(world);
    case symbolic::Role::local_world_size: return symbols().constant(on_each);
    case symbolic::Role::node_rank: return symbols().constant(rank / on_each);
    case symbolic::Role::none: return symbols().constant(0);
    }
  }
  if (used_) used_->roles |= 1u << static_cast<int>(role_wanted);
  if (loader_->loading()) incremental_->replay().roles_of_imports |= 1u << static_cast<int>(role_wanted);
  if (const Launch* launch = limits_.launch) {
    if (role_wanted == symbolic::Role::world_size && launch->world) return symbols().constant(*launch->world);
    if (role_wanted == symbolic::Role::local_world_size && launch->local_world)
      return symbols().constant(*launch->local_world);
  }
  Int& atom = record_.roles[static_cast<int>(role_wanted)];
  if (!atom) atom = roles_[static_cast<int>(role_wanted)];
  if (!atom) {
    constexpr std::string_view names[] = {
        "", "rank", "local_rank", "node_rank", "world_size", "local_world_size"};
    symbolic::AtomInfo info;
    info.name = names[static_cast<int>(role_wanted)];
    info.role = role_wanted;
    const bool size = role_wanted == symbolic::Role::world_size ||
        role_wanted == symbolic::Role::local_world_size;
    info.lower = size ? 1 : 0;
    info.sharing = size ? Sharing::uniform : Sharing::divergent;
    atom = roles_[static_cast<int>(role_wanted)] = symbols().fresh(info);
  }
  return atom;
}

Value Interpreter::symbol(std::string_view name, Sharing sharing, Place born) {
  const auto dot = name.rfind('.');
  if (const auto presumed = library_.presume(dot == std::string_view::npos ? name : name.substr(dot + 1))) {
    if (presumed->is_main)
      return Value::of(
          symbols().compared(symbolic::Compare::eq, role(symbolic::Role::rank), symbols().constant(0)));
    if (!presumed->class_path.empty()) {
      values::Instance* object = make_native(presumed->class_path, born);
      object->symbolic = true;
      object->name = heap().keep(std::string(name));
      return Value::of(Kind::instance, object);
    }
    if (presumed->of_each) return heap().unknown(name, Sharing::unseen, born);
    return Value::of(role(presumed->role));
  }
  return heap().unknown(name, sharing, born);
}

Int Interpreter::to_int(Value value) {
  value = resolve(value);
  switch (value.kind) {
  case Kind::integer: return value.integer();
  case Kind::boolean:
    if (symbols().form(value.condition()) == symbolic::Context::Form::constant)
      return symbols().constant(symbols().decide(value.condition()) == symbolic::Answer::yes);
    return nullptr;
  case Kind::unknown: {
    auto* unknown = value.as<values::Unknown>();
    if (unknown->state.value) return nullptr;
    if (!unknown->integer || unknown->only_compared) incremental_->note_number(*unknown);
    unknown->only_compared = false;
    if (limits_.as_rank && limits_.as_rank->by_defaults && !in_roots_ && !unknown->integer &&
        unknown->default_value.is(Kind::integer))
      if (const auto usual = symbols().value(unknown->default_value.integer())) {
        record_.by_defaults[std::string(unknown->name)] = *usual;
        unknown->integer = unknown->default_value.integer();
      }
    if (!unknown->integer) {
      symbolic::AtomInfo info;
      info.name = std::string(unknown->name);
      // Of a number in a checkpoint of the rank's own all ranks may have saved the same one.
      info.sharing = unknown->loaded && unknown->sharing == Sharing::local ? Sharing::unseen
                                                                           : unknown->sharing;
      info.varies = unknown->of_many && loops_->building();
      info.made = unknown->attributes.birth;
      if (unknown->default_value.is(Kind::integer))
        info.usual = symbols().value(unknown->default_value.integer());
      unknown->integer = symbols().fresh(info);
    }
    return unknown->integer;
  }
  default: return nullptr;
  }
}

std::optional<std::int64_t> Interpreter::to_constant(Value value) {
  value = resolve(value);
  if (value.is(Kind::integer)) return symbols().value(value.integer());
  if (value.is(Kind::boolean) && symbols().form(value.condition()) == symbolic::Context::Form::constant)
    return symbols().decide(value.condition()) == symbolic::Answer::yes;
  return std::nullopt;
}

namespace {
// A number of each rank's own data in a `try` of the same function, or one that is 0 for certain. Of a count
// not every rank may have some: in the run of one rank nothing tells that it is a part of something.
bool may_be_zero(Interpreter& run, Value value, bool in_try) {
  if (!value.is(Kind::integer) && !(value.is(Kind::unknown) && !value.as<values::Unknown>()->state.value))
    return false;
  if (const auto known = run.to_constant(value)) return *known == 0;
  const bool counts = value.is(Kind::integer) && run.symbols().lower(value.integer()).value_or(-1) == 0;
  if (run.heap().is_unseen(value)) return in_try && counts;
  const Sharing sharing = run.heap().sharing(value);
  if (sharing == Sharing::local) return in_try;
  return counts && (run.as_rank() || sharing == Sharing::divergent);
}
}  // namespace

namespace {
constexpr std::int64_t largest_power_of_symbol =
    16;  // a polynomial has a term for each: programs square and cube sizes
constexpr std::int64_t bits_of_integer = 63;  // a power of two beyond them is no int64
}  // namespace

// Two values, neither of them a choice or a tensor, and an operator between them. A part that has no result
// for them gives no value.
struct Interpreter::Arithmetic {
  Interpreter& run;
  BinaryOp op;
  Value left, right;
  const Expr& node;
  symbolic::Context& s;

  Value result();

private:
  bool are(Kind kind) const { return left.is(kind) && right.is(kind); }
  Value unknown(std::string_view name = {}) const;
  void note_calculated(Value made, bool is_real);

  Value of_objects();
  Value of_sets();
  Value of_dicts();
  Value bitwise();
  Value sum();
  Value sum_with_end();
  Value sum_of_lists();
  Value repeated();
  Value repeated_text();
  Value of_reals();
  Value of_integers();
};

Value Interpreter::binary(BinaryOp op, Value left, Value right, const Expr& node) {
  left = without_none(*this, builtins_->plain_member(refined(left)));
  right = without_none(*this, builtins_->plain_member(refined(right)));
  for (Value* side : {&left, &right})
    if (side->is(Kind::boolean) &&
        !(op == BinaryOp::bit_and || op == BinaryOp::bit_or || op == BinaryOp::bit_xor))
      if (const auto constant = to_constant(*side)) *side = heap().integer(*constant);
  if (left.is(Kind::choice))
    return over_choices(left, [&](Value side) { return binary(op, side, right, node); }, here(node));
  if (right.is(Kind::choice))
    return over_choices(right, [&](Value side) { return binary(op, left, side, node); }, here(node));
  // By a number of each rank's own: where it is 0, somebody may catch that, or the rank ends there.
  const bool ends_rank = limits_.as_rank && catching_ == 0 &&
      (left.is(Kind::integer) || left.is(Kind::real)) && to_constant(right) == 0;
  if ((op == BinaryOp::div || op == BinaryOp::floordiv || op == BinaryOp::mod) && !left.is(Kind::string) &&
      !left.is(Kind::tensor) &&
      (ends_rank || (catching_ > 0 && may_be_zero(*this, right, !frame_->tries.empty()))))
    if (const Cond is_zero = truth(compare(CompareOp::eq, right, heap().integer(0)));
        symbols().decide(is_zero) != symbolic::Answer::no) {
      const auto fail = [&] {
        (void)raise_builtin("ZeroDivisionError", here(node));
        const Stmt statement{ends_rank ? StmtKind::raise : StmtKind::expression, node.span};
        killed_ = false;
        (void)leave(ExitKind::raise, statement, raised_);
        killed_ = true;
        return Value{};
      };
      const auto divide = [&] {
        return symbols().decide(is_zero) == symbolic::Answer::no
            ? binary(op, left, right, node)
            : heap().unknown_from({left, right}, here(node));
      };
      return fork_value(is_zero, here(node), fail, divide);
    }
  if (left.is(Kind::tensor) || right.is(Kind::tensor) || (op == BinaryOp::matmul && !left.is(Kind::instance)))
    return library_.binary(*this, op, left, right, node, here(node));
  return Arithmetic{*this, op, left, right, node, symbols()}.result();
}

// Nothing that has an operator of its own for None.
static bool is_plain(Value value) {
  return value.is(Kind::integer) || value.is(Kind::real) || value.is(Kind::string) || value.is(Kind::list) ||
      value.is(Kind::tuple) || value.is(Kind::none);
}

Value Interpreter::Arithmetic::result() {
  const auto either = [&](Kind kind) { return left.is(kind) || right.is(kind); };
  if (either(Kind::none) && (is_plain(left) || is_plain(right)))
    if (const Value made = refuse_nothing(
            run, left.is(Kind::none) ? left : right, NoResult::arithmetic, run.here(node)))
      return made;
  if (either(Kind::instance)) return of_objects();
  if (are(Kind::list) && left.as<values::List>()->kind == values::ListKind::set)
    if (const Value made = of_sets()) return made;
  if (are(Kind::dict)) return of_dicts();
  if (op == BinaryOp::bit_and || op == BinaryOp::bit_or || op == BinaryOp::bit_xor || op == BinaryOp::rshift)
    if (const Value made = bitwise()) return made;
  if (op == BinaryOp::add)
    if (const Value made = sum()) return made;
  if (op == BinaryOp::mul && (either(Kind::list) || either(Kind::tuple))) return repeated();
  if (op == BinaryOp::mod && left.is(Kind::string)) {
    const auto text = run.texts_->format_percent(left.text(), right);
    return text ? run.heap().string(*text) : unknown();
  }
  if (op == BinaryOp::mul && either(Kind::string)) return repeated_text();
  const bool numbers = (left.is(Kind::real) || left.is(Kind::integer)) &&
      (right.is(Kind::real) || right.is(Kind::integer));
  return numbers && !(are(Kind::integer) && op != BinaryOp::div) ? of_reals() : of_integers();
}

// Of two operands that are not seen: may one lie where a model computed it, and the other where a loader left
// it?
static bool lie_apart(Value left, Value right) {
  const auto place = [](Value side) {
    const auto& unknown = *side.as<values::Unknown>();
    const values::Device* device = lies_on(unknown);
    return device ? device : left_on(unknown);
  };
  if (!left.is(Kind::unknown) || !right.is(Kind::unknown)) return false;
  const values::Device* of_left = place(left);
  const values::Device* of_right = of_left ? place(right) : nullptr;
  return of_right && !values::is_same_device(of_left, of_right);
}

Value Interpreter::Arithmetic::unknown(std::string_view name) const {
  values::Heap& heap = run.heap();
  Value made = heap.unknown(name, symbolic::mix(heap.sharing(left), heap.sharing(right)), run.here(node));
  made.as<values::Unknown>()->unseen = heap.is_unseen(left) || heap.is_unseen(right);
  made.as<values::Unknown>()->poisoned = heap.is_poisoned(left) || heap.is_poisoned(right);
  note_operands(heap, made, left, right);
  if (lie_apart(left, right))
    if (const Row* row = run.library().find(values::InternalRow::combined))
      run.library_calls_->call_library(*run.library_symbol(row->path).as<values::LibrarySymbol>(), {},
          {{left, right}, {}, false}, run.here(node), nullptr);
  if (left.is(Kind::string) && op == BinaryOp::add) note_beginning(heap, made, left.text());
  if (left.is(Kind::string) && op == BinaryOp::mod)
    note_beginning(heap, made, left.text().substr(0, left.text().find('%')));
  return made;
}

Value Interpreter::Arithmetic::of_objects() {
  constexpr std::string_view names[] = {"add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow",
      "lshift", "rshift", "and", "or", "xor"};
  if (left.is(Kind::instance))
    if (const Value method = run.find_method(
            left.as<values::Instance>(), Name("__" + std::string(names[static_cast<int>(op)]) + "__")))
      return run.call(method, {{right}, {}, false}, run.here(node));
  if (right.is(Kind::instance))
    if (const Value method = run.find_method(
            right.as<values::Instance>(), Name("__r" + std::string(names[static_cast<int>(op)]) + "__")))
      return run.call(method, {{left}, {}, false}, run.here(node));
  return run.heap().unseen("", run.here(node));
}

Value Interpreter::Arithmetic::of_sets() {
  const std::string_view method = op == BinaryOp::bit_or ? "union"
      : op == BinaryOp::bit_and                          ? "intersection"
      : op == BinaryOp::sub                              ? "difference"
      : op == BinaryOp::bit_xor                          ? "symmetric_difference"
                                                         : "";
  Arguments other{{right}, {}, false};
  if (!method.empty()) return run.builtins_->list_method(left, method, other, run.here(node));
  return {};
}

Value Interpreter::Arithmetic::of_dicts() {
  if (op == BinaryOp::bit_or) {
    const Value sum = run.heap().dict(values::Heap::dict_state(left)->items,
        values::Heap::dict_state(left)->open, values::Heap::dict_state(left)->rest);
    if (run.dict_update(sum, right, run.here(node))) return sum;
  }
  return run.heap().unseen("", run.here(node));
}

Value Interpreter::Arithmetic::bitwise() {
  if (left.is(Kind::boolean) && right.is(Kind::boolean) && op != BinaryOp::rshift) {
    const Cond a = left.condition(), b = right.condition();
    if (op == BinaryOp::bit_and) return Value::of(s.logical_and(a, b));
    if (op == BinaryOp::bit_or) return Value::of(s.logical_or(a, b));
    return Value::of(s.logical_or(s.logical_and(a, s.logical_not(b)), s.logical_and(s.logical_not(a), b)));
  }
  const auto a = run.to_constant(left), b = run.to_constant(right);
  if (a && b && (op != BinaryOp::rshift || (*b >= 0 && *b < 63)))
    return run.heap().integer(op == BinaryOp::bit_and ? *a & *b
            : op == BinaryOp::bit_or                  ? *a | *b
            : op == BinaryOp::bit_xor                 ? *a ^ *b
                                                      : *a >> *b);
  return {};
}

Value Interpreter::Arithmetic::sum() {
  if (left.is(Kind::string) && right.is(Kind::string)) {
    if (left.text().size() + right.text().size() > longest_text) return unknown();
    return run.heap().string(std::string(left.text()) + std::string(right.text()));
  }
  if (left.is(Kind::tuple) && right.is(Kind::tuple)) {
    std::vector<Value> items = left.as<values::Tuple>()->items;
    const auto& more = right.as<values::Tuple>()->items;
    if (items.size() + more.size() > longest_sequence) return unknown();
    items.insert(items.end(), more.begin(), more.end());
    return run.heap().tuple(std::move(items));
  }
  if (left.is(Kind::unknown) && right.is(Kind::tuple) && !left.as<values::Unknown>()->state.value)
    return sum_with_end();
  return are(Kind::list) ? sum_of_lists() : Value{};
}

// A tuple of which only the end is known: x.shape[:-1] + (heads, size).
Value Interpreter::Arithmetic::sum_with_end() {
  std::vector<Value> items;
  if (const Value last = left.as<values::Unknown>()->ends_with) items = last.as<values::Tuple>()->items;
  const auto& more = right.as<values::Tuple>()->items;
  items.insert(items.end(), more.begin(), more.end());
  const Value made = unknown();
  // Any number of elements that are alike, and some more.
  if (Value any = left.as<values::Unknown>()->element) {
    for (const Value& item : more) any = run.heap().merge(any, item, Sharing::uniform);
    if (any.is(Kind::tensor)) made.as<values::Unknown>()->element = any;
  }
  made.as<values::Unknown>()->ends_with = run.heap().tuple(std::move(items));
  return made;
}

Value Interpreter::Arithmetic::sum_of_lists() {
  const auto* a = values::Heap::list_state(left);
  const auto* b = values::Heap::list_state(right);
  if (a->items.size() + b->items.size() > longest_sequence)
    return run.heap().open_list(run.heap().merge(run.element(left, run.here(node)),
                                    run.element(right, run.here(node)), Sharing::uniform),
        nullptr, left.as<values::List>()->kind);
  std::vector<Value> items = a->items;
  if (!a->open) items.insert(items.end(), b->items.begin(), b->items.end());
  const Value sum = run.heap().list(std::move(items), left.as<values::List>()->kind);
  auto* state = values::Heap::list_state(sum);
  state->open = a->open || b->open;
  state->rest = run.heap().merge(a->rest, b->rest, Sharing::uniform);
  if (a->open)
    for (const Value& item : b->items) state->rest = run.heap().merge(state->rest, item, Sharing::uniform);
  return sum;
}

Value Interpreter::Arithmetic::repeated() {
  const Value sequence = left.is(Kind::list) || left.is(Kind::tuple) ? left : right;
  const Value times = sequence == left ? right : left;
  const auto known = run.elements(sequence, run.here(node));
  const auto count = run.to_constant(times);
  if (known && count &&
      (*count <= 0 || known->size() * static_cast<std::size_t>(*count) <= longest_sequence)) {
    std::vector<Value> items;
    for (std::int64_t i = 0; i < *count; ++i) items.insert(items.end(), known->begin(), known->end());
    return sequence.is(Kind::tuple) ? run.heap().tuple(std::move(items)) : run.heap().list(std::move(items));
  }
  if (known && known->size() == 1 && sequence.is(Kind::list))
    return run.heap().open_list(known->front(), run.to_int(times));
  return run.heap().open_list(run.element(sequence, run.here(node)), nullptr,
      sequence.is(Kind::tuple) ? values::ListKind::tuple : sequence.as<values::List>()->kind);
}

Value Interpreter::Arithmetic::repeated_text() {
  const Value text = left.is(Kind::string) ? left : right;
  const auto count = run.to_constant(left.is(Kind::string) ? right : left);
  if (!count ||
      *count * static_cast<std::int64_t>(text.text().size()) > static_cast<std::int64_t>(longest_text))
    return unknown();
  std::string repeated;
  for (std::int64_t i = 0; i < *count; ++i) repeated += text.text();
  return run.heap().string(repeated);
}

Value Interpreter::Arithmetic::of_reals() {
  const auto real = [&](Value value) -> std::optional<double> {
    if (value.is(Kind::real)) return value.real();
    if (const auto constant = s.value(value.integer())) return static_cast<double>(*constant);
    return std::nullopt;
  };
  const auto a = real(left), b = real(right);
  if (!a || !b) {
    Value made = unknown();
    made.as<values::Unknown>()->is_real = true;  // a number, whichever
    return made;
  }
  switch (op) {
  case BinaryOp::add: return Value::of(*a + *b);
  case BinaryOp::sub: return Value::of(*a - *b);
  case BinaryOp::mul: return Value::of(*a * *b);
  case BinaryOp::div: return *b != 0 ? Value::of(*a / *b) : unknown();
  case BinaryOp::floordiv: return *b != 0 ? Value::of(std::floor(*a / *b)) : unknown();
  case BinaryOp::pow: return *a < 0 && *b != std::floor(*b) ? unknown() : Value::of(std::pow(*a, *b));
  case BinaryOp::mod: {
    if (*b == 0) return unknown();
    const double rest = std::fmod(*a, *b);
    return Value::of(rest != 0 && (rest < 0) != (*b < 0) ? rest + *b : rest);
  }
  default: return unknown();
  }
}

namespace {
// Null where the result is no integer that can be named.
Int calculated(symbolic::Context& s, BinaryOp op, Int a, Int b) {
  const auto is_zero = [&] {
    return s.compare(symbolic::Compare::eq, b, s.constant(0)) == symbolic::Answer::yes;
  };
  const auto known = s.value(b);
  switch (op) {
  case BinaryOp::add: return s.add(a, b);
  case BinaryOp::sub: return s.sub(a, b);
  case BinaryOp::mul: return s.mul(a, b);
  case BinaryOp::floordiv: return is_zero() ? nullptr : s.floordiv(a, b);
  case BinaryOp::mod: return is_zero() ? nullptr : s.mod(a, b);
  case BinaryOp::pow:
    return known && *known >= 0 &&
            (*known <= largest_power_of_symbol || (s.value(a) && *known < bits_of_integer))
        ? s.power(a, *known)
        : nullptr;
  case BinaryOp::lshift:
    return known && *known >= 0 && *known < bits_of_integer - 1
        ? s.mul(a, s.constant(std::int64_t{1} << *known))
        : nullptr;
  default: return nullptr;
  }
}
}  // namespace

Value Interpreter::Arithmetic::of_integers() {
  const bool may_be_int = (left.is(Kind::integer) || left.is(Kind::unknown)) &&
      (right.is(Kind::integer) || right.is(Kind::unknown));
  using values::is_float;
  // Something unknown times a float may be a tensor.
  const auto is_number = [](Value value) {
    return values::is_number(value) ||
        (value.is(Kind::unknown) && value.as<values::Unknown>()->default_value.is(Kind::integer));
  };
  const bool numbers = is_number(left) && is_number(right);
  // What is computed from a number that was read from a tensor is one as well.
  const bool is_read = numbers && (values::is_read_number(left) || values::is_read_number(right));
  if (!may_be_int || is_float(left) || is_float(right)) {
    Value made = unknown();
    made.as<values::Unknown>()->is_real = numbers && (is_float(left) || is_float(right));
    made.as<values::Unknown>()->is_number = is_read;
    if (!numbers) note_calculated(made, is_float(left) || is_float(right));
    return made;
  }
  const Int a = run.to_int(left), b = run.to_int(right);
  const bool is_power = op == BinaryOp::pow && a && b && s.value(a) && s.value(b);
  if (is_power && *s.value(b) < 0 && *s.value(a) != 0)
    return Value::of(std::pow(static_cast<double>(*s.value(a)), static_cast<double>(*s.value(b))));
  const Int result = a && b ? calculated(s, op, a, b) : nullptr;
  if (!result) {
    Value made = unknown();
    // A true division, or arithmetic with a float, gives a float.
    made.as<values::Unknown>()->is_real = numbers && op == BinaryOp::div;
    if (!numbers) note_calculated(made, op == BinaryOp::div);
    return made;
  }
  if (are(Kind::integer)) return Value::of(result);
  // It may still turn out to be a tensor or a float: an unknown that is this number if it is an integer.
  Value made = unknown(s.text(result));
  made.as<values::Unknown>()->integer = result;
  // Sequences are added, and repeated, as well.
  made.as<values::Unknown>()->only_compared = !numbers &&
      ((op == BinaryOp::add && !is_number(left) && !is_number(right)) || op == BinaryOp::mul);
  made.as<values::Unknown>()->is_number = is_read;
  if (!numbers) note_calculated(made, false);
  return made;
}

// They may turn out to be numbers, and what was calculated with them another.
void Interpreter::Arithmetic::note_calculated(Value made, bool is_real) {
  const auto may_be = [](Value value) {
    return value.is(Kind::unknown) || value.is(Kind::integer) || value.is(Kind::real) ||
        value.is(Kind::boolean);
  };
  if (!may_be(left) || !may_be(right)) return;
  run.heap().slot_of(made.as<values::Unknown>()->attributes, Name(values::UnknownState::calculated)).value =
      run.heap().tuple({left, right, is_real ? run.heap().boolean(true) : Value::none(),
          run.heap().integer(static_cast<std::int64_t>(op))});  // it is new: no write
}

}  // namespace stepzero::interpreter
