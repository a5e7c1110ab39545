#include "rules/training/gradient_typestate.hpp"

#include "libraries/torch/meaning/gradients.hpp"
#include "rules/provenance.hpp"
#include "rules/training/parts.hpp"
#include "values/kept.hpp"
#include "values/limits.hpp"

#include <algorithm>
#include <functional>

namespace stepzero::rules {

using namespace interpreter;
using values::Kind;
using values::Operation;

CommonToRuns::CommonToRuns(const TrainingRoot& training_root) {
  for (const TrainingEvent& each : training_root.all) {
    // Of a scaler that is not known it is not seen what it scales.
    const Operation operation = each.event->row->operation;
    const bool scaler = operation == Operation::scaler_step || operation == Operation::unscale ||
        operation == Operation::scaler_update;
    if (scaler && each.event->self.is(Kind::unknown)) scales_ever = true;
    if (each.event->row->operation == Operation::scaler_update)
      updates.insert(each.event->self.object());
    else if (each.event->row->operation == Operation::scale) {
      scales_.push_back(each.event);
      // A scaled loss that goes straight into its backward goes nowhere else.
      const bool straight = std::any_of(
          training_root.all.begin(), training_root.all.end(), [&](const TrainingEvent& other) {
            return other.event->row->operation == Operation::backward && other.event->self.object() &&
                other.event->self.object() == each.event->result.object();
          });
      scales_ever = scales_ever || !straight;
    }
    // What is handed a scaler may scale with it.
    else if (each.event->row->operation == Operation::scaler_made)
      for (const TrainingEvent& other : training_root.all)
        if (other.event->row->operation == Operation::unseen &&
            is_handed(*other.event, each.event->self.object()))
          scales_ever = true;
  }
}

bool CommonToRuns::is_handed(const OperationEvent& unseen, const Object* object) {
  const auto [it, fresh] = handed_.try_emplace(&unseen);
  if (fresh && !unseen.arguments.empty()) {
    Parts parts;
    parts.add(unseen.arguments[0]);
    it->second = std::move(parts.found);
  }
  return it->second.contains(object);
}

bool CommonToRuns::is_plain(const OperationEvent& backward) {
  const auto [it, fresh] = plain_.try_emplace(&backward);
  if (fresh) {
    const values::TensorState* loss = backward.self_state();
    it->second = !is_result_of_scale(backward) && (loss || backward.self.is(Kind::unknown)) &&
        ((loss && !loss->unseen) || !scales_ever || is_scaled_elsewhere(backward));
  }
  return it->second;
}

// Is it what a scaler gave, of whatever it was given?
bool CommonToRuns::is_result_of_scale(const OperationEvent& backward) const {
  return backward.self.object() && std::ranges::any_of(scales_, [&](const OperationEvent* scale) {
    return scale->result.object() == backward.self.object();
  });
}

// Is the very loss, or what it is computed from or into, scaled on another way? Then unseen code that took
// part in it has not.
bool CommonToRuns::is_scaled_elsewhere(const OperationEvent& backward) const {
  const values::TensorState* loss = backward.self_state();
  const std::function<bool(Value, const values::TensorState*, int)> is =
      [&](Value given, const values::TensorState* state, int depth) {
        if (given.is(Kind::choice) && depth < values::most_choices) {
          const auto& choice = *given.as<values::Choice>();
          return is(choice.yes, nullptr, depth + 1) || is(choice.no, nullptr, depth + 1);
        }
        if (given.object() && given.object() == backward.self.object()) return true;
        if (!state && given.is(Kind::tensor)) state = given.as<values::Tensor>()->now();
        return loss && state && loss->made && state->made &&
            (identity(loss) == identity(state) || comes_from(loss, state) || comes_from(state, loss));
      };
  return std::ranges::any_of(scales_, [&](const OperationEvent* scale) {
    return !scale->arguments.empty() && is(scale->arguments[0], scale->argument_state(0), 0);
  });
}

void GradientTypestate::run(const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    ++now_;
    const auto other = training_root_.as.find(step.event);
    const OperationEvent& event = other == training_root_.as.end() ? *step.event : *other->second;
    if (event.row->operation == Operation::unseen) {
      unseen(event);
      continue;
    }
    if (seen_.insert(&event).second) ++reached_[&event];
    switch (event.row->operation) {
    case Operation::backward: backward(event); break;
    case Operation::optimizer_step: stepped(event, event.self, nullptr); break;
    case Operation::zero_grad: cleared(event); break;
    case Operation::scale: scales_[event.self.object()] = &event; break;
    case Operation::unscale:
      checked_.insert(event.self.object());
      if (!event.arguments.empty()) unscaled(event, event.self.object(), event.arguments[0]);
      break;
    case Operation::scaler_step:
      checked_.insert(event.self.object());
      if (!event.arguments.empty()) stepped(event, event.arguments[0], event.self.object());
      break;
    case Operation::scaler_update: updated(event, event.self.object()); break;
    case Operation::clip_gradients: clipped(event); break;
    case Operation::host_read: measured(event); break;
    case Operation::gradient_written: limited(event); break;
    default: break;
    }
  }
  for (const auto& [update, backward] : vain_)
    if (!reported_.contains({update, ViolationKind::update_before_step}))
      wrong(ViolationKind::update_without_step, *update, State{}, backward, nullptr, update->self.object());
}

