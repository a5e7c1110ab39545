// loop/left-out-parameters: parameters that the loss trains and that fell between the groups of the
// optimizer: other parameters of their layers are in it.
#include "rules/rule.hpp"
#include "rules/training/absent.hpp"
#include "rules/training/evaluation.hpp"
#include "rules/training/handed.hpp"
#include "rules/training/methods.hpp"
#include "rules/training/optimized.hpp"
#include "rules/training/parts.hpp"
#include "values/kept.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace stepzero::rules::loop::left_out_parameters {

using values::code;

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

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

// The parts of a model, or of what trains it, by name.
std::vector<std::pair<std::string, const Instance*>> parts_by_name(const Instance& whole) {
  std::vector<std::pair<std::string, const Instance*>> found;
  for (const auto& [name, slot] : whole.attributes.entries())
    if (slot->value.is(Kind::instance) && !values::is_kept(name.text()))
      found.emplace_back(std::string(name.text()), slot->value.as<Instance>());
  return found;
}

// Of the layers of a loss those that belong to the part: how many an optimizer has, and how many are to be
// trained and are in none.
struct Reached {
  std::size_t taken = 0, left = 0, others = 0;
};
Reached reached_of(
    const Instance& part, const values::TensorState& loss, const std::set<const Object*>& taken) {
  Parts parts;
  parts.add(Value::of(Kind::instance, &part));
  Reached reached;
  for (const Object* source : loss.graph) {
    if (!parts.found.contains(source)) continue;
    const auto* tensor = dynamic_cast<const values::Tensor*>(source);
    if (tensor && tensor->role == values::TensorRole::parameter) {
      if (taken.contains(tensor))
        ++reached.taken;
      else if (tensor->now()->requires_grad == values::Known::yes)
        ++reached.left;
      continue;
    }
    const auto* layer = dynamic_cast<const Instance*>(source);
    if (!layer) continue;
    const Share share = share_of(*layer, taken);
    ++(share.taken > 0 ? reached.taken : share.left.empty() ? reached.others : reached.left);
  }
  return reached;
}

// What was given weights from elsewhere, as a network that a loss compares by: its state was loaded, or that
// of what it is a part of, or it was put into evaluation mode itself.
std::set<const Object*> may_be_loaded(const Record& record) {
  std::set<const Object*> found;
  const auto is_of_models = with_operation(Operation::state_put, Operation::eval_mode);
  visit_operations(record, is_of_models, [&](const OperationEvent& operation) {
    const Operation what = operation.row->operation;
    if (operation.self.object()) found.insert(operation.self.object());
    if (what != Operation::state_put) return;
    Parts parts;
    parts.add(operation.self);
    found.insert(parts.found.begin(), parts.found.end());
  });
  return found;
}

// The one part that no optimizer has anything of, where it has several of the others. Who trains one part
// alone leaves the rest as it is.
std::optional<std::string> left_part(const Instance& whole, const values::TensorState& loss,
    const std::set<const Object*>& taken, const std::set<const Object*>& loaded) {
  std::size_t in = 0;
  std::optional<std::string> left;
  for (const auto& [name, part] : parts_by_name(whole)) {
    const Reached reached = reached_of(*part, loss, taken);
    if (reached.taken > 0) ++in;
    if (reached.taken > 0 || reached.left == 0) continue;
    if (left || reached.others > 0 || loaded.contains(part)) return std::nullopt;
    left = name;
  }
  return in > 1 ? left : std::nullopt;
}

void look_for_part(const TrainingRoot& training_root, const OperationEvent& made,
    const std::set<const Object*>& taken, Report& report, Once& once) {
  std::set<const Instance*> wholes;
  for (const TrainingEvent& each : training_root.all)
    if (each.event->row->operation == Operation::forward && each.event->self.is(Kind::instance))
      wholes.insert(each.event->self.as<Instance>());
  if (wholes.empty()) return;
  const std::set<const Object*> loaded = may_be_loaded(report.record());
  for (const TrainingEvent& backward : training_root.all) {
    const values::TensorState* loss = trained_loss(backward);
    if (!loss) continue;
    for (const Instance* whole : wholes) {
      const auto part = left_part(*whole, *loss, taken, loaded);
      if (!part || !once(made.place)) continue;
      Finding* finding = report.add(Severity::information, made.place, made.calls,
          "The optimizer has parameters of the other parts of the model and none of " + code(*part) +
              ", which the loss goes through: it stays as it was made. Add its parameters, or freeze it to say so.");
      if (!finding) continue;
      report.relate(*finding, backward.event->place, "the loss");
    }
  }
}

