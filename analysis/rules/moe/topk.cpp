// moe/topk: a router that is to choose more experts, or groups of them, than there are.
#include "rules/moe/written_experts.hpp"
#include "rules/rule.hpp"
#include "rules/settings.hpp"
#include "rules/shape/refusal_text.hpp"
#include "rules/shape/shape_text.hpp"
#include "rules/specialized.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

namespace stepzero::rules::moe::topk {

using values::code;

namespace {

// Experts are chosen in some groups only, and the groups that were chosen hold fewer than are wanted.
void limited(const Record& record, Report& report) {
  const Provenance& provenance = Provenance::of(record);
  Once once;
  for (const Origin& each : provenance.of_semantics(OpSemantics::chosen)) {
    const TensorState* masked = input(*each.made) ? source_of(input(*each.made)) : nullptr;
    const auto dims = masked ? dimensions(record, *each.made) : std::nullopt;
    if (!dims || dims->size() != 1 ||
        (semantics(masked) != OpSemantics::masked && semantics(masked) != OpSemantics::mul))
      continue;
    const auto wanted = number(record, argument(*each.made, "k"));
    const auto experts = size_of(record, input(*each.made)->shape.dims[dims->front()]);
    const auto parts = inputs(*masked->made);
    if (!wanted || !experts || parts.size() != 2) continue;
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
      const auto scores = scores_of(parts[side]);
      if (!scores) continue;
      // The groups that the mask is made of.
      const Producer* groups = nullptr;
      for (const TensorState* state : ancestors(parts[1 - side]))
        if (semantics(state) == OpSemantics::chosen && state->made->part == 1) {
          if (groups && groups != state->made) return;
          groups = state->made;
        }
      const TensorState* of = groups ? input(*groups) : nullptr;
      const auto group_dims = of ? dimensions(record, *groups) : std::nullopt;
      if (!group_dims || group_dims->size() != 1 || !comes_from(of, scores->logits)) continue;
      const auto count = size_of(record, of->shape.dims[group_dims->front()]);
      const auto chosen = number(record, argument(*groups, "k"));
      if (!count || !chosen || *count < 2 || *count >= *experts || *experts % *count != 0) continue;
      const auto left = static_cast<std::int64_t>(*chosen) * (*experts / *count);
      if (*wanted <= static_cast<double>(left) || *wanted > static_cast<double>(*experts) ||
          !once(each.made->born))
        continue;
      const std::string per_group = std::to_string(*experts / *count);
      if (Finding* finding = report.add(Severity::warning, each.made->born, each.made->calls,
              std::to_string(static_cast<std::int64_t>(*wanted)) + " experts are chosen, and the " +
                  std::to_string(static_cast<std::int64_t>(*chosen)) + " groups that are left hold " +
                  std::to_string(left) + " (" + per_group +
                  " each): the others come from groups that were masked. Choose fewer experts, or leave more groups.")) {
        report.relate(*finding, groups->born,
            std::to_string(static_cast<std::int64_t>(*chosen)) + " of " + std::to_string(*count) +
                " groups are chosen here");
        report.relate_calls(*finding, each.made->calls);
      }
      break;
    }
  }
}

// The names that programs and the configurations of published models give to these numbers.
constexpr std::string_view names_of_experts[] = {
    "n_routed_experts", "num_local_experts", "num_experts", "n_experts", "num_moe_experts"};
constexpr std::string_view names_of_choices[] = {"num_experts_per_tok", "num_experts_per_token",
    "n_experts_per_tok", "n_experts_per_token", "num_activated_experts", "n_activated_experts",
    "moe_router_topk"};

// What a configuration says of its experts contradicts itself; empty: it does not.
std::string contradiction(const Settings& settings) {
  const auto experts = settings[names_of_experts], chosen = settings[names_of_choices],
             groups = settings["n_group"], left = settings["topk_group"];
  if (!experts || experts->number < 2) return {};
  // All its layers are dense.
  if (const auto layers = settings["num_hidden_layers"], dense = settings["first_k_dense_replace"];
      layers && dense && layers->number <= dense->number)
    return {};
  if (chosen && chosen->number > experts->number)
    return says(*chosen) + " and " + says(*experts) + ": a token can go to " +
        std::to_string(experts->number) + " experts at most. Choose fewer";
  if (!groups || groups->number < 1) return {};
  if (experts->number % groups->number != 0)
    return says(*experts) + " and " + says(*groups) +
        ": the groups cannot be of one size. Make the experts a multiple of the groups";
  if (!left) return {};
  if (left->number > groups->number)
    return says(*left) + " and " + says(*groups) +
        ": no more groups can be chosen than there are. Choose fewer";
  const std::int64_t reachable = left->number * (experts->number / groups->number);
  if (chosen && chosen->number > reachable)
    return says(*chosen) + ", and the " + std::to_string(left->number) + " of " +
        std::to_string(groups->number) + " groups that " + code(left->name) + " leaves hold " +
        std::to_string(reachable) + " of the " + std::to_string(experts->number) +
        " experts. Choose fewer experts, or leave more groups";
  return {};
}
// Where something was told.
std::vector<Place> configured(const Record& record, Report& report) {
  std::vector<Place> told;
  Once once;
  each_settings(record, [&](const Settings& settings, Place at, const interpreter::CallSite* calls) {
    const std::string text = contradiction(settings);
    if (text.empty() || !once(at)) return;
    report.add(Severity::warning, at, calls, text + ".");
    told.push_back(at);
  });
  return told;
}

void check(const Record& record, Report& report) {
  limited(record, report);
  const std::vector<Place> told = configured(record, report);
  bool told_by_run = false;
  report_specialized(
      record, report, "moe/topk",
      [&](const ProblemEvent& problem) {
        return "More experts are chosen than there are. " + text_of(record, problem);
      },
      [&](const ProblemEvent& problem, Finding& finding) {
        told_by_run = true;
        const auto scores = scores_of(problem.states[0]);
        if (scores && scores->logits->shape.ndim_known && !scores->logits->shape.dims.empty())
          relate_origin(report, finding, scores->logits->shape.dims.back(),
              "the router scores " + size_words(record, scores->logits->shape.dims.back()) + " experts");
      });
  // What is written is what fails there.
  if (!told_by_run) report_written_experts(record, report, told);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "moe/topk",
    .severity = Severity::error,
    .summary = "a router chooses more experts than there are",
    .why =
        "torch.topk raises \"selected index k out of range\" if k is larger than the dimension: with 8 experts a token can go to 8 of them at "
        "most. The same holds where groups of experts are chosen first: topk_group is at most n_group, and num_experts_per_tok at most the "
        "experts in the groups that were chosen.",
    .wrong = "scores = nn.Linear(d_model, 8)(x).softmax(dim=-1)\n"
             "weights, experts = torch.topk(scores, k=16, dim=-1)\n",
    .right = "scores = nn.Linear(d_model, 8)(x).softmax(dim=-1)\n"
             "weights, experts = torch.topk(scores, k=2, dim=-1)\n",
    .silent =
        "Numbers of experts or choices that are not known. Of dictionaries only the names that published configurations have are read, side by side in a call, a signature, a class or a command line also `top_k` and the like, unless text is sampled there, and of the configuration classes of transformers those whose defaults are known. A topk of anything else is told by shape/index-out-of-range.",
    .fix = "None: decide whether there are too few experts or too many choices.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::moe::topk
