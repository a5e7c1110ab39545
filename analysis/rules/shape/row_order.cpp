// shape/row-order: rows of two tensors that stand for the same pairs in different orders, as one was
// flattened and the other repeated. Knows the order of rows where a flattening, a repetition or a
// concatenation made it.
#include "libraries/torch/meaning/op_form.hpp"
#include "rules/provenance.hpp"
#include "rules/rule.hpp"
#include "rules/training/training.hpp"
#include "values/limits.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::rules::shape::row_order {

using values::code;

using libraries::OpForm;
using symbolic::Int;
using values::Kind;

namespace {

// Rows that were made of two sizes: so many neighbors belong together, in all.
struct Rows {
  Int together = nullptr, all = nullptr;
  const Producer* made = nullptr;
  bool again = false;       // by a repetition of the whole
  std::vector<Value> cuts;  // what was taken of them since, by the indices
};

bool are_same(const Dim& a, const Dim& b) { return a.size && a.size == b.size; }
bool is_known(const TensorState* state) {
  return state && state->shape.ndim_known && !state->shape.dims.empty() && state->shape.dims[0].size;
}
bool has_same_rest(const TensorState& a, const TensorState& b) {
  return a.shape.dims.size() == b.shape.dims.size() &&
      std::equal(a.shape.dims.begin() + 1, a.shape.dims.end(), b.shape.dims.begin() + 1, are_same);
}

// The dimension that it is made along, from 0; nothing if that is not known.
std::optional<std::size_t> along(
    const Record& record, const Producer& made, std::size_t ndim, double otherwise) {
  const Value given = argument(made, "dim");
  const auto at = given && !given.is(Kind::none) ? number(record, given) : std::optional(otherwise);
  const double size = static_cast<double>(ndim);
  if (!at || *at < -size || *at >= size) return std::nullopt;
  return static_cast<std::size_t>(*at < 0 ? *at + size : *at);
}

// What a repetition made of the rows, where it made more of them.
std::optional<Rows> repeated(const Record& record, const TensorState& state, const TensorState& before) {
  const Dim &rows = state.shape.dims[0], &own = before.shape.dims[0];
  if (!has_same_rest(state, before) || are_same(rows, own)) return std::nullopt;
  switch (libraries::form_of(*state.made->row)) {
  case OpForm::tiled: return Rows{own.size, rows.size, state.made, true, {}};
  case OpForm::each_again: {
    const Value times = argument(*state.made, "repeats");
    if (!times.is(Kind::integer) || along(record, *state.made, state.shape.dims.size(), 0) != 0)
      return std::nullopt;
    return Rows{times.integer(), rows.size, state.made, false, {}};
  }
  default: return std::nullopt;
  }
}

// Does the operation leave the rows where they are, whatever it does to each?
bool keeps_rows(const Producer& made) {
  switch (semantics(made)) {
  case OpSemantics::same:
  case OpSemantics::detached:
  case OpSemantics::add:
  case OpSemantics::sub:
  case OpSemantics::mul:
  case OpSemantics::div:
  case OpSemantics::power:
  case OpSemantics::negate:
  case OpSemantics::sigmoid:
  case OpSemantics::log:
  case OpSemantics::exp:
  case OpSemantics::sqrt:
  case OpSemantics::square:
  case OpSemantics::not_negative:
  case OpSemantics::bounded:
  case OpSemantics::linear:
  case OpSemantics::normalized:
  case OpSemantics::within_one:
  case OpSemantics::unit_rows:
  case OpSemantics::cosine:
  case OpSemantics::sine:
  case OpSemantics::rearranged: return true;
  default: return false;
  }
}

class Tracer {
public:
  explicit Tracer(const Record& record) : record_(record) {}

  std::optional<Rows> rows_of(const TensorState* state) const {
    constexpr int longest_way = 48;  // operations since the rows were made
    std::vector<Value> cuts;
    for (int way = 0; is_known(state) && state->made && way < longest_way; ++way) {
      const TensorState* before = first_of(*state);
      if (!is_known(before)) return std::nullopt;
      if (auto made = made_here(*state, *before)) {
        made->cuts = std::move(cuts);
        return made;
      }
      if (semantics(state) == OpSemantics::picked && state->made->arguments.size() > 1)
        cuts.push_back(state->made->arguments[1]);
      else if (!are_same(state->shape.dims[0], before->shape.dims[0]) || !stays(*state))
        return std::nullopt;
      state = before;
    }
    return std::nullopt;
  }

private:
  const Record& record_;

