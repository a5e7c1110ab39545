#include "rules/launch/click.hpp"

#include "rules/launch/declarations.hpp"
#include "syntax/walk.hpp"

#include <algorithm>

namespace stepzero::rules::launch {

using namespace syntax;
using program::ValueType;

namespace {

bool is_of_click(const Expr& function) {
  return function.kind == ExprKind::attribute && as<AttributeExpr>(function).object->kind == ExprKind::name &&
      last_name(*as<AttributeExpr>(function).object) == "click";
}

// What click makes of the text: the type that is given, or that of the default.
void read_type(const CallExpr& call, DeclaredOption& into) {
  const Expr* type = keyword(call, "type");
  if (!type) {
    const Expr* otherwise = keyword(call, "default");
    if (otherwise && otherwise->kind == ExprKind::integer)
      into.type = ValueType::integer;
    else if (otherwise && otherwise->kind == ExprKind::real)
      into.type = ValueType::number;
    else if (otherwise && otherwise->kind != ExprKind::string && otherwise->kind != ExprKind::none)
      into.type = ValueType::unknown;
    return;
  }
  into.type = program::type_named(last_name(*type));
  // click takes more words for a boolean than Python.
  if (into.type == ValueType::truth) into.type = ValueType::unknown;
  if (type->kind != ExprKind::call) return;
  const auto& made = as<CallExpr>(*type);
  if (!is_of_click(*made.function) || last_name(*made.function) != "Choice" || made.arguments.size() != 1 ||
      !made.keywords.empty())
    return;
  const Expr& list = *made.arguments[0];
  if (list.kind != ExprKind::list && list.kind != ExprKind::tuple) return;
  for (const Expr* each :
      list.kind == ExprKind::list ? as<ListExpr>(list).elements : as<TupleExpr>(list).elements) {
    if (each->kind != ExprKind::string) {
      into.choices.clear();
      return;
    }
    into.choices.emplace_back(literal(each));
  }
  into.type = ValueType::text;
}

void read_arity(const CallExpr& call, DeclaredOption& into) {
  const Expr* nargs = keyword(call, "nargs");
  if (const Expr* flag = keyword(call, "is_flag"))
    into.arity = is_true(flag) ? Arity::none : is_false(flag) ? Arity::one : Arity::unknown;
  else if (keyword(call, "flag_value") || keyword(call, "count") || keyword(call, "callback") ||
      keyword(call, "cls") || spreads(call))
    into.arity = Arity::unknown;
  else if (const Expr* otherwise = keyword(call, "default");
      otherwise && otherwise->kind == ExprKind::boolean)
    into.arity = Arity::unknown;
  if (keyword(call, "is_eager")) into.arity = Arity::unknown;
  if (nargs) into.arity = Arity::unknown;
}

}  // namespace

bool ClickOptions::call(const CallExpr& call, const std::string& path, std::uint32_t offset) {
  if (!is_of_click(*call.function)) return false;
  const std::string_view name = last_name(*call.function);
  if (name == "command") ++commands_;
  if (name == "group" || keyword(call, "context_settings") || keyword(call, "cls") || spreads(call) ||
      name == "pass_context")
    open_ = true;
  const bool placed = name == "argument";
  if (name != "option" && name != "version_option" && !placed) return true;
  DeclaredOption made;
  made.where = {path, {call.span.begin + offset, call.span.end + offset}};
  if (name == "version_option")
    made.flags.emplace_back("--version"), made.arity = Arity::none, made.ends = true;
  for (const Expr* argument : call.arguments) {
    std::string_view flags = literal(argument);
    if (flags.empty()) open_ = true;
    if (placed && made.flags.empty()) made.flags.emplace_back(flags);
    const bool both = flags.find('/') != std::string_view::npos;  // --fast/--slow
    while (!placed && !flags.empty()) {
      const std::size_t slash = flags.find('/');
      std::string_view flag = flags.substr(0, slash);
      while (flag.starts_with(' ')) flag.remove_prefix(1);
      while (flag.ends_with(' ')) flag.remove_suffix(1);
      if (flag.starts_with('-')) made.flags.emplace_back(flag);
      flags.remove_prefix(slash == std::string_view::npos ? flags.size() : slash + 1);
    }
    if (both) made.arity = Arity::none;
  }
  if (made.flags.empty() || made.flags.front().empty()) return true;
  if (made.arity == Arity::one) read_arity(call, made);
  read_type(call, made);
  const bool other_source = keyword(call, "default") || keyword(call, "prompt") || keyword(call, "envvar") ||
      keyword(call, "nargs") || spreads(call);
  made.is_required = !other_source &&
      (placed ? !is_false(keyword(call, "required")) && !keyword(call, "required")
              : is_true(keyword(call, "required")));
  if (placed && !made.is_required) made.arity = Arity::unknown;
  made_.options.push_back(std::move(made));
  return true;
}

}  // namespace stepzero::rules::launch
