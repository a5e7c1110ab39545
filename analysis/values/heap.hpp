// The memory of one run: it owns all objects, and takes back writes. A path of the program is explored by
// mark(), writes, capture() and rollback(); two explored paths are brought together by join(). Belongs to one
// run and one thread.
#pragma once

#include "values/value.hpp"

#include <functional>
#include <memory>
#include <memory_resource>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace stepzero::values {

// A moment of the run.
struct Mark {
  std::size_t trail = 0;
  std::uint64_t clock = 0;  // objects born later have a greater birth
};

// The values of the slots that were written since a mark.
using Delta = std::vector<std::pair<Slot*, Value>>;

// The values that slots were joined with since a mark: where many paths meet and it is not known which one
// was taken, what most of them share is joined once.
class JoinedValues {
public:
  // False: it was there.
  bool add(const Slot* slot, Value value) { return pairs_.insert({slot, value}).second; }
  void remove(const Slot* slot, Value value) { pairs_.erase({slot, value}); }

private:
  struct Hash {
    std::size_t operator()(const std::pair<const Slot*, Value>& pair) const {
      return std::hash<const Slot*>()(pair.first) * 31 + pair.second.hash();
    }
  };
  std::unordered_set<std::pair<const Slot*, Value>, Hash> pairs_;
};

// How often something was written whose memory may be shared: what was known before may not hold.
struct Writes {
  std::uint64_t of_type[16] = {};  // the elements of tensors, by dtype
  std::uint64_t of_gradients = 0;  // that a gradient is required
  std::uint64_t of_histories = 0;  // of these, all but those that say it of one parameter: what is computed
                                   // with a history is written into a tensor
  std::uint64_t of_integers = 0;   // the elements of tensors of integers, of any size

  friend bool operator==(const Writes&, const Writes&) = default;
  void widen(const Writes& other) {
    for (std::size_t i = 0; i < 16; ++i)
      of_type[i] = of_type[i] < other.of_type[i] ? other.of_type[i] : of_type[i];
    of_gradients = of_gradients < other.of_gradients ? other.of_gradients : of_gradients;
    of_histories = of_histories < other.of_histories ? other.of_histories : of_histories;
    of_integers = of_integers < other.of_integers ? other.of_integers : of_integers;
  }
};

class Heap;

// Which slots may hold something else than when it was last asked. What it tells first is all that was
// written since the mark. Ends before the heap does.
class Watch {
public:
  Watch(Heap& heap, Mark since);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // Slots written since it was last asked, or whose writes were taken back, with what they hold.
  Delta changes();
  void forget() { known_ = since_.trail; }  // as if it had never been asked

private:
  friend class Heap;
  void take_back(std::size_t size);  // before the trail is shortened

  Heap& heap_;
  const Mark since_;
  std::size_t known_;  // of the trail: what lies before it has been told
  std::vector<Slot*> taken_back_;
};

class Heap {
public:
  explicit Heap(symbolic::Context& symbols);
  ~Heap();
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  symbolic::Context& symbols() const { return symbols_; }

  template <class T> T* make() {
    T* raw = new (arena_.allocate(sizeof(T), alignof(T))) T();
    if constexpr (!requires { T::owns_nothing; }) objects_.push_back(raw);
    ++clock_;
    if constexpr (requires { raw->attributes; }) raw->attributes.birth = clock_;
    if constexpr (requires { raw->names; }) raw->names.birth = clock_;
    if constexpr (requires { raw->state.birth; }) raw->state.birth = clock_;
    return raw;
  }
  // So many of them, made by the default constructor; they need no destructor.
  template <class T> std::span<T> array(std::size_t size) {
    static_assert(std::is_trivially_destructible_v<T>);
    T* raw = static_cast<T*>(arena_.allocate(size * sizeof(T), alignof(T)));
    std::uninitialized_value_construct_n(raw, size);
    return {raw, size};
  }
  std::string_view keep(std::string text);  // the text lives as long as the heap

  // ------------------------------------------------------------ writes
  void set(Slot& slot, Value value);
  Mark mark() const { return {trail_.size(), clock_}; }
  void rollback(Mark mark);
  // What was written since the mark into things born since stays, whatever path is taken back: an imported
  // module.
  void make_permanent(Mark mark);
  Delta capture(Mark mark) const;
  // Do all values that the slot held from one mark to another, and holds, fulfill it?
  bool held_between(Mark from, Mark to, const Slot& slot, const std::function<bool(Value)>& each) const;
  // Puts another value in place of each that the slot held since the mark, and of the one that it holds: as
  // if it had always been so.
  void rewrite_since(Mark mark, Slot& slot, const std::function<Value(Value)>& change);
  void apply(const Delta& delta);  // as writes
  // Brings the state of another path, captured since `mark`, into the present one: every slot that either
  // path wrote holds the other path's value if `condition` holds; what was born since is simply kept. Null:
  // it is not known which path was taken. `joined`: what was joined since the mark, without a condition; it
  // grows.
  void join(Mark mark, const Delta& other, Cond condition, Sharing sharing, JoinedValues* joined = nullptr);
  // The slots written since the mark, each once, with the value they had then.
  std::vector<std::pair<Slot*, Value>> written(Mark mark) const;

  // ------------------------------------------------------------ attributes
  Slot& slot_of(Table& table, Name name);  // made absent if missing

