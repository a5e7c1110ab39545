#include "rules/shape/refusal_text.hpp"

#include "rules/shape/reason_texts.hpp"
#include "values/devices.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>

namespace stepzero::rules {

namespace {

using namespace interpreter;
using Form = ShapeNeed::Form;

std::string counted(std::size_t count, std::string_view what) {
  return std::to_string(count) + " " + std::string(what) + (count == 1 ? "" : "s");
}
// An option as Python writes it: a text in quotes.
std::string quoted(std::string_view text) { return "`\"" + std::string(text) + "\"`"; }
std::string listed(std::span<const std::string_view> options) {
  std::string all;
  for (std::size_t i = 0; i < options.size(); ++i)
    all += (i == 0                           ? ""
                   : i + 1 == options.size() ? " or "
                                             : ", ") +
        (options[i] == "None"              ? std::string("`None`")
                : options[i] == "a number" ? std::string(options[i])
                                           : quoted(options[i]));
  return all;
}
std::string number(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15)
    return std::to_string(static_cast<std::int64_t>(value));
  std::string text = std::to_string(value);
  while (text.ends_with('0')) text.pop_back();
  return text;
}

// "an `axis`", "an `n`": a letter alone is read by its name.
std::string with_article(std::string_view parameter) {
  const bool is_vowel = !parameter.empty() &&
      std::string_view(parameter.size() == 1 ? "aefhilmnorsx" : "aeiou").find(parameter[0]) !=
          std::string_view::npos;
  return (is_vowel ? "an " : "a ") + values::code(parameter);
}

std::string ndim_text(const ShapeNeed& need) {
  const auto dimensions = [](int count) { return counted(static_cast<std::size_t>(count), "dimension"); };
  if (need.least == need.most) return dimensions(need.least);
  if (need.most < 0) return "at least " + dimensions(need.least);
  if (need.least == 0) return "at most " + dimensions(need.most);
  return std::to_string(need.least) + (need.most == need.least + 1 ? " or " : " to ") + dimensions(need.most);
}

std::string need_text(const ShapeNeed& need) {
  switch (need.form) {
  case Form::dimensions: return ndim_text(need);
  case Form::element: return "one element";
  case Form::vector: return "a vector";
  case Form::vectors: return "vectors";
  case Form::matrix: return "a matrix";
  case Form::matrices: return "matrices";
  case Form::square: return "square matrices";
  case Form::vector_or_matrix: return "a vector or a matrix";
  case Form::signal: return "a signal of at least 1 dimension";
  case Form::signals: return "a signal or a batch of signals";
  case Form::pairs: return "pairs of floats in the last dimension";
  }
  return {};
}

std::string_view need_text(DtypeNeed need) {
  switch (need) {
  case DtypeNeed::floats: return "floats";
  case DtypeNeed::real: return "real numbers";
  case DtypeNeed::complex: return "complex numbers";
  case DtypeNeed::integers: return "integers";
  case DtypeNeed::integers_or_bool: return "integers or `bool`";
  case DtypeNeed::mask: return "a mask of `bool`";
  case DtypeNeed::condition: return "a condition of `bool`";
  case DtypeNeed::int64_index: return "indices of `int64`";
  case DtypeNeed::short_index: return "indices of `int64` or `int32`";
  case DtypeNeed::int64_class: return "classes as `int64`";
  case DtypeNeed::mask_or_floats: return "a mask of `bool` or floats";
  case DtypeNeed::int32_or_floats: return "`int32` or floats";
  }
  return {};
}

std::string_view need_text(ShapesApart::Need need) {
  switch (need) {
  case ShapesApart::dimensions: return "tensors with the same number of dimensions";
  case ShapesApart::one_shape: return "tensors of one shape";
  case ShapesApart::all_but_last: return "tensors that differ in the last dimension only";
  case ShapesApart::batch_or_none: return "tensors with a batch or all without";
  case ShapesApart::one_more: return "inputs of one dimension more than its target";
  case ShapesApart::like_target: return "a target of the shape of its input";
  case ShapesApart::class_of_each: return "a class for each element of the batch";
  case ShapesApart::target_of_each: return "a target for each element of the batch";
  case ShapesApart::index_of_each: return "an index for each element of its input";
  case ShapesApart::variance_of_each: return "a variance for each element or each row of its input";
  }
  return {};
}

std::string_view text_of(WrongKind::Has has) {
  switch (has) {
  case WrongKind::Has::none: return "`None`";
  case WrongKind::Has::text: return "a string";
  case WrongKind::Has::number: return "a number";
  case WrongKind::Has::real: return "a float";
  case WrongKind::Has::list: return "a list";
  case WrongKind::Has::tuple: return "a tuple";
  case WrongKind::Has::dict: return "a dict";
  case WrongKind::Has::numbers: return "numbers";
  }
  return {};
}

// One template for each case of a refusal.
class Templates {
public:
  explicit Templates(const symbolic::Context* symbols) : symbols_(symbols) {}

