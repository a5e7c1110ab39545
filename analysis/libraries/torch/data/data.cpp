// Loaders: how many batches there are, and what each holds. Semantics as in the documentation of
// torch.utils.data.
#include "interpreter/calls/unseen.hpp"
#include "interpreter/paths/speculation.hpp"
#include "interpreter/record.hpp"
#include "libraries/numpy/arrays.hpp"
#include "libraries/python/generators.hpp"
#include "libraries/torch/data/batches.hpp"
#include "libraries/torch/data/pictures.hpp"
#include "libraries/torch/data/samples.hpp"
#include "libraries/torch/nn/layer.hpp"

#include "syntax/spelling.hpp"
#include "values/devices.hpp"
#include "values/kept.hpp"
#include "values/kept_by_packages.hpp"
#include "values/limits.hpp"
#include "values/shape_text.hpp"

#include <cmath>

namespace stepzero::libraries {

namespace {

// What DataLoader's constructor itself refuses.
void judge_loader(Op& op) {
  if (op.call.spread) return;
  for (const auto& [name, value] : op.call.options) {
    std::string meant;
    for (const Name parameter : op.call.row.parameters)
      if (syntax::letters_between(name.text(), parameter.text()) <= 2) meant = parameter.text();
    op.fail(ProblemKind::argument,
        interpreter::NoSuchArgument{op.taker(), std::string(name.text()), std::string(meant)});
    return;
  }
  for (const std::string_view name : {"batch_size", "num_workers"})
    if (const auto text = op.text(name)) {
      op.fail(ProblemKind::argument,
          interpreter::WrongKind{interpreter::WrongKind::Need::number, interpreter::WrongKind::Has::text,
              op.taker(), code(name), std::string(*text)});
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
  const auto refuse = [&](interpreter::Refusal refusal) {
    op.fail_when(alone, ProblemKind::argument, std::move(refusal));
  };
  if (const Value factor = op.argument("prefetch_factor"); factor.is(Kind::integer))
    refuse(why<Reason::prefetch_without_workers>());
  if (op.flag("persistent_workers") == Known::yes) refuse(why<Reason::persistent_without_workers>());
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
  if (loading.size && size > 0 && call.run.record().conditions.contains(values::RecordCondition::counted))
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
  if (depth > values::deepest_data) return std::nullopt;
  if (const TensorState *x = tensor_state(run, a), *y = tensor_state(run, b); x && y) {
    if (!x->shape.ndim_known || !y->shape.ndim_known) return std::nullopt;
    bool apart = x->shape.dims.size() != y->shape.dims.size();
    for (std::size_t i = 0; !apart && i < x->shape.dims.size(); ++i)
      apart = x->shape.dims[i].size && y->shape.dims[i].size &&
          run.symbols().compare(Compare::eq, x->shape.dims[i].size, y->shape.dims[i].size) == Answer::no;
    return apart ? std::optional(values::code(values::shape_text(run.symbols(), x->shape)) + " and " +
                       values::code(values::shape_text(run.symbols(), y->shape)))
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
  if (depth < values::deepest_data && sample.is(Kind::tuple))
    return std::ranges::any_of(
        sample.as<values::Tuple>()->items, [&](Value item) { return holds_none(run, item, depth + 1); });
  if (depth < values::deepest_data && sample.is(Kind::dict))
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
        explain(*problem, why<Reason::samples_of_sizes>(samples[i].first, *apart));
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
  } else if (batch.is(Kind::tuple) && depth < values::deepest_data) {
    for (const Value& item : batch.as<values::Tuple>()->items) note_dealt(run, item, depth + 1);
  } else if (batch.is(Kind::dict) && depth < values::deepest_data) {
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
        explain(*run.problem(ProblemKind::argument, call), why<Reason::sample_of_none>());
      batch = collating
          ? run.call(collating, {{run.heap().open_list(sample.value, size.size)}, {}, false}, call.place)
          : collate(run, sample.value, size, sample.index, call.place);
    }
    // What a function of the program's own collates lies on the CPU as well, unless it moves it.
    if (batch.is(Kind::unknown) && !interpreter::may_be_moved(*batch.as<values::Unknown>()))
      (void)on_host(run, batch, true);
  }
  if (!collating && is_dealt(call)) note_dealt(run, batch);
  if (sample.value && loading.batches && collating &&
      run.record().conditions.contains(values::RecordCondition::counted))
    batch = handed_batch(run, batch, call.place);
  if (kept(run, call.self, values::PreparedState::moves)) batch = moved_batch(run, batch, call.place);
  return run.heap().open_list(batch, trips);
}
Value loader_len(Call& call) {
  if (const Int counted = batches_of(call.run, loading_of(call))) return Value::of(counted);
  if (const Value known = kept(call.run, call.self, some_number)) return known;
  return call.run.heap().unknown("", Sharing::unseen, call.place);
}

}  // namespace

std::vector<Row> data_rows() {
  using enum RowKind;
  // What is asked for batches is given how many samples there are, and how many of them make a batch.
  static const std::string iterated = std::string(values::LoaderState::samples) + "=None, " +
      std::string(values::LoaderState::batch) + "=None";
  std::vector<Row> rows = {
      row("torch.utils.data.DataLoader", class_,
          "dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None, num_workers=0, collate_fn=None, pin_memory=False, drop_last=False, timeout=0, "
          "worker_init_fn=None, multiprocessing_context=None, generator=None, *, prefetch_factor=None, persistent_workers=False, pin_memory_device='', in_order=True",
          loader_init),
      row("torch.utils.data.DataLoader.__iter__", method, iterated, loader_iter),
      row("torch.utils.data.DataLoader.__len__", method, "", loader_len),
      row("torch.utils.data.default_collate", function, "batch", default_collate),
      row("torch.utils.data._utils.collate.default_collate", function, "batch", default_collate),
      row("torch.utils.data.dataloader.default_collate", function, "batch", default_collate),
  };
  for (const auto& more : {data_set_rows(), picture_rows()})
    rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

}  // namespace stepzero::libraries
