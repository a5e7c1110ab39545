#include "rules/training/unset_mode.hpp"

#include "interpreter/calls/unseen.hpp"
#include "libraries/table/table.hpp"
#include "rules/name_hints.hpp"
#include "rules/source.hpp"
#include "rules/training/parts.hpp"

#include <algorithm>

namespace stepzero::rules {

using namespace interpreter;
using namespace syntax;

namespace {

// train(), train(True), eval(), train(False); train(flag) may set either.
ModeCall mode_of(const CallExpr& call) {
  ModeCall mode;
  if (call.function->kind != ExprKind::attribute) return mode;
  const values::Operation sets = mode_method(as<AttributeExpr>(*call.function).attribute.text());
  const bool plain = call.arguments.empty() && call.keywords.empty();
  // `evaluator.eval(results)` is another method.
  if (sets == values::Operation::eval_mode) mode.evaluates = plain;
  if (sets != values::Operation::train_mode) return mode;
  const bool one = call.arguments.size() == 1 && call.keywords.empty();
  const bool known = one && call.arguments[0]->kind == ExprKind::boolean;
  const bool open = one && call.arguments[0]->kind == ExprKind::name;
  mode.trains = plain || open || (known && as<BooleanExpr>(*call.arguments[0]).value);
  mode.evaluates = !mode.trains || open;
  return mode;
}

// Is it the model, or what a wrapper around it holds: `model.module` of a DataParallel?
bool is_inside(const Object* loaded, Value model) {
  if (loaded == model.object()) return true;
  if (model.is(values::Kind::unknown) && loaded == &interpreter::module_itself(*model.as<values::Unknown>()))
    return true;
  const auto* wrapper = model.is(values::Kind::instance) ? model.as<Instance>() : nullptr;
  const Value inner = wrapper && wrapper->native ? wrapper->attributes.value(Name("module")) : Value{};
  if (inner) return inner.object() == loaded;
  const auto* unseen = dynamic_cast<const values::Unknown*>(loaded);
  return unseen && interpreter::whole_of(*unseen) == model.object();
}

}  // namespace

UnsetModes::UnsetModes(const Record& record) : record_(record) {
  const auto is_asked = with_operation(values::Operation::state_put, values::Operation::load,
      values::Operation::eval_mode, values::Operation::train_mode);
  visit_operations(record, is_asked, [&](const OperationEvent& operation) {
    if (operation.row->operation == values::Operation::state_put && operation.self.object())
      loads_.emplace(operation.self.object(), LoadedWeights{operation.place});
    if (operation.row->operation == values::Operation::load && operation.result.is(values::Kind::unknown))
      loads_.emplace(operation.result.object(), LoadedWeights{operation.place, true});
    if (!sets_mode(operation) || !sets_eval(record, operation)) return;
    Parts parts;
    parts.add(operation.self);
    evaluated_.insert(parts.found.begin(), parts.found.end());
  });
}

UnsetModes::Written::Written(const Record& record) {
  for (std::uint32_t i = 1; i < record.chunks.size(); ++i) {
    const Stmt* const stmt = record.chunks[i].statement();
    if (!stmt) continue;
    std::vector<const FunctionStmt*> functions;  // an inner one after those around it
    for_each_statement(*stmt, [&](const Stmt& each) {
      if (each.kind == StmtKind::function) functions.push_back(&as<FunctionStmt>(each));
    });
    for_each_expression(*stmt, [&](const Expr& expr) {
      if (expr.kind != ExprKind::call) return;
      const auto around = std::find_if(functions.rbegin(), functions.rend(),
          [&](const FunctionStmt* each) { return each->span.holds(expr.span); });
      add(record, i, as<CallExpr>(expr), around == functions.rend() ? nullptr : *around);
    });
  }
}

void UnsetModes::Written::add(
    const Record& record, std::uint32_t chunk, const CallExpr& call, const FunctionStmt* function) {
  if (call.function->kind == ExprKind::name)
    called.emplace_back(as<NameExpr>(*call.function).id.text(), function);
  if (call.function->kind != ExprKind::attribute) return;
  ModeCall mode = mode_of(call);
  mode.object = record.text({chunk, as<AttributeExpr>(*call.function).object->span});
  // `model.eval()` is no call of a method `eval` beside it.
  if ((!mode.trains && !mode.evaluates) || mode.object == "self")
    called.emplace_back(as<AttributeExpr>(*call.function).attribute.text(), function);
  if (!mode.trains && !mode.evaluates) return;
  mode.place = {chunk, call.span};
  mode.function = function;
  modes.push_back(mode);
}

bool UnsetModes::callers_set(const FunctionStmt& function) const {
  return std::ranges::any_of(written().called, [&](const auto& each) {
    return each.first == function.name.text() && each.second != &function &&
        std::ranges::any_of(written().modes,
            [&](const ModeCall& call) { return call.evaluates && call.function == each.second; });
  });
}

const OperationEvent* UnsetModes::trained_after(const Evaluation& evaluation) const {
  const ModelCall& forward = evaluation.call;
  const auto& all = evaluation.training_root->all;
  if (evaluation.mode || !record_.in_file(forward.place)) return nullptr;
  for (auto it = std::ranges::find(all, evaluation.forward->event, &TrainingEvent::event); it != all.end();
      ++it) {
    if (!sets_mode(*it->event) || it->event->self.object() != forward.self.object()) continue;
    const bool own = it->event->calls == forward.calls && record_.in_file(it->event->place);
    return own && !sets_eval(record_, *it->event) && it->event->arguments.empty() ? it->event : nullptr;
  }
  return nullptr;
}

const ModeCall* UnsetModes::trained_elsewhere(const Evaluation& evaluation) const {
  const ModelCall& forward = evaluation.call;
  const values::Function* function = function_of(evaluation);
  if (!function || !function->stmt || !record_.in_file(forward.place) || !is_named_evaluation(evaluation) ||
      function->stmt->name.text() == libraries::table().types().forward)
    return nullptr;
  const FunctionStmt& stmt = *function->stmt;
  if (std::ranges::any_of(
          stmt.decorators, [&](const Expr* decorator) { return !names(*decorator, Says::keeping_mode); }))
    return nullptr;
  const std::string model = called_text(record_, forward);
  // What a helper with such a name does, it may do to the mode.
  if (model.empty() || names(stmt, Says::setting_mode)) return nullptr;
  const ModeCall* trained = nullptr;
  for (const ModeCall& call : written().modes) {
    if (call.function == &stmt && call.evaluates) return nullptr;
    if (!call.trains || call.object != model || !record_.in_file(call.place)) continue;
    const bool after = call.function == &stmt && call.place.chunk == forward.place.chunk &&
        call.place.span.begin > forward.place.span.end;
    const bool beside = call.function && call.function != &stmt &&
        (!model.starts_with("self.") || call.place.chunk == forward.place.chunk);
    if (after || (beside && !trained)) trained = &call;
  }
  return trained && !callers_set(stmt) ? trained : nullptr;
}

// Does it go through a loader, by its name, for what the model makes of its batches?
static bool asks_batches(const Evaluation& evaluation) {
  const values::Function* function = function_of(evaluation);
  return function && evaluation.loop && evaluation.loop->stmt &&
      evaluation.loop->stmt->kind == StmtKind::for_ &&
      names(*as<ForStmt>(*evaluation.loop->stmt).iterable, Says::loader) &&
      !says(function->name.text(), Says::renewing_statistics) &&
      !names(*evaluation.loop->stmt, Says::renewing_statistics);
}

bool UnsetModes::left_to_callers(const Evaluation& evaluation) const {
  const ModelCall& forward = evaluation.call;
  const values::Function* function = function_of(evaluation);
  if (evaluation.mode || !function || !function->stmt || !function->parameters ||
      !record_.in_file(forward.place) || !(is_named_evaluation(evaluation) || asks_batches(evaluation)) ||
      function->stmt->name.text() == libraries::table().types().forward)
    return false;
  const FunctionStmt& stmt = *function->stmt;
  const std::string model = called_text(record_, forward);
  const bool given = std::ranges::any_of(
      function->parameters->list, [&](const Parameter& parameter) { return parameter.name.text() == model; });
  const bool sets = std::ranges::any_of(
      written().modes, [&](const ModeCall& call) { return call.function == &stmt; });
  // What is given the model may set its mode.
  bool handed = false;
  for_each_expression(stmt, [&](const Expr& expr) {
    if (expr.kind != ExprKind::call) return;
    for (const Expr* argument : as<CallExpr>(expr).arguments)
      handed = handed || record_.text({function->chunk, argument->span}) == model;
  });
  if (handed) return false;
  const bool is_criterion = says(model, Says::criterion);
  return given && !is_criterion && !sets && !names(stmt, Says::setting_mode) && !callers_set(stmt) &&
      std::ranges::all_of(
          stmt.decorators, [&](const Expr* decorator) { return names(*decorator, Says::keeping_mode); });
}

LoadedWeights UnsetModes::loaded_here(const Evaluation& evaluation) const {
  const ModelCall& forward = evaluation.call;
  const std::string model = called_text(record_, forward);
  if (model.empty() || !record_.in_file(forward.place)) return {};
  const values::Function* function = function_of(evaluation);
  // Any mode that is set here may be its own, but that of a model that is given beside it.
  const auto is_parameter = [&](std::string_view name) {
    return function && function->parameters &&
        std::ranges::any_of(function->parameters->list,
            [&](const Parameter& parameter) { return parameter.name.text() == name; });
  };
  if (std::ranges::any_of(written().modes, [&](const ModeCall& call) {
        return record_.in_file(call.place) &&
            !(call.object != model && is_parameter(call.object) && is_parameter(model));
      }))
    return {};
  if (function && function->stmt && callers_set(*function->stmt)) return {};
  // A helper in another file may set the mode where it loads.
  const auto sets_modes = [&](Place place) {
    return std::ranges::any_of(written().modes,
        [&](const ModeCall& call) { return record_.chunk(call.place).path == record_.chunk(place).path; });
  };
  for (const auto& [object, load] : loads_)
    if (load.place && is_inside(object, forward.self) &&
        (record_.in_file(load.place) || !sets_modes(load.place)))
      return load;
  return {};
}

}  // namespace stepzero::rules
