// The tools of Python's standard library that models are written with: math, operator, functools, itertools, collections, copy,
// dataclasses, enum, types, inspect, contextlib, logging.
#include "torch/shapes.hpp"

#include <cmath>
#include <limits>
#include <map>
#include <numeric>

namespace stepzero::torch {

using interpreter::Arguments;
using syntax::Name;
using values::Instance;
using values::Kind;
using values::ListKind;

namespace {

constexpr std::size_t most_items = 1024;
constexpr std::size_t most_copies = 20'000;

Value unknown_of(Call& call) {
  Sharing sharing = Sharing::uniform;
  bool external = false;
  for (const auto* part : {&call.arguments, &call.rest})
    for (const Value& argument : *part) {
      sharing = symbolic::mix(sharing, call.run.heap().sharing(argument));
      external = external || call.run.heap().is_external(argument);
    }
  const Value made = call.run.heap().unknown("", sharing, call.place);
  made.as<values::Unknown>()->external = external;
  return made;
}
Value unknown_real(Call& call) {
  const Value made = unknown_of(call);
  made.as<values::Unknown>()->is_real = true;
  return made;
}
void keep(Call& call, Instance& object, std::string_view name, Value value) {
  call.run.heap().set(call.run.heap().slot_of(object.attributes, Name(name)), value);
}
Value option(const Call& call, std::string_view name) {
  for (const auto& [key, value] : call.options)
    if (key.text() == name) return call.run.resolve(value);
  return {};
}
Value kept(const Call& call, std::string_view name) {
  const values::Slot* slot = call.self.as<Instance>()->attributes.find(Name(name));
  return slot ? call.run.resolve(slot->value) : Value{};
}
Value bound_to(Call& call, Value self, std::string_view row) {
  auto* bound = call.run.heap().make<values::Bound>();
  bound->self = self;
  bound->function = call.run.library_symbol(row);
  return Value::of(Kind::bound, bound);
}

// ---------------------------------------------------------------- math

std::optional<double> number(Call& call, Value value) {
  value = call.run.resolve(value);
  if (value.is(Kind::real)) return value.real();
  if (const auto constant = call.run.to_constant(value)) return static_cast<double>(*constant);
  return std::nullopt;
}
template <double (*function)(double)> Value real_function(Call& call) {
  const auto x = number(call, call.at(0));
  if (!x) return unknown_real(call);
  const double y = function(*x);
  if (std::isnan(y) && !std::isnan(*x)) return call.run.raise_builtin("ValueError", call.place);
  return Value::of(y);
}
template <double (*function)(double, double)> Value real_function_of_two(Call& call) {
  const auto x = number(call, call.at(0)), y = number(call, call.at(1));
  return x && y ? Value::of(function(*x, *y)) : unknown_real(call);
}
template <double (*to)(double)> Value rounded(Call& call) {
  const Value value = call.run.resolve(call.at(0));
  if (value.is(Kind::integer)) return value;
  if (value.is(Kind::real) && std::abs(value.real()) < 9e15) return call.run.heap().integer(static_cast<std::int64_t>(to(value.real())));
  if (value.is(Kind::choice)) return call.run.over_choices(value, [&](Value side) {
    Call one = call;
    one.arguments[0] = side;
    return rounded<to>(one);
  }, call.place);
  return unknown_of(call);
}
Value logarithm(Call& call) {
  const auto x = number(call, call.at(0));
  const Value base = call.at(1) ? call.run.resolve(call.at(1)) : Value{};
  if (!x || *x <= 0) return unknown_real(call);
  if (!base || base.is(Kind::none)) return Value::of(std::log(*x));
  const auto b = number(call, base);
  return b && *b > 0 && *b != 1 ? Value::of(std::log(*x) / std::log(*b)) : unknown_real(call);
}
Value integer_root(Call& call) {
  const auto x = call.run.to_constant(call.at(0));
  if (!x || *x < 0) return unknown_of(call);
  auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(*x)));
  while (root * root > *x) --root;
  while ((root + 1) * (root + 1) <= *x) ++root;
  return call.run.heap().integer(root);
}
template <bool common_multiple> Value divisor(Call& call) {
  std::int64_t total = common_multiple ? 1 : 0;
  for (const Value& item : call.rest) {
    const auto x = call.run.to_constant(item);
    if (!x) return unknown_of(call);
    total = common_multiple ? std::lcm(total, *x) : std::gcd(total, *x);
  }
  return call.run.heap().integer(total);
}
Value product_of(Call& call) {
  const auto items = call.run.take(call.at(0), call.place, true);
  if (!items) return unknown_of(call);
  Value total = call.at(1) ? call.at(1) : call.run.heap().integer(1);
  const syntax::Expr nowhere{syntax::ExprKind::none, {}};
  for (const Value& item : *items) total = call.run.binary(syntax::BinaryOp::mul, total, item, nowhere);
  return total;
}
Value factorial(Call& call) {
  const auto n = call.run.to_constant(call.at(0));
  if (!n || *n < 0 || *n > 20) return unknown_of(call);
  std::int64_t total = 1;
  for (std::int64_t i = 2; i <= *n; ++i) total *= i;
  return call.run.heap().integer(total);
}
Value combinations_count(Call& call) {
  const auto n = call.run.to_constant(call.at(0)), k = call.run.to_constant(call.at(1));
  if (!n || !k || *n < 0 || *k < 0 || *n > 60) return unknown_of(call);
  if (*k > *n) return call.run.heap().integer(0);
  std::int64_t total = 1;
  for (std::int64_t i = 1; i <= *k; ++i) total = total * (*n - *k + i) / i;
  return call.run.heap().integer(total);
}
Value is_close(Call& call) {
  const auto a = number(call, call.at(0)), b = number(call, call.at(1));
  const auto relative = number(call, call.at(2)), absolute = number(call, call.at(3));
  if (!a || !b || !relative || !absolute) return unknown_of(call);
  return call.run.heap().boolean(*a == *b || std::abs(*a - *b) <= std::max(*relative * std::max(std::abs(*a), std::abs(*b)), *absolute));
}
template <bool (*test)(double)> Value real_test(Call& call) {
  const auto x = number(call, call.at(0));
  return x ? call.run.heap().boolean(test(*x)) : unknown_of(call);
}
Value pi(Call&) { return Value::of(3.141592653589793); }
Value tau(Call&) { return Value::of(6.283185307179586); }
Value euler(Call&) { return Value::of(2.718281828459045); }
Value infinity(Call&) { return Value::of(std::numeric_limits<double>::infinity()); }
Value not_a_number(Call&) { return Value::of(std::numeric_limits<double>::quiet_NaN()); }

