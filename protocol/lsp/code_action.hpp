// Code actions.
#pragma once

#include "protocol/lsp/diagnostics.hpp"
#include "protocol/lsp/edit.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace stepzero::lsp {

namespace code_action_kind {  // an open set; a kind stands for all that begin with it and a dot
inline constexpr std::string_view quick_fix = "quickfix";
inline constexpr std::string_view refactor = "refactor";
inline constexpr std::string_view refactor_extract = "refactor.extract";
inline constexpr std::string_view refactor_inline = "refactor.inline";
inline constexpr std::string_view refactor_rewrite = "refactor.rewrite";
inline constexpr std::string_view source = "source";
inline constexpr std::string_view source_organize_imports = "source.organizeImports";
inline constexpr std::string_view source_fix_all = "source.fixAll";
}  // namespace code_action_kind

// Whether asking for `asked` includes `kind`: "source" includes "source.fixAll.stepzero", "" everything.
bool kind_includes(std::string_view asked, std::string_view kind);

enum class CodeActionTriggerKind { invoked = 1, automatic = 2 };
constexpr IntRange values_of(CodeActionTriggerKind) { return {1, 2}; }

struct CodeActionContext {
  std::vector<Diagnostic> diagnostics;
  std::optional<std::vector<std::string>> only;
  std::optional<CodeActionTriggerKind> trigger_kind;

  bool wants(std::string_view kind) const;  // by `only`
  friend bool operator==(const CodeActionContext&, const CodeActionContext&) = default;
};
STEPZERO_LSP_TYPE(CodeActionContext)

struct CodeActionParams {
  TextDocumentIdentifier text_document;
  Range range;
  CodeActionContext context;
  std::optional<ProgressToken> work_done_token;
  std::optional<ProgressToken> partial_result_token;
  friend bool operator==(const CodeActionParams&, const CodeActionParams&) = default;
};
STEPZERO_LSP_TYPE(CodeActionParams)

struct CodeActionDisabled {
  std::string reason;
  friend bool operator==(const CodeActionDisabled&, const CodeActionDisabled&) = default;
};
STEPZERO_LSP_TYPE(CodeActionDisabled)

struct CodeAction {
  std::string title;
  std::optional<std::string> kind;
  std::vector<Diagnostic> diagnostics;
  bool is_preferred = false;
  std::optional<CodeActionDisabled> disabled;
  std::optional<WorkspaceEdit> edit;
  std::optional<Command> command;
  Any data;  // kept up to codeAction/resolve
  friend bool operator==(const CodeAction&, const CodeAction&) = default;
};
STEPZERO_LSP_TYPE(CodeAction)

// Clients without literals take commands only.
using CommandOrCodeAction = std::variant<Command, CodeAction>;

}  // namespace stepzero::lsp
