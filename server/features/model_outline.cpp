#include "server/features/model_outline.hpp"

#include "server/features/model_flow.hpp"
#include "server/features/symbols.hpp"

#include <map>
#include <set>

namespace stepzero::server {
namespace {

using namespace syntax;

// The classes of a file that are models, wherever they stand.
void names_of_models(const std::vector<Symbol>& symbols, std::set<std::uint32_t>& places) {
  for (const Symbol& symbol : symbols) {
    if (symbol.kind == Symbol::Kind::model) places.insert(symbol.place.begin);
    names_of_models(symbol.children, places);
  }
}

class Outlines {
public:
  Outlines(const Analysis& analysis, std::set<std::uint32_t> models)
      : facts_(*analysis.module->text, analysis.result.facts), models_(std::move(models)) {
    for (const Item& item : analysis.module->items) {
      if (!item.chunk || !item.chunk->stmt) continue;
      offset_ = item.offset;
      statement(*item.chunk->stmt);
    }
  }
  std::vector<ModelOutline> take() { return std::move(made_); }

private:
  Span absolute(Span span) const { return {span.begin + offset_, span.end + offset_}; }
  std::string text(Span span) const { return facts_.text(absolute(span)); }

  void block(Block body) {
    for (const Stmt* each : body) statement(*each);
  }
  void statement(const Stmt& stmt) {
    switch (stmt.kind) {
    case StmtKind::class_:
      if (models_.contains(absolute(as<ClassStmt>(stmt).name_span).begin)) model(as<ClassStmt>(stmt));
      return block(as<ClassStmt>(stmt).body);
    case StmtKind::function: return block(as<FunctionStmt>(stmt).body);
    case StmtKind::if_: block(as<IfStmt>(stmt).body); return block(as<IfStmt>(stmt).orelse);
    case StmtKind::try_: return block(as<TryStmt>(stmt).body);
    case StmtKind::with: return block(as<WithStmt>(stmt).body);
    default: return;
    }
  }

  void model(const ClassStmt& stmt) {
    ModelOutline outline;
    outline.name = text(stmt.name_span);
    outline.line = facts_.line(absolute(stmt.name_span).begin);
    for (const Stmt* each : stmt.body)
      if (each->kind == StmtKind::function && !as<FunctionStmt>(*each).parameters->list.empty())
        layers(as<FunctionStmt>(*each).body, text(as<FunctionStmt>(*each).parameters->list.front().span),
            outline.layers);
    std::map<std::string, std::string> types;
    for (const ModelLayer& layer : outline.layers) types.emplace(layer.name, layer.type);
    for (const Stmt* each : stmt.body)
      if (each->kind == StmtKind::function && text(as<FunctionStmt>(*each).name_span) == "forward")
        outline.flow = flow_of(as<FunctionStmt>(*each), offset_, facts_, types);
    made_.push_back(std::move(outline));
  }

  // What is assigned to attributes of the object and is a module, as the run says.
  void layers(Block body, const std::string& self, std::vector<ModelLayer>& made) {
    for (const Stmt* each : body) {
      if (each->kind == StmtKind::if_) {
        layers(as<IfStmt>(*each).body, self, made);
        layers(as<IfStmt>(*each).orelse, self, made);
      }
      if (each->kind != StmtKind::assign) continue;
      for (const Expr* target : as<AssignStmt>(*each).targets) {
        const std::string name = text(target->span);
        const snapshot::Fact* fact = facts_.at(absolute(target->span));
        if (!name.starts_with(self + ".") || !fact || fact->value.kind != "module") continue;
        const std::string last = name.substr(self.size() + 1);
        bool known = false;
        for (const ModelLayer& other : made) known = known || other.name == last;
        if (known) continue;
        ModelLayer layer = part(*as<AssignStmt>(*each).value);
        layer.name = last;
        layer.type = fact->value.value;
        layer.line = facts_.line(absolute(target->span).begin);
        made.push_back(std::move(layer));
      }
    }
  }

  static bool has_parts(const std::string& type) {
    return type == "Sequential" || type == "ModuleList" || type == "ModuleDict";
  }

  // What an expression makes: a layer, with the layers that it is given.
  ModelLayer part(const Expr& expr) {
    ModelLayer layer;
    layer.line = facts_.line(absolute(expr.span).begin);
    const snapshot::Fact* fact = facts_.at(absolute(expr.span));
    if (fact && fact->value.kind == "module") layer.type = fact->value.value;
    if (expr.kind != ExprKind::call) {
      if (layer.type.empty()) layer.type = text(expr.span);
      return layer;
    }
    const auto& call = as<CallExpr>(expr);
    if (layer.type.empty()) {
      const std::string function = text(call.function->span);
      layer.type = function.substr(function.rfind('.') + 1);
    }
    for (const Expr* argument : call.arguments) {
      if (has_parts(layer.type) && parts(*argument, layer)) continue;
      layer.arguments += (layer.arguments.empty() ? "" : ", ") + value(*argument);
    }
    for (const Keyword& keyword : call.keywords)
      layer.arguments += (layer.arguments.empty() ? "" : ", ") +
          text(keyword.span).substr(0, text(keyword.span).find('=') + 1) + value(*keyword.value);
    return layer;
  }

  bool parts(const Expr& argument, ModelLayer& into) {
    switch (argument.kind) {
    case ExprKind::call: into.parts.push_back(part(argument)); return true;
    case ExprKind::list:
      for (const Expr* each : as<ListExpr>(argument).elements) into.parts.push_back(part(*each));
      return true;
    case ExprKind::starred: return parts(*as<StarredExpr>(argument).value, into);
    case ExprKind::dict:
      for (const DictItem& item : as<DictExpr>(argument).items) {
        into.parts.push_back(part(*item.value));
        if (item.key) into.parts.back().name = text(item.key->span);
      }
      return true;
    case ExprKind::comprehension: {
      const auto& comprehension = as<ComprehensionExpr>(argument);
      ModelLayer each = part(*comprehension.element);
      for (const Generator& generator : comprehension.generators)
        each.repeated += (each.repeated.empty() ? "" : ", ") + value_of_range(*generator.iterable);
      into.parts.push_back(std::move(each));
      return true;
    }
    default: return false;
    }
  }

  std::string value_of_range(const Expr& iterable) {
    if (iterable.kind != ExprKind::call || as<CallExpr>(iterable).arguments.size() != 1 ||
        text(as<CallExpr>(iterable).function->span) != "range")
      return text(iterable.span);
    return value(*as<CallExpr>(iterable).arguments[0]);
  }

  // The number that the run knows, else the text.
  std::string value(const Expr& expr) {
    const snapshot::Fact* fact = facts_.at(absolute(expr.span));
    const bool number = fact && (fact->value.kind == "int" || fact->value.kind == "float") &&
        !fact->value.value.empty() && fact->value.value != "?";
    return number ? fact->value.value : text(expr.span);
  }

  FactsAt facts_;
  std::set<std::uint32_t> models_;
  std::uint32_t offset_ = 0;
  std::vector<ModelOutline> made_;
};

}  // namespace

std::vector<ModelOutline> model_outlines(const Analysis& analysis) {
  if (!analysis.module) return {};
  std::set<std::uint32_t> models;
  names_of_models(symbols(analysis), models);
  if (models.empty()) return {};
  return Outlines(analysis, std::move(models)).take();
}

}  // namespace stepzero::server
