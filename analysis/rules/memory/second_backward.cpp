#include "rules/memory/second_backward.hpp"
#include "values/shape_text.hpp"

#include "libraries/torch/nn/modules.hpp"
#include "rules/memory/carried_graph.hpp"
#include "rules/provenance.hpp"
#include "rules/training/absent.hpp"
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
// All nodes that a backward of the loss goes through whichever path was taken, the nearest first.
class Nodes {
public:
  static std::vector<const TensorState*> of(const TensorState* loss) { return Nodes().through(loss); }

private:
  std::unordered_map<const TensorState*, std::vector<const TensorState*>> of_either_;
  std::size_t looked_at_ = 0;

  std::vector<const TensorState*> through(const TensorState* from) {
    std::vector<const TensorState*> found;
    std::unordered_set<const void*> seen;
    std::deque<const TensorState*> left{from};
    const auto pass = [&](const TensorState* state) {
      found.push_back(state);
      for (const TensorState* each : inputs(*state->made)) left.push_back(each);
    };
    while (!left.empty() && looked_at_ < most_nodes) {
      const TensorState* state = left.front();
      left.pop_front();
      if (is_node(state) && seen.insert(state->made).second) {
        ++looked_at_;
        pass(state);
      } else if (state && !state->made && state->either && seen.insert(state->either).second) {
        for (const TensorState* each : through_both(*state))
          if (seen.insert(each->made).second) found.push_back(each);
      }
    }
    return found;
  }
  const std::vector<const TensorState*>& through_both(const TensorState& state) {
    const auto [at, is_new] = of_either_.try_emplace(&state);
    if (!is_new) return at->second;
    std::unordered_set<const void*> others;
    for (const TensorState* each : through(state.either->other)) others.insert(each->made);
    std::vector<const TensorState*> both = through(state.either->one);
    std::erase_if(both, [&](const TensorState* each) { return !others.contains(each->made); });
    return of_either_[&state] = std::move(both);
  }
};
std::vector<const TensorState*> nodes_of(const TensorState* loss) { return Nodes::of(loss); }

