// Where settings are read: `[tool.stepzero]` of pyproject.toml, stepzero.toml, and a JSON object of the
// editor. What cannot be understood is reported where it stands and otherwise as if it were not there.
#pragma once

#include "rules/finding.hpp"
#include "server/configuration/settings.hpp"
#include "syntax/text.hpp"

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace stepzero::server {

// A settings file as read.
struct ConfigurationFile {
  std::string path;    // empty: there is none
  std::string folder;  // that the patterns of `exclude` belong to
  Layer layer;
  std::vector<rules::Finding> problems;      // in `path`, of rule configuration_rule
  std::shared_ptr<const syntax::Text> text;  // that the problems' spans point into
};

// `path` decides which table is read: all of stepzero.toml, `[tool.stepzero]` of any other file. Nothing if
// the text has no settings for us (a pyproject.toml without our table).
std::shared_ptr<const ConfigurationFile> read_configuration(const std::string& path, std::string text);

// The nearest settings of files, read once. Thread-safe.
class ConfigurationFiles {
public:
  // No folder above `boundary` is looked at; empty: all up to the root.
  explicit ConfigurationFiles(std::string boundary = {}) : boundary_(std::move(boundary)) {}

  // Of a file with this normal path: in each folder upwards first stepzero.toml, then
  // pyproject.toml. Never null.
  std::shared_ptr<const ConfigurationFile> nearest(const std::string& path);

  // Forgets all: something changed on disk.
  void clear();

private:
  std::shared_ptr<const ConfigurationFile> of_folder(const std::string& folder);

  std::string boundary_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const ConfigurationFile>> folders_;
};

// The editor's settings: the same keys in a JSON object (`inlayHints` is understood as `inlay-hints`). Keys
// that are the editor's own (path, server, trace, log, enable, editor) are passed over. `problems` are
// sentences for the user's eyes.
struct EditorConfiguration {
  Layer layer;
  std::vector<std::string> problems;
};
EditorConfiguration read_configuration(const nlohmann::json& object);

}  // namespace stepzero::server
