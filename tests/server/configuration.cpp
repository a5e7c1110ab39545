#include "server/configuration/configuration.hpp"
#include "server/configuration/value.hpp"

#include "folder.hpp"
#include "server/configuration/toml.hpp"
#include "server/workspace/libraries.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <random>

using namespace stepzero;
using namespace stepzero::server;

namespace {

const std::vector<std::string> rules_known = {
    "amp", "amp/unscaled-step", "shape", "shape/matmul", "shape/reshape"};

struct Understood {
  Meaning meaning;
  std::shared_ptr<syntax::Text> text;
  std::string at(std::size_t problem) const {
    return std::string(text->slice(meaning.problems.at(problem).where));
  }
};

Understood understand(const std::string& toml) {
  auto text = std::make_shared<syntax::Text>(toml);
  Toml read = read_toml(*text, {});
  REQUIRE(read.table);
  return {interpret(*read.table, rules_known), text};
}

}  // namespace

TEST_CASE("every setting of a file") {
  const auto [meaning, text] = understand(R"(select = ["shape", "amp/unscaled-step"]
ignore = ["shape/matmul"]
min-severity = "information"
fail-on = "warning"
exclude = ["build/", "*.gen.py"]
inlay-hints = "named"
library-folders = ["env", "/opt/packages"]
[severity]
amp = "warning"
"shape/reshape" = "off"
)");
  CHECK(meaning.problems.empty());
  const Layer& layer = meaning.layer;
  CHECK(layer.select == std::vector<std::string>{"shape", "amp/unscaled-step"});
  CHECK(layer.ignore == std::vector<std::string>{"shape/matmul"});
  CHECK(layer.min_severity == rules::Severity::information);
  CHECK(layer.fail_on == rules::Severity::warning);
  CHECK(layer.exclude == std::vector<std::string>{"build/", "*.gen.py"});
  CHECK(layer.inlay_hints == InlayHints::named);
  CHECK(layer.library_folders == std::vector<std::string>{"env", "/opt/packages"});
  CHECK(layer.severity.at("amp") == rules::Severity::warning);
  CHECK_FALSE(layer.severity.at("shape/reshape").has_value());
}

TEST_CASE("what cannot be meant is reported where it stands") {
  struct Case {
    const char* toml;
    const char* at;
    const char* message;
    const char* replacement;
  };
  const Case cases[] = {
      {"selct = []", "selct", "There is no setting \"selct\" (did you mean \"select\"?).", "select"},
      {"fail_on = \"error\"", "fail_on", "There is no setting \"fail_on\" (did you mean \"fail-on\"?).",
          "fail-on"},
      {"zzzzzz = 1", "zzzzzz", "There is no setting \"zzzzzz\".", ""},
      {"# é\nselect = [\"shap\"]", "\"shap\"", "There is no rule \"shap\" (did you mean \"shape\"?).",
          "\"shape\""},
      {"ignore = [3]", "3", "\"ignore\" takes a list of rules and families", ""},
      {"ignore = \"amp\"", "\"amp\"", "not a string.", ""},
      {"exclude = [true]", "true", "not a boolean.", ""},
      {"min-severity = \"eror\"", "\"eror\"", "\"hint\", not \"eror\".", "\"error\""},
      {"fail-on = 1", "1", "not a number.", ""},
      {"inlay-hints = true", "true", "\"on\", \"named\" or \"off\", not a boolean.", ""},
      {"inlay-hints = \"maybe\"", "\"maybe\"", "not \"maybe\".", ""},
      {"library-folders = \".venv\"", "\".venv\"", "\"library-folders\" takes a list of folders", ""},
      {"severity = []", "[]", "\"severity\" takes a table", ""},
      {"severity.ampp = \"off\"", "ampp", "There is no rule \"ampp\"", "amp"},
      {"severity = {amp = \"warn\"}", "\"warn\"", "\"off\", not \"warn\".", ""},
      {"[severity]\n\"shape/matmull\" = \"off\"", "\"shape/matmull\"", "(did you mean \"shape/matmul\"?)",
          "\"shape/matmul\""},
  };
  for (const Case& one : cases) {
    INFO(one.toml);
    const Understood understood = understand(one.toml);
    REQUIRE(understood.meaning.problems.size() == 1);
    CHECK(understood.at(0) == one.at);
    CHECK_THAT(understood.meaning.problems[0].message, Catch::Contains(one.message));
    CHECK(understood.meaning.problems[0].replacement == one.replacement);
  }
}

