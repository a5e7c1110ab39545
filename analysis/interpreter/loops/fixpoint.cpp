// Loops whose iterations are not known one by one. Their head gets a state that is a fixpoint: it holds
// before every iteration. Iterations are run dry on it; what an iteration changes is widened; then one
// iteration is run for the record.
#include "interpreter/calls/noted_events.hpp"
#include "interpreter/loops/loop_runner.hpp"
#include "interpreter/loops/loop_shape.hpp"
#include "interpreter/loops/next_iteration.hpp"
#include "interpreter/paths/speculation.hpp"
#include "symbolic/naming.hpp"
#include "values/internal_rows.hpp"
#include "values/kept.hpp"
#include "values/limits.hpp"
#include "values/numbers.hpp"

#include <algorithm>
#include <functional>
#include <unordered_set>

namespace stepzero::interpreter {

using values::Kind;

namespace {

// Each pass widens what the one before left open; from the third on what changes becomes unknown, so that few
// are needed. A chain of names handed on from iteration to iteration (a = b; b = c; …) needs one for each of
// its links.
constexpr int most_passes = 8;

// A tensor that was computed from parameters, or a tuple of such.
bool has_graph(Value value) {
  if (value.is(Kind::tuple)) {
    const auto& items = value.as<values::Tuple>()->items;
    return std::any_of(items.begin(), items.end(),
        [](const Value& item) { return item.is(Kind::tensor) && has_graph(item); });
  }
  if (!value.is(Kind::tensor) || value.as<values::Tensor>()->role != values::TensorRole::plain) return false;
  const values::TensorState* state = value.as<values::Tensor>()->now();
  return state && state->requires_grad != values::Known::no && !state->graph.empty();
}

// What iterations put into a list has sizes of its own in each: of any of them those are not known.
Value without_own_sizes(values::Heap& heap, Value state) {
  const auto* list = state.is(Kind::state) ? dynamic_cast<values::ListState*>(state.object()) : nullptr;
  if (!list || !list->rest.is(Kind::tensor)) return state;
  const auto* tensor = list->rest.as<values::Tensor>();
  values::TensorState any = *tensor->now();
  const auto varies = [&](symbolic::Int size) {
    bool found = false;
    if (size)
      heap.symbols().atoms(size, [&](symbolic::Int atom) {
        found = found || (heap.symbols().atom_info(atom) && heap.symbols().atom_info(atom)->varies);
      });
    return found;
  };
  bool changed = false;
  for (values::Dim& dim : any.shape.dims)
    if (varies(dim.size)) {
      dim.size = nullptr;
      changed = true;
    }
  if (!changed) return state;
  auto* other = heap.make<values::ListState>();
  other->items = list->items;
  other->open = list->open;
  other->length = list->length;
  other->rest = heap.tensor(std::move(any), tensor->born);
  return Value::of(Kind::state, other);
}

// What failed in one iteration may not have failed in another: at the head of a loop nothing is poisoned that
// was not so before it.
void forgive(values::Heap& heap, Value before, Value& wide) {
  if (wide == before) return;
  const auto* was = before.is(Kind::state) ? dynamic_cast<const values::TensorState*>(before.object())
                                           : nullptr;
  const auto* now = wide.is(Kind::state) ? dynamic_cast<const values::TensorState*>(wide.object()) : nullptr;
  if (was && now) {
    if (was->poisoned || !now->poisoned) return;
    values::TensorState state = *now;
    state.poisoned = false;
    wide = Value::of(Kind::state, heap.state(std::move(state)));
  } else if (wide.is(Kind::tuple) && before.is(Kind::tuple)) {
    const auto &items = wide.as<values::Tuple>()->items, &olds = before.as<values::Tuple>()->items;
    for (std::size_t i = 0; i < items.size() && i < olds.size(); ++i) {
      Value item = items[i];
      forgive(heap, olds[i], item);
    }
  } else if (!heap.is_poisoned(before) && heap.is_poisoned(wide)) {
    if (wide.is(Kind::unknown)) wide.as<values::Unknown>()->poisoned = false;
    const Value held = wide.is(Kind::unknown) ? wide.as<values::Unknown>()->state.value : wide;
    if (!held.is(Kind::tensor)) return;
    values::TensorState state = *held.as<values::Tensor>()->now();
    state.poisoned = false;
    heap.set(held.as<values::Tensor>()->state, Value::of(Kind::state, heap.state(std::move(state))));
  }
}

// Is nothing else known of the tensor after the iteration than before it, but that something failed on it?
bool only_poisoned(Value before, Value end) {
  const auto* was = before.is(Kind::state) ? dynamic_cast<const values::TensorState*>(before.object())
                                           : nullptr;
  const auto* now = end.is(Kind::state) ? dynamic_cast<const values::TensorState*>(end.object()) : nullptr;
  return was && now && now->poisoned && !was->poisoned && values::same_shape(was->shape, now->shape) &&
      was->dtype == now->dtype && was->device == now->device && was->requires_grad == now->requires_grad &&
      was->sharing == now->sharing && was->made == now->made && was->content == now->content &&
      was->scaled_by == now->scaled_by && was->cast_by == now->cast_by && was->outcome == now->outcome &&
      was->mean == now->mean && was->maybe_array == now->maybe_array &&
      was->grad_writes == now->grad_writes && was->first.size() == now->first.size();
}

// What each iteration leaves for the next, and is none in the first one: the state of a recurrent layer, the
// best loss so far.
bool begins_as_none(Value before, Value end) {
  if (!before.is(Kind::none)) return false;
  const auto* tuple = end.is(Kind::tuple) ? end.as<values::Tuple>() : nullptr;
  return end.is(Kind::tensor) || values::is_read_number(end) || values::is_float(end) ||
      (tuple && !tuple->items.empty() &&
          std::ranges::all_of(tuple->items, [](Value item) { return item.is(Kind::tensor); }));
}
// A sum that begins as a number, to which each iteration adds a tensor: the accuracies of batches. One with a
// history is another matter: it grows.
bool begins_as_number(Value before, Value end) {
  if (!before.is(Kind::integer) && !before.is(Kind::real)) return false;
  if (!end.is(Kind::tensor) || end.as<values::Tensor>()->role != values::TensorRole::plain) return false;
  const values::TensorState& state = *end.as<values::Tensor>()->now();
  return state.shape.ndim_known && state.requires_grad == values::Known::no && state.graph.empty() &&
      !state.poisoned;
}
bool begins_otherwise(Value before, Value end) {
  return begins_as_none(before, end) || begins_as_number(before, end);
}
// The head's value of such a thing; null: it is none. The condition that there was an iteration before has no
// name.
const values::Choice* begun_otherwise(Value head) {
  if (!head.is(Kind::choice)) return nullptr;
  const auto* choice = head.as<values::Choice>();
  return symbolic::is_anonymous(choice->condition) && begins_otherwise(choice->no, choice->yes) ? choice
                                                                                                : nullptr;
}

// What an iteration leaves of such a thing: where it left the head's value alone because that was something,
// it is what that was.
Value where_begun(Interpreter& run, Value end, const values::Choice& head, Cond path, int depth = 0) {
  symbolic::Context& s = run.symbols();
  if (end.object() == &head)
    return s.decide(s.logical_and(path, s.logical_not(head.condition))) == symbolic::Answer::no ? head.yes
                                                                                                : end;
  if (!end.is(Kind::choice) || depth > values::most_choices) return end;
  const auto* choice = end.as<values::Choice>();
  const Value yes = where_begun(run, choice->yes, head, s.logical_and(path, choice->condition), depth + 1),
              no = where_begun(
                  run, choice->no, head, s.logical_and(path, s.logical_not(choice->condition)), depth + 1);
  return yes == choice->yes && no == choice->no ? end : run.heap().choose(choice->condition, yes, no);
}

// A number that was known is known no more: what it decided in the iteration, `if step % 100 == 0`, is open
// in the next, which may come to what the first one left out.
bool decides_no_more(const symbolic::Context& symbols, Value before, Value wide) {
  const auto is_known = [&](Value value) {
    return value.is(Kind::integer) && symbols.value(value.integer());
  };
  return is_known(before) && !is_known(wide);
}

// Two names that hold one thing of the iteration that is run may hold those of two iterations after the loop:
// `if i == 6: first = x`.
void part_iterations(Interpreter& run, values::Delta& left, std::uint64_t began) {
  constexpr int most_choices = 8;  // values that one slot may have after an iteration
  std::unordered_set<const values::Object*> held;
  const auto apart = [&](Value value, int depth, const auto& again) -> Value {
    switch (value.kind) {
    case Kind::choice: {
      const auto* choice = value.as<values::Choice>();
      if (depth >= most_choices) return value;
      const Value yes = again(choice->yes, depth + 1, again), no = again(choice->no, depth + 1, again);
      return yes == choice->yes && no == choice->no ? value : run.heap().choose(choice->condition, yes, no);
    }
    case Kind::tensor:
      return value.as<values::Tensor>()->state.birth <= began || held.insert(value.object()).second
          ? value
          : run.one_of_many(value);
    case Kind::unknown:
      return value.as<values::Unknown>()->attributes.birth <= began || held.insert(value.object()).second
          ? value
          : run.one_of_many(value);
    default: return value;
    }
  };
  // What was made in the iteration holds things of that iteration alone: the parts of an object belong
  // together.
  const auto is_of_iteration = [&](const auto& each) { return each.first->birth > began; };
  const auto hold = [&](Value value, int depth, const auto& again) -> void {
    if (value.is(Kind::tensor) || value.is(Kind::unknown)) held.insert(value.object());
    if (!value.is(Kind::choice) || depth >= most_choices) return;
    again(value.as<values::Choice>()->yes, depth + 1, again);
    again(value.as<values::Choice>()->no, depth + 1, again);
  };
  for (const auto& each : left)
    if (is_of_iteration(each)) hold(each.second, 0, hold);
  for (auto& each : left)
    if (!is_of_iteration(each)) each.second = apart(each.second, 0, apart);
}

}  // namespace

class LoopRunner::Fixpoint {
public:
  Fixpoint(Interpreter& run, const LoopShape& shape, const std::function<Flow()>& iteration)
      : run_(run), shape_(shape), iteration_(iteration),
        carried_sharing_(shape.trips == Sharing::unseen ? Sharing::unseen : Sharing::uniform) {}

