// autograd/flag-of-module: `requires_grad` is set on a module, where it is an attribute like any other.
#include "rules/rule.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

namespace stepzero::rules::autograd::flag_of_module {

using namespace interpreter;
using values::code;
using values::Kind;
using values::Operation;

namespace {

void check(const Record& record, Report& report) {
  Once once;
  visit_operations(record, with_operation(Operation::flag_of_module), [&](const OperationEvent& set) {
    const Value wanted = set.arguments.empty() ? Value{} : set.arguments[0];
    if (!wanted.is(Kind::boolean) || !set.self.is(Kind::instance) || !once(set.place)) return;
    const bool freezes = record.symbols.decide(wanted.condition()) == symbolic::Answer::no;
    const std::string text(record.text(set.place)), name = text.substr(0, text.rfind('.'));
    Finding* finding = report.add(Severity::warning, set.place, set.calls,
        std::string(
            "A module has no `requires_grad`: this sets an attribute that nothing reads, and its parameters ") +
            (freezes ? "go on training" : "stay as they are") + ". Call " +
            code((name.empty() ? "module" : name) +
                (freezes ? ".requires_grad_(False)" : ".requires_grad_()")) +
            ".");
    if (finding) report.relate_calls(*finding, set.calls);
  });
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "autograd/flag-of-module",
    .severity = Severity::warning,
    .summary = "requires_grad is set on a module, which has no such flag",
    .why =
        "`requires_grad` is an attribute of tensors. A module takes any attribute that it is given, so `backbone.requires_grad = False` raises nothing and freezes nothing: the optimizer trains all of its parameters, and their gradients take memory.",
    .wrong = "model.backbone.requires_grad = False\n",
    .right = "model.backbone.requires_grad_(False)\n",
    .silent = "`requires_grad_()`; parameters and other tensors; objects that are not known to be modules.",
    .fix = "None: a module of the program's own may read the attribute.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::autograd::flag_of_module
