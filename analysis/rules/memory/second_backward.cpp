#include "rules/memory/second_backward.hpp"
#include "values/shape_text.hpp"

#include "libraries/torch/nn/modules.hpp"
#include "rules/provenance.hpp"
#include "rules/training/training_loops.hpp"

#include <algorithm>
#include <deque>

namespace stepzero::rules {

using values::code;

using namespace interpreter;
using values::Kind;
using values::Known;
using values::Operation;
using values::TensorRole;

namespace {

constexpr std::size_t most_backwards = 24;  // compared each with each
constexpr std::size_t most_nodes = 4096;    // operations before each

// Does the graph hold it as the result of an operation through which gradients go? Of a parameter it holds
// nothing, whatever its first numbers were computed from.
bool is_node(const TensorState* state) {
  return state && state->grad_writes != libraries::trained_for_certain &&
      state->requires_grad == Known::yes && state->made && state->made->row &&
      state->made->row->operation != Operation::created && !state->poisoned;
}
bool has_parameters(Value layer) {
  if (!layer.is(Kind::instance)) return false;
  const auto& attributes = layer.as<Instance>()->attributes.entries();
  return std::any_of(attributes.begin(), attributes.end(), [](const auto& entry) {
    const Value value = entry.second->value;
    return value.is(Kind::tensor) && value.template as<values::Tensor>()->role == TensorRole::parameter;
  });
}
// Its backward needs what the forward saved, and fails where that was freed. A sum needs nothing. As
// PyTorch 2.13 answers, operator by operator.
bool needs_saved(const Producer& made) {
  if (has_parameters(made.self)) return true;
  switch (semantics(made)) {
  case OpSemantics::linear:
  case OpSemantics::product: return inputs(made).size() >= 2;
  case OpSemantics::mul:
  case OpSemantics::div:
  case OpSemantics::power:
  case OpSemantics::square:
  case OpSemantics::sqrt:
  case OpSemantics::inverse_sqrt:
  case OpSemantics::log:
  case OpSemantics::norm:
  case OpSemantics::outer:
  case OpSemantics::cosine:
  case OpSemantics::sine:
  case OpSemantics::not_negative:
  case OpSemantics::bounded:
  case OpSemantics::within_one:
  case OpSemantics::normalized:
  case OpSemantics::softmax:
  case OpSemantics::log_softmax:
  case OpSemantics::sigmoid:
  case OpSemantics::exp:
  case OpSemantics::attended: return true;
  default: return false;
  }
}
// All nodes that a backward of the loss goes through, the nearest first.
std::vector<const TensorState*> nodes_of(const TensorState* loss) {
  std::vector<const TensorState*> found;
  std::unordered_set<const void*> seen;
  std::deque<const TensorState*> left{loss};
  while (!left.empty() && found.size() < most_nodes) {
    const TensorState* state = left.front();
    left.pop_front();
    if (!is_node(state) || !seen.insert(state->made).second) continue;
    found.push_back(state);
    for (const TensorState* each : inputs(*state->made)) left.push_back(each);
  }
  return found;
}

// Is the earlier one always made before the later one?
bool always_before(const TrainingEvent& earlier, const TrainingEvent& later) {
  if (earlier.in_handler || earlier.in_attempt || later.in_handler || later.in_attempt ||
      earlier.loops.size() > later.loops.size())
    return false;
  if (!std::equal(earlier.loops.begin(), earlier.loops.end(), later.loops.begin())) return false;
  return std::all_of(earlier.turns.begin(), earlier.turns.end(), [&](const Turn& turn) {
    return std::any_of(later.turns.begin(), later.turns.end(),
        [&](const Turn& other) { return other.branch == turn.branch && other.yes == turn.yes; });
  });
}
bool frees(const Record& record, const OperationEvent& backward) {
  for (const std::string_view flag : {"retain_graph", "create_graph"})
    if (const Value given = argument(backward, flag);
        given && !given.is(Kind::none) && truth(record, given) != Answer::no)
      return false;
  const Value some = argument(backward, "inputs");
  return !some || some.is(Kind::none);
}

}  // namespace

void look_for_freed_graph(const Record& record, Report& report, const Training& training, Once& once) {
  for (const TrainingRoot& training_root : training.training_roots()) {
    if (training_root.handed_over || training_root.root->truncated) continue;
    std::vector<const TrainingEvent*> backwards;
    for (const TrainingEvent& each : training_root.all)
      if (each.event->row->operation == Operation::backward && is_node(each.event->self_state()) &&
          !each.event->expected)
        backwards.push_back(&each);
    if (backwards.size() < 2) continue;
    // Of a loop that was run iteration by iteration the first ones say what the others do.
    if (backwards.size() > most_backwards) backwards.resize(most_backwards);
    std::vector<std::vector<const TensorState*>> nodes;
    for (const TrainingEvent* each : backwards) nodes.push_back(nodes_of(each->event->self_state()));
    for (std::size_t i = 0; i + 1 < backwards.size(); ++i) {
      if (!frees(record, *backwards[i]->event)) continue;
      std::unordered_set<const void*> freed;
      for (const TensorState* each : nodes[i]) freed.insert(each->made);
      for (std::size_t j = i + 1; j < backwards.size(); ++j) {
        if (!always_before(*backwards[i], *backwards[j])) continue;
        const TensorState* first = nullptr;
        bool needs = false;
        for (const TensorState* each : nodes[j]) {
          if (!freed.contains(each->made)) continue;
          if (!first) first = each;
          needs = needs || needs_saved(*each->made);
        }
        const OperationEvent& event = *backwards[j]->event;
        if (!needs || !once(event.place)) continue;
        std::string what(Provenance::of(record).name_of(first));
        if (what.empty()) what = text_of(record, *first->made);
        const bool same = event.place == backwards[i]->event->place;
        Finding* finding = report.add(Severity::error, event.place, event.calls,
            "This backward goes through " + code(what) + ", whose graph " +
                (same ? "the previous iteration" : "an earlier backward") +
                " has freed: it raises \"Trying to backward through the graph a second time\". Detach what the first backward should not train, add the losses for one backward, or pass `retain_graph=True` to the first.");
        if (!finding) continue;
        if (!same) report.relate(*finding, backwards[i]->event->place, "it is freed here");
        report.relate(*finding, first->made->born, "computed once, here");
      }
    }
  }
}

}  // namespace stepzero::rules
