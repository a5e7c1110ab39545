// attention/head-dims: projections that are viewed as heads they do not have, and queries and keys whose
// heads do not meet.
#include "rules/name_hints.hpp"
#include "rules/rule.hpp"
#include "rules/settings.hpp"
#include "rules/shape/refusal_text.hpp"
#include "rules/shape/shape_text.hpp"
#include "rules/specialized.hpp"
#include "rules/training/training.hpp"

namespace stepzero::rules::attention::head_dims {

using values::ProblemKind;

namespace {

std::string words(const Record& record, const ProblemEvent& problem) {
  const auto shape = [&](std::size_t i) {
    return values::code(shape_text(record, problem.states[i]->shape));
  };
  if (problem.problem == ProblemKind::reshape)
    return "The heads do not add up to the projected size. " + text_of(record, problem);
  if (problem.problem == ProblemKind::argument)
    return "The parts of the heads do not add up to the projected size. " + text_of(record, problem);
  if (problem.states.size() < 2) return text_of(record, problem);
  const auto& a = problem.states[0]->shape.dims;
  const auto& b = problem.states[1]->shape.dims;
  const auto size = [&](const values::Dim& dim) { return size_words(record, dim); };
  const std::string text = "Cannot multiply " + operand_text(record, problem, 0) + " " + shape(0) + " by " +
      operand_text(record, problem, 1) + " " + shape(1);
  const auto heads_a = size_of(record, a[1]), heads_b = size_of(record, b[1]);
  if (heads_a && heads_b && *heads_a != *heads_b)
    return text + ": they have " + size(a[1]) + " and " + size(b[1]) +
        " heads. Repeat the key and value heads until there are as many as query heads";
  const auto same = [&](const values::Dim& one, const values::Dim& other) {
    return one.size && one.size == other.size;
  };
  // Both as they come out of their projections.
  const bool as_projected = a.size() == b.size() && same(a.back(), b.back()) &&
      same(a[a.size() - 2], b[b.size() - 2]);
  std::string said = text_of(record, problem);
  if (problem.problem == ProblemKind::inner_dimensions)
    said = text + ": inner dimensions " + size(a.back()) + " and " + size(b[b.size() - 2]) + " differ";
  else if (said.empty())
    return text + ": their leading dimensions do not broadcast";
  return said +
      (as_projected ? ". Swap the last two dimensions of the second one: `transpose(-2, -1)`"
                    : ". Give queries and keys heads of one size");
}

// The names that programs and the configurations of published models give to these numbers.
constexpr std::string_view names_of_heads[] = {"num_attention_heads", "n_heads", "num_heads", "n_head"};
// So many heads share keys and values, or there are so many of these: the number of heads is a multiple of
// either.
constexpr std::string_view names_of_shared[] = {"num_key_value_heads", "n_kv_heads", "num_kv_heads",
    "n_kv_head", "n_kv_groups", "num_kv_groups", "n_query_groups", "num_query_groups",
    "num_key_value_groups"};
// A width, and its heads, of programs that have no head size of its own unless they say so.
constexpr std::string_view divided[][2] = {
    {"n_embd", "n_head"}, {"emb_dim", "n_heads"}, {"d_model", "nhead"}};

bool tells_head_size(std::string_view name) { return says(name, Says::head_size); }

// Settings of heads contradict each other; empty: they do not.
std::string contradiction(const Settings& settings) {
  const auto heads = settings[names_of_heads], shared = settings[names_of_shared];
  // With latent attention there are keys and values for every head.
  const bool latent = settings.any_named([](std::string_view name) { return name == "kv_lora_rank"; });
  if (heads && shared && !latent && heads->number > 0 && shared->number > 0 &&
      heads->number % shared->number != 0)
    return says(*heads) + " and " + says(*shared) +
        ": the query heads cannot share so many key and value heads. Make the number of query heads a multiple of the number of key and value heads";
  if (!settings.is_dictionary() || settings.given().open || settings.any_named(tells_head_size)) return {};
  for (const auto& [width_name, heads_name] : divided)
    if (const auto width = settings[width_name], count = settings[heads_name];
        width && count && count->number > 0 && width->number % count->number != 0)
      return says(*width) + " and " + says(*count) +
          ": the width cannot be divided into so many heads. Make the width a multiple of the number of heads";
  return {};
}

void check(const Record& record, Report& report) {
  Once once;
  each_settings(record, [&](const Settings& settings, Place at, const interpreter::CallSite* calls) {
    const std::string text = contradiction(settings);
    if (!text.empty() && once(at)) report.add(Severity::warning, at, calls, text + ".");
  });
  report_specialized(
      record, report, "attention/head-dims",
      [&](const ProblemEvent& problem) { return words(record, problem); },
      [&](const ProblemEvent& problem, Finding& finding) {
        for (const TensorState* state : problem.states)
          if (state && state->shape.ndim_known && !state->shape.dims.empty())
            relate_origin(report, finding, state->shape.dims.back(),
                size_words(record, state->shape.dims.back()) + " comes from here");
      });
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "attention/head-dims",
    .severity = Severity::error,
    .summary = "heads and head sizes do not multiply to what is projected",
    .why =
        "A projection of width N is viewed as heads × head size: their product has to be N, for queries, keys and values each with their own numbers. "
        "Latent attention has more of them: q_b gives heads × (qk_nope + qk_rope), kv_a gives kv_lora_rank + qk_rope, kv_b gives heads × (qk_nope + v), "
        "and o_proj takes heads × v. With grouped heads the number of query heads is a multiple of the number of key and value heads. PyTorch raises \"shape "
        "'[2, 128, 16, 96]' is invalid for input of size …\" at the first step.",
    .wrong = "q = self.q_proj(x)                              # nn.Linear(1024, 16 * 64)\n"
             "q = q.view(batch, length, 16, 96)\n",
    .right = "q = self.q_proj(x)\n"
             "q = q.view(batch, length, 16, 64)\n",
    .silent =
        "Sizes that are not known; settings under names that are not known, and widths beside a head size of its own. A head size of its own that is not width / heads, as Qwen 3, Gemma 3 and latent attention have, is right where the "
        "projections agree with it. Views of anything but a projection are told by shape/reshape.",
    .fix = "None: decide which of the numbers is meant.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::attention::head_dims
