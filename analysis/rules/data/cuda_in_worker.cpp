// data/cuda-in-worker: a data set or a collate function that works on the GPU, and a loader that forks
// workers. Knows what the run knows of the tensors in them; how processes are started only by what the
// program says.
#include "rules/condition_text.hpp"
#include "rules/name_hints.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/loaders.hpp"
#include "values/devices.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::rules::data::cuda_in_worker {

using namespace interpreter;
using namespace syntax;
using values::code;
using values::Kind;
using values::Operation;

namespace {

constexpr std::string_view forking = "fork", gpu = "cuda";

// Code that runs in the workers, and the name that the program has for it.
struct WorkerCode {
  Place body;
  std::string name;
};

void add(Value function, std::vector<WorkerCode>& found) {
  if (function.is(Kind::bound)) function = function.as<values::Bound>()->function;
  if (function.is(Kind::partial)) function = function.as<values::Partial>()->function;
  if (!function.is(Kind::function)) return;
  const auto& called = *function.as<values::Function>();
  if (called.stmt)
    found.push_back({{called.chunk, called.stmt->span}, std::string(called.name.text())});
  else if (called.lambda)
    found.push_back({{called.chunk, called.lambda->span}, "collate_fn"});
}

const FunctionStmt* own_method(const values::Class& cls, std::string_view name) {
  if (!cls.stmt) return nullptr;
  for (const Stmt* each : cls.stmt->body)
    if (each->kind == StmtKind::function && as<FunctionStmt>(*each).name.text() == name)
      return &as<FunctionStmt>(*each);
  return nullptr;
}
void add_methods(
    Value object, std::initializer_list<std::string_view> names, std::vector<WorkerCode>& found) {
  const values::Class* cls = object.is(Kind::instance) ? object.as<Instance>()->cls : nullptr;
  if (!cls) return;
  for (const std::string_view name : names)
    for (const values::Class* each : cls->order)
      if (const FunctionStmt* method = own_method(*each, name)) {
        found.push_back({{each->chunk, method->span}, std::string(name)});
        break;
      }
}

std::vector<WorkerCode> worker_code(const OperationEvent& made) {
  std::vector<WorkerCode> found;
  for (const Value& dataset : datasets_of(made.self))
    add_methods(dataset, {"__getitem__", "__getitems__", "__iter__"}, found);
  const Value collating = argument(made, "collate_fn");
  add(collating, found);
  add_methods(collating, {"__call__"}, found);
  return found;
}

// When a tensor lies on a GPU: always, where the condition is null.
struct OnDevice {
  symbolic::Cond when = nullptr;
};
std::optional<OnDevice> on_gpu(const Record& record, const values::TensorState* state) {
  if (!state || !state->device) return std::nullopt;
  for (const values::PossibleDevice& each : values::possible_devices(record.symbols, *state->device))
    if (each.text.starts_with(gpu)) return OnDevice{each.when};
  return std::nullopt;
}

// The first tensor in the code that lies on a GPU, as it is written.
const Fact* gpu_tensor(const Record& record, const WorkerCode& code_of) {
  const Fact* first = nullptr;
  for (const Fact& fact : record.facts) {
    if (fact.role != Fact::Role::expression || !fact.tensor || fact.place.chunk != code_of.body.chunk ||
        !code_of.body.span.holds(fact.place.span) || !on_gpu(record, fact.tensor))
      continue;
    if (!first || fact.place.span.begin < first->place.span.begin ||
        (fact.place.span.begin == first->place.span.begin && fact.place.span.end < first->place.span.end))
      first = &fact;
  }
  return first;
}

// Are the workers started in another way than by a fork?
bool is_started_anew(const Record& record, const OperationEvent& made) {
  const Value context = argument(made, "multiprocessing_context");
  if (context && !context.is(Kind::none)) return !context.is(Kind::string) || context.text() != forking;
  return std::ranges::any_of(record.chunks, [](const ChunkOf& chunk) {
    return chunk.statement() && names(*chunk.statement(), Says::starting_processes);
  });
}

void check(const Record& record, Report& report) {
  Once once;
  visit_operations(record, with_operation(Operation::loader_made), [&](const OperationEvent& made) {
    if (made.row->kind != values::RowKind::class_) return;
    const auto workers = workers_of(record, made);
    if (!workers || workers->count < 1) return;
    for (const WorkerCode& each : worker_code(made)) {
      const Fact* found = gpu_tensor(record, each);
      if (!found || is_started_anew(record, made) || !once(found->place)) continue;
      const auto device = on_gpu(record, found->tensor);
      const std::string count = workers->count == 1 ? "a forked worker"
                                                    : std::to_string(workers->count) + " forked workers";
      Finding* finding = report.add(Severity::warning, found->place, nullptr,
          code(each.name) + " runs in " + count + " of the loader" +
              (workers->by_default ? " by default" : "") + ", and this tensor is on the GPU" +
              (device->when ? when_text(record, device->when) : std::string()) +
              ": a forked process raises \"Cannot re-initialize CUDA in forked subprocess\". Return CPU tensors, and move each batch in the loop that reads the loader.");
      if (finding) report.relate(*finding, made.place, "the loader is made here");
    }
  });
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "data/cuda-in-worker",
    .severity = Severity::warning,
    .summary = "a data set or a collate function works on the GPU in the workers of a loader",
    .why =
        "A loader with workers runs `__getitem__` and `collate_fn` in other processes, which Linux forks from the training process. CUDA cannot be used in a process that was forked after its start: \"RuntimeError: Cannot re-initialize CUDA in forked subprocess\". Where the workers are spawned, each opens a CUDA context of its own and holds hundreds of megabytes of the GPU.",
    .wrong = "class Clips(Dataset):\n"
             "    def __getitem__(self, i):\n"
             "        return self.clips[i].to(\"cuda\")\n"
             "\n"
             "loader = DataLoader(Clips(), num_workers=4)\n",
    .right = "class Clips(Dataset):\n"
             "    def __getitem__(self, i):\n"
             "        return self.clips[i]\n"
             "\n"
             "for clips in DataLoader(Clips(), num_workers=4, pin_memory=True):\n"
             "    clips = clips.to(\"cuda\", non_blocking=True)\n",
    .silent =
        "Loaders without workers; those with a `multiprocessing_context` other than \"fork\", and programs that call `set_start_method`; devices that are not known.",
    .fix = "None: decide where batches are moved.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::data::cuda_in_worker
