// What lies in things: iterating, elements, and subscripts.
#include "interpreter/own_calls.hpp"
#include "interpreter/lacking_keys.hpp"
#include "interpreter/each_round.hpp"
#include "interpreter/from_file.hpp"
#include "interpreter/iteration.hpp"
#include "interpreter/rounds.hpp"

#include "interpreter/unknown_items.hpp"
#include "interpreter/unseen.hpp"
#include "syntax/spelling.hpp"
#include "values/kept.hpp"

#include <algorithm>
#include <cmath>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

namespace {
constexpr std::size_t most_elements = 1024;  // of a sequence that is read one by one
} // namespace


// What __next__ gives until it raises StopIteration.
std::optional<std::vector<Value>> Interpreter::iterated(Value iterator, Place where) {
  const Value next = find_method(iterator.as<values::Instance>(), Name("__next__"));
  if (!next || iterator.as<values::Instance>()->symbolic) return std::nullopt;
  return until_raised("StopIteration", [&](std::int64_t) { return call(next, {}, where); });
}
// What __getitem__ gives until it raises IndexError: a sequence without __iter__.
std::optional<std::vector<Value>> Interpreter::counted(Value sequence, Place where) {
  if (sequence.as<values::Instance>()->symbolic) return std::nullopt;
  const Value item = find_method(sequence.as<values::Instance>(), Name("__getitem__"));
  return until_raised("IndexError", [&](std::int64_t i) { return call(item, {{heap().integer(i)}, {}, false}, where); });
}
std::optional<std::vector<Value>> Interpreter::until_raised(std::string_view exception, const std::function<Value(std::int64_t)>& next) {
  std::vector<Value> items;
  const std::size_t depth = path_.size();
  const std::uint64_t from = record_.steps;
  ++catching_;
  ++guards_;
  TryTarget target{heap().mark(), depth, {}};
  frame_->tries.push_back(&target);
  bool ended = false, certain = true;
  while (!ended && certain) {
    const Value item = next(static_cast<std::int64_t>(items.size()));
    ended = killed_;
    // A conditional end, or an exception of another kind, is beyond this.
    certain = path_.size() == depth && items.size() < most_elements && record_.steps - from < 8'000 && step();
    if (!ended) {
      items.push_back(item);
      certain = certain && target.raises.empty();
    }
  }
  killed_ = false;
  frame_->tries.pop_back();
  --guards_;
  --catching_;
  if (!certain || is_instance_of_raised(exception) != symbolic::Answer::yes) return std::nullopt;
  return items;
}

Value begin_iteration(Interpreter& run, Value iterable, Place where) {
  iterable = run.resolve(iterable);
  auto* object = iterable.is(Kind::instance) ? iterable.as<values::Instance>() : nullptr;
  if (!object || object->cls || !object->native) return iterable;
  const Row* row = run.method_row(object->native->path, Name("__iter__"));
  return row && row->collective ? run.resolve(run.call(run.find_method(object, Name("__iter__")), {}, where)) : iterable;
}

