// What a program does with tensors besides computing with them: it keeps them from iteration to iteration,
// shows them, turns them into numbers, reads parts of what it loaded. Recorded as operations whose rows the
// library names with a '$'.
#include "interpreter/calls/noted_events.hpp"

#include "interpreter/calls/unseen.hpp"
#include "values/devices.hpp"
#include "values/internal_rows.hpp"
#include "values/limits.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;
using values::Operation;

namespace {

// Is nothing seen of it by which it has no history: a value that is not seen, a tensor computed from one? Of
// a choice nothing on either way.
bool may_have_history(Value value, int depth = 0) {
  if (value.is(Kind::choice))
    return depth < values::most_choices && may_have_history(value.as<values::Choice>()->yes, depth + 1) &&
        may_have_history(value.as<values::Choice>()->no, depth + 1);
  if (!value.is(Kind::tensor)) return value.is(Kind::unknown);
  const values::TensorState* state = value.as<values::Tensor>()->now();
  return state && state->requires_grad == values::Known::unknown;
}

// The first tensor with a graph, or on a GPU, in a value that is added to a collection: itself, or a part of
// a tuple, list or dict.
Value tensor_in(Interpreter& run, Value value, int depth = 0) {
  value = run.resolve(value);
  constexpr int deepest_traced = 2;      // a tuple of names and losses in a dict
  constexpr std::size_t most_items = 8;  // a tuple of losses and names; of a long list any one tells as much
  const auto among = [&](const std::vector<Value>& items) {
    for (std::size_t i = 0; i < items.size() && i < most_items; ++i)
      if (const Value found = tensor_in(run, items[i], depth + 1)) return found;
    return Value{};
  };
  if (depth > deepest_traced) return {};
  switch (value.kind) {
  case Kind::tensor: {
    const values::TensorState* state = value.as<values::Tensor>()->now();
    return state &&
            ((state->requires_grad != values::Known::no && !state->graph.empty()) ||
                values::is_accelerator(state->device))
        ? value
        : Value{};
  }
  // Whether it is a tensor is seen by what is done with it.
  case Kind::unknown:
    if (const Value tensor = value.as<values::Unknown>()->state.value)
      return tensor_in(run, tensor, depth + 1);
    return comes_from_unseen(*value.as<values::Unknown>()) ||
            values::is_accelerator(computed_on(*value.as<values::Unknown>()))
        ? value
        : Value{};
  // Whichever is chosen, a device for one, it is a tensor with a history.
  case Kind::choice: {
    const Value yes = tensor_in(run, value.as<values::Choice>()->yes, depth),
                no = tensor_in(run, value.as<values::Choice>()->no, depth);
    if (yes && no) return yes;
    // Of what is not seen it is as likely as of the other.
    const Value other = yes ? value.as<values::Choice>()->no : value.as<values::Choice>()->yes;
    return may_have_history(other) ? yes ? yes : no : Value{};
  }
  case Kind::tuple: return among(value.as<values::Tuple>()->items);
  case Kind::list: return among(values::Heap::list_state(value)->items);
  case Kind::dict: {
    std::vector<Value> items;
    for (const auto& [key, item] : values::Heap::dict_state(value)->items) items.push_back(item);
    return among(items);
  }
  default: return {};
  }
}

}  // namespace

bool NotedEvents::in_loop() const {
  for (const Frame* frame = run_.frame_; frame; frame = frame->outer)
    if (!frame->loops.empty()) return true;
  return false;
}

// Some operations are of interest only where they happen again and again, or to tensors.
bool NotedEvents::matters(const Call& called) const {
  switch (called.row.operation) {
  case Operation::host_read:
  case Operation::transfer:
  case Operation::created:
  case Operation::random_number:
  case Operation::viewed:
  case Operation::normalizes_batch: return in_loop();
  default: return true;
  }
}

