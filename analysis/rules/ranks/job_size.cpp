#include "rules/ranks/job_size.hpp"

#include "rules/fact_index.hpp"
#include "rules/ranks/communication.hpp"
#include "rules/ranks/job_view.hpp"
#include "rules/run_conditions.hpp"
#include "rules/shape/blocks.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace stepzero::rules {

using namespace interpreter;

namespace {

// The size that a class says its jobs have, as those of tests do: `world_size = 2`, or a property that
// returns it; 0: none.
int size_of_class(const Record& record, const Root& root) {
  if (!root.owner) return 0;
  for (const values::Class* cls : root.owner->order)
    for (const std::string_view name : {"world_size", "WORLD_SIZE"}) {
      const values::Value said = cls->body ? cls->body->names.value(values::Name(name)) : values::Value{};
      if (const auto given = record.number(said); given && *given > 1) return static_cast<int>(*given);
      const auto* function = said.is(values::Kind::function) ? said.as<values::Function>() : nullptr;
      if (!function || !function->stmt || function->stmt->body.size() != 1 ||
          function->stmt->body.front()->kind != syntax::StmtKind::return_)
        continue;
      const syntax::Expr* returned = syntax::as<syntax::ReturnStmt>(*function->stmt->body.front()).value;
      if (returned && returned->kind == syntax::ExprKind::integer &&
          record.text({function->chunk, returned->span}) != "1")
        return std::atoi(std::string(record.text({function->chunk, returned->span})).c_str());
    }
  return 0;
}

}  // namespace

int size_of_job(const Record& record, const Root& root) {
  constexpr std::int64_t most = 1 << 20;  // ranks: what is more is a number of something else
  if (const std::int64_t launched = RunConditions::of(record).launched; launched > 0 && launched < most)
    return static_cast<int>(launched);
  int size = 0;
  bool several = false, begun = false;
  const auto meets = [](const Event& event) {
    return event.kind == EventKind::operation && communicates(static_cast<const OperationEvent&>(event));
  };
  const std::function<void(const Block&)> look = [&](const Block& block) {
    for (const Event* event : block.events) {
      if (event->kind == EventKind::exit) return;
      if (event->kind == EventKind::call) {
        look(static_cast<const CallEvent*>(event)->body);
      } else if (event->kind == EventKind::operation) {
        if (const auto given = ranks_asked_for(static_cast<const OperationEvent&>(*event), record.symbols)) {
          // A launcher that is made once the processes have met is not what started them; a mesh is of those
          // that are there.
          const bool starts = static_cast<const OperationEvent*>(event)->row->operation !=
              values::Operation::collective;
          if (begun && size == 0 && starts) continue;
          several = several || (size != 0 && size != *given);
          size = static_cast<int>(*given);
        } else {
          begun = begun || meets(*event);
        }
      } else if (event->kind == EventKind::branch) {
        for (const Block* side :
            {&static_cast<const BranchEvent*>(event)->yes, &static_cast<const BranchEvent*>(event)->no})
          visit(*side, [&](const Event& inner) { begun = begun || meets(inner); });
      }
    }
  };
  look(root.block);
  return several ? 0 : size ? size : size_of_class(record, root);
}

// Is the peer of the message there computed from how many ranks there are? Else the program may be made for
// two.
bool counts_ranks(const Record& record, Place place) {
  const values::Int world = record.roles[static_cast<int>(symbolic::Role::world_size)];
  bool any = false;
  visit_roots(record, [&](const Event& event) {
    if (any || !world || event.kind != EventKind::operation) return;
    const auto& operation = static_cast<const OperationEvent&>(event);
    const auto look = [&](values::Value peer) {
      if (peer.is(values::Kind::integer))
        record.symbols.atoms(peer.integer(), [&](values::Int atom) { any = any || atom == world; });
    };
    const values::MessageInfo* info = operation.row->message;
    if (!info) return;
    if (event.place == place && info->peer >= 0 &&
        static_cast<std::size_t>(info->peer) < operation.arguments.size())
      look(operation.arguments[static_cast<std::size_t>(info->peer)]);
    // Those of a batch stand where they were made.
    if (const auto* batch = info->batch >= 0 ? operation.list_state(static_cast<std::size_t>(info->batch))
                                             : nullptr)
      for (const values::Value& item : batch->items)
        if (item.is(values::Kind::instance) && item.as<values::Instance>()->born == place)
          look(item.as<values::Instance>()->attributes.value(values::Name("peer")));
  });
  return any;
}

