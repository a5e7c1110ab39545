// A column of predictions [N, 1] that meets a row of targets [N]: their difference has N×N elements, and its
// mean is a loss that PyTorch computes without a word. Such a difference is marked where it is made and told
// where it becomes a loss.
#include "interpreter/record.hpp"
#include "libraries/table/op.hpp"
#include "libraries/torch/meaning/op_semantics.hpp"
#include "syntax/text.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <ranges>

namespace stepzero::libraries {

namespace {

struct Mark : values::Object {
  const interpreter::CallSite* calls = nullptr;
  interpreter::ProblemEvent problem;
  bool if_trained = false;  // told only where what is trained meets it later
};

// A size of 1 meets another in one dimension, and the other way round in another, and both others are equal:
// [N, 1] and [N], or [N, 1, H, W] and [N, H, W]. `wide` is the one with more dimensions.
bool is_crossing(const Op& op, const TensorState& wide, const TensorState& other) {
  const auto& a = wide.shape;
  const auto& b = other.shape;
  if (!a.ndim_known || !b.ndim_known || a.dims.size() != b.dims.size() + 1 || b.dims.empty()) return false;
  const auto is_one = [&](const Dim& d) { return op.value(d) == 1; };
  // The first of the wider one is repeated for the first of the other, where the wider one has a 1.
  if (is_one(a.dims[0]) || !is_one(a.dims[1]) || is_one(b.dims[0]) ||
      op.equal(a.dims[0], b.dims[0]) != Answer::yes)
    return false;
  for (std::size_t i = 1; i < b.dims.size(); ++i)
    if (op.equal(a.dims[i + 1], b.dims[i]) != Answer::yes) return false;
  return true;
}

bool is_trained(const TensorState& state) { return state.requires_grad == Known::yes; }

const TensorState* given_to(const TensorState& state) {
  return state.made && !state.made->states.empty() ? state.made->states[0] : nullptr;
}
bool only_arranges(OpSemantics semantics) {
  return semantics == OpSemantics::same || semantics == OpSemantics::rearranged;
}
constexpr int longest_way = 12;  // operations back, that only arrange: losses and views are few

// A layer whose weights are trained.
bool is_trained_layer(const Op& op, Value value) {
  value = op.run.resolve(value);
  if (!value.is(Kind::instance)) return false;
  const auto& entries = value.as<Instance>()->attributes.entries();
  return std::ranges::any_of(entries, [&](const auto& entry) {
    const Value held = op.run.resolve(entry.second->value);
    return held.is(Kind::tensor) && held.as<Tensor>()->role == values::TensorRole::parameter &&
        is_trained(*held.as<Tensor>()->now());
  });
}
// A prediction: computed with what is trained, though its gradient may have been left behind, or never
// recorded.
bool is_predicted(const Op& op, const TensorState& state) {
  const TensorState* at = &state;
  for (int way = 0; at && way < longest_way; ++way, at = given_to(*at)) {
    if (op.run.heap().requires_grad(*at) == Known::yes || at->cut) return true;
    if (!at->made) return false;
    const auto& given = at->made->states;
    if (is_trained_layer(op, at->made->self) ||
        std::ranges::any_of(given, [](const TensorState* each) { return each && is_trained(*each); }))
      return true;
  }
  return false;
}

// A choice that was read off scores: the places of the largest, or where they exceed a limit.
bool is_chosen(const TensorState& state) {
  const TensorState* at = &state;
  for (int way = 0; at && at->made && way < longest_way; ++way, at = given_to(*at)) {
    const OpSemantics by = semantics_of(*at->made->row);
    if (by == OpSemantics::place_of_largest || by == OpSemantics::largest || by == OpSemantics::chosen ||
        by == OpSemantics::ordered)
      return true;
    if (!only_arranges(by)) return false;
  }
  return false;
}

// The second dimension of size 1 was left by what computed the tensor, such as a mean that keeps its
// dimension: nobody put it there to meet each with each.
bool is_left_over(const Op& op, const TensorState& wide) {
  const TensorState* at = &wide;
  for (int way = 0; at && at->made && way < longest_way; ++way) {
    const TensorState* before = given_to(*at);
    const OpSemantics by = semantics_of(*at->made->row);
    if (!before || !before->shape.ndim_known) return false;
    const auto& dims = before->shape.dims;
    if (dims.size() == wide.shape.dims.size() && op.value(dims[1]) == 1) {
      if (by == OpSemantics::repeated || by == OpSemantics::reordered || by == OpSemantics::picked)
        return false;
      at = before;
      continue;
    }
    return dims.size() == wide.shape.dims.size() &&
        (by == OpSemantics::mean || by == OpSemantics::sum || by == OpSemantics::largest ||
            by == OpSemantics::norm);
  }
  return false;
}

// A dimension was put into the tensor, or into what it was computed from number by number: each was to meet
// each.
bool is_set_apart(const TensorState& wide) {
  const TensorState* at = &wide;
  for (int way = 0; at && at->made && way < longest_way; ++way) {
    const TensorState* before = given_to(*at);
    if (!before || !before->shape.ndim_known) return false;
    const auto given = std::ranges::count_if(
        at->made->states, [](const TensorState* each) { return each != nullptr; });
    if (given == 1 && before->shape.dims.size() < at->shape.dims.size()) return true;
    at = before;
  }
  return false;
}

// A loss of each sample: what a function makes that can reduce it, and did not.
bool is_loss(const TensorState& state) {
  const TensorState* at = &state;
  for (int way = 0; at && at->made && way < longest_way; ++way, at = given_to(*at)) {
    const auto& parameters = at->made->row->parameters;
    if (std::ranges::any_of(parameters, [](syntax::Name each) { return each.text() == "reduction"; }))
      return true;
    if (!only_arranges(semantics_of(*at->made->row))) return false;
  }
  return false;
}

// One number for each sample meets the last dimension of what has the samples in its first: [16] and [16,
// 16], where two sizes that were decided apart are equal by chance. The parameters, that of the samples' own
// last.
std::optional<std::pair<std::string_view, std::string_view>> met_by_chance(const Op& op) {
  if (op.call.row.parameters.size() < 2) return std::nullopt;
  const std::string_view names_of[] = {op.call.row.parameters[0].text(), op.call.row.parameters[1].text()};
  for (const int own : {0, 1}) {
    const TensorState *row = op.tensor(names_of[own]), *wide = op.tensor(names_of[1 - own]);
    if (!row || !wide || !row->shape.ndim_known || !wide->shape.ndim_known || row->shape.dims.size() != 1 ||
        wide->shape.dims.size() < 2)
      continue;
    const Dim &samples = row->shape.dims[0], &first = wide->shape.dims.front(),
              &last = wide->shape.dims.back();
    if (!samples.origin || samples.origin != first.origin || !last.origin ||
        last.origin->place == samples.origin->place)
      continue;
    const auto size = op.value(samples);
    if (size && *size > 1 && op.value(first) == size && op.value(last) == size)
      return std::pair{names_of[1 - own], names_of[own]};
  }
  return std::nullopt;
}

// `batch` and `width` of `torch.rand(batch, width)`: the names that a program gives the sizes of what it
// fills. Empty: another expression.
std::vector<std::string_view> names_in(std::string_view call) {
  std::vector<std::string_view> found;
  const std::size_t open = call.find('(');
  if (open == std::string_view::npos || !call.ends_with(')')) return found;
  std::string_view left = call.substr(open + 1, call.size() - open - 2);
  if (left.starts_with('(') && left.find(')') != std::string_view::npos)
    left = left.substr(1, left.find(')') - 1);
  while (!left.empty()) {
    std::string_view one = left.substr(0, left.find(','));
    left.remove_prefix(std::min(one.size() + 1, left.size()));
    one.remove_prefix(std::min(one.find_first_not_of(" \n"), one.size()));
    one = one.substr(0, one.find_last_not_of(" \n") + 1);
    if (one.find('=') != std::string_view::npos) break;
    const bool is_name = !one.empty() &&
        std::ranges::all_of(one, [](char c) { return syntax::is_word(c) || c == '.'; }) &&
        one.find_first_not_of("0123456789.") != std::string_view::npos;
    found.push_back(is_name ? one : std::string_view());
  }
  return found;
}

// What the program calls a size of the tensor where it filled it. Empty: it has no name that is known.
std::string_view name_of_size(const Op& op, const TensorState& state, std::size_t at) {
  const Dim& dim = state.shape.dims[at];
  if (!dim.origin || !dim.origin->place) return {};
  constexpr std::string_view fills[] = {
      "torch.rand", "torch.randn", "torch.zeros", "torch.ones", "torch.empty"};
  if (std::ranges::find(fills, dim.origin->what) == std::end(fills)) return {};
  const auto names = names_in(op.run.record().text(dim.origin->place));
  if (names.size() == 1) return names[0];
  const bool is_as_made = state.made && state.made->row && state.made->row->path == dim.origin->what &&
      names.size() == state.shape.dims.size();
  return is_as_made ? names[at] : std::string_view();
}

// Two sizes of different names meet, and the other operand has the one of this name elsewhere: `[batch,
// width]` and `[width, 1]`, where both are 16.
struct Misnamed {
  std::string_view wide, other;  // parameters
  std::string_view expected, met;
  Dim left, right;
};
std::optional<Misnamed> met_by_name(const Op& op) {
  if (op.call.row.parameters.size() < 2) return std::nullopt;
  const std::string_view names_of[] = {op.call.row.parameters[0].text(), op.call.row.parameters[1].text()};
  for (const int own : {0, 1}) {
    const TensorState *wide = op.tensor(names_of[own]), *other = op.tensor(names_of[1 - own]);
    if (!wide || !other || !wide->shape.ndim_known || !other->shape.ndim_known) continue;
    const std::size_t dims = wide->shape.dims.size(), others = other->shape.dims.size();
    const auto has = [&](const TensorState& state, std::string_view name) {
      for (std::size_t i = 0; i < state.shape.dims.size(); ++i)
        if (name_of_size(op, state, i) == name) return true;
      return false;
    };
    for (std::size_t i = 1; i <= std::min(dims, others); ++i) {
      const Dim &left = wide->shape.dims[dims - i], &right = other->shape.dims[others - i];
      const auto size = op.value(left);
      if (!size || *size < 2 || op.value(right) != size) continue;
      const std::string_view expected = name_of_size(op, *wide, dims - i),
                             met = name_of_size(op, *other, others - i);
      if (expected.empty() || met.empty() || expected == met || !has(*wide, met) || has(*other, expected))
        continue;
      return Misnamed{names_of[own], names_of[1 - own], expected, met, left, right};
    }
  }
  return std::nullopt;
}

// The two operands as parameters, the wider one first; nothing where they are none of the kind.
std::optional<std::pair<std::string_view, std::string_view>> crossed_operands(const Op& op) {
  if (op.call.row.parameters.size() < 2) return std::nullopt;
  const std::string_view first = op.call.row.parameters[0].text(), second = op.call.row.parameters[1].text();
  const TensorState *a = op.tensor(first), *b = op.tensor(second);
  if (!a || !b) return std::nullopt;
  if (is_crossing(op, *a, *b)) return std::pair{first, second};
  if (is_crossing(op, *b, *a)) return std::pair{second, first};
  return std::nullopt;
}

interpreter::Refusal crossing(const Op& op, std::string_view column, std::string_view row) {
  const Shape &a = op.shape(column), &b = op.shape(row);
  Shape both = a;
  both.dims[1] = b.dims[0];
  const std::string_view what = op.call.row.path.substr(op.call.row.path.rfind('.') + 1);
  const bool compares = what != "mul" && what != "add" && what != "div";
  return why<Reason::crossed>(op.name(column), a, op.name(row), b, both, compares);
}

// The 1 that is too many.
std::string squeeze_of(const Shape& wide) { return wide.dims.size() == 2 ? ".squeeze(-1)" : ".squeeze(1)"; }

// A loss of two shapes that differ, and that PyTorch makes one: it warns itself.
void warn_of_sizes(Op& op) {
  if (op.call.row.parameters.size() < 2) return;
  const std::string_view first = op.call.row.parameters[0].text(), second = op.call.row.parameters[1].text();
  const TensorState *a = op.tensor(first), *b = op.tensor(second);
  if (!a || !b || !a->shape.ndim_known || !b->shape.ndim_known) return;
  // One number stands for all on purpose.
  const auto single = [&](const Shape& shape) {
    return std::ranges::all_of(shape.dims, [&](const Dim& d) { return op.value(d) == 1; });
  };
  if (single(a->shape) || single(b->shape)) return;
  const std::size_t least = std::min(a->shape.dims.size(), b->shape.dims.size());
  bool differ = false;
  for (std::size_t i = 0; i < std::max(a->shape.dims.size(), b->shape.dims.size()); ++i) {
    if (i < least)
      differ = differ || op.equal(from_right(a->shape, i), from_right(b->shape, i)) == Answer::no;
    else
      differ = differ ||
          op.equal(from_right(a->shape.dims.size() > least ? a->shape : b->shape, i), 1) == Answer::no;
  }
  if (differ)
    op.warn(ProblemKind::suspicious_broadcast,
        why<Reason::loss_repeats>(op.name(first), a->shape, op.name(second), b->shape));
}

// What a loss reports once the result goes into it. `if_trained`: only where the loss is trained through the
// other operand.
const Mark* kept_problem(Op& op, std::string_view column, std::string_view row, bool if_trained) {
  const TensorState *a = op.tensor(column), *b = op.tensor(row);
  auto* kept = op.run.heap().make<Mark>();
  kept->if_trained = if_trained;
  explain(kept->problem, crossing(op, column, row));
  kept->problem.place = op.call.place;
  kept->problem.calls = op.run.site();
  kept->problem.row = &op.call.row;
  kept->problem.expr = op.call.expr;
  kept->problem.node = op.call.node;
  if (const syntax::Expr* expr = op.expression(column))
    kept->problem.suggested_edits.push_back(
        {interpreter::SuggestedEdit::How::append, column, expr, squeeze_of(a->shape),
            "Squeeze " + op.plain_name(column) + " to " + values::shape_text(op.s, b->shape), true});
  for (const Dim& d : {a->shape.dims[0], b->shape.dims[0]})
    if (d.origin && d.origin->place) kept->problem.sizes.push_back(d);
  return kept;
}

}  // namespace

void watch_column(Op& op, ColumnRole column_role, Value made) {
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
      if (const TensorState* from = op.tensor(op.call.row.parameters[i].text()); from && from->crossed)
        return mark(from->crossed);
  };
  switch (column_role) {
  case ColumnRole::none: return;
  case ColumnRole::loss: {
    if (const auto operands = crossed_operands(op)) {
      const auto [column, row] = *operands;
      op.warn(ProblemKind::suspicious_broadcast, crossing(op, column, row),
          {op.shape(column).dims[0], op.shape(row).dims[0]});
      op.suggest_append(column, squeeze_of(op.shape(column)), true,
          "Squeeze " + op.plain_name(column) + " to " + values::shape_text(op.s, op.shape(row)));
      return;
    }
    warn_of_sizes(op);
    return;
  }
  case ColumnRole::begins: {
    const auto operands = crossed_operands(op);
    // Of what is one with all of the other already, that is told.
    const bool is_crossed = std::ranges::any_of(
        op.call.row.parameters | std::views::take(2), [&](syntax::Name each) {
          const TensorState* state = op.tensor(each.text());
          return state && state->crossed;
        });
    if (const auto by_chance = operands || is_crossed ? std::nullopt : met_by_chance(op)) {
      const auto [wide, row] = *by_chance;
      const Dim &samples = op.shape(row).dims[0], &last = op.shape(wide).dims.back();
      op.warn(ProblemKind::suspicious_broadcast,
          why<Reason::number_of_each_sample>(op.name(row), samples, op.name(wide), op.shape(wide), samples),
          {samples, last});
      std::string suffix = ".unsqueeze(-1)";
      for (std::size_t i = 2; i < op.shape(wide).dims.size(); ++i) suffix += ".unsqueeze(-1)";
      op.suggest_append(row, suffix, false, "Write " + op.plain_name(row) + suffix);
      return;
    }
    if (const auto misnamed = operands || is_crossed ? std::nullopt : met_by_name(op)) {
      op.warn(ProblemKind::suspicious_broadcast,
          why<Reason::met_by_other_name>(op.name(misnamed->other), code(misnamed->met),
              code(misnamed->expected), op.name(misnamed->wide), op.shape(misnamed->wide),
              code(misnamed->met), misnamed->left),
          {misnamed->left, misnamed->right});
      return;
    }
    if (!operands) return keep();
    const auto [column, row] = *operands;
    const TensorState *a = op.tensor(column), *b = op.tensor(row);
    // A prediction and a target; two predictions, or none, are compared in pairs on purpose as often as not.
    // What is multiplied or added is part of a loss only where it is trained.
    const std::string_view what = op.call.row.path.substr(op.call.row.path.rfind('.') + 1);
    const bool is_difference = what.starts_with("sub") || what.starts_with("rsub") ||
        what.starts_with("eq") || what.starts_with("ne");
    const bool compares = what.starts_with("eq") || what.starts_with("ne");
    if (!compares && b->shape.dims.size() > 1 && is_left_over(op, *a)) {
      op.warn(
          ProblemKind::suspicious_broadcast, crossing(op, column, row), {a->shape.dims[0], b->shape.dims[0]});
      op.suggest_append(column, squeeze_of(a->shape), true,
          "Squeeze " + op.plain_name(column) + " to " + values::shape_text(op.s, b->shape));
      return;
    }
    const bool told = is_trained(*a) != is_trained(*b) || (!compares && is_loss(*a) != is_loss(*b)) ||
        (is_difference && !is_trained(*a) && is_predicted(op, *a) != is_predicted(op, *b)) ||
        (compares && is_chosen(*a) != is_chosen(*b));
    // A target that is computed from predictions, which the loss compares with what is trained.
    const bool of_target = !told && !compares && !is_trained(*a) && !is_trained(*b) &&
        is_predicted(op, *a) != is_predicted(op, *b) && !is_set_apart(*a);
    if (!told && !of_target) return;
    mark(kept_problem(op, column, row, of_target));
    return;
  }
  case ColumnRole::keeps: return keep();
  case ColumnRole::ends: {
    const TensorState *from = op.tensor(op.call.row.parameters[0].text()), *to = op.tensor(made);
    if (!from || !from->crossed || !to || !to->shape.ndim_known || !to->shape.dims.empty()) return;
    const auto& kept = *static_cast<const Mark*>(from->crossed);
    if (!kept.if_trained || op.run.heap().requires_grad(*to) == Known::yes) op.suspect(kept.problem);
    return;
  }
  }
}

}  // namespace stepzero::libraries
