// Python's own functions of sequences: zip, enumerate, map, sorted, list, dict…
#include "interpreter/each_round.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;
using values::ListKind;

namespace {

constexpr std::size_t most_items = 1024;  // of a list that is made element by element

} // namespace

Value Interpreter::zip_of(const std::vector<Value>& iterables, bool longest, Value fill, Place where) {
  std::vector<std::vector<Value>> columns;
  std::size_t shortest = SIZE_MAX, length = 0;
  bool known = !iterables.empty();
  Sharing trips = Sharing::uniform;
  std::vector<Int> lengths;
  std::vector<const values::Range*> endless(iterables.size());
  for (std::size_t i = 0; i < iterables.size(); ++i) {
    const Value iterable = resolve(iterables[i]);
    trips = symbolic::mix(trips, trips_of(iterable));
    if (iterable.is(Kind::range)) {
      const auto* range = iterable.as<values::Range>();
      if (symbols().value(range->start) && symbols().value(range->step) && symbols().value(range->stop) && *symbols().value(range->stop) > (std::int64_t{1} << 40)) {
        endless[i] = range;
        columns.emplace_back();
        continue;
      }
    }
    lengths.push_back(known_length(iterable));
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
    for (const Value& iterable : iterables) any.push_back(any_element(iterable, where));
    symbolic::AtomInfo info;
    info.lower = 0;
    info.sharing = trips;
    const Int same = !lengths.empty() && std::ranges::all_of(lengths, [&](Int each) { return each == lengths.front(); }) ? lengths.front() : nullptr;
    return heap().open_list(heap().tuple(std::move(any)), same ? same : symbols().fresh(info), ListKind::iterator);
  }
  std::vector<Value> rows;
  for (std::size_t i = 0; i < (longest ? length : shortest); ++i) {
    std::vector<Value> row;
    for (std::size_t k = 0; k < columns.size(); ++k) {
      if (const auto* range = endless[k])
        row.push_back(Value::of(symbols().add(range->start, symbols().mul(range->step, symbols().constant(static_cast<std::int64_t>(i))))));
      else row.push_back(i < columns[k].size() ? columns[k][i] : fill);
    }
    rows.push_back(heap().tuple(std::move(row)));
  }
  return heap().list(std::move(rows), ListKind::iterator);
}

