// loop/missing-clip: layers whose gradients grow without bound now and then are trained, and nothing clips
// the gradients.
#include "libraries/table/class_roles.hpp"
#include "rules/digits.hpp"
#include "rules/name_hints.hpp"
#include "rules/rule.hpp"
#include "rules/training/absent.hpp"
#include "rules/training/optimized.hpp"
#include "rules/training/parts.hpp"
#include "values/kept.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::rules::loop::missing_clip {

using values::code;

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

// A layer of the loss that is known for it, among the parts of what it was computed from.
const Instance* explosive(const values::TensorState& loss) {
  for (const Object* source : loss.graph) {
    const auto* layer = dynamic_cast<const Instance*>(source);
    if (layer && layer->native && layer->native->row && layer->native->row->explodes) return layer;
  }
  return nullptr;
}

// A module that weighs its experts: it holds as many modules in a list as a linear layer of it, or of a part
// of it, has outputs.
const Instance* mixture(const Record& record, const values::TensorState& loss, Value optimizer) {
  const Value parameters = attribute(optimizer, values::OptimizerState::parameters);
  if (!parameters) return nullptr;
  Parts parts;
  parts.add(parameters);
  const auto each_part = [](const Instance& module, const auto& look) {
    for (const auto& [name, slot] : module.attributes.entries())
      if (slot->value.is(Kind::instance) && !values::is_kept(name.text()))
        look(*slot->value.template as<Instance>());
  };
  const auto is = [](const Instance& module, std::string_view path) {
    return !module.cls && module.native && module.native->path == path;
  };
  for (const Object* part : parts.found) {
    const auto* module = dynamic_cast<const Instance*>(part);
    if (!module || !module->cls) continue;
    std::vector<symbolic::Int> widths, counts;
    const auto weighs = [&](const Instance& layer) {
      const Value width = attribute(&layer, "out_features");
      if (is(layer, "torch.nn.Linear") && width.is(Kind::integer) && loss.graph.contains(&layer))
        widths.push_back(width.integer());
    };
    each_part(*module, [&](const Instance& inner) {
      weighs(inner);
      if (inner.cls) each_part(inner, weighs);
      const Value items = is(inner, "torch.nn.ModuleList") ? attribute(&inner, values::ContainerState::items)
                                                           : Value{};
      if (!items.is(Kind::list)) return;
      const values::ListState& state = *values::Heap::list_state(items);
      if (state.open ? state.length != nullptr : state.items.size() > 1)
        counts.push_back(state.open ? state.length
                                    : record.symbols.constant(static_cast<std::int64_t>(state.items.size())));
    });
    for (const symbolic::Int width : widths)
      for (const symbolic::Int count : counts)
        if (record.symbols.compare(symbolic::Compare::eq, width, count) == Answer::yes) return module;
  }
  return nullptr;
}

// `model.parameters()` where the optimizer was made, if the step can see the same name.
std::string parameters_text(
    const Record& record, const TrainingRoot& training_root, const OperationEvent& step, Value optimizer) {
  for (const TrainingEvent& each : training_root.all) {
    const OperationEvent& made = *each.event;
    if (made.row->operation != Operation::optimizer_made || made.self.object() != optimizer.object() ||
        made.calls != step.calls || !made.expr || made.expr->arguments.empty())
      continue;
    const std::string text(record.text({made.place.chunk, made.expr->arguments[0]->span}));
    return text.ends_with(".parameters()") ? text : "";
  }
  return "";
}

// Also by the model itself, whose gradients lie in shards.
bool clips_gradients(const OperationEvent& event) {
  return event.row->operation == Operation::clip_gradients ||
      libraries::clipping_of(*event.row) != libraries::Clipping::none;
}
// Does the loop's text clip, though this run of it does not?
bool offers_clipping(const LoopEvent& loop) { return loop.stmt && names(*loop.stmt, Says::clipping); }
// The shards of the gradients are clipped together by the wrapper alone.
bool is_sharded(Value optimizer) {
  const Value parameters = attribute(optimizer, values::OptimizerState::parameters),
              of = attribute(parameters, values::OptimizerState::of);
  const auto* model = of.is(Kind::instance) ? of.as<Instance>() : nullptr;
  return model && libraries::role_of(model->native) == libraries::ClassRole::shards_model;
}

constexpr double too_large = 1000;  // programs that clip late write up to this

