// deepspeed/unknown-key: a key of the configuration that DeepSpeed does not read, or refuses.
#include "rules/deepspeed/program.hpp"
#include "rules/deepspeed/sections.hpp"
#include "rules/launch/pins.hpp"
#include "rules/rule.hpp"

#include <map>

namespace stepzero::rules::deepspeed::unknown_key {

extern const Rule rule;

namespace {

std::string place_of(std::string_view section) {
  const std::size_t colon = section.find(':');
  if (colon != std::string_view::npos)
    return "the parameters of `" + std::string(section.substr(colon + 1)) + "`";
  return section.empty() ? "the configuration" : "`" + std::string(section) + "`";
}

// Where the key stands in another section, it was put into the wrong table.
std::string_view at_home_in(std::string_view section, std::string_view name) {
  if (name == "enabled" || name == "type" || name == "params") return {};
  for (const Key& key : keys())
    if (key.name == name && key.section != section && key.type != KeyType::removed &&
        key.section.find(':') == std::string_view::npos)
      return key.section;
  return section;  // none
}

// Keys that were put into one wrong table, where they are read in another: told at the first. Which tables
// refuse what they do not know depends on the version.
void misplaced(const std::vector<const Field*>& fields, std::string_view section, std::string_view home,
    DocumentReport& report) {
  std::string names;
  for (std::size_t i = 0; i < fields.size(); ++i)
    names += (i == 0 ? "" : i + 1 == fields.size() ? " and " : ", ") + ("`" + fields[i]->key + "`");
  const bool several = fields.size() > 1;
  const bool refused = is_strict(section), always = refused && !was_open(section);
  Finding& finding = report.add(always ? Severity::error : Severity::warning, fields[0]->key_span,
      names + (several ? " belong" : " belongs") + " in `" + std::string(home) + "`: in " +
          place_of(section) + " " +
          (refused ? (always ? "DeepSpeed" : std::string(asked)) + " refuses " + (several ? "them" : "it") +
                      (always || is_of_optimizer(section)
                              ? ""
                              : std::string(", and older versions ignore ") + (several ? "them" : "it"))
                   : std::string(several ? "they are" : "it is") + " not read") +
          ". Move " + (several ? "them" : "it") + " there");
  for (std::size_t i = 1; i < fields.size(); ++i)
    report.relate(finding, fields[i]->key_span, "this one, too");
}

// `meant`: the known key that is near; empty if none is. `broken`: something around it cannot be read, so
// that keys may seem to stand where they do not.
void unknown(const Field& field, std::string_view meant, const Node& table, std::string_view section,
    bool broken, DocumentReport& report) {
  const std::string name = "`" + field.key + "`";
  const std::string place = place_of(section);
  const bool strict = is_strict(section) && !broken, always = strict && !was_open(section);
  if (!meant.empty()) {
    Finding& finding = report.add(always ? Severity::error : Severity::warning, field.key_span,
        (strict ? "DeepSpeed refuses the unknown key " + name + " in " + place
                : "DeepSpeed does not read the key " + name + " in " + place + ", and does not warn") +
            ". Did you mean `" + std::string(meant) + "`?");
    const bool is_there = std::ranges::any_of(
        table.fields, [&](const Field& each) { return each.key == meant; });
    if (!is_there)
      report.fix(finding, "Rename to " + std::string(meant), documents::is_typo(field.key, meant),
          field.key_span, '"' + std::string(meant) + '"');
    return;
  }
  if (broken) return;
  if (strict)
    report.add(Severity::warning, field.key_span,
        "DeepSpeed refuses unknown keys in " + place + ", and " + std::string(asked) + " does not know " +
            name + ". Remove it");
  else if (section.empty() && !field.key.starts_with('_') && field.key.find("comment") == std::string::npos)
    report.add(Severity::information, field.key_span,
        std::string(asked) + " does not read the key " + name +
            ": it has no effect on the training. Remove it");
}

// `is_older`: the checkout holds itself to a version that still reads what this one has removed.
void judge_keys(const Document& document, DocumentReport& report, bool is_older) {
  each_section(document.root, [&](std::string_view section, const Node& table) {
    const std::vector<std::string_view> known = names_of(section);
    // Where very many keys are unknown, none is a known one that was misspelled.
    constexpr std::size_t most_compared = 200;
    std::size_t compared = 0;
    std::map<std::string_view, const Field*> seen;
    std::map<std::string_view, std::vector<const Field*>> elsewhere;  // by the section where they are at home
    for (const Field& field : table.fields) {
      if (const auto [first, is_new] = seen.try_emplace(field.key, &field); !is_new) {
        if (document.is_broken) continue;
        Finding& finding = report.add(Severity::error, field.key_span,
            "`" + field.key + "` stands twice in " + place_of(section) +
                ": DeepSpeed refuses a file with duplicate keys. Keep one of them");
        report.relate(finding, first->second->key_span, "it stands here first");
        continue;
      }
      const Key* key = find_key(section, field.key);
      const std::string_view meant = key || ++compared > most_compared ? ""
                                                                       : documents::nearest(field.key, known);
      const std::string_view home =
          key || document.is_broken || !meant.empty() ? section : at_home_in(section, field.key);
      if (!home.empty() && home != section) {
        elsewhere[home].push_back(&field);
      } else if (!key) {
        unknown(field, meant, table, section, document.is_broken, report);
      } else if (is_older && (key->type == KeyType::removed || !key->instead.empty())) {
        continue;
      } else if (key->type == KeyType::removed) {
        report.add(Severity::warning, field.key_span,
            std::string(asked) + " has removed `" + field.key +
                "` and refuses a configuration that holds it; older versions read it. Remove it");
      } else if (!key->instead.empty()) {
        report.add(Severity::information, field.key_span,
            "`" + field.key + "` is deprecated. Write `" + std::string(key->instead) + "`");
      }
    }
    for (const auto& [home, fields] : elsewhere) misplaced(fields, section, home, report);
  });
}

constexpr std::string_view asked_version = asked.substr(asked.rfind(' ') + 1);

void judge(const Document& document, DocumentReport& report) { judge_keys(document, report, false); }
void check_document(const DocumentInput& input, DocumentReport& report) {
  judge_keys(input.document, report, launch::is_kept_below(input, "deepspeed", asked_version));
}
void check(const Record& record, Report& report) { check_program(record, report, rule, judge); }

}  // namespace

extern constexpr Rule rule = complete({
    .id = "deepspeed/unknown-key",
    .severity = Severity::error,
    .summary = "a key of DeepSpeed's configuration that DeepSpeed does not read, or refuses",
    .why =
        "At its top level DeepSpeed looks for the keys that it knows and passes over all others: a misspelled `gradient_clipping` trains "
        "without clipping, and nothing says so. In `zero_optimization`, `fp16`, `bf16` and the monitors an unknown key is refused: \"Extra "
        "inputs are not permitted\". A key that stands twice is refused anywhere: \"Duplicate keys in DeepSpeed config\".",
    .wrong = "{\n  \"train_batch_size\": 32,\n  \"gradient_cliping\": 1.0\n}\n",
    .right = "{\n  \"train_batch_size\": 32,\n  \"gradient_clipping\": 1.0\n}\n",
    .silent =
        "Files that are no configuration of DeepSpeed by their keys or their name; the parameters of optimizers that are none of Adam, "
        "AdamW, Adagrad, Lamb, Lion and SGD.",
    .fix = "Renames the key to the known one that is nearest.",
    .fix_kind = FixKind::always_right,
    .check = check,
});

extern constexpr DocumentCheck document_check = {&rule, Role::deepspeed, check_document};

}  // namespace stepzero::rules::deepspeed::unknown_key
