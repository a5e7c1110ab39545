// What the engine keeps on an object beside the attributes that the program sees, by the kind of object. Each thing is declared here once, with
// what lies under it: a key that is misspelled does not compile. Slots under these keys take part in rollback and joins like all others.
#pragma once

#include <string_view>

namespace stepzero::values {

// Sequential, ModuleList, ModuleDict and their like, and objects of classes that derive from list or dict.
struct ContainerState {
  static constexpr std::string_view items = "$items";        // a list: what it holds, in order
  static constexpr std::string_view names = "$names";        // a list of texts: what the layers of a Sequential are called
  static constexpr std::string_view dict = "$dict";          // a dict: what it holds by name
  static constexpr std::string_view complete = "$complete";  // present: nothing else is registered on the module
};

// A layer, and any other nn.Module.
struct ModuleState {
  static constexpr std::string_view bias = "$bias";            // a boolean: was it made with one?
  static constexpr std::string_view dtype = "$dtype";          // what its parameters were converted to
  static constexpr std::string_view training = "$training";    // a boolean: its mode, where it was set
  static constexpr std::string_view transient = "$transient";  // a list of texts: buffers that are not saved with it
  static constexpr std::string_view own_state = "$own_state";  // present: hooks take part in saving or loading it
  static constexpr std::string_view hooks = "$hooks";          // a list of what runs after its forward
  static constexpr std::string_view pre_hooks = "$pre_hooks";  // … and before it
};

// A wrapper of modules such as DistributedDataParallel, and whoever communicates.
struct GroupState {
  static constexpr std::string_view group = "$group";  // the process group, where it is not the default one
};

// What parameters() gives, and an optimizer that was given it.
struct OptimizerState {
  static constexpr std::string_view parameters = "$parameters";  // what the optimizer was given
  static constexpr std::string_view of = "$of";                  // whose parameters they are: a module
};

// Data sets, loaders and what goes through them.
struct LoaderState {
  static constexpr std::string_view dataset = "$dataset";  // what a subset or a loader takes its samples from
  static constexpr std::string_view length = "$length";    // an integer: samples, or batches of a loader
  static constexpr std::string_view tensors = "$tensors";  // a tuple: what a TensorDataset holds
  static constexpr std::string_view batch = "$batch";      // an integer: the size of a batch
};

// A path, and a file that was opened under it.
struct FileState {
  static constexpr std::string_view path = "$path";  // a text
};

// What `re` gives.
struct ExpressionState {
  static constexpr std::string_view pattern = "$pattern";  // a text
  static constexpr std::string_view flags = "$flags";      // an integer, as `re` counts them
  static constexpr std::string_view groups = "$groups";    // a list: the texts of a match's groups, the whole match first
  static constexpr std::string_view spans = "$spans";      // a list: where they stand, as pairs of integers
  static constexpr std::string_view names = "$names";      // a dict: the numbers of the groups that have names
};

// An array of another library: nothing but a tensor with other methods.
struct ArrayState {
  static constexpr std::string_view state = "$state";  // a tensor
};

} // namespace stepzero::values
