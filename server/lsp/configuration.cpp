#include "server/lsp/configuration.hpp"

#include "server/configuration/configuration.hpp"
#include "server/workspace/paths.hpp"

#include <utility>

namespace stepzero::server {
namespace {

constexpr std::string_view section = "stepzero";

// {"stepzero": {…}} and {…} mean the same.
protocol::Any inner(const protocol::Any& settings) {
  try {
    auto members = protocol::from_any<std::map<std::string, protocol::Any>>(settings);
    const auto found = members.find(std::string(section));
    return found == members.end() ? settings : found->second;
  } catch (const protocol::DecodeError&) {
    return settings;
  }
}

}  // namespace

Layer Configuration::read(const protocol::Any& settings) {
  const protocol::Any mine = inner(settings);
  if (!mine.present() || mine.dump() == "null") return {};
  EditorConfiguration configuration = read_configuration(mine.json());
  for (const std::string& problem : configuration.problems)
    session_.editor.log_once(lsp::MessageType::warning, "settings: " + problem);
  return std::move(configuration.layer);
}

void Configuration::start_with(const protocol::Any& options) { take(options); }

void Configuration::take(const protocol::Any& settings) {
  Layer layer = read(settings);
  session_.analyses.world_changed([&](SharedState& world) { world.editor = std::move(layer); });
}

void Configuration::pull(std::vector<lsp::WorkspaceFolder> folders, std::function<void()> then) {
  folders_ = std::move(folders);
  if (!session_.editor.client.configuration) {
    then();
    return;
  }
  lsp::ConfigurationParams params;
  params.items.push_back({std::nullopt, std::string(section)});
  for (const lsp::WorkspaceFolder& folder : folders_)
    params.items.push_back({folder.uri, std::string(section)});
  ++waiting_;
  session_.editor.connection().request(lsp::method::configuration, params,
      [this, then = std::move(then), asked = folders_](
          const protocol::Outcome<std::vector<protocol::Any>>& outcome) {
        --waiting_;
        if (outcome && !outcome.result->empty()) {
          const std::vector<protocol::Any>& answers = *outcome.result;
          // A client without settings of ours answers null: what it said at the start holds on.
          const bool silent = answers[0].dump() == "null";
          Layer whole = silent ? session_.analyses.world()->editor : read(answers[0]);
          std::map<std::string, Layer> by_folder;
          for (std::size_t i = 0; i < asked.size() && i + 1 < answers.size(); ++i)
            by_folder[path_for(asked[i].uri)] = read(answers[i + 1]);
          session_.analyses.world_changed([&](SharedState& world) {
            world.editor = std::move(whole);
            world.editor_by_folder = std::move(by_folder);
          });
        } else if (!outcome) {
          session_.editor.log(
              lsp::MessageType::warning, "the settings could not be read: " + outcome.error.message);
        }
        then();
        settled_();
      });
}

void Configuration::serve(std::function<void()> settled) {
  settled_ = std::move(settled);
  session_.editor.connection().on(
      lsp::method::did_change_configuration, [this](const lsp::DidChangeConfigurationParams& params) {
        if (session_.editor.client.configuration)
          pull(folders_, [] {});
        else
          take(params.settings);
      });
}

}  // namespace stepzero::server
