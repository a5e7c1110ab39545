#include "libraries/torch/meaning/saved.hpp"

#include "interpreter/record.hpp"
#include "libraries/table/columns.hpp"
#include "libraries/table/names.hpp"
#include "libraries/torch/nn/modules.hpp"
#include "values/limits.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <unordered_set>

namespace stepzero::libraries {

namespace {

using values::Producer;

// What an operator keeps for its backward, as PyTorch 2.13 answers when each of them is written over before
// it.
enum class Keeps : std::uint8_t {
  none,
  always,
  if_other
};  // if_other: if the other operand requires a gradient
struct Saved {
  std::string_view name;  // the operator's own; of a layer its class
  Keeps first = Keeps::none, second = Keeps::none;
  bool result = false;
};
constexpr Saved saved[] = {
    {"exp", {}, {}, true},
    {"expm1", {}, {}, true},
    {"exp2", {}, {}, true},
    {"sqrt", {}, {}, true},
    {"rsqrt", {}, {}, true},
    {"reciprocal", {}, {}, true},
    {"tan", {}, {}, true},
    {"tanh", {}, {}, true},
    {"sigmoid", {}, {}, true},
    {"relu", {}, {}, true},
    {"softmax", {}, {}, true},
    {"log_softmax", {}, {}, true},
    {"ReLU", {}, {}, true},
    {"Sigmoid", {}, {}, true},
    {"Tanh", {}, {}, true},
    {"Softmax", {}, {}, true},
    {"LogSoftmax", {}, {}, true},
    {"log", Keeps::always},
    {"log2", Keeps::always},
    {"log10", Keeps::always},
    {"log1p", Keeps::always},
    {"square", Keeps::always},
    {"abs", Keeps::always},
    {"sin", Keeps::always},
    {"cos", Keeps::always},
    {"sinh", Keeps::always},
    {"cosh", Keeps::always},
    {"erf", Keeps::always},
    {"gelu", Keeps::always},
    {"silu", Keeps::always},
    {"leaky_relu", Keeps::always},
    {"elu", Keeps::always},
    {"selu", Keeps::always},
    {"softplus", Keeps::always},
    {"hardswish", Keeps::always},
    {"mish", Keeps::always},
    {"var", Keeps::always},
    {"layer_norm", Keeps::always},
    {"GELU", Keeps::always},
    {"SiLU", Keeps::always},
    {"LeakyReLU", Keeps::always},
    {"ELU", Keeps::always},
    {"MaxPool1d", Keeps::always},
    {"MaxPool2d", Keeps::always},
    {"std", Keeps::always, {}, true},
    {"norm", Keeps::always, {}, true},
    {"prod", Keeps::always, {}, true},
    {"logsumexp", Keeps::always, {}, true},
    {"mul", Keeps::if_other, Keeps::if_other},
    {"matmul", Keeps::if_other, Keeps::if_other},
    {"bmm", Keeps::if_other, Keeps::if_other},
    {"div", Keeps::if_other, Keeps::always},
    {"linear", Keeps::if_other, Keeps::if_other},
    {"mse_loss", Keeps::always, Keeps::always},
    {"smooth_l1_loss", Keeps::always, Keeps::always},
    {"huber_loss", Keeps::always, Keeps::always},
    {"MSELoss", Keeps::always, Keeps::always},
    {"SmoothL1Loss", Keeps::always, Keeps::always},
    {"binary_cross_entropy_with_logits", Keeps::always, Keeps::always},
    {"BCEWithLogitsLoss", Keeps::always, Keeps::always},
    // Of layers with weights: if those require a gradient.
    {"Linear", Keeps::if_other},
    {"Conv1d", Keeps::if_other},
    {"Conv2d", Keeps::if_other},
    {"Conv3d", Keeps::if_other},
    {"LayerNorm", Keeps::if_other},
    {"BatchNorm1d", Keeps::if_other},
    {"BatchNorm2d", Keeps::if_other},
};
const Saved* saved_by(const Row& row) {
  const auto* found = std::ranges::find(saved, operator_name(row), &Saved::name);
  return found == std::end(saved) ? nullptr : found;
}

bool requires_grad(Runtime& run, const TensorState* state) {
  return state && run.heap().requires_grad(*state) == values::Known::yes;
}

bool other_requires_grad(Runtime& run, const Producer& made, std::size_t operand) {
  if (made.self.is(Kind::instance)) {
    const auto* slot = made.self.as<Instance>()->attributes.find(Name("weight"));
    return slot && requires_grad(run, tensor_state(run, slot->value));
  }
  const std::size_t other = 1 - operand;
  return other < made.states.size() && requires_grad(run, made.states[other]);
}

struct Overwritten {
  const Producer* kept_by = nullptr;
  const Producer* written = nullptr;  // the last write, where it is known
  bool is_result = false;
};

// Walks what the loss was computed from, back to what is written over.
class History {
public:
  explicit History(Runtime& run) : run_(run) {}
  std::optional<Overwritten> find(Value tensor, const TensorState& state) {
    constexpr std::size_t most = 4096;  // operations before a loss that are looked through
    pending_.push_back({tensor, &state});
    while (!pending_.empty() && seen_.size() < most) {
      const auto [holder, now] = pending_.back();
      pending_.pop_back();
      if (!requires_grad(run_, now) || !now->made || !now->made->row || !seen_.insert(now->made).second)
        continue;
      if (const auto found = look(holder, *now)) return found;
    }
    return std::nullopt;
  }

private:
  bool is_written(Value tensor, const TensorState& then) const {
    if (!tensor.is(Kind::tensor)) return false;
    const TensorState* now = tensor.as<Tensor>()->now();
    return now->version != then.version && now->version != unknown_version && then.version != unknown_version;
  }
  Overwritten told(const Producer& made, Value tensor, bool is_result) const {
    const TensorState* now = tensor.as<Tensor>()->now();
    return {&made, now->made, is_result};
  }
  std::optional<Overwritten> look(Value holder, const TensorState& state) {
    const Producer& made = *state.made;
    const Saved* facts = saved_by(*made.row);
    const bool in_place = made.row->variant != values::Variant::plain;
    if (facts && facts->result && is_written(holder, state)) return told(made, holder, true);
    for (std::size_t i = 0; i < made.states.size(); ++i) {
      const TensorState* operand = made.states[i];
      if (!operand) continue;
      const Value value = made.arguments[i];
      const Keeps keeps = !facts ? Keeps::none : i == 0 ? facts->first : i == 1 ? facts->second : Keeps::none;
      // What an operator writes over itself it keeps apart.
      const bool kept = keeps == Keeps::always ||
          (keeps == Keeps::if_other && other_requires_grad(run_, made, i));
      if (kept && !(in_place && i == 0) && is_written(value, *operand)) return told(made, value, false);
      pending_.push_back({value, operand});
    }
    for (const TensorState* operand : made.listed)
      if (operand) pending_.push_back({Value{}, operand});
    return std::nullopt;
  }
  Runtime& run_;
  std::vector<std::pair<Value, const TensorState*>> pending_;
  std::unordered_set<const Producer*> seen_;
};

std::string written_text(Runtime& run, values::Place place) {
  std::string text(run.record().text(place));
  return values::is_quotable(text) ? "`" + text + "`" : std::string();
}

void judge_history(Call& call, Value loss, const TensorState& state) {
  const auto found = History(call.run).find(loss, state);
  if (!found || !found->kept_by->born) return;
  const std::string kept = written_text(call.run, found->kept_by->born),
                    name(last_part(found->kept_by->row->path));
  interpreter::ProblemEvent* event = call.run.problem(values::ProblemKind::overwritten, call);
  explain(*event,
      found->is_result ? why<Reason::result_overwritten>(kept.empty() ? name : kept)
                       : why<Reason::operand_overwritten>(kept.empty() ? name : kept));
  event->evidence.emplace_back(found->kept_by->born, "kept for the backward here");
  if (found->written && found->written->born)
    event->evidence.emplace_back(found->written->born, "written over here");
}

// Made by the program with requires_grad=True, or a parameter.
bool is_leaf(Runtime& run, Value target, const TensorState& state) {
  if (!target.is(Kind::tensor)) return false;
  if (target.as<Tensor>()->role == values::TensorRole::parameter)
    return state.grad_writes == trained_for_certain;
  if (!state.made || !state.made->row) return false;
  const Row& row = *state.made->row;
  for (std::size_t i = 0; i < row.parameters.size(); ++i)
    if (row.parameters[i].text() == "requires_grad" && i < state.made->arguments.size()) {
      const Value flag = state.made->arguments[i];
      if (!flag.is(Kind::boolean) || run.symbols().decide(flag.condition()) != Answer::yes) return false;
      // x.requires_grad_(): a leaf before, or not.
      return !row.self_first ||
          (!state.made->states.empty() && state.made->states[0] && row.path.ends_with("requires_grad_") &&
              run.heap().requires_grad(*state.made->states[0]) == values::Known::no);
    }
  return false;
}

// In a method that nobody calls on an object that was there before: whoever calls it may have switched
// gradients off, as those do that reset parameters. A forward is called where they are recorded, and so is
// the step of an optimizer, as good as always.
enum class Caller : std::uint8_t { records, steps, may_not_record };
Caller caller(Runtime& run) {
  if (!run.in_roots() || !run.of_any_use() || !run.site()) return Caller::records;
  const interpreter::CallSite* outermost = run.site();
  while (outermost->outer) outermost = outermost->outer;
  const values::Function* function = outermost->function;
  const std::string_view name = function ? function->name.text() : std::string_view();
  if (name == run.library().types().forward || name == "__init__") return Caller::records;
  const values::LibrarySymbol* base = function && function->owner ? function->owner->native : nullptr;
  return name == "step" && base && base->row && base->row->operation == values::Operation::optimizer_made
      ? Caller::steps
      : Caller::may_not_record;
}

}  // namespace

bool may_be_written(Op& op, Value target) {
  target = op.run.resolve(target);
  const TensorState* state = op.tensor(target);
  if (!state || op.run.heap().requires_grad(*state) != values::Known::yes ||
      op.run.records_gradients() != values::Known::yes || !is_leaf(op.run, target, *state))
    return true;
  const Caller called = caller(op.run);
  if (called == Caller::may_not_record) return true;
  const bool is_part = op.call.node && op.call.node->kind == syntax::ExprKind::subscript && !op.call.expr;
  const std::string name = is_part ? code(op.run.record().text({op.call.place.chunk,
                                         syntax::as<syntax::SubscriptExpr>(*op.call.node).object->span}))
                                   : op.name(op.call.row.parameters[0].text());
  op.fail(ProblemKind::leaf_written, why<Reason::leaf_written>(name, called == Caller::steps, is_part), {});
  op.told()->overridable = op.told()->overridable || called == Caller::steps;
  // Of the parameters of an optimizer it fails whatever the settings of the group are, by which the other
  // operand was computed.
  if (!state->shape.ndim_known) op.told()->guarded = op.run.guarded();
  if (state->made && state->made->born)
    op.told()->evidence.emplace_back(state->made->born, "it requires a gradient since here");
  return false;
}

// Of what was computed from such tensors alone nothing but a 1 says that it has dimensions: a 1 that was
// broadcast with what may be one number, too.
bool may_be_one_number(symbolic::Context& s, const TensorState& state, int depth = 0) {
  constexpr int most_operations = 8;  // back from the loss: a formula of a criterion
  const auto& dims = state.shape.dims;
  if (std::ranges::all_of(dims, [&](const Dim& dim) { return dim.size && s.value(dim.size) == 1; }))
    return true;
  if (!state.made || depth == most_operations) return false;
  std::size_t longest = 0;  // of the operands' dimensions, as far as they are known
  for (const TensorState* operand : state.made->states) {
    if (!operand) continue;
    if (!may_be_one_number(s, *operand, depth + 1)) return false;
    longest = std::max(longest, operand->shape.dims.size());
  }
  return dims.size() <= longest;
}

// How many dimensions the loss has is not known, but it has some: one number for each sample.
void judge_batch_of_losses(Call& call, const TensorState& state, symbolic::Cond where) {
  if (state.poisoned || state.shape.ndim_known || state.maybe_array || state.shape.dims.empty()) return;
  auto& s = call.run.symbols();
  if (may_be_one_number(s, state)) return;
  const symbolic::Cond several = call.run.named_condition(
      "the batch has more than one sample", Sharing::uniform);
  interpreter::ProblemEvent* event = call.run.problem(
      values::ProblemKind::not_scalar, call, where ? s.logical_and(where, several) : several);
  explain(*event, why<Reason::backward_of_batch>());
  if (state.made && state.made->born)
    event->evidence.emplace_back(state.made->born, "the loss is computed here");
}

void judge_backward(Call& call) {
  const Value loss = call.run.resolve(call.self);
  const TensorState* state = tensor_state(call.run, loss);
  if (!state || state->poisoned || call.spread) return;
  const Value gradient = call.run.resolve(call.at(0));
  const bool alone = !gradient || gradient.is(Kind::none);
  if (alone && state->shape.ndim_known && !state->maybe_array && !(state->unseen && !state->made)) {
    auto& s = call.run.symbols();
    Int count = s.constant(1);
    for (const Dim& dim : state->shape.dims) count = count && dim.size ? s.mul(count, dim.size) : nullptr;
    const symbolic::Cond several = count ? s.compared(Compare::ne, count, s.constant(1)) : nullptr;
    const Answer answer = several ? s.decide(several) : Answer::no;
    if (answer != Answer::no) {
      interpreter::ProblemEvent* event = call.run.problem(
          values::ProblemKind::not_scalar, call, answer == Answer::yes ? nullptr : several);
      explain(*event, why<Reason::backward_of_many>(state->shape));
      if (state->made && state->made->born)
        event->evidence.emplace_back(state->made->born, "the loss is computed here");
      if (answer == Answer::yes) return;
    }
  }
  if (alone) judge_batch_of_losses(call, *state, nullptr);
  judge_history(call, loss, *state);
}

Column saved_column() { return column_of("saved", saved); }

}  // namespace stepzero::libraries
