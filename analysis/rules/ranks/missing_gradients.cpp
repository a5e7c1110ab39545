#include "rules/ranks/missing_gradients.hpp"

#include "rules/fact_index.hpp"
#include "rules/ranks/job_view.hpp"
#include "rules/shape/blocks.hpp"

#include <algorithm>
#include <functional>
#include <set>

namespace stepzero::rules {

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

// The layers and tensors that the losses of a rank are computed from, by where they are made; nothing where
// not all of it is known.
using Sources = std::set<std::pair<std::string, std::uint32_t>>;
std::optional<Sources> sources_of_losses(const Record& own) {
  Sources sources;
  bool known = !own.out_of_budget && !own.cancelled, any = false;
  visit_operations(own, with_operation(Operation::backward), [&](const OperationEvent& event) {
    if (!known) return;
    const values::TensorState* loss = event.self_state();
    known = loss && loss->graph_complete && !loss->unseen;
    any = true;
    if (!known) return;
    for (const values::Object* source : loss->graph)
      if (source->born.chunk)
        sources.emplace(own.chunks[source->born.chunk].path, own.span(source->born).begin);
  });
  return known && any ? std::optional(sources) : std::nullopt;
}

// The collectives of the block that have a gradient to send.
const OperationEvent* reduces_gradient(const Block& block) {
  const OperationEvent* found = nullptr;
  visit(block, [&](const Event& event) {
    if (found || event.kind != EventKind::operation) return;
    const auto& operation = static_cast<const OperationEvent&>(event);
    const int tensor = operation.row->operation == Operation::collective && operation.row->collective
        ? operation.row->collective->tensor
        : -1;
    if (tensor >= 0 && static_cast<std::size_t>(tensor) < operation.arguments.size()) found = &operation;
  });
  return found;
}

// … of the events after a branch, where one side of it leaves them out.
const OperationEvent* reduces_gradient_after(const Block& block, std::size_t branch) {
  for (std::size_t i = branch + 1; i < block.events.size(); ++i) {
    Block one;
    one.events = {block.events[i]};
    if (const OperationEvent* found = reduces_gradient(one)) return found;
  }
  return nullptr;
}

bool leaves(const Block& block) {
  const Event* last = block.events.empty() ? nullptr : block.events.back();
  return last && last->kind == EventKind::exit &&
      static_cast<const ExitEvent*>(last)->exit != ExitKind::raise;
}

// Every block with all blocks in it.
void each_block(const Block& block, const std::function<void(const Block&)>& see) {
  see(block);
  for (const Event* event : block.events)
    for (const Block* inner : blocks_of(*event)) each_block(*inner, see);
}

// Does the rank's run make a backward pass? Nothing where not all of it is known.
std::optional<bool> makes_backward(const Record& own) {
  if (own.out_of_budget || own.cancelled) return std::nullopt;
  bool any = false, open = false;
  visit_operations(own, [&](const OperationEvent& operation) {
    any = any || operation.row->operation == Operation::backward;
    // Who prepares or runs the model may do so out of sight.
    open = open || operation.row->operation == Operation::framework ||
        operation.row->operation == Operation::unseen_communication;
  });
  return open ? std::nullopt : std::optional(any);
}

// May the program itself give a parameter its gradient?
bool sets_gradients(const Record& record) {
  for (std::size_t i = 1; i < record.chunks.size(); ++i)
    if (const auto& of = record.chunks[i]; of.statement() && of.path == record.path)
      if (const auto& writes = of.chunk->attribute_writes(of.text());
          writes.names("grad") || writes.computes() || writes.computes_own())
        return true;
  return false;
}

// A collective of a gradient that is there without asking whether there is one.
const OperationEvent* reduces_unasked(const Record& record) {
  const OperationEvent* found = nullptr;
  for (const auto& root : record.roots)
    if (!root->function)
      visit(root->block, [&](const Event& event) {
        if (found || event.kind != EventKind::operation) return;
        const auto& operation = static_cast<const OperationEvent&>(event);
        const int tensor = operation.row->operation == Operation::collective && operation.row->collective
            ? operation.row->collective->tensor
            : -1;
        if (tensor < 0 || static_cast<std::size_t>(tensor) >= operation.arguments.size()) return;
        const Value sent = operation.arguments[static_cast<std::size_t>(tensor)];
        const values::TensorState* state = operation.argument_state(static_cast<std::size_t>(tensor));
        if ((state && state->is_gradient && !state->made) ||
            (sent.is(Kind::unknown) && sent.as<values::Unknown>()->is_gradient))
          found = &operation;
      });
  return found;
}

// A rank that makes no backward pass has no gradients to send.
std::optional<Mismatch> never_backward(const Record& record, JobExplorer& worlds) {
  const OperationEvent* const reduced = reduces_unasked(record);
  if (!reduced || sets_gradients(record)) return std::nullopt;
  const auto first = makes_backward(worlds.of(0, 2));
  const auto second = first ? makes_backward(worlds.of(1, 2)) : std::nullopt;
  if (!first || !second || *first == *second) return std::nullopt;
  const int without = *first ? 1 : 0;
  Mismatch made;
  made.cause = Cause::guard;
  made.certain = false;
  made.world = 2;
  made.name = std::string(reduced->row->collective->name);
  made.place = reduced->place;
  made.calls = reduced->calls;
  made.text = "Rank " + std::to_string(without) +
      " runs no backward pass: its gradients are `None`, and this " + call_text(made.name) +
      " raises `TypeError` there, while rank " + std::to_string(1 - without) +
      " waits in it. Give every rank a gradient, zeros where there is none.";
  return made;
}

}  // namespace