  // ------------------------------------------------------------ values
  Value integer(std::int64_t value) { return Value::of(symbols_.constant(value)); }
  Value boolean(bool value) { return Value::of(symbols_.boolean(value)); }
  Value string(std::string_view text);
  Value tuple(std::vector<Value> items);
  Value list(std::vector<Value> items, ListKind kind = ListKind::list);
  Value open_list(Value rest, Int length = nullptr, ListKind kind = ListKind::list);
  Value dict(std::vector<std::pair<Value, Value>> items, bool open = false, Value rest = {});
  Value unknown(std::string_view name, Sharing sharing, Place born = {});
  std::uint64_t unknowns() const { return unknowns_; }   // made so far
  Value unseen(std::string_view name, Place born = {});  // result of code that was not seen
  // Something of which only that it was computed from these is known: how it relates among the ranks, and
  // whether it is poisoned.
  Value unknown_from(std::span<const Value> sources, Place born = {});
  Value unknown_from(std::initializer_list<Value> sources, Place born = {}) {
    return unknown_from(std::span(sources.begin(), sources.size()), born);
  }
  Value tensor(TensorState state, Place born);
  Value device(std::string_view text);
  TensorState* state(TensorState state);
  // Either value, by a condition; resolved where the condition is decided, widened where the choice grows too
  // large.
  Value choose(Cond condition, Value yes, Value no);
  // A choice of tensors of which the same is known, as one: what is made of it is not made twice. Not for
  // parts of a module. To be shown, only shape and dtype have to be the same.
  Value one_of_equivalent(Value value, bool to_show = false);
  // One value that stands for both when it is not known which.
  Value merge(Value a, Value b, Sharing sharing);

  // The list state of a List or Iterator.
  static ListState* list_state(Value list);
  static DictState* dict_state(Value dict);
  // A new state, changed by `change`, for a list.
  void set_list(Value list, ListState state);
  void set_dict(Value dict, DictState state);

  // How the value relates among the ranks. Containers and objects answer for themselves, not for their parts.
  Sharing sharing(Value value, int depth = 0) const;
  bool is_unseen(Value value) const;  // or contains a condition that is
  bool is_poisoned(Value value) const;
  // An operation on it was proven to fail: a tensor, or the layer that was called.
  void poison(Value value);

  // ------------------------------------------------------------ elements of small tensors
  static constexpr std::size_t most_numbers = 64;
  const Content* content(
      Dtype dtype, bool is_scalar, std::vector<Number> numbers);  // null if there are too many, or too few
  // What is known of the tensor's elements now; null: nothing.
  const Content* content_of(const TensorState& state) const;
  // The same of the bounds of its integers.
  const Extent* extent_of(const TensorState& state) const;
  void set_extent(TensorState& state, Extent extent);
  Value number(
      const Content& content, std::size_t i);  // as a Python number; absent if it is not exactly known
  // The elements of a tensor are written. Which tensors share its memory is not followed: those that may do
  // lose what was known of theirs. Null: nothing is known of what is written.
  void note_write(const TensorState* written);

  // ------------------------------------------------------------ gradients
  // Does the tensor require a gradient? What was found to need none may since have got one through a tensor
  // that shares its memory. A parameter is a view of no other tensor: that another parameter is trained says
  // nothing of it, only a write into its elements does.
  Known requires_grad(const TensorState& state) const {
    if (state.requires_grad != Known::no) return state.requires_grad;
    const std::uint64_t now = state.grad_writes & by_histories ? writes_.of_histories : writes_.of_gradients;
    return (state.grad_writes & ~by_histories) < now ? Known::unknown : Known::no;
  }
  // The tensor needs no gradient, as is found out now.
  void set_no_grad(TensorState& state, bool is_parameter = false) const {
    state.requires_grad = Known::no;
    state.grad_writes = is_parameter ? writes_.of_histories | by_histories : writes_.of_gradients;
  }
  // A tensor that needed no gradient, and may share its memory with others, needs one from here on.
  void note_grad_write() {
    ++writes_.of_gradients;
    ++writes_.of_histories;
  }
  // The same of a parameter, which its views follow.
  void note_thaw() { ++writes_.of_gradients; }
  std::uint64_t grad_writes() const { return writes_.of_gradients; }
  // The mark in `grad_writes` of a parameter's state: it counts the writes of histories.
  static constexpr std::uint64_t by_histories = std::uint64_t{1} << 63;

  // For who takes a part of the run back with all that it made; what stays must be known by none of what was
  // taken back.
  const Writes& writes() const { return writes_; }
  void set_writes(const Writes& writes) { writes_ = writes; }

  // The value of a slot that is `now` on one path and `other` on the other.
  Value join_states(Value now, Value other, Cond condition, Sharing sharing);

private:
  symbolic::Context& symbols_;
  std::uint64_t clock_ = 0;
  std::uint64_t unknowns_ = 0;
  Writes writes_;
  mutable std::uint64_t stamp_ = 0;  // names one pass over slots: see Slot::visited
  std::pmr::monotonic_buffer_resource arena_{64 * 1024};
  std::vector<Object*> objects_;  // in the arena; destroyed with the heap
  std::vector<std::pair<Slot*, Value>> trail_;
  friend class Watch;
  std::vector<Watch*> watches_;
  std::unordered_map<std::string, std::unique_ptr<std::string>> texts_;
};

// Same dims by same symbols.
bool same_shape(const Shape& a, const Shape& b);

}  // namespace stepzero::values
