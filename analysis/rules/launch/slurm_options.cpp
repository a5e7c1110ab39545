#include "rules/launch/slurm_options.hpp"

#include "rules/source.hpp"

#include <algorithm>
#include <iterator>

namespace stepzero::rules::launch {

namespace {

// Of both, and of one: the manual pages of sbatch and srun, SLURM 24.05, and the older spellings that
// slurm_opt.c of 26.11 still takes. Plugins of a site may add others.
constexpr std::string_view of_both[] = {"account", "acctg-freq", "begin", "bb", "bbf", "chdir", "clusters",
    "cluster-constraint", "comment", "constraint", "container", "container-id", "contiguous", "core-spec",
    "cores-per-socket", "cpu-freq", "cpus-per-gpu", "cpus-per-task", "deadline", "delay-boot", "dependency",
    "distribution", "error", "exclude", "exclusive", "export", "extra", "extra-node-info", "gid", "gpu-bind",
    "gpu-freq", "gpus", "gpus-per-node", "gpus-per-socket", "gpus-per-task", "gres", "gres-flags", "help",
    "hint", "hold", "input", "job-name", "licenses", "mail-type", "mail-user", "mcs-label", "mem", "mem-bind",
    "mem-per-cpu", "mem-per-gpu", "mincpus", "network", "nice", "no-kill", "nodefile", "nodelist", "nodes",
    "ntasks", "ntasks-per-core", "ntasks-per-gpu", "ntasks-per-node", "ntasks-per-socket", "open-mode",
    "output", "overcommit", "oversubscribe", "partition", "power", "prefer", "priority", "profile",
    "propagate", "qos", "quiet", "reboot", "reservation", "resv-ports", "signal", "sockets-per-node",
    "spread-job", "switches", "test-only", "thread-spec", "threads-per-core", "time", "time-min", "tmp",
    "tres-bind", "tres-per-task", "uid", "usage", "use-min-nodes", "verbose", "version", "wait", "wckey",
    "x11", "segment", "stepmgr", "autocomplete", "cluster", "consolidate-segments", "context", "mem-update",
    "ntasks-per-tres", "oom-kill-step", "parsable", "resources", "runtime", "spread-segments",
    "tasks-per-node"};
constexpr std::string_view of_sbatch[] = {"array", "batch", "export-file", "external", "get-user-env",
    "ignore-pbs", "kill-on-invalid-dep", "no-requeue", "requeue", "wait-all-nodes", "wrap"};
constexpr std::string_view of_srun[] = {"accel-bind", "async", "bcast", "bcast-exclude", "compress",
    "cpu-bind", "cpu_bind", "debugger-test", "disable-status", "epilog", "exact", "external-launcher",
    "ignore-signals", "immediate", "interactive", "jobid", "kill-on-bad-exit", "label", "het-group", "mpi",
    "msg-timeout", "multi-prog", "no-allocate", "overlap", "pack-group", "preserve-env", "prolog", "pty",
    "quit-on-interrupt", "relative", "send-libs", "slurmd-debug", "task-epilog", "task-prolog", "threads",
    "treewidth", "unbuffered", "wait-for-children", "whole"};

// getopt takes the beginning of a name for the whole.
void judge(std::string_view name, Span where, std::string_view program,
    std::span<const std::string_view> more, DocumentReport& report) {
  std::vector<std::string_view> known(std::begin(of_both), std::end(of_both));
  known.insert(known.end(), more.begin(), more.end());
  if (name.empty() ||
      std::any_of(known.begin(), known.end(), [&](std::string_view each) { return each.starts_with(name); }))
    return;
  const std::string_view meant = documents::nearest(name, known);
  if (meant.empty()) return;
  Finding& finding = report.add(Severity::warning, where,
      "`" + std::string(program) + "` has no option `--" + std::string(name) +
          "`, and rejects it: \"unrecognized option\". Did you mean `--" + std::string(meant) + "`?");
  if (where.end - where.begin == name.size() + 2)
    report.fix(finding, "Rename to --" + std::string(meant), documents::is_typo(name, meant), where,
        "--" + std::string(meant));
}

// "#SBATCH --nodes=2 --gres gpu:8"
void judge_line(const documents::Document& document, Span comment, DocumentReport& report) {
  const std::string_view line = document.text->slice(comment);
  if (!line.starts_with("#SBATCH")) return;
  for (std::size_t at = 7; at < line.size();) {
    at = line.find_first_not_of(" \t\r", at);
    if (at == std::string_view::npos || line[at] == '#') return;
    const std::size_t end = std::min(line.find_first_of(" \t\r", at), line.size());
    const std::string_view word = line.substr(at, end - at);
    if (word.find_first_of("\"'") != std::string_view::npos) return;  // what is quoted may hold blanks
    if (word.starts_with("--")) {
      const std::string_view name = word.substr(2, std::min(word.find('='), word.size()) - 2);
      const auto begin = comment.begin + static_cast<std::uint32_t>(at);
      judge(name, {begin, begin + static_cast<std::uint32_t>(name.size()) + 2}, "sbatch", of_sbatch, report);
    }
    at = end;
  }
}

}  // namespace

void judge_slurm_options(
    const DocumentInput& input, const std::vector<LaunchLine>& lines, DocumentReport& report) {
  // sbatch reads them up to the first command.
  const auto& commands = input.document.script.commands;
  const std::uint32_t first = commands.empty()
      ? static_cast<std::uint32_t>(input.document.text->bytes().size())
      : commands.front().span.begin;
  if (input.document.language == documents::Language::shell)
    for (const Span comment : input.document.comments)
      if (comment.begin < first) judge_line(input.document, comment, report);
  for (const LaunchLine& line : lines) {
    const auto& words = line.command->words;
    if (line.wrapper != "srun" || words.empty() || !words.front().text.ends_with("srun")) continue;
    for (std::size_t i = 1; i < line.first && i < words.size(); ++i) {
      const std::string& text = words[i].text;
      if (text.starts_with("--")) {
        const std::string name = text.substr(2, std::min(text.find('='), text.size()) - 2);
        if (name.find_first_of("\x01\x02") == std::string::npos &&
            words[i].written.end - words[i].written.begin >= name.size() + 2)
          judge(name,
              {words[i].written.begin, words[i].written.begin + static_cast<std::uint32_t>(name.size()) + 2},
              "srun", of_srun, report);
      } else if (!text.starts_with('-') &&
          !(words[i - 1].text.starts_with('-') && words[i - 1].text.find('=') == std::string::npos)) {
        break;  // another program
      }
    }
  }
}

}  // namespace stepzero::rules::launch
