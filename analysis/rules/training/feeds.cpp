// Which losses leave gradients in which parameters and optimizers.
#include "rules/training/training.hpp"

#include "rules/training/absent.hpp"
#include "rules/training/parts.hpp"
#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::rules {

using namespace interpreter;
using values::Kind;
using values::Operation;

bool in_optimizer(const OperationEvent& event) {
  for (const CallSite* site = event.calls; site; site = site->outer) {
    const auto* owner = site->function ? site->function->owner : nullptr;
    if (owner && owner->native && owner->native->row &&
        owner->native->row->operation == Operation::optimizer_made)
      return true;
  }
  return false;
}

namespace {

const std::set<const Object*>& stepped_in(
    const TrainingRoot& training_root, const interpreter::LoopEvent* loop) {
  auto& known = training_root.stepped_in_loops;
  if (training_root.stepped_of_events != training_root.all.size()) {
    known.clear();
    for (const TrainingEvent& each : training_root.all)
      if (const Value of = stepped_optimizer(*each.event))
        for (const interpreter::LoopEvent* around : each.loops) known[around].insert(of.object());
    training_root.stepped_of_events = training_root.all.size();
  }
  return known[loop];
}

// Of several optimizers: who alone is stepped in the loop of the backward, or is cleared before it and
// stepped after it, is meant.
bool is_meant(const TrainingRoot& training_root, const OperationEvent& backward, const Object* optimizer) {
  std::size_t at = 0;
  while (at < training_root.all.size() && training_root.all[at].event != &backward) ++at;
  if (at == training_root.all.size()) return false;
  for (auto it = training_root.all[at].loops.rbegin(); it != training_root.all[at].loops.rend(); ++it) {
    const auto& stepped = stepped_in(training_root, *it);
    if (stepped.empty()) continue;
    if (stepped.size() == 1) return stepped.contains(optimizer);
    break;
  }
  const Object *cleared = nullptr, *next = nullptr;
  for (std::size_t i = at; i-- > 0 && !cleared;) {
    const OperationEvent& event = *training_root.all[i].event;
    if (stepped_optimizer(event) || event.row->operation == Operation::backward) break;
    if (event.row->operation == Operation::zero_grad &&
        training_root.optimizers.contains(event.self.object()))
      cleared = event.self.object();
  }
  for (std::size_t i = at + 1; cleared && i < training_root.all.size() && !next; ++i) {
    const OperationEvent& event = *training_root.all[i].event;
    if (event.row->operation == Operation::backward || event.row->operation == Operation::zero_grad) break;
    if (const Value of = stepped_optimizer(event)) next = of.object();
  }
  return cleared == optimizer && next == optimizer;
}

// Does a loop within the outer one, around the backward, step an optimizer, and not this one?
bool belongs_to_another(const TrainingRoot& training_root, const TrainingEvent& backward,
    const interpreter::LoopEvent* outer, const Object* optimizer) {
  bool within = false;
  for (const interpreter::LoopEvent* loop : backward.loops) {
    if (within) {
      const auto& stepped = stepped_in(training_root, loop);
      if (!stepped.empty() && !stepped.contains(optimizer)) return true;
    }
    within = within || loop == outer;
  }
  return false;
}

// Without a backward its step would have nothing to go by: where one stands beside it in a loop, and no other
// does, that is the one, however many optimizers go by it.
bool is_only_backward(
    const TrainingRoot& training_root, const OperationEvent& backward, const Object* optimizer) {
  const auto at = std::ranges::find(training_root.all, &backward, &TrainingEvent::event);
  if (at == training_root.all.end()) return false;
  for (auto loop = at->loops.rbegin(); loop != at->loops.rend(); ++loop) {
    const bool stepped = stepped_in(training_root, *loop).contains(optimizer) &&
        std::ranges::any_of(training_root.all, [&](const TrainingEvent& each) {
          return stepped_optimizer(*each.event).object() == optimizer && each.in(*loop) &&
              !in_optimizer(*each.event);
        });
    if (!stepped) continue;
    return std::ranges::none_of(training_root.all,
               [&](const TrainingEvent& each) {
                 return each.event->row->operation == Operation::backward && each.in(*loop) &&
                     !(each.event->place == backward.place) &&
                     !belongs_to_another(training_root, each, *loop, optimizer);
               }) &&
        !belongs_to_another(training_root, *at, *loop, optimizer);
  }
  return false;
}

Answer find_whether_feeds(
    const TrainingRoot& training_root, const OperationEvent& backward, Value optimizer) {
  const values::TensorState* loss = backward.self_state();
  const Value parameters = attribute(optimizer, values::OptimizerState::parameters);
  if (parameters && loss && !loss->graph.empty()) {
    Parts parts;
    parts.add(parameters);
    for (const Object* source : loss->graph) {
      if (parts.found.contains(source)) return Answer::yes;
      // A list of tensors that are parts of a layer in the graph.
      if (dynamic_cast<const Instance*>(source)) {
        Parts inner;
        inner.add(Value::of(Kind::instance, source));
        for (const Object* part : inner.found)
          if (part != source && parts.found.contains(part)) return Answer::yes;
      }
    }
    if (loss->graph_complete && parts.complete) return Answer::no;
  }
  if (training_root.optimizers.size() > 1 &&
      (is_meant(training_root, backward, optimizer.object()) ||
          is_only_backward(training_root, backward, optimizer.object())))
    return Answer::yes;
  return training_root.optimizers.size() == 1 ? Answer::yes : Answer::unknown;
}

Answer find_whether_shares(const TrainingRoot& training_root, Value given, Value optimizer) {
  const Value parameters = attribute(optimizer, values::OptimizerState::parameters);
  if (parameters && given) {
    Parts ours, theirs;
    ours.add(parameters);
    theirs.add(given);
    for (const Object* part : theirs.found)
      if (ours.found.contains(part)) return Answer::yes;
    if (ours.complete && theirs.complete && !ours.found.empty() && !theirs.found.empty()) return Answer::no;
  }
  return training_root.optimizers.size() == 1 ? Answer::yes : Answer::unknown;
}

// The object that a value is; null for numbers, None and the like.
const Object* object_of(Value value) {
  switch (value.kind) {
  case Kind::list:
  case Kind::tuple:
  case Kind::dict:
  case Kind::tensor:
  case Kind::choice:
  case Kind::instance:
  case Kind::unknown:
  case Kind::iterator: return value.object();
  default: return nullptr;
  }
}
template <class Find> Answer once(std::map<std::pair<const void*, const void*>, Answer>& known,
    const void* first, const void* second, const Find& find) {
  if (!first || !second) return find();
  if (const auto it = known.find({first, second}); it != known.end()) return it->second;
  return known[{first, second}] = find();
}
}  // namespace

