#include "rules/launch/program_commands.hpp"

#include "documents/inline_script.hpp"
#include "rules/launch/cell_commands.hpp"
#include "rules/launch/declarations.hpp"
#include "syntax/walk.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace stepzero::rules::launch {

using namespace syntax;
using documents::Chars;
using documents::Script;
using documents::ShellCommand;
using documents::Word;

namespace {

constexpr std::string_view of_lists[] = {"run", "Popen", "call", "check_call", "check_output"};
constexpr std::string_view of_texts[] = {"system", "popen", "getoutput", "getstatusoutput"};
constexpr int deepest_command = 8;  // lists in lists that make up one command

bool is_among(std::string_view text, const auto& list) {
  return std::find(std::begin(list), std::end(list), text) != std::end(list);
}

// What a name stands for in one function, or in the module.
struct Binding {
  const Expr* value = nullptr;  // null: more than one, or none that is known
  bool grows = false;           // words are added after it
  std::uint32_t offset = 0;     // of the statement that the value stands in
};
using Scope = std::map<std::string_view, Binding>;

class CommandReading {
public:
  explicit CommandReading(Script& into) : into_(into) {}

  void module(const Module& module) {
    Scope globals;
    for (const Item& item : module.items)
      if (item.chunk->stmt) {
        for_each_statement(*item.chunk->stmt, [this](const Stmt& stmt) { imports(stmt); });
        offset_ = item.offset;
        bind(*item.chunk->stmt, globals);
      }
    for (const Item& item : module.items) {
      if (!item.chunk->stmt) continue;
      offset_ = item.offset;
      within(*item.chunk->stmt, {&globals}, false);
    }
  }

private:
  // The statements of one function, without those of functions in it.
  void bind(const Stmt& stmt, Scope& into) const {
    const auto note = [&](const Expr& target, const Expr* value) {
      if (target.kind != ExprKind::name) return;
      const auto [found, is_new] = into.try_emplace(static_cast<const NameExpr&>(target).id.text());
      found->second.value = is_new ? value : nullptr;
      found->second.offset = offset_;
    };
    switch (stmt.kind) {
    case StmtKind::assign:
      for (const Expr* target : static_cast<const AssignStmt&>(stmt).targets)
        note(*target, static_cast<const AssignStmt&>(stmt).value);
      break;
    case StmtKind::ann_assign:
      note(*static_cast<const AnnAssignStmt&>(stmt).target, static_cast<const AnnAssignStmt&>(stmt).value);
      break;
    case StmtKind::aug_assign:
      if (const Expr& target = *static_cast<const AugAssignStmt&>(stmt).target; target.kind == ExprKind::name)
        into[static_cast<const NameExpr&>(target).id.text()].grows = true;
      break;
    case StmtKind::for_: note(*static_cast<const ForStmt&>(stmt).target, nullptr); break;
    case StmtKind::expression: {
      // cmd.append(word), cmd.extend(words); of all other methods nothing is known.
      const Expr* value = static_cast<const ExpressionStmt&>(stmt).value;
      if (value->kind != ExprKind::call ||
          static_cast<const CallExpr&>(*value).function->kind != ExprKind::attribute)
        break;
      const auto& method = static_cast<const AttributeExpr&>(*static_cast<const CallExpr&>(*value).function);
      if (method.object->kind != ExprKind::name) break;
      Binding& bound = into[static_cast<const NameExpr&>(*method.object).id.text()];
      bound.grows = true;
      if (method.attribute.text() != "append" && method.attribute.text() != "extend") bound.value = nullptr;
      break;
    }
    case StmtKind::function:
    case StmtKind::class_: return;
    default: break;
    }
    for_each_block(stmt, [&](Block block) {
      for (const Stmt* each : block) bind(*each, into);
    });
  }

  void within(const Stmt& stmt, std::vector<const Scope*> scopes, bool conditional) {
    if (stmt.kind == StmtKind::function) {
      Scope own;
      for (const Stmt* each : static_cast<const FunctionStmt&>(stmt).body) bind(*each, own);
      scopes.push_back(&own);
      for (const Stmt* each : static_cast<const FunctionStmt&>(stmt).body) within(*each, scopes, true);
      return;
    }
    if (stmt.kind == StmtKind::class_) {
      for (const Stmt* each : static_cast<const ClassStmt&>(stmt).body) within(*each, scopes, true);
      return;
    }
    scopes_ = scopes;
    conditional_ = conditional;
    bool has_blocks = false;
    for_each_block(stmt, [&](Block) { has_blocks = true; });
    if (!has_blocks)
      for_each_expression(stmt, [&](const Expr& expr) {
        if (expr.kind == ExprKind::call) call(static_cast<const CallExpr&>(expr));
      });
    for_each_block(stmt, [&](Block block) {
      for (const Stmt* each : block) within(*each, scopes, true);
    });
  }

