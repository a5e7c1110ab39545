// Any edits of any text: the module that a document keeps up to date is the one that a fresh parse of its
// text gives, byte for byte of their dumps; edits taken back lead to the module of the start.
//
// An input is a text, a 0xff byte, and edits of five bytes and their texts: where (3), how much is replaced
// (1), how long the new text is (1).
#include "syntax/document.hpp"
#include "syntax/dump.hpp"
#include "syntax/text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

using namespace stepzero::syntax;

namespace {

void require_fresh(Document& document, const std::string& text) {
  if (document.bytes() != text) std::abort();
  const std::string kept = dump(*document.module()), fresh = dump(*parse(text));
  if (kept == fresh) return;
  std::fprintf(stderr, "text:\n%s\nkept:\n%s\nfresh:\n%s\n", text.c_str(), kept.c_str(), fresh.c_str());
  std::abort();
}

// Every offset and its position name each other.
void require_positions(const std::string& bytes) {
  const Text text(bytes);
  for (const Encoding encoding : {Encoding::utf8, Encoding::utf16, Encoding::codepoint})
    for (std::uint32_t offset = 0; offset <= text.size(); offset += 7) {
      const Position position = text.position(offset, encoding);
      const std::uint32_t back = text.offset(position, encoding);
      if (back > offset || text.position(back, encoding) != position) std::abort();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t border = std::min(input.find('\xff'), input.size());
  const std::string start(input.substr(0, border));
  std::string_view rest = input.substr(std::min(border + 1, input.size()));

  std::string text = start;
  Document document(start);
  std::vector<Edit> undo;
  require_fresh(document, text);
  require_positions(text);
  for (int count = 0; rest.size() >= 5 && count < 24; ++count) {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(rest[i]); };
    const auto length = static_cast<std::uint32_t>(text.size());
    const std::uint32_t begin = (byte(0) + 256u * byte(1) + 65536u * byte(2)) % (length + 1);
    const std::uint32_t end = std::min(length, begin + (byte(3) < 200 ? byte(3) % 8u : byte(3)));
    const std::size_t new_length = std::min<std::size_t>(byte(4) % 48u, rest.size() - 5);
    const std::string replacement(rest.substr(5, new_length));
    rest.remove_prefix(5 + new_length);

    undo.push_back(
        {{begin, begin + static_cast<std::uint32_t>(new_length)}, text.substr(begin, end - begin)});
    document.apply({{{begin, end}, replacement}});
    text.replace(begin, end - begin, replacement);
    if (count % 3 != 2) require_fresh(document, text);  // sometimes two edits meet before the next parse
  }
  require_fresh(document, text);
  std::reverse(undo.begin(), undo.end());
  document.apply(undo);
  require_fresh(document, start);
  return 0;
}
