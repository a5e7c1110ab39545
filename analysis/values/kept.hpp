// What the engine keeps on an object beside the attributes that the program sees, by the kind of object. Each
// thing is declared here once, with what lies under it: a key that is misspelled does not compile, and
// tests/layers finds any that stands elsewhere. Slots under these keys take part in rollback and joins like
// all others.
#pragma once

#include <string>
#include <string_view>

namespace stepzero::values {

// What keys begin with that have a name of the program behind it.
struct KeyPrefix {
  std::string_view text;
  constexpr operator std::string_view() const { return text; }
  friend std::string operator+(KeyPrefix prefix, std::string_view name) {
    return std::string(prefix.text).append(name);
  }
};

// Sequential, ModuleList, ModuleDict and their like, and objects of classes that derive from list or dict.
struct ContainerState {
  static constexpr std::string_view items = "$items";  // a list: what it holds, in order
  static constexpr std::string_view names =
      "$names";  // a list of texts: what the layers of a Sequential are called
  static constexpr std::string_view dict = "$dict";  // a dict: what it holds by name
  static constexpr std::string_view complete =
      "$complete";  // present: nothing else is registered on the module
};

// A layer, and any other nn.Module.
struct ModuleState {
  static constexpr std::string_view bias = "$bias";          // a boolean: was it made with one?
  static constexpr std::string_view dtype = "$dtype";        // what its parameters were converted to
  static constexpr std::string_view training = "$training";  // a boolean: its mode, where it was set
  static constexpr std::string_view transient =
      "$transient";  // a list of texts: buffers that are not saved with it
  static constexpr std::string_view own_state =
      "$own_state";                                    // present: hooks take part in saving or loading it
  static constexpr std::string_view hooks = "$hooks";  // a list of what runs after its forward
  static constexpr std::string_view pre_hooks = "$pre_hooks";  // … and before it
  static constexpr std::string_view hook = "$hook";            // of the handle of a hook: what it takes away
  static constexpr std::string_view layer =
      "$layer";  // of a TransformerEncoder or -Decoder: the layer that it copies
  static constexpr std::string_view has_buffers =
      "$has_buffers";  // present: it has buffers that its forward writes
  static constexpr std::string_view in_hands =
      "$in_hands";  // present: unseen code has it, and may give it attributes
  static constexpr std::string_view scripted = "$scripted";  // present: TorchScript made it
  static constexpr std::string_view failed = "$failed";      // present: its constructor raised
  static constexpr std::string_view lengths =
      "$lengths";  // of a Rearrange: a dict of the lengths of axes that it was given; of a PackedSequence:
                   // the lengths of its sequences
};

// A process group, and a wrapper of modules such as DistributedDataParallel or whoever else communicates in
// one.
struct GroupState {
  static constexpr std::string_view group = "$group";  // the process group, where it is not the default one
  static constexpr std::string_view all = "$all";      // present: all ranks are its members
  static constexpr std::string_view ranks =
      "$ranks";  // a tuple of its members; of a layer that a plan spreads: over how many ranks
  static constexpr std::string_view size = "$size";  // an integer: how many members it has
  static constexpr std::string_view spread =
      "$spread";  // of a layer that a plan spreads: an integer, the dimension of its weight that the ranks
                  // share; negative: nothing says how
};

// A DeviceMesh.
struct MeshState {
  static constexpr std::string_view sizes =
      "$sizes";  // of the mesh that it is a part of: all ranks in order, the last dimension running fastest
  static constexpr std::string_view names = "$names";  // of its own dimensions; None where it has none
  static constexpr std::string_view dims =
      "$dims";  // for each of its dimensions those of the root that it runs over, as a tuple
  static constexpr std::string_view part = "$part";  // present: it is a part of another
  static constexpr std::string_view root = "$root";  // of a part: the mesh that it is a part of
  static constexpr std::string_view flattened =
      "$flattened";  // present: dimensions of it were made one, under a name that it knows
  static constexpr std::string_view spreads = "$spreads";  // a boolean: a tensor that lies on it has parts
};

// DistributedDataParallel, FullyShardedDataParallel, fully_shard and what they leave on the module.
struct WrapperState {
  static constexpr std::string_view wrapped =
      "$module";  // of the marker of a sharded module, and of no_sync(): the module, or the wrapper
  static constexpr std::string_view prefix =
      "$prefix";  // a text: what stands before the names of its parameters
  static constexpr std::string_view sharded = "$sharded";  // of a module that fully_shard took: its marker
  static constexpr std::string_view held_back =
      "$held_back";  // the wrapper whose part of a backward may be held back
  static constexpr std::string_view keeps_buffers =
      "$keeps_buffers";  // present: it does not broadcast buffers
  static constexpr std::string_view static_graph =
      "$static_graph";  // present: the graph is the same in each step
  static constexpr std::string_view mixed =
      "$mixed";  // present: a unit has parameters that are trained and some that are not
  static constexpr std::string_view on_cpu =
      "$on_cpu";  // present: parameters lay on the CPU when it was made
  static constexpr std::string_view left_on_cpu = "$left_on_cpu";  // present: they still do
  static constexpr std::string_view flat = "$flat";  // present: each rank holds its share of the parameters
  static constexpr std::string_view mixed_precision = "$mixed_precision";  // its argument of that name
  static constexpr std::string_view bucket_cap_mb = "$bucket_cap_mb";      // … and of these
  static constexpr std::string_view gradient_as_bucket_view = "$gradient_as_bucket_view";
  static constexpr std::string_view use_orig_params = "$use_orig_params";
  static constexpr std::string_view sharding_strategy = "$sharding_strategy";
  static constexpr std::string_view auto_wrap_policy = "$auto_wrap_policy";
};

// Stages and schedules of a pipeline.
struct PipelineState {
  static constexpr std::string_view stages = "$stages";  // an integer: how many there are
  static constexpr std::string_view microbatches =
      "$microbatches";                                 // an integer: into how many a batch is parted
  static constexpr std::string_view alone = "$alone";  // a boolean: there is one stage
};

// What parameters() gives, an optimizer that was given it, and a scheduler.
struct OptimizerState {
  static constexpr std::string_view parameters = "$parameters";  // what the optimizer was given
  static constexpr std::string_view of = "$of";                  // whose parameters they are: a module
  static constexpr std::string_view capturable =
      "$capturable";  // whether its step may be captured in a CUDA graph
  static constexpr std::string_view state_on =
      "$state_on";  // where the parameters lay when the optimizer got its state; False: nothing says where
  static constexpr std::string_view momentum = "$momentum";  // present: SGD keeps some
  static constexpr std::string_view optimizer =
      "$optimizer";  // of a scheduler, and of the engine of DeepSpeed: the optimizer that it steps
  static constexpr std::string_view step =
      "$step";  // of a scheduler: after how many steps it changes the rate
  static constexpr std::string_view scaler = "$scaler";  // of timm's NativeScaler: its GradScaler
};

// A context manager, and a GradScaler.
struct ContextState {
  static constexpr std::string_view device_type = "$device_type";  // of autocast: a text
  static constexpr std::string_view dtype = "$dtype";              // of autocast: the lower type
  static constexpr std::string_view enabled = "$enabled";          // a boolean
  static constexpr std::string_view on = "$on";  // of one that switches gradients: a boolean
  static constexpr std::string_view value =
      "$value";  // what entering it gives; of a member of an enum: its value
  static constexpr std::string_view ran = "$ran";  // of an object that stands for a try body: it has run
};

// Data sets, loaders and what goes through them.
struct LoaderState {
  static constexpr std::string_view dataset = "$dataset";  // what a subset or a loader takes its samples from
  static constexpr std::string_view length = "$length";    // an integer: samples, or batches of a loader
  static constexpr std::string_view tensors =
      "$tensors";  // a tuple: what a TensorDataset holds, or what an optimizer steps
  static constexpr std::string_view batch = "$batch";  // an integer: the size of a batch
  static constexpr std::string_view samples =
      "$samples";  // an integer: the samples of the data set that a loader reads
  static constexpr std::string_view shuffle = "$shuffle";  // its argument of that name
  static constexpr std::string_view open = "$open";  // present: it was given arguments that are not known
  static constexpr std::string_view any_batch = "$any_batch";  // a batch that stands for any
  static constexpr std::string_view some_number =
      "$some_number";  // of batches, where nothing says how many: the same whenever it is asked for
  static constexpr std::string_view sample = "$sample";              // a sample of the data set that was made
  static constexpr std::string_view sample_index = "$sample_index";  // … and its index
  static constexpr std::string_view tried =
      "$tried";  // present: a sample was made, to see what its code does
  static constexpr std::string_view streamed =
      "$streamed";  // an integer: how many samples an IterableDataset gives; None where that is not known
  static constexpr std::string_view drawn_alone =
      "$drawn_alone";  // of a part of a random split: present where each rank draws its own
};

// A path, a file that was opened under it, and a dict that was read of one.
struct FileState {
  static constexpr std::string_view path = "$path";      // a text
  static constexpr std::string_view within = "$within";  // a text: where in the file it stands
  static constexpr std::string_view package =
      "$package";  // a text: what a comment "@package" in front of a file of YAML says
};

// A configuration of OmegaConf, and what Hydra decorates.
struct ConfigurationState {
  static constexpr std::string_view fields = "$fields";  // a dict: its fields; None once it is not known
  static constexpr std::string_view whole = "$whole";    // the configuration that it is a part of
  static constexpr std::string_view completed = "$completed";  // present: the command line may add keys
  static constexpr KeyPrefix asked{
      "$asked."};  // … and a name: present where the program asks whether the key is there
  static constexpr std::string_view cfg = "$cfg";            // what the decorated function is called with
  static constexpr std::string_view function = "$function";  // the decorated function
  static constexpr std::string_view store =
      "$config_store";  // present: the program registers configurations itself
};

// A parser of the command line, and the namespace that it gives.
struct ParserState {
  static constexpr std::string_view arguments = "$arguments";  // a dict: the values of the arguments by name
  static constexpr std::string_view more = "$more";            // present: it has arguments that were not seen
  static constexpr std::string_view declared = "$declared";    // a list of texts: the names of its arguments
  static constexpr std::string_view flags =
      "$flags";  // a list of texts: the options as a command line writes them
  static constexpr std::string_view known_names =
      "$known_names";                                      // of the namespace: the names of all arguments
  static constexpr std::string_view classes = "$classes";  // of an HfArgumentParser: its dataclasses
  static constexpr std::string_view seconds = "$seconds";  // of a timedelta: how many
};

// What an Accelerator was made with.
struct AcceleratorState {
  static constexpr std::string_view fsdp = "$fsdp";      // a boolean: it shards modules
  static constexpr std::string_view shards = "$shards";  // a boolean: no rank holds all parameters
  static constexpr std::string_view whole = "$whole";    // a boolean: each does
  static constexpr std::string_view saves_together =
      "$saves_together";  // a boolean: all ranks take part in saving
  static constexpr std::string_view waits_for_names =
      "$waits_for_names";  // a boolean: ranks wait for each other to agree on names
  static constexpr std::string_view loads_otherwise =
      "$loads_otherwise";  // present: its loaders are not the usual ones
  static constexpr std::string_view kwargs_handlers = "$kwargs_handlers";  // present: it was given some
  static constexpr std::string_view told_precision =
      "$told_precision";                                         // the precision that it was made with
  static constexpr std::string_view syncs_each = "$syncs_each";  // of a metric: it gathers in each step
};

// DeepSpeed's engine; the model and the optimizer that it has say which one it is.
struct EngineState {
  static constexpr std::string_view engine = "$engine";  // of a model or an optimizer: the engine that has it
  static constexpr std::string_view config = "$config";  // a dict
  static constexpr std::string_view by_program =
      "$by_program";                                   // present: the program gives the configuration
  static constexpr std::string_view stage = "$stage";  // an integer: of ZeRO
  static constexpr std::string_view saves_whole = "$saves_whole";  // a boolean: stage 3 gathers what it saves
  static constexpr std::string_view no_optimizer = "$no_optimizer";  // present: it has none
  static constexpr std::string_view model = "$model";                // the model that it was given
  static constexpr std::string_view module = "$module";              // the model as it holds it
  static constexpr std::string_view processes = "$processes";  // an integer: the ranks of data parallelism
};

// The context of an autograd.Function, a mask of flex_attention.
struct FunctionState {
  static constexpr std::string_view saved = "$saved";      // a tuple: what save_for_backward was given
  static constexpr std::string_view queries = "$queries";  // the number of queries that the mask was made for
  static constexpr std::string_view keys = "$keys";        // … and of keys
};

// What `re` gives.
struct ExpressionState {
  static constexpr std::string_view pattern = "$pattern";  // a text
  static constexpr std::string_view flags = "$flags";      // an integer, as `re` counts them
  static constexpr std::string_view groups =
      "$groups";  // a list: the texts of a match's groups, the whole match first
  static constexpr std::string_view spans = "$spans";  // a list: where they stand, as pairs of integers
  static constexpr std::string_view names = "$names";  // a dict: the numbers of the groups that have names
};

// An array of another library, nothing but a tensor with other methods; a generator of random numbers.
struct ArrayState {
  static constexpr std::string_view state = "$state";  // a tensor
  static constexpr std::string_view numbers =
      "$numbers";                                    // present: it was made of numbers that the program wrote
  static constexpr std::string_view seed = "$seed";  // of a generator
};

// A tensor of unknown ndim that was made from another keeps beside its shape how its dimensions follow from
// those.
struct NdimState {
  static constexpr std::string_view from = "$from";  // the tensor that it was made from
  static constexpr std::string_view differing =
      "$differing";  // how many of its own last dimensions are not that one's
  static constexpr std::string_view added = "$added";  // how many more it has
  static constexpr std::string_view over = "$over";    // how many it has in any case, whatever that one has
  static constexpr std::string_view last = "$last";    // said where both end with the same
};

// A value of which little is known.
struct UnknownState {
  static constexpr std::string_view len = "$len";          // what len() gives, the same each time
  static constexpr std::string_view sizes = "$sizes";      // what size() gives
  static constexpr std::string_view learned = "$learned";  // the shape that was found out of it
  static constexpr std::string_view one_of =
      "$one_of";  // a tuple: the functions, or objects, that it may be or was made of
  static constexpr std::string_view declared =
      "$declared";  // the class that an annotation gives it; None: one that is not known
  static constexpr std::string_view imported =
      "$imported";  // the module that it was imported from; None where that is not known
  static constexpr std::string_view keeps_size =
      "$keeps_size";  // present: a function that is taken to be an activation
  static constexpr std::string_view operands = "$operands";  // a tuple: what unseen code computed it from
  static constexpr std::string_view given = "$given";  // a tuple: what the unseen call that gave it was given
  static constexpr std::string_view given_on = "$given_on";  // the device that all of these lay on
  static constexpr std::string_view of_model = "$of_model";  // present: what programs call a model gave it
  static constexpr std::string_view part_of = "$part_of";    // the unknown that it is a part of
  static constexpr std::string_view owner = "$owner";        // the object whose method it is
  static constexpr std::string_view lies_on = "$lies_on";    // a device
  static constexpr std::string_view parts_lie_on = "$parts_lie_on";  // the device that its parts lie on
  static constexpr std::string_view moved = "$moved";                // present: it was moved to a device
  // That device, of what a method moved there, and of what a model computed from something there.
  static constexpr std::string_view moved_to = "$moved_to";
  static constexpr std::string_view whole = "$whole";  // the unknown that it is an item of, or an attribute
  static constexpr std::string_view made_of = "$made_of";  // the unknown of which an operator made it
  // The CPU: parts of it were moved from there one by one, so others that were not still lie there.
  static constexpr std::string_view others_lie_on = "$others_lie_on";
  static constexpr std::string_view batch = "$batch";  // present: a loader gave it
  static constexpr std::string_view part_of_batch =
      "$part_of_batch";  // present: it is a part of what a loader gave
  static constexpr std::string_view stored =
      "$stored";  // present: something was stored under one of its keys
  static constexpr KeyPrefix unpacked{
      "$unpacked."};                         // … and a place among so many, and a name: a size of the shape
  static constexpr KeyPrefix item{"$item"};  // … and a number: what was stored
  static constexpr KeyPrefix asked{"$asked."};  // … and a variable that holds its ndim
  static constexpr std::string_view answered =
      "$answered";  // of a method that nobody saw: what its calls without arguments gave
  static constexpr std::string_view was_none =
      "$was_none";  // present: it stands for what was None when a class was looked at
  static constexpr std::string_view looked_up =
      "$looked_up";  // present: a mapping gave it, or None where it has no such key
  static constexpr std::string_view looked_at =
      "$looked_at";                                      // present: globals of the module were looked at
  static constexpr std::string_view chosen = "$chosen";  // what the program chose a device by
  static constexpr std::string_view size = "$size";  // present: a layer took it for a size, so it is a number
  // A tuple: the two operands of the arithmetic that gave it, whether that is a float where they are numbers,
  // and the operator (a syntax::BinaryOp). Where they turn out to be numbers, it is one.
  static constexpr std::string_view calculated = "$calculated";
};

// What the run itself keeps on objects, scopes and classes.
struct EngineNotes {
  static constexpr std::string_view many = "$many";  // of an object: it stands for many
  static constexpr std::string_view handed =
      "$handed";  // of an object: unseen code has it, and may fill its lists at any time
  static constexpr std::string_view poisoned =
      "$poisoned";  // of an object: a call was proven to fail, and what follows from it is not told again
  static constexpr std::string_view met = "$met";  // of a class: a base was met
  static constexpr std::string_view native_first =
      "$native_first";  // of a class: its first base is one of a library
  static constexpr std::string_view replaced =
      "$replaced";  // of a module: some of its names were replaced; with a blank and a path: this one
  static constexpr KeyPrefix free{
      "$free."};  // … and a name: what a module takes a name for that it does not define
  static constexpr std::string_view each = "$each";        // of an iterator: what is called in each round
  static constexpr std::string_view yielded = "$yielded";  // of a scope: what a generator has yielded
  static constexpr KeyPrefix received{
      "$received."};  // … and a sender and a tag: how many messages were received
  static constexpr std::string_view lost =
      "$lost";  // of the count of messages: one that cannot be counted was received
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
