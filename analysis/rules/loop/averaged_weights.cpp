// loop/averaged-weights: a moving average of weights that is written into the network that is trained, or
// that keeps next to nothing of what it averages.
#include "libraries/torch/meaning/shown_weights.hpp"
#include "rules/digits.hpp"
#include "rules/provenance.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/parts.hpp"
#include "rules/training/training.hpp"
#include "values/kept.hpp"
#include "values/limits.hpp"
#include "values/numbers.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <cmath>

namespace stepzero::rules::loop::averaged_weights {

using values::code;

using namespace interpreter;
using values::Kind;
using values::Operation;
using values::Tensor;

namespace {

// An average of weights keeps most of what it had: programs that decay by the number of steps begin at a
// tenth.
constexpr double least_kept = 0.05;
constexpr double rounding = 1e-6;
constexpr int longest_sum = 12;  // operations from the weights to what is written

// Weights that go into a sum: the parameter, and the number it is multiplied by, where that is known.
struct Term {
  const Tensor* weights = nullptr;
  std::optional<double> factor;
};

bool is_weights(Value value) {
  return value.is(Kind::tensor) && value.as<Tensor>()->role != values::TensorRole::plain;
}

// Parts what an operation writes into a sum of weights, each times a number.
class Sum {
public:
  explicit Sum(const Record& record) : record_(record) {}

  // False if it is something else.
  bool add(const Producer& made, std::optional<double> factor, int depth = 0) {
    const auto of = [&](std::size_t i, std::optional<double> by) {
      return i < made.arguments.size() && add(made.arguments[i], input(made, i), by, depth + 1);
    };
    switch (semantics(made)) {
    case OpSemantics::same:
    case OpSemantics::detached: return of(0, factor);
    case OpSemantics::copied: return of(1, factor);
    case OpSemantics::add: return of(0, factor) && of(1, times(factor, scale(made)));
    case OpSemantics::sub: return of(0, factor) && of(1, times(times(factor, scale(made)), -1));
    case OpSemantics::mul: {
      const std::size_t tensor = input(made, 0) ? 0 : 1;
      if (made.arguments.size() < 2 || input(made, 1 - tensor)) return false;
      return of(tensor, times(factor, known(made.arguments[1 - tensor])));
    }
    case OpSemantics::interpolated: {
      const auto weight = known(argument(made, "weight"));
      return of(0, times(factor, weight ? std::optional(1 - *weight) : std::nullopt)) &&
          of(1, times(factor, weight));
    }
    default: return false;
    }
  }

  std::vector<Term> terms;
  bool by_default = false;  // a factor is known where parameters have their defaults

private:
  std::optional<double> known(Value factor) {
    if (const auto found = number(record_, factor)) return found;
    const auto found = values::number_by_default(record_.symbols, factor);
    by_default = by_default || found;
    return found;
  }
  bool add(Value value, const TensorState* state, std::optional<double> factor, int depth) {
    if (!state || depth > longest_sum) return false;
    // What an average has left, an iteration ago, is what the weights are now; `p.mul_(m)` is the half of
    // one.
    const Producer* made = state->made;
    const bool half = made && libraries::writes_in_place(*made) && !libraries::averages(semantics(*made));
    if (is_weights(value) && !half) made = nullptr;
    const std::size_t before = terms.size();
    if (made && add(*made, factor, depth)) return true;
    terms.resize(before);
    if (!is_weights(value)) return false;
    terms.push_back({value.as<Tensor>(), factor});
    return true;
  }
  static std::optional<double> times(std::optional<double> one, std::optional<double> other) {
    return one && other ? std::optional(*one * *other) : std::nullopt;
  }
  // add(…, alpha=…)
  std::optional<double> scale(const Producer& made) {
    const Value alpha = argument(made, "alpha");
    return alpha ? known(alpha) : std::optional(1.0);
  }

