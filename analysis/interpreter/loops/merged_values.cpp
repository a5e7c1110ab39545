// Any one of several objects that were made alike, such as the layers of a model: what they have in common,
// as one object.
#include "interpreter/loops/merged_values.hpp"
#include "interpreter/expressions/iterables.hpp"

#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using values::Kind;

namespace {
constexpr int deepest_equivalent = 10;  // objects in objects: two models that hold themselves end here
constexpr std::size_t most_kinds = 4;   // of objects in one list: two parts of two kinds each
constexpr int most_compared = 2'000;    // parts of two objects

// Are both of one class, and so are the parts that have one name? What an object does with a part goes with
// what the part is: `if self.kind == "full": self.mixer(x, mask)`. Objects whose parts differ are not made
// one of.
bool have_equivalent_parts(
    Interpreter& run, const values::Instance& a, const values::Instance& b, int depth, int& left) {
  if (&a == &b || depth > deepest_equivalent || --left < 0) return true;
  if (a.cls != b.cls || a.native != b.native) return false;
  for (const auto& [name, slot] : a.attributes.entries()) {
    const values::Slot* other = slot->value ? b.attributes.find(name) : nullptr;
    if (!other || !other->value) continue;
    const Value mine = run.resolve(slot->value), theirs = run.resolve(other->value);
    if (mine.is(Kind::instance) && theirs.is(Kind::instance) &&
        !have_equivalent_parts(
            run, *mine.as<values::Instance>(), *theirs.as<values::Instance>(), depth + 1, left))
      return false;
  }
  return true;
}
}  // namespace

// Any one of several values: what holds for each of them.
struct Iterables::AnyOf {
  Interpreter& run;
  std::span<const Value> items;
  int depth;

  Value result();

private:
  Value merged();
  Value of_objects();
  Value of_one_class(std::span<const Value> of);
  Value of_lists();
  Value of_lists_of_any_length();
  Value of_tuples();
  Value of_dicts();
  Value of_tensors();
  Value of_integers();
  template <class Test> bool all(const Test& test) const {
    return std::all_of(items.begin(), items.end(), test);
  }
};

Value Iterables::any_of(std::span<const Value> items, int depth) {
  return AnyOf{run_, items, depth}.result();
}

Value Iterables::AnyOf::result() {
  if (items.size() < 2) return items.empty() ? Value{} : items.front();
  if (all([&](const Value& item) { return item == items.front(); })) return items.front();
  const Kind kind = items.front().kind;
  if (depth > deepest_equivalent || !all([&](const Value& item) { return item.is(kind); })) return merged();
  switch (kind) {
  case Kind::instance: return of_objects();
  case Kind::list: return of_lists();
  case Kind::tuple: return of_tuples();
  case Kind::dict: return of_dicts();
  case Kind::tensor: return of_tensors();
  case Kind::integer: return of_integers();
  default: return merged();
  }
}

Value Iterables::AnyOf::merged() {
  Value any;
  for (const Value& item : items) any = run.heap().merge(any, item, Sharing::uniform);
  return any;
}

Value Iterables::AnyOf::of_objects() {
  std::vector<std::vector<Value>> kinds;
  for (const Value& item : items) {
    const auto* object = item.as<values::Instance>();
    const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const std::vector<Value>& each) {
      int left = most_compared;
      return have_equivalent_parts(run, *each.front().as<values::Instance>(), *object, depth, left);
    });
    if (found != kinds.end())
      found->push_back(item);
    else
      kinds.push_back({item});
  }
  if (kinds.size() > most_kinds) return merged();
  Value any;
  for (const std::vector<Value>& each : kinds) {
    const Value one = of_one_class(each);
    if (!one) return merged();
    any = any ? run.heap().choose(run.symbols().opaque("", Sharing::uniform), any, one) : one;
  }
  return any;
}

