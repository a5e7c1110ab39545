// shape/mixed-axes: a view or reshape names a dimension in another place than it has. Elements stay in their
// order, so what belonged together is spread.
#include "rules/provenance.hpp"
#include "rules/rule.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::rules::shape::mixed_axes {

using values::code;

namespace {

using symbolic::Int;
using values::Shape;

bool is_known(const Shape& shape) {
  return shape.ndim_known &&
      std::ranges::all_of(shape.dims, [](const Dim& dim) { return dim.size != nullptr; });
}

// Does the other shape have a size of its own where this one has a size that it lacks, or one without a name?
// They may be the same, read from another tensor.
bool may_be_renamed(const Record& record, const Shape& from, const Shape& to) {
  const auto has = [&](const Shape& shape, Int size) {
    return std::ranges::any_of(shape.dims, [&](const Dim& dim) { return dim.size == size; });
  };
  const auto is_atom = [&](Int size) {
    bool one = false;
    record.symbols.atoms(size, [&](Int atom) { one = one || atom == size; });
    return one;
  };
  const auto named_in = [&](const Shape& shape, Int atom) {
    return std::ranges::any_of(shape.dims, [&](const Dim& dim) {
      bool named = false;
      record.symbols.atoms(dim.size, [&](Int each) { named = named || each == atom; });
      return named;
    });
  };
  for (std::size_t i = 0; i < to.dims.size(); ++i) {
    const Int own = to.dims[i].size;
    // A product of sizes that are all another tensor's, as its batch and its heads.
    if (!is_atom(own)) {
      int foreign = 0, shared = 0;
      record.symbols.atoms(own, [&](Int atom) { ++(named_in(from, atom) ? shared : foreign); });
      if (foreign > 1 && shared == 0) return true;
    }
    if (!is_atom(own) || has(from, own)) continue;
    const auto* info = record.symbols.atom_info(own);
    if (!info || info->name.empty()) return true;
    if (i < from.dims.size() && is_atom(from.dims[i].size) && !has(to, from.dims[i].size)) return true;
  }
  return false;
}

// Sizes that stand for all: numbers that have nothing in common, so that what is equal among them is equal by
// the program. Known sizes are themselves. Rounded down, as by strides, numbers may meet by chance: what is
// equal is so among other numbers, too.
class Sample {
public:
  // Of two shapes with as many elements; absent where no numbers are found that give as many.
  static std::optional<Sample> of(const Record& record, const Shape& from, const Shape& to);

  bool equal(Int a, Int b) const { return holds(record_.symbols.compared(symbolic::Compare::eq, a, b)); }
  bool is_one(Int a) const { return equal(a, record_.symbols.constant(1)); }
  Int product(const Shape& shape, std::size_t end) const {
    Int all = record_.symbols.constant(1);
    for (std::size_t i = 0; i < end; ++i) all = record_.symbols.mul(all, shape.dims[i].size);
    return all;
  }

private:
  explicit Sample(const Record& record) : record_(record) {}
  bool holds(symbolic::Cond condition) const {
    return record_.symbols.evaluate(condition, numbers_) == symbolic::Answer::yes &&
        record_.symbols.evaluate(condition, others_) != symbolic::Answer::no;
  }

  const Record& record_;
  std::vector<symbolic::Assignment> numbers_, others_;
};

std::optional<Sample> Sample::of(const Record& record, const Shape& from, const Shape& to) {
  constexpr std::int64_t primes[] = {101, 103, 107, 109, 113, 127};
  constexpr std::int64_t other_primes[] = {199, 151, 181, 157, 193, 163};
  std::vector<Int> atoms;
  for (const Shape* shape : {&from, &to})
    for (const Dim& dim : shape->dims)
      record.symbols.atoms(dim.size, [&](Int atom) {
        if (std::ranges::find(atoms, atom) == atoms.end()) atoms.push_back(atom);
      });
  if (atoms.size() > std::size(primes) || may_be_renamed(record, from, to)) return std::nullopt;
  // Where one is divided by others, as the width by the number of heads, it is a multiple of them.
  for (std::size_t divided = 0; divided <= atoms.size(); ++divided) {
    Sample sample(record);
    const auto assign = [&](const auto& own, std::vector<symbolic::Assignment>& numbers) {
      for (std::size_t i = 0; i < atoms.size(); ++i) {
        std::int64_t number = own[i];
        for (std::size_t k = 0; i + 1 == divided && k < atoms.size(); ++k)
          if (k != i) number *= own[k];
        numbers.push_back({atoms[i], number});
      }
    };
    assign(primes, sample.numbers_);
    assign(other_primes, sample.others_);
    // Nothing is told by numbers of which a size becomes 0.
    const Int elements = sample.product(from, from.dims.size());
    if (!sample.equal(elements, record.symbols.constant(0)) &&
        sample.equal(elements, sample.product(to, to.dims.size())))
      return sample;
  }
  return std::nullopt;
}

// The one dimension of that size; absent if none or several have it.
std::optional<std::size_t> only_one(const Sample& sample, const Shape& shape, Int size) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < shape.dims.size(); ++i) {
    if (!sample.equal(shape.dims[i].size, size)) continue;
    if (found) return std::nullopt;
    found = i;
  }
  return found;
}

