// The arguments and the environment that a known launch gives a program, as its own parser reads them.
#pragma once

#include "libraries/table/table.hpp"

#include <map>
#include <set>
#include <string>

namespace stepzero::libraries {

// By destination. What is given and not known is in neither: it is what any command line gives.
struct CommandLine {
  std::map<std::string, Value, std::less<>> values;  // what the launch gives
  std::set<std::string, std::less<>> given;  // the same, and what it gives of which the value is not known
  bool is_known = false;                     // there is a launch, and all of its words are known
  bool leaves_out(std::string_view destination) const { return is_known && !given.contains(destination); }
};

// Of an argument that is being added to the parser: by which words it is given. Only where there is a launch.
void declare_flags(Call& call, std::string_view destination, std::string_view action, Value type, Value many);
CommandLine read_command_line(Call& call);
// sys.argv; absent if it is not known.
Value words_of_launch(Runtime& run);
// The variable of the environment; absent if the launch does not set it.
Value set_by_launch(Runtime& run, Value name);

}  // namespace stepzero::libraries
