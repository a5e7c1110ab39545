// What a check found, ready to be written, and the formats it is written in. The formats know no engine.
#pragma once

#include "rules/finding.hpp"
#include "server/command_line/inputs.hpp"
#include "syntax/text.hpp"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace stepzero::server {

// A place as it is shown, from 1, in code points. In a notebook the line counts in the cell.
struct Place {
  std::uint32_t cell = 0;  // 0: it is no notebook
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};

struct Report {
  explicit Report(Names displayed_names) : names(std::move(displayed_names)) {}
  std::size_t files = 0;
  std::vector<rules::Finding> findings;  // in the order in which they are shown, each once
  std::vector<Unreadable> unreadable;
  Names names;
  std::map<std::string, std::shared_ptr<const syntax::Text>>
      texts;              // of every path that a finding names, if known
  std::size_t fixed = 0;  // findings that --fix removed
  std::size_t known = 0;  // findings left out because a baseline or an earlier revision has them
  int exit_status = 0;

  std::map<std::string, std::shared_ptr<const Cells>> cells;  // of the notebooks among them

  // The start of the file if its text is unknown.
  Place place(const std::string& path, std::uint32_t offset) const;
  // Where a location begins and ends; in a notebook not beyond the cell that it begins in.
  std::pair<Place, Place> places(const rules::Location& where) const;
};

std::string text_report(const Report& report, bool has_colors);
std::string json_report(const Report& report);
std::string sarif_report(const Report& report);
std::string github_report(const Report& report);
std::string gitlab_report(const Report& report);

}  // namespace stepzero::server
