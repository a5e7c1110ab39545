#include "wire.hpp"

#include "server/workspace/notebook.hpp"

#include <algorithm>

using namespace stepzero;
using namespace stepzero::server;
namespace method = stepzero::lsp::method;

namespace {

const std::string notebook = "file:///w/a.ipynb";

std::string cell(int number) { return "vscode-notebook-cell:/w/a.ipynb#W" + std::to_string(number); }

lsp::NotebookCell code(int number) { return {lsp::NotebookCellKind::code, cell(number), {}, std::nullopt}; }

void open(Wire& wire, const std::vector<std::string>& texts) {
  lsp::DidOpenNotebookDocumentParams params;
  params.notebook_document = {notebook, "jupyter-notebook", 1, {}, {}};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const int number = static_cast<int>(i) + 1;
    params.notebook_document.cells.push_back(code(number));
    params.cell_text_documents.push_back({cell(number), "python", 1, texts[i]});
  }
  wire.client->notify(method::did_open_notebook, params);
}

lsp::DidChangeNotebookDocumentParams change(int version) {
  lsp::DidChangeNotebookDocumentParams params;
  params.notebook_document = {version, notebook};
  params.change.cells.emplace();
  return params;
}

void type(Wire& wire, int number, int version, std::optional<lsp::Range> range, const std::string& text) {
  auto params = change(version);
  std::vector<lsp::TextDocumentContentChangeEvent> events = {{range, std::nullopt, text}};
  params.change.cells->text_content.push_back({{cell(number), version}, protocol::to_any(events)});
  wire.client->notify(method::did_change_notebook, params);
}

std::vector<lsp::Diagnostic> last(const Wire& wire, int number) {
  const auto said = wire.published_for(cell(number));
  REQUIRE(!said.empty());
  return said.back().diagnostics;
}

lsp::CodeActionParams actions_at(int number, lsp::Range range) {
  lsp::CodeActionParams params;
  params.text_document = {cell(number)};
  params.range = range;
  return params;
}

}  // namespace

TEST_CASE("a notebook's diagnostics land in their cells, with the cells' versions") {
  Wire wire;
  const auto started = wire.start();
  REQUIRE(started.capabilities.notebook_document_sync.has_value());
  open(wire, {"import torch\n", "y = 1\nBUG", "", "BUG\r\nBUG"});
  wire.idle();
  CHECK(last(wire, 1).empty());
  REQUIRE(last(wire, 2).size() == 1);
  CHECK(last(wire, 2)[0].range == lsp::Range{{1, 0}, {1, 3}});
  CHECK(last(wire, 3).empty());
  REQUIRE(last(wire, 4).size() == 2);
  CHECK(last(wire, 4)[0].range == lsp::Range{{0, 0}, {0, 3}});
  CHECK(last(wire, 4)[1].range == lsp::Range{{1, 0}, {1, 3}});
  CHECK(wire.published_for(notebook).empty());
  for (const auto& each : wire.published) CHECK(each.version == 1);
}

TEST_CASE("cells are one program: what another cell imports is evidence here") {
  Wire wire;
  wire.flags.related_information = true;
  wire.start();
  wire.open("file:///w/other.py", "BUG\n");
  open(wire, {"import other", "BUG"});
  wire.idle();
  REQUIRE(last(wire, 2).size() == 1);
  REQUIRE(last(wire, 2)[0].related_information.size() == 1);
  CHECK(last(wire, 2)[0].related_information[0].location.uri == "file:///w/other.py");
}

TEST_CASE("an edit of a cell is analyzed at once, and only what it changes is said again") {
  Wire wire;
  wire.start();
  open(wire, {"import torch", "BUG", "z = 1"});
  wire.idle();
  wire.published.clear();
  type(wire, 2, 2, lsp::Range{{0, 0}, {0, 3}}, "fine\nand BUG");
  wire.idle();
  REQUIRE(last(wire, 2).size() == 1);
  CHECK(last(wire, 2)[0].range == lsp::Range{{1, 4}, {1, 7}});
  CHECK(wire.published_for(cell(2)).back().version == 2);
  CHECK(wire.published_for(cell(1)).empty());
  CHECK(wire.published_for(cell(3)).empty());
  type(wire, 2, 3, std::nullopt, "fine");
  wire.idle();
  CHECK(last(wire, 2).empty());
}

