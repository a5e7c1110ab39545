// deepspeed/zero-options: options of ZeRO that its stage does not read, or that do not go together.
#include "rules/deepspeed/program.hpp"
#include "rules/deepspeed/sections.hpp"
#include "rules/rule.hpp"

#include <array>

namespace stepzero::rules::deepspeed::zero_options {

extern const Rule rule;

namespace {

// The device that an offload names, if it is one: "none" offloads nothing.
const Node* offloads_to(const Node& zero, std::string_view key) {
  const Node* table = zero.at(key);
  const Node* device = table ? table->at("device") : nullptr;
  return device && device->is(Node::Kind::text) && device->text != "none" && device->text != "auto" ? device
                                                                                                    : nullptr;
}

void check_offload(const Node& zero, std::int64_t stage, DocumentReport& report) {
  const std::string at_stage = "at stage " + std::to_string(stage);
  for (const std::string_view key : {"offload_param", "offload_optimizer"}) {
    const Node* device = offloads_to(zero, key);
    if (!device) continue;
    const Field& field = *zero.find(key);
    const Node* path = field.value.at("nvme_path");
    if (key == "offload_param" && stage < 3)
      report.add(Severity::warning, field.key_span,
          "only stage 3 splits the parameters and reads `offload_param`; " + at_stage +
              " it has no effect and the parameters stay on the GPU. Set `stage` to 3, or remove it");
    else if (stage == 0)
      report.add(Severity::warning, field.key_span,
          "stage 0 partitions nothing and does not read `offload_optimizer`: the optimizer's states stay on the GPU. Set `stage` to 1 or more, or remove it");
    else if (device->text == "nvme" && stage < 3)
      report.add(Severity::warning, device->span,
          at_stage +
              " the optimizer's states are offloaded to the memory of the host, whatever the device: only stage 3 writes them to a disk. Set `stage` to 3, or write \"cpu\"");
    else if (device->text == "nvme" && (!path || path->is(Node::Kind::null)))
      report.add(Severity::error, device->span,
          "offloading to nvme needs `nvme_path`, the folder on the disk: without this key DeepSpeed fails when it builds the path. Add it");
  }
}

void judge(const Document& document, DocumentReport& report) {
  const Node& root = document.root;
  const std::optional<std::int64_t> stage = stage_of(root);
  if (!stage || *stage < 0 || *stage > 3) return;
  // These two are asserted of the stage by the configuration itself.
  for (const auto& [section, key] :
      std::array<std::pair<std::string_view, std::string_view>, 3>{{{"bf16", "bf16_master_weights_and_grads"},
          {"bf16", "bf16_optimizer_states"}, {"fp16", "fp16_master_weights_and_grads"}}}) {
    const Node* table = root.at(section);
    const Field* field = table ? table->find(key) : nullptr;
    if (field && truth(&field->value) == true && *stage == 0)
      report.add(Severity::error, field->key_span,
          "`" + std::string(key) +
              "` is supported with stage 1, 2 or 3 of ZeRO only: DeepSpeed asserts it. Set `stage`, or remove it");
  }
  const Node* zero = root.at("zero_optimization");
  if (!zero || !zero->is(Node::Kind::table)) return;
  check_offload(*zero, *stage, report);
  // Nothing is shared at stage 0, and none of its options is read; what many files carry along is their
  // default.
  if (*stage == 0 && zero->find("stage"))
    for (const std::string_view key : {"contiguous_gradients", "overlap_comm", "reduce_scatter",
             "stage3_gather_16bit_weights_on_model_save", "round_robin_gradients"})
      if (const Field* option = zero->find(key); option && truth(&option->value) == true)
        report.add(Severity::information, option->key_span,
            "stage 0 partitions nothing and does not read `" + std::string(key) +
                "`: it has no effect. Set `stage` to 1 or more, or remove it");
  const Node* offload = zero->at("offload_optimizer");
  if (const Field* ratio = offload ? offload->find("ratio") : nullptr;
      ratio && ratio->value.is_number() && ratio->value.number() < 1 && *stage != 3)
    report.add(Severity::error, ratio->value.span,
        "a `ratio` below 1 is supported with stage 3 only: DeepSpeed asserts it. Set `stage` to 3, or remove it");
  if (const Field* norm = zero->find("compute_grad_norm");
      norm && truth(&norm->value) == false && *stage != 1 && *stage != 2)
    report.add(Severity::error, norm->value.span,
        "`compute_grad_norm` may be off only with stage 1 or 2: DeepSpeed refuses it here. Remove it");
  if (const Field* legacy = zero->find("legacy_stage1");
      legacy && truth(&legacy->value) == true && *stage > 0)
    report.add(Severity::error, legacy->value.span,
        "the old stage 1 is not supported since DeepSpeed 0.5.9: it raises where the optimizer is made. Remove `legacy_stage1`");
  if (const Node* op = root.at("gradient_allreduce_op"); op && op->is_text("sum") && *stage == 3)
    report.add(Severity::error, op->span,
        "stage 3 only averages gradients: DeepSpeed refuses \"sum\". Use `gradient_allreduce_op` only below stage 3");
}

void check_document(const DocumentInput& input, DocumentReport& report) { judge(input.document, report); }
void check(const Record& record, Report& report) { check_program(record, report, rule, judge); }

}  // namespace

extern constexpr Rule rule = complete({
    .id = "deepspeed/zero-options",
    .severity = Severity::error,
    .summary = "options of ZeRO that its stage does not read, or refuses",
    .why =
        "Each stage of ZeRO reads its own options and passes over the others: `offload_param` below stage 3 offloads nothing, and memory runs "
        "out although the file says otherwise. Some combinations are asserted against: \"Partial offloading only supported for ZeRO Stage "
        "3.\"",
    .wrong =
        "{\n  \"train_batch_size\": 32,\n  \"zero_optimization\": {\"stage\": 2, \"offload_param\": {\"device\": \"cpu\"}}\n}\n",
    .right =
        "{\n  \"train_batch_size\": 32,\n  \"zero_optimization\": {\"stage\": 3, \"offload_param\": {\"device\": \"cpu\"}}\n}\n",
    .silent =
        "`\"device\": \"none\"`; `stage3_…` options at other stages, which many files carry along; a stage that is \"auto\".",
    .fix = "None yet: whether the stage or the option is wrong cannot be seen.",
    .fix_kind = FixKind::none,
    .check = check,
});

extern constexpr DocumentCheck document_check = {&rule, Role::deepspeed, check_document};

}  // namespace stepzero::rules::deepspeed::zero_options
