#include "wire.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

using namespace stepzero;
using namespace stepzero::server;
namespace method = stepzero::lsp::method;

namespace {

class Folder {
public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "stepzero-lsp-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()));
    path = std::filesystem::canonical(name).string();
  }
  ~Folder() { std::filesystem::remove_all(path); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path + "/" + name) << text;
  }
  std::string uri(const std::string& name) const { return "file://" + path + "/" + name; }
  std::string path;
};

struct MemoryReport {
  std::map<std::string, std::size_t> full;  // URI → how many diagnostics
  std::set<std::string> unchanged;
};

MemoryReport told(const lsp::WorkspaceDiagnosticReport& report) {
  MemoryReport told;
  for (const auto& item : report.items) {
    if (const auto* full = std::get_if<lsp::FullDocumentDiagnosticReport>(&item.report))
      told.full[item.uri] = full->items.size();
    else
      told.unchanged.insert(item.uri);
  }
  return told;
}

std::vector<lsp::PreviousResultId> ids(const lsp::WorkspaceDiagnosticReport& report) {
  std::vector<lsp::PreviousResultId> ids;
  for (const auto& item : report.items)
    if (const auto* full = std::get_if<lsp::FullDocumentDiagnosticReport>(&item.report))
      ids.push_back({item.uri, *full->result_id});
  return ids;
}

}  // namespace

TEST_CASE("workspace diagnostics: all files, drafts before files, and only what changed") {
  Folder folder;
  folder.write("a.py", "BUG BUG\n");
  folder.write("b.py", "fine\n");
  folder.write("gone.py", "BUG\n");
  folder.write("notes.txt", "BUG\n");
  Wire wire;
  wire.flags.pull_diagnostics = wire.flags.diagnostics_refresh = true;
  wire.start({folder.path});
  wire.open(folder.uri("b.py"), "BUG BUG BUG\n", 9);

  lsp::WorkspaceDiagnosticParams params;
  const auto first = *wire.ask(method::workspace_diagnostic, params).result;
  CHECK(told(first).full ==
      std::map<std::string, std::size_t>{
          {folder.uri("a.py"), 2}, {folder.uri("b.py"), 3}, {folder.uri("gone.py"), 1}});
  for (const auto& item : first.items)
    CHECK(item.version == (item.uri == folder.uri("b.py") ? std::optional(9) : std::nullopt));

  std::filesystem::remove(folder.path + "/gone.py");
  folder.write("a.py", "BUG\n");
  params.previous_result_ids = ids(first);
  const auto second = told(*wire.ask(method::workspace_diagnostic, params).result);
  CHECK(
      second.full == std::map<std::string, std::size_t>{{folder.uri("a.py"), 1}, {folder.uri("gone.py"), 0}});
  CHECK(second.unchanged == std::set<std::string>{folder.uri("b.py")});
}

TEST_CASE("a streamed question stays open until something changes") {
  Folder folder;
  folder.write("a.py", "BUG\n");
  Wire wire;
  wire.flags.pull_diagnostics = wire.flags.diagnostics_refresh = true;
  std::vector<lsp::WorkspaceDiagnosticReport> streamed;
  wire.client->on(method::progress, [&](const lsp::ProgressParams& params) {
    streamed.push_back(protocol::from_any<lsp::WorkspaceDiagnosticReport>(params.value));
  });
  wire.start({folder.path});
  lsp::WorkspaceDiagnosticParams params;
  params.partial_result_token = "stream";
  CHECK(wire.ask(method::workspace_diagnostic, params).result->items.empty());
  REQUIRE(streamed.size() == 1);
  params.previous_result_ids = ids(streamed[0]);

  const auto held = wire.later(method::workspace_diagnostic, params);
  wire.idle();
  CHECK_FALSE(held->has_value());
  folder.write("a.py", "BUG BUG\n");
  wire.client->notify(
      method::did_change_watched_files, {{{folder.uri("a.py"), lsp::FileChangeType::changed}}});
  wire.run_until([&] { return held->has_value(); });
  REQUIRE(streamed.size() == 2);
  CHECK(told(streamed[1]).full == std::map<std::string, std::size_t>{{folder.uri("a.py"), 2}});

  params.previous_result_ids = ids(streamed[1]);
  const auto at_the_end = wire.later(method::workspace_diagnostic, params);
  wire.idle();
  wire.ask(method::shutdown, {});
  CHECK(at_the_end->has_value());
  wire.client->notify(method::exit, {});
  wire.run_until([&] { return wire.ended.has_value(); });
}

