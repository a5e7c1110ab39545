#include "rules/fsdp/wraps.hpp"

#include "rules/training/parts.hpp"
#include "values/kept.hpp"
#include "values/limits.hpp"

#include <algorithm>
#include <typeindex>
#include <unordered_map>

namespace stepzero::rules::fsdp {

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

constexpr std::string_view wrapper_class = "torch.distributed.fsdp.FullyShardedDataParallel";

bool wraps(const values::Row& row) {
  return row.path == wrapper_class || row.operation == Operation::sharded;
}
bool is_wrap(const OperationEvent& event) { return event.row && wraps(*event.row); }

// Found once for all rules.
struct WrapsOfRoots {
  std::unordered_map<const Root*, std::vector<Wrap>> of;
};

void add(std::vector<Wrap>& wraps, const OperationEvent& event, std::vector<Turn> turns, bool in_attempt) {
  Wrap wrap;
  wrap.event = &event;
  wrap.turns = std::move(turns);
  wrap.in_place = event.row->operation == Operation::sharded;
  wrap.in_attempt = in_attempt;
  if (!event.arguments.empty()) wrap.module = event.arguments[0];
  wraps.push_back(std::move(wrap));
}

void collect(const Block& block, std::vector<Wrap>& wraps, std::vector<Turn>& turns, bool in_attempt) {
  for (const Event* event : block.events) {
    switch (event->kind) {
    case EventKind::operation:
      if (const auto& operation = static_cast<const OperationEvent&>(*event); is_wrap(operation))
        add(wraps, operation, turns, in_attempt);
      break;
    case EventKind::branch: {
      const auto* branch = static_cast<const BranchEvent*>(event);
      for (const bool yes : {true, false}) {
        turns.push_back({branch, yes});
        collect(yes ? branch->yes : branch->no, wraps, turns, in_attempt);
        turns.pop_back();
      }
      break;
    }
    case EventKind::loop:
      for (const Block& iteration : static_cast<const LoopEvent*>(event)->iterations)
        collect(iteration, wraps, turns, in_attempt);
      break;
    case EventKind::call:
      collect(static_cast<const CallEvent*>(event)->body, wraps, turns, in_attempt);
      break;
    case EventKind::attempt: {
      const auto* attempt = static_cast<const AttemptEvent*>(event);
      collect(attempt->body, wraps, turns, in_attempt || !attempt->handlers.empty());
      for (const Block& handler : attempt->handlers) collect(handler, wraps, turns, in_attempt);
      collect(attempt->orelse, wraps, turns, in_attempt);
      collect(attempt->finally, wraps, turns, in_attempt);
      break;
    }
    case EventKind::problem:
    case EventKind::exit: break;
    }
  }
}

}  // namespace

Value Wrap::option(std::string_view name) const { return argument(*event, name); }

bool Wrap::leaves_out(std::string_view name) const {
  // `**options` may hold anything.
  if (!event->expr ||
      std::any_of(event->expr->keywords.begin(), event->expr->keywords.end(),
          [](const syntax::Keyword& each) { return each.name.text().empty(); }))
    return false;
  const Value given = option(name);
  return !given || given.is(Kind::none);
}

bool Wrap::is_false(const Record& record, std::string_view name) const {
  if (leaves_out(name)) return true;
  const Value given = option(name);
  return given.is(Kind::boolean) && record.symbols.decide(given.condition()) == symbolic::Answer::no;
}

const std::vector<Wrap>& wraps_in(const Record& record, const Root& root) {
  auto& kept = record.derived[std::type_index(typeid(WrapsOfRoots))];
  if (!kept) {
    auto found = std::make_shared<WrapsOfRoots>();
    std::vector<Turn> turns;
    for (const auto* list : {&record.roots, &record.default_roots})
      for (const auto& each : *list) {
        std::vector<Wrap>& wraps_of_root = found->of[each.get()];
        if (any_operation(record, *each, wraps)) collect(each->block, wraps_of_root, turns, false);
      }
    kept = std::move(found);
  }
  return static_cast<const WrapsOfRoots*>(kept.get())->of.at(&root);
}

std::vector<Wrap> wraps_in(const TrainingRoot& training_root) {
  std::vector<Wrap> wraps;
  for (const TrainingEvent& each : training_root.all)
    if (is_wrap(*each.event)) add(wraps, *each.event, each.turns, each.in_attempt);
  return wraps;
}

Value module_of_parameters(Value parameters) { return attribute(parameters, values::OptimizerState::of); }

std::string condition_of(const Record& record, const Wrap& wrap, const std::vector<Turn>& around) {
  for (const Turn& turn : wrap.turns) {
    const auto same = [&](const Turn& other) { return other.branch == turn.branch && other.yes == turn.yes; };
    if (std::any_of(around.begin(), around.end(), same)) continue;
    const syntax::Stmt* stmt = turn.branch->stmt;
    const std::string_view text = stmt && stmt->kind == syntax::StmtKind::if_
        ? record.text({turn.branch->place.chunk, static_cast<const syntax::IfStmt*>(stmt)->test->span})
        : std::string_view();
    if (!values::is_quotable(text)) return " on the branch that shards";
    return std::string(turn.yes ? " when `" : " unless `") + std::string(text) + "`";
  }
  return {};
}

}  // namespace stepzero::rules::fsdp