// ---------------------------------------------------------------- operator

template <syntax::BinaryOp op> Value operation(Call& call) {
  const syntax::Expr nowhere{syntax::ExprKind::none, {}};
  return call.run.binary(op, call.at(0), call.at(1), call.node ? *call.node : nowhere);
}
template <syntax::CompareOp op> Value comparison(Call& call) { return call.run.compare(op, call.at(0), call.at(1)); }
Value negation(Call& call) {
  const syntax::Expr nowhere{syntax::ExprKind::none, {}};
  return call.run.binary(syntax::BinaryOp::sub, call.run.heap().integer(0), call.at(0), nowhere);
}
Value item_of(Call& call) {
  const syntax::Expr nowhere{syntax::ExprKind::none, {}};
  return call.run.subscript(call.at(0), call.at(1), nowhere);
}
Value has_item(Call& call) { return call.run.compare(syntax::CompareOp::in, call.at(1), call.at(0)); }
// itemgetter(…) and attrgetter(…) give functions that remember what to get.
template <bool items> Value getter(Call& call) {
  return bound_to(call, call.run.heap().tuple(call.rest), items ? "operator.$items" : "operator.$attributes");
}
template <bool items> Value gotten(Call& call) {
  const auto wanted = call.run.elements(call.self, call.place);
  const syntax::Expr nowhere{syntax::ExprKind::none, {}};
  std::vector<Value> found;
  for (const Value& each : wanted ? *wanted : std::vector<Value>{}) {
    if (items) {
      found.push_back(call.run.subscript(call.at(0), each, nowhere));
      continue;
    }
    const Value path = call.run.resolve(each);
    Value at = call.at(0);
    if (!path.is(Kind::string)) return unknown_of(call);
    for (std::string_view rest = path.text(); !rest.empty();) {
      const auto dot = rest.find('.');
      at = call.run.attribute(at, Name(rest.substr(0, dot)), call.place);
      rest = dot == std::string_view::npos ? std::string_view{} : rest.substr(dot + 1);
    }
    found.push_back(at);
  }
  if (found.empty()) return unknown_of(call);
  return found.size() == 1 ? found.front() : call.run.heap().tuple(std::move(found));
}

// ---------------------------------------------------------------- functools

Value first_argument(Call& call) { return call.at(0); }
// A decorator that may be used with and without parentheses, and leaves the function as it is.
Value transparent(Call& call) {
  const Value given = call.run.resolve(call.at(0));
  switch (given.kind) {
  case Kind::function: case Kind::bound: case Kind::partial: case Kind::class_: case Kind::library: return given;
  default: return call.run.library_symbol("$same");
  }
}
Value partial(Call& call) {
  auto* made = call.run.heap().make<values::Partial>();
  made->function = call.run.resolve(call.at(0));
  made->arguments = call.rest;
  made->keywords = call.options;
  return Value::of(Kind::partial, made);
}
Value partial_new(Call& call) { return partial(call); }
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
  *made = *wrapper.as<values::Function>();
  made->attributes = {};
  const Value function = original.is(Kind::bound) ? call.run.resolve(original.as<values::Bound>()->function) : original;
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
  for (std::size_t i = 1; i < items->size(); ++i) total = call.run.call(call.at(0), {{total, (*items)[i]}, {}, false}, call.place);
  return total;
}

// ---------------------------------------------------------------- itertools

