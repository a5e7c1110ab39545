// Document URIs. A document's identity is the client's own spelling, byte for byte; decoding is for the file
// system alone. Knows no file system.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stepzero::protocol {

// RFC 3986, each part as spelled; `has_authority` tells "file:/a" from "file:///a".
struct UriParts {
  std::string_view scheme, authority, path, query, fragment;
  bool has_authority = false;
};
std::optional<UriParts> split_uri(std::string_view uri);  // nullopt: no scheme, so no URI; views into `uri`

std::string percent_decode(std::string_view text);  // a malformed escape stays as it is
std::string percent_encode_path(std::string_view path);

// The path that a file: URI names, decoded; nullopt for other schemes, remote hosts and paths holding a NUL.
std::optional<std::string> path_of(std::string_view uri);
// The file: URI of an absolute path. path_of(uri_of(path)) == path for every path without NUL.
std::string uri_of(std::string_view absolute_path);

bool is_untitled(std::string_view uri);       // untitled:Untitled-1: a document without a file
bool is_notebook_cell(std::string_view uri);  // vscode-notebook-cell:/a/b.ipynb#W2sZmlsZQ==
// The path of the notebook that a cell belongs to, decoded; nullopt if the URI is not a cell's.
std::optional<std::string> notebook_path_of(std::string_view cell_uri);

// Whether two spellings name one file: equal, or both file: URIs of one path.
bool same_document(std::string_view a, std::string_view b);

}  // namespace stepzero::protocol
