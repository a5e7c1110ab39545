// Python's own functions of sequences as rows: zip, enumerate, map, sorted, list, dict…
#include "interpreter/builtins/builtin_call.hpp"
#include "interpreter/calls/no_result.hpp"
#include "interpreter/loops/begin_iteration.hpp"
#include "interpreter/loops/each_iteration.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;
using values::ListKind;

namespace {

constexpr std::size_t most_items = 1024;  // of a list that is made element by element

}  // namespace

Value Interpreter::zip_of(const std::vector<Value>& iterables, bool longest, Value fill, Place where) {
  std::vector<std::vector<Value>> columns;
  std::size_t shortest = SIZE_MAX, length = 0;
  bool known = !iterables.empty();
  Sharing trips = Sharing::uniform;
  std::vector<Int> lengths;
  std::vector<const values::Range*> endless(iterables.size());
  for (std::size_t i = 0; i < iterables.size(); ++i) {
    const Value iterable = resolve(iterables[i]);
    trips = symbolic::mix(trips, iterables_->trips_of(iterable));
    if (iterable.is(Kind::range)) {
      const auto* range = iterable.as<values::Range>();
      if (symbols().value(range->start) && symbols().value(range->step) && symbols().value(range->stop) &&
          *symbols().value(range->stop) > (std::int64_t{1} << 40)) {
        endless[i] = range;
        columns.emplace_back();
        continue;
      }
    }
    lengths.push_back(iterables_->known_length(iterable));
    auto items = take(iterable, where);
    known = known && items;
    if (items) {
      shortest = std::min(shortest, items->size());
      length = std::max(length, items->size());
    }
    columns.push_back(items ? std::move(*items) : std::vector<Value>{});
  }
  if (!known || shortest == SIZE_MAX) {
    std::vector<Value> any;
    any.reserve(iterables.size());
    for (const Value& iterable : iterables) any.push_back(any_element(iterable, where));
    symbolic::AtomInfo info;
    info.lower = 0;
    info.sharing = trips;
    const Int same = !lengths.empty() &&
            std::ranges::all_of(lengths, [&](Int each) { return each == lengths.front(); })
        ? lengths.front()
        : nullptr;
    return heap().open_list(
        heap().tuple(std::move(any)), same ? same : symbols().fresh(info), ListKind::iterator);
  }
  std::vector<Value> rows;
  for (std::size_t i = 0; i < (longest ? length : shortest); ++i) {
    std::vector<Value> row;
    for (std::size_t k = 0; k < columns.size(); ++k) {
      if (const auto* range = endless[k])
        row.push_back(Value::of(symbols().add(
            range->start, symbols().mul(range->step, symbols().constant(static_cast<std::int64_t>(i))))));
      else
        row.push_back(i < columns[k].size() ? columns[k][i] : fill);
    }
    rows.push_back(heap().tuple(std::move(row)));
  }
  return heap().list(std::move(rows), ListKind::iterator);
}

