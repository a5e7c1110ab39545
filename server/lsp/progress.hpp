// Work-done progress of one piece of work, with the client's token or one of our own. Used on the loop's
// thread; may be destroyed on any, also after the editor.
#pragma once

#include "protocol/lsp/progress.hpp"
#include "server/lsp/editor.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace stepzero::server {

class WorkDone {
public:
  // Says nothing without a token.
  WorkDone(Editor& editor, std::optional<lsp::ProgressToken> token)
      : editor_(editor), token_(std::move(token)) {}
  WorkDone(const WorkDone&) = delete;
  WorkDone& operator=(const WorkDone&) = delete;

  // With a token that the client is asked to create; silent if it cannot. What is said before it agrees is
  // not lost.
  static std::shared_ptr<WorkDone> of_our_own(Editor& editor, const std::string& token);

  void begin(const std::string& title, bool cancellable);
  void report(std::size_t done, std::size_t all);
  void end(const std::string& message);

private:
  template <class T> void say(const T& value) {
    if (token_ && created_)
      editor_.connection().notify(lsp::method::progress, lsp::progress_of(*token_, value));
  }

  Editor& editor_;
  std::optional<lsp::ProgressToken> token_;
  bool created_ = true, begun_ = false, ended_ = false;
  std::optional<lsp::WorkDoneProgressBegin> held_;  // begun before the token was created
  std::uint32_t percentage_ = 0;
};

}  // namespace stepzero::server
