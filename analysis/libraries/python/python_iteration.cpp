// Python's functools and itertools.
#include "interpreter/calls/kept_results.hpp"
#include "libraries/table/native.hpp"
#include "values/internal_rows.hpp"

#include <algorithm>

namespace stepzero::libraries {

using interpreter::Arguments;
using values::ListKind;

namespace {

constexpr std::size_t most_items = 1024;  // that are kept one by one; of more, any one

// ---------------------------------------------------------------- functools

// `functools.cache`; and what `lru_cache` is with and without parentheses.
Value keeping(Call& call, Value function, Value most) {
  function = call.run.resolve(function);
  const bool none = most.is(Kind::integer) && call.run.symbols().value(most.integer()) == 0;
  return function.is(Kind::function) && !none
      ? interpreter::keeping_results(call.run, *function.as<values::Function>(), most)
      : function;
}
Value keeps_all(Call& call) { return keeping(call, call.at(0), Value::none()); }
Value keeps_last(Call& call) { return keeping(call, call.at(1), call.run.resolve(call.at(0))); }
Value lru_cache(Call& call) {
  constexpr std::int64_t usual = 128;
  const Value given = call.run.resolve(call.at(0));
  switch (given.kind) {
  case Kind::function: return keeping(call, given, call.run.heap().integer(usual));
  case Kind::bound:
  case Kind::partial:
  case Kind::class_:
  case Kind::library: return given;
  default: break;
  }
  auto* made = call.run.heap().make<values::Partial>();
  made->function = call.run.library_symbol("functools.$keeps_last");
  made->arguments = {given ? given : call.run.heap().integer(usual)};
  return Value::of(Kind::partial, made);
}
Value partial(Call& call) {
  if (call.spread) return call.run.heap().unseen("", call.place);
  auto* made = call.run.heap().make<values::Partial>();
  made->function = call.run.resolve(call.at(0));
  made->arguments = call.rest;
  made->keywords = call.options;
  return Value::of(Kind::partial, made);
}
// Called with the object first, which the lookup through an object hands on: see bind_method.
Value partial_method(Call& call) {
  if (call.spread) return call.run.heap().unseen("", call.place);
  auto* made = call.run.heap().make<values::Partial>();
  made->function = call.run.library_symbol("functools.$method");
  made->arguments = {call.run.resolve(call.at(0))};
  made->arguments.insert(made->arguments.end(), call.rest.begin(), call.rest.end());
  made->keywords = call.options;
  return Value::of(Kind::partial, made);
}
Value method_of_partial(Call& call) {
  return call.run.call(call.at(0), {call.rest, call.options, call.spread}, call.place, call.expr);
}
Value wraps(Call& call) {
  auto* made = call.run.heap().make<values::Partial>();
  made->function = call.run.library_symbol("functools.$wrapped");
  made->arguments = {call.at(0)};
  return Value::of(Kind::partial, made);
}
// The wrapper takes the name of what it wraps.
Value wrapped(Call& call) {
  const Value original = call.run.resolve(call.at(0)), wrapper = call.run.resolve(call.at(1));
  if (!wrapper.is(Kind::function)) return wrapper;
  auto* made = call.run.heap().make<values::Function>();
  values::Table own;
  own.birth = made->attributes.birth;
  *made = *wrapper.as<values::Function>();
  made->attributes = own;
  const Value function = original.is(Kind::bound) ? call.run.resolve(original.as<values::Bound>()->function)
                                                  : original;
  if (function.is(Kind::function)) made->name = function.as<values::Function>()->name;
  call.run.heap().set(call.run.heap().slot_of(made->attributes, Name("__wrapped__")), original);
  return Value::of(Kind::function, made);
}
Value reduce(Call& call) {
  auto items = call.run.take(call.at(1), call.place);
  if (!items || items->size() > most_items) return unknown_of(call);
  if (call.at(2)) items->insert(items->begin(), call.at(2));
  if (items->empty()) return call.run.raise_builtin("TypeError", call.place);
  Value total = items->front();
  for (std::size_t i = 1; i < items->size(); ++i)
    total = call.run.call(call.at(0), {{total, (*items)[i]}, {}, false}, call.place);
  return total;
}

// ---------------------------------------------------------------- itertools

Value iterator_of(Call& call, std::vector<Value> items) {
  return call.run.heap().list(std::move(items), ListKind::iterator);
}
Value open_iterator(Call& call, Value any) {
  return call.run.heap().open_list(
      any ? any : call.run.heap().unseen("", call.place), nullptr, ListKind::iterator);
}

Value chained(Call& call, const std::vector<Value>& parts) {
  std::vector<Value> items;
  Value any;
  bool known = !call.spread;
  for (const Value& part : parts) {
    const auto more = call.run.take(part, call.place);
    known = known && more && items.size() < most_items;
    if (more && known) items.insert(items.end(), more->begin(), more->end());
    if (!known) any = call.run.heap().merge(any, call.run.element(part, call.place), Sharing::uniform);
  }
  if (known) return iterator_of(call, std::move(items));
  for (const Value& item : items) any = call.run.heap().merge(any, item, Sharing::uniform);
  return open_iterator(call, any);
}
Value chain(Call& call) { return chained(call, call.rest); }
Value chain_of(Call& call) {
  const auto parts = call.run.take(call.at(0), call.place);
  return parts ? chained(call, *parts) : open_iterator(call, {});
}
Value cartesian(Call& call) {
  std::vector<std::vector<Value>> columns;
  const Value again = option(call, "repeat");
  const auto times = again ? call.run.to_constant(again) : std::optional<std::int64_t>(1);
  if (!times || *times < 0 || *times > 8 || call.spread) return open_iterator(call, {});
  for (const Value& part : call.rest) {
    const auto items = call.run.take(part, call.place);
    if (!items) return open_iterator(call, {});
    columns.push_back(*items);
  }
  const auto once = columns;
  for (std::int64_t i = 1; i < *times; ++i) columns.insert(columns.end(), once.begin(), once.end());
  if (*times == 0) columns.clear();
  std::vector<std::vector<Value>> rows = {{}};
  for (const auto& column : columns) {
    std::vector<std::vector<Value>> longer;
    for (const auto& row : rows)
      for (const Value& item : column) {
        longer.push_back(row);
        longer.back().push_back(item);
      }
    rows = std::move(longer);
    if (rows.size() > most_items) return open_iterator(call, {});
  }
  std::vector<Value> tuples;
  tuples.reserve(rows.size());
  for (auto& row : rows) tuples.push_back(call.run.heap().tuple(std::move(row)));
  return iterator_of(call, std::move(tuples));
}
Value repeated(Call& call) {
  const Value times = call.at(1);
  const auto count = times ? call.run.to_constant(times) : std::nullopt;
  if (count && *count <= static_cast<std::int64_t>(most_items))
    return iterator_of(
        call, std::vector<Value>(static_cast<std::size_t>(std::max<std::int64_t>(*count, 0)), call.at(0)));
  return call.run.heap().open_list(call.at(0), times ? call.run.to_int(times) : nullptr, ListKind::iterator);
}
// Counting has no end: a range beyond any that a program could walk.
Value counting(Call& call) {
  auto* range = call.run.heap().make<values::Range>();
  const Int start = call.run.to_int(call.at(0)), step = call.run.to_int(call.at(1));
  if (!start || !step) return open_iterator(call, {});
  range->start = start;
  range->step = step;
  range->stop = call.run.symbols().constant(std::int64_t{1} << 50);
  return Value::of(Kind::range, range);
}
// Over and over again.
Value cycled(Call& call) { return open_iterator(call, call.run.element(call.at(0), call.place)); }
Value sliced(Call& call) {
  std::vector<std::optional<std::int64_t>> bounds;
  for (const Value& bound : call.rest) {
    const Value at = call.run.resolve(bound);
    const auto constant = call.run.to_constant(at);
    if (!constant && !at.is(Kind::none)) return open_iterator(call, call.run.element(call.at(0), call.place));
    bounds.push_back(constant);
  }
  if (bounds.empty() || bounds.size() > 3) return open_iterator(call, {});
  const std::int64_t from = bounds.size() == 1 ? 0 : bounds[0].value_or(0);
  const auto to = bounds.size() == 1 ? bounds[0] : bounds[1];
  const std::int64_t step = bounds.size() == 3 ? bounds[2].value_or(1) : 1;
  if (step <= 0) return open_iterator(call, {});
  const Value source = call.run.resolve(call.at(0));
  std::vector<Value> picked;
  if (source.is(Kind::range)) {
    const Value length = call.run.length_of(source, call.place);
    const auto size = call.run.to_constant(length);
    const auto end = to ? (size ? std::optional(std::min(*to, *size)) : to) : size;
    if (!end || *end > static_cast<std::int64_t>(most_items)) return open_iterator(call, {});
    for (std::int64_t i = from; i < *end; i += step)
      picked.push_back(call.run.subscript(source, call.run.heap().integer(i), nowhere));
    return iterator_of(call, std::move(picked));
  }
  const bool is_iterator = source.is(Kind::iterator) ||
      (source.is(Kind::list) && source.as<values::List>()->kind == ListKind::iterator);
  const auto items = call.run.elements(source, call.place);
  if (!items) return open_iterator(call, call.run.element(source, call.place));
  const auto size = static_cast<std::int64_t>(items->size());
  const std::int64_t end = to ? std::min(*to, size) : size;
  for (std::int64_t i = from; i < end; i += step) picked.push_back((*items)[static_cast<std::size_t>(i)]);
  if (is_iterator) {
    values::ListState rest;
    rest.items.assign(items->begin() + std::max<std::int64_t>(end, 0), items->end());
    call.run.heap().set_list(source, std::move(rest));
  }
  return iterator_of(call, std::move(picked));
}
Value accumulate(Call& call) {
  const auto items = call.run.take(call.at(0), call.place);
  const Value function = call.at(1) ? call.run.resolve(call.at(1)) : Value{};
  if (!items) return open_iterator(call, {});
  std::vector<Value> totals;
  Value total = call.at(2) && !call.run.resolve(call.at(2)).is(Kind::none) ? call.at(2) : Value{};
  if (total) totals.push_back(total);
  for (const Value& item : *items) {
    if (!total)
      total = item;
    else if (function && !function.is(Kind::none))
      total = call.run.call(function, {{total, item}, {}, false}, call.place);
    else
      total = call.run.binary(syntax::BinaryOp::add, total, item, nowhere);
    totals.push_back(total);
  }
  return iterator_of(call, std::move(totals));
}
Value pairwise(Call& call) {
  const auto items = call.run.take(call.at(0), call.place);
  if (!items) {
    const Value any = call.run.element(call.at(0), call.place);
    return open_iterator(call, call.run.heap().tuple({any, any}));
  }
  std::vector<Value> pairs;
  for (std::size_t i = 0; i + 1 < items->size(); ++i)
    pairs.push_back(call.run.heap().tuple({(*items)[i], (*items)[i + 1]}));
  return iterator_of(call, std::move(pairs));
}
Value zip_longest(Call& call) {
  if (call.spread) return open_iterator(call, {});
  const Value fill = option(call, "fillvalue");
  return call.run.zip_of(call.rest, true, fill ? fill : Value::none(), call.place);
}
template <bool ordered> Value picks(Call& call) {
  const auto items = call.run.take(call.at(0), call.place);
  if (!items) return open_iterator(call, {});
  const Value given = call.at(1);
  const auto count = given && !call.run.resolve(given).is(Kind::none)
      ? call.run.to_constant(given)
      : std::optional(static_cast<std::int64_t>(items->size()));
  if (!count || *count < 0) return open_iterator(call, {});
  std::vector<Value> rows;
  std::vector<std::size_t> chosen;
  bool too_many = false;
  const std::function<void(std::size_t)> extend = [&](std::size_t from) {
    if (rows.size() > most_items) {
      too_many = true;
      return;
    }
    if (chosen.size() == static_cast<std::size_t>(*count)) {
      std::vector<Value> row;
      row.reserve(chosen.size());
      for (const std::size_t i : chosen) row.push_back((*items)[i]);
      rows.push_back(call.run.heap().tuple(std::move(row)));
      return;
    }
    for (std::size_t i = ordered ? 0 : from; i < items->size() && !too_many; ++i) {
      if (ordered && std::find(chosen.begin(), chosen.end(), i) != chosen.end()) continue;
      chosen.push_back(i);
      extend(i + 1);
      chosen.pop_back();
    }
  };
  extend(0);
  return too_many ? open_iterator(call, {}) : iterator_of(call, std::move(rows));
}
Value starmap(Call& call) {
  const auto items = call.run.take(call.at(1), call.place);
  if (!items || items->size() > most_items) return open_iterator(call, {});
  std::vector<Value> results;
  for (const Value& item : *items) {
    const auto parts = call.run.elements(item, call.place);
    results.push_back(call.run.call(
        call.at(0), parts ? Arguments{*parts, {}, false} : Arguments{{}, {}, true}, call.place));
  }
  return iterator_of(call, std::move(results));
}
template <bool taking, bool until> Value filtered(Call& call) {
  const auto items = call.run.take(call.at(1), call.place);
  if (!items) return open_iterator(call, call.run.element(call.at(1), call.place));
  std::vector<Value> results;
  bool over = false;
  for (const Value& item : *items) {
    if (!over || !until) {
      const auto answer = call.run.symbols().decide(
          call.run.truth(call.run.call(call.at(0), {{item}, {}, false}, call.place)));
      if (answer == Answer::unknown) return open_iterator(call, call.run.element(call.at(1), call.place));
      over = answer == Answer::no;
    }
    if (over != taking)
      results.push_back(item);
    else if (taking && until)
      break;
  }
  return iterator_of(call, std::move(results));
}

}  // namespace

std::vector<Row> python_iteration_rows() {
  using enum RowKind;
  return {
      row("functools.partial", function, "function, *arguments, **keywords", partial),
      row("functools.partialmethod", function, "function, *arguments, **keywords", partial_method),
      row("functools.$method", function, "function, *arguments, **keywords", method_of_partial),
      row("functools.wraps", function, "wrapped, **options", wraps),
      row("functools.$wrapped", function, "wrapped, wrapper", wrapped),
      row("functools.update_wrapper", function, "wrapper, wrapped, **options", first_argument),
      row("functools.lru_cache", function, "maxsize=128, typed=False", lru_cache),
      row("functools.$keeps_last", function, "most, function", keeps_last),
      row("functools.cache", function, "function", keeps_all),
      row("functools.total_ordering", function, "cls", first_argument),
      row("functools.reduce", function, "function, iterable, initial", reduce),

      row("itertools.chain", function, "*iterables", chain),
      row("itertools.chain.from_iterable", function, "iterable", chain_of),
      row("itertools.product", function, "*iterables, **options", cartesian),
      row("itertools.repeat", function, "object, times", repeated),
      row("itertools.count", function, "start=0, step=1", counting),
      row("itertools.cycle", function, "iterable", cycled),
      row("itertools.islice", function, "iterable, *bounds", sliced),
      row("itertools.accumulate", function, "iterable, func=None, *, initial=None", accumulate),
      row("itertools.pairwise", function, "iterable", pairwise),
      row("itertools.zip_longest", function, "*iterables, **options", zip_longest),
      row("itertools.combinations", function, "iterable, r", picks<false>),
      row("itertools.permutations", function, "iterable, r=None", picks<true>),
      row("itertools.starmap", function, "function, iterable", starmap),
      row("itertools.takewhile", function, "predicate, iterable", filtered<true, true>),
      row("itertools.dropwhile", function, "predicate, iterable", filtered<false, true>),
      row("itertools.filterfalse", function, "predicate, iterable", filtered<false, false>),
  };
}

}  // namespace stepzero::libraries
