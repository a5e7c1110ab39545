// What `object[index]` is, by the kind of the object.
#include "interpreter/builtins/lacking_keys.hpp"

#include "interpreter/calls/function_calls.hpp"
#include "interpreter/calls/library_calls.hpp"
#include "interpreter/calls/noted_events.hpp"
#include "interpreter/calls/own_calls.hpp"
#include "interpreter/calls/unseen.hpp"
#include "interpreter/expressions/iterables.hpp"
#include "interpreter/expressions/unknown_items.hpp"
#include "interpreter/reasons.hpp"
#include "interpreter/statements/from_file.hpp"
#include "syntax/spelling.hpp"
#include "values/kept.hpp"

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

// Data of which the rank chooses a part are each rank's own: `x.chunk(world)[rank]`.
static Value chosen_by(Interpreter& run, Value item, Value index, Place where) {
  item = run.resolve(item);
  if (item.is(Kind::integer)) {
    const Sharing own = run.heap().sharing(item), mixed = symbolic::mix(own, run.heap().sharing(index));
    if (mixed == own || mixed != Sharing::divergent) return item;
    return Value::of(run.symbols().fresh({.name = "",
        .lower = run.symbols().lower(item.integer()),
        .upper = run.symbols().upper(item.integer()),
        .sharing = mixed}));
  }
  if (!item.is(Kind::tensor) || item.as<values::Tensor>()->role != values::TensorRole::plain) return item;
  values::TensorState state = *item.as<values::Tensor>()->now();
  const Sharing mixed = symbolic::mix(state.sharing, run.heap().sharing(run.resolve(index)));
  if (mixed == state.sharing || state.requires_grad == values::Known::yes) return item;
  state.sharing = mixed;
  return run.heap().tensor(std::move(state), where);
}

// How many there are of those that the rank chooses, in the run that stands for all ranks; null: nothing is
// known of that. `whole`: of how many, if that is known.
static Int length_by_rank(Interpreter& run, Value index, Int whole) {
  if (run.as_rank() || run.heap().sharing(index) != Sharing::divergent) return nullptr;
  return run.symbols().fresh({.name = "",
      .lower = 0,
      .upper = whole ? run.symbols().upper(whole) : std::nullopt,
      .sharing = Sharing::divergent});
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
    if (const std::size_t apart = letters_between(key.text(), known.text(), least - 1);
        apart < least && apart < known.text().size() / 2 + 1)
      meant = known.text(), least = apart;
  }
  const auto text = [&](std::string_view name) {
    const values::Slot* slot = file->attributes.find(Name(name));
    return slot && slot->value.is(Kind::string) ? std::string(slot->value.text()) : std::string();
  };
  const std::string within = text(values::FileState::within);
  ProblemEvent* event = run.problem_at(values::ProblemKind::undeclared, where, nullptr);
  explain(*event,
      NoKeyOfFile{text(values::FileState::path), std::string(key.text()), within, std::string(meant)});
  event->row = library.find(std::string(file_origin));
  return true;
}

}  // namespace

// `object[index]`, by the kind of the object.
struct Interpreter::Subscript {
  Interpreter& run;
  Value object, index;  // resolved, but for an index that may be another on each way
  const Expr& node;
  Place where;

  Value result();

private:
  Value of_sequence();
  Value of_open_list();
  Value of_range();
  Value of_class();
  Value of_dict();
  Value of_instance();
  Value of_unknown();
  Value new_item_of_unknown();
  Int length_of_part();
  Value of_text();
  Value of_library();
};

Value Interpreter::subscript(Value object, Value index, const Expr& node) {
  const Nested nested(nesting_);
  if (nested.too_deep()) return heap().unseen("", here(node));
  object = resolve(object);
  const Place where = here(node);
  note_choice_by_text(resolve(index));
  noted_->record_window(object, resolve(index), where);
  return Subscript{*this, object, index, node, where}.result();
}

