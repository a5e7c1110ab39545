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
  bool any = false;
  for (const auto& root : record.roots)
    visit(root->block, [&](const Event& event) {
      if (event.kind == EventKind::branch) {
        const auto condition = static_cast<const BranchEvent&>(event).condition;
        any = any ||
            (record.symbols.sharing(condition) == symbolic::Sharing::local &&
                !record.unseen.contains(condition));
      } else if (event.kind == EventKind::loop) {
        const auto& loop = static_cast<const LoopEvent&>(event);
        any = any || loop.any_order || (!loop.unrolled && loop.trips == symbolic::Sharing::local);
      } else if (event.kind == EventKind::attempt) {
        any = any || static_cast<const AttemptEvent&>(event).exhausted >= 0;
      } else if (event.kind == EventKind::operation) {
        // A group has ranks outside it.
        const auto* info = static_cast<const OperationEvent&>(event).row->collective;
        any = any || (info && info->makes_group);
      }
    });
  return any;
}

// Is there communication that is to be waited for?
bool starts_requests(const Record& record) {
  bool any = false;
  visit_operations(record, [&](const OperationEvent& operation) {
    any = any || (operation.row->message && operation.row->message->starts) ||
        (operation.row->collective && operation.row->collective->async >= 0 &&
            operation.result.is(values::Kind::instance));
  });
  return any;
}

}  // namespace

// Is there a `with Join(…)`, for ranks of which some end before others, around what it does not answer for
// them?
static bool joins_uneven_ranks(const Record& record) {
  bool any = false;
  visit_roots(record, [&](const Event& event) {
    if (any || event.kind != interpreter::EventKind::operation) return;
    const auto& operation = static_cast<const OperationEvent&>(event);
    any = operation.row->collective && !operation.row->collective->joins && operation.around &&
        joined_by(operation);
  });
  return any;
}

bool may_part(const Record& record) {
  // Who never asks for a rank has all ranks do the same, but for what they decide by data of their own.
  const bool asks = record.roles[static_cast<int>(symbolic::Role::rank)] ||
      record.roles[static_cast<int>(symbolic::Role::local_rank)];
  if (!asks && !decides_by_own_data(record) && !starts_requests(record) && !joins_uneven_ranks(record))
    return false;
  return std::any_of(
      record.roots.begin(), record.roots.end(), [](const auto& root) { return communicates(*root); });
}

std::string if_it_is_one(const OperationEvent& event) {
  if (event.row->kind != values::RowKind::method || !event.self.is(values::Kind::unknown)) return {};
  const std::string_view path = event.row->path, name = event.self.as<values::Unknown>()->name;
  return "If " + (name.empty() ? std::string("that") : "`" + std::string(name) + "`") + " is an object of " +
      std::string(path.substr(0, path.rfind('.'))) + ": ";
}

}  // namespace stepzero::rules
