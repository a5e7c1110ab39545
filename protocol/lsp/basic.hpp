// The structures that every part of LSP 3.17 uses: positions, ranges, locations, documents by URI, markup.
#pragma once

#include "protocol/codec.hpp"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace stepzero::lsp {

using protocol::Any;
using protocol::IntRange;
using protocol::Json;
using protocol::None;

// Each struct of the protocol has these two; nested decoding errors carry the path of the field.
#define STEPZERO_LSP_TYPE(T)                                                                                 \
  void to_json(Json& out, const T& value);                                                                   \
  void from_json(const Json& in, T& value);

using DocumentUri = std::string;  // as the client spells it
using ProgressToken = std::variant<std::int32_t, std::string>;

// What `character` counts. UTF-16 is the default and the only one a client must know.
enum class PositionEncoding { utf8, utf16, utf32 };
std::string_view name(PositionEncoding encoding);  // "utf-8", "utf-16", "utf-32"
STEPZERO_LSP_TYPE(PositionEncoding)

struct Position {
  std::uint32_t line = 0;
  std::uint32_t character = 0;  // in units of the negotiated encoding
  friend auto operator<=>(const Position&, const Position&) = default;
};
STEPZERO_LSP_TYPE(Position)

struct Range {
  Position start, end;  // end is exclusive
  friend bool operator==(const Range&, const Range&) = default;
};
STEPZERO_LSP_TYPE(Range)

struct Location {
  DocumentUri uri;
  Range range;
  friend bool operator==(const Location&, const Location&) = default;
};
STEPZERO_LSP_TYPE(Location)

struct LocationLink {
  std::optional<Range> origin_selection_range;
  DocumentUri target_uri;
  Range target_range;
  Range target_selection_range;
  friend bool operator==(const LocationLink&, const LocationLink&) = default;
};
STEPZERO_LSP_TYPE(LocationLink)

struct TextDocumentIdentifier {
  DocumentUri uri;
  friend bool operator==(const TextDocumentIdentifier&, const TextDocumentIdentifier&) = default;
};
STEPZERO_LSP_TYPE(TextDocumentIdentifier)

struct VersionedTextDocumentIdentifier {
  DocumentUri uri;
  std::int32_t version = 0;
  friend bool operator==(
      const VersionedTextDocumentIdentifier&, const VersionedTextDocumentIdentifier&) = default;
};
STEPZERO_LSP_TYPE(VersionedTextDocumentIdentifier)

struct OptionalVersionedTextDocumentIdentifier {
  DocumentUri uri;
  std::optional<std::int32_t> version;  // null on the wire: the content on disk is the truth
  friend bool operator==(const OptionalVersionedTextDocumentIdentifier&,
      const OptionalVersionedTextDocumentIdentifier&) = default;
};
STEPZERO_LSP_TYPE(OptionalVersionedTextDocumentIdentifier)

struct TextDocumentItem {
  DocumentUri uri;
  std::string language_id;
  std::int32_t version = 0;
  std::string text;
  friend bool operator==(const TextDocumentItem&, const TextDocumentItem&) = default;
};
STEPZERO_LSP_TYPE(TextDocumentItem)

struct TextDocumentPositionParams {
  TextDocumentIdentifier text_document;
  Position position;
  std::optional<ProgressToken> work_done_token;
  std::optional<ProgressToken> partial_result_token;
  friend bool operator==(const TextDocumentPositionParams&, const TextDocumentPositionParams&) = default;
};
STEPZERO_LSP_TYPE(TextDocumentPositionParams)

enum class MarkupKind { plaintext, markdown };
STEPZERO_LSP_TYPE(MarkupKind)

struct MarkupContent {
  MarkupKind kind = MarkupKind::plaintext;
  std::string value;
  friend bool operator==(const MarkupContent&, const MarkupContent&) = default;
};
STEPZERO_LSP_TYPE(MarkupContent)

struct Command {
  std::string title;
  std::string command;
  std::vector<Any> arguments;
  friend bool operator==(const Command&, const Command&) = default;
};
STEPZERO_LSP_TYPE(Command)

// A document is selected if every given property fits.
struct DocumentFilter {
  std::optional<std::string> language, scheme, pattern;
  friend bool operator==(const DocumentFilter&, const DocumentFilter&) = default;
};
STEPZERO_LSP_TYPE(DocumentFilter)
using DocumentSelector = std::vector<DocumentFilter>;

}  // namespace stepzero::lsp
