// The shape of what is known of libraries: rows of data that a table above this floor provides. The
// interpreter knows no library name; it looks names up here.
#pragma once

#include "values/heap.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace stepzero::interpreter {
class Runtime;
struct Call;
}  // namespace stepzero::interpreter

namespace stepzero::values {

enum class RowKind : std::uint8_t { function, class_, method, class_method, property, constant };

// What an operation means to the rules. Everything else about it is in its Row.
enum class Operation : std::uint8_t {
  none,        // not recorded
  collective,  // all ranks of a group take part
  backward,
  optimizer_step,
  zero_grad,
  gradient_written,   // the program writes a gradient, or takes it away, on its own
  gradient_asked,     // it asks for gradients without a backward: torch.autograd.grad
  trained_from_here,  // a parameter or a module is no longer frozen
  flag_of_module,     // an attribute of a module is set that means something on its tensors alone
  weights_written,    // the program writes numbers that it computed into a parameter or a buffer
  scale,
  unscale,
  scaler_step,
  scaler_update,
  scale_asked,  // the program asks for the scale: it may divide by it
  clip_gradients,
  parallel_forward,  // forward of a module that communicates
  optimizer_made,
  scaler_made,
  scheduler_made,
  loader_made,
  sampler_made,
  scheduler_step,
  train_mode,
  eval_mode,        // of a module; train(False) sets the latter, too
  forward,          // of a module that no other module calls
  loss,             // of scores or probabilities, by a function of the library
  autocast_region,  // of a class: a `with` in which operators choose their types
  grad_region,      // of a class: a `with` that says whether gradients are recorded
  old_name,         // of something that has another name now
  halved,           // a model becomes float16
  halved_by_hand,   // a tensor does
  host_read,        // the value of a tensor comes to the CPU
  set_epoch,
  save,
  load,         // of a file with tensors
  picked,       // one index of a dimension of a tensor
  state_taken,  // state_dict() of a module, an optimizer…
  state_put,    // load_state_dict()
  part_read,    // an item of what was loaded
  file_moved,   // one file takes the place of another
  file_read,    // a file is opened, decoded or listed
  tokenized,    // text is split into tokens
  transfer,     // a tensor goes to a device
  created,      // a tensor is made of sizes alone
  random_number,
  viewed,      // a tensor in a shape that is given
  has_to_fit,  // the size of a batch of which not all are equal has to be a given number, or, where that is
               // allowed, 1
  normalizes_batch,  // it needs more than one value per channel in training
  split,             // data is parted at random
  fitted,            // something learns from data: a scaler, a tokenizer
  window,            // of the data, from the index of a sample on: a neighbor's overlaps it
  kept,              // an iteration of a loop adds a tensor to what the next iterations add to
  refuses_autocast,  // it raises under autocast of CUDA to half precision
  framework,         // the loop, or a part of it, is handed to a library that does the rest
  unseen,  // something of which nothing is known is handed objects: the first argument is a tuple of them
  unseen_communication,  // unseen code has what communicates, and may call it
  message,               // one rank sends, another receives
  await,                 // waits until something that was started has ended
  poll,                  // asks whether it has, or hands it on
  slow,                  // takes long: downloads, sleeps
  fallible,              // may fail in one process and not in another: it reads files
  group_settings,        // the default process group is made, with its time limit
  sharded,               // the parameters of a module are sharded in place
  store_set,             // a key of a store that the processes share is set
  store_asked,           // one is waited for
  recomputed,            // activations are computed again in the backward instead of being kept
};

// Why an operation cannot succeed.
enum class ProblemKind : std::uint8_t {
  inner_dimensions,  // `left` and `right` would be summed over together
  layer_features,    // the last dimension of the input (`left`) is not what the layer was made for (`right`)
  ndim,              // an operand of a product has an impossible number of dimensions
  batch_dimensions,  // leading dimensions of a batched product do not broadcast
  // From here on the operator names a reason, which tells what is wrong: see refusals.hpp.
  product,  // a matrix product
  broadcast,
  reshape,
  concat,
  index,  // an index or a dimension outside the tensor
  layer_input,
  argument,  // a value that the operation refuses whatever it is given
  loss_target,
  dtype,
  device,
  unpack,
  assertion,
  own_call,          // a function of the program is called with arguments that it does not take
  process_text,      // what another process gets as text is none, or cannot be what it has to be: variables,
                     // arguments, ports
  leaf_written,      // a tensor that is trained is written in place while gradients are recorded
  array_of_history,  // an array of NumPy is asked of a tensor that requires a gradient
  not_scalar,        // backward of more than one number
  overwritten,       // backward needs the numbers of a tensor that were written over
  undeclared,        // the command line has no such argument
  of_wrapped,        // an attribute of the model is asked of the wrapper around it
  no_attribute,      // an object of the program's own class has no such attribute
  no_result,         // what a function gives that returns nothing is used as if it were something
  state,             // a state is loaded into a module with other names or sizes
  // These run, and are hardly what was meant.
  suspicious_broadcast,
  first_without_failure = suspicious_broadcast,
  empty_slice,
  annotation,
  batch_mismatch,
  truth_of_text,  // an argument of the command line is read with bool, which takes every text for true
  // Told to who compares ranks only: a process comes to a name of its function (`text`) that it never bound.
  unbound,
};

// Which ranks wait in a collective for the others.
enum class Waiting : std::uint8_t { all, all_but_root, root };

// Of calls that communicate only sometimes: when they do.
enum class When : std::uint8_t {
  always,
  with_buffers,  // their module has buffers
  training,      // their module is in training mode
  sharded,       // the launcher shards the model, of which the text says nothing
  parted,        // their tensor is a sharded one, of which the text says nothing
};

// Which ranks make the collective and what goes through it. Parameter numbers index the row's signature; -1:
// none.
struct CollectiveInfo {
  std::string_view name;  // "broadcast"
  int tensor = -1;        // the tensor sent or received into
  int root = -1;          // src or dst
  int group = -1;
  bool sends_from_root = false;   // the other ranks need a buffer
  bool hidden = false;            // a call that does not look like communication
  std::string_view because = {};  // of hidden ones: why all ranks have to call it
  int async = -1;                 // it only starts, where this is true; its result is waited for
  int group_root = -1;            // src or dst as a rank of the group
  int list = -1;  // a list with one item for each rank of the group: of all ranks, or of the root only
  bool fills_list = false;  // its tensors are received into
  int objects = -1;         // a list of objects, of the same length on every rank
  // Of those that are told how many rows go to each rank and come from each: these numbers, and the tensors.
  int sent_rows = -1, received_rows = -1, sent = -1, received = -1;
  bool makes_group = false;
  int local = -1;  // of those that make groups: where this is true, only the members make it
  Waiting waits = Waiting::all;
  bool own_sizes = false;  // what each rank receives may be of another size: these split what they send
  When when = When::always;
  int only_if = -1;    // it communicates only where this is true
  bool joins = false;  // inside Join, those that have ended take part, too
  std::string_view inside =
      {};  // of a wrapper's forward: what one calls instead that does not communicate: "model.module"
  bool reduces = false;  // it makes one result of what several ranks have
};

// A message between two ranks. Numbers as in CollectiveInfo.
struct MessageInfo {
  std::string_view name;  // "send"
  bool sends = false;
  bool starts = false;  // its result is waited for
  int tensor = -1, peer = -1, tag = -1, group = -1, group_peer = -1;
  int batch = -1;  // a list of messages that start together
};

// What an optimizer makes of its numbers.
struct OptimizerInfo {
  double rate = 0;            // learning rates from here on are far outside practice; 0: none is
  std::string_view why = {};  // of that
  double decay = 0;           // the same of weight_decay
  // The variant that takes the decay off the weights, of one that adds it to the gradient and divides by its
  // size; empty for others.
  std::string_view decoupled = {};
};

// A name that moved.
struct MovedName {
  std::string_view since;   // "2.4"
  std::string_view to;      // "torch.amp.autocast"
  std::string_view device;  // what it takes there as its first argument: "cuda"
};

// What a loss function takes as its input, and what it does to it.
struct LossInfo {
  std::string_view name;  // "CrossEntropyLoss"
  Outcome takes = Outcome::none;
  Outcome repeats = Outcome::none;                     // it computes this itself
  bool of_classes = false;                             // of scores and classes, one for each position
  std::string_view scores_function{}, scores_class{};  // the same loss of scores, where it takes none itself
  // The target is probabilities, or their logarithms where the option of this name is true.
  std::string_view logarithmic_target{};
};

// A default of a signature.
struct Constant {
  Kind kind = Kind::absent;  // absent, none, boolean, integer, real or string
  std::int64_t integer = 0;
  double real = 0;
  std::string_view text;
};

// What else an operator's row says; the table that made the row knows.
struct OperatorInfo;

// Beside the plain form: `x.add_(y)` writes into its subject, `x.squeeze_()` changes its shape, too.
enum class Variant : std::uint8_t { plain, in_place, in_shape };

// What a context manager changes of the communication inside.
enum class Covers : std::uint8_t {
  nothing,
  no_sync,  // backward does not reduce the gradients of the module that it keeps
  join,     // ranks that have ended take part in the collectives of the others
};

// Where a call moves its tensor.
enum class Moves : std::uint8_t {
  nowhere,
  to_given,  // to the device that its first argument names, if it names one
  to_accelerator,
};

inline std::string_view last_name(std::string_view path) { return path.substr(path.rfind('.') + 1); }

// One name of a library. Rows are data: see torch/. All texts live as long as the process.
struct Row {
  std::string_view path;  // "torch.nn.Linear", "torch.Tensor.view"
  RowKind kind = RowKind::function;
  std::string_view signature;  // "input, weight, bias=None": parameters as Python writes them, self left out
  Value (*run)(interpreter::Call& call) = nullptr;  // null: a pure function with an unknown result
  std::string_view base;                            // of a class: the class that it derives from
  Operation operation = Operation::none;
  const CollectiveInfo* collective = nullptr;
  const MessageInfo* message = nullptr;
  const OperatorInfo* op =
      nullptr;  // of an operator: signature and arguments are checked, choices are run side by side
  Variant variant = Variant::plain;
  const CollectiveInfo* backward =
      nullptr;                      // of a class of modules: what a backward through their forward enters
  Covers covers = Covers::nothing;  // of a class of context managers
  Moves moves = Moves::nowhere;     // of a transfer
  bool self_first = false;          // of a method: its object is the first parameter of the signature
  std::string_view source;          // where its semantics were read
  bool pure = false;                // it never raises on values that are known
  bool one_device = false;  // its tensors have to lie on one device, those without dimensions left out
  const OptimizerInfo* optimizer = nullptr;  // of an optimizer's class
  const MovedName* moved = nullptr;
  const LossInfo* loss = nullptr;
  bool by_mode = false;  // of a layer's class: it computes something else in training than in evaluation
  bool explodes =
      false;  // the same: its gradients grow without bound now and then, so that programs clip them
  bool by_annotation =
      false;  // of a class: a parameter that is annotated with it is taken for an object of it
  bool exhausts =
      false;           // of an exception's class: one process has run out of something that others may have
  bool whole = false;  // of a class: its objects have no attributes but those of its rows, its bases' and
                       // what the program gives them
  bool extends_imports =
      false;                 // of a function: from here on imports look in the folder that it is given, too
  bool leaves_loop = false;  // of a framework: it divides, scales and holds back, and leaves it to the
                             // program to clear and to step
  bool prepares_loaders =
      false;  // … and it sees to the loaders, too: which samples they give, and in which order
  bool of_optimizer = false;  // of a method: it takes the state of an optimizer, or of its schedule
  // Derived when the table is built.
  const Row* base_row = nullptr;  // of `base`
  std::vector<Name> parameters;
  std::size_t positional = 0;      // of them, those that may be given by place
  std::vector<Constant> defaults;  // absent: required, or not a constant
  bool takes_rest = false;         // has *args
  bool takes_options = false;      // has **kwargs
};

}  // namespace stepzero::values

