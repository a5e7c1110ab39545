#include "rules/launch/parsers.hpp"

#include "rules/launch/click.hpp"
#include "rules/launch/dataclasses.hpp"
#include "rules/launch/declarations.hpp"
#include "rules/launch/scripts.hpp"
#include "rules/launch/signatures.hpp"
#include "rules/source.hpp"
#include "syntax/walk.hpp"

#include <algorithm>
#include <map>

namespace stepzero::rules::launch {

using namespace syntax;

namespace {

constexpr std::size_t most_modules = 400;  // files that are read to find the options of one program

// Packages that read the command line in a way of their own, or make parsers that take more.
constexpr std::string_view other_readers[] = {"fire", "click", "typer", "hydra", "absl", "jsonargparse",
    "configargparse", "draccus", "pyrallis", "docopt", "plac", "gflags", "tap", "argh", "yacs", "clize",
    "cyclopts", "chz", "datargs", "omegaconf.cli"};
// Calls after which options come from elsewhere.
constexpr std::string_view other_makers[] = {"parse_known_args", "parse_known_intermixed_args",
    "add_argparse_args", "from_argparse_args", "register_and_parse", "parse_args_into_dataclasses",
    "set_parser", "add_cli_args"};

bool is_one_of(std::string_view text, const auto& list) {
  return std::find(std::begin(list), std::end(list), text) != std::end(list);
}

class Collector {
public:
  Collector(const program::Sources& sources, std::set<std::string>& read) : sources_(sources), read_(read) {}

