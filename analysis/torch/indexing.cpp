// Subscripts, and operators that pick elements by index or mask.
#include "torch/views.hpp"

#include <algorithm>

namespace stepzero::torch {

using symbolic::Answer;
using symbolic::Compare;
using values::Kind;
using values::ProblemKind;

namespace {

bool is_index_dtype(values::Dtype dtype) { return dtype != values::Dtype::unknown && !values::is_floating(dtype) && dtype != values::Dtype::complex64 && dtype != values::Dtype::complex128; }
bool is_mask_dtype(values::Dtype dtype) { return dtype == values::Dtype::boolean || dtype == values::Dtype::uint8; }
bool is_float_dtype(values::Dtype dtype) { return dtype != values::Dtype::unknown && !is_index_dtype(dtype); }

// ---------------------------------------------------------------- slices

// What a bound of a slice means for a dimension of that size; null if it is not known. `absent` where it is left out.
Int bound_at(Op& op, Value bound, Int size, Int absent) {
  bound = op.run.resolve(bound);
  if (!bound || bound.is(Kind::none)) return absent;
  if (!bound.is(Kind::integer)) return nullptr;
  const Int at = bound.integer(), zero = op.s.constant(0);
  if (op.s.value(at) == 0) return zero;
  const auto low = op.s.lower(at), high = op.s.upper(at);
  if (low && *low >= 0) return smaller(op, at, size);
  if (high && *high < 0) return larger(op, op.add(size, at), zero);
  return nullptr;
}

bool is_literal(const syntax::Expr* expr) {
  if (!expr) return false;
  if (expr->kind == syntax::ExprKind::unary) return is_literal(syntax::as<syntax::UnaryExpr>(*expr).operand);
  return expr->kind == syntax::ExprKind::integer;
}

// A dimension after x[lower:upper:step]. `written` is the slice in the text, if it stands there.
Dim sliced(Op& op, const Dim& dim, const values::SliceObject& slice, const syntax::Expr* written) {
  const Int zero = op.s.constant(0);
  const Value lower = op.run.resolve(slice.lower), upper = op.run.resolve(slice.upper), step = op.run.resolve(slice.step);
  const auto left_out = [](const Value& value) { return !value || value.is(Kind::none); };
  Int stride = op.s.constant(1);
  if (!left_out(step)) {
    if (!step.is(Kind::integer)) return {};
    stride = step.integer();
    if (op.s.compare(Compare::le, stride, zero) == Answer::yes) {
      op.fail(ProblemKind::index, "The step of a slice of a tensor has to be positive, and " + op.words(op.dim(stride)) + " is not: flip turns a tensor around");
      return {};
    }
  }
  const bool single = op.s.value(stride) == 1;
  if (left_out(lower) && left_out(upper) && single) return dim;

  const auto number = [&](Value value) { return value.is(Kind::integer) ? op.s.value(value.integer()) : std::nullopt; };
  const auto known = op.value(dim);
  if (known && *known > 0 && written && written->kind == syntax::ExprKind::slice && !op.run.guarded()) {
    const auto& text = syntax::as<syntax::SliceExpr>(*written);
    const auto from = number(lower), to = number(upper);
    const bool behind = from && *from >= *known && is_literal(text.lower) && (!text.upper || is_literal(text.upper)) && !(to && *to == *from);
    const bool before = to && *to < -*known && is_literal(text.upper) && (!text.lower || is_literal(text.lower));
    if (behind || before)
      op.warn(ProblemKind::empty_slice, "The slice takes nothing: the dimension has the size " + op.words(dim) + ", and it " +
                                            (behind ? "begins at " + std::to_string(*from) : "ends at " + std::to_string(*to)), {dim});
  }

  const Int low = bound_at(op, lower, dim.size, zero), high = bound_at(op, upper, dim.size, dim.size);
  Int length = nullptr;
  if (left_out(upper) && lower.is(Kind::integer) && dim.size) {
    const Int from = lower.integer();
    const auto least = op.s.lower(from), most = op.s.upper(from);
    // The last n: min(n, size). All of them are all, though -0 is 0.
    if (most && *most < 0) length = smaller(op, op.s.negate(from), dim.size);
    else if (op.s.negate(from) == dim.size) length = dim.size;
    else if (least && *least >= 0) length = larger(op, op.s.sub(dim.size, from), zero);
  }
  if (!length && low && high) {
    length = op.s.compare(Compare::ge, high, low) == Answer::yes ? op.s.sub(high, low) : larger(op, op.s.sub(high, low), zero);
  }
  if (!length) return {};
  if (!single) {
    const auto constant = op.s.value(stride);
    if (!constant) return {};
    length = op.s.floordiv(op.s.add(length, op.s.constant(*constant - 1)), stride);
  }
  if (length == dim.size) return dim;
  return op.made(length, "slice");
}

// ---------------------------------------------------------------- subscripts

// One part of x[…], as far as it is known.
struct Part {
  enum class What : std::uint8_t { integer, slice, fresh, flag, indices, mask, ellipsis } what;
  Value value;
  Shape shape = {};                          // of indices and masks; what they select, for flags and lists
  std::vector<std::int64_t> numbers = {};    // of a list of numbers that are all known
  const syntax::Expr* text = nullptr;
};

// A list as an index: numbers, or truths for a mask. Nullopt if that is not known, or if it stands for a tuple.
std::optional<Part> list_part(Op& op, Value list) {
  const auto items = op.run.elements(list, op.call.place);
  if (!items) return std::nullopt;
  Part part{Part::What::indices, list};
  std::size_t truths = 0, chosen = 0;
  bool decided = true;
  for (const Value& item : *items) {
    const Value value = op.run.resolve(item);
    if (value.is(Kind::boolean)) {
      ++truths;
      const Answer answer = op.s.decide(value.condition());
      decided = decided && answer != Answer::unknown;
      chosen += answer == Answer::yes;
    } else if (value.is(Kind::integer)) {
      if (const auto number = op.s.value(value.integer())) part.numbers.push_back(*number);
    } else {
      return std::nullopt;
    }
  }
  if (truths && truths != items->size()) return std::nullopt;
  const Dim count = op.dim(static_cast<std::int64_t>(items->size()));
  part.shape = {true, {count}};
  if (truths) part.what = Part::What::mask;
  if (truths && decided) part.numbers = {static_cast<std::int64_t>(chosen)};
  return part;
}

std::optional<Part> part_of(Op& op, Value value, const syntax::Expr* text) {
  value = op.run.resolve(value);
  using What = Part::What;
  Part part{What::slice, value};
  part.text = text;
  switch (value.kind) {
  case Kind::none: part.what = What::fresh; return part;
  case Kind::ellipsis: part.what = What::ellipsis; return part;
  case Kind::slice: return part;
  case Kind::integer: part.what = What::integer; return part;
  case Kind::boolean: {
    const Answer answer = op.s.decide(value.condition());
    part.what = What::flag;
    part.shape = {true, {answer == Answer::unknown ? Dim{} : op.dim(std::int64_t{answer == Answer::yes})}};
    return part;
  }
  case Kind::list: return list_part(op, value);
  case Kind::range: {
    const auto items = op.run.elements(value, op.call.place);
    if (!items) return std::nullopt;
    part.what = What::indices;
    part.shape = {true, {op.dim(static_cast<std::int64_t>(items->size()))}};
    return part;
  }
  default: break;
  }
  const TensorState* state = op.tensor(value);
  if (!state) return std::nullopt;
  part.shape = state->shape;
  if (is_float_dtype(state->dtype)) {
    op.fail(ProblemKind::dtype, "A tensor of " + std::string(values::name(state->dtype)) + " cannot be an index: integers and bool can");
    return std::nullopt;
  }
  if (!state->shape.rank_known) {
    if (state->dtype == values::Dtype::unknown || is_mask_dtype(state->dtype)) return std::nullopt;
    part.what = What::indices;
    return part;
  }
  if (is_mask_dtype(state->dtype)) {
    part.what = state->shape.dims.empty() ? What::flag : What::mask;
    if (part.what == What::flag) part.shape = {true, {Dim{}}};
    return part;
  }
  if (state->dtype == values::Dtype::unknown) {
    // Numbers or truths: a vector takes one dimension either way, and how many it selects is known of numbers only.
    if (state->shape.dims.size() != 1) return std::nullopt;
    part.shape = {true, {Dim{}}};
  }
  part.what = state->shape.dims.empty() ? What::integer : What::indices;
  return part;
}

// x[:]
bool is_whole(const Op& op, const Part& part) {
  const auto* slice = part.value.as<values::SliceObject>();
  for (const Value& bound : {slice->lower, slice->upper, slice->step})
    if (const Value value = op.run.resolve(bound); value && !value.is(Kind::none)) return false;
  return true;
}

std::size_t consumed(const Part& part) {
  switch (part.what) {
  case Part::What::integer:
  case Part::What::slice:
  case Part::What::indices: return 1;
  case Part::What::mask: return part.shape.dims.size();
  default: return 0;
  }
}

// The shape of from[parts]. Nullopt if it is not known or, after fail(), impossible.
std::optional<Shape> indexed(Op& op, const Shape& from, std::vector<Part> parts) {
  using What = Part::What;
  std::size_t ellipsis = parts.size(), taken = 0, taken_behind = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].what == What::ellipsis) {
      if (ellipsis != parts.size()) {
        // PyTorch takes further ones for `:` in some versions and refuses them in others.
        return std::nullopt;
      }
      ellipsis = i;
    }
    taken += consumed(parts[i]);
    if (ellipsis != parts.size()) taken_behind += consumed(parts[i]);
  }
  // PyTorch lets a mask of several dimensions move on by one only for what stands behind it.
  bool behind_mask = false;
  for (const Part& part : parts) {
    const bool moves = part.what == What::integer || part.what == What::fresh || (part.what == What::slice && !is_whole(op, part));
    if (behind_mask && moves) return std::nullopt;
    behind_mask = behind_mask || (part.what == What::mask && part.shape.dims.size() > 1);
  }
  const std::string name = op.name("input");
  if (from.rank_known && taken > from.dims.size()) {
    op.fail(ProblemKind::index, name + " is " + op.words(from) + " and has " + plural(static_cast<std::int64_t>(from.dims.size()), "dimension") + ", but is indexed in " +
                                    std::to_string(taken));
    return std::nullopt;
  }
  // Of a tensor whose rank is not known, only what stands last can be followed.
  Shape out{from.rank_known, {}};
  std::size_t at = 0;
  const std::size_t rank = from.dims.size();
  if (!from.rank_known) {
    bool selects_before = false;
    if (ellipsis == parts.size()) {
      if (rank <= taken) return Shape{};
      out.dims.assign(from.dims.begin() + static_cast<std::ptrdiff_t>(taken), from.dims.end());
      return out;
    }
    for (std::size_t i = 0; i < ellipsis; ++i)
      if (parts[i].what == What::indices || parts[i].what == What::mask || parts[i].what == What::flag) selects_before = true;
    Shape padded = from;
    if (padded.dims.size() < taken_behind) padded.dims.insert(padded.dims.begin(), taken_behind - padded.dims.size(), Dim{});
    // With indices on both sides what they select goes to the front.
    bool selects_behind = false;
    for (std::size_t i = ellipsis + 1; i < parts.size(); ++i) selects_behind = selects_behind || parts[i].what == What::indices || parts[i].what == What::mask || parts[i].what == What::flag;
    if (selects_before && selects_behind) return std::nullopt;
    const std::size_t kept = padded.dims.size() - taken_behind;
    const std::size_t before = taken - taken_behind;
    // Dimensions that the parts in front of the ellipsis took may be among those that are known.
    const std::size_t lost = std::min(kept, before);
    Shape rest{true, {padded.dims.begin() + static_cast<std::ptrdiff_t>(kept), padded.dims.end()}};
    const auto tail = indexed(op, rest, {parts.begin() + static_cast<std::ptrdiff_t>(ellipsis) + 1, parts.end()});
    if (!tail) return std::nullopt;
    out.dims.assign(padded.dims.begin() + static_cast<std::ptrdiff_t>(lost), padded.dims.begin() + static_cast<std::ptrdiff_t>(kept));
    // Indices that do not stand together put their dimensions in front of all.
    bool apart = false, seen = false, gap = false;
    for (std::size_t i = ellipsis + 1; i < parts.size(); ++i) {
      const bool selects = parts[i].what == What::indices || parts[i].what == What::mask || parts[i].what == What::flag;
      if (selects && seen && gap) apart = true;
      if (selects) {
        seen = true;
        gap = false;
      } else if (parts[i].what != What::integer) {
        gap = true;
      }
    }
    if (apart) return std::nullopt;
    out.dims.insert(out.dims.end(), tail->dims.begin(), tail->dims.end());
    return out;
  }

  std::optional<Shape> selected;            // by all indices together
  std::size_t selected_at = 0;              // in `out`
  bool adjacent = true, between = false;
  std::vector<std::pair<const Part*, std::size_t>> lists;  // of numbers, and what they index
  const auto select = [&](const Shape& by) {
    if (!selected) {
      selected = by;
      selected_at = out.dims.size();
    } else {
      if (between) adjacent = false;
      bool impossible = false;
      const auto both = broadcast(op.run, *selected, by, &impossible);
      if (impossible) {
        op.fail(ProblemKind::index, "The indices select together, and their shapes " + op.words(*selected) + " and " + op.words(by) + " do not broadcast");
        return false;
      }
      selected = both ? *both : Shape{};
    }
    between = false;
    return true;
  };
  const auto outside = [&](const std::string& index, std::size_t axis, const Dim& d) {
    const auto size = op.value(d);
    op.fail(ProblemKind::index, "Index " + index + " is outside dimension " + std::to_string(axis) + " of " + name + ", which has " +
                                    (size ? plural(*size, "element") : op.words(d) + " elements") +
                                    (size && *size > 0 ? ": PyTorch takes " + std::to_string(-*size) + " to " + std::to_string(*size - 1) : ""), {d});
  };
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Part& part = parts[i];
    switch (part.what) {
    case What::ellipsis: {
      const std::size_t until = rank - taken_behind;
      if (until > at && selected) between = true;
      // Even an ellipsis that stands for nothing is no dimension: indices around it stay together.
      for (; at < until; ++at) out.dims.push_back(from.dims[at]);
      break;
    }
    case What::fresh:
      out.dims.push_back(op.dim(1));
      between = between || selected;
      break;
    case What::integer: {
      const Dim& d = from.dims[at];
      if (part.value.is(Kind::integer) && d.size) {
        const Int index = part.value.integer();
        if (op.s.compare(Compare::ge, index, d.size) == Answer::yes || op.s.compare(Compare::lt, index, op.s.negate(d.size)) == Answer::yes) {
          outside(op.words(op.dim(index)), at, d);
          return std::nullopt;
        }
      }
      ++at;
      break;
    }
    case What::slice:
      out.dims.push_back(sliced(op, from.dims[at], *part.value.as<values::SliceObject>(), part.text));
      if (op.failed()) return std::nullopt;
      between = between || selected;
      ++at;
      break;
    case What::flag:
      if (!select(part.shape)) return std::nullopt;
      break;
    case What::indices:
      if (!part.numbers.empty()) lists.push_back({&part, at});
      if (!select(part.shape)) return std::nullopt;
      ++at;
      break;
    case What::mask: {
      for (std::size_t k = 0; k < part.shape.dims.size(); ++k)
        if (op.equal(part.shape.dims[k], from.dims[at + k]) == Answer::no) {
          op.fail(ProblemKind::index, "The mask is " + op.words(part.shape) + " and " + name + " is " + op.words(from) + ": " + op.words(part.shape.dims[k]) +
                                          " would choose among the " + op.words(from.dims[at + k]) + " of dimension " + std::to_string(at + k),
                  {part.shape.dims[k], from.dims[at + k]});
          return std::nullopt;
        }
      const Dim chosen = part.value.is(Kind::list) && !part.numbers.empty() ? op.dim(part.numbers[0]) : Dim{};
      if (!select({true, {chosen}})) return std::nullopt;
      at += part.shape.dims.size();
      break;
    }
    }
  }
  for (; at < rank; ++at) out.dims.push_back(from.dims[at]);
  if (!lists.empty()) {
    // PyTorch looks at the numbers only if anything is selected by them.
    bool some = selected && selected->rank_known;
    for (const Dim& d : out.dims) some = some && op.equal(d, 0) == Answer::no;
    for (std::size_t i = 0; some && i < selected->dims.size(); ++i) some = op.equal(selected->dims[i], 0) == Answer::no;
    for (const auto& [part, axis] : lists) {
      const auto size = op.value(from.dims[axis]);
      for (const std::int64_t number : part->numbers)
        if (some && size && (number >= *size || number < -*size)) {
          outside(std::to_string(number), axis, from.dims[axis]);
          return std::nullopt;
        }
    }
  }
  if (selected) {
    const std::size_t place = adjacent ? selected_at : 0;
    if (!selected->rank_known) {
      // What follows the selected dimensions is known.
      out.rank_known = false;
      out.dims.erase(out.dims.begin(), out.dims.begin() + static_cast<std::ptrdiff_t>(place));
      return out;
    }
    out.dims.insert(out.dims.begin() + static_cast<std::ptrdiff_t>(place), selected->dims.begin(), selected->dims.end());
  }
  return out;
}

