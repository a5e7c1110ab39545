// What a rule says of a text: plain values, with byte spans. Knows no rule, no JSON, no protocol.
#pragma once

#include "syntax/text.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stepzero::rules {

enum class Severity : std::uint8_t { error, warning, information, hint };
std::string_view name(Severity severity);  // "error", "warning", "information", "hint"

struct Location {
  std::string path;   // as the Sources name it
  syntax::Span span;  // absolute bytes
  friend bool operator==(const Location&, const Location&) = default;
};

struct Related {
  Location where;
  std::string message;
};

struct TextEdit {
  Location where;
  std::string new_text;
};

struct Fix {
  std::string title;            // says what will change: "Run broadcast on all ranks"
  bool preferred = false;       // always right: takes part in fix-all. Else it needs a decision by the user.
  std::vector<TextEdit> edits;  // not overlapping
};

struct Finding {
  std::string_view rule;  // "deadlock/rank-guarded-collective"; lives as long as the process
  Severity severity = Severity::error;
  Location where;
  std::string message;  // plain text, one or two sentences
  std::vector<Related> related;
  std::vector<Fix> fixes;  // preferred ones first
  std::string root =
      {};  // the qualified name of the function whose run led there; empty: the statements of the file
};

}  // namespace stepzero::rules
