// Data sets, loaders and what default collation makes of a batch. Semantics as in the documentation of
// torch.utils.data.
#include "interpreter/calls/unseen.hpp"
#include "interpreter/paths/speculation.hpp"
#include "interpreter/record.hpp"
#include "libraries/numpy/arrays.hpp"
#include "libraries/python/generators.hpp"
#include "libraries/torch/data/batches.hpp"
#include "libraries/torch/data/pictures.hpp"
#include "libraries/torch/nn/layer.hpp"

#include "syntax/spelling.hpp"
#include "values/devices.hpp"
#include "values/kept.hpp"
#include "values/kept_by_packages.hpp"
#include "values/shape_text.hpp"

#include <cmath>

namespace stepzero::libraries {

namespace {

Value kept(Runtime& run, Value object, std::string_view name) {
  if (!object.is(Kind::instance)) return {};
  const values::Slot* slot = object.as<Instance>()->attributes.find(Name(name));
  const Value value = slot ? run.resolve(slot->value) : Value{};
  return value.is(Kind::none) ? Value{} : value;
}
void keep(Runtime& run, Value object, std::string_view name, Value value) {
  run.heap().set(run.heap().slot_of(object.as<Instance>()->attributes, Name(name)), value);
}
Value unseen(Runtime& run, values::Place place) { return run.heap().unknown("", Sharing::local, place); }

// len(dataset), where it is known to be an integer.
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

// Any one sample. A class of the program is run once, for an index that may be any.
struct Sample {
  Value value;
  Int index = nullptr;
};
Sample sample_of(Runtime& run, Value dataset, values::Place place, int depth = 0);

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
  if (state.shape.rank_known) {
    if (state.shape.dims.empty()) return unseen(run, place);
    state.shape.dims.erase(state.shape.dims.begin());
  }
  return run.heap().tensor(state, place);
}
Sample sample_of(Runtime& run, Value dataset, values::Place place, int depth) {
  dataset = run.resolve(dataset);
  if (depth > 8) return {};
  if (dataset.is(Kind::list) || dataset.is(Kind::tuple)) return {run.element(dataset, place), nullptr};
  if (dataset.is(Kind::tensor)) return {without_first(run, dataset, place), nullptr};
  if (!dataset.is(Kind::instance)) return {};
  if (const Value tensors = kept(run, dataset, values::LoaderState::tensors); tensors.is(Kind::tuple)) {
    std::vector<Value> items;
    for (const Value& tensor : tensors.as<values::Tuple>()->items)
      items.push_back(without_first(run, tensor, place));
    return {run.heap().tuple(std::move(items)), nullptr};
  }
  if (const Value inner = kept(run, dataset, values::LoaderState::dataset))
    return sample_of(run, inner, place, depth + 1);
  if (!dataset.as<Instance>()->cls && !kept(run, dataset, values::PictureState::sizes)) return {};
  const Value known = kept(run, dataset, values::LoaderState::sample),
              at = kept(run, dataset, values::LoaderState::sample_index);
  if (known) return {known, at.is(Kind::integer) ? at.integer() : nullptr};
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
  return {made, index};
}

// ---------------------------------------------------------------- collation

Value batched(Runtime& run, TensorState state, const Dim& batch, Int index, values::Place place) {
  for (Dim& dim : state.shape.dims) {
    bool depends = false;
    // Of samples whose size depends on their index, all of one batch have the same; which is not known.
    if (dim.size && index)
      run.symbols().atoms(dim.size, [&](Int atom) { depends = depends || atom == index; });
    if (depends) dim = {};
  }
  if (state.shape.rank_known) state.shape.dims.insert(state.shape.dims.begin(), batch);
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
// Samples that are not seen, and what default collation makes of them, lie on the CPU as good as always;
// which is said with what follows from it. `part`: one of the things that a sample consists of.
Value on_host(Runtime& run, Value made, bool with_parts) {
  if (const values::Device* host = values::default_device(
          run.heap(), run.named_condition(values::DeviceCondition::samples_on_cpu, Sharing::uniform)))
    interpreter::note_device(run.heap(), made, *host, with_parts);
  return made;
}
Value unseen_on_host(Runtime& run, values::Place place, Value sample = {}, bool part = false) {
  const Value made = unseen(run, place);
  interpreter::note_batch(run.heap(), made);
  if (sample.is(Kind::unknown) && interpreter::may_be_moved(*sample.as<values::Unknown>())) return made;
  return on_host(run, made, !part);
}
Value collate(Runtime& run, Value sample, const Dim& batch, Int index, values::Place place, int depth = 0) {
  sample = run.resolve(sample);
  if (depth > 6) return unseen_on_host(run, place, sample, depth > 0);
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
    for (const auto& [key, value] : state->items)
      items.push_back({key, collate(run, value, batch, index, place, depth + 1)});
    return run.heap().dict(std::move(items));
  }
  default: return unseen_on_host(run, place, sample, depth > 0);
  }
}

