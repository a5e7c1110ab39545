// What the rules of training loops share: which optimizer a backward feeds, what a scaler, an optimizer and
// the gradients have been through when an operation comes, and what stands in which loop. Says nothing to the
// user: each rule words what it finds.
#pragma once

#include "rules/report.hpp"
#include "rules/training/edits.hpp"
#include "rules/walk.hpp"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace stepzero::rules {

using symbolic::Answer;
using values::Instance;
using values::Object;
using values::Value;

// An operation of a root with what stands around it, outermost first.
struct TrainingEvent {
  const OperationEvent* event = nullptr;
  std::vector<const interpreter::LoopEvent*> loops;
  std::vector<Turn> turns;
  bool in_handler = false;
  bool in_attempt = false;  // in the body of a try that may catch its failure
  bool in(const interpreter::LoopEvent* loop) const;
};

// One root that trains, or does a part of it.
struct TrainingRoot {
  const interpreter::Root* root = nullptr;
  std::vector<TrainingEvent> all;      // in order
  std::set<const Object*> optimizers;  // of several to choose from one stands for all, in `all` too
  std::set<const Object*> presumed;    // those of which only their use says that they are optimizers
  std::map<const Object*, const Object*> stand_in;  // the one that stands for it
  const Object* standing(const Object* optimizer) const {
    const auto it = stand_in.find(optimizer);
    return it == stand_in.end() ? optimizer : it->second;
  }
  // Events that stand for others in `all`: of an optimizer that is one of several, as if it were the one that
  // stands for all.
  std::map<const OperationEvent*, const OperationEvent*> as;
  bool handed_over = false;  // to a framework that runs the loop, or a part of it
  bool by_caller = false;    // the loop is that of whoever calls the method: see methods.hpp
  // Which losses and parameters belong to which optimizer, as it was found out: many ways through the
  // training root ask for the same.
  mutable std::map<std::pair<const void*, const void*>, Answer> fed, shared;
  // The optimizers that are stepped in each loop, of so many events: none before somebody asks.
  mutable std::map<const interpreter::LoopEvent*, std::set<const Object*>> stepped_in_loops;
  mutable std::size_t stepped_of_events = 0;
  // Of so many events, by their numbers, those that make gradients. A copy, whose events become others, asks
  // anew.
  struct MakingGradients {
    MakingGradients() = default;
    MakingGradients(const MakingGradients&) {}
    MakingGradients& operator=(const MakingGradients&) {
      events.clear();
      looked_at = 0;
      return *this;
    }
    std::vector<std::size_t> events;
    std::size_t looked_at = 0;
  };
  mutable MakingGradients making_gradients;
};

// What is wrong about an operation.
enum class ViolationKind : std::uint8_t {
  plain_backward,    // its gradients are unscaled by the step that follows
  plain_step,        // of the optimizer itself, along scaled gradients
  step_past_scaler,  // of the optimizer itself, along gradients that the scaler has unscaled: inf and nan are
                     // not skipped
  clip_scaled,       // gradients are clipped while they are scaled
  read_scaled,       // their size is read while they are
  unscale_twice,
  unscale_after_step,
  step_twice,  // through the scaler, without an update in between
  update_before_step,
  update_without_step,
  cleared_before_step,
  clipped_late,   // after the step
  clipped_early,  // before there are any
};

struct OrderViolation {
  ViolationKind kind{};
  const OperationEvent* event = nullptr;
  const TrainingRoot* training_root = nullptr;
  const OperationEvent* before =
      nullptr;  // what it follows wrongly: the backward, the step, the first unscale_
  const OperationEvent* later = nullptr;  // what it spoils: the step
  const OperationEvent* scale = nullptr;  // where the loss is scaled
  const Object* scaler = nullptr;
  Value optimizer;
  std::vector<Turn> on_path;  // the sides of branches on which it is wrong, on every run; none: on all
};

