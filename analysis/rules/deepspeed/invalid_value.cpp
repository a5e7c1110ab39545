// deepspeed/invalid-value: a value of the configuration that DeepSpeed's own types refuse.
#include "rules/choices.hpp"
#include "rules/deepspeed/program.hpp"
#include "rules/deepspeed/sections.hpp"
#include "rules/list.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

namespace stepzero::rules {

namespace {

using namespace deepspeed;

bool reads_as_number(const std::string& text) {
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  return !text.empty() && failure == std::errc() && end == text.data() + text.size();
}

// "BATCH_SIZE", "${MICRO}", "<micro>": somebody fills the file in before DeepSpeed reads it.
bool is_placeholder(const std::string& text) {
  if (text.find_first_of("${}<>%@") != std::string::npos) return true;
  return text.size() > 2 && text.find('_') != std::string::npos &&
      std::none_of(text.begin(), text.end(), [](unsigned char c) { return std::islower(c); });
}

// Why the value is refused; empty if it is not, or that is not known.
std::string refusal(const Key& key, const Node& value) {
  using enum Node::Kind;
  const bool is_container = value.is(table) || value.is(list);
  const std::string is = "is " + std::string(documents::described(value.kind));
  switch (key.type) {
  case KeyType::boolean:
    return is_container || (value.is_number() && value.number() != 0 && value.number() != 1) ||
            (value.is(text) && !truth(&value))
        ? is
        : "";
  case KeyType::integer:
    // pydantic reads "500" as a number, and "5e8" not as a whole one.
    if (is_container ||
        (value.is(text) &&
            (!reads_as_number(value.text) || value.text.find_first_of("eE") != std::string::npos)) ||
        (value.is(real) && value.real != std::floor(value.real)))
      return value.is(text) && reads_as_number(value.text) ? "is the text \"" + value.text + '"' : is;
    if (!key.choices.empty() && value.is_number() &&
        !is_choice(key.choices, std::to_string(static_cast<std::int64_t>(value.number()))))
      return "is " + std::to_string(static_cast<std::int64_t>(value.number()));
    break;
  case KeyType::number: return is_container || (value.is(text) && !reads_as_number(value.text)) ? is : "";
  case KeyType::text:
    if (!key.choices.empty() && value.is(text) && !is_choice(key.choices, value.text))
      return "is \"" + value.text + '"';
    return is_container ? is : "";
  case KeyType::table:
    return is_container                                            ? value.is(list) ? is : ""
        : value.is(boolean) || value.is_number() || value.is(text) ? is
                                                                   : "";
  case KeyType::list: return value.is(table) || value.is_number() ? is : "";
  case KeyType::any:
  case KeyType::removed: return {};
  }
  if (key.least != unbounded && value.is_number() && value.number() < key.least)
    return "is less than " + std::to_string(static_cast<std::int64_t>(key.least));
  return {};
}

void judge(const Document& document, DocumentReport& report) {
  if (document.is_broken) return;
  each_section(document.root, [&](std::string_view section, const Node& table) {
    for (const Field& field : table.fields) {
      const Key* key = find_key(section, field.key);
      // "auto" is left out of what the types see; `null` of what they need not have.
      if (!key || is_auto(&field.value) || field.value.is(Node::Kind::null) ||
          field.value.is(Node::Kind::unknown) ||
          (field.value.is(Node::Kind::text) && is_placeholder(field.value.text)))
        continue;
      if (section.empty() && field.key == "zero_optimization" && field.value.is(Node::Kind::boolean))
        continue;  // the old form
      const std::string why = refusal(*key, field.value);
      if (why.empty()) continue;
      std::string wanted = shown_type(*key);
      if (const std::size_t end = wanted.find(';'); end != std::string::npos) wanted.resize(end);
      if (key->least != unbounded && key->type == KeyType::integer)
        wanted += " of " + std::to_string(static_cast<std::int64_t>(key->least)) + " or more";
      // Only sections of models are checked where they are read; the others fail later, or do not.
      report.add(is_strict(section) ? Severity::error : Severity::warning, field.value.span,
          "`" + field.key + "` " + why + "; " + std::string(asked) + " takes " + wanted);
    }
  });
}

void check_document(const DocumentInput& input, DocumentReport& report) { judge(input.document, report); }
void check(const Record& record, Report& report) { check_program(record, report, invalid_value, judge); }

}  // namespace

constexpr Rule invalid_value = complete({
    .id = "deepspeed/invalid-value",
    .severity = Severity::error,
    .summary = "a value of DeepSpeed's configuration that DeepSpeed's types refuse",
    .why =
        "DeepSpeed reads its sections as pydantic models: a text for a number, a stage that does not exist or a bucket of size 0 raises a "
        "ValidationError where the configuration is read.",
    .wrong = "{\n  \"train_batch_size\": 32,\n  \"zero_optimization\": {\"stage\": 4}\n}\n",
    .right = "{\n  \"train_batch_size\": 32,\n  \"zero_optimization\": {\"stage\": 3}\n}\n",
    .silent =
        "\"auto\", which is filled in or left out; whole numbers that are written as 5e8; texts that read as the number.",
    .fix = "None yet: what was meant cannot be seen.",
    .fix_kind = FixKind::none,
    .check = check,
});

extern const DocumentCheck invalid_value_check;
const DocumentCheck invalid_value_check = {&invalid_value, Role::deepspeed, check_document};

}  // namespace stepzero::rules
