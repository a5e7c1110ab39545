#include "snapshot/why_document.hpp"

#include "rules/launch/line.hpp"
#include "rules/launch/parsers.hpp"
#include "rules/launch/scripts.hpp"

#include <algorithm>

namespace stepzero::snapshot {

using documents::Word;
using rules::Role;
using rules::launch::LaunchLine;
using syntax::Span;

namespace {

std::string_view name_of(Role role) {
  switch (role) {
  case Role::deepspeed: return "a configuration of DeepSpeed";
  case Role::accelerate: return "a configuration of Accelerate";
  case Role::training_arguments: return "arguments of the Trainer of transformers";
  case Role::lightning: return "a configuration with a Trainer of Lightning";
  case Role::torchtitan: return "a configuration of torchtitan";
  case Role::script: return "a script";
  case Role::nothing: break;
  }
  return "no configuration that is known";
}

// A word with "…" for what is not known.
std::string displayed(const Word& word) {
  std::string text;
  for (const char c : word.text)
    text += c == documents::Chars::hole || c == documents::Chars::words ? std::string("…")
        : c == documents::Chars::own                                    ? std::string(".")
                                                                        : std::string(1, c);
  return "`" + text + "`";
}

class WhyDocument {
public:
  WhyDocument(const rules::DocumentInput& input, std::uint32_t line)
      : input_(input), text_(*input.document.text),
        span_{text_.line_start(line - 1), text_.line_start(line)} {}

  std::vector<std::string> tell(const std::vector<rules::Finding>& told) {
    say("The file is read as " + std::string(name_of(input_.role)) +
        (input_.is_named ? ", because a launch line or a program names it." : "."));
    if (input_.document.is_broken) say("A part of the file cannot be read.");
    for (const rules::Finding& finding : told)
      if (is_here(finding.where.span))
        say("Told here: " + std::string(name(finding.severity)) + "[" + std::string(finding.rule) + "].");
    if (input_.role == Role::script)
      script();
    else if (input_.role != Role::nothing)
      keys(input_.document.root, "");
    return std::move(said_);
  }

private:
  void say(std::string sentence) {
    if (std::ranges::find(said_, sentence) == said_.end()) said_.push_back(std::move(sentence));
  }
  bool is_here(Span span) const { return span.begin < span_.end && span.end > span_.begin; }
  std::string line_of(Span span) const {
    return "line " + std::to_string(text_.position(span.begin, syntax::Encoding::utf8).line + 1);
  }

  void script() {
    const auto lines = rules::launch::launch_lines(input_.document.script);
    bool any = false;
    for (const documents::ShellCommand& command : input_.document.script.commands) {
      if (!is_here(command.span)) continue;
      any = true;
      const auto line = std::ranges::find_if(
          lines, [&](const LaunchLine& each) { return each.command == &command; });
      if (command.is_broken) say("The command, or what stands around it, cannot be read whole.");
      if (command.is_conditional)
        say("The command stands in a branch, a loop whose values are not known, or a function.");
      if (line == lines.end())
        say("The command " + displayed(command.words.front()) + " launches no program of Python.");
      else
        launch(*line);
    }
    if (!any) say("No command stands on the line.");
  }

  void launch(const LaunchLine& line) {
    say("The command launches with " + std::string(rules::launch::name(line.launcher)) +
        (line.wrapper.empty() ? "" : " under " + line.wrapper) + ".");
    for (const rules::launch::GivenOption& given : line.options)
      if (given.value && !given.value->is_known())
        say("The value of `" + given.flag.text + "` is not known: " + displayed(*given.value) + ".");
    for (const Word& word : line.arguments) {
      if (!word.is_known())
        say("An argument is not known: " + displayed(word) + ", written on " + line_of(word.written) + ".");
      if (word.by_default && word.is_known())
        say("The argument " + displayed(word) + " holds by default only: it makes a warning, and no error.");
    }
    if (!line.is_whole) say("In front of the script stand words that are not known.");
    if (!line.script) return say("Which script it launches is not seen.");
    if (!line.script->is_known())
      return say("Which script it launches is not known: " + displayed(*line.script) + ".");
    const auto files = rules::launch::script_files(
        input_.sources, input_.path, line.command->folder, line.script->text, line.is_module, input_.read);
    if (files.empty())
      return say("No file " + displayed(*line.script) + " was found: nothing is said of its arguments.");
    if (files.size() > 1)
      say("Several files may be meant by " + displayed(*line.script) + ": only what all refuse is told.");
    for (const std::string& file : files) {
      const auto options = rules::launch::options_of_script(input_.sources, file, input_.read);
      say("`" + file + "` " +
          (options.closed ? "takes " + std::to_string(options.options.size()) + " options and no others."
                  : options.takes_more
                  ? "passes over options that it does not declare."
                  : "may take options that are not seen: its arguments are not judged."));
    }
  }

  void keys(const documents::Node& node, const std::string& within) {
    for (const documents::Node& item : node.items) keys(item, within);
    for (const documents::Field& field : node.fields) {
      const std::string name = (within.empty() ? "" : within + ".") + field.key;
      if (is_here(field.key_span))
        say("The key `" + name + "` holds " + std::string(documents::kind_name(field.value.kind)) +
            (rules::key_help(input_.role, input_.document, field.key_span.begin)
                    ? ", and is one that is known."
                    : ", and nothing is known of it."));
      keys(field.value, name);
    }
  }

  const rules::DocumentInput& input_;
  const syntax::Text& text_;
  const Span span_;
  std::vector<std::string> said_;
};

}  // namespace

std::vector<std::string> why_silent(
    const rules::DocumentInput& input, const std::vector<rules::Finding>& told, std::uint32_t line) {
  return WhyDocument(input, line).tell(told);
}

}  // namespace stepzero::snapshot
