#include "rules/training/methods.hpp"

#include "rules/source.hpp"
#include "rules/training/absent.hpp"
#include "rules/training/handed.hpp"

#include <algorithm>
#include <typeindex>

namespace stepzero::rules {

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

bool steps_by_itself(const TrainingRoot& training_root) {
  if (!training_root.root->owner || !training_root.root->function || training_root.root->owner->open ||
      training_root.root->truncated || !trains_itself(training_root))
    return false;
  const auto outside = [&](auto is) {
    return std::ranges::any_of(training_root.all,
        [&](const TrainingEvent& each) { return each.loops.empty() && !each.in_handler && is(*each.event); });
  };
  // What is made anew at each call belongs to the call.
  const bool makes = std::ranges::any_of(training_root.all,
      [](const TrainingEvent& each) { return each.event->row->operation == Operation::optimizer_made; });
  return !makes &&
      outside([](const OperationEvent& event) { return event.row->operation == Operation::backward; }) &&
      outside([](const OperationEvent& event) { return static_cast<bool>(stepped_optimizer(event)); });
}

// What may be done to gradients between two calls.
bool concerns_gradients(const OperationEvent& event) {
  return event.row->operation == Operation::zero_grad ||
      event.row->operation == Operation::gradient_written || event.row->operation == Operation::unseen;
}

}  // namespace

const StepMethods& StepMethods::of(const Record& record) {
  auto& known = record.derived[std::type_index(typeid(StepMethods))];
  if (!known) known = std::make_shared<const StepMethods>(record);
  return *static_cast<const StepMethods*>(known.get());
}

StepMethods::StepMethods(const Record& record) {
  for (const TrainingRoot& of_call : Training::of(record).training_roots()) {
    if (!steps_by_itself(of_call)) continue;
    LoopEvent& loop = loops_.emplace_back();
    loop.place = of_call.root->function->born;
    loop.stmt = of_call.root->function->stmt;
    loop.iterations.push_back(of_call.root->block);
    TrainingRoot training_root = of_call;
    training_root.by_caller = true;
    training_root.all.clear();
    bool makes = false;
    for (const auto& root : record.roots) {
      if (root->owner != of_call.root->owner || root->function) continue;
      visit(root->block, [&](const Event& event) {
        if (event.kind != EventKind::operation) return;
        training_root.all.emplace_back().event = static_cast<const OperationEvent*>(&event);
        makes = makes || training_root.all.back().event->row->operation == Operation::optimizer_made;
      });
    }
    if (!makes) continue;
    for (TrainingEvent each : of_call.all) {
      each.loops.insert(each.loops.begin(), &loop);
      training_root.all.push_back(std::move(each));
    }
    for (const auto& root : record.roots) {
      if (root->owner != of_call.root->owner || !root->function || root.get() == of_call.root) continue;
      visit(root->block, [&](const Event& event) {
        if (event.kind != EventKind::operation) return;
        const auto& other = static_cast<const OperationEvent&>(event);
        if (!concerns_gradients(other)) return;
        training_root.all.emplace_back().event = &other;
        training_root.all.back().loops = {&loop};
      });
    }
    training_roots_.push_back(std::move(training_root));
  }
}

// Read from the text: what no run reached, as a hook that a base class calls, is in no event. What is found
// can only silence a rule.
bool calls_elsewhere(const Record& record, const TrainingRoot& training_root, std::string_view method) {
  const auto is_displayed = [&](std::uint32_t chunk, const syntax::CallExpr& call) {
    return std::ranges::any_of(training_root.all, [&](const TrainingEvent& each) {
      return each.event->expr == &call && each.event->place.chunk == chunk;
    });
  };
  bool found = false;
  for (std::uint32_t i = 1; i < record.chunks.size() && !found; ++i) {
    const bool of_base = std::ranges::any_of(training_root.root->owner->order,
        [&](const values::Class* base) { return base != training_root.root->owner && base->chunk == i; });
    const syntax::Stmt* stmt = record.chunks[i].statement();
    if (!stmt || (!of_base && record.chunks[i].path != record.path)) continue;
    syntax::for_each_expression(*stmt, [&](const syntax::Expr& expr) {
      if (found || expr.kind != syntax::ExprKind::call) return;
      const auto& call = syntax::as<syntax::CallExpr>(expr);
      found = call.function->kind == syntax::ExprKind::attribute &&
          syntax::as<syntax::AttributeExpr>(*call.function).attribute.text() == method &&
          !is_displayed(i, call);
    });
  }
  return found;
}

}  // namespace stepzero::rules
