// See import_names.hpp.
#include "interpreter/statements/import_names.hpp"

#include <algorithm>
#include <cctype>

namespace stepzero::interpreter {

using namespace syntax;

// The body of `if TYPE_CHECKING:`.
const syntax::Block* names_for_types(const Stmt& stmt) {
  if (stmt.kind != StmtKind::if_) return nullptr;
  const Expr& test = *as<IfStmt>(stmt).test;
  const bool asks = test.kind == ExprKind::name
      ? as<NameExpr>(test).id.text() == "TYPE_CHECKING"
      : test.kind == ExprKind::attribute && as<AttributeExpr>(test).attribute.text() == "TYPE_CHECKING";
  return asks ? &as<IfStmt>(stmt).body : nullptr;
}
// The imports from the own package in it, also those that a library makes only where what they need is
// installed: `try: if not is_torch_available(): raise … except …: pass else: from .utils import Mixin`.
void each_import_for_types(syntax::Block block, const std::function<void(const ImportFromStmt&)>& found) {
  for (const Stmt* stmt : block) switch (stmt->kind) {
    case StmtKind::import_from:
      if (as<ImportFromStmt>(*stmt).level > 0) found(as<ImportFromStmt>(*stmt));
      break;
    case StmtKind::if_: each_import_for_types(as<IfStmt>(*stmt).body, found); break;
    case StmtKind::try_:
      each_import_for_types(as<TryStmt>(*stmt).body, found);
      each_import_for_types(as<TryStmt>(*stmt).orelse, found);
      break;
    default: break;
    }
}

namespace {

// `models/gpt_neox/` and GPTNeoXModel.
bool is_named_after(std::string_view path, std::string_view name) {
  for (const std::string_view end : {".py", "/__init__"})
    if (path.ends_with(end)) path.remove_suffix(end.size());
  path.remove_prefix(path.rfind('/') + 1);
  std::size_t at = 0;
  for (const char letter : path) {
    if (letter == '_') continue;
    while (at < name.size() && name[at] == '_') ++at;
    if (at == name.size() || std::tolower(static_cast<unsigned char>(name[at])) != letter) return false;
    ++at;
  }
  return at > 0;
}

constexpr std::size_t most_stars = 64;  // modules that are imported by `*`: each is run

}  // namespace

// The modules whose names a module takes all of, in the order in which they are looked into: those that the
// name is called after first, the longest of them before the others. Where hundreds are taken so, no others.
std::vector<program::Target> by_name(const std::vector<program::Target>& stars, Name name) {
  std::vector<program::Target> order(stars.rbegin(), stars.rend());
  constexpr std::size_t few_stars = 8;  // looking into all of them costs nothing
  if (order.size() < few_stars) return order;
  const auto others = std::stable_partition(
      order.begin(), order.end(), [&](const auto& star) { return is_named_after(star.path, name.text()); });
  std::stable_sort(
      order.begin(), others, [](const auto& a, const auto& b) { return a.path.size() > b.path.size(); });
  if (order.size() > most_stars) order.erase(others, order.end());
  return order;
}

}  // namespace stepzero::interpreter
