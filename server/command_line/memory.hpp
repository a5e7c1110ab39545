// `stepzero memory` as a function of its options.
#pragma once

#include "server/command_line/commands.hpp"

namespace stepzero::server {

struct MemoryOptions {
  std::vector<std::string> paths;
  std::string stdin_filename;
  Format format = Format::text;
  std::string gpu;                    // "80GB"; empty: not said
  std::string device;                 // "cuda" or "cpu"
  std::vector<std::string> settings;  // "name=value"
  int world = 0;                      // processes; 0: one
  int rank = 0;                       // the one that is counted
  int batch = 0;                      // 0: the program's own
};
int run_memory(const MemoryOptions& options);

}  // namespace stepzero::server