Value Interpreter::sequence_builtin(std::string_view name, const Arguments& arguments, Place where) {
  const auto& positional = arguments.positional;
  const std::size_t count = positional.size();
  const Value first = count > 0 ? positional[0] : Value{};
  const auto keyword = [&](std::string_view wanted) -> Value {
    for (const auto& [key, value] : arguments.keywords)
      if (key.text() == wanted) return resolve(value);
    return {};
  };
  if (name == "len" && count == 1) return length_of(first, where);
  if (name == "list" || name == "tuple" || name == "set" || name == "frozenset" || name == "sorted" || name == "reversed" || name == "iter") {
    const bool is_set = name == "set" || name == "frozenset";
    if (arguments.spread) return heap().open_list(heap().external("", where), nullptr, is_set ? ListKind::set : name == "tuple" ? ListKind::tuple : ListKind::list);
    if (count == 0) return name == "tuple" ? heap().tuple({}) : heap().list({}, is_set ? ListKind::set : ListKind::list);
    if (name == "iter") {
      if (first.is(Kind::iterator) || (first.is(Kind::list) && first.as<values::List>()->kind == ListKind::iterator)) return first;
      if (first.is(Kind::instance) && count == 1) {
        auto* object = first.as<values::Instance>();
        if (object->cls)
          if (const Value method = find_method(object, Name("__iter__"))) return call(method, {}, where);
      }
      // iter(function, last): each round calls it.
      if (count > 1) {
        auto* object = heap().make<values::Instance>();
        object->born = where;
        object->open = true;
        heap().slot_of(object->attributes, called_each_round).value = first;  // it is new: no write
        return Value::of(Kind::instance, object);
      }
    }
    if (name == "reversed" && first.is(Kind::instance))
      if (const Value method = find_method(first.as<values::Instance>(), Name("__reversed__"))) return call(method, {}, where);
    const ListKind kind = is_set ? ListKind::set : name == "tuple" ? ListKind::tuple : name == "reversed" || name == "iter" ? ListKind::iterator : ListKind::list;
    if (auto items = name == "iter" ? elements(first, where) : take(first, where, is_set || name == "sorted")) {
      if (name == "reversed") std::reverse(items->begin(), items->end());
      if (name == "tuple") return heap().tuple(std::move(*items));
      if (is_set) return make_set(std::move(*items));
      if (name == "sorted") {
        const Value reverse = keyword("reverse");
        const auto descending = reverse ? to_constant(reverse) : std::optional<std::int64_t>(0);
        if (!descending || !sort_values(*items, keyword("key"), *descending != 0, where)) {
          Value any;
          for (const Value& item : *items) any = heap().merge(any, item, Sharing::uniform);
          // Which one comes where depends on their keys.
          const Value key = keyword("key"), asked = any && key && !key.is(Kind::none) ? resolve(call(key, {{any}, {}, false}, where)) : any;
          if (asked && heap().sharing(asked) == Sharing::local && !heap().is_external(asked) && !resolve(any).is(Kind::instance)) any = heap().unknown_from({any, asked}, where);
          return heap().open_list(any ? any : heap().external(""), symbols().constant(static_cast<std::int64_t>(items->size())));
        }
      }
      return heap().list(std::move(*items), kind);
    }
    Int length = nullptr;
    if (first.is(Kind::list)) {
      const auto* state = values::Heap::list_state(first);
      length = state->open ? state->length : symbols().constant(static_cast<std::int64_t>(state->items.size()));
    }
    if (first.is(Kind::range) || (first.is(Kind::unknown) && limits_.as_rank))
      if (const Value size = length_of(first, where); size.is(Kind::integer)) length = size.integer();
    return heap().open_list(any_element(first, where), is_set ? nullptr : length, kind);
  }
  if (name == "dict") {
    if (count == 0 && arguments.keywords.empty() && !arguments.spread) return heap().dict({});
    const Value dict = heap().dict({});
    bool known = !arguments.spread;
    if (first) known = dict_update(dict, first, where) && known;
    for (const auto& [key, value] : arguments.keywords) dict_set(dict, heap().string(key.text()), value);
    if (!known) {
      values::DictState state = *values::Heap::dict_state(dict);
      state.open = true;
      state.rest = heap().external("");
      heap().set_dict(dict, std::move(state));
    }
    return dict;
  }
  if (name == "enumerate" && count >= 1) {
    const Value start = count > 1 ? positional[1] : keyword("start");
    const Int from = start ? to_int(start) : symbols().constant(0);
    if (const auto items = take(first, where); items && from) {
      std::vector<Value> pairs;
      for (std::size_t i = 0; i < items->size(); ++i)
        pairs.push_back(heap().tuple({Value::of(symbols().add(from, symbols().constant(static_cast<std::int64_t>(i)))), (*items)[i]}));
      return heap().list(std::move(pairs), ListKind::iterator);
    }
    symbolic::AtomInfo info;
    info.lower = 0;
    info.sharing = Sharing::uniform;
    info.of_round = true;
    symbolic::AtomInfo length;
    length.lower = 0;
    length.sharing = trips_of(first);
    const Int known = known_length(first), counted = symbols().fresh(info);
    return heap().open_list(heap().tuple({from ? Value::of(symbols().add(from, counted)) : Value::of(counted), element(first, where)}), known ? known : symbols().fresh(length),
                            ListKind::iterator);
  }
  if (name == "zip" && arguments.spread) {
    // zip(*pairs) of any number of pairs: as many columns as a pair has parts, each as long as there are pairs.
    const Value row = positional.empty() ? resolve(arguments.rest) : Value{};
    if (!row.is(Kind::tuple)) return heap().open_list(heap().external("", where), nullptr, ListKind::iterator);
    std::vector<Value> columns;
    for (const Value& part : row.as<values::Tuple>()->items) columns.push_back(heap().open_list(part, arguments.rest_length));
    return heap().list(std::move(columns), ListKind::iterator);
  }
  if (name == "zip") return zip_of(positional, false, {}, where);
  if ((name == "map" || name == "filter") && count >= 2) {
    const std::vector<Value> iterables(positional.begin() + 1, positional.end());
    const Value source = name == "map" && count > 2 ? zip_of(iterables, false, {}, where) : positional[1];
    const bool spread = name == "map" && count > 2;
    const auto apply = [&](Value item) {
      if (!spread) return call(first, {{item}, {}, false}, where);
      const auto parts = elements(item, where);
      return call(first, parts ? Arguments{*parts, {}, false} : Arguments{{}, {}, true}, where);
    };
    if (const auto items = take(source, where); items && items->size() <= most_items) {
      std::vector<Value> results;
      bool certain = true;
      for (const Value& item : *items) {
        if (name == "map") {
          results.push_back(apply(item));
          if (killed_) break;
          continue;
        }
        const auto answer = symbols().decide(truth(first.is(Kind::none) ? item : apply(item)));
        certain = certain && answer != symbolic::Answer::unknown;
        if (answer != symbolic::Answer::no) results.push_back(item);
      }
      if (certain) return heap().list(std::move(results), ListKind::iterator);
      Value any;
      for (const Value& item : results) any = heap().merge(any, item, Sharing::uniform);
      return heap().open_list(any ? any : heap().external(""), nullptr, ListKind::iterator);
    }
    const std::size_t atoms = symbols().atoms_made();
    const std::uint64_t began = heap().mark().clock;
    const Value item = element(source, where);
    const Value any = name == "map" ? apply(item) : item;
    symbols().note_rounds(atoms, began);
    return heap().open_list(any, nullptr, ListKind::iterator);
  }
  if (name == "next" && count >= 1) return next_of(first, count > 1 ? positional[1] : Value{}, where);
  if (name == "slice" && count >= 1) {
    auto* slice = heap().make<values::SliceObject>();
    slice->lower = count > 1 ? first : Value::none();
    slice->upper = count > 1 ? positional[1] : first;
    slice->step = count > 2 ? positional[2] : Value::none();
    return Value::of(Kind::slice, slice);
  }
  return {};
}

} // namespace stepzero::interpreter
