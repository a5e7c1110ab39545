#include "rules/launch/parsers.hpp"

#include "program/imports.hpp"
#include "rules/launch/dataclasses.hpp"
#include "rules/source.hpp"

#include <algorithm>

namespace stepzero::rules::launch {

using namespace syntax;

namespace {

constexpr std::size_t most_modules = 400;

// Packages that read the command line in a way of their own, or make parsers that take more.
constexpr std::string_view other_readers[] = {"fire", "click", "typer", "hydra", "absl", "tyro", "simple_parsing", "jsonargparse", "configargparse", "draccus", "pyrallis", "docopt", "plac", "gflags", "tap", "argh", "yacs", "clize", "cyclopts", "chz", "datargs", "omegaconf.cli"};
// Calls behind which options come from elsewhere.
constexpr std::string_view other_makers[] = {"add_subparsers", "parse_known_args", "parse_known_intermixed_args", "add_argparse_args", "from_argparse_args", "register_and_parse", "parse_args_into_dataclasses", "set_parser", "add_cli_args"};

bool is_one_of(std::string_view text, const auto& list) { return std::find(std::begin(list), std::end(list), text) != std::end(list); }

std::string_view last_name(const Expr& function) {
  if (function.kind == ExprKind::attribute) return static_cast<const AttributeExpr&>(function).attribute.text();
  if (function.kind == ExprKind::name) return static_cast<const NameExpr&>(function).id.text();
  return {};
}
std::string_view text_of(const Expr* expr) { return expr && expr->kind == ExprKind::string ? static_cast<const StringExpr&>(*expr).value : std::string_view(); }
const Expr* keyword(const CallExpr& call, std::string_view name) {
  for (const Keyword& each : call.keywords)
    if (each.name.text() == name) return each.value;
  return nullptr;
}
bool spreads(const CallExpr& call) {
  return std::any_of(call.keywords.begin(), call.keywords.end(), [](const Keyword& each) { return each.name.text().empty(); });
}
bool is_true(const Expr* expr) { return expr && expr->kind == ExprKind::boolean && static_cast<const BooleanExpr&>(*expr).value; }
bool is_false(const Expr* expr) { return expr && expr->kind == ExprKind::boolean && !static_cast<const BooleanExpr&>(*expr).value; }

class Collector {
public:
  Collector(const program::Sources& sources, std::set<std::string>& read) : sources_(sources), read_(read) {}

  ScriptOptions collect(const std::string& path) {
    visit(path);
    // What can add an option once, can add any: the other modules are of no interest then, unless the parser is of another kind.
    const auto module = sources_.module(path);
    const std::string_view text = module ? std::string_view(module->text->bytes()) : std::string_view();
    const bool is_of_argparse = text.find("HfArgumentParser") == std::string_view::npos && text.find("click.") == std::string_view::npos;
    while (!waiting_.empty() && seen_.size() < most_modules && !(open_ && is_of_argparse)) {
      const std::string next = waiting_.back();
      waiting_.pop_back();
      visit(next);
    }
    if (!hf_classes_.empty()) {
      made_.of_dataclasses = true;
      made_.abbreviations = true;
      const bool all = add_options(classes_, hf_classes_, made_);
      made_.one_parser = hf_parsers_ == 1 && parsers_ == 0;
      made_.closed = all && made_.one_parser && hf_parses_ && !hf_open_ && waiting_.empty();
      return std::move(made_);
    }
    if (click_commands_ == 1 && parsers_ == 0) {
      made_.abbreviations = false;
      made_.one_parser = true;
      made_.closed = !click_open_ && waiting_.empty();
      return std::move(made_);
    }
    const bool handed_out = std::any_of(handed_to_.begin(), handed_to_.end(), [&](const std::string& name) { return !functions_.contains(name); });
    made_.closed = parses_ && parsers_ > 0 && !open_ && !handed_out && waiting_.empty();
    made_.one_parser = parsers_ == 1;
    return std::move(made_);
  }

private:
  void visit(const std::string& path) {
    if (!seen_.insert(path).second) return;
    read_.insert(path);
    const auto module = sources_.module(path);
    if (!module) return;
    if (module->has_error) open_ = true;
    const std::string& text = module->text->bytes();
    for (const std::string_view way : {"sys.argv", "import_module(", "__import__(", "exec("})
      if (text.find(way) != std::string::npos) open_ = true;
    if (text.find("sys.argv.") != std::string::npos || text.find("sys.argv =") != std::string::npos || text.find("sys.argv +=") != std::string::npos) hf_open_ = click_open_ = true;
    const std::string_view folder(path.data(), path.rfind('/'));
    for (const Item& item : module->items) {
      if (!item.chunk->stmt) continue;
      offset_ = item.offset;
      conditions_.clear();
      functions_around_.clear();
      for_each_statement(*item.chunk->stmt, [&](const Stmt& stmt) { around(stmt); });
      for_each_statement(*item.chunk->stmt, [&](const Stmt& stmt) {
        if (stmt.kind == StmtKind::class_) collect_class(static_cast<const ClassStmt&>(stmt), path, text, item.offset, classes_);
        statement(stmt, path);
        if (stmt.kind == StmtKind::function)
          for (const Expr* decorator : static_cast<const FunctionStmt&>(stmt).decorators)
            if (decorator->kind == ExprKind::call) call(static_cast<const CallExpr&>(*decorator), path, item.offset);
      });
      for_each_expression(*item.chunk->stmt, [&](const Expr& expr) {
        if (expr.kind == ExprKind::call) call(static_cast<const CallExpr&>(expr), path, item.offset);
      });
    }
  }

