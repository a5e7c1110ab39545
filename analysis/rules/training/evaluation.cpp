#include "rules/training/evaluation.hpp"

#include "libraries/table/table.hpp"
#include "rules/condition_text.hpp"
#include "rules/name_hints.hpp"
#include "rules/source.hpp"
#include "rules/training/absent.hpp"
#include "rules/training/handed.hpp"
#include "rules/training/parts.hpp"
#include "values/internal_rows.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <typeindex>

namespace stepzero::rules {

using namespace interpreter;
using values::Kind;
using values::Operation;

bool sets_mode(const OperationEvent& event) {
  return event.row->operation == Operation::eval_mode || event.row->operation == Operation::train_mode;
}
values::Operation mode_method(std::string_view name) {
  const values::Row* row = libraries::table().find("torch.nn.Module." + std::string(name));
  return row && (row->operation == Operation::eval_mode || row->operation == Operation::train_mode)
      ? row->operation
      : Operation::none;
}
bool sets_eval(const Record& record, const OperationEvent& event) {
  if (event.row->operation == Operation::eval_mode) return true;
  return event.row->operation == Operation::train_mode && !event.arguments.empty() &&
      event.arguments[0].is(Kind::boolean) &&
      record.symbols.decide(event.arguments[0].condition()) == Answer::no;
}

bool is_instead(const TrainingEvent& each, const TrainingEvent& forward) {
  return std::ranges::any_of(each.turns, [&](const Turn& turn) {
    return std::ranges::any_of(forward.turns,
        [&](const Turn& other) { return turn.branch == other.branch && turn.yes != other.yes; });
  });
}

namespace {

// Anything by which a loop may train, or use gradients otherwise.
bool uses_gradients(Operation operation) {
  switch (operation) {
  case Operation::backward:
  case Operation::gradient_asked:
  case Operation::gradient_written:
  case Operation::trained_from_here:
  case Operation::optimizer_step:
  case Operation::scaler_step: return true;
  default: return false;
  }
}

}  // namespace

namespace {

// Is it a call of a model? Of what is not seen its mode says so.
bool calls_model(const TrainingEvent& each) {
  const OperationEvent& event = *each.event;
  return event.row->operation == Operation::forward &&
      (event.self.is(Kind::instance) || event.self.is(Kind::unknown)) && !each.loops.empty() &&
      !each.in_handler;
}

bool is_module(const values::Class& cls) {
  return std::ranges::any_of(cls.order, [](const values::Class* base) {
    return base->native && base->native->path.starts_with(libraries::table().types().module);
  });
}

// The call of a method of a model, as of `model.generate(x)`, that the loop makes and that asked a part of
// the model; null: the part is asked by itself, or by the forward of a model.
const CallSite* asked_by_method(const OperationEvent& forward, const LoopEvent& loop) {
  const CallSite* found = nullptr;
  for (const CallSite* site = forward.calls; site && site != loop.calls; site = site->outer) {
    if (!site->function || !site->function->owner || !is_module(*site->function->owner)) continue;
    const std::string_view name = site->function->name.text();
    if (name == libraries::table().types().forward || name.starts_with("__")) return nullptr;
    found = site;
  }
  return found;
}

// Is it the model, or a wrapper around it: `model.module` of a DataParallel?
bool holds_mode_of(Value mode, const Object* model) {
  if (mode.object() == model) return true;
  const auto* wrapper = mode.is(Kind::instance) ? mode.as<Instance>() : nullptr;
  return wrapper && wrapper->native && !wrapper->cls &&
      wrapper->attributes.value(syntax::Name("module")).object() == model;
}

// The model whose method it is: one whose mode is set somewhere, and of which the part is.
const Object* model_of(const TrainingRoot& training_root, const CallSite& method, const Object* part) {
  for (const TrainingEvent& each : training_root.all) {
    if (!sets_mode(*each.event) || !each.event->self.is(Kind::instance)) continue;
    const auto* set = each.event->self.as<Instance>();
    const Value inner = set->native && !set->cls ? set->attributes.value(syntax::Name("module")) : Value{};
    const Value model = inner.is(Kind::instance) ? inner : each.event->self;
    const auto* cls = model.as<Instance>()->cls;
    if (!cls || model.object() == part ||
        std::ranges::find(cls->order, method.function->owner) == cls->order.end())
      continue;
    Parts parts;
    parts.add(model);
    if (parts.found.contains(part)) return model.object();
  }
  return nullptr;
}

// The call by which the loop asks the model; absent: the event's own is it.
std::optional<ModelCall> call_of_method(
    const TrainingRoot& training_root, const TrainingEvent& forward, const LoopEvent& loop) {
  const CallSite* method = asked_by_method(*forward.event, loop);
  const Object* model = method ? model_of(training_root, *method, forward.event->self.object()) : nullptr;
  if (!model) return std::nullopt;
  ModelCall call(*forward.event);
  call.place = method->place;
  call.calls = method->outer;
  call.self = as_value(model);
  call.result = {};
  call.expr = nullptr;
  call.method = method->function->name.text();
  return call;
}

// Evaluations of a root; each loop of each model once.
void look_at(const Record& record, const TrainingRoot& training_root, std::vector<Evaluation>& all) {
  std::set<const LoopEvent*> training_loops;
  for (const TrainingEvent& each : training_root.all)
    if (uses_gradients(each.event->row->operation))
      training_loops.insert(each.loops.begin(), each.loops.end());
  std::set<std::pair<const LoopEvent*, const Object*>> told;
  for (std::size_t i = 0; i < training_root.all.size(); ++i) {
    if (!calls_model(training_root.all[i])) continue;
    const LoopEvent* loop = nullptr;
    const auto& loops = training_root.all[i].loops;
    for (auto it = loops.rbegin(); it != loops.rend() && !training_loops.contains(*it); ++it) loop = *it;
    if (!loop || !repeats(*loop)) continue;
    const TrainingEvent& forward = training_root.all[i];
    const ModelCall call = call_of_method(training_root, forward, *loop).value_or(ModelCall(*forward.event));
    if (!told.insert({loop, call.self.object()}).second) continue;
    Evaluation evaluation{&training_root, &forward, call, loop};
    std::vector<const TrainingEvent*> modes;
    for (std::size_t j = 0; j < i; ++j) {
      const OperationEvent& event = *training_root.all[j].event;
      if (sets_mode(event) && holds_mode_of(event.self, call.self.object()) &&
          !is_instead(training_root.all[j], forward))
        modes.push_back(&training_root.all[j]);
    }
    if (!modes.empty()) {
      evaluation.mode = modes.back()->event;
      evaluation.evaluates = sets_eval(record, *evaluation.mode);
      // `model.train() if finetune else model.eval()`: one of the two is as good as the other.
      if (evaluation.evaluates && modes.size() > 1 && is_instead(*modes[modes.size() - 2], *modes.back()) &&
          !sets_eval(record, *modes[modes.size() - 2]->event)) {
        evaluation.one_side = modes[modes.size() - 2];
        evaluation.mode = evaluation.one_side->event;
        evaluation.evaluates = false;
      }
    }
    all.push_back(evaluation);
  }
}

}  // namespace

namespace {

// Does a statement around turn gradients off for what is in it?
bool is_without_gradients(const syntax::Stmt& stmt) {
  const auto any = [&](const auto& parts, const auto& expression) {
    return std::ranges::any_of(
        parts, [&](const auto& part) { return names(*expression(part), Says::gradients_off); });
  };
  if (stmt.kind == syntax::StmtKind::with)
    return any(
        syntax::as<syntax::WithStmt>(stmt).items, [](const syntax::WithItem& item) { return item.context; });
  return stmt.kind == syntax::StmtKind::function &&
      any(syntax::as<syntax::FunctionStmt>(stmt).decorators,
          [](const syntax::Expr* decorator) { return decorator; });
}

// `model.eval()` is no call of a method `eval` of the program's own.
bool is_of_another(const Record& record, std::uint32_t chunk, const syntax::CallExpr& call) {
  if (call.function->kind != syntax::ExprKind::attribute || !call.arguments.empty() || !call.keywords.empty())
    return false;
  const auto& method = syntax::as<syntax::AttributeExpr>(*call.function);
  return mode_method(method.attribute.text()) != Operation::none &&
      record.text({chunk, method.object->span}) != "self";
}

}  // namespace

ModelCall::ModelCall(const OperationEvent& forward)
    : place(forward.place), calls(forward.calls), self(forward.self), result(forward.result),
      around(forward.around), expr(forward.expr) {
  // `encode_image` of something that is not seen is recorded as a call of it.
  const std::string_view path = forward.row->path;
  if (!expr && path.starts_with(values::InternalRow::of_unseen)) method = values::last_name(path);
}

std::string when_reached(
    const Record& record, const TrainingEvent& event, const std::function<bool(const Turn&)>& counts) {
  std::vector<Turn> turns;
  std::ranges::copy_if(event.turns, std::back_inserter(turns),
      [&](const Turn& turn) { return turn.branch->condition && counts(turn); });
  return when_text(record, turns);
}

std::string called_text(const Record& record, const ModelCall& call) {
  if (call.expr) return std::string(record.text({call.place.chunk, call.expr->function->span}));
  const std::string_view text = record.text(call.place), called = text.substr(0, text.find('('));
  if (called.size() == text.size()) return {};
  const std::string method = "." + std::string(call.method);
  const bool by_method = !call.method.empty() && called.ends_with(method);
  return std::string(by_method ? called.substr(0, called.size() - method.size()) : called);
}

const values::Function* function_of(const Evaluation& evaluation) {
  const Place place = evaluation.call.place;
  const auto holds = [&](const values::Function* function) {
    return function && function->stmt && function->chunk == place.chunk &&
        function->stmt->span.begin <= place.span.begin && place.span.end <= function->stmt->span.end;
  };
  // The body of a loop over a generator runs where that yields.
  for (const CallSite* call = evaluation.call.calls; call; call = call->outer)
    if (holds(call->function)) return call->function;
  return holds(evaluation.training_root->root->function) ? evaluation.training_root->root->function : nullptr;
}

bool takes_numbers(const Evaluation& evaluation) {
  const values::Function* function = function_of(evaluation);
  return function && function->stmt && takes_numbers(*function->stmt);
}
bool takes_numbers(const syntax::Stmt& stmt) { return calls(stmt, Says::taking_numbers); }

bool is_over_data(const LoopEvent& loop) {
  if (!loop.stmt || loop.stmt->kind != syntax::StmtKind::for_) return false;
  const syntax::Expr& iterable = *syntax::as<syntax::ForStmt>(*loop.stmt).iterable;
  return generates(loop) || !calls(iterable, Says::counting) || calls(iterable, Says::measuring);
}

bool generates(const LoopEvent& loop) {
  return loop.stmt && calls(*loop.stmt, Says::choosing_token) && calls(*loop.stmt, Says::joining) &&
      !names(*loop.stmt, Says::scoring);
}

bool is_named_evaluation(const Evaluation& evaluation) {
  const values::Function* function = function_of(evaluation);
  return function && says(function->name.text(), Says::evaluation);
}

bool without_gradients(const ModelCall& call) {
  return call.around && call.around->gradients == values::Known::no;
}

bool may_be_called_without_gradients(const Record& record, const Root& root) {
  if (!root.function || !root.function->stmt) return false;
  const std::string_view name = root.function->name.text();
  for (std::uint32_t i = 1; i < record.chunks.size(); ++i) {
    const ChunkOf& chunk = record.chunks[i];
    if (!chunk.statement()) continue;
    bool found = false;
    for_each_expression(*chunk.chunk->stmt, [&](const syntax::Expr& expr) {
      if (found || expr.kind != syntax::ExprKind::call ||
          last_name(*syntax::as<syntax::CallExpr>(expr).function) != name ||
          is_of_another(record, i, syntax::as<syntax::CallExpr>(expr)))
        return;
      for (const Enclosing& each : enclosing(*chunk.chunk->stmt, expr.span))
        found = found || is_without_gradients(*each.stmt);
    });
    if (found) return true;
  }
  return false;
}

std::vector<Evaluation> evaluations(const Record& record, const Training& training) {
  auto& known = record.derived[std::type_index(typeid(std::vector<Evaluation>))];
  if (!known) {
    const auto all = std::make_shared<std::vector<Evaluation>>();
    for (const auto* training_roots : {&training.training_roots(), &training.evaluating()})
      for (const TrainingRoot& training_root : *training_roots)
        if (loops_itself(training_root) && !training_root.root->truncated)
          look_at(record, training_root, *all);
    known = all;
  }
  return *static_cast<const std::vector<Evaluation>*>(known.get());
}

}  // namespace stepzero::rules
