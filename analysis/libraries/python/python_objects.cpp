// What of Python's library makes and copies objects: collections, copy, dataclasses, enum, types.
#include "libraries/table/native.hpp"
#include "values/internal_rows.hpp"
#include "values/limits.hpp"

#include <algorithm>
#include <map>

namespace stepzero::libraries {

using interpreter::Arguments;
using values::ListKind;

namespace {

constexpr std::size_t most_copies = 20'000;  // objects of one deepcopy: large models have fewer

// ---------------------------------------------------------------- collections

Value ordered_dict(Call& call) {
  Arguments arguments;
  if (call.at(0)) arguments.positional.push_back(call.at(0));
  arguments.keywords = call.options;
  arguments.spread = call.spread;
  arguments.after = call.after;
  return call.run.call(call.run.library_symbol("builtins.dict"), std::move(arguments), call.place);
}
Value default_dict(Call& call) {
  Arguments arguments{call.rest, call.options, call.spread};
  const Value dict = call.run.resolve(
      call.run.call(call.run.library_symbol("builtins.dict"), std::move(arguments), call.place));
  if (dict.is(Kind::dict))
    dict.as<values::Dict>()->factory = call.at(0) ? call.run.resolve(call.at(0)) : Value::none();
  return dict;
}
Value counter(Call& call) {
  const Value dict = call.run.heap().dict({});
  dict.as<values::Dict>()->counts = true;
  const Value given = call.run.resolve(call.at(0));
  if (given.is(Kind::dict))
    call.run.dict_update(dict, given, call.place);
  else if (given && !given.is(Kind::none))
    call.run.count_items(dict, given, call.place);
  for (const auto& [name, value] : call.options)
    call.run.dict_set(dict, call.run.heap().string(name.text()), value);
  return dict;
}
Value deque(Call& call) {
  const Value most = call.run.resolve(call.at(1));
  Value made;
  if (!call.at(0))
    made = call.run.heap().list({}, ListKind::deque);
  else if (auto items = call.run.take(call.at(0), call.place)) {
    if (const auto limit = call.run.to_constant(most);
        limit && *limit >= 0 && items->size() > static_cast<std::size_t>(*limit))
      items->erase(items->begin(), items->end() - *limit);
    made = call.run.heap().list(std::move(*items), ListKind::deque);
  } else {
    made = call.run.heap().open_list(call.run.element(call.at(0), call.place), nullptr, ListKind::deque);
  }
  if (most && !most.is(Kind::none)) made.as<values::List>()->most = call.run.to_int(most);
  return made;
}
Value named_tuple(Call& call) {
  const Value name = call.run.resolve(call.at(0)), given = call.run.resolve(call.at(1));
  std::vector<values::ClassField> fields;
  const auto add = [&](std::string_view text) {
    values::ClassField field;
    field.name = Name(text);
    fields.push_back(field);
  };
  if (given.is(Kind::string)) {
    std::string word;
    for (const char c : std::string(given.text()) + " ") {
      if (c != ' ' && c != ',' && c != '\n' && c != '\t')
        word += c;
      else if (!word.empty()) {
        add(word);
        word.clear();
      }
    }
  } else {
    const auto names = call.run.elements(given, call.place);
    if (!names) return call.run.heap().unseen("", call.place);
    for (const Value& raw : *names) {
      Value each = call.run.resolve(raw);
      // NamedTuple("P", [("x", int)]): pairs of a name and a type.
      if (each.is(Kind::tuple) && !each.as<values::Tuple>()->items.empty())
        each = call.run.resolve(each.as<values::Tuple>()->items[0]);
      if (!each.is(Kind::string)) return call.run.heap().unseen("", call.place);
      add(each.text());
    }
  }
  if (const Value defaults = option(call, "defaults"); defaults && !defaults.is(Kind::none)) {
    const auto items = call.run.elements(defaults, call.place);
    if (!items || items->size() > fields.size()) return call.run.heap().unseen("", call.place);
    for (std::size_t i = 0; i < items->size(); ++i)
      fields[fields.size() - items->size() + i].default_value = (*items)[i];
  }
  return call.run.named_tuple_class(
      name.is(Kind::string) ? name.text() : std::string_view("tuple"), std::move(fields), call.place);
}

// ---------------------------------------------------------------- copy

Instance* same_without_attributes(values::Heap& heap, const Instance& from) {
  auto* made = heap.make<Instance>();
  made->born = from.born;
  made->cls = from.cls;
  made->native = from.native;
  made->open = from.open;
  made->name = from.name;
  made->symbolic = from.symbolic;
  return made;
}
Value tensor_copy(Call& call, Value tensor) {
  const Value made = call.run.heap().tensor(*tensor.as<Tensor>()->now(), call.place);
  made.as<Tensor>()->role = tensor.as<Tensor>()->role;
  return made;
}

using Copies = std::map<const values::Object*, Value>;

// A copy of everything that can change; what cannot is shared.
Value deep_copy(Call& call, Value value, Copies& copies) {
  values::Heap& heap = call.run.heap();
  value = call.run.resolve(value);
  if (copies.size() > most_copies) return heap.unseen("", call.place);
  switch (value.kind) {
  // A model that is not seen, by what was asked of it: another one from here on.
  case Kind::unknown: {
    const auto& model = *value.as<values::Unknown>();
    const auto is_asked = [&](std::string_view name) { return model.attributes.find(Name(name)) != nullptr; };
    if (!is_asked("train") && !is_asked("eval") && !is_asked("parameters")) return value;
    const Value made = heap.unknown(model.name, model.sharing, call.place);
    made.as<values::Unknown>()->unseen = model.unseen;
    return copies[value.object()] = made;
  }
  case Kind::choice: {
    const auto* choice = value.as<values::Choice>();
    const auto side = [&](Value each) { return each ? deep_copy(call, each, copies) : each; };
    const Value yes = side(choice->yes), no = side(choice->no);
    return yes == choice->yes && no == choice->no ? value : heap.choose(choice->condition, yes, no);
  }
  case Kind::list:
  case Kind::dict:
  case Kind::instance:
  case Kind::tensor:
  case Kind::tuple: break;
  default: return value;
  }
  if (const auto known = copies.find(value.object()); known != copies.end()) return known->second;
  switch (value.kind) {
  case Kind::tuple: {
    std::vector<Value> items;
    for (const Value& item : value.as<values::Tuple>()->items) items.push_back(deep_copy(call, item, copies));
    const Value made = heap.tuple(std::move(items));
    made.as<values::Tuple>()->cls = value.as<values::Tuple>()->cls;
    return made;
  }
  case Kind::list: {
    const auto* from = value.as<values::List>();
    const Value made = heap.list({}, from->kind);
    made.as<values::List>()->most = from->most;
    copies[value.object()] = made;
    values::ListState state = *values::Heap::list_state(value);
    for (Value& item : state.items) item = deep_copy(call, item, copies);
    *values::Heap::list_state(made) = std::move(state);
    return made;
  }
  case Kind::dict: {
    const Value made = heap.dict({});
    made.as<values::Dict>()->factory = value.as<values::Dict>()->factory;
    made.as<values::Dict>()->counts = value.as<values::Dict>()->counts;
    copies[value.object()] = made;
    values::DictState state = *values::Heap::dict_state(value);
    for (auto& [key, item] : state.items) item = deep_copy(call, item, copies);
    *values::Heap::dict_state(made) = std::move(state);
    return made;
  }
  case Kind::tensor: {
    const Value made = tensor_copy(call, value);
    copies[value.object()] = made;
    return made;
  }
  default: {
    const auto* from = value.as<Instance>();
    if (from->cls && from->cls->is_enum) return value;
    auto* made = same_without_attributes(heap, *from);
    const Value copy = Value::of(Kind::instance, made);
    copies[value.object()] = copy;
    for (const auto& [name, slot] : from->attributes.entries())
      if (slot->value) heap.set(heap.slot_of(made->attributes, name), deep_copy(call, slot->value, copies));
    return copy;
  }
  }
}
Value deep_copied(Call& call) {
  Copies copies;
  return deep_copy(call, call.at(0), copies);
}
Value copied(Call& call) {
  const Value value = call.run.resolve(call.at(0));
  values::Heap& heap = call.run.heap();
  if (value.is(Kind::list) || value.is(Kind::dict))
    return call.run.call(call.run.attribute(value, Name("copy"), call.place), {}, call.place);
  if (value.is(Kind::tensor)) {
    return tensor_copy(call, value);
  }
  if (!value.is(Kind::instance) || (value.as<Instance>()->cls && value.as<Instance>()->cls->is_enum))
    return value;
  const auto* from = value.as<Instance>();
  auto* made = same_without_attributes(heap, *from);
  for (const auto& [name, slot] : from->attributes.entries())
    if (slot->value) heap.set(heap.slot_of(made->attributes, name), slot->value);
  return Value::of(Kind::instance, made);
}

// ---------------------------------------------------------------- dataclasses, enum, types

Value dataclass(Call& call) {
  const Value cls = call.run.resolve(call.at(0));
  const auto flag = [&](std::string_view name, bool otherwise) {
    const Value given = option(call, name);
    return given ? call.run.to_constant(given) == 1 : otherwise;
  };
  if (cls.is(Kind::class_)) {
    call.run.make_dataclass(*cls.as<values::Class>(), flag("kw_only", false), flag("init", true));
    return cls;
  }
  auto* made = call.run.heap().make<values::Partial>();
  made->function = call.run.library_symbol("dataclasses.dataclass");
  made->keywords = call.options;
  return Value::of(Kind::partial, made);
}
Value dataclass_init(Call& call) {
  // Asked of the class it takes the object as its first argument.
  std::vector<Value> given = call.rest;
  Value self = call.self;
  if (!self.is(Kind::instance) && !given.empty()) {
    self = call.run.resolve(given.front());
    given.erase(given.begin());
  }
  if (self.is(Kind::instance) && self.as<Instance>()->cls)
    call.run.fill_dataclass(*self.as<Instance>(), {std::move(given), call.options, call.spread}, call.place);
  return Value::none();
}
Value hold(Call& call) {
  if (call.self.is(Kind::instance))
    call.run.hold(*call.self.as<Instance>(), {call.rest, call.options, call.spread}, call.place);
  return Value::none();
}
Value replaced(Call& call) {
  const Value from = call.run.resolve(call.at(0));
  if (!from.is(Kind::instance) || !from.as<Instance>()->cls) return unknown_of(call);
  Arguments arguments{{}, call.options, call.spread};
  const auto* cls = from.as<Instance>()->cls;
  for (const values::ClassField& field : cls->fields) {
    if (!field.in_init || field.init_only) continue;
    const bool given = std::any_of(
        call.options.begin(), call.options.end(), [&](const auto& one) { return one.first == field.name; });
    if (!given) arguments.keywords.push_back({field.name, call.run.attribute(from, field.name, call.place)});
  }
  return call.run.call(Value::of(Kind::class_, cls), std::move(arguments), call.place);
}
Value as_plain(Call& call, Value value, bool as_dict, int depth) {
  value = call.run.resolve(value);
  if (depth > values::deepest_data) return call.run.heap().unseen("", call.place);
  if (value.is(Kind::instance) && value.as<Instance>()->cls && value.as<Instance>()->cls->is_dataclass) {
    std::vector<std::pair<Value, Value>> items;
    std::vector<Value> plain;
    for (const auto& [name, field] : call.run.field_values(*value.as<Instance>())) {
      const Value inner = as_plain(
          call, field ? field : call.run.heap().unseen(name.text()), as_dict, depth + 1);
      items.push_back({call.run.heap().string(name.text()), inner});
      plain.push_back(inner);
    }
    return as_dict ? call.run.heap().dict(std::move(items)) : call.run.heap().tuple(std::move(plain));
  }
  if (value.is(Kind::tuple) || (value.is(Kind::list) && !values::Heap::list_state(value)->open)) {
    std::vector<Value> items;
    for (const Value& item :
        value.is(Kind::tuple) ? value.as<values::Tuple>()->items : values::Heap::list_state(value)->items)
      items.push_back(as_plain(call, item, as_dict, depth + 1));
    return value.is(Kind::tuple) ? call.run.heap().tuple(std::move(items))
                                 : call.run.heap().list(std::move(items), value.as<values::List>()->kind);
  }
  if (value.is(Kind::dict)) {
    const Value made = call.run.heap().dict({});
    values::DictState state = *values::Heap::dict_state(value);
    for (auto& [key, item] : state.items) item = as_plain(call, item, as_dict, depth + 1);
    *values::Heap::dict_state(made) = std::move(state);
    return made;
  }
  return value;
}
Value as_dict(Call& call) { return as_plain(call, call.at(0), true, 0); }
Value as_tuple(Call& call) { return as_plain(call, call.at(0), false, 0); }
const values::Class* dataclass_of(Call& call, Value value) {
  value = call.run.resolve(value);
  const values::Class* cls = value.is(Kind::class_) ? value.as<values::Class>()
      : value.is(Kind::instance)                    ? value.as<Instance>()->cls
                                                    : nullptr;
  return cls && cls->is_dataclass ? cls : nullptr;
}
Value is_dataclass(Call& call) {
  const Value value = call.run.resolve(call.at(0));
  if (value.is(Kind::unknown) || value.is(Kind::choice)) return unknown_of(call);
  return call.run.heap().boolean(dataclass_of(call, value) != nullptr);
}
Value fields_of(Call& call) {
  const values::Class* cls = dataclass_of(call, call.at(0));
  if (!cls) return unknown_of(call);
  std::vector<Value> items;
  for (const values::ClassField& field : cls->fields) {
    if (field.init_only) continue;
    Instance* one = call.run.make_native("dataclasses.Field", call.place);
    keep(call.run, *one, "name", call.run.heap().string(field.name.text()));
    keep(call.run, *one, "init", call.run.heap().boolean(field.in_init));
    keep(call.run, *one, "default",
        field.default_value ? field.default_value : call.run.library_symbol("dataclasses.MISSING"));
    keep(call.run, *one, "default_factory",
        field.factory ? field.factory : call.run.library_symbol("dataclasses.MISSING"));
    items.push_back(Value::of(Kind::instance, one));
  }
  return call.run.heap().tuple(std::move(items));
}
Value bind_by_hand(Call& call) {
  auto* bound = call.run.heap().make<values::Bound>();
  bound->function = call.at(0);
  bound->self = call.at(1);
  return Value::of(Kind::bound, bound);
}

}  // namespace

std::vector<Row> python_object_rows() {
  using enum RowKind;
  return {
      row("collections.OrderedDict", function, "items, **options", ordered_dict),
      row("collections.defaultdict", function, "factory, *more, **options", default_dict),
      row("collections.Counter", function, "items, **options", counter),
      row("collections.deque", function, "items, maxlen=None", deque),
      row("collections.namedtuple", function, "typename, field_names, **options", named_tuple),
      row("typing.NamedTuple", function, "typename, fields", named_tuple),

      row("copy.copy", function, "x", copied),
      row("copy.deepcopy", function, "x, memo=None", deep_copied),

      row("dataclasses.dataclass", function, "cls, **options", dataclass),
      row(values::InternalRow::dataclass_init, function, "*arguments, **options", dataclass_init),
      row(values::InternalRow::hold, function, "*arguments, **options", hold),
      row("dataclasses.field", class_, "**options", keep_options, "dataclasses.Field"),
      row("dataclasses.Field", class_, "**options", keep_options),
      row(values::InternalRow::missing, function, "name",
          [](Call& call) { return call.run.raise_builtin("AttributeError", call.place); }),
      row("dataclasses.replace", function, "obj, **changes", replaced),
      row("dataclasses.asdict", function, "obj, **options", as_dict),
      row("dataclasses.astuple", function, "obj, **options", as_tuple),
      row("dataclasses.fields", function, "class_or_instance", fields_of),
      row("dataclasses.is_dataclass", function, "obj", is_dataclass),
      row("enum.auto", class_, "", nullptr),
      row("enum.unique", function, "cls", first_argument),
      row("types.SimpleNamespace", class_, "**options", keep_options),
      row("types.MethodType", function, "function, instance", bind_by_hand),
  };
}

}  // namespace stepzero::libraries