// Is the earlier one always made before the later one?
bool always_before(const TrainingEvent& earlier, const TrainingEvent& later) {
  if (earlier.in_handler || earlier.in_attempt || later.in_handler || later.in_attempt ||
      earlier.loops.size() > later.loops.size())
    return false;
  if (!std::equal(earlier.loops.begin(), earlier.loops.end(), later.loops.begin())) return false;
  return std::all_of(earlier.turns.begin(), earlier.turns.end(), [&](const Turn& turn) {
    return !turn.branch->stmt || std::any_of(later.turns.begin(), later.turns.end(), [&](const Turn& other) {
      return other.branch == turn.branch && other.yes == turn.yes;
    });
  });
}
// The one is run for another value of a choice than the other: the same condition has the same answer each
// time that it is asked.
bool are_of_other_values(const TrainingEvent& a, const TrainingEvent& b) {
  return std::ranges::any_of(a.turns, [&](const Turn& turn) {
    return !turn.branch->stmt && std::ranges::any_of(b.turns, [&](const Turn& other) {
      return other.branch->condition == turn.branch->condition && other.yes != turn.yes;
    });
  });
}
// One backward of the program that is run for each of the values that its loss may be.
bool are_sides_of_one(const TrainingEvent& a, const TrainingEvent& b) {
  const auto of_program = [](const TrainingEvent& each) {
    std::vector<std::pair<const BranchEvent*, bool>> turns;
    for (const Turn& turn : each.turns)
      if (turn.branch->stmt) turns.emplace_back(turn.branch, turn.yes);
    return turns;
  };
  return a.event->place == b.event->place && a.event->calls == b.event->calls && a.loops == b.loops &&
      of_program(a) == of_program(b) && (&a == &b || are_of_other_values(a, b));
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

namespace {
// A backward that goes through what an earlier one has freed.
struct Freed {
  const TrainingEvent* backward;
  const TrainingEvent* by;
  const TensorState* first;  // of what both go through, the nearest to the loss
};
// Do the gradients go through the operations of an earlier iteration, whose backward keeps its graph?
bool goes_through_kept(
    const Record& record, const std::vector<const TrainingEvent*>& backwards, std::size_t later) {
  const TrainingEvent& each = *backwards[later];
  const auto retains = [&](const OperationEvent& event) {
    return truth(record, argument(event, "retain_graph")) == Answer::yes;
  };
  if (!retains(*each.event) || each.loops.empty()) return false;
  const std::vector<const TensorState*> nodes = nodes_of(each.event->self_state());
  for (std::size_t i = 0; i < later; ++i) {
    const TrainingEvent& earlier = *backwards[i];
    if (earlier.event->place != each.event->place || earlier.event->calls != each.event->calls ||
        earlier.loops != each.loops || are_of_other_values(earlier, each) || !always_before(earlier, each))
      continue;
    // The weights have changed in between: what the graph saved of them is not what they are.
    const bool stepped = std::any_of(&earlier, &each,
        [](const TrainingEvent& between) { return static_cast<bool>(stepped_optimizer(*between.event)); });
    std::unordered_set<const void*> before;
    for (const TensorState* node : nodes_of(earlier.event->self_state())) before.insert(node->made);
    if (stepped && std::ranges::any_of(nodes, [&](const TensorState* node) {
          return before.contains(node->made) && needs_saved(*node->made);
        }))
      return true;
  }
  return false;
}
std::vector<Freed> freed_by_earlier(
    const Record& record, const std::vector<const TrainingEvent*>& backwards) {
  std::vector<std::vector<const TensorState*>> nodes;
  nodes.reserve(backwards.size());
  for (const TrainingEvent* each : backwards) nodes.push_back(nodes_of(each->event->self_state()));
  std::vector<Freed> found;
  for (std::size_t i = 0; i + 1 < backwards.size(); ++i) {
    const auto begin = backwards.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::any_of(backwards.begin(), begin,
            [&](const TrainingEvent* other) { return are_sides_of_one(*other, *backwards[i]); }))
      continue;
    for (std::size_t j = i + 1; j < backwards.size(); ++j) {
      if (are_sides_of_one(*backwards[i], *backwards[j]) || !always_before(*backwards[i], *backwards[j]))
        continue;
      // Whichever value the earlier loss had, its backward has freed what this one needs.
      const TensorState* first = nullptr;
      bool all = true;
      for (std::size_t k = i; k < j && all; ++k) {
        if (!are_sides_of_one(*backwards[i], *backwards[k]) ||
            are_of_other_values(*backwards[k], *backwards[j]))
          continue;
        std::unordered_set<const void*> freed;
        if (frees(record, *backwards[k]->event))
          for (const TensorState* each : nodes[k]) freed.insert(each->made);
        bool needs = false;
        for (const TensorState* each : nodes[j]) {
          if (!freed.contains(each->made)) continue;
          if (!first) first = each;
          needs = needs || needs_saved(*each->made);
        }
        all = needs;
      }
      if (all && first) found.push_back({backwards[j], backwards[i], first});
    }
  }
  return found;
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
    for (std::size_t i = 1; i < backwards.size(); ++i)
      if (goes_through_kept(record, backwards, i) && once(backwards[i]->event->place))
        report_growing_graph(report, *backwards[i]);
    const std::vector<Freed> all = freed_by_earlier(record, backwards);
    for (const auto& [backward, by, first] : all) {
      // Where the loss is one of several values, it fails for each of them, or not always.
      const bool always = std::ranges::all_of(backwards, [&](const TrainingEvent* other) {
        return !are_sides_of_one(*other, *backward) ||
            std::ranges::find(all, other, &Freed::backward) != all.end();
      });
      const OperationEvent& event = *backward->event;
      if (!once(event.place)) continue;
      std::string what(Provenance::of(record).name_of(first));
      if (what.empty()) what = text_of(record, *first->made);
      const bool same = event.place == by->event->place;
      Finding* finding = report.add(always ? Severity::error : Severity::warning, event.place, event.calls,
          "This backward goes through " + code(what) + ", whose graph " +
              (same ? "the previous iteration" : "an earlier backward") +
              " has freed: it raises \"Trying to backward through the graph a second time\". Detach what the first backward should not train, add the losses for one backward, or pass `retain_graph=True` to the first.");
      if (!finding) continue;
      if (!same) report.relate(*finding, by->event->place, "it is freed here");
      report.relate(*finding, first->made->born, "computed once, here");
    }
  }
}

}  // namespace stepzero::rules