TEST_CASE("a list keeps what is right in it, and a list of nothing right counts for nothing") {
  CHECK(understand("select = [\"amp\", \"x\"]").meaning.layer.select == std::vector<std::string>{"amp"});
  CHECK_FALSE(understand("select = [\"x\"]").meaning.layer.select.has_value());
  CHECK(understand("select = []").meaning.layer.select.has_value());
}

TEST_CASE("the table of pyproject.toml, and all of stepzero.toml") {
  CHECK_FALSE(read_configuration("/w/pyproject.toml", "[tool.ruff]\nselect = [\"E\"]\n"));
  CHECK_FALSE(read_configuration("/w/pyproject.toml", ""));
  const auto shared = read_configuration("/w/pyproject.toml", "[tool.stepzero]\nfail-on = \"hint\"\n");
  REQUIRE(shared);
  CHECK(shared->layer.fail_on == rules::Severity::hint);
  CHECK(shared->folder == "/w");
  const auto own = read_configuration("/w/stepzero.toml", "fail-on = \"hint\"\n");
  REQUIRE(own);
  CHECK(own->layer.fail_on == rules::Severity::hint);
}

TEST_CASE("a broken settings file is reported, if it is about us") {
  CHECK_FALSE(read_configuration("/w/pyproject.toml", "[tool\n"));
  const auto own = read_configuration("/w/stepzero.toml", "fail-on = \"err\nx\n");
  REQUIRE(own);
  REQUIRE(own->problems.size() == 1);
  CHECK(own->problems[0].rule == configuration_rule);
  CHECK(own->problems[0].severity == rules::Severity::warning);
  CHECK(own->text->position(own->problems[0].where.span.begin, syntax::Encoding::codepoint).line == 0);
  CHECK(read_configuration("/w/pyproject.toml", "[tool.stepzero\n")->problems.size() == 1);
  CHECK(read_configuration("/w/pyproject.toml", "tool.stepzero = 3\n")->problems.size() == 1);
  CHECK(read_configuration("/w/stepzero.toml", "\xFF\xFE\x00")->problems.size() == 1);
  CHECK(read_configuration("/w/stepzero.toml", "x = " + std::string(10'000, '['))->problems.size() == 1);
}

TEST_CASE("characters that are not ASCII stand in quotes and comments") {
  const auto problems = [](const std::string& text) {
    return read_configuration("/w/stepzero.toml", text)->problems;
  };
  CHECK(problems(
      "# \u00e9\nexclude = [\"\u00e9/\", '\u00e9\"', \"\\\"\u00e9\", \"\"\"\u00e9\n\u00e9\"\"\"\"]  # \u00e9\n")
          .empty());
  const auto bare = problems("exclude = []\n\u00e9 = 1\n");
  REQUIRE(bare.size() == 1);
  CHECK(bare[0].message.find("stands in quotes") != std::string::npos);
  CHECK(bare[0].where.span.begin == 13);
  CHECK(problems("exclude = [\"\"\u00e9]\n").size() == 1);
}

TEST_CASE("no text harms the reader of settings") {
  const std::string seed =
      "[tool.stepzero]\nselect = [\"amp\", 'x']\nseverity = {loop = \"off\"}\n[[a.b]]\nc = "
      "1979-05-27T07:32:00Z\nd = \"\"\"x\\u00e9\"\"\"\ne = 0x1F\nf = -1.5e3\n# é\n";
  std::mt19937 random(11);
  for (int i = 0; i < 3000; ++i) {
    std::string text = seed;
    for (unsigned change = random() % 6 + 1; change > 0 && !text.empty(); --change) {
      const std::size_t at = random() % text.size();
      switch (random() % 4) {
      case 0: text[at] = "[]{}=\"'.,#\n\r\\ \0\xC3"[random() % 16]; break;
      case 1: text.erase(at, random() % 9); break;
      case 2: text.insert(at, text.substr(random() % text.size(), random() % 12)); break;
      default: text.resize(at + 1);
      }
    }
    INFO(text);
    const auto file = read_configuration("/w/stepzero.toml", text);
    REQUIRE(file);
    for (const rules::Finding& problem : file->problems) CHECK(problem.where.span.end <= text.size());
  }
}

TEST_CASE("the nearest file wins") {
  const Folder folder;
  folder.write("pyproject.toml", "[tool.stepzero]\nfail-on = \"hint\"\n");
  folder.write("a/pyproject.toml", "[project]\nname = \"a\"\n");
  folder.write("b/stepzero.toml", "fail-on = \"warning\"\n");
  folder.write("b/pyproject.toml", "[tool.stepzero]\nfail-on = \"information\"\n");
  ConfigurationFiles files;
  CHECK(files.nearest(folder / "x.py")->layer.fail_on == rules::Severity::hint);
  CHECK(files.nearest(folder / "a/deep/x.py")->layer.fail_on == rules::Severity::hint);
  CHECK(files.nearest(folder / "b/x.py")->layer.fail_on == rules::Severity::warning);
  CHECK(files.nearest(folder / "b/x.py") == files.nearest(folder / "b/c/y.py"));
  ConfigurationFiles bounded(folder / "a");
  CHECK(bounded.nearest(folder / "a/x.py")->path.empty());
  folder.write("a/stepzero.toml", "");
  CHECK(bounded.nearest(folder / "a/x.py")->path.empty());
  bounded.clear();
  CHECK(bounded.nearest(folder / "a/x.py")->path == folder / "a/stepzero.toml");
}

TEST_CASE("folders of installed packages lie beside the settings, or are reported") {
  const Folder folder;
  folder.write("env/lib/python3.11/site-packages/made/__init__.py", "");
  folder.write("plain/made.py", "");
  const auto file = read_configuration(
      folder / "stepzero.toml", "library-folders = [\"env\", \"plain\", \"nowhere\"]\n");
  CHECK(file->layer.library_folders ==
      std::vector<std::string>{folder / "env", folder / "plain", folder / "nowhere"});
  REQUIRE(file->problems.size() == 1);
  CHECK(file->problems[0].message == "There is no folder of installed packages \"nowhere\".");
  CHECK(file->text->slice(file->problems[0].where.span) == "\"nowhere\"");
  CHECK(installed_packages(folder / "env") ==
      std::vector<std::string>{folder / "env/lib/python3.11/site-packages"});
  CHECK(installed_packages(folder / "plain") == std::vector<std::string>{folder / "plain"});
  CHECK(library_folders({}, *file->layer.library_folders)[0] == folder / "env/lib/python3.11/site-packages");
  CHECK(library_folders({}, *file->layer.library_folders)[1] == folder / "plain");
}

TEST_CASE("the editor's settings have the same keys") {
  const auto read = [](const char* json) { return read_configuration(nlohmann::json::parse(json)); };
  const EditorConfiguration configuration = read(
      R"({"inlayHints": "named", "min-severity": "warning", "failOn": null, "trace": {"server": "off"},
               "severity": {"stepzero/configuration": "error"}, "exclude": ["x"]})");
  CHECK(configuration.problems.empty());
  CHECK(configuration.layer.inlay_hints == InlayHints::named);
  CHECK(configuration.layer.min_severity == rules::Severity::warning);
  CHECK(configuration.layer.severity.at("stepzero/configuration") == rules::Severity::error);
  CHECK_FALSE(configuration.layer.fail_on.has_value());
  CHECK(read("null").problems.empty());
  CHECK(read("[1]").problems.size() == 1);
  CHECK(read(R"({"inlayHint": "on"})").problems ==
      std::vector<std::string>{"There is no setting \"inlay-hint\" (did you mean \"inlay-hints\"?)."});
  CHECK(read(R"({"select": [["deep"]], "severity": {"amp": {}}})").problems.size() == 2);
}