const syntax::Expr* index_text(const Op& op) {
  const syntax::Expr* node = op.call.node;
  return node && node->kind == syntax::ExprKind::subscript ? syntax::as<syntax::SubscriptExpr>(*node).index : nullptr;
}

Value get_item(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  const Value index = op.run.resolve(op.call.at(1));
  const syntax::Expr* text = index_text(op);
  std::vector<Value> items;
  bool is_tuple = index.is(Kind::tuple);
  if (is_tuple) items = index.as<values::Tuple>()->items;
  else items.push_back(index);
  // A list that holds a slice can stand for a tuple only.
  if (index.is(Kind::list))
    if (const auto listed = op.run.elements(index, op.call.place))
      for (const Value& item : *listed)
        if (const Value part = op.run.resolve(item); part.is(Kind::slice) || part.is(Kind::none) || part.is(Kind::ellipsis)) {
          items = *listed;
          is_tuple = true;
          break;
        }
  const auto* written = text && text->kind == syntax::ExprKind::tuple ? &syntax::as<syntax::TupleExpr>(*text) : nullptr;
  if (written && written->elements.size() != items.size()) written = nullptr;
  std::vector<Part> parts;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto part = part_of(op, items[i], written ? written->elements[i] : is_tuple ? nullptr : text);
    if (!part) return op.result({}, input->dtype);
    parts.push_back(*part);
  }
  const auto shape = indexed(op, input->shape, std::move(parts));
  return op.result(shape ? *shape : Shape{}, input->dtype);
}

