// Subscripts: numbers, slices, None, ..., lists, tensors of indices and masks.
#include "interpreter/calls/unseen.hpp"
#include "libraries/numpy/arrays.hpp"
#include "libraries/python/fixed.hpp"
#include "libraries/torch/meaning/contents.hpp"
#include "libraries/torch/ops/operators.hpp"
#include "libraries/torch/ops/views.hpp"
#include "values/devices.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <span>

namespace stepzero::libraries {

namespace {

// ---------------------------------------------------------------- subscripts

// One part of x[…], as far as it is known.
struct Part {
  enum class What : std::uint8_t { integer, slice, fresh, flag, indices, mask, ellipsis } what;
  Value value;
  Shape shape = {};                        // of indices and masks; what they select, for flags and lists
  std::vector<std::int64_t> numbers = {};  // of a list of numbers that are all known
  const syntax::Expr* text = nullptr;
};

// A list as an index: numbers, or truths for a mask. Nullopt if that is not known, or if it stands for a
// tuple.
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
  if (const Value held = held_by_array(op.run, value)) value = held;
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
  if (is_inexact(state->dtype)) {
    op.fail(ProblemKind::dtype, why<Reason::index_dtype>(state->dtype));
    return std::nullopt;
  }
  if (!state->shape.ndim_known) {
    if (state->dtype == Dtype::unknown || is_mask(state->dtype)) return std::nullopt;
    part.what = What::indices;
    return part;
  }
  if (is_mask(state->dtype)) {
    part.what = state->shape.dims.empty() ? What::flag : What::mask;
    if (part.what == What::flag) part.shape = {true, {Dim{}}};
    return part;
  }
  if (state->dtype == Dtype::unknown) {
    // Numbers or truths: a vector takes one dimension either way, and how many it selects is known of numbers
    // only.
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

bool selects(const Part& part) {
  return part.what == Part::What::indices || part.what == Part::What::mask || part.what == Part::What::flag;
}

// The shape of from[parts]. Nullopt if it is not known or, after fail(), impossible.
class Indexing {
public:
  Indexing(Op& call, const Shape& shape, std::span<const Part> all)
      : op(call), from(shape), parts(all), name(call.name("input")) {}
  std::optional<Shape> result();

private:
  using What = Part::What;
  bool count_parts();
  bool is_reported_equally_by_versions() const;
  std::optional<Shape> of_unknown_ndim();
  bool are_apart_after_ellipsis() const;
  bool walk();
  bool take(const Part& part);
  void take_ellipsis();
  bool take_integer(const Part& part);
  bool is_number_inside(const Part& part, std::size_t axis, const Dim& dim);
  bool are_first_inside();
  bool take_slice(const Part& part);
  bool take_indices(const Part& part);
  bool take_mask(const Part& part);
  bool select(const Shape& by);
  bool are_numbers_inside();
  bool is_anything_selected() const;
  void refuse_index(const Dim& index, std::size_t axis, const Dim& dim);
  Shape with_selected();

  struct Indexed {
    const Part* part;
    std::size_t axis;
  };

  Op& op;
  const Shape& from;
  std::span<const Part> parts;
  const std::string name;
  std::size_t ellipsis = 0, taken = 0,
              taken_after =
                  0;  // the place of the ellipsis; dimensions that all parts take, and those after it
  Shape out = {};
  std::size_t at = 0;                  // the dimension that comes next
  std::optional<Shape> selected = {};  // by all indices together
  std::size_t selected_at = 0;         // in `out`
  bool adjacent = true, between = false;
  std::vector<Indexed> lists = {};    // of numbers
  std::vector<Indexed> indices = {};  // tensors
};

std::optional<Shape> Indexing::result() {
  if (!count_parts() || !is_reported_equally_by_versions()) return std::nullopt;
  if (from.ndim_known && taken > from.dims.size()) {
    op.raising("IndexError")
        .fail(ProblemKind::index, why<Reason::too_many_indices>(name, from, from.dims.size(), taken));
    return std::nullopt;
  }
  out.ndim_known = from.ndim_known;
  if (!from.ndim_known) return of_unknown_ndim();
  if (!walk() || !are_numbers_inside()) return std::nullopt;
  return with_selected();
}

// False where there are several of `...`: PyTorch takes further ones for `:` in some versions and refuses
// them in others.
bool Indexing::count_parts() {
  ellipsis = parts.size();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].what == What::ellipsis) {
      if (ellipsis != parts.size()) return false;
      ellipsis = i;
    }
    taken += consumed(parts[i]);
    if (ellipsis != parts.size()) taken_after += consumed(parts[i]);
  }
  return true;
}

