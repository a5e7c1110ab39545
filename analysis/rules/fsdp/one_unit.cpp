// fsdp/one-unit: a model of many layers that is sharded as one piece.
#include "libraries/table/class_roles.hpp"
#include "rules/fsdp/wraps.hpp"
#include "rules/rule.hpp"
#include "rules/training/parts.hpp"
#include "values/kept.hpp"
#include "values/limits.hpp"

#include <algorithm>

namespace stepzero::rules::fsdp::one_unit {

using namespace interpreter;
using libraries::ClassRole;
using values::Kind;

namespace {

constexpr std::size_t many = 4;  // layers

// Layers of PyTorch that hold several layers themselves, as those of the program's own do.
constexpr std::string_view large_layers[] = {
    "torch.nn.TransformerEncoderLayer", "torch.nn.TransformerDecoderLayer", "torch.nn.Transformer"};

bool is_layer(Value item) {
  const auto* object = item.is(Kind::instance) ? item.as<Instance>() : nullptr;
  return object &&
      (object->cls ||
          (object->native &&
              std::ranges::find(large_layers, object->native->path) != std::end(large_layers)));
}
bool has_role(const Instance& part, ClassRole role) { return libraries::role_of(part.native) == role; }

bool holds_layers(const Instance& part) {
  return has_role(part, ClassRole::layers) || has_role(part, ClassRole::layer_list);
}
bool is_row_of_layers(const Instance& part) {
  if (!holds_layers(part)) return false;
  const Value items = attribute(&part, values::ContainerState::items);
  return items.is(Kind::list) &&
      static_cast<std::size_t>(std::ranges::count_if(values::Heap::list_state(items)->items, is_layer)) >=
      many;
}

// nn.TransformerEncoder(layer, 12)
bool is_stack(const Record& record, const Instance& part) {
  if (!has_role(part, ClassRole::layer_stack)) return false;
  const auto layers = record.number(attribute(&part, "num_layers"));
  return layers && *layers >= static_cast<std::int64_t>(many);
}

// The name of a row of layers, such as "blocks"; empty if there is none.
std::string layers_of(const Record& record, const Instance& module, int depth = 0) {
  constexpr int deepest_named = 3;  // `model.transformer.encoder.blocks` is as long as a name gets
  if (depth == 0 && is_row_of_layers(module)) return "the model";
  if (is_stack(record, module)) return "`layers`";
  for (const auto& [name, slot] : module.attributes.entries()) {
    if (!slot->value.is(Kind::instance) || values::is_kept(name.text())) continue;
    const Instance& part = *slot->value.as<Instance>();
    if (is_row_of_layers(part)) return "`" + std::string(name.text()) + "`";
    if (holds_layers(part)) continue;
    if (depth < deepest_named) {
      if (const std::string inner = layers_of(record, part, depth + 1); !inner.empty())
        return "`" + std::string(name.text()) + "." + inner.substr(1);
    }
  }
  return {};
}

bool is_sharded_inside(const Instance& module, const std::vector<Wrap>& wraps) {
  Parts parts;
  parts.add(Value::of(Kind::instance, const_cast<Instance*>(&module)));
  if (!parts.complete) return true;
  return std::any_of(wraps.begin(), wraps.end(), [&](const Wrap& each) {
    const Value one = each.in_place ? each.module : each.event->self;
    // Of a row of modules, or one that is not known, it may be any part.
    return !one.is(Kind::instance) || (one.object() != &module && parts.found.contains(one.object()));
  });
}

void check(const Record& record, Report& report) {
  Once once;
  for (const auto& root : record.roots) {
    const std::vector<Wrap>& wraps = wraps_in(record, *root);
    for (const Wrap& wrap : wraps) {
      if (!wrap.module.is(Kind::instance) || (!wrap.in_place && !wrap.leaves_out("auto_wrap_policy")))
        continue;
      const Instance& module = *wrap.module.as<Instance>();
      const std::string layers = layers_of(record, module);
      if (layers.empty() || is_sharded_inside(module, wraps) || !once(wrap.event->place)) continue;
      report.add(Severity::information, wrap.event->place, wrap.event->calls,
          wrap.in_place
              ? "Only the whole model is sharded, so each forward gathers all parameters at once and keeps them until the backward. Call `fully_shard` on each layer of " +
                  layers + " first: then one layer is gathered at a time, while the one before computes."
              : "Without an `auto_wrap_policy` the whole model is one unit: each forward gathers all parameters at once and keeps them until the backward. Pass a `ModuleWrapPolicy` with the class of the layers of " +
                  layers + ": then one layer is gathered at a time, while the one before computes.");
    }
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "fsdp/one-unit",
    .severity = Severity::information,
    .summary = "a model of many layers is sharded as one unit, and gathered as one",
    .why =
        "FSDP gathers the parameters of a unit before its forward and again before its backward. A model that is one unit needs room for all of its "
        "parameters at once, which is what sharding was to avoid, and nothing can be sent while something is computed. With a unit for each "
        "layer the peak is one layer, and the next one comes meanwhile.",
    .wrong = "model = FullyShardedDataParallel(transformer)\n",
    .right = "model = FullyShardedDataParallel(transformer, auto_wrap_policy=ModuleWrapPolicy({Block}))\n",
    .silent =
        "Models without a row of at least four layers of their own; models of which a part is sharded, too; policies that are not known.",
    .fix = "None: which class is a layer has to be chosen.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::fsdp::one_unit
