// Comprehensions and generator expressions: element by element where those are known, else as a loop that fills what it makes.
#include "interpreter/rounds.hpp"

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

namespace {
constexpr std::size_t max_generators = 16;  // of one comprehension
constexpr std::uint64_t alike_steps = 2'000;  // of the elements of a comprehension that are made one by one though they are alike

// Is an expression made of names, attributes, numbers, text and calls of those only, and does it not read the target?
bool is_free_of(const Expr* expr, Name target) {
  if (!expr) return true;
  switch (expr->kind) {
  case ExprKind::name: return as<NameExpr>(*expr).id != target;
  case ExprKind::attribute: return is_free_of(as<AttributeExpr>(*expr).object, target);
  case ExprKind::binary: return is_free_of(as<BinaryExpr>(*expr).left, target) && is_free_of(as<BinaryExpr>(*expr).right, target);
  case ExprKind::integer:
  case ExprKind::real:
  case ExprKind::boolean:
  case ExprKind::none:
  case ExprKind::string: return true;
  case ExprKind::call: {
    const auto& call = as<CallExpr>(*expr);
    for (const Expr* argument : call.arguments)
      if (!is_free_of(argument, target)) return false;
    for (const Keyword& keyword : call.keywords)
      if (!is_free_of(keyword.value, target)) return false;
    return is_free_of(call.function, target);
  }
  default: return false;
  }
}

// Of what a filter lets through it is not known which of the sizes that differ among the elements it has.
Value without_local_sizes(values::Heap& heap, Value element) {
  if (!element.is(Kind::tensor) || element.as<values::Tensor>()->role != values::TensorRole::plain) return element;
  values::TensorState state = *element.as<values::Tensor>()->now();
  bool changed = false;
  for (values::Dim& dim : state.shape.dims)
    if (dim.size && heap.symbols().sharing(dim.size) >= Sharing::local) {
      dim.size = nullptr;
      changed = true;
    }
  return changed ? heap.tensor(std::move(state), element.as<values::Tensor>()->born) : element;
}

} // namespace

Int Interpreter::length_of_share(Int size, Int number, Cond condition) {
  auto& s = symbols();
  if (!size || !number || !limits_.as_rank || !s.is_atom(number)) return nullptr;
  const std::int64_t parts = limits_.as_rank->world;
  for (std::int64_t part = 0; part < parts; ++part)
    if (s.compared(symbolic::Compare::eq, s.mod(number, s.constant(parts)), s.constant(part)) == condition)
      return s.floordiv(s.add(size, s.constant(parts - 1 - part)), s.constant(parts));
  return nullptr;
}