std::optional<std::vector<Value>> Interpreter::elements(Value iterable, Place where) {
  const Nested nested(nesting_);
  if (nested.too_deep()) return std::nullopt;
  iterable = resolve(iterable);
  switch (iterable.kind) {
  case Kind::tuple: return iterable.as<values::Tuple>()->items;
  case Kind::list: {
    const auto* state = values::Heap::list_state(iterable);
    if (state->open) return std::nullopt;
    // In which order a set gives its elements is not known.
    if (iterable.as<values::List>()->kind == values::ListKind::set && state->items.size() > 1) return std::nullopt;
    return state->items;
  }
  case Kind::choice: {
    // Lists of as many: one by one what the sides have there.
    const auto* choice = iterable.as<values::Choice>();
    const auto of = [&](Value side) {
      side = resolve(side);
      return side.is(Kind::tuple) || (side.is(Kind::list) && side.as<values::List>()->kind == values::ListKind::list) || side.is(Kind::choice) ? elements(side, where) : std::nullopt;
    };
    const auto yes = of(choice->yes), no = yes ? of(choice->no) : std::nullopt;
    if (!yes || !no || yes->size() != no->size()) return std::nullopt;
    std::vector<Value> items;
    for (std::size_t i = 0; i < yes->size(); ++i) items.push_back(heap().choose(choice->condition, (*yes)[i], (*no)[i]));
    return items;
  }
  case Kind::class_:
    if (iterable.as<values::Class>()->is_enum) return iterable.as<values::Class>()->members;
    return std::nullopt;
  case Kind::iterator: {
    if (is_pending(iterable)) {
      std::vector<Value> items;
      std::size_t seen = 0;
      const std::size_t depth = path_.size();
      bool certain = true;
      std::function<Value(Value)> collect = [&](Value value) {
        // A yield inside a generic loop or a branch comes an unknown number of times.
        certain = certain && generic_depth_ == 0 && path_.size() == depth;
        if (++seen <= most_elements) items.push_back(value);
        else certain = false;
        return Value::none();
      };
      const int generic = generic_depth_;
      const values::Scope* const scope = iterable.as<values::Iterator>()->scope;
      generic_depth_ = 0;
      drain(iterable, where, collect);
      generic_depth_ = generic;
      // It never comes to its end, which does not keep the program from taking what it yields.
      if (killed_ && seen > 0) {
        killed_ = false;
        certain = false;
      }
      values::ListState state;
      if (certain) {
        state.items = std::move(items);
      } else {
        state.open = true;
        state.rest = any_of(items);
        if (const Value length = scope ? scope->names.value(yielded_name) : Value{}; length.is(Kind::integer)) state.length = length.integer();
      }
      auto* made = heap().make<values::ListState>();
      *made = state;
      heap().set(iterable.as<values::Iterator>()->state, Value::of(Kind::state, made));
    }
    const auto* state = iterable.as<values::Iterator>()->state.value.as<values::ListState>();
    if (!state || state->open) return std::nullopt;
    return state->items;
  }
  case Kind::range: {
    const auto* range = iterable.as<values::Range>();
    const auto start = symbols().value(range->start), stop = symbols().value(range->stop), step_size = symbols().value(range->step);
    if (!start || !stop || !step_size || *step_size == 0) return std::nullopt;
    std::vector<Value> items;
    for (std::int64_t i = *start; *step_size > 0 ? i < *stop : i > *stop; i += *step_size) {
      if (items.size() > most_elements) return std::nullopt;
      items.push_back(heap().integer(i));
    }
    return items;
  }
  case Kind::dict: {
    const auto* state = values::Heap::dict_state(iterable);
    if (state->open) return std::nullopt;
    std::vector<Value> keys;
    for (const auto& [key, value] : state->items) {
      if (value.is(Kind::choice)) return std::nullopt;
      keys.push_back(key);
    }
    return keys;
  }
  case Kind::string: {
    std::vector<Value> letters;
    if (iterable.text().size() > 512 || std::any_of(iterable.text().begin(), iterable.text().end(), [](char c) { return c < 0; })) return std::nullopt;
    for (const char& letter : iterable.text()) letters.push_back(heap().string(std::string_view(&letter, 1)));
    return letters;
  }
  case Kind::instance: {
    auto* object = iterable.as<values::Instance>();
    if (const Value method = object->cls || !object->attributes.find(Name(values::ContainerState::items)) ? find_method(object, Name("__iter__")) : Value{}) {
      const Value produced = resolve(call(method, {}, where));
      if (!(produced == iterable) && !produced.is(Kind::instance)) return elements(produced, where);
      if (produced.is(Kind::instance)) return iterated(produced, where);
      return std::nullopt;
    }
    if (const values::Slot* items = object->attributes.find(Name(values::ContainerState::items))) return elements(items->value, where);
    if (object->cls && !object->open && find_in_order(object->cls->order, Name("__getitem__")).is(Kind::function)) return counted(iterable, where);
    return std::nullopt;
  }
  case Kind::tensor: {
    values::TensorState state = *iterable.as<values::Tensor>()->now();
    const values::Content* content = heap().content_of(state);
    if (!content || content->is_scalar) return std::nullopt;
    std::vector<Value> items;
    state.shape.dims.clear();
    state.strides.clear();
    for (const values::Number& number : content->numbers) {
      state.content = heap().content(content->dtype, true, {number});
      items.push_back(heap().tensor(state, where));
    }
    return items;
  }
  default: return std::nullopt;
  }
}

