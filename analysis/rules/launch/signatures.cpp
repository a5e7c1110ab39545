// As Python Fire 0.7, Typer 0.15 and jsonargparse 4 make options of parameters.
#include "rules/launch/signatures.hpp"

#include "rules/launch/declarations.hpp"
#include "rules/source.hpp"
#include "syntax/walk.hpp"

#include <algorithm>

namespace stepzero::rules::launch {

using namespace syntax;
using program::ValueType;

namespace {

std::string with(std::string name, char from, char to) {
  std::replace(name.begin(), name.end(), from, to);
  return name;
}

bool is_call_of(const Expr* expr, std::string_view object, std::string_view name) {
  if (!expr || expr->kind != ExprKind::call) return false;
  const Expr& function = *as<CallExpr>(*expr).function;
  return last_name(function) == name && function.kind == ExprKind::attribute &&
      as<AttributeExpr>(function).object->kind == ExprKind::name &&
      last_name(*as<AttributeExpr>(function).object) == object;
}

}  // namespace

void SignatureOptions::function(
    const FunctionStmt& stmt, const std::string& path, std::string_view text, std::uint32_t offset) {
  Function made;
  for (const syntax::Parameter& each : stmt.parameters->list) {
    Parameter& parameter = made.parameters.emplace_back();
    parameter.name = each.name.text();
    parameter.otherwise = each.default_value;
    if (each.annotation)
      parameter.type = text.substr(
          each.annotation->span.begin + offset, each.annotation->span.end - each.annotation->span.begin);
    parameter.where = {path, {each.span.begin + offset, each.span.end + offset}};
    parameter.takes_all = each.kind == ParameterKind::var_keyword ||
        each.kind == ParameterKind::var_positional;
  }
  for (const Stmt* each : stmt.body)
    for_each_statement(*each, [&](const Stmt& inner) {
      made.returns = made.returns || (inner.kind == StmtKind::return_ && as<ReturnStmt>(inner).value) ||
          inner.kind == StmtKind::function;
    });
  const std::string name(stmt.name.text());
  // Of two functions of one name the text does not say which is meant.
  if (!functions_.emplace(name, std::move(made)).second)
    functions_[name].parameters.assign(1, Parameter{"", "", nullptr, {}, true});
  for (const Expr* decorator : stmt.decorators) {
    const Expr& called = decorator->kind == ExprKind::call ? *as<CallExpr>(*decorator).function : *decorator;
    const std::string_view last = last_name(called);
    if (called.kind != ExprKind::attribute || as<AttributeExpr>(called).object->kind != ExprKind::name ||
        last_name(*as<AttributeExpr>(called).object) == "click")
      continue;
    if (last == "callback") is_open_ = true;
    if (last != "command") continue;
    // One command alone has no name of its own; what it takes besides, its arguments say.
    made_of_.emplace_back(Way::typer, name);
    if (decorator->kind == ExprKind::call &&
        (keyword(as<CallExpr>(*decorator), "context_settings") || keyword(as<CallExpr>(*decorator), "cls") ||
            spreads(as<CallExpr>(*decorator))))
      is_open_ = true;
  }
}

bool SignatureOptions::call(const CallExpr& call) {
  const std::string_view name = last_name(*call.function);
  if (name == "add_typer") is_open_ = true;
  const bool runs_jsonargparse = name == "auto_cli" || name == "CLI";
  const bool runs_fire = name == "Fire",
             runs_typer = name == "run" && call.function->kind == ExprKind::attribute &&
      last_name(*as<AttributeExpr>(*call.function).object) == "typer";
  if (!runs_fire && !runs_typer && !runs_jsonargparse) return false;
  const bool is_function = call.arguments.size() == 1 && call.arguments[0]->kind == ExprKind::name &&
      call.keywords.empty();
  made_of_.emplace_back(runs_fire ? Way::fire
          : runs_typer            ? Way::typer
                                  : Way::jsonargparse,
      is_function ? std::string(last_name(*call.arguments[0])) : std::string());
  return true;
}

bool SignatureOptions::add() {
  if (made_of_.size() != 1) return false;
  const auto found = functions_.find(made_of_.front().second);
  made_.abbreviations = false;
  made_.one_parser = made_.of_click = true;
  made_.of_fire = made_of_.front().first == Way::fire;
  made_.closed = !is_open_ && found != functions_.end() &&
      (made_of_.front().first == Way::fire           ? add_fire(found->second)
              : made_of_.front().first == Way::typer ? add_typer(found->second)
                                                     : add_jsonargparse(found->second));
  return true;
}

bool SignatureOptions::add_fire(const Function& function) {
  // What is returned may be asked for more.
  if (function.returns) return false;
  for (const Parameter& each : function.parameters) {
    if (each.takes_all) return false;
    DeclaredOption& made = made_.options.emplace_back();
    const std::string dashed = with(each.name, '_', '-');
    for (const std::string& name :
        {each.name, dashed, "no" + each.name, "no" + dashed, each.name.substr(0, 1)})
      made.flags.push_back("--" + name), made.flags.push_back("-" + name);
    made.arity = Arity::unknown;
    made.where = each.where;
    made.is_required = !each.otherwise;
  }
  for (const char* own :
      {"--help", "--h", "--verbose", "--trace", "--interactive", "--separator", "--completion"}) {
    DeclaredOption& made = made_.options.emplace_back();
    made.flags = {own};
    made.arity = Arity::unknown;
    made.ends = true;
  }
  return true;
}

// What has no default is given by its place; classes have options of their own.
bool SignatureOptions::add_jsonargparse(const Function& function) {
  constexpr std::string_view plain[] = {"int", "float", "str", "bool", "Optional[int]", "Optional[float]",
      "Optional[str]", "int | None", "float | None", "str | None", "Path", "List[int]", "list[int]",
      "List[str]", "list[str]"};
  for (const Parameter& each : function.parameters) {
    if (each.takes_all || std::find(std::begin(plain), std::end(plain), each.type) == std::end(plain))
      return false;
    DeclaredOption& made = made_.options.emplace_back();
    made.where = each.where;
    made.flags = {(each.otherwise ? "--" : "") + each.name};
    made.arity = Arity::unknown;
    made.has_default = each.otherwise != nullptr;
  }
  for (const char* own : {"--config", "--print_config", "--help"}) {
    DeclaredOption& made = made_.options.emplace_back();
    made.flags = {own};
    made.arity = Arity::unknown;
    made.ends = true;
  }
  return true;
}

bool SignatureOptions::add_typer(const Function& function) {
  for (const Parameter& each : function.parameters) {
    if (each.takes_all) return false;
    if (each.type.find("Context") != std::string::npos) continue;
    const bool is_argument = each.type.find("Argument(") != std::string::npos ||
        is_call_of(each.otherwise, "typer", "Argument");
    const Expr* option = is_call_of(each.otherwise, "typer", "Option") || is_argument ? each.otherwise
                                                                                      : nullptr;
    // Names of its own stand in the annotation or in the call.
    if (each.type.find("\"-") != std::string::npos || each.type.find("'-") != std::string::npos) return false;
    if (option && option->kind == ExprKind::call)
      for (const Expr* argument : as<CallExpr>(*option).arguments)
        if (literal(argument).starts_with('-')) return false;
    DeclaredOption& made = made_.options.emplace_back();
    made.where = each.where;
    const std::string dashed = with(each.name, '_', '-');
    const bool is_option = !is_argument && (each.otherwise || each.type.find("Option(") != std::string::npos);
    const bool is_truth = each.type == "bool" || each.type.starts_with("Annotated[bool") ||
        (each.otherwise && each.otherwise->kind == ExprKind::boolean);
    if (!is_option) {
      made.flags = {dashed};
      made.arity = Arity::unknown;
      continue;
    }
    made.flags = {"--" + dashed};
    if (is_truth) made.flags.push_back("--no-" + dashed);
    made.arity = is_truth                                    ? Arity::none
        : option || each.type.find('[') != std::string::npos ? Arity::unknown
                                                             : Arity::one;
    made.type = is_number(program::type_named(each.type)) ? program::type_named(each.type)
                                                          : ValueType::unknown;
    made.has_default = true;
  }
  for (const char* own : {"--install-completion", "--show-completion"}) {
    DeclaredOption& made = made_.options.emplace_back();
    made.flags = {own};
    made.arity = Arity::unknown;
    made.ends = true;
  }
  return true;
}

}  // namespace stepzero::rules::launch
