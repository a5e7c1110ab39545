// The incremental frame decoder.
#include "protocol/framing.hpp"

#include <algorithm>
#include <cctype>

namespace stepzero::protocol {
namespace {

constexpr std::string_view header_end = "\r\n\r\n";

std::string_view trim(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

// For the log: short, on one line, printable.
std::string displayed(std::string_view text) {
  std::string out = "\"";
  for (const char c : text.substr(0, 60)) out += c >= ' ' && c < 0x7f ? c : '?';
  return out + (text.size() > 60 ? "…\"" : "\"");
}

bool is_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) ||
        std::string_view("!#$%&'*+-.^_`|~").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

// "application/vscode-jsonrpc; charset=utf-8": nullopt if no charset is named.
std::optional<std::string> charset_of(std::string_view content_type) {
  const std::string text = lower(content_type);
  const std::size_t at = text.find("charset=");
  if (at == std::string::npos) return std::nullopt;
  std::string_view value = std::string_view(text).substr(at + 8);
  value = trim(value.substr(0, value.find(';')));
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
    value = value.substr(1, value.size() - 2);
  return std::string(value);
}

}  // namespace

bool FrameDecoder::feed(std::string_view bytes, std::vector<std::string>& payloads) {
  while (!broken() && !bytes.empty()) {
    if (!length_) {
      bytes.remove_prefix(take_header(bytes));
      if (!length_) continue;
    }
    const std::size_t taken = std::min(*length_ - payload_.size(), bytes.size());
    payload_.append(bytes.substr(0, taken));
    bytes.remove_prefix(taken);
    if (payload_.size() < *length_) continue;
    payloads.push_back(std::move(payload_));
    payload_.clear();
    length_.reset();
  }
  return !broken();
}

// Takes bytes up to the end of the header block or all of them; at the end sets length_ or fails.
std::size_t FrameDecoder::take_header(std::string_view bytes) {
  const std::size_t before = header_.size();
  const std::size_t room = limits_.header - before;
  header_.append(bytes.substr(0, room));
  if (header_.starts_with("\r\n")) {
    fail("the header block has no Content-Length");
    return bytes.size();
  }
  const std::size_t end = header_.find(header_end, before < 3 ? 0 : before - 3);
  if (end != std::string::npos) {
    header_.resize(end + header_end.size());
    const std::size_t taken = header_.size() - before;
    read_header();
    header_.clear();
    checked_ = 0;
    return taken;
  }
  if (bytes.size() >= room) {
    fail("the header block is longer than " + std::to_string(limits_.header) + " bytes");
    return bytes.size();
  }
  refuse_unfinished_block();
  return bytes.size();
}

// What cannot become a header is refused at once, not when 8 KiB of it have come: each line once it is there,
// and of the last what has come.
void FrameDecoder::refuse_unfinished_block() {
  const std::string_view block = header_;
  for (std::size_t end = 0; !broken() && (end = block.find('\n', checked_)) != std::string_view::npos;
      checked_ = end + 1) {
    bool seen_length = false;
    std::string_view line = block.substr(checked_, end - checked_);
    if (!line.ends_with('\r')) return fail("a header line does not end in CR LF: " + displayed(line));
    line.remove_suffix(1);
    read_field(line, seen_length);
  }
  length_.reset();  // it counts with the empty line
  if (!broken()) refuse_unfinished_line(block.substr(checked_));
}

// What has come of a line that is no header field, or a length that is too large already, whatever follows.
void FrameDecoder::refuse_unfinished_line(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  const std::size_t colon = line.find(':');
  const std::string_view name = line.substr(0, colon);
  if ((colon != std::string_view::npos || !name.empty()) && !is_name(name))
    return fail("not a header field: " + displayed(line));
  if (colon == std::string_view::npos || lower(name) != "content-length") return;
  const std::string_view value = trim(line.substr(colon + 1));
  if (!value.empty()) length_of(value);
}

void FrameDecoder::read_header() {
  std::string_view rest = std::string_view(header_).substr(0, header_.size() - 2);
  bool seen_length = false;
  while (!rest.empty() && !broken()) {
    const std::size_t end = rest.find("\r\n");
    read_field(rest.substr(0, end), seen_length);
    rest.remove_prefix(end + 2);
  }
  if (!broken() && !seen_length) fail("the header block has no Content-Length");
}

void FrameDecoder::read_field(std::string_view line, bool& seen_length) {
  if (const std::size_t end = line.find('\n'); end != std::string_view::npos)
    return fail("a header line does not end in CR LF: " + displayed(line.substr(0, end)));
  const std::size_t colon = line.find(':');
  const std::string_view name = line.substr(0, colon);
  if (colon == std::string_view::npos || !is_name(name))
    return fail("not a header field: " + displayed(line));
  const std::string_view value = trim(line.substr(colon + 1));
  const std::string key = lower(name);
  if (key == "content-type") {
    const auto charset = charset_of(value);
    if (charset && *charset != "utf-8" && *charset != "utf8") fail("unknown charset: " + displayed(*charset));
    return;
  }
  if (key != "content-length") return;
  if (seen_length) return fail("Content-Length is given twice");
  seen_length = true;
  length_ = length_of(value);
}

// Nothing, and broken, if it is none.
std::optional<std::size_t> FrameDecoder::length_of(std::string_view value) {
  if (value.empty() || !std::ranges::all_of(value, [](char c) { return c >= '0' && c <= '9'; })) {
    fail("Content-Length is not a number of bytes: " + displayed(value));
    return std::nullopt;
  }
  std::size_t length = 0;
  for (const char c : value) {
    length = length * 10 + static_cast<std::size_t>(c - '0');
    if (length > limits_.payload) {
      fail("Content-Length is above the limit of " + std::to_string(limits_.payload) +
          " bytes: " + displayed(value));
      return std::nullopt;
    }
  }
  return length;
}

void FrameDecoder::fail(std::string reason) {
  error_ = std::move(reason);
  length_.reset();
  header_ = {};
  checked_ = 0;
  payload_ = {};
}

std::string frame(std::string_view payload) {
  std::string out = "Content-Length: " + std::to_string(payload.size());
  out.reserve(out.size() + header_end.size() + payload.size());
  out += header_end;
  out += payload;
  return out;
}

}  // namespace stepzero::protocol
