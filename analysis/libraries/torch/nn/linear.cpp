// Linear layers, embeddings, and layers that keep, cut or rearrange what they are given: flatten, shuffles,
// dropout, distances.
#include "libraries/torch/meaning/contents.hpp"
#include "libraries/torch/nn/layer.hpp"
#include "libraries/torch/ops/operators.hpp"
#include "values/kept.hpp"

#include <cmath>

#include <algorithm>

namespace stepzero::libraries {

namespace {

// ---------------------------------------------------------------- Linear

Value linear(Op& op) {
  const TensorState* input = op.expect("input");
  Dim in = setting_dim(op, "in_features"), out = setting_dim(op, "out_features");
  if (const TensorState* weight = op.tensor(op.kept("weight"));
      weight && weight->shape.ndim_known && weight->shape.dims.size() == 2) {
    // Another layer's weight may stand there: what it is decides.
    in = weight->shape.dims[1].size ? Dim{weight->shape.dims[1].size, in.origin, nullptr} : Dim{};
    out = weight->shape.dims[0].size ? Dim{weight->shape.dims[0].size, out.origin, nullptr} : Dim{};
  }
  if (!input) return op.unknown();
  if (input->shape.ndim_known && input->shape.dims.empty()) {
    auto* problem = op.run.problem(ProblemKind::ndim, op.call);
    problem->operands = {op.argument("input")};
    problem->states = {input};
    return op.unknown();
  }
  const Dim arrives = from_right(input->shape, 0);
  if (op.never_equal(arrives, in)) {
    auto* problem = op.run.problem(ProblemKind::layer_features, op.call, op.unless());
    problem->operands = {op.argument("input")};
    problem->states = {input};
    problem->left = arrives;
    problem->right = in;
  } else {
    if (!fits_weights(op, "input")) return op.unknown();
    // The layer accepts nothing else: from here on the input is known to fit.
    if (in.size) {
      const Dim taught[] = {known_dim(op.run, in.size, op.call.place, "input of the lazy layer")};
      op.learn_last("input", taught);
    }
    if (arrives.size && in.size) op.must_equal(arrives, in);
  }
  const Dim last[] = {out};
  return op.in_order(op.result(with_last(op.shape("input"), last)));
}
Value lazy_linear(Op& op) {
  if (!op.kept("in_features"))
    if (const Dim arrives = from_right(op.shape("input"), 0); arrives.size && !op.run.guarded())
      op.keep("in_features", Value::of(arrives.size));
  if (op.kept("in_features") && !op.kept("weight") && !op.run.guarded())
    hold_parameters_of(op, "torch.nn.Linear");
  return linear(op);
}

Value bilinear(Op& op) {
  const TensorState *a = op.expect("input1"), *b = op.expect("input2");
  if (!a || !b) return op.unknown();
  for (const auto& [name, feature] :
      {std::pair{"input1", "in1_features"}, std::pair{"input2", "in2_features"}}) {
    const Dim arrives = from_right(op.shape(name), 0), wanted = setting_dim(op, feature);
    if (op.never_equal(arrives, wanted))
      return op.fail(ProblemKind::layer_input,
          why<Reason::bilinear_features>(op.taker(), wanted, feature, op.name(name), arrives, op.shape(name)),
          {wanted, arrives});
  }
  if (a->shape.ndim_known && b->shape.ndim_known) {
    bool fits = a->shape.dims.size() == b->shape.dims.size();
    for (std::size_t i = 0; fits && i + 1 < a->shape.dims.size(); ++i)
      fits = op.equal(a->shape.dims[i], b->shape.dims[i]) != Answer::no;
    if (!fits)
      return op.fail(ProblemKind::layer_input,
          interpreter::ShapesApart{interpreter::ShapesApart::all_but_last, op.taker(),
              {{op.name("input1"), a->shape}, {op.name("input2"), b->shape}}});
  }
  const Dim last[] = {setting_dim(op, "out_features")};
  return op.result(with_last(a->shape, last));
}

Value identity(Op& op) {
  const Value given = op.call.at(0);
  return given ? given : op.unknown();
}

// ---------------------------------------------------------------- embeddings

void make_embedding(Op& op) {
  const Dim rows = setting_dim(op, "num_embeddings");
  const Value padding = op.argument("padding_idx");
  const auto at = padding ? op.run.to_constant(padding) : std::nullopt;
  if (!at || !rows.size) return;
  if (*at >= 0 ? op.s.compare(Compare::ge, op.s.constant(*at), rows.size) == Answer::yes
               : op.s.compare(Compare::gt, op.s.constant(-*at), rows.size) == Answer::yes)
    op.fail(ProblemKind::argument, why<Reason::padding_index>(*at, rows), {rows});
}

bool takes_indices(Op& op, std::string_view name) {
  const TensorState* input = op.tensor(name);
  if (!input || input->dtype == Dtype::unknown || input->dtype == Dtype::int64 ||
      input->dtype == Dtype::int32)
    return true;
  op.refuse_dtype(DtypeNeed::short_index, name);
  op.suggest_append(name, ".long()", true);
  return false;
}
Value embed(Op& op, std::string_view weight) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  // To be shown, indices that are asked for their second size are a batch of rows.
  if (op.run.policy().usual_ndim && !input->shape.ndim_known && input->first.size() == 2 &&
      input->shape.dims.size() <= 2) {
    constexpr std::string_view batch[] = {"", ""};
    input = take_usual(op, "input", batch);
  }
  if (!takes_indices(op, "input")) return op.unknown();
  Dim width = op.call.self.is(Kind::instance) ? setting_dim(op, "embedding_dim") : Dim{};
  Dtype dtype = op.call.self.is(Kind::instance) ? made_dtype(op) : Dtype::unknown;
  if (const TensorState* table = op.tensor(
          op.call.self.is(Kind::instance) ? op.kept(weight) : op.argument(weight))) {
    if (table->shape.ndim_known && table->shape.dims.size() != 2)
      return op.fail(ProblemKind::layer_input, why<Reason::embedding_weight>(op.name(weight), table->shape));
    if (const Dim of_table = from_right(table->shape, 0); of_table.size)
      width = {of_table.size, width.origin ? width.origin : of_table.origin, nullptr};
    else
      width = {};
    dtype = table->dtype;
  }
  Shape shape = op.shape("input");
  Dim rows = op.call.self.is(Kind::instance) ? setting_dim(op, "num_embeddings") : Dim{};
  if (const TensorState* table = op.tensor(
          op.call.self.is(Kind::instance) ? op.kept(weight) : op.argument(weight)))
    rows = from_right(table->shape, 1).size
        ? Dim{from_right(table->shape, 1).size,
              rows.origin ? rows.origin : from_right(table->shape, 1).origin, nullptr}
        : Dim{};
  if (const Int beyond = rows.size ? number_outside(op, op.argument("input"), op.s.constant(0), rows.size)
                                   : nullptr) {
    op.raising("IndexError")
        .fail(ProblemKind::index,
            interpreter::NoSuchEntry{op.taker(), rows, "rows", "index", op.name("input"), op.dim(beyond)},
            {rows});
    std::int64_t most = -1;
    for (const values::Number& number : elements_among(op, op.argument("input")))
      most = std::max(most, number.integer ? op.s.value(number.integer).value_or(-1) : -1);
    if (op.call.self.is(Kind::instance) && op.s.value(beyond).value_or(-1) >= 0)
      op.suggest_constructor("num_embeddings", op.dim(most + 1), false);
    return op.unknown();
  }
  if (refuses_drawn(op, op.argument("input"), rows, [&](const Dim& greatest) {
        return why<Reason::row_may_be_beyond>(op.taker(), rows, op.name("input"), greatest);
      }))
    return op.unknown();
  shape.dims.push_back(width);
  return op.result(shape, dtype);
}
Value embedding(Op& op) { return embed(op, "weight"); }

Value embedding_bag(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  const bool module = op.call.self.is(Kind::instance);
  const TensorState* second = module ? nullptr : op.tensor("weight");
  if (!module && (values::is_floating(input->dtype) || (second && is_integral(second->dtype)))) {
    // The old order of the function's arguments, weight first, is still taken.
    std::swap(op.call.arguments[0], op.call.arguments[1]);
    input = op.expect("input");
    if (!input) return op.unknown();
  }
  if (!takes_indices(op, "input")) return op.unknown();
  const TensorState* weight = module ? nullptr : op.tensor("weight");
  const Dim width = module ? setting_dim(op, "embedding_dim") : weight ? from_right(weight->shape, 0) : Dim{};
  const Dtype dtype = module ? made_dtype(op) : weight ? weight->dtype : Dtype::unknown;
  if (!input->shape.ndim_known) return op.result({true, {Dim{}, width}}, dtype);
  const std::size_t rank = input->shape.dims.size();
  if (rank != 1 && rank != 2)
    return op.refuse_shape(ProblemKind::layer_input, ShapeNeed::between(1, 2), "input");
  if (rank == 2) {
    if (op.argument("offsets"))
      return op.fail(
          ProblemKind::argument, why<Reason::offsets_given>(op.taker(), op.name("input"), input->shape));
    return op.result({true, {input->shape.dims[0], width}}, dtype);
  }
  if (!op.argument("offsets"))
    return op.fail(
        ProblemKind::argument, why<Reason::offsets_missing>(op.taker(), op.name("input"), input->shape));
  const Shape& offsets = op.shape("offsets");
  Dim bags = offsets.ndim_known && offsets.dims.size() == 1 ? offsets.dims[0] : Dim{};
  const Known last = setting_flag(op, "include_last_offset");
  if (last == Known::unknown)
    bags = {};
  else if (last == Known::yes && bags.size)
    bags = op.made(op.s.sub(bags.size, op.s.constant(1)));
  return op.result({true, {bags, width}}, dtype);
}

// Embedding.from_pretrained(table): a layer made of its rows.
Value from_pretrained(Call& call) {
  const std::string_view cls = call.row.path.substr(0, call.row.path.rfind('.'));
  Instance* module = call.run.make_native(cls, call.place);
  const auto keep = [&](std::string_view name, Value value) {
    call.run.heap().set(call.run.heap().slot_of(module->attributes, Name(name)), value);
  };
  const TensorState* table = require_tensor(call.run, call.at(0));
  if (table && table->shape.ndim_known && table->shape.dims.size() == 2) {
    for (const auto& [at, name] :
        {std::pair{std::size_t{0}, "num_embeddings"}, std::pair{std::size_t{1}, "embedding_dim"}})
      if (const Int size = table->shape.dims[at].size) keep(name, Value::of(size));
  }
  keep(values::ModuleState::dtype, Value::of(table ? table->dtype : Dtype::unknown));
  return Value::of(Kind::instance, module);
}

// ---------------------------------------------------------------- flatten and shuffles

Value flatten(Op& op) {
  op.expect("input");
  return call_operator(op.run, "torch.flatten",
      {op.argument("input"), op.kept("start_dim"), op.kept("end_dim")}, op.call.node, op.call.place);
}
Value unflatten(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  const Value dim = op.kept("dim");
  const auto at_given = dim.is(Kind::integer) ? op.run.to_constant(dim) : std::nullopt;
  const Value sizes_value = op.kept("unflattened_size");
  const auto sizes = sizes_value.is(Kind::tuple) || sizes_value.is(Kind::list)
      ? libraries::sizes(op.run, sizes_value, {}, op.call.place)
      : std::nullopt;
  if (!at_given || !sizes || !input->shape.ndim_known) return op.unknown();
  const auto at = op.axis(*at_given, input->shape.dims.size());
  if (!at) return op.unknown();
  const Dim whole = input->shape.dims[*at];
  Int known = op.s.constant(1);
  std::ptrdiff_t inferred = -1;
  for (std::size_t i = 0; i < sizes->size(); ++i) {
    if (op.s.value((*sizes)[i]) == -1)
      inferred = static_cast<std::ptrdiff_t>(i);
    else
      known = op.s.mul(known, (*sizes)[i]);
  }
  if (whole.size &&
      (inferred < 0 ? op.equal(whole, op.dim(known)) == Answer::no
                    : op.s.divides(known, whole.size) == Answer::no))
    return op.fail(ProblemKind::reshape,
        why<Reason::unflattened>(
            op.taker(), op.dim(known), inferred < 0, whole, op.name("input"), input->shape),
        {whole});
  Shape shape = input->shape;
  shape.dims.erase(shape.dims.begin() + static_cast<std::ptrdiff_t>(*at));
  for (std::size_t i = 0; i < sizes->size(); ++i) {
    Dim made = op.made((*sizes)[i]);
    if (static_cast<std::ptrdiff_t>(i) == inferred) {
      const auto rest = whole.size ? op.s.exact_quotient(whole.size, known) : std::nullopt;
      made = rest                                ? op.made(*rest)
          : whole.size && op.s.value(known) != 0 ? op.made(op.s.floordiv(whole.size, known))
                                                 : Dim{};
    }
    shape.dims.insert(shape.dims.begin() + static_cast<std::ptrdiff_t>(*at + i), made);
  }
  return op.result(shape);
}

// [*, C r², H, W] to [*, C, H r, W r] and back.
Value pixels(Op& op, std::string_view parameter, bool back) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  const Shape shape = input->shape;
  if (shape.ndim_known && shape.dims.size() < 3)
    return op.refuse_shape(ProblemKind::layer_input, ShapeNeed::at_least(3), "input");
  const Dim factor = setting_dim(op, parameter);
  Dim last[] = {from_right(shape, 2), from_right(shape, 1), from_right(shape, 0)};
  auto& s = op.s;
  const auto split = [&](Dim& dim, Int by, std::string_view what) {
    if (!dim.size) return true;
    if (s.divides(by, dim.size) == Answer::no) {
      op.fail(ProblemKind::layer_input,
          why<Reason::size_not_divisible>(op.taker(), what, op.dim(by), op.name("input"), shape), {dim});
      return false;
    }
    const auto exact = s.exact_quotient(dim.size, by);
    dim = op.made(exact ? *exact : s.floordiv(dim.size, by));
    return true;
  };
  if (!factor.size || s.compare(Compare::le, factor.size, s.constant(0)) == Answer::yes) {
    for (Dim& dim : last) dim = {};
  } else {
    const Int square = s.mul(factor.size, factor.size);
    if (back) {
      if (!split(last[1], factor.size, "a height") || !split(last[2], factor.size, "a width"))
        return op.unknown();
      if (last[0].size) last[0] = op.made(s.mul(last[0].size, square));
    } else {
      if (!split(last[0], square, "channels")) return op.unknown();
      for (std::size_t i : {1, 2})
        if (last[i].size) last[i] = op.made(s.mul(last[i].size, factor.size));
    }
  }
  return op.result(with_last(shape, last));
}
Value pixel_shuffle(Op& op) {
  return are_positive(op, {"upscale_factor"}) ? pixels(op, "upscale_factor", false) : op.unknown();
}
Value pixel_unshuffle(Op& op) {
  return are_positive(op, {"downscale_factor"}) ? pixels(op, "downscale_factor", true) : op.unknown();
}