namespace stepzero::interpreter {

using values::Row;
using values::Value;

// A call of a library row, with its arguments bound.
struct Call {
  Runtime& run;
  const Row& row;
  Value self;  // of methods and of constructors (the new instance)
  std::vector<Value>
      arguments;  // by the row's parameters; absent where not given (defaults of the signature filled in)
  std::vector<Value> rest;                              // further positional arguments
  std::vector<std::pair<syntax::Name, Value>> options;  // further keyword arguments
  std::vector<bool> given;
  bool spread = false;           // *args or **kwargs that are not known: any argument may have been given
  const syntax::CallExpr* expr;  // may be null
  const syntax::Expr* node;      // the expression evaluated; may be null
  values::Place place;
  std::size_t after = 0;  // of the arguments given by place: how many are known to follow `*unknown`
  Value at(std::size_t i) const { return i < arguments.size() ? arguments[i] : Value{}; }
  std::string without_arguments() const;  // "torch.cuda.is_available()"
};
inline std::string Call::without_arguments() const { return std::string(row.path) + "()"; }

// A name that programs give to a value with a role: `local_rank`, `is_main_process`.
struct Presumption {
  symbolic::Role role = symbolic::Role::none;
  bool is_main = false;              // true on the first rank only
  std::string_view class_path = {};  // or: an object of this library class
  bool of_each = false;              // or: each process has its own, and nobody says which
};

// The library's names of the values that the interpreter knows. All live as long as the process.
struct TypeNames {
  std::string_view root;       // what its own names begin with: "torch."
  std::string_view layers;     // what those of layers begin with
  std::string_view module;     // the class of layers and models
  std::string_view forward;    // its method that a call of the object runs
  std::string_view tensor;     // the class whose rows are the methods and attributes of tensors
  std::string_view parameter;  // the class of tensors that are trained
  std::string_view size;       // the class of shapes, which are kept as tuples
  std::string_view dtype, device;
  std::string_view context;        // the class of what `with` enters: no_grad, autocast…
  std::string_view communication;  // what the names of functions begin with by which ranks communicate
  std::string_view arrays;         // what those of the other library of arrays begin with: "numpy."
  std::string_view ndim;    // the attribute of arrays of every library that is their number of dimensions
  std::string_view trains;  // the attribute of layers that says whether they train: a call of theirs sets it
  std::string_view accelerator;   // the device of Moves::to_accelerator
  std::string_view no_gradients;  // what one calls to write into a parameter
  // Attributes that only tensors have, by which programs find out whether something is one.
  std::span<const std::string_view> of_tensors_alone;
};

class Library {
public:
  virtual ~Library() = default;
  // The canonical spelling of a dotted name: re-exports and old homes resolved.
  virtual std::string canonical(std::string_view path) const = 0;
  virtual const Row* find(std::string_view canonical_path) const = 0;
  // Is the first part of a dotted name a library that the table speaks of? Such a name is not looked for in
  // files.
  virtual bool knows(std::string_view top_level) const = 0;
  // Is the library there wherever the program runs: Python's own, and PyTorch?
  virtual bool always_there(std::string_view top_level) const = 0;
  // Are all names that the library has there in every version that programs are written for?
  virtual bool complete(std::string_view top_level) const = 0;
  // Is the library read where it is installed? Of the others that are not known here nothing is assumed.
  virtual bool reads(std::string_view top_level) const = 0;
  virtual const TypeNames& types() const = 0;
  // The names of a library module that `from … import *` brings.
  virtual std::vector<syntax::Name> members(std::string_view module_path) const = 0;
  virtual std::optional<Presumption> presume(std::string_view name) const = 0;
  // Does a function of this name, whose code is not seen, seed the random numbers?
  virtual bool seeds(std::string_view function) const = 0;
  // Does the message of an exception say so when it holds this: "out of memory"? See Row::exhausts.
  virtual bool exhausts(std::string_view text) const = 0;
  // The one built-in exception that a problem of the row raises; empty where it may be several. Null: of a
  // statement.
  virtual std::string_view raises(values::ProblemKind problem, const Row* row) const = 0;
  // A method name that tells what an unknown object is: the path of the method; empty if it tells nothing.
  // Also asked with what a call gives it: "flatten start_dim", a keyword; "repeat(3)", so many integers;
  // "transpose(2) beyond matrices", one of them no axis of a matrix; "both mean", what arrays have as well.
  virtual std::string_view presume_method(std::string_view name) const = 0;
  // A method that tensors have and arrays of other libraries do not: what has a shape and this method is a
  // tensor.
  virtual bool only_of_tensors(std::string_view method) const = 0;
  // x.shape[index] of a tensor of which not even the rank is known; absent if nothing can be said.
  virtual Value part_of_shape(Runtime& run, Value tensor, Value index, values::Place place) const = 0;
  // Values of a subscript, operator or truth of a tensor: the rows named by these paths are used.
  virtual Value binary(Runtime& run, syntax::BinaryOp op, Value left, Value right, const syntax::Expr& node,
      values::Place place) const = 0;
  virtual Value subscript(
      Runtime& run, Value object, Value index, const syntax::Expr& node, values::Place place) const = 0;
  // -x, ~x of a tensor.
  virtual Value unary(Runtime& run, syntax::UnaryOp op, Value operand, const syntax::Expr& node,
      values::Place place) const = 0;
  // a < b where one side is a tensor.
  virtual Value compare(Runtime& run, syntax::CompareOp op, Value left, Value right, const syntax::Expr& node,
      values::Place place) const = 0;
  // `x += y` of a tensor x: writes into it.
  virtual Value augment(Runtime& run, syntax::BinaryOp op, Value left, Value right, const syntax::Expr& node,
      values::Place place) const = 0;
  // x[index] = value.
  virtual void store(Runtime& run, Value object, Value index, Value value, const syntax::Expr& node,
      values::Place place) const = 0;
  // `a, b = value`: the parts, where the library knows them; else what is known anyway. `names` may hold
  // empty ones.
  virtual std::optional<std::vector<Value>> unpack(Runtime& run, Value value,
      std::span<const std::string_view> names, const syntax::Expr& node, values::Place place) const = 0;
  // Something is called of which nothing is known, with these arguments as the program writes them.
  virtual void unseen_call(Runtime& run, std::span<const Value> positional,
      std::span<const std::pair<syntax::Name, Value>> keywords, const syntax::CallExpr& expr,
      values::Place place) const = 0;
  // Of a wrapper that hands on to a module what it is called with: the module. Absent if the object is none.
  virtual Value wrapped(Value object) const = 0;
  // Makes of these arguments what a wrapper hands on.
  virtual void hand_on(Runtime& run, std::span<const Value> positional) const = 0;
};

}  // namespace stepzero::interpreter
