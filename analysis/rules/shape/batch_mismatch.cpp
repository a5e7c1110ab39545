// shape/batch-mismatch: tensors given to one call of a model that is not known have different batch or
// sequence sizes.
#include "rules/rule.hpp"
#include "rules/shape/operator_problem.hpp"

namespace stepzero::rules::shape::batch_mismatch {

namespace {

void check(const Record& record, Report& report) {
  report_problems(record, report, values::ProblemKind::batch_mismatch, Severity::warning);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "shape/batch-mismatch",
    .severity = Severity::warning,
    .summary = "inputs of one model call have different batch or sequence sizes",
    .why =
        "hidden_states, attention_mask, labels, position_ids and their like describe the same batch: their first dimensions are the "
        "batch, their second ones the sequence. A model that gets others fails inside, often deep in its attention, with a message "
        "about sizes that nobody wrote.",
    .wrong = "input_ids = torch.randint(0, 1000, (32, 128))\n"
             "attention_mask = torch.ones(16, 128)\n"
             "output = model(input_ids, attention_mask)   # 32 meets 16\n",
    .right = "input_ids = torch.randint(0, 1000, (32, 128))\n"
             "attention_mask = torch.ones(32, 128)\n"
             "output = model(input_ids, attention_mask)\n",
    .silent =
        "Models whose code is seen: there the operations say it; names that tell nothing; a size of 1, which broadcasts; encoder "
        "and decoder inputs, whose sequences differ; masks of three and four dimensions; caches; sizes that are not known.",
    .fix = "None: which of the inputs is wrong cannot be seen.",
    .fix_kind = FixKind::none,
    .check = check,
    .local = true,
});

}  // namespace stepzero::rules::shape::batch_mismatch
