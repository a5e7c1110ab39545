// Text with errors: it is read line by line, so that what is broken costs no more than its own line. Nothing
// that is read in a broken line keeps its value: names that the line may bind are bound to an ErrorExpr.
#include "syntax/lower_common.hpp"

#include <string>

namespace stepzero::syntax {
namespace {

// Where the right side of the last `=` of an assignment begins; 0 if the line has none outside brackets.
std::size_t assignment_sign(std::string_view line) {
  std::size_t found = 0;
  int depth = 0;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (c == '"' || c == '\'' || c == '#') break;
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c != '=' || depth != 0 || at == 0) continue;
    const bool compares = (at + 1 < line.size() && line[at + 1] == '=') ||
        std::strchr("=!<>:", line[at - 1]) != nullptr;
    if (!compares || (at > 1 && (line.substr(at - 2, 2) == "<<" || line.substr(at - 2, 2) == ">>")))
      found = at;
  }
  return found;
}

// Names that a broken line may bind, with their places: after `def`, `class`, `as`, `import` or `for`, and
// before `:=`.
std::vector<Span> bound_words(std::string_view line) {
  std::vector<Span> out;
  bool next = false, all = false;
  for (std::size_t at = 0; at < line.size();) {
    if (line[at] == '"' || line[at] == '\'' || line[at] == '#') break;
    if (!is_name_byte(line[at])) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    while (at < line.size() && is_name_byte(line[at])) ++at;
    const std::string_view word = line.substr(begin, at - begin);
    if (word == "def" || word == "class" || word == "as") {
      next = true;
    } else if (word == "import" || word == "for" || word == "global" || word == "nonlocal") {
      all = true;
    } else if (word == "in") {
      all = false;
    } else if (word[0] < '0' || word[0] > '9') {
      std::size_t after = at;
      while (after < line.size() && line[after] == ' ') ++after;
      if (next || all || line.substr(after, 2) == ":=")
        out.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(at)});
      next = false;
    }
  }
  return out;
}

}  // namespace

const Expr* Lowering::unknown(const Expr* expr) {
  const Expr** one = make(expr);
  return make(ErrorExpr{{ExprKind::error, expr->span}, {one, 1}});
}

// A statement that was read in a broken line, without the values that it seems to compute.
const Stmt* Lowering::weakened(const Stmt* stmt) {
  switch (stmt->kind) {
  case StmtKind::expression: {
    ExpressionStmt out = as<ExpressionStmt>(*stmt);
    out.value = unknown(out.value);
    return make(out);
  }
  case StmtKind::assign: {
    AssignStmt out = as<AssignStmt>(*stmt);
    out.value = unknown(out.value);
    return make(out);
  }
  case StmtKind::ann_assign: {
    AnnAssignStmt out = as<AnnAssignStmt>(*stmt);
    if (out.value) out.value = unknown(out.value);
    return make(out);
  }
  case StmtKind::aug_assign: {
    const auto& from = as<AugAssignStmt>(*stmt);
    const Expr** target = make(from.target);
    return make(AssignStmt{{StmtKind::assign, from.span}, {target, 1}, unknown(from.value)});
  }
  case StmtKind::return_: {
    ReturnStmt out = as<ReturnStmt>(*stmt);
    if (out.value) out.value = unknown(out.value);
    return make(out);
  }
  default: return stmt;
  }
}

// What can be read below the node at the cursor. Stays shallow: a part is whole and free of errors.
void Lowering::gather_expressions(Gather<const Expr*>& out) {
  const Deeper deeper(*this);
  if (deeper.too_deep()) return;
  children([&](TSNode child, Node kind) {
    if (is_expression(kind) && kind != Node::as_pattern && kind != Node::dictionary_splat &&
        kind != Node::dictionary_splat_pattern && !ts_node_has_error(child)) {
      out.push(expression());
    } else {
      gather_expressions(out);
    }
  });
}

void Lowering::gather_statements(Gather<const Stmt*>& out) {
  children([&](TSNode child, Node kind) {
    if (is_statement(kind) && !ts_node_has_error(child)) {
      const std::size_t before = out.size();
      statement(out);
      if (out.size() > before) out.replace_last(weakened(out[before]));
      return;
    }
    Gather<const Expr*> parts(*this);
    if (is_expression(kind) && !ts_node_has_error(child)) {
      parts.push(expression());
    } else {
      gather_expressions(parts);
    }
    for (std::size_t index = 0; index < parts.size(); ++index)
      out.push(make(ExpressionStmt{{StmtKind::expression, parts[index]->span}, unknown(parts[index])}));
  });
}

