// The types of LSP: each text below is decoded and written again, and must come back as it was.
#include "protocol/lsp/methods.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace stepzero::lsp;
using stepzero::protocol::Codec;
using stepzero::protocol::DecodeError;

namespace {

template <class T> T decode(const std::string& text) {
  T value{};
  Codec<T>::read(Json::parse(text), value);
  return value;
}

template <class T> Json encode(const T& value) {
  Json out;
  Codec<T>::write(out, value);
  return out;
}

template <class T> void comes_back(const std::string& text) {
  CAPTURE(text);
  const T value = decode<T>(text);
  CHECK(encode(value) == Json::parse(text));
  CHECK(decode<T>(encode(value).dump()) == value);
}

template <class T> std::string error_of(const std::string& text) {
  try {
    decode<T>(text);
  } catch (const DecodeError& error) {
    return error.what();
  }
  return "";
}

const std::string range = R"({"start":{"line":1,"character":2},"end":{"line":3,"character":4}})";
const std::string location = R"({"uri":"file:///a","range":)" + range + "}";
const std::string diagnostic = R"({"range":)" + range + R"(,"message":"m")" +
    R"(,"severity":1,"code":"deadlock/x","codeDescription":{"href":"https://x"},)" +
    R"("source":"stepzero","tags":[1,2],"relatedInformation":[{"location":)" + location +
    R"(,"message":"here"}],"data":{"any":[null]}})";
const std::string bare_diagnostic = R"({"range":)" + range + R"(,"message":"m"})";
const std::string edit = R"({"range":)" + range + R"(,"newText":"x"})";

}  // namespace