  std::string operator()(const Stated& it) const {
    std::string_view text = text_of_reason(it.reason);
    std::string made;
    bool in_code = false;
    for (const Part& part : it.parts) {
      const std::size_t gap = text.find('{'), end = text.find('}', gap);
      in_code ^= std::ranges::count(text.substr(0, gap), '`') % 2 != 0;
      made += text.substr(0, gap);
      made += filled(part, text.substr(gap + 1, end - gap - 1), in_code);
      text.remove_prefix(end + 1);
    }
    return made.append(text);
  }

  std::string operator()(const DevicesApart& it) const {
    return words(it.one) + " is on " + values::code(it.one_device) + " and " + words(it.other) + " is on " +
        values::code(it.other_device) + ". Move one of them to the device of the other";
  }

  std::string operator()(const NoSuchKey& it) const {
    std::string keys;
    for (std::size_t i = 0; i < it.keys.size(); ++i)
      keys += (i == 0 ? "" : i + 1 < it.keys.size() || it.has_more ? ", " : " and ") + it.keys[i];
    return it.owner + " has no key " + it.key + ": reading it raises `KeyError`. It has " + keys +
        (it.has_more ? "…" : "") + (it.meant.empty() ? "" : ". Did you mean " + values::code(it.meant) + "?");
  }

  std::string operator()(const NoKeyOfFile& it) const {
    return values::code(it.file) + " has no key " + values::code(it.key) +
        (it.within.empty() ? "" : " in " + values::code(it.within)) + ": `KeyError`" +
        (it.meant.empty() ? ". Add it, or read another" : ". Did you mean " + values::code(it.meant) + "?");
  }

  std::string operator()(const NoResult& it) const {
    const std::string function = values::code(it.function);
    std::string use;
    switch (it.use) {
    case NoResult::attribute:
      use = "has no attribute " + values::code(it.name) + " (`AttributeError`)";
      break;
    case NoResult::items: use = "has no items (`TypeError`)"; break;
    case NoResult::arithmetic: use = "takes no part in arithmetic (`TypeError`)"; break;
    case NoResult::iteration: use = "cannot be iterated over (`TypeError`)"; break;
    case NoResult::length: use = "has no length (`TypeError`)"; break;
    case NoResult::unpacking: use = "cannot be unpacked (`TypeError`)"; break;
    }
    return function + " returns nothing: its result is `None`, and it " + use + ". Return a value from " +
        function;
  }

  std::string operator()(const FalseAssertion& it) const {
    std::string values;
    for (std::size_t i = 0; i < it.values.size(); ++i) {
      const auto& [name, value] = it.values[i];
      const bool is_number = value.find_first_not_of("-0123456789") == std::string::npos;
      values += (i == 0                            ? ""
                        : i + 1 < it.values.size() ? ", "
                                                   : " and ") +
          values::code(name) + " is " + (is_number ? value : values::code(value));
    }
    return "This assertion never holds: " +
        (values.empty() ? values::code(it.condition) + " is false" : values);
  }

  std::string operator()(const UnlessOverridden& it) const {
    std::string text = std::visit(*this, it.refusal->refusal);
    text.insert(std::min(text.find(". Did you mean"), text.size()),
        ", unless the object is of a class with another " +
            (it.method.empty() ? std::string("constructor") : values::code(it.method)));
    return text;
  }

  std::string operator()(const WrongShape& it) const {
    const bool is_number = it.shape.ndim_known && it.shape.dims.empty();
    return it.taker + " takes " + need_text(it.need) + ", but " + it.operand +
        (is_number ? " is a single number, of shape `[]`" : " has shape " + words(it.shape));
  }

