// What of Python's standard library (and its near neighbours) training code leans on: the environment that torchrun sets,
// ends of the process, partial functions, argument parsers, progress bars.
#include "torch/shapes.hpp"

#include <cmath>

namespace stepzero::torch {

using symbolic::Role;
using values::Kind;

namespace {

template <Role role> Value role_value(Call& call) { return Value::of(call.run.role(role)); }

// os.environ.get("RANK", default)
Value environment_get(Call& call) {
  const Value key = call.run.resolve(call.at(0));
  if (key.is(Kind::string))
    if (const Row* found = call.run.library().find("os.environ[" + std::string(key.text()) + "]")) {
      Call inner{call.run, *found, {}, {}, {}, {}, {}, false, call.expr, call.node, call.place};
      return found->run(inner);
    }
  return call.run.heap().unknown("", Sharing::uniform, call.place);
}
Value end_process(Call& call) {
  call.run.exit_process();
  return Value::none();
}
Value partial(Call& call) {
  auto* made = call.run.heap().make<values::Partial>();
  made->function = call.at(0);
  made->arguments = call.rest;
  made->keywords = call.options;
  return Value::of(Kind::partial, made);
}
Value wraps(Call& call) {
  // wraps(f) gives a decorator that keeps the function as it is.
  (void)call;
  return {};
}
Value first_argument(Call& call) { return call.at(0); }
Value per_rank(Call& call) { return call.run.heap().unknown("", Sharing::local, call.place); }
Value uniform_unknown(Call& call) { return call.run.heap().unknown("", Sharing::uniform, call.place); }
Value arguments_of_program(Call& call) { return call.run.heap().unknown("args", Sharing::uniform, call.place); }
Value known_arguments(Call& call) {
  return call.run.heap().tuple({call.run.heap().unknown("args", Sharing::uniform, call.place), call.run.heap().open_list(call.run.heap().unknown("", Sharing::uniform))});
}
Value empty_dict(Call& call) {
  const Value first = call.run.resolve(call.at(0));
  if (first.is(Kind::dict)) return first;
  if (first.is(Kind::list)) {
    std::vector<std::pair<Value, Value>> items;
    if (const auto pairs = call.run.elements(first, call.place)) {
      bool known = true;
      for (const Value& pair : *pairs) {
        const auto parts = call.run.elements(pair, call.place);
        if (parts && parts->size() == 2) items.push_back({call.run.resolve((*parts)[0]), (*parts)[1]});
        else known = false;
      }
      if (known) return call.run.heap().dict(std::move(items));
    }
  }
  return call.run.heap().dict({}, static_cast<bool>(first), call.run.heap().external("", call.place));
}
Value default_dict(Call& call) { return call.run.heap().dict({}, true, call.run.heap().external("", call.place)); }
Value deque(Call& call) {
  return call.run.heap().open_list(call.run.heap().external("", call.place), nullptr, values::ListKind::deque);
}
Value copied(Call& call) {
  const Value value = call.run.resolve(call.at(0));
  if (value.is(Kind::list) || value.is(Kind::dict)) return call.run.call(call.run.attribute(value, syntax::Name("copy"), call.place), {}, call.place);
  return value;
}
Value square_root(Call& call) {
  const Value value = call.run.resolve(call.at(0));
  if (const auto constant = call.run.to_constant(value)) return Value::of(std::sqrt(static_cast<double>(*constant)));
  if (value.is(Kind::real)) return Value::of(std::sqrt(value.real()));
  return call.run.heap().unknown("", call.run.heap().sharing(value), call.place);
}
template <bool up> Value rounded(Call& call) {
  const Value value = call.run.resolve(call.at(0));
  if (value.is(Kind::integer)) return value;
  if (value.is(Kind::real) && std::abs(value.real()) < 9e15)
    return call.run.heap().integer(static_cast<std::int64_t>(up ? std::ceil(value.real()) : std::floor(value.real())));
  return call.run.heap().unknown("", call.run.heap().sharing(value), call.place);
}
Value math_product(Call& call) {
  const auto items = call.run.elements(call.at(0), call.place);
  Int total = call.run.symbols().constant(1);
  if (items)
    for (const Value& item : *items) {
      const Int value = call.run.resolve(item).is(Kind::integer) ? call.run.to_int(item) : nullptr;
      if (!value) return call.run.heap().unknown("", call.run.heap().sharing(call.at(0)), call.place);
      total = call.run.symbols().mul(total, value);
    }
  else return call.run.heap().unknown("", call.run.heap().sharing(call.at(0)), call.place);
  return Value::of(total);
}
// tqdm(iterable): the iterable's elements, with methods of its own.
Value progress(Call& call) {
  const Value iterable = call.run.resolve(call.at(0));
  if (iterable.is(Kind::list) || iterable.is(Kind::range) || iterable.is(Kind::tuple) || iterable.is(Kind::iterator)) {
    values::Instance* bar = call.run.make_native("tqdm.bar", call.place);
    call.run.heap().set(call.run.heap().slot_of(bar->attributes, syntax::Name("$items")), iterable);
    return Value::of(Kind::instance, bar);
  }
  if (!iterable || iterable.is(Kind::none)) return Value::of(Kind::instance, call.run.make_native("tqdm.bar", call.place));
  return iterable;
}
Value null_context(Call& call) { return Value::of(Kind::instance, call.run.make_native("contextlib.context", call.place)); }
Value pi(Call&) { return Value::of(3.141592653589793); }

Row row(std::string_view path, RowKind kind, std::string_view signature, Value (*run)(Call&), std::string_view base = {}) {
  Row made;
  made.path = path;
  made.kind = kind;
  made.signature = signature;
  made.run = run;
  made.base = base;
  made.source = "Python and torchrun documentation";
  return made;
}

} // namespace

std::vector<Row> python_rows() {
  using enum RowKind;
  return {
      // torchrun sets these for every process.
      row("os.environ[RANK]", constant, "", role_value<Role::rank>),
      row("os.environ[LOCAL_RANK]", constant, "", role_value<Role::local_rank>),
      row("os.environ[GROUP_RANK]", constant, "", role_value<Role::node_rank>),
      row("os.environ[NODE_RANK]", constant, "", role_value<Role::node_rank>),
      row("os.environ[WORLD_SIZE]", constant, "", role_value<Role::world_size>),
      row("os.environ[LOCAL_WORLD_SIZE]", constant, "", role_value<Role::local_world_size>),
      row("os.environ[SLURM_PROCID]", constant, "", role_value<Role::rank>),
      row("os.environ[SLURM_LOCALID]", constant, "", role_value<Role::local_rank>),
      row("os.environ[OMPI_COMM_WORLD_RANK]", constant, "", role_value<Role::rank>),
      row("os.environ[OMPI_COMM_WORLD_LOCAL_RANK]", constant, "", role_value<Role::local_rank>),
      row("os.environ.get", function, "key, default=None", environment_get),
      row("os.getenv", function, "key, default=None", environment_get),
      row("os.environ.setdefault", function, "key, default=None", environment_get),
      row("sys.exit", function, "status=0", end_process),
      row("os._exit", function, "status=0", end_process),
      row("os.getpid", function, "", per_rank),
      row("os.path.exists", function, "path", per_rank),
      row("os.path.isfile", function, "path", per_rank),
      row("os.path.isdir", function, "path", per_rank),
      row("os.listdir", function, "path", per_rank),
      row("time.time", function, "", per_rank),
      row("time.perf_counter", function, "", per_rank),
      row("time.monotonic", function, "", per_rank),
      row("random.random", function, "", per_rank),
      row("random.randint", function, "a, b", per_rank),
      row("socket.gethostname", function, "", per_rank),
      row("functools.partial", function, "function, *arguments, **keywords", partial),
      row("functools.wraps", function, "function", wraps),
      row("functools.lru_cache", function, "function=None, **options", first_argument),
      row("functools.cache", function, "function=None", first_argument),
      row("contextlib.nullcontext", function, "value=None", null_context),
      row("contextlib.context", class_, "", nullptr),
      row("contextlib.suppress", class_, "*exceptions", nullptr, "$catches"),
      row("pytest.raises", class_, "*exceptions, **options", nullptr, "$catches"),
      row("unittest.TestCase", class_, "*arguments", nullptr),
      row("unittest.TestCase.assertRaises", method, "*exceptions, **options",
          [](Call& call) { return Value::of(Kind::instance, call.run.make_native("contextlib.suppress", call.place)); }),
      row("unittest.TestCase.assertRaisesRegex", method, "*exceptions, **options",
          [](Call& call) { return Value::of(Kind::instance, call.run.make_native("contextlib.suppress", call.place)); }),
      row("$catches", class_, "", nullptr),
      row("argparse.ArgumentParser", class_, "*arguments, **options", nullptr),
      row("argparse.ArgumentParser.add_argument", method, "*arguments, **options", uniform_unknown),
      row("argparse.ArgumentParser.parse_args", method, "args=None, namespace=None", arguments_of_program),
      row("argparse.ArgumentParser.parse_known_args", method, "args=None, namespace=None", known_arguments),
      row("collections.OrderedDict", function, "items", empty_dict),
      row("collections.defaultdict", function, "factory=None, *more", default_dict),
      row("collections.deque", function, "items, maxlen=None", deque),
      row("copy.copy", function, "x", copied),
      row("copy.deepcopy", function, "x, memo=None", copied),
      row("math.sqrt", function, "x", square_root),
      row("math.ceil", function, "x", rounded<true>),
      row("math.floor", function, "x", rounded<false>),
      row("math.prod", function, "items", math_product),
      row("math.pi", constant, "", pi),
      row("tqdm.tqdm", function, "iterable=None, *more, **options", progress),
      row("tqdm.auto.tqdm", function, "iterable=None, *more, **options", progress),
      row("tqdm.trange", function, "*arguments, **options", uniform_unknown),
      row("tqdm.bar", class_, "", nullptr),
  };
}

} // namespace stepzero::torch