Value Interpreter::Subscript::result() {
  switch (object.kind) {
  case Kind::tuple:
  case Kind::list: return of_sequence();
  case Kind::range: return of_range();
  case Kind::class_: return of_class();
  case Kind::bound:
    if (node.kind == ExprKind::subscript)
      judge_indexed(run, *object.as<values::Bound>(), as<SubscriptExpr>(node), where);
    return run.heap().unseen("", where);
  case Kind::dict: return of_dict();
  case Kind::tensor:
    run.noted_->record_picked(object, run.resolve(index), where);
    return run.library_.subscript(run, object, index, node, where);
  case Kind::instance: return of_instance();
  case Kind::unknown: return of_unknown();
  case Kind::string: return of_text();
  case Kind::library: return of_library();
  default: return run.heap().unseen("", where);
  }
}

Value Interpreter::Subscript::of_sequence() {
  index = run.resolve(index);
  if (index.is(Kind::choice))
    return run.over_choices(index, [&](Value side) { return run.subscript(object, side, node); }, where);
  if (object.is(Kind::list) && values::Heap::list_state(object)->open) return of_open_list();
  const auto items = run.elements(object, where);
  if (!items) return run.heap().unseen("", where);
  const auto size = static_cast<std::int64_t>(items->size());
  if (index.is(Kind::slice)) {
    const auto picked = run.iterables_->slice_of(size, *index.as<values::SliceObject>());
    if (!picked) {
      return run.heap().open_list(chosen_by(run, run.element(object, where), index, where),
          length_by_rank(run, index, run.symbols().constant(size)),
          object.is(Kind::tuple) ? values::ListKind::tuple : object.as<values::List>()->kind);
    }
    std::vector<Value> part;
    part.reserve(picked->size());
    for (const std::int64_t i : *picked) part.push_back((*items)[static_cast<std::size_t>(i)]);
    return object.is(Kind::tuple) ? run.heap().tuple(std::move(part)) : run.heap().list(std::move(part));
  }
  if (const auto at = run.to_constant(index)) {
    const std::int64_t i = *at < 0 ? *at + size : *at;
    if (i >= 0 && i < size) return (*items)[static_cast<std::size_t>(i)];
    // A size that a tensor's shape does not have: the library says so.
    if (object.is(Kind::tuple) && object.as<values::Tuple>()->shape_of)
      run.library_.part_of_shape(run, object.as<values::Tuple>()->shape_of, index, where);
    else if (run.catching_ == 0 && !run.handling_)
      judge_beyond_end(run, object, size, *at, node, where);
    return run.raise_builtin("IndexError", where);
  }
  return chosen_by(run, run.element(object, where), index, where);
}

Value Interpreter::Subscript::of_open_list() {
  const auto* state = values::Heap::list_state(object);
  if (const auto at = run.to_constant(index);
      at && *at >= 0 && *at < static_cast<std::int64_t>(state->items.size()))
    return state->items[static_cast<std::size_t>(*at)];
  if (index.is(Kind::slice))
    return run.heap().open_list(chosen_by(run, run.element(object, where), index, where),
        run.limits_.as_rank && state->length
            ? run.iterables_->length_of_slice(state->length, *index.as<values::SliceObject>())
            : length_by_rank(run, index, state->length),
        object.as<values::List>()->kind);
  return chosen_by(run, run.one_of_many(run.element(object, where)), index, where);
}

Value Interpreter::Subscript::of_range() {
  const auto* range = object.as<values::Range>();
  index = run.resolve(index);
  if (index.is(Kind::slice)) {
    const auto items = run.elements(object, where);
    const auto picked = items
        ? run.iterables_->slice_of(static_cast<std::int64_t>(items->size()), *index.as<values::SliceObject>())
        : std::nullopt;
    if (!picked) return run.heap().unseen("", where);
    std::vector<Value> part;
    part.reserve(picked->size());
    for (const std::int64_t i : *picked) part.push_back((*items)[static_cast<std::size_t>(i)]);
    return run.heap().list(std::move(part));
  }
  const Int at = run.to_int(index);
  const Value length = run.length_of(object, where);
  if (!at || !length.is(Kind::integer)) return run.heap().unseen("", where);
  const auto constant = run.symbols().value(at);
  if (constant && *constant < 0)
    return Value::of(run.symbols().add(
        range->start, run.symbols().mul(range->step, run.symbols().add(length.integer(), at))));
  if (constant ||
      run.symbols().compare(symbolic::Compare::ge, at, run.symbols().constant(0)) == symbolic::Answer::yes)
    return Value::of(run.symbols().add(range->start, run.symbols().mul(range->step, at)));
  return run.heap().unseen("", where);
}

