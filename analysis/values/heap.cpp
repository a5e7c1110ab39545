// Values, slots and what is written into them; what two paths make of one is in heap_join.cpp.
#include "values/heap.hpp"

#include "values/devices.hpp"
#include "values/kept.hpp"
#include "values/numbers.hpp"

#include <algorithm>

namespace stepzero::values {

namespace {
constexpr int deepest_look = 12;  // containers in containers
}  // namespace

Heap::Heap(symbolic::Context& symbols) : symbols_(symbols) {}
Heap::~Heap() {
  for (Object* object : objects_) object->~Object();
}

std::string_view Heap::keep(std::string text) {
  auto [it, inserted] = texts_.try_emplace(std::move(text));
  if (inserted) it->second = std::make_unique<std::string>(it->first);
  return *it->second;
}

// ---------------------------------------------------------------- writes

void Heap::set(Slot& slot, Value value) {
  if (slot.value == value) return;
  trail_.push_back({&slot, slot.value});
  slot.value = value;
}

void Heap::rollback(Mark mark) {
  for (Watch* watch : watches_) watch->take_back(mark.trail);
  while (trail_.size() > mark.trail) {
    trail_.back().first->value = trail_.back().second;
    trail_.pop_back();
  }
}

std::vector<std::pair<Slot*, Value>> Heap::written(Mark mark) const {
  std::vector<std::pair<Slot*, Value>> result;
  const std::uint64_t stamp = ++stamp_;
  for (std::size_t i = mark.trail; i < trail_.size(); ++i)
    if (Slot* slot = trail_[i].first; slot->visited != stamp) {
      slot->visited = stamp;
      result.push_back(trail_[i]);
    }
  return result;
}

void Heap::make_permanent(Mark mark) {
  for (Watch* watch : watches_) watch->take_back(mark.trail);
  const auto begin = trail_.begin() + static_cast<std::ptrdiff_t>(mark.trail);
  trail_.erase(
      std::remove_if(begin, trail_.end(), [&](const auto& entry) { return entry.first->birth > mark.clock; }),
      trail_.end());
}

Delta Heap::capture(Mark mark) const {
  Delta delta = written(mark);
  for (auto& [slot, value] : delta) value = slot->value;
  return delta;
}

Watch::Watch(Heap& heap, Mark since) : heap_(heap), since_(since), known_(since.trail) {
  heap_.watches_.push_back(this);
}

Watch::~Watch() { std::erase(heap_.watches_, this); }

void Watch::take_back(std::size_t size) {
  for (; known_ > std::max(size, since_.trail); --known_)
    taken_back_.push_back(heap_.trail_[known_ - 1].first);
}

Delta Watch::changes() {
  Delta changes;
  const std::uint64_t stamp = ++heap_.stamp_;
  const auto add = [&](Slot* slot) {
    if (slot->visited == stamp) return;
    slot->visited = stamp;
    changes.push_back({slot, slot->value});
  };
  // What was made since and never written is not there.
  for (Slot* slot : taken_back_)
    if (slot->value || slot->birth <= since_.clock) add(slot);
  for (; known_ < heap_.trail_.size(); ++known_) add(heap_.trail_[known_].first);
  taken_back_.clear();
  return changes;
}

void Heap::rewrite_since(Mark mark, Slot& slot, const std::function<Value(Value)>& change) {
  for (std::size_t i = mark.trail; i < trail_.size(); ++i)
    if (trail_[i].first == &slot) trail_[i].second = change(trail_[i].second);
  slot.value = change(slot.value);
  for (Watch* watch : watches_) watch->taken_back_.push_back(&slot);
}

bool Heap::held_between(Mark from, Mark to, const Slot& slot, const std::function<bool(Value)>& each) const {
  for (std::size_t i = from.trail; i < to.trail; ++i)
    if (trail_[i].first == &slot && !each(trail_[i].second)) return false;
  return each(slot.value);
}

void Heap::apply(const Delta& delta) {
  // What is as it was is told, too: see join().
  for (const auto& [slot, value] : delta) {
    trail_.push_back({slot, slot->value});
    slot->value = value;
  }
}

Slot& Heap::slot_of(Table& table, Name name) {
  if (Slot* slot_found = table.find(name)) return *slot_found;
  Slot* made = new (arena_.allocate(sizeof(Slot), alignof(Slot))) Slot();
  made->birth = table.birth;
  table.add(name, made);
  return *made;
}

// ---------------------------------------------------------------- making values

Value Heap::string(std::string_view text) {
  auto* made = make<Str>();
  made->text = keep(std::string(text));
  return Value::of(Kind::string, made);
}

Value Heap::tuple(std::vector<Value> items) {
  auto* made = make<Tuple>();
  made->items = std::move(items);
  return Value::of(Kind::tuple, made);
}

Value Heap::list(std::vector<Value> items, ListKind kind) {
  auto* content = make<ListState>();
  content->items = std::move(items);
  auto* made = make<List>();
  made->kind = kind;
  made->state.value = Value::of(Kind::state, content);
  trail_.push_back({&made->state, made->state.value});  // for join(): it is there from here on
  return Value::of(Kind::list, made);
}

Value Heap::open_list(Value rest, Int length, ListKind kind) {
  Value made = list({}, kind);
  auto* content = list_state(made);
  content->open = true;
  content->rest = rest;
  content->length = length;
  return made;
}

Value Heap::dict(std::vector<std::pair<Value, Value>> items, bool open, Value rest) {
  auto* content = make<DictState>();
  content->items = std::move(items);
  content->open = open;
  content->rest = rest;
  auto* made = make<Dict>();
  made->state.value = Value::of(Kind::state, content);
  trail_.push_back({&made->state, made->state.value});  // as of a list
  return Value::of(Kind::dict, made);
}

Value Heap::unknown(std::string_view name, Sharing sharing, Place born) {
  auto* made = make<Unknown>();
  ++unknowns_;
  made->name = keep(std::string(name));
  made->sharing = sharing;
  made->born = born;
  made->state.refinement = true;
  return Value::of(Kind::unknown, made);
}

Value Heap::unknown_from(std::span<const Value> sources, Place born) {
  Sharing mixed = Sharing::uniform;
  bool unseen = false, poisoned = false;
  for (const Value& source : sources) {
    if (!source) continue;
    mixed = symbolic::mix(mixed, sharing(source));
    unseen = unseen || is_unseen(source);
    poisoned = poisoned || is_poisoned(source);
  }
  const Value made = unknown("", mixed, born);
  made.as<Unknown>()->unseen = unseen;
  made.as<Unknown>()->poisoned = poisoned;
  return made;
}

Value Heap::unseen(std::string_view name, Place born) {
  Value made = unknown(name, Sharing::unseen, born);
  made.as<Unknown>()->unseen = true;
  return made;
}

Value Heap::tensor(TensorState content, Place born) {
  auto* made = make<Tensor>();
  made->born = born;
  made->state.value = Value::of(Kind::state, state(std::move(content)));
  return Value::of(Kind::tensor, made);
}

const Content* Heap::content(Dtype dtype, bool is_scalar, std::vector<Number> numbers) {
  if (dtype == Dtype::unknown || numbers.size() > most_numbers || (is_scalar && numbers.size() != 1))
    return nullptr;
  auto* made = make<Content>();
  made->dtype = dtype;
  made->is_scalar = is_scalar;
  made->numbers = std::move(numbers);
  made->writes = writes_.of_type[static_cast<std::size_t>(dtype)];
  return made;
}
const Content* Heap::content_of(const TensorState& state) const {
  const Content* known = state.content;
  if (!known || known->dtype != state.dtype ||
      known->writes != writes_.of_type[static_cast<std::size_t>(known->dtype)])
    return nullptr;
  if (!state.shape.ndim_known || state.shape.dims.size() != (known->is_scalar ? 0u : 1u)) return nullptr;
  if (!known->is_scalar &&
      (!state.shape.dims[0].size ||
          symbols_.value(state.shape.dims[0].size) != static_cast<std::int64_t>(known->numbers.size())))
    return nullptr;
  return known;
}
const Extent* Heap::extent_of(const TensorState& state) const {
  const Extent* known = state.extent;
  return known && state.dtype != Dtype::unknown && !is_floating(state.dtype) &&
          known->writes == writes_.of_integers
      ? known
      : nullptr;
}
void Heap::set_extent(TensorState& state, Extent extent) {
  extent.writes = writes_.of_integers;
  auto* made = make<Extent>();
  *made = std::move(extent);
  state.extent = made;
}
Value Heap::number(const Content& content, std::size_t i) {
  const Number& found = content.numbers[i];
  if (content.dtype == Dtype::boolean) {
    const auto truth = found.integer ? symbols_.value(found.integer) : std::nullopt;
    return truth ? boolean(*truth != 0) : Value{};
  }
  if (found.integer) return Value::of(found.integer);
  return found.exact() ? Value::of(found.low) : Value{};
}
void Heap::note_write(const TensorState* written) {
  if (!written || written->dtype == Dtype::unknown || !is_floating(written->dtype)) ++writes_.of_integers;
  // What shares the memory of a small tensor is small itself.
  if (written && written->shape.ndim_known) {
    std::uint64_t least = 1;
    for (const Dim& dim : written->shape.dims)
      if (const auto size = dim.size ? symbols_.value(dim.size) : std::nullopt; size && *size > 1)
        least = std::min<std::uint64_t>(least, 1u << 20) * static_cast<std::uint64_t>(*size);
    if (least > most_numbers) return;
  }
  if (written && written->dtype != Dtype::unknown)
    ++writes_.of_type[static_cast<std::size_t>(written->dtype)];
  else
    for (std::uint64_t& count : writes_.of_type) ++count;
}

TensorState* Heap::state(TensorState content) {
  auto* made = make<TensorState>();
  *made = std::move(content);
  return made;
}

Value Heap::device(std::string_view text) {
  auto* made = make<Device>();
  // A program's own text is never taken for one of devices.hpp.
  made->text = keep(is_reserved(text) ? " " + std::string(text) : std::string(text));
  return Value::of(Kind::device, made);
}

ListState* Heap::list_state(Value list) {
  return list.is(Kind::iterator) ? list.as<Iterator>()->state.value.as<ListState>()
                                 : list.as<List>()->state.value.as<ListState>();
}

DictState* Heap::dict_state(Value dict) { return dict.as<Dict>()->state.value.as<DictState>(); }

void Heap::set_list(Value list, ListState content) {
  auto* made = make<ListState>();
  *made = std::move(content);
  Slot& slot = list.is(Kind::iterator) ? list.as<Iterator>()->state : list.as<List>()->state;
  set(slot, Value::of(Kind::state, made));
}

void Heap::set_dict(Value dict, DictState content) {
  auto* made = make<DictState>();
  *made = std::move(content);
  set(dict.as<Dict>()->state, Value::of(Kind::state, made));
}

// ---------------------------------------------------------------- sharing

Sharing Heap::sharing(Value value, int depth) const {
  if (depth > deepest_look) return Sharing::local;  // a container may hold itself
  switch (value.kind) {
  case Kind::unknown: return value.as<Unknown>()->sharing;
  case Kind::integer: return symbols_.sharing(value.integer());
  case Kind::boolean: return symbols_.sharing(value.condition());
  case Kind::tensor: return value.as<Tensor>()->now()->sharing;
  case Kind::choice: {
    const auto* choice = value.as<Choice>();
    return symbolic::mix(symbols_.sharing(choice->condition),
        symbolic::mix(sharing(choice->yes, depth + 1), sharing(choice->no, depth + 1)));
  }
  case Kind::slice: {
    const auto* slice = value.as<SliceObject>();
    return symbolic::mix(sharing(slice->lower, depth + 1),
        symbolic::mix(sharing(slice->upper, depth + 1), sharing(slice->step, depth + 1)));
  }
  case Kind::tuple: {
    Sharing mixed = Sharing::uniform;
    Value last;  // `(x,) * 16`: the same again tells nothing
    for (const Value& item : value.as<Tuple>()->items) {
      if (!(item == last)) mixed = symbolic::mix(mixed, sharing(item, depth + 1));
      last = item;
    }
    return mixed;
  }
  case Kind::list: {
    const ListState* content = list_state(value);
    constexpr std::size_t most_items = 16;  // the others are made the same way
    Sharing mixed = content->rest ? sharing(content->rest, depth + 1) : Sharing::uniform;
    for (std::size_t i = 0; i < content->items.size() && i < most_items; ++i)
      if (!content->items[i].is(Kind::list))
        mixed = symbolic::mix(mixed, sharing(content->items[i], depth + 1));
    return mixed;
  }
  // A path is the text that it stands for, an array the numbers in it.
  case Kind::instance: {
    const auto* object = value.as<Instance>();
    if (!object->native) return Sharing::uniform;
    const Slot* held = object->attributes.find(Name(values::FileState::path));
    if (!held) held = object->attributes.find(Name(values::ArrayState::state));
    return held ? sharing(held->value, depth + 1) : Sharing::uniform;
  }
  default: return Sharing::uniform;
  }
}

// Of each rank's own data it is known how they relate among the ranks, though nothing else is.
bool Heap::is_unseen(Value value) const {
  switch (value.kind) {
  case Kind::unknown: return value.as<Unknown>()->unseen && value.as<Unknown>()->sharing != Sharing::local;
  case Kind::tensor: return value.as<Tensor>()->now()->unseen;
  case Kind::choice: return is_unseen(value.as<Choice>()->yes) || is_unseen(value.as<Choice>()->no);
  default: return false;
  }
}

bool Heap::is_poisoned(Value value) const {
  switch (value.kind) {
  case Kind::unknown: {
    const auto* unknown = value.as<Unknown>();
    return unknown->poisoned || (unknown->state.value.is(Kind::tensor) && is_poisoned(unknown->state.value));
  }
  case Kind::tensor: return value.as<Tensor>()->now()->poisoned;
  case Kind::instance: {
    const Slot* slot = value.as<Instance>()->native
        ? value.as<Instance>()->attributes.find(Name(EngineNotes::poisoned))
        : nullptr;
    return slot && slot->value;
  }
  case Kind::choice: return is_poisoned(value.as<Choice>()->yes) || is_poisoned(value.as<Choice>()->no);
  default: return false;
  }
}

void Heap::poison(Value value) {
  if (value.is(Kind::unknown)) value = value.as<Unknown>()->state.value;
  if (value.is(Kind::instance) && value.as<Instance>()->native && !value.as<Instance>()->cls)
    set(slot_of(value.as<Instance>()->attributes, Name(EngineNotes::poisoned)), boolean(true));
  if (!value.is(Kind::tensor) || value.as<Tensor>()->now()->poisoned) return;
  TensorState poisoned = *value.as<Tensor>()->now();
  poisoned.poisoned = true;
  set(value.as<Tensor>()->state, Value::of(Kind::state, state(poisoned)));
}

bool same_shape(const Shape& a, const Shape& b) {
  if (a.ndim_known != b.ndim_known || a.dims.size() != b.dims.size()) return false;
  for (std::size_t i = 0; i < a.dims.size(); ++i)
    if (a.dims[i].size != b.dims[i].size) return false;
  return true;
}

}  // namespace stepzero::values
