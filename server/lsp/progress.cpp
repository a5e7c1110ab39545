#include "server/lsp/progress.hpp"

namespace stepzero::server {

std::shared_ptr<WorkDone> WorkDone::of_our_own(Editor& editor, const std::string& token) {
  if (!editor.client.work_done_progress) return std::make_shared<WorkDone>(editor, std::nullopt);
  auto progress = std::make_shared<WorkDone>(editor, lsp::ProgressToken(token));
  progress->created_ = false;
  editor.connection().request(lsp::method::create_progress, {token},
      [weak = std::weak_ptr<WorkDone>(progress)](const protocol::Outcome<protocol::None>& outcome) {
        const auto self = weak.lock();
        if (!self || self->ended_) return;
        if (!outcome) self->token_.reset();
        self->created_ = true;
        if (self->held_) self->say(*self->held_);
      });
  return progress;
}

void WorkDone::begin(const std::string& title, bool cancellable) {
  begun_ = true;
  held_ = lsp::WorkDoneProgressBegin{title, cancellable, std::nullopt, 0u};
  say(*held_);
}

void WorkDone::report(std::size_t done, std::size_t all) {
  const auto percentage = static_cast<std::uint32_t>(all == 0 ? 100 : done * 100 / all);
  if (!begun_ || ended_ || percentage <= percentage_) return;
  percentage_ = percentage;
  say(lsp::WorkDoneProgressReport{
      std::nullopt, std::to_string(done) + "/" + std::to_string(all) + " files", percentage});
}

void WorkDone::end(const std::string& message) {
  if (!begun_ || ended_) return;
  ended_ = true;
  say(lsp::WorkDoneProgressEnd{message.empty() ? std::nullopt : std::optional(message)});
}

}  // namespace stepzero::server
