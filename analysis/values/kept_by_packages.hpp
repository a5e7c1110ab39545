// What is kept under names that no program writes, as in kept.hpp: of layers whose weight is computed, of
// addresses, of unseen modules, and of objects of packages besides PyTorch's own.
#pragma once

#include "values/kept.hpp"

namespace stepzero::values {

// A layer whose weight is computed from other tensors in every forward. The weight itself stands for the one
// of them that has its shape.
struct ReparametrizedState {
  // An integer: the dimension along which each part has a length of its own; -1 of none: the whole has one.
  static constexpr KeptKey by_length{"$by_length"};
  // An integer: the dimension of the rows of the matrix whose largest singular value it is divided by.
  static constexpr KeptKey by_spectrum{"$by_spectrum"};
  static constexpr KeptKey otherwise{"$computed_otherwise"};  // present: in a way that is not known
};

// A function that keeps its results.
struct KeptResults {
  static constexpr KeptKey results{"$results"};    // a dict: by a tuple of what it was called with
  static constexpr KeptKey most{"$most_results"};  // an integer: of how many calls; None: of all
};

// A process group of which nothing is known: an integer, the rank of the process among its members.
struct UnseenGroupState {
  static constexpr KeptKey own{"$own_rank"};
};

// What unseen code made: present: it was asked for a gated activation, `get_act("swiglu")`.
struct UnseenActivationState {
  static constexpr KeptKey gated{"$gated"};
};

// A number by which code that is not seen finds the memory of a tensor.
struct AddressState {
  static constexpr KeptKey memory_of{"$memory_of"};
};

// A number of which only bounds are known: reals. Neither is there if the number is not between any.
struct BoundedState {
  static constexpr KeptKey low{"$low"};
  static constexpr KeptKey high{"$high"};
};

// A picture: a tuple of its channels, rows and columns, None where one is not known. Of a data set of
// pictures, that they have before they are transformed; and the number of classes.
struct PictureState {
  static constexpr KeptKey sizes{"$sizes_of_picture"};
};

// A data set of which a sample was made.
struct SampleState {
  static constexpr KeptKey made_with{"$made_with"};  // a tuple: what the data set held then
};

// Of what is not seen: where it lies, if it is a module or a tensor.
struct MovedState {
  // The device that `object.to(…)` or `object.cuda()` named last, as a statement too: a module is moved in
  // place. None: not known.
  static constexpr KeptKey module_on{"$module_on"};
  // The object that was moved so, which is the same one if it is a module.
  static constexpr KeptKey same_module{"$same_module"};
  // Present: unseen code made it out of names and numbers, and was told no device.
  static constexpr KeptKey made_anywhere{"$made_anywhere"};
  // The unknown that a number was added to, or compared with: a tensor stays where it is then.
  static constexpr KeptKey beside_number{"$beside_number"};
};

// A loader that a framework has prepared.
struct PreparedState {
  static constexpr KeptKey moves{"$moves_batches"};  // present: its batches lie where the model does
};

// Lightning's Trainer, and that of transformers with its arguments: what they were given.
struct TrainerState {
  static constexpr KeptKey precision{"$precision"};
  static constexpr KeptKey alone{"$trains_alone"};  // present: it trains in one process
  static constexpr KeptKey model{"$trained_model"};
  static constexpr KeptKey arguments{"$training_arguments"};
  static constexpr KeptKey data{"$training_data"};
  static constexpr KeptKey collator{"$collator"};
  static constexpr KeptKey settings{"$settings_of_training"};  // a dict: by their names
  static constexpr KeptKey otherwise{"$trains_otherwise"};     // present: what may change the step
};

// Conditions of a record of a launch: with so many processes, on GPUs of a kind that has no bfloat16.
struct LaunchCondition {
  static constexpr KeyPrefix world{"$launched_world "};
  static constexpr KeyPrefix gpus{"$launched_on "};
};

}  // namespace stepzero::values
