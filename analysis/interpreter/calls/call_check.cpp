// Calls of what the program defines that do not fit the signature: Python raises a TypeError before anything
// runs. Told only where the function is the one that is called, and takes what is written: not where a
// decorator, a metaclass or a derived class may have another.
#include "interpreter/calls/call_check.hpp"

#include "values/shape_text.hpp"

#include "interpreter/reasons.hpp"
#include "interpreter/statements/module_loader.hpp"

#include "interpreter/classes/abstract.hpp"
#include "syntax/spelling.hpp"
#include "syntax/walk.hpp"
#include "values/limits.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

namespace {

bool does_nothing(const values::Function& function) {
  if (!function.stmt) return false;
  return std::ranges::all_of(function.stmt->body, [](const Stmt* stmt) {
    if (stmt->kind == StmtKind::pass || stmt->kind == StmtKind::raise || only_names_not_implemented(*stmt))
      return true;
    if (stmt->kind != StmtKind::expression) return false;
    const auto kind = as<ExpressionStmt>(*stmt).value->kind;
    return kind == ExprKind::string || kind == ExprKind::ellipsis;
  });
}
// Is each base of the classes one of them, or the library's nearest? A base that is not, as `property` and
// `type`, may have a constructor.
bool bases_known(const values::Class& cls) {
  constexpr std::string_view plain[] = {"object", "ABC", "Generic", "Protocol"};
  for (const values::Class* each : cls.order) {
    if (each->open || !each->stmt) return false;
    for (const Expr* base : each->stmt->bases) {
      const Expr& named = base->kind == ExprKind::subscript ? *as<SubscriptExpr>(*base).object : *base;
      const std::string_view name = last_name(named);
      const bool own = std::ranges::any_of(
          cls.order, [&](const values::Class* other) { return other->name.text() == name; });
      const bool native = each->native && each->native->row && each->native->path.ends_with(name);
      if (name.empty() || (!own && !native && std::ranges::find(plain, name) == std::end(plain)))
        return false;
    }
  }
  return true;
}
bool is_typo(std::string_view written, std::string_view meant) {
  return written.size() > 2 && meant.size() > 2 &&
      letters_between(written, meant) <= (std::min(written.size(), meant.size()) > 4 ? 2u : 1u);
}

// `Net(…)(x)`: the object that is called is the one that is made there.
bool is_made_there(Value self, const CallExpr& expr) {
  if (expr.function->kind != ExprKind::call || !self.is(Kind::instance)) return false;
  const auto& object = *self.as<values::Instance>();
  return object.cls && !object.symbolic &&
      last_name(*as<CallExpr>(*expr.function).function) == object.cls->name.text();
}

// What is wrong with the call; none: nothing is known to be.
std::optional<Refusal> misfit(const values::Function& function, const Arguments& arguments,
    const CallExpr& expr, std::string_view called, bool bound) {
  const auto& list = function.parameters->list;
  // Nearly all calls fit: nothing is worded before.
  const auto named_call = [&] { return values::code(called); };
  std::size_t places = 0;
  bool takes_rest = false, takes_options = false;
  for (const Parameter& parameter : list) {
    takes_rest = takes_rest || parameter.kind == ParameterKind::var_positional;
    takes_options = takes_options || parameter.kind == ParameterKind::var_keyword;
    places += parameter.kind == ParameterKind::positional_only || parameter.kind == ParameterKind::normal;
  }
  const auto takes = [&](Name keyword) {
    return std::ranges::any_of(list, [&](const Parameter& parameter) {
      return parameter.name == keyword &&
          (parameter.kind == ParameterKind::normal || parameter.kind == ParameterKind::keyword_only);
    });
  };
  if (!takes_options)
    for (const auto& [keyword, value] : arguments.keywords) {
      // Of `**unknown` it is not known which are there.
      const bool written = std::ranges::any_of(
          expr.keywords, [&](const Keyword& each) { return each.name == keyword; });
      if (takes(keyword) || (arguments.spread && !written)) continue;
      const auto meant = std::ranges::find_if(list, [&](const Parameter& parameter) {
        return is_typo(keyword.text(), parameter.name.text()) && takes(parameter.name);
      });
      return NoSuchArgument{named_call(), std::string(keyword.text()),
          std::string(meant == list.end() ? std::string_view() : meant->name.text())};
    }
  if (arguments.spread) return std::nullopt;
  const std::size_t own = bound ? 1 : 0;
  if (arguments.positional.size() > places && !takes_rest) {
    if (places < own) return why<Reason::no_self>(named_call());
    return TooManyArguments{named_call(), places - own, arguments.positional.size() - own};
  }
  std::size_t at = 0;
  std::string missing, last;  // the last one by itself: "`a`, `b` and `c`"
  std::size_t lacking = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Parameter& parameter = list[i];
    const bool by_place = parameter.kind == ParameterKind::positional_only ||
        parameter.kind == ParameterKind::normal;
    if (!by_place && parameter.kind != ParameterKind::keyword_only) continue;
    const bool placed = by_place && at++ < arguments.positional.size();
    const bool named = parameter.kind != ParameterKind::positional_only &&
        std::ranges::any_of(
            arguments.keywords, [&](const auto& each) { return each.first == parameter.name; });
    if (placed && named) return why<Reason::argument_twice>(named_call(), parameter.name.text());
    if (placed || named || (i < function.defaults.size() && function.defaults[i]) || parameter.default_value)
      continue;
    if (lacking++) missing += (missing.empty() ? "" : ", ") + last;
    last = values::code(parameter.name.text());
  }
  if (!lacking) return std::nullopt;
  return why<Reason::missing_arguments>(
      named_call(), lacking > 1, missing + (missing.empty() ? "" : " and ") + last);
}
}  // namespace

