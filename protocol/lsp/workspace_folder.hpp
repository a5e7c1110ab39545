// The folders an editor has open.
#pragma once

#include "protocol/lsp/basic.hpp"

#include <string>
#include <vector>

namespace stepzero::lsp {

struct WorkspaceFolder {
  DocumentUri uri;
  std::string name;
  friend bool operator==(const WorkspaceFolder&, const WorkspaceFolder&) = default;
};
STEPZERO_LSP_TYPE(WorkspaceFolder)

struct WorkspaceFoldersChangeEvent {
  std::vector<WorkspaceFolder> added, removed;
  friend bool operator==(const WorkspaceFoldersChangeEvent&, const WorkspaceFoldersChangeEvent&) = default;
};
STEPZERO_LSP_TYPE(WorkspaceFoldersChangeEvent)

struct DidChangeWorkspaceFoldersParams {
  WorkspaceFoldersChangeEvent event;
  friend bool operator==(
      const DidChangeWorkspaceFoldersParams&, const DidChangeWorkspaceFoldersParams&) = default;
};
STEPZERO_LSP_TYPE(DidChangeWorkspaceFoldersParams)

}  // namespace stepzero::lsp
