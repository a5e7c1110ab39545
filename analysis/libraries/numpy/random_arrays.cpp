// Random numbers of NumPy: generators, and the arrays that they draw.
#include "libraries/numpy/arrays.hpp"
#include "libraries/python/generators.hpp"

#include "values/kept.hpp"
#include "values/numbers.hpp"

#include <algorithm>
#include <deque>

namespace stepzero::libraries {

namespace {

Value seeded(Call& call) {
  const Value seed = call.run.resolve(call.at(0));
  keep(call, values::ArrayState::seed,
      seed && !seed.is(Kind::none) ? seed : call.run.heap().unknown("", Sharing::local, call.place));
  return {};
}
Value generator(Call& call) {
  call.self = Value::of(Kind::instance, call.run.make_native("numpy.random.Generator", call.place));
  (void)seeded(call);
  return call.self;
}
Value drawn(Call& call, const std::optional<Shape>& shape, Dtype dtype) {
  const bool own = call.self.is(Kind::instance);
  const auto sharing = own ? drawn_by(call.run, call.self)
                           : std::optional(call.run.drawn_sharing(Runtime::Stream::numpy));
  const Value by = sharing ? call.run.heap().unknown("", *sharing, call.place)
                           : call.run.heap().unseen("", call.place);
  if (shape) return array_of(call, *shape, dtype, {own ? by : Value{}}, !own);
  // A single number, unless what it is drawn by may be an array.
  const std::size_t at = static_cast<std::size_t>(
      std::ranges::find(call.row.parameters, Name("size")) - call.row.parameters.begin());
  const bool single = call.rest.empty() && !call.spread &&
      (at == call.row.parameters.size() || !call.at(at) || call.run.resolve(call.at(at)).is(Kind::none));
  if (single && std::ranges::all_of(call.arguments, [&](Value given) {
        return !given || values::is_number(call.run.resolve(given)) || call.run.resolve(given).is(Kind::none);
      })) {
    by.as<values::Unknown>()->is_real = is_floating(dtype);
    return by;
  }
  return call.row.path == "numpy.random.randint" ? call.run.heap().unknown("", Sharing::local, call.place)
                                                 : call.run.heap().unseen("", call.place);
}
// randn(2, 3)
Value of_sizes(Call& call) {
  Shape shape{true, {}};
  Op op(call);
  for (const Value& raw : call.rest) {
    const Value size = call.run.resolve(raw);
    if (!size.is(Kind::integer)) return drawn(call, std::nullopt, Dtype::unknown);
    shape.dims.push_back(op.made(size.integer()));
  }
  return drawn(call, call.spread || call.rest.empty() ? std::nullopt : std::optional(shape), Dtype::float64);
}
// One integer between two, the end left out: it is a number of Python's own.
Value within_bounds(Op& op, Value made) {
  auto& s = op.s;
  const Value end = op.argument("high");
  const bool alone = !end || end.is(Kind::none);
  const Int low = alone ? s.constant(0) : op.size("low"), high = op.size(alone ? "low" : "high");
  if (!low || !high || !made.is(Kind::unknown) || op.call.self.is(Kind::instance)) return made;
  const auto most = s.upper(high);
  const Int number = s.fresh(
      {"", s.lower(low), most ? std::optional(*most - 1) : std::nullopt, op.run.heap().sharing(made)});
  if (!op.run.guarded()) {
    s.assume(s.compared(symbolic::Compare::ge, number, low));
    s.assume(s.compared(symbolic::Compare::lt, number, high));
  }
  return Value::of(number);
}
template <Dtype dtype> Value of_size(Call& call) {
  Op op(call);
  // What is drawn for each of several bounds or means has their shape, too.
  for (const std::string_view name : {"loc", "scale", "low", "high"})
    if (const Value given = op.argument(name); given && !values::is_number(given))
      return drawn(call, std::nullopt, dtype);
  const Value made = drawn(call, sizes_asked(op, "size"), dtype_asked(op, dtype));
  if constexpr (dtype == Dtype::int64) return within_bounds(op, made);
  return made;
}
Value choice(Call& call) {
  Op op(call);
  const Value from = op.argument("a");
  const TensorState* state = array_state(call.run, from);
  const Dtype dtype = from.is(Kind::integer)   ? Dtype::int64
      : state && state->shape.dims.size() == 1 ? state->dtype
                                               : Dtype::unknown;
  if (!from.is(Kind::integer) && !(state && state->shape.dims.size() == 1))
    return drawn(call, std::nullopt, dtype);
  return drawn(call, sizes_asked(op, "size"), dtype);
}
Value permutation(Call& call) {
  const Value of = call.run.resolve(call.at(0));
  if (of.is(Kind::integer)) return drawn(call, Shape{true, {{of.integer(), nullptr, nullptr}}}, Dtype::int64);
  const TensorState* state = array_state(call.run, of);
  return state && call.options.empty() ? drawn(call, state->shape, state->dtype)
                                       : drawn(call, std::nullopt, Dtype::unknown);
}

}  // namespace

std::vector<Row> random_array_rows() {
  using enum RowKind;
  std::vector<Row> rows = {
      row("numpy.random.seed", function, "seed=None",
          [](Call& call) { return call.run.note_seed(call.at(0), Runtime::Stream::numpy), Value::none(); }),
      row("numpy.random.default_rng", function, "seed=None", generator),
      row("numpy.random.RandomState", class_, "seed=None", seeded),
      row("numpy.random.Generator", class_, "*arguments", nullptr),
  };
  // The functions of the module draw as the methods of a generator do.
  for (const std::string_view home :
      {"numpy.random.", "numpy.random.RandomState.", "numpy.random.Generator."}) {
    const bool is_function = home == "numpy.random.";
    const auto add = [&](std::string_view name, std::string_view signature, Value (*run)(Call&)) {
      static std::deque<std::string> paths;  // texts of rows live as long as the process
      rows.push_back(row(paths.emplace_back(std::string(home) + std::string(name)),
          is_function ? function : method, signature, run));
    };
    add("rand", "*sizes", of_sizes);
    add("randn", "*sizes", of_sizes);
    add("random", "size=None, dtype=None, out=None", of_size<Dtype::float64>);
    add("random_sample", "size=None", of_size<Dtype::float64>);
    add("standard_normal", "size=None, dtype=None, out=None", of_size<Dtype::float64>);
    add("normal", "loc=0.0, scale=1.0, size=None", of_size<Dtype::float64>);
    add("uniform", "low=0.0, high=1.0, size=None", of_size<Dtype::float64>);
    add("randint", "low, high=None, size=None, dtype=None", of_size<Dtype::int64>);
    add("integers", "low, high=None, size=None, dtype=None, endpoint=False", of_size<Dtype::int64>);
    add("choice", "a, size=None, replace=True, p=None, **options", choice);
    add("permutation", "x, **options", permutation);
  }
  return rows;
}

}  // namespace stepzero::libraries
