// autograd/flag-of-state: `requires_grad` is set on the tensors of a `state_dict()`, which are not the
// parameters. Follows the tensors that the run knows to be of the dict.
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <map>

namespace stepzero::rules::autograd::flag_of_state {

using namespace interpreter;
using namespace syntax;
using values::code;
using values::Kind;
using values::Operation;

namespace {

// With `keep_vars=True` the dict holds the parameters themselves.
bool keeps_parameters(const OperationEvent& taken) {
  static constexpr std::string_view keeps = "keep_vars";
  return !taken.expr ||
      std::ranges::any_of(taken.expr->keywords,
          [](const Keyword& each) { return each.name.text() == keeps || each.name.text().empty(); }) ||
      !taken.expr->arguments.empty();
}

// Is the dict gone through where it is made, so that nobody else has it: `for p in
// model.state_dict().values()`?
bool is_used_up(const Record& record, const OperationEvent& taken) {
  if (!record.chunk(taken.place).chunk) return false;
  const auto way = enclosing(*record.chunk(taken.place).chunk->stmt, taken.place.span);
  return !way.empty() && way.back().stmt->kind == StmtKind::for_ &&
      as<ForStmt>(*way.back().stmt).iterable->span.holds(taken.place.span);
}

void check(const Record& record, Report& report) {
  std::map<const Object*, const OperationEvent*> of_states;
  visit_operations(record, with_operation(Operation::state_taken), [&](const OperationEvent& taken) {
    if (!taken.result.is(Kind::dict) || !taken.result.as<values::Dict>()->state.value ||
        keeps_parameters(taken))
      return;
    const values::DictState& state = *values::Heap::dict_state(taken.result);
    const auto add = [&](Value item) {
      if (item.is(Kind::tensor) && item.object()->born == taken.place)
        of_states.emplace(item.object(), &taken);
    };
    for (const auto& [name, item] : state.items) add(item);
    add(state.rest);
  });
  if (of_states.empty()) return;
  Once once;
  visit_operations(record, with_operation(Operation::trained_from_here), [&](const OperationEvent& set) {
    const auto found = of_states.find(set.self.object());
    if (found == of_states.end()) return;
    const OperationEvent& taken = *found->second;
    const Value wanted = set.arguments.empty() ? Value{} : set.arguments[0];
    const bool freezes = wanted.is(Kind::boolean) &&
        record.symbols.decide(wanted.condition()) == symbolic::Answer::no;
    // Tensors that somebody keeps may be trained themselves.
    if ((!freezes && !is_used_up(record, taken)) || !once(set.place)) return;
    Finding* finding = report.add(Severity::warning, set.place, set.calls,
        std::string("The tensors of `state_dict()` are detached: this ") +
            (freezes ? "freezes none of the parameters, and an optimizer goes on training them"
                     : "makes no parameter require a gradient") +
            ". Loop over `parameters()` or `named_parameters()`.");
    if (finding) report.relate(*finding, taken.place, "the tensors are taken here");
  });
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "autograd/flag-of-state",
    .severity = Severity::warning,
    .summary = "requires_grad is set on tensors of a state_dict(), which are not the parameters",
    .why =
        "`state_dict()` gives detached tensors that share the memory of the parameters, and no more. A flag that is set on them is theirs alone: the layers that were to be frozen are trained, and nothing says so.",
    .wrong = "for tensor in backbone.state_dict().values():\n"
             "    tensor.requires_grad = False\n",
    .right = "for parameter in backbone.parameters():\n"
             "    parameter.requires_grad = False\n",
    .silent =
        "`state_dict(keep_vars=True)`, which holds the parameters; copies of the tensors; tensors that the program keeps and lets require a gradient, which it may train by themselves.",
    .fix = "None: names of buffers are in a `state_dict()` as well.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::autograd::flag_of_state
