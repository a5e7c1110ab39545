// Completion.
#pragma once

#include "protocol/lsp/basic.hpp"
#include "protocol/lsp/edit.hpp"

#include <optional>
#include <string>
#include <vector>

namespace stepzero::lsp {

using CompletionParams = TextDocumentPositionParams;

enum class CompletionItemKind {
  text = 1,
  method,
  function,
  constructor,
  field,
  variable,
  class_,
  interface,
  module,
  property,
  unit,
  value,
  enumeration,
  keyword,
  snippet,
  color,
  file,
  reference,
  folder,
  enum_member,
  constant,
  structure,
  event,
  operator_,
  type_parameter,
};
constexpr IntRange values_of(CompletionItemKind) { return {1, 25}; }

struct CompletionItem {
  std::string label;
  std::optional<CompletionItemKind> kind;
  std::optional<std::string> detail;
  std::optional<MarkupContent> documentation;
  std::optional<std::string> filter_text;
  std::optional<TextEdit> text_edit;  // within the line that was asked about
  friend bool operator==(const CompletionItem&, const CompletionItem&) = default;
};
STEPZERO_LSP_TYPE(CompletionItem)

struct CompletionOptions {
  std::vector<std::string> trigger_characters;
  bool resolve_provider = false;
  bool work_done_progress = false;
  friend bool operator==(const CompletionOptions&, const CompletionOptions&) = default;
};
STEPZERO_LSP_TYPE(CompletionOptions)

}  // namespace stepzero::lsp