// Dimensions of both shapes that become each other, up to the next place where as many elements lie before on
// both sides: one of several is split, or several become one, where they stand.
struct Group {
  std::size_t from, from_end, to, to_end;
  bool holds(std::size_t i, std::size_t j) const {
    return from <= i && i < from_end && to <= j && j < to_end;
  }
};
Group group_of(const Sample& sample, const Shape& from, const Shape& to, std::size_t at) {
  Group group{0, from.dims.size(), 0, to.dims.size()};
  for (std::size_t i = 0; i <= from.dims.size(); ++i)
    for (std::size_t j = 0; j <= to.dims.size(); ++j) {
      if (!sample.equal(sample.product(from, i), sample.product(to, j))) continue;
      if (i <= at && i >= group.from) group.from = i, group.to = std::max(group.to, j);
      if (i > at && i < group.from_end) group.from_end = i, group.to_end = j;
    }
  return group;
}
std::size_t larger_than_one(const Sample& sample, const Shape& shape, std::size_t begin, std::size_t end) {
  std::size_t count = 0;
  for (std::size_t i = begin; i < end; ++i) count += !sample.is_one(shape.dims[i].size);
  return count;
}

// A dimension of the one shape that the other has in another place: as many elements do not stand before it,
// and it is not split or joined where it stands.
struct Moved {
  std::size_t from, to;
};
std::optional<Moved> moved(const Record& record, const Shape& from, const Shape& to) {
  const auto sample = Sample::of(record, from, to);
  for (std::size_t i = 0; sample && i < from.dims.size(); ++i) {
    const Int size = from.dims[i].size;
    if (sample->is_one(size) ||
        record.symbols.compare(symbolic::Compare::gt, size, record.symbols.constant(1)) ==
            symbolic::Answer::no)
      continue;
    const auto own = only_one(*sample, from, size), there = only_one(*sample, to, size);
    if (!own || !there || sample->equal(sample->product(from, i), sample->product(to, *there))) continue;
    const Group group = group_of(*sample, from, to, i);
    if (group.holds(i, *there) && larger_than_one(*sample, from, group.from, group.from_end) > 1 &&
        larger_than_one(*sample, to, group.to, group.to_end) > 1)
      return Moved{i, *there};
  }
  return std::nullopt;
}

// What a chain of views begins with, and whether something is known of its order: a tensor that the program
// has just made of sizes has none that matters.
const TensorState* source(const TensorState* state) {
  for (int way = 0; state && state->made && semantics(state) == OpSemantics::rearranged && way < 12; ++way)
    state = input(*state->made);
  return state;
}
// One more column than there were: what is viewed, or a part of it, is shifted by one in each row, as
// relative positions are.
bool is_shifted(const TensorState* state) {
  for (int way = 0; state && state->made && way < 12; ++way) {
    const OpSemantics by = semantics(state);
    if (by == OpSemantics::joined || by == OpSemantics::padded) return true;
    if (by != OpSemantics::rearranged && by != OpSemantics::picked) return false;
    state = input(*state->made);
  }
  return false;
}
bool has_order(const TensorState* state) {
  if (!state || !state->made || is_shifted(state)) return false;
  const OpSemantics by = semantics(state);
  return by != OpSemantics::count_up && by != OpSemantics::spaced && by != OpSemantics::filled_normal &&
      !inputs(*state->made).empty();
}

