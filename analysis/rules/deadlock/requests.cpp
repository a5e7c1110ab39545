#include "rules/deadlock/requests.hpp"

#include "rules/loop/training.hpp"
#include "rules/source.hpp"

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

bool is_dropped(const Record& record, Place call) {
  if (!call || !record.in_file(call)) return false;
  const auto path = enclosing(*record.chunk(call).chunk->stmt, call.span);
  const syntax::Stmt* function = nullptr;
  for (const Enclosing& each : path)
    if (each.stmt->kind == syntax::StmtKind::function) function = each.stmt;
  if (path.empty() || !function) return false;
  const syntax::Stmt& stmt = *path.back().stmt;
  if (stmt.kind == syntax::StmtKind::expression) return syntax::as<syntax::ExpressionStmt>(stmt).value->span == call.span;
  if (stmt.kind != syntax::StmtKind::assign) return false;
  const auto& assign = syntax::as<syntax::AssignStmt>(stmt);
  if (assign.targets.size() != 1 || assign.targets[0]->kind != syntax::ExprKind::name || !(assign.value->span == call.span)) return false;
  const values::Name name = syntax::as<syntax::NameExpr>(*assign.targets[0]).id;
  // A name of another scope is read elsewhere.
  bool rebound = false;
  for_each_statement(*function, [&](const syntax::Stmt& each) { rebound = rebound || each.kind == syntax::StmtKind::global || each.kind == syntax::StmtKind::nonlocal; });
  return !rebound && !reads_name(*function, name);
}

} // namespace stepzero::rules
