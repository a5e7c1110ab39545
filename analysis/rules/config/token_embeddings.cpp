// config/token-embeddings: tokens are added to a tokenizer, and the table of embeddings stays as it was.
#include "rules/name_hints.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/language_models.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

namespace stepzero::rules::config::token_embeddings {

namespace {

void check(const Record& record, Report& report) {
  bool pretrained = false;
  each_expression(record, false, [&](std::uint32_t chunk, const syntax::Expr& expr) {
    if (expr.kind != syntax::ExprKind::call) return;
    const auto& call = syntax::as<syntax::CallExpr>(expr);
    if (call.function->kind != syntax::ExprKind::attribute ||
        syntax::last_name(*call.function) != "from_pretrained")
      return;
    const std::string_view of = record.text(
        {chunk, syntax::as<syntax::AttributeExpr>(*call.function).object->span});
    pretrained = pretrained || of.find("Model") != of.npos || of.find("For") != of.npos;
  });
  if (!pretrained || program_says(record, Says::resizing_embeddings)) return;
  Once once;
  each_expression(record, true, [&](std::uint32_t chunk, const syntax::Expr& expr) {
    if (expr.kind != syntax::ExprKind::call) return;
    const auto& call = syntax::as<syntax::CallExpr>(expr);
    const std::string_view name = syntax::last_name(*call.function);
    if (call.function->kind != syntax::ExprKind::attribute ||
        (name != "add_special_tokens" && name != "add_tokens") || !once({chunk, expr.span}))
      return;
    report.add(Severity::warning, {chunk, expr.span}, nullptr,
        "New tokens get numbers beyond the model's table of embeddings, which is as large as it was: looking one up raises `IndexError`. Call `model.resize_token_embeddings(len(tokenizer))` afterwards.");
  });
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "config/token-embeddings",
    .severity = Severity::warning,
    .summary = "tokens are added to a tokenizer, and no model is made larger",
    .why =
        "A pretrained model has one row of embeddings for each token that its tokenizer had. A token that is added gets the next number, for which there is no row: `index out of range in self` on the CPU, an assertion in a kernel on a GPU, in the first batch that holds it. Padding that was added holds it in every batch.",
    .wrong = "tokenizer.add_special_tokens({\"pad_token\": \"[PAD]\"})\n"
             "model = AutoModelForCausalLM.from_pretrained(name)\n",
    .right = "tokenizer.add_special_tokens({\"pad_token\": \"[PAD]\"})\n"
             "model = AutoModelForCausalLM.from_pretrained(name)\n"
             "model.resize_token_embeddings(len(tokenizer))\n",
    .silent =
        "Programs that resize the table anywhere, or make the model for the length of the tokenizer; programs that load no pretrained model.",
    .fix = "None: where the model is made is the program's choice.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::config::token_embeddings
