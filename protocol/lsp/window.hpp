// What the server shows the user: messages, the log, documents, telemetry.
#pragma once

#include "protocol/lsp/basic.hpp"

#include <optional>
#include <string>
#include <vector>

namespace stepzero::lsp {

enum class MessageType { error = 1, warning = 2, info = 3, log = 4 };
constexpr IntRange values_of(MessageType) { return {1, 4}; }

struct ShowMessageParams {
  MessageType type = MessageType::info;
  std::string message;
  friend bool operator==(const ShowMessageParams&, const ShowMessageParams&) = default;
};
STEPZERO_LSP_TYPE(ShowMessageParams)

using LogMessageParams = ShowMessageParams;

struct MessageActionItem {
  std::string title;
  friend bool operator==(const MessageActionItem&, const MessageActionItem&) = default;
};
STEPZERO_LSP_TYPE(MessageActionItem)

struct ShowMessageRequestParams {
  MessageType type = MessageType::info;
  std::string message;
  std::vector<MessageActionItem> actions;
  friend bool operator==(const ShowMessageRequestParams&, const ShowMessageRequestParams&) = default;
};
STEPZERO_LSP_TYPE(ShowMessageRequestParams)

struct ShowDocumentParams {
  std::string uri;
  bool external = false;
  std::optional<bool> take_focus;
  std::optional<Range> selection;
  friend bool operator==(const ShowDocumentParams&, const ShowDocumentParams&) = default;
};
STEPZERO_LSP_TYPE(ShowDocumentParams)

struct ShowDocumentResult {
  bool success = false;
  friend bool operator==(const ShowDocumentResult&, const ShowDocumentResult&) = default;
};
STEPZERO_LSP_TYPE(ShowDocumentResult)

}  // namespace stepzero::lsp