Value iterator_of(Call& call, std::vector<Value> items) { return call.run.heap().list(std::move(items), ListKind::iterator); }
Value open_iterator(Call& call, Value any) { return call.run.heap().open_list(any ? any : call.run.heap().external("", call.place), nullptr, ListKind::iterator); }

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
  if (!times || *times < 0 || *times > 8) return open_iterator(call, {});
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
  for (auto& row : rows) tuples.push_back(call.run.heap().tuple(std::move(row)));
  return iterator_of(call, std::move(tuples));
}
Value repeated(Call& call) {
  const Value times = call.at(1);
  const auto count = times ? call.run.to_constant(times) : std::nullopt;
  if (count && *count <= static_cast<std::int64_t>(most_items)) return iterator_of(call, std::vector<Value>(static_cast<std::size_t>(std::max<std::int64_t>(*count, 0)), call.at(0)));
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
    const syntax::Expr nowhere{syntax::ExprKind::none, {}};
    const Value length = call.run.length_of(source, call.place);
    const auto size = call.run.to_constant(length);
    const auto end = to ? (size ? std::optional(std::min(*to, *size)) : to) : size;
    if (!end || *end > static_cast<std::int64_t>(most_items)) return open_iterator(call, {});
    for (std::int64_t i = from; i < *end; i += step) picked.push_back(call.run.subscript(source, call.run.heap().integer(i), nowhere));
    return iterator_of(call, std::move(picked));
  }
  const bool is_iterator = source.is(Kind::iterator) || (source.is(Kind::list) && source.as<values::List>()->kind == ListKind::iterator);
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
  const syntax::Expr nowhere{syntax::ExprKind::none, {}};
  std::vector<Value> totals;
  Value total = call.at(2) && !call.run.resolve(call.at(2)).is(Kind::none) ? call.at(2) : Value{};
  if (total) totals.push_back(total);
  for (const Value& item : *items) {
    if (!total) total = item;
    else if (function && !function.is(Kind::none)) total = call.run.call(function, {{total, item}, {}, false}, call.place);
    else total = call.run.binary(syntax::BinaryOp::add, total, item, nowhere);
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
  for (std::size_t i = 0; i + 1 < items->size(); ++i) pairs.push_back(call.run.heap().tuple({(*items)[i], (*items)[i + 1]}));
  return iterator_of(call, std::move(pairs));
}
Value zip_longest(Call& call) {
  const Value fill = option(call, "fillvalue");
  return call.run.zip_of(call.rest, true, fill ? fill : Value::none(), call.place);
}
template <bool ordered> Value picks(Call& call) {
  const auto items = call.run.take(call.at(0), call.place);
  if (!items) return open_iterator(call, {});
  const Value given = call.at(1);
  const auto count = given && !call.run.resolve(given).is(Kind::none) ? call.run.to_constant(given) : std::optional(static_cast<std::int64_t>(items->size()));
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
    results.push_back(call.run.call(call.at(0), parts ? Arguments{*parts, {}, false} : Arguments{{}, {}, true}, call.place));
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
      const auto answer = call.run.symbols().decide(call.run.truth(call.run.call(call.at(0), {{item}, {}, false}, call.place)));
      if (answer == symbolic::Answer::unknown) return open_iterator(call, call.run.element(call.at(1), call.place));
      over = answer == symbolic::Answer::no;
    }
    if (over != taking) results.push_back(item);
    else if (taking && until) break;
  }
  return iterator_of(call, std::move(results));
}

// ---------------------------------------------------------------- collections

Value ordered_dict(Call& call) {
  Arguments arguments;
  if (call.at(0)) arguments.positional.push_back(call.at(0));
  arguments.keywords = call.options;
  arguments.spread = call.spread;
  return call.run.call(call.run.library_symbol("builtins.dict"), std::move(arguments), call.place);
}
Value default_dict(Call& call) {
  Arguments arguments{call.rest, call.options, call.spread};
  const Value dict = call.run.resolve(call.run.call(call.run.library_symbol("builtins.dict"), std::move(arguments), call.place));
  if (dict.is(Kind::dict)) dict.as<values::Dict>()->factory = call.at(0) ? call.run.resolve(call.at(0)) : Value::none();
  return dict;
}
Value counter(Call& call) {
  const Value dict = call.run.heap().dict({});
  dict.as<values::Dict>()->counts = true;
  const Value given = call.run.resolve(call.at(0));
  if (given.is(Kind::dict)) call.run.dict_update(dict, given, call.place);
  else if (given && !given.is(Kind::none)) call.run.count_items(dict, given, call.place);
  for (const auto& [name, value] : call.options) call.run.dict_set(dict, call.run.heap().string(name.text()), value);
  return dict;
}
Value deque(Call& call) {
  const Value most = call.run.resolve(call.at(1));
  Value made;
  if (!call.at(0)) made = call.run.heap().list({}, ListKind::deque);
  else if (auto items = call.run.take(call.at(0), call.place)) {
    if (const auto limit = call.run.to_constant(most); limit && *limit >= 0 && items->size() > static_cast<std::size_t>(*limit))
      items->erase(items->begin(), items->end() - *limit);
    made = call.run.heap().list(std::move(*items), ListKind::deque);
  } else {
    made = call.run.heap().open_list(call.run.element(call.at(0), call.place), nullptr, ListKind::deque);
  }
  if (most && !most.is(Kind::none)) made.as<values::List>()->most = call.run.to_int(most);
  return made;
}
Value named_tuple(Call& call) {
  const Value name = call.run.resolve(call.at(0)), given = call.run.resolve(call.at(1));
  std::vector<values::ClassField> fields;
  const auto add = [&](std::string_view text) {
    values::ClassField field;
    field.name = Name(text);
    fields.push_back(field);
  };
  if (given.is(Kind::string)) {
    std::string word;
    for (const char c : std::string(given.text()) + " ") {
      if (c != ' ' && c != ',' && c != '\n' && c != '\t') word += c;
      else if (!word.empty()) {
        add(word);
        word.clear();
      }
    }
  } else {
    const auto names = call.run.elements(given, call.place);
    if (!names) return call.run.heap().external("", call.place);
    for (const Value& raw : *names) {
      Value each = call.run.resolve(raw);
      // NamedTuple("P", [("x", int)]): pairs of a name and a type.
      if (each.is(Kind::tuple) && !each.as<values::Tuple>()->items.empty()) each = call.run.resolve(each.as<values::Tuple>()->items[0]);
      if (!each.is(Kind::string)) return call.run.heap().external("", call.place);
      add(each.text());
    }
  }
  if (const Value defaults = option(call, "defaults"); defaults && !defaults.is(Kind::none)) {
    const auto items = call.run.elements(defaults, call.place);
    if (!items || items->size() > fields.size()) return call.run.heap().external("", call.place);
    for (std::size_t i = 0; i < items->size(); ++i) fields[fields.size() - items->size() + i].default_value = (*items)[i];
  }
  return call.run.named_tuple_class(name.is(Kind::string) ? name.text() : std::string_view("tuple"), std::move(fields), call.place);
}

