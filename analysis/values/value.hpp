// Abstract values: what the run knows of a Python object. A Value is a small handle; what it points to lives
// in the Heap of the run. Immutable things are compared by pointer or content; mutable ones have identity and
// keep their state in Slots, so that a path can be taken back. Knows no PyTorch function and no statement.
#pragma once

#include "symbolic/expression.hpp"
#include "syntax/ast.hpp"
#include "values/graph.hpp"

#include <cassert>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stepzero::interpreter {
struct CallSite;
}  // namespace stepzero::interpreter

namespace stepzero::values {

using symbolic::Cond;
using symbolic::Int;
using symbolic::Sharing;
using syntax::Name;

// A place in the text: the n-th chunk that the run reads, and bytes relative to it. Chunk 0 is "nowhere".
struct Place {
  std::uint32_t chunk = 0;
  syntax::Span span;
  explicit operator bool() const { return chunk != 0; }
  friend bool operator==(const Place&, const Place&) = default;
};

enum class Kind : std::uint8_t {
  absent,  // no value at all: an unbound name, an argument not given
  unknown,
  none,
  ellipsis,
  boolean,
  integer,
  real,
  string,
  tuple,
  list,
  dict,
  slice,
  range,
  function,
  bound,
  partial,
  class_,
  instance,
  module,
  library,
  super,
  tensor,
  dtype,
  device,
  iterator,
  choice,  // one value if a condition holds, another if not
  state,   // internal: the content of a mutable object
};

struct Row;  // what is known of a library name; see interpreter/library.hpp
struct Object;
struct Unknown;
struct Str;
struct Tuple;
struct List;
struct Dict;
struct SliceObject;
struct Range;
struct Function;
struct Bound;
struct Partial;
struct Class;
struct Instance;
struct ModuleObject;
struct LibrarySymbol;
struct Super;
struct Scope;
struct Tensor;
struct Device;
struct Iterator;
struct Choice;
struct TensorState;
struct ListState;
struct DictState;

enum class Dtype : std::uint8_t {
  unknown,
  float64,
  float32,
  float16,
  bfloat16,
  int64,
  int32,
  int16,
  int8,
  uint8,
  boolean,
  complex64,
  complex128,
  // Of these only the name and the width are known: a tensor of one of them has the dtype `unknown`.
  complex32,
  uint16,
  uint32,
  uint64,
  float8_e4m3fn,
  float8_e4m3fnuz,
  float8_e5m2,
  float8_e5m2fnuz,
  float8_e8m0fnu,
  float4_e2m1fn_x2,
};
std::string_view name(Dtype dtype);  // "float32"; empty if unknown
int width(Dtype dtype);              // bytes of one element; 0 if unknown
bool is_floating(Dtype dtype);

class Value {
public:
  Kind kind = Kind::absent;

  Value() : object_(nullptr) {}
  // `by`: the function of the program that gave it because it returns nothing; may be null.
  static Value none(const Object* by = nullptr) { return of(Kind::none, by); }
  static Value ellipsis() { return Value(Kind::ellipsis); }
  static Value of(Int value) {
    Value v(Kind::integer);
    v.integer_ = value;
    return v;
  }
  static Value of(Cond value) {
    Value v(Kind::boolean);
    v.condition_ = value;
    return v;
  }
  static Value of(double value) {
    Value v(Kind::real);
    v.real_ = value;
    return v;
  }
  static Value of(Dtype value) {
    Value v(Kind::dtype);
    v.dtype_ = value;
    return v;
  }
  static Value of(Kind kind, const Object* object) {
    Value v(kind);
    v.object_ = const_cast<Object*>(object);
    return v;
  }

  bool is(Kind k) const { return kind == k; }
  explicit operator bool() const { return kind != Kind::absent; }