Value channel_shuffle(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  const Shape& shape = input->shape;
  if (shape.ndim_known && shape.dims.size() < 3)
    return op.refuse_shape(ProblemKind::layer_input, ShapeNeed::at_least(3), "input");
  const Dim groups = setting_dim(op, "groups");
  if (const auto known = op.value(groups); known && *known > 0 && shape.ndim_known && shape.dims[1].size &&
      op.s.divides(groups.size, shape.dims[1].size) == Answer::no)
    return op.fail(ProblemKind::layer_input,
        interpreter::NotDivisible{{}, shape.dims[1], "channels", groups, "groups"}, {shape.dims[1]});
  return op.result(shape);
}

// ---------------------------------------------------------------- dropout, distances

void make_dropout(Op& op) {
  if (const auto p = op.real("p"); p && (*p < 0 || *p > 1)) op.refuse_value("p", 0, 1);
}
Value dropout(Op& op) {
  if (!op.call.self.is(Kind::instance)) make_dropout(op);
  return op.failed() ? op.unknown() : same(op);
}

Value cosine_similarity(Op& op) {
  const TensorState *a = op.expect("x1"), *b = op.expect("x2");
  if (!a || !b) return op.unknown();
  auto both = op.broadcast(a->shape, b->shape);
  if (!both) return op.unknown();
  const Value dim = setting(op, "dim");
  const auto at_given = dim.is(Kind::integer) ? op.run.to_constant(dim) : std::nullopt;
  if (!both->ndim_known || !at_given) return op.result({});
  const auto at = op.axis(*at_given, both->dims.size());
  if (!at) return op.unknown();
  if (!both->dims.empty()) both->dims.erase(both->dims.begin() + static_cast<std::ptrdiff_t>(*at));
  return op.result(*both);
}
Value pairwise_distance(Op& op) {
  const TensorState *a = op.expect("x1"), *b = op.expect("x2");
  if (!a || !b) return op.unknown();
  auto both = op.broadcast(a->shape, b->shape);
  if (!both) return op.unknown();
  const Known keeps = setting_flag(op, "keepdim");
  if (!both->ndim_known || both->dims.empty() || keeps == Known::unknown) return op.result({});
  if (keeps == Known::yes)
    both->dims.back() = op.dim(1);
  else
    both->dims.pop_back();
  return op.result(*both, real_part(op.result_type(Type::floating)));
}
// ---------------------------------------------------------------- rows

