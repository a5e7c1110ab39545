// textDocument/codeAction and codeAction/resolve: the fixes of findings, all preferred fixes at once, and the
// comments that silence a rule. Pure functions of a view, and the handlers that call them.
#pragma once

#include "protocol/lsp/code_action.hpp"
#include "server/lsp/session.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace stepzero::server {

inline constexpr std::string_view fix_all_kind = "source.fixAll.stepzero";

struct ActionSource {
  const std::string& uri;  // of the document, or of a cell
  const View& view;
  const ClientView& client_view;
  const std::map<std::string, int>& versions;  // of open documents, by path
};

// In the order in which they are offered: fixes by finding, preferred ones first; fix-all; the comments.
std::vector<lsp::CodeAction> code_actions(const ActionSource& source, const lsp::CodeActionParams& params);

// The edit of an action that was sent without; nothing if the action is not of this view.
std::optional<lsp::WorkspaceEdit> resolve(const ActionSource& source, const lsp::CodeAction& action);

// As the client takes them: literals, or commands for clients that know no others.
std::vector<lsp::CommandOrCodeAction> offered(
    std::vector<lsp::CodeAction> actions, const ClientView& client_view);

// The URI that an action's data names; empty if it is none of ours.
std::string uri_of_action(const lsp::CodeAction& action);

// For clients without literals: applies the action whose data is its argument.
inline constexpr std::string_view fix_command = "stepzero.fix";
void run_fix_command(
    Session& session, const lsp::ExecuteCommandParams& params, protocol::Reply<protocol::Any> reply);

void serve_code_actions(Session& session);

}  // namespace stepzero::server
