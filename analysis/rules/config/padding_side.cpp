// config/padding-side: a decoder continues prompts that are padded on the right.
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/language_models.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

namespace stepzero::rules::config::padding_side {

namespace {

constexpr std::string_view setting = "padding_side";

// Where the program says `padding_side="right"`; nowhere if it says another side, too.
Place told_right(const Record& record) {
  Place right;
  bool other = false;
  const auto take = [&](Place place, const syntax::Expr& side) {
    if (side.kind == syntax::ExprKind::string && syntax::as<syntax::StringExpr>(side).value == "right")
      right = place;
    else
      other = true;
  };
  each_expression(record, false, [&](std::uint32_t chunk, const syntax::Expr& expr) {
    if (expr.kind != syntax::ExprKind::call) return;
    for (const syntax::Keyword& each : syntax::as<syntax::CallExpr>(expr).keywords)
      if (each.name.text() == setting) take({chunk, each.value->span}, *each.value);
  });
  each_statement(record, false, [&](std::uint32_t chunk, const syntax::Stmt& stmt) {
    if (stmt.kind != syntax::StmtKind::assign) return;
    const auto& assign = syntax::as<syntax::AssignStmt>(stmt);
    for (const syntax::Expr* target : assign.targets)
      if (syntax::last_name(*target) == setting) take({chunk, assign.value->span}, *assign.value);
  });
  return other ? Place{} : right;
}

void check(const Record& record, Report& report) {
  const Place right = told_right(record);
  if (!right || !uses_causal_model(record)) return;
  Once once;
  each_expression(record, true, [&](std::uint32_t chunk, const syntax::Expr& expr) {
    if (expr.kind != syntax::ExprKind::call) return;
    const auto& call = syntax::as<syntax::CallExpr>(expr);
    if (call.function->kind != syntax::ExprKind::attribute || syntax::last_name(*call.function) != "generate")
      return;
    const Place place{chunk, expr.span};
    const syntax::FunctionStmt* around = function_around(record, place);
    bool padded = false;
    if (around)
      syntax::for_each_expression(*around, [&](const syntax::Expr& each) {
        padded = padded || (each.kind == syntax::ExprKind::call && pads(syntax::as<syntax::CallExpr>(each)));
      });
    if (!padded || !once(place)) return;
    Finding* finding = report.add(Severity::warning, place, nullptr,
        "The prompts are padded on the right, so each shorter one is continued after its padding, as if that had been said. Tokenize them with `padding_side=\"left\"` for `generate`.");
    if (finding) report.relate(*finding, right, "the side is chosen here");
  });
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "config/padding-side",
    .severity = Severity::warning,
    .summary = "a decoder continues prompts that are padded on the right",
    .why =
        "`generate` appends to the end of each row. Where shorter prompts are filled up on the right, the new tokens come after the padding, at positions that the model was never trained to continue from: the longest prompt of a batch is answered well, the others are not. Training is right with either side.",
    .wrong = "tokenizer = AutoTokenizer.from_pretrained(name, padding_side=\"right\")\n"
             "batch = tokenizer(prompts, padding=True, return_tensors=\"pt\")\n"
             "model.generate(**batch)\n",
    .right = "tokenizer = AutoTokenizer.from_pretrained(name, padding_side=\"left\")\n"
             "batch = tokenizer(prompts, padding=True, return_tensors=\"pt\")\n"
             "model.generate(**batch)\n",
    .silent =
        "Programs that set the side to anything else as well, or leave it to the tokenizer; prompts that nothing pads in the function that generates; models with an encoder.",
    .fix = "None: training may want the other side.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::config::padding_side