  std::string operator()(const WrongDtype& it) const {
    return it.taker + " takes " + std::string(need_text(it.need)) + ", but " + it.operand + " is " +
        words(it.dtype);
  }

  std::string operator()(const MixedDtypes& it) const {
    return it.taker + " takes operands of one dtype, but " + it.one + " is " + words(it.first) + " and " +
        it.other + " is " + words(it.second);
  }

  std::string operator()(const OtherWeights& it) const {
    return it.taker + " has " +
        (it.weights == values::Dtype::unknown ? "floating-point" : words(it.weights)) + " weights and " +
        it.operand + " is " + words(it.dtype);
  }

  std::string operator()(const WrongLayout& it) const {
    std::string layouts;
    for (const std::string& layout : it.layouts)
      layouts += (layouts.empty() ? "" : " or ") + values::code(layout);
    return it.taker + " takes " + layouts + ", but " + it.operand + " has shape " + words(it.shape);
  }

  std::string operator()(const ShapesApart& it) const {
    std::string shapes;
    for (std::size_t i = 0; i < it.operands.size(); ++i)
      shapes += (i == 0                               ? ""
                        : i + 1 == it.operands.size() ? " and "
                                                      : ", ") +
          it.operands[i].name + " has shape " + words(it.operands[i].shape);
    return it.taker + " takes " + std::string(need_text(it.need)) + ", but " + shapes;
  }

  std::string operator()(const SizesApart& it) const {
    return words(it.one) + " and " + words(it.other) + " differ in " + std::string(it.what) + ": " +
        words(it.left) + " and " + words(it.right) +
        (it.length_first ? " (the layer is not `batch_first`)" : "");
  }

  std::string operator()(const NotOneEach& it) const {
    return it.taker + " takes " + std::string(it.one) + " for each of the " + units(it.expected, it.each) +
        (it.of.name.empty() ? "" : " of " + words(it.of)) + ", but " +
        (it.operand.empty()
                ? words(it.given) + (symbols_->value(it.given.size) == 1 ? " is given" : " are given")
                : it.operand + " has " + words(it.given));
  }

  std::string operator()(const WrongSize& it) const {
    return it.taker + " takes " + units(it.expected, it.unit) + ", but " + it.operand + " has " +
        words(it.arrives) + ": it is " + words(it.shape);
  }

  std::string operator()(const OutOfRange& it) const {
    std::string range;
    if (it.least && it.most)
      range = "between " + number(*it.least) + " and " + number(*it.most);
    else if (it.least)
      range = (it.above ? "above " : "of at least ") + number(*it.least);
    else if (it.most)
      range = "of at most " + number(*it.most);
    return it.taker + " takes " + with_article(it.parameter) + " " + range +
        (it.given.size ? ", not " + words(it.given) : "");
  }

  std::string operator()(const ImpossibleCount& it) const {
    return it.taker + " is asked for " +
        (it.unit.empty() ? "a size of " + words(it.asked) : words(it.asked) + " " + std::string(it.unit)) +
        (it.among.size ? " of " + words(it.among) : "");
  }

  std::string operator()(const NoSuchOption& it) const {
    return values::code(it.parameter) + " of " + it.taker + " is " + listed(it.options) + ", not " +
        quoted(it.given);
  }

  std::string operator()(const WrongCount& it) const {
    return it.taker + " is given " + counted(it.given, it.unit) + " for " + counted(it.expected, it.per);
  }

  std::string operator()(const NotDivisible& it) const {
    return (it.parameter.empty()
                   ? words(it.size) + " " + std::string(it.unit)
                   : values::code(std::string(it.parameter) + "=" + values::size_text(*symbols_, it.size))) +
        " cannot be divided into " + words(it.by) + " " + std::string(it.parts);
  }

  std::string operator()(const NoSuchArgument& it) const {
    return it.taker + " has no argument " + values::code(it.written) +
        (it.meant.empty() ? "" : ". Did you mean " + values::code(it.meant) + "?");
  }

  std::string operator()(const MissingArgument& it) const {
    return it.taker + " is called without its argument " + values::code(it.parameter);
  }