TEST_CASE("basic structures come back as they were") {
  comes_back<Range>(range);
  comes_back<Location>(location);
  comes_back<LocationLink>(
      R"({"targetUri":"u","targetRange":)" + range + R"(,"targetSelectionRange":)" + range + "}");
  comes_back<OptionalVersionedTextDocumentIdentifier>(R"({"uri":"u","version":null})");
  comes_back<OptionalVersionedTextDocumentIdentifier>(R"({"uri":"u","version":-1})");
  comes_back<MarkupContent>(R"({"kind":"markdown","value":"*x*"})");
  comes_back<Command>(R"({"title":"t","command":"c"})");
  comes_back<Command>(R"({"title":"t","command":"c","arguments":[1,null,{}]})");
  comes_back<DocumentFilter>(R"({"language":"python","scheme":"file","pattern":"**/*.py"})");
  comes_back<HoverParams>(
      R"({"textDocument":{"uri":"u"},"position":{"line":0,"character":0},"workDoneToken":"t"})");
  comes_back<PositionEncoding>(R"("utf-32")");
}

TEST_CASE("documents and notebooks come back as they were") {
  comes_back<DidOpenTextDocumentParams>(
      R"({"textDocument":{"uri":"u","languageId":"python","version":1,"text":"x\u0000🙂"}})");
  comes_back<DidChangeTextDocumentParams>(
      R"({"textDocument":{"uri":"u","version":2},"contentChanges":[{"range":)" + range +
      R"(,"rangeLength":5,"text":"a"},{"text":"b"}]})");
  comes_back<WillSaveTextDocumentParams>(R"({"textDocument":{"uri":"u"},"reason":3})");
  comes_back<DidSaveTextDocumentParams>(R"({"textDocument":{"uri":"u"},"text":""})");
  comes_back<DidSaveTextDocumentParams>(R"({"textDocument":{"uri":"u"}})");
  comes_back<DidCloseTextDocumentParams>(R"({"textDocument":{"uri":"u"}})");
  const std::string cell =
      R"({"kind":2,"document":"vscode-notebook-cell:/a#1","metadata":{},"executionSummary":{"executionOrder":3,"success":true}})";
  comes_back<DidOpenNotebookDocumentParams>(
      R"({"notebookDocument":{"uri":"u","notebookType":"jupyter-notebook","version":0,"cells":[)" + cell +
      R"(]},"cellTextDocuments":[{"uri":"u","languageId":"python","version":1,"text":""}]})");
  comes_back<DidChangeNotebookDocumentParams>(
      R"({"notebookDocument":{"version":1,"uri":"u"},"change":{"metadata":{"a":1},"cells":{"structure":{"array":)"
      R"({"start":0,"deleteCount":1,"cells":[)" +
      cell +
      R"(]},"didOpen":[{"uri":"u","languageId":"python","version":1,"text":""}],"didClose":[{"uri":"v"}]},"data":[)" +
      cell + R"(],"textContent":[{"document":{"uri":"u","version":3},"changes":[{"text":"x"}]}]}}})");
  comes_back<DidSaveNotebookDocumentParams>(R"({"notebookDocument":{"uri":"u"}})");
  comes_back<DidCloseNotebookDocumentParams>(
      R"({"notebookDocument":{"uri":"u"},"cellTextDocuments":[{"uri":"v"}]})");
}

TEST_CASE("diagnostics and reports come back as they were") {
  comes_back<Diagnostic>(diagnostic);
  comes_back<Diagnostic>(bare_diagnostic);
  comes_back<Diagnostic>(R"({"range":)" + range + R"(,"message":"m","code":7})");
  comes_back<PublishDiagnosticsParams>(R"({"uri":"u","version":3,"diagnostics":[)" + diagnostic + "]}");
  comes_back<PublishDiagnosticsParams>(R"({"uri":"u","diagnostics":[]})");
  comes_back<DocumentDiagnosticParams>(
      R"({"textDocument":{"uri":"u"},"identifier":"i","previousResultId":"r","partialResultToken":1})");
  comes_back<DocumentDiagnosticReport>(R"({"kind":"full","resultId":"r","items":[)" + diagnostic +
      R"(],"relatedDocuments":{"v":{"kind":"unchanged","resultId":"s"},"w":{"kind":"full","items":[]}}})");
  comes_back<DocumentDiagnosticReport>(R"({"kind":"unchanged","resultId":"r"})");
  comes_back<DocumentDiagnosticReportPartialResult>(R"({"relatedDocuments":{}})");
  comes_back<WorkspaceDiagnosticParams>(R"({"previousResultIds":[{"uri":"u","value":"r"}]})");
  comes_back<WorkspaceDiagnosticReport>(R"({"items":[{"kind":"full","uri":"u","version":null,"items":[]},)"
                                        R"({"kind":"unchanged","uri":"v","version":2,"resultId":"r"}]})");
  comes_back<DiagnosticServerCancellationData>(R"({"retriggerRequest":false})");
}

TEST_CASE("edits and actions come back as they were") {
  comes_back<TextEdit>(edit);
  comes_back<WorkspaceEdit>(R"({"changes":{"file:///a%20b":[)" + edit + "]}}");
  comes_back<WorkspaceEdit>(
      R"({"documentChanges":[{"textDocument":{"uri":"u","version":null},"edits":[{"range":)" + range +
      R"(,"newText":"x","annotationId":"a"}]},{"kind":"create","uri":"u","options":{"overwrite":true}},)"
      R"({"kind":"rename","oldUri":"u","newUri":"v"},{"kind":"delete","uri":"v","options":{"recursive":true,)"
      R"("ignoreIfNotExists":true}}],"changeAnnotations":{"a":{"label":"l","needsConfirmation":true}}})");
  comes_back<ApplyWorkspaceEditParams>(R"({"label":"l","edit":{"changes":{}}})");
  comes_back<ApplyWorkspaceEditResult>(R"({"applied":false,"failureReason":"no","failedChange":1})");
  comes_back<CodeActionParams>(R"({"textDocument":{"uri":"u"},"range":)" + range +
      R"(,"context":{"diagnostics":[)" + diagnostic + R"(],"only":["quickfix"],"triggerKind":2}})");
  comes_back<CodeAction>(R"({"title":"t","kind":"quickfix","diagnostics":[)" + bare_diagnostic +
      R"(],"isPreferred":true,"disabled":{"reason":"r"},"edit":{"changes":{}},)"
      R"("command":{"title":"t","command":"c"},"data":7})");
  comes_back<CodeAction>(R"({"title":"t"})");
}

TEST_CASE("kinds of actions stand for what begins with them") {
  CHECK(kind_includes("", "quickfix"));
  CHECK(kind_includes("source", "source.fixAll.stepzero"));
  CHECK(kind_includes("source.fixAll", "source.fixAll.stepzero"));
  CHECK_FALSE(kind_includes("source.fixAll.stepzero", "source.fixAll"));
  CHECK_FALSE(kind_includes("source", "sources"));
  CHECK(CodeActionContext{}.wants("quickfix"));
  CHECK_FALSE(CodeActionContext{{}, std::vector<std::string>{}, {}}.wants("quickfix"));
}

TEST_CASE("features come back as they were") {
  comes_back<Hover>(R"({"contents":{"kind":"plaintext","value":"v"},"range":)" + range + "}");
  comes_back<InlayHintParams>(R"({"textDocument":{"uri":"u"},"range":)" + range + "}");
  comes_back<InlayHint>(
      R"({"position":{"line":0,"character":1},"label":": int","kind":1,"paddingLeft":true,"data":[]})");
  comes_back<InlayHint>(
      R"({"position":{"line":0,"character":1},"label":[{"value":"a","tooltip":"t","location":)" + location +
      R"(},{"value":"b","tooltip":{"kind":"markdown","value":"v"},"command":)" +
      R"({"title":"t","command":"c"}}],"textEdits":[)" + edit + R"(],"tooltip":"t"})");
  comes_back<CodeLens>(R"({"range":)" + range + R"(,"command":{"title":"t","command":"c"},"data":{}})");
  comes_back<DocumentSymbol>(R"({"name":"n","kind":26,"range":)" + range + R"(,"selectionRange":)" + range +
      R"(,"tags":[1],"detail":"d","children":[{"name":"c","kind":1,"range":)" + range +
      R"(,"selectionRange":)" + range + "}]}");
  comes_back<SymbolInformation>(
      R"({"name":"n","kind":12,"location":)" + location + R"(,"containerName":"c"})");
  comes_back<ReferenceParams>(
      R"({"textDocument":{"uri":"u"},"position":{"line":0,"character":0},"context":{"includeDeclaration":true}})");
}

TEST_CASE("the workspace, the window and progress come back as they were") {
  comes_back<ExecuteCommandParams>(R"({"command":"c","arguments":[{}],"workDoneToken":7})");
  comes_back<ConfigurationParams>(R"({"items":[{"scopeUri":"u","section":"stepzero"},{}]})");
  comes_back<DidChangeConfigurationParams>(R"({"settings":null})");
  comes_back<DidChangeWatchedFilesParams>(R"({"changes":[{"uri":"u","type":3}]})");
  comes_back<DidChangeWatchedFilesRegistrationOptions>(
      R"({"watchers":[{"globPattern":"**/*.py"},{"globPattern":{"baseUri":"u","pattern":"*"},"kind":7},)"
      R"({"globPattern":{"baseUri":{"uri":"u","name":"n"},"pattern":"*"}}]})");
  comes_back<DidChangeWorkspaceFoldersParams>(R"({"event":{"added":[{"uri":"u","name":"n"}],"removed":[]}})");
  comes_back<ShowMessageParams>(R"({"type":4,"message":"m"})");
  comes_back<ShowMessageRequestParams>(R"({"type":1,"message":"m","actions":[{"title":"t"}]})");
  comes_back<ShowDocumentParams>(
      R"({"uri":"u","external":true,"takeFocus":false,"selection":)" + range + "}");
  comes_back<ProgressParams>(R"({"token":"t","value":{"kind":"begin","title":"x"}})");
  comes_back<WorkDoneProgressBegin>(
      R"({"kind":"begin","title":"t","cancellable":true,"message":"m","percentage":0})");
  comes_back<WorkDoneProgressReport>(R"({"kind":"report","percentage":50})");
  comes_back<WorkDoneProgressEnd>(R"({"kind":"end","message":"m"})");
  CHECK(encode(progress_of(1, WorkDoneProgressEnd{})).dump() == R"({"token":1,"value":{"kind":"end"}})");
}

