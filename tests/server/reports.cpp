// The formats of `stepzero check`, on findings made by hand.
#include "server/command_line/report.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace stepzero;
using namespace stepzero::server;
using nlohmann::json;

namespace {

constexpr const char* train = "import torch\nif rank == 0:\n    dist.barrier()  # 形\n";

rules::Location at(const std::string& path, const std::string& text, const std::string& place) {
  const auto begin = static_cast<std::uint32_t>(text.find(place));
  return {path, {begin, begin + static_cast<std::uint32_t>(place.size())}};
}

Report report() {
  Names names("/project");
  names.give("/project/train.py", "train.py");
  Report result(names);
  result.files = 3;
  result.texts["/project/train.py"] = std::make_shared<syntax::Text>(train);
  result.texts["/else where/é.py"] = std::make_shared<syntax::Text>("x = 1\n");
  rules::Finding finding;
  finding.rule = "deadlock/rank-guarded-collective";
  finding.severity = rules::Severity::error;
  finding.where = at("/project/train.py", train, "dist.barrier()");
  finding.message = "Only rank 0 enters it: 100% hang, others wait.\nSecond line";
  finding.related.push_back({at("/project/train.py", train, "rank == 0"), "only rank 0 goes here"});
  finding.related.push_back({at("/else where/é.py", "x = 1\n", "x"), "set here"});
  finding.fixes.push_back(
      {"Run on all ranks", true, {{at("/project/train.py", train, "if rank == 0:\n    "), ""}}});
  result.findings.push_back(finding);
  rules::Finding hint;
  hint.rule = "made/up";
  hint.severity = rules::Severity::hint;
  hint.where = at("/project/train.py", train, "# 形");
  hint.message = "broken \xFF bytes";
  result.findings.push_back(hint);
  result.exit_status = 1;
  return result;
}

}  // namespace

TEST_CASE("the text format") {
  CHECK(text_report(report(), false) ==
      "train.py:3:5: error[deadlock/rank-guarded-collective]: Only rank 0 enters it: 100% hang, others "
      "wait. Second "
      "line\n"
      "2 | if rank == 0:\n"
      "3 |     dist.barrier()  # 形\n"
      "  |     ^^^^^^^^^^^^^^\n"
      "  -> train.py:2:4: only rank 0 goes here\n"
      "2 | if rank == 0:\n"
      "  |    ^^^^^^^^^\n"
      "  -> /else where/é.py:1:1: set here\n"
      "1 | x = 1\n"
      "  | ^\n"
      "  fix: Run on all ranks\n"
      "\n"
      "train.py:3:21: hint[made/up]: broken \uFFFD bytes\n"
      "2 | if rank == 0:\n"
      "3 |     dist.barrier()  # 形\n"
      "  |                     ^^^^\n"
      "\n"
      "Found 1 error, 1 hint in 1 of 3 files. `stepzero check --fix` would fix 1.\n");
  CHECK_THAT(text_report(report(), true), Catch::Contains("\x1b[1;31merror\x1b[0m"));
  Report empty(Names("/project"));
  empty.files = 1;
  CHECK(text_report(empty, false) == "No problems found in 1 file.\n");
  empty.fixed = 2;
  CHECK(text_report(empty, false) == "Fixed 2 problems.\nNo problems found in 1 file.\n");
}

TEST_CASE("the JSON format counts lines and code points from 1") {
  const json parsed = json::parse(json_report(report()));
  CHECK(parsed.at("version") == 1);
  CHECK(parsed.at("files") == 3);
  const json& first = parsed.at("diagnostics").at(0);
  CHECK(first.at("path") == "train.py");
  CHECK(first.at("rule") == "deadlock/rank-guarded-collective");
  CHECK(first.at("severity") == "error");
  CHECK(first.at("range") ==
      json::parse(R"({"start": {"line": 3, "column": 5}, "end": {"line": 3, "column": 19}})"));
  CHECK(first.at("related").at(1).at("path") == "/else where/é.py");
  const json& fix = first.at("fixes").at(0);
  CHECK(fix.at("preferred") == true);
  CHECK(fix.at("edits").at(0).at("new_text") == "");
  CHECK(fix.at("edits").at(0).at("range").at("end") == json::parse(R"({"line": 3, "column": 5})"));
  const json& second = parsed.at("diagnostics").at(1);
  CHECK(second.at("range").at("end").at("column") == 24);
  CHECK(second.at("message") == "broken \uFFFD bytes");
  CHECK(second.at("fixes") == json::array());
}

TEST_CASE("the GitHub format escapes what would end a command") {
  CHECK(github_report(report()) ==
      "::error title=deadlock/rank-guarded-collective,file=train.py,line=3,endLine=3,col=5,endColumn=19::"
      "Only rank 0 enters it: 100%25 hang, others wait.%0ASecond line%0Atrain.py:2: only rank 0 goes here%0A"
      "/else where/é.py:1: set here\n"
      "::notice title=made/up,file=train.py,line=3,endLine=3,col=21,endColumn=24::broken \xFF bytes\n");
  Report odd = report();
  odd.findings.resize(1);
  odd.findings[0].where = {"/project/a,b:c.py", {0, 0}};
  CHECK_THAT(github_report(odd), Catch::Contains("file=a%2Cb%3Ac.py,"));
}

TEST_CASE("the SARIF format") {
  const json parsed = json::parse(sarif_report(report()));
  CHECK(parsed.at("version") == "2.1.0");
  const json& run = parsed.at("runs").at(0);
  CHECK(run.at("tool").at("driver").at("name") == "stepzero");
  CHECK(run.at("columnKind") == "unicodeCodePoints");
  CHECK(run.at("originalUriBaseIds").at("SRCROOT").at("uri") == "file:///project/");
  const json& rules = run.at("tool").at("driver").at("rules");
  for (const json& result : run.at("results")) {
    CHECK(rules.at(result.at("ruleIndex").get<std::size_t>()).at("id") == result.at("ruleId"));
  }
  const json& first = run.at("results").at(0);
  CHECK(first.at("level") == "error");
  CHECK(first.at("locations").at(0).at("physicalLocation") == json::parse(R"({
    "artifactLocation": {"uri": "train.py", "uriBaseId": "SRCROOT"},
    "region": {"startLine": 3, "startColumn": 5, "endLine": 3, "endColumn": 19}})"));
  CHECK(first.at("relatedLocations").at(1).at("physicalLocation").at("artifactLocation").at("uri") ==
      "file:///else%20where/%C3%A9.py");
  CHECK(first.at("fixes")
            .at(0)
            .at("artifactChanges")
            .at(0)
            .at("replacements")
            .at(0)
            .at("insertedContent")
            .at("text") == "");
  CHECK(run.at("results").at(1).at("level") == "note");
  CHECK_FALSE(run.at("results").at(1).contains("fixes"));
}
