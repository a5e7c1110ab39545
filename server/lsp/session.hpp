// What every feature of the language server is given: the client, the analyses, and the schedule. Belongs to
// the loop's thread.
#pragma once

#include "protocol/event_loop.hpp"
#include "server/lsp/analyses.hpp"
#include "server/lsp/editor.hpp"
#include "server/scheduler/scheduler.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace stepzero::server {

struct Session {
  protocol::EventLoop& loop;
  Editor& editor;
  Analyses& analyses;
  Scheduler& scheduler;
};

// Answers a question about a document or a cell from its view of now: `make(OpenDocument&, view)`, or null
// where nothing is known. A question of a `exact` place is void once the text changes.
template <class Result, class Make> void answer_from_view(Session& session, const std::string& uri,
    bool exact, protocol::Reply<std::optional<Result>> reply, Make make) {
  auto shared = std::make_shared<protocol::Reply<std::optional<Result>>>(std::move(reply));
  session.analyses.when_fresh(uri, exact,
      [&session, uri, shared, make = std::move(make)](
          const std::shared_ptr<const View>& view, Unanswered why) {
        if (view)
          (*shared)(make(*session.analyses.find_for(uri), *view));
        else if (why == Unanswered::changed)
          shared->error(protocol::error_code::content_modified, "the document changed");
        else if (why == Unanswered::stopping)
          shared->error(protocol::error_code::request_cancelled, "the server is shutting down");
        else
          (*shared)(std::nullopt);
      });
}

}  // namespace stepzero::server
