// fsdp/mixed-requires-grad: trained and frozen parameters that would become one flat parameter.
#include "rules/fsdp/wraps.hpp"
#include "rules/rule.hpp"
#include "rules/training/parts.hpp"
#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::rules::fsdp::mixed_requires_grad {

using namespace interpreter;

namespace {

void check(const Record& record, Report& report) {
  Once once;
  for (const auto& root : record.roots)
    for (const Wrap& wrap : wraps_in(record, *root)) {
      if (wrap.in_place || wrap.in_attempt || !attribute(wrap.event->self, values::WrapperState::mixed))
        continue;
      if (!wrap.is_false(record, "use_orig_params") || !wrap.leaves_out("ignored_modules") ||
          !wrap.leaves_out("ignored_states") || !once(wrap.event->place))
        continue;
      Finding* finding = report.add(Severity::error, wrap.event->place, wrap.event->calls,
          "Some parameters of this module are frozen and others are trained, and `FullyShardedDataParallel` makes one flat parameter of them: \"Must flatten tensors with uniform `requires_grad` when `use_orig_params=False`\". Pass `use_orig_params=True`, or wrap the frozen parts on their own.");
      if (!finding || !wrap.event->expr || !record.in_file(wrap.event->place)) continue;
      const syntax::CallExpr& call = *wrap.event->expr;
      if (std::any_of(call.keywords.begin(), call.keywords.end(),
              [](const syntax::Keyword& each) { return each.name.text() == "use_orig_params"; }))
        continue;
      if (call.arguments.empty() && call.keywords.empty()) continue;
      const std::uint32_t last = call.keywords.empty() ? call.arguments[call.arguments.size() - 1]->span.end
                                                       : call.keywords[call.keywords.size() - 1].span.end;
      finding->fixes.push_back({"Pass use_orig_params=True", true,
          {{report.location({wrap.event->place.chunk, {last, last}}), ", use_orig_params=True"}}});
    }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "fsdp/mixed-requires-grad",
    .severity = Severity::error,
    .summary = "FullyShardedDataParallel is given trained and frozen parameters in one unit",
    .why =
        "Without `use_orig_params=True` the parameters of a unit become one flat parameter, which is trained or not as a whole. Where some are frozen the wrap raises "
        "\"Must flatten tensors with uniform `requires_grad`\": fine-tuning with a frozen backbone, or with adapters, ends there.",
    .wrong =
        "for p in model.backbone.parameters():\n    p.requires_grad_(False)\nmodel = FullyShardedDataParallel(model)\n",
    .right =
        "for p in model.backbone.parameters():\n    p.requires_grad_(False)\nmodel = FullyShardedDataParallel(model, use_orig_params=True)\n",
    .silent =
        "`use_orig_params=True`; an `auto_wrap_policy` that is not made of classes; ignored modules; `fully_shard`, which keeps each parameter.",
    .fix = "Passes `use_orig_params=True`.",
    .fix_kind = FixKind::always_right,
    .check = check,
});

}  // namespace stepzero::rules::fsdp::mixed_requires_grad
