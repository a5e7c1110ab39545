// autograd/copied-tensor: `torch.tensor` of a tensor, which leaves its history behind.
#include "rules/call_at.hpp"
#include "rules/provenance.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

namespace stepzero::rules::autograd::copied_tensor {

using values::code;

namespace {

// `torch.tensor(x)` is `x.detach().clone()`; with a dtype or a device it is more.
std::optional<Fix> cloned(const Record& record, Report& report, values::Place place) {
  const syntax::CallExpr* call = call_at(record, place);
  if (!call || call->arguments.size() != 1 || !call->keywords.empty() || !record.in_file(place))
    return std::nullopt;
  const syntax::Expr& copied = *call->arguments[0];
  if (copied.kind != syntax::ExprKind::name && copied.kind != syntax::ExprKind::attribute &&
      copied.kind != syntax::ExprKind::call)
    return std::nullopt;
  Fix fix;
  fix.title = "Copy it with `detach().clone()`";
  fix.preferred = true;
  fix.edits.push_back(
      {report.location(place), std::string(record.text({place.chunk, copied.span})) + ".detach().clone()"});
  return fix;
}

void check(const Record& record, Report& report) {
  Once once;
  for (const Origin& each : Provenance::of(record).of_semantics(OpSemantics::built)) {
    const TensorState* copied = input(*each.made);
    if (!copied || copied->requires_grad != values::Known::yes || copied->poisoned || !once(each.made->born))
      continue;
    const syntax::CallExpr* call = call_at(record, each.made->born);
    const std::string of = call && !call->arguments.empty()
        ? code(std::string(record.text({each.made->born.chunk, call->arguments[0]->span})))
        : std::string("a tensor");
    Finding* finding = report.add(Severity::information, each.made->born, each.made->calls,
        "`torch.tensor` copies " + of +
            " without its history, so no gradient flows back from here, and PyTorch warns of it. Call `clone()` to keep the history, or `detach().clone()` to leave it out.");
    if (!finding) continue;
    if (auto fix = cloned(record, report, each.made->born)) finding->fixes.push_back(std::move(*fix));
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "autograd/copied-tensor",
    .severity = Severity::information,
    .summary = "a tensor that has a history is copied by `torch.tensor`, which drops it",
    .why =
        "`torch.tensor` copies numbers and makes a new leaf of them: what it is computed from gets no gradient through the copy. PyTorch says so once, as a warning that training logs bury: "
        "\"To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone()\".",
    .wrong = "loss = torch.tensor(criterion(model(x), y))\n",
    .right = "loss = criterion(model(x), y)\n",
    .silent =
        "Numbers, lists and arrays; tensors that require no gradient, of which only the warning is left.",
    .fix = "Writes `x.detach().clone()`, which does the same and says so.",
    .fix_kind = FixKind::always_right,
    .check = check,
});

}  // namespace stepzero::rules::autograd::copied_tensor
