#include "rules/deadlock/requests.hpp"

#include "rules/loop/training.hpp"

namespace stepzero::rules {

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

// May something that is not followed wait for the request?
bool is_followed(const Record& record, const values::Object* request) {
  bool followed = true;
  visit_roots(record, [&](const Event& event) {
    if (!followed || event.kind != EventKind::operation) return;
    const auto& operation = static_cast<const OperationEvent&>(event);
    switch (operation.row->operation) {
    case Operation::await: followed = operation.self.is(Kind::instance); break;
    case Operation::poll: followed = operation.self.is(Kind::instance) && operation.self.object() != request; break;
    case Operation::unseen: followed = !is_handed(operation, request); break;
    default: break;
    }
  });
  return followed;
}

} // namespace

void Requests::note(const Story& story) {
  for (int rank = 0; rank < story.size(); ++rank) {
    const Trace& trace = story.trace(rank);
    std::set<const values::Object*> waited;
    for (const Act& act : trace.acts)
      if (act.what == Act::What::await) waited.insert(act.request);
    for (const Act& act : trace.acts) {
      if (!act.starts) continue;
      if (waited.contains(act.request)) {
        awaited_.insert(act.site);
        continue;
      }
      if (started_.contains(act.site)) continue;
      Mismatch made;
      made.cause = Cause::request;
      made.world = story.size();
      story.place(made, act);
      made.text = "Nothing waits for this " + call_text(made.name) + ": its tensor may be read or written before the communication has ended. Keep what it returns, and call `wait()` on it.";
      started_.emplace(act.site, Started{std::move(made), rank, act.request});
    }
  }
}

std::vector<Mismatch> Requests::never_waited(Worlds& worlds) const {
  std::vector<Mismatch> never;
  for (const auto& [site, started] : started_)
    if (!awaited_.contains(site) && is_followed(worlds.of(started.rank, started.told.world), started.request)) never.push_back(started.told);
  return never;
}

} // namespace stepzero::rules