constexpr std::string_view table_made =
    "num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False, _weight=None, _freeze=False, device=None, dtype=None";
constexpr std::string_view bag_made =
    "num_embeddings, embedding_dim, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, mode='mean', sparse=False, _weight=None, "
    "include_last_offset=False, padding_idx=None, device=None, dtype=None";

constexpr Layer linear_layers[] = {
    {"torch.nn.Linear", "in_features, out_features, bias=True, device=None, dtype=None", nullptr, "input",
        linear},
    {"torch.nn.LazyLinear", "out_features, bias=True, device=None, dtype=None", nullptr, "input",
        lazy_linear},
    {"torch.nn.NonDynamicallyQuantizableLinear",
        "in_features, out_features, bias=True, device=None, dtype=None", nullptr, "input", linear},
    {"torch.nn.Bilinear", "in1_features, in2_features, out_features, bias=True, device=None, dtype=None",
        nullptr, "input1, input2", bilinear},
    // It takes anything, not tensors alone.
    {"torch.nn.Identity", "*arguments, **options", nullptr, "value", identity, Type::input, false},
    {"torch.nn.Embedding", table_made, make_embedding, "input", embedding, Type::own},
    {"torch.nn.EmbeddingBag", bag_made, nullptr, "input, offsets=None, per_sample_weights=None",
        embedding_bag, Type::own},
    {"torch.nn.Flatten", "start_dim=1, end_dim=-1", nullptr, "input", flatten, Type::input, false},
    {"torch.nn.Unflatten", "dim, unflattened_size", nullptr, "input", unflatten, Type::input, false},
    {"torch.nn.PixelShuffle", "upscale_factor", nullptr, "input", pixel_shuffle, Type::input, false},
    {"torch.nn.PixelUnshuffle", "downscale_factor", nullptr, "input", pixel_unshuffle, Type::input, false},
    {"torch.nn.ChannelShuffle", "groups", nullptr, "input", channel_shuffle, Type::input, false},
    {"torch.nn.Dropout", "p=0.5, inplace=False", make_dropout, "input", same, Type::input, false},
    {"torch.nn.Dropout1d", "p=0.5, inplace=False", make_dropout, "input", same, Type::input, false},
    {"torch.nn.Dropout2d", "p=0.5, inplace=False", make_dropout, "input", same, Type::input, false},
    {"torch.nn.Dropout3d", "p=0.5, inplace=False", make_dropout, "input", same, Type::input, false},
    {"torch.nn.AlphaDropout", "p=0.5, inplace=False", make_dropout, "input", same, Type::input, false},
    {"torch.nn.FeatureAlphaDropout", "p=0.5, inplace=False", make_dropout, "input", same, Type::input, false},
    {"torch.nn.CosineSimilarity", "dim=1, eps=1e-08", nullptr, "x1, x2", cosine_similarity, Type::floating,
        false},
    {"torch.nn.PairwiseDistance", "p=2.0, eps=1e-06, keepdim=False", nullptr, "x1, x2", pairwise_distance,
        Type::floating, false},
};

