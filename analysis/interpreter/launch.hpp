// How a program is started, as a script says it: its arguments, its processes, and what is set in its
// environment. The run of such a launch is one with numbers where the program alone leaves symbols.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stepzero::interpreter {

struct Launch {
  // A byte of an argument that is not known, and stands for any text; one that stands for any number of
  // arguments.
  static constexpr char hole = '\x01', words = '\x02';

  std::string name;  // "run.sh:12"
  std::string path;  // of the script, and where in it the launch stands
  std::uint32_t begin = 0, end = 0;
  std::string program;                                           // as it is written; empty: not known
  std::vector<std::string> arguments;                            // of the program
  bool keeps_arguments = false;                                  // the program only reads sys.argv
  std::optional<std::int64_t> world, local_world;                // processes in all, and on each node
  std::vector<std::pair<std::string, std::string>> environment;  // what is set and known
  std::string gpus;  // the kind that the job asks for, where it has no units for bfloat16
  friend bool operator==(const Launch&, const Launch&) = default;
};

}  // namespace stepzero::interpreter
