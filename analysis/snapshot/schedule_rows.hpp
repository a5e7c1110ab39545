// What the ranks of a world do, side by side: communications that belong together in one row, the rows of all
// possible runs in one list.
#pragma once

#include "rules/ranks/comparison.hpp"
#include "rules/ranks/job_explorer.hpp"
#include "rules/ranks/trace.hpp"
#include "snapshot/schedule.hpp"
#include "snapshot/schedule_stall.hpp"

#include <list>
#include <set>

namespace stepzero::snapshot {

// A loop or a condition around a row.
struct Frame {
  enum class Kind : std::uint8_t { loop, choice, handler } kind = Kind::loop;
  int site = 0, nth = 0;
  int iteration = 0;      // loop
  bool unrolled = false;  // loop: its iterations are told one by one
  bool yes = true;        // choice
  bool local = false;     // choice: each rank decides for itself
  Spot where;
  std::string text;
  bool same_block(const Frame& other) const {
    return kind == other.kind && site == other.site && nth == other.nth && iteration == other.iteration &&
        yes == other.yes;
  }
};

Spot spot_of(const interpreter::Record& record, values::Place place);

struct Row {
  ScheduleNode::Kind kind = ScheduleNode::Kind::step;  // step, hang or unmatched
  std::vector<int> cells;  // what is in it: numbers of communications with their rank and iterations
  std::vector<Communication> calls;  // by rank
  std::vector<Frame> frames;         // outermost first
  std::vector<int> ended;            // of a hang
  std::vector<int> open;             // ranks that are not in it, as far as is known
  std::string problem;               // of a step: what the rules say of it
  bool certain = true;               // of a hang: whatever the network buffers
  bool unreached = false;
};

class Rows {
public:
  Rows(const interpreter::Record& record, rules::JobExplorer& worlds, int world,
      const rules::Comparison& comparison, bool of_function);
  // Brings in one possible run.
  void add(const rules::JobRun& run);
  const std::list<Row>& rows();  // of all runs, in order
  // Iterations of an unrolled loop by the ranks that come to it: the fewest, and the most.
  std::pair<int, int> iterations(const Frame& loop) const;
  bool any_hang() const { return hangs_; }
  bool seen() const { return runs_ > 0; }
  bool too_few_ranks() const {
    return runs_ == 0 && names_more_;
  }  // the program names ranks that this world has not

private:
  void number(const rules::JobRun& run);
  std::vector<std::vector<Head>> side_by_side(const rules::JobRun& run, const Partners* partners,
      const std::vector<std::size_t>& from, const std::vector<std::size_t>& until) const;
  Row row_of(const rules::JobRun& run, const std::vector<Head>& heads);
  std::vector<Frame> frames_of(const rules::RankTrace& trace, const rules::CommEvent& comm) const;
  Communication describe(int rank, const rules::CommEvent& comm) const;
  std::string problem_of(const rules::JobRun& run, const std::vector<Head>& heads, bool stuck) const;
  bool explained(const rules::JobRun& run) const;
  static bool parted(const rules::JobRun& run);
  static bool known_until(const rules::JobRun& run, const std::vector<std::size_t>& at);
  void merge(std::vector<Row> made);

  const interpreter::Record& record_;
  rules::JobExplorer& worlds_;
  int world_;
  bool of_function_;                             // that nobody here calls
  std::map<int, const rules::Mismatch*> wrong_;  // sites that the rules have something to say of
  std::list<Row> rows_;
  std::map<std::vector<int>, int> cell_numbers_;
  std::vector<std::vector<int>> numbers_;  // of the run that is brought in: by rank, by communication
  std::map<int, std::list<Row>::iterator> last_row_;  // by cell
  std::set<std::vector<int>> present_;                // rows: what is in them, with their kind
  std::map<std::pair<int, int>, std::pair<int, int>> loop_iterations_;
  std::map<std::pair<int, int>, std::set<bool>> sides_;  // of conditions
  bool hangs_ = false;
  bool names_more_ = false;
  int runs_ = 0;
};

}  // namespace stepzero::snapshot
