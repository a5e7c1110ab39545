// shape/broadcast: operands of an elementwise operation whose sizes do not fit. Says so if they do in another
// order, or with a dimension of size 1 more.
#include "rules/rule.hpp"
#include "rules/shape/operator_problem.hpp"
#include "rules/shape/shape_text.hpp"

#include <algorithm>
#include <numeric>

namespace stepzero::rules::shape::broadcast {

namespace {

using symbolic::Answer;
using values::Dim;

bool same(const Record& record, const Dim& a, const Dim& b) {
  return a.size && b.size && record.symbols.compare(symbolic::Compare::eq, a.size, b.size) == Answer::yes;
}
bool is_one(const Record& record, const Dim& a) { return a.size && record.symbols.value(a.size) == 1; }

// A change of an operand's shape that makes it fit, as the suffix that does it: ".transpose(0, 1)".
struct Change {
  std::string verb, suffix;
  values::Shape shape;
};

// The one order in which the dimensions are those of the other operand.
std::optional<Change> reordered(
    const Record& record, const std::vector<Dim>& dims, const std::vector<Dim>& other) {
  if (dims.size() != other.size() || dims.size() < 2 || dims.size() > 5) return std::nullopt;
  std::vector<std::size_t> order(dims.size());
  std::iota(order.begin(), order.end(), 0);
  std::optional<std::vector<std::size_t>> found;
  while (std::next_permutation(order.begin(), order.end())) {
    bool fits = true;
    for (std::size_t i = 0; fits && i < order.size(); ++i) fits = same(record, dims[order[i]], other[i]);
    if (!fits) continue;
    if (found) return std::nullopt;
    found = order;
  }
  if (!found) return std::nullopt;
  Change change{"Permute", "", {true, other}};
  std::vector<std::size_t> moved;
  std::string all;
  for (std::size_t i = 0; i < found->size(); ++i) {
    if ((*found)[i] != i) moved.push_back(i);
    all += (all.empty() ? "" : ", ") + std::to_string((*found)[i]);
  }
  if (moved.size() == 2) {
    change.verb = "Transpose";
    change.suffix = ".transpose(" + std::to_string(moved[0]) + ", " + std::to_string(moved[1]) + ")";
  } else {
    change.suffix = ".permute(" + all + ")";
  }
  return change;
}

// The one place of a further dimension of size 1 with which it broadcasts.
std::optional<Change> unsqueezed(
    const Record& record, const std::vector<Dim>& dims, const std::vector<Dim>& other) {
  if (dims.empty() || dims.size() >= other.size()) return std::nullopt;
  std::optional<Change> found;
  for (std::size_t at = 1; at <= dims.size(); ++at) {
    std::vector<Dim> made = dims;
    made.insert(
        made.begin() + static_cast<std::ptrdiff_t>(at), Dim{record.symbols.constant(1), nullptr, nullptr});
    bool fits = true;
    for (std::size_t i = 0; fits && i < made.size(); ++i) {
      const Dim &a = made[made.size() - 1 - i], &b = other[other.size() - 1 - i];
      fits = is_one(record, a) || is_one(record, b) || same(record, a, b);
    }
    if (!fits) continue;
    if (found) return std::nullopt;
    found = Change{"Unsqueeze", ".unsqueeze(" + std::to_string(at) + ")", {true, std::move(made)}};
  }
  return found;
}

void refine(const Record& record, const ProblemEvent& problem, Finding& finding) {
  if (problem.states.size() != 2 || !problem.states[0] || !problem.states[1] || problem.assumption) return;
  const values::Shape shapes[] = {problem.states[0]->shape, problem.states[1]->shape};
  if (!shapes[0].ndim_known || !shapes[1].ndim_known) return;
  bool told = false;
  for (const std::size_t operand : {std::size_t{1}, std::size_t{0}}) {
    const auto &dims = shapes[operand].dims, &other = shapes[1 - operand].dims;
    auto change = reordered(record, dims, other);
    if (!change) change = unsqueezed(record, dims, other);
    if (!change) continue;
    const std::string quoted = operand_text(record, problem, operand),
                      text = quoted.starts_with('`') ? quoted.substr(1, quoted.size() - 2) : quoted;
    auto fix = fix_append(record, problem, operand, change->suffix,
        change->verb + " " + text + " to " + shape_text(record, change->shape));
    if (!fix) continue;
    if (!told) finding.message += " " + values::code(text + change->suffix) + " would fit.";
    told = true;
    finding.fixes.push_back(std::move(*fix));
  }
}

void check(const Record& record, Report& report) {
  report_problems(record, report, values::ProblemKind::broadcast, Severity::error,
      [&](const ProblemEvent& problem, Finding& finding) { refine(record, problem, finding); });
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "shape/broadcast",
    .severity = Severity::error,
    .summary = "elementwise operands have shapes that do not broadcast",
    .why =
        "Elementwise operations line shapes up from the right. Two sizes fit if they are equal or one of them is 1; anything else "
        "raises \"The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 0\".",
    .wrong = "scores = torch.randn(8, 16)\n"
             "bias = torch.zeros(8)\n"
             "scores = scores + bias  # 16 meets 8\n",
    .right = "scores = torch.randn(8, 16)\n"
             "bias = torch.zeros(8)\n"
             "scores = scores + bias.unsqueeze(1)\n",
    .silent =
        "Sizes of 1, which stretch; missing leading dimensions; sizes that are not known, or symbols that may be equal.",
    .fix =
        "Offers to transpose or permute an operand whose dimensions fit in one other order, and to unsqueeze one that fits with one "
        "dimension more.",
    .fix_kind = FixKind::needs_decision,
    .check = check,
    .local = true,
});

}  // namespace stepzero::rules::shape::broadcast