// A tensor only because something unknown was asked for a method of that name: `f(x).permute(2, 0, 1)`. A list of the program's own may hand
// the method on to all that it holds, and is more often iterated over.
static bool is_presumed(const values::TensorState& state) {
  return state.external && state.made && !state.made->arguments.empty() && state.made->arguments[0].is(Kind::unknown) &&
         std::ranges::none_of(state.shape.dims, [](const values::Dim& dim) { return dim.size != nullptr; });
}

Value Interpreter::element(Value iterable, Place where) {
  const Nested nested(nesting_);
  if (nested.too_deep()) return heap().external("", where);
  iterable = resolve(iterable);
  switch (iterable.kind) {
  case Kind::list:
  case Kind::iterator: {
    if (iterable.is(Kind::iterator) && is_pending(iterable)) elements(iterable, where);
    const auto* state = values::Heap::list_state(iterable);
    if (!state) return heap().external("", where);
    std::vector<Value> items = state->items;
    if (state->rest) items.push_back(state->rest);
    for (const Value& item : items) open_empty(item);
    const Value any = any_of(items);
    return any ? any : heap().external("", where);
  }
  case Kind::tuple: {
    for (const Value& item : iterable.as<values::Tuple>()->items) open_empty(item);
    const Value any = any_of(iterable.as<values::Tuple>()->items);
    return any ? any : heap().external("", where);
  }
  case Kind::range: {
    const auto* range = iterable.as<values::Range>();
    symbolic::AtomInfo info;
    info.sharing = symbolic::mix(symbols().sharing(range->start), symbols().sharing(range->step));
    info.varies = building();
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
    return heap().merge(element(choice->yes, where), element(choice->no, where), symbols().sharing(choice->condition));
  }
  case Kind::instance: {
    auto* object = iterable.as<values::Instance>();
    if (const Value function = object->attributes.value(called_each_round)) {
      const Value given = resolve(call(function, {}, where));
      return given.is(Kind::none) ? heap().external("", where) : given;
    }
    if (const values::Slot* items = object->attributes.find(Name(values::ContainerState::items)); items && !object->cls) return element(items->value, where);
    if (const Value method = find_method(object, Name("__iter__"))) {
      const Value produced = resolve(call(method, {}, where));
      if (!(produced == iterable) && !produced.is(Kind::instance)) return element(produced, where);
      if (const Value next = find_method(object, Name("__next__"))) return call(next, {}, where);
    } else if (const values::Slot* items = object->attributes.find(Name(values::ContainerState::items))) {
      return element(items->value, where);
    }
    return heap().external("", where);
  }
  case Kind::tensor: {
    values::TensorState state = *iterable.as<values::Tensor>()->now();
    if (is_presumed(state)) return heap().external("", where);
    if (state.shape.rank_known && !state.shape.dims.empty()) state.shape.dims.erase(state.shape.dims.begin());
    else state.shape = {};
    state.content = nullptr;
    state.extent = nullptr;
    state.made = nullptr;
    return heap().tensor(state, where);
  }
  case Kind::dict: {
    const auto* state = values::Heap::dict_state(iterable);
    return state->open ? heap().external("", where) : heap().unknown("", Sharing::uniform, where);
  }
  default: return heap().external("", where);
  }
}

