// Python's own functions of numbers and texts: int, float, abs, round, min, max, sum…
#include "interpreter/interpreter.hpp"
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
  const auto prefixed = [&](char letter) { return digits.size() > 2 && digits[0] == '0' && std::tolower(digits[1]) == letter; };
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

} // namespace

Value Interpreter::number_builtin(std::string_view name, const Arguments& arguments, Place where) {
  const auto& positional = arguments.positional;
  const std::size_t count = positional.size();
  const Value first = count > 0 ? positional[0] : Value{};
  const auto mixed = [&] { return mixed_result(positional, where); };
  const auto keyword = [&](std::string_view wanted) -> Value {
    for (const auto& [key, value] : arguments.keywords)
      if (key.text() == wanted) return resolve(value);
    return {};
  };
  if (name == "int" || name == "float") record_read(first, where);
  // A tensor of one element.
  if (first.is(Kind::tensor) && count == 1 && (name == "int" || name == "float"))
    if (const auto* content = heap().content_of(*first.as<values::Tensor>()->now()); content && content->numbers.size() == 1)
      if (const Value number = heap().number(*content, 0)) return number_builtin(name, {{number}, {}, false}, where);
  if (name == "int") {
    if (count == 0) return heap().integer(0);
    if (first.is(Kind::integer)) return first;
    if (first.is(Kind::real)) {
      if (std::isfinite(first.real()) && std::abs(first.real()) < 9e15) return heap().integer(static_cast<std::int64_t>(first.real()));
      return mixed();
    }
    if (first.is(Kind::string)) {
      const Value given = count > 1 ? positional[1] : keyword("base");
      const auto base = given ? to_constant(given) : std::optional<std::int64_t>(10);
      if (!base) return mixed();
      if (const auto value = read_integer(first.text(), static_cast<int>(*base))) return heap().integer(*value);
      return raise_builtin("ValueError", where);
    }
    if (first.is(Kind::boolean)) {
      if (const Int value = to_int(first)) return Value::of(value);
      return heap().choose(first.condition(), heap().integer(1), heap().integer(0));
    }
    if (const Value plain = plain_member(first); !(plain == first)) return number_builtin(name, {{plain}, {}, false}, where);
    if (first.is(Kind::unknown) && !first.as<values::Unknown>()->state.value && !first.as<values::Unknown>()->is_real) return Value::of(to_int(first));
    if (first.is(Kind::instance))
      if (const Value method = find_method(first.as<values::Instance>(), Name("__int__"))) return call(method, {}, where);
    symbolic::AtomInfo info;
    info.sharing = heap().sharing(first);
    return Value::of(symbols().fresh(info));
  }
  if (name == "float") {
    if (count == 0) return Value::of(0.0);
    if (first.is(Kind::real)) return first;
    if (const auto constant = to_constant(first)) return Value::of(static_cast<double>(*constant));
    if (first.is(Kind::string)) {
      std::string text(first.text());
      std::erase_if(text, [](char c) { return c == ' ' || c == '_'; });
      char* end = nullptr;
      const double value = std::strtod(text.c_str(), &end);
      if (!text.empty() && *end == 0) return Value::of(value);
      return raise_builtin("ValueError", where);
    }
    const Value made = mixed();
    made.as<values::Unknown>()->is_real = true;
    return made;
  }
  if (name == "bool") return count == 0 ? heap().boolean(false) : Value::of(truth(first));
  if (name == "abs" && count == 1) {
    if (const auto constant = to_constant(first)) return heap().integer(std::abs(*constant));
    if (first.is(Kind::real)) return Value::of(std::abs(first.real()));
    if (first.is(Kind::integer)) return Value::of(symbols().max(first.integer(), symbols().negate(first.integer())));
    if (first.is(Kind::instance))
      if (const Value method = find_method(first.as<values::Instance>(), Name("__abs__"))) return call(method, {}, where);
    return first.is(Kind::tensor) ? first : mixed();
  }
  if (name == "round" && count >= 1) {
    const Value digits = count > 1 ? positional[1] : keyword("ndigits");
    if (!digits || digits.is(Kind::none)) {
      if (first.is(Kind::integer)) return first;
      if (first.is(Kind::real) && std::abs(first.real()) < 9e15) return heap().integer(static_cast<std::int64_t>(std::nearbyint(first.real())));
      return mixed();
    }
    const auto places = to_constant(digits);
    if (first.is(Kind::real) && places && *places >= 0 && *places <= 15) {
      // Through text, as Python does: 2.675 has no exact half.
      char buffer[400];
      std::snprintf(buffer, sizeof buffer, "%.*f", static_cast<int>(*places), first.real());
      return Value::of(std::strtod(buffer, nullptr));
    }
    if (first.is(Kind::integer) && places && *places >= 0) return first;
    return mixed();
  }
  if (name == "divmod" && count == 2) {
    const Expr nowhere{ExprKind::none, {}};
    return heap().tuple({binary(BinaryOp::floordiv, first, positional[1], nowhere), binary(BinaryOp::mod, first, positional[1], nowhere)});
  }
  if (name == "pow" && count >= 2) {
    const Expr nowhere{ExprKind::none, {}};
    const Value power = binary(BinaryOp::pow, first, positional[1], nowhere);
    return count == 2 ? power : binary(BinaryOp::mod, power, positional[2], nowhere);
  }
  // Of elements that are not known one by one: a number, where any one of them is.
  const auto of_any = [&] {
    const Value made = mixed();
    const Value any = first.is(Kind::list) ? values::Heap::list_state(first)->rest : Value{};
    made.as<values::Unknown>()->is_number = any && values::is_read_number(resolve(any));
    return made;
  };
  if ((name == "min" || name == "max") && count >= 1) {
    std::vector<Value> items = positional;
    if (count == 1) {
      const auto known = take(first, where, true);
      if (!known) return of_any();
      if (known->empty()) {
        const Value otherwise = keyword("default");
        return otherwise ? otherwise : raise_builtin("ValueError", where);
      }
      items = *known;
    }
    for (Value& item : items) item = resolve(item);
    const Value key = keyword("key");
    const bool by_key = key && !key.is(Kind::none);
    std::vector<Value> keys = items;
    if (by_key)
      for (Value& one : keys) one = resolve(call(key, {{one}, {}, false}, where));
    // All of them known: the first best one, as it is.
    std::size_t best = 0;
    bool known = true;
    for (std::size_t i = 0; i < items.size() && known; ++i) {
      const auto answer = order(keys[i], keys[best]);
      known = answer.has_value();
      if (known && (name == "min" ? *answer < 0 : *answer > 0)) best = i;
    }
    if (known) return items[best];
    if (by_key) {
      // Which of them it is depends on their keys.
      items.insert(items.end(), keys.begin(), keys.end());
      return mixed_result(items, where);
    }
    Int extreme = nullptr;
    for (const Value& item : items) {
      if (!item.is(Kind::integer) && !(item.is(Kind::unknown) && !item.as<values::Unknown>()->is_real)) return mixed_result(items, where);
      const Int value = to_int(item);
      if (!value) return mixed_result(items, where);
      extreme = !extreme ? value : name == "min" ? symbols().min(extreme, value) : symbols().max(extreme, value);
    }
    if (std::none_of(items.begin(), items.end(), values::is_read_number)) return Value::of(extreme);
    const Value made = mixed_result(items, where);
    made.as<values::Unknown>()->integer = extreme;
    made.as<values::Unknown>()->is_number = std::all_of(items.begin(), items.end(), values::is_number);
    return made;
  }
  if (name == "sum" && count >= 1) {
    const auto items = take(first, where, true);
    const Value start = count > 1 ? positional[1] : keyword("start");
    if (!items) return of_any();
    const Expr nowhere{ExprKind::none, {}};
    Value total = start ? start : heap().integer(0);
    for (std::size_t i = 0; i < items->size(); ++i) {
      const Value item = resolve((*items)[i]);
      // 0 + tensor is the tensor: no operation of its own is to be seen.
      if (i == 0 && !start && (item.is(Kind::tensor) || item.is(Kind::instance))) total = item;
      else total = binary(BinaryOp::add, total, item, nowhere);
    }
    return total;
  }
  if ((name == "any" || name == "all") && count == 1) {
    const auto items = take(first, where, true);
    if (!items || items->size() > 256) return mixed();
    Cond result = symbols().boolean(name == "all");
    for (const Value& item : *items) {
      result = name == "all" ? symbols().logical_and(result, truth(item)) : symbols().logical_or(result, truth(item));
      if (symbols().decide(result) == (name == "all" ? symbolic::Answer::no : symbolic::Answer::yes)) break;
    }
    return Value::of(result);
  }
  if (name == "range") {
    auto* range = heap().make<values::Range>();
    const auto number = [&](std::size_t i) {
      const Int value = to_int(positional[i]);
      return value ? value : to_int(heap().unknown("", heap().sharing(positional[i])));
    };
    if (count == 0 || count > 3) return mixed();
    range->start = count == 1 ? symbols().constant(0) : number(0);
    range->stop = count == 1 ? number(0) : number(1);
    range->step = count == 3 ? number(2) : symbols().constant(1);
    return Value::of(Kind::range, range);
  }
  if ((name == "ord" || name == "chr") && count == 1) {
    if (name == "ord" && first.is(Kind::string) && first.text().size() == 1) return heap().integer(static_cast<unsigned char>(first.text()[0]));
    if (const auto code = to_constant(first); name == "chr" && code && *code > 0 && *code < 128) {
      const char letter = static_cast<char>(*code);
      return heap().string(std::string_view(&letter, 1));
    }
    return mixed();
  }
  if ((name == "hex" || name == "bin" || name == "oct") && count == 1) {
    const auto text = to_constant(first) ? formatted(first, name == "hex" ? "#x" : name == "bin" ? "#b" : "#o") : std::nullopt;
    return text ? heap().string(*text) : mixed();
  }
  return {};
}

} // namespace stepzero::interpreter
