// loop/left-out-parameters: parameters that the loss trains and that fell between the groups of the
// optimizer: other parameters of their layers are in it.
#include "rules/rule.hpp"
#include "rules/training/absent.hpp"
#include "rules/training/handed.hpp"
#include "rules/training/methods.hpp"
#include "rules/training/parts.hpp"
#include "values/kept.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace stepzero::rules {

using values::code;

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

// The tensors of all optimizers of a scene; nullopt if they are not all known.
std::optional<std::set<const Object*>> taken_by_all(const TrainingRoot& scene) {
  std::set<const Object*> taken;
  for (const TrainingEvent& each : scene.all) {
    if (each.event->row->operation != Operation::optimizer_made) continue;
    const Value tensors = attribute(each.event->self.object(), values::LoaderState::tensors);
    if (!tensors.is(Kind::tuple)) return std::nullopt;
    for (const Value& tensor : tensors.as<values::Tuple>()->items) taken.insert(tensor.object());
  }
  return taken;
}

// What of the trained parameters of a layer is in an optimizer.
struct Share {
  std::vector<std::string> left;  // the names of the others
  std::size_t taken = 0;
};
Share share_of(const Instance& layer, const std::set<const Object*>& taken) {
  Share share;
  for (const auto& [name, slot] : layer.attributes.entries()) {
    const auto* tensor = slot->value.is(Kind::tensor) ? slot->value.as<values::Tensor>() : nullptr;
    if (!tensor || tensor->role != values::TensorRole::parameter) continue;
    if (taken.contains(tensor))
      ++share.taken;
    else if (tensor->now()->requires_grad == values::Known::yes)
      share.left.emplace_back(name.text());
  }
  return share;
}

std::string class_of(const Instance& layer) {
  return layer.native ? std::string(layer.native->path.substr(layer.native->path.rfind('.') + 1)) : "layer";
}

void look_at(const Record& record, const TrainingRoot& scene, Report& report, Once& once) {
  if (scene.handed_over || scene.root->truncated || scene.optimizers.empty() ||
      std::ranges::any_of(scene.optimizers,
          [&](const Object* each) { return !is_made(scene, each) || escapes(record, scene, each, nullptr); }))
    return;
  const auto taken = taken_by_all(scene);
  if (!taken || taken->empty()) return;
  for (const TrainingEvent& backward : scene.all) {
    const values::TensorState* loss = backward.event->row->operation == Operation::backward &&
            !backward.loops.empty() && repeats(*backward.loops.back())
        ? backward.event->self_state()
        : nullptr;
    if (!loss) continue;
    // Who trains only one kind of parameter, as the biases, has all layers in part.
    std::size_t whole = 0;
    std::map<const Instance*, Share> in_part;
    for (const Object* source : loss->graph) {
      const auto* layer = dynamic_cast<const Instance*>(source);
      if (!layer) continue;
      Share share = share_of(*layer, *taken);
      if (share.taken > 1 && share.left.empty()) ++whole;
      if (share.taken > 0 && !share.left.empty()) in_part.emplace(layer, std::move(share));
    }
    if (in_part.empty() || whole < in_part.size()) continue;
    const auto made = std::ranges::find_if(scene.all,
        [](const TrainingEvent& each) { return each.event->row->operation == Operation::optimizer_made; });
    if (!once(made->event->place)) continue;
    // In the order of the program.
    const auto first = std::ranges::min_element(in_part, {},
        [](const auto& each) { return std::pair(each.first->born.chunk, each.first->born.span.begin); });
    const std::string layers = in_part.size() == 1 ? "one layer" : std::to_string(in_part.size()) + " layers";
    Finding* finding = report.add(Severity::warning, made->event->place, made->event->calls,
        "The " + code(first->second.left.front()) + " of " + layers + ", such as a " +
            code(class_of(*first->first)) +
            ", is in no optimizer, though other parameters of the same layers are: it is never trained. Give each parameter to one of the groups.");
    if (!finding) continue;
    report.relate(*finding, first->first->born, "the layer");
    report.relate(*finding, backward.event->place, "the loss goes through it");
  }
}

void check(const Record& record, Report& report) {
  Once once;
  for (const auto* scenes : {&Training::of(record).scenes(), &StepMethods::of(record).scenes()})
    for (const TrainingRoot& scene : *scenes) look_at(record, scene, report, once);
}

}  // namespace

extern constexpr Rule left_out_parameters = complete({
    .id = "loop/left-out-parameters",
    .severity = Severity::warning,
    .summary = "parameters fell between the groups of the optimizer",
    .why =
        "Parameters are put into groups by their names or their number of dimensions, so that weight decay spares biases and norms. A parameter that fits none of the conditions is in no group: its gradient is computed and never applied, `zero_grad` of the optimizer does not clear it, and nothing fails.",
    .wrong =
        "decayed = [p for p in model.parameters() if p.ndim >= 2]\n"
        "plain = [p for n, p in model.named_parameters() if n.endswith(\"bias\")]  # no weight of a norm\n"
        "optimizer = torch.optim.AdamW([{\"params\": decayed}, {\"params\": plain, \"weight_decay\": 0.0}])\n",
    .right =
        "decayed = [p for p in model.parameters() if p.ndim >= 2]\n"
        "plain = [p for p in model.parameters() if p.ndim < 2]\n"
        "optimizer = torch.optim.AdamW([{\"params\": decayed}, {\"params\": plain, \"weight_decay\": 0.0}])\n",
    .silent =
        "Frozen parameters; whole layers that no optimizer has, as the trunk under a trained head; programs that train one kind of parameter alone, as the biases; optimizers whose parameters are not known.",
    .fix = "None: which group is meant is to be decided.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules
