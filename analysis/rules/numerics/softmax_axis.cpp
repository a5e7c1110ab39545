// numerics/softmax-axis: a softmax adds up to 1 along another dimension than the one its result is used
// along: classes are chosen among numbers that were compared over the batch, or keys weighed by numbers that
// add up over the queries. Knows what a softmax is for by what follows: a loss, a largest class, a product
// with values.
#include "rules/attention/scores.hpp"
#include "rules/rule.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <set>

namespace stepzero::rules::numerics::softmax_axis {

using values::code;
using values::Operation;

namespace {

// The dimension that an operation names, as it is written; of a layer its own.
std::optional<std::int64_t> written_dim(const Record& record, const Producer& made) {
  Value dim = argument(made, "dim");
  if (!dim && made.self.is(values::Kind::instance))
    dim = made.self.as<values::Instance>()->attributes.value(values::Name("dim"));
  return record.number(dim);
}
// Counted from the left; of a tensor whose rank is not known only where it is written so.
std::optional<std::size_t> axis_of(const Record& record, const Producer& made) {
  const TensorState* of = input(made);
  const auto dim = written_dim(record, made);
  if (!of || !dim) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(of->shape.dims.size());
  if (!of->shape.ndim_known) return *dim >= 0 ? std::optional(static_cast<std::size_t>(*dim)) : std::nullopt;
  if (*dim < -rank || *dim >= rank) return std::nullopt;
  return static_cast<std::size_t>(*dim < 0 ? *dim + rank : *dim);
}

bool is_softmax(const TensorState* state) {
  return semantics(state) == OpSemantics::softmax || semantics(state) == OpSemantics::log_softmax;
}
// The softmax whose numbers these are, in their places: a logarithm keeps them there, too.
const TensorState* softmax_of(const TensorState* state) {
  for (int way = 0; state && state->made && way < 8; ++way) {
    if (is_softmax(state)) return state;
    const OpSemantics by = semantics(state);
    if (by != OpSemantics::same && by != OpSemantics::log && by != OpSemantics::bounded) return nullptr;
    state = input(*state->made);
  }
  return nullptr;
}
// What projects to scores, after masks and temperatures.
const TensorState* scores_of(const TensorState* softmax) {
  const TensorState* at = input(*softmax->made);
  for (int way = 0; at && at->made && way < 8; ++way) {
    const OpSemantics by = semantics(at);
    if (by != OpSemantics::same && by != OpSemantics::masked && by != OpSemantics::div) break;
    at = input(*at->made);
  }
  return at;
}
bool is_one(const Record& record, const Dim& dim) { return size_of(record, dim) == 1; }
std::string axis(std::size_t dim) { return "dimension " + std::to_string(dim); }

class Check {
public:
  Check(const Record& record, Report& report) : record_(record), report_(report) {}

  // Classes lie along dimension 1 of what these losses take; a divergence has none, and CTC's are the last.
  void look_at_loss(const OperationEvent& event) {
    const values::LossInfo* loss = event.row->loss;
    if (!loss || !loss->of_classes || loss->takes != values::Outcome::log_softmax) return;
    const TensorState* given = event.argument_state(0);
    const TensorState* softmax = given ? softmax_of(given) : nullptr;
    const auto along = softmax ? axis_of(record_, *softmax->made) : std::nullopt;
    if (!along || *along == 1 || (given->shape.ndim_known && given->shape.dims.size() < 2)) return;
    tell(*softmax,
        code(loss->name) + " takes the classes along dimension 1, and this adds up to 1 along " +
            axis(*along) + (*along == 0 ? ", over the samples of the batch" : "") +
            ". Normalize along the classes: " + code("dim=1") + ".",
        event.place, "the loss");
  }

  // The largest class of each row, of numbers that are comparable within columns only.
  void look_at_largest(const Origin& each) {
    const TensorState* softmax = softmax_of(input(*each.made));
    const auto chosen = axis_of(record_, *each.made),
               along = softmax ? axis_of(record_, *softmax->made) : std::nullopt;
    if (!chosen || !along || *along >= *chosen) return;
    const values::Shape& shape = softmax->shape;
    const TensorState* scores = scores_of(softmax);
    const OpSemantics by = semantics(scores);
    // Of scores whose last dimension are features; of what is not seen, the first dimension alone is the
    // batch.
    if (shape.ndim_known
            ? *chosen + 1 != shape.dims.size() || by != OpSemantics::linear
            : *along != 0 || *chosen != 1 || !scores || (scores->made && by != OpSemantics::linear))
      return;
    tell(*softmax,
        "This adds up to 1 along " + axis(*along) + (*along == 0 ? ", over the samples of the batch" : "") +
            ", and the largest is then chosen along " + axis(*chosen) +
            ": the numbers of one row are not comparable. Normalize along the classes: " + code("dim=-1") +
            ".",
        each.made->born, "the largest is chosen here");
  }

