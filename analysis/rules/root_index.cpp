#include "rules/root_index.hpp"

#include "rules/report.hpp"

#include <algorithm>
#include <unordered_map>

namespace stepzero::rules {

using namespace interpreter;

namespace {
// Of the code of modules: found once for each record as it is.
struct OfModules {
  std::unordered_map<const Root*, std::shared_ptr<const RootIndex>> by_root;
};
}  // namespace

const RootIndex& RootIndex::of(const Record& record, const Root& root) {
  if (root.function || root.owner) {
    if (!root.index) root.index = std::make_shared<const RootIndex>(root.block);
    return *static_cast<const RootIndex*>(root.index.get());
  }
  auto& kept = record.derived[std::type_index(typeid(OfModules))];
  if (!kept) kept = std::make_shared<OfModules>();
  auto& index = static_cast<OfModules*>(const_cast<void*>(kept.get()))->by_root[&root];
  if (!index) index = std::make_shared<const RootIndex>(root.block);
  return *index;
}

RootIndex::RootIndex(const Block& block) {
  std::unordered_map<const values::Row*, std::size_t> rows;
  visit(block, [&](const Event& event) {
    const auto number = static_cast<std::uint32_t>(all_.size());
    all_.push_back(&event);
    by_kind_[static_cast<std::size_t>(event.kind)].push_back(number);
    if (event.kind != EventKind::operation) return;
    const values::Row* const row = static_cast<const OperationEvent&>(event).row;
    const auto [at, fresh] = rows.try_emplace(row, by_row_.size());
    if (fresh) by_row_.emplace_back(row, Numbers{});
    by_row_[at->second].second.push_back(number);
  });
}

void RootIndex::of_kind(EventKind kind, const std::function<void(const Event&)>& each) const {
  for (const std::uint32_t number : by_kind_[static_cast<std::size_t>(kind)]) each(*all_[number]);
}

void RootIndex::operations(const Asked& is, const std::function<void(const OperationEvent&)>& each) const {
  Numbers several;
  const Numbers* numbers = nullptr;
  for (const auto& [row, of_row] : by_row_) {
    if (!is(*row)) continue;
    if (!numbers) {
      numbers = &of_row;
      continue;
    }
    if (several.empty()) several = *numbers;
    several.insert(several.end(), of_row.begin(), of_row.end());
    numbers = &several;
  }
  if (!numbers) return;
  std::ranges::sort(several);
  for (const std::uint32_t number : *numbers) each(static_cast<const OperationEvent&>(*all_[number]));
}

bool RootIndex::any_row(const Asked& is) const {
  return std::ranges::any_of(by_row_, [&](const auto& each) { return is(*each.first); });
}

}  // namespace stepzero::rules
