// What wraps modules and optimizers and communicates out of sight: DDP, ZeRO, Join; FSDP is sharded_modules.
// Semantics as in the documentation of torch.nn.parallel, torch.distributed.fsdp, .optim and .algorithms.
#include "interpreter/calls/unseen.hpp"
#include "libraries/table/hidden.hpp"
#include "libraries/table/native.hpp"
#include "libraries/table/op.hpp"
#include "libraries/torch/distributed/recomputing.hpp"
#include "libraries/torch/distributed/sharded_modules.hpp"
#include "libraries/torch/distributed/sharded_states.hpp"
#include "libraries/torch/distributed/sharded_units.hpp"
#include "libraries/torch/distributed/wrapping.hpp"
#include "libraries/torch/nn/modules.hpp"
#include "values/devices.hpp"
#include "values/internal_rows.hpp"
#include "values/kept.hpp"
#include "values/limits.hpp"

namespace stepzero::libraries {

Value no_sync(Call& call) {
  Instance* made = call.run.make_native(values::InternalRow::no_sync, call.place);
  keep(call.run, *made, values::WrapperState::wrapped, call.self);
  return Value::of(Kind::instance, made);
}
Value argument_named(const Call& call, std::string_view name) {
  for (std::size_t i = 0; i < call.row.parameters.size(); ++i)
    if (call.row.parameters[i].text() == name) return call.at(i);
  return {};
}

Value wrapped_init(Call& call) {
  call.run.set_attribute(call.self, Name("module"), call.at(0));
  // What its state_dict() puts in front of each name.
  if (call.row.path.starts_with("torch.nn.parallel.")) {
    keep(call, values::WrapperState::prefix, call.run.heap().string("module."));
    keep(call, values::ContainerState::complete, call.run.heap().boolean(true));
  }
  if (call.row.collective && call.row.collective->group >= 0)
    if (const Value group = call.run.resolve(call.at(static_cast<std::size_t>(call.row.collective->group)));
        group && !group.is(Kind::none))
      keep(call, values::GroupState::group, group);
  keep(call, held_back, no_sync(call));
  // What decides how much memory it takes.
  for (const auto& [said, as] : {std::pair{"bucket_cap_mb", values::WrapperState::bucket_cap_mb},
           std::pair{"gradient_as_bucket_view", values::WrapperState::gradient_as_bucket_view},
           std::pair{"use_orig_params", values::WrapperState::use_orig_params},
           std::pair{"sharding_strategy", values::WrapperState::sharding_strategy},
           std::pair{"auto_wrap_policy", values::WrapperState::auto_wrap_policy}}) {
    const Value declared = argument_named(call, said), value = declared ? declared : option(call, said);
    if (value) keep(call, as, value);
  }
  for (std::size_t i = 0; i < call.row.parameters.size(); ++i)
    if (call.row.parameters[i].text() == "broadcast_buffers" && call.given[i] &&
        call.run.symbols().decide(call.run.truth(call.at(i))) != Answer::yes)
      keep(call, values::WrapperState::keeps_buffers, call.run.heap().boolean(true));
  return {};
}

namespace {
// What the results were computed by.
void carries(Runtime& run, Value value, const Instance& wrapper, int depth = 0) {
  value = run.resolve(value);
  if (depth > values::deepest_data) return;
  switch (value.kind) {
  case Kind::tensor: {
    TensorState state = *value.as<Tensor>()->now();
    if (state.graph.contains(&wrapper)) return;
    values::Graph graph{&wrapper};
    graph.add(state.graph, state.graph.size() + 1);
    state.graph = graph;
    set_state(run, value, state);
    return;
  }
  case Kind::tuple:
    for (const Value& item : value.as<values::Tuple>()->items) carries(run, item, wrapper, depth + 1);
    return;
  case Kind::list:
    for (const Value& item : std::vector<Value>(values::Heap::list_state(value)->items))
      carries(run, item, wrapper, depth + 1);
    return;
  case Kind::dict:
    for (const auto& [key, item] :
        std::vector<std::pair<Value, Value>>(values::Heap::dict_state(value)->items))
      carries(run, item, wrapper, depth + 1);
    return;
  case Kind::choice:
    carries(run, value.as<values::Choice>()->yes, wrapper, depth);
    carries(run, value.as<values::Choice>()->no, wrapper, depth);
    return;
  default: return;
  }
}

// Is the backward of this forward one that all ranks take part in, as far as this manager is concerned?
Known synchronizes_in(Call& call, const Instance& wrapper, Value manager) {
  manager = call.run.resolve(manager);
  if (manager.is(Kind::choice)) {
    const Known yes = synchronizes_in(call, wrapper, manager.as<values::Choice>()->yes),
                no = synchronizes_in(call, wrapper, manager.as<values::Choice>()->no);
    return yes == no ? yes : Known::unknown;
  }
  // A file is its own manager.
  if (manager.is(Kind::unknown))
    return manager.as<values::Unknown>()->attributes.find(Name(values::FileState::path)) ? Known::yes
                                                                                         : Known::unknown;
  if (!manager.is(Kind::instance)) return Known::unknown;
  const auto& object = *manager.as<Instance>();
  const Row* row = object.native ? object.native->row : nullptr;
  if (!row) return Known::unknown;
  if (row->covers == values::Covers::join) return Known::no;
  if (row->covers == values::Covers::no_sync &&
      kept(call.run, object, values::WrapperState::wrapped).object() == &wrapper)
    return Known::no;
  return Known::yes;
}
Known synchronizes(Call& call, const Instance& wrapper) {
  Known all = Known::yes;
  for (const interpreter::Around* around = call.run.around(); around; around = around->outer) {
    const Known one = synchronizes_in(call, wrapper, around->manager);
    if (one == Known::no) return one;
    if (one == Known::unknown) all = one;
  }
  return all;
}
}  // namespace

void carries_backward(Call& call, Value results, const Instance& wrapper) {
  const Known all_take_part = synchronizes(call, wrapper);
  if (all_take_part == Known::yes) return carries(call.run, results, wrapper);
  const Value perhaps = all_take_part == Known::unknown ? kept(call.run, wrapper, held_back) : Value{};
  if (perhaps.is(Kind::instance)) carries(call.run, results, *perhaps.as<Instance>());
}

Value in_precision(Call& call, const Instance& wrapper, Value results) {
  const Value policy = kept(call.run, wrapper, values::WrapperState::mixed_precision);
  if (!policy) return results;
  results = call.run.resolve(results);
  const Value asked = policy.is(Kind::instance)
      ? call.run.resolve(kept(call.run, *policy.as<Instance>(), "output_dtype"))
      : Value{};
  const Dtype dtype = asked.is(Kind::dtype) ? to_dtype(asked) : Dtype::unknown;
  const auto cast = [&](Value value) {
    const TensorState* state = tensor_state(call.run, value);
    if (!state || (state->dtype != Dtype::unknown && !values::is_floating(state->dtype))) return value;
    TensorState made = *state;
    made.dtype = dtype;
    return result(call, std::move(made));
  };
  if (!results.is(Kind::tuple))
    return results.is(Kind::tensor) ? cast(results) : call.run.heap().unseen("", call.place);
  std::vector<Value> items;
  for (const Value& item : results.as<values::Tuple>()->items) items.push_back(cast(call.run.resolve(item)));
  return call.run.heap().tuple(std::move(items));
}

// DistributedDataParallel without `device_ids` hands its inputs on as they lie.
static bool moves_inputs(Call& call, const Instance& wrapper) {
  const bool of_ddp = wrapper.native && wrapper.native->row &&
      wrapper.native->row->path == "torch.nn.parallel.DistributedDataParallel";
  return !of_ddp || kept(call, "device_ids");
}
// Does a parameter of the module lie on the CPU, whichever module of several it is?
static bool lies_on_cpu(Runtime& run, Value module, int depth = 0) {
  module = run.resolve(module);
  if (module.is(Kind::choice) && depth < values::most_choices)
    return lies_on_cpu(run, module.as<values::Choice>()->yes, depth + 1) &&
        lies_on_cpu(run, module.as<values::Choice>()->no, depth + 1);
  // What derives from something that is not seen was perhaps moved by a method of that.
  if (module.is(Kind::instance) && module.as<Instance>()->cls && module.as<Instance>()->cls->open &&
      !run.is_a(module, run.library().types().module))
    return false;
  Flattened parts;
  parts.add(run, module);
  return parts.on_cpu;
}
static Value data_parallel_init(Call& call) {
  if (const Value devices = argument_named(call, "device_ids");
      devices && !call.run.resolve(devices).is(Kind::none))
    call.run.set_attribute(call.self, Name("device_ids"), devices);
  return wrapped_init(call);
}
// Does it lie on the first GPU, wherever there is one? There DataParallel brings its inputs.
static bool lies_on_first(Runtime& run, Value input) {
  input = run.resolve(input);
  const TensorState* state = tensor_state(run, input);
  const values::Device* device = state ? state->device
      : input.is(Kind::unknown)        ? interpreter::lies_on(*input.as<values::Unknown>())
                                       : nullptr;
  if (!device) return false;
  const symbolic::Cond no_gpu = run.symbols().logical_not(
      run.named_condition(values::DeviceCondition::has_cuda, Sharing::uniform));
  return std::ranges::all_of(values::possible_devices(run.symbols(), *device), [&](const auto& possible) {
    return possible.text == "cuda" || possible.text == "cuda:0" ||
        (possible.text == "cpu" && possible.when == no_gpu);
  });
}
Value wrapped_forward(Call& call) {
  // A class of the program's that cuts the batch up in its own way gives the model inside what it likes.
  if (call.self.is(Kind::instance) && call.self.as<Instance>()->cls &&
      call.run.find_in_order(call.self.as<Instance>()->cls->order, syntax::Name("scatter"))
          .is(Kind::function))
    return call.run.heap().unseen("", call.place);
  interpreter::Arguments arguments = arguments_of(call);
  std::vector<Value> handed = arguments.positional;
  for (const auto& [name, given] : arguments.keywords) handed.push_back(given);
  const bool replicates = call.row.path == "torch.nn.parallel.DataParallel.forward";
  const bool left = replicates && !handed.empty() &&
      lies_on_cpu(call.run, call.run.attribute(call.self, Name("module"), call.place));
  // Of a module that was left on the CPU nothing more is said inside: with one GPU it was moved.
  if (left)
    Op(call).fail_when(call.run.named_condition(values::DeviceCondition::has_cuda, Sharing::uniform),
        values::ProblemKind::device, why<Reason::data_parallel_on_cpu>());
  else if (replicates && !kept(call, "device_ids"))
    std::erase_if(handed, [&](Value given) { return lies_on_first(call.run, given); });
  table().hand_on(call.run, handed);
  const Value module = call.run.attribute(call.self, Name("module"), call.place);
  // Of a module that is not seen nothing is said then of where its inputs lie.
  if (module.is(Kind::unknown) && call.self.is(Kind::instance) && moves_inputs(call, object(call)))
    call.run.heap().set(call.run.heap().slot_of(
                            module.as<values::Unknown>()->attributes, Name(values::WrapperState::wrapped)),
        call.self);
  Value results = call.run.call(module, std::move(arguments), call.place, call.expr);
  if (call.self.is(Kind::instance)) {
    const Instance& wrapper = object(call);
    results = in_precision(call, wrapper, results);
    if (wrapper.native && wrapper.native->row && wrapper.native->row->backward)
      carries_backward(call, results, wrapper);
  }
  return results;
}

namespace {

// A copy of the module, whose weights follow it.
Value averaged_init(Call& call) {
  interpreter::Arguments arguments;
  arguments.positional.push_back(call.at(0));
  call.run.set_attribute(call.self, Name("module"),
      call.run.call(call.run.library_symbol("copy.deepcopy"), std::move(arguments), call.place));
  const Value none_yet = call.run.call(
      call.run.library_symbol("torch.tensor"), {{call.run.heap().integer(0)}, {}, false}, call.place);
  call.run.set_attribute(call.self, Name("n_averaged"),
      call.run.call(call.run.library_symbol("torch.nn.Buffer"), {{none_yet}, {}, false}, call.place));
  keep(call, values::WrapperState::prefix, call.run.heap().string("module."));
  return {};
}
Value averaged_forward(Call& call) {
  interpreter::Arguments arguments;
  arguments.positional.assign(call.rest.begin(), call.rest.end());
  arguments.keywords = call.options;
  arguments.spread = call.spread;
  return call.run.call(
      call.run.attribute(call.self, Name("module"), call.place), std::move(arguments), call.place, call.expr);
}

bool names_devices(Runtime& run, Value devices) {
  devices = run.resolve(devices);
  return devices.is(Kind::list) && !values::Heap::list_state(devices)->items.empty();
}
// When a module that nobody has moved lies on the CPU, where it was made. Null: not known, or never.
symbolic::Cond left_on_cpu_when(Runtime& run, Value module, int depth = 0) {
  module = run.resolve(module);
  symbolic::Context& symbols = run.symbols();
  if (module.is(Kind::choice) && depth < values::most_choices) {
    const auto& choice = *module.as<values::Choice>();
    const auto on_way = [&](Value side, symbolic::Cond way) {
      const symbolic::Cond when = left_on_cpu_when(run, side, depth + 1);
      return when ? symbols.logical_and(way, when) : nullptr;
    };
    const symbolic::Cond yes = on_way(choice.yes, choice.condition),
                         no = on_way(choice.no, symbols.logical_not(choice.condition));
    return yes && no ? symbols.logical_or(yes, no) : yes ? yes : no;
  }
  if (module.is(Kind::unknown))
    return interpreter::is_made_anywhere(*module.as<values::Unknown>())
        ? run.named_condition(values::DeviceCondition::builder_leaves, Sharing::uniform)
        : nullptr;
  Flattened parts;
  parts.add(run, module);
  if (!parts.place || !run.is_a(module, run.library().types().module)) return nullptr;
  const symbolic::Cond by_default = run.named_condition(
      values::DeviceCondition::default_is_cpu, Sharing::uniform);
  const values::Device* host = values::default_device(run.heap(), by_default);
  return values::is_same_device(parts.place, host) ? by_default : nullptr;
}
// DistributedDataParallel(module, device_ids=[i]): a module on the CPU has no devices to name.
Value distributed_init(Call& call) {
  const Value devices = argument_named(call, "device_ids");
  if (!call.spread && names_devices(call.run, devices)) {
    call.run.set_attribute(call.self, Name("device_ids"), devices);
    if (lies_on_cpu(call.run, call.at(0)))
      explain(*call.run.problem(values::ProblemKind::device, call), why<Reason::wrapped_on_cpu>());
    else if (const symbolic::Cond when = left_on_cpu_when(call.run, call.at(0)))
      Op(call).fail_when(when, values::ProblemKind::device, why<Reason::wrapped_on_cpu>());
  }
  return wrapped_init(call);
}
// Moved when it is wrapped already: where its module was on the CPU till then, wrapping it has failed.
Value moves_wrapped(Call& call, std::string_view usual_row) {
  const Value module = call.self.is(Kind::instance) ? call.run.resolve(kept(call, "module")) : Value{};
  const auto* unseen = module.is(Kind::unknown) ? module.as<values::Unknown>() : nullptr;
  const bool was_moved = unseen && (interpreter::may_be_moved(*unseen) || interpreter::module_on(*unseen));
  if (unseen && !was_moved && kept(call, "device_ids")) {
    Op op(call);
    op.fail_when(call.run.named_condition("the module is on the CPU until here", Sharing::uniform),
        values::ProblemKind::device, why<Reason::moved_after_wrapping>());
  }
  const Row* usual = call.run.library().find(usual_row);
  Call inner{call.run, *usual, call.self, call.arguments, call.rest, call.options, call.given, call.spread,
      call.expr, call.node, call.place, call.after};
  return usual->run(inner);
}
Value wrapped_to(Call& call) { return moves_wrapped(call, "torch.nn.Module.to"); }
Value wrapped_cuda(Call& call) { return moves_wrapped(call, "torch.nn.Module.cuda"); }

// What moves its inputs leaves it open where they lie.
void move_input(Runtime& run, Value argument, int depth = 0) {
  argument = run.resolve(argument);
  if (argument.is(Kind::choice) && depth < values::most_choices)
    for (const Value side : {argument.as<values::Choice>()->yes, argument.as<values::Choice>()->no})
      move_input(run, side, depth + 1);
  if (argument.is(Kind::unknown)) interpreter::forget_device(run.heap(), argument);
  if (const TensorState* state = tensor_state(run, argument); state && state->device) {
    TensorState moved = *state;
    moved.device = nullptr;
    set_state(run, argument, moved);
  }
}
Value join(Call& call) {
  return Value::of(Kind::instance, call.run.make_native(values::InternalRow::join, call.place));
}

constexpr CollectiveInfo backward_of_ddp = {.name = "the backward of a DDP module",
    .hidden = true,
    .because = "it averages the gradients of all ranks"};
constexpr Hidden hidden_wrappers[] = {
    {"torch.nn.parallel.DistributedDataParallel",
        "module, device_ids=None, output_device=None, dim=0, broadcast_buffers=True, process_group=None, *, find_unused_parameters=False, static_graph=False, **options",
        distributed_init,
        {.name = "DistributedDataParallel",
            .group = 5,
            .hidden = true,
            .because = "wrapping compares and broadcasts the parameters among the ranks"},
        RowKind::class_, Operation::collective, "torch.nn.Module", &backward_of_ddp},
    {"torch.nn.parallel.DistributedDataParallel.forward", "*arguments, **options", wrapped_forward,
        {.name = "the forward of a DDP module",
            .when = values::When::with_buffers,
            .joins = true,
            .inside = "model.module"},
        RowKind::method, Operation::parallel_forward},

    {"torch.distributed.optim.ZeroRedundancyOptimizer.consolidate_state_dict", "to=0", nothing,
        {.name = "consolidate_state_dict",
            .hidden = true,
            .because = "every rank sends its part of the optimizer's state"}},
};

}  // namespace

std::vector<Row> parallel_rows() {
  using enum RowKind;
  std::vector<Row> rows = {
      row(values::InternalRow::no_sync, class_, "", nullptr, "torch.context"),
      row(values::InternalRow::join, class_, "", nullptr, "torch.context"),
      row("torch.nn.parallel.DistributedDataParallel.no_sync", method, "", no_sync),
      row("torch.nn.parallel.DistributedDataParallel.to", method, "*arguments, **options", wrapped_to),
      row("torch.nn.parallel.DistributedDataParallel.cuda", method, "device=None", wrapped_cuda),
      row("torch.nn.parallel.DistributedDataParallel._set_static_graph", method, "",
          [](Call& call) {
            return keep(call, values::WrapperState::static_graph, call.run.heap().boolean(true)),
                   Value::none();
          }),
      row("torch.nn.parallel.DistributedDataParallel.join", method, "*arguments, **options", join),
      row("torch.distributed.algorithms.join.Join", function, "joinables, *more, **options", join),
      row("torch.distributed.algorithms.Join", function, "joinables, *more, **options", join),
      row("torch.optim.swa_utils.AveragedModel", class_, "model, *more, **options", averaged_init,
          "torch.nn.Module"),
      row("torch.optim.swa_utils.AveragedModel.forward", method, "*arguments, **options", averaged_forward),
      row("torch.optim.swa_utils.AveragedModel.update_parameters", method, "model", nothing),
      row("torch.nn.parallel.DataParallel", class_, "module, device_ids=None, output_device=None, dim=0",
          data_parallel_init, "torch.nn.Module"),
      row("torch.nn.parallel.DataParallel.forward", method, "*arguments, **options", wrapped_forward),
  };
  rows[0].covers = values::Covers::no_sync;
  rows[1].covers = values::Covers::join;
  add_hidden(rows, hidden_wrappers);
  for (Row& each : sharded_module_rows()) rows.push_back(std::move(each));
  for (Row& each : sharded_state_rows()) rows.push_back(std::move(each));
  for (Row& each : recomputing_rows()) rows.push_back(std::move(each));
  return rows;
}

Value Table::wrapped(Value object) const {
  const auto* wrapper = object.is(Kind::instance) ? object.as<Instance>() : nullptr;
  if (!wrapper || wrapper->cls || !wrapper->native || !wrapper->native->row) return {};
  if (const values::Slot* compiled = wrapper->attributes.find(Name("_orig_mod"))) return compiled->value;
  const values::Slot* module = wrapper->attributes.find(Name("module"));
  if (!module) return {};
  const Row* forward = find(std::string(wrapper->native->row->path) + ".forward");
  return forward && forward->run == wrapped_forward ? module->value : Value{};
}

// Wrappers move what they are given to the devices of their modules.
void Table::hand_on(Runtime& run, std::span<const Value> positional) const {
  for (const Value& argument : positional) move_input(run, argument);
}

}  // namespace stepzero::libraries