GradientTypestate::State& GradientTypestate::of(Value optimizer) {
  State& state = states_[optimizer.object()];
  state.value = optimizer;
  return state;
}

void GradientTypestate::wrong(ViolationKind kind, const OperationEvent& event, const State& state,
    const OperationEvent* before, const OperationEvent* later, const Object* scaler) {
  // What follows from one mistake with a scaler is not told besides.
  if (scaler && !reported_scalers_.insert(scaler).second) return;
  if (!reported_.insert({&event, kind}).second) return;
  Entry& entry = found_[{&event, kind}];
  ++entry.wrong;
  if (!entry.violation.event || (entry.violation.before == before && entry.violation.later == later))
    ++entry.first_way;
  if (entry.violation.event) return;
  entry.violation = {kind, &event, &training_root_, before, later,
      scaler && scales_.contains(scaler) ? scales_[scaler] : nullptr, scaler, state.value, {}};
}

void GradientTypestate::each(const std::function<void(const Object*, State&)>& look) {
  for (const Object* optimizer : training_root_.optimizers) {
    State& state = states_[optimizer];
    if (!state.value) state.value = as_value(optimizer);
    look(optimizer, state);
  }
}

void GradientTypestate::unseen(const OperationEvent& event) {
  each([&](const Object* optimizer, State& state) {
    if (!common_.is_handed(event, optimizer)) return;
    const Value value = state.value;
    state = {};
    state.value = value;
    for (auto& [key, entry] : scalers_)
      if (key.second == optimizer) entry = {};
  });
  for (auto& [key, entry] : scalers_)
    if (common_.is_handed(event, key.first)) entry = {};
  for (const auto& [scaler, scale] : scales_)
    if (common_.is_handed(event, scaler)) checked_.insert(scaler);
}

void GradientTypestate::backward(const OperationEvent& event) {
  const values::TensorState* loss = event.self_state();
  each([&](const Object*, State& state) {
    const Answer fed = feeds(training_root_, event, state.value);
    if (fed == Answer::no) return;
    state.any = true;
    state.lost = nullptr;
    state.stepped = nullptr;
    state.updated = nullptr;
    state.clipped = false;
    if (fed != Answer::yes) {
      state.clip_on_nothing = nullptr;
      return;
    }
    state.fresh = &event;
    state.fresh_at = now_;
    if (loss && loss->scaled_by) {
      state.scaled = &event;
      state.scaled_by = loss->scaled_by;
    } else if (common_.is_plain(event)) {
      state.plain = &event;
    }
  });
}

