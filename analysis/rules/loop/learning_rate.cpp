// loop/learning-rate: numbers of an optimizer that are far from what is used with it.
#include "rules/digits.hpp"
#include "rules/rule.hpp"
#include "rules/training/absent.hpp"
#include "values/shape_text.hpp"

namespace stepzero::rules::loop::learning_rate {

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

// What the program writes, or what its command line has where nobody says otherwise.
std::optional<double> number(const Record& record, Value value, bool with_default) {
  if (value.is(Kind::unknown) && with_default) value = value.as<values::Unknown>()->default_value;
  if (value.is(Kind::real)) return value.real();
  if (value.is(Kind::integer))
    if (const auto known = record.symbols.value(value.integer())) return static_cast<double>(*known);
  return std::nullopt;
}

// The number for the parameter, or the largest of those in groups of parameters; nothing if it is not known,
// or left to its default.
std::optional<double> given(
    const Record& record, const OperationEvent& made, std::string_view name, bool with_default) {
  std::optional<double> found = number(record, argument(made, name), with_default);
  const Value groups = argument(made, 0);
  if (!groups.is(Kind::list)) return found;
  for (const Value& group : values::Heap::list_state(groups)->items) {
    if (!group.is(Kind::dict)) continue;
    for (const auto& [key, value] : values::Heap::dict_state(group)->items)
      if (key.is(Kind::string) && key.text() == name)
        if (const auto own = number(record, value, with_default); own && (!found || *own > *found))
          found = own;
  }
  return found;
}

// Does the optimizer step in a loop? Programs that only try what an optimizer does have any numbers.
bool trains(const TrainingRoot& training_root, const Object* optimizer) {
  for (const TrainingEvent& each : training_root.all)
    if (stepped_optimizer(*each.event).object() == optimizer && !each.loops.empty() &&
        repeats(*each.loops.back()))
      return true;
  return false;
}

void look_at(const Record& record, const TrainingRoot& training_root, Report& report, Once& once) {
  for (const TrainingEvent& each : training_root.all) {
    const OperationEvent& made = *each.event;
    if (made.row->operation != Operation::optimizer_made ||
        !trains(training_root, training_root.standing(made.self.object())))
      continue;
    const values::OptimizerInfo* info = made.row->optimizer;
    if (!info) continue;
    const std::string name(made.row->path.substr(made.row->path.rfind('.') + 1));
    // One of several optimizers to choose from: the defaults of the command line are meant for the one that
    // it takes.
    const bool with_default = each.turns.empty();
    const auto rate = given(record, made, "lr", with_default),
               decay = given(record, made, "weight_decay", with_default);
    std::string message;
    if (info->rate > 0 && rate && *rate >= info->rate)
      message = values::code(name) + " with `lr=" + in_digits(*rate) + "`: " + std::string(info->why);
    else if (info->decay > 0 && decay && *decay >= info->decay)
      message = "`weight_decay=" + in_digits(*decay) +
          "` is far above what is used (0.1 at most, mostly): it pulls the weights to zero faster than they learn. Use a smaller one.";
    else if (!info->decoupled.empty() && decay && *decay >= 0.01)
      message = values::code(name) + " adds `weight_decay=" + in_digits(*decay) +
          "` to the gradient, where it is divided by their size like everything else. Use " +
          values::code(info->decoupled) + ", which takes a decay that large off the weights.";
    if (!message.empty() && once(made.place)) report.add(Severity::hint, made.place, made.calls, message);
  }
}

void check(const Record& record, Report& report) {
  const Training& training = Training::of(record);
  Once once;
  for (const TrainingRoot& training_root : training.training_roots())
    look_at(record, training_root, report, once);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "loop/learning-rate",
    .severity = Severity::hint,
    .summary = "a learning rate or weight decay far from what is used with the optimizer",
    .why =
        "Adam's steps have about the size of the learning rate, whatever the size of the gradients: 0.1, usual for SGD, moves every weight by "
        "0.1 per step (measured with AdamW: after the first 50 of 300 steps the loss still rises to 47.4 at 0.3, and to 1.02 at 0.003). A weight decay of 0.5 is five times the largest that is commonly used. And Adam adds the decay to the gradient, "
        "which it then divides by its size, so a decay that works with AdamW does something else there.",
    .wrong = "optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)\n",
    .right = "optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, weight_decay=0.1)\n",
    .silent =
        "SGD with 0.1; small decays with Adam (1e-4, 5e-4), which many recipes use; values that are not known.",
    .fix = "None: the numbers are your choice.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::loop::learning_rate
