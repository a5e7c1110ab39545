#include "footprint/unseen.hpp"

#include "syntax/walk.hpp"
#include "values/kept_by_packages.hpp"

#include <algorithm>

namespace stepzero::footprint {

using interpreter::CallSite;
using syntax::as;
using syntax::Expr;
using syntax::ExprKind;
using syntax::Stmt;
using syntax::StmtKind;
using values::Kind;
using values::Place;

namespace {

// Values of code that is not seen have no history: who made them is read from the program's own assignments.
class Search {
public:
  explicit Search(const Account& account) : account_(account), record_(account.record()) {}

  std::vector<UnseenModel> find() {
    for (const ModelAccount& model : account_.models()) add_parts(model);
    for (const Optimizer& optimizer : account_.optimizers())
      if (!optimizer.complete) add_models_of(optimizer);
    for (const Value& value : account_.values()) add_model_of_trainer(value);
    if (found_.empty() && account_.models().empty()) add_models_of_file();
    return std::move(found_);
  }

private:
  static constexpr int most_steps = 6;

  // Where a name is looked up: in a function that was called from somewhere, or in a module.
  struct Scope {
    Place at;
    const CallSite* calls = nullptr;
  };

  std::string_view text(std::uint32_t chunk, const Expr& expr) const {
    return record_.text({chunk, expr.span});
  }
  std::string_view name_of(const ModelAccount& model) const {
    for (const interpreter::Fact& fact : record_.facts)
      if (fact.role == interpreter::Fact::Role::assignment && fact.value.is(Kind::instance) &&
          fact.value.as<Instance>() == model.object && record_.in_file(fact.place))
        return record_.text(fact.place);
    return {};
  }
  bool is_known(Place call) const {
    return std::ranges::any_of(account_.values(), [&](const Value& value) {
      const Value object = decided(record_, value);
      return object.is(Kind::instance) && object.object()->born == call;
    });
  }
  void add(UnseenModel model) {
    if (std::ranges::none_of(found_, [&](const UnseenModel& other) {
          return other.name == model.name && other.made_by == model.made_by;
        }))
      found_.push_back(std::move(model));
  }

  void add_parts(const ModelAccount& model) {
    const std::string_view name = name_of(model);
    for (const UnseenPart& part : model.tree.unseen) {
      std::string_view by = record_.text(part.made);
      by = by.substr(0, by.find('('));
      // What moves it does not make it.
      if (by.empty() || by.find_first_of("\n ") != std::string_view::npos || by.ends_with(".to") ||
          by.ends_with(".cuda"))
        continue;
      add({(name.empty() ? model.tree.modules[0].type : std::string(name)) + "." + part.path, std::string(by),
          part.made, nullptr});
    }
  }

  void add_model_of_trainer(const Value& value) {
    if (!value.is(Kind::instance)) return;
    const auto& trainer = *value.as<Instance>();
    const Value model = attribute(record_, trainer, values::TrainerState::model);
    const Expr* call = model.is(Kind::unknown) ? expression_at(trainer.born) : nullptr;
    if (!call || call->kind != ExprKind::call) return;
    const auto& made = as<syntax::CallExpr>(*call);
    const Expr* given = made.arguments.empty() ? nullptr : made.arguments[0];
    for (const syntax::Keyword& keyword : made.keywords)
      if (keyword.name.text() == "model") given = keyword.value;
    if (given) trace(trainer.born.chunk, *given, {trainer.born, nullptr}, nullptr, 0);
  }

  void add_models_of(const Optimizer& optimizer) {
    const Place at = optimizer.made->place;
    if (const Expr* call = expression_at(at); call && call->kind == ExprKind::call) {
      for (const Expr* argument : as<syntax::CallExpr>(*call).arguments)
        look(at.chunk, *argument, {at, optimizer.made->calls}, &optimizer, 0);
      for (const syntax::Keyword& keyword : as<syntax::CallExpr>(*call).keywords)
        look(at.chunk, *keyword.value, {at, optimizer.made->calls}, &optimizer, 0);
    }
  }

