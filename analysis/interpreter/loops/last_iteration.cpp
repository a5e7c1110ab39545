#include "interpreter/loops/last_iteration.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using values::Kind;

namespace {

constexpr int deepest_batch_part = 4;  // of a batch

// The sizes of tensors in a batch that are symbols.
void symbols_in(const symbolic::Context& symbols, Value value, std::vector<Int>& found, int depth = 0) {
  if (depth > deepest_batch_part) return;
  switch (value.kind) {
  case Kind::tensor:
    for (const values::Dim& dim : value.as<values::Tensor>()->now()->shape.dims)
      if (dim.size && symbols.is_atom(dim.size) && std::ranges::find(found, dim.size) == found.end())
        found.push_back(dim.size);
    return;
  case Kind::tuple:
    for (const Value& item : value.as<values::Tuple>()->items) symbols_in(symbols, item, found, depth + 1);
    return;
  case Kind::list:
    for (const Value& item : values::Heap::list_state(value)->items)
      symbols_in(symbols, item, found, depth + 1);
    return;
  case Kind::dict:
    for (const auto& [key, item] : values::Heap::dict_state(value)->items)
      symbols_in(symbols, item, found, depth + 1);
    return;
  default: return;
  }
}

}  // namespace

std::optional<LastIteration> last_iteration(Interpreter& run, Value element, Int iterations) {
  auto& s = run.symbols();
  const std::int64_t count = iterations ? s.value(iterations).value_or(0) : 0;
  std::vector<Int> sizes;
  if (count > 1) symbols_in(s, element, sizes);
  for (const Int size : sizes) {
    const symbolic::AtomInfo* info = s.atom_info(size);
    if (!info || !info->upper || info->sharing < Sharing::local) continue;
    const auto& events = run.record().events;
    for (auto each = events.rbegin(); each != events.rend(); ++each) {
      if ((*each)->kind != EventKind::operation) continue;
      const auto& read = static_cast<const OperationEvent&>(**each);
      if (read.row->operation != values::Operation::loader_made ||
          read.row->kind != values::RowKind::method || read.arguments.size() < 2)
        continue;
      if (!read.arguments[0].is(Kind::integer) || !read.arguments[1].is(Kind::integer) ||
          read.arguments[1].integer() != size || !read.self.is(Kind::instance))
        continue;
      LastIteration last{size, 0, *info->upper, s.value(read.arguments[0].integer()).value_or(0), read.self};
      last.size = last.samples % last.others;
      // Others may end the loop before: a loader beside it, or a count.
      if (last.size == 0 || (last.samples + last.others - 1) / last.others != count) return std::nullopt;
      return last;
    }
  }
  return std::nullopt;
}

Value with_batch(values::Heap& heap, Value element, Int batch, std::int64_t size, int depth) {
  if (depth > deepest_batch_part) return element;
  switch (element.kind) {
  case Kind::tensor: {
    const auto* tensor = element.as<values::Tensor>();
    if (tensor->role != values::TensorRole::plain) return element;
    values::TensorState state = *tensor->now();
    bool changed = false;
    for (values::Dim& dim : state.shape.dims)
      if (dim.size == batch) {
        dim.size = heap.symbols().constant(size);
        changed = true;
      }
    return changed ? heap.tensor(std::move(state), tensor->born) : element;
  }
  case Kind::tuple: {
    const auto* tuple = element.as<values::Tuple>();
    std::vector<Value> items;
    items.reserve(tuple->items.size());
    for (const Value& item : tuple->items) items.push_back(with_batch(heap, item, batch, size, depth + 1));
    if (items == tuple->items) return element;
    const Value made = heap.tuple(std::move(items));
    made.as<values::Tuple>()->fields = tuple->fields;
    made.as<values::Tuple>()->cls = tuple->cls;
    return made;
  }
  case Kind::list: {
    const auto* state = values::Heap::list_state(element);
    if (state->open) return element;
    std::vector<Value> items;
    items.reserve(state->items.size());
    for (const Value& item : state->items) items.push_back(with_batch(heap, item, batch, size, depth + 1));
    if (items == state->items) return element;
    return heap.list(std::move(items), element.as<values::List>()->kind);
  }
  case Kind::dict: {
    const auto* state = values::Heap::dict_state(element);
    if (state->open) return element;
    std::vector<std::pair<Value, Value>> items;
    items.reserve(state->items.size());
    for (const auto& [key, item] : state->items)
      items.emplace_back(key, with_batch(heap, item, batch, size, depth + 1));
    if (items == state->items) return element;
    return heap.dict(std::move(items));
  }
  case Kind::choice: {
    const auto* choice = element.as<values::Choice>();
    const Value yes = with_batch(heap, choice->yes, batch, size, depth + 1),
                no = with_batch(heap, choice->no, batch, size, depth + 1);
    return yes == choice->yes && no == choice->no ? element : heap.choose(choice->condition, yes, no);
  }
  default: return element;
  }
}

const ProblemEvent* failure_of_last_iteration(const Record& record,
    const std::vector<const ProblemEvent*>& failures, std::size_t first_event, std::size_t last_event) {
  if (failures.empty()) return nullptr;
  const ProblemEvent* failure = failures.front();
  for (std::size_t k = first_event; k < last_event; ++k) {
    const Event& other = *record.events[k];
    if (!(other.place == failure->place)) continue;
    const auto* operation = other.kind == EventKind::operation ? static_cast<const OperationEvent*>(&other)
                                                               : nullptr;
    if (other.kind == EventKind::problem ||
        (operation &&
            (operation->row->operation == values::Operation::has_to_fit ||
                operation->row->operation == values::Operation::viewed)))
      return nullptr;
  }
  return failure;
}

}  // namespace stepzero::interpreter
