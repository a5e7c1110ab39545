#include "snapshot/display_value.hpp"
#include "values/devices.hpp"

#include <sstream>

namespace stepzero::snapshot {

using interpreter::Record;
using interpreter::Value;
using values::Kind;

namespace {

constexpr int deepest_displayed = 3;   // levels of lists in lists: a hover has no room for more
constexpr std::size_t max_items = 16;  // of a list: a hover has no room for more
constexpr std::size_t max_text = 60;   // letters: a hover has no room for more

DisplayValue::Dim show_dim(const Record& record, const values::Dim& dim) {
  DisplayValue::Dim displayed;
  if (!dim.size || record.symbols.varies(dim.size)) {
    displayed.text = "?";
    return displayed;
  }
  if (const auto constant = record.symbols.value(dim.size)) {
    displayed.is_int = true;
    displayed.value = *constant;
    return displayed;
  }
  displayed.text = record.symbols.text(dim.size);
  if (displayed.text.empty()) displayed.text = "?";
  return displayed;
}

DisplayValue of_kind(std::string kind) {
  DisplayValue displayed;
  displayed.kind = std::move(kind);
  return displayed;
}

// What the tensor's shape was then, with the rank and the sizes that were found out later: it had them all
// the while.
values::Shape as_found(
    const Record& record, const values::TensorState& then, const values::TensorState& last) {
  const auto &known = then.shape.dims, &found = last.shape.dims;
  const bool same_rank = then.shape.ndim_known ? last.shape.ndim_known && known.size() == found.size()
                                               : known.size() <= found.size();
  if (!same_rank || then.dtype != last.dtype) return then.shape;
  values::Shape shape = last.shape;
  for (std::size_t i = 0; i < known.size(); ++i) {
    values::Dim& dim = shape.dims[found.size() - known.size() + i];
    if (!known[i].size || (dim.size && record.symbols.has_stand_in(known[i].size))) continue;
    if (dim.size && known[i].size != dim.size) return then.shape;
    dim = known[i];
  }
  return shape;
}

// What is so on both ways; None is said of either.
DisplayValue show_either(DisplayValue a, DisplayValue b) {
  if (a.kind.empty() || b.kind.empty()) return {};
  if (a.kind == "none") std::swap(a, b);
  if (b.kind == "none") {
    a.optional = a.kind != "none";
    return a;
  }
  a.optional = b.optional = a.optional || b.optional;
  if (a.kind != b.kind) return {};
  if (a.short_text() == b.short_text()) return a;
  if (a.kind == "tensor" && a.shape && b.shape && a.shape->size() == b.shape->size()) {
    if (a.dtype != b.dtype) a.dtype.clear();
    if (a.device != b.device) a.device.clear();
    for (std::size_t i = 0; i < a.shape->size(); ++i) {
      const DisplayValue::Dim &mine = (*a.shape)[i], &theirs = (*b.shape)[i];
      if (mine.is_int == theirs.is_int && mine.value == theirs.value && mine.text == theirs.text) continue;
      if (mine.text == "..." || theirs.text == "...") return {};
      (*a.shape)[i] = {false, 0, "?"};
    }
    return a;
  }
  if (a.kind != "int" && a.kind != "float" && a.kind != "bool") return {};
  a.value = "?";
  return a;
}

}  // namespace

DisplayValue show(const Record& record, const values::TensorState& state) {
  DisplayValue displayed = of_kind("tensor");
  displayed.dtype = values::name(state.dtype);
  if (state.device && !values::chosen(state.device)) displayed.device = state.device->text;
  if (state.shape.ndim_known || !state.shape.dims.empty()) {
    displayed.shape.emplace();
    if (!state.shape.ndim_known) displayed.shape->push_back({false, 0, "..."});
    for (const values::Dim& dim : state.shape.dims) displayed.shape->push_back(show_dim(record, dim));
  }
  return displayed;
}

DisplayValue show(const Record& record, Value value, const values::TensorState* tensor, int depth) {
  if (value.is(Kind::unknown) && value.as<values::Unknown>()->state.value)
    value = value.as<values::Unknown>()->state.value;
  switch (value.kind) {
  case Kind::tensor: {
    values::TensorState state = tensor ? *tensor : *value.as<values::Tensor>()->now();
    state.shape = as_found(record, state, *value.as<values::Tensor>()->now());
    return show(record, state);
  }
  case Kind::integer: {
    DisplayValue displayed = of_kind("int");
    displayed.value = record.symbols.text(value.integer());
    return displayed;
  }
  case Kind::real: {
    DisplayValue displayed = of_kind("float");
    std::ostringstream text;
    text << value.real();
    displayed.value = text.str();
    return displayed;
  }
  case Kind::boolean: {
    DisplayValue displayed = of_kind("bool");
    switch (record.symbols.decide(value.condition())) {
    case symbolic::Answer::yes: displayed.value = "True"; break;
    case symbolic::Answer::no: displayed.value = "False"; break;
    case symbolic::Answer::unknown: displayed.value = record.symbols.text(value.condition()); break;
    }
    return displayed;
  }
  case Kind::string: {
    DisplayValue displayed = of_kind("str");
    displayed.value = std::string(value.text().substr(0, max_text));
    return displayed;
  }
  case Kind::none: return of_kind("none");
  case Kind::dtype: {
    DisplayValue displayed = of_kind("dtype");
    displayed.value = values::name(value.dtype());
    return displayed;
  }
  case Kind::device: {
    DisplayValue displayed = of_kind("device");
    displayed.value = value.as<values::Device>()->text;
    return displayed;
  }
  case Kind::tuple:
  case Kind::list: {
    const bool is_list = value.is(Kind::list);
    DisplayValue displayed = of_kind(is_list ? "list" : "tuple");
    if (depth > deepest_displayed) return displayed;
    const auto& items = is_list ? values::Heap::list_state(value)->items : value.as<values::Tuple>()->items;
    if (is_list && values::Heap::list_state(value)->open) return {};
    for (std::size_t i = 0; i < items.size() && i < max_items; ++i)
      displayed.items.push_back(show(record, items[i], nullptr, depth + 1));
    return displayed;
  }
  case Kind::dict: return values::Heap::dict_state(value)->open ? DisplayValue{} : of_kind("dict");
  case Kind::instance: {
    const auto* object = value.as<values::Instance>();
    if (object->cls) {
      DisplayValue displayed = of_kind("module");
      displayed.value = object->cls->name.text();
      return displayed;
    }
    if (object->native && object->native->path.starts_with("torch.nn.")) {
      DisplayValue displayed = of_kind("module");
      displayed.value = object->native->path.substr(object->native->path.rfind('.') + 1);
      return displayed;
    }
    return {};
  }
  case Kind::unknown: {
    const auto* unknown = value.as<values::Unknown>();
    if (unknown->is_real) return of_kind("float");
    // Whatever is computed with may be a tensor, unless more is said of it.
    if (!unknown->integer || unknown->only_compared || !(unknown->is_number || unknown->shape_of)) return {};
    DisplayValue displayed = of_kind("int");
    displayed.value = record.symbols.text(unknown->integer);
    return displayed;
  }
  case Kind::choice: {
    if (depth > deepest_displayed) return {};
    const auto* either = value.as<values::Choice>();
    return show_either(
        show(record, either->yes, nullptr, depth + 1), show(record, either->no, nullptr, depth + 1));
  }
  default: return {};
  }
}

std::string DisplayValue::short_text() const {
  if (optional) {
    DisplayValue there = *this;
    there.optional = false;
    return there.short_text() + " | None";
  }
  if (kind == "tensor") {
    std::string text = dtype.empty() ? "tensor" : dtype;
    if (!shape) return text;
    text += "[";
    for (std::size_t i = 0; i < shape->size(); ++i) {
      const Dim& dim = (*shape)[i];
      text += (i ? ", " : "") + (dim.is_int ? std::to_string(dim.value) : dim.text);
    }
    return text + "]";
  }
  if (kind == "tuple" || kind == "list") {
    std::string text = kind == "tuple" ? "(" : "[";
    for (std::size_t i = 0; i < items.size(); ++i)
      text += (i ? ", " : "") + (items[i].kind.empty() ? "?" : items[i].short_text());
    if (kind == "tuple" && items.size() == 1) text += ",";
    return text + (kind == "tuple" ? ")" : "]");
  }
  if (kind == "str") return "str = '" + value + "'";
  if (value.empty()) return kind == "none" ? "None" : kind;
  if (kind == "module") return value;
  return kind + " = " + value;
}

}  // namespace stepzero::snapshot
