#include "syntax/attribute_writes.hpp"

#include "syntax/walk.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>

namespace stepzero::syntax {
namespace {

template <std::size_t N> bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::ranges::find(names, name) != names.end();
}

// Whoever reads, calls or defines one of these sets attributes whose names do not stand in the text.
constexpr std::array<std::string_view, 13> computing = {"setattr", "__setattr__", "__dict__", "vars",
    "locals", "__slots__", "__getattr__", "__getattribute__", "__new__", "metaclass", "copyreg",
    "__setstate__", "__set_name__"};
constexpr std::array<std::string_view, 4> registering = {
    "register_buffer", "register_parameter", "register_module", "add_module"};

class Collector {
public:
  Collector(std::string_view text, std::vector<std::string_view>& names, bool& computes, bool& computes_own,
      bool& registers)
      : text_(text), names_(names), computes_(computes), computes_own_(computes_own), registers_(registers) {}

  void statement(const Stmt& stmt) {
    switch (stmt.kind) {
    case StmtKind::assign:
      for (const Expr* each : as<AssignStmt>(stmt).targets) variable(each);
      break;
    case StmtKind::aug_assign: variable(as<AugAssignStmt>(stmt).target); break;
    case StmtKind::ann_assign: variable(as<AnnAssignStmt>(stmt).target); break;
    case StmtKind::delete_:
      for (const Expr* each : as<DeleteStmt>(stmt).targets) target(each);
      break;
    case StmtKind::for_: target(as<ForStmt>(stmt).target); break;
    case StmtKind::if_: guarded(as<IfStmt>(stmt)); break;
    case StmtKind::with:
      for (const WithItem& item : as<WithStmt>(stmt).items) target(item.target);
      break;
    case StmtKind::import:
    case StmtKind::import_from: imported(stmt); break;
    case StmtKind::function: function(as<FunctionStmt>(stmt)); break;
    case StmtKind::class_: class_of(as<ClassStmt>(stmt)); break;
    case StmtKind::error: words(stmt.span); break;
    default: break;
    }
  }

  void expression(const Expr& expr) {
    switch (expr.kind) {
    case ExprKind::string: first_word(as<StringExpr>(expr).value); break;
    case ExprKind::name:
      if (!guarded_.contains(&expr)) mentioned(as<NameExpr>(expr).id.text());
      break;
    case ExprKind::attribute: mentioned(as<AttributeExpr>(expr).attribute.text()); break;
    case ExprKind::call: call(as<CallExpr>(expr)); break;
    case ExprKind::lambda: parameters(*as<LambdaExpr>(expr).parameters); break;
    case ExprKind::error: words(expr.span); break;
    default: break;
    }
  }

private:
  // `if hasattr(config, name): setattr(config, name, value)` sets only what is there.
  void guarded(const IfStmt& stmt) {
    const auto* asks = call_of(*stmt.test, "hasattr", 2);
    if (!asks) return;
    for (const Stmt* part : stmt.body)
      for_each_expression(*part, [&](const Expr& expr) {
        const auto* sets = call_of(expr, "setattr", 3);
        if (sets && text_of(*sets->arguments[0]) == text_of(*asks->arguments[0]) &&
            text_of(*sets->arguments[1]) == text_of(*asks->arguments[1]))
          guarded_.insert(sets->function);
      });
  }
  void own(const FunctionStmt& method) {
    if (method.parameters->list.empty()) return;
    const Name self = method.parameters->list.front().name;
    for_each_expression(method, [&](const Expr& expr) {
      const auto* sets = call_of(expr, "setattr", 3);
      if (!sets || sets->arguments[0]->kind != ExprKind::name ||
          as<NameExpr>(*sets->arguments[0]).id != self || !guarded_.insert(sets->function).second)
        return;
      computes_own_ = true;
    });
  }
  static const CallExpr* call_of(const Expr& expr, std::string_view function, std::size_t arguments) {
    if (expr.kind != ExprKind::call) return nullptr;
    const auto& call = as<CallExpr>(expr);
    return call.function->kind == ExprKind::name && as<NameExpr>(*call.function).id.text() == function &&
            call.arguments.size() == arguments && call.keywords.empty()
        ? &call
        : nullptr;
  }
  std::string_view text_of(const Expr& expr) const {
    return text_.substr(
        std::min<std::size_t>(expr.span.begin, text_.size()), expr.span.end - expr.span.begin);
  }
  void add(std::string_view name) {
    if (!name.empty()) names_.push_back(name);
  }
  void mentioned(std::string_view name) { computes_ = computes_ || is_one_of(name, computing); }
  void defined(Name name) {
    add(name.text());
    mentioned(name.text());
  }

