// What the engine keeps on an object beside the attributes that the program sees, by the kind of object. Each
// thing is declared here once, with what lies under it: a key that is misspelled does not compile, and
// tests/layers finds any that stands elsewhere. Slots under these keys take part in rollback and joins like
// all others.
#pragma once

#include <string>
#include <string_view>

namespace stepzero::values {

// The key of something that the engine keeps: only the headers that declare state make any.
struct KeptKey {
  std::string_view text;
  constexpr operator std::string_view() const { return text; }
  friend constexpr bool operator==(KeptKey, KeptKey) = default;
};

// Under what an attribute of an object is looked for: what the engine keeps there, or a name of the program
// or of a library. A text with a '$' that is written in place does not compile: it would be a key that nobody
// declared.
class AttributeKey {
public:
  constexpr AttributeKey(KeptKey key) : text_(key.text) {}
  template <std::size_t size> consteval AttributeKey(const char (&name)[size]) : text_(name, size - 1) {
    if (text_.starts_with('$')) throw "declare the key in values/kept.hpp";
  }
  AttributeKey(std::string_view name) : text_(name) {}
  AttributeKey(const std::string& name) : text_(name) {}
  constexpr std::string_view text() const { return text_; }

private:
  std::string_view text_;
};

// Does an attribute of this name belong to the engine, and not to the program?
constexpr bool is_kept(std::string_view attribute) { return attribute.starts_with('$'); }

// What keys begin with that have a name of the program after it.
struct KeyPrefix {
  std::string_view text;
  constexpr operator std::string_view() const { return text; }
  friend std::string operator+(KeyPrefix prefix, std::string_view name) {
    return std::string(prefix.text).append(name);
  }
};

// Sequential, ModuleList, ModuleDict and their like, and objects of classes that derive from list or dict.
struct ContainerState {
  static constexpr KeptKey items{"$items"};  // a list: what it holds, in order
  static constexpr KeptKey names{"$names"};  // a list of texts: what the layers of a Sequential are called
  static constexpr KeptKey dict{"$dict"};    // a dict: what it holds by name
  static constexpr KeptKey complete{"$complete"};  // present: nothing else is registered on the module
};

// A layer, and any other nn.Module.
struct ModuleState {
  static constexpr KeptKey bias{"$bias"};            // a boolean: was it made with one?
  static constexpr KeptKey dtype{"$dtype"};          // what its parameters were converted to
  static constexpr KeptKey training{"$training"};    // a boolean: its mode, where it was set
  static constexpr KeptKey transient{"$transient"};  // a list of texts: buffers that are not saved with it
  static constexpr KeptKey own_state{"$own_state"};  // present: hooks take part in saving or loading it
  static constexpr KeptKey hooks{"$hooks"};          // a list of what runs after its forward
  static constexpr KeptKey pre_hooks{"$pre_hooks"};  // … and before it
  static constexpr KeptKey hook{"$hook"};            // of the handle of a hook: what it takes away
  static constexpr KeptKey layer{"$layer"};  // of a TransformerEncoder or -Decoder: the layer that it copies
  static constexpr KeptKey has_buffers{"$has_buffers"};  // present: it has buffers that its forward writes
  static constexpr KeptKey in_hands{"$in_hands"};  // present: unseen code has it, and may give it attributes
  static constexpr KeptKey scripted{"$scripted"};  // present: TorchScript made it
  static constexpr KeptKey failed{"$failed"};      // present: its constructor raised
  static constexpr KeptKey lengths{"$lengths"};  // of a Rearrange: a dict of the lengths of axes that it was
                                                 // given; of a PackedSequence: the lengths of its sequences
};

// A process group, and a wrapper of modules such as DistributedDataParallel or whoever else communicates in
// one.
struct GroupState {
  static constexpr KeptKey group{"$group"};  // the process group, where it is not the default one
  static constexpr KeptKey all{"$all"};      // present: all ranks are its members
  static constexpr KeptKey ranks{
      "$ranks"};  // a tuple of its members; of a layer that a plan spreads: over how many ranks
  static constexpr KeptKey size{"$size"};      // an integer: how many members it has
  static constexpr KeptKey spread{"$spread"};  // of a layer that a plan spreads: an integer, the dimension of
                                               // its weight that the ranks share; negative: nothing says how
};

// A DeviceMesh.
struct MeshState {
  static constexpr KeptKey sizes{
      "$sizes"};  // of the mesh that it is a part of: all ranks in order, the last dimension running fastest
  static constexpr KeptKey names{"$names"};  // of its own dimensions; None where it has none
  static constexpr KeptKey dims{
      "$dims"};  // for each of its dimensions those of the root that it runs over, as a tuple
  static constexpr KeptKey part{"$part"};  // present: it is a part of another
  static constexpr KeptKey root{"$root"};  // of a part: the mesh that it is a part of
  static constexpr KeptKey flattened{
      "$flattened"};  // present: dimensions of it were made one, under a name that it knows
  static constexpr KeptKey spreads{"$spreads"};  // a boolean: a tensor that lies on it has parts
};

// DistributedDataParallel, FullyShardedDataParallel, fully_shard and what they leave on the module.
struct WrapperState {
  static constexpr KeptKey wrapped{
      "$module"};  // of the marker of a sharded module, and of no_sync(): the module, or the wrapper
  static constexpr KeptKey prefix{"$prefix"};        // a text: what stands before the names of its parameters
  static constexpr KeptKey sharded{"$sharded"};      // of a module that fully_shard took: its marker
  static constexpr KeptKey held_back{"$held_back"};  // the wrapper whose part of a backward may be held back
  static constexpr KeptKey keeps_buffers{"$keeps_buffers"};  // present: it does not broadcast buffers
  static constexpr KeptKey static_graph{"$static_graph"};    // present: the graph is the same in each step
  static constexpr KeptKey mixed{
      "$mixed"};  // present: a unit has parameters that are trained and some that are not
  static constexpr KeptKey on_cpu{"$on_cpu"};  // present: parameters lay on the CPU when it was made
  static constexpr KeptKey left_on_cpu{"$left_on_cpu"};  // present: they still do
  static constexpr KeptKey flat{"$flat"};  // present: each rank holds its share of the parameters
  static constexpr KeptKey mixed_precision{"$mixed_precision"};  // its argument of that name
  static constexpr KeptKey bucket_cap_mb{"$bucket_cap_mb"};      // … and of these
  static constexpr KeptKey gradient_as_bucket_view{"$gradient_as_bucket_view"};
  static constexpr KeptKey use_orig_params{"$use_orig_params"};
  static constexpr KeptKey sharding_strategy{"$sharding_strategy"};
  static constexpr KeptKey auto_wrap_policy{"$auto_wrap_policy"};
};

// Stages and schedules of a pipeline.
struct PipelineState {
  static constexpr KeptKey stages{"$stages"};              // an integer: how many there are
  static constexpr KeptKey microbatches{"$microbatches"};  // an integer: into how many a batch is parted
  static constexpr KeptKey alone{"$alone"};                // a boolean: there is one stage
};

// What parameters() gives, an optimizer that was given it, and a scheduler.
struct OptimizerState {
  static constexpr KeptKey parameters{"$parameters"};  // what the optimizer was given
  static constexpr KeptKey of{"$of"};                  // whose parameters they are: a module
  static constexpr KeptKey capturable{"$capturable"};  // whether its step may be captured in a CUDA graph
  static constexpr KeptKey state_on{
      "$state_on"};  // where the parameters lay when the optimizer got its state; False: nothing says where
  static constexpr KeptKey momentum{"$momentum"};  // present: SGD keeps some
  static constexpr KeptKey optimizer{
      "$optimizer"};  // of a scheduler, and of the engine of DeepSpeed: the optimizer that it steps
  static constexpr KeptKey step{"$step"};      // of a scheduler: after how many steps it changes the rate
  static constexpr KeptKey scaler{"$scaler"};  // of timm's NativeScaler: its GradScaler
};

// A context manager, and a GradScaler.
struct ContextState {
  static constexpr KeptKey device_type{"$device_type"};  // of autocast: a text
  static constexpr KeptKey dtype{"$dtype"};              // of autocast: the lower type
  static constexpr KeptKey enabled{"$enabled"};          // a boolean
  static constexpr KeptKey on{"$on"};                    // of one that switches gradients: a boolean
  static constexpr KeptKey value{"$value"};  // what entering it gives; of a member of an enum: its value
  static constexpr KeptKey ran{"$ran"};      // of an object that stands for a try body: it has run
};

// Data sets, loaders and what goes through them.
struct LoaderState {
  static constexpr KeptKey dataset{"$dataset"};  // what a subset or a loader takes its samples from
  static constexpr KeptKey length{"$length"};    // an integer: samples, or batches of a loader
  static constexpr KeptKey tensors{
      "$tensors"};  // a tuple: what a TensorDataset holds, or what an optimizer steps
  static constexpr KeptKey batch{"$batch"};  // an integer: the size of a batch
  static constexpr KeptKey samples{
      "$samples"};  // an integer: the samples of the data set that a loader reads
  static constexpr KeptKey shuffle{"$shuffle"};      // its argument of that name
  static constexpr KeptKey open{"$open"};            // present: it was given arguments that are not known
  static constexpr KeptKey any_batch{"$any_batch"};  // a batch that stands for any
  static constexpr KeptKey some_number{
      "$some_number"};  // of batches, where nothing says how many: the same whenever it is asked for
  static constexpr KeptKey sample{"$sample"};              // a sample of the data set that was made
  static constexpr KeptKey sample_index{"$sample_index"};  // … and its index
  static constexpr KeptKey tried{"$tried"};  // present: a sample was made, to see what its code does
  static constexpr KeptKey streamed{
      "$streamed"};  // an integer: how many samples an IterableDataset gives; None where that is not known
  static constexpr KeptKey drawn_alone{
      "$drawn_alone"};  // of a part of a random split: present where each rank draws its own
};

// A path, a file that was opened under it, and a dict that was read of one.
struct FileState {
  static constexpr KeptKey path{"$path"};      // a text
  static constexpr KeptKey within{"$within"};  // a text: where in the file it stands
};

// A configuration of OmegaConf, and what Hydra decorates.
struct ConfigurationState {
  static constexpr KeptKey fields{"$fields"};        // a dict: its fields; None once it is not known
  static constexpr KeptKey whole{"$whole"};          // the configuration that it is a part of
  static constexpr KeptKey completed{"$completed"};  // present: the command line may add keys
  static constexpr KeyPrefix asked{
      "$asked."};  // … and a name: present where the program asks whether the key is there
  static constexpr KeptKey cfg{"$cfg"};             // what the decorated function is called with
  static constexpr KeptKey function{"$function"};   // the decorated function
  static constexpr KeptKey store{"$config_store"};  // present: the program registers configurations itself
};

// A parser of the command line, and the namespace that it gives.
struct ParserState {
  static constexpr KeptKey arguments{"$arguments"};  // a dict: the values of the arguments by name
  static constexpr KeptKey more{"$more"};            // present: it has arguments that were not seen
  static constexpr KeptKey declared{"$declared"};    // a list of texts: the names of its arguments
  static constexpr KeptKey flags{"$flags"};  // a list of texts: the options as a command line writes them
  static constexpr KeptKey known_names{"$known_names"};  // of the namespace: the names of all arguments
  static constexpr KeptKey classes{"$classes"};          // of an HfArgumentParser: its dataclasses
  static constexpr KeptKey seconds{"$seconds"};          // of a timedelta: how many
};

// What an Accelerator was made with.
struct AcceleratorState {
  static constexpr KeptKey fsdp{"$fsdp"};                      // a boolean: it shards modules
  static constexpr KeptKey shards{"$shards"};                  // a boolean: no rank holds all parameters
  static constexpr KeptKey whole{"$whole"};                    // a boolean: each does
  static constexpr KeptKey saves_together{"$saves_together"};  // a boolean: all ranks take part in saving
  static constexpr KeptKey waits_for_names{
      "$waits_for_names"};  // a boolean: ranks wait for each other to agree on names
  static constexpr KeptKey loads_otherwise{
      "$loads_otherwise"};  // present: its loaders are not the usual ones
  static constexpr KeptKey kwargs_handlers{"$kwargs_handlers"};  // present: it was given some
  static constexpr KeptKey told_precision{"$told_precision"};    // the precision that it was made with
  static constexpr KeptKey syncs_each{"$syncs_each"};            // of a metric: it gathers in each step
};

// DeepSpeed's engine; the model and the optimizer that it has say which one it is.
struct EngineState {
  static constexpr KeptKey engine{"$engine"};            // of a model or an optimizer: the engine that has it
  static constexpr KeptKey config{"$config"};            // a dict
  static constexpr KeptKey by_program{"$by_program"};    // present: the program gives the configuration
  static constexpr KeptKey stage{"$stage"};              // an integer: of ZeRO
  static constexpr KeptKey saves_whole{"$saves_whole"};  // a boolean: stage 3 gathers what it saves
  static constexpr KeptKey no_optimizer{"$no_optimizer"};  // present: it has none
  static constexpr KeptKey model{"$model"};                // the model that it was given
  static constexpr KeptKey module{"$module"};              // the model as it holds it
  static constexpr KeptKey processes{"$processes"};        // an integer: the ranks of data parallelism
};

// The context of an autograd.Function, a mask of flex_attention.
struct FunctionState {
  static constexpr KeptKey saved{"$saved"};      // a tuple: what save_for_backward was given
  static constexpr KeptKey queries{"$queries"};  // the number of queries that the mask was made for
  static constexpr KeptKey keys{"$keys"};        // … and of keys
};

// What `re` gives.
struct ExpressionState {
  static constexpr KeptKey pattern{"$pattern"};  // a text
  static constexpr KeptKey flags{"$flags"};      // an integer, as `re` counts them
  static constexpr KeptKey groups{"$groups"};  // a list: the texts of a match's groups, the whole match first
  static constexpr KeptKey spans{"$spans"};    // a list: where they stand, as pairs of integers
  static constexpr KeptKey names{"$names"};    // a dict: the numbers of the groups that have names
};

// An array of another library, nothing but a tensor with other methods; a generator of random numbers.
struct ArrayState {
  static constexpr KeptKey state{"$state"};      // a tensor
  static constexpr KeptKey numbers{"$numbers"};  // present: it was made of numbers that the program wrote
  static constexpr KeptKey seed{"$seed"};        // of a generator
};

// A tensor of unknown ndim that was made from another keeps beside its shape how its dimensions follow from
// those.
struct NdimState {
  static constexpr KeptKey from{"$from"};            // the tensor that it was made from
  static constexpr KeptKey differing{"$differing"};  // how many of its own last dimensions are not that one's
  static constexpr KeptKey added{"$added"};          // how many more it has
  static constexpr KeptKey over{"$over"};            // how many it has in any case, whatever that one has
  static constexpr KeptKey last{"$last"};            // said where both end with the same
};

// A value of which little is known.
struct UnknownState {
  static constexpr KeptKey len{"$len"};          // what len() gives, the same each time
  static constexpr KeptKey sizes{"$sizes"};      // what size() gives
  static constexpr KeptKey learned{"$learned"};  // the shape that was found out of it
  static constexpr KeptKey one_of{
      "$one_of"};  // a tuple: the functions, or objects, that it may be or was made of
  static constexpr KeptKey annotated{
      "$annotated"};  // the class that an annotation gives it; None: one that is not known
  static constexpr KeptKey imported{
      "$imported"};  // the module that it was imported from; None where that is not known
  static constexpr KeptKey keeps_size{
      "$keeps_size"};                              // present: a function that is taken to be an activation
  static constexpr KeptKey operands{"$operands"};  // a tuple: what unseen code computed it from
  static constexpr KeptKey given{"$given"};        // a tuple: what the unseen call that gave it was given
  static constexpr KeptKey given_on{"$given_on"};  // the device that all of these lay on
  static constexpr KeptKey of_model{"$of_model"};  // present: what programs call a model gave it
  static constexpr KeptKey part_of{"$part_of"};    // the unknown that it is a part of
  static constexpr KeptKey owner{"$owner"};        // the object whose method it is
  static constexpr KeptKey given_by{"$given_by"};  // the object whose method, which is not seen, gave it
  static constexpr KeptKey lies_on{"$lies_on"};    // a device
  static constexpr KeptKey parts_lie_on{"$parts_lie_on"};  // the device that its parts lie on
  static constexpr KeptKey moved{"$moved"};                // present: it was moved to a device
  // That device, of what a method moved there, and of what a model computed from something there.
  static constexpr KeptKey moved_to{"$moved_to"};
  static constexpr KeptKey whole{"$whole"};      // the unknown that it is an item of, or an attribute
  static constexpr KeptKey made_of{"$made_of"};  // the unknown of which an operator made it
  // The CPU: parts of it were moved from there one by one, so others that were not still lie there.
  static constexpr KeptKey others_lie_on{"$others_lie_on"};
  static constexpr KeptKey others_moved_to{"$others_moved_to"};  // where those parts were moved last
  static constexpr KeptKey batch{"$batch"};                      // present: a loader gave it
  static constexpr KeptKey part_of_batch{"$part_of_batch"};  // present: it is a part of what a loader gave
  static constexpr KeptKey stored{"$stored"};  // present: something was stored under one of its keys
  static constexpr KeyPrefix unpacked{
      "$unpacked."};                         // … and a place among so many, and a name: a size of the shape
  static constexpr KeyPrefix item{"$item"};  // … and a number: what was stored
  static constexpr KeyPrefix asked{"$asked."};  // … and a variable that holds its ndim
  static constexpr KeptKey answered{
      "$answered"};  // of a method that nobody saw: what its calls without arguments gave
  static constexpr KeptKey was_none{
      "$was_none"};  // present: it stands for what was None when a class was looked at
  static constexpr KeptKey looked_up{
      "$looked_up"};  // present: a mapping gave it, or None where it has no such key
  static constexpr KeptKey looked_at{"$looked_at"};  // present: globals of the module were looked at
  static constexpr KeptKey chosen{"$chosen"};        // what the program chose a device by
  static constexpr KeptKey begins{"$begins"};        // of a text that is not known: how it begins
  static constexpr KeptKey size{"$size"};            // present: a layer took it for a size, so it is a number
  // A tuple: the two operands of the arithmetic that gave it, whether that is a float where they are numbers,
  // and the operator (a syntax::BinaryOp). Where they turn out to be numbers, it is one.
  static constexpr KeptKey calculated{"$calculated"};
};

// What the run itself keeps on objects, scopes and classes.
struct EngineNotes {
  static constexpr KeptKey many{"$many"};  // of an object: it stands for many
  static constexpr KeptKey handed{
      "$handed"};  // of an object: unseen code has it, and may fill its lists at any time
  static constexpr KeptKey poisoned{
      "$poisoned"};  // of an object: a call was proven to fail, and what follows from it is not told again
  static constexpr KeptKey met{"$met"};                    // of a class: a base was met
  static constexpr KeptKey native_first{"$native_first"};  // of a class: its first base is one of a library
  static constexpr KeptKey replaced{
      "$replaced"};  // of a module: some of its names were replaced; with a blank and a path: this one
  static constexpr KeyPrefix free{
      "$free."};  // … and a name: what a module takes a name for that it does not define
  static constexpr KeptKey each{"$each"};  // of an iterator: what is called in each round
  static constexpr KeptKey import_roots{
      "$import_roots"};  // among the names of the main file: the folders that the program adds to sys.path
  static constexpr KeptKey yielded{"$yielded"};  // of a scope: what a generator has yielded
  static constexpr KeyPrefix received{
      "$received."};  // … and a sender and a tag: how many messages were received
  static constexpr KeptKey lost{
      "$lost"};  // of the count of messages: one that cannot be counted was received
};

// Conditions of a record that say what kind of run it is of.
struct RecordCondition {
  static constexpr std::string_view counted =
      "$counted";  // memory is counted: of several ways the usual one is taken
  static constexpr std::string_view no_launcher = "$no_launcher";  // one process, started without a launcher
  static constexpr KeyPrefix read{
      "$read "};  // … and the number of a role: the program reads it from the environment
  static constexpr KeyPrefix told{"$told "};  // … and the number of a role: the program was told it
};

}  // namespace stepzero::values
