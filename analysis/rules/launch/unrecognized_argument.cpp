// launch/unrecognized-argument: a launch hands an argument to a launcher or a script that does not take it.
#include "rules/choices.hpp"
#include "rules/documents/check.hpp"
#include "rules/launch/argument_words.hpp"
#include "rules/launch/arguments.hpp"
#include "rules/launch/hydra.hpp"
#include "rules/launch/lightning_cli.hpp"
#include "rules/launch/megatron.hpp"
#include "rules/launch/scripts.hpp"
#include "rules/launch/slurm_options.hpp"
#include "rules/launch/trainer_arguments.hpp"
#include "rules/rule.hpp"

#include <algorithm>

namespace stepzero::rules::launch::unrecognized_argument {

extern const Rule rule;

namespace {

using documents::Word;
using program::ValueType;

// What torchrun counts processes and nodes by, as torch.distributed.run reads it; empty: the text is one.
std::string why_no_count(Launcher launcher, const LauncherOption& option, const std::string& text) {
  if (launcher != Launcher::torchrun && launcher != Launcher::torch_launch) return {};
  std::string name(option.name.substr(std::min(option.name.find_first_not_of('-'), option.name.size())));
  std::replace(name.begin(), name.end(), '-', '_');
  if (name == "nproc_per_node")
    return to_number(text) || is_choice("cpu|gpu|xpu|auto|hpu|npu|mtia|mlu|musa|gcu|privateuseone", text)
        ? std::string()
        : "an integer, or one of `gpu`, `cpu`, `xpu` and `auto`";
  if (name != "nnodes") return {};
  const std::size_t colon = std::min(text.find(':'), text.size());
  const bool is_range = colon < text.size() && to_number(text.substr(0, colon)) &&
      to_number(text.substr(colon + 1));
  return to_number(text) || is_range ? std::string() : "an integer, or a range as `1:4`";
}

void judge_option(const LaunchLine& line, const GivenOption& given, DocumentReport& report) {
  const std::string launcher(name(line.launcher));
  if (!given.option) {
    // What is told with the launcher's age is told there.
    if (!given.is_sure || !given.flag.is_known() || given.flag.text == "--use_env" ||
        given.flag.text == "--use-env")
      return;
    if (!given.flag.text.starts_with("--")) return;
    const std::string_view meant = documents::nearest(given.flag.text, options_of(line.launcher));
    const bool near = !meant.empty() && meant.starts_with("--");
    Finding& finding = report.add(near ? Severity::error : Severity::warning, given.flag.written,
        near ? "`" + launcher + "` has no option `" + given.flag.text + "` and refuses it. Did you mean `" +
                std::string(meant) + "`?"
             : "`" + launcher + "` of today has no option `" + given.flag.text +
                "`, and refuses what it does not know. Remove it, or put it after the script if it is the script's");
    const std::uint32_t length = given.flag.written.end - given.flag.written.begin;
    if (near && length >= given.flag.text.size())
      report.fix(finding, "Rename to " + std::string(meant), documents::is_typo(given.flag.text, meant),
          {given.flag.written.begin,
              given.flag.written.begin + static_cast<std::uint32_t>(given.flag.text.size())},
          std::string(meant));
    return;
  }
  if (!given.value || !given.value->is_known()) return;
  const Severity severity = given.value->by_default ? Severity::warning : Severity::error;
  if (given.option->type == ValueType::integer && !to_number(given.value->text) &&
      given.option->name.find("port") == std::string_view::npos)
    report.add(severity, given.value->written,
        "`" + given.flag.text + "` takes an integer; " + "`" + launcher + "` refuses \"" + given.value->text +
            "\". Pass one");
  else if (const std::string why = why_no_count(line.launcher, *given.option, given.value->text);
      !why.empty())
    report.add(severity, given.value->written,
        "`" + given.flag.text + "` takes " + why + "; " + "`" + launcher + "` refuses \"" +
            given.value->text + "\". Pass one of these");
  else if (!given.option->choices.empty() && line.launcher != Launcher::fabric &&
      !is_choice(given.option->choices, given.value->text))
    report.add(severity, given.value->written,
        "`" + launcher + "` refuses \"" + given.value->text + "\" for `" + given.flag.text +
            "`. Choose one that it takes");
}

// A line of the script that declares the argument in front of one that it declares already.
std::optional<Fix> declaration_of(const DocumentInput& input, const ScriptOptions& options,
    const std::string& path, std::string_view flags) {
  const auto module = input.sources.module(path);
  const auto first = std::find_if(
      options.options.begin(), options.options.end(), [&](const DeclaredOption& option) {
        return option.where.path == path && option.parser == 0 && !option.is_conditional;
      });
  if (!module || first == options.options.end()) return std::nullopt;
  const std::string& text = module->text->bytes();
  const std::uint32_t begin = first->where.span.begin;
  const std::size_t line =
      text.rfind('\n', begin) == std::string::npos || begin == 0 ? 0 : text.rfind('\n', begin - 1) + 1;
  const std::string before = text.substr(line, begin - line),
                    call = text.substr(begin, text.find('(', begin) - begin);
  if (before.find_first_not_of(" \t") != std::string::npos || !call.ends_with(".add_argument"))
    return std::nullopt;
  return Fix{"Declare --local_rank in " + path.substr(path.rfind('/') + 1), true,
      {{{path, {begin, begin}}, call + "(" + std::string(flags) + ", type=int, default=-1)\n" + before}}};
}

// What the launcher itself hands the script.
void judge_local_rank(const DocumentInput& input, const LaunchLine& line, const ScriptOptions& options,
    const std::string& path, DocumentReport& report) {
  const bool hyphen = options.find("--local-rank"), underscore = options.find("--local_rank");
  if (line.launcher == Launcher::deepspeed && !line.has("no_local_rank") && !underscore &&
      beginnings(options, "--local_rank").empty()) {
    Finding& finding = report.add(Severity::error, line.script->written,
        "`deepspeed` hands every script `--local_rank=N`; this one declares no such argument and rejects it. Declare it, or launch with `--no_local_rank`");
    if (auto fix = declaration_of(input, options, path, "\"--local_rank\""))
      finding.fixes.push_back(std::move(*fix));
  }
  if (line.launcher == Launcher::torch_launch && !line.has("use_env") && !hyphen)
    report.add(underscore ? Severity::warning : Severity::error, line.script->written,
        underscore
            ? "since PyTorch 2.0 torch.distributed.launch hands over `--local-rank`, with a hyphen; this script declares `--local_rank` only and rejects it. Declare both spellings, or launch with torchrun"
            : "`torch.distributed.launch` hands every script its local rank as an argument; this one declares none and rejects it. Launch with torchrun");
}

// What one file of the name that is launched makes of its arguments.
void judge_script(
    const DocumentInput& input, const LaunchLine& line, const std::string& path, DocumentReport& report) {
  judge_overrides(input, line, path, report);
  judge_lightning_cli(input, line, path, report);
  const ScriptOptions options = options_of_script(input.sources, path, input.read);
  if (!options.closed && !options.takes_more) return;
  if (!options.of_click && options.closed) judge_local_rank(input, line, options, path, report);
  judge_arguments(input, line, options, path, report);
  judge_trainer_arguments(line, options, report);
}

// Which of several files of one name is launched depends on the folder: what each of them refuses is refused.
void judge_scripts(const DocumentInput& input, const LaunchLine& line, DocumentReport& report) {
  if (!line.script || !line.script->is_known()) return;
  const std::vector<std::string> paths = script_files(
      input.sources, input.path, line.command->folder, line.script->text, line.is_module, input.read);
  std::vector<Finding> told;
  for (const std::string& path : paths) {
    std::vector<Finding> of_this;
    DocumentReport own(input.path, rule, of_this);
    judge_script(input, line, path, own);
    if (&path == &paths.front()) {
      told = std::move(of_this);
      continue;
    }
    const auto is_told = [&](const Finding& finding) {
      return std::any_of(of_this.begin(), of_this.end(), [&](const Finding& other) {
        return other.where.span == finding.where.span && other.severity == finding.severity;
      });
    };
    std::erase_if(told, [&](const Finding& finding) { return !is_told(finding); });
    // What mends one may break the other.
    for (Finding& finding : told) finding.fixes.clear();
  }
  for (Finding& finding : told) report.add(finding.severity, finding.where.span, "") = std::move(finding);
}

// A comment, or a backslash with a blank after it, ends a command that was to go on: what follows is a
// command of its own.
void judge_broken_lines(
    const DocumentInput& input, const std::vector<LaunchLine>& lines, DocumentReport& report) {
  const auto& commands = input.document.script.commands;
  const syntax::Text& text = *input.document.text;
  for (std::size_t i = 1; i < commands.size(); ++i) {
    const documents::ShellCommand& lost = commands[i];
    if (!lost.words.front().text.starts_with("--") || lost.words.front().written != lost.words.front().span)
      continue;
    const auto line = std::find_if(
        lines.begin(), lines.end(), [&](const LaunchLine& each) { return each.command == &commands[i - 1]; });
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
      while (!written.empty() && (written.back() == ' ' || written.back() == '\t' || written.back() == '\r'))
        written.remove_suffix(1);
      continued = continued || written.ends_with('\\');
    }
    if (!between || !continued) continue;
    Finding& finding = report.add(Severity::error, lost.words.front().span,
        "the command that this argument belongs to ends above: a comment, or a backslash with a blank after it, does not continue it. The shell runs `" +
            lost.words.front().text +
            "` as a program of its own: \"command not found\". End the line above with a backslash alone");
    report.relate(finding, line->command->words[line->first].span, "the launch that misses its arguments");
  }
}

void check_document(const DocumentInput& input, DocumentReport& report) {
  const std::vector<LaunchLine> lines = launch_lines(input.document.script);
  for (const LaunchLine& line : lines) {
    for (const GivenOption& given : line.options) judge_option(line, given, report);
    judge_scripts(input, line, report);
    judge_megatron_options(input, line, report);
  }
  judge_broken_lines(input, lines, report);
  judge_slurm_options(input, lines, report);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "launch/unrecognized-argument",
    .severity = Severity::error,
    .summary = "a launch hands over an argument that its launcher or its script does not take",
    .why =
        "Launchers and most scripts read their arguments with argparse, which ends the program over each that it does not know: \"error: "
        "unrecognized arguments\". In the queue of a cluster that is known hours later.",
    .wrong = "#!/bin/bash\ntorchrun --nproc_per_nodes 8 train.py\n",
    .right = "#!/bin/bash\ntorchrun --nproc_per_node 8 train.py\n",
    .silent =
        "Beginnings of a name, which argparse completes; words that come from variables that the text does not decide; scripts that "
        "read their arguments with something else than one closed parser of argparse, click, Typer, Fire, tyro or simple_parsing: `parse_known_args`, parsers that other "
        "packages add to.",
    .fix =
        "Renames the option, or the command, to the known one that is nearest; takes away a value `true` that a switch does not read.",
    .fix_kind = FixKind::always_right,
    .check = check_no_run,
});

extern constexpr DocumentCheck document_check = {&rule, Role::script, check_document};

}  // namespace stepzero::rules::launch::unrecognized_argument