// ---------------------------------------------------------------- DataLoader

// What DataLoader's constructor itself refuses.
void judge_loader(Op& op) {
  if (op.call.spread) return;
  for (const auto& [name, value] : op.call.options) {
    std::string meant;
    for (const Name parameter : op.call.row.parameters)
      if (syntax::letters_between(name.text(), parameter.text()) <= 2) meant = parameter.text();
    op.fail(ProblemKind::argument,
        "DataLoader has no argument `" + std::string(name.text()) + "`" +
            (meant.empty() ? "" : ". Did you mean `" + meant + "`?"));
    return;
  }
  for (const std::string_view name : {"batch_size", "num_workers"})
    if (const auto text = op.text(name)) {
      op.fail(ProblemKind::argument,
          "`DataLoader` takes a number as `" + std::string(name) + "`, and \"" + std::string(*text) +
              "\" is a text");
      return;
    }
  const Int count = op.size("num_workers");
  if (!count) return;
  const symbolic::Cond alone = op.s.compared(Compare::eq, count, op.s.constant(0));
  // What the command line gives is judged where it gives nothing: the default may be none.
  if (op.s.decide(alone) == Answer::unknown) {
    const Value factor = op.argument("prefetch_factor");
    if (factor.is(Kind::integer) || op.flag("persistent_workers") == Known::yes)
      op.s.doubt(op.s.logical_not(alone));
    return;
  }
  const auto refuse = [&](std::string_view text) {
    op.fail_when(alone, ProblemKind::argument, std::string(text));
  };
  if (const Value factor = op.argument("prefetch_factor"); factor.is(Kind::integer))
    refuse(
        "`prefetch_factor` is given and `num_workers` is 0: nothing fetches ahead, and `DataLoader` raises \"prefetch_factor option could only be specified in multiprocessing\". Set num_workers above 0, or leave it out");
  if (op.flag("persistent_workers") == Known::yes)
    refuse(
        "`persistent_workers` is true and `num_workers` is 0: DataLoader raises \"persistent_workers option needs num_workers > 0\". Set num_workers above 0, or leave it out");
}
constexpr std::string_view some_number =
    values::LoaderState::some_number;  // of batches, where nothing says how many: the same whenever it is
                                       // asked for