void GradientTypestate::cleared(const OperationEvent& event) {
  const Value self = event.self;
  each([&](const Object* optimizer, State& state) {
    const Answer clears = self.object() == optimizer
        ? Answer::yes
        : shares_parameters(training_root_,
              is_optimizer_value(self) ? attribute(self, values::OptimizerState::parameters) : self,
              state.value);
    if (clears == Answer::no) return;
    const bool lost = clears == Answer::yes && state.fresh && !state.stepped &&
        !used_by_another(optimizer, state.fresh_at);
    const OperationEvent* fresh = state.fresh;
    const Value value = state.value;
    state = {};
    state.value = value;
    if (clears == Answer::yes) state.emptied = &event;
    if (lost) {
      state.lost = &event;
      state.lost_backward = fresh;
    }
  });
}

bool GradientTypestate::used_by_another(const Object* optimizer, std::size_t since) const {
  for (const auto& [other, at] : stepped_at_)
    if (other != optimizer && at > since &&
        shares_parameters(training_root_, attribute(other, values::OptimizerState::parameters),
            as_value(optimizer)) == Answer::yes)
      return true;
  return false;
}

void GradientTypestate::stepped(const OperationEvent& event, Value optimizer, const Object* scaler) {
  if (!training_root_.optimizers.contains(optimizer.object())) return;
  State& state = of(optimizer);
  if (state.lost && !state.any)
    wrong(ViolationKind::cleared_before_step, *state.lost, state, state.lost_backward, &event, nullptr);
  if (state.clip_on_nothing && state.fresh && !state.clipped)
    wrong(ViolationKind::clipped_early, *state.clip_on_nothing, state, state.fresh, &event, nullptr);
  if (scaler) {
    OfScaler& entry = scalers_[{scaler, optimizer.object()}];
    // Of a scaler that is never updated amp/missing-update tells once; what stands for several optimizers may
    // be another each time.
    const bool one = !training_root_.presumed.contains(optimizer.object()) &&
        std::ranges::none_of(training_root_.stand_in,
            [&](const auto& each) { return each.first != each.second && each.second == optimizer.object(); });
    if (entry.stepped && one && common_.updates.contains(scaler) && !(entry.stepped->place == event.place))
      wrong(ViolationKind::step_twice, event, state, entry.stepped, nullptr, scaler);
    else if (entry.stepped)
      reported_scalers_.insert(scaler);
    if (state.updated && state.scaled_by == scaler)
      wrong(ViolationKind::update_before_step, *state.updated, state, state.fresh, &event, scaler);
    if (state.plain && !state.stepped && !entry.unscaled && (state.fresh == state.plain || state.scaled))
      wrong(ViolationKind::plain_backward, *state.plain, state, nullptr, &event, scaler);
    entry.stepped = &event;
  }
  // Who asks for the scale and writes the gradients divides it out.
  const auto asks = [](const TrainingEvent& each) {
    return each.event->row->operation == Operation::scale_asked;
  };
  if (!scaler && state.scaled && by_hand(training_root_, event) &&
      std::ranges::any_of(training_root_.all, asks))
    state.scaled = nullptr;
  if (!scaler && state.scaled)
    wrong(ViolationKind::plain_step, event, state, state.scaled, nullptr, state.scaled_by);
  else if (!scaler && state.unscaled_of)
    wrong(ViolationKind::step_past_scaler, event, state, state.unscaled_of, nullptr, state.unscaled_with);
  state.unscaled_of = nullptr;
  state.lost = nullptr;
  state.clip_on_nothing = nullptr;
  state.stepped = &event;
  stepped_at_[optimizer.object()] = now_;
  state.plain = nullptr;
  state.scaled = nullptr;
  state.updated = nullptr;
}

