#include "libraries/torch/nn/class_losses.hpp"

#include "libraries/torch/meaning/contents.hpp"
#include "libraries/torch/nn/layer.hpp"
#include "libraries/torch/ops/operators.hpp"

namespace stepzero::libraries {

using symbolic::Answer;
using values::Dtype;
using values::Kind;
using values::ProblemKind;

namespace {

// Classes: input [C], [N, C] or [N, C, …]; the target lacks the dimension of the classes.
class ClassTargets {
public:
  ClassTargets(Op& call, const TensorState& scores, const TensorState& of_target)
      : op(call), input(scores), target(of_target), x(scores.shape), y(of_target.shape),
        axis(scores.shape.dims.size() == 1 ? 0 : 1) {}
  Value result(bool probabilities);

private:
  Value of_probabilities();
  bool is_refused_for_shape();
  bool is_refused_for_dtype();
  bool is_refused_for_weight();
  bool is_refused_for_numbers();
  bool has_classes_last() const;
  void warn_if_classes_are_last();
  bool refuse(ProblemKind kind, interpreter::Refusal refusal, std::initializer_list<Dim> because = {}) {
    op.fail(kind, std::move(refusal), because);
    return true;
  }
  // Another batch is a ValueError; any other difference a RuntimeError.
  void raise_for_shape() const {
    if (x.dims.size() < 2 || y.dims.empty()) return;
    const Answer same = op.equal(x.dims[0], y.dims[0]);
    op.raising(same == Answer::no ? "ValueError" : same == Answer::yes ? "RuntimeError" : "");
  }

  std::string moved() const { return x.dims.size() == 3 ? ".transpose(1, 2)" : ".movedim(-1, 1)"; }

