#include "libraries/torch/data/samples.hpp"

#include "interpreter/calls/unseen.hpp"
#include "interpreter/record.hpp"
#include "libraries/numpy/arrays.hpp"
#include "libraries/torch/data/batches.hpp"
#include "libraries/torch/nn/layer.hpp"
#include "values/devices.hpp"
#include "values/kept.hpp"
#include "values/kept_by_packages.hpp"
#include "values/limits.hpp"

namespace stepzero::libraries {

Value kept(Runtime& run, Value object, values::AttributeKey name) {
  if (!object.is(Kind::instance)) return {};
  const values::Slot* slot = object.as<Instance>()->attributes.find(Name(name.text()));
  const Value value = slot ? run.resolve(slot->value) : Value{};
  return value.is(Kind::none) ? Value{} : value;
}
void keep(Runtime& run, Value object, values::AttributeKey name, Value value) {
  run.heap().set(run.heap().slot_of(object.as<Instance>()->attributes, Name(name.text())), value);
}
Value unseen(Runtime& run, values::Place place) { return run.heap().unknown("", Sharing::local, place); }

Int length_of(Runtime& run, Value dataset, values::Place place) {
  dataset = run.resolve(dataset);
  const bool counted = dataset.is(Kind::list) || dataset.is(Kind::tuple) || dataset.is(Kind::tensor) ||
      dataset.is(Kind::range) || dataset.is(Kind::dict) ||
      (dataset.is(Kind::instance) && run.find_method(dataset.as<Instance>(), Name("__len__")));
  if (!counted) return nullptr;
  const Value length = run.resolve(
      run.call(run.library_symbol("builtins.len"), {{dataset}, {}, false}, place));
  return length.is(Kind::integer) ? length.integer() : nullptr;
}

namespace {
// The bounds of a tensor's elements hold for some of them, too, unless they say that the bounds are among
// them.
const values::Extent* extent_of_some(Runtime& run, const TensorState& all) {
  const values::Extent* known = run.heap().extent_of(all);
  return known && !known->met ? known : nullptr;
}
Value without_first(Runtime& run, Value tensor, values::Place place) {
  const TensorState* from = require_tensor(run, tensor);
  if (!from) return unseen(run, place);
  TensorState state = computed(run, {tensor});
  state.shape = from->shape;
  state.dtype = from->dtype;
  state.sharing = Sharing::local;
  state.extent = extent_of_some(run, *from);
  if (state.shape.ndim_known) {
    if (state.shape.dims.empty()) return unseen(run, place);
    state.shape.dims.erase(state.shape.dims.begin());
  }
  return run.heap().tensor(state, place);
}
// What the data set holds now: a sample that was made when it held something else is not what it gives.
Value held_by(Runtime& run, Value dataset) {
  std::vector<Value> held;
  for (const auto& [name, slot] : dataset.as<Instance>()->attributes.entries())
    if (!values::is_kept(name.text())) held.push_back(slot->value);
  return run.heap().tuple(std::move(held));
}
bool is_up_to_date(Runtime& run, Value dataset) {
  const Value then = kept(run, dataset, values::SampleState::made_with);
  return !then.is(Kind::tuple) ||
      then.as<values::Tuple>()->items == held_by(run, dataset).as<values::Tuple>()->items;
}
}  // namespace

Sample held_sample(Runtime& run, Value dataset, values::Place place, int depth) {
  if (const Value tensors = kept(run, dataset, values::LoaderState::tensors); tensors.is(Kind::tuple)) {
    std::vector<Value> items;
    for (const Value& tensor : tensors.as<values::Tuple>()->items)
      items.push_back(without_first(run, tensor, place));
    return {run.heap().tuple(std::move(items)), nullptr};
  }
  const Value inner = kept(run, dataset, values::LoaderState::dataset);
  return inner ? sample_of(run, inner, place, depth + 1) : Sample{};
}

Sample sample_of(Runtime& run, Value dataset, values::Place place, int depth) {
  dataset = run.resolve(dataset);
  if (depth > values::deepest_data) return {};
  if (dataset.is(Kind::list) || dataset.is(Kind::tuple)) return {run.element(dataset, place), nullptr};
  if (dataset.is(Kind::tensor)) return {without_first(run, dataset, place), nullptr};
  if (!dataset.is(Kind::instance)) return {};
  if (kept(run, dataset, values::LoaderState::tensors).is(Kind::tuple) ||
      kept(run, dataset, values::LoaderState::dataset))
    return held_sample(run, dataset, place, depth);
  if (!dataset.as<Instance>()->cls && !kept(run, dataset, values::PictureState::sizes)) return {};
  const Value known = kept(run, dataset, values::LoaderState::sample),
              at = kept(run, dataset, values::LoaderState::sample_index);
  if (known && is_up_to_date(run, dataset)) return {known, at.is(Kind::integer) ? at.integer() : nullptr};
  if (run.is_a(dataset, "torch.utils.data.IterableDataset")) return {run.element(dataset, place), nullptr};
  const Value method = run.find_method(dataset.as<Instance>(), Name("__getitem__"));
  if (!method) return {};
  symbolic::AtomInfo info;
  info.name = "index";
  info.lower = 0;
  if (const Int length = length_of(run, dataset, place))
    if (const auto number = run.symbols().value(length)) {
      if (*number <= 0) return {};  // nobody asks for one
      info.upper = *number - 1;
    }
  info.sharing = Sharing::local;
  const Int index = run.symbols().fresh(info);
  const Value made = run.call(method, {{Value::of(index)}, {}, false}, place);
  keep(run, dataset, values::LoaderState::sample, made);
  keep(run, dataset, values::LoaderState::sample_index, Value::of(index));
  keep(run, dataset, values::SampleState::made_with, held_by(run, dataset));
  return {made, index};
}

namespace {
Value batched(Runtime& run, TensorState state, const Dim& batch, Int index, values::Place place) {
  for (Dim& dim : state.shape.dims) {
    bool depends = false;
    // Of samples whose size depends on their index, all of one batch have the same; which is not known.
    if (dim.size && index)
      run.symbols().atoms(dim.size, [&](Int atom) { depends = depends || atom == index; });
    if (depends) dim = {};
  }
  // Who counts memory asks for all sizes: those that are not known get a name once the batch has one.
  if (run.record().conditions.contains(values::RecordCondition::counted))
    for (Dim& dim : state.shape.dims)
      if (!dim.size) {
        symbolic::AtomInfo info;
        info.lower = 0;
        info.sharing = Sharing::unseen;
        dim = known_dim(run, run.symbols().fresh(info), place, "batch");
      }
  if (state.shape.ndim_known)
    state.shape.dims.insert(state.shape.dims.begin(), batch);
  else
    state.first.insert(state.first.begin(), batch);
  state.sharing = Sharing::local;
  state.content = nullptr;
  state.extent = extent_of_some(run, state);
  state.shape_value = {};
  return run.heap().tensor(std::move(state), place);
}
Value number(Runtime& run, Dtype dtype, const Dim& batch, values::Place place) {
  TensorState state;
  state.dtype = dtype;
  state.shape = {true, {}};
  state.requires_grad = Known::no;
  state.graph_complete = true;
  state.device = run.heap().device("cpu").as<values::Device>();
  return batched(run, state, batch, nullptr, place);
}
}  // namespace

Value on_host(Runtime& run, Value made, bool with_parts) {
  if (const values::Device* host = values::default_device(
          run.heap(), run.named_condition(values::DeviceCondition::samples_on_cpu, Sharing::uniform)))
    interpreter::note_device(run.heap(), made, *host, with_parts);
  return made;
}
Value unseen_on_host(Runtime& run, values::Place place, Value sample, bool part) {
  const Value made = unseen(run, place);
  interpreter::note_batch(run.heap(), made);
  if (sample.is(Kind::unknown) && interpreter::may_be_moved(*sample.as<values::Unknown>())) return made;
  return on_host(run, made, !part);
}
// How many parts a sample has, its own parts' among them; more than `most` are not counted.
static std::size_t parts_of(Runtime& run, Value sample, values::Place place, std::size_t most) {
  sample = run.resolve(sample);
  std::size_t count = 1;
  if (!sample.is(Kind::tuple) && !sample.is(Kind::list)) return count;
  if (const auto items = run.elements(sample, place))
    for (auto item = items->begin(); item != items->end() && count <= most; ++item)
      count += parts_of(run, *item, place, most - count);
  return count;
}

Value collate(Runtime& run, Value sample, const Dim& batch, Int index, values::Place place, int depth) {
  sample = run.resolve(sample);
  const bool is_large = depth == 0 && parts_of(run, sample, place, values::most_parts) > values::most_parts;
  if (is_large || depth > values::deepest_data) return unseen_on_host(run, place, sample, depth > 0);
  if (const TensorState* state = tensor_state(run, sample)) return batched(run, *state, batch, index, place);
  if (const TensorState* state = array_state(run, sample)) return batched(run, *state, batch, index, place);
  switch (sample.kind) {
  case Kind::integer: return number(run, Dtype::int64, batch, place);
  case Kind::real: return number(run, Dtype::float64, batch, place);
  case Kind::boolean: return number(run, Dtype::boolean, batch, place);
  case Kind::string: return run.heap().open_list(run.heap().unknown("", Sharing::local, place), batch.size);
  case Kind::tuple:
  case Kind::list: {
    const auto items = run.elements(sample, place);
    if (!items) return unseen_on_host(run, place, sample, depth > 0);
    std::vector<Value> parts;
    parts.reserve(items->size());
    for (const Value& item : *items) parts.push_back(collate(run, item, batch, index, place, depth + 1));
    if (sample.is(Kind::tuple) && !sample.as<values::Tuple>()->fields.empty()) {
      const Value made = run.heap().tuple(std::move(parts));
      made.as<values::Tuple>()->fields = sample.as<values::Tuple>()->fields;
      return made;
    }
    return run.heap().list(std::move(parts));
  }
  case Kind::dict: {
    const auto* state = values::Heap::dict_state(sample);
    if (state->open) return unseen_on_host(run, place, sample, depth > 0);
    std::vector<std::pair<Value, Value>> items;
    items.reserve(state->items.size());
    for (const auto& [key, value] : state->items)
      items.push_back({key, collate(run, value, batch, index, place, depth + 1)});
    return run.heap().dict(std::move(items));
  }
  default: return unseen_on_host(run, place, sample, depth > 0);
  }
}

namespace {
// The batch, with each of its tensors changed.
template <class Change>
Value changed_batch(Runtime& run, Value batch, values::Place place, const Change& change, int depth) {
  batch = run.resolve(batch);
  if (depth > values::deepest_data) return batch;
  if (const TensorState* state = batch.is(Kind::tensor) ? tensor_state(run, batch) : nullptr) {
    TensorState there = *state;
    change(there);
    return run.heap().tensor(std::move(there), place);
  }
  if (batch.is(Kind::tuple) || batch.is(Kind::list)) {
    const auto items = run.elements(batch, place);
    if (!items) return batch;
    std::vector<Value> made;
    made.reserve(items->size());
    for (const Value& item : *items) made.push_back(changed_batch(run, item, place, change, depth + 1));
    return batch.is(Kind::tuple) ? run.heap().tuple(std::move(made)) : run.heap().list(std::move(made));
  }
  if (batch.is(Kind::dict) && !values::Heap::dict_state(batch)->open) {
    std::vector<std::pair<Value, Value>> items;
    for (const auto& [key, value] : values::Heap::dict_state(batch)->items)
      items.emplace_back(key, changed_batch(run, value, place, change, depth + 1));
    return run.heap().dict(std::move(items));
  }
  return batch;
}
}  // namespace

Value moved_batch(Runtime& run, Value batch, values::Place place, int depth) {
  return changed_batch(run, batch, place, [](TensorState& there) { there.device = nullptr; }, depth);
}
Value handed_batch(Runtime& run, Value batch, values::Place place) {
  return changed_batch(
      run, batch, place,
      [](TensorState& there) {
        if (there.requires_grad == Known::yes) return;
        there.requires_grad = Known::no;
        there.graph = {};
        there.graph_complete = true;
        there.made = nullptr;
      },
      0);
}

Value default_collate(Call& call) {
  const Value samples = call.run.resolve(call.at(0));
  const auto items = call.run.elements(samples, call.place);
  auto& s = call.run.symbols();
  Int count = items            ? s.constant(static_cast<std::int64_t>(items->size()))
      : samples.is(Kind::list) ? values::Heap::list_state(samples)->length
                               : nullptr;
  const Value any = items ? (items->empty() ? Value{} : items->front())
                          : call.run.element(samples, call.place);
  if (!any) return unseen(call.run, call.place);
  return collate(
      call.run, any, count ? known_dim(call.run, count, call.place, "batch") : Dim{}, nullptr, call.place);
}

Value some_count(Call& call) {
  symbolic::AtomInfo count;
  count.lower = 0;
  count.sharing = Sharing::unseen;
  return Value::of(call.run.symbols().fresh(count));
}

}  // namespace stepzero::libraries
