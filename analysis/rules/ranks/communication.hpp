// Which recorded operations communicate, with whom, and under which name they are told: questions to one
// event. Runs nothing.
#pragma once

#include "interpreter/record.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace stepzero::rules {

using interpreter::OperationEvent;

// Is it communication that the process takes part in?
bool communicates(const OperationEvent& event);
// … though it is called where it is expected to fail?
bool communicates_if_reached(const OperationEvent& event);
bool communicates(const interpreter::Record& record, const interpreter::Root& root);
// Communication, or something that matters to those who wait for it?
bool is_traced(const OperationEvent& event);
// Whether it communicates depends on what is not seen: the comparison of the ranks says nothing of it.
bool is_open(const OperationEvent& event);
// Does the call run on the group of all ranks, and is it meant to succeed? Of other groups the members are
// not known here.
bool on_all_ranks(const OperationEvent& event);
// The `with Join(…)` around it, in which ranks that have ended answer for themselves; null: there is none.
const interpreter::Around* joined_by(const OperationEvent& event);
// What the ranks enter there, as it is told.
std::string_view collective_name(const OperationEvent& event);
// How many ranks the operation asks the job to have, where it gives numbers.
std::optional<std::int64_t> ranks_asked_for(const OperationEvent& event, const symbolic::Context& symbols);
// The wrapped modules whose gradients a backward sends.
std::vector<const values::Instance*> modules_that_send(const OperationEvent& event);
// Is it a backward of a wrapped module that something unknown around the forward may have held back?
bool may_be_held_back(const OperationEvent& event);
// Does it read or write a file, which may fail in one process and not in another?
bool works_on_files(const OperationEvent& event);
// Absent: the index is negative, or the argument was not given.
values::Value argument_at(const OperationEvent& event, int index);

}  // namespace stepzero::rules
