// See body_edit.hpp.
#include "interpreter/incremental/body_edit.hpp"

#include "interpreter/classes/abstract.hpp"
#include "interpreter/classes/self_writes.hpp"
#include "syntax/dump.hpp"
#include "syntax/moves.hpp"
#include "syntax/walk.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

namespace stepzero::interpreter {

using namespace syntax;

namespace {

// What was put in or taken out between whole lines is told as whole lines.
Difference in_lines(std::string_view before, std::string_view now) {
  Difference found = difference(before, now);
  Difference at = found;
  const bool added = at.begin == at.end_before, taken = at.begin == at.end_now;
  if (!added && !taken) return found;
  while (at.begin > 0 && before[at.begin - 1] != '\n') {
    const char last = added ? now[at.end_now - 1] : before[at.end_before - 1];
    if (before[at.begin - 1] != last) return found;
    --at.begin, --at.end_before, --at.end_now;
  }
  return at;
}

// Are the lines in which the bytes lie comments, or blank?
bool are_comments(std::string_view text, std::uint32_t begin, std::uint32_t end) {
  std::size_t at = begin == 0 ? 0 : text.rfind('\n', begin - 1);
  at = at == std::string_view::npos ? 0 : begin == 0 ? 0 : at + 1;
  // Whole lines end where the next one begins.
  if (at == begin && at == end) return true;
  const std::size_t last = end > begin && text[end - 1] == '\n' ? end
                                                                : std::min(text.find('\n', end), text.size());
  while (at < last) {
    const std::size_t line_end = std::min(text.find('\n', at), text.size());
    const std::size_t first = text.find_first_not_of(" \t\r\f", at);
    if (first < line_end && text[first] != '#') return false;
    at = line_end + 1;
  }
  return true;
}

// Does the same part of the text stand before and after the edit?
bool stands(Span was, Span is, const Difference& edit) {
  Moves moves;
  moves.add(edit);
  return moves.now(was) == is;
}

// The member of the class in which the edit lies, after its header if it is a function.
std::optional<std::size_t> member_around(
    const ClassStmt& cls, std::uint32_t size, std::uint32_t begin, std::uint32_t end) {
  for (std::size_t i = 0; i < cls.body.size(); ++i) {
    const std::uint32_t next = i + 1 < cls.body.size() ? cls.body[i + 1]->span.begin : size;
    if (cls.body[i]->span.begin <= begin && end <= next) return i;
  }
  return std::nullopt;
}

// What a body sets on other objects, by the spelling of the attributes, and the names that it declares
// global.
struct Outside {
  std::vector<std::string> set;
  std::vector<Name> declared;
  friend bool operator==(const Outside&, const Outside&) = default;
};
void spell(const Expr& expr, std::string& out) {
  if (expr.kind == ExprKind::name)
    out += as<NameExpr>(expr).id.text();
  else if (expr.kind == ExprKind::attribute) {
    spell(*as<AttributeExpr>(expr).object, out);
    out += '.';
    out += as<AttributeExpr>(expr).attribute.text();
  } else
    out += '?';
}
void collect_target(const Expr* target, Outside& found) {
  if (!target) return;
  if (target->kind == ExprKind::tuple)
    for (const Expr* each : as<TupleExpr>(*target).elements) collect_target(each, found);
  if (target->kind == ExprKind::list)
    for (const Expr* each : as<ListExpr>(*target).elements) collect_target(each, found);
  if (target->kind == ExprKind::starred) collect_target(as<StarredExpr>(*target).value, found);
  if (target->kind == ExprKind::subscript) {
    collect_target(as<SubscriptExpr>(*target).object, found);
    return;
  }
  if (target->kind == ExprKind::attribute) spell(*target, found.set.emplace_back());
}
Outside outside_of(const FunctionStmt& function) {
  Outside found;
  for_each_statement(function, [&](const Stmt& stmt) {
    switch (stmt.kind) {
    case StmtKind::assign:
      for (const Expr* each : as<AssignStmt>(stmt).targets) collect_target(each, found);
      break;
    case StmtKind::aug_assign: collect_target(as<AugAssignStmt>(stmt).target, found); break;
    case StmtKind::ann_assign: collect_target(as<AnnAssignStmt>(stmt).target, found); break;
    case StmtKind::for_: collect_target(as<ForStmt>(stmt).target, found); break;
    case StmtKind::with:
      for (const WithItem& item : as<WithStmt>(stmt).items) collect_target(item.target, found);
      break;
    case StmtKind::delete_:
      for (const Expr* each : as<DeleteStmt>(stmt).targets) collect_target(each, found);
      break;
    case StmtKind::global:
      for (const Name name : as<GlobalStmt>(stmt).names) found.declared.push_back(name);
      break;
    case StmtKind::nonlocal:
      for (const Name name : as<NonlocalStmt>(stmt).names) found.declared.push_back(name);
      break;
    default: break;
    }
  });
  return found;
}

bool same_changes(const FunctionStmt& was, const FunctionStmt& is) {
  if (was.parameters->list.empty()) return true;
  const auto changes_of = [](const FunctionStmt& function) {
    Changes changes;
    collect_self_writes(function.body, function.parameters->list.front().name, changes);
    return changes;
  };
  const Changes a = changes_of(was), b = changes_of(is);
  const auto parts = [](const Changes& all) {
    return std::tie(all.set, all.changed, all.changed_within, all.changed_in, all.calls, all.calls_in,
        all.any, all.registers);
  };
  return parts(a) == parts(b);
}

bool same_from_outside(const FunctionStmt& was, const FunctionStmt& is) {
  return was.name == is.name && was.is_async == is.is_async &&
      was.scope.is_generator == is.scope.is_generator && was.scope.returns_value == is.scope.returns_value &&
      is_abstract(was) == is_abstract(is) && returns_something(was.body) == returns_something(is.body) &&
      outside_of(was) == outside_of(is) && same_changes(was, is);
}

// Is the edit one of the body, which nobody sees who does not call the function?
bool only_body(const FunctionStmt& was, const FunctionStmt& is, const Difference& edit) {
  return was.header == is.header && edit.begin >= is.header.end && same_from_outside(was, is);
}

bool same_but_for_places(const Stmt& was, const Stmt& is) {
  return was.kind == is.kind && dump_without_places(was) == dump_without_places(is);
}

// Do all members of the class but that one stand as they were?
bool others_stand(
    const ClassStmt& was, const ClassStmt& is, const Difference& edit, std::size_t member, bool look_into) {
  for (std::size_t i = 0; i < was.body.size(); ++i) {
    if (i == member) continue;
    if (was.body[i]->kind != is.body[i]->kind || !stands(was.body[i]->span, is.body[i]->span, edit))
      return false;
    if (look_into && !same_but_for_places(*was.body[i], *is.body[i])) return false;
  }
  return true;
}

}  // namespace

std::optional<BodyEdit> find_body_edit(
    const Chunk& was, std::string_view text_before, const Chunk& is, std::string_view text_now) {
  if (!was.stmt || !is.stmt || was.stmt->kind != is.stmt->kind || text_before == text_now)
    return std::nullopt;
  const Difference edit = in_lines(text_before, text_now);
  const bool comments = are_comments(text_before, edit.begin, edit.end_before) &&
      are_comments(text_now, edit.begin, edit.end_now);
  if (is.stmt->kind != StmtKind::class_) {
    if (comments && same_but_for_places(*was.stmt, *is.stmt)) return BodyEdit{edit};
    if (is.stmt->kind != StmtKind::function ||
        !only_body(as<FunctionStmt>(*was.stmt), as<FunctionStmt>(*is.stmt), edit))
      return std::nullopt;
    return BodyEdit{edit, BodyEdit::Of::function};
  }
  const auto& old_class = as<ClassStmt>(*was.stmt);
  const auto& new_class = as<ClassStmt>(*is.stmt);
  if (old_class.name != new_class.name || old_class.body.size() != new_class.body.size() ||
      old_class.header != new_class.header || edit.begin < new_class.header.end)
    return std::nullopt;
  const auto member = member_around(old_class, was.size, edit.begin, edit.end_before);
  if (!member || member != member_around(new_class, is.size, edit.begin, edit.end_now) ||
      !others_stand(old_class, new_class, edit, *member, was.has_error || is.has_error))
    return std::nullopt;
  const Stmt &before = *old_class.body[*member], &now = *new_class.body[*member];
  if (comments && same_but_for_places(before, now)) return BodyEdit{edit};
  if (before.kind != StmtKind::function || now.kind != StmtKind::function) return std::nullopt;
  // The class's own end stands where its last statement ends.
  const bool at_end = edit.end_before >= old_class.span.end || edit.end_now >= new_class.span.end;
  if (at_end || !only_body(as<FunctionStmt>(before), as<FunctionStmt>(now), edit)) return std::nullopt;
  return BodyEdit{edit, BodyEdit::Of::method, *member};
}

}  // namespace stepzero::interpreter