// ---------------------------------------------------------------- operators

Value same_as_input(Op& op, const TensorState* input) { return op.result(input->shape, input->dtype); }

std::string at_words(std::size_t at) { return "dimension " + std::to_string(at); }

// An index has to be of integers.
bool index_fits(Op& op, const TensorState* index, std::string_view name) {
  if (!index || !is_float_dtype(index->dtype)) return true;
  op.fail(ProblemKind::dtype, op.name(name) + " is " + std::string(values::name(index->dtype)) + " and has to be of integers to be an index");
  op.cure_append(name, ".long()", false);
  return false;
}

// Vectors and single values alike.
std::size_t rank_of(const Shape& shape) { return std::max<std::size_t>(shape.dims.size(), 1); }
Dim dim_of(Op& op, const Shape& shape, std::size_t at) { return shape.dims.empty() ? op.dim(1) : shape.dims[at]; }

// `index` has to have as many dimensions as `input`, none of them larger but that at `except`; of an empty index nothing is asked.
// False after fail().
bool index_within(Op& op, const Shape& index, const Shape& input, std::optional<std::size_t> except, std::string_view index_name, std::string_view input_name) {
  if (!index.rank_known || !input.rank_known) return true;
  values::Cond not_empty = op.s.boolean(true);
  for (const Dim& d : index.dims) {
    if (!d.size) return true;
    not_empty = op.s.logical_and(not_empty, op.s.compared(Compare::ne, d.size, op.s.constant(0)));
  }
  if (rank_of(index) != rank_of(input)) {
    op.fail_when(not_empty, ProblemKind::index,
                 op.name(index_name) + " is " + op.words(index) + " and needs as many dimensions as " + op.name(input_name) + ", which is " + op.words(input));
    return !op.failed();
  }
  for (std::size_t i = 0; i < rank_of(index); ++i) {
    if (i == except) continue;
    const Dim a = dim_of(op, index, i), b = dim_of(op, input, i);
    if (!b.size || op.s.compare(Compare::gt, a.size, b.size) != Answer::yes) continue;
    op.fail_when(not_empty, ProblemKind::index, op.name(index_name) + " is " + op.words(index) + " and reaches beyond " + op.name(input_name) + ", which is " +
                                                    op.words(input) + ", in " + at_words(i), {a, b});
    return !op.failed();
  }
  return true;
}

