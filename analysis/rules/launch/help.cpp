#include "rules/launch/help.hpp"

#include "rules/choices.hpp"
#include "rules/launch/argument_words.hpp"
#include "rules/launch/line.hpp"
#include "rules/launch/scripts.hpp"
#include "rules/launch/slurm_help.hpp"
#include "rules/launch/variables.hpp"
#include "rules/sentences.hpp"

#include <algorithm>
#include <map>

namespace stepzero::rules::launch {

using program::Takes;

namespace {

// Who reads a variable, by how its name begins.
struct LauncherReader {
  std::string_view prefix, who, page;
};
constexpr LauncherReader readers[] = {
    {"TORCH_NCCL_", "PyTorch where it makes groups of NCCL",
        "https://docs.pytorch.org/docs/stable/torch_nccl_environment_variables.html"},
    {"TORCH_", "PyTorch", "https://docs.pytorch.org/docs/stable/torch_environment_variables.html"},
    {"PYTORCH_", "PyTorch", "https://docs.pytorch.org/docs/stable/torch_environment_variables.html"},
    {"NCCL_", "NCCL", "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html"},
    {"CUDA_", "CUDA",
        "https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#cuda-environment-variables"},
    {"OMP_", "OpenMP, which PyTorch computes with on the CPU",
        "https://www.openmp.org/spec-html/5.0/openmpch6.html"},
    {"HF_", "the libraries of Hugging Face",
        "https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables"},
    {"TRANSFORMERS_", "transformers", "https://huggingface.co/docs/transformers/installation"},
    {"TOKENIZERS_", "tokenizers", "https://huggingface.co/docs/tokenizers"},
    {"MASTER_", "`init_process_group`, for where the ranks meet",
        "https://docs.pytorch.org/docs/stable/distributed.html#environment-variable-initialization"},
    {"WORLD_SIZE", "`init_process_group`: the number of all processes",
        "https://docs.pytorch.org/docs/stable/distributed.html#environment-variable-initialization"},
    {"RANK", "`init_process_group`: the number of this process",
        "https://docs.pytorch.org/docs/stable/distributed.html#environment-variable-initialization"},
    {"LOCAL_RANK", "programs: the number of this process on its node, and of its GPU. torchrun sets it",
        "https://docs.pytorch.org/docs/stable/elastic/run.html#environment-variables"},
};

std::string help_of(const KnownVariable& variable) {
  std::string text = "`" + std::string(variable.name) + "`";
  if (!variable.choices.empty()) text += ": " + in_code(choices_in(variable.choices));
  text += "\n\n";
  if (!variable.instead.empty())
    text += "It has another name now: `" + std::string(variable.instead) + "`.\n\n";
  if (!variable.left_on.empty()) text += "Where it is on, " + std::string(variable.left_on) + ".\n\n";
  const auto* reader = std::ranges::find_if(
      readers, [&](const LauncherReader& each) { return variable.name.starts_with(each.prefix); });
  return reader == std::end(readers) ? text
                                     : text + "Read by " + std::string(reader->who) + ": [documentation](" +
          std::string(reader->page) + ").";
}

std::string help_of(const LauncherOption& option) {
  std::string text = "`" + std::string(option.name) + "` of " + std::string(name(option.launcher)) + ": ";
  if (option.takes == Takes::none)
    text += "a switch";
  else if (!option.choices.empty())
    text += in_code(choices_in(option.choices));
  else
    text += program::in_words(option.type);
  return text + (option.takes == Takes::several ? ", or several" : "") + ".";
}

// "a number, required"
std::string help_of(const DeclaredOption& option) {
  std::string text;
  if (option.arity == Arity::none)
    text = "a switch";
  else if (!option.choices.empty())
    for (const std::string& choice : option.choices)
      text += (text.empty() ? "one of `" : ", `") + choice + "`";
  else
    text = program::in_words(option.type);
  if (option.arity == Arity::any || option.arity == Arity::some || option.arity == Arity::number)
    text += ", or several";
  return text + (option.is_required ? "; required" : "");
}

// What the program writes of the option, where that is short.
std::string declaration_of(const program::Sources& sources, const Location& where) {
  constexpr std::size_t longest = 400;  // of a declaration that a hover shows
  const auto module = where.path.empty() ? nullptr : sources.module(where.path);
  if (!module || where.span.end <= where.span.begin || where.span.end - where.span.begin > longest) return {};
  return "\n\n```python\n" + std::string(module->text->slice(where.span)) + "\n```\n\nDeclared in `" +
      where.path.substr(where.path.rfind('/') + 1) + "`, line " +
      std::to_string(module->text->position(where.span.begin, syntax::Encoding::utf8).line + 1) + ".";
}

bool holds(Span span, std::uint32_t offset) { return span.begin <= offset && offset < span.end; }

}  // namespace

std::optional<KeyHelp> word_help(const Document& document, std::uint32_t offset) {
  const auto of_setting = [&](const documents::Setting& set) -> std::optional<KeyHelp> {
    const KnownVariable* known = holds(set.name_span, offset) ? find_variable(set.name) : nullptr;
    return known ? std::optional(KeyHelp{set.name_span, help_of(*known)}) : std::nullopt;
  };
  for (const documents::Setting& set : document.script.exports)
    if (auto help = of_setting(set)) return help;
  for (const documents::ShellCommand& command : document.script.commands)
    for (const documents::Setting& set : command.environment)
      if (auto help = of_setting(set)) return help;
  if (auto help = slurm_help(document, offset)) return help;
  for (const LaunchLine& line : launch_lines(document.script))
    for (const GivenOption& given : line.options) {
      const Span flag{given.flag.written.begin,
          std::min(given.flag.written.end,
              given.flag.written.begin + static_cast<std::uint32_t>(given.flag.text.size()))};
      if (given.option && holds(flag, offset)) return KeyHelp{flag, help_of(*given.option)};
    }
  return std::nullopt;
}

std::vector<KeyHelp> argument_help(const DocumentInput& input) {
  std::vector<KeyHelp> found;
  std::map<std::string, ScriptOptions> programs;
  for (const LaunchLine& line : launch_lines(input.document.script)) {
    const auto path = line.script && line.script->is_known()
        ? script_file(
              input.sources, input.path, line.command->folder, line.script->text, line.is_module, input.read)
        : std::nullopt;
    if (!path) continue;
    const auto [program, is_new] = programs.try_emplace(*path);
    if (is_new) program->second = options_of_script(input.sources, *path, input.read);
    for (const documents::Word& word : line.arguments) {
      const std::string flag = word.text.substr(0, word.text.find('='));
      if (!flag.starts_with("--") || flag.size() < 3) continue;
      const DeclaredOption* option = program->second.find(flag);
      if (!option)
        if (const auto meant = beginnings(program->second, flag); meant.size() == 1)
          option = program->second.find(meant.front());
      if (!option) continue;
      const Span span{word.written.begin,
          std::min(word.written.end, word.written.begin + static_cast<std::uint32_t>(flag.size()))};
      found.push_back({span,
          "`" + option->flags.front() + "` of `" + path->substr(path->rfind('/') + 1) +
              "`: " + help_of(*option) + "." + declaration_of(input.sources, option->where)});
    }
  }
  return found;
}

}  // namespace stepzero::rules::launch