TEST_CASE("settings files are heard when they change, and their problems stand where they are") {
  Folder folder;
  const std::string settings = folder.uri("stepzero.toml");
  Wire wire;
  wire.start({folder.path});
  wire.open(folder.uri("a.py"), "ADVICE\n");
  wire.idle();
  CHECK(wire.published_for(folder.uri("a.py")).back().diagnostics.size() == 1);
  folder.write("stepzero.toml", "min-severity = \"error\"\ncolor = 3\n");
  wire.client->notify(method::did_change_watched_files, {{{settings, lsp::FileChangeType::created}}});
  wire.idle();
  CHECK(wire.published_for(folder.uri("a.py")).back().diagnostics.empty());
  REQUIRE(wire.published_for(settings).size() == 1);
  CHECK(wire.published_for(settings)[0].diagnostics.at(0).range.start.line == 1);

  wire.open(settings, "", 3, "toml");
  wire.idle();
  CHECK(wire.published_for(settings).back().version == 3);
  wire.close(settings);
  wire.change(folder.uri("a.py"), 2, "BUG\n");
  wire.idle();
  CHECK(wire.published_for(settings).back().diagnostics.empty());
}

TEST_CASE("a file on disk that is read by an open one is watched") {
  Folder folder;
  folder.write("other.py", "fine\n");
  const std::string other = folder.path + "/other.py";
  Wire wire(
      [other](const program::Sources& sources, const std::string& path, const snapshot::Options& options) {
        snapshot::Result result = find_bugs(sources, path, options);
        result.read.push_back(other);
        const auto module = sources.module(other);
        if (module && module->text->bytes().starts_with("BUG"))
          result.findings.push_back(
              {"test/bug", rules::Severity::error, {path, {0, 1}}, "the other has a bug", {}, {}});
        return result;
      });
  wire.start({folder.path});
  wire.open(folder.uri("a.py"), "fine\n");
  wire.idle();
  folder.write("other.py", "BUG in it\n");
  wire.client->notify(
      method::did_change_watched_files, {{{folder.uri("other.py"), lsp::FileChangeType::changed}}});
  wire.idle();
  const auto sent = wire.published_for(folder.uri("a.py"));
  REQUIRE(sent.size() == 2);
  CHECK(sent.back().version == 1);
  CHECK(sent.back().diagnostics.size() == 1);
}

TEST_CASE("a file of data that is read by an open one is watched") {
  Folder folder;
  folder.write("config.yaml", "heads: 4\n");
  const std::string data = folder.path + "/config.yaml";
  Wire wire([data](
                const program::Sources& sources, const std::string& path, const snapshot::Options& options) {
    snapshot::Result result = find_bugs(sources, path, options);
    result.read.push_back(data);
    const auto found = sources.data(data, program::DataFormat::yaml);
    if (found && found->fields.size() == 1 && found->fields[0].second.integer == 3)
      result.findings.push_back({"test/bug", rules::Severity::error, {path, {0, 1}}, "three heads", {}, {}});
    return result;
  });
  wire.start({folder.path});
  wire.open(folder.uri("a.py"), "fine\n");
  wire.idle();
  folder.write("config.yaml", "heads: 3\n");
  wire.client->notify(
      method::did_change_watched_files, {{{folder.uri("config.yaml"), lsp::FileChangeType::changed}}});
  wire.idle();
  const auto sent = wire.published_for(folder.uri("a.py"));
  REQUIRE(sent.size() == 2);
  CHECK(sent.back().diagnostics.size() == 1);
}
