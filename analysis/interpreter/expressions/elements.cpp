// What lies in things: iterating, and elements.
#include "interpreter/calls/function_calls.hpp"
#include "interpreter/expressions/iterables.hpp"
#include "interpreter/loops/begin_iteration.hpp"
#include "interpreter/loops/each_iteration.hpp"
#include "interpreter/loops/loop_runner.hpp"
#include "interpreter/loops/loop_shape.hpp"
#include "interpreter/statements/contexts.hpp"

#include "interpreter/calls/unseen.hpp"
#include "interpreter/calls/unseen_code.hpp"
#include "interpreter/expressions/unknown_items.hpp"
#include "syntax/spelling.hpp"
#include "values/kept.hpp"

#include <algorithm>
#include <cmath>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

namespace {
constexpr std::size_t most_elements = 1024;  // of a sequence that is read one by one
}  // namespace

// What __next__ gives until it raises StopIteration.
std::optional<std::vector<Value>> Iterables::iterated(Value iterator, Place where) {
  const Value next = run_.find_method(iterator.as<values::Instance>(), Name("__next__"));
  if (!next || iterator.as<values::Instance>()->symbolic) return std::nullopt;
  return until_raised("StopIteration", [&](std::int64_t) { return run_.call(next, {}, where); });
}
// What __getitem__ gives until it raises IndexError: a sequence without __iter__.
std::optional<std::vector<Value>> Iterables::counted(Value sequence, Place where) {
  if (sequence.as<values::Instance>()->symbolic) return std::nullopt;
  const Value item = run_.find_method(sequence.as<values::Instance>(), Name("__getitem__"));
  return until_raised(
      "IndexError", [&](std::int64_t i) { return run_.call(item, {{heap().integer(i)}, {}, false}, where); });
}
std::optional<std::vector<Value>> Iterables::until_raised(
    std::string_view exception, const std::function<Value(std::int64_t)>& next) {
  std::vector<Value> items;
  const std::size_t depth = run_.path_.size();
  const std::uint64_t from = record_.steps;
  ++run_.catching_;
  ++run_.guards_;
  TryTarget target{depth, {heap(), heap().mark()}, false, {}};
  run_.frame_->tries.push_back(&target);
  bool ended = false, certain = true;
  while (!ended && certain) {
    const Value item = next(static_cast<std::int64_t>(items.size()));
    ended = run_.killed_;
    // A conditional end, or an exception of another kind, is beyond this.
    certain = run_.path_.size() == depth && items.size() < most_elements && record_.steps - from < 8'000 &&
        run_.step();
    if (!ended) {
      items.push_back(item);
      certain = certain && target.raises.empty();
    }
  }
  run_.killed_ = false;
  run_.frame_->tries.pop_back();
  --run_.guards_;
  --run_.catching_;
  if (!certain || run_.contexts_->is_instance_of_raised(exception) != symbolic::Answer::yes)
    return std::nullopt;
  return items;
}

Value begin_iteration(Interpreter& run, Value iterable, Place where) {
  iterable = run.resolve(iterable);
  auto* object = iterable.is(Kind::instance) ? iterable.as<values::Instance>() : nullptr;
  if (!object || object->cls || !object->native) return iterable;
  const Row* row = run.method_row(object->native->path, Name("__iter__"));
  return row && row->collective ? run.resolve(run.call(run.find_method(object, Name("__iter__")), {}, where))
                                : iterable;
}

// What lies in a value, one by one; nothing where that is not known of each.
struct Iterables::Elements {
  using Known = std::optional<std::vector<Value>>;

  Interpreter& run;
  Value iterable;  // resolved
  Place where;

  Known result();

private:
  Known of_list();
  Known of_choice();
  Known of_side(Value side);
  Known of_iterator();
  void run_generator();
  Known of_range();
  Known of_keys();
  Known of_text();
  Known of_instance();
  Known of_tensor();
};

std::optional<std::vector<Value>> Interpreter::elements(Value iterable, Place where) {
  const Nested nested(nesting_);
  if (nested.too_deep()) return std::nullopt;
  return Iterables::Elements{*this, resolve(iterable), where}.result();
}

