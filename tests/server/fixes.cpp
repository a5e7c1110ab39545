#include "server/command_line/fixes.hpp"

#include <catch2/catch.hpp>

using namespace stepzero;
using namespace stepzero::server;

namespace {

rules::TextEdit edit(std::uint32_t begin, std::uint32_t end, std::string text, std::string path = "/a.py") {
  return {{std::move(path), {begin, end}}, std::move(text)};
}

rules::Finding finding(std::vector<rules::TextEdit> edits, bool preferred = true, std::string title = "Fix") {
  rules::Finding result;
  result.rule = "shape/matmul";
  result.where = edits.at(0).where;
  result.fixes.push_back({std::move(title), preferred, std::move(edits)});
  return result;
}

std::vector<std::size_t> chosen(
    const std::vector<rules::Finding>& findings, const std::set<std::string>& refused = {}) {
  std::vector<const rules::Finding*> all;
  all.reserve(findings.size());
  for (const rules::Finding& one : findings) all.push_back(&one);
  std::vector<std::size_t> result;
  for (const ChosenFix& fix : choose_fixes(all, {"/a.py", "/b.py"}, refused)) {
    result.push_back(static_cast<std::size_t>(fix.finding - findings.data()));
  }
  return result;
}

using Indices = std::vector<std::size_t>;

}  // namespace

TEST_CASE("fixes that overlap wait for the next round") {
  CHECK(chosen({finding({edit(0, 5, "x")}), finding({edit(3, 8, "y")}), finding({edit(9, 10, "z")})}) ==
      Indices{0, 2});
  CHECK(chosen({finding({edit(4, 4, "x")}), finding({edit(4, 4, "y")})}) == Indices{0});
  CHECK(chosen({finding({edit(4, 4, "x")}), finding({edit(4, 4, "x")})}) == Indices{0, 1});
  CHECK(chosen({finding({edit(0, 1, "x"), edit(5, 6, "x", "/b.py")}), finding({edit(5, 6, "y", "/b.py")})}) ==
      Indices{0});
}

TEST_CASE("only preferred fixes of files that may be edited") {
  CHECK(chosen({finding({edit(0, 1, "x")}, false)}).empty());
  CHECK(chosen({finding({edit(0, 1, "x"), edit(0, 1, "x", "/library.py")})}).empty());
}

TEST_CASE("a refused fix stays refused") {
  const std::vector<rules::Finding> findings = {
      finding({edit(0, 1, "x")}, true, "One"), finding({edit(0, 1, "y")}, true, "Two")};
  CHECK(chosen(findings, {key({&findings[0], &findings[0].fixes[0]})}) == Indices{1});
}

TEST_CASE("edits are applied from any order, equal ones once") {
  CHECK(apply_edits("abcdef", {edit(4, 5, "E"), edit(0, 1, "A"), edit(6, 6, "!"), edit(0, 1, "A")}) ==
      "AbcdEf!");
  CHECK(apply_edits("abc", {edit(2, 99, "X")}) == "abX");
  CHECK(apply_edits("", {edit(0, 0, "x\n")}) == "x\n");
}

TEST_CASE("new lines end as those of the text") {
  CHECK(apply_edits("a\r\nb\r\n", {edit(3, 3, "x\ny\r\n")}) == "a\r\nx\r\ny\r\nb\r\n");
  CHECK(apply_edits("a\nb\n", {edit(2, 2, "x\n")}) == "a\nx\nb\n");
}
