// loop/eval-mode: an evaluation never puts the model into evaluation mode; left_in_evaluation.cpp looks for
// loops that leave it there.
#include "rules/loop/left_in_evaluation.hpp"
#include "rules/name_hints.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/absent.hpp"
#include "rules/training/evaluation.hpp"
#include "rules/training/modes.hpp"
#include "rules/training/optimized.hpp"
#include "rules/training/parts.hpp"
#include "rules/training/unseen_history.hpp"
#include "rules/training/unset_mode.hpp"
#include "values/kept.hpp"
#include "values/limits.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <functional>

namespace stepzero::rules::loop::eval_mode {

using values::code;

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

// Does anything ever set a mode of the module, of a part of it, or of what it is a part of, to evaluation?
// Beside the evaluation, on the other side of a decision, it is for another.
bool ever_evaluates(const Record& record, const Evaluation& evaluation) {
  const TrainingRoot& training_root = *evaluation.training_root;
  const Object* module = evaluation.call.self.object();
  Parts parts;
  parts.add(as_value(module));
  const bool handed = escapes(record, training_root, module, nullptr);
  return std::any_of(training_root.all.begin(), training_root.all.end(), [&](const TrainingEvent& each) {
    if (!sets_mode(*each.event) || is_instead(each, *evaluation.forward) ||
        (evaluation.one_side && is_instead(each, *evaluation.one_side)))
      return false;
    if (trains_from_here(record, *each.event)) return false;
    if (parts.found.contains(each.event->self.object())) return true;
    // Something that is not seen holds it only if it was given it.
    if (!each.event->self.is(Kind::instance)) return handed || !parts.complete;
    Parts around;
    around.add(each.event->self);
    return around.found.contains(module);
  });
}

// Are all layers of the module known? Then they say whether the mode matters.
bool may_be_known(const Object* module) {
  if (!dynamic_cast<const Instance*>(module)) return false;
  Parts parts;
  parts.add(as_value(module));
  return parts.complete || by_mode(module) || has_own_modes(module);
}

// The training between what set the mode to training and the evaluation; null if there is none, or the mode
// is another.
const OperationEvent* trained_since(const Record& record, const Evaluation& evaluation) {
  if (!trains_from_here(record, *evaluation.mode)) return nullptr;
  const OperationEvent* backward = nullptr;
  bool since = false;
  for (const TrainingEvent& each : evaluation.training_root->all) {
    if (each.event == evaluation.forward->event) break;
    since = since || each.event == evaluation.mode;
    if (since && each.event->row->operation == Operation::backward && !each.in_handler) backward = each.event;
  }
  return backward;
}

// A loss of which it is not seen what it was computed from, beside a model that computes something else in
// training: that may be the model.
bool is_unseen_loss_of(const OperationEvent& backward, const Object* model) {
  const values::TensorState* loss = backward.self_state();
  return (!loss || loss->unseen) && by_mode(model) && !has_own_modes(model);
}

// Does the loop only read numbers of a model that was trained before? What unseen code does with an optimizer
// it may do to train.
bool only_reads(const Record& record, const Evaluation& evaluation) {
  const TrainingRoot& training_root = *evaluation.training_root;
  return !training_root.optimizers.empty() && evaluation.mode && trained_since(record, evaluation) &&
      evaluation.loop->stmt && takes_numbers(*evaluation.loop->stmt) &&
      std::ranges::none_of(training_root.all, [&](const TrainingEvent& each) {
        return each.in(evaluation.loop) && each.event->row->operation == Operation::unseen &&
            hands_any(*each.event, training_root.optimizers);
      });
}

// Was the model handed to unseen code between what last set its mode and the evaluation?
bool handed_since(const Record& record, const Evaluation& evaluation) {
  const TrainingRoot& training_root = *evaluation.training_root;
  const Object* model = evaluation.call.self.object();
  const auto at = [&](const OperationEvent* event) {
    return std::ranges::find(training_root.all, event, &TrainingEvent::event);
  };
  return std::any_of(at(evaluation.mode), at(evaluation.forward->event), [&](const TrainingEvent& each) {
    return each.event->row->operation == Operation::unseen && is_handed(*each.event, model) &&
        !says(record.text(each.event->place), Says::scheduling);
  });
}

// model.eval() before the loop and model.train() after it.
void offer_modes(const Record& record, const Evaluation& evaluation, const std::string& name,
    Finding& finding, bool certain = true, bool restored = false) {
  if (!evaluation.loop) return;
  const LoopEvent& loop = *evaluation.loop;
  if (!loop.stmt || !record.in_file(loop.place) || loop.place.chunk != evaluation.call.place.chunk) return;
  const SourceLines source(record, loop.place.chunk);
  if (!source.own_line(*loop.stmt)) return;
  const syntax::Span lines = source.lines(*loop.stmt, *loop.stmt);
  const std::string indentation = source.indentation(*loop.stmt), ending = source.line_ending();
  const bool ended = source.slice(lines).ends_with('\n');
  Fix fix;
  fix.title = "Evaluate in evaluation mode";
  fix.preferred = certain;
  fix.edits.push_back({{source.path(), {lines.begin, lines.begin}}, indentation + name + ".eval()" + ending});
  if (!restored)
    fix.edits.push_back({{source.path(), {lines.end, lines.end}},
        ended ? indentation + name + ".train()" + ending : ending + indentation + name + ".train()"});
  finding.fixes.push_back(std::move(fix));
}

constexpr std::string_view only_again = "which is only set again afterwards",
                           each_epoch = "in which it is made and in which each epoch leaves it";

// Nothing sets evaluation mode; `how` says how the model comes to be in training mode, which `trained` sets.
void tell_unset(const Record& record, const Evaluation& evaluation, const OperationEvent& trained,
    std::string_view how, Report& report) {
  const ModelCall& forward = evaluation.call;
  const std::string name = called_text(record, forward);
  if (name.empty()) return;
  Finding* finding = report.add(Severity::warning, forward.place, forward.calls,
      code(name) + " is evaluated in training mode, " + std::string(how) +
          ": dropout and batch norms in it behave as in training. Call " + code(name + ".eval()") +
          " first.");
  if (!finding) return;
  report.relate(*finding, trained.place, "training mode is set here");
  offer_modes(record, evaluation, name, *finding, false, true);
}

// Nobody sees to the mode of an evaluation, and training mode is what others leave.
void tell_unset(const Record& record, const Evaluation& evaluation, const ModeCall& trained, Report& report) {
  const ModelCall& forward = evaluation.call;
  const std::string name = called_text(record, forward);
  Finding* finding = report.add(Severity::warning, forward.place, forward.calls,
      code(name) + " is evaluated in training mode, unless the caller of " +
          code(function_of(evaluation)->name.text()) +
          " has set evaluation mode: dropout and batch norms in it behave as in training. Call " +
          code(name + ".eval()") + " first.");
  if (!finding) return;
  report.relate(*finding, trained.place, "training mode is set here");
  offer_modes(record, evaluation, name, *finding, false, trained.function == function_of(evaluation)->stmt);
}

// A model is made, its weights are loaded, and it is asked as it was made: in training mode. Or it is loaded
// as a whole, and asked in whatever mode it was saved in.
void tell_loaded(
    const Record& record, const Evaluation& evaluation, const LoadedWeights& loaded, Report& report) {
  const ModelCall& forward = evaluation.call;
  const std::string name = called_text(record, forward);
  Finding* finding = report.add(Severity::information, forward.place, forward.calls,
      "Nothing in this file puts " + code(name) +
          (loaded.whole
                  ? " into evaluation mode: a model that is loaded as a whole is in the mode that it was saved in, and in training mode dropout and batch norms behave as in training. Call "
                  : " into evaluation mode: a model that was made to load weights into is in training mode, in which dropout and batch norms behave as in training. Call ") +
          code(name + ".eval()") + " first.");
  if (finding)
    report.relate(*finding, loaded.place, loaded.whole ? "it is loaded here" : "its weights are loaded here");
}

// A function that evaluates leaves the mode to whoever calls it.
void tell_left_to_callers(const Record& record, const Evaluation& evaluation, Report& report) {
  const ModelCall& forward = evaluation.call;
  const std::string name = called_text(record, forward);
  if (Finding* finding = report.add(Severity::information, forward.place, forward.calls,
          "Nothing in this file puts " + code(name) + " into evaluation mode, and " +
              code(function_of(evaluation)->name.text()) +
              " evaluates it in whatever mode its caller has left: in training mode dropout and batch norms behave as in training. Call " +
              code(name + ".eval()") + " first."))
    offer_modes(record, evaluation, name, *finding, false, true);
}

// " when `args.finetune`": where only one side of a decision sets training mode.
std::string of_side(const Record& record, const Evaluation& evaluation) {
  if (!evaluation.one_side) return {};
  return when_reached(record, *evaluation.one_side, [&](const Turn& turn) {
    return std::ranges::none_of(
        evaluation.forward->turns, [&](const Turn& other) { return other.branch == turn.branch; });
  });
}

// The layer says what training mode does.
void tell_by_layer(const Record& record, const Evaluation& evaluation, const Instance& layer, Place trained,
    Report& report) {
  const ModelCall& forward = evaluation.call;
  const std::string name = called_text(record, forward), kind = class_of(layer);
  Finding* finding = report.add(Severity::warning, forward.place, forward.calls,
      code(name) + " is evaluated in training mode" + of_side(record, evaluation) + ": its " + code(kind) +
          (attribute(&layer, "track_running_stats")
                  ? " normalizes by the batch and updates its running statistics"
                  : " still drops activations at random") +
          ". Call " + code(name + ".eval()") + " before and " + code(name + ".train()") + " after.");
  if (!finding) return;
  if (trained) report.relate(*finding, trained, "it is trained here");
  report.relate(*finding, layer.born, "the " + kind);
  offer_modes(record, evaluation, name, *finding);
}

// A model whose layers are known was made, never put into evaluation mode, and is asked batch by batch.
const Instance* never_evaluates(const UnsetModes& modes, const Evaluation& evaluation) {
  const ModelCall& forward = evaluation.call;
  const values::Function* function = function_of(evaluation);
  if (evaluation.mode || !evaluation.is_seen() || !function || has_own_modes(forward.self.object()))
    return nullptr;
  if (forward.self.as<Instance>()->symbolic || (function->owner && function->owner->native)) return nullptr;
  if (!is_over_data(*evaluation.loop)) return nullptr;
  const Instance* layer = by_mode(forward.self.object());
  return modes.ever_evaluates(forward.self.object()) || (layer && modes.ever_evaluates(layer)) ? nullptr
                                                                                               : layer;
}

// Does the backward train the model, by its loss or by the optimizer that has its parameters?
bool feeds_model(const TrainingRoot& training_root, const OperationEvent& backward, Value model) {
  return is_trained_by(training_root, backward, model) ||
      std::ranges::any_of(training_root.optimizers, [&](const Object* optimizer) {
        return feeds(training_root, backward, as_value(optimizer)) == Answer::yes &&
            shares_parameters(training_root, model, as_value(optimizer)) == Answer::yes;
      });
}

// A loop over epochs evaluates the model before it trains it, and no mode is ever set but that of training:
// null if this is not so.
const OperationEvent* trained_after_in_loop(
    const Record& record, const UnsetModes& modes, const Evaluation& evaluation) {
  const TrainingRoot& training_root = *evaluation.training_root;
  const TrainingEvent& forward = *evaluation.forward;
  const Object* model = evaluation.call.self.object();
  if (evaluation.mode || !without_gradients(evaluation.call) || modes.ever_evaluates(model) ||
      has_own_modes(model) || !is_over_data(*evaluation.loop))
    return nullptr;
  const OperationEvent* mode = nullptr;
  for (auto it = std::ranges::find(training_root.all, evaluation.forward->event, &TrainingEvent::event);
      it != training_root.all.end(); ++it) {
    const bool again = std::ranges::any_of(forward.loops,
        [&](const LoopEvent* loop) { return loop != evaluation.loop && it->in(loop) && repeats(*loop); });
    if (!again || it->in_handler) continue;
    if (sets_mode(*it->event) && it->event->self.object() == model)
      mode = trains_from_here(record, *it->event) ? it->event : nullptr;
    if (mode && it->event->row->operation == Operation::backward &&
        feeds_model(training_root, *it->event, forward.event->self))
      return mode;
  }
  return nullptr;
}

// A model that is trained is evaluated as if it were trained.
void look_for_missing(const Record& record, const Training& training, Report& report, Once& once) {
  const std::vector<Evaluation> all = evaluations(record, training);
  const UnsetModes unset(record);
  std::set<std::pair<std::uint32_t, std::uint32_t>> set;  // where the mode is evaluation on some way
  for (const Evaluation& each : all)
    if (each.evaluates) set.insert({each.call.place.chunk, each.call.place.span.begin});
  for (const Evaluation& evaluation : all) {
    const TrainingRoot& training_root = *evaluation.training_root;
    const ModelCall& forward = evaluation.call;
    const Object* model = forward.self.object();
    // Of a model whose layers are known they say whether the mode matters.
    const bool asked = !evaluation.mode && !is_statement(record, forward.place, forward.expr) &&
        !may_be_known(model) && (without_gradients(forward) || takes_numbers(evaluation)) &&
        std::ranges::none_of(training_root.all, [&](const TrainingEvent& each) {
          return each.event->row->operation == Operation::unseen && is_handed(*each.event, model) &&
              !record.text(each.event->place).starts_with(called_text(record, forward) + ".");
        });
    if (const LoadedWeights loaded = asked ? unset.loaded_here(evaluation) : LoadedWeights{};
        loaded.place && once(forward.place)) {
      tell_loaded(record, evaluation, loaded, report);
      continue;
    }
    if (evaluation.evaluates || is_statement(record, forward.place, forward.expr) ||
        !(without_gradients(forward) || only_reads(record, evaluation)) ||
        (evaluation.mode ? handed_since(record, evaluation) : escapes(record, training_root, model, nullptr)))
      continue;
    const OperationEvent *backward = nullptr, *last = nullptr;
    const Instance* by_its_mode = by_mode(model);
    for (const TrainingEvent& each : training_root.all) {
      if (each.event == evaluation.forward->event) break;
      const bool trains = each.event->row->operation == Operation::backward && each.event->self_state() &&
          reaches(*each.event->self_state(), forward.self);
      if (trains) backward = each.event;
      if (trains || (sets_mode(*each.event) && is_mode_of(*each.event, model, by_its_mode)))
        last = each.event;
    }
    // Another evaluation of the same model may set the mode: that it is training mode here is what the run
    // has seen.
    const bool lacks_it = is_named_evaluation(evaluation) && takes_numbers(evaluation);
    if (const OperationEvent* trained = evaluation.mode && (lacks_it || !ever_evaluates(record, evaluation))
            ? trained_since(record, evaluation)
            : nullptr;
        trained && (!may_be_known(model) || is_unseen_loss_of(*trained, model))) {
      const std::string name = called_text(record, forward);
      if (name.empty() || !once(forward.place)) continue;
      Finding* finding = report.add(Severity::warning, forward.place, forward.calls,
          code(name) + " is evaluated in training mode" + of_side(record, evaluation) +
              ", which was set before the training: dropout and batch norms in it behave as in training. Call " +
              code(name + ".eval()") + " before and " + code(name + ".train()") + " after.");
      if (!finding) continue;
      report.relate(*finding, evaluation.mode->place, "training mode is set here");
      report.relate(*finding, trained->place, "it is trained here");
      offer_modes(record, evaluation, name, *finding);
      continue;
    }
    if (!evaluation.mode && !backward && !set.contains({forward.place.chunk, forward.place.span.begin})) {
      if (const OperationEvent* after = may_be_known(model) ? nullptr : unset.trained_after(evaluation)) {
        if (once(forward.place)) tell_unset(record, evaluation, *after, only_again, report);
        continue;
      }
      if (const ModeCall* left = unset.trained_elsewhere(evaluation)) {
        if (once(forward.place)) tell_unset(record, evaluation, *left, report);
        continue;
      }
      if (const OperationEvent* after = trained_after_in_loop(record, unset, evaluation)) {
        if (once(forward.place)) tell_unset(record, evaluation, *after, each_epoch, report);
        continue;
      }
      if (const Instance* layer = never_evaluates(unset, evaluation); layer && once(forward.place)) {
        tell_by_layer(record, evaluation, *layer, {}, report);
        continue;
      }
      if (without_gradients(forward) && takes_numbers(evaluation) && is_over_data(*evaluation.loop) &&
          !unset.ever_evaluates(model) && may_differ_by_mode(record, model) &&
          unset.left_to_callers(evaluation) && once(forward.place)) {
        tell_left_to_callers(record, evaluation, report);
        continue;
      }
    }
    // Who sets it to training between the two means to.
    if (!backward || last != backward || (!lacks_it && ever_evaluates(record, evaluation)) ||
        has_own_modes(model))
      continue;
    if (!by_its_mode || called_text(record, forward).empty() || !once(forward.place)) continue;
    tell_by_layer(record, evaluation, *by_its_mode, backward->place, report);
  }
}

// A function that evaluates by a single call, of whatever the training left: training mode was set before it,
// and nothing sets the other.
void look_for_single(const Record& record, const Training& training, Report& report, Once& once) {
  const UnsetModes unset(record);
  for (const TrainingRoot& training_root : training.training_roots()) {
    if (training_root.handed_over || training_root.root->truncated) continue;
    const OperationEvent *mode = nullptr, *backward = nullptr;
    for (const TrainingEvent& each : training_root.all) {
      const OperationEvent& event = *each.event;
      if (sets_mode(event)) mode = trains_from_here(record, event) ? &event : nullptr;
      if (event.row->operation == Operation::backward && event.self_state()) backward = &event;
      if (event.row->operation != Operation::forward || !event.self.is(Kind::instance) || !mode ||
          !backward || each.in_handler || !without_gradients(event) ||
          mode->self.object() != event.self.object() || !reaches(*backward->self_state(), event.self))
        continue;
      const Object* model = event.self.object();
      const Evaluation evaluation{&training_root, &each, ModelCall(event), nullptr, mode};
      const Instance* layer = by_mode(model);
      if (!layer || has_own_modes(model) || unset.ever_evaluates(model) || unset.ever_evaluates(layer) ||
          !is_named_evaluation(evaluation) || !takes_numbers(evaluation) || is_statement(record, event) ||
          escapes(record, training_root, model, nullptr) || !event.expr || !once(event.place))
        continue;
      tell_by_layer(record, evaluation, *layer, backward->place, report);
    }
  }
}

void check(const Record& record, Report& report) {
  const Training& training = Training::of(record);
  Once once;
  look_for_missing(record, training, report, once);
  look_for_single(record, training, report, once);
  look_for_left_in_evaluation(record, training, report, once);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "loop/eval-mode",
    .severity = Severity::warning,
    .summary = "an evaluation leaves the model in evaluation mode, or never puts it there",
    .why =
        "`model.eval()` lasts until `model.train()` is called. After the first evaluation the model is trained without dropout and with the "
        "running statistics of its batch norms, which are no longer updated: it trains worse, and nothing says so. Evaluated without `eval()`, "
        "it drops a part of what it has learned, and its norms take the validation data into their statistics (measured: 29 of 64 predictions differ between two runs, and 0 after eval()).",
    .wrong = "for epoch in range(epochs):\n"
             "    train_one_epoch(model, loader)  # model.train() was called once, before the loop\n"
             "    model.eval()\n"
             "    with torch.no_grad():\n"
             "        evaluate(model)\n",
    .right = "for epoch in range(epochs):\n"
             "    model.train()\n"
             "    train_one_epoch(model, loader)\n"
             "    model.eval()\n"
             "    with torch.no_grad():\n"
             "        evaluate(model)\n",
    .silent =
        "A `train()` anywhere in the loop; models without layers to which the mode matters; losses that are computed under `no_grad` within training (a teacher); "
        "models that say themselves what train() does; `eval()` of another model (a teacher); `eval()` before the backward of the same iteration, by which "
        "programs freeze statistics on purpose; a single evaluation after the training.",
    .fix =
        "Puts `eval()` before an evaluation that lacks it, and `train()` after it. Where only train() is missing, decide where it goes.",
    .fix_kind = FixKind::always_right,
    .check = check,
});

}  // namespace stepzero::rules::loop::eval_mode
