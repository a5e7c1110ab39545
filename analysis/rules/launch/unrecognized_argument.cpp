// launch/unrecognized-argument: a launch hands an argument to a launcher or a script that does not take it.
#include "rules/documents/check.hpp"
#include "rules/launch/dataclasses.hpp"
#include "rules/launch/hydra.hpp"
#include "rules/launch/line.hpp"
#include "rules/launch/parsers.hpp"
#include "rules/list.hpp"

#include <algorithm>
#include <cstdlib>

namespace stepzero::rules {

namespace {

using namespace launch;
using documents::Word;

bool is_choice(std::string_view choices, std::string_view text) {
  for (std::string_view rest = choices; !rest.empty();) {
    const std::size_t bar = std::min(rest.find('|'), rest.size());
    if (rest.substr(0, bar) == text) return true;
    rest.remove_prefix(std::min(bar + 1, rest.size()));
  }
  return false;
}

void judge_option(const LaunchLine& line, const GivenOption& given, DocumentReport& report) {
  const std::string launcher(name(line.launcher));
  if (!given.option) {
    // What is told with the launcher's age is told there.
    if (!given.is_sure || !given.flag.is_known() || given.flag.text == "--use_env" || given.flag.text == "--use-env") return;
    if (!given.flag.text.starts_with("--")) return;
    const std::string_view meant = documents::nearest(given.flag.text, options_of(line.launcher));
    const bool near = !meant.empty() && meant.starts_with("--");
    Finding& finding = report.add(near ? Severity::error : Severity::warning, given.flag.written,
                                  near ? launcher + " has no option `" + given.flag.text + "` and refuses it: did you mean `" + std::string(meant) + "`?"
                                       : launcher + " of today has no option `" + given.flag.text + "`, and refuses what it does not know. What is meant for the script stands behind the script");
    const std::uint32_t length = given.flag.written.end - given.flag.written.begin;
    if (near && length >= given.flag.text.size()) report.fix(finding, "Rename to " + std::string(meant), documents::is_slip(given.flag.text, meant), {given.flag.written.begin, given.flag.written.begin + static_cast<std::uint32_t>(given.flag.text.size())}, std::string(meant));
    return;
  }
  if (!given.value || !given.value->is_known()) return;
  const Severity severity = given.value->by_default ? Severity::warning : Severity::error;
  if (given.option->kind == ValueKind::integer && !to_number(given.value->text) && given.option->name.find("port") == std::string_view::npos)
    report.add(severity, given.value->written, "`" + given.flag.text + "` takes an integer; " + launcher + " refuses \"" + given.value->text + "\"");
  else if (!given.option->choices.empty() && line.launcher != Launcher::fabric && !is_choice(given.option->choices, given.value->text))
    report.add(severity, given.value->written, launcher + " refuses \"" + given.value->text + "\" for `" + given.flag.text + "`");
}

std::string file_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// The options that the beginning of a name may stand for.
std::vector<std::string_view> beginnings(const ScriptOptions& options, std::string_view flag) {
  std::vector<std::string_view> found;
  for (const std::string_view name : options.names())
    if (name.starts_with(flag) && std::find(found.begin(), found.end(), name) == found.end()) found.push_back(name);
  return found;
}

bool is_of_type(const std::string& type, const std::string& text) {
  if (type == "int") return to_number(text).has_value();
  if (type != "float") return true;
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0';
}

void judge_value(const DeclaredOption& option, const Word& flag, const Word& value, DocumentReport& report) {
  if (!option.is_plain || !value.is_known() || value.text.starts_with('-')) return;
  std::string why;
  if (!option.choices.empty() && std::find(option.choices.begin(), option.choices.end(), value.text) == option.choices.end() && (option.type.empty() || option.type == "str" || option.type == "int")) {
    why = "is one of ";
    for (const std::string& choice : option.choices) why += (&choice == &option.choices.front() ? "" : ", ") + choice;
  } else if (!is_of_type(option.type, value.text)) {
    why = option.type == "int" ? "takes an integer" : "takes a number";
  }
  if (why.empty()) return;
  Finding& finding = report.add(value.by_default ? Severity::warning : Severity::error, value.written, "`" + flag.text + "` " + why + "; the script ends over \"" + value.text + "\"");
  if (!option.where.path.empty()) report.relate(finding, option.where, "declared here");
}

// What the launcher itself hands the script.
void judge_local_rank(const LaunchLine& line, const ScriptOptions& options, DocumentReport& report) {
  const bool hyphen = options.find("--local-rank"), underscore = options.find("--local_rank");
  if (line.launcher == Launcher::deepspeed && !line.has("no_local_rank") && !underscore && beginnings(options, "--local_rank").empty())
    report.add(Severity::error, line.script->written, "deepspeed hands every script `--local_rank=N`; this one declares no such argument and ends over it. Declare it, or launch with `--no_local_rank`");
  if (line.launcher == Launcher::torch_launch && !line.has("use_env") && !hyphen)
    report.add(underscore ? Severity::warning : Severity::error, line.script->written,
               underscore ? "since PyTorch 2.0 torch.distributed.launch hands over `--local-rank`, with a hyphen; this script declares `--local_rank` only and ends over it. Declare both spellings, or launch with torchrun"
                          : "torch.distributed.launch hands every script its local rank as an argument; this one declares none and ends over it. Launch with torchrun");
}

// Arguments that the script requires and that the launch does not give.
void judge_missing(const LaunchLine& line, const ScriptOptions& options, const std::string& path, DocumentReport& report) {
  if (!options.one_parser) return;
  std::size_t by_place = 0, wanted = 0;
  bool places_known = true;
  for (std::size_t i = 0; i < line.arguments.size(); ++i) {
    const Word& word = line.arguments[i];
    const std::size_t equals = std::min(word.text.find('='), word.text.size());
    const std::string flag = word.text.substr(0, equals);
    if (word.text.find(documents::Chars::words) != std::string::npos || flag.find(documents::Chars::hole) == 0 || flag == "-h" || flag == "--help" || flag == "--") return;
    // A file that holds the arguments.
    if (options.of_dataclasses && (word.text.ends_with(".json") || word.text.ends_with(".yaml") || word.text.ends_with(".yml")) && line.arguments.size() == 1) return;
    if (!word.text.starts_with('-')) {
      ++by_place;
      continue;
    }
    const DeclaredOption* option = options.find(flag);
    if (!option || (!option->is_plain && !option->is_flag)) places_known = false;
    else if (option->is_plain && equals == word.text.size()) ++i;
  }
  std::string missing;
  const DeclaredOption* first = nullptr;
  for (const DeclaredOption& option : options.options) {
    const bool placed = !option.flags.front().starts_with('-');
    // What an imported module declares may belong to a program of its own.
    if (option.is_conditional || (option.where.path != path && !options.of_dataclasses) || (!placed && !option.is_required) || (placed && (!option.is_plain || !places_known))) continue;
    if (placed && ++wanted <= by_place) continue;
    const auto gives = [&](const Word& word) {
      const std::string flag = word.text.substr(0, word.text.find('='));
      return std::any_of(option.flags.begin(), option.flags.end(), [&](const std::string& name) { return name == flag || (flag.size() > 3 && flag.starts_with("--") && name.starts_with(flag)) || (name.size() == 2 && word.text.starts_with(name)); });
    };
    if (!placed && std::any_of(line.arguments.begin(), line.arguments.end(), gives)) continue;
    missing += (missing.empty() ? "`" : ", `") + option.flags.front() + "`";
    if (!first) first = &option;
  }
  if (!first) return;
  Finding& finding = report.add(Severity::error, line.script->written, "`" + file_of(path) + "` requires " + missing + ", and this launch does not give it: the script ends with \"the following arguments are required\"");
  report.relate(finding, first->where, "declared here");
}

// Arguments of one launch that its script does not declare and that resemble none of those it does. argparse ends once, over all of them.
void tell_unknown(const std::vector<Word>& unknown, const std::string& path, bool by_dataclasses, DocumentReport& report) {
  if (unknown.empty()) return;
  std::string names;
  for (std::size_t i = 0; i < unknown.size(); ++i) names += (i == 0 ? "`" : i + 1 < unknown.size() ? ", `" : " and `") + unknown[i].text + "`";
  const bool many = unknown.size() > 1;
  Finding& finding = report.add(unknown.front().by_default ? Severity::warning : Severity::error, unknown.front().written,
                                "`" + file_of(path) + "` declares no " + (many ? "arguments " : "argument ") + names + " and ends over " + (many ? "them" : "it") + (by_dataclasses ? "" : ": \"unrecognized arguments\""));
  for (std::size_t i = 1; i < unknown.size(); ++i) report.relate(finding, unknown[i].written, "`" + unknown[i].text + "` is given here");
}

// The options of the script that its text decides.
void judge_script(const DocumentInput& input, const LaunchLine& line, DocumentReport& report) {
  if (!line.script || !line.script->is_known()) return;
  const auto path = script_file(input.sources, input.path, line.command->folder, line.script->text, line.is_module, input.read);
  if (!path) return;
  judge_overrides(input, line, *path, report);
  const ScriptOptions options = options_of_script(input.sources, *path, input.read);
  if (!options.closed) return;
  judge_local_rank(line, options, report);
  judge_missing(line, options, *path, report);
  const std::vector<Word>& words = line.arguments;
  std::vector<Word> unknown, unknown_by_default;  // what a variable's default gives need not be given
  for (std::size_t i = 0; i < words.size(); ++i) {
    const Word& word = words[i];
    if (word.text == "--") break;
    if (!word.text.starts_with("--") || word.text.size() < 4) continue;
    const std::size_t equals = std::min(word.text.find('='), word.text.size());
    Word flag = word;
    flag.text = word.text.substr(0, equals);
    if (!flag.is_known() || flag.text == "--help") continue;
    const DeclaredOption* option = options.find(flag.text);
    if (option) {
      const bool once = std::count_if(options.options.begin(), options.options.end(), [&](const DeclaredOption& each) { return std::find(each.flags.begin(), each.flags.end(), flag.text) != each.flags.end(); }) == 1;
      if (!once) continue;
      Word value = word;
      value.text = word.text.substr(std::min(equals + 1, word.text.size()));
      if (equals < word.text.size()) judge_value(*option, flag, value, report);
      else if (i + 1 < words.size()) judge_value(*option, flag, words[i + 1], report);
      continue;
    }
    if (options.abbreviations && !beginnings(options, flag.text).empty()) continue;
    const std::string_view meant = documents::nearest(flag.text, options.names());
    // The Trainer's arguments are those of one version of transformers.
    if (options.of_dataclasses && (meant.empty() || is_former_training_argument(flag.text))) continue;
    if (meant.empty()) {
      (word.by_default ? unknown_by_default : unknown).push_back(flag);
      continue;
    }
    const bool may_be_older = options.of_dataclasses && options.find(meant)->where.path.empty();
    Finding& finding = report.add(word.by_default || may_be_older ? Severity::warning : Severity::error, word.written,
                                  "`" + file_of(*path) + "` declares no argument `" + flag.text + "` and ends over it" + (options.of_dataclasses ? "" : ": \"unrecognized arguments\"") + ". Did you mean `" + std::string(meant) + "`?");
    if (!options.find(meant)->where.path.empty()) report.relate(finding, options.find(meant)->where, "`" + std::string(meant) + "` is declared here");
    if (word.written.end - word.written.begin == word.text.size())
      report.fix(finding, "Rename to " + std::string(meant), documents::is_slip(flag.text, meant), {word.written.begin, word.written.begin + static_cast<std::uint32_t>(flag.text.size())}, std::string(meant));
  }
  tell_unknown(unknown, *path, options.of_dataclasses, report);
  tell_unknown(unknown_by_default, *path, options.of_dataclasses, report);
}

// A comment, or a backslash with a blank behind it, ends a command that was to go on: what follows is a command of its own.
void judge_broken_lines(const DocumentInput& input, const std::vector<LaunchLine>& lines, DocumentReport& report) {
  const auto& commands = input.document.script.commands;
  const syntax::Text& text = *input.document.text;
  for (std::size_t i = 1; i < commands.size(); ++i) {
    const documents::ShellCommand& lost = commands[i];
    if (!lost.words.front().text.starts_with("--") || lost.words.front().written != lost.words.front().span) continue;
    const auto line = std::find_if(lines.begin(), lines.end(), [&](const LaunchLine& each) { return each.command == &commands[i - 1]; });
    if (line == lines.end()) continue;
    const std::uint32_t first = text.position(lost.span.begin, syntax::Encoding::utf8).line;
    const std::uint32_t before = text.position(line->command->span.end, syntax::Encoding::utf8).line;
    if (first <= before || first > before + 30) continue;
    // Only comments and empty lines between them, and something that was to continue.
    bool continued = false, between = true;
    for (std::uint32_t at = before; at < first && between; ++at) {
      std::string_view written = text.line(at);
      if (at > before) {
        const std::size_t begin = written.find_first_not_of(" \t");
        between = begin == std::string_view::npos || written[begin] == '#' || written.substr(begin) == "\\";
      }
      while (!written.empty() && (written.back() == ' ' || written.back() == '\t' || written.back() == '\r')) written.remove_suffix(1);
      continued = continued || written.ends_with('\\');
    }
    if (!between || !continued) continue;
    Finding& finding = report.add(Severity::error, lost.words.front().span, "the command that this argument belongs to ends above: a comment, or a backslash with a blank after it, does not continue it. The shell runs `" + lost.words.front().text + "` as a program of its own: \"command not found\"");
    report.relate(finding, line->command->words[line->first].span, "the launch that misses its arguments");
  }
}

void check_document(const DocumentInput& input, DocumentReport& report) {
  const std::vector<LaunchLine> lines = launch_lines(input.document.script);
  for (const LaunchLine& line : lines) {
    for (const GivenOption& given : line.options) judge_option(line, given, report);
    judge_script(input, line, report);
  }
  judge_broken_lines(input, lines, report);
}

} // namespace

constexpr Rule unrecognized_argument = complete({
    .id = "launch/unrecognized-argument",
    .severity = Severity::error,
    .summary = "a launch hands over an argument that its launcher or its script does not take",
    .why = "Launchers and most scripts read their arguments with argparse, which ends the program over each that it does not know: \"error: "
           "unrecognized arguments\". In the queue of a cluster that is known hours later.",
    .wrong = "#!/bin/bash\ntorchrun --nproc_per_nodes 8 train.py\n",
    .right = "#!/bin/bash\ntorchrun --nproc_per_node 8 train.py\n",
    .silent = "Beginnings of a name, which argparse completes; words that come from variables that the text does not decide; scripts that "
              "read their arguments with something else than one closed parser of argparse: subparsers, `parse_known_args`, parsers that other "
              "packages add to.",
    .fix = "Renames the option to the known one that is nearest.",
    .fix_kind = FixKind::always_right,
    .check = check_no_run,
});

extern const DocumentCheck unrecognized_argument_check;
const DocumentCheck unrecognized_argument_check = {&unrecognized_argument, Role::script, check_document};

} // namespace stepzero::rules