  void call(const CallExpr& call) {
    if (call.arguments.empty()) return;
    const auto [owner, function] = named(*call.function);
    const bool takes_list = owner == "subprocess" && is_among(function, of_lists);
    const bool takes_text = (owner == "os" || owner == "subprocess") && is_among(function, of_texts);
    if (!takes_list && !takes_text) return;
    ShellCommand made;
    made.span = absolute(call.span);
    made.is_conditional = conditional_;
    // Where it starts elsewhere, other files may be meant.
    const Expr* folder = keyword(call, "cwd");
    const bool elsewhere = folder && folder->kind != ExprKind::none;
    const Expr& command = *call.arguments[0];
    std::vector<std::vector<Chars>> all;
    if (takes_text || is_true(keyword(call, "shell"))) {
      Chars script;
      if (!text(command, script, 0)) return;
      all = documents::inline_commands(script);
    } else {
      all.emplace_back();
      if (!words(command, all.back(), 0)) return;
    }
    for (const std::vector<Chars>& each : all) {
      if (each.empty()) continue;
      ShellCommand one = made;
      environment(keyword(call, "env"), one);
      for (const Chars& chars : each) {
        Word& word = one.words.emplace_back();
        word.text = chars.text;
        word.span = word.written = made.span;
        word.by_default = elsewhere;
        if (!chars.at.empty() && chars.at.back() - chars.at.front() < 2 * chars.at.size() + 2)
          word.written = {chars.at.front(), chars.at.back() + 1};
      }
      into_.commands.push_back(std::move(one));
    }
  }

  // "subprocess", "run": of `subprocess.run`, of `sp.run`, and of a name that is imported.
  std::pair<std::string_view, std::string_view> named(const Expr& function) const {
    if (function.kind == ExprKind::name) {
      const auto found = imported_.find(static_cast<const NameExpr&>(function).id.text());
      return found == imported_.end() ? std::pair<std::string_view, std::string_view>() : found->second;
    }
    if (function.kind != ExprKind::attribute) return {};
    const auto& attribute = static_cast<const AttributeExpr&>(function);
    if (attribute.object->kind != ExprKind::name) return {};
    const std::string_view owner = static_cast<const NameExpr&>(*attribute.object).id.text();
    const auto found = imported_.find(owner);
    const bool is_module = found != imported_.end() && found->second.second.empty();
    return {is_module ? found->second.first : owner, attribute.attribute.text()};
  }
  void imports(const Stmt& stmt) {
    const auto local = [](const Alias& alias) {
      return alias.alias.text().empty() ? alias.path.front().text() : alias.alias.text();
    };
    if (stmt.kind == StmtKind::import) {
      for (const Alias& alias : static_cast<const ImportStmt&>(stmt).names)
        if (alias.path.size() == 1) imported_[local(alias)] = {alias.path.front().text(), {}};
    } else if (stmt.kind == StmtKind::import_from) {
      const auto& from = static_cast<const ImportFromStmt&>(stmt);
      if (from.level > 0 || from.module.size() != 1) return;
      for (const Alias& alias : from.names)
        if (alias.path.size() == 1)
          imported_[local(alias)] = {from.module.front().text(), alias.path.front().text()};
    }
  }

  // env={**os.environ, "NAME": "value"}, env=dict(os.environ, NAME="value")
  void environment(const Expr* given, ShellCommand& into) {
    if (given && given->kind == ExprKind::name) given = bound(*given).value;
    const auto set = [&](std::string_view name, Span where, const Expr& value) {
      Chars chars;
      if (!text(value, chars, 0)) return;
      documents::Setting& made = into.environment.emplace_back();
      made.name = name;
      // Judged where the program sets it, as `os.environ` is.
      made.name_span = {absolute(where).begin, absolute(where).begin};
      made.value.text = chars.text;
      made.value.span = made.value.written = absolute(value.span);
    };
    if (given && given->kind == ExprKind::dict) {
      for (const DictItem& item : static_cast<const DictExpr&>(*given).items)
        if (item.key && item.key->kind == ExprKind::string)
          set(static_cast<const StringExpr&>(*item.key).value, item.key->span, *item.value);
    } else if (given && given->kind == ExprKind::call) {
      const auto& made = static_cast<const CallExpr&>(*given);
      if (made.function->kind != ExprKind::name ||
          static_cast<const NameExpr&>(*made.function).id.text() != "dict")
        return;
      for (const Keyword& each : made.keywords)
        if (!each.name.text().empty()) set(each.name.text(), each.span, *each.value);
    }
  }

  // ------------------------------------------------------------- words
  Binding bound(const Expr& name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
      if (const auto found = (*scope)->find(static_cast<const NameExpr&>(name).id.text());
          found != (*scope)->end())
        return found->second;
    return {};
  }

