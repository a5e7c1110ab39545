// What a finding is recognized by when the lines around it move: its rule, its file and the text of its line.
// Knows no format.
#pragma once

#include "server/command_line/report.hpp"

#include <compare>
#include <string>
#include <vector>

namespace stepzero::server {

// Findings that agree in all three are told apart by their number alone.
struct Fingerprint {
  std::string path;
  std::string rule;
  std::string line;  // blanks collapsed
  friend auto operator<=>(const Fingerprint&, const Fingerprint&) = default;
};

// `path`: what the file is called in it.
Fingerprint fingerprint(const Report& report, const rules::Finding& finding, std::string path);

// Of each finding in order: 16 hexadecimal digits and, of equal ones, which it is: "0f3a…:2". The same on
// every machine; files in the current folder go by their path in it.
std::vector<std::string> fingerprints(const Report& report);

}  // namespace stepzero::server
