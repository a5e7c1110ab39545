// Normalization layers and functions.
#include "libraries/torch/nn/layer.hpp"
#include "values/kept.hpp"
#include "values/limits.hpp"

namespace stepzero::libraries {

namespace {

// ---------------------------------------------------------------- over channels

// The channels of the input: its second dimension, or the first of one without a batch.
struct Channels {
  const TensorState* input = nullptr;
  std::size_t at = 1;
};

bool same_channels(Op& op, const Channels& found, const Dim& wanted) {
  const Shape& shape = found.input->shape;
  if (!wanted.size || !shape.ndim_known || found.at >= shape.dims.size()) return true;
  const Dim arrives = shape.dims[found.at];
  if (!op.never_equal(arrives, wanted)) {
    if (!arrives.size && !op.run.guarded()) {
      Shape learned = shape;
      learned.dims[found.at] = wanted;
      op.learn("input", learned);
    }
    return true;
  }
  // A single value of each channel is refused before, with another exception.
  const bool many = op.equal(shape.dims[0], 1) == Answer::no;
  op.raising(many && op.title().starts_with("BatchNorm") ? "RuntimeError" : "");
  op.fail(ProblemKind::layer_input,
      interpreter::WrongSize{op.taker(), "channels", wanted, op.name("input"), arrives, shape},
      {wanted, arrives});
  op.suggest_constructor("num_features", arrives);
  return false;
}

// Do the sizes of the layer's own tensors matter: has it weights or running statistics?
bool holds_channels(Op& op) {
  return setting_flag(op, "affine") == Known::yes || setting_flag(op, "track_running_stats") == Known::yes;
}

Value normalized(Op& op, Channels found, const Dim& channels) {
  if (!found.input) return op.unknown();
  if (!takes_floats(op, "input") || !same_channels(op, found, channels)) return op.unknown();
  return op.result(op.shape("input"));
}

template <std::size_t... ranks> Value batch_norm(Op& op) {
  constexpr std::size_t allowed[] = {ranks...};
  const Dim channels = holds_channels(op) ? setting_dim(op, "num_features") : Dim{};
  op.raising("ValueError");
  const TensorState* input = ranked_input(op, "input", allowed);
  op.raising({});
  if (input && !input->shape.ndim_known && std::size(allowed) == 1 && !op.run.guarded()) {
    std::vector<Dim> last(allowed[0]);
    last[1] = channels;
    op.learn_last("input", last);
    Shape whole = op.shape("input");
    whole.ndim_known = true;
    op.learn("input", whole);
    input = op.tensor("input");
  }
  return normalized(op, {input, 1}, channels);
}
Value sync_batch_norm(Op& op) {
  const TensorState* input = op.expect("input");
  if (input && input->shape.ndim_known && input->shape.dims.size() < 2)
    return op.refuse_shape(ProblemKind::layer_input, ShapeNeed::at_least(2), "input");
  return normalized(op, {input, 1}, holds_channels(op) ? setting_dim(op, "num_features") : Dim{});
}
// In training the ranks sum what they have seen of each channel: the layer is told to communicate where that
// is known.
Value synchronized(Call& call) {
  const Value made = run_operator(call);
  if (!call.self.is(Kind::instance)) return made;
  Op op(call);
  if (const Value group = op.kept("process_group")) op.keep(values::GroupState::group, group);
  const auto& layer = *call.self.as<Instance>();
  const Value mode = op.kept(values::ModuleState::training);
  const bool known = !call.run.of_any_use() && !layer.symbolic && !mode.is(Kind::unknown);
  call.arguments.resize(2);
  call.arguments[1] = known ? mode ? mode : call.run.heap().boolean(true)
                            : Value::of(call.run.named_condition("training", Sharing::uniform));
  return made;
}
// The layers of the module that normalize over batches by themselves are made anew.
Value with_synchronized(Runtime& run, Value module, int depth) {
  constexpr int deepest_converted = 16;  // modules within modules: a module that holds itself ends here
  module = run.resolve(module);
  if (!module.is(Kind::instance) || depth > deepest_converted) return module;
  const auto& object = *module.as<Instance>();
  const std::string_view path = object.native ? object.native->path : std::string_view{};
  if (!object.cls && path.starts_with("torch.nn.BatchNorm")) {
    Instance* made = run.make_native("torch.nn.SyncBatchNorm", object.born);
    for (const auto& [name, slot] : object.attributes.entries())
      run.heap().set(run.heap().slot_of(made->attributes, name), slot->value);
    return Value::of(Kind::instance, made);
  }
  for (const auto& [name, slot] : std::vector(object.attributes.entries())) {
    const Value part = run.resolve(slot->value);
    if (part.is(Kind::instance) && run.is_a(part, "torch.nn.Module")) {
      if (const Value made = with_synchronized(run, part, depth + 1); !(made == part))
        run.heap().set(*slot, made);
    } else if (part.is(Kind::list) && name.text() == values::ContainerState::items) {
      values::ListState state = *values::Heap::list_state(part);
      bool changed = false;
      for (Value& item : state.items) {
        const Value made = with_synchronized(run, item, depth + 1);
        changed = changed || !(made == item);
        item = made;
      }
      if (changed) run.heap().set_list(part, std::move(state));
    }
  }
  return module;
}
Value convert_sync_batchnorm(Call& call) { return with_synchronized(call.run, call.at(0), 0); }

template <std::size_t batched> Value instance_norm(Op& op) {
  constexpr std::size_t allowed[] = {batched - 1, batched};
  constexpr std::string_view sizes[] = {"N", "",
      batched == 3       ? "L"
          : batched == 4 ? "H"
                         : "D",
      batched == 4 ? "W" : "H", "W"};
  take_usual(op, "input", std::span(sizes).first(batched));
  const TensorState* input = ranked_input(op, "input", allowed);
  const std::size_t at = input && input->shape.dims.size() == batched ? 1 : 0;
  return normalized(op, {input, at}, holds_channels(op) ? setting_dim(op, "num_features") : Dim{});
}
constexpr std::string_view batch_norms[] = {
    "torch.nn.BatchNorm1d", "torch.nn.BatchNorm2d", "torch.nn.BatchNorm3d"};
constexpr std::string_view instance_norms[] = {
    "torch.nn.InstanceNorm1d", "torch.nn.InstanceNorm2d", "torch.nn.InstanceNorm3d"};
// The sizes of a lazy layer are those of its first input; from then on it holds what `usual` does.
template <Value (*forward)(Op&), const std::string_view& usual> Value lazy(Op& op) {
  if (!op.kept("num_features")) {
    const Shape& shape = op.shape("input");
    if (shape.ndim_known && shape.dims.size() >= 2 && shape.dims[1].size && !op.run.guarded())
      op.keep("num_features", Value::of(shape.dims[1].size));
  }
  if (op.kept("num_features") && !op.kept("weight") && !op.run.guarded()) hold_parameters_of(op, usual);
  return forward(op);
}
void remembers(Op& op) { op.keep(values::ModuleState::has_buffers, op.run.heap().boolean(true)); }

// weight, bias and running statistics of a function: as many values as there are channels.
Value functional(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  if (!takes_floats(op, "input")) return op.unknown();
  const Shape shape = input->shape;
  if (shape.ndim_known && shape.dims.size() >= 2)
    for (const std::string_view name : {"running_mean", "running_var", "weight", "bias"})
      if (const TensorState* state = op.tensor(name); state && state->shape.ndim_known &&
          state->shape.dims.size() == 1 && op.equal(state->shape.dims[0], shape.dims[1]) == Answer::no)
        return op.fail(ProblemKind::layer_input,
            interpreter::NotOneEach{op.taker(), "a value", shape.dims[1], "channels",
                {op.name("input"), shape}, op.name(name), state->shape.dims[0]},
            {shape.dims[1], state->shape.dims[0]});
  return op.result(shape);
}

// ---------------------------------------------------------------- over groups

bool divides(Op& op, const Dim& channels, const Dim& groups, ProblemKind kind) {
  const auto number = op.value(groups);
  if (!channels.size || !groups.size || !number || *number <= 0 ||
      op.s.divides(groups.size, channels.size) != Answer::no)
    return true;
  op.fail(kind, interpreter::NotDivisible{{}, channels, "channels", groups, "groups"}, {channels, groups});
  return false;
}
void make_group_norm(Op& op) {
  if (!are_positive(op, {"num_groups"})) return;
  divides(op, setting_dim(op, "num_channels"), setting_dim(op, "num_groups"), ProblemKind::argument);
}
Value group_norm(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  if (input->shape.ndim_known && input->shape.dims.size() < 2)
    return op.refuse_shape(ProblemKind::layer_input, ShapeNeed::at_least(2), "input");
  if (!op.call.self.is(Kind::instance)) {
    if (input->shape.ndim_known &&
        !divides(op, input->shape.dims[1], setting_dim(op, "num_groups"), ProblemKind::layer_input))
      return op.unknown();
    return functional(op);
  }
  return normalized(
      op, {input, 1}, setting_flag(op, "affine") == Known::yes ? setting_dim(op, "num_channels") : Dim{});
}

// ---------------------------------------------------------------- over the last dimensions

// Could the tensor have these sizes?
bool fits_exactly(Op& op, const Shape& shape, std::span<const Dim> wanted) {
  if (shape.dims.size() != wanted.size()) return false;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (op.equal(shape.dims[i], wanted[i]) == Answer::no) return false;
  return true;
}
Value last_dimensions(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  if (!takes_floats(op, "input")) return op.unknown();
  const Value given = setting(op, "normalized_shape");
  std::optional<std::vector<Int>> sizes;
  // One that was calculated with is a number, not a list of them.
  const auto* unknown = given.is(Kind::unknown) ? given.as<values::Unknown>() : nullptr;
  if (given.is(Kind::integer) ||
      (unknown && (unknown->default_value.is(Kind::integer) || unknown->integer))) {
    if (const Int size = op.run.to_int(given)) sizes = std::vector<Int>{size};
  } else if (given.is(Kind::tuple) || given.is(Kind::list)) {
    sizes = libraries::sizes(op.run, given, {}, op.call.place);
  }
  if (sizes && sizes->empty())
    return op.fail(ProblemKind::argument, why<Reason::no_normalized_shape>(op.taker()));
  // An unknown one may be a number or several: of the last dimension nothing is said.
  if (!sizes) return op.result(input->shape);
  std::vector<Dim> wanted;
  wanted.reserve(sizes->size());
  for (const Int size : *sizes) wanted.push_back(known_dim(op.run, size, op.born(), "normalized_shape"));
  const Shape shape = input->shape;
  Shape expected{false, wanted};
  if (shape.ndim_known && shape.dims.size() < wanted.size())
    return op.fail(ProblemKind::layer_input,
        why<Reason::normalized_shape_short>(op.taker(), expected, op.name("input"), shape));
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Dim arrives = from_right(shape, i), expects = wanted[wanted.size() - 1 - i];
    if (op.never_equal(arrives, expects))
      return op.fail(ProblemKind::layer_input,
          wanted.size() == 1
              ? why<Reason::normalized_size>(op.taker(), expects, op.name("input"), arrives, shape)
              : why<Reason::normalized_shape>(op.taker(), expected, op.name("input"), shape),
          {expects, arrives});
  }
  op.learn_last("input", wanted);
  for (const std::string_view name : {"weight", "bias"})
    if (const TensorState* state = op.call.self.is(Kind::instance) ? nullptr : op.tensor(name);
        state && state->shape.ndim_known && !fits_exactly(op, state->shape, wanted))
      return op.fail(ProblemKind::layer_input,
          why<Reason::normalized_weight>(op.name(name), state->shape, expected), {wanted[0]});
  return op.result(op.shape("input"));
}

// What the modules call: beside the result, the mean and the inverse of the deviation that it was normalized
// with.
Value native_layer_norm(Op& op) {
  const auto sizes = op.sizes("normalized_shape");
  const Value made = last_dimensions(op);
  const TensorState* input = op.tensor("input");
  if (op.failed() || !input) return made;
  Shape seen = input->shape;
  for (std::size_t i = 0; sizes && i < sizes->size() && i < seen.dims.size(); ++i)
    seen.dims[seen.dims.size() - 1 - i] = op.dim(1);
  if (!sizes) seen = {};
  // With weights of another dtype, mean and deviation are computed in theirs.
  const TensorState* weight = op.tensor("weight");
  const Dtype dtype = !weight || weight->dtype == input->dtype ? input->dtype : Dtype::unknown;
  return op.tuple({made, op.result(seen, dtype), op.result(seen, dtype)});
}
Value native_batch_norm(Op& op) {
  const Value made = functional(op);
  const TensorState* input = op.tensor("input");
  if (op.failed() || !input) return made;
  const Known training = op.flag("training");
  const TensorState* weight = op.tensor("weight");
  const Dtype dtype = !weight || weight->dtype == input->dtype ? input->dtype : Dtype::unknown;
  Shape seen;
  if (training == Known::yes && input->shape.ndim_known && input->shape.dims.size() >= 2)
    seen = {true, {input->shape.dims[1]}};
  else if (training == Known::no)
    seen = {true, {op.dim(std::int64_t{0})}};
  return op.tuple({made, op.result(seen, dtype), op.result(seen, dtype)});
}
// N, C and HxW are given beside the input.
Value native_group_norm(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input || !takes_floats(op, "input")) return op.unknown();
  const TensorState* weight = op.tensor("weight");
  const Dtype dtype = !weight || weight->dtype == input->dtype ? input->dtype : Dtype::unknown;
  const Int batch = op.size("N"), groups = op.size("group");
  const Shape seen{true, {batch ? op.made(batch) : Dim{}, groups ? op.made(groups) : Dim{}}};
  return op.tuple({op.result(input->shape, input->dtype), op.result(seen, dtype), op.result(seen, dtype)});
}