TEST_CASE("initialization comes back as it was") {
  comes_back<InitializeParams>(R"({"processId":null,"rootUri":null,"capabilities":{}})");
  comes_back<InitializeParams>(
      R"({"processId":7,"clientInfo":{"name":"c","version":"1"},"locale":"de","rootPath":"/a","rootUri":"file:///a",)"
      R"("initializationOptions":{"x":1},"capabilities":{"workspace":{"applyEdit":true}},"trace":"verbose",)"
      R"("workspaceFolders":[{"uri":"file:///a","name":"a"}],"workDoneToken":"t"})");
  comes_back<InitializeResult>(
      R"({"capabilities":{"positionEncoding":"utf-8","textDocumentSync":{"openClose":true,"change":2,"save":true},)"
      R"("hoverProvider":{},"codeActionProvider":{"codeActionKinds":["quickfix"],"resolveProvider":true},)"
      R"("inlayHintProvider":{"resolveProvider":true},"diagnosticProvider":{"identifier":"stepzero",)"
      R"("interFileDependencies":true,"workspaceDiagnostics":true},"executeCommandProvider":{"commands":["c"]},)"
      R"("notebookDocumentSync":{"notebookSelector":[{"notebook":"jupyter-notebook","cells":[{"language":"python"}]}]},)"
      R"("workspace":{"workspaceFolders":{"supported":true,"changeNotifications":true}},"experimental":{}},)"
      R"("serverInfo":{"name":"stepzero"}})");
  comes_back<RegistrationParams>(
      R"({"registrations":[{"id":"i","method":"m"},{"id":"j","method":"n","registerOptions":{}}]})");
  comes_back<UnregistrationParams>(R"({"unregisterations":[{"id":"i","method":"m"}]})");
  comes_back<LogTraceParams>(R"({"message":"m","verbose":"v"})");
  CHECK(decode<SetTraceParams>(R"({"value":"compact"})").value == TraceValue::messages);
}

TEST_CASE("the newest way of naming the folders counts") {
  const auto folders = [](const std::string& fields) {
    return decode<InitializeParams>(R"({"capabilities":{})" + fields + "}").folders();
  };
  using Folders = std::vector<WorkspaceFolder>;
  CHECK(folders("").empty());
  CHECK(folders(R"(,"rootPath":"/a b")") == Folders{{"file:///a%20b", "a b"}});
  CHECK(folders(R"(,"rootPath":"/x","rootUri":"file:///a")") == Folders{{"file:///a", "a"}});
  CHECK(folders(R"(,"rootUri":"file:///a","workspaceFolders":[])").empty());
  CHECK(folders(R"(,"rootUri":"file:///a","workspaceFolders":null)") == Folders{{"file:///a", "a"}});
}

TEST_CASE("a wrong field is named by its path") {
  CHECK(error_of<HoverParams>("null") == "expected an object, got null");
  CHECK(error_of<HoverParams>("{}") == "textDocument: is missing");
  CHECK(error_of<HoverParams>(R"({"textDocument":{"uri":7}})") ==
      "textDocument.uri: expected a string, got a number");
  CHECK(error_of<Position>(R"({"line":-1,"character":0})") ==
      "line: expected an unsigned integer, got a negative one");
  CHECK(error_of<Position>(R"({"line":0.5,"character":0})") ==
      "line: expected an unsigned integer, got a number");
  CHECK(
      error_of<DidChangeTextDocumentParams>(
          R"({"textDocument":{"uri":"u","version":1},"contentChanges":[{"text":""},{"range":{"start":[]},"text":""}]})") ==
      "contentChanges[1].range.start: expected an object, got an array");
  CHECK(error_of<VersionedTextDocumentIdentifier>(R"({"uri":"u","version":2147483648})") ==
      "version: expected an integer of 32 bits");
  CHECK(error_of<FileEvent>(R"({"uri":"u","type":4})") == "type: expected a value from 1 to 3, got 4");
  CHECK(error_of<MarkupContent>(R"({"kind":"html","value":""})") ==
      R"(kind: expected "plaintext" or "markdown")");
  CHECK(error_of<WorkspaceEdit>(R"({"changes":{"file:///a":[1]}})") ==
      "changes.file:///a[0]: expected an object, got a number");
}

TEST_CASE("numbers of any spelling are taken as far as they go") {
  CHECK(decode<Position>(R"({"line":3.0,"character":4294967295})") == Position{3, 2147483647});
  CHECK(decode<Position>(R"({"line":1.7976931348623157e308,"character":18446744073709551615})") ==
      Position{2147483647, 2147483647});
  CHECK(decode<Position>(R"({"line":1,"character":2,"unknown":{}})") == Position{1, 2});
}
