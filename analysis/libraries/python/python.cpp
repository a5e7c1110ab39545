// What surrounds a training program: the environment that torchrun sets, ends of the process, argument
// parsers, progress bars.
#include "interpreter/record.hpp"
#include "libraries/python/command_line.hpp"
#include "libraries/python/processes.hpp"
#include "libraries/table/native.hpp"
#include "values/internal_rows.hpp"
#include "values/kept.hpp"

#include <charconv>
#include <tuple>

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

// ---------------------------------------------------------------- argument parsers

// What a parser knows of its arguments: by destination, the action, the type, and the default.
void add_to_parser(Call& call, std::string_view destination, Value action, Value type, Value otherwise) {
  Value known = kept(call, values::ParserState::arguments);
  if (!known.is(Kind::dict)) keep(call, values::ParserState::arguments, known = call.run.heap().dict({}));
  const Value entry = call.run.heap().tuple({action, type, otherwise});
  entry.as<values::Tuple>()->born = call.place;
  call.run.dict_set(known, call.run.heap().string(destination), entry);
}
// Not all that the parser takes is seen.
Value not_all_seen(Call& call) {
  keep(call, values::ParserState::more, call.run.heap().boolean(true));
  return call.run.heap().unknown("", Sharing::uniform, call.place);
}
// The names that it gives the namespace, whatever is known of their values.
void declare(Call& call, std::string_view destination) {
  Value known = kept(call, values::ParserState::declared);
  if (!known.is(Kind::list)) keep(call, values::ParserState::declared, known = call.run.heap().list({}));
  values::ListState state = *values::Heap::list_state(known);
  state.items.push_back(call.run.heap().string(destination));
  call.run.heap().set_list(known, std::move(state));
}
// `type=bool` is the truth of a text, and every text but the empty one is true.
void judge_type(Call& call, std::string_view destination, Value type) {
  if (!type || !type.is(Kind::library) || type.as<values::LibrarySymbol>()->path != "builtins.bool") return;
  explain(
      *call.run.problem(values::ProblemKind::truth_of_text, call), why<Reason::bool_of_text>(destination));
}
Value add_argument(Call& call) {
  std::string destination;
  if (const Value given = option(call, "dest"); given && given.is(Kind::string))
    destination = given.text();
  else {
    for (const Value& raw : call.rest) {
      const Value name = call.run.resolve(raw);
      if (!name.is(Kind::string)) return not_all_seen(call);
      std::string_view text = name.text();
      const bool is_long = text.starts_with("--");
      while (text.starts_with('-')) text.remove_prefix(1);
      if (destination.empty() || is_long) destination = text;
      if (is_long) break;
    }
    for (char& c : destination)
      if (c == '-') c = '_';
  }
  if (destination.empty() || call.spread) return not_all_seen(call);
  declare(call, destination);
  values::Heap& heap = call.run.heap();
  const Value given = option(call, "action");
  const std::string_view action = given.is(Kind::string) ? given.text()
      : given                                            ? std::string_view("?")
                                                         : std::string_view("store");
  Value otherwise = option(call, "default");
  // An action of the program's own may set what it likes.
  if (given && !given.is(Kind::string) &&
      !(given.is(Kind::library) && given.as<values::LibrarySymbol>()->path.starts_with("argparse.")))
    not_all_seen(call);
  Value type = option(call, "type");
  judge_type(call, destination, type);
  if (!otherwise)
    otherwise = action == "store_true" ? heap.boolean(false)
        : action == "store_false"      ? heap.boolean(true)
                                       : Value::none();
  // A default that is text is read as an argument would be.
  if (otherwise.is(Kind::string) && type && !type.is(Kind::none))
    otherwise = call.run.call(type, {{otherwise}, {}, false}, call.place);
  const Value many = option(call, "nargs");
  if (call.run.launch()) declare_flags(call, destination, action, type, many);
  if (many && !(many.is(Kind::string) && many.text() == "?")) type = Value::none();
  // What the command line must give has no default.
  const Value name = call.rest.empty() ? Value{} : call.run.resolve(call.rest.front());
  const bool positional = name.is(Kind::string) && !name.text().starts_with('-') &&
      !(many.is(Kind::string) && (many.text() == "?" || many.text() == "*"));
  if (positional || option(call, "required").is(Kind::boolean)) otherwise = {};
  if (action == "store" || action == "store_true" || action == "store_false" || action == "?" ||
      action == "count" || action == "append" || action == "store_const")
    add_to_parser(call, destination, heap.string(action), type ? type : Value::none(), otherwise);
  return heap.unknown("", Sharing::uniform, call.place);
}
Value set_defaults(Call& call) {
  if (call.spread) not_all_seen(call);
  for (const auto& each : call.options) declare(call, each.first.text());
  Value known = kept(call, values::ParserState::arguments);
  if (!known.is(Kind::dict)) keep(call, values::ParserState::arguments, known = call.run.heap().dict({}));
  for (const auto& [name, value] : call.options) {
    const Value before = call.run.dict_get(known, call.run.heap().string(name.text()), Value::none());
    const bool there = before.is(Kind::tuple) && before.as<values::Tuple>()->items.size() == 3;
    add_to_parser(call, name.text(),
        there ? before.as<values::Tuple>()->items[0] : call.run.heap().string("set"),
        there ? before.as<values::Tuple>()->items[1] : Value::none(), value);
  }
  return Value::none();
}
// A value that the command line gives: what it is if it is not given is remembered.
Value argument_value(
    Call& call, std::string_view name, std::string_view action, Value type, Value otherwise) {
  const std::string text = "args." + std::string(name);
  if (action == "set") return otherwise;
  if (call.run.with_defaults() && otherwise) return otherwise;
  if (action == "store_true" || action == "store_false") {
    const Value made = call.run.symbol(text, Sharing::uniform, call.place);
    return made.is(Kind::unknown) ? Value::of(call.run.symbols().opaque(text, Sharing::uniform)) : made;
  }
  const Value made = call.run.symbol(text, Sharing::uniform, call.place);
  // The launcher that hands over `--local_rank` is one of several: without it a job of several processes has
  // the default.
  if (made.is(Kind::integer)) {
    const auto presumed = call.run.library().presume(name);
    const bool asked = !call.run.as_rank() || (presumed && presumed->role == Role::local_rank);
    return asked ? role_or_else(call, made,
                       text +
                           (otherwise.is(Kind::none)
                                   ? " is not None"
                                   : " != " + std::to_string(call.run.to_constant(otherwise).value_or(-1))),
                       otherwise, presumed ? presumed->role : Role::none)
                 : made;
  }
  if (!made.is(Kind::unknown)) return made;
  auto* unknown = made.as<values::Unknown>();
  unknown->default_value = otherwise;
  unknown->is_option = true;
  if (type.is(Kind::library)) {
    const std::string_view path = type.as<values::LibrarySymbol>()->path;
    if (path == "builtins.float") unknown->is_real = true;
    // A number unless it is left out and nothing stands for it.
    if (path == "pathlib.Path" && !otherwise.is(Kind::none))
      return call.run.call(type, {{made}, {}, false}, call.place);
    if (path == "builtins.int" && !otherwise.is(Kind::none)) return Value::of(call.run.to_int(made));
  }
  return made;
}
// `store_true` of what is true by default, and no other argument switches off.
void judge_always_on(Call& call, std::string_view destination, const values::Tuple& entry) {
  const Value action = entry.items[0], otherwise = call.run.resolve(entry.items[2]);
  const Value declared = kept(call, values::ParserState::declared);
  if (!action.is(Kind::string) || action.text() != "store_true" || !otherwise.is(Kind::boolean) ||
      call.run.symbols().decide(otherwise.condition()) != symbolic::Answer::yes || !declared.is(Kind::list))
    return;
  const auto& names = values::Heap::list_state(declared)->items;
  if (std::ranges::count_if(
          names, [&](Value name) { return name.is(Kind::string) && name.text() == destination; }) > 1)
    return;
  auto* problem = call.run.problem(values::ProblemKind::truth_of_text, call);
  problem->place = entry.born;
  explain(*problem, why<Reason::flag_always_on>(destination));
}

