// random.Random and torch.Generator. Those of NumPy stand with its arrays.
#include "libraries/python/generators.hpp"

#include "libraries/table/table.hpp"
#include "values/kept.hpp"
#include "values/numbers.hpp"

namespace stepzero::libraries {

using symbolic::Compare;

namespace {

constexpr values::KeptKey seed_kept = values::ArrayState::seed;

Value keep_seed(Call& call) {
  const Value seed = call.run.resolve(call.at(0));
  // Without one the operating system gives each process another.
  keep(call, seed_kept,
      seed && !seed.is(Kind::none) ? seed : call.run.heap().unknown("", Sharing::local, call.place));
  return {};
}
Value seed_again(Call& call) {
  (void)keep_seed(call);
  return Value::none();
}
Value seed_fluently(Call& call) {
  (void)keep_seed(call);
  return call.self;
}
Value torch_generator(Call& call) {
  // Its first seed is a number that PyTorch has in it.
  keep(call, seed_kept, call.run.heap().integer(0));
  return {};
}

Value number_drawn(Call& call) {
  const auto sharing = drawn_by(call.run, call.self);
  if (!sharing) return call.run.heap().unseen("", call.place);
  const Value made = call.run.heap().unknown("", *sharing, call.place);
  made.as<values::Unknown>()->is_real = true;
  return made;
}
template <bool with_end> Value integer_drawn(Call& call) {
  const auto sharing = drawn_by(call.run, call.self);
  if (!sharing) return call.run.heap().unseen("", call.place);
  auto& s = call.run.symbols();
  const Value first = call.run.resolve(call.at(0)), second = call.run.resolve(call.at(1)),
              step = call.run.resolve(call.at(2));
  const bool alone = !second || second.is(Kind::none);
  const Int low = alone ? s.constant(0) : call.run.to_int(first),
            high = call.run.to_int(alone ? first : second);
  if (call.spread || (step && !step.is(Kind::none)) || !low || !high)
    return call.run.heap().unknown("", *sharing, call.place);
  const auto most = s.upper(high);
  return Value::of(s.fresh({.name = "",
      .lower = s.lower(low),
      .upper = most ? std::optional(*most - !with_end) : std::nullopt,
      .sharing = *sharing}));
}
// How what the generator draws relates among the ranks: of the object, or of the module's own.
std::optional<Sharing> sharing_drawn(Call& call) {
  return call.self.is(Kind::instance) ? drawn_by(call.run, call.self)
                                      : std::optional(call.run.drawn_sharing(Runtime::Stream::python));
}
bool is_plain(Value value) {
  return value.is(Kind::unknown) || value.is(Kind::integer) || value.is(Kind::string) ||
      value.is(Kind::real) || value.is(Kind::boolean) || value.is(Kind::choice);
}
// One of which only the kind is known: an integer, a float, a number of either kind.
Value another_like(Call& call, Value any, Sharing sharing, bool among_others) {
  auto& heap = call.run.heap();
  // One that stands alone is named after what it is assigned to.
  if (any.is(Kind::integer) && among_others) {
    symbolic::AtomInfo info;
    info.sharing = sharing;
    return Value::of(call.run.symbols().fresh(info));
  }
  const Value made = sharing == Sharing::unseen ? heap.unseen("", call.place)
                                                : heap.unknown("", sharing, call.place);
  auto* unknown = made.as<values::Unknown>();
  unknown->is_real = values::is_float(any);
  unknown->is_number = values::is_number(any);
  return made;
}
// Any one of a sequence, where chance says which: what all of them are like.
Value any_drawn(Call& call, bool among_others) {
  const auto sharing = sharing_drawn(call);
  const Value from = call.run.resolve(call.at(0));
  const Value any = from.is(Kind::list) || from.is(Kind::tuple) ? call.run.element(from, call.place)
                                                                : Value{};
  if (any && !is_plain(any)) return any;
  return another_like(call, call.run.resolve(any),
      sharing ? symbolic::mix(*sharing, call.run.heap().sharing(from)) : Sharing::unseen, among_others);
}
Value one_drawn(Call& call) { return any_drawn(call, false); }
// So many of them; `k`: the place of the argument that says how many.
template <std::size_t k> Value several_drawn(Call& call) {
  const Int count = call.spread ? nullptr : call.run.to_int(call.run.resolve(call.at(k)));
  return call.run.heap().open_list(any_drawn(call, true), count);
}
// The list as before, in an order that is drawn.
Value shuffled(Call& call) {
  const auto sharing = sharing_drawn(call);
  const Value list = call.run.resolve(call.at(0));
  if (!list.is(Kind::list)) return Value::none();
  values::ListState state = *values::Heap::list_state(list);
  if (state.items.empty() && !state.open) return Value::none();
  if (!state.length && !state.open)
    state.length = call.run.symbols().constant(static_cast<std::int64_t>(state.items.size()));
  Value any = state.rest;
  for (const Value& item : state.items)
    any = any ? call.run.heap().merge(any, item, sharing.value_or(Sharing::unseen)) : item;
  if (is_plain(any))
    any = another_like(call, call.run.resolve(any),
        sharing ? symbolic::mix(*sharing, call.run.heap().sharing(any)) : Sharing::unseen, true);
  state.items.clear();
  state.open = true;
  state.rest = any;
  call.run.heap().set_list(list, std::move(state));
  return Value::none();
}

}  // namespace

std::optional<Sharing> drawn_by(Runtime& run, Value generator) {
  generator = run.resolve(generator);
  if (!generator.is(Kind::instance)) return std::nullopt;
  const Value seed = kept(run, *generator.as<Instance>(), seed_kept);
  if (!seed || run.heap().is_unseen(seed) || run.heap().sharing(seed) == Sharing::unseen) return std::nullopt;
  // One process by itself cannot tell.
  return run.as_rank() || run.heap().sharing(seed) != Sharing::uniform ? Sharing::local : Sharing::uniform;
}

Sharing drawn_with(Runtime& run, Value generator) {
  generator = generator ? run.resolve(generator) : generator;
  if (!generator || generator.is(Kind::none)) return run.drawn_sharing(Runtime::Stream::torch);
  return drawn_by(run, generator).value_or(Sharing::unseen);
}

std::vector<Row> generator_rows() {
  using enum RowKind;
  std::vector<Row> rows = {
      row("random.Random", class_, "x=None", keep_seed),
      row("random.Random.seed", method, "a=None, version=2", seed_again),
      row(
          "random.SystemRandom", class_, "x=None",
          [](Call& call) {
            return keep(call, seed_kept, call.run.heap().unknown("", Sharing::local, call.place)), Value{};
          },
          "random.Random"),
      row("random.Random.randint", method, "a, b", integer_drawn<true>),
      row("random.Random.randrange", method, "start, stop=None, step=None", integer_drawn<false>),
      row("random.Random.choice", method, "seq", one_drawn),
      row("random.Random.choices", method, "population, weights=None, *, cum_weights=None, k=1",
          several_drawn<3>),
      row("random.Random.sample", method, "population, k, *, counts=None", several_drawn<1>),
      row("random.choice", function, "seq", one_drawn),
      row("random.choices", function, "population, weights=None, *, cum_weights=None, k=1", several_drawn<3>),
      row("random.sample", function, "population, k, *, counts=None", several_drawn<1>),
      row("random.Random.shuffle", method, "x", shuffled),
      row("random.shuffle", function, "x", shuffled),
      row("torch.Generator", class_, "device='cpu'", torch_generator),
      row("torch.Generator.manual_seed", method, "seed", seed_fluently),
      row("torch.Generator.seed", method, "",
          [](Call& call) {
            keep(call, seed_kept, call.run.heap().unknown("", Sharing::local, call.place));
            return kept(call, seed_kept);
          }),
      row("torch.Generator.initial_seed", method, "",
          [](Call& call) {
            return kept(call, seed_kept) ? kept(call, seed_kept) : call.run.heap().unseen("", call.place);
          }),
      row("torch.Generator.device", property, "", uniform),
  };
  for (const std::string_view name :
      {"random.Random.random", "random.Random.uniform", "random.Random.gauss", "random.Random.normalvariate",
          "random.Random.betavariate", "random.Random.expovariate", "random.Random.triangular"})
    rows.push_back(row(name, method, "*arguments, **options", number_drawn));
  return rows;
}

}  // namespace stepzero::libraries
