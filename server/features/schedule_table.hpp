// The table of a schedule: a line for each step, a column for each group of ranks that does the same.
#pragma once

#include "server/features/schedule.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace stepzero::server {

constexpr std::size_t widest_cell = 64;
std::string shortened(std::string text, std::size_t width);  // cut between code points
std::string spot_text(const snapshot::Spot& spot, const std::string& path, const PathName& name);

class ScheduleTable {
public:
  ScheduleTable(int world, const std::string& path, const PathName& name)
      : world_(world), path_(path), name_(name) {}

  void add(const std::vector<snapshot::ScheduleNode>& nodes, std::size_t depth);
  std::string take(std::size_t most_lines);
  // Each line with what stands deeper below it. `line`: where the head of the table stands.
  void folds(std::size_t line, std::vector<Fold>& into) const;

private:
  struct Line {
    std::size_t depth = 0;
    bool note = false;  // not a step
    bool same = false;  // all ranks do `text`
    std::string place, function, text;
    std::map<int, std::string> cells;  // by rank
  };

  static std::string displayed(const Line& line, int rank);
  std::string place(const snapshot::Spot& spot) const { return spot_text(spot, path_, name_); }
  void note(std::size_t depth, std::string text, const snapshot::Spot& where = {});
  void block(const snapshot::ScheduleNode& node, std::size_t depth, std::string text);
  void row(const snapshot::ScheduleNode& node, std::size_t depth);
  // Ranks that do the same in all lines share a column.
  std::vector<std::vector<int>> groups() const;

  int world_;
  const std::string& path_;
  const PathName& name_;
  std::vector<Line> lines_;
  std::set<std::string> told_;  // what is wrong: once is enough
};

}  // namespace stepzero::server