  // Statements that run, or not; functions, which are told apart by where they begin.
  void around(const Stmt& stmt) {
    if (stmt.kind == StmtKind::function) functions_around_.push_back(stmt.span);
    const bool chooses = stmt.kind == StmtKind::if_ || stmt.kind == StmtKind::for_ || stmt.kind == StmtKind::while_ || stmt.kind == StmtKind::try_;
    // `if __name__ == "__main__":` holds for what is launched.
    if (chooses && !(stmt.kind == StmtKind::if_ && static_cast<const IfStmt&>(stmt).test->kind == ExprKind::compare && last_name(*static_cast<const CompareExpr&>(*static_cast<const IfStmt&>(stmt).test).left) == "__name__")) conditions_.push_back(stmt.span);
  }
  static bool holds(const std::vector<Span>& spans, Span inner) {
    return std::any_of(spans.begin(), spans.end(), [&](Span each) { return each.begin <= inner.begin && inner.end <= each.end; });
  }
  // The innermost function, by its path and beginning; empty: the module.
  std::string function_of(const std::string& path, Span inner) const {
    std::uint32_t begin = 0;
    bool any = false;  // spans count from the beginning of the item
    for (const Span each : functions_around_)
      if (each.begin <= inner.begin && inner.end <= each.end && (!any || each.begin > begin)) begin = each.begin, any = true;
    return path + (any ? ":" + std::to_string(offset_ + begin) : "");
  }

  void statement(const Stmt& stmt, const std::string& path) {
    std::vector<std::string> tried;
    const program::Imports imports(sources_, tried);
    if (stmt.kind == StmtKind::import) {
      for (const Alias& alias : static_cast<const ImportStmt&>(stmt).names) {
        std::vector<std::string_view> names;
        for (const Name& part : alias.path) names.push_back(part.text());
        module_named(names, path, 0, imports);
      }
    } else if (stmt.kind == StmtKind::import_from) {
      const auto& from = static_cast<const ImportFromStmt&>(stmt);
      std::vector<std::string_view> names;
      for (const Name& part : from.module) names.push_back(part.text());
      const auto target = module_named(names, path, from.level, imports);
      for (const Alias& alias : from.names) {
        if (alias.path.empty()) continue;
        const std::string_view name = alias.path.front().text();
        // A parser of another package's own takes more options.
        if (name.find("rgumentParser") != std::string_view::npos && name != "HfArgumentParser" && !(names.size() == 1 && names[0] == "argparse")) open_ = hf_open_ = true;
        if (target)
          if (const auto inner = imports.within(*target, name)) follow(*inner);
      }
    } else if (stmt.kind == StmtKind::function) {
      functions_.insert(std::string(static_cast<const FunctionStmt&>(stmt).name.text()));
    } else if (stmt.kind == StmtKind::class_) {
      const auto& cls = static_cast<const ClassStmt&>(stmt);
      functions_.insert(std::string(cls.name.text()));
      for (const Expr* base : cls.bases)
        if (last_name(*base).find("rgumentParser") != std::string_view::npos) open_ = hf_open_ = true;
    }
    for (std::string& each : tried) read_.insert(std::move(each));
  }

  std::optional<program::Target> module_named(const std::vector<std::string_view>& names, const std::string& path, std::uint32_t level, const program::Imports& imports) {
    if (level == 0 && !names.empty() && is_one_of(names.front(), other_readers)) open_ = true;
    const auto target = level > 0 ? imports.relative(level, names, path) : imports.absolute(names, path);
    if (target) follow(*target);
    return target;
  }
  void follow(const program::Target& target) {
    if (!target.is_namespace && !seen_.contains(target.path)) waiting_.push_back(target.path);
  }

