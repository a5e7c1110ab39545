#include "rules/training/unset_mode.hpp"

#include "rules/source.hpp"
#include "rules/training/parts.hpp"

#include <algorithm>

namespace stepzero::rules {

using namespace interpreter;
using namespace syntax;

namespace {

// train(), train(True), eval(), train(False); of anything else it is not known which mode it sets.
ModeCall mode_of(const CallExpr& call) {
  ModeCall mode;
  if (call.function->kind != ExprKind::attribute) return mode;
  const std::string_view name = as<AttributeExpr>(*call.function).attribute.text();
  if (name == "eval") mode.evaluates = true;
  if (name != "train") return mode;
  const bool plain = call.arguments.empty() && call.keywords.empty();
  const bool given = call.arguments.size() == 1 && call.arguments[0]->kind == ExprKind::boolean &&
      as<BooleanExpr>(*call.arguments[0]).value;
  mode.trains = plain || given;
  mode.evaluates = !mode.trains;
  return mode;
}

bool is_known_decorator(std::string_view text) {
  return std::ranges::any_of(std::initializer_list<std::string_view>{"no_grad", "inference_mode",
                                 "torch.compile", "staticmethod", "autocast"},
      [&](std::string_view name) { return text.find(name) != std::string_view::npos; });
}

}  // namespace

UnsetModes::UnsetModes(const Record& record) : record_(record) {
  visit_roots(record, [&](const Event& event) {
    if (event.kind != EventKind::operation || !sets_mode(static_cast<const OperationEvent&>(event)) ||
        !sets_eval(record, static_cast<const OperationEvent&>(event)))
      return;
    Parts parts;
    parts.add(static_cast<const OperationEvent&>(event).self);
    evaluated_.insert(parts.found.begin(), parts.found.end());
  });
  for (std::uint32_t i = 1; i < record.chunks.size(); ++i) {
    const ChunkOf& chunk = record.chunks[i];
    if (!chunk.statement()) continue;
    for_each_expression(*chunk.chunk->stmt, [&](const Expr& expr) {
      if (expr.kind != ExprKind::call) return;
      const auto& call = as<CallExpr>(expr);
      const FunctionStmt* function = function_around(record, {i, expr.span});
      if (call.function->kind == ExprKind::name)
        called_.emplace_back(as<NameExpr>(*call.function).id.text(), function);
      if (call.function->kind != ExprKind::attribute) return;
      called_.emplace_back(as<AttributeExpr>(*call.function).attribute.text(), function);
      if (as<AttributeExpr>(*call.function).attribute.text() == "load_state_dict")
        loads_.emplace_back(
            record.text({i, as<AttributeExpr>(*call.function).object->span}), Place{i, expr.span});
      ModeCall mode = mode_of(call);
      if (!mode.trains && !mode.evaluates) return;
      mode.place = {i, expr.span};
      mode.object = record.text({i, as<AttributeExpr>(*call.function).object->span});
      mode.function = function;
      calls_.push_back(mode);
    });
  }
}

bool UnsetModes::callers_set(const FunctionStmt& function) const {
  return std::ranges::any_of(called_, [&](const auto& each) {
    return each.first == function.name.text() && each.second != &function &&
        std::ranges::any_of(
            calls_, [&](const ModeCall& call) { return call.evaluates && call.function == each.second; });
  });
}

const ModeCall* UnsetModes::trained_elsewhere(const Evaluation& evaluation) const {
  const OperationEvent& forward = *evaluation.forward->event;
  const values::Function* function = function_of(evaluation);
  if (!function || !function->stmt || !record_.in_file(forward.place) || !is_named_evaluation(evaluation) ||
      function->stmt->name.text() == "forward")
    return nullptr;
  const FunctionStmt& stmt = *function->stmt;
  if (std::ranges::any_of(stmt.decorators, [&](const Expr* decorator) {
        return !is_known_decorator(record_.text({forward.place.chunk, decorator->span}));
      }))
    return nullptr;
  const std::string model = called_text(record_, forward);
  // What a helper with such a name does, it may do to the mode.
  if (model.empty() ||
      record_.text({forward.place.chunk, stmt.span}).find("eval_mode") != std::string_view::npos)
    return nullptr;
  const ModeCall* trained = nullptr;
  for (const ModeCall& call : calls_) {
    if (call.function == &stmt && call.evaluates) return nullptr;
    if (!call.trains || call.object != model || !record_.in_file(call.place)) continue;
    const bool behind = call.function == &stmt && call.place.chunk == forward.place.chunk &&
        call.place.span.begin > forward.place.span.end;
    const bool beside = call.function && call.function != &stmt &&
        (!model.starts_with("self.") || call.place.chunk == forward.place.chunk);
    if (behind || (beside && !trained)) trained = &call;
  }
  return trained && !callers_set(stmt) ? trained : nullptr;
}

Place UnsetModes::loaded_here(const Evaluation& evaluation) const {
  const OperationEvent& forward = *evaluation.forward->event;
  const std::string model = called_text(record_, forward);
  if (model.empty() || !record_.in_file(forward.place)) return {};
  // Any mode that is set here may be its own.
  if (std::ranges::any_of(calls_, [&](const ModeCall& call) { return record_.in_file(call.place); }))
    return {};
  const values::Function* function = function_of(evaluation);
  if (function && function->stmt && callers_set(*function->stmt)) return {};
  for (const auto& [object, place] : loads_)
    if (object == model && record_.in_file(place)) return place;
  return {};
}

}  // namespace stepzero::rules
