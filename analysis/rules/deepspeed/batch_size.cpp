// deepspeed/batch-size: the three batch sizes of the configuration contradict each other for every number of
// processes.
#include "rules/deepspeed/program.hpp"
#include "rules/deepspeed/sections.hpp"
#include "rules/rule.hpp"

namespace stepzero::rules::deepspeed::batch_size {

extern const Rule rule;

namespace {

struct Size {
  const Field* field = nullptr;
  std::optional<std::int64_t> value;
};

Size size(const Node& root, std::string_view key) {
  Size made;
  made.field = root.find(key);
  if (made.field) made.value = integer(&made.field->value);
  return made;
}

void judge(const Document& document, DocumentReport& report) {
  const Node& root = document.root;
  if (document.is_broken) return;  // what is missing may stand in what cannot be read
  const Size whole = size(root, "train_batch_size"), micro = size(root, "train_micro_batch_size_per_gpu"),
             steps = size(root, "gradient_accumulation_steps");
  for (const Size* each : {&whole, &micro, &steps})
    if (each->value && *each->value <= 0) {
      report.add(Severity::error, each->field->value.span,
          "`" + each->field->key +
              "` is not greater than 0: DeepSpeed raises `AssertionError`. Make it positive");
      return;
    }
  if (!whole.field && !micro.field) {
    // One section and nothing else is a part of a configuration: a program puts it together with the rest.
    if (root.fields.size() == 1 && root.fields.front().value.is(Node::Kind::table)) return;
    // Files that others complete before DeepSpeed reads them have "auto" somewhere.
    bool completed = false;
    each_section(root, [&](std::string_view, const Node& table) {
      for (const Field& field : table.fields) completed = completed || is_auto(&field.value);
    });
    if (!completed && root.span.end > root.span.begin)
      report.add(Severity::warning, {root.span.begin, root.span.begin + 1},
          "neither `train_batch_size` nor `train_micro_batch_size_per_gpu` is given: DeepSpeed refuses the configuration, unless the program adds one of them. Add one");
    return;
  }
  if (!whole.value || (!micro.value && !steps.value)) return;
  std::int64_t product = 0;
  if (__builtin_mul_overflow(micro.value.value_or(1), steps.value.value_or(1), &product)) return;
  if (micro.field && !micro.value) return;  // "auto"
  if (steps.field && !steps.value) return;
  if (*whole.value % product == 0) return;
  std::string made = micro.value ? std::to_string(*micro.value) + " per process" : "";
  if (steps.value) made += (made.empty() ? "" : " × ") + std::to_string(*steps.value) + " accumulation steps";
  Finding& finding = report.add(Severity::error, whole.field->value.span,
      "a `train_batch_size` of " + std::to_string(*whole.value) + " is not a multiple of " + made +
          (micro.value && steps.value ? " = " + std::to_string(product) : "") +
          ": DeepSpeed raises `AssertionError` with any number of processes. Make it a multiple");
  if (micro.value) report.relate(finding, micro.field->key_span, "samples per process");
  if (steps.value) report.relate(finding, steps.field->key_span, "accumulation steps");
}

void check_document(const DocumentInput& input, DocumentReport& report) { judge(input.document, report); }
void check(const Record& record, Report& report) {
  check_batch_of_launch(record, report);
  check_program(record, report, rule, judge);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "deepspeed/batch-size",
    .severity = Severity::error,
    .summary = "the batch sizes of DeepSpeed's configuration contradict each other",
    .why =
        "DeepSpeed asserts that `train_batch_size` is `train_micro_batch_size_per_gpu` × `gradient_accumulation_steps` × the number of "
        "data-parallel processes: \"Check batch related parameters. train_batch_size is not equal to micro_batch_per_gpu * "
        "gradient_acc_step * world_size\". Where two of them are given, the third is made of them, and must come out whole.",
    .wrong =
        "{\n  \"train_batch_size\": 100,\n  \"train_micro_batch_size_per_gpu\": 8,\n  \"gradient_accumulation_steps\": 4\n}\n",
    .right = "{\n  \"train_micro_batch_size_per_gpu\": 8,\n  \"gradient_accumulation_steps\": 4\n}\n",
    .silent =
        "Sizes that are \"auto\"; one section alone, which a program puts together with the rest; sizes that some number of processes fulfills, where the launch is not known.",
    .fix =
        "None yet: which of the sizes was meant cannot be seen. Leave out `train_batch_size`: it follows from the others.",
    .fix_kind = FixKind::none,
    .check = check,
});

extern constexpr DocumentCheck document_check = {&rule, Role::deepspeed, check_document};

}  // namespace stepzero::rules::deepspeed::batch_size