  void call(const CallExpr& call, const std::string& path, std::uint32_t offset) {
    const std::string_view name = last_name(*call.function);
    if (name == "add_argument") return option(call, path, offset);
    if (of_dataclasses(name, call) || of_click(name, call, path, offset)) return;
    if (name == "ArgumentParser") {
      ++parsers_;
      made_in_ = function_of(path, call.span);
      if (spreads(call) || keyword(call, "parents") || keyword(call, "fromfile_prefix_chars") || keyword(call, "prefix_chars")) open_ = true;
      if (is_false(keyword(call, "allow_abbrev"))) made_.abbreviations = false;
      return;
    }
    if (name == "parse_args") {
      if (call.arguments.empty() && call.keywords.empty()) parses_ = true;
      else if (!call.arguments.empty() && call.arguments[0]->kind != ExprKind::none) open_ = true;  // another command line
      else parses_ = true;
      return;
    }
    if (name == "add_config_arguments") {
      for (const char* flag : {"--deepspeed", "--deepspeed_config", "--deepscale", "--deepscale_config"}) {
        DeclaredOption& made = made_.options.emplace_back();
        made.flags = {flag};
        made.is_plain = false;
        made.where = {path, {call.span.begin + offset, call.span.end + offset}};
      }
      return;
    }
    if (is_one_of(name, other_makers) || (name.find("rgumentParser") != std::string_view::npos && name != "ArgumentParser") || name == "ArgParser") open_ = true;
    // Who is handed the parser may add to it: functions whose text is not seen.
    const auto hands = [&](const Expr* argument) {
      const std::string_view given = argument ? argument->kind == ExprKind::name ? last_name(*argument) : std::string_view() : std::string_view();
      if (given.find("parser") != std::string_view::npos || given.find("Parser") != std::string_view::npos) handed_to_.insert(std::string(name));
    };
    for (const Expr* argument : call.arguments) hands(argument);
    for (const Keyword& each : call.keywords) hands(each.value);
  }

  void option(const CallExpr& call, const std::string& path, std::uint32_t offset) {
    DeclaredOption made;
    made.where = {path, {call.span.begin + offset, call.span.end + offset}};
    for (const Expr* argument : call.arguments) {
      const std::string_view flag = text_of(argument);
      if (flag.empty()) {
        open_ = true;
        return;
      }
      made.flags.emplace_back(flag);
    }
    if (made.flags.empty()) {
      open_ = true;
      return;
    }
    const Expr* action = keyword(call, "action");
    const Expr* nargs = keyword(call, "nargs");
    made.is_plain = !action && !nargs && !spreads(call);
    if (const std::string_view way = text_of(action); way == "store_true" || way == "store_false" || way == "store_const" || way == "count") made.is_flag = true;
    if (action && text_of(action).empty() && last_name(*action) == "BooleanOptionalAction") {
      made.is_flag = true;
      for (std::size_t i = 0, size = made.flags.size(); i < size; ++i)
        if (made.flags[i].starts_with("--")) made.flags.push_back("--no-" + made.flags[i].substr(2));
    }
    if (nargs && (last_name(*nargs) == "REMAINDER" || text_of(nargs) == "...")) open_ = true;
    if (const Expr* type = keyword(call, "type")) made.type = last_name(*type);
    made.is_required = is_true(keyword(call, "required"));
    made.is_conditional = holds(conditions_, call.span) || parsers_ == 0 || function_of(path, call.span) != made_in_;
    if (const Expr* choices = keyword(call, "choices"); choices && (choices->kind == ExprKind::list || choices->kind == ExprKind::tuple)) {
      const auto elements = choices->kind == ExprKind::list ? static_cast<const ListExpr&>(*choices).elements : static_cast<const TupleExpr&>(*choices).elements;
      for (const Expr* each : elements) {
        if (each->kind == ExprKind::string) made.choices.emplace_back(text_of(each));
        else if (each->kind == ExprKind::integer) made.choices.push_back(std::to_string(static_cast<const IntegerExpr&>(*each).value));
        else {
          made.choices.clear();
          break;
        }
      }
    }
    made_.options.push_back(std::move(made));
  }

  // HfArgumentParser((ModelArguments, TrainingArguments)).parse_args_into_dataclasses()
  bool of_dataclasses(std::string_view name, const CallExpr& call) {
    if (name == "HfArgumentParser") {
      ++hf_parsers_;
      const Expr* given = call.arguments.empty() ? keyword(call, "dataclass_types") : call.arguments[0];
      List<const Expr*> classes;
      std::vector<const Expr*> one;
      if (given && given->kind == ExprKind::tuple) classes = static_cast<const TupleExpr&>(*given).elements;
      else if (given && given->kind == ExprKind::list) classes = static_cast<const ListExpr&>(*given).elements;
      else one.push_back(given);
      for (const Expr* each : classes) one.push_back(each);
      for (const Expr* each : one) {
        if (each && each->kind == ExprKind::name) hf_classes_.emplace_back(last_name(*each));
        else if (each && each->kind == ExprKind::attribute) hf_classes_.push_back("transformers." + std::string(last_name(*each)));
        else hf_open_ = true, hf_classes_.emplace_back("?");
      }
      return true;
    }
    if (name == "parse_args_into_dataclasses") {
      hf_parses_ = true;
      if (keyword(call, "return_remaining_strings") || keyword(call, "args") || keyword(call, "args_filename") || !call.arguments.empty()) hf_open_ = true;
      open_ = true;
      return true;
    }
    return false;
  }

