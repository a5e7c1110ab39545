// fsdp/invalid-argument: what FullyShardedDataParallel or fully_shard refuses.
#include "libraries/table/class_roles.hpp"
#include "libraries/table/table.hpp"
#include "rules/fsdp/wraps.hpp"
#include "rules/rule.hpp"
#include "rules/training/parts.hpp"
#include "values/kept.hpp"

#include <algorithm>
#include <array>

namespace stepzero::rules::fsdp::invalid_argument {

using namespace interpreter;
using libraries::ClassRole;
using values::Kind;

namespace {

constexpr std::string_view taken[] = {"module", "mesh", "reshard_after_forward", "shard_placement_fn",
    "mp_policy", "offload_policy", "ignored_params", "dp_mesh_dims"};
// Arguments of FullyShardedDataParallel, and what became of them.
constexpr std::array<std::string_view, 2> became[] = {
    {"auto_wrap_policy", "Call `fully_shard` on each layer first, then on the model"},
    {"mixed_precision", "Pass `mp_policy=MixedPrecisionPolicy(…)` in its place"},
    {"cpu_offload", "Pass `offload_policy=CPUOffloadPolicy()` in its place"},
    {"sharding_strategy", "Set `reshard_after_forward` in its place"},
    {"process_group", "Pass `mesh` in its place"},
    {"device_mesh", "Pass `mesh` in its place"},
    {"device_id", "Move the model to its device first"},
    {"ignored_modules", "Pass `ignored_params` in its place"},
    {"ignored_states", "Pass `ignored_params` in its place"},
    {"sync_module_states", "Load or broadcast the weights yourself"},
    {"use_orig_params", "Leave it out: the parameters are always kept"},
};

bool is_container(Value module) {
  const auto* object = module.is(Kind::instance) ? module.as<Instance>() : nullptr;
  const ClassRole role = object && !object->cls ? libraries::role_of(object->native) : ClassRole::none;
  return role == ClassRole::layer_list || role == ClassRole::layer_dict;
}
bool is_symbol(Value value, std::string_view ending) {
  return value.is(Kind::library) && value.as<values::LibrarySymbol>()->path.ends_with(ending);
}
bool is_object_of(Value value, std::string_view path) {
  return value.is(Kind::instance) && value.as<Instance>()->native &&
      value.as<Instance>()->native->path == path;
}

// Of fully_shard: why it raises; empty if it does not.
std::string why_in_place(const Wrap& wrap) {
  if (is_container(wrap.module))
    return "`fully_shard` takes no `ModuleList` and no `ModuleDict`: \"does not support containers that do not implement forward\". Call it on each module in it.";
  if (!wrap.event->expr) return {};
  const syntax::CallExpr& call = *wrap.event->expr;
  for (const syntax::Keyword& each : call.keywords) {
    const std::string_view name = each.name.text();
    if (name.empty() || std::find(std::begin(taken), std::end(taken), name) != std::end(taken)) continue;
    const auto old = std::find_if(
        std::begin(became), std::end(became), [&](const auto& one) { return one[0] == name; });
    return "`fully_shard` takes no argument `" + std::string(name) +
        "`: \"got an unexpected keyword argument\"" +
        (old == std::end(became) ? ". Remove it." : ". " + std::string((*old)[1]) + ".");
  }
  const bool starred = std::any_of(call.arguments.begin(), call.arguments.end(),
      [](const syntax::Expr* each) { return each->kind == syntax::ExprKind::starred; });
  if (call.arguments.size() > 1 && !starred)
    return "`fully_shard` takes the module by position and everything else by keyword: \"takes 1 positional argument but " +
        std::to_string(call.arguments.size()) + " were given\". Name the others.";
  if (is_object_of(wrap.option("mp_policy"), "torch.distributed.fsdp.MixedPrecision"))
    return "`MixedPrecision` belongs to `FullyShardedDataParallel`, and `fully_shard` does not read it: inputs and parameters then differ in type. Pass a `MixedPrecisionPolicy`.";
  return {};
}

// Of FullyShardedDataParallel.
std::string why_wrapped(const Record& record, const Wrap& wrap) {
  const Value sends = wrap.option("sync_module_states");
  const bool sent = sends.is(Kind::boolean) &&
      record.symbols.decide(sends.condition()) == symbolic::Answer::yes;
  if (sent && attribute(wrap.event->self, values::WrapperState::on_cpu) && wrap.leaves_out("device_id") &&
      wrap.leaves_out("param_init_fn"))
    return "`sync_module_states=True` sends the weights from GPU to GPU, and the module is on the CPU: \"The module has CPU parameters or buffers when `sync_module_states=True`\". Pass `device_id=torch.cuda.current_device()`, or move the module first.";
  const Value policy = wrap.option("auto_wrap_policy");
  if (is_symbol(policy, ".transformer_auto_wrap_policy"))
    return "`transformer_auto_wrap_policy` must be told which classes are layers: \"missing 1 required positional argument: 'transformer_layer_cls'\". Pass `functools.partial(transformer_auto_wrap_policy, transformer_layer_cls={Block})`, or `ModuleWrapPolicy({Block})`.";
  if (policy.is(Kind::list) || policy.is(Kind::tuple))
    return "`auto_wrap_policy` is a function or a policy, and a list of classes is neither: it is \"not callable\". Pass a `ModuleWrapPolicy` with these classes.";
  if (is_symbol(policy, ".ModuleWrapPolicy"))
    return "`ModuleWrapPolicy` is given as the class itself. Make one of the layers' classes: `ModuleWrapPolicy({Block})`.";
  if (const Value ignored = wrap.option("ignored_modules"); ignored.is(Kind::instance)) {
    const auto* object = ignored.as<Instance>();
    const ClassRole role = libraries::role_of(object->native);
    const bool is_iterable = !object->native || role == ClassRole::layers || role == ClassRole::layer_list;
    if (!is_iterable && object->native->path.starts_with(libraries::table().types().layers))
      return "`ignored_modules` takes several modules, and this is one: \"should be an iterable of `torch.nn.Module`s\". Pass a list of it.";
  }
  const Value strategy = wrap.option("sharding_strategy");
  if (strategy.is(Kind::string))
    return "`sharding_strategy` must be a member of `ShardingStrategy`, not a string: `KeyError`. Pass `ShardingStrategy." +
        std::string(strategy.text()) + "`.";
  if (is_symbol(strategy, ".HYBRID_SHARD") && wrap.leaves_out("process_group") &&
      wrap.leaves_out("device_mesh") && wrap.leaves_out("auto_wrap_policy"))
    return "`HYBRID_SHARD` without an `auto_wrap_policy` must be told its groups: \"Manual wrapping with ShardingStrategy.HYBRID_SHARD requires explicit specification of process group or device_mesh\". Pass a `device_mesh`, or an `auto_wrap_policy`.";
  if (is_object_of(wrap.option("mixed_precision"), "torch.distributed.fsdp.MixedPrecisionPolicy"))
    return "`MixedPrecisionPolicy` belongs to `fully_shard`, and `FullyShardedDataParallel` refuses it: `AttributeError`. Pass `MixedPrecision`.";
  return {};
}

// A module that was sharded already, or is a part of one that was.
const Wrap* earlier(const std::vector<Wrap>& wraps, std::size_t index) {
  const Wrap& wrap = wraps[index];
  const auto* object = wrap.module.is(Kind::instance) ? wrap.module.as<Instance>() : nullptr;
  if (!object || object->of_many) return nullptr;
  for (std::size_t i = 0; i < index; ++i) {
    const Wrap& other = wraps[i];
    // On another way, or of a module that is made anew in each iteration, it may not be the same one.
    if (!other.in_place || !other.turns.empty() || !wrap.turns.empty() || !other.module.is(Kind::instance) ||
        other.event->place == wrap.event->place)
      continue;
    Parts parts;
    parts.add(other.module);
    if (parts.complete && parts.found.contains(object)) return &other;
  }
  return nullptr;
}

void check(const Record& record, Report& report) {
  Once once;
  for (const auto& root : record.roots) {
    const std::vector<Wrap>& wraps = wraps_in(record, *root);
    for (std::size_t i = 0; i < wraps.size(); ++i) {
      const Wrap& wrap = wraps[i];
      if (wrap.in_attempt) continue;
      const Wrap* before = nullptr;
      std::string why = wrap.in_place ? why_in_place(wrap) : why_wrapped(record, wrap);
      if (why.empty() && wrap.in_place && (before = earlier(wraps, i))) {
        const bool same = before->module.object() == wrap.module.object();
        why = same
            ? "`fully_shard` has already been applied to this module: \"can only be applied to a module once\". Remove this call."
            : "This module is a part of one that is sharded already, and its parameters belong to that one: `fully_shard` fails here. Shard the parts first, and the whole last.";
      }
      if (why.empty() || !once(wrap.event->place)) continue;
      Finding* finding = report.add(Severity::error, wrap.event->place, wrap.event->calls, std::move(why));
      if (finding && before) report.relate(*finding, before->event->place, "sharded here first");
    }
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "fsdp/invalid-argument",
    .severity = Severity::error,
    .summary =
        "an argument, a module or an order of calls that `fully_shard` or FullyShardedDataParallel refuses",
    .why =
        "`fully_shard` of today and `FullyShardedDataParallel` share neither their arguments nor their policies, and both raise over what they do not take: "
        "containers without a forward, a module that is sharded twice, a part that is sharded after the whole, a policy that was not told its layers, "
        "`HYBRID_SHARD` without groups, `sync_module_states=True` for a module on the CPU without a `device_id`. Each was asked of PyTorch 2.13 with two processes.",
    .wrong = "fully_shard(model)\nfor block in model.blocks:\n    fully_shard(block)\n",
    .right = "for block in model.blocks:\n    fully_shard(block)\nfully_shard(model)\n",
    .silent =
        "Modules of which it is not known where they are; calls with `**options` that the text does not decide; modules on branches; `size_based_auto_wrap_policy`, which is a policy as it stands.",
    .fix = "None: what was meant has to be said in other words.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::fsdp::invalid_argument
