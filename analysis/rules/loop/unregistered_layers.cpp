// loop/unregistered-layers: layers in a plain list or dict of a module, which its parameters() does not find.
#include "rules/rule.hpp"
#include "rules/training/parts.hpp"
#include "rules/training/training.hpp"
#include "values/kept.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <functional>

namespace stepzero::rules::loop::unregistered_layers {

using values::code;
using values::Kind;
using values::Operation;

namespace {

constexpr int deepest = 8;  // modules in modules

bool has_parameters(const Instance& layer) {
  return std::ranges::any_of(layer.attributes.entries(), [](const auto& entry) {
    const Value held = entry.second->value;
    return held.is(Kind::tensor) && held.as<values::Tensor>()->role == values::TensorRole::parameter;
  });
}

// The values that lie in a list, tuple or dict of the program's own; empty for everything else.
std::vector<Value> items_of(Value value) {
  if (value.is(Kind::list)) return values::Heap::list_state(value)->items;
  if (value.is(Kind::tuple)) {
    const auto& items = value.as<values::Tuple>()->items;
    return {items.begin(), items.end()};
  }
  std::vector<Value> found;
  if (value.is(Kind::dict))
    for (const auto& [key, item] : values::Heap::dict_state(value)->items) found.push_back(item);
  return found;
}

// What a module registers: itself, the modules that are its attributes, and what containers of PyTorch hold.
void collect_registered(Value module, std::set<const Object*>& found, int depth = 0) {
  if (!module.is(Kind::instance) || depth > deepest || !found.insert(module.object()).second) return;
  const auto& object = *module.as<Instance>();
  for (const auto& [name, slot] : object.attributes.entries()) {
    collect_registered(slot->value, found, depth + 1);
    if (object.native && !object.cls)
      for (const Value& item : items_of(slot->value)) collect_registered(item, found, depth + 1);
  }
}

struct Hidden {
  std::string attribute;
  Value container, layer;
};
// A single module in a list is kept from being registered on purpose: a teacher, a parent.
void collect_hidden(Value module, const std::set<const Object*>& registered, std::vector<Hidden>& found,
    std::set<const Object*>& seen, int depth = 0) {
  if (!module.is(Kind::instance) || depth > deepest || !seen.insert(module.object()).second) return;
  const auto& object = *module.as<Instance>();
  for (const auto& [name, slot] : object.attributes.entries()) {
    collect_hidden(slot->value, registered, found, seen, depth + 1);
    const std::vector<Value> items = items_of(slot->value);
    if (!object.cls) {
      for (const Value& item : items) collect_hidden(item, registered, found, seen, depth + 1);
      continue;
    }
    if (items.size() < 2 || values::is_kept(name.text())) continue;
    for (const Value& item : items) {
      std::set<const Object*> parts;
      collect_registered(item, parts);
      const auto layer = std::ranges::find_if(parts, [&](const Object* part) {
        return !registered.contains(part) && has_parameters(*static_cast<const Instance*>(part));
      });
      if (layer == parts.end()) continue;
      found.push_back({std::string(name.text()), slot->value, item});
      break;
    }
  }
}

// Has one of the optimizers a parameter of it, or is it not known what they have?
bool may_be_stepped(const TrainingRoot& root, Value layer) {
  Parts parts;
  parts.add(layer);
  std::set<const Object*> optimizers = root.optimizers;
  for (const auto& [one, stands] : root.stand_in) optimizers.insert(one);
  return std::ranges::any_of(optimizers, [&](const Object* optimizer) {
    const Value tensors = attribute(optimizer, values::LoaderState::tensors);
    return !tensors.is(Kind::tuple) ||
        std::ranges::any_of(tensors.as<values::Tuple>()->items,
            [&](const Value& tensor) { return parts.found.contains(tensor.object()); });
  });
}

void check(const Record& record, Report& report) {
  Once once;
  for (const TrainingRoot& root : Training::of(record).training_roots()) {
    if (root.optimizers.empty() || root.handed_over) continue;
    const auto backward = std::ranges::find_if(root.all, [](const TrainingEvent& each) {
      return each.event->row->operation == Operation::backward && each.event->self_state();
    });
    if (backward == root.all.end()) continue;
    for (const TrainingEvent& each : root.all) {
      if (each.event->row->operation != Operation::forward) continue;
      std::set<const Object*> registered, seen;
      collect_registered(each.event->self, registered);
      std::vector<Hidden> hidden;
      collect_hidden(each.event->self, registered, hidden, seen);
      for (const Hidden& one : hidden) {
        if (!reaches(*backward->event->self_state(), one.layer) || may_be_stepped(root, one.layer)) continue;
        const Place made = one.container.object()->born ? one.container.object()->born
                                                        : one.layer.object()->born;
        if (!made || !once(made)) continue;
        const bool keyed = one.container.is(Kind::dict);
        Finding* finding = report.add(Severity::warning, made, nullptr,
            "The layers in " + code(one.attribute) + " are in a plain " +
                (keyed                                 ? "dict"
                        : one.container.is(Kind::list) ? "list"
                                                       : "tuple") +
                ", so the module does not register them: `parameters()` leaves them out, and they are never trained, moved or saved. Use " +
                code(keyed ? "nn.ModuleDict" : "nn.ModuleList") + ".");
        if (finding)
          report.relate(*finding, backward->event->place, "this backward computes their gradients");
      }
    }
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "loop/unregistered-layers",
    .severity = Severity::warning,
    .summary = "layers in a plain list or dict, which no optimizer gets",
    .why =
        "A module registers the modules that are its attributes, and what `nn.ModuleList`, `nn.ModuleDict` and `nn.Sequential` hold. Of a plain "
        "list it knows nothing: `parameters()`, `to()`, `state_dict()` and `train()` leave its layers out. The forward uses them as they were "
        "made, and nothing is raised (measured: after 50 steps they have moved by 0.0).",
    .wrong = "class Net(nn.Module):\n"
             "    def __init__(self):\n"
             "        super().__init__()\n"
             "        self.layers = [nn.Linear(8, 8), nn.Linear(8, 2)]\n",
    .right = "class Net(nn.Module):\n"
             "    def __init__(self):\n"
             "        super().__init__()\n"
             "        self.layers = nn.ModuleList([nn.Linear(8, 8), nn.Linear(8, 2)])\n",
    .silent =
        "Lists of layers that are registered as well (`add_module`, another attribute); a single module in a list, which hides it on purpose; "
        "layers that an optimizer was given by themselves; layers without parameters; layers that the loss does not reach.",
    .fix = "None: a layer may be kept out of the model on purpose, and then the optimizer wants it.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::loop::unregistered_layers