Value Interpreter::Subscript::of_class() {
  auto* cls = object.as<values::Class>();
  index = run.resolve(index);
  if (cls->is_enum && index.is(Kind::string)) {
    for (const Value& member : cls->members)
      if (const values::Slot* name = member.as<values::Instance>()->attributes.find(Name("name"));
          name && name->value.is(Kind::string) && name->value.text() == index.text())
        return member;
    if (const Value found = run.find_in_order(cls->order, Name(index.text())); found.is(Kind::instance))
      return found;
    return run.raise_builtin("KeyError", where);
  }
  if (const Value method = run.find_in_order(cls->order, Name("__class_getitem__"));
      method.is(Kind::function))
    return run.function_calls_->call_function(
        *method.as<values::Function>(), {{index}, {}, false}, where, object);
  return object;  // a generic class
}

Value Interpreter::Subscript::of_dict() {
  index = run.resolve(index);
  if (run.catching_ == 0 && tell_missing_key(run, run.library_, object, index, where))
    return run.heap().unseen("", where);
  if (run.catching_ == 0 && !run.handling_) judge_lacking_key(run, object, index, node, where);
  return run.dict_get(object, index, {});
}

Value Interpreter::Subscript::of_instance() {
  auto* instance = object.as<values::Instance>();
  if (const Value method = run.find_method(instance, Name("__getitem__")))
    return run.call(method, {{index}, {}, false}, where);
  if (const values::Slot* items = instance->attributes.find(Name(values::ContainerState::items)))
    return run.subscript(items->value, index, node);
  return run.heap().unseen("", where);
}

Value Interpreter::Subscript::of_unknown() {
  auto* unknown = object.as<values::Unknown>();
  if (unknown->state.value) return run.subscript(unknown->state.value, index, node);
  index = run.resolve(index);
  if (unknown->shape_of)
    if (const Value size = run.library_.part_of_shape(run, unknown->shape_of, index, where)) return size;
  if (const auto at = unknown->ends_with ? run.to_constant(index) : std::nullopt; at && *at < 0) {
    const auto& last = unknown->ends_with.as<values::Tuple>()->items;
    if (static_cast<std::size_t>(-*at) <= last.size())
      return last[last.size() - static_cast<std::size_t>(-*at)];
  }
  for (std::size_t i = 0; i < unknown->items.size(); ++i)
    if (const auto& [key, value] = unknown->items[i]; run.same_key(key, index)) {
      if (const values::Slot* stored = stored_item(*unknown, i)) return run.resolve(stored->value);
      run.noted_->record_part(*unknown, key, value, where);
      return value;
    }
  return new_item_of_unknown();
}

// How many a slice picks of what is not known; null: nothing is known of that.
Int Interpreter::Subscript::length_of_part() {
  const auto* slice = index.as<values::SliceObject>();
  // As many as a tensor says that holds the same on all ranks: what each rank has is cut to that, so that all
  // have as many.
  const Value end = slice->upper ? run.resolve(slice->upper) : Value{};
  if (end.is(Kind::unknown) && end.as<values::Unknown>()->is_number &&
      run.heap().sharing(end) == Sharing::uniform && run.heap().sharing(object) == Sharing::local)
    return run.symbols().fresh({.name = "", .lower = 0, .upper = {}, .sharing = Sharing::unseen});
  if (!run.limits_.as_rank) return nullptr;
  const Value size = run.length_of(object, where);
  return size.is(Kind::integer) ? run.iterables_->length_of_slice(size.integer(), *slice) : nullptr;
}