// ---------------------------------------------------------------- copy

using Copies = std::map<const values::Object*, Value>;

// A copy of everything that can change; what cannot is shared.
Value deep_copy(Call& call, Value value, Copies& copies) {
  values::Heap& heap = call.run.heap();
  value = call.run.resolve(value);
  if (copies.size() > most_copies) return heap.external("", call.place);
  switch (value.kind) {
  case Kind::list: case Kind::dict: case Kind::instance: case Kind::tensor: case Kind::tuple: break;
  default: return value;
  }
  if (const auto known = copies.find(value.object()); known != copies.end()) return known->second;
  switch (value.kind) {
  case Kind::tuple: {
    std::vector<Value> items;
    for (const Value& item : value.as<values::Tuple>()->items) items.push_back(deep_copy(call, item, copies));
    const Value made = heap.tuple(std::move(items));
    made.as<values::Tuple>()->cls = value.as<values::Tuple>()->cls;
    return made;
  }
  case Kind::list: {
    const auto* from = value.as<values::List>();
    const Value made = heap.list({}, from->kind);
    made.as<values::List>()->most = from->most;
    copies[value.object()] = made;
    values::ListState state = *values::Heap::list_state(value);
    for (Value& item : state.items) item = deep_copy(call, item, copies);
    *values::Heap::list_state(made) = std::move(state);
    return made;
  }
  case Kind::dict: {
    const Value made = heap.dict({});
    made.as<values::Dict>()->factory = value.as<values::Dict>()->factory;
    made.as<values::Dict>()->counts = value.as<values::Dict>()->counts;
    copies[value.object()] = made;
    values::DictState state = *values::Heap::dict_state(value);
    for (auto& [key, item] : state.items) item = deep_copy(call, item, copies);
    *values::Heap::dict_state(made) = std::move(state);
    return made;
  }
  case Kind::tensor: {
    const Value made = heap.tensor(*value.as<Tensor>()->now(), call.place);
    made.as<Tensor>()->role = value.as<Tensor>()->role;
    copies[value.object()] = made;
    return made;
  }
  default: {
    const auto* from = value.as<Instance>();
    if (from->cls && from->cls->is_enum) return value;
    auto* made = heap.make<Instance>();
    made->born = from->born;
    made->cls = from->cls;
    made->native = from->native;
    made->open = from->open;
    made->name = from->name;
    made->symbolic = from->symbolic;
    const Value copy = Value::of(Kind::instance, made);
    copies[value.object()] = copy;
    for (const auto& [name, slot] : from->attributes.entries())
      if (slot->value) heap.set(heap.slot_of(made->attributes, name), deep_copy(call, slot->value, copies));
    return copy;
  }
  }
}
Value deep_copied(Call& call) {
  Copies copies;
  return deep_copy(call, call.at(0), copies);
}
Value copied(Call& call) {
  const Value value = call.run.resolve(call.at(0));
  values::Heap& heap = call.run.heap();
  if (value.is(Kind::list) || value.is(Kind::dict)) return call.run.call(call.run.attribute(value, Name("copy"), call.place), {}, call.place);
  if (value.is(Kind::tensor)) {
    const Value made = heap.tensor(*value.as<Tensor>()->now(), call.place);
    made.as<Tensor>()->role = value.as<Tensor>()->role;
    return made;
  }
  if (!value.is(Kind::instance) || (value.as<Instance>()->cls && value.as<Instance>()->cls->is_enum)) return value;
  const auto* from = value.as<Instance>();
  auto* made = heap.make<Instance>();
  made->born = from->born;
  made->cls = from->cls;
  made->native = from->native;
  made->open = from->open;
  made->name = from->name;
  made->symbolic = from->symbolic;
  for (const auto& [name, slot] : from->attributes.entries())
    if (slot->value) heap.set(heap.slot_of(made->attributes, name), slot->value);
  return Value::of(Kind::instance, made);
}

