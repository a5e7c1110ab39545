// fsdp/unsynchronized-load: weights that only some ranks load before the model is sharded.
#include "rules/fsdp/wraps.hpp"
#include "rules/rule.hpp"

#include <algorithm>
#include <map>

namespace stepzero::rules::fsdp::unsynchronized_load {

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

struct Loading {
  const OperationEvent* event = nullptr;
  std::vector<Turn> turns;
};

void collect(const Block& block, std::vector<Loading>& loadings, std::vector<Turn>& turns) {
  for (const Event* event : block.events) {
    if (event->kind == EventKind::operation &&
        static_cast<const OperationEvent*>(event)->row->operation == Operation::state_put)
      loadings.push_back({static_cast<const OperationEvent*>(event), turns});
    if (event->kind == EventKind::call) collect(static_cast<const CallEvent*>(event)->body, loadings, turns);
    if (event->kind == EventKind::attempt)
      collect(static_cast<const AttemptEvent*>(event)->body, loadings, turns);
    if (event->kind != EventKind::branch) continue;
    const auto* branch = static_cast<const BranchEvent*>(event);
    for (const bool yes : {true, false}) {
      turns.push_back({branch, yes});
      collect(yes ? branch->yes : branch->no, loadings, turns);
      turns.pop_back();
    }
  }
}

// The branch that only some ranks take; null if all do, as far as is known.
const BranchEvent* of_some_ranks(const Record& record, const Loading& loading) {
  for (const Turn& turn : loading.turns)
    if (turn.branch->condition &&
        record.symbols.sharing(turn.branch->condition) == symbolic::Sharing::divergent)
      return turn.branch;
  return nullptr;
}

// Does something on the branch's other side, or after it, give the other ranks the same?
bool evened_out(const std::vector<Loading>& loadings, const Loading& loading, const BranchEvent* branch,
    const Record& record) {
  return std::any_of(loadings.begin(), loadings.end(), [&](const Loading& other) {
    if (other.event == loading.event || other.event->self.object() != loading.event->self.object())
      return false;
    const bool across = std::any_of(
        other.turns.begin(), other.turns.end(), [&](const Turn& turn) { return turn.branch == branch; });
    return across || !of_some_ranks(record, other);
  });
}

void check(const Record& record, Report& report) {
  Once once;
  for (const auto& root : record.roots) {
    const std::vector<Wrap>& wraps = wraps_in(record, *root);
    if (wraps.empty()) continue;
    std::vector<Loading> loadings;
    std::vector<Turn> turns;
    collect(root->block, loadings, turns);
    // What is broadcast, or sent in another way, may be the weights.
    std::vector<const OperationEvent*> sent;
    std::map<const Event*, std::size_t> order;
    visit(root->block, [&](const Event& event) {
      order.emplace(&event, order.size());
      if (event.kind != EventKind::operation) return;
      const auto& operation = static_cast<const OperationEvent&>(event);
      if (operation.row->collective && operation.row->collective->sends_from_root) sent.push_back(&operation);
    });
    for (const Wrap& wrap : wraps) {
      if (!wrap.module.is(Kind::instance) || !sent.empty() ||
          (!wrap.in_place && !wrap.is_false(record, "sync_module_states")))
        continue;
      for (const Loading& loading : loadings) {
        const BranchEvent* branch =
            loading.event->self.object() == wrap.module.object() ? of_some_ranks(record, loading) : nullptr;
        if (!branch || evened_out(loadings, loading, branch, record) ||
            order[loading.event] > order[wrap.event] || !once(wrap.event->place))
          continue;
        Finding* finding = report.add(Severity::warning, wrap.event->place, wrap.event->calls,
            std::string(
                "Only some ranks load these weights, and each rank keeps the part of its own model: the sharded model is a mix of loaded and freshly initialized parts. ") +
                (wrap.in_place
                        ? "Load on every rank, or use `set_model_state_dict` with `broadcast_from_rank0=True` after sharding."
                        : "Pass `sync_module_states=True`, or load on every rank."));
        if (!finding) continue;
        report.relate(*finding, loading.event->place, "only the ranks that take this branch load");
      }
    }
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "fsdp/unsynchronized-load",
    .severity = Severity::warning,
    .summary = "only some ranks load the weights of a model that is then sharded from every rank's own copy",
    .why =
        "Sharding sends nothing: each rank keeps its part of the model that it has. Where only rank 0 has loaded the weights, the parts of all other ranks are "
        "what they were initialized to, and the model is neither. `sync_module_states=True` sends the weights of rank 0 to all ranks first.",
    .wrong =
        "if rank == 0:\n    model.load_state_dict(torch.load(path))\nmodel = FullyShardedDataParallel(model)\n",
    .right =
        "if rank == 0:\n    model.load_state_dict(torch.load(path))\nmodel = FullyShardedDataParallel(model, sync_module_states=True, device_id=local_rank)\n",
    .silent =
        "`sync_module_states=True`, or one that is not known; ranks that load in another way; programs that broadcast anything themselves.",
    .fix =
        "None: with `sync_module_states=True` the model also has to be on its GPU, or `device_id` be given.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::fsdp::unsynchronized_load