Value some_count(Call& call) {
  symbolic::AtomInfo count;
  count.lower = 0;
  count.sharing = Sharing::unseen;
  return Value::of(call.run.symbols().fresh(count));
}
Value loader_init(Call& call) {
  Op op(call);
  judge_loader(op);
  for (const std::string_view name : {"dataset", "batch_size", "shuffle", "sampler", "batch_sampler",
           "collate_fn", "drop_last", "num_workers", "pin_memory"})
    if (const Value value = op.argument(name))
      op.keep(name, value);
    else
      op.keep(name, Value::none());
  op.keep(values::LoaderState::dataset, call.at(0));
  op.keep(some_number, some_count(call));
  if (call.spread) op.keep(values::LoaderState::open, call.run.heap().boolean(true));
  return {};
}
struct Loading {
  Int length = nullptr;  // of what is loaded
  Int size = nullptr;    // batch_size
  Known drops = Known::unknown;
  bool batches = true;
  Int count = nullptr;  // of batches, where a sampler makes them
};
// Of what one rank goes through by itself: how many samples it gives, if that is known; with workers each of
// them goes through it.
Int streamed(Call& call) {
  Runtime& run = call.run;
  const Value dataset = run.resolve(kept(run, call.self, "dataset"));
  if (!run.as_rank() || !dataset.is(Kind::instance) || !run.is_a(dataset, "torch.utils.data.IterableDataset"))
    return nullptr;
  const Value workers = run.resolve(kept(run, call.self, "num_workers"));
  if (workers && !workers.is(Kind::none) && run.to_constant(workers) != 0) return nullptr;
  if (const Value known = kept(run, dataset, values::LoaderState::streamed))
    return known.is(Kind::integer) ? known.integer() : nullptr;
  keep(run, dataset, values::LoaderState::streamed, Value::none());
  const Value method = run.find_method(dataset.as<Instance>(), Name("__iter__"));
  const Value stream = method ? run.resolve(run.call(method, {}, call.place)) : Value{};
  const auto items = stream.is(Kind::instance) || !stream ? run.elements(dataset, call.place)
                                                          : run.elements(stream, call.place);
  // Of a generator over things of which not all are known it may be known how many there are.
  const auto* state = !items && (stream.is(Kind::iterator) || stream.is(Kind::list))
      ? values::Heap::list_state(stream)
      : nullptr;
  const Int length = items ? run.symbols().constant(static_cast<std::int64_t>(items->size()))
      : state              ? state->length
                           : nullptr;
  if (!length) return nullptr;
  keep(run, dataset, values::LoaderState::streamed, Value::of(length));
  return length;
}
Loading loading_of(Call& call) {
  Runtime& run = call.run;
  Loading found;
  if (kept(run, call.self, values::LoaderState::open)) return found;
  const bool sampled = kept(run, call.self, "sampler") || kept(run, call.self, "batch_sampler");
  if (!sampled) found.length = length_of(run, kept(run, call.self, "dataset"), call.place);
  if (!sampled && !found.length) found.length = streamed(call);
  // A sampler says how many samples it picks, one of batches how many batches.
  if (const Value sampler = kept(run, call.self, "sampler"))
    found.length = length_of(run, sampler, call.place);
  if (const Value sampler = kept(run, call.self, "batch_sampler"))
    found.count = length_of(run, sampler, call.place);
  const Value size = kept(run, call.self, "batch_size");
  if (kept(run, call.self, "batch_sampler")) return found;
  if (!size)
    found.batches = false;
  else if (size.is(Kind::integer) || size.is(Kind::unknown))
    found.size = run.to_int(size);
  const Value drops = kept(run, call.self, "drop_last");
  const Answer answer = drops ? run.symbols().decide(run.truth(drops)) : Answer::no;
  found.drops = answer == Answer::yes ? Known::yes : answer == Answer::no ? Known::no : Known::unknown;
  return found;
}
// How many samples a batch holds: any of them, the last one included.
Dim batch_of(Call& call, const Loading& loading) {
  auto& s = call.run.symbols();
  // 0: not known
  const std::int64_t size = loading.size ? s.value(loading.size).value_or(0) : 0;
  const std::int64_t length = loading.length ? s.value(loading.length).value_or(0) : 0;
  if (loading.size && loading.drops == Known::yes)
    return known_dim(call.run, loading.size, call.self.object()->born, "batch_size");
  if (loading.size && loading.length && s.divides(loading.size, loading.length) == Answer::yes)
    return known_dim(call.run, loading.size, call.self.object()->born, "batch_size");
  if (length > 0 && length < size)
    return known_dim(call.run, loading.length, call.self.object()->born, "length of the data");
  // Who counts what a step takes asks for the largest.
  if (loading.size && loading.length && length > size && size > 0 &&
      call.run.record().conditions.contains(values::RecordCondition::counted))
    return known_dim(call.run, loading.size, call.self.object()->born, "batch_size");
  // One symbol for all that it gives: what is kept of one round meets what is kept of the next.
  values::Slot& any = call.run.heap().slot_of(object(call).attributes, Name(values::LoaderState::any_batch));
  if (!any.value) {
    symbolic::AtomInfo info;
    info.name = "batch";
    info.lower = 1;
    if (size > 0) info.upper = size;
    info.sharing = Sharing::local;
    any.value = Value::of(s.fresh(info));  // it was always there: no write
  }
  return known_dim(call.run, any.value.integer(), call.self.object()->born, "batch_size");
}
// ---------------------------------------------------------------- samples at the ends