Value Interpreter::run_comprehension(const ComprehensionExpr& expr) {
  if (expr.generators.size() > max_generators) return heap().external("", here(expr));
  values::Scope* const outer = frame_->scope;
  auto* scope = heap().make<values::Scope>();
  scope->parent = outer;
  scope->globals = outer->globals;
  std::vector<Value> items, keys;
  bool open = false;
  Value rest, rest_key;
  Int length = nullptr, share = nullptr, whole = nullptr;
  Sharing filtered = Sharing::uniform;  // by conditions that are not known
  Sharing dealt = Sharing::uniform;     // how many there are to go through

  const std::function<void(std::size_t, bool)> run_generator = [&](std::size_t level, bool certain) {
    if (!step() || killed_) return;
    if (level == expr.generators.size()) {
      const Value value = evaluate(*expr.element);
      const Value mapped = expr.value ? evaluate(*expr.value) : Value{};
      if (certain) {
        items.push_back(expr.value ? mapped : value);
        keys.push_back(value);
      } else {
        open = true;
        const Value kept = expr.value ? mapped : value;
        rest = heap().merge(rest, filtered == Sharing::uniform ? kept : without_local_sizes(heap(), kept), Sharing::uniform);
        rest_key = value;
      }
      return;
    }
    const Generator& generator = expr.generators[level];
    // The first iterable belongs to the enclosing scope.
    if (level == 0) frame_->scope = outer;
    const Value iterable = resolve(evaluate(*generator.iterable));
    frame_->scope = scope;
    const auto known = take(iterable, here(*generator.iterable), expr.comprehension == ComprehensionKind::set);
    const auto round = [&](Value item, bool sure) {
      run_assign(*generator.target, item);
      Cond all = symbols().boolean(true);
      for (const Expr* condition : generator.conditions) {
        all = symbols().logical_and(all, truth(evaluate(*condition)));
        if (killed_ || symbols().decide(all) == symbolic::Answer::no) break;  // the others are not evaluated
      }
      const auto answer = symbols().decide(all);
      if (answer == symbolic::Answer::no) return;
      if (answer == symbolic::Answer::unknown) {
        filtered = symbolic::mix(filtered, symbols().sharing(all));
        if (level == 0 && !sure && expr.generators.size() == 1 && limits_.as_rank) {
          const Value numbered = item.is(Kind::tuple) && !item.as<values::Tuple>()->items.empty() ? resolve(item.as<values::Tuple>()->items.front()) : resolve(item);
          share = numbered.is(Kind::integer) ? length_of_share(known_length(iterable), numbered.integer(), all) : nullptr;
        }
      }
      run_generator(level + 1, sure && answer == symbolic::Answer::yes);
    };
    if (known && known->size() <= max_unrolled) {
      // Experts by the hundred: one is made, and stands for all.
      constexpr std::size_t most_made_each = 4;  // a few are cheaper made than compared
      const bool alike = level == 0 && known->size() > most_made_each && expr.generators.size() == 1 && generator.conditions.empty() && !expr.value &&
                         expr.comprehension != ComprehensionKind::set && generator.target->kind == ExprKind::name &&
                         expr.element->kind == ExprKind::call && is_free_of(expr.element, as<NameExpr>(*generator.target).id);
      for (std::size_t i = 0; i < known->size(); ++i) {
        const std::uint64_t from = record_.steps;
        const std::size_t events = block_->events.size();
        const Value before = i == 0 && alike ? (*known)[i] : Value{};
        if (before) run_assign(*generator.target, before);
        const auto mark = heap().mark();
        round((*known)[i], certain);
        if (!before || items.size() != 1 || (record_.steps - from) * known->size() <= alike_steps) continue;
        const Value made = resolve(items.front());
        if (!made.is(Kind::instance) || block_->events.size() != events || made.as<values::Instance>()->born.chunk == 0) continue;
        bool touched = false;
        for (const auto& [slot, base] : heap().written(mark))
          touched = touched || (slot->birth <= mark.clock && !(base == slot->value));
        if (touched) continue;
        made.as<values::Instance>()->of_many = true;
        items.assign(known->size(), made);
        keys.assign(known->size(), made);
        return;
      }
      return;
    }
    if (level == 0 && expr.generators.size() == 1 && generator.conditions.empty()) {
      if (iterable.is(Kind::range)) {
        const auto* range = iterable.as<values::Range>();
        if (symbols().value(range->step) == 1) length = symbols().max(symbols().constant(0), symbols().sub(range->stop, range->start));
      } else if (iterable.is(Kind::list)) {
        length = values::Heap::list_state(iterable)->length;
      }
    }
    open = true;
    LoopShape shape;
    shape.place = here(expr);
    shape.trips = trips_of(iterable);
    if (level == 0) {
      dealt = shape.trips;
      whole = known_length(iterable);
    }
    run_generic_loop(shape, [&] {
      if (level == 0) rest = {};
      round(for_a_round(heap(), element(iterable, here(*generator.iterable))), false);
      return killed_ ? Flow::dead : Flow::normal;
    });
  };
  run_generator(0, true);
  frame_->scope = outer;

  switch (expr.comprehension) {
  case ComprehensionKind::dict: {
    const Value dict = heap().dict({});
    for (std::size_t i = 0; i < items.size(); ++i) dict_set(dict, keys[i], items[i]);
    if (open) {
      values::DictState state = *values::Heap::dict_state(dict);
      for (auto& [k, v] : state.items) v = heap().merge(v, rest, Sharing::uniform);
      state.open = true;
      state.rest = heap().merge(state.rest, rest, Sharing::uniform);
      heap().set_dict(dict, std::move(state));
    }
    return dict;
  }
  case ComprehensionKind::set:
  case ComprehensionKind::list:
  case ComprehensionKind::generator: break;
  }
  if (expr.comprehension == ComprehensionKind::set && !open) return make_set(std::move(items));
  const auto kind = expr.comprehension == ComprehensionKind::set         ? values::ListKind::set
                    : expr.comprehension == ComprehensionKind::generator ? values::ListKind::iterator
                                                                         : values::ListKind::list;
  const Value list = heap().list(std::move(items), kind);
  if (open) {
    auto* state = values::Heap::list_state(list);
    state->open = true;
    state->rest = rest;
    state->length = !state->items.empty() ? nullptr : length ? length : share;
    if (dealt == Sharing::local) filtered = dealt;
    if (!state->length && state->items.empty() && filtered == Sharing::local) state->length = symbols().fresh({.name = {}, .lower = 0, .upper = {}, .sharing = filtered});
    // A filter may leave all of a share. How many it leaves of what is no share is a number that all ranks have.
    bool shared_out = false;
    if (whole) symbols().atoms(whole, [&](Int atom) { shared_out = shared_out || atom != whole; });
    if (!state->length && state->items.empty() && limits_.as_rank && dealt != Sharing::local && filtered != Sharing::local && expr.generators.size() == 1 && !expr.generators[0].conditions.empty() && expr.comprehension == ComprehensionKind::list)
      state->length = shared_out ? whole : symbols().fresh({.name = "len(" + std::string(record_.text(here(expr))) + ")", .lower = 0, .upper = {}, .sharing = symbolic::mix(dealt, filtered)});
  }
  return list;
}

} // namespace stepzero::interpreter