// The places that a slice picks of so many elements; nullopt if its bounds are not known.
std::optional<std::vector<std::int64_t>> Interpreter::slice_of(std::int64_t size, const values::SliceObject& slice) {
  const auto part = [&](Value value) { return resolve(value).is(Kind::none) || !value ? std::optional<std::int64_t>() : to_constant(value); };
  const auto given = [&](Value value) { return value && !resolve(value).is(Kind::none); };
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
Int Interpreter::length_of_slice(Int size, const values::SliceObject& slice) {
  auto& s = symbols();
  const auto given = [&](Value value) { return value && !resolve(value).is(Kind::none); };
  const auto by = given(slice.step) ? to_constant(slice.step) : std::optional<std::int64_t>(1);
  if (!by || *by <= 0) return nullptr;
  bool known = true;
  const auto bound = [&](Value value, Int otherwise) -> Int {
    if (!given(value)) return otherwise;
    const Int at = to_int(resolve(value));
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
  symbols().note_rounds(atoms, began);
  return any;
}

// One of the elements that a value stands for: what is learned of this one does not hold for the others.
Value Interpreter::one_of_many(Value element) {
  element = resolve(element);
  switch (element.kind) {
  case Kind::integer: return symbols().is_of_round(element.integer()) ? Value::of(symbols().another(element.integer())) : element;
  case Kind::unknown: {
    const auto* all = element.as<values::Unknown>();
    const Value one = heap().unknown(all->name, all->sharing, all->born);
    auto* made = one.as<values::Unknown>();
    made->of_many = true;
    made->external = all->external;
    made->is_real = all->is_real;
    made->is_number = all->is_number;
    made->is_gradient = all->is_gradient;
    made->loaded = all->loaded;
    made->blamed = heap().is_blamed(element);
    return one;
  }
  case Kind::tensor: {
    const auto* all = element.as<values::Tensor>();
    values::TensorState state = *all->now();
    const bool complete = state.shape.rank_known && std::ranges::all_of(state.shape.dims, [](const values::Dim& dim) { return dim.size != nullptr; });
    state.shape_value = {};  // what is found out of the one's is not so of another's
    bool own_sizes = false;
    for (values::Dim& dim : state.shape.dims)
      if (symbols().is_of_round(dim.size)) {
        dim.size = symbols().another(dim.size);
        own_sizes = true;
      }
    return all->role != values::TensorRole::plain || (complete && !own_sizes) ? element : heap().tensor(std::move(state), all->born);
  }
  case Kind::tuple: {
    const auto* all = element.as<values::Tuple>();
    std::vector<Value> items;
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

// Data of which the rank chooses a part are each rank's own: `x.chunk(world)[rank]`.
static Value chosen_by(Interpreter& run, Value item, Value index, Place where) {
  item = run.resolve(item);
  if (!item.is(Kind::tensor) || item.as<values::Tensor>()->role != values::TensorRole::plain) return item;
  values::TensorState state = *item.as<values::Tensor>()->now();
  const Sharing mixed = symbolic::mix(state.sharing, run.heap().sharing(run.resolve(index)));
  if (mixed == state.sharing || state.requires_grad == values::Known::yes) return item;
  state.sharing = mixed;
  return run.heap().tensor(std::move(state), where);
}

namespace {

// A key that the file has not from which the dict was read. False: it may be there.
bool tell_missing_key(Interpreter& run, const Library& library, Value dict, Value key, Place where) {
  const values::Instance* file = file_of(*dict.as<values::Dict>());
  const auto* state = values::Heap::dict_state(dict);
  if (!file || state->open || !key.is(Kind::string)) return false;
  std::string_view meant;
  std::size_t least = 3;
  for (const auto& [known, value] : state->items) {
    if (!known.is(Kind::string) || known.text() == key.text()) return false;
    if (const std::size_t apart = letters_between(key.text(), known.text()); apart < least && apart < known.text().size() / 2 + 1) meant = known.text(), least = apart;
  }
  const auto text = [&](std::string_view name) {
    const values::Slot* slot = file->attributes.find(Name(name));
    return slot && slot->value.is(Kind::string) ? std::string(slot->value.text()) : std::string();
  };
  const std::string within = text("$within");
  ProblemEvent* event = run.problem_at(values::ProblemKind::undeclared, where, nullptr,
                                       "`" + text("$path") + "` has no key `" + std::string(key.text()) + "`" + (within.empty() ? "" : " in `" + within + "`") + ": KeyError" + (meant.empty() ? "" : ". It has `" + std::string(meant) + "`"));
  event->row = library.find(std::string(file_origin));
  return true;
}

} // namespace


Value Interpreter::subscript(Value object, Value index, const Expr& node) {
  const Nested nested(nesting_);
  if (nested.too_deep()) return heap().external("", here(node));
  object = resolve(object);
  const Place where = here(node);
  note_choice_by_text(resolve(index));
  record_window(object, resolve(index), where);
  switch (object.kind) {
  case Kind::tuple:
  case Kind::list: {
    index = resolve(index);
    if (index.is(Kind::choice)) return over_choices(index, [&](Value side) { return subscript(object, side, node); }, where);
    if (object.is(Kind::list) && values::Heap::list_state(object)->open) {
      const auto* state = values::Heap::list_state(object);
      if (const auto at = to_constant(index); at && *at >= 0 && *at < static_cast<std::int64_t>(state->items.size()))
        return state->items[static_cast<std::size_t>(*at)];
      if (index.is(Kind::slice)) return heap().open_list(element(object, where), limits_.as_rank && state->length ? length_of_slice(state->length, *index.as<values::SliceObject>()) : nullptr, object.as<values::List>()->kind);
      return chosen_by(*this, one_of_many(element(object, where)), index, where);
    }
    const auto items = elements(object, where);
    if (!items) return heap().external("", where);
    const auto size = static_cast<std::int64_t>(items->size());
    if (index.is(Kind::slice)) {
      const auto picked = slice_of(size, *index.as<values::SliceObject>());
      if (!picked) {
        return heap().open_list(element(object, where), nullptr, object.is(Kind::tuple) ? values::ListKind::tuple : object.as<values::List>()->kind);
      }
      std::vector<Value> part;
      for (const std::int64_t i : *picked) part.push_back((*items)[static_cast<std::size_t>(i)]);
      return object.is(Kind::tuple) ? heap().tuple(std::move(part)) : heap().list(std::move(part));
    }
    if (const auto at = to_constant(index)) {
      const std::int64_t i = *at < 0 ? *at + size : *at;
      if (i >= 0 && i < size) return (*items)[static_cast<std::size_t>(i)];
      // A size that a tensor's shape does not have: the library says so.
      if (object.is(Kind::tuple) && object.as<values::Tuple>()->shape_of) library_.part_of_shape(*this, object.as<values::Tuple>()->shape_of, index, where);
      return raise_builtin("IndexError", where);
    }
    return chosen_by(*this, element(object, where), index, where);
  }
  case Kind::range: {
    const auto* range = object.as<values::Range>();
    index = resolve(index);
    if (index.is(Kind::slice)) {
      const auto items = elements(object, where);
      const auto picked = items ? slice_of(static_cast<std::int64_t>(items->size()), *index.as<values::SliceObject>()) : std::nullopt;
      if (!picked) return heap().external("", where);
      std::vector<Value> part;
      for (const std::int64_t i : *picked) part.push_back((*items)[static_cast<std::size_t>(i)]);
      return heap().list(std::move(part));
    }
    const Int at = to_int(index);
    const Value length = length_of(object, where);
    if (!at || !length.is(Kind::integer)) return heap().external("", where);
    const auto constant = symbols().value(at);
    if (constant && *constant < 0) return Value::of(symbols().add(range->start, symbols().mul(range->step, symbols().add(length.integer(), at))));
    if (constant || symbols().compare(symbolic::Compare::ge, at, symbols().constant(0)) == symbolic::Answer::yes)
      return Value::of(symbols().add(range->start, symbols().mul(range->step, at)));
    return heap().external("", where);
  }
  case Kind::class_: {
    auto* cls = object.as<values::Class>();
    index = resolve(index);
    if (cls->is_enum && index.is(Kind::string)) {
      for (const Value& member : cls->members)
        if (const values::Slot* name = member.as<values::Instance>()->attributes.find(Name("name")); name && name->value.is(Kind::string) && name->value.text() == index.text()) return member;
      if (const Value found = find_in_order(cls->order, Name(index.text())); found.is(Kind::instance)) return found;
      return raise_builtin("KeyError", where);
    }
    if (const Value method = find_in_order(cls->order, Name("__class_getitem__")); method.is(Kind::function))
      return call_function(*method.as<values::Function>(), {{index}, {}, false}, where, object);
    return object;  // a generic class
  }
  case Kind::bound:
    if (node.kind == ExprKind::subscript) judge_indexed(*this, *object.as<values::Bound>(), as<SubscriptExpr>(node), where);
    return heap().external("", where);
  case Kind::dict:
    index = resolve(index);
    if (catching_ == 0 && tell_missing_key(*this, library_, object, index, where)) return heap().external("", where);
    if (catching_ == 0 && !handling_) judge_lacking_key(*this, object, index, node, where);
    return dict_get(object, index, {});
  case Kind::tensor:
    record_picked(object, resolve(index), where);
    return library_.subscript(*this, object, index, node, where);
  case Kind::instance: {
    auto* instance = object.as<values::Instance>();
    if (const Value method = find_method(instance, Name("__getitem__"))) return call(method, {{index}, {}, false}, where);
    if (const values::Slot* items = instance->attributes.find(Name(values::ContainerState::items))) return subscript(items->value, index, node);
    return heap().external("", where);
  }
  case Kind::unknown: {
    auto* unknown = object.as<values::Unknown>();
    if (unknown->state.value) return subscript(unknown->state.value, index, node);
    index = resolve(index);
    if (unknown->shape_of)
      if (const Value size = library_.part_of_shape(*this, unknown->shape_of, index, where)) return size;
    if (const auto at = unknown->ends_with ? to_constant(index) : std::nullopt; at && *at < 0) {
      const auto& last = unknown->ends_with.as<values::Tuple>()->items;
      if (static_cast<std::size_t>(-*at) <= last.size()) return last[last.size() - static_cast<std::size_t>(-*at)];
    }
    for (std::size_t i = 0; i < unknown->items.size(); ++i)
      if (const auto& [key, value] = unknown->items[i]; same_key(key, index)) {
        if (const values::Slot* stored = stored_item(*unknown, i)) return resolve(stored->value);
        record_part(*unknown, key, value, where);
        return value;
      }
    std::string name;
    if (!unknown->name.empty()) {
      if (index.is(Kind::string)) name = std::string(unknown->name) + "['" + std::string(index.text()) + "']";
      else if (const auto at = to_constant(index)) name = std::string(unknown->name) + "[" + std::to_string(*at) + "]";
    }
    Value made;
    if (index.is(Kind::string) && !unknown->external && !unknown->of_many) {
      made = symbol(index.text(), unknown->sharing, where);
      if (made.is(Kind::unknown)) made = heap().unknown(name, unknown->sharing, where);
    } else {
      made = heap().unknown(name, symbolic::mix(unknown->sharing, heap().sharing(index)), where);
    }
    if (made.is(Kind::unknown)) {
      made.as<values::Unknown>()->external = unknown->external;
      made.as<values::Unknown>()->of_many = unknown->of_many || (!index.is(Kind::string) && !to_constant(index));
      note_part(heap(), made, *unknown);
      made.as<values::Unknown>()->blamed = unknown->blamed;
    }
    if (made.is(Kind::unknown) && index.is(Kind::slice) && limits_.as_rank)
      if (const Value size = length_of(object, where); size.is(Kind::integer))
        if (const Int length = length_of_slice(size.integer(), *index.as<values::SliceObject>()))
          heap().slot_of(made.as<values::Unknown>()->attributes, Name("$len")).value = Value::of(length);
    unknown->items.push_back({index, made});
    record_part(*unknown, index, made, where);
    return made;
  }
  case Kind::string: {
    index = resolve(index);
    const std::string_view text = object.text();
    const auto size = static_cast<std::int64_t>(text.size());
    const bool plain = std::none_of(text.begin(), text.end(), [](char c) { return c < 0; });
    if (plain && index.is(Kind::slice)) {
      if (const auto picked = slice_of(size, *index.as<values::SliceObject>())) {
        std::string part;
        for (const std::int64_t i : *picked) part += text[static_cast<std::size_t>(i)];
        return heap().string(part);
      }
    }
    const auto at = to_constant(index);
    if (plain && at && *at < size && *at >= -size) return heap().string(text.substr(static_cast<std::size_t>(*at < 0 ? *at + size : *at), 1));
    if (plain && at) return raise_builtin("IndexError", where);
    return heap().unknown("", symbolic::mix(Sharing::uniform, heap().sharing(index)), where);
  }
  case Kind::library: {
    const Value item = resolve(index);
    const auto* symbol_found = object.as<values::LibrarySymbol>();
    // List[int], Generic[T]: a type is still that type.
    if (symbol_found->path.starts_with("typing.") || symbol_found->path.starts_with("builtins.") || symbol_found->path.starts_with("collections.")) return object;
    if (item.is(Kind::string)) {
      if (const Row* row = library_.find(library_.canonical(std::string(symbol_found->path) + "[" + std::string(item.text()) + "]")))
        return call_library(*library_symbol(row->path).as<values::LibrarySymbol>(), {}, {}, where, nullptr);
      if (const Row* row = limits_.launch ? library_.find(std::string(symbol_found->path) + ".__getitem__") : nullptr)
        return call_library(*library_symbol(row->path).as<values::LibrarySymbol>(), {}, {{item}, {}, false}, where, nullptr);
    }
    return heap().unknown("", Sharing::uniform, where);
  }
  default: return heap().external("", where);
  }
}

} // namespace stepzero::interpreter