  std::string operator()(const TooManyArguments& it) const {
    return it.taker + " takes " + counted(it.most, "positional argument") + " but is given " +
        std::to_string(it.given);
  }

  std::string operator()(const WrongKind& it) const {
    const std::string has(text_of(it.has));
    switch (it.need) {
    case WrongKind::Need::tensor:
      return it.taker + " takes a tensor, but " +
          (it.operand.empty() ? "both operands are " + has : it.operand + " is " + has);
    case WrongKind::Need::tensors: return it.taker + " takes tensors, but " + it.operand + " is " + has;
    case WrongKind::Need::number:
      return it.taker + " takes a number as " + it.operand + ", but " + quoted(it.value) + " is " + has;
    case WrongKind::Need::whole_number:
      return it.taker + " takes integers, but " + it.operand + " is " + has + ": " + it.value +
          ". Use `//`, or `int()`";
    case WrongKind::Need::whole_sizes:
      return it.taker + " takes integers as sizes, but one of them is " + has +
          (it.value.empty() ? "" : ": " + it.value) + ". Use `//`, or `int()`";
    }
    return {};
  }

  std::string operator()(const DimensionOutside& it) const {
    const auto range = static_cast<std::int64_t>(it.ndim == 0 ? 1 : it.ndim);
    return "Dimension " + std::to_string(it.dimension) + " is outside a tensor of " +
        counted(it.ndim, "dimension") + ": PyTorch takes " + std::to_string(-range) + " to " +
        std::to_string(range - 1);
  }

  std::string operator()(const DimensionTwice& it) const {
    return "Dimension " + std::to_string(it.dimension) + " is named twice" +
        (it.list.empty() ? "" : " in " + it.list);
  }

  std::string operator()(const NoDimension& it) const {
    return it.operand + " has no dimension to " + std::string(it.purpose);
  }

  std::string operator()(const NoBroadcast& it) const {
    return "Shapes " + words(it.one) + " and " + words(it.other) + " do not broadcast: dimension " +
        std::to_string(-1 - static_cast<std::ptrdiff_t>(it.at)) + " has sizes " + words(it.left) + " and " +
        words(it.right) + ", and neither is 1";
  }

  std::string operator()(const DoesNotFit& it) const {
    switch (it.action) {
    case DoesNotFit::Action::broadcast:
      return it.operand + " has shape " + words(it.shape) + " and cannot be broadcast to " + it.into +
          (it.into.empty() ? "" : ", which has shape ") + words(it.other);
    case DoesNotFit::Action::copy:
      return it.operand + " has shape " + words(it.shape) + " and cannot be copied into " + it.into +
          ", which has shape " + words(it.other);
    case DoesNotFit::Action::write:
      return "A value of shape " + words(it.shape) + " cannot be written into a part of shape " +
          words(it.other);
    case DoesNotFit::Action::write_result:
      return "The result has shape " + words(it.shape) + " and cannot be written into " + it.into +
          ", which has shape " + words(it.other);
    }
    return {};
  }

  std::string operator()(const ResultDtype& it) const {
    return "The result" + (it.taker.empty() ? "" : " of " + it.taker) + " is " + words(it.result) +
        " and cannot be written into " + it.into + ", which is " + words(it.target);
  }

  std::string operator()(const NoSuchIndex& it) const {
    const auto size = symbols_->value(it.size.size);
    return "Index " + words(it.index) + " is outside dimension " + std::to_string(it.axis) + " of " +
        it.indexed + ", which has " + units(it.size, "elements") +
        (size && *size > 0 ? ": PyTorch takes " + std::to_string(-*size) + " to " + std::to_string(*size - 1)
                           : "");
  }

  std::string operator()(const NoSuchEntry& it) const {
    return it.taker + " has " + units(it.count, it.units) + ", but " + it.operand + " holds the " +
        std::string(it.unit) + " " + words(it.number);
  }

