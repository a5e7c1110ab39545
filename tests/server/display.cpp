#include "server/command_line/display.hpp"

#include <catch2/catch.hpp>

using namespace stepzero::server;

TEST_CASE("how wide characters are") {
  CHECK(next_glyph("a", 0).columns == 1);
  CHECK(next_glyph("é", 0).columns == 1);
  CHECK(next_glyph("形", 0).columns == 2);
  CHECK(next_glyph("😀", 0).columns == 2);
  CHECK(next_glyph("\u0301", 0).columns == 0);
  CHECK(next_glyph("\t", 0).columns == 4);
  CHECK(next_glyph("\t", 3).columns == 1);
}

TEST_CASE("nothing a file holds commands the terminal") {
  CHECK(harmless("a\x1b[31mb") == "a␛[31mb");
  CHECK(harmless("\xFF\xC3") == "\uFFFD\uFFFD");
  CHECK(harmless("\xED\xA0\x80") == "\uFFFD\uFFFD\uFFFD");
  CHECK(harmless("a\nb") == "a b");
  CHECK(harmless("\x7F") == "␡");
  CHECK(harmless("\u202Ex") == "\uFFFDx");
  CHECK(harmless(std::string_view("\0", 1)) == "␀");
}

TEST_CASE("colours are off where they are not wanted") {
  CHECK(painted("x", ansi::red, false) == "x");
  CHECK(painted("x", ansi::red, true) == "\x1b[1;31mx\x1b[0m");
}