OperationEvent* NotedEvents::record_implied(
    std::string_view path, Value self, std::vector<Value> arguments, Value result, Place where) {
  const Row* row = run_.library_.find(path);
  if (!row || run_.dry_runs_ > 0) return nullptr;
  auto* event = record_.event<OperationEvent>();
  event->place = where;
  event->calls = run_.site_;
  event->row = row;
  event->self = self;
  event->arguments = std::move(arguments);
  event->result = result;
  event->around = run_.around_;
  const auto state = [](Value value) -> const values::TensorState* {
    return value.is(Kind::tensor) ? value.as<values::Tensor>()->now() : nullptr;
  };
  event->tensors.push_back(state(self));
  for (const Value& argument : event->arguments) event->tensors.push_back(state(argument));
  event->lists.resize(event->arguments.size());
  return event;
}

namespace {
// What a dict holds under the key, of its state as it is or was; absent: nothing that is known.
Value entry_of(Value state, Value key) {
  const auto* dict = state ? state.as<values::DictState>() : nullptr;
  if (!dict) return {};
  for (const auto& [name, item] : dict->items)
    if (name.is(Kind::string) && name.text() == key.text()) return item;
  return {};
}
// The key under which an event has put something into a dict; absent: it is not about one entry.
Value key_of(const OperationEvent& kept) { return kept.arguments.size() > 1 ? kept.arguments[1] : Value{}; }
}  // namespace

// `target = target + operand` is about to happen; without an operand, it has happened.
void NotedEvents::note_assigned(const Expr& target, Value operand, Place where) {
  if (run_.dry_runs_ > 0 || !in_loop() || (operand && !tensor_in(run_, operand))) return;
  // Names and attributes of what they hold, as they are: nothing is run.
  const auto held = [&](const Expr& expr, const auto& again) -> Value {
    if (expr.kind == ExprKind::name) return run_.resolve(run_.lookup(as<NameExpr>(expr).id, expr));
    if (expr.kind != ExprKind::attribute) return {};
    const Value object = again(*as<AttributeExpr>(expr).object, again);
    const values::Slot* slot = object.is(Kind::instance)
        ? object.as<values::Instance>()->attributes.find(as<AttributeExpr>(expr).attribute)
        : nullptr;
    return slot ? run_.resolve(slot->value) : Value{};
  };
  // A tensor with a graph is about to be added to the entry, or has been: as in note_kept, of one entry
  // alone.
  const auto note_entry = [&](const values::Slot& state, Value key) {
    std::vector<LoopTarget*> around;  // the loop that runs, and the one around it
    for (const Frame* frame = run_.frame_; frame; frame = frame->outer)
      for (auto it = frame->loops.rbegin(); it != frame->loops.rend() && around.size() < 2; ++it)
        around.push_back(*it);
    if (!key.is(Kind::string)) return;
    const Value now = entry_of(state.value, key);
    const auto same = [&](const Kept& kept) {
      return kept.slot == &state && key_of(*kept.event) && key_of(*kept.event).text() == key.text();
    };
    const Value tensor = operand ? tensor_in(run_, operand) : Value{};
    for (LoopTarget* loop : around) {
      if (!operand)
        for (Kept& kept : loop->kept)
          if (same(kept) && !kept.content) kept.content = now;
      if (!tensor || !now || state.birth > loop->iteration_mark.clock) continue;
      const auto written = heap().written(loop->iteration_mark);
      const auto first = std::ranges::find(written, &state, [](const auto& each) { return each.first; });
      const bool again = std::ranges::any_of(
          loop->kept, [&](const Kept& kept) { return same(kept) && kept.event->place == where; });
      const bool from_before = first == written.end() || entry_of(first->second, key) == now ||
          std::ranges::any_of(
              loop->kept, [&](const Kept& kept) { return same(kept) && kept.content == now; });
      // What is added besides leaves what was added before where it is.
      for (Kept& kept : loop->kept)
        if (same(kept) && kept.content == now) kept.content = {};
      if (!from_before || again) continue;
      if (OperationEvent* event = record_implied(values::InternalRow::kept, {}, {tensor, key}, {}, where))
        loop->kept.push_back({&state, {}, event});
    }
  };
  const values::Slot* slot = nullptr;
  if (target.kind == ExprKind::name) {
    slot = &run_.variable(as<NameExpr>(target).id);
  } else if (target.kind == ExprKind::attribute) {
    const Value object = held(*as<AttributeExpr>(target).object, held);
    if (object.is(Kind::instance))
      slot = object.as<values::Instance>()->attributes.find(as<AttributeExpr>(target).attribute);
  } else if (target.kind == ExprKind::subscript) {
    const Value object = held(*as<SubscriptExpr>(target).object, held);
    const Expr& index = *as<SubscriptExpr>(target).index;
    // The other entries of the dict are written in each iteration, too.
    if (object.is(Kind::dict) && index.kind == ExprKind::string)
      return note_entry(object.as<values::Dict>()->state, run_.resolve(run_.evaluate(index)));
    if (object.is(Kind::dict))
      slot = &object.as<values::Dict>()->state;
    else if (object.is(Kind::list))
      slot = &object.as<values::List>()->state;
    else if (object.is(Kind::tensor))
      slot = &object.as<values::Tensor>()->state;
  }
  if (slot) note_kept(*slot, operand, where);
}

