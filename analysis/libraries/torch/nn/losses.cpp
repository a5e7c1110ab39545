// Losses: modules and functions. Their targets are checked; a reduction makes a single number of them. Those
// whose targets are classes are in class_losses.
#include "libraries/torch/meaning/contents.hpp"
#include "libraries/torch/nn/class_losses.hpp"
#include "libraries/torch/nn/layer.hpp"
#include "libraries/torch/ops/operators.hpp"

namespace stepzero::libraries {

using symbolic::Answer;
using values::Dtype;
using values::Kind;
using values::ProblemKind;

Value reduced(Op& op, const Shape& each, Dtype dtype) {
  // Distances of complex numbers are real; which other losses are, is left open.
  if (op.title() == "l1_loss" || op.title() == "L1Loss" || op.title().starts_with("triplet") ||
      op.title().starts_with("Triplet"))
    dtype = real_part(dtype);
  if (is_complex(dtype)) dtype = Dtype::unknown;
  const Value reduction = setting(op, "reduction");
  // The old way to say it.
  if (const Value averages = setting(op, "size_average"), reduces = setting(op, "reduce");
      averages || reduces) {
    const auto is_on = [&](Value given) {
      const Value said = op.run.resolve(given);
      return !said || said.is(Kind::none) ? Answer::yes : op.s.decide(op.run.truth(said));
    };
    if (is_on(reduces) == Answer::no) return op.result(each, dtype);
    return op.result(is_on(reduces) == Answer::yes ? Shape{true, {}} : Shape{}, dtype);
  }
  if (!reduction.is(Kind::string)) return op.result({}, dtype);
  if (reduction.text() == "mean" || reduction.text() == "sum" || reduction.text() == "batchmean")
    return op.result({true, {}}, dtype);
  if (reduction.text() == "none") return op.result(each, dtype);
  return op.raising("ValueError").refuse_option("reduction", {"mean", "sum", "none"}, reduction.text());
}

bool known_unequal(Op& op, const Shape& a, const Shape& b) {
  if (!a.ndim_known || !b.ndim_known) return false;
  if (a.dims.size() != b.dims.size()) return true;
  for (std::size_t i = 0; i < a.dims.size(); ++i)
    if (op.never_equal(a.dims[i], b.dims[i])) return true;
  return false;
}
// Is `a` the shape of `b` with one dimension of size 1 more, the last one?
static bool is_column_of(Op& op, const Shape& a, const Shape& b) {
  if (!a.ndim_known || !b.ndim_known || a.dims.size() != b.dims.size() + 1 || op.value(a.dims.back()) != 1)
    return false;
  for (std::size_t i = 0; i < b.dims.size(); ++i)
    if (op.equal(a.dims[i], b.dims[i]) != Answer::yes) return false;
  return true;
}
bool certainly_equal(Op& op, const Shape& a, const Shape& b) {
  if (!a.ndim_known || !b.ndim_known || a.dims.size() != b.dims.size()) return false;
  for (std::size_t i = 0; i < a.dims.size(); ++i)
    if (op.equal(a.dims[i], b.dims[i]) != Answer::yes) return false;
  return true;
}
// Where both are known and one is not, the other is it.
Shape better_shape(Op& op, const Shape& a, const Shape& b) {
  if (!a.ndim_known) return b.ndim_known ? b : a;
  if (!b.ndim_known || a.dims.size() != b.dims.size()) return a;
  Shape made = a;
  for (std::size_t i = 0; i < made.dims.size(); ++i) made.dims[i] = op.better(a.dims[i], b.dims[i]);
  return made;
}

namespace {

// Element by element: MSE and its like. Input and target broadcast.
Value elementwise(Op& op) {
  const TensorState *input = op.expect("input"), *target = op.expect("target");
  if (!input || !target) return op.unknown();
  const auto both = op.broadcast(input->shape, target->shape);
  if (!both) return op.unknown();
  return reduced(op, *both, op.result_type(op.call.row.op->type));
}
// The same for those that want input and target of one shape.
Value same_shapes(Op& op) {
  const TensorState *input = op.expect("input"), *target = op.expect("target");
  if (!input || !target) return op.unknown();
  if (known_unequal(op, input->shape, target->shape)) {
    op.raising("ValueError")
        .fail(ProblemKind::loss_target,
            interpreter::ShapesApart{interpreter::ShapesApart::like_target, op.taker(),
                {{op.name("input"), input->shape}, {op.name("target"), target->shape}}});
    if (is_column_of(op, input->shape, target->shape))
      op.suggest_append("target", ".unsqueeze(-1)", false);
    else if (is_column_of(op, target->shape, input->shape))
      op.suggest_append("target", ".squeeze(-1)", false);
    return op.unknown();
  }
  if (input->shape.ndim_known && target->shape.ndim_known)
    for (std::size_t i = 0; i < input->shape.dims.size(); ++i)
      if (op.equal(input->shape.dims[i], target->shape.dims[i]) == Answer::unknown)
        op.run.note_fit(input->shape.dims[i].size, target->shape.dims[i].size, false, op.call.place);
  return reduced(op, better_shape(op, input->shape, target->shape), op.result_type(op.call.row.op->type));
}
Value binary_cross_entropy(Op& op) {
  const TensorState *input = op.expect("input"), *target = op.expect("target");
  if (!input || !target) return op.unknown();
  if (!takes_floats(op, "input") || !takes_floats(op, "target")) return op.unknown();
  // No type is converted here.
  if (input->dtype != target->dtype && values::is_floating(input->dtype) &&
      values::is_floating(target->dtype) && !in_autocast(op)) {
    op.refuse_dtypes("input", "target");
    if (input->dtype == Dtype::float32) op.suggest_append("target", ".float()", true);
    return op.unknown();
  }
  return same_shapes(op);
}

Value binary_cross_entropy_with_logits(Op& op) {
  const TensorState *input = op.expect("input"), *target = op.expect("target");
  if (!input || !target) return op.unknown();
  if (!takes_floats(op, "target")) return op.unknown();
  return same_shapes(op);
}

// AdaptiveLogSoftmaxWithLoss: the log probability of each target, and the loss.
Value adaptive_softmax(Op& op) {
  const TensorState *input = op.expect("input"), *target = op.expect("target");
  if (!input || !target || !takes_floats(op, "input")) return op.unknown();
  const Shape &x = input->shape, &y = target->shape;
  const Dim width = setting_dim(op, "in_features");
  if (x.ndim_known && (x.dims.empty() || x.dims.size() > 2))
    return op.fail(ProblemKind::layer_input,
        interpreter::WrongLayout{op.taker(), {"[N, in]", "[in]"}, op.name("input"), x});
  if (x.ndim_known && op.never_equal(x.dims.back(), width))
    return op.fail(ProblemKind::layer_input,
        interpreter::WrongSize{op.taker(), "features", width, op.name("input"), x.dims.back(), x},
        {width, x.dims.back()});
  if (x.ndim_known && y.ndim_known &&
      (y.dims.size() + 1 != x.dims.size() || (y.dims.size() == 1 && op.never_equal(y.dims[0], x.dims[0]))))
    return op.fail(ProblemKind::loss_target,
        interpreter::ShapesApart{interpreter::ShapesApart::class_of_each, op.taker(),
            {{op.name("input"), x}, {op.name("target"), y}}});
  const Dim classes = setting_dim(op, "n_classes");
  if (const Int beyond =
          classes.size ? number_outside(op, op.argument("target"), op.s.constant(0), classes.size) : nullptr)
    return op.fail(ProblemKind::index,
        interpreter::NoSuchEntry{op.taker(), classes, "classes", "class", op.name("target"), op.dim(beyond)},
        {classes});
  constexpr static std::string_view fields[] = {"output", "loss"};
  return op.named_tuple({op.result(y, input->dtype), op.result({true, {}}, input->dtype)}, fields);
}

// One number for each of the batch: input [N, C], target [N] or [N, C].
Value by_sample(Op& op) {
  const TensorState *input = op.expect("input"), *target = op.expect("target");
  if (!input || !target) return op.unknown();
  Shape each;
  if (input->shape.ndim_known && (input->shape.dims.size() == 1 || input->shape.dims.size() == 2)) {
    each = input->shape;
    each.dims.pop_back();
    if (op.title() == "multi_margin_loss" || op.title() == "MultiMarginLoss") {
      const Dim& classes = input->shape.dims.back();
      if (const Value p = setting(op, "p"); p.is(Kind::integer) && op.s.value(p.integer()).value_or(1) != 1 &&
          op.s.value(p.integer()).value_or(1) != 2)
        return op.fail(ProblemKind::argument, why<Reason::loss_exponent>(op.taker()));
      if (const TensorState* weight = op.tensor(setting(op, "weight")); weight && weight->shape.ndim_known &&
          (weight->shape.dims.size() != 1 || op.equal(weight->shape.dims[0], classes) == Answer::no))
        return op.fail(
            ProblemKind::loss_target, why<Reason::loss_weight>(op.taker(), classes, weight->shape));
      if (input->shape.dims.size() == 2 && target->shape.ndim_known &&
          (target->shape.dims.size() != 1 || op.never_equal(target->shape.dims[0], each.dims[0])))
        return op.fail(ProblemKind::loss_target,
            interpreter::ShapesApart{interpreter::ShapesApart::class_of_each, op.taker(),
                {{op.name("input"), input->shape}, {op.name("target"), target->shape}}});
    } else if (known_unequal(op, input->shape, target->shape)) {
      // Labels for each class.
      return op.fail(ProblemKind::loss_target,
          interpreter::ShapesApart{interpreter::ShapesApart::like_target, op.taker(),
              {{op.name("input"), input->shape}, {op.name("target"), target->shape}}});
    }
  }
  return reduced(op, each, input->dtype);
}

Value ctc(Op& op) {
  const TensorState* input = op.expect("log_probs");
  if (!input) return op.unknown();
  Shape each;
  if (input->shape.ndim_known) {
    if (input->shape.dims.size() == 3)
      each = {true, {input->shape.dims[1]}};
    else if (input->shape.dims.size() == 2)
      each = {true, {}};
    else
      return op.fail(ProblemKind::loss_target,
          interpreter::WrongLayout{op.taker(), {"[T, N, C]", "[T, C]"}, op.name("log_probs"), input->shape});
    if (const TensorState* lengths = op.tensor("input_lengths"); lengths && input->shape.dims.size() == 3 &&
        lengths->shape.ndim_known && lengths->shape.dims.size() == 1 &&
        op.equal(lengths->shape.dims[0], input->shape.dims[1]) == Answer::no)
      return op.fail(ProblemKind::loss_target,
          interpreter::NotOneEach{op.taker(), "a length", input->shape.dims[1], "sequences",
              {op.name("log_probs"), input->shape}, op.name("input_lengths"), lengths->shape.dims[0]});
    if (const TensorState* lengths = op.tensor("target_lengths"); lengths && input->shape.dims.size() == 3 &&
        lengths->shape.ndim_known && lengths->shape.dims.size() == 1 &&
        op.equal(lengths->shape.dims[0], input->shape.dims[1]) == Answer::no)
      return op.fail(ProblemKind::loss_target,
          interpreter::NotOneEach{op.taker(), "the length of a target", input->shape.dims[1], "sequences",
              {op.name("log_probs"), input->shape}, op.name("target_lengths"), lengths->shape.dims[0]});
  }
  return reduced(op, each, input->dtype);
}

// A setting that has to be above 0. False after fail().
bool positive(Op& op, std::string_view name) {
  const Value value = setting(op, name);
  const bool wrong = (value.is(Kind::real) && value.real() <= 0) ||
      (value.is(Kind::integer) &&
          op.s.compare(Compare::le, value.integer(), op.s.constant(0)) == Answer::yes);
  if (wrong) op.refuse_value(name, 0, {}, {}, true);
  return !wrong;
}
Value huber(Op& op) { return positive(op, "delta") ? elementwise(op) : op.unknown(); }

// Distances of vectors: the last dimension goes.
Value triplet(Op& op) {
  const TensorState *anchor = op.expect("anchor"), *near = op.expect("positive"),
                    *far = op.expect("negative");
  if (!anchor || !near || !far || !positive(op, "margin")) return op.unknown();
  if (anchor->shape.ndim_known && near->shape.ndim_known && far->shape.ndim_known &&
      (anchor->shape.dims.size() != near->shape.dims.size() ||
          anchor->shape.dims.size() != far->shape.dims.size()))
    return op.fail(ProblemKind::loss_target,
        interpreter::ShapesApart{interpreter::ShapesApart::dimensions, op.taker(),
            {{op.name("anchor"), anchor->shape}, {op.name("positive"), near->shape},
                {op.name("negative"), far->shape}}});
  auto both = op.broadcast(anchor->shape, near->shape);
  if (both) both = op.broadcast(*both, far->shape);
  if (!both) return op.unknown();
  if (both->ndim_known && !both->dims.empty())
    both->dims.pop_back();
  else
    *both = {};
  return reduced(op, *both, op.result_type(Type::floating));
}
Value ranking(Op& op) {
  const TensorState *a = op.expect("input1"), *b = op.expect("input2"), *target = op.expect("target");
  if (!a || !b || !target) return op.unknown();
  if (a->shape.ndim_known && b->shape.ndim_known && target->shape.ndim_known &&
      (a->shape.dims.size() != b->shape.dims.size() || a->shape.dims.size() != target->shape.dims.size()))
    return op.fail(ProblemKind::loss_target,
        interpreter::ShapesApart{interpreter::ShapesApart::dimensions, op.taker(),
            {{op.name("input1"), a->shape}, {op.name("input2"), b->shape},
                {op.name("target"), target->shape}}});
  auto both = op.broadcast(a->shape, b->shape);
  if (both) both = op.broadcast(*both, target->shape);
  return both ? reduced(op, *both, op.result_type(Type::promote)) : op.unknown();
}
Value cosine(Op& op) {
  const TensorState *a = op.expect("input1"), *b = op.expect("input2"), *target = op.expect("target");
  if (!a || !b || !target) return op.unknown();
  if (a->shape.ndim_known && b->shape.ndim_known && target->shape.ndim_known) {
    const std::size_t rank = target->shape.dims.size();
    if (rank <= 1 && (a->shape.dims.size() != rank + 1 || b->shape.dims.size() != rank + 1))
      return op.fail(ProblemKind::loss_target,
          interpreter::ShapesApart{interpreter::ShapesApart::one_more, op.taker(),
              {{op.name("input1"), a->shape}, {op.name("input2"), b->shape},
                  {op.name("target"), target->shape}}});
    const auto both = op.broadcast(a->shape, b->shape);
    if (!both) return op.unknown();
    if (rank == 1 && op.equal(both->dims[0], target->shape.dims[0]) == Answer::no &&
        op.equal(both->dims[0], 1) == Answer::no && op.equal(target->shape.dims[0], 1) == Answer::no)
      return op.fail(ProblemKind::loss_target,
          interpreter::ShapesApart{interpreter::ShapesApart::target_of_each, op.taker(),
              {{op.name("input1"), a->shape}, {op.name("input2"), b->shape},
                  {op.name("target"), target->shape}}},
          {both->dims[0], target->shape.dims[0]});
    if (const auto each = rank == 1 ? op.broadcast(target->shape, {true, {both->dims[0]}}) : std::nullopt)
      return reduced(op, *each, op.result_type(Type::floating));
  }
  return reduced(op, target->shape, op.result_type(Type::floating));
}
Value gaussian(Op& op) {
  const TensorState *input = op.expect("input"), *target = op.expect("target");
  if (!input || !target) return op.unknown();
  const auto both = op.broadcast(input->shape, target->shape);
  // One variance for each element, or for each row.
  if (const TensorState* var = op.tensor("var");
      both && var && var->shape.ndim_known && input->shape.ndim_known && !var->shape.dims.empty()) {
    const std::size_t rank = var->shape.dims.size();
    const bool rows = rank + 1 == input->shape.dims.size() ||
        (rank == input->shape.dims.size() && op.equal(var->shape.dims.back(), 1) != Answer::no);
    bool broadcasts = rank <= input->shape.dims.size();
    for (std::size_t i = 0; broadcasts && i < rank; ++i)
      broadcasts = op.equal(from_right(var->shape, i), 1) != Answer::no ||
          op.equal(from_right(var->shape, i), from_right(input->shape, i)) != Answer::no;
    if (!rows && !broadcasts)
      return op.fail(ProblemKind::loss_target,
          interpreter::ShapesApart{interpreter::ShapesApart::variance_of_each, op.taker(),
              {{op.name("input"), input->shape}, {op.name("var"), var->shape}}});
  }
  return both ? reduced(op, *both, op.result_type(Type::promote)) : op.unknown();
}

// ---------------------------------------------------------------- rows

constexpr std::string_view plain_loss = "size_average=None, reduce=None, reduction='mean'";
constexpr std::string_view weighted = "weight=None, size_average=None, reduce=None, reduction='mean'";
constexpr std::string_view both = "input, target";

constexpr Layer loss_layers[] = {
    {"torch.nn.MSELoss", plain_loss, nullptr, both, elementwise, Type::promote, false},
    {"torch.nn.L1Loss", plain_loss, nullptr, both, elementwise, Type::promote, false},
    {"torch.nn.SmoothL1Loss", "size_average=None, reduce=None, reduction='mean', beta=1.0", nullptr, both,
        elementwise, Type::promote, false},
    {"torch.nn.HuberLoss", "reduction='mean', delta=1.0", nullptr, both, huber, Type::promote, false},
    {"torch.nn.KLDivLoss", "size_average=None, reduce=None, reduction='mean', log_target=False", nullptr,
        both, elementwise, Type::promote, false},
    {"torch.nn.SoftMarginLoss", plain_loss, nullptr, both, elementwise, Type::promote, false},
    {"torch.nn.HingeEmbeddingLoss", "margin=1.0, size_average=None, reduce=None, reduction='mean'", nullptr,
        both, elementwise, Type::promote, false},
    {"torch.nn.PoissonNLLLoss",
        "log_input=True, full=False, size_average=None, eps=1e-08, reduce=None, reduction='mean'", nullptr,
        both, elementwise, Type::floating, false},
    {"torch.nn.GaussianNLLLoss", "*, full=False, eps=1e-06, reduction='mean'", nullptr, "input, target, var",
        gaussian, Type::promote, false},
    {"torch.nn.BCELoss", weighted, nullptr, both, binary_cross_entropy, Type::input, false},
    {"torch.nn.BCEWithLogitsLoss",
        "weight=None, size_average=None, reduce=None, reduction='mean', pos_weight=None", nullptr, both,
        binary_cross_entropy_with_logits, Type::promote, false},
    {"torch.nn.CrossEntropyLoss",
        "weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean', label_smoothing=0.0",
        nullptr, both, cross_entropy, Type::input, false},
    {"torch.nn.LinearCrossEntropyLoss",
        "in_features, num_classes, *, out_features=None, bias=False, device=None, dtype=None, reduction='mean', weight=None, ignore_index=None, label_smoothing=0.0, options=None",
        nullptr, both, linear_cross_entropy, Type::input},
    {"torch.nn.AdaptiveLogSoftmaxWithLoss",
        "in_features, n_classes, cutoffs, div_value=4.0, head_bias=False, device=None, dtype=None", nullptr,
        both, adaptive_softmax, Type::input},
    {"torch.nn.NLLLoss", "weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean'",
        nullptr, both, negative_likelihood, Type::input, false},
    {"torch.nn.NLLLoss2d", "weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean'",
        nullptr, both, negative_likelihood, Type::input, false},
    {"torch.nn.MultiMarginLoss",
        "p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction='mean'", nullptr, both,
        by_sample, Type::input, false},
    {"torch.nn.MultiLabelMarginLoss", plain_loss, nullptr, both, by_sample, Type::input, false},
    {"torch.nn.MultiLabelSoftMarginLoss", weighted, nullptr, both, by_sample, Type::input, false},
    {"torch.nn.CTCLoss", "blank=0, reduction='mean', zero_infinity=False", nullptr,
        "log_probs, targets, input_lengths, target_lengths", ctc, Type::input, false},
    {"torch.nn.TripletMarginLoss",
        "margin=1.0, p=2.0, eps=1e-06, swap=False, size_average=None, reduce=None, reduction='mean'", nullptr,
        "anchor, positive, negative", triplet, Type::floating, false},
    {"torch.nn.TripletMarginWithDistanceLoss",
        "*, distance_function=None, margin=1.0, swap=False, reduction='mean'", nullptr,
        "anchor, positive, negative", triplet, Type::floating, false},
    {"torch.nn.MarginRankingLoss", "margin=0.0, size_average=None, reduce=None, reduction='mean'", nullptr,
        "input1, input2, target", ranking, Type::promote, false},
    {"torch.nn.CosineEmbeddingLoss", "margin=0.0, size_average=None, reduce=None, reduction='mean'", nullptr,
        "input1, input2, target", cosine, Type::floating, false},
};

constexpr std::string_view plain_F = "input, target, size_average=None, reduce=None, reduction='mean'";
constexpr Operator loss_operators[] = {
    {"mse_loss", plain_F, "F", elementwise, Type::promote},
    {"l1_loss", plain_F, "F", elementwise, Type::promote},
    {"smooth_l1_loss", "input, target, size_average=None, reduce=None, reduction='mean', beta=1.0", "F",
        elementwise, Type::promote},
    {"huber_loss", "input, target, reduction='mean', delta=1.0", "F", huber, Type::promote},
    {"kl_div", "input, target, size_average=None, reduce=None, reduction='mean', log_target=False", "F",
        elementwise, Type::promote},
    {"soft_margin_loss", plain_F, "F", elementwise, Type::promote},
    {"hinge_embedding_loss", "input, target, margin=1.0, size_average=None, reduce=None, reduction='mean'",
        "F", elementwise, Type::promote},
    {"poisson_nll_loss",
        "input, target, log_input=True, full=False, size_average=None, eps=1e-08, reduce=None, reduction='mean'",
        "F", elementwise, Type::floating},
    {"gaussian_nll_loss", "input, target, var, full=False, eps=1e-06, reduction='mean'", "F", gaussian,
        Type::promote},
    {"binary_cross_entropy", "input, target, weight=None, size_average=None, reduce=None, reduction='mean'",
        "F", binary_cross_entropy, Type::input},
    {"binary_cross_entropy_with_logits",
        "input, target, weight=None, size_average=None, reduce=None, reduction='mean', pos_weight=None", "F",
        binary_cross_entropy_with_logits, Type::promote},
    {"cross_entropy",
        "input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean', label_smoothing=0.0",
        "F", cross_entropy, Type::input},
    {"linear_cross_entropy",
        "input, linear_weight, target, *, linear_bias=None, weight=None, reduction='mean', ignore_index=None, label_smoothing=0.0, options=None",
        "F", linear_cross_entropy, Type::input},
    {"nll_loss",
        "input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean'",
        "F", negative_likelihood, Type::input},
    {"multi_margin_loss",
        "input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction='mean'", "F",
        by_sample, Type::input},
    {"multilabel_margin_loss", plain_F, "F", by_sample, Type::input},
    {"multilabel_soft_margin_loss",
        "input, target, weight=None, size_average=None, reduce=None, reduction='mean'", "F", by_sample,
        Type::input},
    {"ctc_loss",
        "log_probs, targets, input_lengths, target_lengths, blank=0, reduction='mean', zero_infinity=False",
        "F", ctc, Type::input},
    {"triplet_margin_loss",
        "anchor, positive, negative, margin=1.0, p=2.0, eps=1e-06, swap=False, size_average=None, reduce=None, reduction='mean'",
        "F", triplet, Type::floating},
    {"triplet_margin_with_distance_loss",
        "anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction='mean'",
        "F", triplet, Type::floating},
    {"margin_ranking_loss",
        "input1, input2, target, margin=0.0, size_average=None, reduce=None, reduction='mean'", "F", ranking,
        Type::promote},
    {"cosine_embedding_loss",
        "input1, input2, target, margin=0.0, size_average=None, reduce=None, reduction='mean'", "F", cosine,
        Type::floating},
};

// PyTorch's own losses number the reductions.
Value number_of_reduction(Call& call) {
  const Value reduction = call.run.resolve(call.at(0));
  if (reduction.is(Kind::string))
    for (const auto& [name, number] :
        {std::pair<std::string_view, int>{"none", 0}, {"mean", 1}, {"elementwise_mean", 1}, {"sum", 2}})
      if (reduction.text() == name) return call.run.heap().integer(number);
  return call.run.heap().unknown("", Sharing::uniform, call.place);
}

}  // namespace

std::vector<Row> loss_rows() {
  std::vector<Row> rows = rows_of_layers(loss_layers);
  for (const std::string_view path :
      {"torch.nn.functional._Reduction.get_enum", "torch.nn._reduction.get_enum"})
    rows.push_back(libraries::row(path, RowKind::function, "reduction", number_of_reduction));
  for (Row& row : operator_rows(loss_operators)) rows.push_back(std::move(row));
  return rows;
}

}  // namespace stepzero::libraries