  Int integer() const { return integer_; }
  Cond condition() const { return condition_; }
  double real() const { return real_; }
  Dtype dtype() const { return dtype_; }
  Object* object() const { return object_; }
  // The caller has looked at `kind`; builds with assertions look at the object itself.
  template <class T> T* as() const {
    assert(!object_ || dynamic_cast<T*>(object_));
    return static_cast<T*>(object_);
  }
  std::string_view text() const;  // of a string

  // Identity for mutable objects, equality of the handle for the rest. None is None, whoever gave it.
  friend bool operator==(const Value& a, const Value& b) {
    return a.kind == b.kind && (a.bits_ == b.bits_ || a.kind == Kind::none);
  }
  // Equal values have equal hashes.
  std::size_t hash() const {
    return std::hash<std::uint64_t>()(kind == Kind::none ? 0 : bits_) + static_cast<std::size_t>(kind);
  }

private:
  explicit Value(Kind k) : kind(k), bits_(0) {}
  union {
    Object* object_;
    Int integer_;
    Cond condition_;
    double real_;
    Dtype dtype_;
    std::uint64_t bits_;
  };
};

// A mutable cell. Written only through Heap::set. `birth` is that of the object it belongs to.
struct Slot {
  Value value;
  std::uint64_t birth = 0;
  mutable std::uint64_t visited : 63 = 0;  // the Heap's: the last pass over slots that came here
  bool refinement : 1 = false;  // something learned: after a join it is known only if both paths know it
};

// Names to slots: attributes of an object, variables of a scope. Slots stay where they are once made.
class Table {
public:
  Table() = default;
  Table(const Table& other) { *this = other; }
  Table(Table&&) noexcept = default;
  Table& operator=(const Table& other);
  Table& operator=(Table&&) noexcept = default;
  Slot* find(Name name) const;
  Value value(Name name) const;  // null where there is none
  // Every name ever given, in order; a slot may be absent.
  const std::vector<std::pair<Name, Slot*>>& entries() const { return entries_; }
  void add(Name name, Slot* slot);
  std::uint64_t birth = 0;

private:
  std::vector<std::pair<Name, Slot*>> entries_;
  std::unique_ptr<std::unordered_map<Name, Slot*>> index_;  // once there are many
};

// A type whose parts all lie in the heap says that it `owns_nothing`: it is not destroyed one by one.
struct Object {
  Place born;  // where the program made it
  virtual ~Object() = default;
};

// Something of which only a little is known. Its parts are the same each time they are asked for, so that
// `cfg.width` is one symbol however often it is read.
struct Unknown : Object {
  std::string_view name;  // as the user would write it; empty for a value without a name
  Sharing sharing = Sharing::uniform;
  bool of_many =
      false;  // one of the elements of something, or a part of one: its fields are not the program's own
  bool unseen = false;       // comes from code that was not seen: not even its sharing is known
  bool is_real = false;      // a float, if it is a number
  bool is_number = false;    // a number that was read from a tensor
  bool is_gradient = false;  // the gradient of something of which nothing is known
  bool loaded = false;       // what a file held: reading parts of it is recorded
  bool poisoned = false;  // what would have come of an operation that was proven to fail, or follows from it:
                          // see TensorState
  bool is_option = false;      // the command line gives it, or `default_value` stands for it
  bool only_compared = false;  // so far it was only compared with integers: it need not be one
  Int integer = nullptr;       // as an integer, once asked for
  Cond truth = nullptr;
  Cond is_none = nullptr;
  Value default_value;  // of the parameter that it stands for, if it has one
  Slot state;           // the tensor that it turned out to be, once something requires one
  Table attributes;
  std::vector<std::pair<Value, Value>> items;  // by key
  Value element;                               // what iterating gives
  Value shape_of;                              // the tensor whose shape it is
  Value ends_with;  // of a tuple of which only the last items are known: a Tuple of those
};

struct Str : Object {
  static constexpr bool owns_nothing = true;
  std::string_view text;
};
struct Tuple : Object {
  std::vector<Value> items;
  std::span<const std::string_view> fields;  // of a named tuple; the texts outlive the heap
  const Class* cls = nullptr;                // of a named tuple
  Value shape_of;                            // the tensor whose shape it is
  bool seen_through = false;  // unseen code around the function that made it may give back something else
};

// The elements: `items` first, then (if `open`) any number of values like `rest`.
struct ListState : Object {
  std::vector<Value> items;
  bool open = false;
  Value rest;
  Int length = nullptr;  // of an open list, if known
};
// An iterator gives its first element to next() and is empty once it was read.
enum class ListKind : std::uint8_t {
  list,
  set,
  deque,
  iterator,
  tuple
};  // a tuple: one of which it is not known how long it is
struct List : Object {
  ListKind kind = ListKind::list;
  Int most = nullptr;  // of a deque: maxlen
  Slot state;
  // A tuple: of a list that was copied from a set, the elements, in no order that is known. It holds as long
  // as the list is as it was made, in the state `as_copied`.
  Value copied;
  const Object* as_copied = nullptr;
};
struct DictState : Object {
  std::vector<std::pair<Value, Value>> items;
  bool open = false;  // other keys are possible
  Value rest;
};
struct Dict : Object {
  Slot state;
  Value factory;                     // of a defaultdict
  Instance* mirrored = nullptr;      // the object whose attributes it is
  ModuleObject* names_of = nullptr;  // the module whose names it has: `module.__dict__`
  bool counts = false;               // a Counter: what is missing is 0
};
struct SliceObject : Object {
  Value lower, upper, step;
};
struct Range : Object {
  Int start, stop, step;
};

// Variables of a module, function, class body or comprehension.
struct Scope : Object {
  Table names;
  Scope* parent = nullptr;  // lexically enclosing; null for a module
  Scope* globals = nullptr;
  bool is_class = false;  // not seen from nested functions
  Class* cls = nullptr;   // the class whose body it is
  const syntax::ScopeInfo* info = nullptr;
};

struct Function : Object {
  Name name;
  const syntax::FunctionStmt* stmt = nullptr;  // one of the two
  const syntax::LambdaExpr* lambda = nullptr;
  const syntax::Parameters* parameters = nullptr;
  std::uint32_t chunk = 0;
  Scope* closure = nullptr;
  Class* owner = nullptr;       // the class whose body defines it
  std::vector<Value> defaults;  // by parameter; absent where there is none
  bool is_static = false, is_class_method = false, is_property = false, is_context_manager = false;
  bool is_cached = false;            // a property that runs once
  bool wrapped_unseen = false;       // by a decorator of which nothing is known
  bool altered = false;              // by a decorator: what it is called with may not be what it takes
  const Function* setter = nullptr;  // of a property
  Table attributes;                  // set on it by the program
  std::vector<Value> contexts;       // library managers that it is decorated with, outermost last
  Value wrapped_guard;               // a library decorator that decides which ranks run it; else absent
  std::string_view qualified;        // "Trainer.validate"
};
struct Bound : Object {
  Value self;
  Value function;
};
struct Partial : Object {
  Value function;
  std::vector<Value> arguments;
  std::vector<std::pair<Name, Value>> keywords;
};

// A field of a dataclass or a named tuple.
struct ClassField {
  Name name;
  Value default_value;  // absent if there is none
  Value factory;        // of the default
  bool in_init = true;  // a parameter of the constructor
  bool keyword_only = false;
  bool init_only = false;  // InitVar: handed on to __post_init__
};

struct Class : Object {
  Name name;
  const syntax::ClassStmt* stmt = nullptr;
  std::uint32_t chunk = 0;
  std::vector<Class*> order;  // method resolution order of the classes of the workspace, itself first
  const LibrarySymbol* native = nullptr;  // the nearest library class it derives from
  bool open = false;                      // derives from something not seen
  bool is_dataclass = false;
  bool is_named_tuple = false;
  Kind holds = Kind::absent;  // derives from dict or list: the objects hold one in `$dict` or `$items`
  bool is_enum = false;
  bool enum_mixes = false;  // its members are numbers or text, too
  bool enum_is_text = false;
  bool hooks_attributes = false;  // has properties with setters, or __setattr__
  std::vector<ClassField> fields;
  std::vector<Value> members;  // of an enum, in order
  Scope* body = nullptr;       // its attributes
  Scope* globals = nullptr;
};

// An object of a class of the workspace, of a library class, or of both. Native state of library classes lies
// in attributes whose names start with '$'.
struct Instance : Object {
  Class* cls = nullptr;
  const LibrarySymbol* native = nullptr;
  bool open = false;      // may have attributes that were not seen
  std::string_view name;  // of a symbolic instance
  Table attributes;
  bool symbolic = false;  // made to run a class nobody constructs
  // It stands for several that were made alike, of which each has its own parameters; or for any one of
  // several.
  bool of_many = false;
};
struct ModuleObject : Object {
  std::string_view path;
  Scope* globals = nullptr;
  bool loading = false;
  bool pending = false;  // of an installed library, and not run before it is asked for something
};
struct LibrarySymbol : Object {
  std::string_view path;     // canonical dotted name: "torch.distributed.barrier"
  const Row* row = nullptr;  // null: nothing is known
};
struct Super : Object {
  Class* after = nullptr;
  Value self;
};
struct Device : Object {
  std::string_view text;
};  // "cuda", "cuda:0", "cpu"
// A value that is iterated once: its elements as a ListState.
// A generator has its function and the scope with its bound arguments; as long as it has not run, no state.
struct Iterator : Object {
  Slot state;
  const Function* pending = nullptr;
  Scope* scope = nullptr;
};

// `yes` if the condition holds, else `no`. Never nested deeper than Heap allows.
struct Choice : Object {
  static constexpr bool owns_nothing = true;
  Cond condition;
  Value yes, no;
  std::uint8_t leaves = 2;
};

// Where a dimension's size was decided.
struct Origin : Object {
  static constexpr bool owns_nothing = true;
  Place place;
  std::string_view what;  // "in_features of nn.Linear", "shape of torch.randn"
};
// What a tensor is the outcome of, for those to whom it matters: the last thing that was done to its numbers.
enum class Outcome : std::uint8_t {
  none,
  softmax,
  log_softmax,
  sigmoid,
  log_sigmoid,
  scores
};  // scores: of a layer that weighs its inputs
struct OutcomeOf : Object {
  static constexpr bool owns_nothing = true;
  Outcome outcome = Outcome::none;
  Place place;
  std::string_view what;  // "softmax"
};
// Sizes that were multiplied into one by a flatten or view, outermost first.
struct Factors : Object {
  std::vector<Int> sizes;
};
struct Dim {
  Int size = nullptr;  // null: unknown
  const Origin* origin = nullptr;
  const Factors* factors = nullptr;
};
// `dims` from the left if `ndim_known`; else the last dims, with any number before them.
struct Shape {
  bool ndim_known = false;
  std::vector<Dim> dims;
};

enum class Known : std::uint8_t { no, yes, unknown };

// The operation that a tensor came from, and what it was given then. `born` is its place.
struct Producer : Object {
  static constexpr bool owns_nothing = true;
  const Row* row = nullptr;
  Value self;  // of a layer's forward: the layer
  // These lie in the heap.
  std::span<const Value>
      arguments;  // by the row's parameters, resolved; absent where not given and without a default
  std::span<const TensorState* const> states;  // of those that are tensors; null for the others
  std::span<const TensorState* const> listed;  // of the tensors in its lists: cat, einsum…
  const interpreter::CallSite* calls = nullptr;
  int part = -1;  // of a result of several tensors: which of them
};

// One element of a tensor: an integer (of a bool: 0 or 1), or a float between two bounds, which are equal
// where it is known exactly.
struct Number {
  Int integer = nullptr;
  double low = 0, high = 0;
  bool exact() const { return integer || low == high; }
  friend bool operator==(const Number&, const Number&) = default;
};
// The elements of a tensor of none or one dimension. Read by Heap::content_of, which knows whether they have
// been written since.
struct Content : Object {
  Dtype dtype = Dtype::unknown;
  bool is_scalar = false;  // no dimension
  std::vector<Number> numbers;
  std::uint64_t writes = 0;
};

// The bounds of a tensor's integers, however many there are.
struct Extent : Object {
  static constexpr bool owns_nothing = true;
  Int low = nullptr, high = nullptr;  // none is below or above; null: not known
  bool met = false;    // both are among them: `arange` has its last number, `randint` may lack it
  bool drawn = false;  // any number between them may come
  Place place;
  std::string_view what;     // "arange"
  std::uint64_t writes = 0;  // the heap's: see Heap::extent_of
};

// One of two states, whichever path was taken. They lie in the heap.
struct TensorState;
struct Either : Object {
  static constexpr bool owns_nothing = true;
  const TensorState *one = nullptr, *other = nullptr;
};

// What is known of a tensor at one moment. Immutable: an in-place operation gives the Tensor a new state.
struct TensorState : Object {
  // What takes little stands together: there are many of these.
  Dtype dtype = Dtype::unknown;
  Known requires_grad =
      Known::unknown;  // read by Heap::requires_grad, which knows what may have become of it since
  Sharing sharing = Sharing::local;
  bool unseen = false;          // came from code that was not seen
  bool is_gradient = false;     // the gradient of a tensor, or computed from one element by element
  bool graph_complete = false;  // nothing else is in `graph`
  // An operation on it, or on what it was computed from, was proven to fail: what follows from that is not
  // told again.
  bool poisoned = false;
  bool maybe_array =
      false;  // only its shape was asked for: it may be an array of NumPy, whose methods are others
  Shape shape;
  const Device* device = nullptr;
  std::uint64_t grad_writes = 0;  // the heap's, when `requires_grad` was found out
  const Origin* cut =
      nullptr;  // of what needs no gradient: where something that it was computed from had one, and lost it
  const Object* crossed = nullptr;      // a difference of a column and a row of equal length, which is hardly
                                        // meant: see libraries/torch/meaning/column_roles.cpp
  const Instance* scaled_by = nullptr;  // the GradScaler whose scale() it went through
  const Instance* cast_by =
      nullptr;  // the autocast region that it, or something that it was computed from, was computed in
  const OutcomeOf* outcome = nullptr;  // of what it is the outcome, however it was arranged since
  const Origin* mean =
      nullptr;  // a mean that a loss function made, to which nothing but other losses was done since
  Graph graph;  // what it was computed from
  const Content* content = nullptr;  // of a small tensor whose elements are known
  const Extent* extent = nullptr;    // of integers of which only the bounds are known
  std::uint32_t version = 0;         // how often it was written in place since it was made
  const Producer* made = nullptr;    // where it came from; null: not known, or from several paths
  const Either* either = nullptr;    // of one without `made`: what it was on each of two paths that met
  std::vector<Dim> first;  // of a tensor whose rank is not known: what its first dimensions were found to be
  // How many elements lie between neighbors along each dimension, where that is known: the elements are then
  // dense, in this or another order of the dimensions. Else empty.
  std::vector<Int> strides;
  mutable Value shape_value;  // its shape, where the rank is not known: the same each time it is asked for
};
enum class TensorRole : std::uint8_t { plain, parameter, buffer };  // to the module that holds it
struct Tensor : Object {
  static constexpr bool owns_nothing = true;
  TensorRole role = TensorRole::plain;
  bool any_of = false;  // it stands for any one of several: what an unknown key gives
  Slot state;           // a TensorState
  TensorState* now() const { return state.value.as<TensorState>(); }
};

}  // namespace stepzero::values