// A tensor with a graph is about to be added to what lies in the slot; without a tensor, it has been. It has
// to be added to what earlier iterations left there. Whether the next iterations find it is seen at the end
// of the iteration.
void NotedEvents::note_kept(const values::Slot& slot, Value added, Place where) {
  if (run_.dry_runs_ > 0) return;
  // The loop that runs, and the one around it: the inner one may go through a few things that are known.
  LoopTarget *inner = nullptr, *outer = nullptr;
  for (const Frame* frame = run_.frame_; frame && !outer; frame = frame->outer)
    for (auto it = frame->loops.rbegin(); it != frame->loops.rend() && !outer; ++it)
      (inner ? outer : inner) = *it;
  if (!inner) return;
  if (!added) {
    for (LoopTarget* target : {inner, outer})
      if (target)
        for (Kept& kept : target->kept)
          if (kept.slot == &slot && !kept.content) kept.content = slot.value;
    return;
  }
  // What is added besides leaves what was added before where it is. One event for a place: the inner loop
  // comes here again and again.
  bool known = false;
  if (outer)
    for (Kept& kept : outer->kept) {
      if (kept.slot != &slot) continue;
      if (kept.content == slot.value) kept.content = {};
      known = known || kept.event->place == where;
    }
  const Value tensor = tensor_in(run_, added);
  if (!tensor) return;
  const auto from_before = [&](const LoopTarget& target) {
    if (slot.birth > target.iteration_mark.clock) return false;
    if (std::any_of(target.kept.begin(), target.kept.end(),
            [&](const Kept& kept) { return kept.slot == &slot && kept.content == slot.value; }))
      return true;
    const auto written = heap().written(target.iteration_mark);
    return std::none_of(
        written.begin(), written.end(), [&](const auto& entry) { return entry.first == &slot; });
  };
  if (from_before(*inner))
    if (OperationEvent* event = record_implied(values::InternalRow::kept, {}, {tensor}, {}, where))
      inner->kept.push_back({&slot, {}, event});
  if (outer && !known && from_before(*outer))
    if (OperationEvent* event = record_implied(values::InternalRow::kept, {}, {tensor}, {}, where))
      outer->kept.push_back({&slot, {}, event});
}

namespace {
// Is it what one way through the iteration leaves? Of one thing or another, each may be left on a way.
bool may_be(Value left, Value content, int depth = 0) {
  if (left == content) return true;
  if (depth > values::most_choices) return false;
  if (left.is(Kind::choice) &&
      (may_be(left.as<values::Choice>()->yes, content, depth + 1) ||
          may_be(left.as<values::Choice>()->no, content, depth + 1)))
    return true;
  return content.is(Kind::choice) && may_be(left, content.as<values::Choice>()->yes, depth + 1) &&
      may_be(left, content.as<values::Choice>()->no, depth + 1);
}
}  // namespace

