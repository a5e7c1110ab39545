// loop/swapped-loss: a loss function is given the target in the place of the prediction, and the prediction
// in the place of the target.
#include "interpreter/calls/unseen.hpp"
#include "libraries/torch/meaning/op_form.hpp"
#include "rules/name_hints.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/training.hpp"
#include "values/limits.hpp"

#include <algorithm>
#include <unordered_set>

namespace stepzero::rules::loop::swapped_loss {

using namespace interpreter;
using values::Kind;
using values::Known;
using values::TensorState;

namespace {

// A divergence is trained in either direction.
bool both_ways(const values::Row& loss) { return libraries::form_of(loss) == libraries::OpForm::divergence; }

bool comes_from_module(const TensorState& state) {
  return state.requires_grad == Known::yes && !state.cut && !state.poisoned &&
      std::any_of(state.graph.begin(), state.graph.end(), [](const values::Object* source) {
        return dynamic_cast<const values::Instance*>(source) != nullptr;
      });
}

// What is detached has no history that shows: it is data if what it was detached from is.
bool is_data(const TensorState& state, int depth = 0) {
  constexpr int deepest_source = 6;  // operations back to the data
  if (state.poisoned || depth > deepest_source) return false;
  if (state.cut) {
    if (!state.made || state.made->self || state.made->states.empty()) return false;
    return std::ranges::all_of(state.made->states,
        [&](const TensorState* source) { return !source || is_data(*source, depth + 1); });
  }
  return std::all_of(state.graph.begin(), state.graph.end(),
      [](const values::Object* source) { return dynamic_cast<const values::Unknown*>(source) != nullptr; });
}
// Nothing that it was computed from can be trained. Of what is no tensor here nothing is known but that this
// program's modules did not make it.
bool is_data(Value value) {
  switch (value.kind) {
  case Kind::unknown: return !value.as<values::Unknown>()->is_gradient;
  case Kind::tensor: return is_data(*value.as<values::Tensor>()->now());
  case Kind::choice:
    return is_data(value.as<values::Choice>()->yes) && is_data(value.as<values::Choice>()->no);
  default: return false;
  }
}
bool is_data(const OperationEvent& event) {
  if (event.arguments.empty()) return false;
  const TensorState* state = event.argument_state(0);
  return state ? is_data(*state) : is_data(event.arguments[0]);
}

// The variable that an argument begins with, `labels` in `labels.view(-1).long()`, and what is taken of it
// first: `target_ids` of `batch["target_ids"].to(device)`, `labels` of `batch.labels`.
constexpr int deepest_whole = 8;  // attributes, items and calls in one expression
struct Written {
  std::string_view variable, part;
};
Written written(const Record& record, std::uint32_t chunk, const syntax::Expr& argument) {
  const syntax::Expr* at = &argument;
  Written found;
  bool called = false;  // of an attribute: it is a method
  for (int depth = 0; depth < deepest_whole; ++depth) {
    switch (at->kind) {
    case syntax::ExprKind::call:
      at = syntax::as<syntax::CallExpr>(*at).function;
      called = true;
      continue;
    case syntax::ExprKind::attribute:
      if (!called) found.part = syntax::as<syntax::AttributeExpr>(*at).attribute.text();
      called = false;
      at = syntax::as<syntax::AttributeExpr>(*at).object;
      continue;
    case syntax::ExprKind::subscript:
      if (const auto& index = *syntax::as<syntax::SubscriptExpr>(*at).index;
          index.kind == syntax::ExprKind::string)
        found.part = syntax::as<syntax::StringExpr>(index).value;
      called = false;
      at = syntax::as<syntax::SubscriptExpr>(*at).object;
      continue;
    case syntax::ExprKind::name: found.variable = record.text({chunk, at->span}); return found;
    default: return {};
    }
  }
  return {};
}
enum class Named : std::uint8_t { neither, prediction, target };
// What a variable holds, by its name; a name with words of both says nothing.
Named named(std::string_view variable) {
  const bool prediction = says(variable, Says::prediction) || says(variable, Says::compared),
             target = says(variable, Says::target);
  return prediction == target ? Named::neither : prediction ? Named::prediction : Named::target;
}
Named named(const Written& written) {
  const Named whole = named(written.variable);
  if (written.part.empty()) return whole;
  const Named of_part = named(written.part);
  return whole == Named::neither || whole == of_part ? of_part
      : of_part == Named::neither                    ? whole
                                                     : Named::neither;
}
// What a target is called after: `scores_labels` beside `scores`.
bool is_named_after(const Written& target, const Written& prediction) {
  const std::string_view longer = target.part.empty() ? target.variable : target.part,
                         shorter = prediction.part.empty() ? prediction.variable : prediction.part;
  constexpr std::size_t shortest = 3;  // of a name that means something
  return shorter.size() >= shortest && longer.size() > shorter.size() + 1 &&
      ((longer.starts_with(shorter) && longer[shorter.size()] == '_') ||
          (longer.ends_with(shorter) && longer[longer.size() - shorter.size() - 1] == '_'));
}
// Did a model that is not seen give it, or something that it is a part of?
bool is_of_unseen_model(Value value) {
  const values::Unknown* at = value.is(Kind::unknown) ? value.as<values::Unknown>() : nullptr;
  for (int depth = 0; at && depth < deepest_whole; ++depth) {
    if (interpreter::is_of_model(*at)) return true;
    // What a method of it gives: `output.view(-1)`.
    const Value giver = at->attributes.value(values::Name(values::UnknownState::given_by));
    const values::Unknown* whole = interpreter::whole_of(*at);
    at = whole ? whole : giver.is(Kind::unknown) ? giver.as<values::Unknown>() : nullptr;
  }
  return false;
}
// The same of a tensor that the library made of it.
bool is_of_unseen_model(Value value, const TensorState* state) {
  return is_of_unseen_model(value) ||
      (state && std::ranges::any_of(state->graph, [](const values::Object* source) {
        const auto* unknown = dynamic_cast<const values::Unknown*>(source);
        return unknown && is_of_unseen_model(Value::of(Kind::unknown, unknown));
      }));
}
// Is it called nothing but a target? `y` may be what a model gave.
bool is_plainly_target(const Written& written) {
  return written.part.empty() && says(written.variable, Says::plainly_target);
}
bool has_history(const TensorState* state) {
  return state && (state->requires_grad == Known::yes || state->is_gradient);
}

void offer_swap(const Record& record, const Report& report, const OperationEvent& event, Finding& finding) {
  if (!event.expr || !record.in_file(event.place) || event.expr->arguments.size() < 2) return;
  const Place first{event.place.chunk, event.expr->arguments[0]->span},
      second{event.place.chunk, event.expr->arguments[1]->span};
  Fix fix;
  fix.title = "Swap the prediction and the target";
  fix.edits.push_back({report.location(first), std::string(record.text(second))});
  fix.edits.push_back({report.location(second), std::string(record.text(first))});
  finding.fixes.push_back(std::move(fix));
}

void look_at(const Record& record, Report& report, const OperationEvent& event) {
  // As they are written: a starred argument hides which is which.
  if (!event.expr || event.expr->arguments.size() < 2 || event.expected) return;
  const auto* first = event.expr->arguments[0];
  const auto* second = event.expr->arguments[1];
  if (first->kind == syntax::ExprKind::starred || second->kind == syntax::ExprKind::starred) return;
  const TensorState* target = event.argument_state(1);
  const bool by_graph = target && comes_from_module(*target) && is_data(event);
  const Written as_first = written(record, event.place.chunk, *first),
                as_second = written(record, event.place.chunk, *second);
  const bool two = event.arguments.size() > 1;
  const bool computed = (target && comes_from_module(*target)) ||
      (two && is_of_unseen_model(event.arguments[1], target));
  const Named first_is = named(as_first), second_is = named(as_second);
  const bool first_computed = two && is_of_unseen_model(event.arguments[0], event.argument_state(0));
  const bool by_name = !first_computed && !has_history(two ? event.argument_state(0) : nullptr) &&
      ((first_is == Named::target &&
           (second_is == Named::prediction ||
               (second_is == Named::neither &&
                   (computed || (first->kind == syntax::ExprKind::name && is_plainly_target(as_first)) ||
                       is_named_after(as_first, as_second))))) ||
          (first_is == Named::neither && second_is != Named::target && computed && is_data(event) &&
              !as_first.variable.empty()));
  if (!by_graph && !by_name) return;
  const std::string name(event.row->loss->name), given(record.text({event.place.chunk, first->span})),
      other(record.text({event.place.chunk, second->span}));
  const std::string_view of_second = computed && second_is != Named::prediction
      ? ", which a model has computed"
      : second_is == Named::prediction      ? ", a prediction by its name"
      : is_named_after(as_first, as_second) ? ", which it is the target of by its name"
                                            : "";
  // What names alone say is no more than a hint.
  const Severity severity = by_graph ? Severity::warning : Severity::information;
  Finding* finding = report.add(severity, event.place, event.calls,
      "`" + name + "` takes the prediction first and the target second. Here `" + given +
          (by_graph ? "` is the first, which no module of the program has computed, and `" + other +
                      "` the second, which has the model's gradient. Swap them."
                    : "` is the first, " +
                      (first_is == Named::target ? std::string("a target by its name")
                                                 : std::string("which no model has computed")) +
                      ", and `" + other + "` the second" + std::string(of_second) + ". Swap them."));
  if (finding) offer_swap(record, report, event, *finding);
}

// The operations of a function that was called as one of several: which one is called nobody decides, and
// another may take its arguments in this order.
std::unordered_set<const Event*> of_chosen_functions(const Record& record) {
  std::unordered_set<const Event*> found;
  visit_kind(record, EventKind::branch, [&](const Event& event) {
    if (static_cast<const BranchEvent&>(event).stmt) return;
    const auto& branch = static_cast<const BranchEvent&>(event);
    for (const Block* side : {&branch.yes, &branch.no})
      visit(*side, [&](const Event& inner) {
        for (const CallSite* site = inner.calls; site; site = site->outer)
          if (site->place == branch.place) found.insert(&inner);
      });
  });
  return found;
}

void check(const Record& record, Report& report) {
  std::vector<const OperationEvent*> losses;
  const auto is_asked = [](const values::Row& row) { return row.loss && !both_ways(row); };
  visit_operations(record, is_asked, [&](const OperationEvent& operation) { losses.push_back(&operation); });
  if (losses.empty()) return;
  const auto chosen = of_chosen_functions(record);
  Once once;
  for (const OperationEvent* loss : losses)
    if (!chosen.contains(loss) && once(loss->place)) look_at(record, report, *loss);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "loop/swapped-loss",
    .severity = Severity::warning,
    .summary = "the target stands in the place of a loss's prediction",
    .why =
        "`cross_entropy(input, target)` and its like take the prediction first. Swapped, labels that are numbers of classes end the run (\"expected scalar type Long\", or sizes "
        "that do not fit); labels that are probabilities train without a word: the gradient comes through the target, and pushes the model's outputs along the logarithm of the labels.",
    .wrong = "loss = F.cross_entropy(y, model(x))\n",
    .right = "loss = F.cross_entropy(model(x), y)\n",
    .silent =
        "Losses of a function that is one of several, by a choice that is not known; losses in which both sides were computed by modules of the program (distillation, two views); targets without a gradient; losses that are the same both ways.",
    .fix = "Swaps the two arguments, offered.",
    .fix_kind = FixKind::needs_decision,
    .check = check,
});

}  // namespace stepzero::rules::loop::swapped_loss
