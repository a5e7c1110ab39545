#include "rules/specialized.hpp"

#include "rules/name_hints.hpp"
#include "rules/shape/operator_problem.hpp"
#include "rules/shape/refusal_text.hpp"
#include "values/internal_rows.hpp"

#include <algorithm>

namespace stepzero::rules {

using values::ProblemKind;

bool speaks_of_experts(const Record& record, Place place) {
  if (!place) return false;
  const auto& chunk = record.chunk(place);
  if (!chunk.chunk || !chunk.module) return false;
  // Of a program without functions the whole text.
  const syntax::Stmt* stmt = chunk.chunk->stmt;
  const bool whole = !stmt ||
      (stmt->kind != syntax::StmtKind::function && stmt->kind != syntax::StmtKind::class_);
  const std::string_view text = whole ? std::string_view(chunk.module->text->bytes()) : chunk.text();
  return says(text, Says::experts);
}

namespace {

const TensorState* state_at(const ProblemEvent& problem, std::size_t index) {
  return index < problem.states.size() ? problem.states[index] : nullptr;
}

// The projection that the tensor came from, if nothing but moves lies between.
const TensorState* projection(const TensorState* state) {
  for (int way = 0; state && way < 8; ++way) {
    state = source_of(state);
    const OpSemantics by = semantics(state);
    if (by == OpSemantics::linear) return state;
    if (by != OpSemantics::split && by != OpSemantics::chunked && by != OpSemantics::picked &&
        by != OpSemantics::normalized)
      return nullptr;
    state = input(*state->made);
  }
  return nullptr;
}

// A table of rotary angles: cosines, sines, or both as complex numbers.
bool is_rotary_table(const TensorState* state) {
  for (int way = 0; state && way < 10; ++way) {
    switch (semantics(state)) {
    case OpSemantics::cosine:
    case OpSemantics::sine:
    case OpSemantics::polar: return true;
    case OpSemantics::same:
    case OpSemantics::rearranged:
    case OpSemantics::reordered:
    case OpSemantics::repeated:
    case OpSemantics::picked:
    case OpSemantics::joined:
    case OpSemantics::split:
    case OpSemantics::chunked:
    case OpSemantics::mul: {
      const auto from = inputs(*state->made);
      state = from.empty() ? nullptr : from.front();
      break;
    }
    default: return false;
    }
  }
  return false;
}

// The scores of all experts meet what so many other experts made, side by side.
bool other_number_of_experts(const Record& record, const ProblemEvent& problem) {
  const auto width_of = [&](const TensorState* state) -> std::optional<std::int64_t> {
    const auto scores = state ? scores_of(state) : std::nullopt;
    if (!scores || !scores->logits->shape.ndim_known || scores->logits->shape.dims.empty())
      return std::nullopt;
    return size_of(record, scores->logits->shape.dims.back());
  };
  const auto experts_of = [](const TensorState* state) -> std::size_t {
    for (int way = 0; state && state->made && way < 8; ++way) {
      if (semantics(state) == OpSemantics::joined) return state->made->listed.size();
      state = input(*state->made);
    }
    return 0;
  };
  for (std::size_t i = 0; i < problem.states.size(); ++i)
    for (std::size_t j = 0; j < problem.states.size(); ++j) {
      const auto width = i == j ? std::nullopt : width_of(problem.states[i]);
      const std::size_t experts = width ? experts_of(problem.states[j]) : 0;
      if (experts > 1 && static_cast<std::int64_t>(experts) != *width &&
          speaks_of_experts(record, problem.place))
        return true;
    }
  return false;
}

// How many sizes a view is given; 0 if the text does not show it.
std::size_t sizes_asked(const ProblemEvent& problem) {
  if (!problem.expr || problem.expr->arguments.empty()) return 0;
  const auto& given = problem.expr->arguments;
  const syntax::Expr* last = given[given.size() - 1];
  return last->kind == syntax::ExprKind::tuple ? syntax::as<syntax::TupleExpr>(*last).elements.size()
                                               : given.size();
}

std::size_t rank_of(const TensorState* state) {
  return state && state->shape.ndim_known ? state->shape.dims.size() : 0;
}

// Rows whose problems have a rule of their own.
struct OfRow {
  std::string_view path, rule;
};
constexpr OfRow rules_of_rows[] = {
    {"deepspeed.initialize", "deepspeed/engine"},
    {"transformers.TrainingArguments.$deepspeed", "deepspeed/hf-mismatch"},
    {"transformers.TrainingArguments", "config/training-arguments"},
    {"transformers.Seq2SeqTrainingArguments", "config/training-arguments"},
    {"transformers.Trainer", "config/training-arguments"},
    {"transformers.Seq2SeqTrainer", "config/training-arguments"},
    {"torch.distributed.fsdp.FullyShardedDataParallel.no_sync", "fsdp/no-sync"},
    {"pytorch_lightning.Trainer", "config/lightning-trainer"},
};

}  // namespace

std::string_view reporting_rule_of(const Record& record, const ProblemEvent& problem) {
  if (problem.problem == ProblemKind::assertion)
    return says(record.text(problem.place), Says::layout) ? "parallel/world-size" : std::string_view{};
  if (problem.problem == ProblemKind::no_attribute && problem.node &&
      problem.node->kind == syntax::ExprKind::subscript)
    return "call/no-key";
  if (!problem.row) return {};
  // A default that is taken, which the rule asks about itself.
  if (problem.row->path == values::InternalRow::data_file)
    return problem.operands.empty() ? "config/missing-key" : "config/missing-key of get";
  if (const auto* of_row = std::ranges::find(rules_of_rows, problem.row->path, &OfRow::path);
      of_row != std::end(rules_of_rows))
    return of_row->rule;
  // A list of modules is no operator.
  if (problem.problem == ProblemKind::index && !problem.row->op)
    return speaks_of_experts(record, problem.place) ? "moe/expert-count" : std::string_view{};
  if (other_number_of_experts(record, problem)) return "moe/expert-count";
  const OpSemantics by = libraries::semantics_of(*problem.row);
  const TensorState *first = state_at(problem, 0), *second = state_at(problem, 1);
  if (by == OpSemantics::chosen && problem.problem == ProblemKind::index)
    return first && scores_of(first) && speaks_of_experts(record, problem.place) ? "moe/topk"
                                                                                 : std::string_view{};
  if (first && second &&
      (problem.problem == ProblemKind::broadcast || problem.problem == ProblemKind::product) &&
      is_rotary_table(first) != is_rotary_table(second))
    return "attention/rope";
  if (problem.problem == ProblemKind::reshape && first && is_rotary_table(first)) return "attention/rope";
  // Heads are made of the last dimension: where others change, these are rearranged.
  const bool others_change = problem.left.size && problem.right.size;
  if (problem.problem == ProblemKind::reshape && by == OpSemantics::rearranged && rank_of(first) >= 2 &&
      projection(first) && sizes_asked(problem) > rank_of(first) && !others_change)
    return "attention/head-dims";
  if (problem.problem == ProblemKind::argument && by == OpSemantics::split && rank_of(first) >= 3 &&
      projection(first))
    return "attention/head-dims";
  if (by == OpSemantics::product && rank_of(first) == 4 && rank_of(second) == 4 &&
      (problem.problem == ProblemKind::product || problem.problem == ProblemKind::inner_dimensions ||
          problem.problem == ProblemKind::batch_dimensions || problem.problem == ProblemKind::broadcast)) {
    const auto heads = [](const TensorState* state) {
      for (int way = 0; state && way < 16; ++way) {
        const OpSemantics of = semantics(state);
        if (of == OpSemantics::linear) return true;
        if (of == OpSemantics::none || !state->made) return false;
        const auto from = inputs(*state->made);
        state = from.empty() ? nullptr : from.front();
      }
      return false;
    };
    if (heads(first) && heads(second)) return "attention/head-dims";
  }
  return {};
}

void report_specialized(const Record& record, Report& report, std::string_view rule,
    const std::function<std::string(const ProblemEvent&)>& words,
    const std::function<void(const ProblemEvent&, Finding&)>& refine) {
  visit_problems(record, [&](const ProblemEvent& problem, const interpreter::Root& root) {
    if (reporting_rule_of(record, problem) != rule) return;
    std::string message = words(problem);
    if (message.empty()) return;
    const auto severity = qualify(record, problem, root, Severity::error, message);
    Finding* finding = severity ? report.add(*severity, problem.place, problem.calls, message) : nullptr;
    if (!finding) return;
    relate_evidence(record, report, *finding, problem);
    if (refine) refine(problem, *finding);
    report.relate_calls(*finding, problem.calls);
  });
}

}  // namespace stepzero::rules
