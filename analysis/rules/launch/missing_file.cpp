// launch/missing-file: a configuration that a launch names, and that is not there.
#include "program/paths.hpp"
#include "rules/documents/check.hpp"
#include "rules/launch/line.hpp"
#include "rules/launch/scripts.hpp"
#include "rules/rule.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace stepzero::rules::launch::missing_file {

namespace {

using documents::Word;

// Options by which programs are told of a configuration that they read, as `-` and `_` are one.
constexpr std::string_view naming_options[] = {"--deepspeed", "--deepspeed_config", "--ds_config",
    "--deepspeed_config_file", "--ds_config_file", "--config", "--config_file", "--config_path", "--cfg_file",
    "--cfg", "--job.config_file", "-c", "--fsdp_config"};

bool is_configuration(std::string_view file) {
  return std::ranges::any_of(std::array<std::string_view, 4>{".json", ".yaml", ".yml", ".toml"},
      [&](std::string_view ending) { return file.size() > ending.size() && file.ends_with(ending); });
}

struct NamedFile {
  std::string file;
  const Word* word = nullptr;
};

std::vector<NamedFile> files_named(const LaunchLine& line) {
  std::vector<NamedFile> found;
  const auto add = [&](const Word* word, std::string file) {
    const bool is_plain = word->is_known() && !file.starts_with('/') && !file.starts_with('~') &&
        file.find(documents::Chars::own) == std::string::npos && file.find("..") == std::string::npos &&
        file.find_first_of("*?{}<>$ ") == std::string::npos;
    if (is_plain && is_configuration(file)) found.push_back({std::move(file), word});
  };
  if (line.launcher == Launcher::accelerate)
    for (const std::string_view option : {"config_file", "deepspeed_config_file"})
      if (const Word* word = line.value(option)) add(word, word->text);
  for (std::size_t i = 0; i < line.arguments.size(); ++i) {
    const Word& word = line.arguments[i];
    if (!word.text.starts_with('-')) {
      // Programs that take a file of all their arguments, and no other.
      if (i == 0 && line.arguments.size() == 1) add(&word, word.text);
      continue;
    }
    const std::size_t equals = std::min(word.text.find('='), word.text.size());
    std::string flag = word.text.substr(0, equals);
    std::replace(flag.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(2, flag.size())),
        flag.end(), '-', '_');
    if (std::ranges::find(naming_options, flag) == std::end(naming_options)) continue;
    if (equals < word.text.size())
      add(&word, word.text.substr(equals + 1));
    else if (i + 1 < line.arguments.size())
      add(&line.arguments[i + 1], line.arguments[i + 1].text);
  }
  return found;
}

// The folder that the launch is started in: the one from which its script is where it says. Nothing if that
// is not known.
std::optional<std::string> folder_of_launch(const DocumentInput& input, const LaunchLine& line) {
  if (!line.script || !line.script->is_known() || line.command->is_broken) return std::nullopt;
  const auto script = script_file(
      input.sources, input.path, line.command->folder, line.script->text, line.is_module, input.read);
  if (!script) return std::nullopt;
  std::string relative = line.script->text;
  while (relative.starts_with("./")) relative.erase(0, 2);
  if (line.is_module) {
    std::replace(relative.begin(), relative.end(), '.', '/');
    relative += script->ends_with("/__main__.py") ? "/__main__.py" : ".py";
  }
  if (relative.find(documents::Chars::own) != std::string::npos || !script->ends_with("/" + relative))
    return std::nullopt;
  return script->substr(0, script->size() - relative.size() - 1);
}

// Does another line of the text write the file, or fetch it?
bool may_be_made(const Document& document, std::string_view file) {
  const std::string_view text = document.text->bytes(), name = file.substr(file.rfind('/') + 1);
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const std::size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;  // npos + 1 is 0
    const std::string_view before = text.substr(begin, at - begin);
    if (before.find('>') != std::string_view::npos) return true;
    for (const std::string_view maker : {"cp ", "mv ", "ln ", "wget ", "curl ", "tee ", "envsubst", "git ",
             "unzip ", "tar ", "gsutil ", "aws "})
      if (before.find(maker) != std::string_view::npos) return true;
    const bool is_tested = before.find("-f ") != std::string_view::npos ||
        before.find("-e ") != std::string_view::npos;
    if (is_tested) return true;
  }
  return text.find("git clone") != std::string_view::npos;
}

