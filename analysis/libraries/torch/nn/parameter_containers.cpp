// Containers of parameters: ParameterList and ParameterDict. They keep what they hold as those of modules do
// (modules.hpp); a tensor that is put into one becomes a parameter.
#include "libraries/torch/nn/modules.hpp"
#include "values/kept.hpp"

namespace stepzero::libraries {

using interpreter::Arguments;

namespace {

Value as_parameter(Call& call, Value given) {
  given = call.run.resolve(given);
  if (!given.is(Kind::tensor) || given.as<Tensor>()->role == values::TensorRole::parameter) return given;
  return call.run.call(call.run.library_symbol("torch.nn.Parameter"), {{given}, {}, false}, call.place);
}
Value call_of(Call& call, Value held, std::string_view method, std::vector<Value> given) {
  return call.run.call(
      call.run.attribute(held, Name(method), call.place), {std::move(given), {}, false}, call.place);
}
std::string_view method_of(const Call& call) { return call.row.path.substr(call.row.path.rfind('.') + 1); }

// ---------------------------------------------------------------- a list

Value list_init(Call& call) {
  const Value given = call.run.resolve(call.at(0));
  Value list = call.spread ? call.run.heap().open_list(call.run.heap().unseen("")) : call.run.heap().list({});
  if (given && !given.is(Kind::none)) {
    if (auto items = call.run.elements(given, call.place)) {
      for (Value& item : *items) item = as_parameter(call, item);
      list = call.run.heap().list(std::move(*items));
    } else {
      list = call.run.heap().open_list(call.run.heap().unseen("", call.place));
    }
  }
  keep(call, values::ContainerState::items, list);
  return {};
}
Value parameter_list_item(Call& call) {
  const Value list = kept(call, values::ContainerState::items);
  if (!list.is(Kind::list)) return call.run.heap().unseen("", call.place);
  const Value found = call.run.subscript(list, call.at(0), call.node ? *call.node : nowhere);
  if (!call.run.resolve(call.at(0)).is(Kind::slice)) return found;
  Instance* part = call.run.make_native("torch.nn.ParameterList", call.place);
  part->open = false;
  keep(call.run, *part, values::ContainerState::items, found);
  return Value::of(Kind::instance, part);
}
Value parameter_list_change(Call& call) {
  const Value list = kept(call, values::ContainerState::items);
  if (!list.is(Kind::list)) return call.self;
  const std::string_view method = method_of(call);
  if (method == "append") {
    call_of(call, list, method, {as_parameter(call, call.at(0))});
  } else if (auto items = call.run.elements(call.at(0), call.place); items && method == "extend") {
    for (Value& item : *items) item = as_parameter(call, item);
    call_of(call, list, method, {call.run.heap().list(std::move(*items))});
  } else {
    call_of(call, list, method, {call.at(0)});
  }
  return call.self;
}
Value list_pop(Call& call) {
  const Value list = kept(call, values::ContainerState::items);
  return list.is(Kind::list) ? call_of(call, list, "pop", {call.at(0)})
                             : call.run.heap().unseen("", call.place);
}

// ---------------------------------------------------------------- a dict

void put(Call& call, Value into, Value from) {
  from = call.run.resolve(from);
  if (from.is(Kind::instance) && kept(call.run, *from.as<Instance>(), values::ContainerState::dict))
    from = kept(call.run, *from.as<Instance>(), values::ContainerState::dict);
  if (from.is(Kind::dict) && !values::Heap::dict_state(from)->open) {
    for (const auto& [key, value] : std::vector(values::Heap::dict_state(from)->items))
      call.run.dict_set(into, key, as_parameter(call, value));
  } else if (from && !from.is(Kind::none)) {
    call_of(call, into, "update", {from});
  }
}
Value dict_init(Call& call) {
  const Value dict = call.spread ? call.run.heap().dict({}, true, call.run.heap().unseen(""))
                                 : call.run.heap().dict({});
  put(call, dict, call.at(0));
  keep(call, values::ContainerState::dict, dict);
  return {};
}
Value dict_update(Call& call) {
  if (const Value dict = kept(call, values::ContainerState::dict); dict.is(Kind::dict))
    put(call, dict, call.at(0));
  return Value::none();
}
Value dict_set(Call& call) {
  if (const Value dict = kept(call, values::ContainerState::dict); dict.is(Kind::dict))
    call.run.dict_set(dict, call.at(0), as_parameter(call, call.at(1)));
  return Value::none();
}
Value parameter_dict_item(Call& call) {
  const Value dict = kept(call, values::ContainerState::dict);
  return dict.is(Kind::dict) ? call.run.subscript(dict, call.at(0), call.node ? *call.node : nowhere)
                             : call.run.heap().unseen("", call.place);
}
// A parameter as an attribute.
Value dict_attribute(Call& call) {
  const Value dict = kept(call, values::ContainerState::dict), name = call.run.resolve(call.at(0));
  if (!dict.is(Kind::dict) || !name.is(Kind::string)) return {};
  for (const auto& [key, value] : values::Heap::dict_state(dict)->items)
    if (key.is(Kind::string) && key.text() == name.text()) return value;
  return values::Heap::dict_state(dict)->open ? call.run.heap().unseen("", call.place) : Value{};
}
// keys(), values(), items(), get(), pop()…: as of a dict.
Value parameter_dict_part(Call& call) {
  const Value dict = kept(call, values::ContainerState::dict);
  if (!dict.is(Kind::dict)) return call.run.heap().unseen("", call.place);
  std::vector<Value> given;
  for (const Value& argument : call.arguments)
    if (argument) given.push_back(argument);
  return call_of(call, dict, method_of(call) == "__iter__" ? "keys" : method_of(call), std::move(given));
}
Value parameter_dict_length(Call& call) {
  const Value dict = kept(call, values::ContainerState::dict);
  return dict.is(Kind::dict)
      ? call.run.call(call.run.library_symbol("builtins.len"), {{dict}, {}, false}, call.place)
      : call.run.heap().unseen("", call.place);
}
Value parameter_dict_has(Call& call) {
  const Value dict = kept(call, values::ContainerState::dict);
  return dict.is(Kind::dict) ? call.run.compare(syntax::CompareOp::in, call.at(0), dict)
                             : call.run.heap().unseen("", call.place);
}

}  // namespace

std::vector<Row> parameter_container_rows() {
  using enum RowKind;
  return {
      row("torch.nn.ParameterList", class_, "values=None", list_init, "torch.nn.Module"),
      row("torch.nn.ParameterList.__getitem__", method, "index", parameter_list_item),
      row("torch.nn.ParameterList.append", method, "value", parameter_list_change),
      row("torch.nn.ParameterList.extend", method, "values", parameter_list_change),
      row("torch.nn.ParameterList.pop", method, "index=-1", list_pop),
      row("torch.nn.ParameterDict", class_, "parameters=None", dict_init, "torch.nn.Module"),
      row("torch.nn.ParameterDict.__getattr__", method, "name", dict_attribute),
      row("torch.nn.ParameterDict.__getitem__", method, "key", parameter_dict_item),
      row("torch.nn.ParameterDict.__setitem__", method, "key, value", dict_set),
      row("torch.nn.ParameterDict.__len__", method, "", parameter_dict_length),
      row("torch.nn.ParameterDict.__contains__", method, "key", parameter_dict_has),
      row("torch.nn.ParameterDict.__iter__", method, "", parameter_dict_part),
      row("torch.nn.ParameterDict.keys", method, "", parameter_dict_part),
      row("torch.nn.ParameterDict.values", method, "", parameter_dict_part),
      row("torch.nn.ParameterDict.items", method, "", parameter_dict_part),
      row("torch.nn.ParameterDict.get", method, "key, default=None", parameter_dict_part),
      row("torch.nn.ParameterDict.pop", method, "key", parameter_dict_part),
      row("torch.nn.ParameterDict.clear", method, "", parameter_dict_part),
      row("torch.nn.ParameterDict.update", method, "parameters", dict_update),
  };
}

}  // namespace stepzero::libraries
