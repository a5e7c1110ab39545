// Python's own functions of numbers and texts as rows: int, float, abs, iteration, min, max, sum…
#include "interpreter/builtins/builtin_call.hpp"

#include "interpreter/reasons.hpp"
#include "values/numbers.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;
using values::ListKind;

namespace {

std::optional<std::int64_t> read_integer(std::string_view text, int base) {
  std::string digits;
  for (const char c : text)
    if (c != '_' && c != ' ' && c != '\n' && c != '\t') digits += c;
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.erase(0, 1);
  const auto prefixed = [&](char letter) {
    return digits.size() > 2 && digits[0] == '0' && std::tolower(digits[1]) == letter;
  };
  for (const auto& [letter, of] : {std::pair{'x', 16}, {'b', 2}, {'o', 8}})
    if ((base == of || base == 0) && prefixed(letter)) {
      base = of;
      digits.erase(0, 2);
      break;
    }
  if (base == 0) base = 10;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return negative ? -value : value;
}

constexpr double largest_exact = 9e15;  // below 2^53: a float that is a whole number is that integer
const Expr nowhere{ExprKind::none, {}};

// The one element of a tensor that has but one, as a number; absent if that is not known.
Value only_element(const BuiltinCall& call) {
  if (!call.first.is(Kind::tensor) || call.count != 1) return {};
  const auto* content = call.heap().content_of(*call.first.as<values::Tensor>()->now());
  return content && content->numbers.size() == 1 ? call.heap().number(*content, 0) : Value{};
}

Value int_of_text(const BuiltinCall& call) {
  const Value given = call.second ? call.second : call.keyword("base");
  const auto base = given ? call.run.to_constant(given) : std::optional<std::int64_t>(10);
  if (!base) return call.mixed();
  if (const auto value = read_integer(call.first.text(), static_cast<int>(*base)))
    return call.heap().integer(*value);
  return call.fails("ValueError");
}

Value int_of(const BuiltinCall& call) {
  const Value first = call.first;
  call.record_read(first);
  if (const Value number = only_element(call)) return call.as(call.name, {number});
  if (call.count == 0) return call.heap().integer(0);
  switch (first.kind) {
  case Kind::integer: return first;
  case Kind::real:
    if (std::isfinite(first.real()) && std::abs(first.real()) < largest_exact)
      return call.heap().integer(static_cast<std::int64_t>(first.real()));
    return call.mixed();
  case Kind::string: return int_of_text(call);
  case Kind::boolean:
    if (const Int value = call.run.to_int(first)) return Value::of(value);
    return call.heap().choose(first.condition(), call.heap().integer(1), call.heap().integer(0));
  default: break;
  }
  if (const Value plain = call.plain_member(first); !(plain == first)) return call.as(call.name, {plain});
  if (first.is(Kind::unknown) && !first.as<values::Unknown>()->state.value &&
      !first.as<values::Unknown>()->is_real)
    return Value::of(call.run.to_int(first));
  if (first.is(Kind::instance))
    if (const Value method = call.run.find_method(first.as<values::Instance>(), Name("__int__")))
      return call.call(method, {});
  symbolic::AtomInfo info;
  info.sharing = call.heap().sharing(first);
  return Value::of(call.symbols().fresh(info));
}

Value float_of(const BuiltinCall& call) {
  call.record_read(call.first);
  if (const Value number = only_element(call)) return call.as(call.name, {number});
  if (call.count == 0) return Value::of(0.0);
  if (call.first.is(Kind::real)) return call.first;
  if (const auto constant = call.run.to_constant(call.first))
    return Value::of(static_cast<double>(*constant));
  if (call.first.is(Kind::string)) {
    std::string text(call.first.text());
    std::erase_if(text, [](char c) { return c == ' ' || c == '_'; });
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (!text.empty() && *end == 0) return Value::of(value);
    return call.fails("ValueError");
  }
  const Value made = call.mixed();
  made.as<values::Unknown>()->is_real = true;
  return made;
}

Value bool_of(const BuiltinCall& call) {
  return call.count == 0 ? call.heap().boolean(false) : Value::of(call.run.truth(call.first));
}

Value abs_of(const BuiltinCall& call) {
  const Value first = call.first;
  if (call.count != 1) return {};
  if (const auto constant = call.run.to_constant(first)) return call.heap().integer(std::abs(*constant));
  if (first.is(Kind::real)) return Value::of(std::abs(first.real()));
  if (first.is(Kind::integer))
    return Value::of(call.symbols().max(first.integer(), call.symbols().negate(first.integer())));
  if (first.is(Kind::instance))
    if (const Value method = call.run.find_method(first.as<values::Instance>(), Name("__abs__")))
      return call.call(method, {});
  return first.is(Kind::tensor) ? first : call.mixed();
}

Value iteration_of(const BuiltinCall& call) {
  constexpr std::int64_t most_places = 15;  // a double has no more
  const Value first = call.first, digits = call.second ? call.second : call.keyword("ndigits");
  if (!first) return {};
  if (!digits || digits.is(Kind::none)) {
    if (first.is(Kind::integer)) return first;
    if (first.is(Kind::real) && std::abs(first.real()) < largest_exact)
      return call.heap().integer(static_cast<std::int64_t>(std::nearbyint(first.real())));
    return call.mixed();
  }
  const auto places = call.run.to_constant(digits);
  if (first.is(Kind::real) && places && *places >= 0 && *places <= most_places) {
    // Through text, as Python does: 2.675 has no exact half.
    char buffer[400];
    std::snprintf(buffer, sizeof buffer, "%.*f", static_cast<int>(*places), first.real());
    return Value::of(std::strtod(buffer, nullptr));
  }
  return first.is(Kind::integer) && places && *places >= 0 ? first : call.mixed();
}

Value divmod_of(const BuiltinCall& call) {
  if (call.count != 2) return {};
  return call.heap().tuple({call.run.binary(BinaryOp::floordiv, call.first, call.second, nowhere),
      call.run.binary(BinaryOp::mod, call.first, call.second, nowhere)});
}

Value pow_of(const BuiltinCall& call) {
  if (call.count < 2) return {};
  const Value power = call.run.binary(BinaryOp::pow, call.first, call.second, nowhere);
  return call.count == 2 ? power : call.run.binary(BinaryOp::mod, power, call.positional[2], nowhere);
}

// Of elements that are not known one by one: a number, where any one of them is.
Value of_any(const BuiltinCall& call) {
  const Value made = call.mixed();
  const Value any = call.first.is(Kind::list) ? values::Heap::list_state(call.first)->rest : Value{};
  made.as<values::Unknown>()->is_number = any && values::is_read_number(call.run.resolve(any));
  return made;
}

// The least or greatest of those: it lies between the bounds that hold for each.
Value extreme_of_any(const BuiltinCall& call) {
  const Value made = of_any(call);
  const auto* list = call.first.is(Kind::list) ? values::Heap::list_state(call.first) : nullptr;
  const Value any = list && list->items.empty() ? call.run.resolve(list->rest) : Value{};
  symbolic::Context& s = call.symbols();
  if (any.is(Kind::integer) && (s.lower(any.integer()) || s.upper(any.integer())))
    made.as<values::Unknown>()->integer = s.fresh({.name = "",
        .lower = s.lower(any.integer()),
        .upper = s.upper(any.integer()),
        .sharing = call.heap().sharing(made)});
  return made;
}

// The least or greatest of integers of which not all are known.
Value extreme_of(const BuiltinCall& call, const std::vector<Value>& items) {
  Int extreme = nullptr;
  for (const Value& item : items) {
    const bool counts = item.is(Kind::integer) || (item.is(Kind::unknown) && !values::is_float(item));
    const Int value = counts ? call.run.to_int(item) : nullptr;
    if (!value) {
      const Value made = call.heap().unknown_from(items, call.where);
      made.as<values::Unknown>()->is_real = std::ranges::any_of(items, values::is_float) &&
          std::ranges::all_of(items, values::is_number);
      return made;
    }
    extreme = !extreme       ? value
        : call.name == "min" ? call.symbols().min(extreme, value)
                             : call.symbols().max(extreme, value);
  }
  if (std::ranges::none_of(items, values::is_read_number)) return Value::of(extreme);
  const Value made = call.heap().unknown_from(items, call.where);
  made.as<values::Unknown>()->integer = extreme;
  made.as<values::Unknown>()->is_number = std::ranges::all_of(
      items, [](const Value& item) { return values::is_number(item); });
  return made;
}

Value min_or_max(const BuiltinCall& call) {
  if (call.count == 0) return {};
  std::vector<Value> items = call.positional;
  if (call.count == 1) {
    const auto known = call.run.take(call.first, call.where, true);
    if (!known) return extreme_of_any(call);
    if (known->empty()) {
      const Value otherwise = call.keyword("default");
      return otherwise ? otherwise : call.fails("ValueError");
    }
    items = *known;
  }
  for (Value& item : items) item = call.run.resolve(item);
  const Value key = call.keyword("key");
  const bool by_key = key && !key.is(Kind::none);
  std::vector<Value> keys = items;
  if (by_key)
    for (Value& one : keys) one = call.run.resolve(call.call(key, {one}));
  // All of them known: the first best one, as it is.
  std::size_t best = 0;
  bool known = true;
  for (std::size_t i = 0; i < items.size() && known; ++i) {
    const auto answer = call.run.order(keys[i], keys[best]);
    known = answer.has_value();
    if (known && (call.name == "min" ? *answer < 0 : *answer > 0)) best = i;
  }
  if (known) return items[best];
  if (!by_key) return extreme_of(call, items);
  // Which of them it is depends on their keys.
  items.insert(items.end(), keys.begin(), keys.end());
  return call.heap().unknown_from(items, call.where);
}

Value sum_of(const BuiltinCall& call) {
  if (call.count == 0) return {};
  const auto items = call.run.take(call.first, call.where, true);
  const Value start = call.second ? call.second : call.keyword("start");
  if (!items) return of_any(call);
  Value total = start ? start : call.heap().integer(0);
  for (std::size_t i = 0; i < items->size(); ++i) {
    const Value item = call.run.resolve((*items)[i]);
    // 0 + tensor is the tensor: no operation of its own is to be seen.
    if (i == 0 && !start && (item.is(Kind::tensor) || item.is(Kind::instance)))
      total = item;
    else
      total = call.run.binary(BinaryOp::add, total, item, nowhere);
  }
  return total;
}

Value any_or_all(const BuiltinCall& call) {
  constexpr std::size_t most_parts = 256;  // of one condition
  if (call.count != 1) return {};
  const auto items = call.run.take(call.first, call.where, true);
  if (!items || items->size() > most_parts) return call.mixed();
  const bool all = call.name == "all";
  Cond result = call.symbols().boolean(all);
  for (const Value& item : *items) {
    result = all ? call.symbols().logical_and(result, call.run.truth(item))
                 : call.symbols().logical_or(result, call.run.truth(item));
    if (call.symbols().decide(result) == (all ? symbolic::Answer::no : symbolic::Answer::yes)) break;
  }
  return Value::of(result);
}

Value range_of(const BuiltinCall& call) {
  auto* range = call.heap().make<values::Range>();
  const auto number = [&](std::size_t i) {
    const Int value = call.run.to_int(call.positional[i]);
    return value ? value : call.run.to_int(call.heap().unknown("", call.heap().sharing(call.positional[i])));
  };
  if (call.count == 0 || call.count > 3) return call.mixed();
  for (std::size_t i = 0; i < call.count; ++i)
    if (const Value given = call.run.resolve(call.positional[i]); given.is(Kind::string))
      explain(*call.run.problem_at(values::ProblemKind::argument, call.where, nullptr),
          why<Reason::range_of_text>(given.text()));
  range->start = call.count == 1 ? call.symbols().constant(0) : number(0);
  range->stop = call.count == 1 ? number(0) : number(1);
  range->step = call.count == 3 ? number(2) : call.symbols().constant(1);
  return Value::of(Kind::range, range);
}

Value ord_of(const BuiltinCall& call) {
  if (call.count != 1) return {};
  return call.first.is(Kind::string) && call.first.text().size() == 1
      ? call.number(static_cast<unsigned char>(call.first.text()[0]))
      : call.mixed();
}

Value chr_of(const BuiltinCall& call) {
  constexpr std::int64_t first_not_ascii = 128;
  if (call.count != 1) return {};
  const auto code = call.run.to_constant(call.first);
  if (!code || *code <= 0 || *code >= first_not_ascii) return call.mixed();
  const char letter = static_cast<char>(*code);
  return call.heap().string(std::string_view(&letter, 1));
}

Value digits_of(const BuiltinCall& call) {
  if (call.count != 1) return {};
  const auto text = call.run.to_constant(call.first) ? call.formatted(call.first,
                                                           call.name == "hex"       ? "#x"
                                                               : call.name == "bin" ? "#b"
                                                                                    : "#o")
                                                     : std::nullopt;
  return text ? call.heap().string(*text) : call.mixed();
}

}  // namespace

const BuiltinTable& number_functions() {
  static const BuiltinTable table{
      {"int", int_of},
      {"float", float_of},
      {"bool", bool_of},
      {"abs", abs_of},
      {"round", iteration_of},
      {"divmod", divmod_of},
      {"pow", pow_of},
      {"min max", min_or_max},
      {"sum", sum_of},
      {"any all", any_or_all},
      {"range", range_of},
      {"ord", ord_of},
      {"chr", chr_of},
      {"hex bin oct", digits_of},
  };
  return table;
}

}  // namespace stepzero::interpreter
