// Python's math and operator, and what NumPy does to numbers.
#include "libraries/numpy/arrays.hpp"
#include "libraries/table/native.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace stepzero::libraries {

namespace {

Value unknown_real(Call& call) {
  const Value made = unknown_of(call);
  made.as<values::Unknown>()->is_real = true;
  return made;
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
  if (value.is(Kind::real) && std::abs(value.real()) < 9e15)
    return call.run.heap().integer(static_cast<std::int64_t>(to(value.real())));
  if (value.is(Kind::choice))
    return call.run.over_choices(
        value,
        [&](Value side) {
          Call one = call;
          one.arguments[0] = side;
          return rounded<to>(one);
        },
        call.place);
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
  if (call.spread) return unknown_of(call);
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
  return call.run.heap().boolean(
      *a == *b || std::abs(*a - *b) <= std::max(*relative * std::max(std::abs(*a), std::abs(*b)), *absolute));
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

Value bound_to(Call& call, Value self, std::string_view row) {
  auto* bound = call.run.heap().make<values::Bound>();
  bound->self = self;
  bound->function = call.run.library_symbol(row);
  return Value::of(Kind::bound, bound);
}

// ---------------------------------------------------------------- operator

template <syntax::BinaryOp op> Value operation(Call& call) {
  return call.run.binary(op, call.at(0), call.at(1), call.node ? *call.node : nowhere);
}
template <syntax::CompareOp op> Value comparison(Call& call) {
  return call.run.compare(op, call.at(0), call.at(1));
}
Value negation(Call& call) {
  return call.run.binary(syntax::BinaryOp::sub, call.run.heap().integer(0), call.at(0), nowhere);
}
Value item_of(Call& call) { return call.run.subscript(call.at(0), call.at(1), nowhere); }
Value has_item(Call& call) { return call.run.compare(syntax::CompareOp::in, call.at(1), call.at(0)); }
// itemgetter(…) and attrgetter(…) give functions that remember what to get.
template <bool items> Value getter(Call& call) {
  return bound_to(call, call.run.heap().tuple(call.rest), items ? "operator.$items" : "operator.$attributes");
}
template <bool items> Value gotten(Call& call) {
  const auto wanted = call.run.elements(call.self, call.place);
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

// NumPy's function of the same name: of numbers it gives one, of anything else perhaps an array.
template <Value (*of_numbers)(Call&), bool takes_sequences = false> Value numpy(Call& call) {
  const Value given = call.run.resolve(call.at(0));
  if (!takes_sequences && array_state(call.run, given)) return array_of_fractions(call);
  bool numbers = !takes_sequences && (given.is(Kind::integer) || given.is(Kind::real));
  if (takes_sequences && (given.is(Kind::tuple) || given.is(Kind::list)))
    if (const auto items = call.run.elements(given, call.place))
      numbers = std::all_of(items->begin(), items->end(), [&](Value item) {
        return call.run.resolve(item).is(Kind::integer) || call.run.resolve(item).is(Kind::real);
      });
  return numbers && call.rest.empty() && call.options.empty() ? of_numbers(call) : unknown_of(call);
}

}  // namespace

std::vector<Row> python_number_rows() {
  using enum RowKind;
  using syntax::BinaryOp;
  using syntax::CompareOp;
  return {
      row("math.sqrt", function, "x", real_function<square_root>),
      row("math.ceil", function, "x", rounded<up>),
      row("math.floor", function, "x", rounded<down>),
      row("math.trunc", function, "x", rounded<truncated>),
      row("math.isqrt", function, "n", integer_root),
      row("math.prod", function, "iterable, *, start=1", product_of),
      row("numpy.prod", function, "a, *arguments, **options", numpy<product_of, true>),
      row("numpy.sqrt", function, "x, *arguments, **options", numpy<real_function<square_root>>),
      row("numpy.log", function, "x, *arguments, **options", numpy<logarithm>),
      row("numpy.log2", function, "x, *arguments, **options", numpy<real_function<log2_of>>),
      row("numpy.exp", function, "x, *arguments, **options", numpy<real_function<exp_of>>),
      row("numpy.pi", constant, "", pi),
      row("numpy.e", constant, "", euler),
      row("numpy.inf", constant, "", infinity),
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
  };
}

}  // namespace stepzero::libraries
