#include "rules/training/alternatives.hpp"

#include "libraries/torch/meaning/gradients.hpp"
#include "rules/name_hints.hpp"
#include "rules/training/absent.hpp"
#include "rules/training/given_optimizer.hpp"

#include <algorithm>

namespace stepzero::rules {

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

// One way through an iteration, in order.
using Way = std::vector<const OperationEvent*>;

bool hands(const OperationEvent& event, const Object* optimizer) {
  return event.row->operation == Operation::unseen && is_handed(event, optimizer);
}
// A loss that is handed to code that is not seen may be run backward there.
bool hands_loss(const Record& record, const OperationEvent& event) {
  if (event.row->operation != Operation::unseen) return false;
  const std::string_view text = record.text(event.place), called = text.substr(0, text.find('('));
  const std::string_view name = called.substr(called.rfind('.') + 1);
  if (says(name, Says::noting)) return false;
  return says(text.substr(std::min(called.size(), text.size())), Says::loss);
}
bool steps(const OperationEvent& event) { return static_cast<bool>(stepped_optimizer(event)); }
// By hand, too: `p.grad = None`, `p.grad.zero_()`.
bool clears(const OperationEvent& event) {
  return event.row->operation == Operation::zero_grad || clears_gradient(event);
}
bool uses_gradients(const OperationEvent& event) {
  // `p.grad.detach_()` beside clearing it belongs to it, and what only takes less of it is still to be
  // stepped.
  if (event.row->operation == Operation::gradient_written)
    return !clears(event) &&
        !(event.by && libraries::gradient_write_of(*event.by) != libraries::GradientWrite::other);
  return event.row->operation == Operation::gradient_asked || event.row->operation == Operation::framework;
}

// A loop whose gradients are all those of one optimizer, and the ways through it.
struct Loop {
  const Object* optimizer = nullptr;
  std::string name;
  std::vector<Way> ways;
};

std::string name_of(const Record& record, const OperationEvent& event) {
  return event.row->operation == Operation::zero_grad ? object_text(record, event, "")
                                                      : stepped_text(record, event);
}

// Null where several optimizers take part, or none.
std::optional<Loop> one_optimizer(
    const Record& record, const TrainingRoot& training_root, const LoopEvent& loop) {
  Loop found;
  for (const TrainingEvent& each : training_root.all) {
    const Operation operation = each.event->row->operation;
    if (!each.in(&loop) || (operation != Operation::zero_grad && !steps(*each.event))) continue;
    const Object* object = operation == Operation::zero_grad ? each.event->self.object()
                                                             : stepped_optimizer(*each.event).object();
    const std::string name = name_of(record, *each.event);
    // A model clears the gradients of its parameters.
    if (operation == Operation::zero_grad && !training_root.optimizers.contains(object) &&
        !names_optimizer(name))
      continue;
    if (found.optimizer && found.optimizer != object) return std::nullopt;
    found.optimizer = object;
    found.name = name;
  }
  if (!found.optimizer || loop.iterations.empty()) return std::nullopt;
  Walk walk;
  walk.limit = 256;
  walk.wanted = [&](const OperationEvent& event) {
    const Operation operation = event.row->operation;
    return operation == Operation::backward || operation == Operation::zero_grad || steps(event) ||
        uses_gradients(event) || clears(event) || hands(event, found.optimizer) || hands_loss(record, event);
  };
  const bool all = explore(record, loop.iterations[0], {{0, 1}}, walk, [&](const Run& run) {
    Way& way = found.ways.emplace_back();
    for (const Step& step : run[0]) way.push_back(step.event);
  });
  if (!all || found.ways.size() < 2) return std::nullopt;
  return found;
}

// The innermost loops around backwards and steps.
std::vector<Loop> loops_of(const Record& record, const TrainingRoot& training_root) {
  std::vector<Loop> found;
  std::set<const LoopEvent*> tried;
  for (const TrainingEvent& each : training_root.all) {
    if ((each.event->row->operation != Operation::backward && !steps(*each.event)) || each.in_handler ||
        each.in_attempt || each.loops.empty())
      continue;
    const LoopEvent* loop = each.loops.back();
    if (!repeats(*loop) || !tried.insert(loop).second) continue;
    if (auto one = one_optimizer(record, training_root, *loop)) found.push_back(std::move(*one));
  }
  return found;
}

bool any(const Way& way, const std::function<bool(const OperationEvent&)>& is) {
  return std::ranges::any_of(way, [&](const OperationEvent* event) { return is(*event); });
}
bool is_backward(const OperationEvent& event) { return event.row->operation == Operation::backward; }

// Operations of which every way through them lacks something that another way has.
std::vector<Lacking> lacking(const Loop& loop, const std::function<bool(const OperationEvent&)>& is,
    const std::function<bool(const OperationEvent&)>& wanted) {
  std::vector<Lacking> found;
  std::set<const OperationEvent*> seen;
  for (const Way& way : loop.ways)
    for (const OperationEvent* event : way) {
      if (!is(*event) || !seen.insert(event).second) continue;
      bool lacks = true, cleared = false;
      const OperationEvent* other = nullptr;
      for (const Way& each : loop.ways) {
        if (std::ranges::find(each, event) == each.end()) {
          if (any(each, is) || any(each, wanted))
            for (const OperationEvent* one : each)
              if (!other && wanted(*one)) other = one;
          continue;
        }
        lacks = lacks && !any(each, wanted) &&
            !any(each, [&](const OperationEvent& one) { return uses_gradients(one); });
        cleared = cleared || any(each, [&](const OperationEvent& one) { return clears(one); });
      }
      if (lacks && cleared && other) found.push_back({event, other, loop.name});
    }
  return found;
}

}  // namespace

std::vector<Lacking> unstepped(const Record& record, const TrainingRoot& training_root) {
  std::vector<Lacking> found;
  for (const Loop& loop : loops_of(record, training_root)) {
    const auto stepped = [&](const OperationEvent& event) {
      return steps(event) || hands(event, loop.optimizer);
    };
    const auto all = lacking(loop, is_backward, stepped);
    found.insert(found.end(), all.begin(), all.end());
  }
  return found;
}

std::vector<Lacking> unfed(const Record& record, const TrainingRoot& training_root) {
  std::vector<Lacking> found;
  for (const Loop& loop : loops_of(record, training_root)) {
    const auto fed = [&](const OperationEvent& event) {
      return is_backward(event) || hands(event, loop.optimizer) || hands_loss(record, event);
    };
    // step(closure)
    const auto plain = [&](const OperationEvent& event) {
      return steps(event) &&
          !(event.row->operation == Operation::optimizer_step && !event.arguments.empty() &&
              event.arguments[0] && !event.arguments[0].is(Kind::none));
    };
    const auto all = lacking(loop, plain, fed);
    found.insert(found.end(), all.begin(), all.end());
  }
  return found;
}

}  // namespace stepzero::rules
