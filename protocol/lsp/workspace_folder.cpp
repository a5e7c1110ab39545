// Codecs of workspace folders.
#include "protocol/lsp/workspace_folder.hpp"

#include "protocol/fields.hpp"

namespace stepzero::lsp {

using protocol::Of;

template <class F> void fields(F& f, Of<F, WorkspaceFolder> v) {
  f("uri", v.uri);
  f("name", v.name);
}
STEPZERO_LSP_CODEC(WorkspaceFolder)

template <class F> void fields(F& f, Of<F, WorkspaceFoldersChangeEvent> v) {
  f("added", v.added);
  f("removed", v.removed);
}
STEPZERO_LSP_CODEC(WorkspaceFoldersChangeEvent)

template <class F> void fields(F& f, Of<F, DidChangeWorkspaceFoldersParams> v) { f("event", v.event); }
STEPZERO_LSP_CODEC(DidChangeWorkspaceFoldersParams)

}  // namespace stepzero::lsp