// At the end of an iteration. What some iterations begin anew is marked by a third argument; a fourth is the
// condition under which it is added.
void NotedEvents::record_kept(const LoopTarget& target) {
  for (const Kept& each : target.kept) {
    if (!each.content) continue;
    const Value key = key_of(*each.event);
    const Value left = key ? entry_of(each.slot->value, key) : each.slot->value;
    if (left == each.content) {
      if (each.under) {
        OperationEvent& event = *each.event;
        event.arguments.resize(3);
        event.arguments.push_back(Value::of(each.under));
        event.tensors.resize(event.arguments.size() + 1);
        event.lists.resize(event.arguments.size());
      }
      run_.append(each.event);
    } else if (may_be(left, each.content)) {
      OperationEvent& event = *each.event;
      event.arguments.resize(2);
      event.arguments.push_back(heap().boolean(true));
      event.tensors.resize(event.arguments.size() + 1);
      event.lists.resize(event.arguments.size());
      run_.append(&event);
    }
  }
}

// What an iteration leaves in a variable is, in the next one, a tensor of an earlier iteration.
void NotedEvents::mark_earlier(Value value, int depth) {
  if (value.is(Kind::tuple) && depth == 0) {
    for (const Value& item : value.as<values::Tuple>()->items) mark_earlier(item, depth + 1);
    return;
  }
  if (value.is(Kind::choice)) {
    mark_earlier(value.as<values::Choice>()->yes, depth);
    mark_earlier(value.as<values::Choice>()->no, depth);
    return;
  }
  if (!value.is(Kind::tensor) || value.as<values::Tensor>()->role != values::TensorRole::plain) return;
  auto* tensor = value.as<values::Tensor>();
  if (!tensor->now() || tensor->now()->requires_grad == values::Known::no) return;
  if (!record_.earlier) record_.earlier = heap().make<values::Unknown>();
  values::TensorState state = *tensor->now();
  if (state.graph.empty() || state.graph.contains(record_.earlier)) return;
  state.graph.push_back(record_.earlier);
  heap().set(tensor->state, Value::of(Kind::state, heap().state(state)));
}
void NotedEvents::mark_earlier(values::Mark since) {
  for (const auto& [slot, before] : heap().written(since))
    if (slot->birth <= since.clock) mark_earlier(slot->value);
}

// A tensor is printed, formatted or becomes a number.
void NotedEvents::record_read(Value value, Place where) {
  if (run_.dry_runs_ > 0) return;
  value = run_.resolve(value);
  if (value.is(Kind::unknown)) value = value.as<values::Unknown>()->state.value;
  if (value.is(Kind::tensor) && in_loop())
    if (OperationEvent* event = record_implied(values::InternalRow::read, value, {}, {}, where))
      run_.append(event);
}

// Of interest are batches whose size may differ from one to the next.
void Interpreter::note_fit(Int a, Int b, bool broadcasts, Place where) {
  if (!a || !b || a == b || dry_runs_ > 0 || !noted_->in_loop()) return;
  // Of sizes that differ from batch to batch, and what is computed from them.
  if (symbols().sharing(a) < Sharing::local) std::swap(a, b);
  if (symbols().sharing(a) < Sharing::local) return;
  if (OperationEvent* event = noted_->record_implied(
          values::InternalRow::fits, {}, {Value::of(a), Value::of(b), heap().boolean(broadcasts)}, {}, where))
    append(event);
}

void NotedEvents::record_part(values::Unknown& whole, Value key, Value part, Place where) {
  if (!whole.loaded) return;
  if (part.is(Kind::unknown)) part.as<values::Unknown>()->loaded = true;
  if (OperationEvent* event = record_implied(
          values::InternalRow::part, Value::of(Kind::unknown, &whole), {key}, part, where))
    run_.append(event);
}

