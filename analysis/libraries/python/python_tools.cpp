// What of Python's library stands around models: inspect, typing, contextlib, warnings, logging, paths.
#include "libraries/table/native.hpp"
#include "values/kept.hpp"

namespace stepzero::libraries {

namespace {

Value signature_of(Call& call) {
  Value function = call.run.resolve(call.at(0));
  bool bound = false;
  if (function.is(Kind::bound)) {
    function = call.run.resolve(function.as<values::Bound>()->function);
    bound = true;
  }
  if (function.is(Kind::class_)) {
    function = call.run.resolve(
        call.run.find_in_order(function.as<values::Class>()->order, Name("__init__")));
    bound = true;
  }
  // A wrapper answers for what it wraps.
  constexpr int most_wrappers = 8;  // decorators around decorators: one that wraps itself ends here
  for (int i = 0; i < most_wrappers && function.is(Kind::function); ++i) {
    const values::Slot* inner = function.as<values::Function>()->attributes.find(Name("__wrapped__"));
    if (!inner || !call.run.resolve(inner->value).is(Kind::function)) break;
    function = call.run.resolve(inner->value);
  }
  if (!function.is(Kind::function) || !function.as<values::Function>()->parameters)
    return call.run.heap().unseen("", call.place);
  const auto* known = function.as<values::Function>();
  std::vector<std::pair<Value, Value>> items;
  const auto& list = known->parameters->list;
  for (std::size_t i = bound ? 1 : 0; i < list.size(); ++i) {
    constexpr std::string_view kinds[] = {
        "POSITIONAL_ONLY", "POSITIONAL_OR_KEYWORD", "KEYWORD_ONLY", "VAR_POSITIONAL", "VAR_KEYWORD"};
    Instance* one = call.run.make_native("inspect.Parameter", call.place);
    const Value name = call.run.heap().string(list[i].name.text());
    for (const std::string_view kind : kinds)
      keep(call.run, *one, kind, call.run.library_symbol("inspect.Parameter." + std::string(kind)));
    keep(call.run, *one, "name", name);
    keep(call.run, *one, "kind",
        call.run.library_symbol("inspect.Parameter." + std::string(kinds[static_cast<int>(list[i].kind)])));
    keep(call.run, *one, "default",
        i < known->defaults.size() && known->defaults[i]
            ? known->defaults[i]
            : call.run.library_symbol("inspect.Parameter.empty"));
    items.push_back({name, Value::of(Kind::instance, one)});
  }
  Instance* made = call.run.make_native("inspect.Signature", call.place);
  keep(call.run, *made, "parameters", call.run.heap().dict(std::move(items)));
  return Value::of(Kind::instance, made);
}
template <Kind kind> Value is_kind(Call& call) {
  const Value value = call.run.resolve(call.at(0));
  if (value.is(Kind::unknown) || value.is(Kind::choice) || value.is(Kind::library)) return unknown_of(call);
  return call.run.heap().boolean(value.is(kind) ||
      (kind == Kind::function && value.is(Kind::bound) && call.row.path.ends_with("method")));
}
Value second_argument(Call& call) { return call.at(1); }
Value null_context(Call& call) {
  Instance* made = call.run.make_native("contextlib.context", call.place);
  keep(call.run, *made, values::ContextState::value, call.at(0));
  return Value::of(Kind::instance, made);
}
Value entered(Call& call) {
  const Value value = kept(call, values::ContextState::value);
  return value ? value : call.self;
}
Value enter_context(Call& call) {
  const Value manager = call.run.resolve(call.at(0));
  if (!manager.is(Kind::instance)) return call.run.heap().unseen("", call.place);
  const Value enter = call.run.find_method(manager.as<Instance>(), Name("__enter__"));
  return enter ? call.run.call(enter, {}, call.place) : manager;
}
Value logger(Call& call) {
  return Value::of(Kind::instance, call.run.make_native("logging.Logger", call.place));
}
// A file in a folder that is not known: the same each time it is asked for.
Value path_below(Call& call, Value folder, std::string_view file) {
  auto& items = folder.as<values::Unknown>()->items;
  const Value key = call.run.heap().tuple({call.run.heap().string("/"), call.run.heap().string(file)});
  for (const auto& [known, value] : items)
    if (call.run.same_key(known, key)) return value;
  const Value made = unknown_of(call);
  items.emplace_back(key, made);
  return made;
}
Value joined_words(Call& call) {
  if (call.spread || call.rest.empty()) return unknown_of(call);
  std::string path;
  const Value folder = call.run.resolve(call.rest[0]);
  const bool below = folder.is(Kind::unknown) && call.rest.size() > 1;
  for (std::size_t i = below; i < call.rest.size(); ++i) {
    Value part = call.run.resolve(call.rest[i]);
    if (part.is(Kind::instance))
      part = call.run.resolve(
          part.as<Instance>()->attributes.value(Name(values::FileState::path)));  // a path object
    if (!part.is(Kind::string) || (below && part.text().starts_with('/'))) return unknown_of(call);
    if (part.text().starts_with('/') || path.empty())
      path = part.text();
    else
      path += (path.ends_with('/') ? "" : "/") + std::string(part.text());
  }
  return below ? path_below(call, folder, path) : call.run.heap().string(path);
}
Value base_name(Call& call) {
  const Value path = call.run.resolve(call.at(0));
  if (!path.is(Kind::string)) return unknown_of(call);
  return call.run.heap().string(path.text().substr(path.text().rfind('/') + 1));
}

}  // namespace

std::vector<Row> python_tool_rows() {
  using enum RowKind;
  std::vector<Row> rows = {

      row("inspect.signature", function, "obj, **options", signature_of),
      row("inspect.Signature", class_, "*arguments, **options", nullptr),
      row("inspect.Parameter", class_, "*arguments, **options", nullptr),
      row("inspect.isclass", function, "object", is_kind<Kind::class_>),
      row("inspect.isfunction", function, "object", is_kind<Kind::function>),
      row("inspect.ismethod", function, "object", is_kind<Kind::bound>),
      row("inspect.ismodule", function, "object", is_kind<Kind::module>),
      row("typing.cast", function, "type, value", second_argument),
      row("typing.TYPE_CHECKING", constant, "", never),
      row("typing.final", function, "f", first_argument),
      row("typing.runtime_checkable", function, "cls", first_argument),

      row("contextlib.nullcontext", function, "enter_result=None", null_context),
      row("contextlib.context", class_, "", nullptr),
      row("contextlib.context.__enter__", method, "", entered),
      row("contextlib.ExitStack", class_, "", nullptr),
      row("contextlib.ExitStack.enter_context", method, "cm", enter_context),
      row("contextlib.ExitStack.callback", method, "callback, *arguments, **options", nothing),
      row("contextlib.ExitStack.close", method, "", nothing),

      row("warnings.warn", function, "message, *more, **options", nothing),
      row("warnings.filterwarnings", function, "action, *more, **options", nothing),
      row("warnings.simplefilter", function, "action, *more, **options", nothing),
      row("logging.getLogger", function, "name=None", logger),
      row("logging.Logger", class_, "*arguments", nullptr),
      row("logging.basicConfig", function, "**options", nothing),
      row("os.path.join", function, "*paths", joined_words),
      row("os.path.basename", function, "path", base_name),
      row("tempfile.gettempdir", function, "", uniform),
  };
  for (const std::string_view name : {"logging.debug", "logging.info", "logging.warning", "logging.error",
           "logging.exception", "logging.critical"})
    rows.push_back(row(name, function, "message, *arguments, **options", nothing));
  for (const std::string_view name :
      {"logging.Logger.debug", "logging.Logger.info", "logging.Logger.warning", "logging.Logger.warn",
          "logging.Logger.error", "logging.Logger.exception", "logging.Logger.critical", "logging.Logger.log",
          "logging.Logger.setLevel", "logging.Logger.addHandler"})
    rows.push_back(row(name, method, "*arguments, **options", nothing));
  return rows;
}

}  // namespace stepzero::libraries
