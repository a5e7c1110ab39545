#include "server/command_line/code_frame.hpp"

#include <catch2/catch.hpp>

using namespace stepzero;
using namespace stepzero::server;

namespace {

std::string frame(const std::string& text, const std::string& marked, std::size_t width = 120) {
  const auto begin = static_cast<std::uint32_t>(text.find(marked));
  const syntax::Span span = {begin, begin + static_cast<std::uint32_t>(marked.size())};
  return code_frame(syntax::Text(text), span, {{}, false, 1, width});
}

}  // namespace

TEST_CASE("carets stand under the place") {
  CHECK(frame("import torch\nx = torch.cat(y)\nz = 1\n", "torch.cat") ==
      "1 | import torch\n"
      "2 | x = torch.cat(y)\n"
      "  |     ^^^^^^^^^\n"
      "3 | z = 1\n");
}

TEST_CASE("wide characters and tabs do not move them") {
  CHECK(frame("s = '形状'; x = 1", "x") ==
      "1 | s = '形状'; x = 1\n"
      "  |             ^\n");
  CHECK(frame("\tif a:\n\t\tb\tc\n", "c") ==
      "1 |     if a:\n"
      "2 |         b   c\n"
      "  |             ^\n");
  CHECK(frame("s = '形'", "形") ==
      "1 | s = '形'\n"
      "  |      ^^\n");
}

TEST_CASE("broken bytes and control characters are shown as something") {
  CHECK(frame("a\xFF"
              "b = c",
            "b") ==
      "1 | a\uFFFDb = c\n"
      "  |   ^\n");
  CHECK(frame("\x1b[2J = c", "c") ==
      "1 | ␛[2J = c\n"
      "  |        ^\n");
}

TEST_CASE("every line ending") {
  CHECK(frame("a\r\nb\r\nc\r\n", "b") == "1 | a\n2 | b\n  | ^\n3 | c\n");
  CHECK(frame("a\rb\rc", "b") == "1 | a\n2 | b\n  | ^\n3 | c\n");
}

TEST_CASE("a place of many lines") {
  CHECK(frame("f(\n    a,\n    b)\nc\n", "f(\n    a,\n    b)") ==
      "1 | f(\n  | ^^\n"
      "2 |     a,\n  |     ^^\n"
      "3 |     b)\n  |     ^^\n"
      "4 | c\n");
  std::string text = "f(\n";
  for (int i = 0; i < 20; ++i) text += "  " + std::to_string(i) + ",\n";
  text += ")";
  CHECK(frame(text, text) ==
      " 1 | f(\n   | ^^\n 2 |   0,\n   |   ^^\n 3 |   1,\n   |   ^^\n   | …\n22 | )\n   | ^\n");
}

TEST_CASE("an empty place still has a caret") {
  const syntax::Text text("a\n");
  CHECK(code_frame(text, {2, 2}, {{}, false, 0, 120}) == "2 |\n  | ^\n");
  CHECK(code_frame(text, {900, 1000}, {{}, false, 0, 120}) == "2 |\n  | ^\n");
  CHECK(code_frame(syntax::Text(""), {0, 0}, {{}, false, 1, 120}) == "1 |\n  | ^\n");
}

TEST_CASE("a long line is cut around the place") {
  const std::string text = std::string(500, 'a') + "HERE" + std::string(500, 'b');
  CHECK(frame(text, "HERE", 40) ==
      "1 | …" + std::string(10, 'a') + "HERE" + std::string(24, 'b') + "…\n" + "  | " + std::string(11, ' ') +
          "^^^^\n");
  CHECK(frame("HERE" + std::string(500, 'b'), "HERE", 40) ==
      "1 | HERE" + std::string(34, 'b') + "…\n  | ^^^^\n");
  const std::string whole(500, 'c');
  CHECK(frame(whole, whole, 40) == "1 | " + std::string(38, 'c') + "…\n  | " + std::string(38, '^') + "\n");
  CHECK(frame(std::string(40, 'a'), "a", 40) == "1 | " + std::string(40, 'a') + "\n  | ^\n");
}

TEST_CASE("a line of 50 MB is no matter") {
  const syntax::Text text(std::string(50'000'000, 'x'));  // NOLINT(bugprone-string-constructor): it is long
  CHECK(code_frame(text, {10, 12}, {{}, false, 1, 120}).size() < 400);
}