  // The words of a list; false: nothing is known of it.
  bool words(const Expr& expr, std::vector<Chars>& into, int depth) {
    if (depth > deepest_command) return false;
    const auto open = [&] { into.emplace_back().add(Chars::words, absolute(expr.span).begin); };
    switch (expr.kind) {
    case ExprKind::list:
    case ExprKind::tuple: {
      const List<const Expr*> elements = expr.kind == ExprKind::list
          ? static_cast<const ListExpr&>(expr).elements
          : static_cast<const TupleExpr&>(expr).elements;
      for (const Expr* each : elements) {
        if (each->kind == ExprKind::starred) {
          if (!words(*static_cast<const StarredExpr&>(*each).value, into, depth + 1)) open();
        } else if (Chars word; text(*each, word, depth + 1)) {
          into.push_back(std::move(word));
        } else {
          into.emplace_back().add(Chars::hole, absolute(each->span).begin);
        }
      }
      return !elements.empty() || depth > 0;
    }
    case ExprKind::binary: {
      const auto& sum = static_cast<const BinaryExpr&>(expr);
      if (sum.op != BinaryOp::add || !words(*sum.left, into, depth + 1)) return false;
      if (!words(*sum.right, into, depth + 1)) open();
      return true;
    }
    case ExprKind::name: {
      const Binding binding = bound(expr);
      if (!binding.value) return false;
      const std::uint32_t here = std::exchange(offset_, binding.offset);
      const bool known = words(*binding.value, into, depth + 1);
      offset_ = here;
      if (known && binding.grows) open();
      return known;
    }
    case ExprKind::call: {
      // shlex.split("…"), "…".split()
      const auto& made = static_cast<const CallExpr&>(expr);
      if (made.function->kind != ExprKind::attribute || last_name(*made.function) != "split") return false;
      const Expr* source = made.arguments.empty() ? static_cast<const AttributeExpr&>(*made.function).object
                                                  : made.arguments[0];
      Chars script;
      if (!text(*source, script, depth + 1)) return false;
      const auto commands = documents::inline_commands(script);
      if (commands.size() != 1) return false;
      into.insert(into.end(), commands[0].begin(), commands[0].end());
      return true;
    }
    default: return false;
    }
  }

  // One text; false: it is none that is known. What is put into it is a hole.
  bool text(const Expr& expr, Chars& into, int depth) {
    if (depth > deepest_command) return false;
    const std::uint32_t begin = absolute(expr.span).begin;
    switch (expr.kind) {
    case ExprKind::string: {
      const std::string_view value = static_cast<const StringExpr&>(expr).value;
      const std::uint32_t length = expr.span.end - expr.span.begin,
                          size = static_cast<std::uint32_t>(value.size());
      // The quotes around it: what has escapes, or several parts, has no place for each letter.
      const bool is_plain = length == size || length == size + 2 || length == size + 6;
      const std::uint32_t quotes = is_plain ? (length - size) / 2 : 0;
      for (std::uint32_t i = 0; i < size; ++i) into.add(value[i], is_plain ? begin + quotes + i : begin);
      return true;
    }
    case ExprKind::format:
      for (const Expr* part : static_cast<const FormatExpr&>(expr).parts) {
        if (part->kind == ExprKind::string)
          text(*part, into, depth + 1);
        else
          into.add(Chars::hole, absolute(part->span).begin);
      }
      return true;
    case ExprKind::attribute:
      if (static_cast<const AttributeExpr&>(expr).attribute.text() != "executable") return false;
      for (const char c : std::string_view("python")) into.add(c, begin);
      return true;
    case ExprKind::name: {
      const Binding binding = bound(expr);
      if (!binding.value || binding.grows) return false;
      const std::uint32_t here = std::exchange(offset_, binding.offset);
      const bool known = text(*binding.value, into, depth + 1);
      offset_ = here;
      return known;
    }
    case ExprKind::binary: {
      const auto& sum = static_cast<const BinaryExpr&>(expr);
      if (sum.op != BinaryOp::add || !text(*sum.left, into, depth + 1)) return false;
      if (!text(*sum.right, into, depth + 1)) into.add(Chars::words, absolute(sum.right->span).begin);
      return true;
    }
    default: return false;
    }
  }

  Span absolute(Span span) const { return {span.begin + offset_, span.end + offset_}; }

  Script& into_;
  std::map<std::string_view, std::pair<std::string_view, std::string_view>> imported_;  // by the local name
  std::uint32_t offset_ = 0;
  std::vector<const Scope*> scopes_;
  bool conditional_ = false;
};

}  // namespace

bool may_start_commands(std::string_view text) {
  if (has_commands(text)) return true;
  if (text.find("subprocess.") == std::string_view::npos &&
      text.find("import subprocess") == std::string_view::npos &&
      text.find("from subprocess import") == std::string_view::npos &&
      text.find("os.system(") == std::string_view::npos && text.find("os.popen(") == std::string_view::npos)
    return false;
  constexpr std::string_view launchers[] = {"torchrun", "torch.distributed", "accelerate", "deepspeed",
      "sys.executable", "\"python", "'python", "python "};
  return std::any_of(std::begin(launchers), std::end(launchers),
      [&](std::string_view each) { return text.find(each) != std::string_view::npos; });
}

Script commands_of_program(const Module& module) {
  Script made;
  CommandReading(made).module(module);
  if (has_commands(module.text->bytes())) read_commands(module, made);
  return made;
}

}  // namespace stepzero::rules::launch
