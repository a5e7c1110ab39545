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
  CHECK(sanitized("a\x1b[31mb") == "a␛[31mb");
  CHECK(sanitized("\xFF\xC3") == "\uFFFD\uFFFD");
  CHECK(sanitized("\xED\xA0\x80") == "\uFFFD\uFFFD\uFFFD");
  CHECK(sanitized("a\nb") == "a b");
  CHECK(sanitized("\x7F") == "␡");
  CHECK(sanitized("\u202Ex") == "\uFFFDx");
  CHECK(sanitized(std::string_view("\0", 1)) == "␀");
}

TEST_CASE("colors are off where they are not wanted") {
  CHECK(painted("x", ansi::red, false) == "x");
  CHECK(painted("x", ansi::red, true) == "\x1b[1;31mx\x1b[0m");
}
