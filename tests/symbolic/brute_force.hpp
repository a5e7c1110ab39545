// Random programs of integers and truths, built twice: as expressions of the floor, and as trees that a few
// lines of code evaluate with Python's semantics. Fixed seeds: the same trees on every machine.
#pragma once

#include "world.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

namespace stepzero::symbolic::brute_force {

class Random {
public:
  explicit Random(std::uint64_t seed) : state_(seed * 2654435769u + 1) {}
  std::uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(int percent) { return between(1, 100) <= percent; }

private:
  std::uint64_t state_;
};

inline constexpr std::size_t atom_count = 3, opaque_count = 2;
using Values = std::array<std::int64_t, atom_count>;
using Truths = std::array<bool, opaque_count>;

enum class Op : std::uint8_t { constant, atom, add, sub, mul, floordiv, mod, min, max };

struct Tree {
  Op op = Op::constant;
  std::int64_t value = 0;  // of a constant; of an atom its place
  std::shared_ptr<const Tree> left, right;

  // Nothing where Python raises.
  std::optional<std::int64_t> run(const Values& values) const {
    if (op == Op::constant) return value;
    if (op == Op::atom) return values[static_cast<std::size_t>(value)];
    const auto a = left->run(values), b = right->run(values);
    if (!a || !b) return {};
    switch (op) {
    case Op::add: return *a + *b;
    case Op::sub: return *a - *b;
    case Op::mul: return *a * *b;
    case Op::min: return std::min(*a, *b);
    case Op::max: return std::max(*a, *b);
    default: break;
    }
    if (*b == 0) return {};
    const std::int64_t quotient = *a / *b - (*a % *b != 0 && (*a < 0) != (*b < 0) ? 1 : 0);
    return op == Op::floordiv ? quotient : *a - quotient * *b;
  }

  Int build(World& w, const std::array<Int, atom_count>& atoms) const {
    if (op == Op::constant) return w.c(value);
    if (op == Op::atom) return atoms[static_cast<std::size_t>(value)];
    Int a = left->build(w, atoms), b = right->build(w, atoms);
    switch (op) {
    case Op::add: return w.add(a, b);
    case Op::sub: return w.sub(a, b);
    case Op::mul: return w.mul(a, b);
    case Op::min: return w.min(a, b);
    case Op::max: return w.max(a, b);
    case Op::floordiv: return w.floordiv(a, b);
    default: return w.mod(a, b);
    }
  }
};

inline std::shared_ptr<const Tree> random_tree(Random& random, int depth, bool polynomial = false) {
  auto tree = std::make_shared<Tree>();
  if (depth == 0 || random.chance(20)) {
    tree->op = random.chance(35) ? Op::constant : Op::atom;
    tree->value = tree->op == Op::constant ? random.between(-6, 12)
                                           : random.between(0, static_cast<int>(atom_count) - 1);
    return tree;
  }
  constexpr std::array ops{Op::add, Op::add, Op::sub, Op::mul, Op::mul, Op::floordiv, Op::mod, Op::floordiv,
      Op::mod, Op::min, Op::max};
  tree->op =
      ops[static_cast<std::size_t>(random.between(0, polynomial ? 4 : static_cast<int>(ops.size()) - 1))];
  tree->left = random_tree(random, depth - 1, polynomial);
  tree->right = random_tree(random, depth - 1, polynomial);
  return tree;
}

enum class Shape : std::uint8_t { compare, opaque, negation, conjunction, disjunction };

struct Claim {
  Shape shape = Shape::compare;
  Compare compare = Compare::eq;
  std::size_t place = 0;  // of an opaque one
  std::shared_ptr<const Tree> a, b;
  std::shared_ptr<const Claim> left, right;

  // Nothing where Python raises in any part.
  std::optional<bool> run(const Values& values, const Truths& truths) const {
    switch (shape) {
    case Shape::opaque: return truths[place];
    case Shape::negation: {
      const auto inner = left->run(values, truths);
      return inner ? std::optional(!*inner) : std::nullopt;
    }
    case Shape::conjunction:
    case Shape::disjunction: {
      const auto x = left->run(values, truths), y = right->run(values, truths);
      if (!x || !y) return {};
      return shape == Shape::conjunction ? *x && *y : *x || *y;
    }
    default: break;
    }
    const auto x = a->run(values), y = b->run(values);
    if (!x || !y) return {};
    switch (compare) {
    case Compare::eq: return *x == *y;
    case Compare::ne: return *x != *y;
    case Compare::lt: return *x < *y;
    case Compare::le: return *x <= *y;
    case Compare::gt: return *x > *y;
    default: return *x >= *y;
    }
  }

  Cond build(World& w, const std::array<Int, atom_count>& atoms,
      const std::array<Cond, opaque_count>& opaque) const {
    switch (shape) {
    case Shape::opaque: return opaque[place];
    case Shape::negation: return w.logical_not(left->build(w, atoms, opaque));
    case Shape::conjunction:
      return w.logical_and(left->build(w, atoms, opaque), right->build(w, atoms, opaque));
    case Shape::disjunction:
      return w.logical_or(left->build(w, atoms, opaque), right->build(w, atoms, opaque));
    default: return w.compared(compare, a->build(w, atoms), b->build(w, atoms));
    }
  }
};

inline std::shared_ptr<const Claim> random_claim(Random& random, int depth, int tree_depth) {
  auto claim = std::make_shared<Claim>();
  if (depth == 0 || random.chance(30)) {
    if (random.chance(20)) {
      claim->shape = Shape::opaque;
      claim->place = static_cast<std::size_t>(random.between(0, static_cast<int>(opaque_count) - 1));
      return claim;
    }
    claim->compare = static_cast<Compare>(random.between(0, 5));
    claim->a = random_tree(random, tree_depth);
    claim->b = random_tree(random, random.chance(50) ? 0 : tree_depth);
    return claim;
  }
  claim->shape = static_cast<Shape>(random.between(2, 4));
  claim->left = random_claim(random, depth - 1, tree_depth);
  if (claim->shape != Shape::negation) claim->right = random_claim(random, depth - 1, tree_depth);
  return claim;
}

struct Box {
  Values low{}, high{};
  template <class Visit> void each(Visit visit) const {
    Values values;
    for (values[0] = low[0]; values[0] <= high[0]; ++values[0])
      for (values[1] = low[1]; values[1] <= high[1]; ++values[1])
        for (values[2] = low[2]; values[2] <= high[2]; ++values[2]) visit(values);
  }
};

// Atoms, and the box that their values are drawn from. Some know their bounds; a box may be narrower than
// those.
struct RandomContext : World {
  Box box;
  std::array<Int, atom_count> atoms{};
  std::array<Cond, opaque_count> opaques{};

  explicit RandomContext(Random& random, std::int64_t reach = 3) {
    constexpr std::array names{"x", "y", "z"};
    for (std::size_t i = 0; i < atom_count; ++i) {
      box.low[i] = random.between(-reach, 1);
      box.high[i] = random.between(1, reach + 1);
      std::optional<std::int64_t> lower, upper;
      if (random.chance(60)) lower = box.low[i] - (random.chance(50) ? 0 : 1);
      if (random.chance(30)) upper = box.high[i];
      atoms[i] = atom(names[i], lower, upper);
    }
    for (Cond& each : opaques) each = opaque("p", Sharing::uniform);
  }
  std::array<Assignment, atom_count> assignment(const Values& values) const {
    return {{{atoms[0], values[0]}, {atoms[1], values[1]}, {atoms[2], values[2]}}};
  }
};

}  // namespace stepzero::symbolic::brute_force