Value gather(Op& op) {
  const TensorState *input = op.expect("input"), *index = op.expect("index");
  if (!input || !index) return op.unknown();
  if (!index_fits(op, index, "index")) return op.unknown();
  if (input->shape.rank_known) {
    const auto at = op.axis("dim", input->shape.dims.size());
    if (op.failed()) return op.unknown();
    if (at && !index_within(op, index->shape, input->shape, at, "index", "input")) return op.unknown();
  }
  return op.result(index->shape, input->dtype);
}

Value scatter(Op& op) {
  const TensorState *input = op.expect("input"), *index = op.expect("index");
  if (!input || !index) return op.unknown();
  if (!index_fits(op, index, "index")) return op.unknown();
  const Value source = op.argument("src");
  if (input->shape.rank_known) {
    const auto at = op.axis("dim", input->shape.dims.size());
    if (op.failed()) return op.unknown();
    if (at && !index_within(op, index->shape, input->shape, at, "index", "input")) return op.unknown();
    const TensorState* from = op.tensor(source);
    if (from && !(from->shape.rank_known && from->shape.dims.empty()) && !index_within(op, index->shape, from->shape, std::nullopt, "index", "src"))
      return op.unknown();
  }
  return same_as_input(op, input);
}

Value index_select(Op& op) {
  const TensorState *input = op.expect("input"), *index = op.expect("index");
  if (!input || !index) return op.unknown();
  if (!index_fits(op, index, "index")) return op.unknown();
  if (index->shape.rank_known && index->shape.dims.size() > 1)
    return op.fail(ProblemKind::index, op.name("index") + " is " + op.words(index->shape) + " and has to be a vector");
  Shape shape = input->shape;
  const auto at = find_dim(op, shape, "dim");
  if (!at) return op.result(op.failed() ? Shape{} : shape.rank_known ? Shape{true, std::vector<Dim>(shape.dims.size())} : Shape{}, input->dtype);
  if (!shape.dims.empty()) shape.dims[*at] = index->shape.rank_known ? dim_of(op, index->shape, 0) : Dim{};
  return op.result(shape, input->dtype);
}