TEST_CASE("cells are added, moved and removed") {
  Wire wire;
  wire.start();
  open(wire, {"a = 1", "BUG"});
  wire.idle();
  auto params = change(2);
  params.change.cells->structure.emplace();
  params.change.cells->structure->array = {1, 0, {code(7)}};
  params.change.cells->structure->did_open.push_back({cell(7), "python", 1, "one\ntwo\nBUG"});
  wire.client->notify(method::did_change_notebook, params);
  wire.idle();
  CHECK(last(wire, 7)[0].range == lsp::Range{{2, 0}, {2, 3}});
  CHECK(last(wire, 2)[0].range == lsp::Range{{0, 0}, {0, 3}});

  params = change(3);
  params.change.cells->structure.emplace();
  params.change.cells->structure->array = {0, 2, {}};
  params.change.cells->structure->did_close = {{cell(1)}, {cell(7)}};
  wire.client->notify(method::did_change_notebook, params);
  wire.idle();
  CHECK(last(wire, 7).empty());
  CHECK(last(wire, 2)[0].range == lsp::Range{{0, 0}, {0, 3}});

  wire.client->notify(method::did_close_notebook, {{notebook}, {{cell(2)}}});
  wire.idle();
  CHECK(last(wire, 2).empty());
}

TEST_CASE("a cell that is not there, too many cells to delete, and a change of what is not open do no harm") {
  Wire wire;
  wire.start();
  open(wire, {"BUG"});
  auto params = change(2);
  params.change.cells->structure.emplace();
  params.change.cells->structure->array = {90, 90, {code(5)}};
  wire.client->notify(method::did_change_notebook, params);
  type(wire, 44, 3, std::nullopt, "BUG");
  auto of_another = change(1);
  of_another.notebook_document.uri = "file:///w/b.ipynb";
  wire.client->notify(method::did_change_notebook, of_another);
  wire.idle();
  CHECK(last(wire, 1).size() == 1);
  CHECK(wire.logged.size() == 2);
}

TEST_CASE("hover, inlay hints and quick-fixes speak of places in their cell") {
  Wire wire;
  wire.flags.document_changes = true;
  wire.start();
  open(wire, {"import torch\n\n", "# a\nx = float32[B]\n", "# b\nBUG"});
  wire.idle();
  const auto hover = wire.ask(method::hover, {{cell(2)}, {1, 0}, std::nullopt, std::nullopt});
  REQUIRE(hover);
  REQUIRE(hover.result->has_value());
  CHECK((**hover.result).range == lsp::Range{{1, 0}, {1, 1}});
  CHECK(!wire.ask(method::hover, {{cell(1)}, {1, 0}, std::nullopt, std::nullopt}).result->has_value());

  const auto hints = wire.ask(method::inlay_hint, {{cell(2)}, {{0, 0}, {9, 0}}, std::nullopt});
  REQUIRE((**hints.result).size() == 1);
  CHECK((**hints.result)[0].position == lsp::Position{1, 1});
  CHECK((**wire.ask(method::inlay_hint, {{cell(3)}, {{0, 0}, {9, 0}}, std::nullopt}).result).empty());

  const auto actions = wire.ask(method::code_action, actions_at(3, {{1, 1}, {1, 1}}));
  REQUIRE(!(**actions.result).empty());
  const auto& first = std::get<lsp::CodeAction>((**actions.result)[0]);
  CHECK(first.title == "Mend it");
  REQUIRE(first.edit.has_value());
  REQUIRE(first.edit->document_changes.has_value());
  const auto& edit = std::get<lsp::TextDocumentEdit>(first.edit->document_changes->at(0));
  CHECK(edit.text_document.uri == cell(3));
  CHECK(edit.text_document.version == 1);
  CHECK(edit.edits[0].range == lsp::Range{{1, 0}, {1, 3}});
  CHECK((**wire.ask(method::code_action, actions_at(2, {{1, 0}, {1, 1}})).result).size() == 1);  // fix-all
}

