// Parsers of the command line, as the documentation of argparse has them. What the command line of a launch
// gives is in command_line.
#include "libraries/python/argument_parsers.hpp"

#include "interpreter/record.hpp"
#include "libraries/python/command_line.hpp"
#include "libraries/python/processes.hpp"
#include "values/kept.hpp"

#include <tuple>

namespace stepzero::libraries {

using symbolic::Role;

namespace {

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

}  // namespace

std::vector<Row> argument_parser_rows() {
  using enum RowKind;
  return {
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
  };
}

}  // namespace stepzero::libraries
