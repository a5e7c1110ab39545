// loop/padded-targets: a loss that counts the padding of the tokens that it is computed from.
#include "libraries/torch/meaning/op_form.hpp"
#include "rules/losses.hpp"
#include "rules/provenance.hpp"
#include "rules/rule.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace stepzero::rules::loop::padded_targets {

using namespace interpreter;
using values::code;
using values::Kind;

namespace {

// What parts of what is not seen are parts of: `batch[:, 1:]`, where the loader gave the batch.
std::map<const values::Object*, const values::Object*> parts_of_unseen(const Record& record) {
  std::map<const values::Object*, const values::Object*> found;
  const auto add = [&](Value part, const values::Object* whole) {
    found.emplace(part.object(), whole);
    const auto* unknown = part.is(Kind::unknown) ? part.as<values::Unknown>() : nullptr;
    if (unknown && unknown->state.value) found.emplace(unknown->state.value.object(), whole);
  };
  for (const Fact& fact : record.facts) {
    if (!fact.value.is(Kind::unknown)) continue;
    const auto& whole = *fact.value.as<values::Unknown>();
    if (whole.state.value) found.emplace(whole.state.value.object(), &whole);
    for (const auto& [key, item] : whole.items)
      if (item.is(Kind::unknown) || item.is(Kind::tensor)) add(item, &whole);
  }
  return found;
}

// What a tensor is a part of, in another shape: tokens[:, 1:].reshape(-1) are some of tokens.
class Wholes {
public:
  explicit Wholes(const Record& record) : parts_(parts_of_unseen(record)) {}

  std::set<const values::Object*> of(Value value, const TensorState* state) const {
    std::set<const values::Object*> found;
    while (value.object() && found.insert(value.object()).second) {
      const OpSemantics by = semantics(state);
      if (by == OpSemantics::same || by == OpSemantics::rearranged || by == OpSemantics::reordered ||
          by == OpSemantics::picked) {
        value = state->made->arguments[0];
        state = input(*state->made);
        continue;
      }
      for (auto at = parts_.find(value.object()); at != parts_.end() && found.insert(at->second).second;)
        at = parts_.find(at->second);
      break;
    }
    return found;
  }

private:
  std::map<const values::Object*, const values::Object*> parts_;
};

// The index of padding of a table of embeddings that looks up some of these tokens.
std::optional<std::int64_t> padding_of(const Record& record, const Wholes& wholes, const Producer& made,
    const std::set<const values::Object*>& tokens) {
  if (libraries::form_of(*made.row) != libraries::OpForm::looked_up) return std::nullopt;
  Value padding = argument(made, "padding_idx");
  if (!padding && made.self.is(Kind::instance))
    padding = made.self.as<values::Instance>()->attributes.value(syntax::Name("padding_idx"));
  const auto index = padding ? record.number(padding) : std::nullopt;
  if (!index || *index < 0) return std::nullopt;
  bool looks_up = false;
  for (std::size_t i = 0; i < made.arguments.size(); ++i)
    if (input(made, i))
      for (const values::Object* one : wholes.of(made.arguments[i], input(made, i)))
        looks_up = looks_up || tokens.contains(one);
  return looks_up ? index : std::nullopt;
}

void look_at(const Record& record, const Wholes& wholes, Report& report, const OperationEvent& event) {
  const TensorState *scores = event.argument_state(0), *target = event.argument_state(1);
  if (!scores || !target || scores->poisoned || target->poisoned || event.expected) return;
  // The mean is taken later, of what is not padding; a class of weight 0 does not count either.
  const Value weight = loss_option(event, "weight");
  if ((weight && !weight.is(Kind::none)) ||
      reduction_of(loss_option(event, "reduction")) == LossReduction::none)
    return;
  const Value ignored = loss_option(event, "ignore_index");
  const auto index = ignored ? record.number(ignored) : std::optional<std::int64_t>(-100);
  if (!index) return;
  const auto tokens = wholes.of(event.arguments[1], target);
  for (const TensorState* each : ancestors(scores)) {
    const auto padding = each->made ? padding_of(record, wholes, *each->made, tokens) : std::nullopt;
    if (!padding || *padding == *index) continue;
    Finding* finding = report.add(Severity::warning, event.place, event.calls,
        "This loss counts the padding: its targets are tokens that the model embeds with " +
            code("padding_idx=" + std::to_string(*padding)) + ", and it ignores " +
            (*index == -100 ? "none of them" : "another index") + ". Pass " +
            code("ignore_index=" + std::to_string(*padding)) + ".");
    if (finding) report.relate(*finding, each->made->born, "the tokens are embedded here");
    return;
  }
}

void check(const Record& record, Report& report) {
  const auto is_asked = [](const values::Row& row) { return row.loss && row.loss->of_classes; };
  if (!any_operation(record, is_asked)) return;
  Once once;
  const Wholes wholes(record);
  visit_operations(record, is_asked, [&](const OperationEvent& operation) {
    if (once(operation.place)) look_at(record, wholes, report, operation);
  });
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "loop/padded-targets",
    .severity = Severity::warning,
    .summary = "a loss counts the padding of its targets",
    .why =
        "`cross_entropy` ignores -100 alone. Where the targets are the tokens that the model embeds with a `padding_idx`, their padding counts like any word: the model is rewarded for telling that a short sentence goes on with padding, the mean is over positions that say nothing, and it changes with the length of the longest sentence.",
    .wrong = "self.embedding = nn.Embedding(words, 64, padding_idx=0)\n"
             "loss = F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())\n",
    .right = "self.embedding = nn.Embedding(words, 64, padding_idx=0)\n"
             "loss = F.cross_entropy(\n"
             "    model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten(), ignore_index=0)\n",
    .silent =
        "Losses that are not reduced, which may be masked; class weights; targets that come from elsewhere than the embedded tokens, or were changed on the way, as by `masked_fill(…, -100)`.",
    .fix = "None yet.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::loop::padded_targets