std::vector<Mismatch> missing_gradients(const Record& record, JobExplorer& worlds) {
  const auto& gradients = FactIndex::of(record).gradients;
  std::vector<const OperationEvent*> reduced;
  std::vector<Place> asked;
  const auto about_gradients = [&](const Event& branch) {
    return std::ranges::any_of(gradients, [&](const Fact* fact) {
      return fact->place.chunk == branch.place.chunk && branch.place.span.holds(fact->place.span);
    });
  };
  const auto look = [&](const Block& block) {
    for (std::size_t i = 0; i < block.events.size(); ++i) {
      if (block.events[i]->kind != EventKind::branch || !about_gradients(*block.events[i])) continue;
      const auto& branch = static_cast<const BranchEvent&>(*block.events[i]);
      const OperationEvent* const after =
          leaves(branch.yes) != leaves(branch.no) ? reduces_gradient_after(block, i) : nullptr;
      for (const OperationEvent* collective :
          {reduces_gradient(branch.yes), reduces_gradient(branch.no), after})
        if (collective) {
          reduced.push_back(collective);
          asked.push_back(branch.place);
        }
    }
  };
  if (!gradients.empty())
    for (const auto& root : record.roots) each_block(root->block, look);
  if (reduced.empty()) {
    auto found = gradients.empty() ? std::nullopt : never_backward(record, worlds);
    return found ? std::vector{std::move(*found)} : std::vector<Mismatch>{};
  }
  const auto first = sources_of_losses(worlds.of(0, 2)),
             second = first ? sources_of_losses(worlds.of(1, 2)) : std::nullopt;
  if (!first || !second || *first == *second) return {};
  const bool first_lacks = !std::ranges::includes(*first, *second);
  const int lacking = first_lacks ? 0 : 1;
  Mismatch made;
  made.cause = Cause::guard;
  made.certain = false;
  made.world = 2;
  made.name = std::string(reduced.front()->row->collective->name);
  made.place = reduced.front()->place;
  made.calls = reduced.front()->calls;
  made.text = "Rank " + std::to_string(lacking) + " computes its loss without parameters that rank " +
      std::to_string(1 - lacking) + " uses: their gradient is `None` there, so it skips this " +
      call_text(made.name) + ", and rank " + std::to_string(1 - lacking) +
      " waits or reduces another gradient with it. Give every rank a gradient, zeros where there is none.";
  made.related.push_back({asked.front(), "a rank without a gradient goes past here"});
  return {made};
}

}  // namespace stepzero::rules