std::optional<std::string> sizes_apart(Runtime& run, Value a, Value b, int depth = 0) {
  a = run.resolve(a);
  b = run.resolve(b);
  if (depth > 4) return std::nullopt;
  if (const TensorState *x = tensor_state(run, a), *y = tensor_state(run, b); x && y) {
    if (!x->shape.rank_known || !y->shape.rank_known) return std::nullopt;
    bool apart = x->shape.dims.size() != y->shape.dims.size();
    for (std::size_t i = 0; !apart && i < x->shape.dims.size(); ++i)
      apart = x->shape.dims[i].size && y->shape.dims[i].size &&
          run.symbols().compare(Compare::eq, x->shape.dims[i].size, y->shape.dims[i].size) == Answer::no;
    return apart ? std::optional(values::shape_text(run.symbols(), x->shape) + " and " +
                       values::shape_text(run.symbols(), y->shape))
                 : std::nullopt;
  }
  if (a.is(Kind::tuple) && b.is(Kind::tuple) &&
      a.as<values::Tuple>()->items.size() == b.as<values::Tuple>()->items.size())
    for (std::size_t i = 0; i < a.as<values::Tuple>()->items.size(); ++i)
      if (auto found = sizes_apart(
              run, a.as<values::Tuple>()->items[i], b.as<values::Tuple>()->items[i], depth + 1))
        return found;
  if (a.is(Kind::dict) && b.is(Kind::dict))
    for (const auto& [key, value] : values::Heap::dict_state(a)->items)
      for (const auto& [other, beside] : values::Heap::dict_state(b)->items)
        if (run.same_key(key, other))
          if (auto found = sizes_apart(run, value, beside, depth + 1)) return found;
  return std::nullopt;
}
bool holds_none(Runtime& run, Value sample, int depth = 0) {
  sample = run.resolve(sample);
  if (sample.is(Kind::none)) return true;
  if (depth < 4 && sample.is(Kind::tuple))
    return std::ranges::any_of(
        sample.as<values::Tuple>()->items, [&](Value item) { return holds_none(run, item, depth + 1); });
  if (depth < 4 && sample.is(Kind::dict))
    return std::ranges::any_of(values::Heap::dict_state(sample)->items,
        [&](const auto& item) { return holds_none(run, item.second, depth + 1); });
  return false;
}
// Whoever goes through the data asks for the first, the second and the last sample. What is wrong with those
// alone shows only there.
void try_ends(Call& call, Value dataset, const Loading& loading, bool collates) {
  Runtime& run = call.run;
  dataset = run.resolve(dataset);
  const auto length = loading.length ? run.symbols().value(loading.length) : std::nullopt;
  if (!length || *length < 2 || !dataset.is(Kind::instance) || !dataset.as<Instance>()->cls ||
      run.guarded() || run.is_a(dataset, "torch.utils.data.IterableDataset") ||
      kept(run, dataset, values::LoaderState::tried))
    return;
  const Value method = run.find_method(dataset.as<Instance>(), Name("__getitem__"));
  if (!method) return;
  keep(run, dataset, values::LoaderState::tried, run.heap().boolean(true));
  std::optional<interpreter::Speculation> trial(std::in_place, run);
  std::vector<std::pair<std::int64_t, Value>> samples;
  bool failed = false;
  for (const std::int64_t index : {std::int64_t{0}, std::int64_t{1}, *length - 1}) {
    if (failed || (!samples.empty() && samples.back().first == index)) continue;
    const std::size_t before = run.record().events.size();
    samples.emplace_back(index, run.call(method, {{run.heap().integer(index)}, {}, false}, call.place));
    for (std::size_t i = before; i < run.record().events.size(); ++i) {
      if (run.record().events[i]->kind != interpreter::EventKind::problem) continue;
      auto& problem = static_cast<interpreter::ProblemEvent&>(*run.record().events[i]);
      problem.overridable = failed = true;  // a program may stop before
      problem.evidence.emplace_back(call.place,
          "the loader asks for sample " + std::to_string(index) + " of " + std::to_string(*length));
    }
  }
  const bool several = loading.batches &&
      (!loading.size || run.symbols().value(loading.size).value_or(2) > 1);
  if (!failed && collates && several)
    for (std::size_t i = 1; i < samples.size() && !failed; ++i)
      if (const auto apart = sizes_apart(run, samples[0].second, samples[i].second)) {
        auto* problem = run.problem(ProblemKind::concat, call);
        problem->overridable = failed = true;
        problem->text = "Samples 0 and " + std::to_string(samples[i].first) + " have the shapes " + *apart +
            ": a batch that holds both raises \"stack expects each tensor to be equal size\". Give all samples one size, or pass a collate_fn";
        if (method.is(Kind::bound) && method.as<values::Bound>()->function.is(Kind::function))
          problem->evidence.emplace_back(
              method.as<values::Bound>()->function.object()->born, "the samples are made here");
      }
  trial.reset();
  keep(run, dataset, values::LoaderState::tried, run.heap().boolean(true));
}

// How many batches there are, of whatever samples there are; null: not known.
Int batches_of(Runtime& run, const Loading& loading) {
  auto& s = run.symbols();
  if (loading.count) return loading.count;
  if (loading.length && !loading.batches) return loading.length;
  if (!loading.length || !loading.size || s.compare(Compare::gt, loading.size, s.constant(0)) != Answer::yes)
    return nullptr;
  if (loading.drops == Known::yes) return s.floordiv(loading.length, loading.size);
  return loading.drops == Known::no
      ? s.floordiv(s.add(loading.length, s.sub(loading.size, s.constant(1))), loading.size)
      : nullptr;
}

