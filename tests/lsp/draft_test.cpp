#include "server/documents/draft.hpp"

#include <catch2/catch.hpp>

#include <random>
#include <string>

using namespace stepzero::server;
using stepzero::syntax::Encoding;
using stepzero::syntax::Position;

namespace {

std::string after(
    std::string text, const std::vector<TextChange>& changes, Encoding encoding = Encoding::utf16) {
  Draft draft(std::move(text));
  const auto outcome = draft.apply(changes, encoding);
  return outcome.refused.empty() ? draft.bytes() : "refused: " + outcome.refused;
}

TextChange change(Position start, Position end, std::string text) {
  return {TextRange{start, end}, std::move(text)};
}

}  // namespace

TEST_CASE("several changes apply in order, each to the result of those before") {
  CHECK(after("abc\n", {change({0, 1}, {0, 2}, "XY\n"), change({1, 0}, {1, 1}, "")}) == "aXY\n\n");
  CHECK(after("abc", {{std::nullopt, "new\ntext"}, change({1, 0}, {1, 4}, "line")}) == "new\nline");
}

TEST_CASE("columns count in the negotiated encoding") {
  const std::string text = "a😀é = 1\n";
  CHECK(after(text, {change({0, 3}, {0, 4}, "e")}, Encoding::utf16) == "a😀e = 1\n");
  CHECK(after(text, {change({0, 5}, {0, 7}, "e")}, Encoding::utf8) == "a😀e = 1\n");
  CHECK(after(text, {change({0, 2}, {0, 3}, "e")}, Encoding::codepoint) == "a😀e = 1\n");
  // Inside a surrogate pair means its start.
  CHECK(after(text, {change({0, 2}, {0, 3}, "")}, Encoding::utf16) == "aé = 1\n");
}

TEST_CASE("positions are clamped to the line and to the text") {
  CHECK(after("ab\r\ncd", {change({0, 99}, {0, 99}, "!")}) == "ab!\r\ncd");
  CHECK(after("ab\ncd", {change({1, 0}, {7, 0}, "")}) == "ab\n");
  CHECK(after("ab", {change({9, 9}, {9, 9}, "\nend")}) == "ab\nend");
  CHECK(after("", {change({0, 0}, {0, 0}, "x")}) == "x");
}

TEST_CASE("a range that ends before it starts has no meaning") {
  CHECK(after("abc", {change({0, 2}, {0, 1}, "")}).starts_with("refused: "));
}

TEST_CASE("an edit of a whole text keeps the lines that stay") {
  Draft draft("a\nb\nc\nd\n");
  const auto outcome = draft.apply({{std::nullopt, "a\nb\nX\nd\n"}}, Encoding::utf8);
  REQUIRE(outcome.edits.size() == 1);
  CHECK(outcome.edits[0].span == stepzero::syntax::Span{4, 6});
  CHECK(outcome.edits[0].text == "X\n");
  CHECK(draft.bytes() == "a\nb\nX\nd\n");
}

TEST_CASE("a new text that ends in all of the old one is an insertion at its begin") {
  Draft draft("b\nc\n");
  const auto outcome = draft.apply({{std::nullopt, "a\nb\nc\n"}}, Encoding::utf8);
  REQUIRE(outcome.edits.size() == 1);
  CHECK(outcome.edits[0].span.begin == 0);
  CHECK(outcome.edits[0].span.end == 0);
  CHECK(outcome.edits[0].text == "a\n");
}

TEST_CASE("spliced line starts equal those of a fresh draft") {
  std::mt19937 engine(20240229);
  const auto random = [&engine] { return static_cast<std::uint32_t>(engine()); };
  const std::string pieces[] = {"", "x", "\n", "\r", "\r\n", "\n\r", "ab\ncd", "\r\n\r\n", "é", "\r\r"};
  Draft draft("one\r\ntwo\rthree\nfour");
  for (int round = 0; round < 3000; ++round) {
    const auto size = static_cast<std::uint32_t>(draft.bytes().size());
    const Position start{random() % 8, random() % 6};
    Position end{start.line + random() % 3, random() % 6};
    if (end < start) end = start;
    const std::string& piece = size > 200 ? pieces[0] : pieces[random() % std::size(pieces)];
    draft.apply({change(start, end, piece)}, Encoding::utf8);
    const Draft fresh(draft.bytes());
    for (std::uint32_t line = 0; line < 12; ++line)
      REQUIRE(draft.offset({line, 3}, Encoding::utf8) == fresh.offset({line, 3}, Encoding::utf8));
  }
}