Iterables::Elements::Known Iterables::Elements::result() {
  switch (iterable.kind) {
  case Kind::tuple: return iterable.as<values::Tuple>()->items;
  case Kind::list: return of_list();
  case Kind::choice: return of_choice();
  case Kind::class_:
    return iterable.as<values::Class>()->is_enum ? Known(iterable.as<values::Class>()->members)
                                                 : std::nullopt;
  case Kind::iterator: return of_iterator();
  case Kind::range: return of_range();
  case Kind::dict: return of_keys();
  case Kind::string: return of_text();
  case Kind::instance: return of_instance();
  case Kind::tensor: return of_tensor();
  default: return std::nullopt;
  }
}

Iterables::Elements::Known Iterables::Elements::of_list() {
  const auto* state = values::Heap::list_state(iterable);
  if (state->open) return std::nullopt;
  // In which order a set gives its elements is not known.
  if (iterable.as<values::List>()->kind == values::ListKind::set && state->items.size() > 1)
    return std::nullopt;
  return state->items;
}

// Lists of as many: one by one what the sides have there.
Iterables::Elements::Known Iterables::Elements::of_choice() {
  const auto* choice = iterable.as<values::Choice>();
  const Known yes = of_side(choice->yes), no = yes ? of_side(choice->no) : std::nullopt;
  if (!yes || !no || yes->size() != no->size()) return std::nullopt;
  std::vector<Value> items;
  items.reserve(yes->size());
  for (std::size_t i = 0; i < yes->size(); ++i)
    items.push_back(run.heap().choose(choice->condition, (*yes)[i], (*no)[i]));
  return items;
}

Iterables::Elements::Known Iterables::Elements::of_side(Value side) {
  side = run.resolve(side);
  const bool in_order = side.is(Kind::tuple) ||
      (side.is(Kind::list) && side.as<values::List>()->kind == values::ListKind::list) ||
      side.is(Kind::choice);
  return in_order ? run.elements(side, where) : std::nullopt;
}

Iterables::Elements::Known Iterables::Elements::of_iterator() {
  if (FunctionCalls::is_pending(iterable)) run_generator();
  const auto* state = iterable.as<values::Iterator>()->state.value.as<values::ListState>();
  if (!state || state->open) return std::nullopt;
  return state->items;
}

// What its body yields becomes the state of the iterator.
void Iterables::Elements::run_generator() {
  std::vector<Value> items;
  std::size_t seen = 0;
  const std::size_t depth = run.path_.size();
  bool certain = true;
  std::function<Value(Value)> collect = [&](Value value) {
    // A yield inside a generic loop or a branch comes an unknown number of times.
    certain = certain && run.generic_depth_ == 0 && run.path_.size() == depth;
    if (++seen <= most_elements)
      items.push_back(value);
    else
      certain = false;
    return Value::none();
  };
  const values::Scope* const scope = iterable.as<values::Iterator>()->scope;
  const int generic = std::exchange(run.generic_depth_, 0);
  run.function_calls_->drain(iterable, where, collect);
  run.generic_depth_ = generic;
  // It never comes to its end, which does not keep the program from taking what it yields.
  if (run.killed_ && seen > 0) run.killed_ = certain = false;
  auto* state = run.heap().make<values::ListState>();
  if (certain) {
    state->items = std::move(items);
  } else {
    state->open = true;
    state->rest = run.iterables_->any_of(items);
    if (const Value length = scope ? scope->names.value(yielded_name) : Value{}; length.is(Kind::integer))
      state->length = length.integer();
  }
  run.heap().set(iterable.as<values::Iterator>()->state, Value::of(Kind::state, state));
}

Iterables::Elements::Known Iterables::Elements::of_range() {
  const auto* range = iterable.as<values::Range>();
  const auto start = run.symbols().value(range->start), stop = run.symbols().value(range->stop),
             step_size = run.symbols().value(range->step);
  if (!start || !stop || !step_size || *step_size == 0) return std::nullopt;
  std::vector<Value> items;
  for (std::int64_t i = *start; *step_size > 0 ? i < *stop : i > *stop; i += *step_size) {
    if (items.size() > most_elements) return std::nullopt;
    items.push_back(run.heap().integer(i));
  }
  return items;
}