  std::string operator()(const IndexOutside& it) const {
    return it.operand + " holds " + words(it.index) + ", but dimension " + std::to_string(it.axis) + " of " +
        it.indexed + " " + words(it.shape) + " has " + words(it.size);
  }

private:
  static std::string_view text_of_reason(Reason reason) {
    for (const auto texts : {texts_of_python(), texts_of_frameworks(), texts_of_operators(),
             texts_of_layers(), texts_of_training()})
      if (const std::size_t at = static_cast<std::size_t>(reason) -
              static_cast<std::size_t>(texts.front().reason);
          at < texts.size())
        return texts[at].text;
    return {};
  }
  std::string filled(const Part& part, std::string_view gap, bool in_code) const {
    if (gap.starts_with('?')) {
      const std::size_t colon = std::min(gap.find(':'), gap.size());
      return std::string(
          std::get<bool>(part) ? gap.substr(1, colon - 1) : gap.substr(std::min(colon + 1, gap.size())));
    }
    const auto* size = std::get_if<values::Dim>(&part);
    std::string text = in_code && size ? values::size_text(*symbols_, *size)
                                       : std::visit([&](const auto& it) { return words(it); }, part);
    if (gap.size() > 1) text += " " + std::string(gap.substr(1)) + (text == "1" ? "" : "s");
    return text;
  }
  std::string words(const values::Shape& shape) const {
    return values::code(values::shape_text(*symbols_, shape));
  }
  std::string words(const values::Dim& dim) const { return values::size_words(*symbols_, dim); }
  static std::string words(bool truth) { return truth ? "True" : "False"; }
  static std::string words(std::int64_t number) { return std::to_string(number); }
  static std::string words(double number) {
    char text[32];
    return {text, std::to_chars(std::begin(text), std::end(text), number).ptr};
  }
  static std::string words(const std::string& text) { return text; }
  std::string words(const std::shared_ptr<const RefusalBox>& refusal) const {
    return std::visit(*this, refusal->refusal);
  }
  static std::string words(const PlacedOperand& operand) {
    switch (operand.is) {
    case PlacedOperand::operand: return operand.name;
    case PlacedOperand::weight: return "the weight of " + operand.name;
    case PlacedOperand::pos_weight: return "the `pos_weight` of " + operand.name;
    case PlacedOperand::part: return "part " + std::to_string(operand.index) + " of " + operand.name;
    case PlacedOperand::numbered: return "operand " + std::to_string(operand.index);
    }
    return {};
  }
  std::string words(const ShapedOperand& operand) const { return operand.name + " " + words(operand.shape); }
  // "3 features", "1 feature"
  std::string units(const values::Dim& count, std::string_view unit) const {
    if (symbols_->value(count.size) == 1 && unit.ends_with('s')) unit.remove_suffix(1);
    return words(count) + " " + std::string(unit);
  }
  static std::string words(values::Dtype dtype) { return values::code(values::name(dtype)); }

  const symbolic::Context* symbols_;  // null: nothing that is told has a size
};

}  // namespace

std::string text_of(const Record& record, const ProblemEvent& problem) {
  return text_of(record, problem.refusal.get());
}
std::string text_of(const Record& record, const RefusalBox* refusal) {
  return refusal ? std::visit(Templates(&record.symbols), refusal->refusal) : std::string();
}
std::string text_of(const Refusal& refusal) { return std::visit(Templates(nullptr), refusal); }

bool is_for(const ProblemEvent& problem, std::initializer_list<Reason> reasons) {
  const auto* stated = refusal_of<Stated>(problem);
  return stated && std::ranges::find(reasons, stated->reason) != reasons.end();
}
namespace {
bool names(const Refusal& refusal, std::string_view name) {
  const auto* stated = std::get_if<Stated>(&refusal);
  return stated && std::ranges::any_of(stated->parts, [&](const Part& part) {
    if (const auto* inner = std::get_if<std::shared_ptr<const RefusalBox>>(&part))
      return names((*inner)->refusal, name);
    const auto* text = std::get_if<std::string>(&part);
    return text && *text == name;
  });
}
}  // namespace
bool names(const ProblemEvent& problem, std::string_view name) {
  return problem.refusal && names(problem.refusal->refusal, name);
}

void relate_evidence(
    const Record& record, const Report& report, Finding& finding, const ProblemEvent& problem) {
  for (const values::Dim& size : problem.sizes)
    report.relate(finding, size.origin->place, values::size_words(record.symbols, size) + " comes from here");
  for (const auto& [place, text] : problem.evidence) report.relate(finding, place, text);
}

}  // namespace stepzero::rules