// The same each time that it is asked for.
Value Interpreter::Subscript::new_item_of_unknown() {
  auto* unknown = object.as<values::Unknown>();
  std::string name;
  if (!unknown->name.empty()) {
    if (index.is(Kind::string))
      name = std::string(unknown->name) + "['" + std::string(index.text()) + "']";
    else if (const auto at = run.to_constant(index))
      name = std::string(unknown->name) + "[" + std::to_string(*at) + "]";
  }
  Value made;
  if (index.is(Kind::string) && !unknown->unseen && !unknown->of_many) {
    made = run.symbol(index.text(), unknown->sharing, where);
    if (made.is(Kind::unknown)) made = run.heap().unknown(name, unknown->sharing, where);
  } else {
    made = run.heap().unknown(name, symbolic::mix(unknown->sharing, run.heap().sharing(index)), where);
  }
  if (made.is(Kind::unknown)) {
    made.as<values::Unknown>()->unseen = unknown->unseen;
    made.as<values::Unknown>()->of_many = unknown->of_many ||
        (!index.is(Kind::string) && !run.to_constant(index));
    date_back(made, *unknown);
    note_part(run.heap(), made, *unknown);
    // Only tensors and arrays are asked so.
    if (index.is(Kind::none) || index.is(Kind::tuple) || index.is(Kind::tensor))
      note_view(run.heap(), made, *unknown);
    made.as<values::Unknown>()->poisoned = unknown->poisoned;
  }
  if (made.is(Kind::unknown) && index.is(Kind::slice))
    if (const Int length = length_of_part())
      run.heap().slot_of(made.as<values::Unknown>()->attributes, Name(values::UnknownState::len)).value =
          Value::of(length);
  unknown->items.push_back({index, made});
  run.noted_->record_part(*unknown, index, made, where);
  return made;
}

Value Interpreter::Subscript::of_text() {
  index = run.resolve(index);
  const std::string_view text = object.text();
  const auto size = static_cast<std::int64_t>(text.size());
  const bool plain = std::none_of(text.begin(), text.end(), [](char c) { return c < 0; });
  if (plain && index.is(Kind::slice)) {
    if (const auto picked = run.iterables_->slice_of(size, *index.as<values::SliceObject>())) {
      std::string part;
      for (const std::int64_t i : *picked) part += text[static_cast<std::size_t>(i)];
      return run.heap().string(part);
    }
  }
  const auto at = run.to_constant(index);
  if (plain && at && *at < size && *at >= -size)
    return run.heap().string(text.substr(static_cast<std::size_t>(*at < 0 ? *at + size : *at), 1));
  if (plain && at) return run.raise_builtin("IndexError", where);
  return run.heap().unknown("", symbolic::mix(Sharing::uniform, run.heap().sharing(index)), where);
}

Value Interpreter::Subscript::of_library() {
  const Value item = run.resolve(index);
  const auto* symbol_found = object.as<values::LibrarySymbol>();
  // List[int], Generic[T]: a type is still that type.
  if (symbol_found->path.starts_with("typing.") || symbol_found->path.starts_with("builtins.") ||
      symbol_found->path.starts_with("collections."))
    return object;
  if (item.is(Kind::string)) {
    if (const Row* row = run.library_.find(
            run.library_.canonical(std::string(symbol_found->path) + "[" + std::string(item.text()) + "]")))
      return run.library_calls_->call_library(
          *run.library_symbol(row->path).as<values::LibrarySymbol>(), {}, {}, where, nullptr);
    if (const Row* row = run.library_.find(std::string(symbol_found->path) + ".__getitem__"))
      return run.library_calls_->call_library(*run.library_symbol(row->path).as<values::LibrarySymbol>(), {},
          {{item}, {}, false}, where, nullptr);
  }
  return run.heap().unknown("", Sharing::uniform, where);
}

}  // namespace stepzero::interpreter
