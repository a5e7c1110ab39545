// Methods of the program that a framework calls: what it gives them, and what it needs of them.
#pragma once

#include <span>
#include <string_view>

namespace stepzero::libraries {

struct CalledMethod {
  std::string_view of;          // the class that programs derive from
  std::string_view method;      // that they write
  bool returns = false;         // without a result of it nothing happens
  std::string_view given = {};  // a keyword that it is called with; empty: none in particular
  bool one_optimizer = false;   // it gives one optimizer
  bool no_backward = false;     // the framework makes the backward of what it returns
  bool with_graph = false;      // the same: it has to require a gradient
  // It gives two lists, the first of which holds no objects of classes below this module; empty: whatever.
  std::string_view first_of = {};
  // A schedule that follows a metric, and is given without the name of one; empty: none.
  std::string_view follows_metric = {};
  // A schedule of a class below this module, made of numbers of batches, and given without the word that it
  // steps with them; empty: none.
  std::string_view counts_batches = {};
  // A flag of the class that, set to False, makes this the program's own affair; empty: none.
  std::string_view unless_off = {};
  // A method of the object that, called in it, says the same.
  std::string_view unless_calls = {};
  // The package, and its version since when it does so; empty: every version.
  std::string_view package = {}, since = {};
  std::string_view why;  // a whole sentence
};
std::span<const CalledMethod> called_methods();

// The keys of what `configure_optimizers` gives: of an optimizer, of the schedule under it, and of what says
// which metric the schedule follows and when it steps.
struct ScheduleKeys {
  static constexpr std::string_view schedule = "lr_scheduler", inner = "scheduler", metric = "monitor",
                                    interval = "interval";
};
// Names that programs have for numbers of batches, as attributes and as keywords.
inline constexpr std::string_view batch_numbers[] = {
    "estimated_stepping_batches", "num_training_batches", "steps_per_epoch", "num_training_steps"};

// A class whose framework makes the backward and the step, unless a flag of it is False.
struct OptimizationByHand {
  std::string_view of;
  std::string_view method;      // that computes the loss
  std::string_view flag;        // of the object or class
  std::string_view optimizers;  // its method that gives them
  std::string_view backward;  // its method that makes the backward, which is refused unless the flag is False
};
std::span<const OptimizationByHand> optimizations_by_hand();

}  // namespace stepzero::libraries
