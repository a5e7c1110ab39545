#include "wire.hpp"

#include "server/features/fixes.hpp"
#include "server/features/suppress.hpp"
#include "server/lsp/code_actions.hpp"

#include <algorithm>

using namespace stepzero;
using namespace stepzero::server;
namespace method = stepzero::lsp::method;

namespace {

const std::string uri = "file:///w/train.py";

lsp::CodeActionParams asking(lsp::Range range, std::optional<std::vector<std::string>> only = std::nullopt,
    std::vector<lsp::Diagnostic> diagnostics = {}) {
  lsp::CodeActionParams params;
  params.text_document.uri = uri;
  params.range = range;
  params.context.only = std::move(only);
  params.context.diagnostics = std::move(diagnostics);
  return params;
}

std::vector<lsp::CodeAction> actions_at(Wire& wire, const lsp::CodeActionParams& params) {
  const auto outcome = wire.ask(method::code_action, params);
  REQUIRE(outcome);
  std::vector<lsp::CodeAction> found;
  for (const auto& each : **outcome.result) found.push_back(std::get<lsp::CodeAction>(each));
  return found;
}

std::vector<std::string> titles(const std::vector<lsp::CodeAction>& actions) {
  std::vector<std::string> found;
  found.reserve(actions.size());
  for (const auto& action : actions) found.push_back(action.title);
  return found;
}

std::string suppressed(const std::string& text, std::string_view rule = "a/b") {
  const auto module = syntax::parse(text);
  const auto edit = ignore_here(*module, static_cast<std::uint32_t>(text.find('@')), rule);
  if (!edit) return "not offered";
  return std::string(text).replace(edit->span.begin, edit->span.end - edit->span.begin, edit->text);
}

std::string suppressed_in_file(const std::string& text, std::string_view rule = "a/b") {
  const auto edit = ignore_in_file(*syntax::parse(text), rule);
  return std::string(text).replace(edit.span.begin, edit.span.end - edit.span.begin, edit.text);
}

}  // namespace

TEST_CASE("actions of a finding: its fixes, all fixes, and the comments") {
  Wire wire;
  wire.flags.code_action_preferred = true;
  wire.start();
  wire.open(uri, "y = BUG\nz = BUG\n", 4);
  const auto actions = actions_at(wire, asking({{0, 4}, {0, 4}}));
  CHECK(titles(actions) ==
      std::vector<std::string>{"Mend it", "Hide it", "Fix all that stepzero can fix for certain",
          "Ignore test/bug here", "Ignore test/bug in this file"});
  CHECK(actions[0].is_preferred);
  CHECK_FALSE(actions[1].is_preferred);
  REQUIRE(actions[0].diagnostics.size() == 1);
  CHECK(actions[0].diagnostics[0].range == lsp::Range{{0, 4}, {0, 7}});
  REQUIRE(actions[0].edit->changes);
  CHECK(actions[0].edit->changes->at(uri) ==
      std::vector<lsp::TextEdit>{{{{0, 4}, {0, 7}}, "OK", std::nullopt}});
  CHECK(actions[2].edit->changes->at(uri).size() == 2);
  CHECK(actions[3].edit->changes->at(uri)[0].new_text == "  # stepzero: ignore[test/bug]");
  CHECK(actions[4].edit->changes->at(uri)[0].new_text == "# stepzero: ignore-file[test/bug]\n");
}

TEST_CASE("actions are filtered by kind") {
  Wire wire;
  wire.start();
  wire.open(uri, "BUG\n");
  const lsp::Range range{{0, 0}, {0, 0}};
  const auto of = [&](const std::string& kind) { return titles(actions_at(wire, asking(range, {{kind}}))); };
  CHECK(of("quickfix").size() == 4);
  CHECK(of("source") == std::vector<std::string>{"Fix all that stepzero can fix for certain"});
  CHECK(of("source.fixAll.stepzero").size() == 1);
  CHECK(of("source.fixAll.other").empty());
  CHECK(of("refactor").empty());
}

TEST_CASE("edits name the version where the client takes it, and are made late where it asks for them") {
  Wire wire;
  wire.flags.document_changes = wire.flags.code_action_data = wire.flags.code_action_resolve_edit = true;
  wire.start();
  wire.open(uri, "BUG\n", 4);
  const auto actions = actions_at(wire, asking({{0, 0}, {0, 0}}));
  CHECK_FALSE(actions[0].edit.has_value());
  const auto resolved = wire.ask(method::resolve_code_action, actions[0]);
  REQUIRE(resolved);
  const auto edit = std::get<lsp::TextDocumentEdit>(resolved.result->edit->document_changes->at(0));
  CHECK(edit.text_document == lsp::OptionalVersionedTextDocumentIdentifier{uri, 4});
  wire.change(uri, 5, "\nBUG\n");
  const auto late = wire.ask(method::resolve_code_action, actions[0]);
  CHECK(late.error.code == protocol::error_code::content_modified);
}