  Flow run();

private:
  Flow run_once(const Speculation& from, Block& into, bool look);
  void forget_keys();
  bool widen(values::Mark mark, bool to_unknown);
  bool dry_run(bool first, bool to_unknown);
  Flow run_for_good(bool look);
  std::optional<Flow> try_for_good();
  void foresee(values::Mark began);
  bool begin_as_foreseen();
  Flow stabilize();
  void tell_first_failures(LoopEvent& event);
  values::Heap& heap() { return run_.heap(); }

  Interpreter& run_;
  const LoopShape& shape_;
  const std::function<Flow()>& iteration_;
  const Sharing
      carried_sharing_;  // ranks that meet in an iteration are in the same one, however many each makes
  Block* const block_ = run_.block_;
  LoopEvent* event_ = nullptr;
  std::unordered_set<values::Slot*> widened_;  // what an iteration changes
  std::vector<const ProblemEvent*> failures_;  // of the first iteration, whose state is known best
  std::unordered_set<values::Slot*>
      histories_;  // what of it holds a tensor with a history, after every iteration
  const std::uint64_t began_ = run_.heap().mark().clock;
  bool settled_ = true;          // what was widened is hardly other after the next iteration
  std::size_t keyed_begin_ = 0;  // among all that were first stored under keys
  std::unordered_set<const values::Slot*> keyed_;         // was first stored in it under a key
  std::unordered_set<const values::Slot*> of_iteration_;  // …, in any pass, under one of an iteration's own
  std::vector<values::Slot*> carries_;                    // and one with a graph
  values::Unknown* carried_ = nullptr;
  std::vector<std::pair<values::Slot*, Value>>
      ends_;  // what the last iteration that was looked at left in what was there before it
  std::optional<Speculation> last_;  // the iteration that is run for good
  std::optional<LoopTarget> target_;
  std::size_t iteration_begin_ = 0;  // in the record
};

// Runs an iteration from the loop's head.
Flow LoopRunner::Fixpoint::run_once(const Speculation& from, Block& into, bool look) {
  const values::Mark mark = from.mark();
  run_.block_ = &into;
  target_.emplace(LoopTarget{mark, mark, from.depth(), {}, {}});
  run_.frame_->loops.push_back(&*target_);
  keyed_begin_ = run_.loops_->keyed_.size();
  const Flow flow = run_.loops_->run_iteration(*target_, iteration_, true);
  run_.frame_->loops.pop_back();
  run_.killed_ = false;
  run_.block_ = block_;
  keyed_.clear();
  for (std::size_t i = keyed_begin_; i < run_.loops_->keyed_.size(); ++i) {
    const KeyedItem& each = run_.loops_->keyed_[i];
    keyed_.insert(each.slot);
    if (is_made_since(run_.symbols(), each.of->items[each.item].first, began_))
      of_iteration_.insert(each.slot);
  }
  ends_.clear();
  if (!look) return flow;
  for (const auto& [slot, base] : heap().written(mark))
    if (base && slot->birth <= mark.clock) {
      // Taking the iteration back takes back what became of a tensor made in it.
      Value end = slot->value;
      if (end.is(Kind::tensor) && end.as<values::Tensor>()->state.birth > mark.clock) {
        const auto* made = end.as<values::Tensor>();
        end = heap().tensor(*made->now(), made->born);
        end.as<values::Tensor>()->role = made->role;
      }
      ends_.push_back({slot, end});
      if (has_graph(slot->value)) carries_.push_back(slot);
      if (has_history(slot->value))
        histories_.insert(slot);
      else
        histories_.erase(slot);
    }
  return flow;
}

// An object of the library that is made anew now and then, `if unfrozen: loader = DataLoader(…,
// sampler=sampler)`: one that has what all of them have. Absent: they are none, or of several classes, or
// what they are is who they are, as of modules and of what changes by its methods.
static Value either_object(Interpreter& run, Value before, Value end) {
  const auto is_plain = [&](Value value) {
    const auto* object = value.is(Kind::instance) ? value.as<values::Instance>() : nullptr;
    return object && !object->cls && object->native && object->native->row &&
        (object->native->row->operation == values::Operation::loader_made ||
            object->native->row->operation == values::Operation::none) &&
        !run.is_a(value, run.library().types().module);
  };
  std::vector<Value> all = {before};
  const std::function<bool(Value, int)> collect = [&](Value value, int depth) {
    value = run.resolve(value);
    if (value.is(Kind::choice) && depth < values::most_choices)
      return collect(value.as<values::Choice>()->yes, depth + 1) &&
          collect(value.as<values::Choice>()->no, depth + 1);
    if (std::ranges::find(all, value) == all.end()) all.push_back(value);
    return is_plain(value) && value.as<values::Instance>()->native == before.as<values::Instance>()->native;
  };
  if (!is_plain(before) || !collect(end, 0) || all.size() == 1) return {};
  const auto& first = *before.as<values::Instance>();
  auto* made = run.heap().make<values::Instance>();
  made->native = first.native;
  made->born = first.born;
  made->open = true;
  for (const auto& [name, slot] : first.attributes.entries()) {
    Value held = slot->value;
    for (const Value& other : all) {
      const Value there = other.as<values::Instance>()->attributes.value(name);
      if (held && !(there == held))
        held = there && !values::is_kept(name.text())
            ? run.heap().join_states(held, there, nullptr, values::Sharing::uniform)
            : Value{};
    }
    if (held) run.heap().slot_of(made->attributes, name).value = held;
  }
  return Value::of(Kind::instance, made);
}

// The iteration is taken back: nothing asks for the keys that it made any more.
void LoopRunner::Fixpoint::forget_keys() {
  for (std::size_t i = keyed_begin_; i < run_.loops_->keyed_.size(); ++i)
    if (const KeyedItem& each = run_.loops_->keyed_[i]; of_iteration_.contains(each.slot))
      each.of->items[each.item].first = {};
}

// Makes the head's state one that holds at the end of the iteration, too; false: it was.
bool LoopRunner::Fixpoint::widen(values::Mark mark, bool to_unknown) {
  bool changed = false;
  for (const auto& [slot, left] : ends_) {
    const Value before = slot->value;
    Value end = run_.loops_->without_made(left, mark.clock);
    const auto* later = begun_otherwise(before);
    if (later) end = where_begun(run_, end, *later, run_.symbols().boolean(true));
    // A key that no iteration had before is one of this iteration: `d[i] = x`. No other asks for it.
    const bool of_iteration = before.is(Kind::unknown) &&
        (of_iteration_.contains(slot) || (to_unknown && keyed_.contains(slot)));
    if ((widened_.contains(slot) && run_.loops_->covers(later ? later->yes : before, end)) ||
        only_poisoned(before, end) || of_iteration)
      continue;
    const bool begins = !later && begins_otherwise(before, end);
    Value wide = begins ? end : either_object(run_, later ? later->yes : before, end);
    if (!wide) wide = heap().join_states(later ? later->yes : before, end, nullptr, carried_sharing_);
    wide = without_own_sizes(heap(), as_of_several(run_, before, wide, mark.clock));
    if (wide == (later ? later->yes : before)) continue;
    if (later || begins)
      wide = heap().choose(later ? later->condition : run_.symbols().opaque({}, carried_sharing_), wide,
          later ? later->no : before);
    forgive(heap(), before, wide);
    if (run_.loops_->building() && (wide.is(Kind::integer) || wide.is(Kind::unknown)))
      wide = run_.loops_->any_of_wide(wide);
    if (to_unknown && !wide.is(Kind::state))
      wide = heap().unknown("", symbolic::mix(carried_sharing_, heap().sharing(wide)));
    heap().set(*slot, wide);
    settled_ = settled_ && !decides_no_more(run_.symbols(), before, wide) &&
        is_settled(run_.symbols(), wide, end, mark.clock);
    widened_.insert(slot);
    changed = true;
  }
  return changed;
}

// True: the head's state holds for every iteration.
bool LoopRunner::Fixpoint::dry_run(bool first, bool to_unknown) {
  Block scratch;
  ++run_.dry_runs_;
  Speculation trial(run_, Speculation::Of::trial);
  if (run_.dry_runs_ == 1) run_.loops_->foreseen_.begin_dry_run(trial.mark(), run_.path_.size());
  run_once(trial, scratch, true);
  trial.discard();
  forget_keys();
  if (--run_.dry_runs_ == 0) run_.loops_->foreseen_.end_dry_run();
  if (first && run_.dry_runs_ == 0) failures_of_first_iteration(scratch, failures_);
  return !widen(trial.mark(), to_unknown) || !run_.step();
}

Flow LoopRunner::Fixpoint::run_for_good(bool look) {
  const bool told = run_.dry_runs_ == 0;
  if (run_.limits_.as_rank && told && shape_.length && !run_.symbols().value(shape_.length))
    event_->counts = run_.loops_->iteration_counts(shape_.length);
  if (told)
    for (values::Slot* slot : carries_) {
      run_.noted_->mark_earlier(slot->value);
      if (!run_.record_.earlier || !histories_.contains(slot)) continue;
      auto* const own = carried_ ? carried_ : heap().make<values::Unknown>();
      if (mark_carried(heap(), run_.record_.earlier, own, slot->value)) carried_ = own;
    }
  event_->iterations.clear();
  Block& into = event_->iterations.emplace_back();
  run_.block_ = &into;
  if (carried_)
    if (OperationEvent* left = run_.noted_->record_implied(
            values::InternalRow::carried, {}, {Value::of(Kind::unknown, carried_)}, {}, {}))
      run_.append(left);
  iteration_begin_ = run_.record_.events.size();
  run_.block_ = block_;
  last_.emplace(run_, Speculation::Of::trial);
  return run_once(*last_, into, look);
}

// Runs an iteration for good. Nothing: it showed that it began with too little, and was taken back; the head
// has what it lacked.
std::optional<Flow> LoopRunner::Fixpoint::try_for_good() {
  const auto known = std::pair(
      std::unordered_set<values::Slot*>(carries_.begin(), carries_.end()), histories_);
  const Flow flow = run_for_good(true);
  const values::Delta left = last_->take();
  const bool knew = histories_ == known.second &&
      std::ranges::all_of(carries_, [&](values::Slot* slot) { return known.first.contains(slot); });
  if (!widen(last_->mark(), false) && knew) {
    last_->become(left);
    return flow;
  }
  last_->include_so_far();  // what was widened
  last_->discard();
  forget_keys();
  return std::nullopt;
}

// Of the iteration that was run in a dry run and taken back.
void LoopRunner::Fixpoint::foresee(values::Mark began) {
  ForeseenChanges::Iteration iteration;
  iteration.began = began.clock;
  if (run_.policy_.looks_for_failures) failures_of_first_iteration(event_->iterations[0], iteration.failures);
  for (const auto& [slot, end] : ends_) {
    // What it stored under a key of its own no other asks for.
    if (slot->value.is(Kind::unknown) && of_iteration_.contains(slot)) continue;
    const bool carries = std::ranges::find(carries_, slot) != carries_.end();
    const Value changed = end == slot->value ? Value{} : run_.loops_->without_made(end, began.clock);
    if (changed || carries || histories_.contains(slot))
      iteration.changes.push_back({slot, changed, carries, histories_.contains(slot)});
  }
  run_.loops_->foreseen_.keep(heap(), shape_, *run_.frame_, run_.path_.size(), std::move(iteration));
}

// The head's state has what an iteration is likely to change. False: that is not known.
bool LoopRunner::Fixpoint::begin_as_foreseen() {
  if (shape_.counted) return false;
  const auto iteration = run_.loops_->foreseen_.of(heap(), shape_, *run_.frame_);
  if (!iteration) return false;
  for (const ForeseenChanges::Change& change : iteration->changes) {
    if (change.end) ends_.push_back({change.slot, change.end});
    if (change.carries) carries_.push_back(change.slot);
    if (change.has_history) histories_.insert(change.slot);
  }
  failures_ = iteration->failures;
  values::Mark began = heap().mark();
  began.clock = iteration->began;
  widen(began, false);
  return true;
}

// A first dry run tells what an iteration changes. Then most iterations hold: the next is run for good, and
// discarded only if it shows that it began with too little. To run the loops inside for good and discard them
// costs more than a second dry run, which finds the same: with loops inside, that goes before, where what was
// widened is likely to change once more. Inside a dry run one iteration is enough, or a loop in loops would
// be run twice as often for each of them: its outcome is thrown away but for what is changed, and that is
// known after it as any iteration may have left it.
//
// Of a loop in a loop the dry run of the latter has told already what an iteration changes: then no dry run
// goes before the one for good.
Flow LoopRunner::Fixpoint::stabilize() {
  if (run_.dry_runs_ > 0) {
    ++run_.loops_->dry_loops_;
    const Flow flow = run_for_good(true);
    const values::Delta left = last_->writes();
    last_->rewind_heap();
    foresee(last_->mark());
    widen(last_->mark(), false);
    last_->include_so_far();
    heap().apply(left);
    return flow;
  }
  const std::uint64_t loops = run_.loops_->dry_loops_;
  if (begin_as_foreseen()) {
    if (const auto flow = try_for_good()) return *flow;
  } else {
    if (dry_run(true, false)) return run_for_good(false);
    if (run_.loops_->dry_loops_ != loops && !settled_ && dry_run(false, false)) return run_for_good(false);
  }
  if (const auto flow = try_for_good()) return *flow;
  for (int pass = 2; pass < most_passes && run_.step() && !dry_run(false, true); ++pass) {}
  return run_for_good(false);
}

// What failed in the first iteration, and not in the one that stands for all.
void LoopRunner::Fixpoint::tell_first_failures(LoopEvent& event) {
  const auto& events = run_.record_.events;
  const auto begin = events.begin() + static_cast<std::ptrdiff_t>(iteration_begin_), end = events.end();
  for (const ProblemEvent* failure : failures_)
    if (std::none_of(begin, end, [&](const auto& other) {
          return other->kind == EventKind::problem && other->place.chunk == failure->place.chunk &&
              other->place.span.begin == failure->place.span.begin &&
              !static_cast<const ProblemEvent&>(*other).guarded &&
              !static_cast<const ProblemEvent&>(*other).assumption;
        }))
      event.iterations[0].events.push_back(failure);
}

Flow LoopRunner::Fixpoint::run() {
  struct Iterations {
    symbolic::Context& symbols;
    const std::uint64_t began;
    const std::size_t first = symbols.atoms_made();
    ~Iterations() { symbols.note_iterations(first, began); }
  } const iterations{run_.symbols(), heap().mark().clock};
  event_ = run_.record_.event<LoopEvent>();
  event_->place = shape_.place;
  event_->calls = run_.site_;
  event_->trips = shape_.trips;
  event_->any_order = shape_.any_order;
  event_->stmt = shape_.stmt;
  event_->length = shape_.length;
  event_->first = shape_.first;

  // A module that a loop around imports runs its loops by itself: what was noted before stays.
  const std::size_t keyed = run_.loops_->keyed_.size();
  std::optional<ForeseenChanges::Outermost> outermost;
  if (run_.generic_depth_ == 0) outermost.emplace(run_.loops_->foreseen_);
  ++run_.generic_depth_;
  Flow flow = stabilize();
  outermost.reset();
  if (--run_.generic_depth_ == 0) run_.loops_->keyed_.resize(keyed);
  tell_first_failures(*event_);
  if (!event_->iterations[0].events.empty()) run_.append(event_);
  last_->forget_path();
  last_->commit();
  // After the loop: no iteration, some iterations, or left by break.
  if (shape_.endless) {
    flow = Flow::dead;
  } else {
    values::Delta left = last_->take();
    part_iterations(run_, left, last_->mark().clock);
    if (flow == Flow::normal) heap().join(last_->mark(), left, nullptr, shape_.trips);
    flow = Flow::normal;
  }
  return run_.merge_exits(*last_, target_->breaks, flow, nullptr, true);
}

void Interpreter::note_keyed(const KeyedItem& item) { loops_->note_keyed(item); }

void LoopRunner::note_keyed(const KeyedItem& item) {
  if (run_.generic_depth_ > 0) keyed_.push_back(item);
}

Flow LoopRunner::run_generic_loop(const LoopShape& shape, const std::function<Flow()>& iteration) {
  return Fixpoint(run_, shape, iteration).run();
}

}  // namespace stepzero::interpreter
