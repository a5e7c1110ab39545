// loop/unshifted-targets: a causal model is trained to tell the very tokens that it was given, each at its
// own position.
#include "libraries/torch/meaning/op_form.hpp"
#include "rules/losses.hpp"
#include "rules/provenance.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <unordered_set>

namespace stepzero::rules::loop::unshifted_targets {

using namespace interpreter;
using libraries::OpForm;
using values::code;
using values::Kind;

namespace {

bool is_causal(const Record& record, const Producer& made) {
  const OpForm form = libraries::form_of(*made.row);
  if (form == OpForm::lower_triangle || form == OpForm::upper_triangle || form == OpForm::causal_mask)
    return true;
  if (semantics(made) != OpSemantics::attended) return false;
  const Value causal = argument(made, "is_causal");
  return causal.is(Kind::boolean) && record.symbols.decide(causal.condition()) == symbolic::Answer::yes;
}

// Does it move the numbers to other positions of a sequence?
bool shifts(const Producer& made) {
  return semantics(made) == OpSemantics::padded || libraries::form_of(*made.row) == OpForm::rolled;
}

// The tensor and what it holds the numbers of, in their places or in another shape.
std::unordered_set<const void*> same_numbers(const TensorState* state) {
  std::unordered_set<const void*> found;
  while (state && found.insert(identity(state)).second) {
    const OpSemantics by = semantics(state);
    if (by != OpSemantics::same && by != OpSemantics::rearranged && by != OpSemantics::reordered) break;
    if (shifts(*state->made)) break;
    state = input(*state->made);
  }
  return found;
}

bool looks_up(const Producer& made, const std::unordered_set<const void*>& tokens) {
  if (libraries::form_of(*made.row) != OpForm::looked_up) return false;
  return std::ranges::any_of(inputs(made), [&](const TensorState* each) {
    return std::ranges::any_of(
        same_numbers(each), [&](const void* number) { return tokens.contains(number); });
  });
}

void look_at(const Record& record, Report& report, const OperationEvent& event) {
  const TensorState *scores = event.argument_state(0), *target = event.argument_state(1);
  if (!scores || !target || scores->poisoned || target->poisoned || event.expected) return;
  const auto tokens = same_numbers(target);
  bool causal = false, given = false;
  for (const TensorState* each : ancestors(scores)) {
    if (!each->made) continue;
    // Scores that were cut or moved are compared with other positions.
    if (shifts(*each->made)) return;
    causal = causal || is_causal(record, *each->made);
    given = given || looks_up(*each->made, tokens);
  }
  if (!causal || !given) return;
  Finding* finding = report.add(Severity::warning, event.place, event.calls,
      "The targets of this loss are the tokens that the causal model was given, each at its own position: it learns to repeat "
      "what it sees. Shift them by one: compare `logits[:, :-1]` with `tokens[:, 1:]`.");
  if (const TensorState* first = source_of(target); finding && first->made && first->made->born)
    report.relate(*finding, first->made->born, "the model and the loss are given this");
}

void check(const Record& record, Report& report) {
  Once once;
  const auto is_asked = [](const values::Row& row) { return row.loss && row.loss->of_classes; };
  visit_operations(record, is_asked, [&](const OperationEvent& operation) {
    if (once(operation.place)) look_at(record, report, operation);
  });
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "loop/unshifted-targets",
    .severity = Severity::warning,
    .summary = "a causal language model is trained on targets that are not shifted",
    .why =
        "A causal model predicts the next token from those before it. Its attention lets each position see its own token, so "
        "a target that is not shifted by one is already there: the loss falls to zero within a few steps, and the model has "
        "learned to copy. What it generates is one token again and again.",
    .wrong = "logits = model(tokens)  # causal attention\n"
             "loss = F.cross_entropy(logits.flatten(0, 1), tokens.flatten())\n",
    .right = "logits = model(tokens[:, :-1])\n"
             "loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())\n",
    .silent =
        "Models without causal attention, as masked language models and autoencoders; targets of a data set, which may be shifted "
        "already; models of libraries, which shift their labels themselves.",
    .fix = "None: decide whether to cut the inputs or the scores.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::loop::unshifted_targets
