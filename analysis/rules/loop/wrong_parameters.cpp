// loop/wrong-parameters: an optimizer of parameters that no loss of the loop reaches.
#include "rules/condition_text.hpp"
#include "rules/loop/empty_group.hpp"
#include "rules/loop/replaced_layers.hpp"
#include "rules/rule.hpp"
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
#include <optional>

namespace stepzero::rules::loop::wrong_parameters {

using values::code;

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

// Does the optimizer step in one of the loops? Of other loops' gradients it need not know.
bool steps_in(
    const TrainingRoot& training_root, const std::vector<const LoopEvent*>& loops, Value optimizer) {
  return std::any_of(training_root.all.begin(), training_root.all.end(), [&](const TrainingEvent& each) {
    return stepped_optimizer(*each.event).object() == optimizer.object() && !each.loops.empty() &&
        std::find(loops.begin(), loops.end(), each.loops.back()) != loops.end();
  });
}

// Have two optimizers the parameters of one module, or the same list of them?
bool of_the_same(Value one, Value other) {
  if (const Object* module = module_of(one)) return module == module_of(other);
  const auto taken = [](Value optimizer) {
    std::set<const Object*> found;
    if (const Value tensors = attribute(optimizer.object(), values::LoaderState::tensors);
        tensors.is(Kind::tuple))
      for (const Value& tensor : tensors.as<values::Tuple>()->items) found.insert(tensor.object());
    return found;
  };
  const auto mine = taken(one);
  return !mine.empty() && mine == taken(other);
}

// Another optimizer of those that the program chooses this one from.
bool is_alternative(const TrainingRoot& training_root, const OperationEvent& made, Value optimizer) {
  return made.row->operation == Operation::optimizer_made && made.self.is(Kind::instance) &&
      made.self.object() != optimizer.object() &&
      training_root.standing(made.self.object()) == training_root.standing(optimizer.object());
}

// " when `args.adam`": where the program chooses this one, if that can be said.
std::string chosen_when(const Record& record, const TrainingEvent& made) {
  return made.turns.empty() ? std::string() : when_text(record, made.turns.back());
}

// What a loop does with an optimizer, where it is the one that the program chooses.
struct Use {
  const OperationEvent *step = nullptr,
                       *homeless = nullptr;  // a backward whose gradients neither it nor another steps
  bool fed = false;
};

// The layers of the loss of which no optimizer has a parameter, though all of them are to be trained.
std::vector<const Instance*> layers_of_none(
    const TrainingRoot& training_root, const OperationEvent& backward) {
  std::vector<const Instance*> found;
  const auto taken = all_taken(training_root);
  if (!taken || !backward.self_state()) return found;
  for (const Object* source : backward.self_state()->graph) {
    const auto* layer = dynamic_cast<const Instance*>(source);
    const auto own = layer ? own_parameters(*layer) : std::vector<const values::Tensor*>{};
    const bool none = !own.empty() && std::ranges::none_of(own, [&](const values::Tensor* tensor) {
      return taken->contains(tensor) || tensor->now()->requires_grad != values::Known::yes;
    });
    if (none) found.push_back(layer);
  }
  return found;
}

// Does the method call a model that the optimizer has parameters of? Of one that it does not call, the result
// may be among its arguments; unless no other optimizer is there.
bool is_used(const TrainingRoot& training_root, Value optimizer) {
  if (training_root.optimizers.size() == 1) return true;
  const Value tensors = attribute(optimizer, values::LoaderState::tensors);
  if (!tensors.is(Kind::tuple)) return false;
  const auto& taken = tensors.as<values::Tuple>()->items;
  return std::ranges::any_of(training_root.all, [&](const TrainingEvent& each) {
    if (each.event->row->operation != Operation::forward || each.loops.empty()) return false;
    Parts parts;
    parts.add(each.event->self);
    return std::ranges::any_of(taken, [&](Value tensor) { return parts.found.contains(tensor.object()); });
  });
}

// May the loss leave gradients in parameters of the optimizer? What a method is given came from outside:
// where the loss goes through known layers, and the optimizer has none of them, its arguments are data.
bool may_feed(const TrainingRoot& training_root, const OperationEvent& backward, Value optimizer) {
  const Answer answer = feeds(training_root, backward, optimizer);
  if (answer == Answer::no || !training_root.by_caller) return answer != Answer::no;
  const Value tensors = attribute(optimizer, values::LoaderState::tensors);
  if (!tensors.is(Kind::tuple) || layers_of_none(training_root, backward).empty()) return true;
  const auto& taken = tensors.as<values::Tuple>()->items;
  return std::ranges::any_of(backward.self_state()->graph, [&](const Object* source) {
    const auto* layer = dynamic_cast<const Instance*>(source);
    if (!layer) return std::ranges::any_of(taken, [&](Value tensor) { return tensor.object() == source; });
    return std::ranges::any_of(own_parameters(*layer), [&](const values::Tensor* tensor) {
      return std::ranges::any_of(taken, [&](Value one) { return one.object() == tensor; });
    });
  });
}

Use use_of(const TrainingRoot& training_root, Value optimizer, Value stands) {
  Use use;
  for (const TrainingEvent& each : training_root.all) {
    if (stepped_optimizer(*each.event).object() == stands.object() && !each.loops.empty() &&
        repeats(*each.loops.back())) {
      use.step = each.event;
      const auto& arguments = each.event->arguments;
      if (each.event->row->operation == Operation::optimizer_step && !arguments.empty() && arguments[0] &&
          !arguments[0].is(Kind::none))
        use.fed = true;
    }
    if (each.event->row->operation != Operation::backward || each.loops.empty()) continue;
    const bool feeds_it = may_feed(training_root, *each.event, optimizer);
    use.fed = use.fed || feeds_it;
    const bool none = !feeds_it &&
        std::none_of(training_root.all.begin(), training_root.all.end(), [&](const TrainingEvent& other) {
          return other.event->row->operation == Operation::optimizer_made &&
              other.event->self.is(Kind::instance) &&
              !is_alternative(training_root, *other.event, optimizer) &&
              may_feed(training_root, *each.event, other.event->self);
        });
    // loop/detached-loss tells of losses that are made of numbers.
    // Of a loss that trains more than one network, one of them may be nobody's.
    const bool in_part = training_root.by_caller && !feeds_it &&
        !layers_of_none(training_root, *each.event).empty();
    if ((none || in_part) && steps_in(training_root, each.loops, stands) &&
        !(each.event->self_state() && from_numbers(*each.event->self_state())))
      use.homeless = each.event;
  }
  return use;
}

// An optimizer that no loss of its loop feeds, and a loss that feeds no optimizer.
void look_for_others(
    const Record& record, const std::vector<TrainingRoot>& training_roots, Report& report, Once& once) {
  for (const TrainingRoot& training_root : training_roots) {
    if (training_root.handed_over || training_root.root->truncated ||
        makes_gradients(record, training_root, nullptr))
      continue;
    const bool all_made = std::all_of(
        training_root.optimizers.begin(), training_root.optimizers.end(), [&](const Object* each) {
          return is_made(training_root, each) && !escapes(record, training_root, each, nullptr);
        });
    if (!all_made) continue;
    for (const TrainingEvent& made : training_root.all) {
      if (made.event->row->operation != Operation::optimizer_made || !made.event->self.is(Kind::instance))
        continue;
      const Value optimizer = made.event->self, stands = as_value(training_root.standing(optimizer.object()));
      const Use use = use_of(training_root, optimizer, stands);
      // Two optimizers of one module, and a loss that reaches no optimizer: the later of them was meant for
      // it.
      bool doubled = false;
      if (use.homeless)
        for (const TrainingEvent& other : training_root.all) {
          if (other.event == made.event) break;
          doubled = doubled ||
              (other.event->row->operation == Operation::optimizer_made &&
                  training_root.standing(other.event->self.object()) != stands.object() &&
                  other.event->self.is(Kind::instance) && of_the_same(other.event->self, optimizer));
        }
      const OperationEvent* loss = doubled || !use.fed ? use.homeless : nullptr;
      if (!use.step || !loss || (training_root.by_caller && !is_used(training_root, optimizer))) continue;
      if (!once(made.event->place)) continue;
      // Another to choose from may be the right one.
      const bool in_every_run = std::none_of(
          training_root.all.begin(), training_root.all.end(), [&](const TrainingEvent& other) {
            return is_alternative(training_root, *other.event, optimizer) &&
                use_of(training_root, other.event->self, stands).fed;
          });
      const Value taken = attribute(optimizer, values::LoaderState::tensors);
      const bool none = taken.is(Kind::tuple) && taken.as<values::Tuple>()->items.empty();
      const std::string trained = training_root.by_caller ? code(training_root.root->function->name.text())
                                                          : std::string("this loop");
      Finding* finding = report.add(
          at_most(in_every_run ? Severity::error : Severity::warning, training_root), made.event->place,
          made.event->calls,
          none ? "The groups of this optimizer are empty" + (in_every_run ? "" : chosen_when(record, made)) +
                  ": no parameter was put into them, and " +
                  code(object_text(record, *loss, "loss") + ".backward()") +
                  " computes gradients that no optimizer applies. Correct how the parameters are chosen."
               : "This optimizer holds other parameters than the ones " + trained + " trains" +
                  (in_every_run ? "" : chosen_when(record, made)) + ": " +
                  code(object_text(record, *loss, "loss") + ".backward()") +
                  " computes gradients that no optimizer applies. Create it from the parameters of the model that is used.");
      if (!finding) continue;
      report.relate(*finding, loss->place, "these gradients belong to parameters of no optimizer");
      report.relate(*finding, use.step->place, "the step");
    }
  }
}

// An optimizer all of whose parameters were frozen before its loop: its steps change nothing, and what the
// loss trains is nobody's.
void look_for_frozen(const Record& record, const TrainingRoot& training_root, Report& report, Once& once) {
  if (training_root.by_caller || training_root.handed_over || training_root.root->truncated) return;
  const auto taken = all_taken(training_root);
  if (!taken) return;
  for (const TrainingEvent& made : training_root.all) {
    if (made.event->row->operation != Operation::optimizer_made || !made.event->self.is(Kind::instance))
      continue;
    const Value tensors = attribute(made.event->self, values::LoaderState::tensors);
    if (!tensors.is(Kind::tuple) || tensors.as<values::Tuple>()->items.empty() ||
        !std::ranges::all_of(tensors.as<values::Tuple>()->items, [](const Value& each) {
          return each.is(Kind::tensor) &&
              each.as<values::Tensor>()->now()->requires_grad == values::Known::no;
        }))
      continue;
    const TrainingEvent *step = nullptr, *backward = nullptr;
    for (const TrainingEvent& each : training_root.all) {
      if (each.loops.empty() || !repeats(*each.loops.back())) continue;
      if (stepped_optimizer(*each.event).object() == made.event->self.object()) step = &each;
      if (trained_loss(each)) backward = &each;
    }
    if (!step || !backward || !backward->in(step->loops.back())) continue;
    // Who thaws or freezes them from iteration to iteration trains them in some.
    const bool changes = std::ranges::any_of(training_root.all, [&](const TrainingEvent& each) {
      return each.event->row->operation == Operation::trained_from_here &&
          (each.in(step->loops.front()) || each.event->arguments.empty() ||
              truth(record, each.event->arguments.back()) != Answer::no);
    });
    const auto unowned = layers_of_none(training_root, *backward->event);
    if (changes || unowned.empty() || !once(made.event->place)) continue;
    Finding* finding = report.add(at_most(Severity::warning, training_root), made.event->place,
        made.event->calls,
        "All parameters of this optimizer are frozen, so its steps change nothing, and what " +
            code(object_text(record, *backward->event, "loss") + ".backward()") +
            " computes gradients for belongs to no optimizer. Create it from the parameters that are trained.");
    if (!finding) continue;
    report.relate(
        *finding, unowned.front()->born, "the " + class_of(*unowned.front()) + " that no optimizer steps");
    report.relate(*finding, step->event->place, "the step");
  }
}

// Parameters that the optimizer has and that no loss goes through; nothing where it is not known what a loss
// was computed from.
std::optional<std::vector<const values::Tensor*>> taken_without_loss(const TrainingRoot& training_root) {
  const auto taken = all_taken(training_root);
  if (!taken) return std::nullopt;
  std::set<const Object*> reached;
  for (const TrainingEvent& each : training_root.all) {
    if (each.event->row->operation != Operation::backward) continue;
    const values::TensorState* loss = each.event->self_state();
    if (!loss || !loss->graph_complete || loss->unseen) return std::nullopt;
    for (const Object* source : loss->graph) {
      reached.insert(source);
      if (const auto* layer = dynamic_cast<const Instance*>(source))
        for (const values::Tensor* own : own_parameters(*layer)) reached.insert(own);
    }
  }
  std::vector<const values::Tensor*> found;
  for (const Object* each : *taken)
    if (const auto* tensor = dynamic_cast<const values::Tensor*>(each); tensor && !reached.contains(each))
      found.push_back(tensor);
  return found;
}

bool are_equivalent(const Record& record, const values::Tensor& one, const values::Tensor& other) {
  const auto &a = one.now()->shape, &b = other.now()->shape;
  return a.ndim_known && b.ndim_known &&
      std::ranges::equal(a.dims, b.dims, [&](const auto& x, const auto& y) {
        return x.size && y.size &&
            record.symbols.decide(record.symbols.compared(symbolic::Compare::eq, x.size, y.size)) ==
            Answer::yes;
      });
}

// Of several modules an optimizer has one that no loss goes through, and lacks another that is just like it:
// a head that was made anew, say.
void look_for_doubles(const Record& record, const TrainingRoot& training_root, Report& report, Once& once) {
  if (training_root.by_caller || training_root.optimizers.size() != 1) return;
  const auto without_loss = taken_without_loss(training_root);
  // With one that has none of what the loop trains all is wrong.
  if (!without_loss || without_loss->empty() || without_loss->size() == all_taken(training_root)->size())
    return;
  const OperationEvent* made = nullptr;
  for (const TrainingEvent& each : training_root.all) {
    if (each.event->row->operation == Operation::optimizer_made) made = each.event;
    if (!made || each.event->row->operation != Operation::backward || each.loops.empty() ||
        !repeats(*each.loops.back()))
      continue;
    for (const Instance* layer : layers_of_none(training_root, *each.event)) {
      const auto own = own_parameters(*layer);
      const values::Tensor* other = nullptr;
      const bool doubled = std::ranges::all_of(own, [&](const values::Tensor* tensor) {
        const auto at = std::ranges::find_if(
            *without_loss, [&](const values::Tensor* one) { return are_equivalent(record, *one, *tensor); });
        if (at != without_loss->end()) other = *at;
        return at != without_loss->end();
      });
      if (!doubled || is_made_after(record, *layer, *made) || !once(made->place)) continue;
      const std::string kind = class_of(*layer);
      Finding* finding = report.add(Severity::warning, made->place, made->calls,
          "This optimizer holds the parameters of a " + code(kind) +
              " that no loss goes through, and not those of one just like it that the loss does go through: that is never trained. Create it from the parameters of the modules that are used.");
      if (!finding) continue;
      report.relate(*finding, layer->born, "the " + kind + " that no optimizer steps");
      report.relate(*finding, each.event->place, "the loss goes through it");
    }
  }
}

void check(const Record& record, Report& report) {
  const Training& training = Training::of(record);
  Once once;
  for (const TrainingRoot& training_root : training.training_roots()) {
    if (training_root.handed_over || training_root.root->truncated || training_root.optimizers.empty() ||
        makes_gradients(record, training_root, nullptr))
      continue;
    if (std::any_of(
            training_root.optimizers.begin(), training_root.optimizers.end(), [&](const Object* each) {
              return !is_made(training_root, each) || escapes(record, training_root, each, nullptr);
            }))
      continue;
    look_for_layers_made_later(record, training_root, report, once);
    look_for_empty_groups(training_root, report, once);
    look_for_doubles(record, training_root, report, once);
    look_for_frozen(record, training_root, report, once);
  }
  look_for_others(record, training.training_roots(), report, once);
  look_for_others(record, StepMethods::of(record).training_roots(), report, once);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "loop/wrong-parameters",
    .severity = Severity::error,
    .summary = "an optimizer of parameters that no loss of the loop reaches",
    .why =
        "An optimizer keeps the parameters that it was given. Made before the model is replaced, or from the parameters of another network, it "
        "steps parameters that nobody uses: the loop runs, nothing is raised, and the model that is used stays as it was made (measured: after 50 steps it has moved by 0.0). The same befalls a "
        "layer that is put into the model later, to adapters (`get_peft_model` freezes all that the optimizer has), and to parameters that were filtered out because they were frozen then.",
    .wrong = "optimizer = torch.optim.Adam(model.parameters())\n"
             "model = build(width=32)\n"
             "for x, y in loader:\n"
             "    optimizer.zero_grad()\n"
             "    loss_fn(model(x), y).backward()\n"
             "    optimizer.step()\n",
    .right = "model = build(width=32)\n"
             "optimizer = torch.optim.Adam(model.parameters())\n"
             "for x, y in loader:\n"
             "    optimizer.zero_grad()\n"
             "    loss_fn(model(x), y).backward()\n"
             "    optimizer.step()\n",
    .silent =
        "Inputs that are trained (`Adam([image])`); parts of a model; a frozen network that the loss goes through, and an optimizer that has others beside frozen ones; losses of which it is not "
        "known what they were computed from.",
    .fix = "None: decide which parameters are meant.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::loop::wrong_parameters