// index_add, index_copy, index_fill: into parts of the input.
Value index_write(Op& op) {
  const TensorState *input = op.expect("input"), *index = op.expect("index");
  if (!input || !index) return op.unknown();
  if (!index_fits(op, index, "index")) return op.unknown();
  if (index->shape.rank_known && index->shape.dims.size() > 1)
    return op.fail(ProblemKind::index, op.name("index") + " is " + op.words(index->shape) + " and has to be a vector");
  if (!input->shape.rank_known) return same_as_input(op, input);
  const auto at = op.axis("dim", input->shape.dims.size());
  if (op.failed()) return op.unknown();
  const std::string_view parameter = op.call.row.parameters.size() > 3 ? op.call.row.parameters[3].text() : std::string_view{};
  const TensorState* source = parameter.empty() ? nullptr : op.tensor(parameter);
  if (at && source && source->shape.rank_known && parameter != "value" && !source->shape.dims.empty() && !input->shape.dims.empty()) {
    const auto& dims = source->shape.dims;
    if (dims.size() != input->shape.dims.size())
      return op.fail(ProblemKind::index, op.name(parameter) + " is " + op.words(source->shape) + " and needs as many dimensions as " + op.name("input") + ", which is " +
                                             op.words(input->shape));
    for (std::size_t i = 0; i < dims.size(); ++i) {
      const Dim expected = i == *at ? (index->shape.rank_known ? dim_of(op, index->shape, 0) : Dim{}) : input->shape.dims[i];
      if (op.equal(dims[i], expected) == Answer::no)
        return op.fail(ProblemKind::index, op.name(parameter) + " is " + op.words(source->shape) + " and needs " + op.words(expected) + " in " + at_words(i) +
                                               (i == *at ? ", one for each index" : ", as " + op.name("input") + " has"), {dims[i], expected});
    }
  }
  return same_as_input(op, input);
}

Value index_put(Op& op) {
  const TensorState* input = op.expect("input");
  return input ? same_as_input(op, input) : op.unknown();
}

bool mask_fits(Op& op) {
  const TensorState* mask = op.tensor("mask");
  if (!mask || mask->dtype == values::Dtype::unknown || is_mask_dtype(mask->dtype)) return true;
  op.fail(ProblemKind::dtype, op.name("mask") + " is " + std::string(values::name(mask->dtype)) + " and has to be bool to be a mask");
  op.cure_append("mask", ".bool()", false);
  return false;
}
Value masked(Op& op) {
  const TensorState *input = op.expect("input"), *mask = op.expect("mask");
  if (!input || !mask) return op.unknown();
  if (!mask_fits(op)) return op.unknown();
  const auto shape = op.broadcast(input->shape, mask->shape);
  return shape ? op.result(*shape, input->dtype) : op.unknown();
}
Value masked_select(Op& op) {
  const TensorState *input = op.expect("input"), *mask = op.expect("mask");
  if (!input || !mask) return op.unknown();
  if (!mask_fits(op) || !op.broadcast(input->shape, mask->shape)) return op.unknown();
  return op.result({true, {Dim{}}}, input->dtype);
}

