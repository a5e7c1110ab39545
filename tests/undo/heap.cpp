// Marks, rollback and joins of the heap against a model that copies all values at each mark.
#include "values/heap.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

using namespace stepzero;
using namespace stepzero::values;

namespace {

// Some slots, and what lies in them. Old ones are there from the beginning; new ones belong to objects that
// are made on the way.
struct World {
  symbolic::Context symbols;
  Heap heap{symbols};
  std::mt19937 random;
  std::vector<Slot*> slots;
  std::vector<Value> lists;
  std::vector<Value> values;  // what is written

  explicit World(unsigned seed) : random(seed) {
    values.reserve(8);
    for (std::int64_t i = 0; i < 8; ++i) values.push_back(heap.integer(i));
    values.push_back(heap.string("text"));
    values.push_back(Value::none());
    values.push_back({});
    for (int i = 0; i < 6; ++i) values.push_back(heap.tensor(tensor(i % 3, i), {}));
    auto* scope = heap.make<Scope>();
    for (int i = 0; i < 6; ++i) {
      slots.push_back(&heap.slot_of(scope->names, syntax::Name("name" + std::to_string(i))));
      slots.back()->value = values[static_cast<std::size_t>(i)];
    }
    for (int i = 0; i < 3; ++i) add_list();
  }
  TensorState tensor(int ndim, int size) {
    TensorState state;
    state.shape.ndim_known = true;
    for (int i = 0; i < ndim; ++i) state.shape.dims.push_back({symbols.constant(size + i), nullptr});
    state.dtype = size % 2 ? Dtype::float32 : Dtype::int64;
    return state;
  }
  void add_list() {
    lists.push_back(heap.list({pick(values)}));
    slots.push_back(&lists.back().as<List>()->state);
  }
  template <class T> T pick(const std::vector<T>& from) {
    return from[std::uniform_int_distribution<std::size_t>(0, from.size() - 1)(random)];
  }
  int number(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random); }

  void write() {
    if (number(3) == 0) {
      ListState changed = *Heap::list_state(pick(lists));
      if (number(2) == 0 || changed.items.empty())
        changed.items.push_back(pick(values));
      else
        changed.items.pop_back();
      heap.set_list(pick(lists), std::move(changed));
    } else {
      heap.set(*slots[static_cast<std::size_t>(number(6))], pick(values));
    }
  }
  std::vector<Value> copy(std::size_t count) const {
    std::vector<Value> copied;
    copied.reserve(count);
    for (std::size_t i = 0; i < count; ++i) copied.push_back(slots[i]->value);
    return copied;
  }
  std::vector<Value> copy() const { return copy(slots.size()); }
};

// Is what was on one path still possible after the join?
bool possible(World& world, Value joined, Value was) {
  const Value found = joined.is(Kind::choice) ? joined : Value{};
  if (joined == was) return true;
  if (found) {
    const auto* choice = found.as<Choice>();
    return possible(world, choice->yes, was) || possible(world, choice->no, was);
  }
  if (joined.is(Kind::unknown)) return true;
  if (!was) return true;  // a name bound on one side only: who reads it is on that side
  if (joined.kind != was.kind) return false;
  switch (joined.kind) {
  case Kind::integer: return !world.symbols.value(joined.integer());
  case Kind::tensor: {
    const TensorState &wide = *joined.as<Tensor>()->now(), &one = *was.as<Tensor>()->now();
    if (wide.dtype != Dtype::unknown && wide.dtype != one.dtype) return false;
    if (wide.shape.ndim_known && wide.shape.dims.size() != one.shape.dims.size()) return false;
    for (std::size_t i = 1; i <= wide.shape.dims.size(); ++i) {
      const Int size = wide.shape.dims[wide.shape.dims.size() - i].size;
      if (i > one.shape.dims.size() || (size && size != one.shape.dims[one.shape.dims.size() - i].size))
        return false;
    }
    return true;
  }
  case Kind::state: {
    const auto *wide = joined.as<ListState>(), *one = was.as<ListState>();
    if (!wide->open && wide->items.size() != one->items.size()) return false;
    for (std::size_t i = 0; i < one->items.size(); ++i)
      if (!possible(world, i < wide->items.size() ? wide->items[i] : wide->rest, one->items[i])) return false;
    return true;
  }
  default: return false;
  }
}

}  // namespace

