// Arrays of NumPy, as far as models are made from them: rates spaced evenly over so many layers. Of an array only its length is
// known, which no write into it changes.
#include "torch/native.hpp"

namespace stepzero::torch {

namespace {

constexpr std::string_view array_class = "numpy.ndarray";
constexpr std::int64_t most_items = 256;

// np.linspace(0, rate, depth)
Value evenly_spaced(Call& call) {
  const auto at = [&](std::size_t i) { return call.run.resolve(call.at(i)); };
  const auto is_number = [](Value value) { return value.is(Kind::integer) || value.is(Kind::real) || (value.is(Kind::unknown) && value.as<values::Unknown>()->is_real); };
  const Value count = at(2);
  if (call.spread || !is_number(at(0)) || !is_number(at(1)) || !count.is(Kind::integer) || !call.options.empty()) return unknown_of(call);
  Instance* array = call.run.make_native(array_class, call.place);
  keep(call.run, *array, "$length", count);
  return Value::of(Kind::instance, array);
}
Value length(Call& call) {
  const Value count = kept(call, "$length");
  return count ? count : unknown_of(call);
}
// Its numbers, each time anew: it may have been written since.
Value items(Call& call) {
  const Value count = kept(call, "$length");
  auto& heap = call.run.heap();
  const auto real = [&] {
    Value made = heap.unknown("", Sharing::local, call.place);
    made.as<values::Unknown>()->is_real = true;
    return made;
  };
  const auto size = count.is(Kind::integer) ? call.run.symbols().value(count.integer()) : std::nullopt;
  if (!size || *size < 0 || *size > most_items) return heap.open_list(real(), count.is(Kind::integer) ? count.integer() : nullptr);
  std::vector<Value> list;
  for (std::int64_t i = 0; i < *size; ++i) list.push_back(real());
  return heap.list(std::move(list));
}

} // namespace

std::vector<Row> array_rows() {
  using enum RowKind;
  return {
      row(array_class, class_, "*arguments, **options", nullptr),
      row("numpy.ndarray.tolist", method, "", items),
      row("numpy.ndarray.__iter__", method, "", items),
      row("numpy.ndarray.__len__", method, "", length),
      row("numpy.linspace", function, "start, stop, num=50, endpoint=True, **options", evenly_spaced),
  };
}

} // namespace stepzero::torch
