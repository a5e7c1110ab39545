#include "rules/memory/carried_graph.hpp"

#include "rules/training/absent.hpp"
#include "symbolic/naming.hpp"
#include "values/limits.hpp"

#include <algorithm>

namespace stepzero::rules {

using namespace interpreter;
using values::Kind;
using values::Object;
using values::Operation;

namespace {

// What the backward is made of, on each way that it may have been computed.
std::vector<const values::TensorState*> states_of(const OperationEvent& backward) {
  std::vector<const values::TensorState*> found;
  const auto add = [&](Value value, const auto& again, int depth) -> void {
    if (value.is(Kind::choice) && depth < values::most_choices) {
      again(value.as<values::Choice>()->yes, again, depth + 1);
      again(value.as<values::Choice>()->no, again, depth + 1);
    } else if (value.is(Kind::tensor)) {
      found.push_back(value.as<values::Tensor>()->now());
    }
  };
  if (const values::TensorState* state = backward.self_state())
    found.push_back(state);
  else
    add(backward.self, add, 0);
  return found;
}

// Marks of what the iterations before have left, of this loop or of the loops within it.
std::set<const Object*> carried_marks(const TrainingLoop& loop, bool within) {
  std::set<const Object*> marks;
  for (const TrainingEvent& each : loop.training_root->all)
    if (!each.loops.empty() && each.event->row->operation == Operation::kept && !each.event->place &&
        (within ? each.loops.back() != loop.loop && each.in(loop.loop) : each.loops.back() == loop.loop))
      marks.insert(each.event->arguments[0].object());
  return marks;
}

bool meets(const values::Graph& graph, const std::set<const Object*>& marks) {
  return std::ranges::any_of(graph, [&](const Object* source) { return marks.contains(source); });
}

}  // namespace

std::size_t decisions(const TrainingEvent& each) {
  return static_cast<std::size_t>(std::ranges::count_if(each.turns, [&](const Turn& turn) {
    const symbolic::Cond condition = turn.branch->condition;
    return turn.branch->stmt || !symbolic::is_anonymous(condition);
  }));
}

bool is_of_earlier(const Record& record, const TrainingLoop& loop, const values::TensorState& loss) {
  if (!record.earlier || !loss.graph.contains(record.earlier)) return false;
  return meets(loss.graph, carried_marks(loop, false)) || !meets(loss.graph, carried_marks(loop, true));
}

void report_growing_graph(Report& report, const TrainingEvent& backward) {
  const OperationEvent& event = *backward.event;
  Finding* finding = report.add(Severity::warning, event.place, event.calls,
      "This loss is computed from what the previous iteration left, with its history, and `retain_graph=True` keeps the graphs of all iterations: each backward goes "
      "through all of them, memory and time grow with every iteration, and the weights that they saved have been stepped since. Carry over the value alone, with "
      "`.detach()`, and remove `retain_graph=True`.");
  if (finding) report.relate(*finding, backward.loops.back()->place, "from the second iteration on");
}

void look_for_second_backward(const Record& record, Report& report, const TrainingLoop& loop, Once& once) {
  std::size_t conditions = decisions(*loop.backward);
  const std::set<const Object*> marks = carried_marks(loop, false);
  if (marks.empty()) return;
  for (const TrainingEvent& each : loop.training_root->all)
    if (!each.loops.empty() && each.loops.back() == loop.loop)
      conditions = std::min(conditions, decisions(each));
  for (const TrainingEvent& each : loop.training_root->all) {
    const OperationEvent& backward = *each.event;
    if (backward.row->operation != Operation::backward || each.loops.empty() ||
        each.loops.back() != loop.loop)
      continue;
    // Of several rounds together it goes through what no backward has freed yet.
    if (loop.loop->unrolled && !loop.everywhere.contains({backward.place.chunk, backward.place.span.end}))
      continue;
    // Nothing is left in the first iteration, so that there it may be computed otherwise.
    const auto losses = states_of(backward);
    const auto carried = std::ranges::find_if(losses, [&](const values::TensorState* loss) {
      return loss->requires_grad == values::Known::yes && meets(loss->graph, marks);
    });
    // After a condition it may be of several rounds together.
    if (carried == losses.end() || losses.size() > 2 || each.in_handler || decisions(each) > conditions)
      continue;
    const auto keeps = [&](std::string_view flag) {
      const Value given = argument(backward, flag);
      return given && truth(record, given) != Answer::no;
    };
    if (keeps("create_graph")) continue;
    if (keeps("retain_graph")) {
      if (truth(record, argument(backward, "retain_graph")) == Answer::yes &&
          std::ranges::any_of(loop.training_root->all,
              [&](const TrainingEvent& other) {
                return stepped_optimizer(*other.event) && !other.loops.empty() &&
                    other.loops.back() == loop.loop;
              }) &&
          once(backward.place))
        report_growing_graph(report, each);
      continue;
    }
    if (!once(backward.place)) continue;
    Finding* finding = report.add(Severity::warning, backward.place, backward.calls,
        "This loss is computed from what the previous iteration left, with its history, and that iteration's backward has freed what the graph saved: PyTorch raises "
        "\"Trying to backward through the graph a second time\". Carry over the value alone, with `.detach()`.");
    if (finding) report.relate(*finding, loop.loop->place, "from the second iteration on");
  }
}

}  // namespace stepzero::rules