// Does each rank read samples of its own, whatever they are?
bool is_dealt(Call& call) {
  const Value sampler = call.run.resolve(kept(call.run, call.self, "sampler"));
  return sampler.is(Kind::instance) &&
      call.run.is_a(sampler, "torch.utils.data.distributed.DistributedSampler");
}
// Batches of samples that are not seen differ from rank to rank then.
void note_dealt(Runtime& run, Value batch, int depth = 0) {
  batch = run.resolve(batch);
  if (batch.is(Kind::unknown)) {
    batch.as<values::Unknown>()->sharing = Sharing::local;
  } else if (batch.is(Kind::tuple) && depth < 3) {
    for (const Value& item : batch.as<values::Tuple>()->items) note_dealt(run, item, depth + 1);
  } else if (batch.is(Kind::dict) && depth < 3) {
    for (const auto& [key, item] : values::Heap::dict_state(batch)->items) note_dealt(run, item, depth + 1);
  }
}

Value loader_iter(Call& call) {
  Runtime& run = call.run;
  const Value dataset = kept(run, call.self, "dataset"), collating = kept(run, call.self, "collate_fn");
  const Loading loading = loading_of(call);
  symbolic::AtomInfo info;
  info.lower = 0;
  info.sharing = Sharing::local;
  const Int counted = batches_of(run, loading);
  const Int trips = counted && loading.length ? counted : run.symbols().fresh(info);
  const bool open = static_cast<bool>(kept(run, call.self, values::LoaderState::open));
  Value batch = open ? unseen(run, call.place) : unseen_on_host(run, call.place);
  Sample sample = dataset && !open ? sample_of(run, dataset, call.place) : Sample{};
  // A function of the program's own collates samples that are not seen, too.
  if (!sample.value && collating && !open) sample.value = unseen_on_host(run, call.place);
  if (sample.value) {
    if (!loading.batches) {
      batch = collating ? run.call(collating, {{sample.value}, {}, false}, call.place) : sample.value;
    } else {
      const Dim size = batch_of(call, loading);
      // Told with the operation: how many samples there are, and how many in any batch.
      call.arguments.resize(2);
      if (loading.length) call.arguments[0] = Value::of(loading.length);
      if (size.size) call.arguments[1] = Value::of(size.size);
      try_ends(call, dataset, loading, !collating);
      if (!collating && holds_none(run, sample.value) && !run.guarded())
        run.problem(ProblemKind::argument, call)->text =
            "A sample holds None, and default_collate takes no None: \"batch must contain tensors, numpy arrays, numbers, dicts or lists\". Leave it out of the sample, or pass a collate_fn";
      batch = collating
          ? run.call(collating, {{run.heap().open_list(sample.value, size.size)}, {}, false}, call.place)
          : collate(run, sample.value, size, sample.index, call.place);
    }
    // What a function of the program's own collates lies on the CPU as well, unless it moves it.
    if (batch.is(Kind::unknown) && !interpreter::may_be_moved(*batch.as<values::Unknown>()))
      (void)on_host(run, batch, true);
  }
  if (!collating && is_dealt(call)) note_dealt(run, batch);
  if (kept(run, call.self, values::PreparedState::moves)) batch = moved_batch(run, batch, call.place);
  return run.heap().open_list(batch, trips);
}
Value loader_len(Call& call) {
  if (const Int counted = batches_of(call.run, loading_of(call))) return Value::of(counted);
  if (const Value known = kept(call.run, call.self, some_number)) return known;
  return call.run.heap().unknown("", Sharing::unseen, call.place);
}

// ---------------------------------------------------------------- data sets

