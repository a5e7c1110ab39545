#include "server/lsp/editor.hpp"

#include "server/log.hpp"

namespace stepzero::server {

void Editor::log(lsp::MessageType type, const std::string& message) {
  switch (type) {
  case lsp::MessageType::error: log::error(message); break;
  case lsp::MessageType::warning: log::warning(message); break;
  default: log::info(message); break;
  }
  connection_.notify(lsp::method::log_message, {type, message});
}

void Editor::log_once(lsp::MessageType type, const std::string& message) {
  if (logged_.insert(message).second) log(type, message);
}

void Editor::trace(const std::string& message, const std::string& verbose) {
  if (tracing == lsp::TraceValue::off) return;
  lsp::LogTraceParams params{message, std::nullopt};
  if (tracing == lsp::TraceValue::verbose && !verbose.empty()) params.verbose = verbose;
  connection_.notify(lsp::method::log_trace, params);
}

void Editor::refresh_diagnostics() {
  if (pulls()) refresh(lsp::method::refresh_diagnostics, diagnostics_);
}

void Editor::refresh_hints() {
  if (client.inlay_hint_refresh) refresh(lsp::method::refresh_inlay_hints, hints_);
}

void Editor::refresh_lenses() {
  if (client.code_lens_refresh) refresh(lsp::method::refresh_code_lenses, lenses_);
}

void Editor::refresh(protocol::RequestMethod<protocol::None, protocol::None> method, Refresh& state) {
  if (state.sent) {
    state.again = true;
    return;
  }
  state = {true, false};
  connection_.request(method, {}, [this, method, &state](const protocol::Outcome<protocol::None>&) {
    state.sent = false;
    if (state.again) refresh(method, state);
  });
}

}  // namespace stepzero::server
