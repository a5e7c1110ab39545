// Document symbols, definitions and references.
#pragma once

#include "protocol/lsp/basic.hpp"

#include <optional>
#include <string>
#include <vector>

namespace stepzero::lsp {

enum class SymbolKind {
  file = 1,
  module,
  namespace_,
  package,
  class_,
  method,
  property,
  field,
  constructor,
  enumeration,
  interface,
  function,
  variable,
  constant,
  string,
  number,
  boolean,
  array,
  object,
  key,
  null,
  enum_member,
  structure,
  event,
  operator_,
  type_parameter,
};
constexpr IntRange values_of(SymbolKind) { return {1, 26}; }

enum class SymbolTag { deprecated = 1 };
constexpr IntRange values_of(SymbolTag) { return {1, 1}; }

struct DocumentSymbolParams {
  TextDocumentIdentifier text_document;
  std::optional<ProgressToken> work_done_token;
  std::optional<ProgressToken> partial_result_token;
  friend bool operator==(const DocumentSymbolParams&, const DocumentSymbolParams&) = default;
};
STEPZERO_LSP_TYPE(DocumentSymbolParams)

struct DocumentSymbol {
  std::string name;
  std::optional<std::string> detail;
  SymbolKind kind = SymbolKind::variable;
  std::vector<SymbolTag> tags;
  Range range;            // the whole of it
  Range selection_range;  // its name; inside range
  std::vector<DocumentSymbol> children;
  friend bool operator==(const DocumentSymbol&, const DocumentSymbol&) = default;
};
STEPZERO_LSP_TYPE(DocumentSymbol)

struct SymbolInformation {  // the flat form, for clients without hierarchical symbols
  std::string name;
  SymbolKind kind = SymbolKind::variable;
  std::vector<SymbolTag> tags;
  Location location;
  std::optional<std::string> container_name;
  friend bool operator==(const SymbolInformation&, const SymbolInformation&) = default;
};
STEPZERO_LSP_TYPE(SymbolInformation)

struct WorkspaceSymbolParams {
  std::string query;  // letters of a name, in order; empty: all
  std::optional<ProgressToken> work_done_token;
  std::optional<ProgressToken> partial_result_token;
  friend bool operator==(const WorkspaceSymbolParams&, const WorkspaceSymbolParams&) = default;
};
STEPZERO_LSP_TYPE(WorkspaceSymbolParams)

using DefinitionParams = TextDocumentPositionParams;

struct ReferenceContext {
  bool include_declaration = false;
  friend bool operator==(const ReferenceContext&, const ReferenceContext&) = default;
};
STEPZERO_LSP_TYPE(ReferenceContext)

struct ReferenceParams {
  TextDocumentIdentifier text_document;
  Position position;
  ReferenceContext context;
  std::optional<ProgressToken> work_done_token;
  std::optional<ProgressToken> partial_result_token;
  friend bool operator==(const ReferenceParams&, const ReferenceParams&) = default;
};
STEPZERO_LSP_TYPE(ReferenceParams)

}  // namespace stepzero::lsp
