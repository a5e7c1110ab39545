// The workspace: commands, configuration, watched files. Folders and edits have headers of their own.
#pragma once

#include "protocol/lsp/basic.hpp"
#include "protocol/lsp/workspace_folder.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace stepzero::lsp {

struct ExecuteCommandParams {
  std::string command;
  std::vector<Any> arguments;
  std::optional<ProgressToken> work_done_token;
  friend bool operator==(const ExecuteCommandParams&, const ExecuteCommandParams&) = default;
};
STEPZERO_LSP_TYPE(ExecuteCommandParams)

struct ConfigurationItem {
  std::optional<DocumentUri> scope_uri;
  std::optional<std::string> section;
  friend bool operator==(const ConfigurationItem&, const ConfigurationItem&) = default;
};
STEPZERO_LSP_TYPE(ConfigurationItem)

struct ConfigurationParams {  // answered by one value, or null, for each item
  std::vector<ConfigurationItem> items;
  friend bool operator==(const ConfigurationParams&, const ConfigurationParams&) = default;
};
STEPZERO_LSP_TYPE(ConfigurationParams)

struct DidChangeConfigurationParams {
  Any settings;  // null with clients that expect to be asked
  friend bool operator==(const DidChangeConfigurationParams&, const DidChangeConfigurationParams&) = default;
};
STEPZERO_LSP_TYPE(DidChangeConfigurationParams)

enum class FileChangeType { created = 1, changed = 2, deleted = 3 };
constexpr IntRange values_of(FileChangeType) { return {1, 3}; }

struct FileEvent {
  DocumentUri uri;
  FileChangeType type = FileChangeType::changed;
  friend bool operator==(const FileEvent&, const FileEvent&) = default;
};
STEPZERO_LSP_TYPE(FileEvent)

struct DidChangeWatchedFilesParams {
  std::vector<FileEvent> changes;
  friend bool operator==(const DidChangeWatchedFilesParams&, const DidChangeWatchedFilesParams&) = default;
};
STEPZERO_LSP_TYPE(DidChangeWatchedFilesParams)

struct RelativePattern {
  std::variant<WorkspaceFolder, DocumentUri> base_uri;
  std::string pattern;
  friend bool operator==(const RelativePattern&, const RelativePattern&) = default;
};
STEPZERO_LSP_TYPE(RelativePattern)

using GlobPattern = std::variant<RelativePattern, std::string>;

namespace watch_kind {  // bits
inline constexpr std::uint32_t create = 1, change = 2, remove = 4, all = 7;
}  // namespace watch_kind

struct FileSystemWatcher {
  GlobPattern glob_pattern;
  std::optional<std::uint32_t> kind;  // all if absent
  friend bool operator==(const FileSystemWatcher&, const FileSystemWatcher&) = default;
};
STEPZERO_LSP_TYPE(FileSystemWatcher)

struct DidChangeWatchedFilesRegistrationOptions {
  std::vector<FileSystemWatcher> watchers;
  friend bool operator==(const DidChangeWatchedFilesRegistrationOptions&,
      const DidChangeWatchedFilesRegistrationOptions&) = default;
};
STEPZERO_LSP_TYPE(DidChangeWatchedFilesRegistrationOptions)

}  // namespace stepzero::lsp
