// deadlock/unset-key: a process waits for a key of a store that no process sets. Knows the keys that are
// written in the program and, by the runs of the ranks, those made of the rank; is silent where one that is
// set is not known.
#include "libraries/table/class_roles.hpp"
#include "rules/ranks/comparison.hpp"
#include "rules/rule.hpp"
#include "rules/sentences.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

namespace stepzero::rules::deadlock::unset_key {

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

// The keys that are set and asked for in a run.
struct Keys {
  std::set<std::string> set;
  bool known = true;  // there are no others
  std::vector<const OperationEvent*> asked;
};

Keys keys_in(const Record& record) {
  Keys keys;
  if (!any_operation(record, with_operation(Operation::store_set, Operation::store_asked))) return keys;
  const auto is_asked = with_operation(Operation::store_set, Operation::store_asked, Operation::unseen);
  visit_operations(record, is_asked, [&](const OperationEvent& operation) {
    if (operation.row->operation == Operation::store_set) {
      keys.known = add_keys(operation, keys.set) && keys.known;
    } else if (operation.row->operation == Operation::store_asked) {
      keys.asked.push_back(&operation);
    } else if (operation.row->operation == Operation::unseen && !operation.arguments.empty() &&
        operation.arguments[0].is(Kind::tuple)) {
      // Whoever is handed a store may set any key.
      for (const Value& given : operation.arguments[0].as<values::Tuple>()->items)
        keys.known = keys.known &&
            !(given.is(Kind::instance) &&
                libraries::role_of(given.as<Instance>()->native) == libraries::ClassRole::store);
    }
  });
  return keys;
}

// A key that is asked for and not set; empty: there is none, or it is not known.
std::string missing_in(const OperationEvent& asked, const std::set<std::string>& set) {
  std::set<std::string> keys;
  if (asked.expected || !add_keys(asked, keys)) return {};
  const auto missing = std::ranges::find_if(keys, [&](const std::string& key) { return !set.contains(key); });
  return missing == keys.end() ? std::string() : *missing;
}

// Keys that are made of the rank are known in the runs of each rank. What is missing in a job of two ranks
// and in one of three is set by nobody.
void check_by_ranks(const Record& record, const Keys& own, Report& report) {
  // By place: the path of the file, and the bytes in it.
  using Spot = std::tuple<std::string, std::uint32_t, std::uint32_t>;
  const auto spot = [](const Record& of, const OperationEvent& event) {
    const syntax::Span span = of.span(event.place);
    return Spot{of.chunk(event.place).path, span.begin, span.end};
  };
  struct Missing {
    int rank;
    std::string key, set;
  };
  const auto missing_with = [&](int world) -> std::map<Spot, Missing> {
    std::set<std::string> set;
    std::vector<Keys> ranks;
    for (int rank = 0; rank < world; ++rank) {
      const Record* const run = report.ranks().run(rank, world);
      if (!run) return {};
      ranks.push_back(keys_in(*run));
      if (!ranks.back().known || run->out_of_budget) return {};
      set.merge(std::set(ranks.back().set));
    }
    std::map<Spot, Missing> found;
    for (int rank = 0; rank < world && !set.empty(); ++rank)
      for (const OperationEvent* asked : ranks[static_cast<std::size_t>(rank)].asked)
        if (const std::string key = missing_in(*asked, set); !key.empty())
          found.try_emplace(
              spot(*report.ranks().run(rank, world), *asked), Missing{rank, key, in_code(set, "and")});
    return found;
  };
  const auto of_two = missing_with(2), of_three = of_two.empty() ? of_two : missing_with(3);
  for (const OperationEvent* event : own.asked) {
    const auto at = of_two.find(spot(record, *event));
    if (at == of_two.end() || !of_three.contains(at->first)) continue;
    report.add(Severity::warning, event->place, event->calls,
        "Rank " + std::to_string(at->second.rank) + " waits here for the key " + code(at->second.key) +
            ", which no process sets: it ends with a timeout. Two processes set " + at->second.set +
            ". Set the key on the rank that it is named after, or ask for one of those.");
  }
}

void check(const Record& record, Report& report) {
  const Keys keys = keys_in(record);
  // Keys that are not known here are made of the rank, if anything tells them.
  Keys of_ranks;
  for (const OperationEvent* event : keys.asked)
    if (std::set<std::string> asked; !keys.known || !add_keys(*event, asked)) of_ranks.asked.push_back(event);
  if (!of_ranks.asked.empty()) check_by_ranks(record, of_ranks, report);
  if (!keys.known || keys.set.empty()) return;
  Once once;
  for (const OperationEvent* event : keys.asked) {
    const std::string missing = missing_in(*event, keys.set);
    if (missing.empty() || !once(event->place)) continue;
    report.add(Severity::warning, event->place, event->calls,
        "This waits for the key " + code(missing) +
            ", which no process sets: it ends with a timeout. The program sets " + in_code(keys.set, "and") +
            ". Set the key, or ask for one of those.");
  }
}

}  // namespace

extern constexpr Rule rule = complete({
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
        "Programs in which a key is set that is not known; keys made of the rank that some process of a small job sets; stores that are handed to code that is not seen; programs that set no key.",
    .fix = "None: decide which of the two names is meant.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::deadlock::unset_key