// PyTorch lets a mask of several dimensions move on by one only for what follows it.
bool Indexing::is_reported_equally_by_versions() const {
  bool after_mask = false;
  for (const Part& part : parts) {
    const bool moves = part.what == What::integer || part.what == What::fresh ||
        (part.what == What::slice && !is_whole(op, part));
    if (after_mask && moves) return false;
    after_mask = after_mask || (part.what == What::mask && part.shape.dims.size() > 1);
  }
  return true;
}

// Only what stands last can be followed.
std::optional<Shape> Indexing::of_unknown_ndim() {
  if (!are_first_inside()) return std::nullopt;
  if (ellipsis == parts.size()) {
    if (from.dims.size() <= taken) return Shape{};
    out.dims.assign(from.dims.begin() + static_cast<std::ptrdiff_t>(taken), from.dims.end());
    return out;
  }
  const auto after = parts.subspan(ellipsis + 1);
  Shape padded = from;
  if (padded.dims.size() < taken_after)
    padded.dims.insert(padded.dims.begin(), taken_after - padded.dims.size(), Dim{});
  // With indices on both sides what they select goes to the front.
  if (std::ranges::any_of(parts.first(ellipsis), selects) && std::ranges::any_of(after, selects))
    return std::nullopt;
  const std::size_t kept = padded.dims.size() - taken_after;
  // Dimensions that the parts in front of the ellipsis took may be among those that are known.
  const std::size_t lost = std::min(kept, taken - taken_after);
  const Shape rest{true, {padded.dims.begin() + static_cast<std::ptrdiff_t>(kept), padded.dims.end()}};
  const auto tail = Indexing(op, rest, after).result();
  if (!tail || are_apart_after_ellipsis()) return std::nullopt;
  out.dims.assign(padded.dims.begin() + static_cast<std::ptrdiff_t>(lost),
      padded.dims.begin() + static_cast<std::ptrdiff_t>(kept));
  out.dims.insert(out.dims.end(), tail->dims.begin(), tail->dims.end());
  return out;
}

// Indices that do not stand together put their dimensions in front of all.
bool Indexing::are_apart_after_ellipsis() const {
  bool apart = false, seen = false, gap = false;
  for (const Part& part : parts.subspan(ellipsis + 1)) {
    if (selects(part)) {
      apart = apart || (seen && gap);
      seen = true;
      gap = false;
    } else if (part.what != What::integer) {
      gap = true;
    }
  }
  return apart;
}

bool Indexing::walk() {
  for (const Part& part : parts)
    if (!take(part)) return false;
  for (; at < from.dims.size(); ++at) out.dims.push_back(from.dims[at]);
  return true;
}

bool Indexing::take(const Part& part) {
  switch (part.what) {
  case What::ellipsis: take_ellipsis(); return true;
  case What::fresh:
    out.dims.push_back(op.dim(1));
    between = between || selected;
    return true;
  case What::integer: return take_integer(part);
  case What::slice: return take_slice(part);
  case What::flag: return select(part.shape);
  case What::indices: return take_indices(part);
  case What::mask: return take_mask(part);
  }
  return true;
}

// Even an ellipsis that stands for nothing is no dimension: indices around it stay together.
void Indexing::take_ellipsis() {
  const std::size_t until = from.dims.size() - taken_after;
  if (until > at && selected) between = true;
  for (; at < until; ++at) out.dims.push_back(from.dims[at]);
}

bool Indexing::is_number_inside(const Part& part, std::size_t axis, const Dim& dim) {
  if (const Value number = as_index(op, part.value); number.is(Kind::integer) && dim.size) {
    const Int index = number.integer();
    if (op.s.compare(Compare::ge, index, dim.size) == Answer::yes ||
        op.s.compare(Compare::lt, index, op.s.negate(dim.size)) == Answer::yes) {
      refuse_index(op.dim(index), axis, dim);
      return false;
    }
  }
  return true;
}

