#include "rules/training/training_loops.hpp"

#include "rules/training/handed.hpp"
#include "values/devices.hpp"

#include "rules/training/absent.hpp"
#include "values/kept.hpp"
#include "values/limits.hpp"

#include <algorithm>

namespace stepzero::rules {

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

// Exits that skip the rest of an iteration, among the events before `until`.
bool count_skips(const Block& block, const Event* until, std::size_t& count) {
  for (const Event* event : block.events) {
    if (event == until) return true;
    switch (event->kind) {
    case EventKind::exit: count += static_cast<const ExitEvent*>(event)->exit == ExitKind::continue_; break;
    case EventKind::branch: {
      const auto* branch = static_cast<const BranchEvent*>(event);
      if (count_skips(branch->yes, until, count) || count_skips(branch->no, until, count)) return true;
      break;
    }
    case EventKind::loop:
      // A continue of an inner loop is its own.
      for (const Block& iteration : static_cast<const LoopEvent*>(event)->iterations) {
        std::size_t own = 0;
        if (count_skips(iteration, until, own)) return true;
      }
      break;
    case EventKind::call:
      if (count_skips(static_cast<const CallEvent*>(event)->body, until, count)) return true;
      break;
    case EventKind::attempt: {
      const auto* attempt = static_cast<const AttemptEvent*>(event);
      if (count_skips(attempt->body, until, count)) return true;
      for (const Block& handler : attempt->handlers)
        if (count_skips(handler, until, count)) return true;
      if (count_skips(attempt->orelse, until, count) || count_skips(attempt->finally, until, count))
        return true;
      break;
    }
    default: break;
    }
  }
  return false;
}
std::size_t skips_before(const LoopEvent& loop, const Event* event) {
  std::size_t count = 0;
  if (!loop.iterations.empty()) count_skips(loop.iterations.front(), event, count);
  return count;
}

// The places of operations that follow no condition.
void unconditional(const Block& block, std::set<std::pair<std::uint32_t, std::uint32_t>>& found) {
  for (const Event* event : block.events) {
    switch (event->kind) {
    case EventKind::operation: found.insert({event->place.chunk, event->place.span.end}); break;
    case EventKind::call: unconditional(static_cast<const CallEvent*>(event)->body, found); break;
    case EventKind::attempt: unconditional(static_cast<const AttemptEvent*>(event)->body, found); break;
    case EventKind::loop:
      for (const Block& iteration : static_cast<const LoopEvent*>(event)->iterations)
        unconditional(iteration, found);
      break;
    default: break;
    }
  }
}
std::set<std::pair<std::uint32_t, std::uint32_t>> everywhere(const LoopEvent& loop) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> all;
  if (!loop.unrolled) return all;
  for (const Block& iteration : loop.iterations) {
    std::set<std::pair<std::uint32_t, std::uint32_t>> here;
    unconditional(iteration, here);
    if (&iteration == &loop.iterations.front())
      all = std::move(here);
    else
      std::erase_if(all, [&](const auto& place) { return !here.contains(place); });
  }
  return all;
}

}  // namespace

std::vector<TrainingLoop> training_loops(const Training& training, bool beside_frameworks) {
  std::vector<TrainingLoop> found;
  for (const TrainingRoot& training_root : training.training_roots()) {
    if ((beside_frameworks ? !trains_itself(training_root) : training_root.handed_over) ||
        training_root.root->truncated)
      continue;
    for (const TrainingEvent& backward : training_root.all) {
      if (backward.event->row->operation != Operation::backward || backward.in_handler) continue;
      for (auto it = backward.loops.rbegin(); it != backward.loops.rend(); ++it) {
        const LoopEvent* loop = *it;
        const auto step = std::find_if(training_root.all.begin(), training_root.all.end(),
            [&](const TrainingEvent& each) { return stepped_optimizer(*each.event) && each.in(loop); });
        if (step == training_root.all.end()) continue;
        const bool known = std::any_of(
            found.begin(), found.end(), [&](const TrainingLoop& other) { return other.loop == loop; });
        if (!known && repeats(*loop))
          found.push_back({&training_root, loop, &backward, &*step, everywhere(*loop)});
        break;
      }
    }
  }
  return found;
}

bool records_gradients(const Record& record, const OperationEvent& event) {
  for (const Around* around = event.around; around; around = around->outer) {
    if (!around->manager.is(Kind::instance)) continue;
    const values::Slot* on = around->manager.as<Instance>()->attributes.find(
        syntax::Name(values::ContextState::on));
    if (on && truth(record, on->value) != Answer::yes) return false;
  }
  return true;
}

bool in_every_iteration(const Record& record, const TrainingLoop& training, const TrainingEvent& each) {
  if (each.in_handler || !each.in(training.loop)) return false;
  if (training.loop->unrolled &&
      !training.everywhere.contains({each.event->place.chunk, each.event->place.span.end}))
    return false;
  for (const Turn& turn : each.turns) {
    // An operand with several values, as a device that is chosen, makes a branch of each operation on it.
    const auto same = [&](const Turn& other) {
      return other.yes == turn.yes &&
          (other.branch == turn.branch ||
              (turn.branch->condition && other.branch->condition == turn.branch->condition));
    };
    if (std::none_of(training.backward->turns.begin(), training.backward->turns.end(), same)) return false;
  }
  if (!records_gradients(record, *each.event)) return false;
  return skips_before(*training.loop, each.event) <= skips_before(*training.loop, training.backward->event);
}

Answer truth(const Record& record, Value value) {
  switch (value.kind) {
  case Kind::boolean: return record.symbols.decide(value.condition());
  case Kind::none: return Answer::no;
  default: return Answer::unknown;
  }
}

std::string_view device_text(Value value) {
  if (value.is(Kind::string)) return value.text();
  return value.is(Kind::device) ? value.as<values::Device>()->text : std::string_view{};
}

bool on_host(const values::TensorState* state) { return state && values::is_cpu(state->device); }
bool on_device(const values::TensorState* state) { return state && values::is_accelerator(state->device); }

std::string source_excerpt(const Record& record, Place place) {
  std::string text(record.text(place));
  return values::is_quotable(text) ? text : std::string();
}

}  // namespace stepzero::rules
