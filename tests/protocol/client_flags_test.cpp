// Capabilities become flags, leniently, and flags capabilities.
#include "protocol/lsp/client_flags.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace stepzero::lsp;

namespace {
ClientFlags flags(const std::string& text) { return Json::parse(text).get<ClientFlags>(); }
}  // namespace

TEST_CASE("no capabilities, strange ones and wrong ones are no flags") {
  for (const char* text : {"{}", "null", "3", "[]", R"({"textDocument":null,"workspace":[],"window":"x"})",
           R"({"textDocument":{"publishDiagnostics":1,"hover":{"contentFormat":"markdown"}}})",
           R"({"general":{"positionEncodings":"utf-8"},"stranger":{"a":[1]}})"}) {
    ClientFlags expected;
    expected.hover = std::string(text).find("hover") != std::string::npos;
    CHECK(flags(text) == expected);
  }
}

TEST_CASE("capabilities are found where the specification puts them") {
  const ClientFlags found = flags(
      R"({"textDocument":{"publishDiagnostics":{"relatedInformation":true,"tagSupport":{"valueSet":[1]},"dataSupport":false},)"
      R"("codeAction":{"codeActionLiteralSupport":{"codeActionKind":{"valueSet":[]}},"resolveSupport":{"properties":["edit"]}},)"
      R"("hover":{"contentFormat":["plaintext","markdown"]}},"workspace":{"workspaceEdit":{"documentChanges":true,)"
      R"("resourceOperations":["create","delete"]},"inlayHint":{"refreshSupport":true}},"window":{"workDoneProgress":true}})");
  ClientFlags expected;
  expected.publish_diagnostics = expected.related_information = expected.diagnostic_tag_unnecessary = true;
  expected.code_action_literals = expected.code_action_resolve_edit = true;
  expected.hover = expected.hover_markdown = expected.markdown = true;
  expected.document_changes = expected.resource_create = expected.resource_delete = true;
  expected.inlay_hint_refresh = expected.work_done_progress = true;
  CHECK(found == expected);
  CHECK(Json(found).get<ClientFlags>() == found);
}

TEST_CASE("the client's first encoding that is one decides") {
  const auto encoding = [](const std::string& list) {
    return flags(R"({"general":{"positionEncodings":)" + list + "}}").encoding();
  };
  CHECK(flags("{}").encoding() == PositionEncoding::utf16);
  CHECK(encoding("[]") == PositionEncoding::utf16);
  CHECK(encoding(R"(["utf-8","utf-16"])") == PositionEncoding::utf8);
  CHECK(encoding(R"(["utf-7",1,"utf-32","utf-16"])") == PositionEncoding::utf32);
  CHECK(encoding(R"(["utf-7"])") == PositionEncoding::utf16);
}
