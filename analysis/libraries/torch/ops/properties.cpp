// Asking tensors (dtype, device and what else is not their shape), moving and converting them.
#include "interpreter/calls/unseen.hpp"
#include "interpreter/record.hpp"
#include "libraries/numpy/arrays.hpp"
#include "libraries/python/generators.hpp"
#include "libraries/torch/meaning/contents.hpp"
#include "libraries/torch/meaning/devices.hpp"
#include "libraries/torch/meaning/history.hpp"
#include "libraries/torch/ops/filling.hpp"
#include "libraries/torch/ops/operators.hpp"
#include "values/devices.hpp"
#include "values/kept.hpp"
#include "values/limits.hpp"

#include <algorithm>

namespace stepzero::libraries {

namespace {

// ---------------------------------------------------------------- asking

Value unknown_of(Op& op, Sharing sharing) { return op.run.heap().unknown("", sharing, op.call.place); }
Value self(Op& op) { return op.call.at(0); }
Sharing sharing_of(Op& op) { return op.run.heap().sharing(self(op)); }

Value dtype(Op& op) {
  const TensorState* state = op.tensor(self(op));
  return state && state->dtype != Dtype::unknown ? Value::of(state->dtype) : unknown_of(op, Sharing::uniform);
}
Value device(Op& op) {
  const TensorState* state = op.tensor(self(op));
  return state && state->device ? values::device_value(op.run.heap(), *state->device)
                                : unknown_of(op, Sharing::divergent);
}
// Of a tensor that a caller gives, wherever it lies, the question itself is the condition: what the program
// does with the answer, it does with this tensor. What is computed lies where its operands do, though that
// may not be known.
Value is_cuda(Op& op) {
  values::Heap& heap = op.run.heap();
  const Value asked = self(op);
  const TensorState* state = op.tensor(asked);
  const values::Device* device = state ? state->device : nullptr;
  if (!state && asked.is(Kind::unknown)) device = interpreter::lies_on(*asked.as<values::Unknown>());
  if (device) {
    symbolic::Cond on_gpu = op.s.boolean(false);
    for (const values::PossibleDevice& each : values::possible_devices(op.s, *device)) {
      if (values::is_reserved(each.text) && !values::is_no_gpu(each.text))
        return heap.unseen("", op.call.place);
      if (each.text.starts_with("cuda"))
        on_gpu = each.when ? op.s.logical_or(on_gpu, each.when) : op.s.boolean(true);
    }
    return Value::of(on_gpu);
  }
  std::string name(op.run.record().text(op.call.place));
  // While the program itself runs nobody else gives it anything. Where a parameter lies its model has
  // decided, and what a method takes lies where its object has its own.
  const auto& roots = op.run.record().roots;
  if (!op.run.in_roots() || roots.empty() || roots.back()->owner) return heap.unseen("", op.call.place);
  const bool given = state ? asked.is(Kind::tensor) &&
          asked.as<Tensor>()->role == values::TensorRole::plain && !state->made && state->graph.empty()
                           : asked.is(Kind::unknown) && !heap.is_unseen(asked);
  if (!given || !values::is_quotable(name)) return heap.unseen("", op.call.place);
  const symbolic::Cond on_gpu = op.s.opaque(std::move(name), Sharing::uniform);
  const values::Device* there = values::gpu_or_other(heap, on_gpu);
  if (state) {
    TensorState placed = *state;
    placed.device = there;
    set_state(op.run, asked, placed);
  } else if (asked.is(Kind::unknown)) {
    interpreter::note_device(heap, asked, *there, false);
  }
  return Value::of(on_gpu);
}
Value boolean(Op& op, Known known) {
  return known == Known::unknown ? unknown_of(op, Sharing::uniform)
                                 : op.run.heap().boolean(known == Known::yes);
}
Value requires_grad(Op& op) {
  const TensorState* state = op.tensor(self(op));
  return boolean(op, state ? op.run.heap().requires_grad(*state) : Known::unknown);
}
Value is_floating_point(Op& op) {
  const TensorState* state = op.tensor(self(op));
  return boolean(op,
      !state || state->dtype == Dtype::unknown ? Known::unknown
          : values::is_floating(state->dtype)  ? Known::yes
                                               : Known::no);
}
Value is_complex_tensor(Op& op) {
  const TensorState* state = op.tensor(self(op));
  return boolean(op,
      !state || state->dtype == Dtype::unknown ? Known::unknown
          : is_complex(state->dtype)           ? Known::yes
                                               : Known::no);
}
Value is_tensor(Op& op) {
  const Value value = op.argument("obj");
  if (op.tensor(value)) return op.run.heap().boolean(true);
  return !value || value.is(Kind::unknown) || value.is(Kind::choice) || value.is(Kind::instance)
      ? unknown_of(op, Sharing::uniform)
      : op.run.heap().boolean(false);
}
Value element_size(Op& op) {
  const TensorState* state = op.tensor(self(op));
  return state && state->dtype != Dtype::unknown ? op.run.heap().integer(values::width(state->dtype))
                                                 : unknown_of(op, Sharing::uniform);
}
Value something(Op& op) { return unknown_of(op, sharing_of(op)); }
// An element of the tensor; `content`: null if nothing is known of it.
Value element_of(Op& op, const values::Content* content, std::size_t i) {
  if (const Value known = content ? op.run.heap().number(*content, i) : Value{}) return known;
  const Value made = unknown_of(op, sharing_of(op));
  auto* number = made.as<values::Unknown>();
  const TensorState* state = op.tensor(self(op));
  number->unseen = op.run.heap().is_unseen(self(op));
  number->is_real = state && values::is_floating(state->dtype);
  number->is_number = true;
  if (content && number->is_real) keep_bounds(op, *number, content->numbers[i]);
  return made;
}
Value item(Op& op) {
  const TensorState* state = op.tensor(self(op));
  if (state && state->shape.ndim_known) {
    const Int count = op.product(state->shape.dims);
    if (count && op.s.compare(Compare::eq, count, op.s.constant(1)) == Answer::no)
      return op.refuse_shape(ProblemKind::argument, {ShapeNeed::element}, "input");
  }
  const values::Content* content = op.content(self(op));
  return element_of(op, content && content->numbers.size() == 1 ? content : nullptr, 0);
}
// A number, or (nested) lists of them.
Value to_list(Op& op) {
  const TensorState* state = op.tensor(self(op));
  if (!state || !state->shape.ndim_known || state->shape.dims.size() > 1) return something(op);
  const values::Extent* extent = extent_among(op, self(op));
  const values::Content* content = op.content(self(op));
  const auto number = [&](std::size_t i) -> Value {
    if (const Value known = content ? op.run.heap().number(*content, i) : Value{}) return known;
    // An integer between the bounds that all of them keep.
    if (extent && !op.run.heap().is_unseen(self(op))) {
      symbolic::AtomInfo info;
      info.lower = op.s.lower(extent->low);
      info.upper = op.s.upper(extent->high);
      info.sharing = sharing_of(op);
      return Value::of(op.s.fresh(info));
    }
    return element_of(op, content, i);
  };
  if (state->shape.dims.empty()) return number(0);
  const auto size = op.value(state->shape.dims[0]);
  if (!size || *size > static_cast<std::int64_t>(values::Heap::most_numbers))
    return op.run.heap().open_list(number(0), state->shape.dims[0].size);
  std::vector<Value> items;
  items.reserve(static_cast<std::size_t>(*size));
  for (std::int64_t i = 0; i < *size; ++i) items.push_back(number(static_cast<std::size_t>(i)));
  return op.run.heap().list(std::move(items));
}
Value common_dtype(Op& op) {
  const Dtype both = op.promoted({"tensor1", "tensor2"});
  return both == Dtype::unknown ? unknown_of(op, Sharing::uniform) : Value::of(both);
}
Value promoted_types(Op& op) {
  const Dtype a = to_dtype(op.argument("type1")), b = to_dtype(op.argument("type2"));
  return a == Dtype::unknown || b == Dtype::unknown ? unknown_of(op, Sharing::uniform)
                                                    : Value::of(promote(a, b));
}
Value default_dtype(Op& op) {
  const Dtype now = op.run.default_dtype();
  return now == Dtype::unknown ? unknown_of(op, Sharing::uniform) : Value::of(now);
}

// ---------------------------------------------------------------- converting

// The same tensor with something changed.
TensorState copy_of(Op& op) {
  const TensorState* from = op.expect("input");
  return from ? *from : *op.tensor(op.unknown());
}
const values::Device* device_of(Op& op, Value value) { return values::device_named(op.run.heap(), value); }
// A tensor of another type or device: a new one, as it is computed, or the same where nothing is changed.
Value converted(Op& op, TensorState state) {
  values::Heap& heap = op.run.heap();
  const TensorState* from = op.tensor(self(op));
  if (from && state.dtype != Dtype::unknown && state.dtype == from->dtype && state.device && from->device &&
      state.device->text == from->device->text && op.call.options.empty() && !op.argument("memory_format"))
    return self(op);
  const bool no_numbers = state.dtype != Dtype::unknown && !values::is_floating(state.dtype) &&
      !is_complex(state.dtype);
  if (no_numbers)
    cut_history(op.run, state, op.call.place, values::name(state.dtype));
  else if (op.run.records_gradients() != Known::yes && heap.requires_grad(state) == Known::yes)
    state.requires_grad = Known::unknown;
  return result(op.call, std::move(state));
}
// Names by which programs tell devices and dtypes apart.
bool called(Value value, std::string_view what) {
  if (!value.is(Kind::unknown)) return false;
  std::string_view name = value.as<values::Unknown>()->name;
  name = name.substr(name.rfind('.') + 1);
  return name.find(what) != std::string_view::npos;
}
void convert(Op& op, TensorState& state, Value value);
// One of several devices, or of several dtypes: what they have in common.
void convert_one_of(Op& op, TensorState& state, Value value) {
  TensorState yes = state, no = state;
  convert(op, yes, value.as<values::Choice>()->yes);
  convert(op, no, value.as<values::Choice>()->no);
  state.dtype = yes.dtype == no.dtype ? yes.dtype : Dtype::unknown;
  state.device = values::choose_device(
      op.run.heap(), value.as<values::Choice>()->condition, yes.device, no.device);
}
void convert(Op& op, TensorState& state, Value value) {
  value = op.run.resolve(value);
  if (value.is(Kind::boolean) || value.is(Kind::none) || !value) return;
  const Dtype own = to_dtype(value);
  if (own != Dtype::unknown || value.is(Kind::dtype)) {
    state.dtype = own;
  } else if (value.is(Kind::device) || value.is(Kind::string) || value.is(Kind::integer)) {
    state.device = device_of(op, value);
  } else if (const TensorState* like = op.tensor(value)) {
    state.dtype = like->dtype;
    state.device = like->device;
  } else if (value.is(Kind::choice)) {
    convert_one_of(op, state, value);
  } else if (const values::Device* chosen = values::device_named(op.run.heap(), value)) {
    state.device = chosen;
  } else if (const values::Device* presumed = interpreter::presumed_device(op.run, value)) {
    state.device = presumed;
  } else if (called(value, "device") || !interpreter::beginning_of(value).empty() ||  // f"cuda:{rank}"
      op.run.record().conditions.contains(values::RecordCondition::counted)) {
    state.device = nullptr;
  } else if (called(value, "dtype")) {
    state.dtype = Dtype::unknown;
  } else {
    state.device = nullptr;
    state.dtype = Dtype::unknown;
  }
}
// Other parts of its batch were left where it came from.
void note_moved(Op& op, const values::Device* there) {
  if (const values::Unknown* part = there ? unseen_behind(op.run, self(op)) : nullptr)
    interpreter::note_part_moved(op.run, *part, *there);
}
Value to(Op& op) {
  TensorState state = copy_of(op);
  const values::Device* from = state.device;
  const bool from_meta = from && is_meta(*from);
  for (const Value& value : op.call.rest) convert(op, state, value);
  for (const auto& [name, value] : op.call.options) {
    const std::string_view key = name.text();
    const Value given = op.run.resolve(value);
    if (key == "dtype")
      state.dtype = given.is(Kind::none) ? state.dtype : to_dtype(given);
    else if (key == "device")
      state.device = given.is(Kind::none) ? state.device : device_of(op, given);
    else if (key == "other" || key == "tensor")
      convert(op, state, given);
    else if (key != "non_blocking" && key != "copy" && key != "memory_format")
      return op.fail(ProblemKind::argument, interpreter::NoSuchArgument{op.taker(), std::string(key), {}});
  }
  if (from_meta && state.device && !is_meta(*state.device))
    return op.fail(ProblemKind::device, why<Reason::meta_copied>(op.name("input")));
  if (!values::is_same_device(state.device, from)) note_moved(op, state.device);
  return converted(op, std::move(state));
}
// The old names of types say the device too, the names of dtypes do not.
void take_type(Op& op, TensorState& state, Value wanted, int depth = 0) {
  wanted = op.run.resolve(wanted);
  if (wanted.is(Kind::choice) && depth < values::most_choices) {
    const auto* choice = wanted.as<values::Choice>();
    TensorState yes = state, no = state;
    take_type(op, yes, choice->yes, depth + 1);
    take_type(op, no, choice->no, depth + 1);
    state.dtype = yes.dtype == no.dtype ? yes.dtype : Dtype::unknown;
    state.device = values::choose_device(op.run.heap(), choice->condition, yes.device, no.device);
    return;
  }
  state.dtype = to_dtype(wanted);
  constexpr std::pair<std::string_view, Dtype> old[] = {{"FloatTensor", Dtype::float32},
      {"DoubleTensor", Dtype::float64}, {"HalfTensor", Dtype::float16}, {"BFloat16Tensor", Dtype::bfloat16},
      {"LongTensor", Dtype::int64}, {"IntTensor", Dtype::int32}, {"ShortTensor", Dtype::int16},
      {"CharTensor", Dtype::int8}, {"ByteTensor", Dtype::uint8}, {"BoolTensor", Dtype::boolean}};
  const std::string_view path = wanted.is(Kind::library) ? wanted.as<values::LibrarySymbol>()->path
      : wanted.is(Kind::string)                          ? wanted.text()
                                                         : std::string_view{};
  const bool on_gpu = path.starts_with("torch.cuda.");
  for (const auto& [name, means] : old)
    if (path.starts_with("torch.") && path.substr(on_gpu ? 11 : 6) == name) {
      state.dtype = means;
      const std::string_view device = on_gpu ? "cuda" : "cpu";
      if (!state.device || !state.device->text.starts_with(device))
        state.device = op.run.heap().device(device).as<values::Device>();
    }
  // The class of all tensors stands for the type of new ones.
  if (path == "torch.Tensor" && op.run.default_dtype() != Dtype::unknown) {
    state.dtype = op.run.default_dtype();
    state.device = op.run.heap().device("cpu").as<values::Device>();
  }
  if (state.dtype == Dtype::unknown) state.device = nullptr;
}
// x.type() is a string, x.type(dtype) a tensor.
Value type(Op& op) {
  const Value wanted = op.argument("dtype");
  if (!wanted) return unknown_of(op, Sharing::uniform);
  TensorState state = copy_of(op);
  take_type(op, state, wanted);
  return converted(op, std::move(state));
}
Value type_as(Op& op) {
  if (!op.must_be_tensor("other")) return op.unknown();
  TensorState state = copy_of(op);
  const TensorState* other = op.tensor("other");
  state.dtype = other ? other->dtype : Dtype::unknown;
  state.device = other ? other->device : nullptr;
  return converted(op, std::move(state));
}
template <Dtype wanted> Value cast(Op& op) {
  TensorState state = copy_of(op);
  state.dtype = wanted;
  // What is of that type already is given back itself.
  if (const TensorState* from = op.tensor(self(op));
      from && from->dtype == wanted && !op.argument("memory_format"))
    return self(op);
  return converted(op, std::move(state));
}
// Pairs of floats as complex numbers, and back.
Value pairs_as_complex(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  Shape shape = input->shape;
  if (shape.ndim_known && (shape.dims.empty() || op.equal(shape.dims.back(), 2) == Answer::no))
    return op.refuse_shape(ProblemKind::argument, {ShapeNeed::pairs}, "input");
  if (!shape.dims.empty()) shape.dims.pop_back();
  return op.result(shape, complex_part(input->dtype));
}
Value complex_as_pairs(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  if (input->dtype != Dtype::unknown && !is_complex(input->dtype))
    return op.refuse_dtype(DtypeNeed::complex, "input");
  Shape shape = input->shape;
  shape.dims.push_back(op.dim(2));
  return op.result(shape, is_complex(input->dtype) ? real_part(input->dtype) : Dtype::unknown);
}
Value to_cuda(Op& op) {
  TensorState state = copy_of(op);
  const Value wanted = op.argument("device");
  state.device = !wanted ? op.run.heap().device("cuda").as<values::Device>() : device_of(op, wanted);
  note_moved(op, state.device);
  return converted(op, std::move(state));
}
Value to_cpu(Op& op) {
  TensorState state = copy_of(op);
  state.device = op.run.heap().device("cpu").as<values::Device>();
  return converted(op, std::move(state));
}
Value detach(Op& op) {
  TensorState state = copy_of(op);
  cut_history(op.run, state, op.call.place, op.call.row.kind == RowKind::property ? ".data" : "detach()");
  return result(op.call, std::move(state));
}

// Variable(data), of before tensors were variables: the same numbers without their history. `volatile` does
// nothing any more.
Value variable(Op& op) {
  const Value data = op.argument("data");
  if (!data) return op.result({true, {Dim{}}});
  if (data.is(Kind::list) || data.is(Kind::tuple))
    return op.fail(ProblemKind::argument,
        interpreter::WrongKind{interpreter::WrongKind::Need::tensor,
            data.is(Kind::list) ? interpreter::WrongKind::Has::list : interpreter::WrongKind::Has::tuple,
            op.taker(), op.name("data"), {}});
  const TensorState* from = op.expect("data");
  if (!from) return op.unknown();
  TensorState state = *from;
  cut_history(op.run, state, op.call.place, "Variable()");
  const Known trained = op.flag("requires_grad");
  if (trained != Known::no) state.requires_grad = trained;
  return result(op.call, std::move(state));
}

// ---------------------------------------------------------------- in place

// ---------------------------------------------------------------- the operators

#define FORMAT "input, memory_format=None"

constexpr Operator property_operators[] = {
    {"dtype", "input", "property", dtype, Type::own},
    {"device", "input", "property", device, Type::own},
    {"is_cuda", "input", "property", is_cuda, Type::own},
    {"requires_grad", "input", "property", requires_grad, Type::own},
    {"is_floating_point", "input", "torch method", is_floating_point, Type::own},
    {"is_complex", "input", "torch method", is_complex_tensor, Type::own},
    {"is_tensor", "obj", "torch", is_tensor, Type::own},
    {"element_size", "input", "method", element_size, Type::own},
    {"itemsize", "input", "property", element_size, Type::own},
    {"is_contiguous", "input, memory_format=None", "method", something, Type::own},
    {"stride", "input, dim=None", "method", something, Type::own},
    {"storage_offset", "input", "method", something, Type::own},
    {"tolist", "input", "method", to_list, Type::own},
    {"item", "input", "method", item, Type::own},
    {"numpy", "input, *, force=False", "method", array_of_tensor, Type::own},
    {"result_type", "tensor1, tensor2", "torch", common_dtype, Type::own},
    {"promote_types", "type1, type2", "torch", promoted_types, Type::own},
    {"get_default_dtype", "", "torch", default_dtype, Type::own},

    {"to", "input, *more, non_blocking=False, **options", "method", to, Type::own},
    {"type", "input, dtype=None, non_blocking=False, **options", "method", type, Type::own},
    {"type_as", "input, other", "method", type_as, Type::own},
    {"float", FORMAT, "method", cast<Dtype::float32>, Type::own},
    {"double", FORMAT, "method", cast<Dtype::float64>, Type::own},
    {"half", FORMAT, "method", cast<Dtype::float16>, Type::own},
    {"bfloat16", FORMAT, "method", cast<Dtype::bfloat16>, Type::own},
    {"long", FORMAT, "method", cast<Dtype::int64>, Type::int64},
    {"int", FORMAT, "method", cast<Dtype::int32>, Type::own},
    {"short", FORMAT, "method", cast<Dtype::int16>, Type::own},
    {"char", FORMAT, "method", cast<Dtype::int8>, Type::own},
    {"byte", FORMAT, "method", cast<Dtype::uint8>, Type::own},
    {"bool", FORMAT, "method", cast<Dtype::boolean>, Type::boolean},
    {"cfloat", FORMAT, "method", cast<Dtype::complex64>, Type::own},
    {"cdouble", FORMAT, "method", cast<Dtype::complex128>, Type::own},
    {"chalf", FORMAT, "method", cast<Dtype::unknown>, Type::own},
    {"cuda", "input, device=None, non_blocking=False, memory_format=None", "method", to_cuda, Type::own},
    {"cpu", FORMAT, "method", to_cpu, Type::own},
    {"pin_memory", "input, device=None", "method", the_tensor, Type::own},
    {"detach", "input", "torch method torch.detach_copy", detach, Type::own},
    {"view_as_complex", "input", "torch", pairs_as_complex, Type::own},
    {"view_as_real", "input", "torch", complex_as_pairs, Type::own},
    {"data", "input", "property", detach, Type::own},
    {"Variable", "data=None, requires_grad=False, volatile=False, _grad_fn=None, name=None",
        "torch.autograd.Variable torch.autograd.variable.Variable", variable, Type::own},

};

}  // namespace

std::vector<Row> property_rows() {
  std::vector<Row> rows = operator_rows(property_operators);
  const std::vector<Row> filling = filling_rows();
  rows.insert(rows.end(), filling.begin(), filling.end());
  const std::vector<Row> init = init_rows();
  rows.insert(rows.end(), init.begin(), init.end());
  const std::vector<Row> attributes = attribute_rows();
  rows.insert(rows.end(), attributes.begin(), attributes.end());
  return rows;
}

}  // namespace stepzero::libraries