constexpr Operator linear_operators[] = {
    {"embedding",
        "input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False",
        "F", embedding, Type::own},
    {"embedding_bag",
        "input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, mode='mean', sparse=False, per_sample_weights=None, "
        "include_last_offset=False, padding_idx=None",
        "F", embedding_bag, Type::own},
    {"pixel_shuffle", "input, upscale_factor", "F torch", pixel_shuffle, Type::input},
    {"pixel_unshuffle", "input, downscale_factor", "F torch", pixel_unshuffle, Type::input},
    {"channel_shuffle", "input, groups", "F torch", channel_shuffle, Type::input},
    {"dropout", "input, p=0.5, training=True, inplace=False", "F F_", dropout, Type::input},
    {"dropout1d", "input, p=0.5, training=True, inplace=False", "F", dropout, Type::input},
    {"dropout2d", "input, p=0.5, training=True, inplace=False", "F", dropout, Type::input},
    {"dropout3d", "input, p=0.5, training=True, inplace=False", "F", dropout, Type::input},
    {"alpha_dropout", "input, p=0.5, training=False, inplace=False", "F", dropout, Type::input},
    {"feature_alpha_dropout", "input, p=0.5, training=False, inplace=False", "F", dropout, Type::input},
    {"dropout", "input, p, train", "torch", dropout, Type::input},
    {"cosine_similarity", "x1, x2, dim=1, eps=1e-08", "F torch", cosine_similarity, Type::floating},
    {"pairwise_distance", "x1, x2, p=2.0, eps=1e-06, keepdim=False", "F torch", pairwise_distance,
        Type::floating},
};

}  // namespace

std::vector<Row> linear_rows() {
  std::vector<Row> rows = rows_of(linear_layers, linear_operators);
  for (const std::string_view path :
      {"torch.nn.Embedding.from_pretrained", "torch.nn.EmbeddingBag.from_pretrained"})
    rows.push_back(
        row(path, RowKind::function, "embeddings, freeze=True, *more, **options", from_pretrained));
  return rows;
}

}  // namespace stepzero::libraries
