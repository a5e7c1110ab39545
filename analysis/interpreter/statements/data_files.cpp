// Files of data that the program names: where they lie, and what they hold as values.
#include "interpreter/interpreter.hpp"
#include "interpreter/statements/from_file.hpp"
#include "program/paths.hpp"
#include "values/kept.hpp"

#include <algorithm>
#include <functional>

namespace stepzero::interpreter {

namespace {

// The values; `mark` notes of a table which one it is.
Value value_of(values::Heap& heap, const program::Data& data,
    const std::function<Value(Value dict, const std::string& within)>& mark, const std::string& within = {}) {
  using enum program::Data::Kind;
  switch (data.kind) {
  case null: return Value::none();
  case boolean: return heap.boolean(data.truth);
  case integer: return heap.integer(data.integer);
  case real: return Value::of(data.real);
  case text: return heap.string(data.text);
  case list: {
    if (data.items.size() > longest_sequence) break;
    std::vector<Value> items;
    items.reserve(data.items.size());
    for (const program::Data& item : data.items) items.push_back(value_of(heap, item, mark, within + "[]"));
    return heap.list(std::move(items));
  }
  case table: {
    if (data.fields.size() > longest_sequence) break;
    std::vector<std::pair<Value, Value>> items;
    for (const auto& [name, field] : data.fields) {
      const Value value = value_of(heap, field, mark, within.empty() ? name : within + "." + name);
      const auto found = std::find_if(
          items.begin(), items.end(), [&](const auto& item) { return item.first.text() == name; });
      if (found != items.end())
        found->second = value;
      else
        items.emplace_back(heap.string(name), value);
    }
    return mark(heap.dict(std::move(items)), within);
  }
  case unknown: break;
  }
  return heap.unknown("", Sharing::uniform);
}

}  // namespace

Value Interpreter::data_of_file(std::string_view path, program::DataFormat format) {
  // Where a relative path may begin: most programs are started beside their main file, or at the root of the
  // workspace.
  std::vector<std::string> candidates;
  const auto add = [&](std::string candidate) {
    if (std::find(candidates.begin(), candidates.end(), candidate) == candidates.end())
      candidates.push_back(std::move(candidate));
  };
  if (path.starts_with('/')) {
    add(program::normal_path(path));
  } else {
    add(program::normal_path(program::folder_of(main_path_) + "/" + std::string(path)));
    for (const std::string& root : sources_.roots())
      add(program::normal_path(root + "/" + std::string(path)));
  }
  std::shared_ptr<const program::Data> found;
  for (const std::string& candidate : candidates) {
    record_.read.push_back(candidate);
    const auto data = sources_.data(candidate, format);
    if (!data) continue;
    if (found && !(*found == *data)) return {};
    found = data;
  }
  if (!found) return {};
  const Value name = heap().string(path.substr(path.rfind('/') + 1));
  return value_of(heap(), *found, [&](Value dict, const std::string& within) {
    values::Instance* origin = make_native(file_origin, {});
    heap().slot_of(origin->attributes, syntax::Name(values::FileState::path)).value = name;
    heap().slot_of(origin->attributes, syntax::Name(values::FileState::within)).value = heap().string(within);
    dict.as<values::Dict>()->factory = Value::of(values::Kind::instance, origin);
    return dict;
  });
}

}  // namespace stepzero::interpreter