Value tensors_init(Call& call) {
  Op op(call);
  for (const auto& [name, value] : call.options) {
    op.fail(ProblemKind::argument,
        "TensorDataset has no argument '" + std::string(name.text()) + "': its tensors are given by place");
    return {};
  }
  std::vector<Value> tensors;
  for (const Value& value : call.rest) tensors.push_back(call.run.resolve(value));
  const Value made = call.run.heap().tuple(tensors);
  if (!call.spread) op.keep(values::LoaderState::tensors, made);
  op.keep("tensors", made);
  Dim first;
  for (const Value& tensor : tensors) {
    const TensorState* state = op.tensor(tensor);
    if (!state || !state->shape.rank_known || state->shape.dims.empty()) continue;
    const Dim& size = state->shape.dims[0];
    if (op.equal(first, size) == Answer::no) {
      op.fail(ProblemKind::argument,
          "TensorDataset takes tensors of one length, and these have " + op.words(first) + " and " +
              op.words(size),
          {first, size});
      break;
    }
    first = op.better(first, size);
  }
  return {};
}
Value tensors_length(Call& call) {
  const Value tensors = kept(call.run, call.self, values::LoaderState::tensors);
  if (tensors.is(Kind::tuple))
    for (const Value& tensor : tensors.as<values::Tuple>()->items)
      if (const TensorState* state = tensor_state(call.run, tensor);
          state && state->shape.rank_known && !state->shape.dims.empty() && state->shape.dims[0].size)
        return Value::of(state->shape.dims[0].size);
  return call.run.heap().unknown("", Sharing::uniform, call.place);
}
// DistributedSampler: as many for each rank, by repeating some of the first or, where they are dropped, by
// leaving out the last.
Value picks_share(Call& call) {
  Op op(call);
  if (const Value shuffle = op.argument("shuffle")) op.keep(values::LoaderState::shuffle, shuffle);
  auto& s = call.run.symbols();
  const Int all = length_of(call.run, call.at(0), call.place);
  const Value replicas = op.argument("num_replicas");
  const Int ranks = !replicas || replicas.is(Kind::none) ? call.run.role(symbolic::Role::world_size)
      : replicas.is(Kind::integer)                       ? replicas.integer()
                                                         : nullptr;
  const Known drops = op.flag("drop_last");
  const bool known = !call.spread && all && ranks && drops != Known::unknown &&
      s.compare(Compare::gt, ranks, s.constant(0)) == Answer::yes;
  if (!known)
    op.keep(values::LoaderState::length, some_count(call));
  else
    op.keep(values::LoaderState::length,
        Value::of(s.floordiv(drops == Known::yes ? all : s.add(all, s.sub(ranks, s.constant(1))), ranks)));
  return {};
}
// How many samples a sampler picks: as many as there are of what it is given, or as it is told.
Value picks_all(Call& call) {
  Op op(call);
  Int length = nullptr;
  if (const Value count = op.argument("num_samples"); count && !count.is(Kind::none))
    length = count.is(Kind::integer) ? count.integer() : nullptr;
  else
    length = length_of(call.run, call.at(0), call.place);
  if (length && !call.spread) keep(call.run, call.self, values::LoaderState::length, Value::of(length));
  return {};
}
Value picks_batches(Call& call) {
  Op op(call);
  if (const Value picks = op.argument("sampler"); picks && !call.spread)
    keep(call.run, call.self, "sampler", picks);
  auto& s = call.run.symbols();
  const Int length = length_of(call.run, call.at(0), call.place);
  const Value given = op.argument("batch_size");
  const Int size = given.is(Kind::integer) ? given.integer() : nullptr;
  const Known drops = op.flag("drop_last");
  if (!length || !size || call.spread || drops == Known::unknown ||
      s.compare(Compare::gt, size, s.constant(0)) != Answer::yes)
    return {};
  keep(call.run, call.self, values::LoaderState::length,
      Value::of(s.floordiv(drops == Known::yes ? length : s.add(length, s.sub(size, s.constant(1))), size)));
  return {};
}
Value picked_length(Call& call) {
  const Value length = kept(call.run, call.self, values::LoaderState::length);
  return length ? length : some_count(call);
}
Value any_sample(Call& call) {
  const Sample sample = sample_of(call.run, call.self, call.place);
  return sample.value ? sample.value : unseen(call.run, call.place);
}

