// The containers of modules: Sequential, ModuleList, ModuleDict. What they keep: see modules.hpp.
#include "interpreter/paths/speculation.hpp"
#include "interpreter/record.hpp"
#include "libraries/torch/nn/modules.hpp"
#include "syntax/walk.hpp"
#include "values/internal_rows.hpp"
#include "values/kept_by_packages.hpp"

#include <algorithm>

namespace stepzero::libraries {

using interpreter::Arguments;

namespace {

void set_names(Call& call, std::vector<Value> names) {
  keep(call, values::ContainerState::names, call.run.heap().list(std::move(names)));
}

// ---------------------------------------------------------------- layers in a row

// One of the modules that run one after the other, as far as it says what it gives.
struct Step {
  Value layer;              // of the library; absent: a module that is not run
  bool keeps_size = false;  // and it gives what has the size of what it is given
};

// Is it called like a module that keeps the size: an activation, a norm, a dropout? `act_layer()`,
// `norm_layer(dim)`, `LayerNorm2d(dim)`. A gated activation is called so, and is none of these.
bool is_called_like_a_keeper(Runtime& run, std::string_view called) {
  called = called.substr(0, called.find('('));
  called = called.substr(called.rfind('.') + 1);
  return run.library().find(values::InternalRow::keeps_size + std::string(called)) != nullptr ||
      run.library().find(values::InternalRow::keeps_size_in_a_row + std::string(called)) != nullptr;
}
Step step_of(Runtime& run, Value item) {
  Step step;
  if (item.is(Kind::unknown))
    step.keeps_size = is_called_like_a_keeper(run, item.as<values::Unknown>()->name) &&
        !item.as<values::Unknown>()->attributes.find(Name(values::UnseenActivationState::gated));
  if (!item.is(Kind::instance)) return step;
  const Instance& layer = *item.as<Instance>();
  if (layer.cls) return step;  // what its own forward makes of it is no matter of its name
  const Row* forward = layer.native ? run.method_row(layer.native->path, Name("forward")) : nullptr;
  if (forward && forward->op && layer.born) step.layer = item;
  return step;
}
// The modules that run one after the other, those of containers in the container, too. False: it is not known
// which, or they are too many.
bool steps_in_a_row(Runtime& run, const std::vector<Value>& items, std::vector<Step>& steps) {
  constexpr std::size_t most = 64;  // layers of a Sequential that are tried in a row
  for (const Value& raw : items) {
    const Value item = run.resolve(raw);
    if (steps.size() > most) return false;
    if (item.is(Kind::instance) && !item.as<Instance>()->cls && run.is_a(item, "torch.nn.Sequential")) {
      const Value inner = kept(run, *item.as<Instance>(), values::ContainerState::items);
      if (!inner.is(Kind::list) || values::Heap::list_state(inner)->open)
        steps.emplace_back();
      else if (!steps_in_a_row(run, values::Heap::list_state(inner)->items, steps))
        return false;
      continue;
    }
    steps.push_back(step_of(run, item));
  }
  return true;
}
interpreter::ProblemEvent* failure_since(Runtime& run, std::size_t first) {
  for (std::size_t i = first; i < run.record().events.size(); ++i)
    if (run.record().events[i]->kind == interpreter::EventKind::problem)
      return static_cast<interpreter::ProblemEvent*>(run.record().events[i].get());
  return nullptr;
}
// What a layer may be given: a convolution, or what pools, a batch of what it takes.
Value input_of(Call& call, const Instance& layer) {
  const std::string_view path = layer.native->path;
  const bool of_images = path.find("Conv") != std::string_view::npos ||
      path.find("Pool") != std::string_view::npos;
  const char axes = path.size() < 2 ? '0' : path[path.size() - 2];
  if (!of_images || !path.ends_with('d') || axes < '1' || axes > '3')
    return call.run.heap().unseen("the input", call.place);
  values::TensorState batch;
  batch.shape.ndim_known = true;
  batch.shape.dims.resize(static_cast<std::size_t>(axes - '0') + 2);
  batch.unseen = true;
  return call.run.heap().tensor(std::move(batch), call.place);
}
// Tries the layers on what the first of them takes, and anew after a module of which nobody knows what it
// gives. That they run in this order is likely, and proven where the container is called.
void try_out(Call& call, const std::vector<Value>& items) {
  std::vector<Step> steps;
  // What the program itself makes it calls, or changes before.
  if (!call.run.in_roots() || call.run.guarded() || !steps_in_a_row(call.run, items, steps) ||
      std::ranges::count_if(steps, [](const Step& step) { return static_cast<bool>(step.layer); }) < 2)
    return;
  const interpreter::Speculation trial(call.run);
  Value x;  // absent: anything
  for (const Step& step : steps) {
    if (!step.layer) {
      if (!step.keeps_size) x = {};
      continue;
    }
    const Instance& made = *step.layer.as<Instance>();
    if (!x) x = input_of(call, made);
    const Row* forward = call.run.method_row(made.native->path, Name("forward"));
    Call inner{call.run, *forward, step.layer, {x}, {}, {}, {true}, false, nullptr, nullptr, made.born};
    inner.arguments.resize(forward->parameters.size());
    inner.given.resize(forward->parameters.size());
    const std::size_t before = call.run.record().events.size();
    x = call.run.resolve(forward->run(inner));
    if (interpreter::ProblemEvent* failure = failure_since(call.run, before)) {
      failure->overridable = true;
      if (call.place) failure->evidence.emplace_back(call.place, "the layers are put in a row here");
      break;
    }
    if (!x.is(Kind::tensor) && !x.is(Kind::unknown)) break;
  }
}
// A forward of its own is run as any other method is, and says what fails in it.
bool has_own_forward(const values::Class& cls) {
  return std::ranges::any_of(cls.order,
      [](const values::Class* each) { return each->body && each->body->names.find(Name("forward")); });
}
// What a class of the program that is a container has put into itself when it is made:
// `self.add_module("norm", …)`, layer by layer.
Value try_own_layers(Call& call) {
  const Instance& container = object(call);
  const Value list = kept(call, values::ContainerState::items);
  if (!container.cls || !list.is(Kind::list) || values::Heap::list_state(list)->open ||
      has_own_forward(*container.cls))
    return {};
  const std::vector<Value> items = values::Heap::list_state(list)->items;
  // What was given to the constructor of the library was tried there.
  const auto is_told = [&](const Value& item) {
    const Value layer = call.run.resolve(item);
    return layer.is(Kind::instance) && std::ranges::any_of(call.run.record().events, [&](const auto& event) {
      return event->kind == interpreter::EventKind::problem && event->place == layer.object()->born;
    });
  };
  if (std::ranges::none_of(items, is_told)) try_out(call, items);
  return {};
}
// What fails in the call of a container stands at the layer with the wrong number, and not twice.
void tell_at_layer(Call& call, const Value& layer, std::size_t before) {
  interpreter::ProblemEvent* failure = failure_since(call.run, before);
  const auto is_number = [](ProblemKind kind) {
    return kind == ProblemKind::inner_dimensions || kind == ProblemKind::layer_features ||
        kind == ProblemKind::layer_input;
  };
  if (!failure || !is_number(failure->problem) || !(failure->place == call.place) ||
      !(failure->self == layer) || !layer.is(Kind::instance))
    return;
  const Instance& made = *layer.as<Instance>();
  if (made.cls || !call.run.record().in_file(made.born)) return;
  failure->place = made.born;
  failure->evidence.emplace_back(call.place, "called here");
  if (failure->guarded) return;
  for (std::size_t i = 0; i < before; ++i) {
    interpreter::Event& other = *call.run.record().events[i];
    if (other.kind == interpreter::EventKind::problem && other.place == made.born &&
        static_cast<interpreter::ProblemEvent&>(other).overridable)
      static_cast<interpreter::ProblemEvent&>(other).guarded = true;
  }
}

Value sequential_init(Call& call) {
  std::vector<Value> items = call.rest;
  bool open = call.spread;
  if (items.size() == 1) {
    const Value only = call.run.resolve(items.front());
    if (only.is(Kind::dict)) {
      items.clear();
      std::vector<Value> names;
      for (const auto& [key, value] : values::Heap::dict_state(only)->items) {
        names.push_back(key);
        items.push_back(value);
      }
      open = open || values::Heap::dict_state(only)->open;
      set_names(call, std::move(names));
    }
  }
  if (!open) try_out(call, items);
  const Value list = call.run.heap().list(std::move(items));
  if (open) {
    values::Heap::list_state(list)->open = true;
    values::Heap::list_state(list)->rest = call.run.heap().unseen("");
  }
  keep(call, values::ContainerState::items, list);
  return {};
}
Value module_list_init(Call& call) {
  const Value given = call.run.resolve(call.at(0));
  Value list;
  if (!given || given.is(Kind::none))
    list = call.spread ? call.run.heap().open_list(call.run.heap().unseen("")) : call.run.heap().list({});
  else if (const auto items = call.run.elements(given, call.place))
    list = call.run.heap().list(*items);
  else {
    Int length = given.is(Kind::list) ? values::Heap::list_state(given)->length : nullptr;
    list = call.run.heap().open_list(call.run.element(given, call.place), length);
  }
  keep(call, values::ContainerState::items, list);
  return {};
}
Value list_change(Call& call) {
  const Value list = kept(call, values::ContainerState::items);
  const auto method = call.row.path.substr(call.row.path.rfind('.') + 1);
  Arguments arguments;
  for (const Value& argument : call.arguments)
    if (argument) arguments.positional.push_back(argument);
  if (kept(call, values::ContainerState::names)) {
    // Names go on where the numbers are.
    const Value names = kept(call, values::ContainerState::names);
    if (names.is(Kind::list) && list.is(Kind::list) && method == "append") {
      const auto next = std::to_string(values::Heap::list_state(list)->items.size());
      call.run.call(call.run.attribute(names, Name("append"), call.place),
          {{call.run.heap().string(next)}, {}, false}, call.place);
    } else {
      keep(call, values::ContainerState::names, {});
    }
  }
  if (!list.is(Kind::list)) return call.self;
  const Value outcome = call.run.call(
      call.run.attribute(list, Name(method), call.place), std::move(arguments), call.place);
  return method == "pop" ? outcome : call.self;
}
// Parts may have been set that are not in the list, under names that are not known or as what is not known to
// be a module.
bool may_have_more(const Instance& container) {
  const auto& own = container.attributes.entries();
  return container.symbolic || container.cls || std::any_of(own.begin(), own.end(), [](const auto& each) {
    return each.second->value && !values::is_kept(each.first.text());
  });
}
// An index that lies outside whatever it is; nothing if that is not proven.
bool is_outside(Call& call, Value list) {
  const values::ListState& state = *values::Heap::list_state(list);
  const auto index = call.run.to_constant(call.run.resolve(call.at(0)));
  const auto count = static_cast<std::int64_t>(state.items.size());
  if (state.open || !index || (*index >= -count && *index < count)) return false;
  if (may_have_more(object(call))) return false;
  auto* problem = call.run.problem(ProblemKind::index, call);
  const auto class_path = call.run.is_a(call.self, "torch.nn.Sequential") ? "Sequential" : "ModuleList";
  explain(*problem, why<Reason::module_index>(*index, class_path, count));
  if (call.self.object()->born)
    problem->evidence.emplace_back(
        call.self.object()->born, std::string("the ") + class_path + " is made here");
  return true;
}
// A number that was read from data, of which the greatest that it may be is no place in the list: argmax over
// 8 scores of 4 experts.
void judge_greatest(Call& call, const Value& list) {
  const Value index = call.run.resolve(call.at(0));
  const auto* state = values::Heap::list_state(list);
  auto& s = call.run.symbols();
  if (!index.is(Kind::integer) || state->open || may_have_more(object(call)) || !s.is_atom(index.integer()) ||
      s.sharing(index.integer()) < symbolic::Sharing::local)
    return;
  const auto low = s.lower(index.integer()), high = s.upper(index.integer());
  const auto count = static_cast<std::int64_t>(state->items.size());
  if (!low || !high || *low != 0 || *high < count ||
      s.compare(symbolic::Compare::lt, index.integer(), s.constant(count)) == Answer::yes)
    return;
  interpreter::ProblemEvent* event = call.run.problem(ProblemKind::index, call);
  explain(*event, why<Reason::module_index_up_to>(*high, count));
  event->overridable = true;
}
// A slice of a container is a container.
Value list_item(Call& call) {
  const Value list = kept(call, values::ContainerState::items);
  if (!list.is(Kind::list)) return call.run.heap().unseen("", call.place);
  if (call.run.resolve(call.at(0)).is(Kind::integer) && is_outside(call, list))
    return call.run.raise_builtin("IndexError", call.place);
  judge_greatest(call, list);
  const Value found = call.run.subscript(list, call.at(0), call.node ? *call.node : nowhere);
  if (!call.run.resolve(call.at(0)).is(Kind::slice)) return found;
  Instance* part = call.run.make_native(
      call.run.is_a(call.self, "torch.nn.Sequential") ? "torch.nn.Sequential" : "torch.nn.ModuleList",
      call.place);
  part->open = false;
  keep(call.run, *part, values::ContainerState::items, found);
  return Value::of(Kind::instance, part);
}
Value list_sum(Call& call) {
  const Value list = kept(call, values::ContainerState::items);
  const auto more = call.run.elements(call.at(0), call.place);
  if (!list.is(Kind::list) || values::Heap::list_state(list)->open || !more)
    return call.run.heap().unseen("", call.place);
  std::vector<Value> items = values::Heap::list_state(list)->items;
  items.insert(items.end(), more->begin(), more->end());
  Instance* sum = call.run.make_native("torch.nn.ModuleList", call.place);
  sum->open = false;
  keep(call.run, *sum, values::ContainerState::items, call.run.heap().list(std::move(items)));
  return Value::of(Kind::instance, sum);
}
// A part as an attribute: of a Sequential by its name or number.
template <bool of_dict> Value part_by_name(Call& call) {
  const Value name = call.run.resolve(call.at(0)),
              own = kept(call, of_dict ? values::ContainerState::dict : values::ContainerState::items);
  if (!name.is(Kind::string) || !own.is(of_dict ? Kind::dict : Kind::list)) return {};
  for (const Part& part : parts_of(call.run, object(call)).list)
    if (part.name == name.text()) return part.module;
  // Any name may be that of a part that is not known.
  const bool open = of_dict ? values::Heap::dict_state(own)->open : values::Heap::list_state(own)->open;
  return open ? call.run.heap().unseen("", call.place) : Value{};
}
// What is not known to be a module may be one.
bool may_be_module(Call& call, Value value) {
  value = call.run.resolve(value);
  if (value.is(Kind::choice))
    return may_be_module(call, value.as<values::Choice>()->yes) ||
        may_be_module(call, value.as<values::Choice>()->no);
  if (value.is(Kind::instance))
    return call.run.is_a(value, module_class) ||
        (value.as<Instance>()->cls && value.as<Instance>()->cls->open);
  if (!value.is(Kind::unknown)) return false;
  const auto& unknown = *value.as<values::Unknown>();
  return !unknown.is_number && !unknown.is_real && (!unknown.integer || unknown.only_compared) &&
      !unknown.state.value;
}
// Do the methods of the class ask whether the attribute is more or less than something? Then it is no module.
// The text tells it, as they run only after the constructor that sets it.
bool is_measured(const values::Class& cls, std::string_view attribute) {
  bool measured = false;
  for (const values::Class* each : cls.order)
    if (each->stmt)
      syntax::for_each_expression(*each->stmt, [&](const syntax::Expr& expr) {
        if (measured || expr.kind != syntax::ExprKind::compare) return;
        const auto& compared = syntax::as<syntax::CompareExpr>(expr);
        const bool orders = std::ranges::any_of(compared.ops, [](syntax::CompareOp op) {
          return op == syntax::CompareOp::lt || op == syntax::CompareOp::le || op == syntax::CompareOp::gt ||
              op == syntax::CompareOp::ge;
        });
        measured = orders && compared.left->kind == syntax::ExprKind::attribute &&
            syntax::as<syntax::AttributeExpr>(*compared.left).attribute.text() == attribute;
      });
  return measured;
}
// A module that is set as an attribute of a container is one of its parts.
Value set_part(Call& call) {
  const Value name = call.run.resolve(call.at(0));
  const Value list = kept(call, values::ContainerState::items);
  if (!name.is(Kind::string) || !list.is(Kind::list)) return {};
  values::ListState state = *values::Heap::list_state(list);
  if (!call.run.is_a(call.run.resolve(call.at(1)), module_class)) {
    const values::Class* cls = object(call).cls;
    if (may_be_module(call, call.at(1)) && !(cls && is_measured(*cls, name.text()))) {
      state.open = true;
      state.length = nullptr;
      state.rest = call.run.heap().merge(state.rest, call.run.heap().unseen(""), Sharing::uniform);
      call.run.heap().set_list(list, std::move(state));
    }
    return {};
  }
  const Value names = kept(call, values::ContainerState::names);
  std::vector<Value> texts;
  for (std::size_t i = 0; i < state.items.size(); ++i) {
    const Value given = names.is(Kind::list) && i < values::Heap::list_state(names)->items.size()
        ? values::Heap::list_state(names)->items[i]
        : Value{};
    texts.push_back(given ? given : call.run.heap().string(std::to_string(i)));
  }
  for (std::size_t i = 0; i < state.items.size(); ++i)
    if (texts[i].is(Kind::string) && texts[i].text() == name.text()) {
      state.items[i] = call.at(1);
      call.run.heap().set_list(list, std::move(state));
      return Value::none();
    }
  texts.push_back(name);
  state.items.push_back(call.at(1));
  call.run.heap().set_list(list, std::move(state));
  set_names(call, std::move(texts));
  return Value::none();
}
Value module_dict_init(Call& call) {
  const Value given = call.run.resolve(call.at(0));
  Value dict = call.run.heap().dict({});
  if (given.is(Kind::dict)) {
    const auto* from = values::Heap::dict_state(given);
    dict = call.run.heap().dict(from->items, from->open, from->rest);
  } else if (given && !given.is(Kind::none)) {
    call.run.call(call.run.attribute(dict, Name("update"), call.place), {{given}, {}, false}, call.place);
  } else if (call.spread) {
    dict = call.run.heap().dict({}, true, call.run.heap().unseen(""));
  }
  keep(call, values::ContainerState::dict, dict);
  return {};
}
Value set_dict_part(Call& call) {
  const Value dict = kept(call, values::ContainerState::dict);
  if (!dict.is(Kind::dict)) return {};
  if (call.run.is_a(call.run.resolve(call.at(1)), module_class)) {
    call.run.dict_set(dict, call.at(0), call.at(1));
    return Value::none();
  }
  if (may_be_module(call, call.at(1))) {
    values::DictState state = *values::Heap::dict_state(dict);
    state.open = true;
    state.rest = call.run.heap().merge(state.rest, call.run.heap().unseen(""), Sharing::uniform);
    call.run.heap().set_dict(dict, std::move(state));
  }
  return {};
}
Value set_dict_item(Call& call) {
  const Value dict = kept(call, values::ContainerState::dict);
  if (!dict.is(Kind::dict)) return {};
  call.run.dict_set(dict, call.at(0), call.at(1));
  return Value::none();
}
Value dict_item(Call& call) {
  const Value dict = kept(call, values::ContainerState::dict);
  if (!dict.is(Kind::dict)) return call.run.heap().unseen("", call.place);
  return call.run.subscript(dict, call.at(0), call.node ? *call.node : nowhere);
}
// keys(), values(), items(), update(), pop()…: as of a dict.
Value dict_part(Call& call) {
  const Value dict = kept(call, values::ContainerState::dict);
  const auto name = call.row.path.substr(call.row.path.rfind('.') + 1);
  if (!dict.is(Kind::dict)) return call.run.heap().unseen("", call.place);
  Arguments arguments;
  for (const Value& argument : call.arguments)
    if (argument) arguments.positional.push_back(argument);
  return call.run.call(call.run.attribute(dict, Name(name == "__iter__" ? "keys" : name), call.place),
      std::move(arguments), call.place);
}
Value dict_length(Call& call) {
  const Value dict = kept(call, values::ContainerState::dict);
  if (!dict.is(Kind::dict)) return call.run.heap().unseen("", call.place);
  return call.run.call(call.run.library_symbol("builtins.len"), {{dict}, {}, false}, call.place);
}
Value dict_has(Call& call) {
  const Value dict = kept(call, values::ContainerState::dict);
  if (!dict.is(Kind::dict)) return call.run.heap().unseen("", call.place);
  return call.run.compare(syntax::CompareOp::in, call.at(0), dict);
}
Value sequential_forward(Call& call) {
  Value x = call.at(0);
  const Value list = kept(call, values::ContainerState::items);
  const auto items = list ? call.run.elements(list, call.place) : std::nullopt;
  if (!items) return call.run.heap().unseen("", call.place);
  // The call's text names the container, not the layer.
  for (const Value& layer : *items) {
    const std::size_t before = call.run.record().events.size();
    x = call.run.call(layer, {{x}, {}, false}, call.place);
    if (call.run.record().events.size() > before) tell_at_layer(call, call.run.resolve(layer), before);
  }
  return x;
}

}  // namespace

std::vector<Row> container_rows() {
  using enum RowKind;
  std::vector<Row> rows = {
      row("torch.nn.Sequential", class_, "*modules", sequential_init, "torch.nn.Module"),
      row("torch.nn.Sequential.forward", method, "input", sequential_forward),
      row("torch.nn.Sequential.$seen_to", method, "", try_own_layers),
      row("torch.nn.Sequential.__getitem__", method, "index", list_item),
      row("torch.nn.Sequential.__getattr__", method, "name", part_by_name<false>),
      row("torch.nn.Sequential.__setattr__", method, "name, value", set_part),
      row("torch.nn.Sequential.append", method, "module", list_change),
      row("torch.nn.Sequential.extend", method, "sequential", list_change),
      row("torch.nn.Sequential.insert", method, "index, module", list_change),
      row("torch.nn.Sequential.pop", method, "key", list_change),
      row("torch.nn.ModuleList", class_, "modules=None", module_list_init, "torch.nn.Module"),
      row("torch.nn.ModuleList.__getitem__", method, "index", list_item),
      row("torch.nn.ModuleList.__getattr__", method, "name", part_by_name<false>),
      row("torch.nn.ModuleList.__setattr__", method, "name, value", set_part),
      row("torch.nn.ModuleList.__add__", method, "other", list_sum),
      row("torch.nn.ModuleList.append", method, "module", list_change),
      row("torch.nn.ModuleList.extend", method, "modules", list_change),
      row("torch.nn.ModuleList.insert", method, "index, module", list_change),
      row("torch.nn.ModuleList.pop", method, "key=-1", list_change),
      row("torch.nn.ModuleDict", class_, "modules=None", module_dict_init, "torch.nn.Module"),
      row("torch.nn.ModuleDict.__getattr__", method, "name", part_by_name<true>),
      row("torch.nn.ModuleDict.__setattr__", method, "name, value", set_dict_part),
      row("torch.nn.ModuleDict.__setitem__", method, "name, value", set_dict_item),
      row("torch.nn.ModuleDict.__getitem__", method, "key", dict_item),
      row("torch.nn.ModuleDict.__len__", method, "", dict_length),
      row("torch.nn.ModuleDict.__contains__", method, "key", dict_has),
      row("torch.nn.ModuleDict.__iter__", method, "", dict_part),
      row("torch.nn.ModuleDict.keys", method, "", dict_part),
      row("torch.nn.ModuleDict.values", method, "", dict_part),
      row("torch.nn.ModuleDict.items", method, "", dict_part),
      row("torch.nn.ModuleDict.update", method, "modules", dict_part),
      row("torch.nn.ModuleDict.pop", method, "key", dict_part),
      row("torch.nn.ModuleDict.clear", method, "", dict_part),
  };
  for (Row& each : parameter_container_rows()) rows.push_back(std::move(each));
  for (Row& each : rows) each.whole = each.kind == class_;
  return rows;
}

}  // namespace stepzero::libraries
