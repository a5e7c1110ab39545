// amp/unsafe-op: binary cross entropy of probabilities under autocast of CUDA to half precision.
#include "rules/amp/autocast.hpp"
#include "rules/rule.hpp"
#include "values/shape_text.hpp"

namespace stepzero::rules::amp::unsafe_op {

using values::code;

using namespace interpreter;
using values::Operation;

namespace {

void check(const Record& record, Report& report) {
  Once once;
  visit_operations(record, with_operation(Operation::refuses_autocast), [&](const OperationEvent& loss) {
    if (loss.expected) return;
    const auto region = autocast_around(record, loss.around);
    if (!region || region->enabled == Answer::no || region->device != "cuda") return;
    // What the refusal is about is the type of the input: only what is surely not float32 by then is told.
    if (!once(loss.place)) return;
    const bool module = loss.row->kind == values::RowKind::method;
    Finding* finding = report.add(region->enabled == Answer::yes ? Severity::error : Severity::warning,
        loss.place, loss.calls,
        code(module ? "BCELoss" : "binary_cross_entropy") + " raises under `autocast`" + region->when +
            ": \"torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast.\" Compute it from the logits with " +
            (module ? "`BCEWithLogitsLoss`." : "`binary_cross_entropy_with_logits`."));
    if (finding) report.relate(*finding, region->around->place, "the autocast region");
  });
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "amp/unsafe-op",
    .severity = Severity::error,
    .summary = "BCELoss or binary_cross_entropy under autocast",
    .why =
        "The backward of binary cross entropy makes gradients that float16 cannot hold, so CUDA's autocast refuses it, whatever the type of "
        "its input: \"torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast.\" The variants that take "
        "logits combine the sigmoid with the loss and are safe.",
    .wrong = "with torch.autocast(\"cuda\"):\n"
             "    loss = nn.functional.binary_cross_entropy(torch.sigmoid(model(x)), y)\n",
    .right = "with torch.autocast(\"cuda\"):\n"
             "    loss = nn.functional.binary_cross_entropy_with_logits(model(x), y)\n",
    .silent =
        "Autocast of the CPU, which computes it in float32; a nested region with `enabled=False`; the loss after the region; the variants "
        "with logits. When it is not known whether autocast is enabled, the finding is a warning that names the condition.",
    .fix = "None: the sigmoid stands somewhere else, and has to go with it.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::amp::unsafe_op
