#include "rules/loop/replaced_layers.hpp"

#include "rules/source.hpp"
#include "rules/training/absent.hpp"
#include "rules/training/handed.hpp"
#include "rules/training/methods.hpp"
#include "rules/training/optimized.hpp"
#include "rules/training/parts.hpp"
#include "rules/training/training_loops.hpp"
#include "values/kept.hpp"
#include "values/limits.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::rules::loop {

using values::code;

using namespace interpreter;
using values::Kind;
using values::Operation;

const Object* module_of(Value optimizer) {
  const values::Slot* parameters = optimizer.is(Kind::instance)
      ? optimizer.as<Instance>()->attributes.find(syntax::Name(values::OptimizerState::parameters))
      : nullptr;
  if (!parameters || !parameters->value.is(Kind::instance)) return nullptr;
  const values::Slot* of = parameters->value.as<Instance>()->attributes.find(
      syntax::Name(values::OptimizerState::of));
  return of ? of->value.object() : nullptr;
}

bool is_made_after(const Record& record, const Instance& layer, const OperationEvent& made) {
  return record.in_file(layer.born) && record.in_file(made.place) &&
      record.span(layer.born).begin >= record.span(made.place).end &&
      definition_around(record, layer.born) == definition_around(record, made.place);
}

namespace {

// Whose parameters it was given in a list of those that are not known one by one, some of them left out.
const Object* module_of_list(Value optimizer) {
  const values::Slot* parameters = optimizer.is(Kind::instance)
      ? optimizer.as<Instance>()->attributes.find(syntax::Name(values::OptimizerState::parameters))
      : nullptr;
  if (!parameters || !(parameters->value.is(Kind::list) || parameters->value.is(Kind::iterator)))
    return nullptr;
  const Value any = values::Heap::list_state(parameters->value)->rest;
  const values::TensorState* one = any.is(Kind::tensor) ? any.as<values::Tensor>()->now() : nullptr;
  return one && one->made ? one->made->self.object() : nullptr;
}

// What leads from the module to its part: "fc", "layers.0".
std::string path_to(const Instance& module, const Object* part, int depth = 0) {
  const auto within = [&](Value held, std::string name) -> std::string {
    if (!held.is(Kind::instance)) return {};
    if (held.object() == part) return name;
    const std::string rest = depth > values::deepest_search ? ""
                                                            : path_to(*held.as<Instance>(), part, depth + 1);
    return rest.empty() ? rest : name + "." + rest;
  };
  for (const auto& [name, slot] : module.attributes.entries()) {
    if (name.text() == values::ContainerState::items && slot->value.is(Kind::list)) {
      const auto& items = values::Heap::list_state(slot->value)->items;
      for (std::size_t at = 0; at < items.size(); ++at)
        if (std::string found = within(items[at], std::to_string(at)); !found.empty()) return found;
    }
    if (values::is_kept(name.text())) continue;
    if (std::string found = within(slot->value, std::string(name.text())); !found.empty()) return found;
  }
  return "";
}

// The modules whose layers an optimizer was meant to have: that whose parameters it was given and, where it
// was given groups or a list, those that are called and of which it has a part.
std::vector<Value> meant_modules(
    const TrainingRoot& training_root, const OperationEvent& made, const std::set<const Object*>& taken) {
  if (dynamic_cast<const Instance*>(module_of(made.self)))
    return {Value::of(Kind::instance, module_of(made.self))};
  std::vector<Value> found;
  for (const TrainingEvent& each : training_root.all) {
    if (each.event->row->operation != Operation::forward || !each.event->self.is(Kind::instance)) continue;
    Parts parts;
    parts.add(each.event->self);
    const bool known = std::any_of(
        found.begin(), found.end(), [&](const Value& other) { return other == each.event->self; });
    if (!known && std::any_of(parts.found.begin(), parts.found.end(), [&](const Object* part) {
          return taken.contains(part);
        }))
      found.push_back(each.event->self);
  }
  return found;
}

// A layer that the loss goes through is a part of the optimizer's module, and came there when the optimizer
// was made already.
void look_for_replaced(const Record& record, const TrainingRoot& training_root, Report& report, Once& once) {
  const auto taken = all_taken(training_root);
  if (!taken) return;
  for (const TrainingEvent& made : training_root.all) {
    if (made.event->row->operation != Operation::optimizer_made) continue;
    const bool whole = dynamic_cast<const Instance*>(module_of(made.event->self));
    for (const Value& module : meant_modules(training_root, *made.event, *taken)) {
      Parts parts;
      parts.add(module);
      bool after = false;
      for (const TrainingEvent& each : training_root.all) {
        after = after || each.event == made.event;
        const values::TensorState* loss = after ? trained_loss(each) : nullptr;
        if (!loss) continue;
        for (const Object* source : loss->graph) {
          const auto* layer = dynamic_cast<const Instance*>(source);
          if (!layer || !parts.found.contains(layer)) continue;
          // Of groups it may have been left out on purpose.
          if (!whole && !is_made_after(record, *layer, *made.event)) continue;
          const auto own = own_parameters(*layer);
          const bool new_one = !own.empty() &&
              std::none_of(own.begin(), own.end(), [&](const values::Tensor* tensor) {
                return taken->contains(tensor) || tensor->now()->requires_grad != values::Known::yes;
              });
          const std::string path = new_one ? path_to(*module.as<Instance>(), layer) : "";
          if (path.empty() || !once(made.event->place)) continue;
          const std::string kind = class_of(*layer);
          Finding* finding = report.add(Severity::error, made.event->place, made.event->calls,
              "This optimizer was created before " + code(path) +
                  " was put into the model: it holds the old parameters, and the new " + code(kind) +
                  " is never trained. Create the optimizer after it.");
          if (!finding) continue;
          report.relate(*finding, layer->born, "the " + kind + " that no optimizer steps");
          report.relate(*finding, each.event->place, "the loss goes through it");
        }
      }
    }
  }
}

// The same of a model that is not seen: whether its forward goes through the layer is not known.
void look_for_replaced_in_unseen(
    const Record& record, const TrainingRoot& training_root, Report& report, Once& once) {
  if (training_root.optimizers.size() != 1) return;
  for (const TrainingEvent& made : training_root.all) {
    if (made.event->row->operation != Operation::optimizer_made || !made.loops.empty() ||
        !made.turns.empty() || !record.in_file(made.event->place))
      continue;
    const auto* module = dynamic_cast<const values::Unknown*>(module_of(made.event->self));
    if (!module) continue;
    const TrainingEvent *step = nullptr, *backward = nullptr;
    for (const TrainingEvent& each : training_root.all) {
      if (each.loops.empty() || !repeats(*each.loops.back())) continue;
      if (stepped_optimizer(*each.event).object() == training_root.standing(made.event->self.object()))
        step = &each;
      if (each.event->row->operation == Operation::backward) backward = &each;
    }
    if (!step || !backward) continue;
    for (const auto& [name, slot] : module->attributes.entries()) {
      if (values::is_kept(name.text()) || !slot->value.is(Kind::instance)) continue;
      const Instance& layer = *slot->value.as<Instance>();
      const auto own = own_parameters(layer);
      if (own.empty() || std::any_of(own.begin(), own.end(), [](const values::Tensor* tensor) {
            return tensor->now()->requires_grad != values::Known::yes;
          }))
        continue;
      if (!is_made_after(record, layer, *made.event)) continue;
      if (!once(made.event->place)) continue;
      const std::string kind = class_of(layer);
      Finding* finding = report.add(Severity::warning, made.event->place, made.event->calls,
          "This optimizer was created before " + code(name.text()) +
              " was put into the model: it holds the old parameters, and if the model uses the new " +
              code(kind) + ", that is never trained. Create the optimizer after it.");
      if (!finding) continue;
      report.relate(*finding, layer.born, "the " + kind + " that no optimizer steps");
      report.relate(*finding, step->event->place, "the step");
    }
  }
}

// A call froze the whole module and put new parameters into it (adapters), when the optimizer was made
// already.
void look_for_adapted(const Record& record, const TrainingRoot& training_root, Report& report, Once& once) {
  for (std::size_t at = 0; at < training_root.all.size(); ++at) {
    const OperationEvent& adapts = *training_root.all[at].event;
    if (adapts.row->operation != Operation::trained_from_here ||
        adapts.row->kind != values::RowKind::function || adapts.arguments.empty() ||
        !adapts.arguments[0].object() || !training_root.all[at].turns.empty())
      continue;
    for (std::size_t i = 0; i < at; ++i) {
      const TrainingEvent& made = training_root.all[i];
      if (made.event->row->operation != Operation::optimizer_made || !made.turns.empty() ||
          !made.loops.empty() ||
          (module_of(made.event->self) != adapts.arguments[0].object() &&
              module_of_list(made.event->self) != adapts.arguments[0].object()))
        continue;
      const auto step = std::find_if(training_root.all.begin() + static_cast<std::ptrdiff_t>(at),
          training_root.all.end(), [&](const TrainingEvent& each) {
            return stepped_optimizer(*each.event).object() ==
                training_root.standing(made.event->self.object()) &&
                !each.loops.empty();
          });
      if (step == training_root.all.end() || !once(made.event->place)) continue;
      const std::string by = adapts.expr
          ? code(std::string(record.text({adapts.place.chunk, adapts.expr->function->span})))
          : "this call";
      Finding* finding = report.add(Severity::warning, made.event->place, made.event->calls,
          "This optimizer was created before " + by +
              " froze the model and put its adapters in: it holds the frozen weights, and the adapters are never trained. Create the optimizer after it.");
      if (!finding) continue;
      report.relate(*finding, adapts.place, "the adapters are made here");
      report.relate(*finding, step->event->place, "the step");
    }
  }
}

// A parameter that no optimizer has taken, because it was frozen then, is to be trained.
void look_for_unfrozen(const Record& record, const TrainingRoot& training_root, Report& report, Once& once) {
  const auto taken = all_taken(training_root);
  if (!taken || taken->empty()) return;
  const OperationEvent* made = nullptr;
  for (const TrainingEvent& each : training_root.all) {
    if (each.event->row->operation == Operation::optimizer_made) made = each.event;
    const auto& arguments = each.event->arguments;
    if (!made || each.event->row->operation != Operation::trained_from_here || arguments.empty() ||
        !arguments.back().is(Kind::boolean) ||
        record.symbols.decide(arguments.back().condition()) != Answer::yes)
      continue;
    const auto* tensor = each.event->self.is(Kind::tensor) ? each.event->self.as<values::Tensor>() : nullptr;
    if (!tensor || tensor->role != values::TensorRole::parameter || taken->contains(tensor)) continue;
    const OperationEvent* loss = nullptr;
    for (const TrainingEvent& other : training_root.all)
      if (const values::TensorState* through = trained_loss(other))
        for (const Object* source : through->graph)
          if (const auto* layer = dynamic_cast<const Instance*>(source))
            for (const values::Tensor* own : own_parameters(*layer))
              if (own == tensor) loss = other.event;
    if (!loss || !once(each.event->place)) continue;
    Finding* finding = report.add(Severity::error, each.event->place, each.event->calls,
        "This parameter requires a gradient from here on, but no optimizer has it: it was frozen when the optimizer was created. Add it with `add_param_group`, or create a new optimizer.");
    if (!finding) continue;
    report.relate(*finding, made->place, "the optimizer took what was not frozen then");
    report.relate(*finding, loss->place, "gradients that no optimizer applies");
  }
}

}  // namespace

void look_for_layers_made_later(
    const Record& record, const TrainingRoot& training_root, Report& report, Once& once) {
  look_for_adapted(record, training_root, report, once);
  look_for_replaced(record, training_root, report, once);
  look_for_replaced_in_unseen(record, training_root, report, once);
  look_for_unfrozen(record, training_root, report, once);
}

}  // namespace stepzero::rules::loop
