// Codecs of initialization, registration and tracing.
#include "protocol/lsp/lifecycle.hpp"

#include "protocol/fields.hpp"
#include "protocol/uri.hpp"

namespace stepzero::lsp {

using protocol::Of;

template <class F> void fields(F& f, Of<F, ProgramInfo> v) {
  f("name", v.name);
  f("version", v.version);
}
STEPZERO_LSP_CODEC(ProgramInfo)

namespace {
constexpr std::array<std::string_view, 3> trace_words{"off", "messages", "verbose"};
}  // namespace
void to_json(Json& out, const TraceValue& value) { protocol::write_word(out, value, trace_words); }
void from_json(const Json& in, TraceValue& value) {
  if (in == "compact")  // a word of vscode-languageclient's own
    value = TraceValue::messages;
  else
    protocol::read_word(in, value, trace_words);
}

std::vector<WorkspaceFolder> InitializeParams::folders() const {
  if (workspace_folders) return *workspace_folders;
  const auto named = [](DocumentUri uri) {
    const std::string path = protocol::path_of(uri).value_or(uri);
    return WorkspaceFolder{std::move(uri), path.substr(path.find_last_of('/') + 1)};
  };
  if (root_uri) return {named(*root_uri)};
  if (root_path && root_path->starts_with('/')) return {named(protocol::uri_of(*root_path))};
  return {};
}

template <class F> void fields(F& f, Of<F, InitializeParams> v) {
  f.nullable("processId", v.process_id);
  f("clientInfo", v.client_info);
  f("locale", v.locale);
  f("rootPath", v.root_path);
  f.nullable("rootUri", v.root_uri);
  f("initializationOptions", v.initialization_options);
  f("capabilities", v.capabilities);
  f.or_empty("trace", v.trace);
  f("workspaceFolders", v.workspace_folders);
  f("workDoneToken", v.work_done_token);
}
STEPZERO_LSP_CODEC(InitializeParams)

template <class F> void fields(F& f, Of<F, InitializeResult> v) {
  f("capabilities", v.capabilities);
  f("serverInfo", v.server_info);
}
STEPZERO_LSP_CODEC(InitializeResult)

template <class F> void fields(F& f, Of<F, Registration> v) {
  f("id", v.id);
  f("method", v.method);
  f("registerOptions", v.register_options);
}
STEPZERO_LSP_CODEC(Registration)

template <class F> void fields(F& f, Of<F, RegistrationParams> v) { f("registrations", v.registrations); }
STEPZERO_LSP_CODEC(RegistrationParams)

template <class F> void fields(F& f, Of<F, Unregistration> v) {
  f("id", v.id);
  f("method", v.method);
}
STEPZERO_LSP_CODEC(Unregistration)

template <class F> void fields(F& f, Of<F, UnregistrationParams> v) {
  f("unregisterations", v.unregistrations);
}
STEPZERO_LSP_CODEC(UnregistrationParams)

template <class F> void fields(F& f, Of<F, SetTraceParams> v) { f("value", v.value); }
STEPZERO_LSP_CODEC(SetTraceParams)

template <class F> void fields(F& f, Of<F, LogTraceParams> v) {
  f("message", v.message);
  f("verbose", v.verbose);
}
STEPZERO_LSP_CODEC(LogTraceParams)

}  // namespace stepzero::lsp