// A key that is there on some ways only is none that is known.
Iterables::Elements::Known Iterables::Elements::of_keys() {
  const auto* state = values::Heap::dict_state(iterable);
  if (state->open) return std::nullopt;
  std::vector<Value> keys;
  for (const auto& [key, value] : state->items) {
    if (value.is(Kind::choice)) return std::nullopt;
    keys.push_back(key);
  }
  return keys;
}

Iterables::Elements::Known Iterables::Elements::of_text() {
  constexpr std::size_t most_letters = 512;  // of a text that is iterated letter by letter
  if (iterable.text().size() > most_letters ||
      std::ranges::any_of(iterable.text(), [](char c) { return c < 0; }))
    return std::nullopt;
  std::vector<Value> letters;
  for (const char& letter : iterable.text())
    letters.push_back(run.heap().string(std::string_view(&letter, 1)));
  return letters;
}

Iterables::Elements::Known Iterables::Elements::of_instance() {
  auto* object = iterable.as<values::Instance>();
  const values::Slot* items = object->attributes.find(Name(values::ContainerState::items));
  if (const Value method = object->cls || !items ? run.find_method(object, Name("__iter__")) : Value{}) {
    const Value produced = run.resolve(run.call(method, {}, where));
    if (produced.is(Kind::instance)) return run.iterables_->iterated(produced, where);
    return produced == iterable ? std::nullopt : run.elements(produced, where);
  }
  if (items) return run.elements(items->value, where);
  if (object->cls && !object->open &&
      run.find_in_order(object->cls->order, Name("__getitem__")).is(Kind::function))
    return run.iterables_->counted(iterable, where);
  return std::nullopt;
}

// The numbers of a vector, as tensors without a dimension.
Iterables::Elements::Known Iterables::Elements::of_tensor() {
  values::TensorState state = *iterable.as<values::Tensor>()->now();
  const values::Content* content = run.heap().content_of(state);
  if (!content || content->is_scalar) return std::nullopt;
  std::vector<Value> items;
  state.shape.dims.clear();
  state.strides.clear();
  for (const values::Number& number : content->numbers) {
    state.content = run.heap().content(content->dtype, true, {number});
    items.push_back(run.heap().tensor(state, where));
  }
  return items;
}

// A tensor only because something unknown was asked for a method of that name: `f(x).permute(2, 0, 1)`. A
// list of the program's own may hand the method on to all that it holds, and is more often iterated over.
static bool is_presumed(const values::TensorState& state) {
  return state.unseen && state.made && !state.made->arguments.empty() &&
      state.made->arguments[0].is(Kind::unknown) &&
      std::ranges::none_of(state.shape.dims, [](const values::Dim& dim) { return dim.size != nullptr; });
}

// One of many drawn integers: a number between their bounds, another one each time.
const values::Content* Iterables::drawn_of(const values::TensorState& all) {
  const values::Extent* extent = run_.heap().extent_of(all);
  if (!extent || !extent->drawn || !extent->low || !extent->high) return nullptr;
  auto& s = run_.symbols();
  symbolic::AtomInfo info;
  info.lower = s.lower(extent->low);
  info.upper = s.upper(extent->high);
  info.sharing = all.sharing;
  info.varies = run_.loops_->building();
  const Int number = s.fresh(info);
  if (!run_.guarded()) {
    s.assume(s.compared(symbolic::Compare::ge, number, extent->low));
    s.assume(s.compared(symbolic::Compare::le, number, extent->high));
  }
  return run_.heap().content(all.dtype, true, {{number}});
}

