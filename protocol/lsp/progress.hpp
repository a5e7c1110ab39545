// Work-done progress, and partial results, which travel the same way.
#pragma once

#include "protocol/lsp/basic.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace stepzero::lsp {

struct ProgressParams {
  ProgressToken token;
  Any value;  // to_any of a WorkDoneProgress…, or of a part of the result
  friend bool operator==(const ProgressParams&, const ProgressParams&) = default;
};
STEPZERO_LSP_TYPE(ProgressParams)

// A token of the server's own making must be created before use; one that came with a request is ready.
struct WorkDoneProgressCreateParams {
  ProgressToken token;
  friend bool operator==(const WorkDoneProgressCreateParams&, const WorkDoneProgressCreateParams&) = default;
};
STEPZERO_LSP_TYPE(WorkDoneProgressCreateParams)

using WorkDoneProgressCancelParams = WorkDoneProgressCreateParams;

struct WorkDoneProgressBegin {
  std::string title;
  bool cancellable = false;
  std::optional<std::string> message;
  std::optional<std::uint32_t>
      percentage;  // 0 to 100, never falling; absent means unknown for the whole progress
  friend bool operator==(const WorkDoneProgressBegin&, const WorkDoneProgressBegin&) = default;
};
STEPZERO_LSP_TYPE(WorkDoneProgressBegin)

struct WorkDoneProgressReport {
  std::optional<bool> cancellable;
  std::optional<std::string> message;
  std::optional<std::uint32_t> percentage;
  friend bool operator==(const WorkDoneProgressReport&, const WorkDoneProgressReport&) = default;
};
STEPZERO_LSP_TYPE(WorkDoneProgressReport)

struct WorkDoneProgressEnd {
  std::optional<std::string> message;
  friend bool operator==(const WorkDoneProgressEnd&, const WorkDoneProgressEnd&) = default;
};
STEPZERO_LSP_TYPE(WorkDoneProgressEnd)

template <class T> ProgressParams progress_of(const ProgressToken& token, const T& value) {
  return {token, protocol::to_any(value)};
}

}  // namespace stepzero::lsp
