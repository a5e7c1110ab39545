#include "rules/launch/declarations.hpp"

#include "syntax/walk.hpp"

#include <algorithm>

namespace stepzero::rules::launch {

using namespace syntax;
using program::ValueType;

namespace {

constexpr std::size_t most_iterations = 256;  // of loops over literals

// The text of a name, or of an attribute of one; empty if it is neither.
std::string dotted(const Expr& expr) {
  if (expr.kind == ExprKind::name) return std::string(as<NameExpr>(expr).id.text());
  if (expr.kind != ExprKind::attribute) return {};
  const std::string object = dotted(*as<AttributeExpr>(expr).object);
  return object.empty() ? object : object + "." + std::string(as<AttributeExpr>(expr).attribute.text());
}

// The words of `nargs`, and the names that argparse has for them.
struct NamedArity {
  std::string_view word, name;
  Arity arity;
};
constexpr NamedArity arities[] = {
    {"?", "OPTIONAL", Arity::optional},
    {"*", "ZERO_OR_MORE", Arity::any},
    {"+", "ONE_OR_MORE", Arity::some},
};
Arity arity_named(std::string_view word) {
  const auto* found = std::ranges::find_if(
      arities, [&](const NamedArity& each) { return each.word == word || each.name == word; });
  return found == std::end(arities) ? Arity::unknown : found->arity;
}

// What `action` makes of an option; of any other nothing is known.
struct Action {
  std::string_view name;
  bool takes_words = false;
  bool ends = false;          // the program prints, and ends
  bool has_opposite = false;  // --no-…
  bool is_class = false;
};
constexpr Action actions[] = {
    {.name = "store", .takes_words = true},
    {.name = "append", .takes_words = true},
    {.name = "extend", .takes_words = true},
    {.name = "store_true"},
    {.name = "store_false"},
    {.name = "store_const"},
    {.name = "append_const"},
    {.name = "count"},
    {.name = "help", .ends = true},
    {.name = "version", .ends = true},
    {.name = "BooleanOptionalAction", .has_opposite = true, .is_class = true},
};

}  // namespace

std::string_view literal(const Expr* expr) {
  return expr && expr->kind == ExprKind::string ? as<StringExpr>(*expr).value : std::string_view();
}
const Expr* keyword(const CallExpr& call, std::string_view name) {
  for (const Keyword& each : call.keywords)
    if (each.name.text() == name) return each.value;
  return nullptr;
}
bool spreads(const CallExpr& call) {
  return std::any_of(call.keywords.begin(), call.keywords.end(),
             [](const Keyword& each) { return each.name.text().empty(); }) ||
      std::any_of(call.arguments.begin(), call.arguments.end(),
          [](const Expr* each) { return each->kind == ExprKind::starred; });
}
bool is_true(const Expr* expr) {
  return expr && expr->kind == ExprKind::boolean && as<BooleanExpr>(*expr).value;
}
bool is_false(const Expr* expr) {
  return expr && expr->kind == ExprKind::boolean && !as<BooleanExpr>(*expr).value;
}

void Declarations::read_constants(const Module& module) {
  constants_.clear();
  const auto note = [&](const Expr& target, const Expr* value) {
    if (target.kind != ExprKind::name || !value) return;
    const auto [known, is_new] = constants_.try_emplace(as<NameExpr>(target).id.text(), value);
    if (!is_new) known->second = nullptr;
  };
  for (const Item& item : module.items) {
    if (!item.chunk->stmt) continue;
    if (item.chunk->stmt->kind == StmtKind::assign)
      for (const Expr* target : as<AssignStmt>(*item.chunk->stmt).targets)
        note(*target, as<AssignStmt>(*item.chunk->stmt).value);
    if (item.chunk->stmt->kind == StmtKind::aug_assign)
      note(*as<AugAssignStmt>(*item.chunk->stmt).target, nullptr);
    if (item.chunk->stmt->kind == StmtKind::ann_assign)
      note(*as<AnnAssignStmt>(*item.chunk->stmt).target, as<AnnAssignStmt>(*item.chunk->stmt).value);
  }
}

std::optional<std::vector<const Expr*>> Declarations::elements(const Expr* expr) const {
  if (expr && expr->kind == ExprKind::name)
    if (const auto known = constants_.find(as<NameExpr>(*expr).id.text()); known != constants_.end())
      expr = known->second;
  List<const Expr*> list;
  if (expr && expr->kind == ExprKind::list)
    list = as<ListExpr>(*expr).elements;
  else if (expr && expr->kind == ExprKind::tuple)
    list = as<TupleExpr>(*expr).elements;
  else
    return std::nullopt;
  return std::vector<const Expr*>(list.begin(), list.end());
}

std::optional<std::string> Declarations::text(const Expr& expr, const Bindings& bound) const {
  switch (expr.kind) {
  case ExprKind::string: return std::string(as<StringExpr>(expr).value);
  case ExprKind::integer:
    return as<IntegerExpr>(expr).fits ? std::optional(std::to_string(as<IntegerExpr>(expr).value))
                                      : std::nullopt;
  case ExprKind::name: {
    const std::string_view name = as<NameExpr>(expr).id.text();
    if (const auto known = bound.find(name); known != bound.end()) return text(*known->second, {});
    const auto known = constants_.find(name);
    return known == constants_.end() || !known->second || known->second->kind != ExprKind::string
        ? std::nullopt
        : text(*known->second, {});
  }
  case ExprKind::format: {
    if (!as<FormatExpr>(expr).plain) return std::nullopt;
    std::string made;
    for (const Expr* part : as<FormatExpr>(expr).parts) {
      const auto one = text(*part, bound);
      if (!one) return std::nullopt;
      made += *one;
    }
    return made;
  }
  case ExprKind::binary: {
    if (as<BinaryExpr>(expr).op != BinaryOp::add) return std::nullopt;
    auto left = text(*as<BinaryExpr>(expr).left, bound);
    const auto right = text(*as<BinaryExpr>(expr).right, bound);
    return left && right ? std::optional(*left + *right) : std::nullopt;
  }
  case ExprKind::call: {
    // name.replace("_", "-")
    const auto& call = as<CallExpr>(expr);
    if (call.function->kind != ExprKind::attribute || last_name(*call.function) != "replace" ||
        call.arguments.size() != 2)
      return std::nullopt;
    auto made = text(*as<AttributeExpr>(*call.function).object, bound);
    const std::string_view from = literal(call.arguments[0]), to = literal(call.arguments[1]);
    if (!made || from.empty() || call.arguments[1]->kind != ExprKind::string) return std::nullopt;
    for (std::size_t at = 0; (at = made->find(from, at)) != std::string::npos; at += to.size())
      made->replace(at, from.size(), to);
    return made;
  }
  default: return std::nullopt;
  }
}

std::vector<Declarations::Bindings> Declarations::iterations(const std::vector<const ForStmt*>& loops) const {
  std::vector<Bindings> all(1);
  for (const ForStmt* loop : loops) {
    const auto list = elements(loop->iterable);
    if (!list) continue;
    std::vector<Bindings> longer;
    for (const Bindings& before : all)
      for (const Expr* element : *list) {
        Bindings with = before;
        if (loop->target->kind == ExprKind::name) {
          with[as<NameExpr>(*loop->target).id.text()] = element;
        } else if (loop->target->kind == ExprKind::tuple) {
          const auto parts = elements(element);
          const auto targets = as<TupleExpr>(*loop->target).elements;
          for (std::size_t i = 0; parts && parts->size() == targets.size() && i < targets.size(); ++i)
            if (targets[i]->kind == ExprKind::name) with[as<NameExpr>(*targets[i]).id.text()] = (*parts)[i];
        }
        longer.push_back(std::move(with));
      }
    all = std::move(longer);
    if (all.size() > most_iterations) return {Bindings()};
  }
  return all;
}

std::optional<Declarations::Receiver> Declarations::receiver(
    const CallExpr& call, const CallSite& site, const Bindings& bound) const {
  if (call.function->kind != ExprKind::attribute) return std::nullopt;
  const Expr& object = *as<AttributeExpr>(*call.function).object;
  if (const auto made = results_.find(&object); made != results_.end()) return made->second;
  std::string name = dotted(object);
  // for each in (train, evaluate): each.add_argument(…)
  if (const auto known = bound.find(name); known != bound.end()) name = dotted(*known->second);
  for (const std::string& scope : {site.function, site.path})
    if (const auto known = names_.find(scope + "\n" + name); !name.empty() && known != names_.end())
      return known->second;
  return std::nullopt;
}

void Declarations::bind(const Expr& target, const Expr& value, const CallSite& site) {
  const std::string name = dotted(target);
  if (name.empty()) return;
  const std::string key = (name.find('.') == std::string::npos ? site.function : site.path) + "\n" + name;
  if (const auto made = results_.find(&value); made != results_.end()) {
    names_[key] = made->second;
  } else if (const std::string other = dotted(value); !other.empty()) {
    for (const std::string& scope : {site.function, site.path})
      if (const auto known = names_.find(scope + "\n" + other); known != names_.end()) {
        names_[key] = known->second;
        return;
      }
    names_.erase(key);
  } else {
    names_.erase(key);
  }
}

bool Declarations::call(const CallExpr& call, const CallSite& site) {
  const std::string_view name = last_name(*call.function);
  if (name == "add_argument") return argument(call, site), true;
  if (name == "ArgumentParser") return parser(call, site), true;
  if (name == "add_subparsers") return add_commands(call, site), true;
  if (name == "add_parser") return add_parser(call, site), true;
  if (name != "add_argument_group" && name != "add_mutually_exclusive_group") return false;
  const auto known = receiver(call, site);
  if (!known) unnamed_ = true;
  Receiver of = known.value_or(Receiver{});
  if (name == "add_mutually_exclusive_group") {
    of.exclusive = ++groups_;
    if (is_true(keyword(call, "required")) && !site.is_conditional)
      made_.required_groups.insert(of.exclusive);
  }
  results_[&call] = of;
  return true;
}

void Declarations::parser(const CallExpr& call, const CallSite& site) {
  ++parsers_;
  made_in_ = site.function;
  results_[&call] = {};
  // It takes what its parents declare, which are parsers of the program: together they are one.
  if (const Expr* parents = keyword(call, "parents")) {
    const auto given = elements(parents);
    if (!given || std::any_of(given->begin(), given->end(), [](const Expr* each) {
          return each->kind != ExprKind::call && each->kind != ExprKind::name;
        }))
      open_ = true;
    else
      parsers_ -= static_cast<int>(given->size());
  }
  if (spreads(call) || keyword(call, "fromfile_prefix_chars") || keyword(call, "prefix_chars") ||
      keyword(call, "exit_on_error"))
    open_ = true;
  if (is_false(keyword(call, "allow_abbrev"))) made_.abbreviations = false;
}

void Declarations::add_commands(const CallExpr& call, const CallSite& site) {
  const auto known = receiver(call, site);
  if (!known || known->commands >= 0 || site.is_conditional || spreads(call) ||
      keyword(call, "parser_class") || keyword(call, "action"))
    open_ = true;
  Commands& made = made_.commands.emplace_back();
  made.of_parser = known ? known->parser : 0;
  made.is_required = is_true(keyword(call, "required"));
  made.where = {site.path, {call.span.begin + site.offset, call.span.end + site.offset}};
  results_[&call] = {made.of_parser, 0, static_cast<int>(made_.commands.size()) - 1};
}

void Declarations::add_parser(const CallExpr& call, const CallSite& site) {
  const auto known = receiver(call, site);
  if (!known || known->commands < 0 || spreads(call) || keyword(call, "parents") ||
      keyword(call, "prefix_chars") || keyword(call, "allow_abbrev") || call.arguments.empty() ||
      !site.loops.empty()) {
    open_ = true;
    return;
  }
  Commands& commands = made_.commands[static_cast<std::size_t>(known->commands)];
  const int parser = all_parsers_++;
  results_[&call] = {parser, 0, -1};
  const auto add = [&](const Expr& expr) {
    if (const auto name = text(expr, {}))
      commands.names.emplace_back(*name, parser);
    else
      open_ = true;
  };
  add(*call.arguments[0]);
  const Expr* aliases = keyword(call, "aliases");
  const auto list = elements(aliases);
  if (aliases && !list) open_ = true;
  for (std::size_t i = 0; list && i < list->size(); ++i) add(*(*list)[i]);
}

void Declarations::argument(const CallExpr& call, const CallSite& site) {
  for (const Bindings& bound : iterations(site.loops)) {
    const auto known = receiver(call, site, bound);
    if (!known) unnamed_ = true;
    const Receiver of = known.value_or(Receiver{});
    if (of.commands >= 0 || !option(call, site, bound, of)) {
      open_ = true;
      return;
    }
  }
}

bool Declarations::option(const CallExpr& call, const CallSite& site, const Bindings& bound, Receiver of) {
  DeclaredOption made;
  made.where = {site.path, {call.span.begin + site.offset, call.span.end + site.offset}};
  made.parser = of.parser, made.exclusive = of.exclusive;
  for (const Expr* argument : call.arguments) {
    const auto flag = text(*argument, bound);
    if (!flag || flag->empty()) return false;
    made.flags.push_back(*flag);
  }
  if (made.flags.empty()) return false;
  values_of(made, call, bound);
  if (literal(keyword(call, "nargs")) == "..." ||
      (keyword(call, "nargs") && last_name(*keyword(call, "nargs")) == "REMAINDER"))
    return false;
  made.is_required = is_true(keyword(call, "required"));
  const Expr* otherwise = keyword(call, "default");
  made.has_default = spreads(call) || (otherwise && otherwise->kind != ExprKind::none);
  made.is_conditional = site.is_conditional || parsers_ == 0 || site.function != made_in_;
  made_.options.push_back(std::move(made));
  return true;
}

void Declarations::values_of(DeclaredOption& option, const CallExpr& call, const Bindings& bound) const {
  if (const Expr* nargs = keyword(call, "nargs")) {
    if (nargs->kind == ExprKind::integer)
      option.arity = Arity::number,
      option.count = static_cast<int>(std::clamp<std::int64_t>(as<IntegerExpr>(*nargs).value, 0, 1000));
    else if (nargs->kind == ExprKind::string)
      option.arity = arity_named(literal(nargs));
    else if (nargs->kind != ExprKind::none)
      option.arity = arity_named(last_name(*nargs));
  }
  if (const Expr* action = keyword(call, "action")) {
    const std::string_view written = literal(action);
    const auto* known = std::ranges::find(
        actions, written.empty() ? last_name(*action) : written, &Action::name);
    if (known == std::end(actions) || known->is_class != written.empty()) {
      option.arity = Arity::unknown;
    } else {
      if (!known->takes_words) option.arity = Arity::none;
      option.ends = option.ends || known->ends;
      for (std::size_t i = 0, size = known->has_opposite ? option.flags.size() : 0; i < size; ++i)
        if (option.flags[i].starts_with("--")) option.flags.push_back("--no-" + option.flags[i].substr(2));
    }
  }
  if (spreads(call)) option.arity = Arity::unknown;
  if (const Expr* type = keyword(call, "type")) {
    // `bool` takes every text for true.
    option.type = program::type_named(last_name(*type));
    if (option.type == ValueType::truth) option.type = ValueType::unknown;
  }
  if (spreads(call)) option.type = ValueType::unknown;
  const auto choices = elements(keyword(call, "choices"));
  for (std::size_t i = 0; choices && i < choices->size(); ++i) {
    const Expr& each = *(*choices)[i];
    const auto one = each.kind == ExprKind::string || each.kind == ExprKind::integer ||
            each.kind == ExprKind::name
        ? text(each, bound)
        : std::nullopt;
    if (!one) {
      option.choices.clear();
      break;
    }
    option.choices.push_back(*one);
  }
}

}  // namespace stepzero::rules::launch