// ---------------------------------------------------------------- dataclasses, enum, types

Value dataclass(Call& call) {
  const Value cls = call.run.resolve(call.at(0));
  const auto flag = [&](std::string_view name, bool otherwise) {
    const Value given = option(call, name);
    return given ? call.run.to_constant(given) == 1 : otherwise;
  };
  if (cls.is(Kind::class_)) {
    call.run.make_dataclass(*cls.as<values::Class>(), flag("kw_only", false), flag("init", true));
    return cls;
  }
  auto* made = call.run.heap().make<values::Partial>();
  made->function = call.run.library_symbol("dataclasses.dataclass");
  made->keywords = call.options;
  return Value::of(Kind::partial, made);
}
Value dataclass_init(Call& call) {
  if (!call.self.is(Kind::instance)) return Value::none();
  call.run.fill_dataclass(*call.self.as<Instance>(), {call.rest, call.options, call.spread}, call.place);
  return Value::none();
}
Value hold(Call& call) {
  if (call.self.is(Kind::instance)) call.run.hold(*call.self.as<Instance>(), {call.rest, call.options, call.spread}, call.place);
  return Value::none();
}
// Row of a constructor that keeps its keyword arguments as attributes.
Value keep_options(Call& call) {
  Instance& object = *call.self.as<Instance>();
  for (const auto& [name, value] : call.options) keep(call, object, name.text(), value);
  object.open = call.spread;
  return {};
}
Value replaced(Call& call) {
  const Value from = call.run.resolve(call.at(0));
  if (!from.is(Kind::instance) || !from.as<Instance>()->cls) return unknown_of(call);
  Arguments arguments{{}, call.options, call.spread};
  const auto* cls = from.as<Instance>()->cls;
  for (const values::ClassField& field : cls->fields) {
    if (!field.in_init || field.init_only) continue;
    const bool given = std::any_of(call.options.begin(), call.options.end(), [&](const auto& one) { return one.first == field.name; });
    if (!given) arguments.keywords.push_back({field.name, call.run.attribute(from, field.name, call.place)});
  }
  return call.run.call(Value::of(Kind::class_, cls), std::move(arguments), call.place);
}
Value as_plain(Call& call, Value value, bool as_dict, int depth) {
  value = call.run.resolve(value);
  if (depth > 8) return call.run.heap().external("", call.place);
  if (value.is(Kind::instance) && value.as<Instance>()->cls && value.as<Instance>()->cls->is_dataclass) {
    std::vector<std::pair<Value, Value>> items;
    std::vector<Value> plain;
    for (const auto& [name, field] : call.run.field_values(*value.as<Instance>())) {
      const Value inner = as_plain(call, field ? field : call.run.heap().external(name.text()), as_dict, depth + 1);
      items.push_back({call.run.heap().string(name.text()), inner});
      plain.push_back(inner);
    }
    return as_dict ? call.run.heap().dict(std::move(items)) : call.run.heap().tuple(std::move(plain));
  }
  if (value.is(Kind::tuple) || (value.is(Kind::list) && !values::Heap::list_state(value)->open)) {
    std::vector<Value> items;
    for (const Value& item : value.is(Kind::tuple) ? value.as<values::Tuple>()->items : values::Heap::list_state(value)->items)
      items.push_back(as_plain(call, item, as_dict, depth + 1));
    return value.is(Kind::tuple) ? call.run.heap().tuple(std::move(items)) : call.run.heap().list(std::move(items), value.as<values::List>()->kind);
  }
  if (value.is(Kind::dict)) {
    const Value made = call.run.heap().dict({});
    values::DictState state = *values::Heap::dict_state(value);
    for (auto& [key, item] : state.items) item = as_plain(call, item, as_dict, depth + 1);
    *values::Heap::dict_state(made) = std::move(state);
    return made;
  }
  return value;
}
Value as_dict(Call& call) { return as_plain(call, call.at(0), true, 0); }
Value as_tuple(Call& call) { return as_plain(call, call.at(0), false, 0); }
const values::Class* dataclass_of(Call& call, Value value) {
  value = call.run.resolve(value);
  const values::Class* cls = value.is(Kind::class_) ? value.as<values::Class>() : value.is(Kind::instance) ? value.as<Instance>()->cls : nullptr;
  return cls && cls->is_dataclass ? cls : nullptr;
}
Value is_dataclass(Call& call) {
  const Value value = call.run.resolve(call.at(0));
  if (value.is(Kind::unknown) || value.is(Kind::choice)) return unknown_of(call);
  return call.run.heap().boolean(dataclass_of(call, value) != nullptr);
}
Value fields_of(Call& call) {
  const values::Class* cls = dataclass_of(call, call.at(0));
  if (!cls) return unknown_of(call);
  std::vector<Value> items;
  for (const values::ClassField& field : cls->fields) {
    if (field.init_only) continue;
    Instance* one = call.run.make_native("dataclasses.Field", call.place);
    keep(call, *one, "name", call.run.heap().string(field.name.text()));
    keep(call, *one, "init", call.run.heap().boolean(field.in_init));
    keep(call, *one, "default", field.default_value ? field.default_value : call.run.library_symbol("dataclasses.MISSING"));
    keep(call, *one, "default_factory", field.factory ? field.factory : call.run.library_symbol("dataclasses.MISSING"));
    items.push_back(Value::of(Kind::instance, one));
  }
  return call.run.heap().tuple(std::move(items));
}
Value bind_by_hand(Call& call) {
  auto* bound = call.run.heap().make<values::Bound>();
  bound->function = call.at(0);
  bound->self = call.at(1);
  return Value::of(Kind::bound, bound);
}

