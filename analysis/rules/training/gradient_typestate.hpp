// One possible run of a training program: what each optimizer's gradients and each scaler have been through,
// and which operation comes at the wrong moment. Knows no rule.
#pragma once

#include "rules/training/training.hpp"

#include <map>

namespace stepzero::rules {

// Does it set a limit to a gradient in place, as clamp_ does?
bool limits_gradient(const OperationEvent& event);

// What all runs of a training root have in common, found out once.
class CommonToRuns {
public:
  explicit CommonToRuns(const TrainingRoot& training_root);

  bool scales_ever = false;         // somewhere a loss is scaled, or may be
  std::set<const Object*> updates;  // scalers that are updated somewhere
  // See rules::is_handed.
  bool is_handed(const OperationEvent& unseen, const Object* object);
  // Is the loss of the backward known not to be scaled?
  bool is_plain(const OperationEvent& backward);

private:
  bool is_result_of_scale(const OperationEvent& backward) const;
  bool is_scaled_elsewhere(const OperationEvent& backward) const;

  std::vector<const OperationEvent*> scales_;
  std::map<const OperationEvent*, std::set<const Object*>> handed_;
  std::map<const OperationEvent*, bool> plain_;
};

class GradientTypestate {
public:
  struct Entry {
    std::size_t wrong = 0;
    OrderViolation violation;   // the first
    std::size_t first_way = 0;  // how often it follows and spoils the same operations as the first does
  };
  using Found = std::map<std::pair<const OperationEvent*, ViolationKind>, Entry>;

  GradientTypestate(const TrainingRoot& training_root, CommonToRuns& common, Found& found,
      std::map<const OperationEvent*, std::size_t>& reached)
      : training_root_(training_root), common_(common), found_(found), reached_(reached) {}

  void run(const std::vector<Step>& steps);

private:
  // Of one optimizer's gradients.
  struct State {
    Value value;
    const OperationEvent* fresh = nullptr;   // the last backward that fed it for sure since it was cleared
    const OperationEvent* plain = nullptr;   // the same, of a loss that is known not to be scaled
    bool any = false;                        // a backward may have fed it since it was cleared
    const OperationEvent* scaled = nullptr;  // the backward that left scaled gradients
    const Object* scaled_by = nullptr;
    const OperationEvent* stepped = nullptr;  // since the last backward
    const OperationEvent* lost = nullptr;     // cleared, though not stepped
    const OperationEvent* lost_backward = nullptr;
    const OperationEvent* emptied = nullptr;  // the last that cleared it for sure
    const OperationEvent* clip_on_nothing = nullptr;
    const OperationEvent* unscaled_of =
        nullptr;  // the unscale_ that has divided them, and nobody stepped since
    const Object* unscaled_with = nullptr;
    bool clipped = false;                     // since the last backward
    std::size_t fresh_at = 0;                 // when `fresh` was made
    const OperationEvent* updated = nullptr;  // the scaler was updated between backward and step
  };
  struct OfScaler {
    const OperationEvent* unscaled = nullptr;
    const OperationEvent* stepped = nullptr;
  };

  State& of(Value optimizer);
  void wrong(ViolationKind kind, const OperationEvent& event, const State& state,
      const OperationEvent* before, const OperationEvent* later, const Object* scaler);
  void each(const std::function<void(const Object*, State&)>& look);
  // Has another optimizer of the same parameters been stepped since?
  bool used_by_another(const Object* optimizer, std::size_t since) const;
  bool is_optimizer_value(Value value) const { return training_root_.optimizers.contains(value.object()); }

  void unseen(const OperationEvent& event);
  void backward(const OperationEvent& event);
  void cleared(const OperationEvent& event);
  void stepped(const OperationEvent& event, Value optimizer, const Object* scaler);
  void unscaled(const OperationEvent& event, const Object* scaler, Value optimizer);
  void updated(const OperationEvent& event, const Object* scaler);
  void clipped(const OperationEvent& event);
  void measured(const OperationEvent& event);
  void limited(const OperationEvent& event);

  const TrainingRoot& training_root_;
  CommonToRuns& common_;
  Found& found_;
  std::map<const OperationEvent*, std::size_t>& reached_;
  std::set<const OperationEvent*> seen_;
  std::size_t now_ = 0;                              // operations so far
  std::map<const Object*, std::size_t> stepped_at_;  // when an optimizer was last stepped
  std::set<std::pair<const OperationEvent*, ViolationKind>> reported_;
  std::set<const Object*> reported_scalers_;
  std::set<const Object*> checked_;  // scalers that have looked for inf since their last update, or may have
  std::vector<std::pair<const OperationEvent*, const OperationEvent*>>
      vain_;  // updates without a step, and the backward before
  std::map<const Object*, State> states_;
  std::map<std::pair<const Object*, const Object*>, OfScaler> scalers_;
  std::map<const Object*, const OperationEvent*> scales_;
};

}  // namespace stepzero::rules