Value neighbors(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  if (input->shape.ndim_known && input->shape.dims.size() < 3)
    return op.refuse_shape(ProblemKind::layer_input, ShapeNeed::at_least(3), "input");
  return op.result(input->shape);
}
Value normalize(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  if (input->shape.ndim_known && op.integer("dim") && !op.axis("dim", input->shape.dims.size()))
    return op.unknown();
  return op.result(input->shape);
}

// ---------------------------------------------------------------- rows

constexpr std::string_view batch =
    "num_features, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None, *, bias=True";
constexpr std::string_view lazy_batch =
    "eps=1e-05, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None, *, bias=True";
constexpr std::string_view instance =
    "num_features, eps=1e-05, momentum=0.1, affine=False, track_running_stats=False, device=None, dtype=None, *, bias=True";
constexpr std::string_view lazy_instance =
    "eps=1e-05, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None, *, bias=True";

constexpr Layer norm_layers[] = {
    {"torch.nn.BatchNorm1d", batch, remembers, "input", batch_norm<2, 3>},
    {"torch.nn.BatchNorm2d", batch, remembers, "input", batch_norm<4>},
    {"torch.nn.BatchNorm3d", batch, remembers, "input", batch_norm<5>},
    {"torch.nn.LazyBatchNorm1d", lazy_batch, remembers, "input", lazy<batch_norm<2, 3>, batch_norms[0]>},
    {"torch.nn.LazyBatchNorm2d", lazy_batch, remembers, "input", lazy<batch_norm<4>, batch_norms[1]>},
    {"torch.nn.LazyBatchNorm3d", lazy_batch, remembers, "input", lazy<batch_norm<5>, batch_norms[2]>},
    {"torch.nn.SyncBatchNorm",
        "num_features, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True, process_group=None, device=None, dtype=None, *, bias=True",
        remembers, "input", sync_batch_norm},
    {"torch.nn.InstanceNorm1d", instance, nullptr, "input", instance_norm<3>},
    {"torch.nn.InstanceNorm2d", instance, nullptr, "input", instance_norm<4>},
    {"torch.nn.InstanceNorm3d", instance, nullptr, "input", instance_norm<5>},
    {"torch.nn.LazyInstanceNorm1d", lazy_instance, nullptr, "input",
        lazy<instance_norm<3>, instance_norms[0]>},
    {"torch.nn.LazyInstanceNorm2d", lazy_instance, nullptr, "input",
        lazy<instance_norm<4>, instance_norms[1]>},
    {"torch.nn.LazyInstanceNorm3d", lazy_instance, nullptr, "input",
        lazy<instance_norm<5>, instance_norms[2]>},
    {"torch.nn.GroupNorm",
        "num_groups, num_channels, eps=1e-05, affine=True, device=None, dtype=None, *, bias=True",
        make_group_norm, "input", group_norm},
    {"torch.nn.LayerNorm",
        "normalized_shape, eps=1e-05, elementwise_affine=True, bias=True, device=None, dtype=None", nullptr,
        "input", last_dimensions},
    {"torch.nn.RMSNorm", "normalized_shape, eps=None, elementwise_affine=True, device=None, dtype=None",
        nullptr, "input", last_dimensions},
    {"torch.nn.LocalResponseNorm", "size, alpha=0.0001, beta=0.75, k=1.0", nullptr, "input", neighbors,
        Type::floating, false},
    {"torch.nn.CrossMapLRN2d", "size, alpha=0.0001, beta=0.75, k=1", nullptr, "input", neighbors,
        Type::floating, false},
};