  // Whoever is given the parameters of a model may be unseen, too.
  void add_models_of_file() {
    for (std::uint32_t i = 1; i < record_.chunks.size(); ++i)
      if (record_.chunks[i].path == record_.path && record_.chunks[i].statement())
        syntax::for_each_expression(*record_.chunks[i].statement(), [&](const Expr& expr) {
          const Expr* function = expr.kind == ExprKind::call ? as<syntax::CallExpr>(expr).function : nullptr;
          if (function && function->kind == ExprKind::attribute &&
              as<syntax::AttributeExpr>(*function).attribute.text() == "parameters")
            trace(i, *as<syntax::AttributeExpr>(*function).object, {{i, expr.span}, nullptr}, nullptr, 0);
        });
  }

  const Expr* expression_at(Place place) const {
    const Stmt* root = place ? record_.chunk(place).statement() : nullptr;
    const Expr* found = nullptr;
    if (root)
      syntax::for_each_expression(*root, [&](const Expr& expr) {
        if (expr.span.begin == place.span.begin && expr.span.end == place.span.end)
          found = found ? found : &expr;
      });
    return found;
  }

  // The modules whose parameters the expression takes; a name stands for what was assigned to it.
  void look(
      std::uint32_t chunk, const Expr& given, const Scope& scope, const Optimizer* optimizer, int steps) {
    bool any = false;
    syntax::for_each_expression(given, [&](const Expr& expr) {
      if (expr.kind != ExprKind::call) return;
      const Expr& function = *as<syntax::CallExpr>(expr).function;
      if (function.kind != ExprKind::attribute) return;
      const std::string_view name = as<syntax::AttributeExpr>(function).attribute.text();
      if (name != "parameters" && name != "named_parameters") return;
      any = true;
      trace(chunk, *as<syntax::AttributeExpr>(function).object, scope, optimizer, 0);
    });
    if (any || steps > most_steps) return;
    syntax::for_each_expression(given, [&](const Expr& expr) {
      if (expr.kind != ExprKind::name) return;
      for (const auto& [at, value] : assigned(text(chunk, expr), scope))
        look(at, *value, scope, optimizer, steps + 1);
    });
  }

  // Who makes the module that the expression names?
  void trace(
      std::uint32_t chunk, const Expr& module, const Scope& scope, const Optimizer* optimizer, int steps) {
    if (steps > most_steps) return;
    if (module.kind == ExprKind::call)
      return made(chunk, module, record_.text({chunk, module.span}), {scope, optimizer, steps});
    if (module.kind != ExprKind::name && module.kind != ExprKind::attribute) return;
    const std::string name(text(chunk, module));
    const auto values = assigned(name, scope);
    for (const auto& [at, value] : values) {
      // An attribute is assigned in another function.
      const Scope there = name.find('.') == std::string::npos ? scope : Scope{{at, value->span}, nullptr};
      const Expr* call = value;
      // `create().to(device)` is what `create()` makes.
      while (call->kind == ExprKind::call &&
          as<syntax::CallExpr>(*call).function->kind == ExprKind::attribute &&
          as<syntax::AttributeExpr>(*as<syntax::CallExpr>(*call).function).object->kind == ExprKind::call)
        call = as<syntax::AttributeExpr>(*as<syntax::CallExpr>(*call).function).object;
      if (call->kind == ExprKind::call)
        made(at, *call, name, {there, optimizer, steps + 1});
      else
        trace(at, *call, there, optimizer, steps + 1);
    }
    if (!values.empty()) return;
    if (const auto given = argument(name, scope))
      trace(given->chunk, *given->value, given->scope, optimizer, steps + 1);
  }

  struct Way {
    Scope scope;
    const Optimizer* optimizer;
    int steps;
  };
  void made(std::uint32_t chunk, const Expr& call, std::string_view name, const Way& way) {
    const Place place{chunk, call.span};
    const Expr& function = *as<syntax::CallExpr>(call).function;
    const std::string_view by = text(chunk, function);
    // `model = model.to(device)` makes nothing.
    if (by.starts_with(name) && by.substr(name.size()).starts_with('.')) return;
    if (is_known(place) || by.find_first_of("\n( ") != std::string_view::npos) return;
    // What PyTorch wraps is what is made.
    if (by.starts_with("torch.") &&
        std::ranges::any_of(as<syntax::CallExpr>(call).arguments,
            [&](const Expr* each) { return text(chunk, *each) == name; }))
      return;
    if (!follow_returns(function, name, way)) add({std::string(name), std::string(by), place, way.optimizer});
  }