// A file that is there, whose name is nearly the same: a letter more, less or another, two in the wrong
// order, another ending, `-` for `_`.
std::string near_file(const program::Sources& sources, const std::string& folder, const std::string& file) {
  const std::size_t begin = file.rfind('/') + 1;  // npos + 1 is 0
  const auto is_there = [&](const std::string& other) {
    return other != file && sources.is_file(program::normal_path(folder + "/" + other));
  };
  const std::size_t dot = file.rfind('.');
  for (const std::string_view ending : {".yaml", ".yml", ".json", ".toml"})
    if (const std::string other = file.substr(0, dot) + std::string(ending); is_there(other)) return other;
  std::string swapped = file;
  for (const auto [one, other] : {std::pair{'-', '_'}, std::pair{'_', '-'}}) {
    swapped = file;
    std::replace(swapped.begin() + static_cast<std::ptrdiff_t>(begin), swapped.end(), one, other);
    if (is_there(swapped)) return swapped;
  }
  constexpr std::size_t longest = 80;  // letters: each is tried left out, swapped and replaced
  if (file.size() - begin > longest) return {};
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789_-";
  for (std::size_t i = begin; i < dot; ++i) {
    std::string other = file;
    if (is_there(other.erase(i, 1))) return other;
    other = file;
    if (i + 1 < dot) std::swap(other[i], other[i + 1]);
    if (is_there(other)) return other;
    for (const char letter : letters) {
      other = file;
      other[i] = letter;
      if (is_there(other)) return other;
      other = file;
      if (is_there(other.insert(i, 1, letter))) return other;
    }
  }
  for (const char letter : letters)
    if (std::string other = file; is_there(other.insert(dot, 1, letter))) return other;
  return {};
}

void check_document(const DocumentInput& input, DocumentReport& report) {
  std::set<std::pair<std::uint32_t, std::string>> told;
  for (const LaunchLine& line : launch_lines(input.document.script)) {
    const std::vector<NamedFile> named = files_named(line);
    const auto folder = named.empty() ? std::nullopt : folder_of_launch(input, line);
    if (!folder) continue;
    for (const auto& [file, word] : named) {
      // A program may look for it beside itself, in its own folder of configurations, or at the root.
      const std::string own = input.path.substr(0, input.path.rfind('/'));
      std::vector<std::string> places{*folder, own};
      for (const std::string& root : input.sources.roots()) places.push_back(root);
      const bool is_there = std::ranges::any_of(places, [&](const std::string& place) {
        return std::ranges::any_of(
            std::array<std::string_view, 3>{"/", "/configs/", "/config/"}, [&](std::string_view between) {
              const std::string path = program::normal_path(place + std::string(between) + file);
              input.read.insert(path);
              return input.sources.is_file(path);
            });
      });
      if (is_there || may_be_made(input.document, file) || !told.emplace(word->written.begin, file).second)
        continue;
      const std::size_t slash = file.rfind('/');
      const std::string within = slash == std::string::npos ? *folder : *folder + "/" + file.substr(0, slash);
      const std::string meant = near_file(input.sources, *folder, file);
      // What lies beside the script, or in a folder that is not there, may be made on another machine.
      if (meant.empty() &&
          (slash == std::string::npos || !input.sources.is_folder(program::normal_path(within))))
        continue;
      Finding& finding = report.add(meant.empty() ? Severity::information : Severity::warning, word->written,
          "There is no file `" + file + "` where this launch is started, in the folder of `" +
              line.script->text +
              "`: opening it raises `FileNotFoundError`, after the launcher has started all processes." +
              (meant.empty() ? " Correct the path, or start the launch where the file is."
                             : " Did you mean `" + meant + "`?"));
      if (!meant.empty() && word->written.end - word->written.begin == file.size())
        report.fix(finding, "Write " + meant, false, word->written, meant);
    }
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "launch/missing-file",
    .severity = Severity::warning,
    .summary = "a configuration that a launch names is not there",
    .why =
        "A configuration whose name is misspelled, or that lies in another folder, is opened by the program: every process has started, imported its packages and waited for the others by then. "
        "Accelerate says \"The passed configuration file … does not exist\", DeepSpeed and the Trainer of transformers raise `FileNotFoundError`, or take the text for JSON and raise a `ValueError`.",
    .wrong =
        "#!/bin/bash\n# beside train.py lies ds_zero3.json\ndeepspeed --num_gpus 4 train.py --deepspeed ds_zero_3.json\n",
    .right =
        "#!/bin/bash\n# beside train.py lies ds_zero3.json\ndeepspeed --num_gpus 4 train.py --deepspeed ds_zero3.json\n",
    .silent =
        "Launches whose folder is not known: those whose script is not found, or in several folders; paths from the root or upwards; files that the script of the shell writes, copies or fetches; names without a folder that are near no other. "
        "A file that a folder of others lacks, and whose name is near none of them, is told as information: it may be made on the machine of the job.",
    .fix = "Writes the name of the file that is there; whether that was meant you decide.",
    .fix_kind = FixKind::needs_decision,
    .check = check_no_run,
});

extern constexpr DocumentCheck document_check = {&rule, Role::script, check_document};

}  // namespace stepzero::rules::launch::missing_file
