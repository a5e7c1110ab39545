// What a program hands to other processes is text: variables of the environment, the words of a command, the
// port that ranks meet at.
#include "libraries/python/processes.hpp"

#include "interpreter/calls/noted_at.hpp"
#include "interpreter/record.hpp"
#include "libraries/table/native.hpp"
#include "values/kept.hpp"
#include "values/numbers.hpp"

#include <charconv>

namespace stepzero::libraries {

namespace {

constexpr std::string_view meeting_row = "os.environ.$meeting";  // where the ranks meet, of each its own

constexpr std::int64_t last_port = 65535;

// What Python calls a value that is no text; empty where it may be some.
std::string_view type_name(Runtime& run, Value value) {
  switch (value.kind) {
  case Kind::integer: {
    // By its name alone a parameter is taken for a rank: it may be the text of one.
    for (const symbolic::Role role : {symbolic::Role::rank, symbolic::Role::local_rank,
             symbolic::Role::node_rank, symbolic::Role::world_size, symbolic::Role::local_world_size})
      if (run.in_roots() && value.integer() == run.role(role)) return {};
    return "int";
  }
  case Kind::real: return "float";
  case Kind::boolean: return "bool";
  case Kind::none: return "None";
  case Kind::list: return "a list";
  case Kind::tuple: return "a tuple";
  case Kind::dict: return "a dict";
  case Kind::tensor: return "a tensor";
  case Kind::unknown:
    return value.as<values::Unknown>()->is_option && value.as<values::Unknown>()->is_real
        ? "float"
        : std::string_view();
  default: return {};
  }
}
// "an `int`", "a list"
std::string with_article(std::string_view type) {
  if (type == "int") return "an `int`";
  return type == "float" || type == "bool" ? "a `" + std::string(type) + "`" : std::string(type);
}
interpreter::ProblemEvent& refuse(Call& call, interpreter::Refusal refusal) {
  interpreter::ProblemEvent* event = call.run.problem(values::ProblemKind::process_text, call);
  explain(*event, std::move(refusal));
  return *event;
}
std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return problem == std::errc{} && end == text.data() + text.size() && !text.empty() ? std::optional(number)
                                                                                     : std::nullopt;
}

// -1, as a number or as the text of one, or None.
bool is_no_rank(Runtime& run, Value value) {
  if (value.is(Kind::none)) return true;
  if (const auto number = value.is(Kind::string) ? number_of(value.text()) : run.to_constant(value))
    return *number < 0;
  return false;
}

Value set_variable(Call& call) {
  const Value key = call.run.resolve(call.at(0));
  // `for key in names: os.environ[key] = str(values[key])` copies what it finds: of one of them by itself
  // nothing is known.
  if (const Value value = call.run.resolve(call.at(1)); key.is(Kind::string) && value.is(Kind::unknown) &&
      call.run.record().text(call.place).find(key.text()) == std::string_view::npos)
    return Value::none();
  judge_variable(call, key.is(Kind::string) ? key.text() : std::string_view(), call.at(1));
  return Value::none();
}
// os.environ.update({"RANK": 0}, MASTER_PORT=29500)
Value set_variables(Call& call) {
  for (const Value& raw : call.rest) {
    const Value given = call.run.resolve(raw);
    if (!given.is(Kind::dict)) continue;
    for (const auto& [key, value] : std::vector(values::Heap::dict_state(given)->items))
      judge_variable(call, key.is(Kind::string) ? key.text() : std::string_view(), value);
  }
  for (const auto& [name, value] : call.options) judge_variable(call, name.text(), value);
  return Value::none();
}

// subprocess.run([…], env={…})
Value run_command(Call& call) {
  const Value command = call.run.resolve(call.at(0));
  const auto& handed = command.is(Kind::list) || command.is(Kind::tuple)
      ? call.run.elements(command, call.place)
      : std::nullopt;
  for (std::size_t i = 0; handed && i < handed->size(); ++i) {
    const Value word = call.run.resolve((*handed)[i]);
    if (const std::string_view type = type_name(call.run, word); !type.empty()) {
      refuse(call, why<Reason::part_of_command>(i, with_article(type))).operands = {word};
      break;
    }
  }
  for (const auto& [name, value] : call.options)
    if (const Value variables = call.run.resolve(value); name.text() == "env" && variables.is(Kind::dict))
      for (const auto& [key, text] : std::vector(values::Heap::dict_state(variables)->items))
        judge_variable(call, key.is(Kind::string) ? key.text() : std::string_view(), text);
  return call.run.heap().unseen("", call.place);
}

// signal.signal(signal.SIGTERM, handler): which processes get the signal, and when, nobody knows. What the
// handler does is done on some of them.
Value handler_set(Call& call) {
  const Value handler = call.run.resolve(call.at(1));
  if (!handler.is(Kind::function) && !handler.is(Kind::bound)) return uniform(call);
  const Value comes = call.run.heap().choose(
      call.run.symbols().opaque("a signal comes", symbolic::Sharing::local), handler, Value::none());
  call.run.over_choices(
      comes,
      [&](Value one) {
        if (!one.is(Kind::none)) call.run.call(one, {{uniform(call), uniform(call)}, {}, false}, call.place);
        return Value::none();
      },
      call.place);
  // What the handler was before; and each process is on its own from here.
  return call.run.heap().unknown("", symbolic::Sharing::local, call.place);
}

Value store_made(Call& call) {
  const Value port = call.run.resolve(call.at(1));
  if (const auto number = port.is(Kind::integer) ? call.run.symbols().value(port.integer()) : std::nullopt;
      number && (*number > last_port || *number < 0))
    refuse(call, why<Reason::port_of_store>(*number));
  return {};
}

// What other processes have set is the same for all who ask after it was.
Value stored(Call& call) { return call.run.heap().unseen("", call.place); }
// Its keys are others than those of the store that it stands on.
Value prefixed(Call& call) {
  const Value unknown = call.run.heap().unseen("", call.place);
  call.run.call(
      call.run.attribute(call.self, Name("set"), call.place), {{unknown, unknown}, {}, false}, call.place);
  return {};
}

}  // namespace

