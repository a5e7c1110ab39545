// initialize, initialized, shutdown, exit; registration; tracing; cancellation.
#pragma once

#include "protocol/lsp/client_flags.hpp"
#include "protocol/lsp/server_capabilities.hpp"
#include "protocol/lsp/workspace_folder.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stepzero::lsp {

struct ProgramInfo {  // clientInfo and serverInfo
  std::string name;
  std::optional<std::string> version;
  friend bool operator==(const ProgramInfo&, const ProgramInfo&) = default;
};
STEPZERO_LSP_TYPE(ProgramInfo)

enum class TraceValue { off, messages, verbose };
STEPZERO_LSP_TYPE(TraceValue)

struct InitializeParams {
  std::optional<std::int32_t> process_id;  // of the editor: when it dies, so does the server
  std::optional<ProgramInfo> client_info;
  std::optional<std::string> locale;
  std::optional<std::string> root_path;  // deprecated by root_uri, that by workspace_folders
  std::optional<DocumentUri> root_uri;
  Any initialization_options;
  ClientFlags capabilities;
  TraceValue trace = TraceValue::off;
  std::optional<std::vector<WorkspaceFolder>> workspace_folders;
  std::optional<ProgressToken> work_done_token;

  // The folders by the newest of the three ways the client used; empty if it opened none.
  std::vector<WorkspaceFolder> folders() const;
  friend bool operator==(const InitializeParams&, const InitializeParams&) = default;
};
STEPZERO_LSP_TYPE(InitializeParams)

struct InitializeResult {
  ServerCapabilities capabilities;
  std::optional<ProgramInfo> server_info;
  friend bool operator==(const InitializeResult&, const InitializeResult&) = default;
};
STEPZERO_LSP_TYPE(InitializeResult)

struct Registration {
  std::string id;
  std::string method;
  Any register_options;  // to_any(…Options)
  friend bool operator==(const Registration&, const Registration&) = default;
};
STEPZERO_LSP_TYPE(Registration)

struct RegistrationParams {
  std::vector<Registration> registrations;
  friend bool operator==(const RegistrationParams&, const RegistrationParams&) = default;
};
STEPZERO_LSP_TYPE(RegistrationParams)

struct Unregistration {
  std::string id;
  std::string method;
  friend bool operator==(const Unregistration&, const Unregistration&) = default;
};
STEPZERO_LSP_TYPE(Unregistration)

struct UnregistrationParams {
  std::vector<Unregistration>
      unregistrations;  // "unregisterations" on the wire, as the specification spells it
  friend bool operator==(const UnregistrationParams&, const UnregistrationParams&) = default;
};
STEPZERO_LSP_TYPE(UnregistrationParams)

struct SetTraceParams {
  TraceValue value = TraceValue::off;
  friend bool operator==(const SetTraceParams&, const SetTraceParams&) = default;
};
STEPZERO_LSP_TYPE(SetTraceParams)

struct LogTraceParams {
  std::string message;
  std::optional<std::string> verbose;  // only if the trace is verbose
  friend bool operator==(const LogTraceParams&, const LogTraceParams&) = default;
};
STEPZERO_LSP_TYPE(LogTraceParams)

}  // namespace stepzero::lsp