void GradientTypestate::unscaled(const OperationEvent& event, const Object* scaler, Value optimizer) {
  OfScaler& entry = scalers_[{scaler, optimizer.object()}];
  State& state = of(optimizer);
  if (entry.stepped && !common_.updates.contains(scaler)) {  // amp/missing-update tells of it
    state.scaled = nullptr;
    return;
  }
  if (entry.stepped)
    wrong(ViolationKind::unscale_after_step, event, state, entry.stepped, nullptr, scaler);
  else if (entry.unscaled)
    wrong(ViolationKind::unscale_twice, event, state, entry.unscaled, nullptr, scaler);
  if (!entry.stepped && !entry.unscaled && state.plain && !state.stepped &&
      (state.fresh == state.plain || state.scaled))
    wrong(ViolationKind::plain_backward, *state.plain, state, nullptr, &event, scaler);
  entry.unscaled = &event;
  // Where they were scaled may not be seen. Who unscales them says that they were.
  if (state.scaled ? state.scaled_by == scaler : !entry.stepped) {
    state.unscaled_of = &event;
    state.unscaled_with = scaler;
  }
  if (state.scaled_by == scaler) state.scaled = nullptr;
  state.plain = nullptr;
}

void GradientTypestate::updated(const OperationEvent& event, const Object* scaler) {
  const bool sets_scale = !event.arguments.empty() && event.arguments[0] &&
      !event.arguments[0].is(Kind::none);
  const OperationEvent* scaled = nullptr;
  each([&](const Object*, State& state) {
    if (state.scaled && state.scaled_by == scaler) scaled = state.scaled;
  });
  if (scaled && !sets_scale && !checked_.contains(scaler)) vain_.push_back({&event, scaled});
  checked_.erase(scaler);
  each([&](const Object*, State& state) {
    if (state.fresh && !state.stepped && state.scaled_by == scaler) state.updated = &event;
  });
  for (auto& [key, entry] : scalers_)
    if (key.first == scaler) entry = {};
}

void GradientTypestate::clipped(const OperationEvent& event) {
  if (event.arguments.empty()) return;
  each([&](const Object*, State& state) {
    const Answer ours = shares_parameters(training_root_, event.arguments[0], state.value);
    if (ours == Answer::no) return;
    if (ours == Answer::yes) {
      if (state.scaled)
        wrong(ViolationKind::clip_scaled, event, state, state.scaled, nullptr, state.scaled_by);
      else if (state.fresh && state.stepped)
        wrong(ViolationKind::clipped_late, event, state, state.stepped, nullptr, nullptr);
      else if (!state.any && state.emptied && !state.clip_on_nothing)
        state.clip_on_nothing = &event;
    }
    if (state.any) state.clipped = true;
  });
}

bool limits_gradient(const OperationEvent& event) {
  return event.row->operation == Operation::gradient_written && event.by &&
      libraries::gradient_write_of(*event.by) == libraries::GradientWrite::limited;
}

// `p.grad.clamp_(-1, 1)`. Who writes gradients in another way may take the scale off.
void GradientTypestate::limited(const OperationEvent& event) {
  if (!limits_gradient(event)) return;
  for (const TrainingEvent& other : training_root_.all)
    if (other.event->row->operation == Operation::scale_asked ||
        (other.event->row->operation == Operation::gradient_written && !limits_gradient(*other.event) &&
            !clears_gradient(*other.event)))
      return;
  const State* scaled = nullptr;
  bool all = true;
  each([&](const Object*, State& state) {
    all = all && state.scaled;
    scaled = &state;
  });
  if (scaled && all)
    wrong(ViolationKind::clip_scaled, event, *scaled, scaled->scaled, nullptr, scaled->scaled_by);
}

// Which optimizer's gradients they are is not known: all of them have to be scaled.
void GradientTypestate::measured(const OperationEvent& event) {
  State* scaled = nullptr;
  bool all = true;
  each([&](const Object*, State& state) {
    if (state.scaled)
      scaled = &state;
    else
      all = false;
  });
  if (!scaled || !all) return;
  for (const TrainingEvent& other : training_root_.all)
    if (other.event->row->operation == Operation::scale_asked) return;
  wrong(ViolationKind::read_scaled, event, *scaled, scaled->scaled, nullptr, scaled->scaled_by);
}

}  // namespace stepzero::rules