// The highest of the ranks that the program asks for by their numbers; -1: none.
int highest_named_rank(const Record& record) {
  constexpr std::int64_t most_ranks = 16;  // each rank is a run
  int highest = -1;
  const auto asked = [&](values::Int side, values::Int with) {
    const auto number = record.symbols.value(with);
    if (!number || *number >= most_ranks) return;
    for (const symbolic::Role role : {symbolic::Role::rank, symbolic::Role::local_rank})
      if (side == record.roles[static_cast<int>(role)])
        highest = std::max(highest, static_cast<int>(*number));
  };
  std::set<values::Cond> seen;
  const std::function<void(values::Cond)> look = [&](values::Cond condition) {
    if (!condition || !seen.insert(condition).second) return;
    const auto comparison = record.symbols.comparison(condition);
    if (comparison && (comparison->op == symbolic::Compare::eq || comparison->op == symbolic::Compare::ne)) {
      asked(comparison->left, comparison->right);
      asked(comparison->right, comparison->left);
    }
    // `rank < 2` tells the first two from others: there is a rank 2.
    const values::Int rank = record.roles[static_cast<int>(symbolic::Role::rank)];
    if (comparison && rank && (comparison->left == rank || comparison->right == rank)) {
      const auto number = record.symbols.value(
          comparison->left == rank ? comparison->right : comparison->left);
      const bool beyond = (comparison->op == symbolic::Compare::le && comparison->left == rank) ||
          (comparison->op == symbolic::Compare::lt && comparison->right == rank);
      const bool ordered = comparison->op == symbolic::Compare::lt || comparison->op == symbolic::Compare::le;
      if (ordered && number && *number > 0 && *number < most_ranks)
        highest = std::max(highest, static_cast<int>(*number) + beyond);
    }
    for (const values::Cond operand : record.symbols.operands(condition)) look(operand);
  };
  visit_kind(record, EventKind::branch,
      [&](const Event& event) { look(static_cast<const interpreter::BranchEvent&>(event).condition); });
  for (const Fact* fact : FactIndex::of(record).conditions) {
    if (fact->value.is(values::Kind::boolean)) look(fact->value.condition());
    for (values::Value side = fact->value; side.is(values::Kind::choice);
        side = side.as<values::Choice>()->no)
      look(side.as<values::Choice>()->condition);
  }
  return highest;
}

std::vector<Mismatch> ranks_beyond(const Record& record, const Root& root, int size) {
  std::vector<Mismatch> beyond;
  const auto at = [](const OperationEvent& event, int i) {
    return i >= 0 && static_cast<std::size_t>(i) < event.arguments.size()
        ? event.arguments[static_cast<std::size_t>(i)]
        : values::Value{};
  };
  const std::function<void(const Block&)> look = [&](const Block& block) {
    for (const Event* event : block.events) {
      // What may fail in a try is for its handlers.
      if (event->kind == EventKind::attempt && !static_cast<const AttemptEvent*>(event)->handlers.empty())
        continue;
      for (const Block* inner : blocks_of(*event)) look(*inner);
      if (event->kind != EventKind::operation || static_cast<const OperationEvent*>(event)->expected)
        continue;
      const auto& operation = static_cast<const OperationEvent&>(*event);
      const values::CollectiveInfo* collective = operation.row->collective;
      const values::MessageInfo* message = operation.row->message;
      const values::Value group = at(operation,
          collective    ? collective->group
              : message ? message->group
                        : -1);
      const values::Value peer = at(operation, collective ? collective->root : message ? message->peer : -1);
      // In a group of its own a program may count otherwise.
      if ((group && !group.is(values::Kind::none)) || !peer.is(values::Kind::integer)) continue;
      const auto rank = record.symbols.value(peer.integer());
      if (!rank || *rank < size) continue;
      Mismatch made;
      made.cause = collective ? Cause::root : Cause::message;
      made.place = event->place;
      made.calls = event->calls;
      made.world = size;
      made.text = "Rank " + std::to_string(*rank) + " does not exist: the job has " + std::to_string(size) +
          " ranks, 0 to " + std::to_string(size - 1) + ", and this " +
          call_text(collective ? collective->name : message->name) + " fails. Name one of those.";
      beyond.push_back(std::move(made));
    }
  };
  look(root.block);
  return beyond;
}

}  // namespace stepzero::rules
