#include "rules/training/choices.hpp"

#include "rules/name_hints.hpp"
#include "values/limits.hpp"

#include <algorithm>
#include <functional>

namespace stepzero::rules {

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

bool is_optimizer(Value value) {
  if (!value.is(Kind::instance)) return false;
  const auto* instance = value.as<Instance>();
  const auto* native = instance->native ? instance->native : instance->cls ? instance->cls->native : nullptr;
  return native && native->row && native->row->operation == Operation::optimizer_made;
}
bool may_be_optimizer(Value value) { return is_optimizer(value) || value.is(Kind::unknown); }

bool takes_optimizer(Operation operation) {
  return operation == Operation::scaler_step || operation == Operation::unscale;
}

// The optimizer that the operation is made of, or with; absent if it is of none.
Value optimizer_in(const OperationEvent& event) {
  switch (event.row->operation) {
  case Operation::optimizer_step:
  case Operation::zero_grad: return event.self;
  case Operation::scaler_step:
  case Operation::unscale: return argument(event, 0);
  default: return {};
  }
}

void add_leaves(Value value, std::vector<Value>& leaves) {
  if (value.is(Kind::choice)) {
    add_leaves(value.as<values::Choice>()->yes, leaves);
    add_leaves(value.as<values::Choice>()->no, leaves);
  } else if (may_be_optimizer(value)) {
    leaves.push_back(value);
  }
}

// Do the two stand on the two sides of one branch?
bool exclude_each_other(const TrainingEvent& a, const TrainingEvent& b) {
  return std::any_of(a.turns.begin(), a.turns.end(), [&](const Turn& mine) {
    return std::any_of(b.turns.begin(), b.turns.end(),
        [&](const Turn& theirs) { return mine.branch == theirs.branch && mine.yes != theirs.yes; });
  });
}

// Sets of optimizers of which the program has one.
class Sets {
public:
  void join(Value a, Value b) {
    const Value first = find(a), second = find(b);
    if (first == second) return;
    // What is known best stands for the others.
    const bool take_second = rank(second) > rank(first);
    of_[(take_second ? first : second).object()] = take_second ? second : first;
    known_.insert({a.object(), a});
    known_.insert({b.object(), b});
  }
  Value find(Value value) const {
    for (auto it = of_.find(value.object()); it != of_.end(); it = of_.find(value.object()))
      value = it->second;
    return value;
  }
  const std::map<const Object*, Value>& known() const { return known_; }

private:
  static int rank(Value value) {
    return !value.is(Kind::instance) ? 0 : value.as<Instance>()->symbolic ? 1 : 2;
  }
  std::map<const Object*, Value> of_, known_;
};

// The last word by which the program calls the object of the operation: `optimizer` in
// `self.optimizer.step()`.
std::string_view last_word(std::string_view text) {
  const auto dot = text.rfind('.');
  if (dot != std::string_view::npos) text.remove_prefix(dot + 1);
  while (text.starts_with('_')) text.remove_prefix(1);
  return text;
}
bool is_optimizer_name(std::string_view word) {
  return says(word, Says::optimizer) || says(word, Says::one_of_optimizers);
}

}  // namespace

void replace_choices(TrainingRoot& training_root, std::vector<std::unique_ptr<OperationEvent>>& copies) {
  Sets sets;
  std::map<const void*, std::vector<const TrainingEvent*>>
      by_call;  // one call, and each of what it may be made of
  for (const TrainingEvent& each : training_root.all) {
    const OperationEvent& event = *each.event;
    const Value of = optimizer_in(event);
    if (of.is(Kind::choice)) {
      std::vector<Value> leaves;
      add_leaves(of, leaves);
      for (std::size_t i = 1; i < leaves.size(); ++i) sets.join(leaves[0], leaves[i]);
    } else if (may_be_optimizer(of) && event.expr) {
      auto& others = by_call[event.expr];
      for (const TrainingEvent* other : others)
        if (!(optimizer_in(*other->event) == of) && other->event->calls == event.calls &&
            other->loops == each.loops && exclude_each_other(*other, each))
          sets.join(optimizer_in(*other->event), of);
      if (others.size() < values::most_compared_events) others.push_back(&each);
    }
  }
  for (const auto& [object, value] : sets.known()) {
    const Value stands = sets.find(value);
    if (stands.object() != object) training_root.stand_in[object] = stands.object();
    if (!value.is(Kind::instance) || value.as<Instance>()->symbolic)
      training_root.presumed.insert(stands.object());
  }
  for (TrainingEvent& each : training_root.all) {
    Value of = optimizer_in(*each.event);
    const Value was = of;
    if (of.is(Kind::choice)) {
      std::vector<Value> leaves;
      add_leaves(of, leaves);
      if (leaves.empty()) continue;
      of = leaves[0];
    }
    of = sets.find(of);
    if (of == was) continue;
    auto copy = std::make_unique<OperationEvent>(*each.event);
    if (takes_optimizer(copy->row->operation))
      copy->arguments[0] = of;
    else
      copy->self = of;
    training_root.as[each.event] = copy.get();
    each.event = copy.get();
    copies.push_back(std::move(copy));
  }
}

// An unknown object is one if a scaler steps it or unscales its gradients, or if it is stepped and cleared,
// or is stepped and called so.
void find_optimizers(const Record& record, TrainingRoot& training_root) {
  struct Use {
    bool stepped = false, cleared = false, given = false, named = false;
  };
  std::map<const Object*, Use> uses;
  for (const TrainingEvent& each : training_root.all) {
    const OperationEvent& event = *each.event;
    if (event.row->operation == Operation::optimizer_made && is_optimizer(event.self))
      training_root.optimizers.insert(training_root.standing(event.self.object()));
    const Value of = optimizer_in(event);
    if (!of) continue;
    if (of.is(Kind::instance) && (takes_optimizer(event.row->operation) || is_optimizer(of)))
      training_root.optimizers.insert(of.object());
    if (!of.is(Kind::unknown)) continue;
    Use& use = uses[of.object()];
    use.given = use.given || takes_optimizer(event.row->operation);
    use.stepped = use.stepped || event.row->operation == Operation::optimizer_step;
    use.cleared = use.cleared || event.row->operation == Operation::zero_grad;
    use.named = use.named ||
        (!takes_optimizer(event.row->operation) &&
            is_optimizer_name(last_word(object_text(record, event, ""))));
  }
  for (const auto& [object, use] : uses) {
    if (!use.given && !(use.stepped && (use.cleared || use.named))) continue;
    training_root.optimizers.insert(object);
    training_root.presumed.insert(object);
  }
}

}  // namespace stepzero::rules