TEST_CASE("running a cell is no edit: a fix that was offered before is still applied") {
  Wire wire;
  wire.flags.document_changes = wire.flags.code_action_data = wire.flags.code_action_resolve_edit = true;
  wire.start();
  open(wire, {"import torch\n", "# b\nBUG"});
  wire.idle();
  const auto offered = wire.ask(method::code_action, actions_at(2, {{1, 1}, {1, 1}}));
  const auto& action = std::get<lsp::CodeAction>((**offered.result).at(0));
  REQUIRE(action.title == "Mend it");
  CHECK(!action.edit.has_value());
  wire.published.clear();
  auto ran = change(2);
  ran.change.cells->data.push_back(code(2));
  ran.change.cells->data.back().execution_summary = {1, true};
  wire.client->notify(method::did_change_notebook, ran);
  wire.idle();
  CHECK(wire.published.empty());
  const auto resolved = wire.ask(method::resolve_code_action, action);
  REQUIRE(resolved.result->edit.has_value());
  type(wire, 2, 2, std::nullopt, "# c\nBUG");
  const auto late = wire.ask(method::resolve_code_action, action);
  CHECK((!late.result || !late.result->edit.has_value()));
}

TEST_CASE("a client that pulls is pushed the diagnostics of cells, and pulls none of them") {
  Wire wire;
  wire.flags.pull_diagnostics = wire.flags.diagnostics_refresh = true;
  wire.start();
  open(wire, {"BUG"});
  wire.idle();
  CHECK(last(wire, 1).size() == 1);
  const auto pulled = wire.ask(
      method::diagnostic, {{cell(1)}, std::nullopt, std::nullopt, std::nullopt, std::nullopt});
  REQUIRE(pulled);
  CHECK(wire.diagnostic_refreshes == 0);
}

TEST_CASE("what IPython takes for itself is blanked, and nothing else") {
  const auto python = [](const std::string& text) {
    const std::string result = python_of_cell(text);
    CHECK(result.size() == text.size());
    return result;
  };
  const auto stays = [&](const std::string& text) { return python(text) == text; };
  CHECK(python("%matplotlib inline\nx = 1") == "                  \nx = 1");
  CHECK(python("if x:\n    !ls é\ny") == "if x:\n          \ny");
  CHECK(python("files = !ls\nx") == "           \nx");
  CHECK(python("%%time\nx = 1\n") == "      \nx = 1\n");
  CHECK(python("%%bash\nls -l\r\n") == "      \n     \r\n");
  CHECK(python("torch.cat?\n?torch\nx") == "          \n      \nx");
  CHECK(python("!pip install \\\n  torch\nx") == "              \n       \nx");
  CHECK(stays("x = ('%d'\n     % 3)\n"));
  CHECK(stays("text = '''\n%matplotlib\n!ls\n'''\n"));
  CHECK(stays("x = 7 \\\n  % 3\n"));
  CHECK(stays("x = a != b\ny = 3 % 2  # why?\n"));
  CHECK(stays("x = '(' # (\ny = \"a\\\"(\"\n"));
  CHECK(python("x = '(\n%time f()\n") == "x = '(\n         \n");
}

TEST_CASE("a file that is no notebook is told apart from an empty one") {
  CHECK(!read_notebook("").program.has_value());
  CHECK(!read_notebook("[1]").program.has_value());
  CHECK(!read_notebook(R"({"cells": 3})").program.has_value());
  CHECK(!read_notebook("{\"cells\": [\"\xff\"]}").program.has_value());
  REQUIRE(read_notebook(R"({"cells": []})").program.has_value());
  CHECK(read_notebook(R"({"cells": []})").program->text.empty());
  const auto odd = read_notebook(
      R"({"metadata": [], "cells": [7, {"cell_type": "code"}, {"cell_type": "code", "source": {"a": 1}}]})");
  REQUIRE(odd.program.has_value());
  CHECK(odd.program->cells.cells.size() == 2);
  const auto read = read_notebook(
      R"({"cells": [{"cell_type": "markdown", "source": "# x"}, {"cell_type": "code", "source": ["a\n", "b"]},
          {"cell_type": "code", "source": "c", "metadata": {"vscode": {"languageId": "julia"}}}, {"cell_type": "code", "source": "d"}]})");
  REQUIRE(read.program.has_value());
  CHECK(read.program->text == "a\nb\nd\n");
  CHECK(read.program->cells.at_line(1)->number == 2);
  CHECK(read.program->cells.at_line(2)->number == 4);
  CHECK(read_notebook(
      R"({"cells": [{"cell_type": "code", "source": "a"}], "metadata": {"kernelspec": {"language": "R"}}})")
          .program->text.empty());
}
