// numerics/softmax-of-one: a softmax over a dimension of one number, which is 1 whatever that number is.
// Knows such a dimension where something makes it so: one number was chosen of several, or one was computed,
// or the program writes the 1 itself.
#include "rules/call_at.hpp"
#include "rules/provenance.hpp"
#include "rules/rule.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

namespace stepzero::rules::numerics::softmax_of_one {

namespace {

enum class One : std::uint8_t { none, chosen, computed };

// The operation that leaves one number along the last dimension.
std::pair<One, const Producer*> one_of(const Record& record, const TensorState* of) {
  constexpr int longest_way = 6;  // operations from what leaves one number to the softmax
  for (int way = 0; of && of->made && way < longest_way; ++way) {
    const Producer& made = *of->made;
    switch (semantics(made)) {
    case OpSemantics::same:
    case OpSemantics::masked:
    case OpSemantics::bounded:
    case OpSemantics::div: of = input(made); continue;
    case OpSemantics::chosen: {
      const auto all = input(made) && input(made)->shape.ndim_known && !input(made)->shape.dims.empty()
          ? size_of(record, input(made)->shape.dims.back())
          : std::nullopt;
      return {all == 1 ? One::none : One::chosen, &made};
    }
    case OpSemantics::linear: return {One::computed, &made};
    default: return {One::none, nullptr};
    }
  }
  return {One::none, nullptr};
}

// Is it 1, or 1 where nobody says otherwise?
std::optional<bool> is_one_by_default(const Record& record, const Dim& dim) {
  if (size_of(record, dim) == 1) return false;
  const symbolic::AtomInfo* atom = dim.size ? record.symbols.atom_info(dim.size) : nullptr;
  return atom && atom->usual == 1 ? std::optional(true) : std::nullopt;
}

// The dimension that it is taken over, from 0.
std::optional<std::size_t> dimension_of(const Record& record, const Producer& made) {
  Value dim = argument(made, "dim");
  if (!dim && made.self.is(values::Kind::instance))
    dim = made.self.as<values::Instance>()->attributes.value(values::Name("dim"));
  const auto at = number(record, dim);
  const double size = static_cast<double>(input(made)->shape.dims.size());
  if (!at || *at < -size || *at >= size) return std::nullopt;
  return static_cast<std::size_t>(*at < 0 ? *at + size : *at);
}

// Where the program writes that a dimension is 1: `x.view(n, 1, 9)`, `x.unsqueeze(1)`.
const Producer* written_as_one(const Record& record, const TensorState* of, std::size_t dimension) {
  constexpr int longest_way = 6;  // operations from what is written to the softmax
  for (int way = 0; of && of->made && way < longest_way; ++way) {
    const Producer& made = *of->made;
    if (semantics(made) == OpSemantics::same || semantics(made) == OpSemantics::div) {
      of = input(made);
      continue;
    }
    const TensorState* before = input(made);
    if (semantics(made) != OpSemantics::rearranged || !before || !before->shape.ndim_known) return nullptr;
    const std::size_t sizes = of->shape.dims.size();
    if (const auto added = number(record, argument(made, "dim"));
        added && before->shape.dims.size() + 1 == sizes)
      return (*added < 0 ? *added + static_cast<double>(sizes) : *added) == static_cast<double>(dimension)
          ? &made
          : nullptr;
    const syntax::CallExpr* call = call_at(record, made.born);
    if (!call || call->arguments.size() != sizes) return nullptr;
    const syntax::Expr& written = *call->arguments[dimension];
    return written.kind == syntax::ExprKind::integer && syntax::as<syntax::IntegerExpr>(written).value == 1
        ? &made
        : nullptr;
  }
  return nullptr;
}

void look_at(const Record& record, Report& report, Once& once, const Producer& made) {
  const TensorState* of = input(made);
  if (!of || !of->shape.ndim_known || of->shape.dims.size() < 2) return;
  const auto dimension = dimension_of(record, made);
  if (!dimension) return;
  const bool logarithm = semantics(made) == OpSemantics::log_softmax;
  const std::string always = logarithm ? "0" : "1";
  if (const Producer* written = written_as_one(record, of, *dimension)) {
    if (!once(made.born)) return;
    Finding* finding = report.add(Severity::warning, made.born, made.calls,
        "This softmax is taken along dimension " + std::to_string(*dimension) + ", of size 1: it is " +
            always + " everywhere and has no gradient. Take it along the dimension of what competes.");
    if (finding) report.relate(*finding, written->born, "the dimension of size 1 is made here");
    return;
  }
  if (*dimension + 1 != of->shape.dims.size()) return;
  const auto by_default = is_one_by_default(record, of->shape.dims.back());
  if (!by_default) return;
  const auto [how, source] = one_of(record, of);
  // One expert by default is a model without experts, which is meant.
  if (how == One::none || (how == One::computed && *by_default) || !once(made.born)) return;
  Finding* finding = report.add(Severity::warning, made.born, made.calls,
      std::string(*by_default ? "By default this" : "This") +
          " is a softmax of one number, which is always " + always + " and has no gradient: " +
          (how == One::chosen
                  ? "what chose it learns nothing from the loss. Take the softmax of all scores before one is chosen."
                  : of->shape.dims.size() > 2
                  ? "what computed it is never trained. Take the softmax along the positions that compete, `dim=1`."
                  : "what computed it is never trained. Use a sigmoid for one score."));
  if (!finding) return;
  report.relate(*finding, source->born,
      how == One::chosen ? "one of the scores is chosen here" : "one number is computed here");
}

void check(const Record& record, Report& report) {
  Once once;
  for (const OpSemantics by : {OpSemantics::softmax, OpSemantics::log_softmax})
    for (const Origin& each : Provenance::of(record).of_semantics(by))
      look_at(record, report, once, *each.made);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "numerics/softmax-of-one",
    .severity = Severity::warning,
    .summary = "a softmax over one number, which is always 1",
    .why =
        "A softmax divides by the sum over its dimension. Over one number that is the number by itself: the result is 1 whatever the scores are, and the gradient is 0. A router that chooses one expert and then normalizes what it chose weighs every expert by 1 and is never trained; a classifier with one output predicts 1 for everything.",
    .wrong = "top, index = router(x).topk(1, dim=-1)\n"
             "gate = top.softmax(dim=-1)\n",
    .right = "gate, index = router(x).softmax(dim=-1).topk(1, dim=-1)\n",
    .silent =
        "Dimensions of more than one number, or of a number that is not known; those that are 1 since a sequence or a batch is that short.",
    .fix = "None: decide what is normalized.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::numerics::softmax_of_one
