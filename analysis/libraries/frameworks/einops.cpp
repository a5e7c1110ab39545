// The operators and layers of einops. What a pattern makes of a shape is in einops_patterns.
#include "libraries/frameworks/einops_patterns.hpp"
#include "libraries/torch/nn/layer.hpp"
#include "libraries/torch/ops/views.hpp"
#include "syntax/text.hpp"
#include "values/kept.hpp"

#include <algorithm>
#include <map>

namespace stepzero::libraries {

using namespace einops;

namespace {

// ---------------------------------------------------------------- the operators

// The shape of the first argument, which may be a list of tensors of one shape.
std::optional<Shape> subject(Op& op, const TensorState*& state) {
  const std::string_view name =
      op.call.row.parameters[op.call.row.parameters[0].text() == "self" ? 1 : 0].text();
  const Value given = op.argument(name);
  if (given.is(Kind::list) || given.is(Kind::tuple)) {
    state = nullptr;
    const auto items = op.run.elements(given, op.call.place);
    if (!items || items->empty()) return std::nullopt;
    Shape all{true, {op.dim(static_cast<std::int64_t>(items->size()))}};
    state = op.tensor((*items)[0]);
    if (!state || !state->shape.ndim_known) return std::nullopt;
    all.dims.insert(all.dims.end(), state->shape.dims.begin(), state->shape.dims.end());
    return all;
  }
  // It may be an array of another library.
  state = op.tensor(given);
  return state ? std::optional(state->shape) : std::nullopt;
}

Dtype reduced_type(Op& op, Dtype input, Value how) {
  (void)op;
  if (values::is_floating(input)) return input;
  if (how.is(Kind::string) && (how.text() == "max" || how.text() == "min")) return input;
  return Dtype::unknown;
}

Value transform(Op& op, Value pattern, const Lengths& lengths, Action action, Value how = {}) {
  const TensorState* input = nullptr;
  const auto from = subject(op, input);
  if (!pattern.is(Kind::string))
    return op.result({}, input && action != Action::reduce ? input->dtype : Dtype::unknown);
  // Even of a tensor that is not known the rank of the result is.
  const Shape shape = from ? *from : Shape{};
  Shape learned;
  const std::string_view first = op.call.row.parameters[0].text();
  const bool learns = input && op.tensor(first) == input && !op.run.guarded();
  Transform change{op, shape, pattern.text(), lengths, action};
  change.names_sizes = learns;
  if (input && op.tensor(first) == input) change.first = input->first;
  const auto out = change.run(&learned);
  if (op.failed()) return op.unknown();
  if (learned.ndim_known && learns) op.learn(first, learned);
  const Dtype before = input ? input->dtype : Dtype::unknown;
  return op.result(out ? *out : Shape{}, action == Action::reduce ? reduced_type(op, before, how) : before);
}

Lengths options_of(Op& op) {
  Lengths lengths;
  for (const auto& [name, value] : op.call.options) lengths.emplace_back(std::string(name.text()), value);
  return lengths;
}

Value rearrange(Op& op) { return transform(op, op.argument("pattern"), options_of(op), Action::rearrange); }
Value reduce(Op& op) {
  return transform(op, op.argument("pattern"), options_of(op), Action::reduce, op.argument("reduction"));
}
Value repeat(Op& op) { return transform(op, op.argument("pattern"), options_of(op), Action::repeat); }

// einsum(a, b, 'i j, j k -> i k')
Value einsum(Op& op) {
  std::vector<Value> operands{op.argument("tensor")};
  operands.insert(operands.end(), op.call.rest.begin(), op.call.rest.end());
  const Value pattern = op.run.resolve(operands.back());
  operands.pop_back();
  if (!pattern.is(Kind::string)) return op.result({}, Dtype::unknown);
  const std::string_view text = pattern.text();
  const auto wrong = [&](interpreter::Refusal refusal, std::initializer_list<Dim> because = {}) {
    return op.fail(ProblemKind::product, std::move(refusal), because);
  };
  const auto arrow = text.find("->");
  if (arrow == std::string_view::npos) return wrong(why<Reason::pattern_without_arrow>(text));
  std::optional<interpreter::Refusal> reason;
  std::vector<Side> inputs;
  std::string_view rest = text.substr(0, arrow);
  for (;;) {
    const auto comma = rest.find(',');
    // An axis may come twice: a diagonal is summed over.
    const auto side = read_side(rest.substr(0, comma), text, reason);
    if (!side) return op.result({}, Dtype::unknown);
    inputs.push_back(*side);
    if (comma == std::string_view::npos) break;
    rest = rest.substr(comma + 1);
  }
  const auto output = read_side(text.substr(arrow + 2), text, reason);
  if (!output) return op.result({}, Dtype::unknown);
  if (inputs.size() != operands.size())
    return wrong(why<Reason::pattern_operands>(text, inputs.size(), operands.size()));
  std::map<std::string, Dim, std::less<>> sizes;
  bool open = false;
  Dtype dtype = Dtype::unknown;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const TensorState* state = op.tensor(operands[i]);
    if (state)
      dtype = i == 0 ? state->dtype : dtype == state->dtype ? dtype : Dtype::unknown;
    else
      dtype = Dtype::unknown;
    const Side& side = inputs[i];
    if (side.ellipsis >= 0) open = true;
    if (!state || side.ellipsis >= 0) continue;
    const Shape& shape = state->shape;
    if (shape.ndim_known ? shape.dims.size() != side.groups.size() : shape.dims.size() > side.groups.size())
      return wrong(why<Reason::pattern_axes>(text, side.groups.size(), shape));
    for (std::size_t k = 0; k < side.groups.size(); ++k) {
      const Group& group = side.groups[k];
      if (group.composed || group.axes[0].what != Axis::What::name) return op.result({}, dtype);
      const Dim dim = from_right(shape, side.groups.size() - 1 - k);
      auto [it, inserted] = sizes.try_emplace(group.axes[0].name, dim);
      if (inserted) continue;
      if (op.equal(it->second, dim) == Answer::no && op.equal(it->second, 1) == Answer::no &&
          op.equal(dim, 1) == Answer::no)
        return wrong(
            why<Reason::pattern_size_twice>(text, group.axes[0].name, it->second, dim), {it->second, dim});
      if (op.equal(it->second, 1) != Answer::no && op.equal(dim, 1) == Answer::no)
        it->second = dim;
      else if (op.equal(it->second, dim) == Answer::unknown && op.equal(it->second, 1) != Answer::no)
        it->second = Dim{};
    }
  }
  if (open) return op.result({}, dtype);
  Shape out{true, {}};
  for (const Group& group : output->groups) {
    if (group.composed || group.axes[0].what != Axis::What::name) return op.result({}, dtype);
    if (!sizes.contains(group.axes[0].name) &&
        std::none_of(
            inputs.begin(), inputs.end(), [&](const Side& side) { return side.has(group.axes[0].name); }))
      return wrong(why<Reason::pattern_right_only>(text, group.axes[0].name));
    out.dims.push_back(sizes[group.axes[0].name]);
  }
  return op.result(out, dtype);
}

// The axes in front of the `*` of a pattern and after it.
std::optional<std::pair<std::size_t, std::size_t>> star_of(std::string_view pattern) {
  std::size_t before = 0, after = 0;
  bool seen = false;
  for (std::size_t i = 0; i < pattern.size();) {
    if (pattern[i] == ' ') {
      ++i;
    } else if (pattern[i] == '*') {
      if (seen) return std::nullopt;
      seen = true;
      ++i;
    } else if (syntax::is_word(pattern[i])) {
      while (i < pattern.size() && syntax::is_word(pattern[i])) ++i;
      ++(seen ? after : before);
    } else {
      return std::nullopt;
    }
  }
  return seen ? std::optional(std::pair(before, after)) : std::nullopt;
}

// pack(tensors, 'b * c'): what stands at the star is flattened and joined.
Value pack(Op& op) {
  const auto pattern = op.text("pattern");
  const auto star = pattern ? star_of(*pattern) : std::nullopt;
  const auto items = op.sequence("tensors");
  if (!star || !items || items->empty()) return op.run.heap().unseen("", op.call.place);
  const auto [before, after] = *star;
  Shape out{true, std::vector<Dim>(before + 1 + after)};
  Int total = op.s.constant(0);
  std::vector<Value> shapes;
  Dtype dtype = Dtype::unknown;
  bool first = true;
  for (const Value& item : *items) {
    const TensorState* state = op.tensor(item);
    if (!state || !state->shape.ndim_known) {
      total = nullptr;
      dtype = Dtype::unknown;
      shapes.push_back(op.run.heap().unknown("", values::Sharing::local, op.call.place));
      first = false;
      continue;
    }
    const auto& dims = state->shape.dims;
    if (dims.size() < before + after)
      return op.fail(
          ProblemKind::reshape, why<Reason::packed_dimensions>(*pattern, before + after, state->shape));
    const std::span<const Dim> middle(
        dims.begin() + static_cast<std::ptrdiff_t>(before), dims.size() - before - after);
    total = op.add(total, op.product(middle));
    std::vector<Value> sizes;
    sizes.reserve(middle.size());
    for (const Dim& d : middle)
      sizes.push_back(
          d.size ? Value::of(d.size) : op.run.heap().unknown("", values::Sharing::local, op.call.place));
    shapes.push_back(op.tuple(std::move(sizes)));
    for (std::size_t i = 0; i < out.dims.size(); ++i) {
      if (i == before) continue;
      const Dim given = i < before ? dims[i] : from_right(state->shape, out.dims.size() - 1 - i);
      if (op.equal(out.dims[i], given) == Answer::no)
        return op.fail(ProblemKind::concat, why<Reason::packed_sizes>(*pattern, out.dims[i], given),
            {out.dims[i], given});
      out.dims[i] = op.better(out.dims[i], given);
    }
    dtype = first ? state->dtype : dtype == state->dtype ? dtype : Dtype::unknown;
    first = false;
  }
  out.dims[before] = total ? op.made(total) : Dim{};
  return op.tuple({op.result(out, dtype), op.run.heap().list(std::move(shapes))});
}

// unpack(packed, shapes, 'b * c')
Value unpack(Op& op) {
  const TensorState* input = op.tensor("tensor");
  const auto pattern = op.text("pattern");
  const auto star = pattern ? star_of(*pattern) : std::nullopt;
  const auto shapes = op.sequence("packed_shapes");
  if (!star || !shapes) return op.run.heap().open_list(op.unknown());
  const auto [before, after] = *star;
  const Dtype dtype = input ? input->dtype : Dtype::unknown;
  if (input && input->shape.ndim_known && input->shape.dims.size() != before + 1 + after)
    return op.fail(
        ProblemKind::reshape, why<Reason::pattern_dimensions>(*pattern, before + 1 + after, input->shape));
  std::vector<Value> made;
  for (const Value& item : *shapes) {
    const Value one = op.run.resolve(item);
    // What is not known need not be one size.
    const bool listed = one.is(Kind::tuple) || one.is(Kind::list) || one.is(Kind::integer);
    const auto sizes = listed ? libraries::sizes(op.run, one, {}, op.call.place) : std::nullopt;
    if (!sizes || !input || !input->shape.ndim_known) {
      made.push_back(op.result({}, dtype));
      continue;
    }
    Shape out{
        true, {input->shape.dims.begin(), input->shape.dims.begin() + static_cast<std::ptrdiff_t>(before)}};
    for (const Int size : *sizes) out.dims.push_back(op.s.value(size) == -1 ? Dim{} : op.dim(size));
    out.dims.insert(out.dims.end(), input->shape.dims.end() - static_cast<std::ptrdiff_t>(after),
        input->shape.dims.end());
    made.push_back(op.result(out, dtype));
  }
  return op.run.heap().list(std::move(made));
}

// parse_shape(x, 'b c h w'): the sizes by name.
Value parse_shape(Op& op) {
  const TensorState* input = op.tensor("x");
  const auto pattern = op.text("pattern");
  std::optional<interpreter::Refusal> reason;
  std::string names = pattern ? std::string(*pattern) : std::string();
  // `_` may come more than once: nobody asks for it.
  std::size_t anonymous = 0;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == '_' && (i == 0 || !syntax::is_word(names[i - 1])) &&
        (i + 1 == names.size() || !syntax::is_word(names[i + 1])))
      names.insert(i + 1, "_" + std::to_string(anonymous++));
  const auto side = pattern ? read_side(names, names, reason) : std::nullopt;
  if (!side || side->ellipsis >= 0)
    return op.run.heap().dict({}, true, op.run.heap().unseen("", op.call.place));
  if (input && input->shape.ndim_known && input->shape.dims.size() != side->groups.size())
    return op.fail(
        ProblemKind::reshape, why<Reason::pattern_dimensions>(*pattern, side->groups.size(), input->shape));
  std::vector<std::pair<Value, Value>> items;
  for (std::size_t i = 0; i < side->groups.size(); ++i) {
    const Axis& axis = side->groups[i].axes.empty() ? Axis{Axis::What::ellipsis, {}, 0}
                                                    : side->groups[i].axes[0];
    if (axis.what != Axis::What::name || axis.name.starts_with("__")) continue;
    const Dim d = input ? from_right(input->shape, side->groups.size() - 1 - i) : Dim{};
    items.push_back({op.run.heap().string(axis.name),
        d.size
            ? Value::of(d.size)
            : op.run.heap().unknown(op.run.heap().keep(axis.name), values::Sharing::local, op.call.place)});
  }
  return op.run.heap().dict(std::move(items));
}