TEST_CASE("Rolling back restores every slot to what it held at the mark") {
  for (unsigned seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    World world(seed);
    struct Moment {
      Mark mark;
      std::vector<Value> copied;
    };
    std::vector<Moment> moments;
    for (int step = 0; step < 120; ++step) {
      const int what = world.number(10);
      if (what < 6) {
        world.write();
      } else if (what == 6) {
        world.add_list();
      } else if (what == 7) {
        moments.push_back({world.heap.mark(), world.copy()});
      } else if (!moments.empty()) {
        const auto to = static_cast<std::size_t>(world.number(static_cast<int>(moments.size())));
        world.heap.rollback(moments[to].mark);
        REQUIRE(world.copy(moments[to].copied.size()) == moments[to].copied);
        moments.resize(to + 1);
      }
    }
  }
}

TEST_CASE("The writes since a mark are the slots that were written, each once, with their values of then") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    World world(seed);
    for (int i = world.number(10); i > 0; --i) world.write();
    const Mark mark = world.heap.mark();
    const std::vector<Value> before = world.copy();
    for (int i = world.number(30); i > 0; --i) world.write();
    const std::vector<Value> after = world.copy();
    const auto written = world.heap.written(mark);
    for (std::size_t i = 0; i < before.size(); ++i) {
      const auto found = std::count_if(
          written.begin(), written.end(), [&](const auto& each) { return each.first == world.slots[i]; });
      REQUIRE(found <= 1);
      if (!(before[i] == after[i])) REQUIRE(found == 1);
      for (const auto& [slot, value] : written)
        if (slot == world.slots[i]) REQUIRE(value == before[i]);
    }
    // Taken back and put there again, nothing is different.
    const Delta delta = world.heap.capture(mark);
    world.heap.rollback(mark);
    REQUIRE(world.copy() == before);
    world.heap.apply(delta);
    REQUIRE(world.copy() == after);
    world.heap.rollback(mark);
    REQUIRE(world.copy() == before);
  }
}

TEST_CASE("A join allows what either path left, and nothing else where its condition is known") {
  for (unsigned seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    World world(seed);
    const bool loose = seed % 3 == 0;  // which of the two was taken is not known
    const Mark mark = world.heap.mark();
    const std::size_t old = world.slots.size();
    const std::vector<Value> before = world.copy();
    for (int i = world.number(12); i > 0; --i) world.write();
    if (world.number(2)) world.add_list();
    const std::vector<Value> first = world.copy();
    const Delta delta = world.heap.capture(mark);
    world.heap.rollback(mark);
    REQUIRE(world.copy(old) == before);
    // On the second path the new objects of the first are not there.
    world.lists.resize(3);
    for (int i = world.number(12); i > 0; --i) world.write();
    const std::vector<Value> second = world.copy(old);
    const Cond condition = world.symbols.opaque("first", Sharing::uniform);
    world.heap.join(mark, delta, loose ? nullptr : condition, Sharing::uniform);
    const std::vector<Value> joined = world.copy(old);
    for (std::size_t i = 0; i < old; ++i) {
      CAPTURE(i, static_cast<int>(before[i].kind), static_cast<int>(first[i].kind),
          static_cast<int>(second[i].kind), static_cast<int>(joined[i].kind));
      REQUIRE(possible(world, joined[i], first[i]));
      REQUIRE(possible(world, joined[i], second[i]));
      if (first[i] == second[i]) REQUIRE(joined[i] == first[i]);
      if (loose || joined[i].is(Kind::state) || first[i] == second[i]) continue;
      for (const bool holds : {true, false}) {
        const auto facts = world.symbols.mark();
        REQUIRE(world.symbols.assume(holds ? condition : world.symbols.logical_not(condition)));
        const Value side = world.heap.choose(condition, first[i], second[i]);
        REQUIRE(side == (holds ? first[i] : second[i]));
        if (joined[i].is(Kind::choice)) {
          const auto* choice = joined[i].as<Choice>();
          REQUIRE(choice->condition == condition);
          REQUIRE((holds ? choice->yes : choice->no) == side);
        }
        world.symbols.rewind(facts);
      }
    }
    // The join is a write like any other.
    world.heap.rollback(mark);
    REQUIRE(world.copy(old) == before);
  }
}

TEST_CASE("What new objects hold stays where it was settled, and nothing else does") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    World world(seed);
    const std::size_t old = world.slots.size();
    const std::vector<Value> before = world.copy();
    const Mark mark = world.heap.mark();
    for (int i = 0; i < 3; ++i) world.add_list();
    for (int i = world.number(30); i > 0; --i) world.write();
    const std::vector<Value> after = world.copy();
    world.heap.make_permanent(mark);
    world.heap.rollback(mark);
    REQUIRE(world.copy(old) == before);
    for (std::size_t i = old; i < world.slots.size(); ++i) REQUIRE(world.slots[i]->value == after[i]);
  }
}