Value take(Op& op) {
  const TensorState *input = op.expect("input"), *index = op.expect("index");
  if (!input || !index || !index_fits(op, index, "index")) return op.unknown();
  return op.result(index->shape, input->dtype);
}
Value take_along_dim(Op& op) {
  const TensorState *input = op.expect("input"), *indices = op.expect("indices");
  if (!input || !indices || !index_fits(op, indices, "indices")) return op.unknown();
  if (!op.argument("dim")) {
    const Int count = indices->shape.rank_known ? op.product(indices->shape.dims) : nullptr;
    return op.result({true, {count ? op.made(count) : Dim{}}}, input->dtype);
  }
  if (!input->shape.rank_known || !indices->shape.rank_known) return op.result({}, input->dtype);
  if (input->shape.dims.size() != indices->shape.dims.size())
    return op.fail(ProblemKind::index, op.name("indices") + " is " + op.words(indices->shape) + " and needs as many dimensions as " + op.name("input") + ", which is " +
                                           op.words(input->shape));
  const auto at = op.axis("dim", input->shape.dims.size());
  if (!at) return op.result(op.failed() ? Shape{} : Shape{true, std::vector<Dim>(input->shape.dims.size())}, input->dtype);
  Shape left = input->shape, right = indices->shape;
  if (left.dims.empty()) return op.result(left, input->dtype);
  left.dims[*at] = op.dim(1);
  const Dim length = right.dims[*at];
  right.dims[*at] = op.dim(1);
  auto shape = op.broadcast(left, right);
  if (!shape) return op.unknown();
  shape->dims[*at] = length;
  return op.result(*shape, input->dtype);
}

// The places of what is not zero: as many as there are.
Value nonzero(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  const bool known = input->shape.rank_known;
  const std::size_t rank = input->shape.dims.size();
  const auto int64 = values::Dtype::int64;
  const Known parts = op.flag("as_tuple");
  if (parts == Known::unknown) return op.run.heap().external("", op.call.place);
  if (parts == Known::yes) {
    const Shape vector{true, {Dim{}}};
    if (!known) return op.run.heap().open_list(op.result(vector, int64));
    std::vector<Value> made;
    for (std::size_t i = 0; i < std::max<std::size_t>(rank, 1); ++i) made.push_back(op.result(vector, int64));
    return op.tuple(std::move(made));
  }
  return op.result({true, {Dim{}, known ? op.dim(static_cast<std::int64_t>(rank)) : Dim{}}}, int64);
}

Value select(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  Shape shape = input->shape;
  if (shape.rank_known && shape.dims.empty()) return op.fail(ProblemKind::index, op.name("input") + " has no dimension to select from");
  const auto at = find_dim(op, shape, "dim");
  if (!at) return op.result(op.failed() || !shape.rank_known ? Shape{} : Shape{true, std::vector<Dim>(shape.dims.size() - 1)}, input->dtype);
  const Dim& whole = shape.dims[*at];
  if (const Value index = op.argument("index"); index.is(Kind::integer) && whole.size)
    if (op.s.compare(Compare::ge, index.integer(), whole.size) == Answer::yes || op.s.compare(Compare::lt, index.integer(), op.s.negate(whole.size)) == Answer::yes)
      return op.fail(ProblemKind::index, "Index " + op.words(op.dim(index.integer())) + " is outside " + at_words(*at) + " of " + op.name("input") + ", which has " +
                                             op.words(whole) + " elements", {whole});
  shape.dims.erase(shape.dims.begin() + static_cast<std::ptrdiff_t>(*at));
  return op.result(shape, input->dtype);
}

Value narrow(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  Shape shape = input->shape;
  if (shape.rank_known && shape.dims.empty()) return op.fail(ProblemKind::index, op.name("input") + " has no dimension to narrow");
  const auto at = find_dim(op, shape, "dim");
  const Int length = op.size("length"), start = op.size("start");
  if (!at) return op.result(op.failed() || !shape.rank_known ? Shape{} : Shape{true, std::vector<Dim>(shape.dims.size())}, input->dtype);
  Dim& whole = shape.dims[*at];
  if (length && op.s.compare(Compare::lt, length, op.s.constant(0)) == Answer::yes)
    return op.fail(ProblemKind::argument, "A length of " + op.words(op.dim(length)) + " is impossible");
  if (start && length && whole.size) {
    const auto low = op.s.lower(start), high = op.s.upper(start);
    Int from = low && *low >= 0 ? start : high && *high < 0 ? op.s.add(whole.size, start) : nullptr;
    if (from && (op.s.compare(Compare::gt, op.s.add(from, length), whole.size) == Answer::yes || op.s.compare(Compare::lt, from, op.s.constant(0)) == Answer::yes))
      return op.fail(ProblemKind::index, op.words(op.dim(length)) + " from " + op.words(op.dim(start)) + " reach outside " + at_words(*at) + " of " + op.name("input") +
                                             ", which has " + op.words(whole) + " elements", {whole});
  }
  whole = length ? op.made(length) : Dim{};
  return op.result(shape, input->dtype);
}

// select_scatter and its like: the input with a part of it replaced.
Value replaced(Op& op) {
  const TensorState* input = op.expect("input");
  return input ? same_as_input(op, input) : op.unknown();
}

// ---------------------------------------------------------------- padding and windows

