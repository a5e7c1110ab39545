// What a rule is: a descriptor that documents it and a check that reads the record of the run.
#pragma once

#include "rules/finding.hpp"

#include <span>
#include <string>
#include <string_view>

namespace stepzero::interpreter {
class Record;
}

namespace stepzero::rules {

class Report;

enum class FixKind : std::uint8_t { none, always_right, needs_decision };

// One rule. All texts are required (an empty one does not compile, see list.cpp); Markdown without headings.
struct Rule {
  std::string_view id;       // "family/name"
  Severity severity;         // the highest it reports
  std::string_view summary;  // one line
  std::string_view why;      // what happens at run time, with PyTorch's own words where there are some
  std::string_view wrong;    // Python
  std::string_view right;    // Python
  std::string_view silent;   // look-alikes that are right, and why the rule says nothing of them
  std::string_view fix;      // what the quick-fix does
  FixKind fix_kind;
  void (*check)(const interpreter::Record& record, Report& report);
  bool local = false;  // what it says of one root rests on nothing outside of it: true of an edited function
                       // before the rest has been run
};

// Refuses, at compile time, a rule with an empty text.
consteval Rule complete(Rule rule) {
  for (const std::string_view text :
      {rule.id, rule.summary, rule.why, rule.wrong, rule.right, rule.silent, rule.fix})
    if (text.empty()) throw "a text of the rule is missing";
  if (rule.check == nullptr) throw "the rule has no check";
  return rule;
}

// Every rule, sorted by id.
std::span<const Rule> rules();
const Rule* find_rule(std::string_view id);

// The rule's page: Markdown with fixed headings.
std::string page(const Rule& rule);

}  // namespace stepzero::rules