// Of a tensor of any rank the dimensions that are known from the front.
bool Indexing::are_first_inside() {
  const TensorState* whole = op.tensor("input");
  std::size_t axis = 0;
  for (const Part& part : parts.first(ellipsis)) {
    if (!whole || axis >= whole->first.size()) break;
    if (part.what == What::integer && !is_number_inside(part, axis, whole->first[axis])) return false;
    axis += consumed(part);
  }
  return true;
}

bool Indexing::take_integer(const Part& part) {
  if (!is_number_inside(part, at, from.dims[at])) return false;
  ++at;
  return true;
}

bool Indexing::take_slice(const Part& part) {
  out.dims.push_back(slice_of(op, from.dims[at], *part.value.as<values::SliceObject>(), part.text));
  if (op.failed()) return false;
  between = between || selected;
  ++at;
  return true;
}

bool Indexing::take_indices(const Part& part) {
  if (!part.numbers.empty())
    lists.push_back({&part, at});
  else if (op.tensor(part.value))
    indices.push_back({&part, at});
  if (!select(part.shape)) return false;
  ++at;
  return true;
}

bool Indexing::take_mask(const Part& part) {
  for (std::size_t k = 0; k < part.shape.dims.size(); ++k) {
    const Dim &masks = part.shape.dims[k], &has = from.dims[at + k];
    if (op.equal(masks, has) != Answer::no) continue;
    op.raising("IndexError")
        .fail(ProblemKind::index, why<Reason::mask_size>(part.shape, name, from, masks, has, at + k),
            {masks, has});
    return false;
  }
  const Dim chosen = part.value.is(Kind::list) && !part.numbers.empty()
      ? op.dim(part.numbers[0])
      : count_of_nonzero(op, part.value, part.text);
  if (!select({true, {chosen}})) return false;
  at += part.shape.dims.size();
  return true;
}

bool Indexing::select(const Shape& by) {
  if (!selected) {
    selected = by;
    selected_at = out.dims.size();
  } else {
    if (between) adjacent = false;
    bool impossible = false;
    const auto both = broadcast(op.run, *selected, by, &impossible);
    if (impossible) {
      op.raising("IndexError").fail(ProblemKind::index, why<Reason::indices_apart>(*selected, by));
      return false;
    }
    selected = both ? *both : Shape{};
  }
  between = false;
  return true;
}

void Indexing::refuse_index(const Dim& index, std::size_t axis, const Dim& dim) {
  // What is empty on one way stands for nothing: there is nothing to go through there.
  if (op.value(dim) == 0 && op.run.assumption()) return;
  op.raising("IndexError").fail(ProblemKind::index, interpreter::NoSuchIndex{index, axis, name, dim}, {dim});
}

// PyTorch looks at the numbers only if anything is selected by them.
bool Indexing::is_anything_selected() const {
  if (!selected || !selected->ndim_known) return false;
  const auto has_elements = [&](const Dim& dim) { return op.equal(dim, 0) == Answer::no; };
  return std::ranges::all_of(out.dims, has_elements) && std::ranges::all_of(selected->dims, has_elements);
}

bool Indexing::are_numbers_inside() {
  const bool some = is_anything_selected();
  for (const auto& [part, axis] : lists) {
    const auto size = op.value(from.dims[axis]);
    for (const std::int64_t number : part->numbers)
      if (some && size && (number >= *size || number < -*size)) {
        refuse_index(op.dim(number), axis, from.dims[axis]);
        return false;
      }
  }
  for (const auto& [part, axis] : indices) {
    const Dim& dim = from.dims[axis];
    const Int beyond = some && dim.size ? number_outside(op, part->value, op.s.negate(dim.size), dim.size)
                                        : nullptr;
    if (!beyond) {
      const auto refusal = [&](const Dim& greatest) {
        return why<Reason::subscript_may_be_beyond>(greatest, axis, name, dim);
      };
      // Of weights, moe/expert-count says what a router chooses beyond them.
      const TensorState* whole = op.tensor("input");
      const values::Extent* extent = some ? extent_among(op, part->value) : nullptr;
      const bool weights = whole && op.run.heap().requires_grad(*whole) == Known::yes;
      if (extent && (extent->drawn || !weights) && refuses_drawn(op, part->value, dim, refusal)) return false;
      continue;
    }
    refuse_index(op.dim(beyond), axis, dim);
    return false;
  }
  return true;
}

