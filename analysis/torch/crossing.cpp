// A column of predictions [N, 1] that meets a row of targets [N]: their difference has N×N elements, and its mean is a loss that
// PyTorch computes without a word. Such a difference is marked where it is made and told where it becomes a loss.
#include "torch/op.hpp"

#include <algorithm>

namespace stepzero::torch {

namespace {

struct Mark : values::Object {
  const interpreter::CallSite* calls = nullptr;
  interpreter::ProblemEvent problem;
};

struct Named {
  std::string_view name;
  Crossing crossing;
};
constexpr Named names[] = {
    {"sub", Crossing::begins},       {"rsub", Crossing::begins},      {"abs", Crossing::keeps},        {"square", Crossing::keeps},
    {"pow", Crossing::keeps},        {"mul", Crossing::keeps},        {"mean", Crossing::ends},        {"sum", Crossing::ends},
    {"div", Crossing::keeps},        {"add", Crossing::keeps},        {"neg", Crossing::keeps},        {"clamp", Crossing::keeps},
    {"mse_loss", Crossing::loss},    {"l1_loss", Crossing::loss},     {"smooth_l1_loss", Crossing::loss}, {"huber_loss", Crossing::loss},
    {"MSELoss", Crossing::loss},     {"L1Loss", Crossing::loss},      {"SmoothL1Loss", Crossing::loss},   {"HuberLoss", Crossing::loss},
};

bool is_column_of(const Op& op, const TensorState& column, const TensorState& row) {
  const auto& a = column.shape;
  const auto& b = row.shape;
  if (!a.rank_known || !b.rank_known || a.dims.size() != 2 || b.dims.size() != 1 || op.value(a.dims[1]) != 1) return false;
  return op.equal(a.dims[0], b.dims[0]) == Answer::yes && op.value(b.dims[0]) != 1;
}

// A prediction: computed with what is trained.
bool is_trained(const TensorState& state) { return state.requires_grad == Known::yes; }

// The two operands as parameters, column first; nothing where they are none of the kind.
std::optional<std::pair<std::string_view, std::string_view>> crossed_operands(const Op& op) {
  const std::string_view first = op.call.row.parameters[0].text(), second = op.call.row.parameters[1].text();
  const TensorState *a = op.tensor(first), *b = op.tensor(second);
  if (!a || !b) return std::nullopt;
  if (is_column_of(op, *a, *b)) return std::pair{first, second};
  if (is_column_of(op, *b, *a)) return std::pair{second, first};
  return std::nullopt;
}

std::string crossing_text(const Op& op, std::string_view column, std::string_view row) {
  const Shape &a = op.shape(column), &b = op.shape(row);
  const std::string n = op.words(b.dims[0]);
  return op.name(column) + " is " + op.words(a) + " and " + op.name(row) + " is " + op.words(b) + ": together they are [" + n + ", " + n +
         "], so each element of one is compared with all of the other";
}

} // namespace

Crossing crossing_of(std::string_view operator_name) {
  const auto* found = std::find_if(std::begin(names), std::end(names), [&](const Named& known) { return known.name == operator_name; });
  return found == std::end(names) ? Crossing::none : found->crossing;
}

void watch_crossing(Op& op, Crossing crossing, Value made) {
  if (op.call.row.parameters.empty()) return;
  const auto mark = [&](const values::Object* crossed) {
    const TensorState* state = op.tensor(made);
    if (!state) return;
    TensorState changed = *state;
    changed.crossed = crossed;
    set_state(op.run, made, changed);
  };
  // What is computed from it with the same elements goes into the loss as well.
  const auto keep = [&] {
    for (std::size_t i = 0; i < 2 && i < op.call.row.parameters.size(); ++i)
      if (const TensorState* from = op.tensor(op.call.row.parameters[i].text()); from && from->crossed) return mark(from->crossed);
  };
  switch (crossing) {
  case Crossing::none: return;
  case Crossing::loss: {
    if (const auto operands = crossed_operands(op)) {
      const auto [column, row] = *operands;
      op.warn(ProblemKind::suspicious_broadcast, crossing_text(op, column, row), {op.shape(column).dims[0], op.shape(row).dims[0]});
      op.cure_append(column, ".squeeze(-1)", true, "Squeeze " + op.name(column) + " to " + op.words(op.shape(row)));
    }
    return;
  }
  case Crossing::begins: {
    const auto operands = crossed_operands(op);
    if (!operands) return keep();
    const auto [column, row] = *operands;
    const TensorState *a = op.tensor(column), *b = op.tensor(row);
    // A prediction and a target; two predictions, or none, are compared in pairs on purpose as often as not.
    if (is_trained(*a) == is_trained(*b)) return;
    auto* kept = op.run.heap().make<Mark>();
    kept->problem.text = crossing_text(op, column, row);
    kept->problem.place = op.call.place;
    kept->problem.calls = op.run.site();
    kept->problem.row = &op.call.row;
    kept->problem.expr = op.call.expr;
    kept->problem.node = op.call.node;
    if (const syntax::Expr* expr = op.expression(column))
      kept->problem.cures.push_back({interpreter::Cure::How::append, column, expr, ".squeeze(-1)", "Squeeze " + op.name(column) + " to " + op.words(b->shape), true});
    for (const Dim& d : {a->shape.dims[0], b->shape.dims[0]})
      if (d.origin && d.origin->place) kept->problem.evidence.emplace_back(d.origin->place, op.words(d) + " comes from here");
    mark(kept);
    return;
  }
  case Crossing::keeps: return keep();
  case Crossing::ends: {
    const TensorState *from = op.tensor(op.call.row.parameters[0].text()), *to = op.tensor(made);
    if (!from || !from->crossed || !to || !to->shape.rank_known || !to->shape.dims.empty()) return;
    op.suspect(static_cast<const Mark*>(from->crossed)->problem);
    return;
  }
  }
}

} // namespace stepzero::torch