bool CallCheck::can_be_judged(const values::Function& function, const CallExpr& expr) const {
  if (function.altered || function.wrapped_unseen || function.wrapped_guard || !function.parameters)
    return false;
  // Of an installed library there may be another version where the program runs.
  if (function.closure && run_.loader_->installed_module(function.closure->globals)) return false;
  // What a table or another call gives back may be another function than the one that is known.
  return !last_name(*expr.function).empty() || expr.function->kind == ExprKind::call;
}

// May the object be of a class that has a method of its own in the place of this one?
bool CallCheck::may_be_another(const values::Function& function, Value self, const CallExpr& expr) const {
  if (self.is(Kind::class_)) return true;
  if (!self.is(Kind::instance) || !self.as<values::Instance>()->cls) return false;
  const auto& object = *self.as<values::Instance>();
  // Asked of the classes above: what is found there is found whatever derives from this one, as long as
  // nobody stands between.
  if (expr.function->kind == ExprKind::attribute &&
      run_.find_in_order(object.cls->order, function.name) != Value::of(Kind::function, &function))
    return false;
  return object.symbolic;
}

bool CallCheck::refuses(const values::Function& function, const Arguments& arguments, Value self, Place where,
    const CallExpr& expr, const values::Class* made) {
  if (!can_be_judged(function, expr) || (expr.function->kind == ExprKind::call && !is_made_there(self, expr)))
    return false;
  const std::string_view callee = made ? made->name.text()
      : function.lambda                ? last_name(*expr.function)
                                       : function.name.text();
  if (callee.empty()) return false;
  std::optional<Refusal> refusal = misfit(function, arguments, expr, callee, static_cast<bool>(self));
  if (!refusal) return false;
  if (const values::Class* cls = made ? made
          : self.is(Kind::instance)   ? self.as<values::Instance>()->cls
          : self.is(Kind::class_)     ? self.as<values::Class>()
                                      : nullptr;
      cls && !bases_known(*cls))
    return false;
  const std::string called(callee);
  // `cls(…)` and `type(self)(…)` may make an object of a derived class.
  bool another = made ? last_name(*expr.function) == "cls" || last_name(*expr.function).empty() ||
          last_name(*expr.function) == "__class__"
                      : may_be_another(function, self, expr);
  if (another && self.is(Kind::instance) && self.as<values::Instance>()->cls) {
    const values::Class* cls = self.as<values::Instance>()->cls;
    const bool overridden = (made ? is_abstract_class(*made) : does_nothing(function)) ||
        std::ranges::any_of(run_.classes_, [&](const values::Class* each) {
          return each != cls && std::ranges::find(each->order, cls) != each->order.end() &&
              run_.find_in_order(each->order, function.name) != Value::of(Kind::function, &function);
        });
    if (overridden) return false;
    refusal = UnlessOverridden{
        std::make_shared<const RefusalBox>(std::move(*refusal)), made ? std::string() : called};
  }
  ProblemEvent* event = run_.problem_at(values::ProblemKind::own_call, where, &expr);
  explain(*event, std::move(*refusal));
  // Which module an object was given, and how its method calls that, may hang on one question that the run
  // answers twice: no proof.
  const bool of_module = run_.site_ && self.is(Kind::instance) && self.as<values::Instance>()->native &&
      function.name.text() == run_.library_.types().forward;
  event->overridable = another || of_module;
  event->evidence.emplace_back(function.born, "`" + called + "` is defined here");
  return !event->guarded && !another;
}