constexpr Operator norm_operators[] = {
    {"batch_norm",
        "input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05",
        "F", functional, Type::input},
    {"instance_norm",
        "input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-05",
        "F", functional, Type::input},
    {"group_norm", "input, num_groups, weight=None, bias=None, eps=1e-05", "F", group_norm, Type::input},
    {"group_norm", "input, num_groups, weight=None, bias=None, eps=1e-05, cudnn_enabled=True", "torch",
        group_norm, Type::input},
    {"layer_norm", "input, normalized_shape, weight=None, bias=None, eps=1e-05", "F", last_dimensions,
        Type::input},
    {"layer_norm", "input, normalized_shape, weight=None, bias=None, eps=1e-05, cudnn_enable=True", "torch",
        last_dimensions, Type::input},
    {"native_layer_norm", "input, normalized_shape, weight, bias, eps", "torch", native_layer_norm,
        Type::input},
    {"native_batch_norm", "input, weight, bias, running_mean, running_var, training, momentum, eps", "torch",
        native_batch_norm, Type::input},
    {"native_group_norm", "input, weight, bias, N, C, HxW, group, eps", "torch", native_group_norm,
        Type::own},
    {"rms_norm", "input, normalized_shape, weight=None, eps=None", "F torch", last_dimensions, Type::input},
    {"local_response_norm", "input, size, alpha=0.0001, beta=0.75, k=1.0", "F", neighbors, Type::floating},
    {"normalize", "input, p=2.0, dim=1, eps=1e-12, out=None", "F", normalize, Type::input},
};

}  // namespace

std::vector<Row> norm_rows() {
  static constexpr values::CollectiveInfo sums{.name = "the forward of SyncBatchNorm",
      .hidden = true,
      .because = "in training it averages each channel over the batches of all ranks",
      .only_if = 1};
  std::vector<Row> rows = rows_of(norm_layers, norm_operators);
  for (Row& made : rows)
    if (made.path == "torch.nn.SyncBatchNorm.forward") {
      made.run = synchronized;
      made.operation = Operation::collective;
      made.collective = &sums;
    }
  rows.push_back(row("torch.nn.SyncBatchNorm.convert_sync_batchnorm", RowKind::function,
      "module, process_group=None", convert_sync_batchnorm));
  return rows;
}

}  // namespace stepzero::libraries