  static const TensorState* first_of(const TensorState& state) {
    for (const TensorState* each : inputs(*state.made))
      if (semantics(&state) == OpSemantics::picked || semantics(&state) == OpSemantics::repeated ||
          semantics(&state) == OpSemantics::joined || !is_known(each) ||
          semantics(&state) == OpSemantics::rearranged || are_same(each->shape.dims[0], state.shape.dims[0]))
        return each;
    return nullptr;
  }
  bool stays(const TensorState& state) const {
    if (semantics(&state) == OpSemantics::joined)
      return along(record_, *state.made, state.shape.dims.size(), 0).value_or(0) != 0;
    return keeps_rows(*state.made);
  }
  std::optional<Rows> made_here(const TensorState& state, const TensorState& before) const {
    const auto& dims = state.shape.dims;
    const auto& own = before.shape.dims;
    switch (semantics(&state)) {
    case OpSemantics::rearranged:
      if (own.size() != dims.size() + 1 || own.size() < 2 || !own[1].size ||
          record_.symbols.mul(own[0].size, own[1].size) != dims[0].size)
        return std::nullopt;
      return Rows{own[1].size, dims[0].size, state.made, false, {}};
    case OpSemantics::repeated: return repeated(record_, state, before);
    case OpSemantics::joined: {
      const auto parts = inputs(*state.made);
      if (parts.size() < 2 || along(record_, *state.made, dims.size(), 0) != 0) return std::nullopt;
      const bool equal = std::ranges::all_of(parts, [&](const TensorState* part) {
        return is_known(part) && has_same_rest(*part, before) && are_same(part->shape.dims[0], own[0]);
      });
      if (!equal) return std::nullopt;
      return Rows{own[0].size, dims[0].size, state.made, true, {}};
    }
    default: return std::nullopt;
    }
  }
};

bool is_same_index(Value a, Value b, int depth = 0) {
  if (a == b) return true;
  if (a.kind != b.kind || depth > values::deepest_data) return false;
  if (a.is(Kind::slice)) {
    const auto &one = *a.as<values::SliceObject>(), &other = *b.as<values::SliceObject>();
    return is_same_index(one.lower, other.lower, depth + 1) &&
        is_same_index(one.upper, other.upper, depth + 1) && is_same_index(one.step, other.step, depth + 1);
  }
  if (!a.is(Kind::tuple)) return false;
  const auto &mine = a.as<values::Tuple>()->items, &theirs = b.as<values::Tuple>()->items;
  return std::equal(mine.begin(), mine.end(), theirs.begin(), theirs.end(),
      [&](Value one, Value other) { return is_same_index(one, other, depth + 1); });
}

class Check {
public:
  Check(const Record& record, Report& report) : record_(record), report_(report), tracer_(record) {}

  void look_at(const TensorState* a, const TensorState* b, Place where, const interpreter::CallSite* calls) {
    if (!is_known(a) || !is_known(b) || a == b) return;
    const auto one = tracer_.rows_of(a), other = one ? tracer_.rows_of(b) : std::nullopt;
    if (!other || one->made == other->made || one->all != other->all || one->together == other->together ||
        record_.symbols.mul(one->together, other->together) != one->all ||
        !std::equal(one->cuts.begin(), one->cuts.end(), other->cuts.begin(), other->cuts.end(),
            [](Value mine, Value theirs) { return is_same_index(mine, theirs); }) ||
        !once_(where))
      return;
    constexpr std::size_t longest_size = 24;  // letters that a reader takes in within a sentence
    const auto order = [&](const Rows& rows) {
      if (rows.again) return std::string("all rows again and again");
      const std::string size = record_.symbols.text(rows.together);
      return (size.size() <= longest_size ? code(size) + " " : std::string()) + "neighbors of each";
    };
    Finding* finding = report_.add(Severity::warning, where, calls,
        "The rows of these two stand for the same pairs in different orders: one has " + order(*one) +
            ", the other " + order(*other) +
            ". Each row meets that of another pair. Repeat with `repeat_interleave` where the other is flattened or interleaved, and with `repeat` where it repeats as a whole.");
    if (!finding) return;
    report_.relate(*finding, one->made->born, "the rows of one are made here");
    report_.relate(*finding, other->made->born, "the rows of the other are made here");
  }

private:
  const Record& record_;
  Report& report_;
  Tracer tracer_;
  Once once_;
};

void check(const Record& record, Report& report) {
  Check look(record, report);
  for (const OpSemantics by :
      {OpSemantics::add, OpSemantics::sub, OpSemantics::mul, OpSemantics::div, OpSemantics::joined})
    for (const Origin& each : Provenance::of(record).of_semantics(by)) {
      const auto parts = inputs(*each.made);
      if (parts.size() < 2 || parts.size() > 4) continue;
      if (by == OpSemantics::joined) {
        const Value dim = argument(*each.made, "dim");
        const auto at = dim ? number(record, dim) : std::nullopt;
        if (!at || *at == 0 ||
            (each.state->shape.ndim_known && *at == -static_cast<double>(each.state->shape.dims.size())))
          continue;
      }
      for (std::size_t i = 1; i < parts.size(); ++i)
        look.look_at(parts[0], parts[i], each.made->born, each.made->calls);
    }
  const auto is_loss = [](const values::Row& row) { return row.loss != nullptr; };
  visit_operations(record, is_loss, [&](const interpreter::OperationEvent& event) {
    look.look_at(event.argument_state(0), event.argument_state(1), event.place, event.calls);
  });
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "shape/row-order",
    .severity = Severity::warning,
    .summary = "rows that stand for the same pairs, in different orders",
    .why =
        "`x.view(n * s, d)` of `[n, s, d]` has the `s` rows of the first sample, then those of the second. `y.repeat(s, 1)` of `[n, d]` has all `n` rows, then all of them again. Both have `n * s` rows, so they are concatenated, added and compared without an error, and each row meets that of another sample. It is `y.repeat_interleave(s, dim=0)` that has the order of the first. Labels of two views that are concatenated are the reverse: `y.repeat(2)`.",
    .wrong = "points = points.view(-1, 3)         # [n, s, 3]\n"
             "rays = rays.repeat(s, 1)            # [n, 3]\n"
             "out = net(torch.cat([points, rays], dim=1))\n",
    .right = "points = points.view(-1, 3)         # [n, s, 3]\n"
             "rays = rays.repeat_interleave(s, dim=0)\n"
             "out = net(torch.cat([points, rays], dim=1))\n",
    .silent =
        "As many of one as of the other; rows whose order is not known, or that were shuffled or chosen since; rows that were cut at different places.",
    .fix = "None: either of the two may have the order that is meant.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::shape::row_order