Value part_of(Call& call, Value dataset, Int length) {
  Instance* made = call.run.make_native("torch.utils.data.Subset", call.place);
  const Value subset = Value::of(Kind::instance, made);
  keep(call.run, subset, values::LoaderState::dataset, dataset);
  keep(call.run, subset, "dataset", dataset);
  if (length) keep(call.run, subset, values::LoaderState::length, Value::of(length));
  return subset;
}
Value subset_init(Call& call) {
  keep(call.run, call.self, values::LoaderState::dataset, call.at(0));
  keep(call.run, call.self, "dataset", call.at(0));
  keep(call.run, call.self, "indices", call.at(1));
  if (const Int length = length_of(call.run, call.at(1), call.place))
    keep(call.run, call.self, values::LoaderState::length, Value::of(length));
  return {};
}
Value kept_length(Call& call) {
  const Value length = kept(call.run, call.self, values::LoaderState::length);
  return length ? length : call.run.heap().unknown("", Sharing::uniform, call.place);
}
Value random_split(Call& call) {
  Op op(call);
  const Value dataset = op.argument("dataset");
  const auto parts = op.sequence("lengths");
  if (!dataset || !parts) return call.run.heap().open_list(part_of(call, dataset, nullptr));
  auto& s = call.run.symbols();
  const Int whole = length_of(call.run, dataset, call.place);
  std::vector<Int> lengths;
  Int sum = s.constant(0);
  bool integers = true;
  for (const Value& part : *parts) {
    const Value length = call.run.resolve(part);
    lengths.push_back(length.is(Kind::integer) ? length.integer() : nullptr);
    integers = integers && length.is(Kind::integer);
    if (lengths.back()) sum = s.add(sum, lengths.back());
  }
  if (integers && whole && s.compare(Compare::eq, sum, whole) == Answer::no)
    op.fail(ProblemKind::argument,
        "The lengths come to " + op.words(op.dim(sum)) + ", but " + op.name("dataset") + " has " +
            op.words(op.dim(whole)) + " samples");
  else if (const auto total = whole ? s.value(whole) : std::nullopt; total && !integers) {
    // Fractions: what is left over goes to the first parts, one each.
    std::vector<std::int64_t> sizes;
    std::int64_t left = *total;
    for (const Value& part : *parts) {
      const Value fraction = call.run.resolve(part);
      if (!fraction.is(Kind::real) || !(fraction.real() >= 0 && fraction.real() <= 1)) break;
      sizes.push_back(static_cast<std::int64_t>(std::floor(static_cast<double>(*total) * fraction.real())));
      left -= sizes.back();
    }
    if (sizes.size() == parts->size() && left >= 0 && left < static_cast<std::int64_t>(sizes.size()))
      for (std::size_t i = 0; i < sizes.size(); ++i)
        lengths[i] = s.constant(sizes[i] + (static_cast<std::int64_t>(i) < left));
  }
  std::vector<Value> made;
  for (const Int length : lengths) made.push_back(part_of(call, dataset, length));
  // Each rank by itself.
  if (!call.run.as_rank() && !call.spread && drawn_with(call.run, call.at(2)) == Sharing::local)
    for (const Value& part : made)
      keep(call.run, part, values::LoaderState::drawn_alone, call.run.heap().boolean(true));
  return call.run.heap().list(std::move(made));
}
Value joined_init(Call& call) {
  const auto parts = call.run.elements(call.at(0), call.place);
  keep(call.run, call.self, "datasets", call.at(0));
  if (!parts || parts->empty()) return {};
  keep(call.run, call.self, values::LoaderState::dataset, parts->front());
  Int sum = call.run.symbols().constant(0);
  for (const Value& part : *parts) {
    const Int length = length_of(call.run, part, call.place);
    sum = sum && length ? call.run.symbols().add(sum, length) : nullptr;
  }
  if (sum) keep(call.run, call.self, values::LoaderState::length, Value::of(sum));
  return {};
}
Value joined(Call& call) {
  Instance* made = call.run.make_native("torch.utils.data.ConcatDataset", call.place);
  const Value both = Value::of(Kind::instance, made);
  keep(call.run, both, values::LoaderState::dataset, call.self);
  const Int a = length_of(call.run, call.self, call.place), b = length_of(call.run, call.at(0), call.place);
  if (a && b) keep(call.run, both, values::LoaderState::length, Value::of(call.run.symbols().add(a, b)));
  return both;
}
}  // namespace

Value moved_batch(Runtime& run, Value batch, values::Place place, int depth) {
  batch = run.resolve(batch);
  if (depth > 4) return batch;
  if (const TensorState* state = batch.is(Kind::tensor) ? tensor_state(run, batch) : nullptr) {
    TensorState there = *state;
    there.device = nullptr;
    return run.heap().tensor(std::move(there), place);
  }
  if (batch.is(Kind::tuple) || batch.is(Kind::list)) {
    const auto items = run.elements(batch, place);
    if (!items) return batch;
    std::vector<Value> made;
    for (const Value& item : *items) made.push_back(moved_batch(run, item, place, depth + 1));
    return batch.is(Kind::tuple) ? run.heap().tuple(std::move(made)) : run.heap().list(std::move(made));
  }
  if (batch.is(Kind::dict) && !values::Heap::dict_state(batch)->open) {
    std::vector<std::pair<Value, Value>> items;
    for (const auto& [key, value] : values::Heap::dict_state(batch)->items)
      items.emplace_back(key, moved_batch(run, value, place, depth + 1));
    return run.heap().dict(std::move(items));
  }
  return batch;
}

