// Which gradients are there while a step runs, by what goes through parameters in a round of the loop and
// what clears them; and what the optimizer does with them.
#include "footprint/account.hpp"

#include <algorithm>

namespace stepzero::footprint {

using interpreter::OperationEvent;

using Mark = Account::Mark;

namespace {

const void* key_of(const Held& held) {
  return held.tensor ? static_cast<const void*>(held.tensor) : static_cast<const void*>(held.module);
}

// Has the parameter a gradient there? What stands behind ran in the iteration before.
bool has_gradient(const std::vector<Mark>& marks, const Held& held, const Route& there) {
  const Mark* last[2] = {nullptr, nullptr};
  for (const Mark& mark : marks) {
    if (mark.of && !mark.of->contains(key_of(held))) continue;
    const Mark*& known = last[before(mark.route, there) ? 0 : 1];
    if (!known || before(known->route, mark.route)) known = &mark;
  }
  const Mark* found = last[0] ? last[0] : last[1];
  return found && !found->clears;
}

}  // namespace

bool Account::clears_copies(const StepAccount& step, const Optimizer& optimizer) const {
  const Route backward = part_inside(step.loop, route_of(step.backward->calls, step.backward->place));
  const Route stepped =
      step.stepped ? part_inside(step.loop, route_of(step.stepped->calls, step.stepped->place)) : Route{};
  return std::ranges::any_of(zero_grads_, [&](const OperationEvent* event) {
    const Route route = part_inside(step.loop, route_of(event->calls, event->place));
    return !route.empty() && event->self.object() == optimizer.made->self.object() &&
        runs_with(step, *event) && (before(route, backward) || (!stepped.empty() && before(stepped, route)));
  });
}

std::unordered_set<const void*> Account::keys_of(const Value& trained) const {
  std::unordered_set<const void*> keys;
  for (const Optimizer& optimizer : optimizers_)
    if (optimizer.made->self.object() == trained.object())
      for (const Held& held : optimizer.tensors) keys.insert(key_of(held));
  if (is_module(trained))
    for (const Module& module : tree_of(record_, *trained.as<Instance>()).modules)
      for (const Held& held : module.own) keys.insert(key_of(held));
  return keys;
}

// Is it seen in each of the iterations that are run one by one, not only in some?
bool Account::runs_with(const StepAccount& step, const OperationEvent& clearing) const {
  return std::ranges::count_if(zero_grads_, [&](const OperationEvent* other) {
    return other->place == clearing.place && same_way(other->calls, clearing.calls);
  }) >= step.times;
}

std::vector<Account::Mark> Account::marks_of(const StepAccount& step) const {
  std::vector<Mark> marks;
  for (const OperationEvent* event : zero_grads_)
    if (Route route = part_inside(step.loop, route_of(event->calls, event->place));
        !route.empty() && runs_with(step, *event)) {
      auto keys = keys_of(event->self);
      marks.push_back({std::move(route), true, std::nullopt});
      if (reach_ && !keys.empty()) marks.back().of = std::move(keys);
    }
  for (const StepAccount& each : steps_)
    if (Route route = route_inside(step, each); !route.empty() && (reach_ || &each == &step)) {
      marks.push_back({std::move(route), false, std::nullopt});
      if (!reach_) continue;
      marks.back().of.emplace();
      for (const Held* held : reached(each)) marks.back().of->insert(key_of(*held));
    }
  return marks;
}

// What has a gradient where the optimizer steps; nullopt: it is not known better than of all.
std::optional<Reach> Account::reach_of(const Optimizer& optimizer) const {
  if (!reach_ || steps_.size() < 2 ||
      std::ranges::any_of(steps_, [&](const StepAccount& step) { return step.loop != steps_[0].loop; }))
    return std::nullopt;
  std::vector<Route> steps;
  for (const OperationEvent* event : stepped_) {
    const auto is_it = [&](const Value& value) { return value.object() == optimizer.made->self.object(); };
    if (!is_it(event->self) && std::ranges::none_of(event->arguments, is_it)) continue;
    steps.push_back(part_inside(steps_[0].loop, route_of(event->calls, event->place)));
    if (steps.back().empty()) return std::nullopt;
  }
  if (steps.empty()) return std::nullopt;
  const std::vector<Mark> marks = marks_of(steps_[0]);
  Reach found;
  for (const Held& held : optimizer.tensors)
    if (reach_->holds(held) &&
        std::ranges::any_of(steps, [&](const Route& there) { return has_gradient(marks, held, there); }))
      held.tensor ? (void)found.tensors.insert(held.tensor) : (void)found.layers.insert(held.module);
  return found;
}

void Account::find_standing_gradients(StepAccount& step) const {
  symbolic::Context& s = record_.symbols;
  for (const ModelAccount& model : models_)
    if (model.trained && !reach_) step.standing.gradients.add(s, model.own_gradients);
  const Route backward = route_inside(step, step);
  Route first;  // of the forward
  for (const Node& node : step.graph->nodes())
    if (const Route route = part_inside(step.loop, route_of(node.made->calls, node.made->born));
        !route.empty() && (first.empty() || before(route, first)))
      first = route;
  const bool in_loop = !backward.empty() && !first.empty();
  const std::vector<Mark> marks = marks_of(step);
  if (!reach_) {
    const bool stays = in_loop && has_gradient(marks, {}, first);
    const bool accumulates = stays && has_gradient(marks, {}, backward);
    if (stays) step.standing.gradients_before = step.standing.gradients;
    if (accumulates) step.standing.gradients_kept = step.standing.gradients;
    step.standing.accumulates = [accumulates](const Held&) { return accumulates; };
    return;
  }
  std::unordered_set<const void*> own, added;
  for (const Held* held : reached(step)) own.insert(key_of(*held));
  Bytes others;
  for (const ModelAccount& model : models_)
    for (const Module& module : model.tree.modules)
      for (const Held& held : module.own) {
        if (!held.is_parameter || held.trained != values::Known::yes || !model.first.contains(&held) ||
            !reach_->holds(held))
          continue;
        Bytes bytes;
        bytes.add(s, bytes_of(s, held.own(), held.dtype), held.copies);
        const bool is_own = own.contains(key_of(held));
        const bool is_there = in_loop && has_gradient(marks, held, backward);
        if (is_own) step.standing.gradients.add(s, bytes);
        if (!is_own && is_there) others.add(s, bytes);
        if (is_own && in_loop && has_gradient(marks, held, first))
          step.standing.gradients_before.add(s, bytes);
        if (is_own && is_there) step.standing.gradients_kept.add(s, bytes), added.insert(key_of(held));
      }
  step.standing.add(s, "gradients of other steps", others);
  step.standing.accumulates = [added = std::move(added)](
                                  const Held& held) { return added.contains(key_of(held)); };
}

// Of the optimizer that steps after the backward; of several, or where it is not known which one, the most.
void Account::add_temporaries(StepAccount& step) const {
  const auto steps = [&](const Optimizer& optimizer) {
    const auto is_it = [&](const Value& value) {
      return value && value.object() == optimizer.made->self.object();
    };
    return step.stepped && (is_it(step.stepped->self) || std::ranges::any_of(step.stepped->arguments, is_it));
  };
  const bool is_known = steps_.size() > 1 && std::ranges::any_of(optimizers_, steps);
  const auto number = [&](const Bytes& bytes) { return bytes.number(record_.symbols, options_.settings); };
  for (const Optimizer& optimizer : optimizers_)
    if ((!is_known || steps(optimizer)) && number(optimizer.temporary) > number(step.standing.temporary))
      step.standing.temporary = optimizer.temporary;
}

}  // namespace stepzero::footprint