// `target = <something broken>` still binds its targets.
bool Lowering::broken_assignment(const Line& line, Gather<const Stmt*>& out) {
  const std::string_view code = text_.substr(line.begin, line.end - line.begin);
  const std::size_t sign = assignment_sign(code);
  if (sign == 0 || too_long(code.substr(0, sign))) return false;
  const Tree left = trees_.tree(std::string(code.substr(0, sign)) + "=None");
  if (!left) return false;
  Gather<const Expr*> parts(*this);
  if (const Tree whole = too_long(code) ? nullptr : trees_.tree(code, Errors::kept)) {
    const Nested nested(*this, ts_tree_root_node(whole.get()), {nullptr, line.begin});
    gather_expressions(parts);
  }
  const List<const Expr*> read = parts.list();
  Gather<const Expr*> right(*this);
  const Span value{line.begin - begin_ + static_cast<std::uint32_t>(sign) + 1, line.end - begin_};
  for (const Expr* part : read)
    if (part->span.begin >= value.begin) right.push(part);
  const Expr* unread = make(ErrorExpr{{ExprKind::error, value}, right.list()});
  const Nested nested(*this, ts_tree_root_node(left.get()), {nullptr, line.begin});
  const std::size_t before = out.size();
  gather_statements(out);
  if (out.size() == before) return false;
  const Stmt* last = out[out.size() - 1];
  if (last->kind == StmtKind::assign) {
    AssignStmt bound = as<AssignStmt>(*last);
    bound.value = unread;
    bound.span.end = value.end;
    out.replace_last(make(bound));
  } else if (last->kind == StmtKind::ann_assign) {
    AnnAssignStmt bound = as<AnnAssignStmt>(*last);
    bound.value = unread;
    bound.span.end = value.end;
    out.replace_last(make(bound));
  }
  return true;
}

// `x = a, *[b]` and `return a, *f()`: the grammar takes a star before anything but a name only in
// parentheses. Null if that was not the trouble.
const Stmt* Lowering::starred_tuple(const Line& line) {
  std::string code(text_.substr(line.begin, line.end - line.begin));
  if (const std::size_t comment = code.find('#'); comment != code.npos) code.resize(comment);
  if (code.find('*') == code.npos || too_long(code)) return nullptr;
  std::size_t at = assignment_sign(code);
  if (at == 0) at = code.starts_with("return ") ? 5 : code.npos - 1;
  if (at + 1 >= code.size() || code[at + 1] != ' ') return nullptr;
  code[at + 1] = '(';
  const Tree tree = trees_.tree(code + ")");
  if (!tree) return nullptr;
  const Nested nested(*this, ts_tree_root_node(tree.get()), {nullptr, line.begin});
  Gather<const Stmt*> out(*this);
  children([&](TSNode, Node kind) {
    if (is_statement(kind)) statement(out);
  });
  if (out.size() != 1) return nullptr;
  const auto bare = [&](const Expr* value) -> const Expr* {
    if (!value || value->kind != ExprKind::tuple || as<TupleExpr>(*value).elements.empty()) return nullptr;
    TupleExpr tuple = as<TupleExpr>(*value);
    tuple.span = {tuple.elements.front()->span.begin, tuple.elements.back()->span.end};
    return make(tuple);
  };
  if (out.front()->kind == StmtKind::assign) {
    AssignStmt stmt = as<AssignStmt>(*out.front());
    stmt.value = bare(stmt.value);
    if (stmt.value) stmt.span.end = stmt.value->span.end;
    return stmt.value ? make(stmt) : nullptr;
  }
  if (out.front()->kind == StmtKind::return_) {
    ReturnStmt stmt = as<ReturnStmt>(*out.front());
    stmt.value = bare(stmt.value);
    if (stmt.value) stmt.span.end = stmt.value->span.end;
    return stmt.value ? make(stmt) : nullptr;
  }
  return nullptr;
}