namespace {

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

}  // namespace

std::vector<Row> data_rows() {
  using enum RowKind;
  constexpr std::string_view base = "torch.utils.data.Dataset";
  std::vector<Row> rows = {
      row("torch.utils.data.DataLoader", class_,
          "dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None, num_workers=0, collate_fn=None, pin_memory=False, drop_last=False, timeout=0, "
          "worker_init_fn=None, multiprocessing_context=None, generator=None, *, prefetch_factor=None, persistent_workers=False, pin_memory_device='', in_order=True",
          loader_init),
      row("torch.utils.data.DataLoader.__iter__", method, "$samples=None, $batch=None", loader_iter),
      row("torch.utils.data.DataLoader.__len__", method, "", loader_len),
      row("torch.utils.data.Dataset", class_, "*arguments, **options", nullptr),
      row("torch.utils.data.Dataset.__add__", method, "other", joined),
      row("torch.utils.data.IterableDataset", class_, "*arguments, **options", nullptr, base),
      row("torch.utils.data.TensorDataset", class_, "*tensors", tensors_init, base),
      row("torch.utils.data.TensorDataset.__len__", method, "", tensors_length),
      row("torch.utils.data.TensorDataset.__getitem__", method, "index", any_sample),
      row("torch.utils.data.Subset", class_, "dataset, indices", subset_init, base),
      row("torch.utils.data.Subset.__len__", method, "", kept_length),
      row("torch.utils.data.Subset.__getitem__", method, "index", any_sample),
      row("torch.utils.data.ConcatDataset", class_, "datasets", joined_init, base),
      row("torch.utils.data.ConcatDataset.__len__", method, "", kept_length),
      row("torch.utils.data.ConcatDataset.__getitem__", method, "index", any_sample),
      row("torch.utils.data.Sampler", class_, "*arguments, **options", nullptr),
      row("torch.utils.data.SequentialSampler", class_, "data_source", picks_all, "torch.utils.data.Sampler"),
      row("torch.utils.data.RandomSampler", class_,
          "data_source, replacement=False, num_samples=None, generator=None", picks_all,
          "torch.utils.data.Sampler"),
      row("torch.utils.data.SubsetRandomSampler", class_, "indices, generator=None", picks_all,
          "torch.utils.data.Sampler"),
      row("torch.utils.data.WeightedRandomSampler", class_,
          "weights, num_samples, replacement=True, generator=None", picks_all, "torch.utils.data.Sampler"),
      row("torch.utils.data.BatchSampler", class_, "sampler, batch_size, drop_last", picks_batches,
          "torch.utils.data.Sampler"),
      row("torch.utils.data.distributed.DistributedSampler", class_,
          "dataset, num_replicas=None, rank=None, shuffle=True, seed=0, drop_last=False", picks_share),
      row("torch.utils.data.distributed.DistributedSampler.__len__", method, "", picked_length),
      row("torch.utils.data.distributed.DistributedSampler.set_epoch", method, "epoch", nothing),
      row("torch.utils.data.DistributedSampler", class_,
          "dataset, num_replicas=None, rank=None, shuffle=True, seed=0, drop_last=False", picks_share),
      row("torch.utils.data.DistributedSampler.__len__", method, "", picked_length),
      row("torch.utils.data.DistributedSampler.set_epoch", method, "epoch", nothing),
      row("torch.utils.data.SequentialSampler.__len__", method, "", picked_length),
      row("torch.utils.data.RandomSampler.__len__", method, "", picked_length),
      row("torch.utils.data.SubsetRandomSampler.__len__", method, "", picked_length),
      row("torch.utils.data.WeightedRandomSampler.__len__", method, "", picked_length),
      row("torch.utils.data.BatchSampler.__len__", method, "", picked_length),
      row("torch.utils.data.random_split", function, "dataset, lengths, generator=None", random_split),
      row("torch.utils.data.default_collate", function, "batch", default_collate),
      row("torch.utils.data._utils.collate.default_collate", function, "batch", default_collate),
      row("torch.utils.data.dataloader.default_collate", function, "batch", default_collate),
  };
  const std::vector<Row> pictures = picture_rows();
  rows.insert(rows.end(), pictures.begin(), pictures.end());
  return rows;
}

}  // namespace stepzero::libraries
