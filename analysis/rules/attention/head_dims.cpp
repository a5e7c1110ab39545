// attention/head-dims: projections that are viewed as heads they do not have, and queries and keys whose heads do not meet.
#include "rules/list.hpp"
#include "rules/shape/shape_text.hpp"
#include "rules/specialised.hpp"

namespace stepzero::rules {

using values::ProblemKind;

namespace {

std::string words(const Record& record, const ProblemEvent& problem) {
  const auto shape = [&](std::size_t i) { return shape_text(record, problem.states[i]->shape); };
  if (problem.problem == ProblemKind::reshape)
    return "The heads do not make up what is projected. " + problem.text;
  if (problem.problem == ProblemKind::argument) return "The parts of the heads do not make up what is projected. " + problem.text;
  if (problem.states.size() < 2) return problem.text;
  const auto& a = problem.states[0]->shape.dims;
  const auto& b = problem.states[1]->shape.dims;
  const auto size = [&](const values::Dim& dim) { return size_text(record, dim); };
  std::string text = operand_text(record, problem, 0) + " is " + shape(0) + " and " + operand_text(record, problem, 1) + " is " + shape(1);
  const auto heads_a = size_of(record, a[1]), heads_b = size_of(record, b[1]);
  if (heads_a && heads_b && *heads_a != *heads_b)
    return "The heads do not meet: " + text + ", with " + size(a[1]) + " and " + size(b[1]) +
           " heads. The number of query heads has to be a multiple of the number of key and value heads, and these are repeated that often";
  return "The heads do not meet: " + text;
}

void check(const Record& record, Report& report) {
  report_specialised(
      record, report, "attention/head-dims", [&](const ProblemEvent& problem) { return words(record, problem); },
      [&](const ProblemEvent& problem, Finding& finding) {
        for (const TensorState* state : problem.states)
          if (state && state->shape.rank_known && !state->shape.dims.empty())
            relate_origin(report, finding, state->shape.dims.back(), size_text(record, state->shape.dims.back()) + " comes from here");
      });
}

} // namespace

constexpr Rule head_dims = complete({
    .id = "attention/head-dims",
    .severity = Severity::error,
    .summary = "heads and head sizes do not multiply to what is projected",
    .why = "A projection of width N is viewed as heads × head size: their product has to be N, for queries, keys and values each with their own numbers. "
           "Latent attention has more of them: q_b gives heads × (qk_nope + qk_rope), kv_a gives kv_lora_rank + qk_rope, kv_b gives heads × (qk_nope + v), "
           "and o_proj takes heads × v. With grouped heads the number of query heads is a multiple of the number of key and value heads. PyTorch raises \"shape "
           "'[2, 128, 16, 96]' is invalid for input of size …\" at the first step.",
    .wrong = "q = self.q_proj(x)                              # nn.Linear(1024, 16 * 64)\n"
             "q = q.view(batch, length, 16, 96)\n",
    .right = "q = self.q_proj(x)\n"
             "q = q.view(batch, length, 16, 64)\n",
    .silent = "Sizes that are not known. A head size of its own that is not width / heads, as Qwen 3, Gemma 3 and latent attention have, is right where the "
              "projections agree with it. Views of anything but a projection are told by shape/reshape.",
    .fix = "None: which of the numbers is meant is to be decided.",
    .fix_kind = FixKind::none,
    .check = check,
});

} // namespace stepzero::rules
