// Which options a script of Python reads, as far as its text and that of the modules that it imports decide
// it: what `add_argument` is handed anywhere in them. Only where nothing else can add one is the list closed.
#pragma once

#include "program/sources.hpp"
#include "program/value_type.hpp"
#include "rules/finding.hpp"

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace stepzero::rules::launch {

// How many words an option takes: what argparse calls nargs.
enum class Arity : unsigned char { one, none, optional, any, some, number, unknown };

struct DeclaredOption {
  std::vector<std::string> flags;    // "--lr", "-l"; of a positional argument its name
  std::vector<std::string> choices;  // empty: any, or not known
  program::ValueType type = program::ValueType::text;
  Arity arity = Arity::one;
  int count = 1;  // of Arity::number
  bool is_required = false;
  bool is_conditional = false;  // added on a branch, or by a function that may not be called
  bool has_default = false;     // another one than None
  bool ends = false;            // --help, --version: the program prints, and ends
  int parser = 0;               // the one that reads it: 0 is the script's, others are of its commands
  int exclusive = 0;            // the group of options of which one alone may be given; 0: none
  Location where;               // of the call

  bool is_positional() const { return !flags.front().starts_with('-'); }
  bool takes_one() const { return arity == Arity::one; }
};

// add_subparsers(): the words that choose a parser.
struct Commands {
  int of_parser = 0;
  bool is_required = false;
  std::vector<std::pair<std::string, int>> names;  // and the parser of each
  Location where;
};

struct ScriptOptions {
  bool closed = false;      // no other option is taken
  bool takes_more = false;  // else: options that are not declared are passed over, of the others all is known
  bool abbreviations = true;    // the beginning of a name is enough
  bool one_parser = false;      // all options are of one parser, and of those of its commands
  bool of_dataclasses = false;  // HfArgumentParser makes it
  bool of_click = false;
  bool of_tyro = false;  // tyro.cli(Class)
  bool of_fire = false;  // fire.Fire(function)
  std::vector<DeclaredOption> options;
  std::vector<Commands> commands;
  std::set<int> required_groups;  // exclusive groups of which one option has to be given

  const DeclaredOption* find(std::string_view flag) const;
  std::vector<std::string_view> names() const;  // with two dashes
};

// `read` gets the paths that were asked for.
ScriptOptions options_of_script(
    const program::Sources& sources, const std::string& path, std::set<std::string>& read);

}  // namespace stepzero::rules::launch
