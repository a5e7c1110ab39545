// What surrounds a training program: the environment that torchrun sets, ends of the process, progress bars.
#include "interpreter/record.hpp"
#include "libraries/python/argument_parsers.hpp"
#include "libraries/python/command_line.hpp"
#include "libraries/python/processes.hpp"
#include "libraries/table/native.hpp"
#include "values/internal_rows.hpp"
#include "values/kept.hpp"

#include <charconv>

namespace stepzero::libraries {

using symbolic::Role;

namespace {

// os.environ.get("RANK", default)
Value environment_get(Call& call) {
  const Value key = call.run.resolve(call.at(0));
  // A launcher sets these; without one the program has its own default, whatever it asks for. Nobody asks for
  // such a run but who counts its memory.
  const bool alone = call.run.record().conditions.contains(values::RecordCondition::no_launcher) &&
      call.given.size() > 1 && call.given[1];
  if (alone) return call.run.resolve(call.at(1));
  if (key.is(Kind::string))
    if (const Row* found = call.run.library().find("os.environ[" + std::string(key.text()) + "]")) {
      Call inner{call.run, *found, {}, {}, {}, {}, {}, false, call.expr, call.node, call.place};
      const Value given = found->run(inner);
      // Where several processes run, a launcher has set it.
      if (call.run.as_rank() || call.run.launch() || call.row.path == "os.environ.setdefault") return given;
      return role_or_else(
          call, given, "\"" + std::string(key.text()) + "\" in os.environ", call.run.resolve(call.at(1)));
    }
  if (const Value set = set_by_launch(call.run, key)) return set;
  const Value made = call.run.heap().unknown("", Sharing::uniform, call.place);
  const Value otherwise = call.run.resolve(call.at(1));
  // Texts of numbers are read as those.
  if (otherwise.is(Kind::integer)) {
    made.as<values::Unknown>()->default_value = otherwise;
  } else if (otherwise.is(Kind::string)) {
    const std::string_view text = otherwise.text();
    std::int64_t number = 0;
    if (const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
        problem == std::errc{} && end == text.data() + text.size() && !text.empty())
      made.as<values::Unknown>()->default_value = call.run.heap().integer(number);
  }
  return made;
}
// os.environ["HIDDEN"]
Value environment_item(Call& call) {
  const Value set = set_by_launch(call.run, call.run.resolve(call.at(0)));
  return set ? set : call.run.heap().unknown("", Sharing::uniform, call.place);
}
// sys.argv
Value process_arguments(Call& call) {
  const Value words = words_of_launch(call.run);
  return words ? words : Value(call.run.library_symbol("sys.argv"));
}
// What is set in case it was not there.
Value environment_default(Call& call) {
  const Value key = call.run.resolve(call.at(0));
  if (call.given.size() > 1 && call.given[1])
    judge_variable(call, key.is(Kind::string) ? key.text() : std::string_view(), call.at(1));
  return environment_get(call);
}
Value end_process(Call& call) {
  call.run.exit_process();
  return Value::none();
}
// random.randint(a, b): any integer between them, the ends included; of randrange(start, stop) the end is
// left out.
template <bool with_end> Value random_integer(Call& call) {
  auto& s = call.run.symbols();
  const Value first = call.run.resolve(call.at(0)), second = call.run.resolve(call.at(1)),
              step = call.run.resolve(call.at(2));
  if (call.spread || (step && !step.is(Kind::none)))
    return call.run.heap().unknown("", call.run.drawn_sharing(Runtime::Stream::python), call.place);
  const bool alone = !second || second.is(Kind::none);
  const Int low = alone ? s.constant(0) : call.run.to_int(first),
            high = call.run.to_int(alone ? first : second);
  if (!low || !high)
    return call.run.heap().unknown("", call.run.drawn_sharing(Runtime::Stream::python), call.place);
  const auto most = s.upper(high);
  const Int drawn = s.fresh({.name = "",
      .lower = s.lower(low),
      .upper = most ? std::optional(*most - !with_end) : std::nullopt,
      .sharing = call.run.drawn_sharing(Runtime::Stream::python)});
  if (!call.run.guarded()) {
    s.assume(s.compared(symbolic::Compare::ge, drawn, low));
    s.assume(s.compared(with_end ? symbolic::Compare::le : symbolic::Compare::lt, drawn, high));
  }
  return Value::of(drawn);
}
// Named by its call, so that what fails for some of the numbers can say for which.
Value random_real(Call& call) {
  const Value made = call.run.heap().unknown(
      std::string(call.row.path) + "()", call.run.drawn_sharing(Runtime::Stream::python), call.place);
  made.as<values::Unknown>()->is_real = true;
  return made;
}
// importlib.import_module("torch"), import_module(".nn", "torch"), pytest.importorskip("torch")
Value module_named(Call& call) {
  const Value name = call.run.resolve(call.at(0));
  std::string text(name.is(Kind::string) ? name.text() : std::string_view{});
  if (const Value package = call.row.parameters.size() > 1 && call.row.parameters[1].text() == "package"
          ? call.run.resolve(call.at(1))
          : Value{};
      text.starts_with('.') && !text.starts_with("..") && package.is(Kind::string))
    text = std::string(package.text()) + text;
  return text.empty() ? call.run.heap().unseen("", call.place) : call.run.import_named(text);
}
Value expects_failure(Call& call) {
  return Value::of(Kind::instance, call.run.make_native("contextlib.suppress", call.place));
}
Value per_rank(Call& call) { return call.run.heap().unknown("", Sharing::local, call.place); }

// A span of time, which keeps its seconds.
Value time_span(Call& call) {
  constexpr double seconds_in[] = {86400, 1, 1e-6, 1e-3, 60, 3600, 604800};
  double all = 0;
  for (std::size_t i = 0; i < std::size(seconds_in); ++i) {
    const Value part = call.run.resolve(call.at(i));
    if (part.is(Kind::real))
      all += part.real() * seconds_in[i];
    else if (const auto whole = call.run.to_constant(part))
      all += static_cast<double>(*whole) * seconds_in[i];
    else
      return {};
  }
  keep(call, values::ParserState::seconds, Value::of(all));
  return {};
}
Value seeded(Call& call) {
  call.run.note_seed(call.at(0), Runtime::Stream::python);
  return Value::none();
}

// tqdm(iterable): the iterable's elements, with methods of its own.
Value progress(Call& call) {
  const Value iterable = call.run.resolve(call.at(0));
  if (iterable.is(Kind::list) || iterable.is(Kind::range) || iterable.is(Kind::tuple) ||
      iterable.is(Kind::iterator)) {
    Instance* bar = call.run.make_native("tqdm.bar", call.place);
    call.run.heap().set(
        call.run.heap().slot_of(bar->attributes, Name(values::ContainerState::items)), iterable);
    return Value::of(Kind::instance, bar);
  }
  if (!iterable || iterable.is(Kind::none))
    return Value::of(Kind::instance, call.run.make_native("tqdm.bar", call.place));
  return iterable;
}
}  // namespace

// What adds a folder in which imports look.
constexpr std::string_view insert_root = "sys.path.insert", append_root = "sys.path.append";

std::vector<Row> python_rows() {
  using enum RowKind;
  std::vector<Row> rows = {
      // torchrun sets these for every process.
      row("os.environ[RANK]", constant, "", role_text<Role::rank>),
      row("os.environ[LOCAL_RANK]", constant, "", role_text<Role::local_rank>),
      row("os.environ[GROUP_RANK]", constant, "", role_text<Role::node_rank>),
      row("os.environ[NODE_RANK]", constant, "", role_text<Role::node_rank>),
      row("os.environ[WORLD_SIZE]", constant, "", role_text<Role::world_size>),
      row("os.environ[LOCAL_WORLD_SIZE]", constant, "", role_text<Role::local_world_size>),
      row("os.environ[SLURM_PROCID]", constant, "", role_text<Role::rank>),
      row("os.environ[SLURM_LOCALID]", constant, "", role_text<Role::local_rank>),
      row("os.environ[OMPI_COMM_WORLD_RANK]", constant, "", role_text<Role::rank>),
      row("os.environ[OMPI_COMM_WORLD_LOCAL_RANK]", constant, "", role_text<Role::local_rank>),
      row("os.environ.__getitem__", function, "key", environment_item),
      row("os.environ.get", function, "key, default=None", environment_get),
      row("os.getenv", function, "key, default=None", environment_get),
      row("os.environ.setdefault", function, "key, default=None", environment_default),
      row(insert_root, function, "index, folder", nullptr),
      row(append_root, function, "folder", nullptr),
      row("sys.modules.__getitem__", function, "name", module_named),
      row("sys.argv", constant, "", process_arguments),
      row("sys.exit", function, "status=0", end_process, {}, Operation::fallible),
      row("os._exit", function, "status=0", end_process, {}, Operation::fallible),
      row("os.getpid", function, "", per_rank),
      row(values::InternalRow::open, function, "file, *more, **options", per_rank, {}, Operation::fallible),
      row("time.sleep", function, "seconds", nothing, {}, Operation::slow),
      row("urllib.request.urlretrieve", function, "url, filename=None, *more", nothing, {}, Operation::slow),
      row("huggingface_hub.snapshot_download", function, "repo_id, *more, **options", uniform, {},
          Operation::slow),
      row("torch.hub.download_url_to_file", function, "url, dst, *more, **options", nothing, {},
          Operation::slow),
      row("datetime.timedelta", class_,
          "days=0, seconds=0, microseconds=0, milliseconds=0, minutes=0, hours=0, weeks=0", time_span),
      row("time.time", function, "", per_rank),
      row("time.perf_counter", function, "", per_rank),
      row("time.monotonic", function, "", per_rank),
      row("random.random", function, "", random_real),
      row("random.uniform", function, "a, b", random_real),
      row("random.gauss", function, "mu=0.0, sigma=1.0", random_real),
      row("random.normalvariate", function, "mu=0.0, sigma=1.0", random_real),
      row("random.betavariate", function, "alpha, beta", random_real),
      row("random.expovariate", function, "lambd=1.0", random_real),
      row("random.triangular", function, "low=0.0, high=1.0, mode=None", random_real),
      row("random.randint", function, "a, b", random_integer<true>),
      row("random.randrange", function, "start, stop=None, step=None", random_integer<false>),
      row("random.seed", function, "a=None, *more", seeded),
      row("socket.gethostname", function, "", per_rank),
      row("contextlib.suppress", class_, "*exceptions", nullptr, values::InternalRow::catches),
      row("importlib.import_module", function, "name, package=None", module_named),
      row("pytest.importorskip", function, "modname, minversion=None, reason=None, *, exc_type=None",
          module_named),
      row("pytest.raises", class_, "*exceptions, **options", nullptr, values::InternalRow::catches),
      row("unittest.TestCase", class_, "*arguments", nullptr),
      row("unittest.TestCase.assertRaises", method, "*exceptions, **options", expects_failure),
      row("unittest.TestCase.assertRaisesRegex", method, "*exceptions, **options", expects_failure),
      row(values::InternalRow::catches, class_, "", nullptr),
      // As decorators: the test fails, or is not run at all.
      row("pytest.mark.xfail", function, "*arguments, **options", expects_failure),
      row("pytest.mark.skip", function, "*arguments, **options", expects_failure),
      row("unittest.expectedFailure", function, "*arguments, **options", expects_failure),
      row("unittest.skip", function, "*arguments, **options", expects_failure),
      row("tqdm.tqdm", function, "iterable=None, *more, **options", progress),
      row("tqdm.auto.tqdm", function, "iterable=None, *more, **options", progress),
      row("tqdm.trange", function, "*arguments, **options", uniform),
      row("tqdm.bar", class_, "", nullptr),
  };
  for (Row& each : rows) each.extends_imports = each.path == insert_root || each.path == append_root;
  for (auto* more : {process_rows, argument_parser_rows})
    for (Row& each : more()) rows.push_back(std::move(each));
  // Any other reader of a generator may stop earlier.
  for (const std::string_view path : values::all_under<values::InternalRow::reads_all, "builtins.sum",
           "builtins.list", "builtins.tuple", "builtins.set", "builtins.frozenset", "builtins.sorted",
           "builtins.max", "builtins.min", "builtins.dict">)
    rows.push_back(row(path, constant, "", nullptr));
  return rows;
}

}  // namespace stepzero::libraries
