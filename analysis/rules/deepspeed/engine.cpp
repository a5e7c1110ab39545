// deepspeed/engine: a step of the loop that the engine of DeepSpeed cannot make, or makes itself.
#include "rules/deepspeed/program.hpp"

#include "libraries/table/class_roles.hpp"
#include "rules/deepspeed/sections.hpp"
#include "rules/report.hpp"
#include "rules/rule.hpp"
#include "rules/shape/refusal_text.hpp"
#include "rules/specialized.hpp"
#include "rules/training/parts.hpp"
#include "rules/training/training.hpp"
#include "values/kept.hpp"

#include <algorithm>
#include <set>

namespace stepzero::rules::deepspeed::engine {

extern const Rule rule;

using namespace interpreter;
using libraries::FrameworkCall;
using values::Kind;
using values::Operation;

namespace {

bool is(const OperationEvent& event, FrameworkCall call) {
  return event.row && libraries::framework_call(*event.row) == call;
}
bool is_engine_step(const OperationEvent& event) {
  return is(event, FrameworkCall::engine_backward) || is(event, FrameworkCall::engine_step);
}

// ZeRO keeps the gradients in buffers of its own: the parameters have none.
bool shares_gradients(const Record& record, Value engine) {
  const Value stage = attribute(engine, values::EngineState::stage);
  return stage.is(Kind::integer) &&
      record.symbols.compare(symbolic::Compare::ge, stage.integer(), record.symbols.constant(1)) ==
      symbolic::Answer::yes;
}

// The steps that stand on another way than one of the engine's: the program chooses between the two.
std::set<std::pair<std::uint32_t, std::uint32_t>> chosen_steps(const Record& record) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> found;
  for (const TrainingRoot& training_root : Training::of(record).training_roots())
    for (const TrainingEvent& step : training_root.all) {
      if (step.event->row->operation != Operation::optimizer_step) continue;
      const bool is_chosen = std::any_of(
          training_root.all.begin(), training_root.all.end(), [&](const TrainingEvent& other) {
            return is_engine_step(*other.event) && !on_one_way(step, other);
          });
      if (is_chosen) found.insert({step.event->place.chunk, step.event->place.span.begin});
    }
  return found;
}

// A step of the optimizer that the program makes itself, beside those that the engine makes in
// `engine.step()`.
void check_steps(const Record& record, Report& report) {
  std::vector<values::Place> of_engine;
  visit_operations(record, libraries::is_call(FrameworkCall::engine_step),
      [&](const OperationEvent& operation) { of_engine.push_back(operation.place); });
  const auto chosen = chosen_steps(record);
  Once once;
  visit_operations(record, with_operation(Operation::optimizer_step), [&](const OperationEvent& operation) {
    if (!operation.self.is(Kind::instance) ||
        // Where the program chooses between an engine and a loop of its own, it is of neither for sure.
        !attribute(operation.self, values::EngineState::engine).is(Kind::instance))
      return;
    if (std::find(of_engine.begin(), of_engine.end(), operation.place) != of_engine.end() ||
        chosen.contains({operation.place.chunk, operation.place.span.begin}) || !once(operation.place))
      return;
    report.add(Severity::warning, operation.place, operation.calls,
        std::string(
            "This optimizer belongs to the engine of DeepSpeed, which steps it in `engine.step()`, with the accumulation, the loss scale and the schedule of its configuration. ") +
            (of_engine.empty()
                    ? "A separate step leaves them out, and under ZeRO finds no gradients. Call `engine.step()` instead"
                    : "This is a second step. Remove it"));
  });
}

bool names_zero(Value config) {
  const auto& items = values::Heap::dict_state(config)->items;
  return values::Heap::dict_state(config)->open ||
      std::any_of(items.begin(), items.end(), [](const auto& item) {
        return !item.first.is(Kind::string) || item.first.text() == "zero_optimization";
      });
}

// A backward that the engine does not make, in a loop that its step ends.
void check_backwards(const Record& record, Report& report) {
  Once once;
  for (const TrainingRoot& training_root : Training::of(record).training_roots()) {
    std::vector<values::Place> of_engine;
    std::vector<const TrainingEvent*> steps;
    for (const TrainingEvent& each : training_root.all) {
      if (is(*each.event, FrameworkCall::engine_backward)) of_engine.push_back(each.event->place);
      if (is(*each.event, FrameworkCall::engine_step)) steps.push_back(&each);
    }
    if (!of_engine.empty()) continue;
    for (const TrainingEvent& each : training_root.all) {
      if (each.event->row->operation != Operation::backward || each.loops.empty() || each.in_handler)
        continue;
      const auto step = std::find_if(steps.begin(), steps.end(), [&](const TrainingEvent* one) {
        return one->in(each.loops.back()) && !(one->event->place == each.event->place) &&
            on_one_way(each, *one);
      });
      if (step == steps.end() || !once(each.event->place)) continue;
      // _backward_prologue of DeepSpeed 0.19: a tensor's own backward is taken where ZeRO has hooks for it.
      const Value stage = attribute((*step)->event->self, values::EngineState::stage),
                  config = attribute((*step)->event->self, values::EngineState::config);
      const bool is_zero = stage.is(Kind::integer) && shares_gradients(record, (*step)->event->self);
      const bool refused = config.is(Kind::dict) && !is_zero &&
          (stage.is(Kind::integer) || !names_zero(config));
      Finding* finding = report.add(refused ? Severity::warning : Severity::information, each.event->place,
          each.event->calls,
          refused
              ? "This backward goes around the engine of DeepSpeed, which without ZeRO refuses it: `RuntimeError`, \"Direct calls to tensor.backward() are not supported in this configuration\"; versions before 0.18 reduce no gradients instead. Call `engine.backward(loss)`."
              : "This backward goes around the engine of DeepSpeed: it divides no loss by the accumulation steps, scales no float16 loss unless `engine.scale(loss)` did, and versions before 0.18 do not reduce the gradients of ZeRO. Call `engine.backward(loss)`, which does all of it.");
      if (finding) report.relate(*finding, (*step)->event->place, "the engine steps here");
    }
  }
}

// Does each iteration of the loop come to the event that comes to the other one?
bool in_each_iteration(
    const TrainingRoot& training_root, const TrainingEvent& event, const TrainingEvent& other) {
  const LoopEvent* loop = event.loops.back();
  const auto times = [&](const TrainingEvent& one) {
    return std::count_if(training_root.all.begin(), training_root.all.end(), [&](const TrainingEvent& each) {
      return each.event->place == one.event->place && each.event->row == one.event->row && each.in(loop);
    });
  };
  if (loop->unrolled && times(event) != times(other)) return false;
  return std::all_of(event.turns.begin(), event.turns.end(), [&](const Turn& turn) {
    return std::any_of(other.turns.begin(), other.turns.end(),
        [&](const Turn& each) { return each.branch == turn.branch && each.yes == turn.yes; });
  });
}

// The engine clears the gradients itself, where a window of accumulation ends: a program that clears them
// before each backward keeps those of the last micro-batch alone. From stage 2 on they lie in buffers of the
// engine, which this does not clear.
void check_clearing(const Record& record, Report& report) {
  Once once;
  for (const TrainingRoot& training_root : Training::of(record).training_roots()) {
    const auto is_own_step = [&](const TrainingEvent& clear) {
      return std::any_of(training_root.all.begin(), training_root.all.end(), [&](const TrainingEvent& each) {
        return is_engine_step(*each.event) && each.event->place == clear.event->place;
      });
    };
    for (const TrainingEvent& clear : training_root.all) {
      const bool of_engine = is(*clear.event, FrameworkCall::engine_clears);
      if ((!of_engine && clear.event->row->operation != Operation::zero_grad) || clear.loops.empty() ||
          !clear.event->self.is(Kind::instance))
        continue;
      const Value engine = of_engine ? clear.event->self
                                     : attribute(clear.event->self, values::EngineState::engine);
      const auto root = engine.is(Kind::instance) ? deepspeed::configuration_of(record, engine)
                                                  : std::nullopt;
      if (!root || is_own_step(clear)) continue;
      const auto steps = deepspeed::integer(root->at("gradient_accumulation_steps")),
                 stage = root->find("zero_optimization") ? deepspeed::stage_of(*root) : std::optional(0L);
      const auto backward = std::find_if(
          training_root.all.begin(), training_root.all.end(), [&](const TrainingEvent& each) {
            return is(*each.event, FrameworkCall::engine_backward) &&
                each.event->self.object() == engine.object() && !each.loops.empty() &&
                each.loops.back() == clear.loops.back();
          });
      if (!steps || *steps < 2 || !stage || *stage > 1 || backward == training_root.all.end()) continue;
      if (!in_each_iteration(training_root, clear, *backward) || !once(clear.event->place)) continue;
      Finding* finding = report.add(Severity::warning, clear.event->place, clear.event->calls,
          "The engine of DeepSpeed accumulates " + std::to_string(*steps) +
              " micro-batches and clears the gradients itself after the last one. This clears them earlier, so only the last micro-batch of each window is trained on, with 1/" +
              std::to_string(*steps) + " of its gradient. Remove this call.");
      if (finding)
        report.relate(*finding, backward->event->place, "the engine's backward of each micro-batch");
    }
  }
}

// `save_16bit_model` of stage 3 saves nothing unless the configuration lets it gather.
void check_saves(const Record& record, Report& report) {
  Once once;
  const auto saves = libraries::is_call(FrameworkCall::engine_saves_whole);
  visit_operations(record, saves, [&](const OperationEvent& operation) {
    if (!operation.self.is(Kind::instance)) return;
    const Value stage = attribute(operation.self, values::EngineState::stage),
                whole = attribute(operation.self, values::EngineState::saves_whole);
    const bool is_sharded = stage.is(Kind::integer) &&
        record.symbols.compare(symbolic::Compare::ge, stage.integer(), record.symbols.constant(3)) ==
            symbolic::Answer::yes;
    const bool gathers = !whole.is(Kind::boolean) ||
        record.symbols.decide(whole.condition()) != symbolic::Answer::no;
    if (!is_sharded || gathers || !once(operation.place)) return;
    report.add(Severity::warning, operation.place, operation.calls,
        "This saves nothing and returns `False`: under ZeRO-3 the parameters must be gathered first, and the configuration does not set `stage3_gather_16bit_weights_on_model_save`. Set it to true in `zero_optimization`.");
  });
}

// Under ZeRO-3 each rank holds a part of every parameter, and the module itself only empty ones.
void check_states(const Record& record, Report& report) {
  if (any_operation(record, libraries::is_call(FrameworkCall::gathers_parameters))) return;
  Once once;
  visit_operations(record, with_operation(Operation::state_taken), [&](const OperationEvent& operation) {
    if (operation.row->path.find("Optimizer") != std::string_view::npos || !operation.self.is(Kind::instance))
      return;
    const Value engine = attribute(operation.self, values::EngineState::engine),
                stage = attribute(
                    engine.is(Kind::instance) ? engine : operation.self, values::EngineState::stage);
    const bool is_sharded = stage.is(Kind::integer) &&
        record.symbols.compare(symbolic::Compare::ge, stage.integer(), record.symbols.constant(3)) ==
            symbolic::Answer::yes;
    if (!is_sharded || !once(operation.place)) return;
    report.add(Severity::warning, operation.place, operation.calls,
        "Under ZeRO-3 the parameters of the module are empty outside of its forward: each rank holds a part of them, and this state holds tensors of size 0. Save with `engine.save_16bit_model` or `engine.save_checkpoint` on all ranks, or gather with `deepspeed.zero.GatheredParameters`");
  });
}

// Why clipping by hand between the engine's backward and its step does not clip what is stepped with; empty:
// it does, or that is not known.
std::string_view why_clips_nothing(const Record& record, Value engine) {
  if (shares_gradients(record, engine))
    return "Under ZeRO the gradients lie in buffers of the engine and not in the parameters: this clips nothing. Set `gradient_clipping` in the configuration";
  // FP16_Optimizer unscales them in its step.
  const auto root = deepspeed::configuration_of(record, engine);
  const documents::Node* half = root ? root->at("fp16") : nullptr;
  const auto stage = !root              ? std::nullopt
      : root->find("zero_optimization") ? deepspeed::stage_of(*root)
                                        : std::optional<std::int64_t>(0);
  if (half && stage && *stage == 0 && deepspeed::truth(half->at("enabled")).value_or(false))
    return "Under fp16 the gradients are multiplied by the loss scale until the engine steps, by up to 65,536: this clips the scaled ones, and the step is that much too small. Set `gradient_clipping` in the configuration";
  return {};
}

void check_clipping(const Record& record, const std::vector<Value>& engines, Report& report) {
  visit_operations(record, with_operation(Operation::clip_gradients), [&](const OperationEvent& operation) {
    if (!operation.row->path.starts_with("torch.nn.utils.") || operation.arguments.empty()) return;
    Parts clipped;
    clipped.add(operation.arguments[0]);
    for (const Value engine : engines) {
      const Value model = attribute(engine, values::EngineState::model);
      if (!clipped.found.contains(engine.object()) && !(model && clipped.found.contains(model.object())))
        continue;
      const std::string_view why = why_clips_nothing(record, engine);
      if (why.empty()) continue;
      report.add(Severity::warning, operation.place, operation.calls, std::string(why));
      break;
    }
  });
}

void check(const Record& record, Report& report) {
  std::vector<Value> engines;
  const OperationEvent* told = nullptr;
  visit_operations(record, [&](const OperationEvent& operation) {
    if (!operation.row || !operation.self.is(Kind::instance) || !is_engine_step(operation)) return;
    if (std::none_of(engines.begin(), engines.end(),
            [&](Value engine) { return engine.object() == operation.self.object(); }))
      engines.push_back(operation.self);
    if (told || !attribute(operation.self, values::EngineState::no_optimizer)) return;
    told = &operation;
    report.add(Severity::error, operation.place, operation.calls,
        "The engine has no optimizer: `deepspeed.initialize` is given none, and the configuration names none. DeepSpeed fails here or where the engine is made: \"must provide optimizer during init in order to use backward\". Pass `optimizer=`, or name one in the configuration");
  });
  report_specialized(
      record, report, rule.id, [&](const ProblemEvent& problem) { return text_of(record, problem); });
  check_steps(record, report);
  check_states(record, report);
  check_backwards(record, report);
  check_saves(record, report);
  check_clearing(record, report);
  check_clipping(record, engines, report);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "deepspeed/engine",
    .severity = Severity::error,
    .summary =
        "the engine of DeepSpeed is asked to train without an optimizer, or the program does by hand what the engine does",
    .why =
        "The engine makes backward, step and clipping itself. Without an optimizer it can only run forward: \"must provide optimizer during "
        "init in order to use backward\", or \"zero stage 1 requires an optimizer\". From stage 1 on the gradients lie in buffers of the "
        "engine: `torch.nn.utils.clip_grad_norm_` finds none and returns 0, and `optimizer.step()` moves nothing. Under fp16 without ZeRO it finds those that are still multiplied by the loss scale. Under ZeRO-3 the parameters "
        "are parted as well: `engine.module.state_dict()` holds tensors of size 0.",
    .wrong = "config = {\"train_batch_size\": 32, \"zero_optimization\": {\"stage\": 2}}\n"
             "engine, _, _, _ = deepspeed.initialize(model=model, config=config)\n"
             "loss = engine(x).mean()\n"
             "engine.backward(loss)\n",
    .right =
        "config = {\"train_batch_size\": 32, \"zero_optimization\": {\"stage\": 2}, \"optimizer\": {\"type\": \"AdamW\"}}\n"
        "engine, _, _, _ = deepspeed.initialize(model=model, config=config, model_parameters=model.parameters())\n"
        "loss = engine(x).mean()\n"
        "engine.backward(loss)\n",
    .silent =
        "Configurations that the run does not see: files that are named on the command line, dicts that others fill in.",
    .fix = "None yet: which optimizer is meant cannot be seen.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::deepspeed::engine