Value pad(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  Shape shape = input->shape;
  const Value given = op.argument("pad");
  const auto known = given.is(Kind::tuple) || given.is(Kind::list) ? op.run.elements(given, op.call.place) : std::nullopt;
  if (!known) return op.result(shape.rank_known ? Shape{true, std::vector<Dim>(shape.dims.size())} : Shape{}, input->dtype);
  if (known->size() % 2 != 0)
    return op.fail(ProblemKind::argument, "pad takes pairs of sizes, from the last dimension on, and " + plural(static_cast<std::int64_t>(known->size()), "size") + " are given");
  const std::size_t padded = known->size() / 2;
  if (shape.rank_known && padded > shape.dims.size())
    return op.fail(ProblemKind::argument, op.name("input") + " is " + op.words(shape) + ", and " + plural(static_cast<std::int64_t>(padded), "dimension") + " are to be padded");
  const auto mode = op.text("mode");
  if (mode && *mode != "constant" && shape.rank_known && padded > 0 && shape.dims.size() != padded + 1 && shape.dims.size() != padded + 2)
    return op.fail(ProblemKind::argument, "pad in mode '" + std::string(*mode) + "' takes tensors of " + std::to_string(padded + 1) + " or " + std::to_string(padded + 2) +
                                              " dimensions for " + plural(static_cast<std::int64_t>(known->size()), "size") + ", and " + op.name("input") + " is " + op.words(shape));
  if (shape.dims.size() < padded) shape.dims.insert(shape.dims.begin(), padded - shape.dims.size(), Dim{});
  for (std::size_t i = 0; i < padded; ++i) {
    Dim& d = shape.dims[shape.dims.size() - 1 - i];
    const Value left = op.run.resolve((*known)[2 * i]), right = op.run.resolve((*known)[2 * i + 1]);
    const Int a = left.is(Kind::integer) || left.is(Kind::unknown) ? op.run.to_int(left) : nullptr;
    const Int b = right.is(Kind::integer) || right.is(Kind::unknown) ? op.run.to_int(right) : nullptr;
    if (a && b && op.s.value(a) == 0 && op.s.value(b) == 0) continue;
    const Int total = op.add(op.add(d.size, a), b);
    if (total && op.s.compare(Compare::lt, total, op.s.constant(0)) == Answer::yes)
      return op.fail(ProblemKind::argument, "Padding of " + op.words(op.dim(a)) + " and " + op.words(op.dim(b)) + " leaves nothing of a dimension of size " + op.words(d), {d});
    if (mode == "reflect" && d.size)
      for (const Int side : {a, b})
        if (side && op.s.compare(Compare::ge, side, d.size) == Answer::yes)
          return op.fail(ProblemKind::argument, "Padding of " + op.words(op.dim(side)) + " cannot reflect a dimension of size " + op.words(d), {d});
    d = total ? op.made(total) : Dim{};
  }
  return op.result(shape, input->dtype);
}

// How many windows fit along one axis: floor((size + 2 padding - dilation (kernel - 1) - 1) / stride) + 1.
Int windows(Op& op, Int size, Int kernel, Int dilation, Int padding, Int stride) {
  if (!size || !kernel || !dilation || !padding || !stride) return nullptr;
  const Int one = op.s.constant(1);
  const Int reach = op.s.mul(dilation, op.s.sub(kernel, one));
  const Int room = op.s.sub(op.s.sub(op.s.add(size, op.s.mul(op.s.constant(2), padding)), reach), one);
  return op.s.add(op.s.floordiv(room, stride), one);
}
struct Windows {
  std::vector<Int> kernel, dilation, padding, stride;
};
std::optional<Windows> window_arguments(Op& op) {
  const auto kernel = op.per_axis(op.argument("kernel_size"), 2), dilation = op.per_axis(op.argument("dilation"), 2), padding = op.per_axis(op.argument("padding"), 2),
             stride = op.per_axis(op.argument("stride"), 2);
  if (!kernel || !dilation || !padding || !stride) return std::nullopt;
  return Windows{*kernel, *dilation, *padding, *stride};
}

// [N, C, H, W] to [N, C·kernel, windows]
Value unfold_windows(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input || !input->shape.rank_known) return op.unknown();
  const auto& dims = input->shape.dims;
  if (dims.size() != 4 && dims.size() != 3)
    return op.fail(ProblemKind::layer_input, "unfold takes images [N, C, H, W], and " + op.name("input") + " is " + op.words(input->shape));
  Shape out{true, {}};
  if (dims.size() == 4) out.dims.push_back(dims[0]);
  const auto how = window_arguments(op);
  if (!how) {
    out.dims.resize(out.dims.size() + 2);
    return op.result(out, input->dtype);
  }
  const Int area = op.mul(how->kernel[0], how->kernel[1]);
  const Int features = op.mul(dims[dims.size() - 3].size, area);
  Int count = op.s.constant(1);
  for (std::size_t i = 0; i < 2; ++i) {
    const Int along = windows(op, dims[dims.size() - 2 + i].size, how->kernel[i], how->dilation[i], how->padding[i], how->stride[i]);
    if (along && op.s.compare(Compare::le, along, op.s.constant(0)) == Answer::yes)
      return op.fail(ProblemKind::argument, "Windows of " + op.words(op.dim(how->kernel[i])) + " do not fit into " + op.words(dims[dims.size() - 2 + i]), {dims[dims.size() - 2 + i]});
    count = op.mul(count, along);
  }
  out.dims.push_back(features ? op.made(features) : Dim{});
  out.dims.push_back(count ? op.made(count) : Dim{});
  return op.result(out, input->dtype);
}
// [N, C·kernel, windows] to [N, C, H, W]
Value fold_windows(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input || !input->shape.rank_known) return op.unknown();
  const auto& dims = input->shape.dims;
  if (dims.size() != 3 && dims.size() != 2)
    return op.fail(ProblemKind::layer_input, "fold takes [N, C·kernel, windows], and " + op.name("input") + " is " + op.words(input->shape));
  Shape out{true, {}};
  if (dims.size() == 3) out.dims.push_back(dims[0]);
  const auto how = window_arguments(op);
  const auto size = op.per_axis(op.argument("output_size"), 2);
  Int channels = nullptr;
  if (how) {
    const Int area = op.mul(how->kernel[0], how->kernel[1]);
    const Dim& features = dims[dims.size() - 2];
    if (area && features.size && op.s.value(area) != 0) {
      if (op.s.divides(area, features.size) == Answer::no)
        return op.fail(ProblemKind::argument, op.words(features) + " features are not divisible by the " + op.words(op.dim(area)) + " elements of a window", {features});
      const auto exact = op.s.exact_quotient(features.size, area);
      channels = exact ? *exact : op.s.floordiv(features.size, area);
    }
    if (size) {
      Int count = op.s.constant(1);
      for (std::size_t i = 0; i < 2; ++i) count = op.mul(count, windows(op, (*size)[i], how->kernel[i], how->dilation[i], how->padding[i], how->stride[i]));
      if (count && op.equal(dims.back(), op.dim(count)) == Answer::no)
        return op.fail(ProblemKind::argument, op.name("input") + " has " + op.words(dims.back()) + " windows, and " + sizes_words(op, *size) + " takes " + op.words(op.dim(count)),
                       {dims.back()});
    }
  }
  out.dims.push_back(channels ? op.made(channels) : Dim{});
  for (std::size_t i = 0; i < 2; ++i) out.dims.push_back(size ? op.made((*size)[i]) : Dim{});
  return op.result(out, input->dtype);
}

