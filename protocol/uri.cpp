// Splitting, decoding and encoding of document URIs.
#include "protocol/uri.hpp"

#include <algorithm>

namespace stepzero::protocol {
namespace {

bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

int hex(char c) {
  if (is_digit(c)) return c - '0';
  const char l = lower(c);
  return l >= 'a' && l <= 'f' ? l - 'a' + 10 : -1;
}

// Takes the part of `rest` after the first `mark` away and returns it.
std::string_view cut(std::string_view& rest, char mark) {
  const std::size_t at = rest.find(mark);
  if (at == std::string_view::npos) return {};
  const std::string_view tail = rest.substr(at + 1);
  rest = rest.substr(0, at);
  return tail;
}

std::optional<std::string> decoded_path(const UriParts& parts) {
  if (!parts.authority.empty() && !equals_ignoring_case(parts.authority, "localhost")) return std::nullopt;
  std::string path = percent_decode(parts.path);
  if (path.empty() || path.front() != '/' || path.find('\0') != std::string::npos) return std::nullopt;
  return path;
}

bool has_scheme(std::string_view uri, std::string_view scheme) {
  const auto parts = split_uri(uri);
  return parts && equals_ignoring_case(parts->scheme, scheme);
}

}  // namespace

std::optional<UriParts> split_uri(std::string_view uri) {
  const std::size_t colon = uri.find(':');
  if (colon == std::string_view::npos || colon == 0 || !is_alpha(uri.front())) return std::nullopt;
  UriParts parts;
  parts.scheme = uri.substr(0, colon);
  const auto allowed = [](char c) { return is_alpha(c) || is_digit(c) || c == '+' || c == '-' || c == '.'; };
  if (!std::ranges::all_of(parts.scheme, allowed)) return std::nullopt;
  std::string_view rest = uri.substr(colon + 1);
  parts.fragment = cut(rest, '#');
  parts.query = cut(rest, '?');
  if (rest.starts_with("//")) {
    parts.has_authority = true;
    rest.remove_prefix(2);
    const std::size_t end = std::min(rest.find('/'), rest.size());
    parts.authority = rest.substr(0, end);
    rest.remove_prefix(end);
  }
  parts.path = rest;
  return parts;
}

std::string percent_decode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? hex(text[i + 1]) : -1;
    const int low = high >= 0 ? hex(text[i + 2]) : -1;
    if (low < 0) {
      out += text[i];
    } else {
      out += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return out;
}

std::string percent_encode_path(std::string_view path) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  out.reserve(path.size());
  for (const char c : path) {
    if (is_alpha(c) || is_digit(c) || std::string_view("/-._~").find(c) != std::string_view::npos) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += digits[byte >> 4];
      out += digits[byte & 15];
    }
  }
  return out;
}

std::optional<std::string> path_of(std::string_view uri) {
  const auto parts = split_uri(uri);
  if (!parts || !equals_ignoring_case(parts->scheme, "file")) return std::nullopt;
  return decoded_path(*parts);
}

std::string uri_of(std::string_view absolute_path) { return "file://" + percent_encode_path(absolute_path); }

bool is_untitled(std::string_view uri) { return has_scheme(uri, "untitled"); }
bool is_notebook_cell(std::string_view uri) { return has_scheme(uri, "vscode-notebook-cell"); }

std::optional<std::string> notebook_path_of(std::string_view cell_uri) {
  if (!is_notebook_cell(cell_uri)) return std::nullopt;
  return decoded_path(*split_uri(cell_uri));
}

bool same_document(std::string_view a, std::string_view b) {
  if (a == b) return true;
  const auto path = path_of(a);
  return path && path == path_of(b);
}

}  // namespace stepzero::protocol