  ScriptOptions collect(const std::string& path) {
    is_main_ = true;
    visit(path);
    is_main_ = false;
    // What can add an option once, can add any: the other modules are of no interest then, unless the parser
    // is of another kind.
    const auto module = sources_.module(path);
    const std::string_view text = module ? std::string_view(module->text->bytes()) : std::string_view();
    const bool is_of_argparse = text.find("HfArgumentParser") == std::string_view::npos &&
        text.find("click.") == std::string_view::npos && text.find("tyro.cli(") == std::string_view::npos &&
        text.find("Fire(") == std::string_view::npos && text.find("typer") == std::string_view::npos &&
        text.find("jsonargparse") == std::string_view::npos;
    while (!waiting_.empty() && seen_.size() < most_modules &&
        !(open_ && is_of_argparse && hf_classes_.empty())) {
      const std::string next = waiting_.back();
      waiting_.pop_back();
      visit(next);
    }
    // A class of another name that adds nothing to it.
    for (const auto& [name, other] : renamed_)
      if (!classes_.contains(name) && classes_.contains(other)) classes_[name].bases = {other};
    if (!hf_classes_.empty()) {
      made_.of_dataclasses = true;
      made_.abbreviations = true;
      const bool all = add_options(classes_, hf_classes_, made_);
      made_.one_parser = hf_parsers_ == 1 && declared_.parsers() == 0;
      const bool is_known = made_.one_parser && hf_parses_ && !hf_open_ && waiting_.empty();
      made_.closed = all && is_known && !hf_takes_more_;
      made_.takes_more = is_known && !made_.closed;
      return std::move(made_);
    }
    if (imports_tyro_) {
      made_.of_tyro = made_.one_parser = true;
      made_.abbreviations = false;
      made_.closed = tyro_classes_.size() == 1 && declared_.parsers() == 0 && !open_ && !tyro_open_ &&
          waiting_.empty() && add_tyro_options(classes_, tyro_classes_.front(), "", tyro_default_, made_);
      return std::move(made_);
    }
    if (reads_signature_ && declared_.parsers() == 0 && click_.commands() == 0 && signatures_.add()) {
      made_.closed = made_.closed && !argv_open_ && waiting_.empty();
      return std::move(made_);
    }
    if (click_.commands() == 1 && declared_.parsers() == 0) {
      made_.abbreviations = false;
      made_.one_parser = made_.of_click = true;
      made_.closed = !click_.is_open() && !argv_open_ && waiting_.empty();
      return std::move(made_);
    }
    // Names of another kind, groups that the command line chooses, and prefixes are not followed.
    bool all_simple = true;
    for (const std::string& name : simple_classes_)
      all_simple = all_simple && add_simple_options(classes_, name, made_);
    const bool handed_out = std::any_of(handed_to_.begin(), handed_to_.end(),
        [&](const std::string& name) { return !functions_.contains(name); });
    if (imports_simple_ && simple_parsed_ && declared_.parsers() == 0) {
      made_.one_parser = simple_classes_.size() == 1;
      made_.closed = made_.one_parser && all_simple && !simple_open_ && !open_ && waiting_.empty();
      return std::move(made_);
    }
    const bool is_known = parses_ && declared_.parsers() > 0 && all_simple && !simple_open_ && !open_ &&
        !declared_.is_open() && !handed_out && waiting_.empty() &&
        (made_.commands.empty() || declared_.parsers() == 1);
    made_.closed = is_known && peeks_.empty();
    made_.takes_more = is_known && !peeks_.empty() && declared_.parsers() == 1;
    made_.one_parser = declared_.parsers() == 1;
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
    if (text.find("sys.argv.") != std::string::npos || text.find("sys.argv =") != std::string::npos ||
        text.find("sys.argv +=") != std::string::npos)
      hf_open_ = argv_open_ = true;
    if (text.find("tyro.conf") != std::string::npos || text.find("tyro.extras") != std::string::npos ||
        text.find("from tyro") != std::string::npos || text.find("TyroConstructor") != std::string::npos)
      tyro_open_ = true;
    if (text.find("simple_parsing") != std::string::npos)
      for (const std::string_view way : {"alias", "subgroups(", "subparsers(", "dash_variants", "prefix",
               "conflict_resolution", "config_path", "ChoicesParser"})
        simple_open_ = simple_open_ || text.find(way) != std::string::npos;
    declared_.read_constants(*module);
    for (const Item& item : module->items) {
      if (!item.chunk->stmt) continue;
      offset_ = item.offset;
      conditions_.clear();
      functions_around_.clear();
      returns_.clear();
      loops_.clear();
      for_each_statement(*item.chunk->stmt, [&](const Stmt& stmt) { around(stmt); });
      for_each_statement(*item.chunk->stmt, [&](const Stmt& stmt) {
        if (stmt.kind == StmtKind::class_)
          collect_class(static_cast<const ClassStmt&>(stmt), path, text, item.offset, classes_);
        statement(stmt, path);
      });
      for (const Step& step : steps_of(*item.chunk->stmt)) {
        if (step.target)
          declared_.bind(*step.target, *step.value, site(path, step.value->span));
        else
          call(static_cast<const CallExpr&>(*step.value), path);
      }
    }
  }

  // Calls, and names that are given to what they return, in the order in which they run.
  struct Step {
    std::uint32_t at, end;
    const Expr* target;  // null: a call
    const Expr* value;
  };
  static std::vector<Step> steps_of(const Stmt& all) {
    std::vector<Step> steps;
    const auto add_call = [&](const Expr& expr) {
      if (expr.kind == ExprKind::call) steps.push_back({expr.span.begin, expr.span.end, nullptr, &expr});
    };
    for_each_statement(all, [&](const Stmt& stmt) {
      if (stmt.kind == StmtKind::function)
        for (const Expr* decorator : static_cast<const FunctionStmt&>(stmt).decorators) add_call(*decorator);
      if (stmt.kind == StmtKind::assign)
        for (const Expr* target : static_cast<const AssignStmt&>(stmt).targets)
          steps.push_back({stmt.span.end, stmt.span.end, target, static_cast<const AssignStmt&>(stmt).value});
    });
    for_each_expression(all, add_call);
    std::stable_sort(steps.begin(), steps.end(),
        [](const Step& a, const Step& b) { return a.at != b.at ? a.at < b.at : a.end < b.end; });
    return steps;
  }

