// The communication schedule as a person reads it: a table with a line for each step, and a column for each
// group of ranks that does the same where not all do. Knows no protocol and no terminal.
#pragma once

#include "snapshot/schedule.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace stepzero::server {

// How a path is written in front of a line; the schedule's own file is left out.
using PathName = std::function<std::string(const std::string& path)>;

// Lines of a text, counted from 0, of which the first says what the others do: a part, a loop, an iteration,
// a choice.
struct Fold {
  std::size_t first = 0, last = 0;
};

// One line for what does not communicate. `folds`, where asked for: in the order of their first lines.
std::string schedule_text(const snapshot::Schedule& schedule, const std::string& path, const PathName& name,
    std::vector<Fold>* folds = nullptr);

// What the function does whose name holds the offset, as it is called first; empty if it does not
// communicate. At most `lines`.
std::string schedule_of_function(const snapshot::Schedule& schedule, const std::string& path,
    std::uint32_t offset, const PathName& name, std::size_t lines);

// What the whole job does: the file as it runs or, where nothing runs, the function that nobody calls around
// the line.
std::string schedule_of_job(const snapshot::Schedule& schedule, const std::string& path, std::uint32_t line,
    const PathName& name, std::size_t lines);

// "3 collectives, all ranks", "2 collectives, 1 only on rank 0; 1 send".
std::string summary(const snapshot::FunctionCommunication& function, int world);

// The head of a loop, an iteration, a condition or a handler: "for x in y:  (10 iterations alike)"; empty for
// what is none.
std::string block_text(const snapshot::ScheduleNode& node);

// "all_reduce float32[3] from rank 0 among [0, 1]"; shortened.
std::string call_text(const snapshot::Communication& call);

// Of a hang: "rank 0 waits in broadcast (line 41); ranks 1-3 wait in barrier (line 47)".
std::string standing_text(const snapshot::ScheduleNode& node, const std::string& path, const PathName& name);

// "as it runs", "train (line 12), which nobody here calls".
std::string part_title(const snapshot::SchedulePart& part);

// "rank 0", "ranks 1-3", "ranks 0, 2".
std::string ranks_text(const std::vector<int>& ranks);

}  // namespace stepzero::server
