#include "rules/ranks/requests.hpp"

#include "rules/training/training.hpp"

#include <algorithm>

namespace stepzero::rules {

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

// May who is given the value call the function: it, or a method of an object that has it?
bool gives(values::Value value, const interpreter::Root& root, int depth = 0) {
  constexpr int deep = 4;
  if (depth > deep) return true;
  const auto any = [&](const auto& items) {
    return std::any_of(
        items.begin(), items.end(), [&](values::Value item) { return gives(item, root, depth + 1); });
  };
  switch (value.kind) {
  case Kind::function: return value.as<values::Function>() == root.function;
  case Kind::bound:
    return gives(value.as<values::Bound>()->function, root, depth + 1) ||
        gives(value.as<values::Bound>()->self, root, depth + 1);
  case Kind::instance: {
    const auto* cls = value.as<values::Instance>()->cls;
    return cls && root.owner &&
        std::find(cls->order.begin(), cls->order.end(), root.owner) != cls->order.end();
  }
  case Kind::tuple: return any(value.as<values::Tuple>()->items);
  case Kind::list: return any(values::Heap::list_state(value)->items);
  case Kind::choice:
    return gives(value.as<values::Choice>()->yes, root, depth + 1) ||
        gives(value.as<values::Choice>()->no, root, depth + 1);
  case Kind::dict:
  case Kind::iterator:
  case Kind::unknown: return true;
  default: return false;
  }
}
// Is the function, which the program does not call, given to code that is not seen and may?
bool is_given_away(const Record& record, const interpreter::Root& root) {
  bool given = false;
  visit_roots(record, [&](const Event& event) {
    if (given || event.kind != EventKind::operation) return;
    const auto& operation = static_cast<const OperationEvent&>(event);
    given = operation.row->operation == Operation::unseen && !operation.arguments.empty() &&
        gives(operation.arguments[0], root);
  });
  return given;
}

// May something that is not followed wait for the request? Of what the program itself starts, `by_program`,
// functions that nobody calls are none of it.
bool is_followed(const Record& record, const values::Object* request, bool by_program) {
  bool followed = true;
  const auto look = [&](const Event& event) {
    if (!followed || event.kind != EventKind::operation) return;
    const auto& operation = static_cast<const OperationEvent&>(event);
    switch (operation.row->operation) {
    case Operation::await: followed = operation.self.is(Kind::instance); break;
    case Operation::poll:
      followed = operation.self.is(Kind::instance) && operation.self.object() != request;
      break;
    case Operation::unseen: followed = !is_handed(operation, request); break;
    default: break;
    }
  };
  for (const auto& root : record.roots)
    if (!by_program || !root->function || is_given_away(record, *root)) visit(root->block, look);
  return followed;
}

}  // namespace

void Requests::note(const JobView& view) {
  for (int rank = 0; rank < view.size(); ++rank) {
    const RankTrace& trace = view.trace(rank);
    std::set<const values::Object*> waited;
    for (const CommEvent& comm : trace.comms)
      if (comm.what == CommEvent::What::await) waited.insert(comm.request);
    for (const CommEvent& comm : trace.comms) {
      if (!comm.starts) continue;
      if (waited.contains(comm.request)) {
        awaited_.insert(comm.site);
        continue;
      }
      if (started_.contains(comm.site)) continue;
      Mismatch made;
      made.cause = Cause::request;
      made.world = view.size();
      view.place(made, comm);
      made.text = "Nothing waits for this " + call_text(made.name) +
          ": its tensor may be read or written before the communication has ended. Keep what it returns, and call `wait()` on it.";
      started_.emplace(comm.site, Started{std::move(made), rank, comm.request});
    }
  }
}

std::vector<Mismatch> Requests::never_waited(const Record& main, JobExplorer& worlds, bool by_program) const {
  std::vector<Mismatch> never;
  for (const auto& [site, started] : started_)
    if (!awaited_.contains(site) &&
        is_followed(worlds.of(started.rank, started.told.world), started.request, by_program) &&
        !ends_at_barrier(main, started.told.place))
      never.push_back(started.told);
  return never;
}

}  // namespace stepzero::rules