TEST_CASE("a client without literals gets commands, which apply the fix") {
  Wire wire;
  wire.flags.code_action_literals = false;
  wire.flags.apply_edit = wire.flags.document_changes = GENERATE(true, false);
  const auto capabilities = wire.start().capabilities;
  CHECK(capabilities.execute_command->commands ==
      std::vector<std::string>{"stepzero.schedule", "stepzero.fix"});
  std::vector<lsp::ApplyWorkspaceEditParams> applied;
  bool agrees = true;
  wire.client->on(method::apply_edit,
      [&](lsp::ApplyWorkspaceEditParams params, protocol::Reply<lsp::ApplyWorkspaceEditResult> reply) {
        applied.push_back(std::move(params));
        reply(
            {agrees, agrees ? std::nullopt : std::optional<std::string>("the file is locked"), std::nullopt});
      });
  wire.open(uri, "y = BUG\n", 4);
  const auto outcome = wire.ask(method::code_action, asking({{0, 4}, {0, 4}}));
  REQUIRE(outcome);
  const auto& offered = **outcome.result;
  REQUIRE(offered.size() == 5);
  std::vector<lsp::Command> commands;
  commands.reserve(offered.size());
  for (const auto& each : offered) commands.push_back(std::get<lsp::Command>(each));
  CHECK(commands[0].title == "Mend it");
  const auto run = [&](const lsp::Command& command) {
    return wire.ask(method::execute_command, {command.command, command.arguments, std::nullopt});
  };
  const auto done = run(commands[0]);
  REQUIRE(done);
  if (wire.flags.apply_edit) {
    REQUIRE(applied.size() == 1);
    const auto edit = std::get<lsp::TextDocumentEdit>(applied[0].edit.document_changes->at(0));
    CHECK(edit.text_document == lsp::OptionalVersionedTextDocumentIdentifier{uri, 4});
    CHECK(edit.edits == std::vector<lsp::TextEdit>{{{{0, 4}, {0, 7}}, "OK", std::nullopt}});
    agrees = false;
    CHECK_THAT(run(commands[1]).error.message, Catch::Contains("the file is locked"));
  } else {
    CHECK(applied.empty());
    CHECK(protocol::from_any<lsp::WorkspaceEdit>(*done.result).changes->at(uri)[0].new_text == "OK");
  }
  wire.change(uri, 5, "\ny = BUG\n");
  CHECK(run(commands[0]).error.code == protocol::error_code::content_modified);
  CHECK(wire.ask(method::execute_command, {"stepzero.fix", {}, std::nullopt}).error.code ==
      protocol::error_code::invalid_params);
}

TEST_CASE("fixes that do not go together are not applied together") {
  const auto edit = [](std::uint32_t begin, std::uint32_t end, std::string text) {
    return rules::TextEdit{{"/a.py", {begin, end}}, std::move(text)};
  };
  const auto finding = [](std::vector<rules::TextEdit> edits, bool preferred = true) {
    return rules::Finding{
        "a/b", rules::Severity::error, {"/a.py", {0, 1}}, "x", {}, {{"fix", preferred, std::move(edits)}}};
  };
  const auto chosen = fix_all(
      {finding({edit(0, 4, "A")}), finding({edit(3, 5, "B"), edit(9, 9, "C")}),
          finding({edit(4, 6, "D")}, false), finding({edit(4, 6, "E")}),
          finding({edit(0, 4, "A"), edit(8, 8, "import x\n")}), finding({edit(8, 8, "import y\n")}),
          finding({{{"/other.py", {0, 1}}, "F"}})},
      "/a.py");
  std::vector<std::string> texts;
  texts.reserve(chosen.size());
  for (const auto& each : chosen) texts.push_back(each.new_text);
  CHECK(texts == std::vector<std::string>{"A", "E", "import x\n"});
}

TEST_CASE("a comment silences a rule at the end of its line") {
  CHECK(suppressed("x = a @ b\n") == "x = a @ b  # stepzero: ignore[a/b]\n");
  CHECK(suppressed("x = a @ b") == "x = a @ b  # stepzero: ignore[a/b]");
  CHECK(suppressed("x = a @ b  \r\ny\r\n") == "x = a @ b  # stepzero: ignore[a/b]\r\ny\r\n");
  CHECK(suppressed("x = a @ b  # noqa\n") == "x = a @ b  # noqa  # stepzero: ignore[a/b]\n");
  CHECK(suppressed("x = a @ b  # stepzero: ignore[c/d]\n") == "x = a @ b  # stepzero: ignore[c/d, a/b]\n");
  CHECK(suppressed("x = a @ b  # stepzero: ignore[]\n") == "x = a @ b  # stepzero: ignore[a/b]\n");
  CHECK(suppressed("x = a @ \"\"\"\n\"\"\"\n") == "not offered");
  CHECK(suppressed("x = a @ \\\n b\n") == "not offered");
}

TEST_CASE("a comment silences a rule in its file") {
  CHECK(suppressed_in_file("import torch\n") == "# stepzero: ignore-file[a/b]\nimport torch\n");
  CHECK(suppressed_in_file("#!/usr/bin/env python\n# -*- coding: utf-8 -*-\nx\n") ==
      "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n# stepzero: ignore-file[a/b]\nx\n");
  CHECK(suppressed_in_file("# stepzero: ignore-file[c/d]\nx\n") == "# stepzero: ignore-file[c/d, a/b]\nx\n");
  CHECK(suppressed_in_file("#!/usr/bin/env python") == "#!/usr/bin/env python\n# stepzero: ignore-file[a/b]");
  CHECK(suppressed_in_file("") == "# stepzero: ignore-file[a/b]\n");
}
