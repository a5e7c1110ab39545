// attention/causal-cache: a causal mask over more keys than queries, which PyTorch aligns to the first key.
// Knows the sizes that are proven, and keys that were joined with others before the call.
#include "rules/provenance.hpp"
#include "rules/rule.hpp"
#include "rules/training/training_loops.hpp"
#include "values/limits.hpp"

namespace stepzero::rules::attention::causal_cache {

using values::Kind;

namespace {

// The size of the dimension of positions, the last but one; null if it is not known.
symbolic::Int positions(const TensorState& state) {
  const auto& dims = state.shape.dims;
  return state.shape.ndim_known && dims.size() >= 2 ? dims[dims.size() - 2].size : nullptr;
}

// The join that put others before the keys: `torch.cat([cache, k], dim=-2)`, of which the last part has as
// many positions as the queries.
const Producer* join_of_keys(const Record& record, const TensorState& keys, const TensorState& query) {
  const TensorState* at = &keys;
  constexpr int longest_way = 6;  // operations from the join to the call
  for (int way = 0; at && at->made && way < longest_way; ++way) {
    const Producer& made = *at->made;
    if (semantics(made) == OpSemantics::joined) {
      if (made.listed.size() < 2 || !made.listed.back()) return nullptr;
      const TensorState& last = *made.listed.back();
      const auto along = number(record, argument(made, "dim"));
      const symbolic::Int own = positions(last), asked = positions(query);
      const bool same = &last == &query ||
          (own && asked &&
              record.symbols.compare(symbolic::Compare::eq, own, asked) == symbolic::Answer::yes);
      const bool over_positions = along &&
          (*along == -2 ||
              (query.shape.ndim_known && *along + 2 == static_cast<double>(query.shape.dims.size())));
      return same && over_positions ? &made : nullptr;
    }
    if (semantics(made) != OpSemantics::same && semantics(made) != OpSemantics::repeated) return nullptr;
    at = input(made);
  }
  return nullptr;
}

void check(const Record& record, Report& report) {
  Once once;
  for (const Origin& each : Provenance::of(record).of_semantics(OpSemantics::attended)) {
    const Producer& made = *each.made;
    const TensorState *query = input(made, 0), *keys = input(made, 1);
    if (!query || !keys || truth(record, argument(made, "is_causal")) != symbolic::Answer::yes) continue;
    const symbolic::Int few = positions(*query), many = positions(*keys);
    // One token at a time is what a cache is for, and the last positions of the keys are the newest ones;
    // other queries of more keys may be meant as they are.
    const bool fewer = few && many && (record.symbols.value(few) == 1 || comes_from(query, keys)) &&
        record.symbols.compare(symbolic::Compare::lt, few, many) == symbolic::Answer::yes;
    const Producer* joined = join_of_keys(record, *keys, *query);
    // A cache that is still empty adds nothing.
    const bool as_many = few && many &&
        record.symbols.compare(symbolic::Compare::eq, few, many) == symbolic::Answer::yes;
    if ((!fewer && !joined) || as_many || !once(made.born)) continue;
    Finding* finding = report.add(Severity::warning, made.born, made.calls,
        "With `is_causal=True` query i sees the keys 0 to i, counted from the first key: where there are more keys than queries, as with a cache, a new token sees the oldest keys and not its own past. Pass `is_causal=False` for one new token, or a mask that ends at the last key.");
    if (finding && joined) report.relate(*finding, joined->born, "earlier keys are joined here");
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "attention/causal-cache",
    .severity = Severity::warning,
    .summary = "a causal mask over more keys than queries, as with a cache of keys and values",
    .why =
        "`is_causal=True` of `scaled_dot_product_attention` is the lower triangle of the scores, aligned to their top left corner. While a model decodes token by token with a cache, there is one query and many keys: the triangle leaves it the first key alone. The model that trained well then writes nonsense, and nothing fails.",
    .wrong = "k = torch.cat([cached_k, k], dim=2)\n"
             "v = torch.cat([cached_v, v], dim=2)\n"
             "out = F.scaled_dot_product_attention(q, k, v, is_causal=True)\n",
    .right = "k = torch.cat([cached_k, k], dim=2)\n"
             "v = torch.cat([cached_v, v], dim=2)\n"
             "out = F.scaled_dot_product_attention(q, k, v, is_causal=q.size(2) == k.size(2))\n",
    .silent =
        "As many queries as keys; `is_causal` that depends on the cache or the sizes; sizes that are not known, unless the keys were joined with earlier ones.",
    .fix = "None: decide which mask the queries need.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::attention::causal_cache