  const Record& record_;
};

// Weights that become a sum of themselves and others: kept * into + taken * from.
struct Average {
  const OperationEvent* write = nullptr;
  const Root* root = nullptr;
  const Tensor *into = nullptr, *from = nullptr;
  std::optional<double> kept, taken;
  bool by_default = false;
};

std::optional<Average> average_of(const Record& record, const OperationEvent& write, const Producer& made) {
  Sum sum(record);
  if (!sum.add(made, 1.0)) return std::nullopt;
  const auto* into = write.self.as<Tensor>();
  Average average{.write = &write,
      .root = nullptr,
      .into = into,
      .from = nullptr,
      .kept = 0.0,
      .taken = 0.0,
      .by_default = false};
  bool keeps = false;
  for (const Term& term : sum.terms) {
    if (term.weights != into && average.from && average.from != term.weights) return std::nullopt;
    if (term.weights == into)
      keeps = true;
    else
      average.from = term.weights;
    std::optional<double>& factor = term.weights == into ? average.kept : average.taken;
    factor = factor && term.factor ? std::optional(*factor + *term.factor) : std::nullopt;
  }
  average.by_default = sum.by_default;
  // Of nothing but itself, by a sum that is written as one of two networks: its shares are known to add up to
  // 1. A decay of weights leaves less.
  const bool of_itself = keeps && !average.from && sum.terms.size() > 1 && !into->any_of && average.kept &&
      std::abs(*average.kept - 1) <= rounding;
  if (of_itself) {
    average.from = into;
    return average;
  }
  if (!keeps || !average.from) return std::nullopt;
  if (average.kept && average.taken && std::abs(*average.kept + *average.taken - 1) > rounding)
    return std::nullopt;
  return average;
}

// Every average of weights that the run came to.
std::vector<Average> averages_of(const Record& record) {
  std::vector<Average> found;
  for (const auto* list : {&record.roots, &record.default_roots})
    for (const auto& root : *list)
      visit_operations(
          record, *root, with_operation(Operation::weights_written), [&](const OperationEvent& write) {
            const TensorState* written = is_weights(write.self) ? write.argument_state(0) : nullptr;
            if (!written || !written->made) return;
            if (auto average = average_of(record, write, *written->made)) {
              average->root = root.get();
              found.push_back(*average);
            }
          });
  return found;
}

// The module that the tensor is any weight of; null of a tensor that is known.
const Object* home_of(const Tensor& weights) {
  const TensorState* state = weights.any_of ? weights.now() : nullptr;
  constexpr int most_writes = 16;  // operations back, of one update: `decay * average + (1 - decay) * weight`
  for (int way = 0; state && state->made && way < most_writes; ++way) {
    if (!libraries::writes_in_place(*state->made)) return state->made->self.object();
    state = input(*state->made);
  }
  return nullptr;
}

// Who trains which tensor, and what takes a state while training goes on.
struct Trained {
  // The tensor, or the module of which not all is known, and where its optimizer is made.
  std::map<const Object*, const OperationEvent*> by;
  std::set<const Object*> loaded;
  bool complete = true;  // what every optimizer has is known