// ---------------------------------------------------------------- inspect, typing, contextlib

Value signature_of(Call& call) {
  Value function = call.run.resolve(call.at(0));
  bool bound = false;
  if (function.is(Kind::bound)) {
    function = call.run.resolve(function.as<values::Bound>()->function);
    bound = true;
  }
  if (function.is(Kind::class_)) {
    function = call.run.resolve(call.run.find_in_order(function.as<values::Class>()->order, Name("__init__")));
    bound = true;
  }
  // A wrapper answers for what it wraps.
  for (int i = 0; i < 8 && function.is(Kind::function); ++i) {
    const values::Slot* inner = function.as<values::Function>()->attributes.find(Name("__wrapped__"));
    if (!inner || !call.run.resolve(inner->value).is(Kind::function)) break;
    function = call.run.resolve(inner->value);
  }
  if (!function.is(Kind::function) || !function.as<values::Function>()->parameters) return call.run.heap().external("", call.place);
  const auto* known = function.as<values::Function>();
  std::vector<std::pair<Value, Value>> items;
  const auto& list = known->parameters->list;
  for (std::size_t i = bound ? 1 : 0; i < list.size(); ++i) {
    constexpr std::string_view kinds[] = {"POSITIONAL_ONLY", "POSITIONAL_OR_KEYWORD", "KEYWORD_ONLY", "VAR_POSITIONAL", "VAR_KEYWORD"};
    Instance* one = call.run.make_native("inspect.Parameter", call.place);
    const Value name = call.run.heap().string(list[i].name.text());
    for (const std::string_view kind : kinds) keep(call, *one, kind, call.run.library_symbol("inspect.Parameter." + std::string(kind)));
    keep(call, *one, "name", name);
    keep(call, *one, "kind", call.run.library_symbol("inspect.Parameter." + std::string(kinds[static_cast<int>(list[i].kind)])));
    keep(call, *one, "default", i < known->defaults.size() && known->defaults[i] ? known->defaults[i] : call.run.library_symbol("inspect.Parameter.empty"));
    items.push_back({name, Value::of(Kind::instance, one)});
  }
  Instance* made = call.run.make_native("inspect.Signature", call.place);
  keep(call, *made, "parameters", call.run.heap().dict(std::move(items)));
  return Value::of(Kind::instance, made);
}
template <Kind kind> Value is_kind(Call& call) {
  const Value value = call.run.resolve(call.at(0));
  if (value.is(Kind::unknown) || value.is(Kind::choice) || value.is(Kind::library)) return unknown_of(call);
  return call.run.heap().boolean(value.is(kind) || (kind == Kind::function && value.is(Kind::bound) && call.row.path.ends_with("method")));
}
Value second_argument(Call& call) { return call.at(1); }
Value never(Call& call) { return call.run.heap().boolean(false); }
Value null_context(Call& call) {
  Instance* made = call.run.make_native("contextlib.context", call.place);
  keep(call, *made, "$value", call.at(0));
  return Value::of(Kind::instance, made);
}
Value entered(Call& call) {
  const Value value = kept(call, "$value");
  return value ? value : call.self;
}
Value enter_context(Call& call) {
  const Value manager = call.run.resolve(call.at(0));
  if (!manager.is(Kind::instance)) return call.run.heap().external("", call.place);
  const Value enter = call.run.find_method(manager.as<Instance>(), Name("__enter__"));
  return enter ? call.run.call(enter, {}, call.place) : manager;
}
Value nothing(Call&) { return Value::none(); }
Value logger(Call& call) { return Value::of(Kind::instance, call.run.make_native("logging.Logger", call.place)); }
Value joined_path(Call& call) {
  std::string path;
  for (const Value& raw : call.rest) {
    const Value part = call.run.resolve(raw);
    if (!part.is(Kind::string)) return unknown_of(call);
    if (part.text().starts_with('/') || path.empty()) path = part.text();
    else path += (path.ends_with('/') ? "" : "/") + std::string(part.text());
  }
  return call.run.heap().string(path);
}
Value base_name(Call& call) {
  const Value path = call.run.resolve(call.at(0));
  if (!path.is(Kind::string)) return unknown_of(call);
  return call.run.heap().string(path.text().substr(path.text().rfind('/') + 1));
}
Value random_element(Call& call) {
  return call.run.heap().unknown("", Sharing::local, call.place);
}