  // A variable by itself may be one of a class, and so an attribute.
  void variable(const Expr* expr) {
    if (expr->kind == ExprKind::name)
      defined(as<NameExpr>(*expr).id);
    else
      target(expr);
  }

  // Every attribute in it that an assignment sets.
  void target(const Expr* expr) {
    if (!expr) return;
    switch (expr->kind) {
    case ExprKind::attribute: defined(as<AttributeExpr>(*expr).attribute); break;
    case ExprKind::starred: target(as<StarredExpr>(*expr).value); break;
    case ExprKind::tuple:
      for (const Expr* each : as<TupleExpr>(*expr).elements) target(each);
      break;
    case ExprKind::list:
      for (const Expr* each : as<ListExpr>(*expr).elements) target(each);
      break;
    case ExprKind::subscript: for_each_expression(*expr, [&](const Expr& part) { expression(part); }); break;
    case ExprKind::error: words(expr->span); break;
    default: break;
    }
  }

  void call(const CallExpr& call) {
    for (const Keyword& keyword : call.keywords) defined(keyword.name);
    const std::string_view name = call.function->kind == ExprKind::attribute
        ? as<AttributeExpr>(*call.function).attribute.text()
        : call.function->kind == ExprKind::name ? as<NameExpr>(*call.function).id.text()
                                                : std::string_view{};
    if (is_one_of(name, registering) &&
        (call.arguments.empty() || call.arguments[0]->kind != ExprKind::string))
      registers_ = true;
  }

  void parameters(const Parameters& parameters) {
    for (const Parameter& parameter : parameters.list) {
      if (parameter.annotation || parameter.default_value) add(parameter.name.text());
      for (const Expr* part : {parameter.annotation, parameter.default_value})
        if (part) for_each_expression(*part, [&](const Expr& inner) { expression(inner); });
    }
  }

  void imported(const Stmt& stmt) {
    for (const Alias& alias :
        stmt.kind == StmtKind::import ? as<ImportStmt>(stmt).names : as<ImportFromStmt>(stmt).names)
      for (const Name part : alias.path) mentioned(part.text());
  }

  void decorators(const List<const Expr*>& decorators) {
    for (const Expr* decorator : decorators)
      for_each_expression(*decorator, [&](const Expr& part) { expression(part); });
  }
  void function(const FunctionStmt& function) {
    defined(function.name);
    decorators(function.decorators);
    parameters(*function.parameters);
  }
  void class_of(const ClassStmt& cls) {
    for (const Stmt* each : cls.body)
      if (each->kind == StmtKind::function) own(as<FunctionStmt>(*each));
    defined(cls.name);
    decorators(cls.decorators);
    for (const Expr* base : cls.bases)
      for_each_expression(*base, [&](const Expr& part) { expression(part); });
    for (const Keyword& keyword : cls.keywords) defined(keyword.name);
  }

  void first_word(std::string_view value) {
    const auto end = std::ranges::find_if_not(value, is_name_byte);
    add(value.substr(0, static_cast<std::size_t>(end - value.begin())));
  }

  // What is not Python yet may be anything. The text is not kept: its words are interned.
  void words(Span span) {
    const std::string_view broken = text_.substr(
        std::min<std::size_t>(span.begin, text_.size()), span.end - span.begin);
    for (std::size_t i = 0; i < broken.size();) {
      std::size_t end = i;
      while (end < broken.size() && is_name_byte(broken[end])) ++end;
      if (end > i) defined(Name(broken.substr(i, end - i)));
      i = end + 1;
    }
  }

  std::string_view text_;
  std::set<const Expr*> guarded_;  // names `setattr` of calls that set nothing on other objects
  std::vector<std::string_view>& names_;
  bool& computes_;
  bool& computes_own_;
  bool& registers_;
};

}  // namespace

AttributeWrites::AttributeWrites(const Stmt& stmt, std::string_view text) {
  Collector collector(text, names_, computes_, computes_own_, registers_);
  for_each_statement(stmt, [&](const Stmt& each) { collector.statement(each); });
  for_each_expression(stmt, [&](const Expr& each) { collector.expression(each); });
  std::ranges::sort(names_);
  names_.erase(std::ranges::unique(names_).begin(), names_.end());
  names_.shrink_to_fit();
}

bool registers_attribute(std::string_view method) { return is_one_of(method, registering); }

bool AttributeWrites::names(std::string_view name) const { return std::ranges::binary_search(names_, name); }

}  // namespace stepzero::syntax
