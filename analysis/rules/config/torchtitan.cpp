// config/torchtitan: keys of torchtitan's TOML that no section has, and values of another type.
#include "rules/config/torchtitan.hpp"

#include "program/value_type.hpp"
#include "rules/choices.hpp"
#include "rules/rule.hpp"
#include "rules/sentences.hpp"

#include <algorithm>
#include <iterator>
#include <set>

namespace stepzero::rules::config::torchtitan {

using program::ValueType;

namespace {

struct Key {
  std::string_view section, name;
  ValueType type;
  std::string_view choices, value;  // its default
};
constexpr Key all[] = {
#include "rules/config/torchtitan_keys.inc"
};

const Key* find(std::string_view section, std::string_view name) {
  const auto found = std::find_if(std::begin(all), std::end(all),
      [&](const Key& each) { return each.section == section && each.name == name; });
  return found == std::end(all) ? nullptr : &*found;
}
std::vector<std::string_view> sections() {
  std::vector<std::string_view> names;
  for (const Key& each : all)
    if (names.empty() || names.back() != each.section) names.push_back(each.section);
  return names;
}
std::vector<std::string_view> names_of(std::string_view section) {
  std::vector<std::string_view> names;
  for (const Key& each : all)
    if (each.section == section) names.push_back(each.name);
  return names;
}
bool is_section(std::string_view name) {
  const std::vector<std::string_view> known = sections();
  return std::find(known.begin(), known.end(), name) != known.end();
}

std::string displayed_type(const Key& key) {
  std::string text(key.type == ValueType::unknown ? std::string_view() : program::in_words(key.type));
  if (!key.choices.empty()) {
    text = "one of ";
    for (const char c : key.choices) text += c == '|' ? std::string(", ") : std::string(1, c);
  }
  if (!key.value.empty()) text += (text.empty() ? "" : ", ") + ("by default " + std::string(key.value));
  return text;
}
std::string help_of(const Key& key) {
  return "`" + std::string(key.section) + "." + std::string(key.name) + "`: " + displayed_type(key) +
      "\n\nRead by torchtitan from `[" + std::string(key.section) + "]`; `--" + std::string(key.section) +
      "." + std::string(key.name) +
      "` on the command line overrides it: [its documentation](https://github.com/pytorch/torchtitan/blob/v0.2.2/torchtitan/config/job_config.py).";
}

// The table that a line lies in, by the header above it: what is being typed may be no TOML.
std::string_view section_at(std::string_view text, std::uint32_t offset) {
  for (std::size_t at = std::min<std::size_t>(offset, text.size()); at > 0;) {
    const std::size_t before = text.rfind('\n', at - 1);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    const std::string_view line = text.substr(begin, std::min(text.find('\n', begin), text.size()) - begin);
    if (line.starts_with('[') && begin + line.find(']') < offset)
      return line.substr(1, std::min(line.find(']'), line.size()) - 1);
    if (begin == 0) break;
    at = begin - 1;  // the end of the line above
  }
  return {};
}

}  // namespace

bool is_configuration(const Node& root) {
  constexpr std::ptrdiff_t enough = 3;
  if (!root.is(Node::Kind::table)) return false;
  const auto known = std::count_if(root.fields.begin(), root.fields.end(), [](const Field& field) {
    return field.value.is(Node::Kind::table) && is_section(field.key) &&
        std::any_of(field.value.fields.begin(), field.value.fields.end(),
            [&](const Field& each) { return find(field.key, each.key) != nullptr; });
  });
  // Degrees of parallelism under these names are nobody else's: a file of few sections may be one.
  const Node* sizes = root.at("parallelism");
  const bool has_degrees = sizes && std::ranges::any_of(sizes->fields, [](const Field& each) {
    return each.key.ends_with("_parallel_degree") && find("parallelism", each.key);
  });
  return (known >= enough || has_degrees) && 2 * known >= static_cast<std::ptrdiff_t>(root.fields.size());
}

std::optional<KeyHelp> help(const Document& document, std::uint32_t offset) {
  for (const Field& section : document.root.fields)
    for (const Field& field : section.value.fields)
      if (field.key_span.begin <= offset && offset < field.key_span.end)
        if (const Key* key = find(section.key, field.key)) return KeyHelp{field.key_span, help_of(*key)};
  return std::nullopt;
}

std::vector<KeyChoice> choices(const Document& document, std::uint32_t offset) {
  std::vector<KeyChoice> made;
  const std::string_view text = document.text->bytes();
  const std::string_view section = section_at(text, offset);
  const std::size_t before = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  const std::string_view line = text.substr(begin, offset - begin);
  if (const std::size_t sign = line.find('='); sign != std::string_view::npos) {
    const std::string_view name = line.substr(0, std::min(line.find_first_of(" =\t"), line.size()));
    const Key* key = find(section, name);
    const auto add = [&](std::string_view value, bool quoted) {
      made.push_back({quoted ? '"' + std::string(value) + '"' : std::string(value),
          value == key->value ? "the default" : "", help_of(*key), true});
    };
    if (key && key->type == ValueType::truth) add("true", false), add("false", false);
    for (std::string_view rest = key ? key->choices : std::string_view(); !rest.empty();) {
      const std::size_t bar = std::min(rest.find('|'), rest.size());
      add(rest.substr(0, bar), true);
      rest.remove_prefix(std::min(bar + 1, rest.size()));
    }
    return made;
  }
  const Node* table = document.root.at(section);
  for (const Key& key : all)
    if (key.section == section && !(table && table->find(key.name)))
      made.push_back({std::string(key.name), displayed_type(key), help_of(key)});
  return made;
}

namespace {

bool has_type(const Key& key, const Node& value) {
  switch (key.type) {
  case ValueType::text: return value.is(Node::Kind::text);
  case ValueType::integer: return value.is(Node::Kind::integer);
  case ValueType::number: return value.is_number();
  case ValueType::truth: return value.is(Node::Kind::boolean);
  case ValueType::unknown: break;
  }
  return true;
}

void check_table(const Field& section, DocumentReport& report) {
  for (const Field& field : section.value.fields) {
    const Key* key = find(section.key, field.key);
    if (!key) {
      // Programs add sections and keys of their own, and versions rename them: only slips are told.
      const std::string_view meant = documents::nearest(field.key, names_of(section.key));
      if (meant.empty() || section.value.find(meant)) continue;
      Finding& finding = report.add(Severity::warning, field.key_span,
          "torchtitan 0.2 has no key `" + field.key + "` in `[" + section.key +
              "]`, and refuses unknown ones: \"Invalid field names\". Did you mean `" + std::string(meant) +
              "`?");
      report.fix(finding, "Rename to " + std::string(meant), documents::is_typo(field.key, meant),
          field.key_span, std::string(meant));
    } else if (!has_type(*key, field.value)) {
      report.add(Severity::warning, field.value.span,
          "`" + section.key + "." + field.key + "` is " + std::string(program::in_words(key->type)) +
              " for torchtitan, and this is " + std::string(documents::kind_name(field.value.kind)) +
              ": nothing converts it, and what computes with it fails. Write " +
              std::string(program::in_words(key->type)));
    } else if (!key->choices.empty() && !is_choice(key->choices, field.value.text)) {
      report.add(Severity::warning, field.value.span,
          "`" + section.key + "." + field.key + "` takes " + in_code(choices_in(key->choices)) +
              "; torchtitan 0.2 refuses \"" + field.value.text + "\". Choose one of these");
    }
  }
}

void check_document(const DocumentInput& input, DocumentReport& report) {
  if (input.document.is_broken) return;
  for (const Field& section : input.document.root.fields) {
    if (!section.value.is(Node::Kind::table)) continue;
    if (is_section(section.key)) {
      check_table(section, report);
      continue;
    }
    const std::vector<std::string_view> known = sections();
    const std::string_view meant = documents::nearest(section.key, known);
    if (meant.empty() || input.document.root.find(meant)) continue;
    Finding& finding = report.add(Severity::warning, section.key_span,
        "torchtitan 0.2 has no section `[" + section.key + "]`. Did you mean `[" + std::string(meant) +
            "]`?");
    report.fix(finding, "Rename to " + std::string(meant), documents::is_typo(section.key, meant),
        section.key_span, std::string(meant));
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "config/torchtitan",
    .severity = Severity::warning,
    .summary = "a key of torchtitan's TOML that no section has, or a value of another type",
    .why =
        "torchtitan makes dataclasses of its TOML file, and rejects names that they do not have: \"Invalid field names\". Values are not converted: `seq_len = \"8192\"` stays a string "
        "until something computes with it, on every node, after the rendezvous. As the dataclasses of torchtitan 0.2 say it.",
    .wrong =
        "[training]\nlocal_batch_sise = 8\nseq_len = 8192\n\n[parallelism]\ntensor_parallel_degree = 2\n\n[optimizer]\nname = \"AdamW\"\n",
    .right =
        "[training]\nlocal_batch_size = 8\nseq_len = 8192\n\n[parallelism]\ntensor_parallel_degree = 2\n\n[optimizer]\nname = \"AdamW\"\n",
    .silent =
        "Files with fewer than three of its sections that neither set a degree of parallelism nor are named by a launch of torchtitan; sections and keys that are near none, which a program may add.",
    .fix = "Renames the key or the section to the known one that is nearest.",
    .fix_kind = FixKind::always_right,
    .check = check_no_run,
});

extern constexpr DocumentCheck document_check = {&rule, Role::torchtitan, check_document};

}  // namespace stepzero::rules::config::torchtitan