  // Statements that run, or not; functions, which are told apart by where they begin.
  void around(const Stmt& stmt) {
    if (stmt.kind == StmtKind::function) functions_around_.push_back(stmt.span);
    if (stmt.kind == StmtKind::return_) returns_.push_back(offset_ + stmt.span.end);
    if (stmt.kind == StmtKind::for_) loops_.push_back(&static_cast<const ForStmt&>(stmt));
    const bool chooses = stmt.kind == StmtKind::if_ || stmt.kind == StmtKind::for_ ||
        stmt.kind == StmtKind::while_ || stmt.kind == StmtKind::try_;
    // `if __name__ == "__main__":` holds for what is launched.
    if (chooses &&
        !(stmt.kind == StmtKind::if_ && static_cast<const IfStmt&>(stmt).test->kind == ExprKind::compare &&
            last_name(*static_cast<const CompareExpr&>(*static_cast<const IfStmt&>(stmt).test).left) ==
                "__name__"))
      conditions_.push_back(stmt.span);
  }
  static bool holds(const std::vector<Span>& spans, Span inner) {
    return std::any_of(spans.begin(), spans.end(),
        [&](Span each) { return each.begin <= inner.begin && inner.end <= each.end; });
  }
  // The innermost function, by its path and beginning; empty: the module.
  std::string function_of(const std::string& path, Span inner) const {
    std::uint32_t begin = 0;
    bool any = false;  // spans count from the beginning of the item
    for (const Span each : functions_around_)
      if (each.begin <= inner.begin && inner.end <= each.end && (!any || each.begin > begin))
        begin = each.begin, any = true;
    return path + (any ? ":" + std::to_string(offset_ + begin) : "");
  }

  void statement(const Stmt& stmt, const std::string& path) {
    const auto names_reader = [&](const Name& first) {
      imports_tyro_ = imports_tyro_ || first.text() == "tyro";
      imports_simple_ = imports_simple_ || first.text() == "simple_parsing";
      reads_signature_ = reads_signature_ ||
          (is_main_ && (first.text() == "fire" || first.text() == "typer" || first.text() == "jsonargparse"));
      if (is_one_of(first.text(), other_readers)) open_ = true;
    };
    if (stmt.kind == StmtKind::import) {
      for (const Alias& alias : static_cast<const ImportStmt&>(stmt).names)
        if (!alias.path.empty()) names_reader(alias.path.front());
    } else if (stmt.kind == StmtKind::import_from) {
      const auto& from = static_cast<const ImportFromStmt&>(stmt);
      if (from.level == 0 && !from.module.empty()) names_reader(from.module.front());
      const bool of_argparse = from.module.size() == 1 &&
          (from.module[0].text() == "argparse" || from.module[0].text() == "simple_parsing");
      for (const Alias& alias : from.names) {
        // A parser of another package's own takes more options.
        const std::string_view name = alias.path.empty() ? std::string_view() : alias.path.front().text();
        // `from transformers import TrainingArguments as Base`: a class that adds nothing to it.
        if (from.level == 0 && !from.module.empty() && from.module.front().text() == "transformers" &&
            name.ends_with("TrainingArguments") && !alias.alias.empty())
          classes_[std::string(alias.alias.text())].bases = {"transformers." + std::string(name)};
        else if (!alias.alias.empty() && !name.empty())
          renamed_.try_emplace(std::string(alias.alias.text()), name);
        if (name.find("rgumentParser") != std::string_view::npos && name != "HfArgumentParser" &&
            !of_argparse)
          open_ = hf_open_ = true;
      }
    } else if (stmt.kind == StmtKind::function) {
      if (const auto module = is_main_ ? sources_.module(path) : nullptr)
        signatures_.function(static_cast<const FunctionStmt&>(stmt), path, module->text->bytes(), offset_);
      functions_.insert(std::string(static_cast<const FunctionStmt&>(stmt).name.text()));
    } else if (stmt.kind == StmtKind::class_) {
      const auto& cls = static_cast<const ClassStmt&>(stmt);
      functions_.insert(std::string(cls.name.text()));
      for (const Expr* base : cls.bases)
        if (last_name(*base).find("rgumentParser") != std::string_view::npos) open_ = hf_open_ = true;
    }
    for (std::string& each : imported_by(sources_, stmt, path, read_))
      if (!seen_.contains(each)) waiting_.push_back(std::move(each));
  }