void note_role_read(Call& call, symbolic::Role role) {
  call.run.named_condition(
      interpreter::noted_at(
          values::RecordCondition::read + std::to_string(static_cast<int>(role)), call.place),
      symbolic::Sharing::uniform);
}

Value role_or_else(Call& call, Value role, std::string_view given, Value otherwise, symbolic::Role which) {
  if (!otherwise) return role;
  interpreter::Record& record = call.run.record();
  const bool is_question = is_no_rank(call.run, otherwise);
  const values::Cond question = is_question ? call.run.named_condition(given, symbolic::Sharing::uniform)
                                            : call.run.symbols().boolean(true);
  for (const symbolic::Role each : {symbolic::Role::rank, symbolic::Role::local_rank})
    if (which == each || (role.is(Kind::integer) && role.integer() == record.roles[static_cast<int>(each)]))
      record.conditions.insert_or_assign(
          interpreter::noted_at(interpreter::told(each), call.place), question);
  return is_question ? call.run.heap().choose(question, role, otherwise) : role;
}

void judge_address(Call& call, Value address) {
  address = address ? call.run.resolve(address) : address;
  if (!address.is(Kind::string) || !address.text().starts_with("tcp://")) return;
  std::string_view port = address.text().substr(
      std::min(address.text().find_last_of(':') + 1, address.text().size()));
  port = port.substr(0, port.find_first_of("/?"));
  if (const auto number = number_of(port); number && (*number > last_port || *number < 0))
    refuse(call, why<Reason::port_of_group>(port));
}

void judge_variable(Call& call, std::string_view key, Value value) {
  value = call.run.resolve(value);
  if (const std::string_view type = type_name(call.run, value); !type.empty()) {
    const bool of_type = type == "int" || type == "float" || type == "bool";
    refuse(call,
        why<Reason::variable_kind>(key.empty() ? std::string("The variable") : values::code(key),
            with_article(type),
            of_type              ? type
                : type == "None" ? "NoneType"
                                 : type.substr(type.find(' ') + 1)))
        .operands = {value};
    return;
  }
  // Rules say whether it is set in the processes that meet, or before there are any.
  if (const symbolic::Sharing sharing = value ? call.run.heap().sharing(value) : symbolic::Sharing::uniform;
      key == "MASTER_PORT" &&
      (sharing == symbolic::Sharing::divergent || sharing == symbolic::Sharing::local)) {
    Call meeting{call.run, *call.run.library().find(meeting_row), {}, {}, {}, {}, {}, false, call.expr,
        call.node, call.place};
    interpreter::ProblemEvent* event = call.run.problem(values::ProblemKind::process_text, meeting);
    event->overridable = true;
    if (sharing == symbolic::Sharing::local) event->operands = {value};
  }
  if (key == "MASTER_PORT" && value.is(Kind::string))
    if (const auto number = number_of(value.text()); number && (*number > last_port || *number < 0))
      // The group may be made without this variable.
      refuse(call, why<Reason::port_of_variable>(value.text())).overridable = true;
}

std::vector<Row> process_rows() {
  using enum RowKind;
  std::vector<Row> rows = {
      row("os.environ.__setitem__", function, "key, value", set_variable),
      row("os.environ.update", function, "*arguments, **options", set_variables),
      row(meeting_row, function, "", nothing),
      row("os.putenv", function, "key, value", set_variable),
      row("signal.signal", function, "signalnum, handler", handler_set),
      row("torch.distributed.Store", class_, "", nullptr),
      row("torch.distributed.TCPStore", class_,
          "host_name, port, world_size=None, is_master=False, *more, **options", store_made,
          "torch.distributed.Store"),
      row("torch.distributed.FileStore", class_, "file_name, world_size=-1", nullptr,
          "torch.distributed.Store"),
      row("torch.distributed.HashStore", class_, "", nullptr, "torch.distributed.Store"),
      row("torch.distributed.PrefixStore", class_, "prefix, store", prefixed, "torch.distributed.Store"),
      row("torch.distributed.Store.set", method, "key, value", nothing, {}, Operation::store_set),
      row("torch.distributed.Store.multi_set", method, "keys, values", nothing, {}, Operation::store_set),
      row("torch.distributed.Store.add", method, "key, amount", stored, {}, Operation::store_set),
      row("torch.distributed.Store.append", method, "key, value", nothing, {}, Operation::store_set),
      row("torch.distributed.Store.compare_set", method, "key, expected, desired", stored, {},
          Operation::store_set),
      row("torch.distributed.Store.get", method, "key", stored, {}, Operation::store_asked),
      row("torch.distributed.Store.multi_get", method, "keys", stored, {}, Operation::store_asked),
      row("torch.distributed.Store.wait", method, "keys, timeout=None", nothing, {}, Operation::store_asked),
  };
  for (const std::string_view name : {"subprocess.run", "subprocess.Popen", "subprocess.call",
           "subprocess.check_call", "subprocess.check_output"})
    rows.push_back(row(name, function, "args, *more, **options", run_command));
  for (const std::string_view name : {"signal.SIGTERM", "signal.SIGINT", "signal.SIGUSR1", "signal.SIGUSR2",
           "signal.SIGHUP", "signal.SIGQUIT", "signal.SIGCONT", "signal.SIGALRM"})
    rows.push_back(row(name, constant, "", uniform));
  return rows;
}

}  // namespace stepzero::libraries
