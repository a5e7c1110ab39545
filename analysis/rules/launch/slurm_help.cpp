#include "rules/launch/slurm_help.hpp"

#include "rules/launch/slurm.hpp"

#include <algorithm>
#include <iterator>

namespace stepzero::rules::launch {

namespace {

// The manual page of sbatch, SLURM 24.05.
struct SlurmOption {
  std::string_view name;
  char letter;  // 0: it has none
  std::string_view takes, means;
};
constexpr SlurmOption slurm_options[] = {
    {"account", 'A', "a name", "the account that pays"},
    {"array", 'a', "0-9%2", "one job for each index, `%2` of them at a time: `SLURM_ARRAY_TASK_ID`"},
    {"chdir", 'D', "a folder", "where the script runs; the folder of the submission by default"},
    {"constraint", 'C', "features", "nodes with these features, `a100&nvlink` or `a100|h100`"},
    {"cpus-per-gpu", 0, "a number", "CPU cores for each GPU"},
    {"cpus-per-task", 'c', "a number",
        "CPU cores of each task: for its loaders' workers and OMP threads. Since SLURM 22.05 srun does not take it over: give it there again, or set `SRUN_CPUS_PER_TASK`"},
    {"dependency", 'd', "afterok:ID", "start only after other jobs"},
    {"error", 'e', "a file", "where stderr goes, `%j` the job and `%t` the task"},
    {"exclude", 'x', "nodes", "not these nodes"},
    {"exclusive", 0, "", "no other job on the nodes"},
    {"export", 0, "names", "which variables the job sees: all of the submission by default"},
    {"gpu-bind", 0, "closest|none|…", "which of the node's GPUs a task sees"},
    {"gpus", 'G', "[kind:]a number", "GPUs of the whole job"},
    {"gpus-per-node", 0, "[kind:]a number", "GPUs on each node"},
    {"gpus-per-task", 0, "[kind:]a number",
        "GPUs of each task, which then sees these alone: its `LOCAL_RANK` is no index of a device"},
    {"gres", 0, "gpu:[kind:]a number", "GPUs on each node"},
    {"hint", 0, "nomultithread|…", "how cores are used"},
    {"job-name", 'J', "a name", "what queues show: `SLURM_JOB_NAME`"},
    {"mail-type", 0, "BEGIN,END,FAIL", "when a mail is sent"},
    {"mem", 0, "a size, `64G`",
        "memory of each node; 0: all of it. Loaders' workers count, and a job beyond it is killed"},
    {"mem-per-cpu", 0, "a size", "memory for each CPU core"},
    {"mem-per-gpu", 0, "a size", "memory for each GPU"},
    {"nodelist", 'w', "nodes", "these nodes"},
    {"nodes", 'N', "a number", "nodes of the job: `SLURM_NNODES`"},
    {"ntasks", 'n', "a number",
        "tasks of the whole job, of which srun starts one process each: `SLURM_NTASKS`"},
    {"ntasks-per-node", 0, "a number",
        "tasks on each node: one where torchrun starts the processes, as many as GPUs where srun does"},
    {"open-mode", 0, "append|truncate", "what happens to the output of a job that is started again"},
    {"output", 'o', "a file", "where stdout goes, `%j` the job and `%t` the task"},
    {"partition", 'p', "a name", "the queue"},
    {"qos", 'q', "a name", "the quality of service"},
    {"requeue", 0, "",
        "start again after a preemption or a failed node: the program has to go on from its checkpoint"},
    {"reservation", 0, "a name", "nodes that are reserved"},
    {"signal", 0, "B:USR1@120",
        "a signal so many seconds before the end, for a last checkpoint; `B:` to the shell alone"},
    {"time", 't', "days-hours:minutes:seconds", "the job is killed after it"},
    {"wait-all-nodes", 0, "1", "begin only when all nodes are up"},
};

// The `#SBATCH` line around a place; nothing if there is none.
std::optional<Span> line_at(const Document& document, std::uint32_t offset) {
  for (const Span comment : document.comments)
    if (comment.begin <= offset && offset <= comment.end &&
        document.text->slice(comment).starts_with("#SBATCH"))
      return comment;
  return std::nullopt;
}

std::string number_of(const std::optional<SlurmNumber>& number) { return std::to_string(*number->value); }

// "2 nodes × 4 tasks = 8 processes of srun; 8 GPUs on each node"
std::string job_of(const Slurm& slurm) {
  std::string text;
  if (slurm.nodes && slurm.tasks_per_node)
    text = number_of(slurm.nodes) + " nodes × " + number_of(slurm.tasks_per_node) + " tasks: srun starts " +
        std::to_string(*slurm.nodes->value * *slurm.tasks_per_node->value) + " processes";
  else if (slurm.tasks)
    text = "srun starts " + number_of(slurm.tasks) + " processes" +
        (slurm.nodes ? " on " + number_of(slurm.nodes) + " nodes" : "");
  else if (slurm.nodes)
    text = number_of(slurm.nodes) + " nodes, and one task on each: srun starts " + number_of(slurm.nodes) +
        " processes";
  if (slurm.gpus_per_node) {
    text += (text.empty() ? "" : "; ") + number_of(slurm.gpus_per_node) + " GPUs on each node";
    if (slurm.nodes)
      text += ", " + std::to_string(*slurm.nodes->value * *slurm.gpus_per_node->value) + " in all";
  } else if (slurm.gpus_per_task) {
    text += (text.empty() ? "" : "; ") + number_of(slurm.gpus_per_task) + " GPUs for each task";
  }
  return text;
}

std::string help_of(const SlurmOption& option) {
  std::string text = "`--" + std::string(option.name) + "`";
  if (option.letter) text += ", `-" + std::string(1, option.letter) + "`";
  text += " of sbatch";
  if (!option.takes.empty()) text += ", " + std::string(option.takes);
  return text + ": " + std::string(option.means) + ".";
}

}  // namespace

std::optional<KeyHelp> slurm_help(const Document& document, std::uint32_t offset) {
  const auto comment = line_at(document, offset);
  if (!comment) return std::nullopt;
  const std::string_view line = document.text->slice(*comment);
  // The word around the place: it begins with a dash.
  std::size_t begin = offset - comment->begin;
  while (begin > 0 && line[begin - 1] != ' ' && line[begin - 1] != '\t') --begin;
  const std::string_view word = line.substr(
      begin, std::min(line.find_first_of(" \t\r=", begin), line.size()) - begin);
  const auto* option = std::find_if(
      std::begin(slurm_options), std::end(slurm_options), [&](const SlurmOption& each) {
        if (word.starts_with("--")) return word.substr(2) == each.name;
        return each.letter && word.size() >= 2 && word[0] == '-' && word[1] == each.letter;
      });
  if (option == std::end(slurm_options)) return std::nullopt;
  std::string text = help_of(*option);
  if (const std::string job = job_of(read_slurm(document)); !job.empty())
    text += "\n\nThis job: " + job + ".";
  text += "\n\n[Its documentation](https://slurm.schedmd.com/sbatch.html#OPT_" + std::string(option->name) +
      ").";
  const auto at = comment->begin + static_cast<std::uint32_t>(begin);
  return KeyHelp{{at, at + static_cast<std::uint32_t>(word.size())}, std::move(text)};
}

std::vector<KeyChoice> slurm_choices(const Document& document, std::uint32_t offset) {
  std::vector<KeyChoice> made;
  const auto comment = line_at(document, offset);
  if (!comment) return made;
  const std::string_view before = document.text->slice({comment->begin, offset});
  const std::size_t blank = before.find_last_of(" \t");
  if (blank == std::string_view::npos || !std::string_view("--").starts_with(before.substr(blank + 1, 2)))
    return made;
  const std::string_view line = document.text->slice(*comment);
  for (const SlurmOption& option : slurm_options)
    if (line.find("--" + std::string(option.name)) == std::string_view::npos)
      made.push_back({"--" + std::string(option.name) + (option.takes.empty() ? "" : "="),
          std::string(option.takes), help_of(option), true});
  return made;
}

}  // namespace stepzero::rules::launch