  CallSite site(const std::string& path, Span span) const {
    CallSite made{path, offset_, function_of(path, span), false, {}};
    for (const ForStmt* loop : loops_)
      if (loop->span.begin <= span.begin && span.end <= loop->span.end) made.loops.push_back(loop);
    made.is_conditional = holds(conditions_, span);
    return made;
  }

  void call(const CallExpr& call, const std::string& path) {
    const std::string_view name = last_name(*call.function);
    if (declared_.call(call, site(path, call.span)) || of_dataclasses(name, call)) return;
    if (click_.call(call, path, offset_) || of_tyro(name, call) || of_simple(name, call) ||
        (is_main_ && signatures_.call(call)))
      return;
    if (name == "parse_known_args" && call.arguments.empty() && call.keywords.empty()) {
      parses_ = true;
      peeks_.insert_or_assign(reader_of(call, path), offset_ + call.span.begin);
      return;
    }
    if (name == "parse_args") {
      if (call.arguments.empty() && call.keywords.empty())
        parses_ = true, reads_all(call, path);
      else if (!call.arguments.empty() && call.arguments[0]->kind != ExprKind::none)
        open_ = true;  // another command line
      else
        parses_ = true;
      return;
    }
    if (name == "add_config_arguments") {
      for (const char* flag : {"--deepspeed", "--deepspeed_config", "--deepscale", "--deepscale_config"}) {
        DeclaredOption& made = made_.options.emplace_back();
        made.flags = {flag};
        made.arity = Arity::unknown;
        made.where = {path, {call.span.begin + offset_, call.span.end + offset_}};
      }
      return;
    }
    if (is_one_of(name, other_makers) ||
        (name.find("rgumentParser") != std::string_view::npos && name != "ArgumentParser") ||
        name == "ArgParser")
      open_ = true;
    // Who is handed the parser may add to it: functions whose text is not seen.
    const auto hands = [&](const Expr* argument) {
      const std::string_view given = argument
          ? argument->kind == ExprKind::name ? last_name(*argument) : std::string_view()
          : std::string_view();
      if (given.find("parser") != std::string_view::npos || given.find("Parser") != std::string_view::npos)
        handed_to_.insert(std::string(name));
    };
    for (const Expr* argument : call.arguments) hands(argument);
    for (const Keyword& each : call.keywords) hands(each.value);
  }

  // The function and the name of the parser.
  std::string reader_of(const CallExpr& call, const std::string& path) const {
    const Expr* of = call.function->kind == ExprKind::attribute
        ? static_cast<const AttributeExpr&>(*call.function).object
        : nullptr;
    return function_of(path, call.span) + '|' + std::string(of ? last_name(*of) : std::string_view());
  }
  // `known, _ = parser.parse_known_args()` looks ahead where the same parser then reads all, come what may.
  void reads_all(const CallExpr& call, const std::string& path) {
    const auto peek = peeks_.find(reader_of(call, path));
    const std::uint32_t here = offset_ + call.span.begin;
    if (peek == peeks_.end() || peek->second > here || holds(conditions_, call.span)) return;
    if (std::none_of(returns_.begin(), returns_.end(),
            [&](std::uint32_t end) { return end > peek->second && end < here; }))
      peeks_.erase(peek);
  }

  // parser.add_arguments(Options, dest="options"), simple_parsing.parse(Options)
  bool of_simple(std::string_view name, const CallExpr& call) {
    const bool parses = name == "parse" && call.function->kind == ExprKind::attribute &&
        last_name(*static_cast<const AttributeExpr&>(*call.function).object) == "simple_parsing";
    if (name != "add_arguments" && !parses) return false;
    const bool is_class = !call.arguments.empty() && call.arguments[0]->kind == ExprKind::name;
    simple_classes_.emplace_back(is_class ? last_name(*call.arguments[0]) : std::string_view("?"));
    simple_parsed_ = simple_parsed_ || parses;
    for (const Keyword& each : call.keywords)
      simple_open_ = simple_open_ ||
          (each.name.text() != "dest" && each.name.text() != "default" && each.name.text() != "config_class");
    return true;
  }

