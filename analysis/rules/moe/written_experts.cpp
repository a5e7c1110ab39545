#include "rules/moe/written_experts.hpp"

#include "rules/source.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace stepzero::rules {

using namespace syntax;
using values::code;
using values::Place;

namespace {

constexpr std::string_view names_of_experts[] = {"n_routed_experts", "num_routed_experts",
    "num_local_experts", "num_experts", "n_experts", "num_moe_experts", "moe_num_experts", "nb_experts"};
constexpr std::string_view names_of_choices[] = {"num_experts_per_tok", "num_experts_per_token",
    "n_experts_per_tok", "n_experts_per_token", "experts_per_token", "num_activated_experts",
    "n_activated_experts", "num_active_experts", "n_active_experts", "num_selected_experts",
    "num_experts_to_use", "moe_router_topk", "moe_top_k", "moe_topk", "moe_k", "router_top_k",
    "experts_top_k", "expert_top_k", "num_top_experts"};
// Beside a number of experts; sampling of text has numbers of these names, too.
constexpr std::string_view plain_choices[] = {"top_k", "topk", "k", "n_active", "num_selected"};
constexpr std::string_view of_sampling[] = {"temperature", "top_p", "do_sample", "max_new_tokens",
    "num_beams", "repetition_penalty", "sampling_params", "max_length"};

struct WrittenNumber {
  std::string name;  // as in Python: `--top-k` is `top_k`
  std::int64_t number = 0;
  bool known = false;
  Place place;
};
using WrittenGroup = std::vector<WrittenNumber>;

template <std::size_t n>
const WrittenNumber* first_of(const WrittenGroup& group, const std::string_view (&names)[n]) {
  for (const std::string_view name : names)
    for (const WrittenNumber& each : group)
      if (each.name == name) return &each;
  return nullptr;
}

void add_number(WrittenGroup& group, std::string name, const Expr* value, std::uint32_t chunk, Span span) {
  WrittenNumber written{std::move(name), 0, false, {chunk, span}};
  if (value && value->kind == ExprKind::integer) {
    written.number = as<IntegerExpr>(*value).value;
    written.known = as<IntegerExpr>(*value).fits;
  }
  group.push_back(std::move(written));
}

WrittenGroup of_call(const CallExpr& call, std::uint32_t chunk) {
  WrittenGroup group;
  for (const Keyword& keyword : call.keywords)
    add_number(group, std::string(keyword.name.text()), keyword.value, chunk, keyword.span);
  return group;
}
WrittenGroup of_signature(const FunctionStmt& function, std::uint32_t chunk) {
  WrittenGroup group;
  for (const Parameter& parameter : function.parameters->list)
    add_number(group, std::string(parameter.name.text()), parameter.default_value, chunk, parameter.span);
  return group;
}
WrittenGroup of_fields(const ClassStmt& cls, std::uint32_t chunk) {
  WrittenGroup group;
  for (const Stmt* stmt : cls.body) {
    if (stmt->kind != StmtKind::ann_assign) continue;
    const auto& field = as<AnnAssignStmt>(*stmt);
    if (field.target->kind == ExprKind::name)
      add_number(group, std::string(as<NameExpr>(*field.target).id.text()), field.value, chunk, stmt->span);
  }
  return group;
}
// `add_argument("--top-k", type=int, default=8)`
void add_option(WrittenGroup& options, const CallExpr& call, std::uint32_t chunk) {
  if (last_name(*call.function) != "add_argument" || call.arguments.empty() ||
      call.arguments[0]->kind != ExprKind::string)
    return;
  std::string_view said = as<StringExpr>(*call.arguments[0]).value;
  said.remove_prefix(std::min(said.find_first_not_of('-'), said.size()));
  std::string name(said);
  std::ranges::replace(name, '-', '_');
  const Expr* value = nullptr;
  for (const Keyword& keyword : call.keywords)
    if (keyword.name.text() == "default") value = keyword.value;
  add_number(options, std::move(name), value, chunk, call.span);
}

struct WrittenJudge {
  Report& report;
  const std::vector<Place>& told;
  Once once;

  void operator()(const WrittenGroup& group, bool by_default);
};

void WrittenJudge::operator()(const WrittenGroup& group, bool by_default) {
  const WrittenNumber* experts = first_of(group, names_of_experts);
  if (!experts || !experts->known || experts->number < 2) return;
  const WrittenNumber* chosen = first_of(group, names_of_choices);
  if (!chosen && !first_of(group, of_sampling)) chosen = first_of(group, plain_choices);
  if (!chosen || !chosen->known || chosen->number <= experts->number || !once(chosen->place)) return;
  if (std::ranges::any_of(told, [&](Place place) {
        return place.chunk == chosen->place.chunk && place.span.begin <= chosen->place.span.end &&
            chosen->place.span.begin <= place.span.end;
      }))
    return;
  if (Finding* finding = report.add(Severity::warning, chosen->place, nullptr,
          code(chosen->name) + " is " + std::to_string(chosen->number) + (by_default ? " by default" : "") +
              " and " + code(experts->name) + " is " + std::to_string(experts->number) +
              ": a token can go to " + std::to_string(experts->number) + " experts at most. Choose fewer."))
    report.relate(*finding, experts->place, "the experts");
}

}  // namespace

void report_written_experts(const Record& record, Report& report, const std::vector<Place>& told) {
  WrittenJudge judge{report, told, {}};
  WrittenGroup options;
  for (std::uint32_t i = 0; i < record.chunks.size(); ++i) {
    const Stmt* top = record.chunks[i].statement();
    if (!top || record.chunks[i].path != record.path) continue;
    for_each_expression(*top, [&](const Expr& expr) {
      if (expr.kind != ExprKind::call) return;
      add_option(options, as<CallExpr>(expr), i);
      judge(of_call(as<CallExpr>(expr), i), false);
    });
    for_each_statement(*top, [&](const Stmt& stmt) {
      if (stmt.kind == StmtKind::function) judge(of_signature(as<FunctionStmt>(stmt), i), true);
      if (stmt.kind == StmtKind::class_) judge(of_fields(as<ClassStmt>(stmt), i), true);
    });
  }
  judge(options, true);
}

}  // namespace stepzero::rules
