#include "server/command_line/diff.hpp"

#include <catch2/catch.hpp>

#include <random>
#include <sstream>
#include <vector>

using namespace stepzero::server;

namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.emplace_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return lines;
}

// What patch(1) makes of it, checking every line and count.
std::string patched(const std::string& before, const std::string& diff) {
  const std::vector<std::string> old_lines = lines_of(before);
  std::vector<std::string> hunks = lines_of(diff);
  if (hunks.empty()) return before;
  REQUIRE(hunks.size() > 2);
  std::string result;
  std::size_t at = 0;
  std::size_t made = 0;
  for (std::size_t i = 2; i < hunks.size();) {
    unsigned long old_start = 0, old_count = 1, new_start = 0, new_count = 1;
    char plus = 0;
    std::istringstream header(hunks[i++].substr(4));
    header >> old_start;
    if (header.peek() == ',') header.ignore() >> old_count;
    header >> plus >> new_start;
    if (header.peek() == ',') header.ignore() >> new_count;
    REQUIRE(plus == '+');
    const std::size_t begin = old_count == 0 ? old_start : old_start - 1;
    REQUIRE(begin >= at);
    for (; at < begin; ++at, ++made) result += old_lines.at(at);
    REQUIRE((new_count == 0 ? new_start : new_start - 1) == made);
    while (old_count + new_count > 0) {
      std::string line = hunks.at(i++);
      const char kind = line[0];
      line.erase(0, 1);
      if (i < hunks.size() && hunks[i][0] == '\\') {
        line.pop_back();
        ++i;
      }
      if (kind != '+') {
        REQUIRE(old_lines.at(at++) == line);
        --old_count;
      }
      if (kind != '-') {
        result += line;
        ++made;
        --new_count;
      }
    }
  }
  for (; at < old_lines.size(); ++at) result += old_lines[at];
  return result;
}

}  // namespace

TEST_CASE("a change with three lines around it") {
  const std::string before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
  const std::string after = "1\n2\n3\n4\nfive\n6\n7\n8\n9\n";
  CHECK(unified_diff(before, after, "a.py") ==
      "--- a.py\n+++ a.py\n"
      "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

TEST_CASE("equal texts have no difference") { CHECK(unified_diff("a\n", "a\n", "a.py").empty()); }

TEST_CASE("empty texts and missing line ends") {
  CHECK(unified_diff("", "a\n", "a.py") == "--- a.py\n+++ a.py\n@@ -0,0 +1 @@\n+a\n");
  CHECK(unified_diff("a\n", "", "a.py") == "--- a.py\n+++ a.py\n@@ -1 +0,0 @@\n-a\n");
  CHECK(unified_diff("a", "a\n", "a.py") ==
      "--- a.py\n+++ a.py\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n");
  CHECK(unified_diff("a\nb", "c\nb", "x y.py") ==
      "--- x y.py\t\n+++ x y.py\t\n@@ -1,2 +1,2 @@\n-a\n+c\n b\n\\ No newline at end of file\n");
}

TEST_CASE("near changes share a hunk, far ones do not") {
  const auto count = [](int gap) {
    std::string middle;
    for (int i = 0; i < gap; ++i) middle += "line\n";
    const std::string diff = unified_diff("a\n" + middle + "b\n", "c\n" + middle + "d\n", "a.py");
    std::size_t hunks = 0;
    for (std::size_t at = diff.find("@@ -"); at != std::string::npos; at = diff.find("@@ -", at + 1)) ++hunks;
    return hunks;
  };
  CHECK(count(6) == 1);
  CHECK(count(7) == 2);
}

TEST_CASE("any two texts: the difference makes one of the other") {
  std::mt19937 random(7);
  const auto text = [&](std::size_t most) {
    std::string result;
    const std::size_t lines = random() % most;
    for (std::size_t i = 0; i < lines; ++i) {
      result += std::string(1, static_cast<char>('a' + random() % 4));
      result += random() % 10 == 0 ? "\r\n" : "\n";
    }
    if (random() % 3 == 0) result += "end";
    return result;
  };
  for (int i = 0; i < 3000; ++i) {
    const std::string before = text(i % 2 == 0 ? 12 : 60);
    const std::string after = text(i % 2 == 0 ? 12 : 60);
    const std::string diff = unified_diff(before, after, "a.py");
    INFO(before << "----\n" << after << "----\n" << diff);
    REQUIRE(patched(before, diff) == after);
  }
}

TEST_CASE("large and wholly different texts") {
  std::string before, after;
  for (int i = 0; i < 5000; ++i) {
    before += std::to_string(i) + "\n";
    after += std::to_string(-i - 1) + "\n";
  }
  CHECK(patched(before, unified_diff(before, after, "a.py")) == after);
}