  // Of one of them, or of a module that one is a part of, or that is a part of one.
  const OperationEvent* optimizer_of(const Tensor& weights) const {
    if (const auto found = by.find(&weights); found != by.end()) return found->second;
    const Object* home = home_of(weights);
    if (!home) return nullptr;
    for (const auto& [trained, optimizer] : by)
      if (dynamic_cast<const Tensor*>(trained) == nullptr && belong_together(trained, home) == Answer::yes)
        return optimizer;
    return nullptr;
  }
};

// What an optimizer was given: tensors, and modules.
void add_given(Value given, const OperationEvent& optimizer, Trained& found, int depth = 0) {
  const auto add = [&](Value part) { add_given(part, optimizer, found, depth + 1); };
  if (depth > values::deepest_data) return;
  switch (given.kind) {
  case Kind::tensor: {
    const Object* home = home_of(*given.as<Tensor>());
    found.by.emplace(home ? home : given.object(), &optimizer);
    return;
  }
  case Kind::instance:
    if (const Value of = attribute(given.object(), values::OptimizerState::of); of.object())
      found.by.emplace(of.object(), &optimizer);
    else
      found.complete = false;
    return;
  case Kind::tuple:
    for (const Value& item : given.as<values::Tuple>()->items) add(item);
    return;
  case Kind::list:
    for (const Value& item : values::Heap::list_state(given)->items) add(item);
    if (values::Heap::list_state(given)->open) add(values::Heap::list_state(given)->rest);
    return;
  case Kind::dict:
    for (const auto& [key, item] : values::Heap::dict_state(given)->items)
      if (!key.is(Kind::string) || key.text() == "params") add(item);
    return;
  default: found.complete = false;
  }
}

void add_loaded(const Event& event, Trained& found) {
  const auto* load = event.kind == EventKind::operation ? static_cast<const OperationEvent*>(&event)
                                                        : nullptr;
  if (!load || load->row->operation != Operation::state_put) return;
  Parts parts;
  parts.add(load->self);
  found.loaded.insert(parts.found.begin(), parts.found.end());
}

bool trains(const LoopEvent& loop) {
  bool found = false;
  for (const Block& iteration : loop.iterations)
    visit(iteration, [&](const Event& event) {
      const auto* operation = event.kind == EventKind::operation ? static_cast<const OperationEvent*>(&event)
                                                                 : nullptr;
      found = found || (operation && operation->row->operation == Operation::backward);
    });
  return found;
}

// Methods of an object that nobody makes are called in any order, again and again: all but what happens where
// its optimizers are made.
void add_trained(const Record& record, const Root& root, Trained& found) {
  std::set<const syntax::Stmt*> makers;
  visit(root.block, [&](const Event& event) {
    if (event.kind == EventKind::loop && trains(static_cast<const LoopEvent&>(event)))
      for (const Block& iteration : static_cast<const LoopEvent&>(event).iterations)
        visit(iteration, [&](const Event& inner) { add_loaded(inner, found); });
    if (event.kind != EventKind::operation) return;
    const auto& made = static_cast<const OperationEvent&>(event);
    if (made.row->operation != Operation::optimizer_made) return;
    makers.insert(definition_around(record, made.place));
    const Value tensors = attribute(made.self.object(), values::LoaderState::tensors);
    add_given(
        tensors.is(Kind::tuple) ? tensors : attribute(made.self.object(), values::OptimizerState::parameters),
        made, found);
  });
  if (root.owner)
    visit(root.block, [&](const Event& event) {
      if (!makers.contains(definition_around(record, event.place))) add_loaded(event, found);
    });
}

std::string percent(double part) { return in_digits(100 * part) + " %"; }

// What stands for the weights: the tensor, or its module.
const Object* subject(const Tensor& weights) {
  const Object* home = home_of(weights);
  return home ? home : &weights;
}

void check(const Record& record, Report& report) {
  const std::vector<Average> averages = averages_of(record);
  if (averages.empty()) return;
  std::set<const Object*> written;
  for (const Average& each : averages) written.insert(subject(*each.into));
  Trained optimizers;
  for (const auto& root : record.roots) add_trained(record, *root, optimizers);
  Once once;
  for (const Average& each : averages) {
    if (each.from == each.into) {
      if (!once(each.write->place)) continue;
      Finding* finding = report.add(Severity::warning, each.write->place, each.write->calls,
          "This averages weights with themselves and changes nothing: both networks are the same object. Make the one that is averaged a copy: `copy.deepcopy(…)`.");
      if (finding) report.relate_calls(*finding, each.write->calls);
      continue;
    }
    const OperationEvent* optimizer = optimizers.optimizer_of(*each.into);
    const bool from_trained = optimizers.optimizer_of(*each.from);
    const Object* source = subject(*each.from);
    if (optimizers.complete && optimizer && !from_trained && !written.contains(source) &&
        !optimizers.loaded.contains(source)) {
      if (!once(each.write->place)) continue;
      Finding* finding = report.add(Severity::warning, each.write->place, each.write->calls,
          "This moving average is written into weights that an optimizer trains, and nothing ever changes the weights that it is taken from: the average never moves, and the trained weights are pulled back to it. Swap the two networks.");
      if (!finding) continue;
      report.relate(*finding, optimizer->place, "the optimizer that trains the weights written to");
      report.relate_calls(*finding, each.write->calls);
    } else if (each.kept && each.taken && *each.kept > 0 && *each.kept <= least_kept &&
        (!optimizer || from_trained)) {
      if (!once(each.write->place)) continue;
      Finding* finding = report.add(Severity::warning, each.write->place, each.write->calls,
          "This moving average keeps " + percent(*each.kept) + " of its weights and takes " +
              percent(*each.taken) + " from the others: after one update it is little more than their copy" +
              (!each.root->defaults.empty() ? ", with the defaults of " + each.root->defaults
                      : each.by_default     ? std::string(", with the defaults of its parameters")
                                            : "") +
              ". Swap the two factors.");
      if (finding) report.relate_calls(*finding, each.write->calls);
    }
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "loop/averaged-weights",
    .severity = Severity::warning,
    .summary =
        "a moving average of weights goes into the trained network or into itself, or keeps next to nothing of what it averages",
    .why =
        "A teacher, a target network or an EMA of a model is updated after each step: it keeps most of its own weights (99 to 99.99 %) and takes the rest from the network that is trained. With the two networks swapped, the trained one is pulled back to a copy that never changes; with the two factors swapped, the average is the trained network itself, a step late. Both run, and the loss even falls.",
    .wrong = "with torch.no_grad():\n"
             "    for p, average in zip(model.parameters(), ema.parameters()):\n"
             "        average.mul_(1 - 0.999).add_(p, alpha=0.999)\n",
    .right = "with torch.no_grad():\n"
             "    for p, average in zip(model.parameters(), ema.parameters()):\n"
             "        average.mul_(0.999).add_(p, alpha=1 - 0.999)\n",
    .silent =
        "Copies (`tau=1`); averages that keep a tenth or more, as a decay that grows with the step does in its first steps; factors that are not known; networks of which the source is trained, averaged or loaded, too, as in federated training; sums that go into a third network.",
    .fix = "None: which of the two is meant, and whose name is wrong, cannot be seen.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::loop::averaged_weights
