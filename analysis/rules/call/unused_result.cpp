// call/unused-result: a statement that computes a tensor anew and leaves it unused, while its subject stays
// as it was.
#include "rules/call_at.hpp"
#include "rules/provenance.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/training.hpp"
#include "values/limits.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <map>

namespace stepzero::rules::call::unused_result {

using namespace interpreter;
using values::code;
using values::Kind;

namespace {

// Operations of which nothing but the result is wanted. What computes may be measured, or warmed up.
bool only_gives(const Producer& made) {
  if (!made.row->op || made.row->variant != values::Variant::plain) return false;
  switch (semantics(made)) {
  case OpSemantics::same:
  case OpSemantics::rearranged:
  case OpSemantics::reordered:
  case OpSemantics::detached:
  case OpSemantics::masked:
  case OpSemantics::repeated:
  case OpSemantics::padded:
  case OpSemantics::bounded: return true;
  default: return false;
  }
}

// The variable that stays as it was: of `x.to(d)` or `torch.clamp(x, 0)` the `x`. Null if it is none.
const syntax::Expr* subject_of(const syntax::CallExpr& call, const Producer& made) {
  const syntax::Expr* subject = nullptr;
  if (made.row->kind == values::RowKind::method && call.function->kind == syntax::ExprKind::attribute)
    subject = syntax::as<syntax::AttributeExpr>(*call.function).object;
  else if (!call.arguments.empty())
    subject = call.arguments[0];
  while (subject && subject->kind == syntax::ExprKind::attribute) {
    const syntax::Expr* object = syntax::as<syntax::AttributeExpr>(*subject).object;
    if (object->kind != syntax::ExprKind::attribute && object->kind != syntax::ExprKind::name) return nullptr;
    if (object->kind == syntax::ExprKind::name) return subject;
    subject = object;
  }
  return subject && subject->kind == syntax::ExprKind::name ? subject : nullptr;
}

// Who tries whether it fails, or measures it, wants no result.
bool is_tried(const Record& record, Place place) {
  const auto path = enclosing(*record.chunk(place).chunk->stmt, place.span);
  return std::ranges::any_of(path, [](const Enclosing& each) {
    return each.stmt->kind == syntax::StmtKind::try_ || each.stmt->kind == syntax::StmtKind::with;
  });
}

bool writes_out(const Producer& made) {
  const Value out = argument(made, "out");
  return out && !out.is(Kind::none);
}

const Producer* producer_at(const Fact& fact) {
  const Producer* made = fact.tensor && !fact.tensor->unseen ? fact.tensor->made : nullptr;
  return made && made->born == fact.place && fact.value.is(Kind::tensor) &&
          fact.value.as<values::Tensor>()->role == values::TensorRole::plain
      ? made
      : nullptr;
}

void check(const Record& record, Report& report) {
  constexpr std::string_view notebook = ".ipynb";  // shows what the last statement of a cell gives
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<const Fact*>> statements;
  for (const Fact& fact : record.facts)
    if (fact.role == Fact::Role::statement && record.in_file(fact.place) &&
        !record.chunk(fact.place).path.ends_with(notebook))
      statements[{fact.place.chunk, fact.place.span.begin}].push_back(&fact);
  for (const auto& [at, facts] : statements) {
    const Fact& first = *facts.front();
    if (!std::ranges::all_of(facts, [](const Fact* fact) {
          const Producer* made = producer_at(*fact);
          return made && only_gives(*made) && !made->arguments.empty() && input(*made) && !writes_out(*made);
        }))
      continue;
    const syntax::CallExpr* call = producer_at(first)->row ? call_at(record, first.place) : nullptr;
    const syntax::Expr* subject = call ? subject_of(*call, *producer_at(first)) : nullptr;
    if (!subject || is_tried(record, first.place)) continue;
    const std::string name(record.text({first.place.chunk, subject->span}));
    const std::string text(record.text(first.place));
    if (name.empty() || !values::is_quotable(text)) continue;
    const Value from = producer_at(first)->arguments[0];
    const bool assignable = !from.is(Kind::tensor) ||
        from.as<values::Tensor>()->role != values::TensorRole::parameter;
    Finding* finding = report.add(Severity::warning, first.place, nullptr,
        code(text) + " gives a new tensor that nothing uses, and " + code(name) + " stays as it was. " +
            (assignable ? "Assign it: " + code(name + " = " + text) + "."
                        : std::string("Write into the parameter, under `torch.no_grad()`.")));
    if (!finding || !assignable) continue;
    Fix fix;
    fix.title = "Assign it to " + name;
    fix.edits.push_back(
        {report.location({first.place.chunk, {first.place.span.begin, first.place.span.begin}}),
            name + " = "});
    finding->fixes.push_back(std::move(fix));
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "call/unused-result",
    .severity = Severity::warning,
    .summary = "a tensor is converted, moved, clamped or reshaped, and the result is not used",
    .why =
        "Methods of a tensor give a new one: `x.to(\"cuda\")`, `x.float()`, `x.unsqueeze(1)` and `torch.clamp(x, 0)` leave `x` as it is. A module is moved in place, a tensor is not. As a statement by itself such a call does nothing, and what follows reads the old tensor: on another device, of another dtype, or out of the bounds that were meant.",
    .wrong = "x.to(\"cuda\")\n"
             "out = model(x)\n",
    .right = "x = x.to(\"cuda\")\n"
             "out = model(x)\n",
    .silent =
        "Methods that end in `_` and write into the tensor; modules; calls with `out=`; operations that compute, which may be measured; statements in `try` and `with`; notebooks, which show what a cell ends with.",
    .fix = "Assigns the result to the variable.",
    .fix_kind = FixKind::needs_decision,
    .check = check,
});

}  // namespace stepzero::rules::call::unused_result