// How many of an optimizer's parameters the loss goes through.
std::size_t count_reached(const values::TensorState& loss, const std::set<const Object*>& taken) {
  std::set<const Object*> reached;
  for (const Object* source : loss.graph) {
    if (taken.contains(source)) reached.insert(source);
    if (const auto* layer = dynamic_cast<const Instance*>(source))
      for (const auto& [name, slot] : layer->attributes.entries())
        if (taken.contains(slot->value.object())) reached.insert(slot->value.object());
  }
  return reached.size();
}

// Did the model compute its result from that of another of which an optimizer has parameters?
bool follows_trained(const OperationEvent& forward, const std::set<const Object*>& taken) {
  return forward.made && count_reached(*forward.made, taken) > 0;
}

// The last of several models, as a criterion with weights of its own, of which the one optimizer has nothing:
// what is trained comes before it. Who trains a head leaves the trunk before it as it is; what is loaded, or
// only evaluated, is there to be compared with.
void look_for_model(const Record& record, const TrainingRoot& training_root, const OperationEvent& made,
    const std::set<const Object*>& taken, Report& report, Once& once) {
  if (training_root.optimizers.size() != 1) return;
  std::map<const Instance*, const OperationEvent*> models;
  for (const TrainingEvent& each : training_root.all)
    if (each.event->row->operation == Operation::forward && each.event->self.is(Kind::instance) &&
        !each.event->self.as<Instance>()->symbolic)
      models.emplace(each.event->self.as<Instance>(), each.event);
  if (models.size() < 2) return;
  const std::set<const Object*> loaded = may_be_loaded(record);
  for (const TrainingEvent& backward : training_root.all) {
    const values::TensorState* loss = trained_loss(backward);
    if (!loss || !loss->graph_complete || count_reached(*loss, taken) != taken.size()) continue;
    for (const auto& [model, called] : models) {
      const Reached reached = reached_of(*model, *loss, taken);
      if (reached.taken > 0 || reached.left == 0 || reached.others > 0 || loaded.contains(model) ||
          !follows_trained(*called, taken) || escapes(record, training_root, model, nullptr))
        continue;
      const std::string name = called_text(record, *called);
      if (name.empty() || !once(made.place)) continue;
      Finding* finding = report.add(Severity::information, made.place, made.calls,
          "The optimizer has none of the parameters of " + code(name) +
              ", which the loss goes through as it does through what is trained: it stays as it was made. Add its parameters, or freeze it to say so.");
      if (!finding) continue;
      report.relate(*finding, called->place, "it is called here");
      report.relate(*finding, backward.event->place, "the loss");
    }
  }
}

void look_at(const Record& record, const TrainingRoot& training_root, Report& report, Once& once) {
  if (training_root.handed_over || training_root.root->truncated || training_root.optimizers.empty() ||
      std::ranges::any_of(training_root.optimizers, [&](const Object* each) {
        return !is_made(training_root, each) || escapes(record, training_root, each, nullptr);
      }))
    return;
  const auto taken = all_taken(training_root);
  const auto first_made = std::ranges::find_if(training_root.all,
      [](const TrainingEvent& each) { return each.event->row->operation == Operation::optimizer_made; });
  if (!taken || taken->empty() || first_made == training_root.all.end()) return;
  const OperationEvent& made = *first_made->event;
  look_for_part(training_root, made, *taken, report, once);
  look_for_model(record, training_root, made, *taken, report, once);
  for (const TrainingEvent& backward : training_root.all) {
    const values::TensorState* loss = trained_loss(backward);
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
    if (!once(made.place)) continue;
    // In the order of the program.
    const auto first = std::ranges::min_element(in_part, {},
        [](const auto& each) { return std::pair(each.first->born.chunk, each.first->born.span.begin); });
    const std::string layers = in_part.size() == 1 ? "one layer" : std::to_string(in_part.size()) + " layers";
    Finding* finding = report.add(Severity::warning, made.place, made.calls,
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
  for (const auto* training_roots :
      {&Training::of(record).training_roots(), &StepMethods::of(record).training_roots()})
    for (const TrainingRoot& training_root : *training_roots) look_at(record, training_root, report, once);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "loop/left-out-parameters",
    .severity = Severity::warning,
    .summary = "parameters that the loss trains are in no optimizer, though those beside them are",
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
        "Frozen parameters; a model of which one part alone is trained, as the head on a trunk, or of which a part was loaded or put into evaluation mode, as a network that a loss compares by; programs that train one kind of parameter alone, as the biases; optimizers whose parameters are not known.",
    .fix = "None: decide which group is meant.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::loop::left_out_parameters
