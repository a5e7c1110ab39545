// Where a rule writes what it found: places of the run become locations of the text. Knows no rule.
#pragma once

#include "interpreter/record.hpp"
#include "rules/rule.hpp"

#include <functional>
#include <optional>

namespace stepzero::rules {

using interpreter::Event;
using interpreter::OperationEvent;
using interpreter::ProblemEvent;
using interpreter::Record;
using values::Place;

class RankResults;

class Report {
public:
  Report(const Record& record, const RankResults& ranks, const Rule& rule, std::vector<Finding>& findings)
      : record_(record), ranks_(ranks), rule_(rule), findings_(findings) {}

  // A finding at a place. It belongs to the analyzed file: a place elsewhere is replaced by the innermost
  // call in this file that led there, and becomes a related location; without such a call nothing is
  // reported. Null then.
  Finding* add(Severity severity, Place where, const interpreter::CallSite* calls, std::string message);
  Location location(Place place) const;
  void relate(Finding& finding, Place place, std::string message) const;
  // The calls that led to a place, as related locations, innermost first; at most three.
  void relate_calls(Finding& finding, const interpreter::CallSite* calls) const;

  const Record& record() const { return record_; }
  const RankResults& ranks() const { return ranks_; }  // see rules/ranks/comparison.hpp

private:
  const Record& record_;
  const RankResults& ranks_;
  const Rule& rule_;
  std::vector<Finding>& findings_;
};

// An argument of a recorded call, by its name in the signature or its place there; absent if it was not
// given.
values::Value argument(const OperationEvent& event, std::string_view name);
values::Value argument(const OperationEvent& event, std::size_t index);

// Calls `each` for every event of a block and of the blocks in it, in order.
void visit(const interpreter::Block& block, const std::function<void(const Event&)>& each);
// … of all roots of a record, in order.
void visit_roots(const Record& record, const std::function<void(const Event&)>& each);
// … and those of them that are of one kind.
void visit_kind(
    const Record& record, interpreter::EventKind kind, const std::function<void(const Event&)>& each);
// … and those of them that are operations.
void visit_operations(const Record& record, const std::function<void(const OperationEvent&)>& each);
// … of whose rows that is so. Nearly free where there are none: what asks more of an event first says of
// which rows it asks.
using RowsAsked = std::function<bool(const values::Row&)>;
void visit_operations(
    const Record& record, const RowsAsked& is, const std::function<void(const OperationEvent&)>& each);
inline auto with_operation(std::same_as<values::Operation> auto... any) {
  return [any...](const values::Row& row) { return ((row.operation == any) || ...); };
}
// … of one root.
void visit_operations(const Record& record, const interpreter::Root& root, const RowsAsked& is,
    const std::function<void(const OperationEvent&)>& each);
// Is there any such operation, in a root?
bool any_operation(const Record& record, const RowsAsked& is);
bool any_operation(const Record& record, const interpreter::Root& root, const RowsAsked& is);
// Every problem with its root; those of the runs with defaults come after. Found once for all readers of the
// record.
void visit_problems(
    const Record& record, const std::function<void(const ProblemEvent&, const interpreter::Root&)>& each);

}  // namespace stepzero::rules
