#include "rules/source.hpp"

#include "rules/name_hints.hpp"
#include "syntax/text.hpp"

namespace stepzero::rules {

using namespace syntax;

namespace {

bool descend(syntax::Block block, Span span, std::vector<Enclosing>& path) {
  for (std::size_t i = 0; i < block.size(); ++i) {
    if (!block[i]->span.holds(span)) continue;
    path.push_back({block[i], block, i});
    bool deeper = false;
    for_each_block(*block[i], [&](syntax::Block inner) { deeper = deeper || descend(inner, span, path); });
    return true;
  }
  return false;
}

// Calls `each` for the text of each statement until it answers true.
template <class Each> bool any_text(const interpreter::Record& record, const Each& each) {
  for (std::uint32_t i = 0; i < record.chunks.size(); ++i) {
    const auto& chunk = record.chunks[i];
    if (!is_of_program(chunk)) continue;
    if (each(record.text({i, chunk.chunk->stmt->span}))) return true;
  }
  return false;
}

}  // namespace

bool is_of_program(const interpreter::ChunkOf& chunk) {
  return chunk.statement() && chunk.path.find("site-packages") == std::string::npos;
}

bool program_says(const interpreter::Record& record, Says what) {
  return any_text(record, [&](std::string_view all) { return text_says(all, what); });
}

bool program_names(const interpreter::Record& record, std::string_view word) {
  return any_text(record, [&](std::string_view all) {
    const auto is_letter = [&](std::size_t at) { return at < all.size() && syntax::is_word(all[at]); };
    for (std::size_t at = all.find(word); at != std::string_view::npos; at = all.find(word, at + 1))
      if ((at == 0 || !is_letter(at - 1)) && !is_letter(at + word.size())) return true;
    return false;
  });
}

const Stmt* definition_around(const interpreter::Record& record, values::Place place) {
  const Stmt *found = nullptr, *root = record.chunk(place).statement();
  if (!root) return nullptr;
  for (const Enclosing& each : enclosing(*root, place.span))
    if (each.stmt->kind == StmtKind::function || each.stmt->kind == StmtKind::class_) found = each.stmt;
  return found;
}

values::Place as_it_stands(const interpreter::Record& record, values::Place place) {
  const interpreter::ChunkOf& held = record.chunk(place);
  if (!place || held.statement()) return place;
  const Span now = held.absolute(place.span);
  for (std::uint32_t i = 1; i < record.chunks.size(); ++i) {
    const interpreter::ChunkOf& each = record.chunks[i];
    if (each.path == held.path && each.statement() && each.offset <= now.begin &&
        now.end <= each.offset + each.chunk->size)
      return {i, {now.begin - each.offset, now.end - each.offset}};
  }
  return {};
}

const FunctionStmt* function_around(const interpreter::Record& record, values::Place place) {
  // What an edit elsewhere left standing has its function in the text before it, which is the same.
  const auto& chunk = record.chunk(place).chunk;
  const Stmt* root = chunk ? chunk->stmt : nullptr;
  const FunctionStmt* found = nullptr;
  if (!root) return nullptr;
  for (const Enclosing& each : enclosing(*root, place.span))
    if (each.stmt->kind == StmtKind::function) found = &as<FunctionStmt>(*each.stmt);
  return found;
}

std::vector<Enclosing> enclosing(const Stmt& root, Span span) {
  std::vector<Enclosing> path;
  path.push_back({&root, {}, 0});
  if (!root.span.holds(span)) return {};
  bool found = false;
  for_each_block(root, [&](syntax::Block inner) { found = found || descend(inner, span, path); });
  return path;
}

bool leaves(const Stmt& stmt) {
  if (stmt.kind == StmtKind::return_ || stmt.kind == StmtKind::break_ || stmt.kind == StmtKind::continue_)
    return true;
  if (stmt.kind == StmtKind::function || stmt.kind == StmtKind::class_) return false;
  bool found = false;
  for_each_block(stmt, [&](syntax::Block block) {
    for (const Stmt* inner : block) found = found || leaves(*inner);
  });
  return found;
}

bool reads_name(const Stmt& stmt, Name name) {
  bool found = false;
  for_each_expression(stmt, [&](const Expr& expr) {
    found = found || (expr.kind == ExprKind::name && as<NameExpr>(expr).id == name);
  });
  return found;
}

SourceLines::SourceLines(const interpreter::Record& record, std::uint32_t chunk)
    : chunk_(record.chunks[chunk]), text_(chunk_.module->text), path_(chunk_.path) {
  const std::string& bytes = text_->bytes();
  const auto end = bytes.find_first_of("\r\n");
  ending_ = end == std::string::npos || bytes[end] == '\n' ? "\n"
      : bytes.compare(end, 2, "\r\n") == 0                 ? "\r\n"
                                                           : "\r";
}

std::string_view SourceLines::text(Span span) const { return text_->slice(absolute(span)); }

std::string SourceLines::indentation(const Stmt& stmt) const {
  const std::string& bytes = text_->bytes();
  std::size_t begin = absolute(stmt.span).begin;
  std::size_t start = begin;
  while (start > 0 && bytes[start - 1] != '\n' && bytes[start - 1] != '\r') --start;
  std::size_t end = start;
  while (end < begin && (bytes[end] == ' ' || bytes[end] == '\t')) ++end;
  return bytes.substr(start, end - start);
}

bool SourceLines::own_line(const Stmt& stmt) const {
  const std::string& bytes = text_->bytes();
  std::size_t begin = absolute(stmt.span).begin;
  while (begin > 0 && (bytes[begin - 1] == ' ' || bytes[begin - 1] == '\t')) --begin;
  if (begin > 0 && bytes[begin - 1] != '\n' && bytes[begin - 1] != '\r') return false;
  std::size_t end = absolute(stmt.span).end;
  while (end < bytes.size() && (bytes[end] == ' ' || bytes[end] == '\t')) ++end;
  return end >= bytes.size() || bytes[end] == '\n' || bytes[end] == '\r' || bytes[end] == '#';
}

Span SourceLines::lines(const Stmt& from, const Stmt& to) const {
  const std::string& bytes = text_->bytes();
  std::size_t begin = absolute(from.span).begin;
  while (begin > 0 && bytes[begin - 1] != '\n' && bytes[begin - 1] != '\r') --begin;
  std::size_t end = absolute(to.span).end;
  while (end < bytes.size() && bytes[end] != '\n' && bytes[end] != '\r') ++end;
  if (bytes.compare(end, 2, "\r\n") == 0)
    end += 2;
  else if (end < bytes.size())
    ++end;
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

}  // namespace stepzero::rules
