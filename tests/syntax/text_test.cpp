// Lines, and positions in every encoding.
#include "syntax/name.hpp"
#include "syntax/text.hpp"

#include <catch2/catch.hpp>

#include <random>

using namespace stepzero::syntax;

namespace {
constexpr Encoding encodings[] = {Encoding::utf8, Encoding::utf16, Encoding::codepoint};
}

TEST_CASE("lines end at every kind of line ending") {
  const Text text("a\nbc\r\nd\re\n");
  REQUIRE(text.line_count() == 5);
  CHECK(text.line(0) == "a");
  CHECK(text.line(1) == "bc");
  CHECK(text.line(2) == "d");
  CHECK(text.line(3) == "e");
  CHECK(text.line(4).empty());
  CHECK(text.line(9).empty());
  CHECK(text.line_start(2) == 6);
  CHECK(text.line_start(9) == text.size());
  CHECK(Text("").line_count() == 1);
}

TEST_CASE("columns count the units of the encoding") {
  const Text text("x = '\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80' # z\ny");  // é € 😀
  const std::uint32_t after = 5 + 2 + 3 + 4;
  CHECK(text.position(after, Encoding::utf8) == Position{0, 14});
  CHECK(text.position(after, Encoding::utf16) == Position{0, 9});
  CHECK(text.position(after, Encoding::codepoint) == Position{0, 8});
  CHECK(text.offset({0, 14}, Encoding::utf8) == after);
  CHECK(text.offset({0, 9}, Encoding::utf16) == after);
  CHECK(text.offset({0, 8}, Encoding::codepoint) == after);
}

TEST_CASE("places inside a code point move back to its start") {
  const Text text("\xf0\x9f\x98\x80!");
  CHECK(text.offset({0, 1}, Encoding::utf16) == 0);  // between the surrogates
  CHECK(text.offset({0, 2}, Encoding::utf8) == 0);
  CHECK(text.position(3, Encoding::utf16) == Position{0, 0});
  CHECK(text.position(3, Encoding::utf8) == Position{0, 0});
}

TEST_CASE("places past an end mean the end") {
  const Text text("ab\r\nc");
  for (const Encoding encoding : encodings) {
    CHECK(text.offset({0, 99}, encoding) == 2);
    CHECK(text.offset({1, 99}, encoding) == 5);
    CHECK(text.offset({7, 0}, encoding) == 5);
    CHECK(text.position(99, encoding) == Position{1, 1});
    CHECK(text.position(3, encoding) == Position{0, 2});  // between the two characters of a line ending
  }
}

TEST_CASE("a byte that is no part of a well-formed sequence counts as one") {
  // A lone continuation, an overlong form, an encoded surrogate, a truncated sequence.
  const Text text("\x80\xc0\xaf\xed\xa0\x80\xe2\x82");
  for (const Encoding encoding : encodings)
    for (std::uint32_t at = 0; at <= text.size(); ++at) {
      CHECK(text.position(at, encoding) == Position{0, at});
      CHECK(text.offset({0, at}, encoding) == at);
    }
}

TEST_CASE("slices are clamped") {
  const Text text("abc");
  CHECK(text.slice({1, 99}) == "bc");
  CHECK(text.slice({7, 9}).empty());
  CHECK(text.slice({2, 1}).empty());
}

TEST_CASE("an offset survives the way through every encoding") {
  std::mt19937 random(1);
  const std::string_view parts[] = {"a", " ", "\n", "\r", "\r\n", "\xc3\xa9", "\xe2\x82\xac",
      "\xf0\x9f\x98\x80", "\x80", "\xf0\x9f", "\xff", std::string_view("\0", 1)};
  for (int round = 0; round < 300; ++round) {
    std::string bytes;
    for (int count = static_cast<int>(random() % 30); count > 0; --count)
      bytes += parts[random() % std::size(parts)];
    const Text text(bytes);
    for (std::uint32_t at = 0; at <= text.size(); ++at)
      for (const Encoding encoding : encodings) {
        const Position position = text.position(at, encoding);
        const std::uint32_t back = text.offset(position, encoding);
        REQUIRE(back <= at);
        REQUIRE(text.position(back, encoding) == position);
        REQUIRE(at - back < 4);
      }
  }
}

TEST_CASE("names are equal exactly if their texts are") {
  CHECK(Name("torch") == Name(std::string("torch")));
  CHECK_FALSE(Name("torch") == Name("Torch"));
  CHECK(Name("torch").text() == "torch");
  CHECK(Name("torch").hash() == std::hash<Name>{}(Name("torch")));
  CHECK(Name().empty());
  CHECK(Name("").empty());
  CHECK(Name("") == Name());
  for (int index = 0; index < 100'000; ++index) Name(std::string("n").append(std::to_string(index)));
  CHECK(Name("n70000").text() == "n70000");
}
