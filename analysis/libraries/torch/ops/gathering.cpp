// Operators that pick or replace elements by index, mask or place: gather, scatter, index_select,
// masked_select, narrow.
#include "interpreter/record.hpp"
#include "libraries/torch/distributed/spread.hpp"
#include "libraries/torch/meaning/contents.hpp"
#include "libraries/torch/ops/operators.hpp"
#include "libraries/torch/ops/views.hpp"

#include <algorithm>
#include <limits>

namespace stepzero::libraries {

namespace {

Value same_as_input(Op& op, const TensorState* input) { return op.result(input->shape, input->dtype); }

std::string at_words(std::size_t at) { return "dimension " + std::to_string(at); }

// An index has to be of int64; many operators take int32, too.
bool index_fits(Op& op, const TensorState* index, std::string_view name, bool narrow = true) {
  if (!index || index->dtype == Dtype::unknown || index->dtype == Dtype::int64 ||
      (narrow && index->dtype == Dtype::int32))
    return true;
  // Of an empty index nothing is asked, but by some.
  values::Cond not_empty = op.s.boolean(true);
  for (const Dim& d : index->shape.dims)
    if (d.size) not_empty = op.s.logical_and(not_empty, op.s.compared(Compare::ne, d.size, op.s.constant(0)));
  op.fail_when(not_empty, ProblemKind::dtype,
      interpreter::WrongDtype{
          op.taker(), narrow ? DtypeNeed::short_index : DtypeNeed::int64_index, op.name(name), index->dtype});
  if (op.told()) op.suggest_append(name, ".long()", false);
  return !op.failed();
}
// Known elements have to lie in the dimension that they index: from `low` on. False after fail().
bool indices_exist(Op& op, std::string_view index, const Dim& along, Int low, std::string_view where) {
  const Int beyond = along.size ? number_outside(op, op.argument(index), low, along.size) : nullptr;
  if (!beyond)
    return !refuses_drawn(op, op.argument(index), along, [&](const Dim& greatest) {
      return why<Reason::index_may_be_beyond>(
          op.name(index), greatest, where, op.name("input"), op.shape("input"), along);
    });
  op.fail(ProblemKind::index,
      why<Reason::index_beyond>(
          op.name(index), op.dim(beyond), where, op.name("input"), op.shape("input"), along),
      {along});
  return false;
}

// Vectors and single values alike.
std::size_t rank_of(const Shape& shape) { return std::max<std::size_t>(shape.dims.size(), 1); }
Dim dim_of(Op& op, const Shape& shape, std::size_t at) {
  return shape.dims.empty() ? op.dim(1) : shape.dims[at];
}

// `index` has to have as many dimensions as `input`, none of them larger but that at `except`; of an empty
// index nothing is asked. False after fail().
bool index_within(Op& op, const Shape& index, const Shape& input, std::optional<std::size_t> except,
    std::string_view index_name, std::string_view input_name) {
  if (!index.ndim_known || !input.ndim_known) return true;
  values::Cond not_empty = op.s.boolean(true);
  for (const Dim& d : index.dims) {
    if (!d.size) return true;
    not_empty = op.s.logical_and(not_empty, op.s.compared(Compare::ne, d.size, op.s.constant(0)));
  }
  if (rank_of(index) != rank_of(input)) {
    op.fail_when(not_empty, ProblemKind::index,
        why<Reason::index_dimensions>(op.name(index_name), index, op.name(input_name), input));
    return !op.failed();
  }
  for (std::size_t i = 0; i < rank_of(index); ++i) {
    if (i == except) continue;
    const Dim a = dim_of(op, index, i), b = dim_of(op, input, i);
    if (!b.size || op.s.compare(Compare::gt, a.size, b.size) != Answer::yes) continue;
    op.fail_when(not_empty, ProblemKind::index,
        why<Reason::index_reach>(op.name(index_name), index, op.name(input_name), input, at_words(i)),
        {a, b});
    return !op.failed();
  }
  return true;
}

// Does `index` say where in `dim` of `input` each element is? Nothing is asked of an input whose dimensions
// are not known. False after fail().
bool places_exist(Op& op, const TensorState& input, const TensorState& index) {
  if (!input.shape.ndim_known) return true;
  const auto at = op.axis("dim", input.shape.dims.size());
  if (op.failed()) return false;
  if (!at) return true;
  return index_within(op, index.shape, input.shape, at, "index", "input") &&
      (input.shape.dims.empty() ||
          indices_exist(op, "index", input.shape.dims[*at], op.s.constant(0), at_words(*at)));
}

Value gather(Op& op) {
  const TensorState *input = op.expect("input"), *index = op.expect("index");
  if (!input || !index) return op.unknown();
  if (!index_fits(op, index, "index") || !places_exist(op, *input, *index)) return op.unknown();
  return op.result(index->shape, input->dtype);
}

Value scatter(Op& op) {
  const TensorState *input = op.expect("input"), *index = op.expect("index");
  if (!input || !index) return op.unknown();
  if (!index_fits(op, index, "index")) return op.unknown();
  const Value source = op.argument("src");
  if (const TensorState* from = op.tensor(source); from && from->dtype != Dtype::unknown &&
      input->dtype != Dtype::unknown && from->dtype != input->dtype && !op.run.casting())
    return op.refuse_dtypes("input", "src");
  if (!places_exist(op, *input, *index)) return op.unknown();
  if (input->shape.ndim_known) {
    const TensorState* from = op.tensor(source);
    if (from && !(from->shape.ndim_known && from->shape.dims.empty()) &&
        !index_within(op, index->shape, from->shape, std::nullopt, "index", "src"))
      return op.unknown();
  }
  return same_as_input(op, input);
}

Value index_select(Op& op) {
  const TensorState *input = op.expect("input"), *index = op.expect("index");
  if (!input || !index) return op.unknown();
  if (!index_fits(op, index, "index")) return op.unknown();
  if (index->shape.ndim_known && index->shape.dims.size() > 1)
    return op.refuse_shape(ProblemKind::index, {ShapeNeed::vector}, "index");
  Shape shape = input->shape;
  const auto at = find_dim(op, shape, "dim");
  if (!at)
    return op.result(op.failed() ? Shape{}
            : shape.ndim_known   ? Shape{true, std::vector<Dim>(shape.dims.size())}
                                 : Shape{},
        input->dtype);
  if (!shape.dims.empty()) {
    const Dim& d = shape.dims[*at];
    if (const Int beyond = d.size ? number_outside(op, op.argument("index"), op.s.constant(0), d.size)
                                  : nullptr)
      return op.fail(ProblemKind::index,
          interpreter::IndexOutside{op.name("index"), op.dim(beyond), op.name("input"), input->shape, *at, d},
          {d});
    shape.dims[*at] = index->shape.ndim_known ? dim_of(op, index->shape, 0) : Dim{};
  }
  return op.result(shape, input->dtype);
}

// A row of 0 and 1 for each class.
Value one_hot(Op& op) {
  const TensorState* input = op.expect("tensor");
  if (!input) return op.unknown();
  if (input->dtype != Dtype::unknown && input->dtype != Dtype::int64) {
    op.refuse_dtype(DtypeNeed::int64_class, "tensor");
    op.suggest_append("tensor", ".long()", is_integral(input->dtype));
    return op.unknown();
  }
  const Int given = op.size("num_classes");
  const bool found = given &&
      op.s.value(given).value_or(1) > 0;  // -1: as many as the greatest class asks for
  const Int beyond = number_outside(op, op.argument("tensor"), op.s.constant(0),
      found ? given : op.s.constant(std::numeric_limits<std::int64_t>::max()));
  if (beyond)
    return op.fail(ProblemKind::index,
        found ? why<Reason::class_beyond>(op.name("tensor"), op.dim(beyond), op.dim(given))
              : why<Reason::class_negative>(op.name("tensor"), op.dim(beyond)));
  Shape shape = input->shape;
  const values::Content* classes = found ? nullptr : op.content(op.argument("tensor"));
  Int most = classes && !classes->numbers.empty() ? op.s.constant(0) : nullptr;
  for (std::size_t i = 0; most && i < classes->numbers.size(); ++i) {
    const auto number = classes->numbers[i].integer ? op.s.value(classes->numbers[i].integer) : std::nullopt;
    most = number ? op.s.constant(std::max(*op.s.value(most), *number + 1)) : nullptr;
  }
  shape.dims.push_back(found ? op.made(given) : most ? op.made(most) : Dim{});
  return op.result(shape, Dtype::int64);
}

// index_add, index_copy, index_fill: into parts of the input.
Value index_write(Op& op) {
  const TensorState *input = op.expect("input"), *index = op.expect("index");
  if (!input || !index) return op.unknown();
  const bool adds = op.title().starts_with("index_add") || op.title().starts_with("index_reduce");
  if (!index_fits(op, index, "index", adds)) return op.unknown();
  if (index->shape.ndim_known && index->shape.dims.size() > 1)
    return op.refuse_shape(ProblemKind::index, {ShapeNeed::vector}, "index");
  if (const TensorState* from = op.tensor("source"); from && from->dtype != Dtype::unknown &&
      input->dtype != Dtype::unknown && from->dtype != input->dtype && !op.run.casting())
    return op.refuse_dtypes("input", "source");
  if (!input->shape.ndim_known) return same_as_input(op, input);
  const auto at = op.axis("dim", input->shape.dims.size());
  if (op.failed()) return op.unknown();
  // Nothing is added to nothing, whatever the index is. index_fill alone counts from the end.
  const bool nothing = op.title().starts_with("index_add") &&
      std::ranges::any_of(input->shape.dims, [&](const Dim& dim) { return op.value(dim) == 0; });
  if (at && !input->shape.dims.empty() && !nothing) {
    const Dim& along = input->shape.dims[*at];
    const bool fills = op.title().starts_with("index_fill");
    if (!indices_exist(op, "index", along, fills && along.size ? op.s.negate(along.size) : op.s.constant(0),
            at_words(*at)))
      return op.unknown();
  }
  const std::string_view parameter = op.call.row.parameters.size() > 3 ? op.call.row.parameters[3].text()
                                                                       : std::string_view{};
  const TensorState* source = parameter.empty() ? nullptr : op.tensor(parameter);
  if (at && source && source->shape.ndim_known && parameter != "value" && !source->shape.dims.empty() &&
      !input->shape.dims.empty()) {
    const auto& dims = source->shape.dims;
    if (dims.size() != input->shape.dims.size())
      return op.fail(ProblemKind::index,
          interpreter::ShapesApart{interpreter::ShapesApart::dimensions, op.taker(),
              {{op.name("input"), input->shape}, {op.name(parameter), source->shape}}});
    for (std::size_t i = 0; i < dims.size(); ++i) {
      const Dim expected = i == *at ? (index->shape.ndim_known ? dim_of(op, index->shape, 0) : Dim{})
                                    : input->shape.dims[i];
      if (op.equal(dims[i], expected) == Answer::no)
        return op.fail(ProblemKind::index,
            i == *at
                ? why<Reason::source_of_each_index>(op.name(parameter), source->shape, expected, i)
                : why<Reason::source_size>(op.name(parameter), source->shape, expected, i, op.name("input")),
            {dims[i], expected});
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
  if (!mask || mask->dtype == Dtype::unknown || is_mask(mask->dtype)) return true;
  op.refuse_dtype(DtypeNeed::mask, "mask");
  op.suggest_append("mask", ".bool()", false);
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
  return op.result({true, {count_of_nonzero(op, op.argument("mask"), op.expression("mask"))}}, input->dtype);
}

Value take(Op& op) {
  const TensorState *input = op.expect("input"), *index = op.expect("index");
  if (!input || !index || !index_fits(op, index, "index", false)) return op.unknown();
  if (const Int count = input->shape.ndim_known ? op.product(input->shape.dims) : nullptr;
      count && !indices_exist(op, "index", op.dim(count), op.s.negate(count), "the whole"))
    return op.unknown();
  return op.result(index->shape, input->dtype);
}
Value take_along_dim(Op& op) {
  const TensorState *input = op.expect("input"), *indices = op.expect("indices");
  if (!input || !indices || !index_fits(op, indices, "indices", false)) return op.unknown();
  if (!op.argument("dim")) {
    const Int count = indices->shape.ndim_known ? op.product(indices->shape.dims) : nullptr;
    return op.result({true, {count ? op.made(count) : Dim{}}}, input->dtype);
  }
  if (!input->shape.ndim_known || !indices->shape.ndim_known) return op.result({}, input->dtype);
  if (input->shape.dims.size() != indices->shape.dims.size())
    return op.fail(ProblemKind::index,
        interpreter::ShapesApart{interpreter::ShapesApart::dimensions, op.taker(),
            {{op.name("input"), input->shape}, {op.name("indices"), indices->shape}}});
  const auto at = op.axis("dim", input->shape.dims.size());
  if (!at)
    return op.result(
        op.failed() ? Shape{} : Shape{true, std::vector<Dim>(input->shape.dims.size())}, input->dtype);
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
  const bool known = input->shape.ndim_known;
  const std::size_t rank = input->shape.dims.size();
  const auto int64 = Dtype::int64;
  const Known parts = op.flag("as_tuple");
  if (parts == Known::unknown) return op.run.heap().unseen("", op.call.place);
  if (parts == Known::yes) {
    const Shape vector{true, {count_of_nonzero(op, op.argument("input"), op.expression("input"))}};
    if (!known) return op.run.heap().open_list(op.result(vector, int64));
    std::vector<Value> made;
    for (std::size_t i = 0; i < std::max<std::size_t>(rank, 1); ++i) made.push_back(op.result(vector, int64));
    return op.tuple(std::move(made));
  }
  return op.result({true,
                       {count_of_nonzero(op, op.argument("input"), op.expression("input")),
                           known ? op.dim(static_cast<std::int64_t>(rank)) : Dim{}}},
      int64);
}

Value nonzero_static(Op& op) {
  const TensorState* input = op.expect("input");
  const Int size = op.size("size");
  if (size && op.s.compare(Compare::lt, size, op.s.constant(0)) == Answer::yes)
    return op.refuse_number("elements", op.dim(size));
  if (!input) return op.unknown();
  const Dim rank = input->shape.ndim_known ? op.dim(static_cast<std::int64_t>(input->shape.dims.size()))
                                           : Dim{};
  return op.result({true, {size ? op.made(size) : Dim{}, rank}}, Dtype::int64);
}
// The index of each dimension of a shape, of places counted over all of it.
Value unravel_index(Op& op) {
  const TensorState* indices = op.expect("indices");
  if (!indices) return op.run.heap().unseen("", op.call.place);
  if (is_inexact(indices->dtype) || indices->dtype == Dtype::boolean)
    return op.refuse_dtype(DtypeNeed::integers, "indices");
  const auto sizes = op.sizes("shape");
  if (!sizes) return op.run.heap().unseen("", op.call.place);
  std::vector<Value> made;
  made.reserve(sizes->size());
  for (std::size_t i = 0; i < sizes->size(); ++i) made.push_back(op.result(indices->shape, Dtype::int64));
  return op.tuple(std::move(made));
}

// Of select and narrow: the shape of the input and the dimension that is asked for. Without one, `result` is
// all that is known: as many dimensions, less `fewer`.
struct AlongOne {
  const TensorState* input = nullptr;
  Shape shape;
  std::optional<std::size_t> at;
  Value result;
};
AlongOne along_one(Op& op, std::string_view purpose, std::size_t fewer) {
  AlongOne along;
  along.input = op.expect("input");
  if (!along.input) {
    along.result = op.unknown();
    return along;
  }
  along.shape = along.input->shape;
  if (along.shape.ndim_known && along.shape.dims.empty()) {
    along.result = op.fail(ProblemKind::index, interpreter::NoDimension{op.name("input"), purpose});
    return along;
  }
  along.at = find_dim(op, along.shape, "dim");
  if (along.at) return along;
  const bool is_known = !op.failed() && along.shape.ndim_known;
  along.result = op.result(
      is_known ? Shape{true, std::vector<Dim>(along.shape.dims.size() - fewer)} : Shape{},
      along.input->dtype);
  return along;
}

Value select(Op& op) {
  AlongOne along = along_one(op, "select from", 1);
  if (!along.at) return along.result;
  auto& [input, shape, at, otherwise] = along;
  const Dim& whole = shape.dims[*at];
  if (const Value index = op.argument("index"); index.is(Kind::integer) && whole.size)
    if (op.s.compare(Compare::ge, index.integer(), whole.size) == Answer::yes ||
        op.s.compare(Compare::lt, index.integer(), op.s.negate(whole.size)) == Answer::yes)
      return op.fail(ProblemKind::index,
          interpreter::NoSuchIndex{op.dim(index.integer()), *at, op.name("input"), whole}, {whole});
  shape.dims.erase(shape.dims.begin() + static_cast<std::ptrdiff_t>(*at));
  return op.result(shape, input->dtype);
}

Value narrow(Op& op) {
  AlongOne along = along_one(op, "narrow", 0);
  const Int length = op.size("length"), start = op.size("start");
  if (!along.at) return along.result;
  auto& [input, shape, at, otherwise] = along;
  Dim& whole = shape.dims[*at];
  if (length && op.s.compare(Compare::lt, length, op.s.constant(0)) == Answer::yes)
    return op.refuse_number({}, op.dim(length));
  if (start && length && whole.size) {
    const auto low = op.s.lower(start), high = op.s.upper(start);
    Int from = low && *low >= 0 ? start : high && *high < 0 ? op.s.add(whole.size, start) : nullptr;
    if (from &&
        (op.s.compare(Compare::gt, op.s.add(from, length), whole.size) == Answer::yes ||
            op.s.compare(Compare::lt, from, op.s.constant(0)) == Answer::yes))
      return op.fail(ProblemKind::index,
          why<Reason::narrowed>(op.dim(length), op.dim(start), at_words(*at), op.name("input"), whole),
          {whole});
  }
  whole = length ? op.made(length) : Dim{};
  return op.result(shape, input->dtype);
}

// select_scatter and its like: the input with a part of it replaced.
Value replaced(Op& op) {
  const TensorState* input = op.expect("input");
  return input ? same_as_input(op, input) : op.unknown();
}

// The part of a tensor of several devices that lies on this one: each dimension may be cut.
Value local_part(Op& op) {
  const TensorState* input = op.expect("input");
  return input ? op.result(local_shape(op.run, *input), input->dtype) : op.unknown();
}
constexpr Operator gathering_operators[] = {
    {"to_local", "input, *, grad_placements=None", "method", local_part, Type::own},
    {"gather", "input, dim, index, *, sparse_grad=False, out=None", "torch method", gather, Type::own},
    {"scatter", "input, dim, index, src=None, *, value=None, reduce=None, out=None", "torch method in_place",
        scatter, Type::own},
    {"scatter_add", "input, dim, index, src, *, out=None", "torch method in_place", scatter, Type::own},
    {"scatter_reduce", "input, dim, index, src, reduce, *, include_self=True, out=None",
        "torch method in_place", scatter, Type::own},
    {"one_hot", "tensor, num_classes=-1", "F", one_hot, Type::own},
    {"index_select", "input, dim, index, *, out=None", "torch method", index_select, Type::own},
    {"index_add", "input, dim, index, source, *, alpha=1, out=None", "torch method in_place", index_write,
        Type::own},
    {"index_copy", "input, dim, index, source, *, out=None", "torch method in_place", index_write, Type::own},
    {"index_fill", "input, dim, index, value", "torch method in_place", index_write, Type::own},
    {"index_reduce", "input, dim, index, source, reduce, *, include_self=True, out=None",
        "torch method in_place", index_write, Type::own},
    {"index_put", "input, indices, values, accumulate=False", "torch method in_place", index_put, Type::own},
    {"masked_scatter", "input, mask, source", "torch method in_place", masked, Type::own},
    {"masked_select", "input, mask, *, out=None", "torch method", masked_select, Type::own},
    {"take", "input, index, *, out=None", "torch method", take, Type::own},
    {"take_along_dim", "input, indices, dim=None, *, out=None", "torch method", take_along_dim, Type::own},
    {"put", "input, index, source, accumulate=False", "torch method in_place", replaced, Type::own},
    {"nonzero", "input, *, as_tuple=False, out=None", "torch method", nonzero, Type::own},
    {"argwhere", "input", "torch method", nonzero, Type::own},
    {"nonzero_static", "input, *, size, fill_value=-1, out=None", "torch method", nonzero_static, Type::own},
    {"unravel_index", "indices, shape", "torch", unravel_index, Type::own},
    {"select", "input, dim, index", "torch method torch.select_copy", select, Type::own},
    {"narrow", "input, dim, start, length", "torch method", narrow, Type::own},
    {"narrow_copy", "input, dim, start, length, *, out=None", "torch method", narrow, Type::own},
    {"select_scatter", "input, src, dim, index", "torch method", replaced, Type::own},
    {"slice_scatter", "input, src, dim=0, start=None, end=None, step=1", "torch method", replaced, Type::own},
    {"diagonal_scatter", "input, src, offset=0, dim1=0, dim2=1", "torch method", replaced, Type::own},
    {"as_strided_scatter", "input, src, size, stride, storage_offset=None", "torch method", replaced,
        Type::own},
};

}  // namespace

Dim count_of_nonzero(Op& op, Value of, const syntax::Expr* written) {
  symbolic::AtomInfo info;
  info.lower = 0;
  if (op.run.policy().names_sizes) {
    // By what it is the number of, as the program writes it: the rounds of a loop have one name for theirs.
    constexpr std::size_t longest_text = 32;
    const std::string_view text = written ? op.run.record().text({op.call.place.chunk, written->span})
                                          : std::string_view{};
    info.name = text.empty() || text.size() > longest_text || text.find('\n') != std::string_view::npos
        ? "nonzero"
        : "nonzero(" + std::string(text) + ")";
    info.stand_in = true;
  }
  info.sharing = op.run.heap().sharing(of) == Sharing::uniform ? Sharing::uniform : Sharing::local;
  return op.dim(op.s.fresh(info));
}

std::vector<Row> gathering_rows() {
  // Who takes a part by an index, or writes one, has the index beside it; select_scatter and its kind copy
  // from anywhere.
  constexpr std::string_view beside_index[] = {"gather", "scatter", "scatter_add", "scatter_reduce",
      "index_select", "index_add", "index_copy", "index_fill", "index_reduce", "masked_scatter",
      "masked_select", "take", "take_along_dim"};
  std::vector<Row> rows = operator_rows(gathering_operators);
  for (Row& each : rows) {
    std::string_view name = each.path.substr(each.path.rfind('.') + 1);
    if (name.ends_with('_')) name.remove_suffix(1);
    each.one_device = each.op && std::ranges::find(beside_index, name) != std::end(beside_index);
  }
  return rows;
}

}  // namespace stepzero::libraries
