// Codecs of commands, configuration and watched files.
#include "protocol/lsp/workspace.hpp"

#include "protocol/fields.hpp"

namespace stepzero::lsp {

using protocol::Of;

template <class F> void fields(F& f, Of<F, ExecuteCommandParams> v) {
  f("command", v.command);
  f.or_empty("arguments", v.arguments);
  f("workDoneToken", v.work_done_token);
}
STEPZERO_LSP_CODEC(ExecuteCommandParams)

template <class F> void fields(F& f, Of<F, ConfigurationItem> v) {
  f("scopeUri", v.scope_uri);
  f("section", v.section);
}
STEPZERO_LSP_CODEC(ConfigurationItem)

template <class F> void fields(F& f, Of<F, ConfigurationParams> v) { f("items", v.items); }
STEPZERO_LSP_CODEC(ConfigurationParams)

template <class F> void fields(F& f, Of<F, DidChangeConfigurationParams> v) { f("settings", v.settings); }
STEPZERO_LSP_CODEC(DidChangeConfigurationParams)

template <class F> void fields(F& f, Of<F, FileEvent> v) {
  f("uri", v.uri);
  f("type", v.type);
}
STEPZERO_LSP_CODEC(FileEvent)

template <class F> void fields(F& f, Of<F, DidChangeWatchedFilesParams> v) { f("changes", v.changes); }
STEPZERO_LSP_CODEC(DidChangeWatchedFilesParams)

template <class F> void fields(F& f, Of<F, RelativePattern> v) {
  f("baseUri", v.base_uri);
  f("pattern", v.pattern);
}
STEPZERO_LSP_CODEC(RelativePattern)

template <class F> void fields(F& f, Of<F, FileSystemWatcher> v) {
  f("globPattern", v.glob_pattern);
  f("kind", v.kind);
}
STEPZERO_LSP_CODEC(FileSystemWatcher)

template <class F> void fields(F& f, Of<F, DidChangeWatchedFilesRegistrationOptions> v) {
  f("watchers", v.watchers);
}
STEPZERO_LSP_CODEC(DidChangeWatchedFilesRegistrationOptions)

}  // namespace stepzero::lsp