Answer feeds(const TrainingRoot& training_root, const OperationEvent& backward, Value optimizer) {
  return once(training_root.fed, &backward, object_of(optimizer),
      [&] { return find_whether_feeds(training_root, backward, optimizer); });
}
Answer shares_parameters(const TrainingRoot& training_root, Value given, Value optimizer) {
  return once(training_root.shared, object_of(given), object_of(optimizer),
      [&] { return find_whether_shares(training_root, given, optimizer); });
}

bool reaches(const values::TensorState& loss, Value module) {
  Parts parts;
  parts.add(module);
  return std::any_of(loss.graph.begin(), loss.graph.end(),
      [&](const Object* source) { return parts.found.contains(source); });
}

bool from_numbers(const values::TensorState& loss) {
  return loss.graph_complete && !loss.graph.empty() &&
      std::all_of(loss.graph.begin(), loss.graph.end(),
          [](const Object* source) { return dynamic_cast<const values::Unknown*>(source) != nullptr; });
}

bool is_handed(const OperationEvent& unseen, const Object* object) { return hands_any(unseen, {object}); }
bool hands_any(const OperationEvent& unseen, const std::set<const Object*>& objects) {
  if (unseen.arguments.empty() || objects.empty()) return false;
  Parts parts;
  parts.add(unseen.arguments[0]);
  return std::any_of(
      objects.begin(), objects.end(), [&](const Object* object) { return parts.found.contains(object); });
}

Value as_value(const Object* object) {
  return Value::of(dynamic_cast<const values::Unknown*>(object) ? Kind::unknown : Kind::instance, object);
}

}  // namespace stepzero::rules
