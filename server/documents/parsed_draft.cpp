#include "server/documents/parsed_draft.hpp"

#include "server/scheduler/background_core.hpp"

#include <utility>

namespace stepzero::server {

ParsedDraft::ParsedDraft(std::string text, int version, std::shared_ptr<const Cells> cells, bool python)
    : pending_text_(std::move(text)), pending_version_(version), pending_cells_(std::move(cells)),
      python_(python) {}

void ParsedDraft::edit(std::vector<syntax::Edit> edits, int version, std::shared_ptr<const Cells> cells) {
  const std::lock_guard lock(pending_mutex_);
  for (syntax::Edit& edit : edits) pending_edits_.push_back(std::move(edit));
  pending_version_ = version;
  pending_cells_ = std::move(cells);
}

void ParsedDraft::replace(std::string text, int version, std::shared_ptr<const Cells> cells) {
  const std::lock_guard lock(pending_mutex_);
  pending_text_ = std::move(text);
  pending_edits_.clear();
  pending_version_ = version;
  pending_cells_ = std::move(cells);
}

ParsedDraft::State ParsedDraft::parse() {
  const std::lock_guard lock(parse_mutex_);
  std::optional<std::string> text;
  std::vector<syntax::Edit> edits;
  {
    const std::lock_guard pending(pending_mutex_);
    text = std::exchange(pending_text_, std::nullopt);
    edits = std::exchange(pending_edits_, {});
    state_.version = pending_version_;
    state_.cells = pending_cells_;
  }
  if (!python_) {
    if (text && !other_)
      other_.emplace(std::move(*text));
    else if (text)
      other_->replace(std::move(*text));
    other_->apply(edits);
    state_.module = other_->module();
    return state_;
  }
  if (text) document_.emplace(std::move(*text));
  if (!edits.empty()) document_->apply(edits);
  if (text || !edits.empty()) state_.module = document_->module(another_core());
  return state_;
}

}  // namespace stepzero::server
