// Whether ranks may part at all, and words for them. The comparison itself is in comparer.cpp.
#include "rules/fact_index.hpp"
#include "rules/ranks/communication.hpp"
#include "rules/ranks/comparer.hpp"

#include <algorithm>

namespace stepzero::rules {

using namespace interpreter;

namespace {

// Is there anything in which ranks that run the same may differ?
bool decides_by_own_data(const Record& record) {
  // A group has ranks outside it.
  bool any = any_operation(
      record, [](const values::Row& row) { return row.collective && row.collective->makes_group; });
  visit_kind(record, EventKind::loop, [&](const Event& event) {
    const auto& loop = static_cast<const LoopEvent&>(event);
    any = any || loop.any_order || (!loop.unrolled && loop.trips == symbolic::Sharing::local);
  });
  visit_kind(record, EventKind::attempt,
      [&](const Event& event) { any = any || static_cast<const AttemptEvent&>(event).exhausted >= 0; });
  if (any) return true;
  visit_kind(record, EventKind::branch, [&](const Event& event) {
    if (any) return;
    const auto condition = static_cast<const BranchEvent&>(event).condition;
    any = record.symbols.sharing(condition) == symbolic::Sharing::local && !record.unseen.contains(condition);
  });
  return any;
}

// Is there communication that is to be waited for?
bool starts_requests(const Record& record) {
  bool any = false;
  const auto starts = [](const values::Row& row) { return row.message && row.message->starts; };
  const auto may_start = [](const values::Row& row) { return row.collective && row.collective->async >= 0; };
  visit_operations(record, may_start,
      [&](const OperationEvent& operation) { any = any || operation.result.is(values::Kind::instance); });
  return any || any_operation(record, starts);
}

}  // namespace

// Is there a `with Join(…)`, for ranks of which some end before others, around what it does not answer for
// them?
static bool joins_uneven_ranks(const Record& record) {
  bool any = false;
  const auto joins_not = [](const values::Row& row) { return row.collective && !row.collective->joins; };
  visit_operations(record, joins_not,
      [&](const OperationEvent& operation) { any = any || (operation.around && joined_by(operation)); });
  return any;
}

bool may_part(const Record& record) {
  // Who never asks for a rank has all ranks do the same, but for what they decide by data of their own.
  const bool asks = record.roles[static_cast<int>(symbolic::Role::rank)] ||
      record.roles[static_cast<int>(symbolic::Role::local_rank)];
  if (!asks && !decides_by_own_data(record) && !starts_requests(record) && !joins_uneven_ranks(record))
    return false;
  return std::ranges::any_of(record.roots, [&](const auto& root) { return communicates(record, *root); });
}

std::string if_it_is_one(const OperationEvent& event) {
  if (event.row->kind != values::RowKind::method || !event.self.is(values::Kind::unknown)) return {};
  const std::string_view path = event.row->path, name = event.self.as<values::Unknown>()->name;
  return "When " + (name.empty() ? std::string("that") : "`" + std::string(name) + "`") +
      " is an object of `" + std::string(path.substr(0, path.rfind('.'))) + "`: ";
}

}  // namespace stepzero::rules