// What is left of the places after a pool may be one: where nobody knows how many, nothing is mixed then.
bool may_be_pooled_to_one(const Record& record, const TensorState& first, std::size_t moved) {
  if (semantics(&first) != OpSemantics::pooled) return false;
  const auto& dims = first.shape.dims;
  return std::any_of(dims.begin() + static_cast<std::ptrdiff_t>(std::min(moved + 1, dims.size())), dims.end(),
      [&](const Dim& dim) { return !record.symbols.value(dim.size); });
}

// `x.view(x.size(0), x.size(2), x.size(1))`: all sizes of the tensor itself, in another order than it has
// them.
bool exchanges_own_sizes(const TensorState& before, const Shape& to) {
  std::vector<Int> own;
  const auto& sizes = before.shape.ndim_known ? before.shape.dims : before.first;
  for (const Dim& dim : sizes) own.push_back(dim.size);
  if (own.size() < 3 || own.size() != to.dims.size() || std::ranges::find(own, nullptr) != own.end())
    return false;
  bool same = true;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (std::ranges::count(own, own[i]) != 1) return false;
    if (std::ranges::none_of(to.dims, [&](const Dim& dim) { return dim.size == own[i]; })) return false;
    same = same && own[i] == to.dims[i].size;
  }
  return !same;
}

void check(const Record& record, Report& report) {
  Once once;
  for (const Origin& each : Provenance::of(record).of_semantics(OpSemantics::rearranged)) {
    const TensorState* before = input(*each.made);
    if (before && !before->shape.ndim_known && is_known(each.state->shape) && !before->poisoned &&
        exchanges_own_sizes(*before, each.state->shape) && once(each.made->born))
      report.add(Severity::warning, each.made->born, each.made->calls,
          "This gives the tensor its own sizes in another order, " +
              code(values::shape_text(record.symbols, each.state->shape)) +
              ", but the elements keep theirs, so each row then holds parts of several. Move the dimensions with `transpose` or `permute`.");
    if (!before || !is_known(before->shape) || !is_known(each.state->shape) ||
        before->shape.dims.size() < 3 || each.state->poisoned || before->poisoned)
      continue;
    const auto wrong = moved(record, before->shape, each.state->shape);
    const TensorState* first = wrong ? source(before) : nullptr;
    if (!first || !has_order(first) || !is_known(first->shape) ||
        !moved(record, first->shape, each.state->shape) ||
        may_be_pooled_to_one(record, *first, wrong->from) || !once(each.made->born))
      continue;
    const std::string size = values::size_words(record.symbols, before->shape.dims[wrong->from]);
    Finding* finding = report.add(Severity::warning, each.made->born, each.made->calls,
        "This turns " + code(values::shape_text(record.symbols, before->shape)) + " into " +
            code(values::shape_text(record.symbols, each.state->shape)) + ": the dimension of size " + size +
            " has another place, but the elements keep their order, so each row then holds parts of several. Keep the order of the dimensions in the view, and move them with `transpose` or `permute`.");
    if (finding && first->made && first->made->born) report.relate(*finding, first->made->born, "made here");
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "shape/mixed-axes",
    .severity = Severity::warning,
    .summary = "a view or reshape gives a dimension another place, which mixes elements",
    .why =
        "`view` and `reshape` read the elements in the order in which they lie and cut them into other rows. They cannot move a dimension: `[batch, time, heads * size]` viewed as `[batch, heads, time, size]` has the right shape, "
        "and each head is made of other positions and other heads. Nothing fails, and the model trains worse.",
    .wrong = "b, t, _ = x.shape\n"
             "q = self.query(x).reshape(b, self.heads, t, self.size)\n",
    .right = "b, t, _ = x.shape\n"
             "q = self.query(x).reshape(b, t, self.heads, self.size).transpose(1, 2)\n",
    .silent =
        "Dimensions that are split, joined or dropped where they stand; a view that takes another one back; sizes that are not known or that several dimensions have; tensors of two dimensions; new tensors, whose elements have no order yet; tensors that were padded or joined before, as relative positions are.",
    .fix = "None: which dimensions are meant is yours to say.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::shape::mixed_axes