// ---------------------------------------------------------------- layers

void keep_lengths(Op& op) {
  std::vector<std::pair<Value, Value>> items;
  items.reserve(op.call.options.size());
  for (const auto& [name, value] : op.call.options)
    items.push_back({op.run.heap().string(name.text()), value});
  op.keep(values::ModuleState::lengths, op.run.heap().dict(std::move(items)));
}
Value transform_layer(Op& op, Action action, Value reduction = {}) {
  const Value kept = op.kept(values::ModuleState::lengths);
  if (!kept.is(Kind::dict)) return op.result({}, Dtype::unknown);  // one of several layers
  Lengths lengths;
  for (const auto& [name, value] : values::Heap::dict_state(kept)->items)
    if (name.is(Kind::string)) lengths.emplace_back(std::string(name.text()), value);
  return transform(op, op.kept("pattern"), lengths, action, reduction);
}
Value rearrange_layer(Op& op) { return transform_layer(op, Action::rearrange); }
Value reduce_layer(Op& op) { return transform_layer(op, Action::reduce, op.kept("reduction")); }

constexpr Operator einops_operators[] = {
    {"rearrange", "tensor, pattern, **axes_lengths", "einops.rearrange", rearrange, Type::own},
    {"reduce", "tensor, pattern, reduction, **axes_lengths", "einops.reduce", reduce, Type::own},
    {"repeat", "tensor, pattern, **axes_lengths", "einops.repeat", repeat, Type::own},
    {"einsum", "tensor, *tensors_and_pattern", "einops.einsum", einsum, Type::own},
    {"pack", "tensors, pattern", "einops.pack", pack, Type::own},
    {"unpack", "tensor, packed_shapes, pattern", "einops.unpack", unpack, Type::own},
    {"parse_shape", "x, pattern", "einops.parse_shape", parse_shape, Type::own},
};

constexpr Layer einops_layers[] = {
    {"einops.layers.torch.Rearrange", "pattern, **axes_lengths", keep_lengths, "input", rearrange_layer,
        Type::own, false},
    {"einops.layers.torch.Reduce", "pattern, reduction, **axes_lengths", keep_lengths, "input", reduce_layer,
        Type::own, false},
};

}  // namespace

std::vector<Row> einops_rows() { return rows_of(einops_layers, einops_operators); }

}  // namespace stepzero::libraries
