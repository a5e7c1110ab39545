// Paths: forking on a condition, taking a path back, bringing paths together.
#include "interpreter/interpreter.hpp"
#include "interpreter/loops/merged_values.hpp"

#include "interpreter/paths/speculation.hpp"
#include "interpreter/roots/required_ndims.hpp"
#include "symbolic/supposition.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <span>

namespace stepzero::interpreter {

using symbolic::Answer;
using values::Kind;

namespace {
constexpr std::size_t longest_path = 6;  // conditions that one is made of
constexpr std::size_t most_asked = 4;    // numbers in a condition

// The least values of the numbers that a condition asks about: what a side of the branch teaches about them
// may decide it later.
class Lowers {
public:
  Lowers(symbolic::Context& symbols, Cond condition) : symbols_(symbols) {
    symbols.parts(
        condition,
        [&](Int atom) {
          if (asked_.size() < most_asked && std::ranges::find(asked_, atom, &Asked::atom) == asked_.end())
            asked_.push_back({atom, {}});
        },
        [](Cond) {});
  }
  void begin() {
    for (Asked& each : asked_) each.low = symbols_.lower(each.atom);
  }
  Cond learned() const {
    Cond all = symbols_.boolean(true);
    for (const Asked& each : asked_)
      if (const auto low = symbols_.lower(each.atom); low && low > each.low)
        all = symbols_.logical_and(
            all, symbols_.compared(symbolic::Compare::ge, each.atom, symbols_.constant(*low)));
    return all;
  }

private:
  struct Asked {
    Int atom;
    std::optional<std::int64_t> low;  // at the beginning of the side
  };
  symbolic::Context& symbols_;
  std::vector<Asked> asked_;
};
}  // namespace

// A long path gets a condition of its own: that it is the same as another path's is then no longer seen.
Cond Interpreter::path_since(std::size_t depth) {
  if (path_.size() > depth + longest_path) {
    Sharing sharing = Sharing::uniform;
    bool unseen = false;
    for (std::size_t i = depth; i < path_.size(); ++i) {
      sharing = symbolic::mix(sharing, symbols().sharing(path_[i]));
      unseen = unseen || record_.unseen.contains(path_[i]);
    }
    return mark_unseen(symbols().opaque("", sharing), unseen);
  }
  Cond all = symbols().boolean(true);
  for (std::size_t i = depth; i < path_.size(); ++i) all = symbols().logical_and(all, path_[i]);
  return all;
}

Exit Interpreter::make_exit(values::Mark mark, std::size_t depth, Value value) {
  return {heap().capture(mark), path_since(depth), value};
}

bool Interpreter::says_unseen_class(Cond condition) {
  if (of_unseen_class_.empty() || of_unseen_class_.contains(symbols().logical_not(condition))) return false;
  if (of_unseen_class_.contains(condition)) return true;
  const auto parts = symbols().operands(condition);
  return std::any_of(parts.begin(), parts.end(), [&](Cond part) { return of_unseen_class_.contains(part); });
}

namespace {
// Does what one way leaves in the slot still hold what was there before, and nothing less: a list with more
// elements, a sum to which something was added? What is written anew does not.
bool goes_on_from(Value before, Value left) {
  if (left == before) return true;
  const auto* then = dynamic_cast<const values::ListState*>(before.object());
  const auto* now = dynamic_cast<const values::ListState*>(left.object());
  if (then && now)
    return then->open ? now->open
                      : then->items.size() <= now->items.size() &&
            std::ranges::equal(then->items, std::span(now->items).first(then->items.size()));
  return before && left && left.is(Kind::unknown);
}

// What a way has added to something is there after both ways if the other has added to it, too, or left it
// alone.
struct AddedOnEither {
  Kept* kept;
  bool by_first;
  bool by_other;  // the other way has added a tensor, too
};
std::vector<AddedOnEither> added_on_either(Frame* frame, const values::Delta& first,
    const std::function<std::vector<std::pair<values::Slot*, Value>>()>& written) {
  std::vector<AddedOnEither> added;
  std::optional<std::vector<std::pair<values::Slot*, Value>>> second;  // with what lay there before
  for (; frame; frame = frame->outer)
    for (LoopTarget* target : frame->loops)
      for (Kept& kept : target->kept) {
        if (!kept.content) continue;
        if (!second) second = written();
        const auto of_first = std::ranges::find(
            first, kept.slot, [](const auto& each) { return each.first; });
        const auto of_second = std::ranges::find(
            *second, kept.slot, [](const auto& each) { return each.first; });
        const bool by_first = of_first != first.end() && of_first->second == kept.content,
                   by_second = of_second != second->end() && kept.slot->value == kept.content;
        if (by_first == by_second) continue;
        const Value other = by_first  ? kept.slot->value
            : of_first == first.end() ? of_second->second
                                      : of_first->second;
        const Value before = of_second != second->end() ? of_second->second : kept.slot->value;
        const bool written_there = by_first ? of_second != second->end() : of_first != first.end();
        const bool kept_there = written_there && std::ranges::any_of(target->kept, [&](const Kept& each) {
          return each.slot == kept.slot && each.content == other;
        });
        if (kept_there || goes_on_from(before, other)) added.push_back({&kept, by_first, kept_there});
      }
  return added;
}

// One of both holds. Part by part: of a disjunction that is too large nothing is concluded.
void assume_either(symbolic::Context& symbols, Cond other_side, Cond held_here) {
  const bool several = symbols.form(held_here) == symbolic::Context::Form::conjunction;
  for (const Cond part : several
          ? std::vector(symbols.operands(held_here).begin(), symbols.operands(held_here).end())
          : std::vector{held_here})
    static_cast<void>(symbols.assume(symbols.logical_or(other_side, part)));
}
}  // namespace

Flow Interpreter::fork(Cond condition, const syntax::Stmt* stmt, Place place,
    const std::function<Flow()>& yes, const std::function<Flow()>& no) {
  const Answer decided = symbols().decide(condition);
  if (decided != Answer::unknown && !limits_.as_rank) return decided == Answer::yes ? yes() : no();
  if (decided != Answer::unknown) {
    // Another rank may decide otherwise: who compares them wants to know which way was taken.
    auto* taken = record_.event<BranchEvent>();
    taken->place = place;
    taken->calls = site_;
    taken->condition = symbols().boolean(decided == Answer::yes);
    taken->stmt = stmt;
    append(taken);
    Block* const outer = block_;
    block_ = decided == Answer::yes ? &taken->yes : &taken->no;
    const Flow flow = decided == Answer::yes ? yes() : no();
    block_ = outer;
    return flow;
  }
  const Cond negated = symbols().logical_not(condition);
  auto* event = record_.event<BranchEvent>();
  event->place = place;
  event->calls = site_;
  event->condition = condition;
  event->stmt = stmt;
  Block* const block = block_;
  Speculation ways(*this);
  const std::size_t depth = ways.depth();

  ++branches_;
  block_ = &event->yes;
  path_.push_back(condition);
  // What held where this side was not left by raising.
  std::size_t taken = 0;
  Lowers lowers(symbols(), condition);
  const auto held = [&] {
    const Cond path = path_.size() > depth + 1 && path_.size() <= depth + 1 + longest_path
        ? path_since(depth + 1)
        : symbols().boolean(true);
    return symbols().logical_and(
        symbols().logical_and(path, symbols().disjunctions_since(taken)), lowers.learned());
  };
  const auto side = [&](Cond holds, const std::function<Flow()>& run) {
    if (!symbols().assume(holds)) return Flow::dead;
    exclude_others(holds);
    taken = symbols().mark();
    lowers.begin();
    if (frame_) {
      if (frame_->outer) note_required_ndims(*this, *frame_->scope, holds);
      learn_ndims(*this, frame_->scope->names, holds);
    }
    return run();
  };
  // A layer of the library that is an object of a class that was not seen is not what it is known to be.
  const bool another = says_unseen_class(condition);
  guards_ += another;
  const Flow first = side(condition, yes);
  guards_ -= another;
  const Cond held_first = first == Flow::normal ? held() : nullptr;
  values::Delta delta;
  if (first == Flow::normal)
    delta = ways.take();
  else
    ways.rewind();

  block_ = &event->no;
  path_.push_back(negated);
  const Flow second = side(negated, no);
  const Cond held_second = second == Flow::normal ? held() : nullptr;
  --branches_;
  ways.forget_path();
  ways.commit();

  block_ = block;
  if (!event->yes.events.empty() || !event->no.events.empty()) append(event);
  if (first == Flow::normal && second == Flow::normal) {
    const auto added = added_on_either(frame_, delta, [&] { return heap().written(ways.mark()); });
    heap().join(ways.mark(), delta, condition, symbols().sharing(condition));
    for (const AddedOnEither& each : added) {
      each.kept->content = each.kept->slot->value;
      if (each.by_other) continue;
      const Cond under = each.by_first ? condition : negated;
      each.kept->under = each.kept->under ? symbols().logical_and(each.kept->under, under) : under;
    }
    assume_either(symbols(), negated, held_first);
    assume_either(symbols(), condition, held_second);
    return Flow::normal;
  }
  if (first == Flow::normal) ways.become(delta);
  if (first == Flow::dead && second == Flow::dead) return Flow::dead;
  // Only one side goes on: its condition holds from here to the end of the enclosing path.
  const Cond holds = first == Flow::normal ? condition : negated;
  path_.push_back(holds);
  symbols().assume(holds);
  exclude_others(holds);
  static_cast<void>(symbols().assume(first == Flow::normal ? held_first : held_second));
  return Flow::normal;
}

namespace {
// Are the two sizes different for some numbers for which the condition holds? A few are tried: it is a search
// that shows them equal.
bool differ_somewhere(symbolic::Context& symbols, symbolic::Int a, symbolic::Int b, Cond condition) {
  const Cond equal = symbols.compared(symbolic::Compare::eq, a, b);
  std::vector<symbolic::Int> atoms;
  const auto add = [&](symbolic::Int atom) {
    if (std::find(atoms.begin(), atoms.end(), atom) == atoms.end()) atoms.push_back(atom);
  };
  symbols.atoms(a, add);
  symbols.atoms(b, add);
  symbols.parts(condition, add, [](Cond) {});
  constexpr std::int64_t many_divide = 27'720;
  for (const std::int64_t first : {std::int64_t{1}, many_divide, many_divide * 26}) {
    std::vector<symbolic::Assignment> tried;
    tried.reserve(atoms.size());
    for (const symbolic::Int atom : atoms) tried.push_back({atom, first});
    if (symbols.evaluate(condition, tried) == Answer::yes && symbols.evaluate(equal, tried) == Answer::no)
      return true;
  }
  return false;
}

// `one` with those sizes of `other` that are the same wherever the condition holds, as x[..., heads * dim] is
// x[..., dim] where there is one head. `one` itself if there are none.
Value with_equal_sizes(values::Heap& heap, Value one, Value other, Cond condition) {
  if (!one.is(values::Kind::tensor) || !other.is(values::Kind::tensor) || one == other ||
      one.as<values::Tensor>()->role != values::TensorRole::plain)
    return one;
  const values::Shape &a = one.as<values::Tensor>()->now()->shape,
                      &b = other.as<values::Tensor>()->now()->shape;
  if (!a.ndim_known || !b.ndim_known || a.dims.size() != b.dims.size() || values::same_shape(a, b))
    return one;
  auto& symbols = heap.symbols();
  // To compare sizes of which the condition says nothing would cost much for nothing.
  std::vector<symbolic::Int> asked;
  symbols.parts(condition, [&](symbolic::Int atom) { asked.push_back(atom); }, [](Cond) {});
  if (asked.empty()) return one;
  const auto is_about = [&](symbolic::Int size) {
    bool any = false;
    symbols.atoms(size,
        [&](symbolic::Int atom) { any = any || std::find(asked.begin(), asked.end(), atom) != asked.end(); });
    return any;
  };
  values::TensorState changed = *one.as<values::Tensor>()->now();
  bool any = false;
  const symbolic::Supposition supposed(symbols, condition);
  if (supposed.possible())
    for (std::size_t i = 0; i < a.dims.size(); ++i) {
      const values::Dim &mine = a.dims[i], &theirs = b.dims[i];
      if (!mine.size || !theirs.size || mine.size == theirs.size ||
          (!is_about(mine.size) && !is_about(theirs.size)))
        continue;
      if (differ_somewhere(symbols, mine.size, theirs.size, condition) ||
          symbols.compare(symbolic::Compare::eq, mine.size, theirs.size) != Answer::yes)
        continue;
      changed.shape.dims[i] = theirs;
      any = true;
    }
  return any ? heap.tensor(changed, one.object()->born) : one;
}
}  // namespace

Value Interpreter::fork_value(
    Cond condition, Place place, const std::function<Value()>& yes, const std::function<Value()>& no) {
  Value first, second;
  const auto run_side = [&](const std::function<Value()>& side, Value& into) {
    into = side();
    if (!killed_) return Flow::normal;
    killed_ = false;
    return Flow::dead;
  };
  const bool decided = symbols().decide(condition) != Answer::unknown;
  const Flow flow = fork(
      condition, nullptr, place, [&] { return run_side(yes, first); }, [&] { return run_side(no, second); });
  if (flow == Flow::dead) {
    killed_ = true;
    return heap().unseen("", place);
  }
  if (decided || !first || !second) return first ? first : second;
  second = with_equal_sizes(heap(), second, first, symbols().logical_not(condition));
  first = with_equal_sizes(heap(), first, second, condition);
  const Value one = heap().one_of_equivalent(heap().choose(condition, first, second));
  return policy_.joins_equivalent && in_roots_ ? one_for_both(heap(), one) : one;
}

Flow Interpreter::merge_exits(
    Speculation& since, std::vector<Exit>& exits, Flow flow, Value* value, bool loose) {
  if (exits.empty()) return flow;
  // What only the present path knows does not decide which path was taken.
  since.forget_path();
  if (flow == Flow::dead) {
    since.become(exits.back().delta);
    if (value) *value = exits.back().value;
    exits.pop_back();
  }
  for (auto exit = exits.rbegin(); exit != exits.rend(); ++exit) {
    const Sharing sharing = symbols().sharing(exit->condition);
    heap().join(since.mark(), exit->delta, loose ? nullptr : exit->condition, sharing);
    if (value)
      *value = loose ? heap().merge(exit->value, *value, sharing)
                     : heap().choose(exit->condition, exit->value, *value);
  }
  exits.clear();
  return Flow::normal;
}

namespace {
// Of tensors that a collective made the same, whichever of them it was given: one that stands for all.
Value same_on_both_sides(Value value) {
  const auto* choice = value.as<values::Choice>();
  const Value yes = choice->yes.is(values::Kind::choice) ? same_on_both_sides(choice->yes) : choice->yes;
  if (!yes.is(values::Kind::tensor)) return {};
  const values::TensorState& one = *yes.as<values::Tensor>()->now();
  if (!one.made || !one.made->row || !one.made->row->collective) return {};
  const Value no = choice->no.is(values::Kind::choice) ? same_on_both_sides(choice->no) : choice->no;
  if (!no.is(values::Kind::tensor)) return {};
  const values::TensorState& other = *no.as<values::Tensor>()->now();
  return one.made == other.made && one.dtype == other.dtype && same_shape(one.shape, other.shape) ? yes
                                                                                                  : Value{};
}
}  // namespace

Value Interpreter::decided(Value value) {
  while (value.is(values::Kind::choice)) {
    const auto* choice = value.as<values::Choice>();
    switch (symbols().decide(choice->condition)) {
    case Answer::yes: value = choice->yes; continue;
    case Answer::no: value = choice->no; continue;
    case Answer::unknown: break;
    }
    // A name bound on one side only: who reads it is on that side.
    if (!choice->yes)
      value = choice->no;
    else if (!choice->no)
      value = choice->yes;
    else if (const Value one = same_on_both_sides(value))
      return one;
    else
      return value;
  }
  return value;
}

Value Interpreter::over_choices(Value value, const std::function<Value(Value)>& each, Place place) {
  value = resolve(value);
  if (!value.is(values::Kind::choice)) return each(value);
  const auto* choice = value.as<values::Choice>();
  const auto side = [&](Cond condition, Value part) {
    assumed_.push_back(condition);
    const Value made = over_choices(part, each, place);
    assumed_.pop_back();
    return made;
  };
  return fork_value(
      choice->condition, place, [&] { return side(choice->condition, choice->yes); },
      [&] { return side(symbols().logical_not(choice->condition), choice->no); });
}

Cond Interpreter::assumption() {
  if (assumed_.empty()) return nullptr;
  Cond all = symbols().boolean(true);
  for (const Cond condition : assumed_) all = symbols().logical_and(all, condition);
  return all;
}

}  // namespace stepzero::interpreter
