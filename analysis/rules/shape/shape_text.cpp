#include "rules/shape/shape_text.hpp"

#include "libraries/torch/meaning/op_form.hpp"
#include "rules/call_at.hpp"
#include "rules/source.hpp"
#include "values/limits.hpp"
#include "values/shape_text.hpp"

namespace stepzero::rules {

using values::Kind;

std::string size_words(const Record& record, const values::Dim& dim) {
  return values::size_words(record.symbols, dim);
}
std::string shape_text(const Record& record, const values::Shape& shape) {
  return values::shape_text(record.symbols, shape);
}

const syntax::Expr* operand_expression(const ProblemEvent& problem, std::size_t index) {
  if (problem.node && problem.node->kind == syntax::ExprKind::binary) {
    const auto& binary = syntax::as<syntax::BinaryExpr>(*problem.node);
    // `x += y` writes to its left side.
    if (index == 0 && binary.op_span == binary.left->span) return nullptr;
    return index == 0 ? binary.left : binary.right;
  }
  if (!problem.expr) return nullptr;
  const bool method = problem.row->kind == values::RowKind::method &&
      !problem.row->path.ends_with(".forward");
  if (method && problem.expr->function->kind == syntax::ExprKind::attribute) {
    if (index == 0) return syntax::as<syntax::AttributeExpr>(*problem.expr->function).object;
    --index;
  }
  // addmm(input, mat1, mat2): the operands that are multiplied come second.
  if (libraries::form_of(*problem.row) == libraries::OpForm::added_to) ++index;
  if (index < problem.expr->arguments.size()) return problem.expr->arguments[index];
  return nullptr;
}

std::string operand_text(const Record& record, const ProblemEvent& problem, std::size_t index) {
  if (const syntax::Expr* expr = operand_expression(problem, index)) {
    const std::string_view text = record.text({problem.place.chunk, expr->span});
    if (values::is_quotable(text)) return values::code(text);
  }
  return index == 0 ? "the input" : "the other operand";
}

std::string layer_text(const Record& record, const ProblemEvent& problem) {
  if (problem.expr) return values::code(record.text({problem.place.chunk, problem.expr->function->span}));
  if (problem.self.is(values::Kind::instance))
    if (const std::string_view text = record.text(problem.self.object()->born); values::is_quotable(text))
      return values::code(text);
  return "the layer";
}

std::string arithmetic_text(const Record& record, const values::Dim& dim) {
  if (!dim.factors || dim.factors->sizes.size() < 2) return {};
  std::string text;
  for (const auto size : dim.factors->sizes) {
    if (!size || !record.symbols.value(size)) return {};
    text += (text.empty() ? "" : "×") + record.symbols.text(size);
  }
  return text + " = " + record.symbols.text(dim.size);
}

void relate_origin(const Report& report, Finding& finding, const values::Dim& dim, const std::string& what) {
  if (dim.origin && dim.origin->place) report.relate(finding, dim.origin->place, what);
}

namespace {

// Does the expression make one layer, or one for each object of its class? In a loop or a helper function it
// makes several, which a number in the place of a name would make alike.
bool makes_one(const syntax::Stmt& root, syntax::Span span) {
  const syntax::Stmt* function = nullptr;
  for (const Enclosing& around : enclosing(root, span)) {
    if (around.stmt->kind == syntax::StmtKind::for_ || around.stmt->kind == syntax::StmtKind::while_)
      return false;
    if (around.stmt->kind == syntax::StmtKind::function) function = around.stmt;
  }
  bool repeated = false;
  for_each_expression(root, [&](const syntax::Expr& expr) {
    const bool repeats = expr.kind == syntax::ExprKind::comprehension ||
        expr.kind == syntax::ExprKind::lambda;
    repeated = repeated || (repeats && expr.span.begin <= span.begin && span.end <= expr.span.end);
  });
  return !repeated && (!function || syntax::as<syntax::FunctionStmt>(*function).name.text() == "__init__");
}

// Edits the argument of the constructor call that made the layer. Preferred where a number stands there and
// `sure`. Of what fails on some ways alone nothing is offered: the others may need it as it is.
std::optional<Fix> edit_constructor(const Record& record, const ProblemEvent& problem,
    std::string_view parameter, const std::string& text, std::string title, bool sure) {
  if (problem.assumption) return std::nullopt;
  if (!problem.self.is(Kind::instance)) return std::nullopt;
  const values::Place made = problem.self.object()->born;
  if (!record.in_file(made)) return std::nullopt;
  const syntax::CallExpr* call = call_at(record, made);
  if (!call) return std::nullopt;
  const auto* native = problem.self.as<values::Instance>()->native;
  if (!native || !native->row) return std::nullopt;
  std::size_t at = 0;
  while (at < native->row->parameters.size() && native->row->parameters[at].text() != parameter) ++at;
  for (const syntax::Expr* given : call->arguments)
    if (given->kind == syntax::ExprKind::starred) return std::nullopt;
  const syntax::Expr* argument = at < call->arguments.size() ? call->arguments[at] : nullptr;
  for (const syntax::Keyword& keyword : call->keywords)
    if (keyword.name.text() == parameter) argument = keyword.value;
  if (!argument ||
      (argument->kind != syntax::ExprKind::integer && !makes_one(*record.chunk(made).chunk->stmt, made.span)))
    return std::nullopt;
  // What stands there already was not what the layer computes with.
  if (record.text({made.chunk, argument->span}) == text) return std::nullopt;
  const SourceLines source(record, made.chunk);
  Fix fix;
  fix.title = std::move(title);
  fix.preferred = sure && argument->kind == syntax::ExprKind::integer;
  fix.edits.push_back({{source.path(), source.absolute(argument->span)}, text});
  return fix;
}

bool simple(const syntax::Expr& expr) {
  using enum syntax::ExprKind;
  return expr.kind == name || expr.kind == attribute || expr.kind == call || expr.kind == subscript;
}

}  // namespace

std::optional<Fix> fix_constructor(
    const Record& record, const ProblemEvent& problem, std::string_view parameter) {
  const auto arrives = problem.left.size ? record.symbols.value(problem.left.size) : std::nullopt;
  if (!arrives || *arrives <= 0) return std::nullopt;
  const std::string number = std::to_string(*arrives);
  return edit_constructor(
      record, problem, parameter, number, "Set " + std::string(parameter) + " to " + number, true);
}

std::optional<Fix> fix_append(const Record& record, const ProblemEvent& problem, std::size_t operand,
    const std::string& suffix, std::string title) {
  const syntax::Expr* expr = record.in_file(problem.place) ? operand_expression(problem, operand) : nullptr;
  if (!expr) return std::nullopt;
  return fix_of(
      record, problem, {interpreter::SuggestedEdit::How::append, {}, expr, suffix, std::move(title), false});
}

std::optional<Fix> fix_of(
    const Record& record, const ProblemEvent& problem, const interpreter::SuggestedEdit& edit) {
  using How = interpreter::SuggestedEdit::How;
  if (edit.how == How::constructor)
    return edit_constructor(record, problem, edit.parameter, edit.text, edit.title, edit.sure);
  if (!edit.expr || !record.in_file(problem.place)) return std::nullopt;
  const SourceLines source(record, problem.place.chunk);
  std::string text = edit.text;
  if (edit.how == How::append) {
    const std::string written(source.text(*edit.expr));
    text = (simple(*edit.expr) ? written : "(" + written + ")") + text;
  }
  return Fix{edit.title, edit.sure, {{{source.path(), source.absolute(edit.expr->span)}, text}}};
}

std::optional<Fix> fix_transpose(const Record& record, const ProblemEvent& problem, std::size_t operand) {
  if (operand >= problem.states.size() || !problem.states[operand] || !record.in_file(problem.place))
    return std::nullopt;
  const auto& dims = problem.states[operand]->shape.dims;
  if (dims.size() < 2) return std::nullopt;
  // Which size would then take part in the product, and which one it has to meet.
  const bool left = operand == 0;
  const values::Dim& would = left ? dims[dims.size() - 2] : dims[dims.size() - 1];
  const values::Dim& meets = left ? problem.right : problem.left;
  if (!would.size || !meets.size ||
      record.symbols.compare(symbolic::Compare::eq, would.size, meets.size) != symbolic::Answer::yes)
    return std::nullopt;
  const syntax::Expr* expr = operand_expression(problem, operand);
  if (!expr) return std::nullopt;
  const SourceLines source(record, problem.place.chunk);
  std::string text(source.text(*expr));
  if (!values::is_quotable(text)) return std::nullopt;
  Fix fix;
  fix.title = "Transpose " + text;
  if (!simple(*expr)) text = "(" + text + ")";
  fix.edits.push_back({{source.path(), source.absolute(expr->span)}, text + ".transpose(-2, -1)"});
  return fix;
}

}  // namespace stepzero::rules
