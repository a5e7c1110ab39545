#include "snapshot/launched_run.hpp"

#include <algorithm>

namespace stepzero::snapshot {

namespace {
constexpr std::string_view configuration_families[] = {"config/", "deepspeed/", "fsdp/", "launch/"};
constexpr std::size_t most_launches = 3;  // of one program that are run
// What a launch decides is read with one of these: its arguments, its environment, the number of its
// processes.
constexpr std::string_view launch_readers[] = {"parse_args(", "parse_known_args(", "sys.argv", "environ",
    "getenv", "init_process_group(", "init_device_mesh(", "deepspeed.initialize(", "TrainingArguments(",
    "Accelerator("};
}  // namespace

bool reads_its_launch(const interpreter::Record& record, const program::Sources& sources) {
  if (record.open_to_defaults || record.roles[static_cast<int>(symbolic::Role::world_size)] ||
      record.roles[static_cast<int>(symbolic::Role::local_world_size)])
    return true;
  const auto asks = [&](const std::string& path) {
    const auto module = path.ends_with(".py") ? sources.module(path) : nullptr;
    const std::string_view text = module ? std::string_view(module->text->bytes()) : std::string_view();
    return std::ranges::any_of(
        launch_readers, [&](std::string_view reader) { return text.find(reader) != std::string_view::npos; });
  };
  // Libraries read what is theirs.
  const auto is_own = [&](const std::string& path) {
    return std::any_of(sources.roots().begin(), sources.roots().end(),
        [&](const std::string& root) { return path.starts_with(root + "/"); });
  };
  return asks(record.path) ||
      std::any_of(record.read.begin(), record.read.end(),
          [&](const std::string& path) { return is_own(path) && asks(path); });
}

std::vector<Launch> launches_to_run(const LaunchesOfOne& known) {
  if (!known) return {};
  std::vector<Launch> chosen = *known;
  const auto unknown_words = [](const Launch& launch) {
    return std::count_if(launch.arguments.begin(), launch.arguments.end(), [](const std::string& word) {
      return word.find_first_of(std::string{Launch::hole, Launch::words}) != std::string::npos;
    });
  };
  std::stable_sort(chosen.begin(), chosen.end(),
      [&](const Launch& a, const Launch& b) { return unknown_words(a) < unknown_words(b); });
  if (chosen.size() > most_launches) chosen.resize(most_launches);
  return chosen;
}

bool ranks_are_compared(const Launch& launch, std::uint64_t steps) {
  constexpr std::int64_t most = 8, usual = 4;  // ranks, each of which is a run; and where a launch names none
  constexpr std::uint64_t longest = 300'000;   // steps of all ranks together
  const std::int64_t world = launch.world.value_or(usual);
  return world > 1 && world <= most && steps * static_cast<std::uint64_t>(world) <= longest;
}

void tell_of_launch(const Launch& launch, const std::vector<StandingFindings::One>& known,
    std::vector<rules::Finding>& findings) {
  const auto is_about_ranks = [](const rules::Finding& finding) {
    return finding.rule.starts_with("deadlock/");
  };
  // Where ranks wait for each other on every way, the launch adds nothing; neither does it say again what is
  // told of a place.
  const auto is_told = [&](const rules::Finding& finding) {
    return is_about_ranks(finding) &&
        std::any_of(known.begin(), known.end(), [&](const StandingFindings::One& other) {
          return is_about_ranks(other.finding) &&
              (other.finding.severity == rules::Severity::error || other.finding.where == finding.where);
        });
  };
  // What is only said where a configuration is known, and that is often named by the launch alone.
  const auto is_about_configuration = [](const rules::Finding& finding) {
    return std::ranges::any_of(
        configuration_families, [&](std::string_view family) { return finding.rule.starts_with(family); });
  };
  std::erase_if(findings, [&](const rules::Finding& finding) {
    return finding.severity >
        (is_about_configuration(finding) ? rules::Severity::information : rules::Severity::warning) ||
        is_told(finding);
  });
  for (rules::Finding& finding : findings) {
    finding.severity = std::max(finding.severity, rules::Severity::warning);
    finding.message = "As launched by `" + launch.name + "`: " + finding.message;
    finding.related.push_back({{launch.path, {launch.begin, launch.end}}, "launched here"});
    // What mends one launch may break another.
    finding.fixes.clear();
  }
}

}  // namespace stepzero::snapshot
