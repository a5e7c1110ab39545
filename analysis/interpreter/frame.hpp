// The frame of a function that runs, the loops and `try` bodies in it, and the paths that left them on the
// way.
#pragma once

#include "interpreter/arguments.hpp"
#include "interpreter/record.hpp"
#include "values/heap.hpp"

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace stepzero::interpreter {

// Does the path go on after a statement?
enum class Flow : std::uint8_t { normal, dead };

struct Exit {
  values::Delta delta;
  Cond condition = nullptr;
  Value value;
};
// A tensor was added to what lies in a slot; `content` is what the slot held then.
struct Kept {
  const values::Slot* slot;
  Value content;
  OperationEvent* event;
  Cond under = nullptr;  // of the iterations that add it; null: each does
};
struct LoopTarget {
  values::Mark mark;            // where the loop began
  values::Mark iteration_mark;  // where the present iteration began
  std::size_t depth;
  std::vector<Exit> breaks, continues;
  std::vector<Kept> kept = {};  // in the present iteration
  std::size_t iterations = 0;   // begun
};
// The paths that a `try` body is left on by exceptions. Where a handler begins it is not known which one was
// taken, so each says only what none before it does: hundreds of them share most of what was written.
class Raises {
public:
  Raises(values::Heap& heap, values::Mark since) : watch_(heap, since) {}

  void add(Cond condition, Value value) {
    values::Delta delta = watch_.changes();
    std::erase_if(delta, [&](const auto& write) { return !said_.add(write.first, write.second); });
    exits_.push_back({std::move(delta), condition, value});
  }
  void shrink(std::size_t size) {
    if (exits_.size() <= size) return;
    for (std::size_t i = size; i < exits_.size(); ++i)
      for (const auto& [slot, held] : exits_[i].delta) said_.remove(slot, held);
    exits_.resize(size);
    watch_.forget();
  }
  bool empty() const { return exits_.empty(); }
  std::size_t size() const { return exits_.size(); }
  const Exit& front() const { return exits_.front(); }  // says all that was written
  auto begin() const { return exits_.begin(); }
  auto end() const { return exits_.end(); }

private:
  std::vector<Exit> exits_;
  values::JoinedValues said_;
  values::Watch watch_;
};
struct TryTarget {
  std::size_t depth;
  Raises raises;
  bool guards = false;       // some handler may take the failure of an operation
  std::vector<Value> taken;  // what the handlers take; an absent value is everything
};
struct Frame {
  values::Scope* scope = nullptr;
  const values::Function* function = nullptr;
  const CallSite* site = nullptr;
  std::uint32_t chunk = 0;
  values::Mark mark;        // of the heap, when the frame began
  std::size_t depth = 0;    // of the path
  int generic_depth = 0;    // when the frame began
  std::uint64_t steps = 0;  // until then
  std::vector<Exit> returns;
  std::vector<LoopTarget*> loops;
  std::vector<TryTarget*> tries;
  std::function<Value(Value)>* on_yield = nullptr;
  Frame* outer = nullptr;
};

// How deep the run is in itself, whatever the program is made of: its own stack has to hold.
struct Nested {
  static constexpr int most_levels = 700;  // about 8 KiB of stack each, in a thread that has 8 MiB
  explicit Nested(int& at) : level(at) { ++level; }
  ~Nested() { --level; }
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;
  bool too_deep() const { return level > most_levels; }
  int& level;
};

}  // namespace stepzero::interpreter
