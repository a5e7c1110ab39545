#include "server/workspace/ignore.hpp"

#include <catch2/catch.hpp>

#include <chrono>

using stepzero::server::IgnorePatterns;

namespace {

struct Case {
  const char* patterns;
  const char* path;
  bool ignored;
};

}  // namespace

TEST_CASE("a pattern without a slash matches at every level") {
  const IgnorePatterns patterns("*.py\nbuild\n");
  CHECK(patterns.ignores("a.py"));
  CHECK(patterns.ignores("x/y/a.py"));
  CHECK(patterns.ignores("x/build/a.txt"));
  CHECK_FALSE(patterns.ignores("builds/a.txt"));
}

TEST_CASE("what git says of patterns and paths") {
  const Case cases[] = {
      {"/a.py", "a.py", true},
      {"/a.py", "x/a.py", false},
      {"x/a.py", "x/a.py", true},
      {"x/a.py", "y/x/a.py", false},
      {"build/", "build/a.py", true},
      {"build/", "x/build/a.py", true},
      {"build/", "build", false},
      {"a/**", "a/b/c.py", true},
      {"a/**", "a", false},
      {"**/a.py", "a.py", true},
      {"**/a.py", "x/y/a.py", true},
      {"a/**/b.py", "a/b.py", true},
      {"a/**/b.py", "a/x/y/b.py", true},
      {"a/**/b.py", "b.py", false},
      {"a**b", "a_x_b", true},
      {"a/*", "a/b/c.py", true},
      {"a/*.py", "a/b/c.py", false},
      {"*.py\n!keep.py", "keep.py", false},
      {"*.py\n!keep.py", "x/keep.py", false},
      {"!keep.py\n*.py", "keep.py", true},
      {"# a.py", "a.py", false},
      {"\\#a.py", "#a.py", true},
      {"\\!a.py", "!a.py", true},
      {"a.py   ", "a.py", true},
      {"a.py\\ ", "a.py ", true},
      {"a.py\r", "a.py", true},
      {"a?.py", "ab.py", true},
      {"a?.py", "a/.py", false},
      {"a[bc].py", "ac.py", true},
      {"a[!bc].py", "ac.py", false},
      {"a[^bc].py", "ad.py", true},
      {"a[a-f].py", "ae.py", true},
      {"a[]x].py", "a].py", true},
      {"a[[:digit:]].py", "a7.py", true},
      {"a[[:digit:]].py", "ax.py", false},
      {"a[.py", "a[.py", false},
      {"a\\*.py", "a*.py", true},
      {"a\\*.py", "ab.py", false},
      {"/", "a.py", false},
      {"", "a.py", false},
      {"\xEF\xBB\xBF/a.py", "a.py", true},
      {"x/**/", "x/y/a.py", true},
      {"*", "a/b/c", true},
  };
  for (const Case& one : cases) {
    INFO(one.patterns << " against " << one.path);
    CHECK(IgnorePatterns(one.patterns).ignores(one.path) == one.ignored);
  }
}

TEST_CASE("a file in an ignored folder stays ignored") {
  const IgnorePatterns patterns("build/\n!build/keep.py\n");
  CHECK(patterns.ignores("build/keep.py"));
  CHECK(patterns.verdict("build/keep.py", false) == IgnorePatterns::Verdict::kept);
}

TEST_CASE("no pattern takes long") {
  std::string pattern;
  for (int i = 0; i < 40; ++i) pattern += "*a";
  std::string folders;
  for (int i = 0; i < 40; ++i) folders += "**/a/";
  const IgnorePatterns patterns(pattern + "b\n" + folders + "b\n");
  std::string deep;
  for (int i = 0; i < 2000; ++i) deep += "a/";
  const auto start = std::chrono::steady_clock::now();
  CHECK_FALSE(patterns.verdict(std::string(5000, 'a'), false) == IgnorePatterns::Verdict::ignored);
  CHECK_FALSE(patterns.verdict(deep + "c", false) == IgnorePatterns::Verdict::ignored);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
}
