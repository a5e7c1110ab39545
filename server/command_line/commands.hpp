// The subcommands, each as a function of its options that answers the program's exit status. Knows no
// arguments.
#pragma once

#include "server/command_line/checker.hpp"

#include <string>
#include <vector>

namespace stepzero::server {

namespace exit_status {
inline constexpr int success = 0;
inline constexpr int findings = 1;
inline constexpr int trouble = 2;  // wrong usage, or input that cannot be read
}  // namespace exit_status

enum class Format { text, json, sarif, github, gitlab, svg, mermaid, page };

struct CheckOptions {
  std::vector<std::string> paths;
  std::string stdin_filename;
  Format format = Format::text;
  CommandLineSettings settings;
  bool fix = false;
  bool diff = false;
  std::string baseline;        // a file of known findings that are left out; empty: none
  std::string write_baseline;  // where to write the present findings as known ones; empty: nowhere
  std::string output;          // where the page is written; empty: to standard output
  int world = 0;               // ranks of the page's schedules, see ScheduleOptions
  bool statistics = false;     // on standard error: where the time went
  bool use_cache = true;       // `.stepzero_cache` in the current folder
  std::string since;           // a revision of git whose findings are left out; empty: none
};
int run_check(const CheckOptions& options);
// The same again whenever a file changes, until the user ends it.
int run_watch(const CheckOptions& options);

struct ShapesOptions {
  std::vector<std::string> paths;
  std::string stdin_filename;
  Format format = Format::text;
};
int run_shapes(const ShapesOptions& options);

struct ScheduleOptions {
  std::vector<std::string> paths;
  std::string stdin_filename;
  Format format = Format::text;
  int world = 0;  // 0: two ranks, or as many as the program is made for
};
int run_schedule(const ScheduleOptions& options);

// Why nothing is said of a line, "FILE:LINE": for who works on the engine.
int run_why(const std::string& place);

int run_rules(Format format);
int run_explain(const std::string& rule);

}  // namespace stepzero::server