// What holds for each of the objects of one class: what differs becomes a number or a tensor that may be any
// of theirs.
Value Iterables::AnyOf::of_one_class(std::span<const Value> of) {
  const auto* first = of.front().as<values::Instance>();
  // The attributes of all, by the names of the first.
  std::vector<std::pair<syntax::Name, std::vector<Value>>> columns;
  for (const auto& [name, slot] : first->attributes.entries()) {
    if (!slot->value) continue;
    std::vector<Value> column;
    for (const Value& item : of) {
      const values::Slot* theirs = item.as<values::Instance>()->attributes.find(name);
      if (!theirs || !theirs->value) return {};
      column.push_back(run.resolve(theirs->value));
    }
    columns.emplace_back(name, std::move(column));
  }
  for (const Value& item : of) {
    std::size_t held = 0;
    for (const auto& [name, slot] : item.as<values::Instance>()->attributes.entries())
      held += slot->value ? 1 : 0;
    if (held != columns.size()) return {};
  }
  if (!run.step(columns.size())) return {};
  auto* made = run.heap().make<values::Instance>();
  made->born = first->born;
  made->cls = first->cls;
  made->native = first->native;
  made->open = std::any_of(
      of.begin(), of.end(), [](const Value& item) { return item.as<values::Instance>()->open; });
  made->name = first->name;
  made->symbolic = first->symbolic;
  made->of_many = true;
  bool same = true;
  for (const auto& [name, column] : columns) {
    const Value any = run.iterables_->any_of(column, depth + 1);
    same = same && any == column.front();
    run.heap().slot_of(made->attributes, name).value = any;  // it is new: no write
  }
  // Nothing tells them apart: the first does for all of them.
  return same ? of.front() : Value::of(Kind::instance, made);
}

Value Iterables::AnyOf::of_lists() {
  const auto kind = items.front().as<values::List>()->kind;
  const auto* first = values::Heap::list_state(items.front());
  for (const Value& item : items) {
    const auto* state = values::Heap::list_state(item);
    if (item.as<values::List>()->kind != kind) return merged();
    if (state->open || state->items.size() != first->items.size()) return of_lists_of_any_length();
  }
  std::vector<Value> parts;
  bool same = true;
  for (std::size_t i = 0; i < first->items.size(); ++i) {
    // Where one stands for all, it need not be looked at again.
    const auto is_as_before = [&](const Value& item) {
      const auto& own = values::Heap::list_state(item)->items;
      return own[i] == own[i - 1];
    };
    if (i > 0 && all(is_as_before)) {
      parts.push_back(parts.back());
      continue;
    }
    std::vector<Value> column;
    for (const Value& item : items) column.push_back(run.resolve(values::Heap::list_state(item)->items[i]));
    parts.push_back(run.iterables_->any_of(column, depth + 1));
    same = same && parts.back() == column.front();
  }
  return same ? items.front() : run.heap().list(std::move(parts), kind);
}

// Each has any number of elements, such as the words of one sentence of many.
Value Iterables::AnyOf::of_lists_of_any_length() {
  constexpr std::size_t most_elements = 256;  // of all lists together: what one more is like is known by then
  std::vector<Value> elements;
  const auto add = [&](Value element) {
    element = run.resolve(element);
    if (std::ranges::find(elements, element) == elements.end()) elements.push_back(element);
  };
  for (const Value& item : items) {
    const auto* state = values::Heap::list_state(item);
    if (state->open && !state->rest) return merged();
    for (const Value& each : state->items) add(each);
    if (state->open) add(state->rest);
    if (elements.size() > most_elements) return merged();
  }
  if (elements.empty() || !run.step(elements.size())) return merged();
  return run.heap().open_list(
      run.iterables_->any_of(elements, depth + 1), nullptr, items.front().as<values::List>()->kind);
}