  // @click.command() and @click.option("--lr", …)
  bool of_click(std::string_view name, const CallExpr& call, const std::string& path, std::uint32_t offset) {
    if (call.function->kind != ExprKind::attribute || static_cast<const AttributeExpr&>(*call.function).object->kind != ExprKind::name || last_name(*static_cast<const AttributeExpr&>(*call.function).object) != "click") return false;
    if (name == "command") ++click_commands_;
    if (name == "group" || keyword(call, "context_settings") || keyword(call, "cls") || spreads(call) || name == "pass_context") click_open_ = true;
    if (name != "option" && name != "version_option") return true;
    DeclaredOption made;
    made.where = {path, {call.span.begin + offset, call.span.end + offset}};
    made.is_plain = false;
    made.is_flag = keyword(call, "is_flag") != nullptr;
    if (name == "version_option") made.flags.emplace_back("--version");
    for (const Expr* argument : call.arguments) {
      std::string_view flags = text_of(argument);
      if (flags.empty()) click_open_ = true;
      for (; !flags.empty(); flags.remove_prefix(std::min(flags.find('/') + 1 ? flags.find('/') + 1 : flags.size(), flags.size())))
        if (const std::string_view flag = flags.substr(0, flags.find('/')); flag.starts_with('-')) made.flags.emplace_back(flag);
    }
    if (!made.flags.empty()) made_.options.push_back(std::move(made));
    return true;
  }

  const program::Sources& sources_;
  std::set<std::string>& read_;
  ScriptOptions made_;
  DataClasses classes_;
  std::vector<std::string> hf_classes_;
  std::uint32_t offset_ = 0;
  std::vector<Span> conditions_, functions_around_;  // of the statement that is read
  std::string made_in_;                              // the function that makes the parser
  std::set<std::string> seen_, functions_, handed_to_;
  std::vector<std::string> waiting_;
  int parsers_ = 0, hf_parsers_ = 0, click_commands_ = 0;
  bool parses_ = false, open_ = false;
  bool hf_parses_ = false, hf_open_ = false, click_open_ = false;
};

} // namespace

const DeclaredOption* ScriptOptions::find(std::string_view flag) const {
  for (const DeclaredOption& option : options)
    if (std::find(option.flags.begin(), option.flags.end(), flag) != option.flags.end()) return &option;
  return nullptr;
}

std::vector<std::string_view> ScriptOptions::names() const {
  std::vector<std::string_view> made;
  for (const DeclaredOption& option : options)
    for (const std::string& flag : option.flags)
      if (flag.starts_with("--")) made.push_back(flag);
  return made;
}

ScriptOptions options_of_script(const program::Sources& sources, const std::string& path, std::set<std::string>& read) { return Collector(sources, read).collect(path); }

std::optional<std::string> script_file(const program::Sources& sources, const std::string& shell_script, const std::string& folder, const std::string& written, bool is_module, std::set<std::string>& read) {
  std::string relative = written;
  if (is_module) {
    std::replace(relative.begin(), relative.end(), '.', '/');
    relative += ".py";
  }
  while (relative.starts_with("./")) relative.erase(0, 2);
  if (relative.find_first_of("\x01\x02") != std::string::npos || relative.starts_with('/') || relative.find("..") != std::string::npos) return std::nullopt;
  // A folder that the script went to by a name that is known, and below that or above it.
  std::string gone = folder;
  while (gone.starts_with("./")) gone.erase(0, 2);
  if (gone.find_first_of("\x01\x02") != std::string::npos || gone.starts_with('/') || gone.find("..") != std::string::npos) gone.clear();
  std::vector<std::string> from;
  for (std::string at = shell_script.substr(0, shell_script.rfind('/')); !at.empty(); at = at.substr(0, at.rfind('/'))) {
    if (!gone.empty()) from.push_back(at + "/" + gone);
    from.push_back(at);
    const bool is_root = std::find(sources.roots().begin(), sources.roots().end(), at) != sources.roots().end();
    if (is_root && at != shell_script.substr(0, shell_script.rfind('/'))) break;
    if (from.size() > 16) break;
  }
  for (const std::string& start : from) {
    std::string path = start;
    path += '/';
    path += relative;
    read.insert(path);
    if (sources.is_file(path)) return path;
  }
  return std::nullopt;
}

} // namespace stepzero::rules::launch
