// parallel/accelerator: a model that Accelerate or Fabric has prepared is trained past it, by a plain
// backward or by an optimizer that it was not given.
#include "libraries/torch/distributed/jobs.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/absent.hpp"
#include "rules/training/parts.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <set>

namespace stepzero::rules::parallel::accelerator {

using values::code;

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

// The calls by which the program has a framework prepare things.
std::vector<const OperationEvent*> preparations(const TrainingRoot& training_root) {
  std::vector<const OperationEvent*> found;
  for (const TrainingEvent& each : training_root.all)
    if (each.event->row->operation == Operation::framework && libraries::prepares(*each.event->row))
      found.push_back(each.event);
  return found;
}

// What the models consist of that the calls have prepared.
std::set<const Object*> prepared_parts(const std::vector<const OperationEvent*>& prepared) {
  Parts parts;
  const auto add = [&](Value value, const auto& again) -> void {
    if (value.is(Kind::tuple))
      for (const Value& item : value.as<values::Tuple>()->items) again(item, again);
    if (!value.is(Kind::instance)) return;
    const auto& object = *value.as<Instance>();
    if (object.native && object.native->row && libraries::is_prepared(*object.native->row))
      parts.add(attribute(value, "module"));
  };
  for (const OperationEvent* event : prepared) add(event->result, add);
  return {parts.found.begin(), parts.found.end()};
}
// Was the loss computed by a part of them?
bool is_of(const OperationEvent& backward, const std::set<const Object*>& parts) {
  const values::TensorState* loss = backward.self_state();
  return loss && std::any_of(loss->graph.begin(), loss->graph.end(), [&](const Object* source) {
    return parts.contains(source);
  });
}

// Was it computed by what is not seen, where a model that is not seen was prepared? Then by that, unless some
// other backward of the program is the framework's.
bool is_of_unseen(const TrainingRoot& training_root, const std::vector<const OperationEvent*>& prepared,
    const OperationEvent& backward) {
  const values::TensorState* loss = backward.self_state();
  const auto is_seen = [](const Object* source) {
    return dynamic_cast<const values::Unknown*>(source) == nullptr;
  };
  if (!loss || loss->graph.empty() || std::any_of(loss->graph.begin(), loss->graph.end(), is_seen))
    return false;
  const bool by_framework = std::ranges::any_of(training_root.all, [](const TrainingEvent& each) {
    return each.event->row->operation == Operation::framework && libraries::makes_backward(*each.event->row);
  });
  return !by_framework && std::ranges::any_of(prepared, [](const OperationEvent* event) {
    const Value given = event->result;
    return given.is(Kind::tuple) &&
        std::ranges::any_of(
            given.as<values::Tuple>()->items, [](const Value& item) { return item.is(Kind::unknown); });
  });
}

// Was the optimizer among what is prepared? It comes back as it is.
bool takes(const OperationEvent& prepared, const Object* optimizer) {
  const Value given = prepared.result;
  const auto is = [&](Value item, const auto& again) -> bool {
    if (item.is(Kind::choice))
      return again(item.as<values::Choice>()->yes, again) || again(item.as<values::Choice>()->no, again);
    return item.object() == optimizer;
  };
  if (given.is(Kind::tuple))
    return std::ranges::any_of(
        given.as<values::Tuple>()->items, [&](const Value& item) { return is(item, is); });
  return !given || given.is(Kind::list) || is(given, is);
}

// What the program calls the framework: "accelerator".
std::string framework_text(const Record& record, const OperationEvent& prepared) {
  const std::string_view text = record.text(prepared.place), called = text.substr(0, text.find('('));
  return std::string(called.substr(0, std::min(called.rfind('.'), called.size())));
}

void look_at_backward(const Record& record, const TrainingRoot& training_root,
    const std::vector<const OperationEvent*>& prepared, const std::set<const Object*>& parts,
    const std::string& name, Report& report, Once& once) {
  for (const TrainingEvent& each : training_root.all) {
    const OperationEvent& backward = *each.event;
    if (backward.row->operation != Operation::backward || each.in_handler ||
        !(is_of(backward, parts) || is_of_unseen(training_root, prepared, backward)))
      continue;
    // The framework's own backward; or the program has one, too, for where it uses the framework.
    const bool by_framework = std::ranges::any_of(training_root.all, [&](const TrainingEvent& other) {
      return other.event->row->operation == Operation::framework &&
          (other.event->place == backward.place ||
              (libraries::makes_backward(*other.event->row) && !each.loops.empty() &&
                  other.in(each.loops.back())));
    });
    if (by_framework || !once(backward.place)) continue;
    Finding* finding = report.add(Severity::warning, backward.place, backward.calls,
        "This backward goes around " + code(name) +
            ", which scales float16 losses, divides them while gradients are accumulated, and passes them to the engine where the model is sharded. Call " +
            code(name + ".backward(" + object_text(record, backward, "loss") + ")") + ".");
    if (finding)
      report.relate(*finding, each.loops.empty() ? backward.place : each.loops.back()->place, "in this loop");
  }
}

void look_at_optimizers(const Record& record, const TrainingRoot& training_root,
    const std::vector<const OperationEvent*>& prepared, const std::set<const Object*>& parts,
    const std::string& name, Report& report, Once& once) {
  for (const TrainingEvent& made : training_root.all) {
    if (made.event->row->operation != Operation::optimizer_made || !made.event->self.is(Kind::instance))
      continue;
    const Object* optimizer = made.event->self.object();
    if (training_root.standing(optimizer) != optimizer || escapes(record, training_root, optimizer, nullptr))
      continue;
    const bool given = std::ranges::any_of(prepared,
        [&](const OperationEvent* event) { return event->arguments.empty() || takes(*event, optimizer); });
    if (given) continue;
    for (const TrainingEvent& step : training_root.all) {
      if (stepped_optimizer(*step.event).object() != optimizer || step.loops.empty() || step.in_handler)
        continue;
      const bool trains = std::ranges::any_of(training_root.all, [&](const TrainingEvent& each) {
        return each.event->row->operation == Operation::backward && each.in(step.loops.back()) &&
            is_of(*each.event, parts) && feeds(training_root, *each.event, made.event->self) == Answer::yes;
      });
      if (!trains || !once(made.event->place)) break;
      Finding* finding = report.add(Severity::warning, made.event->place, made.event->calls,
          "This optimizer steps a model that " + code(name) +
              " has prepared, and was not prepared itself: it steps on scaled gradients in float16, and at every micro-batch of an accumulation. Give it to " +
              code(name + ".prepare") + " with the model.");
      if (!finding) break;
      report.relate(*finding, prepared.front()->place, "the model is prepared here");
      report.relate(*finding, step.event->place, "the step");
      break;
    }
  }
}

void check(const Record& record, Report& report) {
  Once once;
  for (const TrainingRoot& training_root : Training::of(record).training_roots()) {
    const auto prepared = preparations(training_root);
    if (prepared.empty() || training_root.root->truncated) continue;
    const std::string name = framework_text(record, *prepared.front());
    const auto parts = prepared_parts(prepared);
    look_at_backward(record, training_root, prepared, parts, name, report, once);
    look_at_optimizers(record, training_root, prepared, parts, name, report, once);
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "parallel/accelerator",
    .severity = Severity::warning,
    .summary = "a model that Accelerate or Fabric has prepared is trained past it",
    .why =
        "`accelerator.backward(loss)` scales the loss in float16, divides it by the steps of an accumulation, and hands it to DeepSpeed where that trains. "
        "`loss.backward()` does none of this: on one GPU in float32 both are the same, and with `mixed_precision=\"fp16\"` the step raises \"No inf checks were recorded\". "
        "An optimizer that `prepare` was not given steps on gradients that are still scaled, and at each micro-batch.",
    .wrong = "model, loader = accelerator.prepare(model, loader)\n"
             "for x, y in loader:\n"
             "    loss_fn(model(x), y).backward()\n"
             "    optimizer.step()\n",
    .right = "model, optimizer, loader = accelerator.prepare(model, optimizer, loader)\n"
             "for x, y in loader:\n"
             "    accelerator.backward(loss_fn(model(x), y))\n"
             "    optimizer.step()\n",
    .silent =
        "Models that were not prepared; losses of which it is not known what they were computed from; optimizers that are handed to code that is not seen, "
        "or to a call of `prepare` whose arguments are not known.",
    .fix = "None: decide what is prepared together.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::parallel::accelerator