Value Iterables::AnyOf::of_tuples() {
  const auto* first = items.front().as<values::Tuple>();
  const auto is_like_first = [&](const Value& item) {
    const auto* tuple = item.as<values::Tuple>();
    return tuple->cls == first->cls && tuple->items.size() == first->items.size() && !tuple->shape_of &&
        !tuple->seen_through;
  };
  if (!all(is_like_first) || !run.step(items.size())) return merged();
  std::vector<Value> parts;
  for (std::size_t i = 0; i < first->items.size(); ++i) {
    std::vector<Value> column;
    for (const Value& item : items) column.push_back(run.resolve(item.as<values::Tuple>()->items[i]));
    parts.push_back(run.iterables_->any_of(column, depth + 1));
  }
  const Value made = run.heap().tuple(std::move(parts));
  made.as<values::Tuple>()->fields = first->fields;
  made.as<values::Tuple>()->cls = first->cls;
  return made;
}

Value Iterables::AnyOf::of_dicts() {
  const auto* first = values::Heap::dict_state(items.front());
  const auto like_first = [&](const Value& item) {
    const auto* state = values::Heap::dict_state(item);
    return !state->open && state->items.size() == first->items.size() &&
        std::equal(state->items.begin(), state->items.end(), first->items.begin(),
            [&](const auto& a, const auto& b) {
              return a.first == b.first || run.same_key(a.first, b.first);
            });
  };
  if (!all(like_first)) return merged();
  std::vector<std::pair<Value, Value>> parts;
  for (std::size_t i = 0; i < first->items.size(); ++i) {
    std::vector<Value> column;
    for (const Value& item : items)
      column.push_back(run.resolve(values::Heap::dict_state(item)->items[i].second));
    parts.push_back({first->items[i].first, run.iterables_->any_of(column, depth + 1)});
  }
  return run.heap().dict(std::move(parts));
}

Value Iterables::AnyOf::of_tensors() {
  const values::TensorRole role = items.front().as<values::Tensor>()->role;
  const auto* first = items.front().as<values::Tensor>()->now();
  const bool equivalent = all([&](const Value& item) {
    const auto* state = item.as<values::Tensor>()->now();
    return item.as<values::Tensor>()->role == role && state->shape.ndim_known &&
        values::same_shape(state->shape, first->shape) && state->dtype == first->dtype &&
        state->device == first->device && state->requires_grad == first->requires_grad &&
        state->content == first->content;
  });
  // Parameters of the same kind: it does not matter whose.
  if (equivalent && role != values::TensorRole::plain && depth > 0) return items.front();
  const Value any = merged();
  if (any.is(Kind::tensor)) any.as<values::Tensor>()->role = role;
  return any;
}

Value Iterables::AnyOf::of_integers() {
  symbolic::AtomInfo info;
  info.sharing = Sharing::uniform;
  for (const Value& item : items) {
    const auto low = run.symbols().lower(item.integer()), high = run.symbols().upper(item.integer());
    if (!low || !high) return merged();
    info.lower = info.lower ? std::min(*info.lower, *low) : *low;
    info.upper = info.upper ? std::max(*info.upper, *high) : *high;
    info.sharing = symbolic::mix(info.sharing, run.symbols().sharing(item.integer()));
  }
  return Value::of(run.symbols().fresh(info));
}

namespace {
// Is nothing known of the one that is known to be otherwise of the other?
bool may_be_equal(const values::TensorState& a, const values::TensorState& b) {
  if (a.shape.ndim_known && b.shape.ndim_known) return false;  // of these all is known that need be
  const auto rank = [](const values::TensorState& one) { return one.shape.dims.size(); };
  if ((a.shape.ndim_known && rank(a) < rank(b)) || (b.shape.ndim_known && rank(b) < rank(a))) return false;
  for (std::size_t i = 1; i <= std::min(rank(a), rank(b)); ++i) {
    const auto *left = a.shape.dims[rank(a) - i].size, *right = b.shape.dims[rank(b) - i].size;
    if (left && right && left != right) return false;
  }
  return a.dtype == b.dtype || a.dtype == values::Dtype::unknown || b.dtype == values::Dtype::unknown;
}

// A tensor that another of unknown rank was made from, with as many dimensions: see
// libraries/torch/meaning/ranks.cpp.
struct Ancestor {
  Value tensor;
  std::int64_t differing = 0, over = 0;
};
std::vector<Ancestor> ancestors(values::Heap& heap, Value tensor) {
  constexpr std::size_t most = 32;  // tensors back: an iteration computes few of its own
  std::vector<Ancestor> found;
  Ancestor at{tensor};
  while (found.size() < most) {
    if (at.tensor.is(Kind::unknown)) at.tensor = at.tensor.as<values::Unknown>()->state.value;
    if (!at.tensor.is(Kind::tensor) || !at.tensor.as<values::Tensor>()->now()->shape_value.is(Kind::unknown))
      break;
    const auto& kept = at.tensor.as<values::Tensor>()->now()->shape_value.as<values::Unknown>()->attributes;
    const auto number = [&](std::string_view name) {
      const Value value = kept.value(syntax::Name(name));
      return value.is(Kind::integer) ? heap.symbols().value(value.integer()).value_or(0) : 0;
    };
    const Value source = kept.value(syntax::Name(values::NdimState::from));
    if (!source || number(values::NdimState::added) != 0) break;
    at = {source, std::max(at.differing, number(values::NdimState::differing)),
        std::max(at.over, number(values::NdimState::over))};
    found.push_back(at);
  }
  return found;
}
}  // namespace