namespace {

Value len_of(const BuiltinCall& call) {
  if (call.count != 1) return {};
  const Value refused = refuse_nothing(call.run, call.first, NoResult::length, call.where);
  return refused ? refused : call.run.length_of(call.first, call.where);
}

// What `list`, `tuple`, `set`, `sorted`, `reversed` and `iter` make of the same elements.
ListKind kind_made(std::string_view name) {
  if (name == "set" || name == "frozenset") return ListKind::set;
  if (name == "tuple") return ListKind::tuple;
  return name == "reversed" || name == "iter" ? ListKind::iterator : ListKind::list;
}

// sorted(items) by keys that are not known: so many of them, each any one.
Value in_some_order(const BuiltinCall& call, const std::vector<Value>& items) {
  Value any;
  for (const Value& item : items) any = call.heap().merge(any, item, Sharing::uniform);
  // Which one comes where depends on their keys.
  const Value key = call.keyword("key"),
              asked = any && key && !key.is(Kind::none) ? call.run.resolve(call.call(key, {any})) : any;
  if (asked && call.heap().sharing(asked) == Sharing::local && !call.heap().is_unseen(asked) &&
      !call.run.resolve(any).is(Kind::instance))
    any = call.heap().unknown_from({any, asked}, call.where);
  return call.heap().open_list(
      any ? any : call.heap().unseen(""), call.symbols().constant(static_cast<std::int64_t>(items.size())));
}

Value of_known(const BuiltinCall& call, std::vector<Value> items) {
  if (call.name == "tuple") return call.heap().tuple(std::move(items));
  if (kind_made(call.name) == ListKind::set) return call.run.make_set(std::move(items));
  if (call.name == "reversed") std::reverse(items.begin(), items.end());
  if (call.name == "sorted") {
    const Value reverse = call.keyword("reverse");
    const auto descending = reverse ? call.run.to_constant(reverse) : std::optional<std::int64_t>(0);
    if (!descending || !call.run.sort_values(items, call.keyword("key"), *descending != 0, call.where))
      return in_some_order(call, items);
  }
  return call.heap().list(std::move(items), kind_made(call.name));
}

Value collection(const BuiltinCall& call) {
  const ListKind kind = kind_made(call.name);
  const bool is_set = kind == ListKind::set;
  if (call.arguments.spread)
    return call.heap().open_list(call.heap().unseen("", call.where), nullptr,
        is_set || kind == ListKind::tuple ? kind : ListKind::list);
  if (call.count == 0)
    return kind == ListKind::tuple ? call.heap().tuple({})
                                   : call.heap().list({}, is_set ? ListKind::set : ListKind::list);
  if (auto items = call.name == "iter"
          ? call.run.elements(call.first, call.where)
          : call.run.take(call.first, call.where, is_set || call.name == "sorted"))
    return of_known(call, std::move(*items));
  Int length = nullptr;
  if (call.first.is(Kind::list)) {
    const auto* state = values::Heap::list_state(call.first);
    length = state->open ? state->length
                         : call.symbols().constant(static_cast<std::int64_t>(state->items.size()));
  }
  if (call.first.is(Kind::range) || (call.first.is(Kind::unknown) && call.run.as_rank()))
    if (const Value size = call.run.length_of(call.first, call.where); size.is(Kind::integer))
      length = size.integer();
  const Value made = call.heap().open_list(
      call.run.any_element(call.first, call.where), is_set ? nullptr : length, kind);
  if (kind == ListKind::list && call.first.is(Kind::list) &&
      call.first.as<values::List>()->kind == ListKind::set)
    if (const auto* state = values::Heap::list_state(call.first); !state->open) {
      made.as<values::List>()->copied = call.heap().tuple(std::vector(state->items));
      made.as<values::List>()->as_copied = made.as<values::List>()->state.value.object();
    }
  return made;
}

Value reversed_of(const BuiltinCall& call) {
  if (!call.arguments.spread && call.first.is(Kind::instance))
    if (const Value method = call.run.find_method(call.first.as<values::Instance>(), Name("__reversed__")))
      return call.call(method, {});
  return collection(call);
}

Value iterator_of(const BuiltinCall& call) {
  const Value first = call.first;
  if (call.arguments.spread || !first) return collection(call);
  if (first.is(Kind::iterator) ||
      (first.is(Kind::list) && first.as<values::List>()->kind == ListKind::iterator))
    return first;
  if (const Value begun = begin_iteration(call.run, first, call.where); !(begun == first))
    return call.as("iter", {begun});
  if (first.is(Kind::instance) && call.count == 1 && first.as<values::Instance>()->cls)
    if (const Value method = call.run.find_method(first.as<values::Instance>(), Name("__iter__")))
      return call.call(method, {});
  if (call.count == 1) return collection(call);
  // iter(function, last): each iteration calls it.
  auto* object = call.heap().make<values::Instance>();
  object->born = call.where;
  object->open = true;
  call.heap().slot_of(object->attributes, called_each_iteration).value = call.heap().tuple(
      {first, call.run.resolve(call.positional[1])});  // it is new: no write
  return Value::of(Kind::instance, object);
}

Value iter_of(const BuiltinCall& call) {
  const std::size_t begin = call.events();
  const Value iterator = iterator_of(call);
  if (call.first.object()) call.note_iterator(begin, call.first, iterator);
  return iterator;
}

// What a dict of any number of alike pairs has under each of its keys: `dict(model.named_parameters())`;
// absent if it is of something else.
Value value_of_pairs(Value pairs) {
  const values::ListState* list = pairs.is(Kind::list) ? values::Heap::list_state(pairs) : nullptr;
  if (!list || !list->open || !list->items.empty() || !list->rest.is(Kind::tuple)) return {};
  const auto& pair = list->rest.as<values::Tuple>()->items;
  return pair.size() == 2 ? pair[1] : Value{};
}

Value dict_of(const BuiltinCall& call) {
  const Value dict = call.heap().dict({});
  if (call.count == 0 && call.arguments.keywords.empty() && !call.arguments.spread) return dict;
  bool known = !call.arguments.spread;
  if (call.first) known = call.run.dict_update(dict, call.first, call.where) && known;
  std::vector<std::pair<Value, Value>> named;
  named.reserve(call.arguments.keywords.size());
  for (const auto& [key, value] : call.arguments.keywords)
    named.push_back({call.heap().string(key.text()), value});
  call.run.dict_extend(dict, std::move(named));
  if (!known) {
    values::DictState state = *values::Heap::dict_state(dict);
    state.open = true;
    const Value each = call.count == 1 && !call.arguments.spread && call.arguments.keywords.empty()
        ? value_of_pairs(call.first)
        : Value{};
    state.rest = each ? each : call.heap().unseen("");
    call.heap().set_dict(dict, std::move(state));
  }
  return dict;
}

Value enumerate_of(const BuiltinCall& call) {
  if (call.count == 0) return {};
  auto& s = call.symbols();
  const Value source = begin_iteration(call.run, call.first, call.where);
  const Value start = call.second ? call.second : call.keyword("start");
  const Int from = start ? call.run.to_int(start) : s.constant(0);
  if (const auto items = call.run.take(source, call.where); items && from) {
    std::vector<Value> pairs;
    pairs.reserve(items->size());
    for (std::size_t i = 0; i < items->size(); ++i)
      pairs.push_back(
          call.heap().tuple({Value::of(s.add(from, s.constant(static_cast<std::int64_t>(i)))), (*items)[i]}));
    return call.heap().list(std::move(pairs), ListKind::iterator);
  }
  symbolic::AtomInfo info;
  info.lower = 0;
  info.sharing = Sharing::uniform;
  info.of_iteration = true;
  symbolic::AtomInfo length;
  length.lower = 0;
  length.sharing = call.trips_of(source);
  const Int known = call.known_length(source), counted = s.fresh(info);
  return call.heap().open_list(call.heap().tuple({from ? Value::of(s.add(from, counted)) : Value::of(counted),
                                   call.run.element(source, call.where)}),
      known ? known : s.fresh(length), ListKind::iterator);
}

Value zip(const BuiltinCall& call) {
  if (!call.arguments.spread) return call.run.zip_of(call.positional, false, {}, call.where);
  // zip(*pairs) of any number of pairs: as many columns as a pair has parts, each as long as there are pairs.
  const Value row = call.positional.empty() ? call.run.resolve(call.arguments.rest) : Value{};
  if (!row.is(Kind::tuple))
    return call.heap().open_list(call.heap().unseen("", call.where), nullptr, ListKind::iterator);
  std::vector<Value> columns;
  for (const Value& part : row.as<values::Tuple>()->items)
    columns.push_back(call.heap().open_list(part, call.arguments.rest_length));
  return call.heap().list(std::move(columns), ListKind::iterator);
}

Value map_of(const BuiltinCall& call) {
  if (call.count < 2) return {};
  const bool spread = call.count > 2;
  const Value source = spread
      ? call.run.zip_of(
            std::vector<Value>(call.positional.begin() + 1, call.positional.end()), false, {}, call.where)
      : call.second;
  const auto apply = [&](Value item) {
    if (!spread) return call.call(call.first, {item});
    const auto parts = call.run.elements(item, call.where);
    return call.run.call(
        call.first, parts ? Arguments{*parts, {}, false} : Arguments{{}, {}, true}, call.where);
  };
  if (const auto items = call.run.take(source, call.where); items && items->size() <= most_items) {
    std::vector<Value> results;
    for (const Value& item : *items) {
      results.push_back(apply(item));
      if (call.left()) break;
    }
    return call.heap().list(std::move(results), ListKind::iterator);
  }
  const std::size_t atoms = call.symbols().atoms_made();
  const std::uint64_t began = call.heap().mark().clock;
  const Value any = apply(call.run.element(source, call.where));
  call.symbols().note_iterations(atoms, began);
  return call.heap().open_list(any, nullptr, ListKind::iterator);
}

Value filter_of(const BuiltinCall& call) {
  if (call.count < 2) return {};
  if (const auto items = call.run.take(call.second, call.where); items && items->size() <= most_items) {
    std::vector<Value> results;
    bool certain = true;
    for (const Value& item : *items) {
      const auto answer = call.symbols().decide(
          call.run.truth(call.first.is(Kind::none) ? item : call.call(call.first, {item})));
      certain = certain && answer != symbolic::Answer::unknown;
      if (answer != symbolic::Answer::no) results.push_back(item);
    }
    if (certain) return call.heap().list(std::move(results), ListKind::iterator);
    Value any;
    for (const Value& item : results) any = call.heap().merge(any, item, Sharing::uniform);
    return call.heap().open_list(any ? any : call.heap().unseen(""), nullptr, ListKind::iterator);
  }
  return call.heap().open_list(call.run.any_element(call.second, call.where), nullptr, ListKind::iterator);
}

Value next(const BuiltinCall& call) {
  return call.first ? call.run.next_of(call.first, call.second, call.where) : Value{};
}

Value slice_of(const BuiltinCall& call) {
  if (call.count == 0) return {};
  auto* slice = call.heap().make<values::SliceObject>();
  slice->lower = call.second ? call.first : Value::none();
  slice->upper = call.second ? call.second : call.first;
  slice->step = call.count > 2 ? call.positional[2] : Value::none();
  return Value::of(Kind::slice, slice);
}

}  // namespace

const BuiltinTable& sequence_functions() {
  static const BuiltinTable table{
      {"len", len_of},
      {"list tuple set frozenset sorted", collection},
      {"reversed", reversed_of},
      {"iter", iter_of},
      {"dict", dict_of},
      {"enumerate", enumerate_of},
      {"zip", zip},
      {"map", map_of},
      {"filter", filter_of},
      {"next", next},
      {"slice", slice_of},
  };
  return table;
}

}  // namespace stepzero::interpreter
