#include "rules/training/language_models.hpp"

#include "rules/source.hpp"

namespace stepzero::rules {

namespace {

bool is_causal_class(std::string_view name) {
  return name.ends_with("ForCausalLM") || name.ends_with("LMHeadModel");
}

}  // namespace

void each_statement(const interpreter::Record& record, bool in_file,
    const std::function<void(std::uint32_t, const syntax::Stmt&)>& each) {
  for (std::uint32_t i = 1; i < record.chunks.size(); ++i)
    if (const interpreter::ChunkOf& chunk = record.chunks[i];
        is_of_program(chunk) && (!in_file || record.in_file({i, chunk.statement()->span})))
      syntax::for_each_statement(*chunk.statement(), [&](const syntax::Stmt& stmt) { each(i, stmt); });
}

void each_expression(const interpreter::Record& record, bool in_file,
    const std::function<void(std::uint32_t, const syntax::Expr&)>& each) {
  for (std::uint32_t i = 1; i < record.chunks.size(); ++i)
    if (const interpreter::ChunkOf& chunk = record.chunks[i];
        is_of_program(chunk) && (!in_file || record.in_file({i, chunk.statement()->span})))
      syntax::for_each_expression(*chunk.statement(), [&](const syntax::Expr& expr) { each(i, expr); });
}

bool uses_causal_model(const interpreter::Record& record) {
  bool found = false;
  each_expression(record, false, [&](std::uint32_t, const syntax::Expr& expr) {
    found = found || is_causal_class(syntax::last_name(expr));
  });
  return found;
}

bool gives_labels(const interpreter::Record& record) {
  bool found = false;
  each_expression(record, false, [&](std::uint32_t, const syntax::Expr& expr) {
    if (expr.kind != syntax::ExprKind::call) return;
    const auto& call = syntax::as<syntax::CallExpr>(expr);
    const std::string_view name = syntax::last_name(*call.function);
    found = found || name.ends_with("Trainer");
    for (const syntax::Keyword& each : call.keywords)
      found = found || each.name.text() == "labels" || each.name.text().empty();
  });
  return found;
}

bool pads(const syntax::CallExpr& call) {
  for (const syntax::Keyword& each : call.keywords) {
    if (each.name.text() != "padding") continue;
    if (each.value->kind == syntax::ExprKind::boolean)
      return syntax::as<syntax::BooleanExpr>(*each.value).value;
    return each.value->kind == syntax::ExprKind::string &&
        syntax::as<syntax::StringExpr>(*each.value).value != "do_not_pad";
  }
  return false;
}

}  // namespace stepzero::rules