Value one_for_both(values::Heap& heap, Value choice) {
  if (choice.is(Kind::tuple)) {
    const auto* tuple = choice.as<values::Tuple>();
    std::vector<Value> items;
    items.reserve(tuple->items.size());
    for (const Value& item : tuple->items)
      items.push_back(item.is(Kind::choice) ? one_for_both(heap, item) : item);
    if (items == tuple->items) return choice;
    const Value made = heap.tuple(std::move(items));
    made.as<values::Tuple>()->cls = tuple->cls;
    made.as<values::Tuple>()->fields = tuple->fields;
    return made;
  }
  if (!choice.is(Kind::choice)) return choice;
  const auto* either = choice.as<values::Choice>();
  const Value yes = one_for_both(heap, either->yes), no = one_for_both(heap, either->no);
  if (!yes.is(Kind::tensor) || !no.is(Kind::tensor)) return choice;
  const auto *a = yes.as<values::Tensor>(), *b = no.as<values::Tensor>();
  if (a->role != values::TensorRole::plain || b->role != values::TensorRole::plain ||
      !may_be_equal(*a->now(), *b->now()))
    return choice;
  values::TensorState both = *heap.join_states(
                                      a->state.value, b->state.value, either->condition, Sharing::uniform)
                                  .as<values::TensorState>();
  both.shape_value = {};
  const Value made = heap.tensor(both, a->born);
  // What both were made from is what it is made from.
  const std::vector<Ancestor> mine = ancestors(heap, yes), theirs = ancestors(heap, no);
  for (const Ancestor& one : mine) {
    const auto same = std::find_if(
        theirs.begin(), theirs.end(), [&](const Ancestor& other) { return other.tensor == one.tensor; });
    if (same == theirs.end()) continue;
    const Value shape = heap.unknown_from({made});
    auto* unknown = shape.as<values::Unknown>();
    unknown->shape_of = made;
    const auto keep = [&](std::string_view name, Value value) {
      heap.slot_of(unknown->attributes, syntax::Name(name)).value = value;
    };
    keep(values::NdimState::from, one.tensor);
    keep(values::NdimState::differing, heap.integer(std::max(one.differing, same->differing)));
    keep(values::NdimState::added, heap.integer(0));
    keep(values::NdimState::over, heap.integer(std::max(one.over, same->over)));
    made.as<values::Tensor>()->now()->shape_value = shape;
    break;
  }
  return made;
}

Value without_none(Interpreter& run, Value value) {
  if (!run.policy().optional_is_given || run.guarded()) return value;
  while (value.is(Kind::choice)) {
    const auto* either = value.as<values::Choice>();
    const Value yes = run.resolve(either->yes), no = run.resolve(either->no);
    if (yes.is(Kind::none) == no.is(Kind::none)) break;
    value = yes.is(Kind::none) ? no : yes;
  }
  return value;
}

}  // namespace stepzero::interpreter