  Op& op;
  const TensorState &input, &target;
  const Shape &x, &y;
  const std::size_t axis;  // of the classes
  Shape wanted = {};       // of indices of classes
};

Value ClassTargets::result(bool probabilities) {
  const Dtype dtype = input.dtype;
  // Indices of classes are integers, whatever the shapes.
  if (!probabilities && is_refused_for_dtype()) return op.unknown();
  if (!x.ndim_known || !y.ndim_known)
    return reduced(op, y.ndim_known && target.dtype == Dtype::int64 ? y : Shape{}, dtype);
  if (const Value smoothing = setting(op, "label_smoothing");
      smoothing.is(Kind::real) && (smoothing.real() < 0 || smoothing.real() > 1))
    return op.refuse_value("label_smoothing", 0, 1);
  if (x.dims.empty()) return op.refuse_shape(ProblemKind::loss_target, ShapeNeed::at_least(1), "input");
  wanted = x;
  wanted.dims.erase(wanted.dims.begin() + static_cast<std::ptrdiff_t>(axis));
  if (probabilities && y.dims.size() == x.dims.size()) return of_probabilities();
  if (is_refused_for_shape()) return op.unknown();
  warn_if_classes_are_last();
  if (is_refused_for_dtype()) return op.unknown();
  for (std::size_t i = 0; i < y.dims.size(); ++i) op.must_equal(wanted.dims[i], y.dims[i]);
  if (is_refused_for_weight() || is_refused_for_numbers()) return op.unknown();
  return reduced(op, better_shape(op, wanted, y), dtype);
}

// As many dimensions: not indices of classes, but the probability of each class.
Value ClassTargets::of_probabilities() {
  const std::size_t rank = x.dims.size();
  if (known_unequal(op, x, y)) {

    raise_for_shape();
    op.fail(ProblemKind::loss_target,
        rank == 2 && op.value(y.dims[1]) == 1
            ? why<Reason::target_column>(
                  op.taker(), op.name("input"), x, op.name("target"), y, Shape{true, {x.dims[0]}})
            : why<Reason::target_probabilities>(op.taker(), op.name("input"), x, op.name("target"), y));
    // Masks that came with a dimension for their one channel.
    bool is_mask = rank >= 2 && op.value(y.dims[1]) == 1;
    for (std::size_t i = 0; is_mask && i < rank; ++i)
      is_mask = i == 1 || op.equal(x.dims[i], y.dims[i]) == Answer::yes;
    if (is_mask)
      op.suggest_append("target", target.dtype == Dtype::int64 ? ".squeeze(1)" : ".squeeze(1).long()", false);
    return op.unknown();
  }
  if (certainly_equal(op, x, y) && target.dtype != Dtype::unknown && !values::is_floating(target.dtype))
    return op.fail(ProblemKind::dtype,
        why<Reason::probabilities_dtype>(op.name("target"), op.name("input"), x, target.dtype));
  return reduced(op, wanted, input.dtype);
}

// The classes stand last: a frequent mistake.
bool ClassTargets::has_classes_last() const {
  if (x.dims.size() < 3 || y.dims.size() != x.dims.size() - 1) return false;
  bool fits = true;
  for (std::size_t i = 0; i < y.dims.size(); ++i)
    fits = fits && op.equal(x.dims[i], y.dims[i]) == Answer::yes;
  return fits;
}

bool ClassTargets::is_refused_for_shape() {
  if (!known_unequal(op, wanted, y)) return false;
  const bool last = has_classes_last();
  raise_for_shape();
  op.fail(ProblemKind::loss_target,
      why<Reason::target_shape>(op.taker(), op.name("input"), x, axis, wanted, op.name("target"), y, last));
  if (last)
    op.suggest_append("input", moved(), false, "Move the classes to dimension 1: " + moved().substr(1));
  return true;
}

// All dimensions but the last agree as they stand: the classes seem to stand last, unless there are as many
// of them.
void ClassTargets::warn_if_classes_are_last() {
  if (!has_classes_last() || !x.dims.back().size || !y.dims.back().size) return;
  op.fail_when(op.s.compared(Compare::ne, x.dims.back().size, y.dims.back().size), ProblemKind::loss_target,
      why<Reason::target_shape>(op.taker(), op.name("input"), x, 1, wanted, op.name("target"), y, true));
  if (op.told()) op.suggest_append("input", moved(), false);
}

bool ClassTargets::is_refused_for_dtype() {
  if (target.dtype == Dtype::unknown || target.dtype == Dtype::int64 || target.dtype == Dtype::uint8)
    return false;
  op.raising("RuntimeError").refuse_dtype(DtypeNeed::int64_class, "target");
  op.suggest_append("target", ".long()", false);
  return true;
}

bool ClassTargets::is_refused_for_weight() {
  const TensorState* weight = op.tensor(setting(op, "weight"));
  if (!weight || !weight->shape.ndim_known || weight->shape.dims.size() != 1 ||
      op.equal(weight->shape.dims[0], x.dims[axis]) != Answer::no)
    return false;
  op.raising("RuntimeError");
  return refuse(ProblemKind::loss_target,
      why<Reason::class_weights>(op.taker(), weight->shape.dims[0], op.name("input"), x, x.dims[axis]));
}

bool ClassTargets::is_refused_for_numbers() {
  const Dim& count = x.dims[axis];
  const Value ignored = setting(op, "ignore_index");
  const auto except = ignored.is(Kind::integer) ? op.s.value(ignored.integer()) : std::nullopt;
  if (!count.size || !except) return false;

  if (const Int beyond = number_outside(op, op.argument("target"), op.s.constant(0), count.size, except)) {
    op.raising("IndexError");
    return refuse(ProblemKind::index,
        why<Reason::class_outside>(op.name("target"), op.dim(beyond), op.name("input"), x, count,
            op.dim(op.s.sub(count.size, op.s.constant(1)))),
        {count});
  }
  return refuses_drawn(op, op.argument("target"), count, [&](const Dim& greatest) {
    return why<Reason::class_may_be_outside>(op.name("target"), greatest, op.name("input"), x, count);
  });
}

Value classes(Op& op, bool probabilities) {
  const TensorState *input = op.expect("input"), *target = op.expect("target");
  if (!input || !target || !takes_floats(op, "input")) return op.unknown();
  return ClassTargets(op, *input, *target).result(probabilities);
}
}  // namespace

Value cross_entropy(Op& op) { return classes(op, true); }
Value negative_likelihood(Op& op) { return classes(op, false); }

// cross_entropy of linear(input, linear_weight): input [N, in], weight [classes, in], or [classes, d1…, in]
// with a target [N, d1…].
Value linear_cross_entropy(Op& op) {
  const TensorState *input = op.expect("input"), *target = op.expect("target");
  const bool module = op.call.self.is(Kind::instance);
  const TensorState* weight = module ? nullptr : op.expect("linear_weight");
  if (!input || !target || !takes_floats(op, "input")) return op.unknown();
  const Shape &x = input->shape, &y = target->shape;
  const auto refuse = [&](interpreter::Refusal refusal, std::initializer_list<Dim> because = {}) {
    return op.fail(ProblemKind::loss_target, std::move(refusal), because);
  };
  if (x.ndim_known && (x.dims.empty() || x.dims.size() > 2))
    return refuse(interpreter::WrongLayout{op.taker(), {"[in]", "[N, in]"}, op.name("input"), x});
  if (weight && weight->shape.ndim_known && weight->shape.dims.size() < 2)
    return refuse(
        interpreter::WrongLayout{op.taker(), {"[classes, in]"}, op.name("linear_weight"), weight->shape});
  if (weight && x.ndim_known && x.dims.size() == 1 && weight->shape.ndim_known &&
      weight->shape.dims.size() > 2)
    return refuse(why<Reason::input_of_wide_weight>(op.taker(), weight->shape, op.name("input"), x));
  if (setting(op, "ignore_index") && values::is_floating(target->dtype))
    return refuse(why<Reason::ignored_of_probabilities>(op.taker(), op.name("target")));
  const Dim width = module                    ? setting_dim(op, "in_features")
      : weight && !weight->shape.dims.empty() ? weight->shape.dims.back()
                                              : Dim{};
  if (x.ndim_known && op.equal(x.dims.back(), width) == Answer::no)
    return refuse(interpreter::WrongSize{op.taker(), "features", width, op.name("input"), x.dims.back(), x},
        {width, x.dims.back()});
  if (const auto smoothing = module ? setting(op, "label_smoothing") : op.argument("label_smoothing");
      smoothing.is(Kind::real) && (smoothing.real() < 0 || smoothing.real() > 1))
    return op.refuse_value("label_smoothing", 0, 1);
  const Dim classes = module                                                 ? setting_dim(op, "num_classes")
      : weight && weight->shape.ndim_known && weight->shape.dims.size() >= 2 ? weight->shape.dims.front()
                                                                             : Dim{};
  if (const TensorState* each = op.tensor(setting(op, "weight")); each && each->shape.ndim_known &&
      each->shape.dims.size() == 1 && op.equal(each->shape.dims[0], classes) == Answer::no)
    return refuse(why<Reason::class_count>(op.taker(), "weights", each->shape.dims[0], classes), {classes});
  if (x.ndim_known && y.ndim_known && x.dims.size() == 2 && !y.dims.empty() &&
      op.equal(x.dims[0], y.dims[0]) == Answer::no)
    return refuse(interpreter::ShapesApart{interpreter::ShapesApart::target_of_each, op.taker(),
                      {{op.name("input"), x}, {op.name("target"), y}}},
        {x.dims[0], y.dims[0]});
  if (const TensorState* bias = op.tensor("linear_bias"); bias && weight && bias->shape.ndim_known &&
      weight->shape.ndim_known && bias->shape.dims.size() == 1 &&
      op.equal(bias->shape.dims[0], classes) == Answer::no)
    return refuse(why<Reason::class_count>(op.taker(), "a bias", bias->shape.dims[0], classes), {classes});
  Shape each;
  if (is_integral(target->dtype))
    each = y;
  else if (target->dtype != Dtype::unknown && x.ndim_known && y.ndim_known && !y.dims.empty()) {
    each = y;  // a probability for each class: dimension 1, or the only one
    each.dims.erase(each.dims.begin() + (x.dims.size() == 1 ? 0 : y.dims.size() > 1 ? 1 : 0));
  }
  return reduced(op, each, input->dtype);
}

}  // namespace stepzero::libraries
