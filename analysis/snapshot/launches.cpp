#include "snapshot/launches.hpp"

#include "interpreter/launch.hpp"
#include "rules/config/precision_mismatch.hpp"
#include "rules/documents/check.hpp"
#include "rules/launch/line.hpp"
#include "rules/launch/named_configurations.hpp"
#include "rules/launch/program_commands.hpp"
#include "rules/launch/scripts.hpp"

#include <algorithm>
#include <set>

namespace stepzero::snapshot {

using interpreter::Launch;

namespace {

constexpr std::size_t most_of_one = 16;  // launches of one program that are kept

Launch launch_of(const std::string& script, const syntax::Text& text, const rules::launch::LaunchLine& line) {
  Launch launch;
  const syntax::Span where = line.command->words[line.first].span;
  launch.path = script;
  launch.begin = where.begin, launch.end = where.end;
  launch.name = script.substr(script.rfind('/') + 1) + ":" +
      std::to_string(text.position(where.begin, syntax::Encoding::utf8).line + 1);
  for (const documents::Word& word : line.arguments) {
    std::string& argument = launch.arguments.emplace_back(word.text);
    if (argument.starts_with(documents::Chars::own))
      argument.replace(0, 1, script.substr(0, script.rfind('/')));
    else if (argument.find(documents::Chars::own) != std::string::npos)
      argument.assign(1, Launch::hole);
  }
  const auto nodes = line.nodes(), processes = line.processes_per_node();
  constexpr std::int64_t most = 1 << 20;  // processes: what is more is a number of something else
  if (processes && *processes > 0 && *processes < most) {
    launch.local_world = *processes;
    if (nodes && *nodes > 0 && *nodes < most && line.wrapper.empty()) launch.world = *nodes * *processes;
  }
  for (const documents::Setting& set : line.command->environment) {
    std::erase_if(launch.environment, [&](const auto& earlier) { return earlier.first == set.name; });
    if (set.value.is_known()) launch.environment.emplace_back(set.name, set.value.text);
  }
  return launch;
}

// Does the program write nothing into its own arguments, as far as its text says?
bool keeps_arguments(const program::Sources& sources, const std::string& program) {
  const auto module = sources.module(program);
  if (!module) return false;
  constexpr std::string_view name = "sys.argv";
  const std::string_view text = module->text->bytes();
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    std::string_view rest = text.substr(at + name.size());
    // A subscript is read, or written.
    if (rest.starts_with('[')) rest.remove_prefix(std::min(rest.find(']') + 1, rest.size()));
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    if (rest.starts_with("+=") || (rest.starts_with('=') && !rest.starts_with("=="))) return false;
    if (text.substr(at + name.size()).starts_with('.') || (at >= 4 && text.substr(at - 4, 4) == "del "))
      return false;
  }
  return true;
}

bool is_known_wholly(const rules::launch::LaunchLine& line) {
  const auto is_known = [](const documents::Word& word) { return word.is_known(); };
  return line.is_whole && std::ranges::all_of(line.arguments, is_known) &&
      std::ranges::all_of(
          line.options, [&](const auto& given) { return !given.value || given.value->is_known(); });
}

bool gives_the_same(const Launch& one, const Launch& other) {
  return one.arguments == other.arguments && one.world == other.world &&
      one.local_world == other.local_world && one.environment == other.environment && one.gpus == other.gpus;
}

}  // namespace

void Launches::add(const program::Sources& sources, const std::string& script) {
  const auto module = sources.module(script);
  if (!module) return;
  if (script.ends_with(".py") || script.ends_with(".ipynb")) {
    if (rules::launch::may_start_commands(module->text->bytes()))
      add(sources, script, *module->text, rules::launch::commands_of_program(*module), nullptr);
    if (!rules::launch::may_name_configurations(module->text->bytes())) return;
    std::set<std::string> read;
    for (const auto& named : rules::launch::configurations_of(*module))
      if (const auto file = rules::launch::script_file(sources, script, "", named.file, false, read))
        name(named.role, *file);
    return;
  }
  if (!rules::launch::may_launch(module->text->bytes())) return;
  const auto language = documents::language_of(script, module->text->bytes());
  if (language == documents::Language::none || language == documents::Language::environment ||
      language == documents::Language::toml)
    return;
  // Most configurations are no workflow, and most data are no launch.json.
  const std::string_view needs = language == documents::Language::json ? "\"configurations\""
      : language == documents::Language::yaml                          ? "jobs:"
                                                                       : "";
  if (module->text->bytes().find(needs) == std::string::npos) return;
  std::set<std::string> read;
  const auto document = documents::parse(
      language, module->text, rules::launch::reader_of(sources, script, read));
  add(sources, script, *module->text, document.script, &document);
}

void Launches::add(const program::Sources& sources, const std::string& script, const syntax::Text& text,
    const documents::Script& commands, const documents::Document* document) {
  std::set<std::string> read;
  for (const rules::launch::LaunchLine& line : rules::launch::launch_lines(commands)) {
    if (!line.script) continue;
    const auto program = line.script->is_known()
        ? rules::launch::script_file(
              sources, script, line.command->folder, line.script->text, line.is_module, read)
        : std::nullopt;
    const auto launched = program ? sources.module(*program) : nullptr;
    for (const auto& named : rules::launch::configurations_of(
             line, launched ? std::string_view(launched->text->bytes()) : std::string_view()))
      if (const auto file = rules::launch::script_file(
              sources, script, line.command->folder, named.file, false, read))
        name(named.role, *file);
    ++counts_.all;
    ++(!program ? counts_.background : is_known_wholly(line) ? counts_.whole : counts_.open);
    if (!program) continue;
    auto& list = by_program_[*program];
    if (!list) list = std::make_shared<std::vector<Launch>>();
    std::vector<Launch>& known = *list;
    Launch launch = launch_of(script, text, line);
    launch.program = line.script->text;
    launch.keeps_arguments = keeps_arguments(sources, *program);
    if (document) launch.gpus = rules::config::precision_mismatch::gpus_without_bfloat16(*document, line);
    if (known.size() < most_of_one && std::none_of(known.begin(), known.end(), [&](const Launch& other) {
          return gives_the_same(launch, other);
        }))
      known.push_back(std::move(launch));
  }
}

void Launches::name(rules::Role role, const std::string& file) {
  const auto [known, is_new] = named_.try_emplace(file, role);
  if (!is_new && known->second != role) known->second = rules::Role::nothing;
}

rules::Role Launches::named_as(const std::string& file) const {
  const auto found = named_.find(file);
  return found == named_.end() ? rules::Role::nothing : found->second;
}

LaunchesOfOne Launches::of(const std::string& program) const {
  const auto found = by_program_.find(program);
  return found == by_program_.end() ? nullptr : found->second;
}

std::set<std::string> Launches::changed_since(const Launches& before) const {
  std::set<std::string> programs;
  const auto compare = [&](const Launches& one, const Launches& other) {
    for (const auto& [program, list] : one.by_program_) {
      const LaunchesOfOne there = other.of(program);
      if (!there || *there != *list) programs.insert(program);
    }
    for (const auto& [file, role] : one.named_)
      if (other.named_as(file) != role) programs.insert(file);
  };
  compare(*this, before);
  compare(before, *this);
  return programs;
}

}  // namespace stepzero::snapshot