// A limit that gradients never reach, where it is written out. float("inf") only measures.
void look_at_limits(const Record& record, const TrainingRoot& training_root, Report& report, Once& once) {
  for (const TrainingEvent& each : training_root.all) {
    const OperationEvent& clip = *each.event;
    if (clip.row->operation != Operation::clip_gradients || each.loops.empty() ||
        !repeats(*each.loops.back()) || clip.arguments.size() < 2 || clip.row->parameters.size() < 2)
      continue;
    const Value given = clip.arguments[1];
    const double limit = given.is(Kind::real) ? given.real()
        : given.is(Kind::integer) ? static_cast<double>(record.symbols.value(given.integer()).value_or(0))
                                  : 0;
    const bool trains = std::any_of(
        training_root.all.begin(), training_root.all.end(), [&](const TrainingEvent& other) {
          return stepped_optimizer(*other.event) && other.in(each.loops.back());
        });
    if (!(limit > too_large) || limit > 1e30 || !trains || !once(clip.place)) continue;
    report.add(Severity::hint, clip.place, clip.calls,
        "A limit of " + in_digits(limit) +
            " is far above the gradients of ordinary batches, and does not stop a bad one. Clip the norm at 1.0 as a start, as programs that train such models mostly do.");
  }
}

void check(const Record& record, Report& report) {
  const Training& training = Training::of(record);
  Once limits;
  for (const TrainingRoot& training_root : training.training_roots()) {
    if (training_root.handed_over || training_root.root->truncated) continue;
    const bool clips = std::any_of(training_root.all.begin(), training_root.all.end(),
        [](const TrainingEvent& each) { return clips_gradients(*each.event); });
    if (clips) {
      look_at_limits(record, training_root, report, limits);
      continue;
    }
    bool told = false;
    for (const TrainingEvent& step : training_root.all) {
      const Value optimizer = stepped_optimizer(*step.event);
      if (told || !optimizer.is(Kind::instance) || step.loops.empty() || !repeats(*step.loops.back()) ||
          !is_made(training_root, optimizer.object()) || by_hand(training_root, nullptr))
        continue;
      const LoopEvent* loop = step.loops.back();
      if (offers_clipping(*loop) || escapes(record, training_root, optimizer.object(), nullptr)) continue;
      for (const TrainingEvent& each : training_root.all) {
        const values::TensorState* loss = each.event->row->operation == Operation::backward && each.in(loop)
            ? each.event->self_state()
            : nullptr;
        if (!loss || feeds(training_root, *each.event, optimizer) != Answer::yes) continue;
        const Instance* layer = explosive(*loss);
        const bool experts = !layer;
        if (experts) layer = mixture(record, *loss, optimizer);
        if (!layer) continue;
        told = true;
        const std::string name = experts ? "mixture of experts" : class_of(*layer);
        Finding* finding = report.add(Severity::hint, step.event->place, step.event->calls,
            "Nothing clips the gradients of this " + (experts ? name : code(name)) +
                " before the step: one bad batch can undo many steps. Clip their norm, at 1.0 as a start, as programs that train such layers mostly do.");
        if (!finding) break;
        report.relate(*finding, layer->born, "the " + name);
        const std::string parameters = parameters_text(record, training_root, *step.event, optimizer);
        Fix fix;
        fix.title = "Clip the norm of the gradients";
        if (!parameters.empty() && step.event->row->operation == Operation::optimizer_step &&
            insert_before(record, *step.event,
                is_sharded(optimizer) ? parameters.substr(0, parameters.rfind('.')) + ".clip_grad_norm_(1.0)"
                                      : "torch.nn.utils.clip_grad_norm_(" + parameters + ", 1.0)",
                fix))
          finding->fixes.push_back(std::move(fix));
        break;
      }
    }
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "loop/missing-clip",
    .severity = Severity::hint,
    .summary =
        "recurrent layers, attention or experts are trained without clipping the gradients, or with a limit that is never reached",
    .why =
        "The gradients of recurrent layers, of deep stacks of attention, and of experts after a router, grow by orders of magnitude on single batches: the loss jumps, and many steps "
        "are lost, or it becomes nan. `clip_grad_norm_` before the step bounds what one batch can do; a limit of ten thousand does not.",
    .wrong = "loss = loss_fn(lstm(x)[0], y)\n"
             "loss.backward()\n"
             "optimizer.step()\n",
    .right = "loss = loss_fn(lstm(x)[0], y)\n"
             "loss.backward()\n"
             "torch.nn.utils.clip_grad_norm_(lstm.parameters(), 1.0)\n"
             "optimizer.step()\n",
    .silent =
        "Limits up to 1000, and `float(\"inf\")`, which only measures; clipping anywhere in the program that trains, also in a function that it calls, by the sharded model itself, or offered and switched off; hooks on gradients, and gradients that are changed by hand; loops that a "
        "framework runs; optimizers that code which is not seen is handed.",
    .fix = "Offers `clip_grad_norm_` with 1.0 before the step.",
    .fix_kind = FixKind::needs_decision,
    .check = check,
});

}  // namespace stepzero::rules::loop::missing_clip
