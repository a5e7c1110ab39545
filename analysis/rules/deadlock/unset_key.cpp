// deadlock/unset-key: a process waits for a key of a store that no process sets. Knows the keys that are
// written in the program, and is silent where one of those that are set is not known.
#include "rules/rule.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <set>
#include <string>

namespace stepzero::rules {

using values::code;
using values::Kind;
using values::Operation;

namespace {

// The keys that a call names: one text, or a list of them. False: one of them is not known.
bool add_keys(const OperationEvent& event, std::set<std::string>& keys) {
  if (event.arguments.empty()) return false;
  const Value given = event.arguments[0];
  if (given.is(Kind::string)) {
    keys.emplace(given.text());
    return true;
  }
  const values::ListState* list = event.list_state(0);
  if (given.is(Kind::tuple))
    for (const Value& item : given.as<values::Tuple>()->items)
      if (item.is(Kind::string))
        keys.emplace(item.text());
      else
        return false;
  else if (list && !list->open)
    for (const Value& item : list->items)
      if (item.is(Kind::string))
        keys.emplace(item.text());
      else
        return false;
  else
    return false;
  return true;
}

void check(const Record& record, Report& report) {
  std::set<std::string> set;
  std::vector<const OperationEvent*> asked;
  bool known = true, any = false;
  visit_roots(record, [&](const Event& event) {
    if (event.kind != interpreter::EventKind::operation) return;
    const auto& operation = static_cast<const OperationEvent&>(event);
    if (operation.row->operation == Operation::store_set) {
      any = true;
      known = add_keys(operation, set) && known;
    } else if (operation.row->operation == Operation::store_asked) {
      asked.push_back(&operation);
    } else if (operation.row->operation == Operation::unseen && !operation.arguments.empty() &&
        operation.arguments[0].is(Kind::tuple)) {
      // Whoever is handed a store may set any key.
      for (const Value& given : operation.arguments[0].as<values::Tuple>()->items)
        known = known &&
            !(given.is(Kind::instance) && given.as<Instance>()->native &&
                given.as<Instance>()->native->path.starts_with("torch.distributed.") &&
                given.as<Instance>()->native->path.ends_with("Store"));
    }
  });
  if (!known || !any) return;
  Once once;
  for (const OperationEvent* event : asked) {
    std::set<std::string> keys;
    if (!add_keys(*event, keys) || event->expected) continue;
    const auto missing = std::ranges::find_if(
        keys, [&](const std::string& key) { return !set.contains(key); });
    if (missing == keys.end() || !once(event->place)) continue;
    std::string list;
    for (const std::string& key : set) list += (list.empty() ? "" : ", ") + code(key);
    report.add(Severity::warning, event->place, event->calls,
        "This waits for the key " + code(*missing) +
            ", which no process sets: it ends with a timeout. The program sets " + list +
            ". Set the key, or ask for one of those.");
  }
}

}  // namespace

extern constexpr Rule unset_key = complete({
    .id = "deadlock/unset-key",
    .severity = Severity::warning,
    .summary = "a process waits for a key of a store that no process sets",
    .why =
        "`get` and `wait` of a store block until some process has set the key, by default for five minutes, and then raise \"wait timeout\". A key that is spelled in another way "
        "on the other side, or that nobody sets any more, holds up the start of each job so long.",
    .wrong = "if rank == 0:\n"
             "    store.set(\"address\", address)\n"
             "else:\n"
             "    address = store.get(\"adress\")\n",
    .right = "if rank == 0:\n"
             "    store.set(\"address\", address)\n"
             "else:\n"
             "    address = store.get(\"address\")\n",
    .silent =
        "Programs in which a key is set that is not known, as one made of the rank; stores that are handed to code that is not seen; programs that set no key.",
    .fix = "None: which of the two names is meant is to be decided.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules
