// Iterations that come to the same: a loop over modules that were made alike need not run all of them where
// nobody looks at each.
#include "interpreter/interpreter.hpp"
#include "values/devices.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using values::Kind;
using values::Tensor;
using values::TensorState;

namespace {

// Compares part by part, within a budget: two blocks of a model have some hundred parts.
class Likeness {
public:
  explicit Likeness(values::Heap& heap) : heap_(heap) {}

  // Are they the same, but for who they are? Nothing unknown is like another, but tensors of which the same
  // is not known.
  bool holds(Value a, Value b) {
    if (a == b) return true;
    if (a.kind != b.kind || ++compared_ > most) return false;
    switch (a.kind) {
    case Kind::string: return a.text() == b.text();
    case Kind::tensor:
      return a.as<Tensor>()->role == b.as<Tensor>()->role &&
          holds(*a.as<Tensor>()->now(), *b.as<Tensor>()->now());
    case Kind::tuple: return all(a.as<values::Tuple>()->items, b.as<values::Tuple>()->items);
    case Kind::list: {
      const auto *mine = values::Heap::list_state(a), *theirs = values::Heap::list_state(b);
      return !mine->open && !theirs->open && all(mine->items, theirs->items);
    }
    case Kind::dict: {
      const auto *mine = values::Heap::dict_state(a), *theirs = values::Heap::dict_state(b);
      return !mine->open && !theirs->open && mine->items.size() == theirs->items.size() &&
          std::equal(mine->items.begin(), mine->items.end(), theirs->items.begin(),
              [&](const auto& x, const auto& y) {
                return holds(x.first, y.first) && holds(x.second, y.second);
              });
    }
    case Kind::instance: return holds(*a.as<values::Instance>(), *b.as<values::Instance>());
    case Kind::bound:
      return holds(a.as<values::Bound>()->self, b.as<values::Bound>()->self) &&
          holds(a.as<values::Bound>()->function, b.as<values::Bound>()->function);
    default: return false;
    }
  }

private:
  static constexpr int most = 2'000, deepest = 12;

  bool all(const std::vector<Value>& a, const std::vector<Value>& b) {
    return a.size() == b.size() &&
        std::equal(a.begin(), a.end(), b.begin(), [&](Value x, Value y) { return holds(x, y); });
  }

  bool holds(const values::Instance& a, const values::Instance& b) {
    if (a.cls != b.cls || a.native != b.native || a.open != b.open || a.of_many || b.of_many || a.symbolic ||
        b.symbolic)
      return false;
    const auto &mine = a.attributes.entries(), &theirs = b.attributes.entries();
    if (mine.size() != theirs.size() || depth_ >= deepest) return false;
    ++depth_;
    const bool same = std::equal(mine.begin(), mine.end(), theirs.begin(), [&](const auto& x, const auto& y) {
      return x.first == y.first && holds(x.second->value, y.second->value);
    });
    --depth_;
    return same;
  }

  bool holds(const TensorState& a, const TensorState& b) {
    const auto same_size = [](const values::Dim& x, const values::Dim& y) { return x.size == y.size; };
    return a.shape.ndim_known == b.shape.ndim_known &&
        std::equal(
            a.shape.dims.begin(), a.shape.dims.end(), b.shape.dims.begin(), b.shape.dims.end(), same_size) &&
        std::equal(a.first.begin(), a.first.end(), b.first.begin(), b.first.end(), same_size) &&
        a.dtype == b.dtype && heap_.requires_grad(a) == heap_.requires_grad(b) && a.sharing == b.sharing &&
        a.unseen == b.unseen && !a.content && !b.content && a.graph.empty() == b.graph.empty() &&
        a.is_gradient == b.is_gradient && a.poisoned == b.poisoned && a.strides == b.strides &&
        values::is_same_device(a.device, b.device);
  }

  values::Heap& heap_;
  int compared_ = 0, depth_ = 0;
};

// Does anything happen in the block that somebody may count: communication, failures, ways out?
// A way out of a function or a loop inside leads back into the block.
bool is_quiet(const Block& block, bool in_function = false, bool in_loop = false) {
  return std::all_of(block.events.begin(), block.events.end(), [&](const Event* event) {
    switch (event->kind) {
    case EventKind::operation: {
      const values::Row& row = *static_cast<const OperationEvent*>(event)->row;
      return !row.collective && !row.message && row.operation != values::Operation::unseen_communication &&
          row.operation != values::Operation::await && row.operation != values::Operation::slow &&
          row.operation != values::Operation::group_settings &&
          row.operation != values::Operation::fallible && row.operation != values::Operation::backward;
    }
    case EventKind::branch: {
      const auto& branch = *static_cast<const BranchEvent*>(event);
      return is_quiet(branch.yes, in_function, in_loop) && is_quiet(branch.no, in_function, in_loop);
    }
    case EventKind::call: return is_quiet(static_cast<const CallEvent*>(event)->body, true, false);
    case EventKind::loop: {
      const auto& iterations = static_cast<const LoopEvent*>(event)->iterations;
      return std::all_of(iterations.begin(), iterations.end(),
          [&](const Block& iteration) { return is_quiet(iteration, in_function, true); });
    }
    case EventKind::exit: {
      const ExitKind exit = static_cast<const ExitEvent*>(event)->exit;
      return exit == ExitKind::return_ ? in_function : exit != ExitKind::raise && in_loop;
    }
    default: return false;
    }
  });
}

}  // namespace

bool Interpreter::rest_is_equivalent(
    const std::vector<Value>& items, std::size_t ran, values::Mark before, const Block& iteration) {
  if (!limits_.as_rank && !policy_.skips_equal_iterations && dry_runs_ == 0) return false;
  if (ran < 2 || items.size() - ran < 2 || !items[ran - 1].is(Kind::instance) || !is_quiet(iteration))
    return false;
  Likeness likeness(heap());
  for (const auto& [slot, value] : heap().written(before)) {
    if (slot->birth > before.clock) continue;
    const auto& names = frame_->scope->names.entries();
    if (std::none_of(names.begin(), names.end(), [&](const auto& each) { return each.second == slot; }) ||
        !likeness.holds(value, slot->value))
      return false;
  }
  return std::all_of(items.begin() + static_cast<std::ptrdiff_t>(ran), items.end(),
      [&](Value item) { return Likeness(heap()).holds(items[ran - 1], item); });
}

}  // namespace stepzero::interpreter