  // A function of the file: what it gives back. False: it is none.
  bool follow_returns(const Expr& function, std::string_view name, const Way& way) {
    const std::string_view called = syntax::last_name(function);
    bool is_own = false;
    if (way.steps > most_steps || called.empty()) return false;
    for (std::uint32_t i = 1; i < record_.chunks.size(); ++i) {
      const interpreter::ChunkOf& chunk = record_.chunks[i];
      if (chunk.path != record_.path || !chunk.statement()) continue;
      syntax::for_each_statement(*chunk.statement(), [&](const Stmt& stmt) {
        if (stmt.kind != StmtKind::function || as<syntax::FunctionStmt>(stmt).name.text() != called) return;
        is_own = true;
        syntax::for_each_statement(stmt, [&](const Stmt& inner) {
          if (inner.kind != StmtKind::return_ || !as<syntax::ReturnStmt>(inner).value) return;
          const Expr& value = *as<syntax::ReturnStmt>(inner).value;
          if (value.kind == ExprKind::call)
            made(i, value, name, {{{i, value.span}, nullptr}, way.optimizer, way.steps + 1});
          else
            trace(i, value, {{i, value.span}, nullptr}, way.optimizer, way.steps + 1);
        });
      });
    }
    return is_own;
  }

  struct Assigned {
    std::uint32_t chunk;
    const Expr* value;
  };
  // In the order of the text, of the function around and of the module; an attribute wherever it is assigned.
  std::vector<Assigned> assigned(std::string_view name, const Scope& scope) const {
    std::vector<Assigned> found;
    const interpreter::ChunkOf& own = record_.chunk(scope.at);
    const bool is_attribute = name.find('.') != std::string_view::npos;
    const std::uint32_t before = record_.span(scope.at).begin;
    for (std::uint32_t i = 1; i < record_.chunks.size(); ++i) {
      const interpreter::ChunkOf& chunk = record_.chunks[i];
      if (chunk.path != own.path || !chunk.statement()) continue;
      const bool is_own = i == scope.at.chunk;
      const auto add = [&](const Expr& target, const Expr* value) {
        if (value && text(i, target) == name && (is_attribute || chunk.absolute(target.span).begin < before))
          found.push_back({i, value});
      };
      const auto visit = [&](const auto& self, const Stmt& stmt) -> void {
        // What is local to another function is another variable.
        if (stmt.kind == StmtKind::function && !is_attribute && !(is_own && stmt.span.holds(scope.at.span)))
          return;
        if (stmt.kind == StmtKind::assign)
          for (const Expr* target : as<syntax::AssignStmt>(stmt).targets)
            add(*target, as<syntax::AssignStmt>(stmt).value);
        if (stmt.kind == StmtKind::ann_assign)
          add(*as<syntax::AnnAssignStmt>(stmt).target, as<syntax::AnnAssignStmt>(stmt).value);
        syntax::for_each_block(stmt, [&](syntax::Block block) {
          for (const Stmt* inner : block) self(self, *inner);
        });
      };
      visit(visit, *chunk.statement());
    }
    return found;
  }

  struct Given {
    std::uint32_t chunk;
    const Expr* value;
    Scope scope;
  };
  // What the caller gives for the parameter of the function around.
  std::optional<Given> argument(std::string_view name, const Scope& scope) const {
    if (!scope.calls) return {};
    const Expr* call = expression_at(scope.calls->place);
    const auto* function = scope.calls->function;
    if (!call || call->kind != ExprKind::call || !function || !function->parameters) return {};
    const auto& made = as<syntax::CallExpr>(*call);
    const Scope around{scope.calls->place, scope.calls->outer};
    const auto answer = [&](const Expr* value) { return Given{scope.calls->place.chunk, value, around}; };
    for (const syntax::Keyword& keyword : made.keywords)
      if (keyword.name.text() == name) return answer(keyword.value);
    std::size_t at = 0;
    for (const syntax::Parameter& parameter : function->parameters->list) {
      if (at == 0 && parameter.name.text() == "self") continue;
      if (parameter.name.text() == name) break;
      ++at;
    }
    return at < made.arguments.size() ? std::optional(answer(made.arguments[at])) : std::nullopt;
  }

  const Account& account_;
  const Record& record_;
  std::vector<UnseenModel> found_;
};

}  // namespace

std::vector<UnseenModel> unseen_models(const Account& account) { return Search(account).find(); }

}  // namespace stepzero::footprint
