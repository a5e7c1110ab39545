// deepspeed/batch-size in scripts of the shell: the batch sizes of the configuration against the processes of
// the launch.
#include "rules/deepspeed/sections.hpp"
#include "rules/launch/line.hpp"
#include "rules/launch/scripts.hpp"
#include "rules/rule.hpp"

namespace stepzero::rules::deepspeed::batch_size {
extern const Rule rule;
}

namespace stepzero::rules::deepspeed::launched_batch {

namespace {

using documents::Word;
using launch::LaunchLine;

// The configuration that a launch names, as it is written: `--deepspeed_config F`, `--deepspeed_config=F`.
std::optional<Word> configuration_of(const LaunchLine& line) {
  for (std::size_t i = 0; i < line.arguments.size(); ++i)
    for (const std::string_view flag :
        {"--deepspeed_config", "--deepspeed-config", "--deepspeed", "--ds_config", "--ds-config"}) {
      const Word& word = line.arguments[i];
      std::optional<Word> named;
      if (word.text == flag && i + 1 < line.arguments.size()) {
        named = line.arguments[i + 1];
      } else if (word.text.starts_with(flag) && word.text.substr(flag.size()).starts_with('=')) {
        named = word;
        named->text = word.text.substr(flag.size() + 1);
      }
      if (named && named->is_known() && named->text.ends_with(".json")) return named;
    }
  return std::nullopt;
}

void judge(const DocumentInput& input, const LaunchLine& line, DocumentReport& report) {
  const auto processes = line.processes_per_node(), nodes = line.nodes();
  const std::optional<Word> written = configuration_of(line);
  if (!processes || !nodes || *processes <= 0 || *nodes <= 0 || *processes > 100'000 || *nodes > 100'000 ||
      !written)
    return;
  // DeepSpeed's launcher takes the nodes of its host file where there is one.
  if (line.launcher == launch::Launcher::deepspeed &&
      (line.has("hostfile") || line.has("include") || line.has("exclude")))
    return;
  const auto path = launch::script_file(
      input.sources, input.path, line.command->folder, written->text, false, input.read);
  const auto configured = path ? input.other(*path) : std::nullopt;
  if (!configured || configured->is_broken) return;
  const Node& root = configured->root;
  const auto whole = integer(root.at("train_batch_size")),
             micro = integer(root.at("train_micro_batch_size_per_gpu")),
             steps = integer(root.at("gradient_accumulation_steps"));
  if (!whole || !micro || *whole <= 0 || *micro <= 0 ||
      (root.find("gradient_accumulation_steps") && !steps) || (steps && *steps <= 0) || *micro > 1'000'000 ||
      steps.value_or(1) > 1'000'000)
    return;
  const std::int64_t world = *processes * *nodes, each = *micro * steps.value_or(1);
  if (*whole % each != 0) return;  // told where the configuration is read
  const std::int64_t fits = *whole / each;
  if (steps ? fits == world : fits % world == 0) return;
  // Fewer data-parallel processes are left where the model is parted, too.
  const bool possible = steps ? fits < world && world % fits == 0 : true;
  Finding& finding = report.add(possible || written->by_default ? Severity::warning : Severity::error,
      line.script ? line.script->written : line.command->span,
      std::to_string(world) + " processes × " + std::to_string(*micro) + " samples" +
          (steps ? " × " + std::to_string(*steps) + " accumulation steps" : "") + " = " +
          std::to_string(world * each) + ", but the configuration sets `train_batch_size` to " +
          std::to_string(*whole) + (possible ? ", unless the model itself is split among processes" : "") +
          ": DeepSpeed raises `AssertionError`. Make them equal");
  report.relate(
      finding, {*path, root.find("train_batch_size")->value.span}, "the batch size of the configuration");
  report.relate(finding, written->written, "the configuration is named here");
}

void check_document(const DocumentInput& input, DocumentReport& report) {
  for (const LaunchLine& line : launch::launch_lines(input.document.script)) judge(input, line, report);
}

}  // namespace

extern constexpr DocumentCheck document_check = {&batch_size::rule, Role::script, check_document};

}  // namespace stepzero::rules::deepspeed::launched_batch
