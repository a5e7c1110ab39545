// Iterations that come to the same: a loop over modules that were made alike need not run all of them where
// nobody looks at each. The loop may go through the modules themselves, or through numbers by which it asks
// for them.
#include "interpreter/loops/equal_iterations.hpp"

#include "interpreter/interpreter.hpp"
#include "interpreter/loops/index_uses.hpp"
#include "interpreter/loops/loop_runner.hpp"
#include "values/devices.hpp"

#include <algorithm>
#include <unordered_set>

namespace stepzero::interpreter {

using values::Kind;
using values::Tensor;
using values::TensorState;

namespace {

// Compares part by part, within a budget: two blocks of a model have some hundred parts.
class Likeness {
public:
  explicit Likeness(values::Heap& heap, const std::function<bool(Int, Int)>& same_number = {})
      : heap_(heap), same_number_(same_number) {}
  // `read`: attributes that the program asked for. A number or a text in any other attribute that it gave a
  // module of its own may differ: a layer's place among its like. `module`: the class of modules.
  Likeness(values::Heap& heap, const std::unordered_set<const values::Slot*>* read, std::string_view module)
      : heap_(heap), read_(read), module_(module) {}

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
    case Kind::choice: {
      const auto *mine = a.as<values::Choice>(), *theirs = b.as<values::Choice>();
      return mine->condition == theirs->condition && holds(mine->yes, theirs->yes) &&
          holds(mine->no, theirs->no);
    }
    case Kind::instance: return holds(*a.as<values::Instance>(), *b.as<values::Instance>());
    case Kind::bound:
      return holds(a.as<values::Bound>()->self, b.as<values::Bound>()->self) &&
          holds(a.as<values::Bound>()->function, b.as<values::Bound>()->function);
    default: return false;
    }
  }

private:
  static constexpr int most = 2'000;  // parts: to compare must cost less than the iteration
  static constexpr int deepest = 12;  // parts of parts

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
    // Of a layer of the library, its shape rules ask.
    const bool numbers_own = a.cls && (!a.cls->native || a.cls->native->path == module_);
    const bool same = std::equal(mine.begin(), mine.end(), theirs.begin(), [&](const auto& x, const auto& y) {
      return x.first == y.first &&
          ((numbers_own && is_unread(*x.second, *y.second)) || holds(x.second->value, y.second->value));
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
        a.unseen == b.unseen && has_same_numbers(a.content, b.content) &&
        a.graph.empty() == b.graph.empty() && a.is_gradient == b.is_gradient && a.poisoned == b.poisoned &&
        a.strides == b.strides && values::is_same_device(a.device, b.device);
  }

  bool has_same_numbers(const values::Content* a, const values::Content* b) const {
    if (!a || !b) return !a && !b;
    return same_number_ && a->dtype == b->dtype && a->is_scalar == b->is_scalar &&
        std::ranges::equal(a->numbers, b->numbers, [&](const values::Number& x, const values::Number& y) {
          return x.integer && y.integer && same_number_(x.integer, y.integer);
        });
  }

  // Both hold a number, or both a text, for which nobody asked.
  bool is_unread(const values::Slot& a, const values::Slot& b) const {
    return read_ && a.value.kind == b.value.kind && (a.value.is(Kind::integer) || a.value.is(Kind::string)) &&
        !read_->contains(&a);
  }

  values::Heap& heap_;
  const std::function<bool(Int, Int)> same_number_;
  const std::unordered_set<const values::Slot*>* const read_ = nullptr;
  const std::string_view module_;
  int compared_ = 0, depth_ = 0;
};

// A way out of a function or a loop inside leads back into the block.
bool is_quiet(std::span<const Event* const> events, bool in_function, bool in_loop) {
  return std::ranges::all_of(events, [&](const Event* event) {
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
      return is_quiet(branch.yes.events, in_function, in_loop) &&
          is_quiet(branch.no.events, in_function, in_loop);
    }
    case EventKind::call: return is_quiet(static_cast<const CallEvent*>(event)->body.events, true, false);
    case EventKind::loop: {
      const auto& iterations = static_cast<const LoopEvent*>(event)->iterations;
      return std::all_of(iterations.begin(), iterations.end(),
          [&](const Block& iteration) { return is_quiet(iteration.events, in_function, true); });
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

bool are_alike(values::Heap& heap, Value a, Value b, const std::function<bool(Int, Int)>& same_number) {
  return Likeness(heap, same_number).holds(a, b);
}

bool is_quiet(std::span<const Event* const> events) { return is_quiet(events, false, false); }

bool LoopRunner::skips_equal_iterations() const {
  return run_.limits_.as_rank || run_.policy_.skips_equal_iterations || run_.dry_runs_ > 0;
}

bool LoopRunner::rest_is_equivalent(const syntax::ForStmt& stmt, const std::vector<Value>& items,
    std::size_t ran, values::Mark before, const Block& iteration) {
  if (!skips_equal_iterations() || ran < 2 || items.size() - ran < 2 || !is_quiet(iteration.events))
    return false;
  const Value last = items[ran - 1];
  IndexUses uses(run_, stmt, *run_.frame_->scope, last);
  if (uses.indices().empty() ? !last.is(Kind::instance) : !uses.are_known()) return false;
  Likeness likeness(heap());
  for (const auto& [slot, value] : heap().written(before)) {
    if (slot->birth > before.clock) continue;
    const auto& names = run_.frame_->scope->names.entries();
    const auto found = std::ranges::find(names, slot, [](const auto& each) { return each.second; });
    if (found == names.end()) return false;
    const bool is_index = std::ranges::find(uses.indices(), found->first) != uses.indices().end();
    if (!is_index && !likeness.holds(value, slot->value)) return false;
  }
  const auto equivalent = [&](Value a, Value b) {
    return Likeness(heap(), run_.attributes_read_, run_.library_.types().module).holds(a, b);
  };
  return std::all_of(items.begin() + static_cast<std::ptrdiff_t>(ran), items.end(),
      [&](Value item) { return uses.holds(item, equivalent); });
}

}  // namespace stepzero::interpreter