constexpr Operator operators[] = {
    {"__getitem__", "input, index", "method", get_item, Type::own},

    {"gather", "input, dim, index, *, sparse_grad=False, out=None", "torch method", gather, Type::own},
    {"scatter", "input, dim, index, src=None, *, value=None, reduce=None, out=None", "torch method in_place", scatter, Type::own},
    {"scatter_add", "input, dim, index, src, *, out=None", "torch method in_place", scatter, Type::own},
    {"scatter_reduce", "input, dim, index, src, reduce, *, include_self=True, out=None", "torch method in_place", scatter, Type::own},
    {"index_select", "input, dim, index, *, out=None", "torch method", index_select, Type::own},
    {"index_add", "input, dim, index, source, *, alpha=1, out=None", "torch method in_place", index_write, Type::own},
    {"index_copy", "input, dim, index, source, *, out=None", "torch method in_place", index_write, Type::own},
    {"index_fill", "input, dim, index, value", "torch method in_place", index_write, Type::own},
    {"index_reduce", "input, dim, index, source, reduce, *, include_self=True, out=None", "torch method in_place", index_write, Type::own},
    {"index_put", "input, indices, values, accumulate=False", "torch method in_place", index_put, Type::own},
    {"masked_scatter", "input, mask, source", "torch method in_place", masked, Type::own},
    {"masked_select", "input, mask, *, out=None", "torch method", masked_select, Type::own},
    {"take", "input, index, *, out=None", "torch method", take, Type::own},
    {"take_along_dim", "input, indices, dim=None, *, out=None", "torch method", take_along_dim, Type::own},
    {"put", "input, index, source, accumulate=False", "torch method in_place", replaced, Type::own},
    {"nonzero", "input, *, as_tuple=False, out=None", "torch method", nonzero, Type::own},
    {"argwhere", "input", "torch method", nonzero, Type::own},
    {"select", "input, dim, index", "torch method", select, Type::own},
    {"narrow", "input, dim, start, length", "torch method", narrow, Type::own},
    {"narrow_copy", "input, dim, start, length, *, out=None", "torch method", narrow, Type::own},
    {"select_scatter", "input, src, dim, index", "torch method", replaced, Type::own},
    {"slice_scatter", "input, src, dim=0, start=None, end=None, step=1", "torch method", replaced, Type::own},
    {"diagonal_scatter", "input, src, offset=0, dim1=0, dim2=1", "torch method", replaced, Type::own},
    {"as_strided_scatter", "input, src, size, stride, storage_offset=None", "torch method", replaced, Type::own},

    {"pad", "input, pad, mode='constant', value=None", "F", pad, Type::own},
    {"unfold", "input, kernel_size, dilation=1, padding=0, stride=1", "F", unfold_windows, Type::own},
    {"fold", "input, output_size, kernel_size, dilation=1, padding=0, stride=1", "F", fold_windows, Type::own},
};

} // namespace

std::vector<Row> indexing_rows() { return operator_rows(operators); }

Value Table::subscript(Interpreter& run, Value object, Value index, const syntax::Expr& node, values::Place place) const {
  index = run.resolve(index);
  // What differs between paths is looked at path by path.
  if (index.is(Kind::choice)) return run.over_choices(index, [&](Value side) { return subscript(run, object, side, node, place); }, place);
  if (index.is(Kind::tuple)) {
    const auto& items = index.as<values::Tuple>()->items;
    for (std::size_t i = 0; i < items.size(); ++i)
      if (const Value item = run.resolve(items[i]); item.is(Kind::choice))
        return run.over_choices(
            item,
            [&](Value side) {
              std::vector<Value> one_of = items;
              one_of[i] = side;
              return subscript(run, object, run.heap().tuple(std::move(one_of)), node, place);
            },
            place);
  }
  return call_operator(run, "torch.Tensor.__getitem__", {object, index}, &node, place);
}

} // namespace stepzero::torch