double truncated(double x) { return std::trunc(x); }
double up(double x) { return std::ceil(x); }
double down(double x) { return std::floor(x); }
double square_root(double x) { return std::sqrt(x); }
double log2_of(double x) { return std::log2(x); }
double log10_of(double x) { return std::log10(x); }
double log1p_of(double x) { return std::log1p(x); }
double exp_of(double x) { return std::exp(x); }
double expm1_of(double x) { return std::expm1(x); }
double sine(double x) { return std::sin(x); }
double cosine(double x) { return std::cos(x); }
double tangent(double x) { return std::tan(x); }
double arc_tangent(double x) { return std::atan(x); }
double hyperbolic(double x) { return std::tanh(x); }
double magnitude(double x) { return std::abs(x); }
double to_radians(double x) { return x * 3.141592653589793 / 180; }
double to_degrees(double x) { return x * 180 / 3.141592653589793; }
double error_function(double x) { return std::erf(x); }
double to_power(double x, double y) { return std::pow(x, y); }
double remainder_of(double x, double y) { return std::fmod(x, y); }
double hypotenuse(double x, double y) { return std::hypot(x, y); }
double angle(double x, double y) { return std::atan2(x, y); }
double signed_as(double x, double y) { return std::copysign(x, y); }
bool is_nan(double x) { return std::isnan(x); }
bool is_infinite(double x) { return std::isinf(x); }
bool is_finite(double x) { return std::isfinite(x); }

} // namespace

