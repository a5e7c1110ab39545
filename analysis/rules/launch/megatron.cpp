#include "rules/launch/megatron.hpp"

#include "rules/launch/scripts.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace stepzero::rules::launch {

using documents::Chars;
using documents::Word;

namespace {

constexpr std::string_view declared[] = {
#include "rules/launch/megatron_options.inc"
};

// Of these every launch of Megatron gives several.
constexpr std::string_view of_megatron[] = {"--micro-batch-size", "--tensor-model-parallel-size",
    "--pipeline-model-parallel-size", "--num-attention-heads", "--num-layers", "--hidden-size",
    "--max-position-embeddings", "--seq-length", "--global-batch-size", "--ffn-hidden-size"};
constexpr std::size_t enough = 4;

bool is_declared(std::string_view flag) {
  return std::find(std::begin(declared), std::end(declared), flag) != std::end(declared);
}

// Megatron's parser completes no beginnings, which a beginning of several letters was meant to be.
std::string_view begun_by(std::string_view flag) {
  constexpr std::size_t least = 8;
  std::string_view found;
  if (flag.size() < least) return found;
  for (const std::string_view each : declared)
    if (each.starts_with(flag)) {
      if (!found.empty()) return {};
      found = each;
    }
  return found;
}

std::string flag_of(const Word& word) { return word.text.substr(0, word.text.find('=')); }

std::vector<std::string> files_of(const DocumentInput& input, const LaunchLine& line) {
  return line.script && line.script->is_known()
      ? script_files(
            input.sources, input.path, line.command->folder, line.script->text, line.is_module, input.read)
      : std::vector<std::string>{};
}

bool is_of_package(
    const DocumentInput& input, const LaunchLine& line, std::initializer_list<std::string_view> words) {
  if (!line.script) return false;
  for (const std::string_view word : words)
    if (line.script->text.find(word) != std::string::npos) return true;
  const std::vector<std::string> scripts = files_of(input, line);
  return scripts.empty() || std::any_of(scripts.begin(), scripts.end(), [&](const std::string& script) {
    return mentions(input.sources, script, words, input.read);
  });
}

}  // namespace

bool is_of_package(const DocumentInput& input, const LaunchLine& line, std::string_view package) {
  return is_of_package(input, line, {package});
}

bool is_megatron(const DocumentInput& input, const LaunchLine& line) {
  const auto given = static_cast<std::size_t>(
      std::count_if(std::begin(of_megatron), std::end(of_megatron), [&](std::string_view name) {
        return std::any_of(line.arguments.begin(), line.arguments.end(),
            [&](const Word& word) { return flag_of(word) == name; });
      }));
  // Of a script whose text is not there, only options that nobody else has tell enough.
  const bool has_own = std::any_of(line.arguments.begin(), line.arguments.end(), [](const Word& word) {
    const std::string flag = flag_of(word);
    return flag == "--micro-batch-size" || flag == "--tensor-model-parallel-size" ||
        flag == "--pipeline-model-parallel-size";
  });
  return given >= enough && is_of_package(input, line, "megatron") &&
      (has_own || !files_of(input, line).empty());
}

void judge_megatron_options(const DocumentInput& input, const LaunchLine& line, DocumentReport& report) {
  if (!is_megatron(input, line)) return;
  static const std::vector<std::string_view> names(std::begin(declared), std::end(declared));
  for (const Word& word : line.arguments) {
    const std::string flag = flag_of(word);
    if (!flag.starts_with("--") || flag.find(Chars::hole) != std::string::npos ||
        flag.find(Chars::words) != std::string::npos || is_declared(flag))
      continue;
    std::string_view meant = documents::nearest(flag, names);
    if (meant.empty() || !documents::is_typo(flag, meant)) meant = begun_by(flag);
    // What the program's own scripts name, they declare.
    if (meant.empty() || is_of_package(input, line, {flag})) continue;
    Finding& finding = report.add(Severity::warning, word.written,
        "Megatron declares no option `" + flag + "`, completes no beginnings, and rejects it: \"" +
            "unrecognized arguments\". Did you mean `" + std::string(meant) + "`?");
    if (word.written.end - word.written.begin >= flag.size())
      report.fix(finding, "Rename to " + std::string(meant), documents::is_typo(flag, meant),
          {word.written.begin, word.written.begin + static_cast<std::uint32_t>(flag.size())},
          std::string(meant));
  }
}

}  // namespace stepzero::rules::launch