// x[i], x[:, i]: in a loop over the positions of a dimension.
void NotedEvents::record_picked(Value tensor, Value index, Place where) {
  if (run_.dry_runs_ > 0 || !in_loop()) return;
  Value at = index;
  if (index.is(Kind::tuple))
    for (const Value& item : index.as<values::Tuple>()->items)
      if (const Value one = run_.resolve(item); one.is(Kind::integer)) at = one;
  if (at.is(Kind::integer))
    if (OperationEvent* event = record_implied(values::InternalRow::picked, tensor, {at}, {}, where))
      run_.append(event);
}

// data[i : i + n], where i is the index of a sample: the samples around it have parts in common with it.
void NotedEvents::record_window(Value data, Value index, Place where) {
  if (run_.dry_runs_ > 0 || !index.is(Kind::slice)) return;
  const auto& slice = *index.as<values::SliceObject>();
  const Value lower = run_.resolve(slice.lower), upper = run_.resolve(slice.upper);
  if (!lower.is(Kind::integer) || !upper.is(Kind::integer)) return;
  if (!symbols().is_atom(lower.integer()) || symbols().sharing(lower.integer()) < Sharing::local) return;
  const Int width = symbols().sub(upper.integer(), lower.integer());
  if (symbols().compare(symbolic::Compare::gt, width, symbols().constant(1)) != symbolic::Answer::yes) return;
  if (OperationEvent* event = record_implied(
          values::InternalRow::window, data, {lower, Value::of(width)}, {}, where))
    run_.append(event);
}

void Interpreter::note_gradient_written(Value of, Place where, const Row* by) {
  // An optimizer that the program writes works on gradients, as every other does.
  for (const CallSite* call = site_; call; call = call->outer)
    if (const values::Class* cls = call->function ? call->function->owner : nullptr; cls && cls->native &&
        cls->native->row && cls->native->row->operation == values::Operation::optimizer_made)
      return;
  OperationEvent* event = noted_->note_tensor_set("grad.__set__", of, where);
  if (!event) return;
  event->tensors.resize(1);
  event->by = by;
}

void Interpreter::note_weights_written(Value weights, Value numbers, Place where) {
  OperationEvent* event = noted_->note_tensor_set("data.__set__", weights, where);
  if (!event) return;
  event->arguments = {numbers};
  event->tensors = {weights.as<values::Tensor>()->now(), numbers.as<values::Tensor>()->now()};
}

// As if the attribute of a tensor were assigned to. Null in a run whose events nobody reads.
OperationEvent* NotedEvents::note_tensor_set(std::string_view attribute, Value of, Place where) {
  const Row* row = run_.dry_runs_ > 0 ? nullptr : run_.method_row(run_.library_.types().tensor, attribute);
  if (!row) return nullptr;
  auto* event = record_.event<OperationEvent>();
  event->place = where;
  event->calls = run_.site_;
  event->row = row;
  event->self = run_.resolve(of);
  event->around = run_.around_;
  run_.append(event);
  return event;
}

void Interpreter::note_seed(Value seed, std::optional<Stream> stream, bool partly) {
  Seeds seeds = Seeds::unknown;
  seed = resolve(seed);
  if (seed && !heap().is_unseen(seed))
    seeds = heap().sharing(seed) == Sharing::uniform ? Seeds::same : Seeds::by_rank;
  // The last seed holds, where it is set for certain.
  const bool certain = !partly && path_.empty() && generic_depth_ == 0;
  for (std::size_t i = 0; i < seeds_.size(); ++i)
    if (Seeds& own = seeds_[i]; !stream || i == static_cast<std::size_t>(*stream))
      own = certain || own == Seeds::never || own == seeds ? seeds : Seeds::unknown;
}

}  // namespace stepzero::interpreter
