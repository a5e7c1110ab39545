// Buffers for ranks that have nothing to send.
#include "rules/deadlock/fixes.hpp"

#include <algorithm>

namespace stepzero::rules {

using namespace syntax;

namespace {

class Buffer {
public:
  Buffer(const Record& record, const SourceLines& source, const values::TensorState* state)
      : record_(record), source_(source), state_(state) {}

  // From the expression that makes the tensor: `torch.tensor([loss]).cuda()` gives `torch.zeros(1).cuda()`.
  // What follows the constructor (`.cuda()`, `.to(device)`) and its keyword arguments are kept as they stand.
  std::string like(const Expr& made) const {
    const Expr* base = &made;
    std::uint32_t end = made.span.end;
    while (base->kind == ExprKind::call) {
      const auto& call = as<CallExpr>(*base);
      if (call.function->kind != ExprKind::attribute) return {};
      const auto& method = as<AttributeExpr>(*call.function);
      static const std::string_view kept[] = {
          "cuda", "to", "float", "half", "double", "bfloat16", "long", "int", "bool", "contiguous", "cpu"};
      if (std::find(std::begin(kept), std::end(kept), method.attribute.text()) == std::end(kept)) break;
      if (method.object->kind != ExprKind::call) break;
      base = method.object;
    }
    if (base->kind != ExprKind::call) return {};
    const auto& constructor = as<CallExpr>(*base);
    end = base->span.end;
    const std::string suffix(source_.text(Span{end, made.span.end}));
    if (constructor.function->kind != ExprKind::attribute) return {};
    const auto& function = as<AttributeExpr>(*constructor.function);
    static const std::string_view constructors[] = {
        "tensor", "as_tensor", "zeros", "ones", "full", "empty", "randn", "rand"};
    if (std::find(std::begin(constructors), std::end(constructors), function.attribute.text()) ==
        std::end(constructors))
      return {};
    const auto shape = shape_text();
    if (shape.empty()) return {};
    std::string text = std::string(source_.text(*function.object)) + ".zeros(" + shape;
    bool has_dtype = false;
    for (const Keyword& keyword : constructor.keywords) {
      if (keyword.name.text() == "requires_grad") continue;
      has_dtype = has_dtype || keyword.name.text() == "dtype";
      text += ", " + std::string(source_.text(keyword.span));
    }
    if (!has_dtype && suffix.find("float()") == std::string::npos &&
        suffix.find("long()") == std::string::npos && state_) {
      const auto dtype = state_->dtype;
      if (dtype != values::Dtype::unknown && dtype != values::Dtype::float32)
        text += ", dtype=" + std::string(source_.text(*function.object)) + "." +
            std::string(values::name(dtype));
    }
    return text + ")" + suffix;
  }

private:
  std::string shape_text() const {
    if (!state_ || !state_->shape.ndim_known) return {};
    std::string text;
    for (const values::Dim& dim : state_->shape.dims) {
      const auto size = dim.size ? record_.symbols.value(dim.size) : std::nullopt;
      if (!size) return {};
      text += (text.empty() ? "" : ", ") + std::to_string(*size);
    }
    return state_->shape.dims.empty() ? "()" : text;
  }

  const Record& record_;
  const SourceLines& source_;
  const values::TensorState* state_;
};

// The innermost function or top-level statement that holds a place, and the `if` in it that alone binds the
// name.
struct Binding {
  const IfStmt* branch = nullptr;
  const AssignStmt* assign = nullptr;
};
Binding binding_of(const std::vector<Enclosing>& path, Name name, Span use) {
  Binding found;
  int bound = 0;
  const Stmt* root = path.front().stmt;
  for (const Enclosing& level : path)
    if (level.stmt->kind == StmtKind::function) root = level.stmt;
  for_each_statement(*root, [&](const Stmt& stmt) {
    if (stmt.kind == StmtKind::assign)
      for (const Expr* target : as<AssignStmt>(stmt).targets)
        if (target->kind == ExprKind::name && as<NameExpr>(*target).id == name) ++bound;
    if (stmt.kind != StmtKind::if_ || stmt.span.end > use.begin) return;
    const auto& branch = as<IfStmt>(stmt);
    for (const Stmt* inner : branch.body)
      if (inner->kind == StmtKind::assign && as<AssignStmt>(*inner).targets.size() == 1 &&
          as<AssignStmt>(*inner).targets[0]->kind == ExprKind::name &&
          as<NameExpr>(*as<AssignStmt>(*inner).targets[0]).id == name)
        found = {&branch, &as<AssignStmt>(*inner)};
  });
  return bound == 1 ? found : Binding{};
}

}  // namespace

std::string buffer_like(
    const Record& record, const SourceLines& source, const values::TensorState* state, const Expr& made) {
  return Buffer(record, source, state).like(made);
}

std::vector<Fix> buffer_for_others(const Report& report, const Mismatch& mismatch) {
  const Record& record = report.record();
  if (!record.in_file(mismatch.place)) return {};
  const auto path = enclosing(*record.chunk(mismatch.place).chunk->stmt, mismatch.place.span);
  if (path.empty()) return {};
  const auto [branch, assign] = binding_of(path, Name(mismatch.name), mismatch.place.span);
  if (!branch || branch->is_elif || !branch->orelse.empty()) return {};
  // Under another condition, or in a loop, the other side would not bind it for all.
  for (const Enclosing& level : enclosing(*record.chunk(mismatch.place).chunk->stmt, branch->span))
    if (level.stmt != branch && level.stmt->kind != StmtKind::function &&
        level.stmt->kind != StmtKind::class_ && !level.stmt->span.holds(mismatch.place.span))
      return {};
  const SourceLines source(record, mismatch.place.chunk);
  for (const Stmt* stmt : branch->body)
    if (!source.own_line(*stmt)) return {};
  const values::TensorState* state = nullptr;
  for (const interpreter::Fact& fact : record.facts)
    if (fact.place.chunk == mismatch.place.chunk && fact.place.span == assign->value->span && fact.tensor)
      state = fact.tensor;
  const std::string text = buffer_like(record, source, state, *assign->value);
  if (text.empty()) return {};
  const Span last = source.lines(*branch->body.back(), *branch->body.back());
  if (!source.slice(last).ends_with('\n')) return {};
  Fix fix;
  fix.title = "Give the other ranks a buffer for " + mismatch.name;
  const std::string outer = source.indentation(*branch), inner = source.indentation(*branch->body.front());
  fix.edits.push_back({{source.path(), {last.end, last.end}},
      outer + "else:" + source.line_ending() + inner + mismatch.name + " = " + text + source.line_ending()});
  return {fix};
}

}  // namespace stepzero::rules
