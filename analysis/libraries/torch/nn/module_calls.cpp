// Calls of modules: hooks before and after, and the forward between. Semantics as in the documentation of
// torch.nn.Module.
#include "libraries/torch/nn/module_calls.hpp"

#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::libraries {

using interpreter::Arguments;

namespace {

template <bool before> Value register_hook(Call& call) {
  return add_hook(call, before ? values::ModuleState::pre_hooks : values::ModuleState::hooks);
}
Value remove_hook(Call& call) {
  const Value hooks = kept(call, values::ModuleState::hooks), hook = kept(call, values::ModuleState::hook);
  if (!hooks.is(Kind::list)) return Value::none();
  values::ListState state = *values::Heap::list_state(hooks);
  std::erase_if(state.items, [&](const Value& item) { return call.run.resolve(item) == hook; });
  call.run.heap().set_list(hooks, std::move(state));
  return Value::none();
}

// A module whose classes are all seen, and none of which computes anything.
bool has_no_forward(const Call& call) {
  if (!call.self.is(Kind::instance)) return false;
  const Instance& module = *call.self.as<Instance>();
  const values::LibrarySymbol* native = module.native ? module.native
      : module.cls                                    ? module.cls->native
                                                      : nullptr;
  const bool computes_nothing = native &&
      (native->path == module_class || native->path == "torch.nn.ModuleList" ||
          native->path == "torch.nn.ModuleDict");
  if (!computes_nothing || module.symbolic || module.of_many ||
      module.attributes.find(Name(values::ModuleState::in_hands)))
    return false;
  if (!module.cls) return true;
  return !module.open && !module.cls->hooks_attributes &&
      std::ranges::none_of(module.cls->order, [](const values::Class* each) {
        return each->open || !each->stmt || !each->stmt->decorators.empty() || !each->stmt->keywords.empty();
      });
}

Value module_call(Call& call) {
  Arguments arguments = arguments_of(call);
  values::Heap& heap = call.run.heap();
  if (const Value hooks = kept(call, values::ModuleState::pre_hooks); hooks.is(Kind::list))
    for (const Value& hook : std::vector(values::Heap::list_state(hooks)->items)) {
      const Value changed = call.run.resolve(
          call.run.call(hook, {{call.self, heap.tuple(arguments.positional)}, {}, false}, call.place));
      if (changed.is(Kind::none)) continue;
      arguments.after = 0;
      if (changed.is(Kind::tuple))
        arguments.positional = changed.as<values::Tuple>()->items;
      else if (changed.is(Kind::tensor))
        arguments.positional = {changed};
      else
        for (Value& argument : arguments.positional) argument = heap.unseen("", call.place);
    }
  const std::vector<Value> given = arguments.positional;
  const Value forward = call.run.attribute_or_none(call.self, Name("forward"), call.place);
  if (!forward) {
    if (has_no_forward(call))
      explain(*call.run.problem(values::ProblemKind::argument, call), why<Reason::no_forward>());
    return heap.unseen("", call.place);
  }
  Value result_value = call.run.call(forward, std::move(arguments), call.place, call.expr);
  if (const Value hooks = kept(call, values::ModuleState::hooks); hooks.is(Kind::list))
    for (const Value& hook : std::vector(values::Heap::list_state(hooks)->items)) {
      const Value changed = call.run.resolve(
          call.run.call(hook, {{call.self, heap.tuple(given), result_value}, {}, false}, call.place));
      if (!changed.is(Kind::none)) result_value = changed;
    }
  return result_value;
}

}  // namespace

Arguments arguments_of(const Call& call) {
  Arguments arguments;
  for (const Value& argument : call.arguments)
    if (argument) arguments.positional.push_back(argument);
  arguments.positional.insert(arguments.positional.end(), call.rest.begin(), call.rest.end());
  arguments.keywords = call.options;
  arguments.spread = call.spread;
  arguments.after = call.after;
  return arguments;
}

Value add_hook(Call& call, std::string_view which) {
  Value hooks = kept(call, which);
  if (!hooks.is(Kind::list)) keep(call, which, hooks = call.run.heap().list({}));
  values::ListState state = *values::Heap::list_state(hooks);
  state.items.push_back(call.at(0));
  call.run.heap().set_list(hooks, std::move(state));
  Instance* handle = call.run.make_native("torch.utils.hooks.RemovableHandle", call.place);
  keep(call.run, *handle, values::ModuleState::hooks, hooks);
  keep(call.run, *handle, values::ModuleState::hook, call.at(0));
  return Value::of(Kind::instance, handle);
}

std::vector<Row> module_call_rows() {
  using enum RowKind;
  return {
      row("torch.nn.Module.__call__", method, "*arguments, **options", module_call, {}, Operation::forward),
      row("torch.nn.Module.register_forward_hook", method, "hook, **options", register_hook<false>),
      row("torch.nn.Module.register_forward_pre_hook", method, "hook, **options", register_hook<true>),
      row("torch.utils.hooks.RemovableHandle", class_, "*arguments", nullptr),
      row("torch.utils.hooks.RemovableHandle.remove", method, "", remove_hook),
  };
}

}  // namespace stepzero::libraries
