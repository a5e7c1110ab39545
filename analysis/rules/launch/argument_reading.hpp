// The arguments of a launch, read as the parser of the script reads them (argument_reading.cpp), and what is
// said of those that it rejects (argument_findings.cpp).
#pragma once

#include "libraries/frameworks/training_arguments.hpp"
#include "rules/launch/argument_words.hpp"
#include "rules/launch/arguments.hpp"

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace stepzero::rules::launch {

class ArgumentReading {
public:
  ArgumentReading(const DocumentInput& input, const LaunchLine& line, const ScriptOptions& options,
      const std::string& path, DocumentReport& report)
      : input_(input), line_(line), options_(options), path_(path), report_(report), words_(line.arguments) {}

  void run();

private:
  bool is_of(const DeclaredOption& option) const { return option.parser == parser_; }
  Seen seen(std::size_t i) const { return see(words_[i], options_, parser_); }

  static std::string file_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }
  static std::string quoted(const std::string& text) { return '"' + text + '"'; }

  // ------------------------------------------------------------- the words of one parser
  void read(int parser);

  void find_positionals();
  const DeclaredOption* last_positional() const;

  // ------------------------------------------------------------- options
  void option(const Seen& word);

  void attached(const DeclaredOption& option, const documents::Word& flag, const documents::Word& value);

  // The values that follow.
  void take(const DeclaredOption& option, const documents::Word& flag);

  void judge_value(const DeclaredOption& option, const documents::Word& flag, const documents::Word& value);
  static bool is_choice(const DeclaredOption& option, const std::string& text);

  // A value that is the default itself does not count as given; which that is, only a flag says for sure.
  void judge_exclusive(const DeclaredOption& option, const documents::Word& flag);

  // ------------------------------------------------------------- what has no flag
  void place(const Seen& word);
  static documents::Word named(const DeclaredOption& option);

  // `after`: the option whose words stand right in front of it.
  void left_over(std::size_t place, const DeclaredOption* after);

  void command(const Seen& word);

  // ------------------------------------------------------------- what is not known
  std::vector<std::string_view> names() const;

  static const libraries::FormerArgument* former_of(std::string name);
  // Scripts are written for one version: once for all of them.
  void tell_former();

  // The program takes what it knows and leaves the rest to others: a slip in a name is seen by nobody. One
  // name that begins like another may be that of another program.
  void passed_over(const documents::Word& flag);

  void other(const Seen& word);

  // What the reader of the command line says of it. Fire calls the function first.
  std::string end_over(bool many) const;

  // The beginning of several names is none of them.
  void tell_ambiguous(const documents::Word& flag);

  // argparse ends once, over all of them.
  void tell_unknown(const std::vector<documents::Word>& unknown);

  // ------------------------------------------------------------- what is missing
  bool is_given(const DeclaredOption& option) const;

  // Fire takes what has no flag by its place: it is known to be missing where every word follows a flag.
  bool gives_places() const;
  void tell_missing(bool before_command = false);
  void tell_missing_groups();

  void refuse(const documents::Word& where, std::string message, const DeclaredOption& option,
      bool by_default = false);

  const DocumentInput& input_;
  const LaunchLine& line_;
  const ScriptOptions& options_;
  const std::string& path_;
  DocumentReport& report_;
  const std::vector<documents::Word>& words_;
  std::size_t at_ = 0, next_ = 0;
  int parser_ = 0;
  std::vector<const DeclaredOption*> positionals_;
  const Commands* commands_ = nullptr;
  std::set<const DeclaredOption*> given_;
  std::vector<std::string> begun_;  // beginnings of names that are given
  std::vector<std::pair<const DeclaredOption*, documents::Word>> exclusive_;
  const DeclaredOption* after_ = nullptr;  // the option whose words end here
  bool places_known_ = false, may_give_any_ = false, finished_ = false, by_default_ = false;
  std::vector<std::pair<documents::Word, const libraries::FormerArgument*>> former_;
  std::vector<documents::Word> unknown_,
      unknown_by_default_;  // what a variable's default gives need not be given
};

}  // namespace stepzero::rules::launch
