// deepspeed/precision: the configuration asks for two precisions at once.
#include "libraries/table/class_roles.hpp"
#include "rules/amp/autocast.hpp"
#include "rules/deepspeed/program.hpp"
#include "rules/deepspeed/sections.hpp"
#include "rules/rule.hpp"
#include "rules/training/parts.hpp"
#include "rules/training/training.hpp"
#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::rules::deepspeed::precision {

using libraries::FrameworkCall;

extern const Rule rule;

namespace {

const Field* enabled(const Node& root, std::string_view section) {
  const Node* table = root.at(section);
  const Field* field = table ? table->find("enabled") : nullptr;
  return field && truth(&field->value) == true ? field : nullptr;
}

void judge(const Document& document, DocumentReport& report) {
  const Node& root = document.root;
  const Field* fp16 = enabled(root, "fp16");
  const Field* bf16 = enabled(root, root.find("bf16") ? "bf16" : "bfloat16");
  if (fp16 && bf16) {
    Finding& finding = report.add(Severity::error, bf16->value.span,
        "`bf16` and `fp16` are both enabled: DeepSpeed raises `AssertionError`. Keep bf16 where the GPUs have it; its range needs no loss scale");
    report.relate(finding, fp16->value.span, "fp16 is enabled here");
    report.fix(finding, "Disable fp16", false, fp16->value.span, "false");
    report.fix(finding, "Disable bf16", false, bf16->value.span, "false");
    return;
  }
  // What holds of the scaled loss has no effect with bf16.
  const Node* half = root.at("fp16");
  if (!fp16 || !half) return;
  if (const Node* scale = half->at("loss_scale"); scale && scale->is_number() && scale->number() == 1)
    report.add(Severity::warning, scale->span,
        "a fixed `loss_scale` of 1 leaves the gradients of float16 unscaled: small ones become zero. Set it to 0, which adapts the scale");
}

void check_document(const DocumentInput& input, DocumentReport& report) { judge(input.document, report); }
// A scaler of torch beside an engine that scales the loss itself.
void check_scalers(const Record& record, Report& report) {
  const auto is_backward = libraries::is_call(FrameworkCall::engine_backward);
  if (!any_operation(record, is_backward)) return;
  Once once;
  for (const TrainingRoot& training_root : Training::of(record).training_roots())
    for (const TrainingEvent& scaled : training_root.all) {
      if (scaled.event->row->operation != values::Operation::scale || scaled.loops.empty()) continue;
      const auto backward = std::find_if(
          training_root.all.begin(), training_root.all.end(), [&](const TrainingEvent& each) {
            return is_backward(*each.event->row) && each.in(scaled.loops.back()) && on_one_way(scaled, each);
          });
      if (backward == training_root.all.end() || !once(scaled.event->place)) continue;
      Finding* finding = report.add(Severity::warning, scaled.event->place, scaled.event->calls,
          "The engine of DeepSpeed scales a float16 loss itself, and nothing takes this second scale away again: the gradients are 65,536 times too large, or overflow. Hand the plain loss to `engine.backward`.");
      if (finding) report.relate(*finding, backward->event->place, "the engine's backward");
    }
}

// Since DeepSpeed 0.17 the engine turns torch's autocast off inside of its forward (autocast_if_enabled).
void check_autocast(const Record& record, Report& report) {
  Once once;
  visit_operations(record, [&](const interpreter::OperationEvent& forward) {
    if (!forward.row || !forward.self.is(values::Kind::instance)) return;
    const bool is_engine = static_cast<bool>(attribute(forward.self, values::EngineState::config));
    // Under ZeRO-3 it is the engine that is called.
    if (forward.row->operation != values::Operation::forward &&
        !(is_engine && forward.row->path.ends_with(".__call__")))
      return;
    const Value engine = is_engine ? forward.self : attribute(forward.self, values::EngineState::engine);
    const auto root = engine.is(values::Kind::instance) ? configuration_of(record, engine) : std::nullopt;
    if (!root || root->find("torch_autocast") || root->find("amp")) return;
    const auto region = autocast_around(record, forward.around);
    if (!region || region->enabled != symbolic::Answer::yes || !once(region->around->place)) return;
    const bool has_own = enabled(*root, "fp16") || enabled(*root, "bf16") || enabled(*root, "bfloat16");
    const auto may_have = [&](std::string_view section) {
      return root->find(section) && !enabled(*root, section) &&
          truth(root->at(section)->at("enabled")) != std::optional(false);
    };
    if (!has_own && (may_have("fp16") || may_have("bf16") || may_have("bfloat16"))) return;
    Finding* finding = report.add(has_own ? Severity::information : Severity::warning, region->around->place,
        forward.calls,
        has_own
            ? "The engine of DeepSpeed computes in the precision of its configuration, and turns torch's autocast off inside of its forward: this region has no effect on the model. Remove it, or configure `torch_autocast` instead of `fp16` and `bf16`."
            : "The engine of DeepSpeed turns torch's autocast off inside of its forward, and its configuration asks for no precision: the model computes in float32. Enable `bf16`, or `torch_autocast`, in the configuration.");
    if (finding) report.relate(*finding, forward.place, "the engine's forward");
  });
}

void check(const Record& record, Report& report) {
  check_program(record, report, rule, judge);
  check_scalers(record, report);
  check_autocast(record, report);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "deepspeed/precision",
    .severity = Severity::error,
    .summary =
        "DeepSpeed's configuration asks for two precisions at once, or for float16 without a scaled loss",
    .why =
        "\"bfloat16 and fp16 modes cannot be simultaneously enabled\": DeepSpeed asserts it where it reads the configuration. With float16 the "
        "loss has to be scaled, or gradients below 6e-8 are lost. The engine makes its precision itself: it scales the loss, so that a GradScaler beside it "
        "scales twice, and since version 0.17 it turns `torch.autocast` off inside of its forward unless `torch_autocast` is configured.",
    .wrong =
        "{\n  \"train_batch_size\": 32,\n  \"fp16\": {\"enabled\": true},\n  \"bf16\": {\"enabled\": true}\n}\n",
    .right = "{\n  \"train_batch_size\": 32,\n  \"bf16\": {\"enabled\": true}\n}\n",
    .silent = "\"auto\", which the Trainer fills in.",
    .fix = "Offers to disable either of them.",
    .fix_kind = FixKind::needs_decision,
    .check = check,
});

extern constexpr DocumentCheck document_check = {&rule, Role::deepspeed, check_document};

}  // namespace stepzero::rules::deepspeed::precision