std::vector<Row> python_tool_rows() {
  using enum RowKind;
  using syntax::BinaryOp;
  using syntax::CompareOp;
  std::vector<Row> rows = {
      row("math.sqrt", function, "x", real_function<square_root>),
      row("math.ceil", function, "x", rounded<up>),
      row("math.floor", function, "x", rounded<down>),
      row("math.trunc", function, "x", rounded<truncated>),
      row("math.isqrt", function, "n", integer_root),
      row("math.prod", function, "iterable, *, start=1", product_of),
      row("math.gcd", function, "*integers", divisor<false>),
      row("math.lcm", function, "*integers", divisor<true>),
      row("math.factorial", function, "n", factorial),
      row("math.comb", function, "n, k", combinations_count),
      row("math.log", function, "x, base=None", logarithm),
      row("math.log2", function, "x", real_function<log2_of>),
      row("math.log10", function, "x", real_function<log10_of>),
      row("math.log1p", function, "x", real_function<log1p_of>),
      row("math.exp", function, "x", real_function<exp_of>),
      row("math.expm1", function, "x", real_function<expm1_of>),
      row("math.sin", function, "x", real_function<sine>),
      row("math.cos", function, "x", real_function<cosine>),
      row("math.tan", function, "x", real_function<tangent>),
      row("math.atan", function, "x", real_function<arc_tangent>),
      row("math.tanh", function, "x", real_function<hyperbolic>),
      row("math.fabs", function, "x", real_function<magnitude>),
      row("math.erf", function, "x", real_function<error_function>),
      row("math.radians", function, "x", real_function<to_radians>),
      row("math.degrees", function, "x", real_function<to_degrees>),
      row("math.pow", function, "x, y", real_function_of_two<to_power>),
      row("math.fmod", function, "x, y", real_function_of_two<remainder_of>),
      row("math.hypot", function, "x, y", real_function_of_two<hypotenuse>),
      row("math.atan2", function, "y, x", real_function_of_two<angle>),
      row("math.copysign", function, "x, y", real_function_of_two<signed_as>),
      row("math.isclose", function, "a, b, *, rel_tol=1e-09, abs_tol=0.0", is_close),
      row("math.isnan", function, "x", real_test<is_nan>),
      row("math.isinf", function, "x", real_test<is_infinite>),
      row("math.isfinite", function, "x", real_test<is_finite>),
      row("math.pi", constant, "", pi),
      row("math.tau", constant, "", tau),
      row("math.e", constant, "", euler),
      row("math.inf", constant, "", infinity),
      row("math.nan", constant, "", not_a_number),

      row("operator.add", function, "a, b", operation<BinaryOp::add>),
      row("operator.sub", function, "a, b", operation<BinaryOp::sub>),
      row("operator.mul", function, "a, b", operation<BinaryOp::mul>),
      row("operator.truediv", function, "a, b", operation<BinaryOp::div>),
      row("operator.floordiv", function, "a, b", operation<BinaryOp::floordiv>),
      row("operator.mod", function, "a, b", operation<BinaryOp::mod>),
      row("operator.pow", function, "a, b", operation<BinaryOp::pow>),
      row("operator.matmul", function, "a, b", operation<BinaryOp::matmul>),
      row("operator.and_", function, "a, b", operation<BinaryOp::bit_and>),
      row("operator.or_", function, "a, b", operation<BinaryOp::bit_or>),
      row("operator.iadd", function, "a, b", operation<BinaryOp::add>),
      row("operator.concat", function, "a, b", operation<BinaryOp::add>),
      row("operator.neg", function, "a", negation),
      row("operator.eq", function, "a, b", comparison<CompareOp::eq>),
      row("operator.ne", function, "a, b", comparison<CompareOp::ne>),
      row("operator.lt", function, "a, b", comparison<CompareOp::lt>),
      row("operator.le", function, "a, b", comparison<CompareOp::le>),
      row("operator.gt", function, "a, b", comparison<CompareOp::gt>),
      row("operator.ge", function, "a, b", comparison<CompareOp::ge>),
      row("operator.getitem", function, "a, b", item_of),
      row("operator.contains", function, "a, b", has_item),
      row("operator.itemgetter", function, "*items", getter<true>),
      row("operator.attrgetter", function, "*names", getter<false>),
      row("operator.$items", function, "object", gotten<true>),
      row("operator.$attributes", function, "object", gotten<false>),

      row("functools.partial", function, "function, *arguments, **keywords", partial),
      row("functools.partialmethod", function, "function, *arguments, **keywords", partial_new),
      row("functools.wraps", function, "wrapped, **options", wraps),
      row("functools.$wrapped", function, "wrapped, wrapper", wrapped),
      row("functools.update_wrapper", function, "wrapper, wrapped, **options", first_argument),
      row("functools.lru_cache", function, "maxsize=None, typed=False", transparent),
      row("functools.cache", function, "function", first_argument),
      row("functools.total_ordering", function, "cls", first_argument),
      row("functools.reduce", function, "function, iterable, initial", reduce),

      row("itertools.chain", function, "*iterables", chain),
      row("itertools.chain.from_iterable", function, "iterable", chain_of),
      row("itertools.product", function, "*iterables, **options", cartesian),
      row("itertools.repeat", function, "object, times", repeated),
      row("itertools.count", function, "start=0, step=1", counting),
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

      row("collections.OrderedDict", function, "items, **options", ordered_dict),
      row("collections.defaultdict", function, "factory, *more, **options", default_dict),
      row("collections.Counter", function, "items, **options", counter),
      row("collections.deque", function, "items, maxlen=None", deque),
      row("collections.namedtuple", function, "typename, field_names, **options", named_tuple),
      row("typing.NamedTuple", function, "typename, fields", named_tuple),

      row("copy.copy", function, "x", copied),
      row("copy.deepcopy", function, "x, memo=None", deep_copied),

      row("dataclasses.dataclass", function, "cls, **options", dataclass),
      row("$dataclass_init", function, "*arguments, **options", dataclass_init),
      row("$hold", function, "*arguments, **options", hold),
      row("dataclasses.field", class_, "**options", keep_options, "dataclasses.Field"),
      row("dataclasses.Field", class_, "**options", keep_options),
      row("$missing", function, "name", [](Call& call) { return call.run.raise_builtin("AttributeError", call.place); }),
      row("dataclasses.replace", function, "obj, **changes", replaced),
      row("dataclasses.asdict", function, "obj, **options", as_dict),
      row("dataclasses.astuple", function, "obj, **options", as_tuple),
      row("dataclasses.fields", function, "class_or_instance", fields_of),
      row("dataclasses.is_dataclass", function, "obj", is_dataclass),
      row("enum.auto", class_, "", nullptr),
      row("enum.unique", function, "cls", first_argument),
      row("types.SimpleNamespace", class_, "**options", keep_options),
      row("types.MethodType", function, "function, instance", bind_by_hand),

      row("inspect.signature", function, "obj, **options", signature_of),
      row("inspect.Signature", class_, "*arguments, **options", nullptr),
      row("inspect.Parameter", class_, "*arguments, **options", nullptr),
      row("inspect.isclass", function, "object", is_kind<Kind::class_>),
      row("inspect.isfunction", function, "object", is_kind<Kind::function>),
      row("inspect.ismethod", function, "object", is_kind<Kind::bound>),
      row("inspect.ismodule", function, "object", is_kind<Kind::module>),
      row("typing.cast", function, "type, value", second_argument),
      row("typing.TYPE_CHECKING", constant, "", never),
      row("typing.final", function, "f", first_argument),
      row("typing.runtime_checkable", function, "cls", first_argument),

      row("contextlib.nullcontext", function, "enter_result=None", null_context),
      row("contextlib.context", class_, "", nullptr),
      row("contextlib.context.__enter__", method, "", entered),
      row("contextlib.ExitStack", class_, "", nullptr),
      row("contextlib.ExitStack.enter_context", method, "cm", enter_context),
      row("contextlib.ExitStack.callback", method, "callback, *arguments, **options", nothing),
      row("contextlib.ExitStack.close", method, "", nothing),

      row("warnings.warn", function, "message, *more, **options", nothing),
      row("warnings.filterwarnings", function, "action, *more, **options", nothing),
      row("warnings.simplefilter", function, "action, *more, **options", nothing),
      row("logging.getLogger", function, "name=None", logger),
      row("logging.Logger", class_, "*arguments", nullptr),
      row("logging.basicConfig", function, "**options", nothing),
      row("os.path.join", function, "*paths", joined_path),
      row("os.path.basename", function, "path", base_name),
      row("random.choice", function, "seq", random_element),
      row("random.seed", function, "a=None, *more", nothing),
  };
  for (const std::string_view name : {"logging.debug", "logging.info", "logging.warning", "logging.error", "logging.exception", "logging.critical"})
    rows.push_back(row(name, function, "message, *arguments, **options", nothing));
  for (const std::string_view name :
       {"logging.Logger.debug", "logging.Logger.info", "logging.Logger.warning", "logging.Logger.warn", "logging.Logger.error", "logging.Logger.exception",
        "logging.Logger.critical", "logging.Logger.log", "logging.Logger.setLevel", "logging.Logger.addHandler"})
    rows.push_back(row(name, method, "*arguments, **options", nothing));
  return rows;
}

} // namespace stepzero::torch
