// perf/sampler: a loader that is given a sampler and told to shuffle, or that gives all ranks the same data.
#include "libraries/table/class_roles.hpp"
#include "rules/condition_text.hpp"
#include "rules/provenance.hpp"
#include "rules/ranks/job_size.hpp"
#include "rules/rule.hpp"
#include "rules/training/loaders.hpp"
#include "values/kept.hpp"
#include "values/limits.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <optional>

namespace stepzero::rules::perf::sampler {

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

// Is it a list of which some differ among the ranks, as the numbers of a rank's own samples do?
bool differs(const Record& record, Value list) {
  if (!list.is(Kind::list)) return false;
  const values::ListState& state = *values::Heap::list_state(list);
  const auto own = [&](Value item) {
    return item.is(Kind::integer) && record.heap.sharing(item) != symbolic::Sharing::uniform;
  };
  return std::any_of(state.items.begin(), state.items.end(), own) || own(state.rest) ||
      (state.length && record.symbols.sharing(state.length) != symbolic::Sharing::uniform);
}

// Does a data set hold a number that differs among the ranks? Then it may be a rank's own part.
// Was it made of something that is not seen, such as an array that a file holds?
bool comes_from_file(const values::TensorState& state) {
  return std::ranges::any_of(ancestors(&state), [](const values::TensorState* each) {
    return each->made && std::ranges::any_of(each->made->arguments, [](const Value& given) {
      return given.is(Kind::unknown) && given.as<values::Unknown>()->unseen;
    });
  });
}

// Is it each rank's own, as far as anybody sees? A part of a tensor that the rank number chooses, a file that
// it names.
bool is_own(const Record& record, Value value, int depth = 0) {
  const auto any = [&](const auto& items) {
    return std::any_of(
        items.begin(), items.end(), [&](const Value& item) { return is_own(record, item, depth + 1); });
  };
  if (!value || depth > values::deepest_data) return false;
  switch (value.kind) {
  case Kind::integer:
  case Kind::string: return record.heap.sharing(value) != symbolic::Sharing::uniform;
  case Kind::unknown:
    return value.as<values::Unknown>()->unseen || record.heap.sharing(value) != symbolic::Sharing::uniform;
  case Kind::tensor: {
    // What each rank drew for itself is not a part that it took.
    const values::TensorState& state = *value.as<values::Tensor>()->now();
    // Nor is a part of that known by more than its number, which nobody knows.
    if (state.shape.ndim_known && !state.shape.dims.empty() && !state.shape.dims[0].size) return true;
    const auto by_rank = [&](const values::Dim& dim) {
      return dim.size && record.symbols.sharing(dim.size) == symbolic::Sharing::divergent;
    };
    return state.unseen || comes_from_file(state) || state.sharing == symbolic::Sharing::divergent ||
        std::any_of(state.shape.dims.begin(), state.shape.dims.end(), by_rank);
  }
  case Kind::list:
    return differs(record, value) || any(values::Heap::list_state(value)->items) ||
        is_own(record, values::Heap::list_state(value)->rest, depth + 1);
  case Kind::tuple: return any(value.as<values::Tuple>()->items);
  case Kind::choice:
    return is_own(record, value.as<values::Choice>()->yes, depth + 1) ||
        is_own(record, value.as<values::Choice>()->no, depth + 1);
  default: return false;
  }
}
bool is_parted(const Record& record, Value dataset) {
  // What the run keeps with it, as the sample that it tried and its index, is not the program's.
  for (const auto& [name, slot] : dataset.as<Instance>()->attributes.entries())
    if (!values::is_kept(name.text()) && is_own(record, slot->value)) return true;
  return false;
}

// A wrapped model is trained on a loader that every rank reads as a whole.
void look_at_ranks(const Record& record, Report& report) {
  const Training& training = Training::of(record);
  const std::vector<TrainingLoop> loops = training_loops(training);
  Once once;
  for (const Reading& reading : readings(loops)) {
    const OperationEvent& made = *reading.made;
    if (!argument(made, "sampler").is(Kind::none) || !argument(made, "batch_sampler").is(Kind::none) ||
        made.self.as<Instance>()->cls)
      continue;
    const TrainingEvent* wrapped = nullptr;
    for (const TrainingEvent& each : reading.training->training_root->all)
      if (each.event->row->operation == Operation::parallel_forward &&
          in_every_iteration(record, *reading.training, each))
        wrapped = &each;
    const std::vector<Value> sets = datasets_of(made.self);
    if (!wrapped || sets.empty() ||
        std::any_of(sets.begin(), sets.end(), [&](Value set) { return is_parted(record, set); }))
      continue;
    const auto streams = [](Value set) {
      const auto* native = set.as<Instance>()->cls ? set.as<Instance>()->cls->native
                                                   : set.as<Instance>()->native;
      return libraries::role_of(native) == libraries::ClassRole::stream;
    };
    // A job of one process has nobody to share the data with.
    if (size_of_job(record, *reading.training->training_root->root) == 1) continue;
    if (std::any_of(sets.begin(), sets.end(), streams) || !once(made.place)) continue;
    const bool shuffles = truth(record, argument(made, "shuffle")) == Answer::yes;
    Finding* finding = report.add(Severity::warning, made.place, made.calls,
        std::string("Every rank reads all of this data") +
            (shuffles ? ", in an order of its own or all in the same one" : " in the same order") +
            ", so more GPUs see no more of it. Pass `sampler=DistributedSampler(dataset)`, which gives each rank its part.");
    if (finding) report.relate(*finding, wrapped->event->place, "the model that all ranks train");
  }
}

// Under which condition is it a sampler? Null: always. Nothing: not that is known; what is not seen may be
// None.
std::optional<values::Cond> is_sampler_when(const Record& record, Value sampler) {
  if (sampler.is(Kind::instance) || sampler.is(Kind::list)) return nullptr;
  if (!sampler.is(Kind::choice)) return std::nullopt;
  const auto* choice = sampler.as<values::Choice>();
  const auto there = [](Value side) { return side.is(Kind::instance) || side.is(Kind::list); };
  if (there(choice->yes) && there(choice->no)) return nullptr;
  if (there(choice->yes) && choice->no.is(Kind::none)) return choice->condition;
  if (there(choice->no) && choice->yes.is(Kind::none)) return record.symbols.logical_not(choice->condition);
  return std::nullopt;
}

void check(const Record& record, Report& report) {
  look_at_ranks(record, report);
  Once once;
  visit_operations(record, with_operation(Operation::loader_made), [&](const OperationEvent& made) {
    if (made.row->kind != values::RowKind::class_ || made.expected) return;
    const Value sampler = argument(made, "sampler"), shuffle = argument(made, "shuffle");
    const std::optional<values::Cond> when = is_sampler_when(record, sampler);
    if (!when || !shuffle.is(Kind::boolean) || record.symbols.decide(shuffle.condition()) != Answer::yes ||
        !once(made.place))
      return;
    const std::string condition = in_words(record, *when);
    Finding* finding = report.add(*when ? Severity::warning : Severity::error, made.place, made.calls,
        std::string(!*when          ? ""
                : condition.empty() ? "When there is a sampler: "
                                    : "When " + condition + ": ") +
            "A loader with a sampler cannot also shuffle: PyTorch raises \"sampler option is mutually exclusive with shuffle\". Leave `shuffle` out: the sampler decides the order.");
    if (!finding || !made.expr || !record.in_file(made.place)) return;
    for (const syntax::Keyword& keyword : made.expr->keywords) {
      if (keyword.name.text() != "shuffle") continue;
      Fix fix;
      fix.title = "Leave the order to the sampler: shuffle=False";
      fix.preferred = true;
      fix.edits.push_back({report.location({made.place.chunk, keyword.value->span}), "False"});
      finding->fixes.push_back(std::move(fix));
    }
  });
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "perf/sampler",
    .severity = Severity::error,
    .summary = "a DataLoader with a sampler and shuffle=True, or without a DistributedSampler on many ranks",
    .why =
        "`shuffle=True` asks the loader to make a random sampler of its own, so it cannot take another: the constructor raises `ValueError`, "
        "\"sampler option is mutually exclusive with shuffle\". A DistributedSampler shuffles by itself. Without one, DistributedDataParallel averages "
        "gradients of ranks that all read the whole data: measured with one seed, two ranks saw 32 of 64 samples in half an epoch of each, and 64 with the sampler.",
    .wrong =
        "loader = DataLoader(dataset, batch_size=32, shuffle=True, sampler=DistributedSampler(dataset))\n",
    .right = "loader = DataLoader(dataset, batch_size=32, sampler=DistributedSampler(dataset))\n",
    .silent =
        "`shuffle=(sampler is None)`; `shuffle=False`; a sampler that may be None; a batch sampler alone. On many ranks: "
        "streams, data that a rank number parts, loaders of frameworks, evaluation.",
    .fix = "Sets `shuffle=False`.",
    .fix_kind = FixKind::always_right,
    .check = check,
});

}  // namespace stepzero::rules::perf::sampler
