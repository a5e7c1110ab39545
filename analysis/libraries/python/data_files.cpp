// Paths, and the files of data that a program reads by a path that the run knows: JSON, YAML, TOML.
#include "libraries/python/data_files.hpp"
#include "interpreter/record.hpp"
#include "interpreter/statements/from_file.hpp"
#include "libraries/frameworks/configuration.hpp"
#include "values/internal_rows.hpp"
#include "values/kept.hpp"

#include <algorithm>
#include <string>

namespace stepzero::libraries {

// The text that a path object, an open file or what was read of one stands for; absent if it is not known.
Value path_text(Runtime& run, Value value) {
  value = run.resolve(value);
  if (value.is(Kind::string)) return value;
  const values::Slot* slot = value.is(Kind::unknown)
      ? value.as<values::Unknown>()->attributes.find(Name(values::FileState::path))
      : value.is(Kind::instance) ? value.as<Instance>()->attributes.find(Name(values::FileState::path))
                                 : nullptr;
  const Value text = slot ? run.resolve(slot->value) : Value{};
  return text.is(Kind::string) ? text : Value{};
}

namespace {

using program::DataFormat;

Value path_of_text(Call& call, std::string text) {
  Instance* made = call.run.make_native("pathlib.Path", call.place);
  keep(call.run, *made, values::FileState::path, call.run.heap().string(text));
  return Value::of(Kind::instance, made);
}
// A path of which only is known whether the ranks share it.
Value path_of_parts(Call& call, std::vector<Value> parts) {
  parts.push_back(call.self);
  for (Value& part : parts)
    if (part = call.run.resolve(part); part.is(Kind::instance))
      part = kept(call.run, *part.as<Instance>(), values::FileState::path);
  const Value text = call.run.heap().unknown_from(parts, call.place);
  if (call.run.heap().is_unseen(text) || call.run.heap().sharing(text) == Sharing::unseen)
    return not_seen(call);
  Instance* made = call.run.make_native("pathlib.Path", call.place);
  keep(call.run, *made, values::FileState::path, text);
  return Value::of(Kind::instance, made);
}
Value joined(Call& call, std::string path, const std::vector<Value>& parts) {
  for (const Value& raw : parts) {
    const Value part = path_text(call.run, raw);
    if (!part) return path_of_parts(call, parts);
    if (part.text().starts_with('/') || path.empty())
      path = part.text();
    else
      path += (path.ends_with('/') ? "" : "/") + std::string(part.text());
  }
  return path_of_text(call, std::move(path));
}
Value new_path(Call& call) { return call.spread ? not_seen(call) : joined(call, "", call.rest); }
Value joined_path(Call& call) {
  const Value own = path_text(call.run, call.self);
  if (call.spread) return not_seen(call);
  return own ? joined(call, std::string(own.text()), call.rest) : path_of_parts(call, call.rest);
}
Value divided_path(Call& call) {
  const Value own = path_text(call.run, call.self);
  return own ? joined(call, std::string(own.text()), {call.at(0)}) : path_of_parts(call, {call.at(0)});
}
Value parent_path(Call& call) {
  const Value own = path_text(call.run, call.self);
  if (!own) return path_of_parts(call, {});
  const auto slash = own.text().rfind('/');
  return path_of_text(call,
      slash == std::string_view::npos ? "."
                                      : std::string(own.text().substr(0, std::max<std::size_t>(slash, 1))));
}
// All folders above, the nearest first.
Value parent_paths(Call& call) {
  const Value own = path_text(call.run, call.self);
  if (!own || !own.text().starts_with('/')) return not_seen(call);
  std::vector<Value> parents;
  for (std::string_view path = own.text(); path.size() > 1;) {
    path = path.substr(0, std::max<std::size_t>(path.rfind('/'), 1));
    parents.push_back(path_of_text(call, std::string(path)));
  }
  return call.run.heap().tuple(std::move(parents));
}
Value with_name(Call& call) {
  const Value own = path_text(call.run, call.self), name = call.run.resolve(call.at(0));
  if (!own || !name.is(Kind::string) || name.text().find('/') != std::string_view::npos)
    return not_seen(call);
  const auto slash = own.text().rfind('/');
  return path_of_text(call,
      (slash == std::string_view::npos ? "" : std::string(own.text().substr(0, slash + 1))) +
          std::string(name.text()));
}
Value folder_name(Call& call) {
  const Value path = path_text(call.run, call.at(0));
  if (!path) return unknown_of(call);
  const auto slash = path.text().rfind('/');
  return call.run.heap().string(
      slash == std::string_view::npos ? "" : path.text().substr(0, std::max<std::size_t>(slash, 1)));
}
Value same_path(Call& call) {
  const Value path = path_text(call.run, call.at(0));
  if (path && path.text().starts_with('/')) return path;
  // From where it was relative to is not known, and which file it is stays so.
  const Value made = unknown_of(call);
  if (path && made.is(Kind::unknown))
    call.run.heap().slot_of(made.as<values::Unknown>()->attributes, Name(values::FileState::path)).value =
        path;
  return made;
}

// What a file holds that is another one on each rank; absent if it is not known to be.
Value data_of_rank(Call& call, Value file) {
  file = call.run.resolve(file);
  const auto* attributes = file.is(Kind::unknown) ? &file.as<values::Unknown>()->attributes
      : file.is(Kind::instance)                   ? &file.as<Instance>()->attributes
                                                  : nullptr;
  const values::Slot* slot = attributes ? attributes->find(Name(values::FileState::path)) : nullptr;
  const Value path = slot ? call.run.resolve(slot->value) : file;
  if (path.is(Kind::string) || !(path.is(Kind::unknown) || path.is(Kind::string)) ||
      call.run.heap().is_unseen(path) || call.run.heap().sharing(path) != Sharing::divergent)
    return {};
  const Value made = call.run.heap().unknown("", Sharing::local, call.place);
  made.as<values::Unknown>()->unseen = true;
  call.run.heap().slot_of(made.as<values::Unknown>()->attributes, Name(values::FileState::path)).value = path;
  return made;
}
// What it says is not known, but that it is a text, of this rank alone; and so is most that is made of it.
void note_text(Call& call, Value own) {
  auto& text = *own.as<values::Unknown>();
  text.unseen = false;
  for (const std::string_view method : {"strip", "lstrip", "rstrip", "lower", "upper"}) {
    auto* again = call.run.heap().make<values::Bound>();
    again->self = own;
    again->function = call.run.library_symbol(values::InternalRow::file_text);
    call.run.heap().slot_of(text.attributes, Name(method)).value = Value::of(Kind::bound, again);
  }
}
// What is read of a file, as one text.
Value text_of_file(Call& call) {
  const Value own = data_of_rank(call, call.self);
  if (own) note_text(call, own);
  const Value made = own ? own : not_seen(call);
  if (const Value path = path_text(call.run, call.self); path && made.is(Kind::unknown))
    call.run.heap().slot_of(made.as<values::Unknown>()->attributes, Name(values::FileState::path)).value =
        path;
  return made;
}
Value open_path(Call& call) {
  return call.run.call(call.run.library_symbol("builtins.open"), {{call.self}, {}, false}, call.place);
}

// What a hook makes of the objects of a file, the innermost first.
Value hooked(Call& call, Value data, Value hook) {
  if (data.is(Kind::list)) {
    std::vector<Value> items;
    for (const Value& item : values::Heap::list_state(data)->items) items.push_back(hooked(call, item, hook));
    return call.run.heap().list(std::move(items));
  }
  if (!data.is(Kind::dict)) return data;
  std::vector<std::pair<Value, Value>> fields;
  for (const auto& [key, value] : values::Heap::dict_state(data)->items)
    fields.emplace_back(key, hooked(call, value, hook));
  return call.run.call(hook, {{call.run.heap().dict(std::move(fields))}, {}, false}, call.place);
}

// What the file, or the text that was read of it, holds.
template <DataFormat format> Value loaded(Call& call) {
  const Value source = call.run.resolve(call.at(0));
  const Value path = source.is(Kind::string) ? Value{} : path_text(call.run, source);
  // Hooks and other loaders make other objects of it.
  const Value loader = format == DataFormat::yaml ? option(call, "Loader") : Value{};
  const Value hook = format == DataFormat::json && call.options.size() == 1 ? option(call, "object_hook")
                                                                            : Value{};
  const bool usual = format == DataFormat::yaml ? call.options.empty() || (loader && call.options.size() == 1)
                                                : call.options.empty() || hook;
  const Value data = path && usual ? call.run.data_of_file(path.text(), format) : Value{};
  if (!data) {
    const Value own = data_of_rank(call, source);
    return own ? own : not_seen(call);
  }
  return hook && !call.run.resolve(hook).is(Kind::none) ? hooked(call, data, hook) : data;
}

// toml.load takes the path itself, or a file.
Value loaded_by_name(Call& call) {
  const Value path = path_text(call.run, call.at(0));
  const Value data = path && path.text().ends_with(".toml") && call.options.empty()
      ? call.run.data_of_file(path.text(), DataFormat::json)
      : Value{};
  return data ? data : not_seen(call);
}

}  // namespace

std::vector<Row> data_file_rows() {
  using enum RowKind;
  std::vector<Row> rows = {
      row(values::InternalRow::data_file, class_, "", nullptr),
      row("json.load", function, "fp, **options", loaded<DataFormat::json>),
      row("json.loads", function, "s, **options", loaded<DataFormat::json>),
      row("tomllib.load", function, "fp, **options", loaded<DataFormat::json>),
      row("tomli.load", function, "fp, **options", loaded<DataFormat::json>),
      row("toml.load", function, "f, **options", loaded_by_name),
      row("yaml.safe_load", function, "stream", loaded<DataFormat::yaml>),
      row("yaml.full_load", function, "stream", loaded<DataFormat::yaml>),
      row("yaml.load", function, "stream, *more, **options", loaded<DataFormat::yaml>),
      row(values::InternalRow::file_text, function, "*more", text_of_file),
      row("os.path.dirname", function, "path", folder_name),
      row("os.path.abspath", function, "path", same_path),
      row("os.path.realpath", function, "path, **options", same_path),
      row("pathlib.Path", class_, "*parts, **options", new_path),
      row("pathlib.Path.__truediv__", method, "key", divided_path),
      row("pathlib.Path.joinpath", method, "*parts", joined_path),
      row("pathlib.Path.parent", property, "", parent_path),
      row("pathlib.Path.parents", property, "", parent_paths),
      row("pathlib.Path.with_name", method, "name", with_name),
      row("pathlib.Path.read_bytes", method, "", text_of_file, {}, Operation::fallible),
      row("pathlib.Path.resolve", method, "**options", itself),
      row("pathlib.Path.absolute", method, "", itself),
      row("pathlib.Path.read_text", method, "*more, **options", text_of_file, {}, Operation::fallible),
      row("pathlib.Path.open", method, "*more, **options", open_path),
  };
  const std::vector<Row> configurations = omegaconf_rows();
  rows.insert(rows.end(), configurations.begin(), configurations.end());
  return rows;
}

}  // namespace stepzero::libraries