Shape Indexing::with_selected() {
  if (!selected) return out;
  const auto place = out.dims.begin() + static_cast<std::ptrdiff_t>(adjacent ? selected_at : 0);
  if (selected->ndim_known) {
    out.dims.insert(place, selected->dims.begin(), selected->dims.end());
    return out;
  }
  // What follows the selected dimensions is known.
  out.ndim_known = false;
  out.dims.erase(out.dims.begin(), place);
  return out;
}

std::optional<Shape> indexed(Op& op, const Shape& from, const std::vector<Part>& parts) {
  return Indexing(op, from, parts).result();
}

const syntax::Expr* index_text(const Op& op) {
  const syntax::Expr* node = op.call.node;
  return node && node->kind == syntax::ExprKind::subscript ? syntax::as<syntax::SubscriptExpr>(*node).index
                                                           : nullptr;
}

// What is picked lies where the tensor does: the indices may lie on the CPU, wherever that is.
Value picked_from(Op& op, const TensorState& input, const Shape& shape) {
  const Value made = op.result(shape, input.dtype);
  if (const TensorState* state = op.tensor(made); state && state->device != input.device) {
    TensorState placed = *state;
    placed.device = input.device;
    set_state(op.run, made, placed);
  }
  return made;
}

bool is_on_cpu_alone(Op& op, const values::Device& device) {
  const auto possible = values::possible_devices(op.s, device);
  const auto is = [](std::string_view kind) {
    return
        [kind](const values::PossibleDevice& one) { return one.text.substr(0, one.text.find(':')) == kind; };
  };
  return std::ranges::any_of(possible, is("cpu")) && std::ranges::none_of(possible, is("cuda"));
}

// Indices on the CPU pick from a tensor wherever it lies; those on a GPU do not pick from one on the CPU.
// False: the call fails.
bool indices_reach(Op& op, Value given, const TensorState& input, const std::vector<Value>& items) {
  const values::Device* lies = input.device;
  if (!lies && given.is(Kind::unknown)) lies = interpreter::left_on(*given.as<values::Unknown>());
  if (!lies || !is_on_cpu_alone(op, *lies)) return true;
  for (const Value& item : items) {
    const TensorState* index = op.tensor(op.run.resolve(item));
    // One without dimensions is a number.
    if (!index || !index->device || index->shape.dims.empty()) continue;
    const Op::Apart apart = op.devices_apart(*lies, *index->device);
    if (apart.one.empty() || apart.one != "cpu") continue;
    const interpreter::Refusal refusal = items.size() == 1
        ? why<Reason::index_device>(op.name("input"), op.name("index"), apart.other)
        : why<Reason::part_of_index_device>(op.name("input"), apart.other);
    if (apart.when) {
      op.fail_when(apart.when, ProblemKind::device, refusal);
      return true;
    }
    op.fail(ProblemKind::device, refusal);
    return false;
  }
  return true;
}

Value get_item(Op& op) {
  const Value given = op.run.resolve(op.call.at(0));
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  const Value index = op.run.resolve(op.call.at(1));
  const syntax::Expr* text = index_text(op);
  std::vector<Value> items;
  bool is_tuple = index.is(Kind::tuple);
  if (is_tuple)
    items = index.as<values::Tuple>()->items;
  else
    items.push_back(index);
  // A list that holds a slice can stand for a tuple only.
  if (index.is(Kind::list))
    if (const auto listed = op.run.elements(index, op.call.place))
      for (const Value& item : *listed)
        if (const Value part = op.run.resolve(item);
            part.is(Kind::slice) || part.is(Kind::none) || part.is(Kind::ellipsis)) {
          items = *listed;
          is_tuple = true;
          break;
        }
  if (!indices_reach(op, given, *input, items)) return op.unknown();
  const auto* written = text && text->kind == syntax::ExprKind::tuple ? &syntax::as<syntax::TupleExpr>(*text)
                                                                      : nullptr;
  if (written && written->elements.size() != items.size()) written = nullptr;
  std::vector<Part> parts;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto part = part_of(op, items[i], written ? written->elements[i] : is_tuple ? nullptr : text);
    if (!part) return picked_from(op, *input, {});
    parts.push_back(*part);
  }
  const auto shape = indexed(op, input->shape, parts);
  return picked_from(op, *input, shape ? *shape : Shape{});
}

constexpr Operator indexing_operators[] = {
    {"__getitem__", "input, index", "method", get_item, Type::own},
};

}  // namespace

std::vector<Row> indexing_rows() { return operator_rows(indexing_operators); }

}  // namespace stepzero::libraries
