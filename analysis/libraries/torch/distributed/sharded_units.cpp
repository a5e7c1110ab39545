#include "libraries/torch/distributed/sharded_units.hpp"

#include "values/devices.hpp"
#include "values/kept.hpp"
#include "values/limits.hpp"

#include <algorithm>

namespace stepzero::libraries {

void Flattened::add_part(Runtime& run, std::string_view name, Value part) {
  const std::size_t before = path.size();
  path += (path.empty() ? "" : ".") + std::string(name);
  const Value value = run.resolve(part);
  bool is_unit = false;
  for (const Value& cls : classes ? *classes : std::vector<Value>()) {
    const Answer answer = run.is_instance(value, cls);
    is_unit = is_unit || answer == Answer::yes;
    is_unsure = is_unsure || answer == Answer::unknown;
  }
  if (is_unit) {
    Flattened inner;
    inner.classes = classes, inner.path = path, inner.depth = depth;
    inner.add(run, value);
    mixed_unit = mixed_unit || inner.is_mixed();
    on_cpu = on_cpu || inner.on_cpu;
    if (!place) place = inner.place;
    is_one_unit = is_one_unit && inner.is_one_unit;
    is_unsure = is_unsure || inner.is_unsure;
    units.push_back(path);
    units.insert(units.end(), inner.units.begin(), inner.units.end());
  } else {
    add(run, value);
  }
  path.resize(before);
}

// Does a parameter of it lie on the CPU, whichever of several it is?
static bool lies_on_cpu(Runtime& run, Value part, int depth) {
  part = run.resolve(part);
  if (part.is(Kind::choice))
    return depth < values::most_choices && lies_on_cpu(run, part.as<values::Choice>()->yes, depth + 1) &&
        lies_on_cpu(run, part.as<values::Choice>()->no, depth + 1);
  if (part.is(Kind::tensor))
    return part.as<Tensor>()->role == values::TensorRole::parameter &&
        values::is_cpu(part.as<Tensor>()->now()->device);
  Flattened parts;
  parts.depth = depth;
  parts.add(run, part);
  return parts.on_cpu;
}

void Flattened::add(Runtime& run, Value value) {
  value = run.resolve(value);
  is_one_unit = is_one_unit && depth <= values::deepest_module && !value.is(Kind::unknown);
  if (value.is(Kind::choice)) on_cpu = on_cpu || lies_on_cpu(run, value, depth);
  if (!value.is(Kind::instance) || depth >= values::deepest_module) return;
  ++depth;
  const auto& part = *value.as<Instance>();
  // Nested wrappers have units of their own.
  const bool own_unit = part.native && part.native->path.ends_with("FullyShardedDataParallel");
  is_one_unit = is_one_unit && !own_unit;
  if (!own_unit)
    for (const auto& [name, slot] : std::vector(part.attributes.entries())) {
      const Value each = slot->value;
      is_one_unit = is_one_unit && !each.is(Kind::unknown) && !each.is(Kind::choice);
      if (each.is(Kind::tensor) && each.as<Tensor>()->role == values::TensorRole::parameter) {
        const Known now = run.heap().requires_grad(*each.as<Tensor>()->now());
        trained = trained || now == Known::yes;
        frozen = frozen || now == Known::no;
        if (!place) place = each.as<Tensor>()->now()->device;
        // With a base that is not seen it may be no module.
        on_cpu = on_cpu ||
            (values::is_cpu(each.as<Tensor>()->now()->device) && run.is_a(value, "torch.nn.Module"));
      } else if (each.is(Kind::instance)) {
        add_part(run, name.text(), each);
      } else if (each.is(Kind::choice)) {
        on_cpu = on_cpu || (lies_on_cpu(run, each, depth) && run.is_a(value, "torch.nn.Module"));
      } else if (each.is(Kind::list) && name.text() == values::ContainerState::items) {
        const std::vector<Value> items = values::Heap::list_state(each)->items;
        for (std::size_t i = 0; i < items.size(); ++i) add_part(run, std::to_string(i), items[i]);
      }
    }
  --depth;
}

std::optional<std::vector<Value>> unit_classes(Runtime& run, Value policy, values::Place place) {
  policy = run.resolve(policy);
  if (!policy || policy.is(Kind::none)) return std::vector<Value>();
  Value given;
  if (policy.is(Kind::instance)) {
    given = kept(run, *policy.as<Instance>(), values::WrapperState::wrapped);
  } else if (policy.is(Kind::partial)) {
    const auto& partial = *policy.as<values::Partial>();
    if (!partial.function.is(Kind::library) ||
        !partial.function.as<values::LibrarySymbol>()->path.ends_with(".transformer_auto_wrap_policy"))
      return std::nullopt;
    for (const auto& [name, value] : partial.keywords)
      if (name.text() == "transformer_layer_cls") given = value;
  }
  return given ? run.elements(run.resolve(given), place) : std::nullopt;
}

namespace {
// What it was made of stays with it.
Value policy_made(Call& call) {
  keep(call, values::WrapperState::wrapped, call.at(0));
  return {};
}
}  // namespace

Row wrap_policy_row() {
  return row("torch.distributed.fsdp.wrap.ModuleWrapPolicy", RowKind::class_, "module_classes", policy_made);
}

}  // namespace stepzero::libraries
