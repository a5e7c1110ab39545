// Which options a script of Python reads, as far as its text and that of the modules that it imports decide it: what `add_argument` is
// handed anywhere in them. Only where nothing else can add one is the list closed.
#pragma once

#include "program/sources.hpp"
#include "rules/finding.hpp"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace stepzero::rules::launch {

struct DeclaredOption {
  std::vector<std::string> flags;       // "--lr", "-l"; of a positional argument its name
  std::vector<std::string> choices;     // empty: any, or not known
  std::string type;                     // "int", "float"; empty: a text, or a type that is not known
  bool is_plain = true;                 // takes one value: neither action nor nargs says otherwise
  bool is_flag = false;                 // takes none
  bool is_required = false;
  bool is_conditional = false;          // added on a branch, or by a function that may not be called
  Location where;                       // of the call
};

struct ScriptOptions {
  bool closed = false;                  // no other option is taken
  bool abbreviations = true;            // the beginning of a name is enough
  bool one_parser = false;              // all options are of one parser
  bool of_dataclasses = false;          // HfArgumentParser makes it
  std::vector<DeclaredOption> options;

  const DeclaredOption* find(std::string_view flag) const;
  std::vector<std::string_view> names() const;   // with two dashes
};

// `read` gets the paths that were asked for.
ScriptOptions options_of_script(const program::Sources& sources, const std::string& path, std::set<std::string>& read);

// The file that a launch means by "src/train.py", or by a module's name: seen from where the script of the shell lies, or from a folder
// above it. Nothing if there is none.
std::optional<std::string> script_file(const program::Sources& sources, const std::string& shell_script, const std::string& folder, const std::string& written, bool is_module, std::set<std::string>& read);

} // namespace stepzero::rules::launch
