#include "rules/source.hpp"

namespace stepzero::rules {

using namespace syntax;

namespace {


void blocks_of(const Stmt& stmt, const std::function<void(Block)>& each) {
  switch (stmt.kind) {
  case StmtKind::if_:
    each(as<IfStmt>(stmt).body);
    each(as<IfStmt>(stmt).orelse);
    break;
  case StmtKind::while_:
    each(as<WhileStmt>(stmt).body);
    each(as<WhileStmt>(stmt).orelse);
    break;
  case StmtKind::for_:
    each(as<ForStmt>(stmt).body);
    each(as<ForStmt>(stmt).orelse);
    break;
  case StmtKind::with: each(as<WithStmt>(stmt).body); break;
  case StmtKind::try_:
    each(as<TryStmt>(stmt).body);
    for (const ExceptHandler& handler : as<TryStmt>(stmt).handlers) each(handler.body);
    each(as<TryStmt>(stmt).orelse);
    each(as<TryStmt>(stmt).finally);
    break;
  case StmtKind::function: each(as<FunctionStmt>(stmt).body); break;
  case StmtKind::class_: each(as<ClassStmt>(stmt).body); break;
  case StmtKind::match:
    for (const MatchCase& arm : as<MatchStmt>(stmt).cases) each(arm.body);
    break;
  case StmtKind::error: each(as<ErrorStmt>(stmt).parts); break;
  default: break;
  }
}

bool descend(Block block, Span span, std::vector<Enclosing>& path) {
  for (std::size_t i = 0; i < block.size(); ++i) {
    if (!block[i]->span.holds(span)) continue;
    path.push_back({block[i], block, i});
    bool deeper = false;
    blocks_of(*block[i], [&](Block inner) { deeper = deeper || descend(inner, span, path); });
    return true;
  }
  return false;
}

} // namespace

std::vector<Enclosing> enclosing(const Stmt& root, Span span) {
  std::vector<Enclosing> path;
  path.push_back({&root, {}, 0});
  if (!root.span.holds(span)) return {};
  bool found = false;
  blocks_of(root, [&](Block inner) { found = found || descend(inner, span, path); });
  return path;
}

void for_each_expression(const Expr& expr, const std::function<void(const Expr&)>& each) {
  each(expr);
  const auto go = [&](const Expr* part) {
    if (part) for_each_expression(*part, each);
  };
  const auto all = [&](List<const Expr*> parts) {
    for (const Expr* part : parts) go(part);
  };
  switch (expr.kind) {
  case ExprKind::format: all(as<FormatExpr>(expr).parts); break;
  case ExprKind::attribute: go(as<AttributeExpr>(expr).object); break;
  case ExprKind::subscript:
    go(as<SubscriptExpr>(expr).object);
    go(as<SubscriptExpr>(expr).index);
    break;
  case ExprKind::slice:
    go(as<SliceExpr>(expr).lower);
    go(as<SliceExpr>(expr).upper);
    go(as<SliceExpr>(expr).step);
    break;
  case ExprKind::call:
    go(as<CallExpr>(expr).function);
    all(as<CallExpr>(expr).arguments);
    for (const Keyword& keyword : as<CallExpr>(expr).keywords) go(keyword.value);
    break;
  case ExprKind::binary:
    go(as<BinaryExpr>(expr).left);
    go(as<BinaryExpr>(expr).right);
    break;
  case ExprKind::unary: go(as<UnaryExpr>(expr).operand); break;
  case ExprKind::boolean_op: all(as<BooleanOpExpr>(expr).operands); break;
  case ExprKind::compare:
    go(as<CompareExpr>(expr).left);
    all(as<CompareExpr>(expr).rights);
    break;
  case ExprKind::conditional:
    go(as<ConditionalExpr>(expr).test);
    go(as<ConditionalExpr>(expr).body);
    go(as<ConditionalExpr>(expr).orelse);
    break;
  case ExprKind::lambda: go(as<LambdaExpr>(expr).body); break;
  case ExprKind::tuple: all(as<TupleExpr>(expr).elements); break;
  case ExprKind::list: all(as<ListExpr>(expr).elements); break;
  case ExprKind::set: all(as<SetExpr>(expr).elements); break;
  case ExprKind::dict:
    for (const DictItem& item : as<DictExpr>(expr).items) {
      go(item.key);
      go(item.value);
    }
    break;
  case ExprKind::comprehension:
    go(as<ComprehensionExpr>(expr).element);
    go(as<ComprehensionExpr>(expr).value);
    for (const Generator& generator : as<ComprehensionExpr>(expr).generators) {
      go(generator.iterable);
      all(generator.conditions);
    }
    break;
  case ExprKind::await: go(as<AwaitExpr>(expr).value); break;
  case ExprKind::yield: go(as<YieldExpr>(expr).value); break;
  case ExprKind::yield_from: go(as<YieldFromExpr>(expr).value); break;
  case ExprKind::starred: go(as<StarredExpr>(expr).value); break;
  case ExprKind::named: go(as<NamedExpr>(expr).value); break;
  case ExprKind::error: all(as<ErrorExpr>(expr).parts); break;
  default: break;
  }
}

void for_each_expression(const Stmt& stmt, const std::function<void(const Expr&)>& each) {
  const auto go = [&](const Expr* part) {
    if (part) for_each_expression(*part, each);
  };
  switch (stmt.kind) {
  case StmtKind::expression: go(as<ExpressionStmt>(stmt).value); break;
  case StmtKind::assign:
    go(as<AssignStmt>(stmt).value);
    for (const Expr* target : as<AssignStmt>(stmt).targets)
      if (target->kind != ExprKind::name) go(target);
    break;
  case StmtKind::aug_assign:
    go(as<AugAssignStmt>(stmt).target);
    go(as<AugAssignStmt>(stmt).value);
    break;
  case StmtKind::ann_assign: go(as<AnnAssignStmt>(stmt).value); break;
  case StmtKind::return_: go(as<ReturnStmt>(stmt).value); break;
  case StmtKind::raise: go(as<RaiseStmt>(stmt).exception); break;
  case StmtKind::assert_:
    go(as<AssertStmt>(stmt).test);
    go(as<AssertStmt>(stmt).message);
    break;
  case StmtKind::if_: go(as<IfStmt>(stmt).test); break;
  case StmtKind::while_: go(as<WhileStmt>(stmt).test); break;
  case StmtKind::for_: go(as<ForStmt>(stmt).iterable); break;
  case StmtKind::with:
    for (const WithItem& item : as<WithStmt>(stmt).items) go(item.context);
    break;
  case StmtKind::match: go(as<MatchStmt>(stmt).subject); break;
  case StmtKind::delete_:
    for (const Expr* target : as<DeleteStmt>(stmt).targets) go(target);
    break;
  default: break;
  }
  blocks_of(stmt, [&](Block block) {
    for (const Stmt* inner : block) for_each_expression(*inner, each);
  });
}

void for_each_statement(const Stmt& stmt, const std::function<void(const Stmt&)>& each) {
  each(stmt);
  blocks_of(stmt, [&](Block block) {
    for (const Stmt* inner : block) for_each_statement(*inner, each);
  });
}

bool leaves(const Stmt& stmt) {
  if (stmt.kind == StmtKind::return_ || stmt.kind == StmtKind::break_ || stmt.kind == StmtKind::continue_) return true;
  if (stmt.kind == StmtKind::function || stmt.kind == StmtKind::class_) return false;
  bool found = false;
  blocks_of(stmt, [&](Block block) {
    for (const Stmt* inner : block) found = found || leaves(*inner);
  });
  return found;
}

bool reads_name(const Stmt& stmt, Name name) {
  bool found = false;
  for_each_expression(stmt, [&](const Expr& expr) { found = found || (expr.kind == ExprKind::name && as<NameExpr>(expr).id == name); });
  return found;
}

SourceLines::SourceLines(const interpreter::Record& record, std::uint32_t chunk)
    : text_(record.chunks[chunk].module->text), offset_(record.chunks[chunk].offset), path_(record.chunks[chunk].path) {
  const std::string& bytes = text_->bytes();
  const auto end = bytes.find_first_of("\r\n");
  ending_ = end == std::string::npos || bytes[end] == '\n' ? "\n" : bytes.compare(end, 2, "\r\n") == 0 ? "\r\n" : "\r";
}

std::string_view SourceLines::text(Span span) const { return text_->slice(absolute(span)); }

std::string SourceLines::indentation(const Stmt& stmt) const {
  const std::string& bytes = text_->bytes();
  std::size_t begin = stmt.span.begin + offset_;
  std::size_t start = begin;
  while (start > 0 && bytes[start - 1] != '\n' && bytes[start - 1] != '\r') --start;
  std::size_t end = start;
  while (end < begin && (bytes[end] == ' ' || bytes[end] == '\t')) ++end;
  return bytes.substr(start, end - start);
}

bool SourceLines::own_line(const Stmt& stmt) const {
  const std::string& bytes = text_->bytes();
  std::size_t begin = stmt.span.begin + offset_;
  while (begin > 0 && (bytes[begin - 1] == ' ' || bytes[begin - 1] == '\t')) --begin;
  if (begin > 0 && bytes[begin - 1] != '\n' && bytes[begin - 1] != '\r') return false;
  std::size_t end = stmt.span.end + offset_;
  while (end < bytes.size() && (bytes[end] == ' ' || bytes[end] == '\t')) ++end;
  return end >= bytes.size() || bytes[end] == '\n' || bytes[end] == '\r' || bytes[end] == '#';
}

Span SourceLines::lines(const Stmt& from, const Stmt& to) const {
  const std::string& bytes = text_->bytes();
  std::size_t begin = from.span.begin + offset_;
  while (begin > 0 && bytes[begin - 1] != '\n' && bytes[begin - 1] != '\r') --begin;
  std::size_t end = to.span.end + offset_;
  while (end < bytes.size() && bytes[end] != '\n' && bytes[end] != '\r') ++end;
  if (bytes.compare(end, 2, "\r\n") == 0) end += 2;
  else if (end < bytes.size()) ++end;
  return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
}

std::string SourceLines::step(const Stmt& outer, const Stmt& inner) const {
  const std::string a = indentation(outer), b = indentation(inner);
  return b.size() > a.size() ? b.substr(a.size()) : "    ";
}

std::string reindent(std::string_view block, std::string_view from, std::string_view to) {
  std::string out;
  while (!block.empty()) {
    const auto end = block.find('\n');
    std::string_view line = block.substr(0, end == std::string_view::npos ? block.size() : end + 1);
    block.remove_prefix(line.size());
    if (line.starts_with(from) && line.find_first_not_of(" \t\r\n") != std::string_view::npos) {
      out += to;
      line.remove_prefix(from.size());
    }
    out += line;
  }
  return out;
}

} // namespace stepzero::rules
