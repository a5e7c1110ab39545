// Rounds of fixes, with an analysis made to order: it finds what a test says and really reads the texts.
#include "server/command_line/fix_run.hpp"

#include "folder.hpp"

#include <catch2/catch.hpp>

using namespace stepzero;
using namespace stepzero::server;

namespace {

// Each occurrence of a word is a finding whose fix puts another in its place.
struct Replacement {
  std::string word;
  std::string with;
};

Checker::Analyze finder(std::vector<Replacement> replacements) {
  return [replacements](const program::Sources& sources, const std::string& path, const snapshot::Options&) {
    snapshot::Result result;
    const std::string& text = sources.module(path)->text->bytes();
    for (const Replacement& one : replacements) {
      for (std::size_t at = text.find(one.word); at != std::string::npos; at = text.find(one.word, at + 1)) {
        const auto begin = static_cast<std::uint32_t>(at);
        rules::Finding finding;
        finding.rule = "test/word";
        finding.where = {path, {begin, begin + static_cast<std::uint32_t>(one.word.size())}};
        finding.message = one.word;
        finding.fixes.push_back({"Write " + one.with, true, {{finding.where, one.with}}});
        result.findings.push_back(finding);
      }
    }
    return result;
  };
}

struct Fixed {
  FixRun run;
  std::map<std::string, std::string> texts;  // those that changed, by shown name
};

Fixed fix(const Folder& folder, const Checker::Analyze& analyze) {
  ConfigurationFiles configuration;
  const Inputs inputs = find_inputs({folder.path}, "", configuration);
  const Checker checker(inputs, configuration, {}, analyze);
  std::vector<Checked> results;
  results.reserve(inputs.files.size());
  for (const std::string& file : inputs.files) results.push_back(checker.check(file, nullptr));
  Fixed fixed{run_fixes(inputs, checker, results), {}};
  for (const auto& [path, changed] : fixed.run.changed) {
    fixed.texts[path.substr(folder.path.size() + 1)] = changed.after->text->bytes();
  }
  return fixed;
}

using Texts = std::map<std::string, std::string>;

}  // namespace

TEST_CASE("fixes are applied until none is left") {
  const Folder folder;
  folder.write("a.py", "one = 1\r\none = 1\r\n");
  folder.write("b.py", "other = 1\n");
  const Fixed fixed = fix(folder, finder({{"one", "two"}, {"two", "three"}}));
  CHECK(fixed.texts == Texts{{"a.py", "three = 1\r\nthree = 1\r\n"}});
  CHECK(fixed.run.applied == 4);
  CHECK(fixed.run.notes.empty());
  CHECK(fixed.run.results[0].findings.empty());
  CHECK(Folder::read(folder / "a.py") == "one = 1\r\none = 1\r\n");
}

TEST_CASE("of two fixes that overlap the second waits for what the first leaves") {
  const Folder folder;
  folder.write("a.py", "abc = 1\n");
  CHECK(fix(folder, finder({{"ab", "x"}, {"bc", "y"}})).texts == Texts{{"a.py", "xc = 1\n"}});
}

TEST_CASE("fixes that undo each other come to an end") {
  const Folder folder;
  folder.write("a.py", "ping = 1\n");
  const Fixed fixed = fix(folder, finder({{"ping", "pong"}, {"pong", "ping"}}));
  REQUIRE(fixed.run.notes.size() == 1);
  CHECK_THAT(fixed.run.notes[0], Catch::Contains("undo each other"));
}

TEST_CASE("fixes that never end come to an end") {
  const Folder folder;
  folder.write("a.py", "x = 1\n");
  const Fixed fixed = fix(folder, finder({{"x =", "xx ="}}));
  REQUIRE(fixed.run.notes.size() == 1);
  CHECK_THAT(fixed.run.notes[0], Catch::Contains("rounds"));
}

TEST_CASE("a fix that leaves no Python behind is not taken, the others are") {
  const Folder folder;
  folder.write("a.py", "good = 1\nbad = 2\n");
  const Fixed fixed = fix(folder, finder({{"bad", "def ("}, {"good", "better"}}));
  CHECK(fixed.texts == Texts{{"a.py", "better = 1\nbad = 2\n"}});
  REQUIRE(fixed.run.notes.size() == 1);
  CHECK_THAT(fixed.run.notes[0], Catch::Contains("a.py: \"Write def (\""));
}

TEST_CASE("code that was broken before may still be fixed") {
  const Folder folder;
  folder.write("a.py", "good = 1\ndef (\n");
  CHECK(fix(folder, finder({{"good", "better"}})).texts == Texts{{"a.py", "better = 1\ndef (\n"}});
}

TEST_CASE("files that read an edited one are checked again") {
  const Folder folder;
  folder.write("a.py", "one = 1\n");
  folder.write("b.py", "import a\n");
  const Checker::Analyze words = finder({{"one", "two"}});
  const auto analyze = [&](const program::Sources& sources, const std::string& path,
                           const snapshot::Options& options) {
    snapshot::Result result = words(sources, path, options);
    if (!path.ends_with("b.py")) return result;
    result.read = {folder / "a.py"};
    if (sources.module(folder / "a.py")->text->bytes() != "two = 1\n") return result;
    rules::Finding finding;
    finding.rule = "test/two";
    finding.where = {path, {0, 1}};
    result.findings.push_back(finding);
    return result;
  };
  CHECK(fix(folder, analyze).run.results[1].findings.size() == 1);
}
