// Attributes of the model that are asked of the wrapper around it. DistributedDataParallel, DataParallel and
// AveragedModel have the names of every module and a few of their own; FullyShardedDataParallel, DeepSpeed's
// engine, Fabric's modules and compiled modules hand the rest on to the model, these do not. Names as `dir()`
// of the objects lists them in PyTorch 2.13, and those that DistributedDataParallel had before.
#include "interpreter/record.hpp"
#include "libraries/table/native.hpp"
#include "libraries/torch/nn/modules.hpp"

#include <algorithm>
#include <span>

namespace stepzero::libraries {

namespace {

constexpr std::string_view of_every_module[] = {"T_destination", "add_module", "apply", "bfloat16", "buffers",
    "call_super_init", "children", "compile", "cpu", "cuda", "double", "dump_patches", "eval", "extra_repr",
    "float", "forward", "get_buffer", "get_extra_state", "get_parameter", "get_submodule", "half", "ipu",
    "load_state_dict", "modules", "mtia", "named_buffers", "named_children", "named_modules",
    "named_parameters", "parameters", "register_backward_hook", "register_buffer", "register_forward_hook",
    "register_forward_pre_hook", "register_full_backward_hook", "register_full_backward_pre_hook",
    "register_load_state_dict_post_hook", "register_load_state_dict_pre_hook", "register_module",
    "register_parameter", "register_state_dict_post_hook", "register_state_dict_pre_hook", "requires_grad_",
    "set_extra_state", "set_submodule", "share_memory", "state_dict", "to", "to_empty", "train", "training",
    "type", "xpu", "zero_grad"};

constexpr std::string_view of_ddp[] = {"ddp_join_enabled", "ddp_uneven_inputs_config", "modules_params",
    "num_iterations",  // before 2.0
    "batched_grad_copy", "broadcast_bucket_size", "broadcast_buffers", "bucket_bytes_cap",
    "bucket_bytes_cap_default", "bucket_bytes_cap_list", "device", "device_ids", "device_type", "dim",
    "find_unused_parameters", "forward_sync_buffers", "gather", "gradient_as_bucket_view",
    "is_multi_device_module", "join", "join_device", "join_hook", "join_process_group", "logger",
    "mixed_precision", "module", "modules_buffers", "named_module_buffers", "no_sync", "output_device",
    "parameters_to_ignore", "process_group", "reducer", "register_comm_hook", "require_backward_grad_sync",
    "require_forward_param_sync", "scatter", "skip_all_reduce_unused_params", "static_graph", "to_kwargs",
    "use_side_stream_for_tensor_copies", "will_sync_module_buffers"};
constexpr std::string_view of_data_parallel[] = {"device_ids", "dim", "gather", "module", "output_device",
    "parallel_apply", "replicate", "scatter", "src_device_obj"};
constexpr std::string_view of_averaged[] = {
    "avg_fn", "module", "multi_avg_fn", "n_averaged", "update_parameters", "use_buffers"};

struct Wrapper {
  std::string_view path;
  std::string_view fallback;  // what answers for a name that is no attribute
  std::string_view listing;   // is there such a name?
  std::span<const std::string_view> names;
};
constexpr Wrapper wrappers[] = {
    {"torch.nn.parallel.DistributedDataParallel", "torch.nn.parallel.DistributedDataParallel.__getattr__",
        "torch.nn.parallel.DistributedDataParallel.$lists", of_ddp},
    {"torch.nn.parallel.DataParallel", "torch.nn.parallel.DataParallel.__getattr__",
        "torch.nn.parallel.DataParallel.$lists", of_data_parallel},
    {"torch.optim.swa_utils.AveragedModel", "torch.optim.swa_utils.AveragedModel.__getattr__",
        "torch.optim.swa_utils.AveragedModel.$lists", of_averaged},
};

// The wrapper whose names are all known; null for others, as those that frameworks make and that the program
// derives.
const Wrapper* wrapper_of(const Value& object) {
  const Instance* instance = object.is(Kind::instance) ? object.as<Instance>() : nullptr;
  if (!instance || !instance->native || instance->cls || instance->symbolic) return nullptr;
  const auto* kind = std::ranges::find(wrappers, instance->native->path, &Wrapper::path);
  return kind == std::end(wrappers) ? nullptr : kind;
}
bool is_listed(const Wrapper& wrapper, std::string_view name) {
  return name.starts_with("_") || std::ranges::find(of_every_module, name) != std::end(of_every_module) ||
      std::ranges::find(wrapper.names, name) != wrapper.names.end();
}
// Unseen code may have given it attributes.
bool is_handed_out(const Value& wrapper) {
  return wrapper.as<Instance>()->attributes.find(interpreter::handed_out);
}

// Does the wrapper have the name? None where that is not known.
Value listed(Call& call) {
  const Value name = call.run.resolve(call.at(0));
  const Wrapper* kind = wrapper_of(call.self);
  if (!kind || !name.is(Kind::string)) return Value::none();
  const values::Slot* slot = call.self.as<Instance>()->attributes.find(syntax::Name(name.text()));
  if (slot && slot->value)
    return slot->value.is(Kind::choice) ? Value::none() : call.run.heap().boolean(true);
  return is_listed(*kind, name.text()) || is_handed_out(call.self) ? Value::none()
                                                                   : call.run.heap().boolean(false);
}

// What the model inside answers, where nothing else of the wrapper does: the read fails, and goes on with
// what was meant.
Value within_wrapper(Call& call) {
  const Value name = call.run.resolve(call.at(0));
  const Wrapper* kind = wrapper_of(call.self);
  if (call.expr || !kind || !name.is(Kind::string) || is_listed(*kind, name.text()))
    return within_compiled(call);
  const std::string_view wanted = name.text();
  // `wrapper.name` as the program writes it, and no getattr().
  std::string_view owner = call.run.record().text(call.place);
  if (!owner.ends_with(wanted) || owner.size() <= wanted.size() + 1 ||
      owner[owner.size() - wanted.size() - 1] != '.')
    return {};
  owner.remove_suffix(wanted.size() + 1);
  const Value module = kept(call, "module");
  // What is inside may be a class that is not seen; of one that is seen the program is taken to mean what
  // that has.
  const bool seen = module.is(Kind::instance),
             has = seen && call.run.attribute_or_none(module, syntax::Name(wanted), call.place);
  if (!module ||
      (seen && !has && call.run.has_attribute(module, syntax::Name(wanted)) != symbolic::Answer::unknown))
    return {};
  const bool handed_out = is_handed_out(call.self);
  if (handed_out && !has) return {};
  const std::string written(owner), attribute(wanted),
      kind_name(kind->path.substr(kind->path.rfind('.') + 1));
  interpreter::ProblemEvent* event = call.run.problem_at(
      values::ProblemKind::of_wrapped, call.place, nullptr);
  explain(*event,
      has ? why<Reason::attribute_inside>(written, kind_name, attribute, handed_out, written, attribute)
          : why<Reason::attribute_of_wrapper>(written, kind_name, attribute, handed_out, written, attribute));
  event->overridable = handed_out;
  // Where it takes choices of the program alone, the run goes on: what fails on one way is found on each.
  const bool may_be_caught = event->guarded && !event->of_two_choices;
  return may_be_caught ? Value{} : call.run.attribute(module, syntax::Name(wanted), call.place);
}

}  // namespace

std::vector<Row> wrapped_name_rows() {
  using enum values::RowKind;
  std::vector<Row> rows;
  for (const Wrapper& wrapper : wrappers) {
    rows.push_back(row(wrapper.fallback, method, "name", within_wrapper));
    rows.push_back(row(wrapper.listing, method, "name", listed));
  }
  return rows;
}

}  // namespace stepzero::libraries
