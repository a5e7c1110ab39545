// moe/balance-loss: a load-balancing loss that cannot balance anything: it is constant whatever the router
// does, has no gradient, or is not part of the loss.
#include "rules/moe/balance.hpp"
#include "rules/name_hints.hpp"
#include "rules/rule.hpp"
#include "rules/training/training.hpp"
#include "values/limits.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <cctype>

namespace stepzero::rules::moe::balance_loss {

using values::code;

using values::Kind;
using values::Known;

namespace {

// The dimension along which the numbers add up to the same whatever is learned, as probabilities do; nullopt
// if there is none.
std::optional<std::size_t> fixed_dimension(const Record& record, const TensorState* state, int depth = 0) {
  if (!state || !state->made || depth > values::deepest_source || !state->shape.ndim_known)
    return std::nullopt;
  const Producer& made = *state->made;
  const TensorState* from = input(made);
  const std::size_t rank = state->shape.dims.size();
  switch (semantics(made)) {
  case OpSemantics::softmax: {
    Value dim = argument(made, "dim");
    if (!dim && made.self.is(Kind::instance))
      if (const values::Slot* slot = made.self.as<values::Instance>()->attributes.find(values::Name("dim")))
        dim = slot->value;
    const auto at = number(record, dim);
    if (!at || *at < -static_cast<double>(rank) || *at >= static_cast<double>(rank)) return std::nullopt;
    return static_cast<std::size_t>(*at < 0 ? *at + static_cast<double>(rank) : *at);
  }
  case OpSemantics::same: return fixed_dimension(record, from, depth + 1);
  case OpSemantics::rearranged: {
    const auto at = fixed_dimension(record, from, depth + 1);
    // The last dimension stays the last.
    if (!at || *at + 1 != from->shape.dims.size() || rank == 0 ||
        from->shape.dims.back().size != state->shape.dims.back().size)
      return std::nullopt;
    return rank - 1;
  }
  case OpSemantics::mul:
  case OpSemantics::div: {
    const TensorState* other = input(made, 1);
    if (!from || other || !number(record, made.arguments[1])) return std::nullopt;
    return fixed_dimension(record, from, depth + 1);
  }
  case OpSemantics::sum:
  case OpSemantics::mean: {
    const auto at = fixed_dimension(record, from, depth + 1);
    const auto dims = at ? dimensions(record, made) : std::nullopt;
    if (!dims || std::find(dims->begin(), dims->end(), *at) != dims->end()) return std::nullopt;
    const bool kept = rank == from->shape.dims.size();
    return kept ? *at
                : *at -
            static_cast<std::size_t>(
                std::count_if(dims->begin(), dims->end(), [&](std::size_t d) { return d < *at; }));
  }
  default: return std::nullopt;
  }
}

// The softmax whose probabilities were added up to a constant; null if the tensor is no constant.
const Producer* constant_of(const Record& record, const TensorState* state, int depth = 0) {
  if (!state || !state->made || depth > values::deepest_source) return nullptr;
  const Producer& made = *state->made;
  const TensorState* from = input(made);
  switch (semantics(made)) {
  case OpSemantics::sum:
  case OpSemantics::mean: {
    if (const Producer* earlier = constant_of(record, from, depth + 1)) return earlier;
    const auto at = fixed_dimension(record, from);
    const auto dims = at ? dimensions(record, made) : std::nullopt;
    if (!dims || std::find(dims->begin(), dims->end(), *at) == dims->end()) return nullptr;
    for (const TensorState* way = from; way && way->made; way = input(*way->made))
      if (semantics(way) == OpSemantics::softmax) return way->made;
    return nullptr;
  }
  case OpSemantics::same: return constant_of(record, from, depth + 1);
  case OpSemantics::mul:
  case OpSemantics::div:
    return from && !input(made, 1) && number(record, made.arguments[1]) ? constant_of(record, from, depth + 1)
                                                                        : nullptr;
  default: return nullptr;
  }
}

bool is_scalar(const TensorState* state) {
  return state && state->shape.ndim_known && state->shape.dims.empty();
}

bool sounds_like_a_loss(std::string_view name) { return says(name, Says::balance); }

// Is the tensor added, perhaps weighed, to what is differentiated?
std::vector<const TensorState*> terms(const TensorState* loss) {
  std::vector<const TensorState*> found;
  std::unordered_set<const void*> seen;
  std::vector<const TensorState*> open{loss};
  while (!open.empty() && found.size() < values::most_parts) {
    const TensorState* at = open.back();
    open.pop_back();
    if (!at || !seen.insert(identity(at)).second) continue;
    found.push_back(at);
    if (!at->made) continue;
    switch (semantics(at)) {
    case OpSemantics::add:
    case OpSemantics::sub:
    case OpSemantics::same:
    case OpSemantics::mul:
    case OpSemantics::div:
      for (const TensorState* source : inputs(*at->made))
        if (is_scalar(source)) open.push_back(source);
      break;
    default: break;
    }
  }
  return found;
}

void check(const Record& record, Report& report) {
  const Provenance& provenance = Provenance::of(record);
  if (provenance.of_semantics(OpSemantics::softmax).empty()) return;
  Once once;
  std::vector<const TensorState*> losses = differentiated(record);
  std::unordered_set<const void*> added;
  // What is differentiated alone, as a test of softmax does, is no loss of experts unless it is called one.
  for (const TensorState* loss : losses)
    for (const TensorState* term : terms(loss))
      if (!constant_of(record, loss)) added.insert(identity(term));

  // A constant.
  for (const OpSemantics by : {OpSemantics::sum, OpSemantics::mean})
    for (const Origin& each : provenance.of_semantics(by)) {
      if (!is_scalar(each.state) || each.state->requires_grad == Known::no) continue;
      const Producer* probabilities = constant_of(record, each.state);
      // Told where it becomes one number; what is made of that number is no news.
      if (!probabilities || (is_scalar(input(*each.made)) && constant_of(record, input(*each.made))))
        continue;
      const std::string_view name = provenance.name_of(each.state);
      if (!added.contains(identity(each.state)) && !sounds_like_a_loss(name)) continue;
      if (!once(each.made->born)) continue;
      if (Finding* finding = report.add(Severity::warning, each.made->born, each.made->calls,
              code(text_of(record, *each.made)) +
                  " is the same number whatever the router does: the probabilities of a softmax add up to 1, "
                  "and so do their averages. It has no gradient and balances nothing. Multiply each expert's average probability by the share of tokens that it "
                  "got, and add those up.")) {
        report.relate(*finding, probabilities->born, "these add up to 1");
        report.relate_calls(*finding, each.made->calls);
      }
    }

  // Made of choices alone, which have no gradient.
  for (const TensorState* loss : losses)
    for (const TensorState* term : terms(loss)) {
      if (!term->made || term == loss || !is_scalar(term)) continue;
      const OpSemantics by = semantics(term);
      if (by != OpSemantics::sum && by != OpSemantics::mean) continue;
      const auto all = ancestors(term);
      const bool of_counts = std::any_of(all.begin(), all.end(), [](const TensorState* state) {
        return semantics(state) == OpSemantics::one_hot || semantics(state) == OpSemantics::count;
      });
      if (!of_counts || !only_of_choices(term) || !once(term->made->born)) continue;
      if (Finding* finding = report.add(Severity::warning, term->made->born, term->made->calls,
              code(text_of(record, *term->made)) +
                  " is computed only from which experts were chosen. That choice has no gradient, so this term of the "
                  "loss changes nothing. Multiply the shares of tokens by the router's average probabilities."))
        report.relate_calls(*finding, term->made->calls);
    }

  // Computed, and not added.
  if (losses.empty()) return;
  std::unordered_set<const void*> in_losses;
  for (const TensorState* loss : losses)
    for (const TensorState* state : ancestors(loss)) {
      in_losses.insert(identity(state));
      // A scalar of which nothing is known may be anything.
      if (is_scalar(state) && !state->made && state->requires_grad != Known::no) return;
    }
  for (const Balance& balance : balances(record)) {
    if (in_losses.contains(identity(balance.term)) || !in_losses.contains(identity(balance.logits)) ||
        !once(balance.term->made->born))
      continue;
    if (Finding* finding = report.add(Severity::warning, balance.term->made->born, balance.term->made->calls,
            "The load-balancing loss is computed here and is not part of the loss that `backward()` is called on, so nothing balances the experts. Add it to the loss."))
      report.relate_calls(*finding, balance.term->made->calls);
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "moe/balance-loss",
    .severity = Severity::warning,
    .summary = "a load-balancing loss that balances nothing",
    .why =
        "The probabilities of a softmax add up to 1 for each token. Averaged over the tokens and added up over the experts they add up to 1 again: "
        "`probs.mean(0).sum()` is 1 whatever the router does, and its gradient is 0. The same holds for a term made of counts alone, since which "
        "experts are chosen has no gradient, and for a term that is computed and never added to the loss. The router is then free to send "
        "everything to a few experts.",
    .wrong = "probs = router(x).softmax(dim=-1)            # [tokens, experts]\n"
             "balance_loss = probs.mean(0).sum()           # always 1\n",
    .right = "probs = router(x).softmax(dim=-1)\n"
             "share = F.one_hot(probs.argmax(-1), num_experts).float().mean(0)\n"
             "balance_loss = num_experts * (share * probs.mean(0)).sum()\n",
    .silent =
        "Squares, variances, entropies and products of the averages: those have a gradient. Sums of probabilities that are no loss. Softmaxes "
        "whose numbers were masked or weighed afterwards. Losses of which a part is not known.",
    .fix = "None: decide which balancing loss and which weight are meant.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::moe::balance_loss