Value Interpreter::element(Value iterable, Place where) {
  const Nested nested(nesting_);
  if (nested.too_deep()) return heap().unseen("", where);
  iterable = resolve(iterable);
  switch (iterable.kind) {
  case Kind::list:
  case Kind::iterator: {
    if (iterable.is(Kind::iterator) && FunctionCalls::is_pending(iterable)) elements(iterable, where);
    const auto* state = values::Heap::list_state(iterable);
    if (!state) return heap().unseen("", where);
    std::vector<Value> items = state->items;
    if (state->rest) items.push_back(state->rest);
    for (const Value& item : items) unseen_->open_empty(item);
    const Value any = iterables_->any_of(items);
    return any ? any : heap().unseen("", where);
  }
  case Kind::tuple: {
    for (const Value& item : iterable.as<values::Tuple>()->items) unseen_->open_empty(item);
    const Value any = iterables_->any_of(iterable.as<values::Tuple>()->items);
    return any ? any : heap().unseen("", where);
  }
  case Kind::range: {
    const auto* range = iterable.as<values::Range>();
    symbolic::AtomInfo info;
    info.sharing = symbolic::mix(symbols().sharing(range->start), symbols().sharing(range->step));
    info.varies = loops_->building();
    const auto step_size = symbols().value(range->step);
    if (step_size && *step_size > 0) {
      info.lower = symbols().lower(range->start);
      if (const auto high = symbols().upper(range->stop)) info.upper = *high - 1;
    }
    return Value::of(symbols().fresh(info));
  }
  case Kind::unknown: {
    if (const Value any = iterable.as<values::Unknown>()->element) return one_of_many(any);
    Value made = heap().unknown_from({iterable}, where);
    made.as<values::Unknown>()->of_many = true;
    note_part(heap(), made, *iterable.as<values::Unknown>());
    return made;
  }
  case Kind::choice: {
    const auto* choice = iterable.as<values::Choice>();
    return heap().merge(
        element(choice->yes, where), element(choice->no, where), symbols().sharing(choice->condition));
  }
  case Kind::instance: {
    auto* object = iterable.as<values::Instance>();
    if (const Value both = object->attributes.value(called_each_iteration)) {
      const Value given = resolve(call(both.as<values::Tuple>()->items[0], {}, where));
      return given.is(Kind::none) ? heap().unseen("", where) : given;
    }
    if (const values::Slot* items = object->attributes.find(Name(values::ContainerState::items));
        items && !object->cls)
      return element(items->value, where);
    if (const Value method = find_method(object, Name("__iter__"))) {
      const Value produced = resolve(call(method, {}, where));
      if (!(produced == iterable) && !produced.is(Kind::instance)) return element(produced, where);
      if (const Value next = find_method(object, Name("__next__"))) return call(next, {}, where);
    } else if (const values::Slot* items = object->attributes.find(Name(values::ContainerState::items))) {
      return element(items->value, where);
    }
    return heap().unseen("", where);
  }
  case Kind::tensor: {
    values::TensorState state = *iterable.as<values::Tensor>()->now();
    if (is_presumed(state)) return heap().unseen("", where);
    const bool is_vector = state.shape.ndim_known && state.shape.dims.size() == 1;
    if (state.shape.ndim_known && !state.shape.dims.empty())
      state.shape.dims.erase(state.shape.dims.begin());
    else
      state.shape = {};
    if (!state.first.empty()) state.first.erase(state.first.begin());
    state.content = is_vector ? iterables_->drawn_of(state) : nullptr;
    state.extent = nullptr;
    state.made = nullptr;
    return heap().tensor(state, where);
  }
  case Kind::dict: {
    const auto* state = values::Heap::dict_state(iterable);
    return state->open ? heap().unseen("", where) : heap().unknown("", Sharing::uniform, where);
  }
  default: return heap().unseen("", where);
  }
}

// The places that a slice picks of so many elements; nullopt if its bounds are not known.
std::optional<std::vector<std::int64_t>> Iterables::slice_of(
    std::int64_t size, const values::SliceObject& slice) {
  const auto part = [&](Value value) {
    return run_.resolve(value).is(Kind::none) || !value ? std::optional<std::int64_t>()
                                                        : run_.to_constant(value);
  };
  const auto given = [&](Value value) { return value && !run_.resolve(value).is(Kind::none); };
  const auto by = given(slice.step) ? part(slice.step) : std::optional<std::int64_t>(1);
  if (!by || *by == 0) return std::nullopt;
  const auto bound = [&](Value value, std::int64_t otherwise) -> std::optional<std::int64_t> {
    if (!given(value)) return otherwise;
    auto at = part(value);
    if (!at) return std::nullopt;
    if (*at < 0) *at += size;
    return std::clamp<std::int64_t>(*at, *by > 0 ? 0 : -1, *by > 0 ? size : size - 1);
  };
  const auto from = bound(slice.lower, *by > 0 ? 0 : size - 1), to = bound(slice.upper, *by > 0 ? size : -1);
  if (!from || !to) return std::nullopt;
  std::vector<std::int64_t> places;
  for (std::int64_t i = *from; *by > 0 ? i < *to : i > *to; i += *by) places.push_back(i);
  return places;
}

