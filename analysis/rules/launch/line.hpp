// What a command of the shell launches: the script, its arguments, and how many processes run it. The options
// of launchers are data, taken from their real parsers by tests/jobs/record_launchers.py.
#pragma once

#include "documents/shell.hpp"
#include "program/value_type.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepzero::rules::launch {

enum class Launcher : unsigned char {
  python,
  torchrun,
  torch_launch,
  accelerate,
  deepspeed,
  fabric,
  colossalai
};
std::string_view name(Launcher launcher);
// May the text of a script launch anything? Asked before it is parsed; a module is launched without the
// ending of its file.
bool may_launch(std::string_view text);

struct LauncherOption {
  Launcher launcher;
  std::string_view name;  // "--nnodes", "-m"
  program::Takes takes;
  program::ValueType type;
  std::string_view choices;
};
std::vector<std::string_view> options_of(Launcher launcher);

// An option as it is written: one word, or two.
struct GivenOption {
  const LauncherOption* option = nullptr;  // null: the launcher has none of this name
  documents::Word flag;                    // "--nnodes" of "--nnodes=2"
  std::optional<documents::Word> value;
  bool is_sure = true;  // nothing in front of it that is not known, and may hold the script
};

struct LaunchLine {
  const documents::ShellCommand* command = nullptr;
  Launcher launcher{};
  std::string wrapper;                    // "srun", "mpirun"; empty: none
  std::size_t first = 0;                  // the launcher's word
  std::vector<GivenOption> options;       // of the launcher
  std::optional<documents::Word> script;  // "train.py", or the name of a module
  bool is_module = false;
  std::vector<documents::Word> arguments;  // of the script
  bool is_whole = true;                    // every word in front of the script is known

  // The value of an option, by its name without dashes and with '_': the last one counts.
  const documents::Word* value(std::string_view option) const;
  std::optional<std::int64_t> number(std::string_view option) const;
  bool has(std::string_view option) const;
  // As the launcher counts them; nothing where that is not known.
  std::optional<std::int64_t> processes_per_node() const;
  std::optional<std::int64_t> nodes() const;
};

// Those of a script that launch a program of Python with a launcher, or directly.
std::vector<LaunchLine> launch_lines(const documents::Script& script);

// The value that is set for the command, last first; null if the script sets none.
const documents::Setting* set_for(const documents::ShellCommand& command, std::string_view name);

std::optional<std::int64_t> to_number(std::string_view text);

}  // namespace stepzero::rules::launch
