// loop/wrong-parameters: an optimizer of parameters that no loss of the loop reaches.
#include "rules/loop/absent.hpp"
#include "rules/list.hpp"

#include <algorithm>

namespace stepzero::rules {

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

const Object* module_of(Value optimizer) {
  const values::Slot* parameters = optimizer.is(Kind::instance) ? optimizer.as<Instance>()->attributes.find(syntax::Name("$parameters")) : nullptr;
  if (!parameters || !parameters->value.is(Kind::instance)) return nullptr;
  const values::Slot* of = parameters->value.as<Instance>()->attributes.find(syntax::Name("$of"));
  return of ? of->value.object() : nullptr;
}

void check(const Record& record, Report& report) {
  const Training& training = Training::of(record);
  if (training.gradients_by_hand()) return;
  Once once;
  for (const Scene& scene : training.scenes()) {
    if (scene.handed_over || scene.root->truncated) continue;
    const bool all_made = std::all_of(scene.optimizers.begin(), scene.optimizers.end(), [&](const Object* each) { return is_made(scene, each) && !escapes(record, scene, each, nullptr); });
    for (const Happening& made : scene.all) {
      if (made.event->row->operation != Operation::optimizer_made) continue;
      const Value optimizer = made.event->self;
      if (!all_made || !optimizer.is(Kind::instance)) continue;
      const OperationEvent *step = nullptr, *homeless = nullptr;
      bool fed = false;
      for (const Happening& each : scene.all) {
        if (stepped_optimizer(*each.event).object() == optimizer.object() && !each.loops.empty() && repeats(*each.loops.back())) {
          step = each.event;
          const auto& arguments = each.event->arguments;
          if (each.event->row->operation == Operation::optimizer_step && !arguments.empty() && arguments[0] && !arguments[0].is(Kind::none)) fed = true;
        }
        if (each.event->row->operation != Operation::backward || each.loops.empty()) continue;
        fed = fed || feeds(scene, *each.event, optimizer) != Answer::no;
        const bool none = std::all_of(scene.optimizers.begin(), scene.optimizers.end(), [&](const Object* other) {
          return feeds(scene, *each.event, Value::of(Kind::instance, other)) == Answer::no;
        });
        if (none) homeless = each.event;
      }
      // Two optimizers of one module, and a loss that reaches no optimizer: the later of them was meant for it.
      bool doubled = false;
      if (homeless && module_of(optimizer))
        for (const Happening& other : scene.all) {
          if (other.event == made.event) break;
          doubled = doubled || (other.event->row->operation == Operation::optimizer_made && module_of(other.event->self) == module_of(optimizer));
        }
      const OperationEvent* loss = doubled ? homeless : !fed ? homeless : nullptr;
      if (!step || !loss || !once(made.event->place)) continue;
      Finding* finding = report.add(Severity::error, made.event->place, made.event->calls,
                                    "This optimizer was given other parameters than those that the loop trains: " + object_text(record, *loss, "the loss") +
                                        ".backward() computes gradients that no optimizer steps. Make it from the parameters of the model that is used.");
      if (!finding) continue;
      report.relate(*finding, loss->place, "these gradients belong to parameters of no optimizer");
      report.relate(*finding, step->place, "the step");
    }
  }
}

} // namespace

constexpr Rule wrong_parameters = complete({
    .id = "loop/wrong-parameters",
    .severity = Severity::error,
    .summary = "an optimizer of parameters that no loss of the loop reaches",
    .why = "An optimizer keeps the parameters that it was given. Made before the model is replaced, or from the parameters of another network, it "
           "steps parameters that nobody uses: the loop runs, nothing is raised, and the model that is used stays as it was made.",
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
    .silent = "Inputs that are trained (`Adam([image])`); parts of a model; a frozen network that the loss goes through; losses of which it is not "
              "known what they were computed from.",
    .fix = "None: which parameters are meant is to be decided.",
    .fix_kind = FixKind::none,
    .check = check,
});

} // namespace stepzero::rules