  // tyro.cli(Args)
  bool of_tyro(std::string_view name, const CallExpr& call) {
    if (name != "cli" || call.function->kind != ExprKind::attribute ||
        last_name(*static_cast<const AttributeExpr&>(*call.function).object) != "tyro")
      return false;
    const bool is_class = call.arguments.size() == 1 && call.arguments[0]->kind == ExprKind::name;
    tyro_classes_.emplace_back(is_class ? last_name(*call.arguments[0]) : std::string_view("?"));
    for (const Keyword& each : call.keywords) {
      if (each.name.text() == "default")
        tyro_default_ = true;
      else if (each.name.text() != "description" && each.name.text() != "prog")
        tyro_open_ = true;
    }
    return true;
  }

  // HfArgumentParser((ModelArguments, TrainingArguments)).parse_args_into_dataclasses()
  bool of_dataclasses(std::string_view name, const CallExpr& call) {
    if (name == "HfArgumentParser") {
      ++hf_parsers_;
      const Expr* given = call.arguments.empty() ? keyword(call, "dataclass_types") : call.arguments[0];
      List<const Expr*> classes;
      std::vector<const Expr*> one;
      if (given && given->kind == ExprKind::tuple)
        classes = static_cast<const TupleExpr&>(*given).elements;
      else if (given && given->kind == ExprKind::list)
        classes = static_cast<const ListExpr&>(*given).elements;
      else
        one.push_back(given);
      for (const Expr* each : classes) one.push_back(each);
      for (const Expr* each : one) {
        if (each && each->kind == ExprKind::name)
          hf_classes_.emplace_back(last_name(*each));
        else if (each && each->kind == ExprKind::attribute)
          hf_classes_.push_back("transformers." + std::string(last_name(*each)));
        else
          hf_open_ = true, hf_classes_.emplace_back("?");
      }
      return true;
    }
    if (name == "parse_args_into_dataclasses") {
      hf_parses_ = true;
      if (keyword(call, "return_remaining_strings")) hf_takes_more_ = true;
      if (keyword(call, "args") || keyword(call, "args_filename") || !call.arguments.empty()) hf_open_ = true;
      open_ = true;
      return true;
    }
    return false;
  }

  const program::Sources& sources_;
  std::set<std::string>& read_;
  ScriptOptions made_;
  Declarations declared_{made_};
  ClickOptions click_{made_};
  SignatureOptions signatures_{made_};
  DataClasses classes_;
  std::map<std::string, std::string> renamed_;  // by imports: what the name is elsewhere
  bool is_main_ = false,
       reads_signature_ =
           false;  // of the launched file itself; its command line may be a function's signature
  std::vector<std::string> hf_classes_, tyro_classes_, simple_classes_;
  bool imports_simple_ = false, simple_open_ = false, simple_parsed_ = false;
  bool imports_tyro_ = false, tyro_open_ = false, tyro_default_ = false;
  std::uint32_t offset_ = 0;
  std::vector<Span> conditions_, functions_around_;  // of the statement that is read
  std::vector<const ForStmt*> loops_;
  std::set<std::string> seen_, functions_, handed_to_;
  std::vector<std::string> waiting_;
  int hf_parsers_ = 0;
  bool parses_ = false, open_ = false;
  std::map<std::string, std::uint32_t> peeks_;  // parse_known_args(): by the parser, where it stands
  std::vector<std::uint32_t> returns_;          // of the statement that is read: where they end
  bool hf_parses_ = false, hf_open_ = false, hf_takes_more_ = false, argv_open_ = false;
};

}  // namespace

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

ScriptOptions options_of_script(
    const program::Sources& sources, const std::string& path, std::set<std::string>& read) {
  return Collector(sources, read).collect(path);
}

}  // namespace stepzero::rules::launch
