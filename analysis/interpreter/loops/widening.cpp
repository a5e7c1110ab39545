// The order that widening needs (does one value stand for another?), and one iteration of a loop. Their
// fixpoint is in fixpoint.cpp.
#include "interpreter/calls/noted_events.hpp"
#include "interpreter/loops/loop_runner.hpp"
#include "interpreter/loops/loop_shape.hpp"
#include "interpreter/paths/speculation.hpp"
#include "symbolic/supposition.hpp"
#include "values/devices.hpp"
#include "values/internal_rows.hpp"
#include "values/kept.hpp"
#include "values/limits.hpp"

#include <algorithm>
#include <unordered_set>

namespace stepzero::interpreter {

using syntax::Name;
using values::Kind;

namespace {

// May what follows the block not be come to?
bool leaves(const Block& block) {
  return std::any_of(block.events.begin(), block.events.end(), [](const Event* event) {
    switch (event->kind) {
    case EventKind::exit: return true;
    case EventKind::branch:
      return leaves(static_cast<const BranchEvent*>(event)->yes) ||
          leaves(static_cast<const BranchEvent*>(event)->no);
    case EventKind::call: return leaves(static_cast<const CallEvent*>(event)->body);
    case EventKind::loop: {
      const auto& iterations = static_cast<const LoopEvent*>(event)->iterations;
      return std::any_of(iterations.begin(), iterations.end(), leaves);
    }
    case EventKind::attempt: return true;
    default: return false;
    }
  });
}

// What is said of how it was computed holds of the other, too.
bool covers_history(const values::TensorState& wide, const values::TensorState& state) {
  return (wide.requires_grad == values::Known::unknown || wide.requires_grad == state.requires_grad) &&
      (!wide.outcome || wide.outcome == state.outcome) && (!wide.mean || state.mean) &&
      (!wide.cast_by || wide.cast_by == state.cast_by);
}

}  // namespace

bool has_history(Value value, int depth) {
  switch (value.kind) {
  case Kind::tuple: {
    const auto& items = value.as<values::Tuple>()->items;
    return depth == 0 &&
        std::any_of(items.begin(), items.end(), [](const Value& item) { return has_history(item, 1); });
  }
  case Kind::choice:
    return has_history(value.as<values::Choice>()->yes, depth) &&
        has_history(value.as<values::Choice>()->no, depth);
  case Kind::tensor:
    return value.as<values::Tensor>()->now() &&
        value.as<values::Tensor>()->now()->requires_grad == values::Known::yes;
  default: return false;
  }
}

bool mark_carried(
    values::Heap& heap, const values::Object* earlier, const values::Object* mark, Value value, int depth) {
  if (value.is(Kind::tuple) && depth == 0) {
    bool any = false;
    for (const Value& item : value.as<values::Tuple>()->items)
      any = mark_carried(heap, earlier, mark, item, depth + 1) || any;
    return any;
  }
  if (value.is(Kind::choice)) {
    const auto* choice = value.as<values::Choice>();
    const bool yes = mark_carried(heap, earlier, mark, choice->yes, depth),
               no = mark_carried(heap, earlier, mark, choice->no, depth);
    return yes || no;
  }
  if (!value.is(Kind::tensor) || value.as<values::Tensor>()->role != values::TensorRole::plain) return false;
  auto* tensor = value.as<values::Tensor>();
  if (!tensor->now() || tensor->now()->requires_grad == values::Known::no) return false;
  values::TensorState state = *tensor->now();
  if (!state.graph.contains(earlier)) return false;
  state.graph.push_back(mark);
  heap.set(tensor->state, Value::of(Kind::state, heap.state(state)));
  return true;
}

Value for_an_iteration(values::Heap& heap, Value element, int depth) {
  // What iterations left in a list as one number is another one in each iteration that goes through the list.
  if (element.is(Kind::integer))
    return heap.symbols().is_of_iteration(element.integer())
        ? Value::of(heap.symbols().another(element.integer()))
        : element;
  if (element.is(Kind::tensor)) {
    const auto* tensor = element.as<values::Tensor>();
    const values::TensorState* state = tensor->now();
    if (tensor->role != values::TensorRole::plain || !state->shape.ndim_known ||
        std::ranges::all_of(state->shape.dims, [](const values::Dim& dim) { return dim.size != nullptr; }))
      return element;
    values::TensorState one = *state;
    symbolic::AtomInfo info;
    info.lower = 0;
    info.sharing = state->sharing;
    info.varies = true;
    for (values::Dim& dim : one.shape.dims)
      if (!dim.size) dim.size = heap.symbols().fresh(info);
    return heap.tensor(std::move(one), tensor->born);
  }
  if (!element.is(Kind::tuple) || depth > values::deepest_data) return element;
  const auto* all = element.as<values::Tuple>();
  std::vector<Value> items;
  bool same = true;
  for (const Value& item : all->items) {
    items.push_back(for_an_iteration(heap, item, depth + 1));
    same = same && items.back() == item;
  }
  if (same) return element;
  const Value one = heap.tuple(std::move(items));
  one.as<values::Tuple>()->fields = all->fields;
  one.as<values::Tuple>()->cls = all->cls;
  return one;
}

namespace {
// An operand has one of two values, and the operation takes neither.
void failures_of_both_values(const BranchEvent& branch, std::vector<const ProblemEvent*>& found) {
  const auto failures = [](const Block& side) {
    std::vector<const ProblemEvent*> all;
    for (const Event* event : side.events) {
      const auto* problem = event->kind == EventKind::problem ? static_cast<const ProblemEvent*>(event)
                                                              : nullptr;
      if (problem && !problem->guarded && problem->problem < values::ProblemKind::first_without_failure)
        all.push_back(problem);
    }
    return all;
  };
  const auto others = failures(branch.no);
  for (const ProblemEvent* one : failures(branch.yes))
    if (std::ranges::any_of(others, [&](const ProblemEvent* other) {
          return other->place == one->place && other->problem == one->problem;
        }))
      found.push_back(one);
}
}  // namespace

void failures_of_first_iteration(const Block& block, std::vector<const ProblemEvent*>& found) {
  for (const Event* event : block.events) {
    if (event->kind == EventKind::problem) {
      const auto* problem = static_cast<const ProblemEvent*>(event);
      if (!problem->guarded && !problem->assumption &&
          problem->problem < values::ProblemKind::first_without_failure)
        found.push_back(problem);
    } else if (event->kind == EventKind::call) {
      failures_of_first_iteration(static_cast<const CallEvent*>(event)->body, found);
    } else if (event->kind == EventKind::branch && static_cast<const BranchEvent*>(event)->condition &&
        !static_cast<const BranchEvent*>(event)->stmt) {
      failures_of_both_values(*static_cast<const BranchEvent*>(event), found);
    } else if (event->kind == EventKind::branch || event->kind == EventKind::loop ||
        event->kind == EventKind::attempt) {
      const Block here{{event}};
      if (leaves(here)) return;
    }
  }
}

// The modules that iterations of a loop make and put into a list are not there before the loop is run for
// good: of the list it is known only that there may be more in it.
Value LoopRunner::without_made(Value state, std::uint64_t since) {
  if (!state.is(Kind::state)) return state;
  const auto* list = dynamic_cast<values::ListState*>(state.object());
  if (!list) return state;
  const auto made = [&](Value item) {
    return item.is(Kind::instance) && item.as<values::Instance>()->attributes.birth > since &&
        run_.is_a(item, run_.library_.types().module);
  };
  if (!made(list->rest) && std::none_of(list->items.begin(), list->items.end(), made)) return state;
  auto* other = heap().make<values::ListState>();
  for (const Value& item : list->items)
    if (!made(item)) other->items.push_back(item);
  if (!made(list->rest)) other->rest = list->rest;
  other->open = true;
  return Value::of(Kind::state, other);
}

// A size that each iteration of a loop has its own of.
Value LoopRunner::any_of_wide(Value wide) {
  if (wide.is(Kind::unknown)) {
    wide.as<values::Unknown>()->of_many = true;
    return wide;
  }
  const symbolic::AtomInfo* known = symbols().atom_info(wide.integer());
  if (!known || known->varies) return wide;
  symbolic::AtomInfo info = *known;
  info.varies = true;
  return Value::of(symbols().fresh(info));
}

namespace {
// Is what is noted of the one, that a loader gave it and where it lies, true of the other?
bool has_notes_of(Value wide, Value value) {
  for (const std::string_view name :
      {values::UnknownState::batch, values::UnknownState::lies_on, values::UnknownState::parts_lie_on}) {
    const Value noted = wide.as<values::Unknown>()->attributes.value(Name(name));
    if (!noted) continue;
    const Value other = value.is(Kind::unknown) ? value.as<values::Unknown>()->attributes.value(Name(name))
                                                : Value{};
    if (other.kind != noted.kind ||
        (noted.is(Kind::device) &&
            !values::is_same_device(noted.as<values::Device>(), other.as<values::Device>())))
      return false;
  }
  return true;
}
// What an iterator gives of which nobody knows how far it is; absent: it is none.
Value given_by(Value value) {
  if (!value.is(Kind::list) || value.as<values::List>()->kind != values::ListKind::iterator) return {};
  const auto* state = values::Heap::list_state(value);
  return state->open && state->items.empty() ? state->rest : Value{};
}
bool is_closed_list(Value value) {
  return value.is(Kind::list) && value.as<values::List>()->kind == values::ListKind::list &&
      !values::Heap::list_state(value)->open;
}
bool covers_tensor(const values::TensorState& a, const values::TensorState& b) {
  if (a.dtype != values::Dtype::unknown && a.dtype != b.dtype) return false;
  if (a.content && a.content != b.content) return false;
  if (a.shape.ndim_known && (!b.shape.ndim_known || a.shape.dims.size() != b.shape.dims.size())) return false;
  if (a.shape.dims.size() > b.shape.dims.size()) return false;
  for (std::size_t i = 1; i <= a.shape.dims.size(); ++i) {
    const auto& dim = a.shape.dims[a.shape.dims.size() - i];
    if (dim.size && dim.size != b.shape.dims[b.shape.dims.size() - i].size) return false;
  }
  return a.scaled_by == b.scaled_by && symbolic::mix(a.sharing, b.sharing) == a.sharing &&
      covers_history(a, b);
}
}  // namespace

bool LoopRunner::covers(Value wide, Value value) const {
  if (wide == value) return true;
  if (const Value any = given_by(wide), other = given_by(value); any && other) {
    // Lists that they give are new ones each time.
    const auto* mine = is_closed_list(any) ? values::Heap::list_state(any) : nullptr;
    const auto* theirs = is_closed_list(other) ? values::Heap::list_state(other) : nullptr;
    if (!mine || !theirs || mine->items.size() != theirs->items.size()) return covers(any, other);
    for (std::size_t i = 0; i < mine->items.size(); ++i)
      if (!covers(mine->items[i], theirs->items[i])) return false;
    return true;
  }
  if (wide.is(Kind::unknown)) {
    const Value any = wide.as<values::Unknown>()->element;
    if (!any) return has_notes_of(wide, value);
    if (value.is(Kind::unknown))
      return value.as<values::Unknown>()->element && covers(any, value.as<values::Unknown>()->element);
    if (!value.is(Kind::tuple)) return false;
    const auto& items = value.as<values::Tuple>()->items;
    return std::all_of(items.begin(), items.end(), [&](const Value& item) { return covers(any, item); });
  }
  if (value.is(Kind::choice) && !wide.is(Kind::choice)) {
    const auto* choice = value.as<values::Choice>();
    return choice->yes && choice->no && covers(wide, choice->yes) && covers(wide, choice->no);
  }
  if (wide.is(Kind::list) && wide.as<values::List>()->kind == values::ListKind::tuple) {
    const auto* any = values::Heap::list_state(wide);
    const bool is_open = value.is(Kind::list) && value.as<values::List>()->kind == values::ListKind::tuple;
    if (!any->open || !any->items.empty() || !any->rest || (!is_open && !value.is(Kind::tuple))) return false;
    const auto* state = is_open ? values::Heap::list_state(value) : nullptr;
    const auto& items = state ? state->items : value.as<values::Tuple>()->items;
    return (!state || !state->rest || covers(any->rest, state->rest)) &&
        std::ranges::all_of(items, [&](Value item) { return covers(any->rest, item); });
  }
  if (wide.kind != value.kind) return false;
  switch (wide.kind) {
  case Kind::integer: return record_.symbols.is_atom(wide.integer());
  case Kind::boolean: return record_.symbols.form(wide.condition()) == symbolic::Context::Form::opaque;
  case Kind::string: return wide.text() == value.text();
  case Kind::tensor:
    return covers_tensor(*wide.as<values::Tensor>()->now(), *value.as<values::Tensor>()->now());
  case Kind::instance: {
    const auto *a = wide.as<values::Instance>(), *b = value.as<values::Instance>();
    if (a->cls || b->cls || a->native != b->native) return false;
    if (a->native && a->native->row && a->native->row->operation == values::Operation::loader_made)
      return a->open && std::ranges::all_of(a->attributes.entries(), [&](const auto& entry) {
        const Value there = b->attributes.value(entry.first);
        return entry.second->value == there || (there && covers(entry.second->value, there));
      });
    const values::Slot *mine = a->attributes.find(Name(values::ArrayState::state)),
                       *theirs = b->attributes.find(Name(values::ArrayState::state));
    return mine && theirs && mine->value.is(Kind::tensor) && covers(mine->value, theirs->value);
  }
  case Kind::tuple: {
    const auto& a = wide.as<values::Tuple>()->items;
    const auto& b = value.as<values::Tuple>()->items;
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
      if (!covers(a[i], b[i])) return false;
    return true;
  }
  case Kind::state: return covers_state(wide, value);
  default: return false;
  }
}

bool LoopRunner::covers_state(Value wide, Value value) const {
  const auto* a = dynamic_cast<values::ListState*>(wide.object());
  const auto* b = dynamic_cast<values::ListState*>(value.object());
  // Lists and objects that an iteration makes anew are changed in place, and have states of their own.
  const auto stands_for = [&](Value held, Value item) {
    const bool has_state = held.is(Kind::list) || held.is(Kind::dict) || held.is(Kind::instance);
    return held && ((has_state && held.kind == item.kind) || covers(held, item));
  };
  if (a && b && a->open) return !b->rest || covers(a->rest, b->rest);
  if (a && b)
    return !b->open && a->items.size() == b->items.size() &&
        std::equal(a->items.begin(), a->items.end(), b->items.begin(),
            [&](Value held, Value item) { return held == item || stands_for(held, item); });
  const auto* c = dynamic_cast<values::DictState*>(wide.object());
  const auto* d = dynamic_cast<values::DictState*>(value.object());
  if (c && d) {
    const auto in_rest = [&](Value item) { return c->open && stands_for(c->rest, item); };
    if ((d->open && !c->open) || (d->rest && !in_rest(d->rest))) return false;
    return std::ranges::all_of(d->items, [&](const auto& item) {
      const auto held = std::ranges::find_if(
          c->items, [&](const auto& other) { return run_.same_key(other.first, item.first); });
      return held != c->items.end() ? held->second == item.second || stands_for(held->second, item.second)
                                    : in_rest(item.second);
    });
  }
  const auto* x = dynamic_cast<values::TensorState*>(wide.object());
  const auto* y = dynamic_cast<values::TensorState*>(value.object());
  if (x && y) return covers_history(*x, *y);
  return true;
}

Flow LoopRunner::run_iteration(LoopTarget& target, const std::function<Flow()>& body, bool loose) {
  if (target.iterations++ > 0 && run_.dry_runs_ == 0) {
    run_.noted_->mark_earlier(target.iteration_mark);
    auto* mark = record_.earlier ? heap().make<values::Unknown>() : nullptr;
    bool any = false;
    if (mark)
      for (const auto& [slot, before] : heap().written(target.iteration_mark))
        if (slot->birth <= target.mark.clock && has_history(slot->value))
          any = mark_carried(heap(), record_.earlier, mark, slot->value) || any;
    if (any)
      if (OperationEvent* event = run_.noted_->record_implied(
              values::InternalRow::carried, {}, {Value::of(Kind::unknown, mark)}, {}, {}))
        run_.append(event);
  }
  Speculation begin(run_);
  target.iteration_mark = begin.mark();
  target.kept.clear();
  Flow flow = body();
  if (flow == Flow::normal) run_.noted_->record_kept(target);
  begin.commit();
  return run_.merge_exits(begin, target.continues, flow, nullptr, loose);
}

IterationCounts LoopRunner::iteration_counts(Int length) {
  auto& s = symbols();
  std::map<std::string, Int> sizes;
  bool named = true;
  s.atoms(length, [&](Int atom) {
    const auto* info = s.atom_info(atom);
    named = named && info && !info->name.empty() && !run_.resized_.contains(info->name) &&
        sizes.try_emplace(info->name, atom).first->second == atom;
  });
  if (!named || sizes.empty() || sizes.size() > 2) return {};
  IterationCounts found;
  std::vector<symbolic::Assignment> values;
  for (const auto& [name, atom] : sizes) {
    found.sizes.push_back(name);
    values.push_back({atom, 1});
  }
  const std::int64_t most = IterationCounts::most(sizes.size());
  for (bool more = true; more;) {
    bool possible = true;
    {
      symbolic::Supposition supposed(s);
      for (const auto& [atom, value] : values)
        possible = possible && supposed.assume(s.compared(symbolic::Compare::eq, atom, s.constant(value)));
    }
    for (std::size_t i = 0; possible && i < run_.path_.size(); ++i)
      possible = s.evaluate(run_.path_[i], values) != symbolic::Answer::no;
    const auto iterations = possible ? s.value(s.substitute(length, values)) : std::nullopt;
    found.iterations.push_back(iterations ? *iterations : IterationCounts::never);
    more = false;
    for (std::size_t i = values.size(); i-- > 0 && !more;) {
      more = values[i].value < most;
      values[i].value = more ? values[i].value + 1 : 1;
    }
  }
  return found;
}

}  // namespace stepzero::interpreter