class Training {
public:
  // Found out once for a record.
  static const Training& of(const Record& record);

  const std::vector<TrainingRoot>& training_roots() const { return training_roots_; }
  // Roots that train nothing, and call models or look at the sizes of batches in loops.
  const std::vector<TrainingRoot>& evaluating() const { return evaluating_; }
  // Those that every run makes which comes to the operation; and those that every run makes which takes a way
  // that the program offers.
  const std::vector<OrderViolation>& violations() const { return violations_; }
  explicit Training(const Record& record);

private:
  void look_at(const interpreter::Root& root);
  void find_violations(const TrainingRoot& training_root);

  const Record& record_;
  std::vector<TrainingRoot> training_roots_, evaluating_;
  std::vector<OrderViolation> violations_;
  std::vector<std::unique_ptr<OperationEvent>> copies_;
};

// Does the program write gradients on its own in the loop (anywhere, if null)? Then much is done by hand that
// rules do not see.
bool by_hand(const TrainingRoot& training_root, const interpreter::LoopEvent* loop);
// The same of the innermost loop around the operation.
bool by_hand(const TrainingRoot& training_root, const OperationEvent& event);
// The same, but for what only changes or throws away the gradients that a backward has left:
// `p.grad.mul_(c)`, `p.grad = None`.
bool makes_gradients(
    const Record& record, const TrainingRoot& training_root, const interpreter::LoopEvent* loop);
bool makes_gradients(const Record& record, const TrainingRoot& training_root, const OperationEvent& event);
// Does the statement leave a gradient that is made of the one that was there: `p.grad = averaged(p.grad)`?
bool remakes_gradient(const Record& record, const OperationEvent& event);
// Does it change parameters by the gradients itself, or may it? Who only averages gradients over the ranks
// leaves the step to an optimizer.
bool steps_by_hand(const Record& record, const TrainingRoot& training_root);
// Does the program throw a gradient away itself: `p.grad = None`, `p.grad.zero_()`?
bool clears_gradient(const OperationEvent& event);
// Is it done in a method of an optimizer of the program's own? Then it is a part of its step.
bool in_optimizer(const OperationEvent& event);
// The object as a value.
Value as_value(const Object* object);

// Does the backward leave gradients in parameters of the optimizer?
Answer feeds(const TrainingRoot& training_root, const OperationEvent& backward, Value optimizer);
// Are the parameters that are given (a module's, a list of them, a module) parameters of the optimizer?
Answer shares_parameters(const TrainingRoot& training_root, Value parameters, Value optimizer);
// Was the loss computed with parameters of the module?
bool reaches(const values::TensorState& loss, Value module);
// Was the loss computed from nothing but numbers that were read from tensors?
bool from_numbers(const values::TensorState& loss);
// Is the object handed to code that is not seen, by this event?
bool is_handed(const OperationEvent& unseen, const Object* object);
bool hands_any(const OperationEvent& unseen, const std::set<const Object*>& objects);

// Under which condition the scaler scales; null: always.
values::Cond enabled(const Record& record, const Object* scaler);
// Error if the scaler always scales, warning (with " whenever use_amp") if it may; nothing if it does not.
struct ConditionalSeverity {
  Severity severity = Severity::error;
  std::string when;
};
std::optional<ConditionalSeverity> severity_under(const Record& record, const Object* scaler,
    const OperationEvent& event, const TrainingRoot& training_root);
std::optional<ConditionalSeverity> severity_under(
    const Record& record, const OrderViolation& violation, const OperationEvent& event);
// The same of a mistake in which no scaler takes part.
ConditionalSeverity severity_under(const Record& record, const OrderViolation& violation);

// Tells one mistake once per place.
class Once {
public:
  bool operator()(Place place) { return told_.insert({place.chunk, place.span.begin}).second; }

private:
  std::set<std::pair<std::uint32_t, std::uint32_t>> told_;
};

}  // namespace stepzero::rules