// How many it picks of so many that are not known.
Int Iterables::length_of_slice(Int size, const values::SliceObject& slice) {
  auto& s = symbols();
  const auto given = [&](Value value) { return value && !run_.resolve(value).is(Kind::none); };
  const auto by = given(slice.step) ? run_.to_constant(slice.step) : std::optional<std::int64_t>(1);
  if (!by || *by <= 0) return nullptr;
  bool known = true;
  const auto bound = [&](Value value, Int otherwise) -> Int {
    if (!given(value)) return otherwise;
    const Int at = run_.to_int(run_.resolve(value));
    if (at && s.lower(at) >= 0) return s.min(at, size);
    const auto constant = at ? s.value(at) : std::nullopt;
    if (constant) return s.max(s.constant(0), s.add(size, at));
    known = false;
    return nullptr;
  };
  const Int from = bound(slice.lower, s.constant(0)), to = bound(slice.upper, size);
  if (!known) return nullptr;
  return s.max(s.constant(0), s.floordiv(s.add(s.sub(to, from), s.constant(*by - 1)), s.constant(*by)));
}

Value Interpreter::any_element(Value iterable, Place where) {
  const std::size_t atoms = symbols().atoms_made();
  const std::uint64_t began = heap().mark().clock;
  const Value any = element(iterable, where);
  symbols().note_iterations(atoms, began);
  return any;
}

// One of the elements that a value stands for: what is learned of this one does not hold for the others.
Value Interpreter::one_of_many(Value element) {
  element = resolve(element);
  switch (element.kind) {
  case Kind::integer:
    return symbols().is_of_iteration(element.integer()) ? Value::of(symbols().another(element.integer()))
                                                        : element;
  case Kind::unknown: {
    const auto* all = element.as<values::Unknown>();
    const Value one = heap().unknown(all->name, all->sharing, all->born);
    auto* made = one.as<values::Unknown>();
    made->of_many = true;
    made->unseen = all->unseen;
    made->is_real = all->is_real;
    made->is_number = all->is_number;
    made->is_gradient = all->is_gradient;
    made->loaded = all->loaded;
    made->poisoned = heap().is_poisoned(element);
    note_another(heap(), one, *all);
    if (const values::Device* device = lies_on(*all)) note_device(heap(), one, *device, false);
    return one;
  }
  case Kind::tensor: {
    const auto* all = element.as<values::Tensor>();
    values::TensorState state = *all->now();
    const bool complete = state.shape.ndim_known &&
        std::ranges::all_of(state.shape.dims, [](const values::Dim& dim) { return dim.size != nullptr; });
    state.shape_value = {};  // what is found out of the one's is not so of another's
    bool own_sizes = false;
    for (values::Dim& dim : state.shape.dims)
      if (symbols().is_of_iteration(dim.size)) {
        dim.size = symbols().another(dim.size);
        own_sizes = true;
      }
    return all->role != values::TensorRole::plain || (complete && !own_sizes)
        ? element
        : heap().tensor(std::move(state), all->born);
  }
  case Kind::tuple: {
    const auto* all = element.as<values::Tuple>();
    std::vector<Value> items;
    items.reserve(all->items.size());
    for (const Value& item : all->items) items.push_back(one_of_many(item));
    const Value one = heap().tuple(std::move(items));
    one.as<values::Tuple>()->fields = all->fields;
    one.as<values::Tuple>()->cls = all->cls;
    return one;
  }
  case Kind::instance: {
    auto* all = element.as<values::Instance>();
    const bool of_library = all->native || (all->cls && all->cls->native);
    if (!of_library) heap().set(heap().slot_of(all->attributes, stands_for_many), heap().boolean(true));
    return element;
  }
  default: return element;
  }
}

}  // namespace stepzero::interpreter
