// The events of each root by what they are: most rules look for a few kinds of operation, and an edit leaves
// most roots as they were. Kept with the root, see Root::index.
#pragma once

#include "interpreter/record.hpp"

#include <array>
#include <functional>
#include <vector>

namespace stepzero::rules {

class RootIndex {
public:
  using Asked = std::function<bool(const values::Row&)>;

  static const RootIndex& of(const interpreter::Record& record, const interpreter::Root& root);
  explicit RootIndex(const interpreter::Block& block);

  // All events of the root's block and of the blocks in it, in order.
  const std::vector<const interpreter::Event*>& all() const { return all_; }
  // Those of one kind, in order.
  void of_kind(interpreter::EventKind kind, const std::function<void(const interpreter::Event&)>& each) const;
  // The operations of whose rows that is so, in order.
  void operations(const Asked& is, const std::function<void(const interpreter::OperationEvent&)>& each) const;
  bool any_row(const Asked& is) const;

private:
  using Numbers = std::vector<std::uint32_t>;  // of events, in `all_`
  std::vector<const interpreter::Event*> all_;
  std::array<Numbers, interpreter::event_kinds> by_kind_;
  std::vector<std::pair<const values::Row*, Numbers>> by_row_;  // operations
};

}  // namespace stepzero::rules