void Lowering::broken_line(const Line& line, Gather<const Stmt*>& out) {
  const std::string_view code = text_.substr(line.begin, line.end - line.begin);
  for (const Span word : bound_words(code)) {
    const Span at{line.begin - begin_ + word.begin, line.begin - begin_ + word.end};
    const Expr** target = make<const Expr*>(
        make(NameExpr{{ExprKind::name, at}, Name(code.substr(word.begin, word.end - word.begin))}));
    scopes_.back().bind(*target);
    out.push(
        make(AssignStmt{{StmtKind::assign, at}, {target, 1}, make(ErrorExpr{{ExprKind::error, at}, {}})}));
  }
  if (broken_assignment(line, out)) return;
  if (const Tree tree = too_long(code) ? nullptr : trees_.tree(code, Errors::kept)) {
    const Nested nested(*this, ts_tree_root_node(tree.get()), {nullptr, line.begin});
    gather_statements(out);
  }
}

// The statement of the lines [first, last), whose headers cannot be read.
const Stmt* Lowering::broken(const std::vector<Line>& lines, std::size_t first, std::size_t last) {
  if (last - first == 1)
    if (const Stmt* repaired = starred_tuple(lines[first])) return repaired;
  has_error_ = true;
  const Span at{lines[first].begin - begin_, lines[last - 1].end - begin_};
  Gather<const Stmt*> parts(*this);
  const Deeper deeper(*this);
  for (std::size_t index = first; index < last && !deeper.too_deep();) {
    broken_line(lines[index], parts);
    std::size_t end = index + 1;
    while (end < last && lines[end].indent > lines[first].indent) ++end;
    lines_of_body(lines, index + 1, end, parts);
    index = end;
  }
  return make(ErrorStmt{{StmtKind::error, at}, parts.list()});
}

void Lowering::lines_of_body(
    const std::vector<Line>& lines, std::size_t first, std::size_t last, Gather<const Stmt*>& out) {
  for (std::size_t at = first; at < last;) {
    const std::size_t end = statement_end(lines, at, last);
    if (lines[at].indent != lines[first].indent) has_error_ = true;
    by_tree(lines, at, end, out);
    at = end;
  }
}

void Lowering::by_tree(
    const std::vector<Line>& lines, std::size_t first, std::size_t last, Gather<const Stmt*>& out) {
  const std::uint32_t begin = lines[first].begin;
  const Deeper deeper(*this);
  if (deeper.too_deep()) {
    out.push(make(ErrorStmt{{StmtKind::error, {begin - begin_, lines[last - 1].end - begin_}}, {}}));
    return;
  }
  const std::string_view code = text_.substr(begin, lines[last - 1].end - begin);
  const Tree tree = too_long(code) ? nullptr : trees_.tree(code);
  if (tree) {
    const Nested nested(*this, ts_tree_root_node(tree.get()), {nullptr, begin});
    children([&](TSNode, Node kind) {
      if (is_statement(kind)) statement(out);
    });
  } else {
    out.push(by_lines(lines, first, last));
  }
}

const Stmt* Lowering::by_lines(const std::vector<Line>& lines, std::size_t first, std::size_t last) {
  const std::uint32_t begin = lines[first].begin;
  if (last - first > 1 && !too_long(text_.substr(begin, lines[first].end - begin))) {
    // The headers alone, at their places, with a `0` for each body. The cases of a match belong to its
    // headers.
    std::uint32_t level = lines[first].indent;
    if (text_.substr(begin, 5) == "match") level = std::max(level, lines[first + 1].indent);
    std::string headers(lines[last - 1].end - begin, ' ');
    bool after_header = false;
    for (std::size_t index = first; index < last; ++index) {
      const std::size_t from = lines[index].begin - begin;
      if (index > first) headers[text_.rfind('\n', lines[index].begin) - begin] = '\n';
      if (lines[index].indent <= level) {
        text_.copy(headers.data() + from, lines[index].end - lines[index].begin, lines[index].begin);
        after_header = true;
      } else if (after_header) {
        headers[from] = '0';
        after_header = false;
      }
    }
    headers.resize(headers.find_last_not_of(" \n") + 1);
    const Tree tree = trees_.tree(headers);
    const TSNode root = tree ? ts_tree_root_node(tree.get()) : TSNode{};
    if (tree && ts_node_named_child_count(root) == 1) {
      const Nested nested(*this, root, {nullptr, begin, &lines, first, last});
      Gather<const Stmt*> out(*this);
      children([&](TSNode, Node kind) {
        if (is_statement(kind)) statement(out);
      });
      if (out.size() == 1) return out.front();
    }
  }
  return broken(lines, first, last);
}

}  // namespace stepzero::syntax