  // Values are weighed along the last dimension of what multiplies them.
  void look_at_attention(const Attention& attention) {
    const TensorState* weights = attention.probabilities;
    const auto along = axis_of(record_, *attention.softmax);
    const std::size_t rank = weights->shape.dims.size();
    if (!along || !weights->shape.ndim_known || rank < 2 || *along + 1 == rank ||
        !is_plain_product(*attention.product) || is_one(record_, weights->shape.dims[rank - 2]))
      return;
    for (const Origin& each : Provenance::of(record_).of_semantics(OpSemantics::product)) {
      if (!is_plain_product(*each.made) || identity(kept(input(*each.made))) != identity(weights)) continue;
      if (!weighed_again(each.state))
        tell(*weights,
            std::string("These weights add up to 1 along ") + axis(*along) +
                (*along + 2 == rank ? ", over the queries" : "") +
                ", and the product with the values sums over " + axis(rank - 1) +
                ", the keys: the weights of one query add up to anything. Normalize along the keys: " +
                code("dim=-1") + ".",
            each.made->born, "the values are weighed here");
      return;
    }
  }

  // One score for each place, and a mean of places weighed by them: the batch is no place.
  void look_at_pooling(const Origin& sum) {
    const TensorState* product = input(*sum.made);
    const auto over = dimensions(record_, *sum.made);
    if (semantics(product) != OpSemantics::mul || !over || over->size() != 1 || over->front() == 0) return;
    for (std::size_t side = 0; side < 2; ++side) {
      const TensorState* weights = source_of(input(*product->made, side));
      if (semantics(weights) != OpSemantics::softmax) continue;
      const auto along = axis_of(record_, *weights->made);
      const TensorState* scores = source_of(scores_of(weights));
      if (along != std::size_t{0} || semantics(scores) != OpSemantics::linear || !scores->shape.ndim_known ||
          scores->shape.dims.size() < 3 || !is_one(record_, scores->shape.dims.back()) ||
          !product->shape.ndim_known || weights->shape.dims.empty() || product->shape.dims.size() < 3 ||
          product->shape.dims[0].size != weights->shape.dims[0].size)
        continue;
      tell(*weights,
          "These weights add up to 1 along dimension 0, over the samples of the batch, and the sum that they are for goes along " +
              axis(over->front()) + ". Normalize along " + code("dim=" + std::to_string(over->front())) + ".",
          sum.made->born, "the sum is here");
    }
  }

private:
  const Record& record_;
  Report& report_;
  Once once_;

  void tell(const TensorState& softmax, const std::string& text, values::Place use, const char* what) {
    if (!once_(softmax.made->born)) return;
    if (Finding* finding = report_.add(Severity::warning, softmax.made->born, softmax.made->calls, text))
      report_.relate(*finding, use, what);
  }
  static bool is_plain_product(const Producer& made) {
    return made.states.size() > 1 && made.states[0] && made.states[1] && made.listed.empty();
  }
  static const TensorState* kept(const TensorState* state) { return source_of(state, false); }
  // Slots that compete for inputs divide by the sum of their weights afterwards.
  bool weighed_again(const TensorState* result) const {
    return std::ranges::any_of(Provenance::of(record_).of_semantics(OpSemantics::div),
        [&](const Origin& each) { return identity(kept(input(*each.made))) == identity(result); });
  }
};

void check(const Record& record, Report& report) {
  Check rule(record, report);
  const Provenance& provenance = Provenance::of(record);
  if (provenance.of_semantics(OpSemantics::softmax).empty() &&
      provenance.of_semantics(OpSemantics::log_softmax).empty())
    return;
  visit_operations(record, with_operation(Operation::loss),
      [&](const OperationEvent& operation) { rule.look_at_loss(operation); });
  for (const OpSemantics by : {OpSemantics::place_of_largest, OpSemantics::largest, OpSemantics::chosen})
    for (const Origin& each : provenance.of_semantics(by)) rule.look_at_largest(each);
  for (const Attention& each : attentions(record)) rule.look_at_attention(each);
  for (const Origin& each : provenance.of_semantics(OpSemantics::sum)) rule.look_at_pooling(each);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "numerics/softmax-axis",
    .severity = Severity::warning,
    .summary = "a softmax adds up to 1 along another dimension than its result is used along",
    .why =
        "A softmax makes numbers along one dimension comparable, and no others. With `dim=0` each sample of a batch competes with the other samples: the loss falls as it "
        "should for a while, a prediction depends on which samples share its batch, and a batch of one always gives 1. In attention, weights that add up over the queries give each "
        "query a sum of values of any size. The shapes are right in each case.",
    .wrong = "log_probabilities = F.log_softmax(model(x), dim=0)\n"
             "loss = F.nll_loss(log_probabilities, y)\n",
    .right = "log_probabilities = F.log_softmax(model(x), dim=1)\n"
             "loss = F.nll_loss(log_probabilities, y)\n",
    .silent =
        "Softmax over clusters, slots or experts whose weights are divided by their sum or spread afterwards; similarities that are compared in both directions; weights of the "
        "instances of one bag; tensors of one dimension.",
    .fix = "None: the tensor may have been meant to be turned.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::numerics::softmax_axis
