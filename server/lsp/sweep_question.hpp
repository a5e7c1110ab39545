// A request that a sweep of the workspace answers: its pass begins, and ends where the client cancels it.
#pragma once

#include "server/lsp/session.hpp"
#include "server/lsp/sweep.hpp"

namespace stepzero::server {

// Finds the files in the background; `work(question)` then runs on the session's own thread.
template <class Shared, class Work> void begin_sweep(Session& session, const Shared& question, Work work) {
  question->on_cancel.emplace(
      question->reply.cancelled(), [sweep = question->sweep] { sweep->cancelled = true; });
  session.scheduler.request(question->name + "files", Urgency::background,
      [question, work](const std::atomic<bool>&) -> Scheduler::Finish {
        question->sweep->find_files();
        return [question, work] { work(question); };
      });
}

}  // namespace stepzero::server
