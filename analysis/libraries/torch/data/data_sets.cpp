// Data sets, parts of them, and samplers. Semantics as in the documentation of torch.utils.data.
#include "interpreter/record.hpp"
#include "libraries/python/generators.hpp"
#include "libraries/torch/data/samples.hpp"
#include "libraries/torch/nn/layer.hpp"
#include "values/kept.hpp"

#include <cmath>

namespace stepzero::libraries {

namespace {

Value tensors_init(Call& call) {
  Op op(call);
  for (const auto& [name, value] : call.options) {
    op.fail(ProblemKind::argument, why<Reason::tensors_by_name>(name.text()));
    return {};
  }
  std::vector<Value> tensors;
  tensors.reserve(call.rest.size());
  for (const Value& value : call.rest) tensors.push_back(call.run.resolve(value));
  const Value made = call.run.heap().tuple(tensors);
  if (!call.spread) op.keep(values::LoaderState::tensors, made);
  op.keep("tensors", made);
  Dim first;
  for (const Value& tensor : tensors) {
    const TensorState* state = op.tensor(tensor);
    if (!state || !state->shape.ndim_known || state->shape.dims.empty()) continue;
    const Dim& size = state->shape.dims[0];
    if (op.equal(first, size) == Answer::no) {
      op.fail(ProblemKind::argument, why<Reason::samples_apart>(first, size), {first, size});
      break;
    }
    first = op.better(first, size);
  }
  return {};
}
Value tensors_length(Call& call) {
  const Value tensors = kept(call.run, call.self, values::LoaderState::tensors);
  if (tensors.is(Kind::tuple))
    for (const Value& tensor : tensors.as<values::Tuple>()->items) {
      const TensorState* state = tensor_state(call.run, tensor);
      if (state && state->shape.ndim_known && !state->shape.dims.empty() && state->shape.dims[0].size)
        return Value::of(state->shape.dims[0].size);
      // Each rank has as many as its own file holds.
      if (!state && call.run.heap().sharing(tensor) == Sharing::local)
        return call.run.length_of(tensor, call.place);
    }
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
  const Sample sample = held_sample(call.run, call.self, call.place);
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
    op.fail(
        ProblemKind::argument, why<Reason::split_lengths>(op.dim(sum), op.name("dataset"), op.dim(whole)));
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
  made.reserve(lengths.size());
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

std::vector<Row> data_set_rows() {
  using enum RowKind;
  constexpr std::string_view base = "torch.utils.data.Dataset";
  return {
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
  };
}

}  // namespace stepzero::libraries