// The constructor that dataclass makes.
bool CallCheck::refuses_fields(
    const values::Class& cls, const Arguments& arguments, Place where, const CallExpr& expr) {
  if (cls.open || cls.native || arguments.spread ||
      std::ranges::any_of(cls.order, [](const values::Class* each) { return !each->is_dataclass; }))
    return false;
  const std::string name = values::code(cls.name.text());
  std::optional<Refusal> refusal;
  std::size_t places = 0;
  for (const values::ClassField& field : cls.fields) places += field.in_init && !field.keyword_only;
  if (arguments.positional.size() > places)
    refusal = TooManyArguments{name, places, arguments.positional.size()};
  for (const auto& [keyword, value] : arguments.keywords) {
    if (refusal || std::ranges::any_of(cls.fields, [&](const values::ClassField& field) {
          return field.in_init && field.name == keyword;
        }))
      continue;
    refusal = why<Reason::no_field>(name, keyword.text());
    for (const values::ClassField& field : cls.fields)
      if (is_typo(keyword.text(), field.name.text()))
        refusal = why<Reason::other_field>(name, keyword.text(), field.name.text());
  }
  std::size_t at = 0;
  for (const values::ClassField& field : cls.fields) {
    if (!field.in_init || refusal) continue;
    const bool placed = !field.keyword_only && at++ < arguments.positional.size();
    const bool named = std::ranges::any_of(
        arguments.keywords, [&](const auto& each) { return each.first == field.name; });
    if (!placed && !named && !field.default_value && !field.factory)
      refusal = why<Reason::missing_field>(name, field.name.text());
  }
  if (!refusal) return false;
  ProblemEvent* event = run_.problem_at(values::ProblemKind::own_call, where, &expr);
  explain(*event, std::move(*refusal));
  event->evidence.emplace_back(cls.born, name + " is defined here");
  return !event->guarded;
}

// A class without a constructor takes nothing.
bool CallCheck::refuses_all(
    const values::Class& cls, const Arguments& arguments, Place where, const CallExpr& expr) {
  const bool plain = std::ranges::all_of(cls.order, [](const values::Class* each) {
    return !each->open && !each->native && each->holds == Kind::absent && !each->is_enum &&
        !each->is_dataclass && each->stmt && each->stmt->decorators.empty() && each->stmt->keywords.empty();
  });
  if (!plain || !bases_known(cls) || arguments.spread ||
      (arguments.positional.empty() && arguments.keywords.empty()) ||
      (!cls.order.empty() && cls.order.back()->globals &&
          run_.loader_->installed_module(cls.order.back()->globals)))
    return false;
  if (last_name(*expr.function) != cls.name.text()) return false;
  ProblemEvent* event = run_.problem_at(values::ProblemKind::own_call, where, &expr);
  explain(*event, why<Reason::no_constructor>(cls.name.text()));
  event->evidence.emplace_back(cls.born, "`" + std::string(cls.name.text()) + "` is defined here");
  return !event->guarded;
}

}  // namespace stepzero::interpreter
