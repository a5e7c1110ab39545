#include "snapshot/documents.hpp"

#include "rules/documents/check.hpp"
#include "rules/launch/help.hpp"
#include "rules/launch/program_commands.hpp"
#include "rules/launch/scripts.hpp"
#include "snapshot/suppress.hpp"
#include "snapshot/why_document.hpp"

#include <algorithm>
#include <exception>
#include <tuple>

namespace stepzero::snapshot {

namespace {

bool wanted(const Options& options, std::string_view rule) {
  const auto named = [&](const std::vector<std::string>& list) {
    return std::any_of(list.begin(), list.end(),
        [&](const std::string& name) { return name == rule || name == rule.substr(0, rule.find('/')); });
  };
  return !named(options.ignore) && (options.select.empty() || named(options.select));
}

std::string why_nothing_is_read(const documents::Document& document) {
  if (document.is_broken && document.language != documents::Language::shell)
    return "it cannot be read whole, and is no configuration that is known";
  if (document.language == documents::Language::make || document.language == documents::Language::docker)
    return "it launches nothing";
  return "its keys are those of no configuration that is known";
}

rules::Role role_of(const std::string& path, const documents::Document& document, rules::Role named) {
  const rules::Role own = rules::role_of(path, document);
  return own == rules::Role::nothing ? rules::role_named(named, document) : own;
}

std::vector<KeyCompletion> completions(
    rules::Role role, const documents::Document& document, std::uint32_t offset) {
  std::vector<KeyCompletion> made;
  for (rules::KeyChoice& choice : rules::key_choices(role, document, offset))
    made.push_back(
        {std::move(choice.key), std::move(choice.detail), std::move(choice.help), choice.is_value});
  return made;
}

}  // namespace

Result analyze_document(const program::Sources& sources, const std::string& path,
    documents::Language language, const syntax::Module& module, const Options& options) {
  Result result;
  std::set<std::string> read;
  const documents::Document document = documents::parse(
      language, module.text, rules::launch::reader_of(sources, path, read));
  rules::Role role = rules::role_of(path, document);
  const bool is_named = role == rules::Role::nothing && options.named_as;
  if (is_named) role = rules::role_named(result.named_as = options.named_as(), document);
  if (role == rules::Role::nothing) {
    result.not_checked = why_nothing_is_read(document);
    if (options.why_line) result.why = {"Nothing is read of the file: " + result.not_checked + "."};
    return result;
  }
  const rules::DocumentInput input{path, document, role, is_named, sources, read};
  syntax::Module with_comments = module;
  for (const syntax::Span& span : document.comments) with_comments.comments.push_back({span, false});
  const Suppressions suppressions(with_comments);
  for (const rules::DocumentCheck& check : rules::document_checks()) {
    if (check.role != role || !wanted(options, check.rule->id)) continue;
    std::vector<rules::Finding> findings;
    try {
      rules::DocumentReport report(path, *check.rule, findings);
      check.check(input, report);
    } catch (const std::exception& error) {
      result.failed_rules.push_back(std::string(check.rule->id) + ": " + error.what());
      continue;
    }
    for (rules::Finding& finding : findings)
      if (!suppressions.covers(finding)) result.findings.push_back(std::move(finding));
  }
  std::stable_sort(
      result.findings.begin(), result.findings.end(), [](const rules::Finding& a, const rules::Finding& b) {
        return std::tie(a.where.span.begin, a.where.span.end, a.rule) <
            std::tie(b.where.span.begin, b.where.span.end, b.rule);
      });
  if (options.why_line) result.why = why_silent(input, result.findings, options.why_line);
  if (options.want_facts && role == rules::Role::script)
    for (rules::KeyHelp& help : rules::launch::argument_help(input))
      result.words.push_back({help.span, std::move(help.text)});
  result.read.assign(read.begin(), read.end());
  // A command that runs several times is told of once.
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::string, std::string>> told;
  std::erase_if(result.findings, [&](const rules::Finding& each) {
    return !told.emplace(each.where.span.begin, each.where.span.end, each.rule, each.message).second;
  });
  if (options.on_findings) options.on_findings(result);
  return result;
}

std::vector<rules::Finding> judge_commands(const program::Sources& sources, const std::string& path,
    const syntax::Module& module, const std::function<bool(const rules::Rule&)>& wanted,
    std::set<std::string>& read) {
  std::vector<rules::Finding> findings;
  if (!rules::launch::may_start_commands(module.text->bytes())) return findings;
  documents::Document document;
  document.text = module.text;
  document.script = rules::launch::commands_of_program(module);
  const rules::DocumentInput input{path, document, rules::Role::script, false, sources, read};
  for (const rules::DocumentCheck& check : rules::document_checks()) {
    if (check.role != rules::Role::script || !wanted(*check.rule)) continue;
    rules::DocumentReport report(path, *check.rule, findings);
    check.check(input, report);
  }
  return findings;
}

std::optional<KeyHover> hover_key(
    const std::string& path, const syntax::Module& module, std::uint32_t offset, rules::Role named) {
  const documents::Document document = documents::parse(
      documents::language_of(path, module.text->bytes()), module.text);
  if (auto help = rules::key_help(role_of(path, document, named), document, offset))
    return KeyHover{help->span, std::move(help->text)};
  return std::nullopt;
}

std::vector<KeyCompletion> complete_key(
    const std::string& path, const syntax::Module& module, std::uint32_t offset, rules::Role named) {
  documents::Document document = documents::parse(
      documents::language_of(path, module.text->bytes()), module.text);
  // A key of YAML or TOML that is half typed breaks the whole file: what it is, the other lines say.
  if (document.is_broken &&
      (document.language == documents::Language::yaml || document.language == documents::Language::toml)) {
    std::string text = module.text->bytes();
    const std::size_t begin = offset == 0 ? 0 : text.rfind('\n', offset - 1) + 1;
    std::fill(text.begin() + static_cast<std::ptrdiff_t>(begin),
        text.begin() + static_cast<std::ptrdiff_t>(std::min(text.find('\n', offset), text.size())), ' ');
    document = documents::parse(document.language, std::make_shared<const syntax::Text>(std::move(text)));
    const rules::Role role = role_of(path, document, named);
    document.text = module.text;
    return completions(role, document, offset);
  }
  return completions(role_of(path, document, named), document, offset);
}

}  // namespace stepzero::snapshot
