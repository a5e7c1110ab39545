#include "rules/launch/slurm.hpp"

#include "rules/launch/line.hpp"

namespace stepzero::rules::launch {

namespace {

// The value after "--nodes=", "--nodes ", "-N " or "-N"; empty if the line asks for something else.
std::string_view value_of(std::string_view line, std::string_view name, std::string_view letter) {
  const auto after = [&](std::string_view option) -> std::string_view {
    const std::size_t at = line.find(option);
    if (at == std::string_view::npos || (at > 0 && line[at - 1] != ' ' && line[at - 1] != '\t')) return {};
    std::string_view rest = line.substr(at + option.size());
    if (option.starts_with("--") && !rest.starts_with('=') && !rest.starts_with(' ')) return {};
    rest.remove_prefix(std::min(rest.find_first_not_of("= \t"), rest.size()));
    return rest.substr(0, rest.find_first_of(" \t\r#"));
  };
  const std::string_view found = after(name);
  return found.empty() && !letter.empty() ? after(letter) : found;
}

}  // namespace

Slurm read_slurm(const documents::Document& document) {
  Slurm slurm;
  for (const syntax::Span span : document.comments) {
    const std::string_view line = document.text->slice(span);
    if (!line.starts_with("#SBATCH")) continue;
    const auto take = [&](std::optional<SlurmNumber>& into, std::string_view name, std::string_view letter) {
      const std::string_view value = value_of(line, name, letter);
      const auto begin = span.begin +
          static_cast<std::uint32_t>(value.empty() ? 0 : value.data() - line.data());
      if (const auto number = to_number(value))
        into = SlurmNumber{number, span, {begin, begin + static_cast<std::uint32_t>(value.size())}};
    };
    // "gpu:4", "gpu:a100:4", "a100:4"
    const auto take_gpus = [&](std::string_view name, bool of_resources) {
      std::string_view value = value_of(line, name, "");
      if (value.empty() || value.find(',') != std::string_view::npos ||
          (of_resources && !value.starts_with("gpu")))
        return;
      value.remove_prefix(value.rfind(':') + 1);
      if (value == "gpu") value = "1";
      if (const auto number = to_number(value)) slurm.gpus_per_node = SlurmNumber{number, span, span};
    };
    take_gpus("--gres", true);
    take_gpus("--gpus-per-node", false);
    take(slurm.gpus_per_task, "--gpus-per-task", "");
    take(slurm.nodes, "--nodes", "-N");
    take(slurm.tasks_per_node, "--ntasks-per-node", "");
    take(slurm.tasks, "--ntasks", "-n");
  }
  // A task on each node, which has what it is given.
  const auto one_on_each = [&] {
    if (slurm.tasks_per_node) return *slurm.tasks_per_node->value == 1;
    return slurm.nodes && slurm.tasks && slurm.nodes->value == slurm.tasks->value;
  };
  if (slurm.gpus_per_task && !slurm.gpus_per_node && one_on_each()) slurm.gpus_per_node = slurm.gpus_per_task;
  return slurm;
}

}  // namespace stepzero::rules::launch