Value arguments_of_program(Call& call) {
  Instance* made = call.run.make_native("argparse.Namespace", call.place);
  made->symbolic = true;
  made->name = "args";
  const Value given = call.run.resolve(call.at(0));
  bool defaults = false;
  if (given.is(Kind::list) || given.is(Kind::tuple)) {
    const auto words = call.run.elements(given, call.place);
    defaults = words && words->empty();
  }
  const Value known = kept(call, values::ParserState::arguments);
  const bool all_seen = !kept(call, values::ParserState::more);
  const CommandLine line = !given || given.is(Kind::none) ? read_command_line(call) : CommandLine{};
  if (known.is(Kind::dict))
    for (const auto& [key, entry] : std::vector(values::Heap::dict_state(known)->items)) {
      const Value parts = call.run.resolve(entry);
      if (!key.is(Kind::string) || !parts.is(Kind::tuple) || parts.as<values::Tuple>()->items.size() != 3)
        continue;
      judge_always_on(call, key.text(), *parts.as<values::Tuple>());
      const auto& [action, type, otherwise] = std::tie(parts.as<values::Tuple>()->items[0],
          parts.as<values::Tuple>()->items[1], parts.as<values::Tuple>()->items[2]);
      Value value = defaults && otherwise ? otherwise : Value{};
      if (const auto told = line.values.find(key.text()); told != line.values.end())
        value = told->second;
      else if (line.leaves_out(key.text()))
        value = otherwise;
      if (!value)
        value = argument_value(call, key.text(), action.is(Kind::string) ? action.text() : std::string_view(),
            call.run.resolve(type), call.run.resolve(otherwise));
      keep(call.run, *made, key.text(), value);
    }
  if (defaults && all_seen) {
    made->symbolic = false;
    made->open = false;
  }
  // What is not declared is not there, unless somebody else adds arguments to the parser, or the namespace is
  // another's.
  const bool own = call.run.resolve(call.at(1)).is(Kind::none) || !call.at(1);
  const Value declared = kept(call, values::ParserState::declared);
  const bool handed = call.self.is(Kind::instance) &&
      (call.self.as<Instance>()->attributes.find(interpreter::handed_out) || call.self.as<Instance>()->cls);
  if (own && all_seen && !handed && declared.is(Kind::list) && !values::Heap::list_state(declared)->open)
    keep(call.run, *made, values::ParserState::known_names, declared);
  return Value::of(Kind::instance, made);
}
Value parser_init(Call& call) {
  const Value parents = option(call, "parents");
  if (call.spread || (parents && !parents.is(Kind::none))) not_all_seen(call);
  return {};
}
Value known_arguments(Call& call) {
  const Value made = arguments_of_program(call);
  const bool none_left = made.is(Kind::instance) && !made.as<Instance>()->open;
  return call.run.heap().tuple({made,
      none_left ? call.run.heap().list({})
                : call.run.heap().open_list(call.run.heap().unknown("", Sharing::uniform))});
}
Value subparsers(Call& call) {
  keep(call, values::ParserState::more, call.run.heap().boolean(true));
  Instance* made = call.run.make_native("argparse.$Subparsers", call.place);
  return Value::of(Kind::instance, made);
}
Value new_parser(Call& call) {
  return Value::of(Kind::instance, call.run.make_native("argparse.ArgumentParser", call.place));
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
      row("argparse.ArgumentParser", class_, "*arguments, **options", parser_init),
      row("argparse.ArgumentParser.add_argument", method, "*arguments, **options", add_argument),
      row("argparse.ArgumentParser.set_defaults", method, "**options", set_defaults),
      row("argparse.ArgumentParser.add_argument_group", method, "*arguments, **options", itself),
      row("argparse.ArgumentParser.add_mutually_exclusive_group", method, "*arguments, **options", itself),
      row("argparse.ArgumentParser.add_subparsers", method, "**options", subparsers),
      row("argparse.$Subparsers", class_, "", nullptr),
      row("argparse.$Subparsers.add_parser", method, "name, **options", new_parser),
      row("argparse.ArgumentParser.parse_args", method, "args=None, namespace=None", arguments_of_program),
      row("argparse.ArgumentParser.parse_known_args", method, "args=None, namespace=None", known_arguments),
      row("argparse.Namespace", class_, "**options", keep_options),
      row("tqdm.tqdm", function, "iterable=None, *more, **options", progress),
      row("tqdm.auto.tqdm", function, "iterable=None, *more, **options", progress),
      row("tqdm.trange", function, "*arguments, **options", uniform),
      row("tqdm.bar", class_, "", nullptr),
  };
  for (Row& each : rows) each.extends_imports = each.path == insert_root || each.path == append_root;
  for (Row& each : process_rows()) rows.push_back(std::move(each));
  // Any other reader of a generator may stop earlier.
  for (const std::string_view path : values::all_under<values::InternalRow::reads_all, "builtins.sum",
           "builtins.list", "builtins.tuple", "builtins.set", "builtins.frozenset", "builtins.sorted",
           "builtins.max", "builtins.min", "builtins.dict">)
    rows.push_back(row(path, constant, "", nullptr));
  return rows;
}

}  // namespace stepzero::libraries
