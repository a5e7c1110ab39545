#include "rules/ranks/job_view.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace stepzero::rules {

using namespace interpreter;

void JobView::place(Mismatch& mismatch, const CommEvent& comm) const {
  mismatch.name = std::string(comm.name);
  mismatch.place = comm.place;
  mismatch.calls = comm.calls;
  mismatch.key = comm.site;
}

namespace {
bool same_calls(const CallSite* a, const CallSite* b) {
  for (; a && b; a = a->outer, b = b->outer)
    if (!(a->place == b->place)) return false;
  return !a && !b;
}
}  // namespace

namespace {
// The operations and branches of a record by their places, each in the order of the record.
class ByPlace {
public:
  explicit ByPlace(const Record& record) {
    for (const auto& root : record.roots)
      visit(root->block, [&](const Event& event) {
        if (event.kind == EventKind::operation)
          operations_[key(event.place)].push_back(static_cast<const OperationEvent*>(&event));
        else if (event.kind == EventKind::branch)
          branches_.try_emplace(key(event.place), static_cast<const BranchEvent*>(&event));
      });
  }
  static const ByPlace& of(const Record& record) {
    auto& kept = record.derived[std::type_index(typeid(ByPlace))];
    if (!kept) kept = std::make_shared<const ByPlace>(record);
    return *static_cast<const ByPlace*>(kept.get());
  }
  const std::vector<const OperationEvent*>& operations(Place place) const {
    static const std::vector<const OperationEvent*> none;
    const auto found = operations_.find(key(place));
    return found == operations_.end() ? none : found->second;
  }
  const BranchEvent* branch(Place place) const {
    const auto found = branches_.find(key(place));
    return found == branches_.end() ? nullptr : found->second;
  }

private:
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
  static Key key(Place place) { return {place.chunk, place.span.begin, place.span.end}; }
  std::map<Key, std::vector<const OperationEvent*>> operations_;
  std::map<Key, const BranchEvent*> branches_;
};
}  // namespace

// By the same calls, if there is such an event.
const OperationEvent* JobView::of_main(const CommEvent& comm) const {
  const OperationEvent* found = nullptr;
  for (const OperationEvent* event : ByPlace::of(record).operations(comm.place)) {
    if (event->row != comm.event->row) continue;
    if (same_calls(event->calls, comm.calls)) return event;
    if (!found) found = event;
  }
  return found;
}

const BranchEvent* JobView::guard_at(const Decision& guard, Place place) const {
  const auto &of_guard = record.chunk(guard.place), &here = record.chunk(place);
  return of_guard.path == here.path && of_guard.offset == here.offset ? of_main(guard.place) : nullptr;
}

const BranchEvent* JobView::of_main(Place place) const {
  return place ? ByPlace::of(record).branch(place) : nullptr;
}

bool JobView::of_own_data(Place condition) const {
  bool own = false;
  for (const Fact& fact : record.facts) {
    if (fact.place.chunk != condition.chunk || fact.place.span.begin < condition.span.begin ||
        fact.place.span.end > condition.span.end)
      continue;
    // Whether there is a gradient says nothing of its numbers; what is computed from it does.
    if (!fact.tensor && fact.value.is(values::Kind::unknown) && fact.value.as<values::Unknown>()->is_gradient)
      continue;
    const auto sharing = fact.tensor ? fact.tensor->sharing : record.heap.sharing(fact.value);
    if (sharing == symbolic::Sharing::unseen || record.heap.is_unseen(fact.value) ||
        (fact.tensor && fact.tensor->unseen))
      return false;
    // What a tensor of a rank holds is its own even where only its number decides it.
    const bool measured = fact.value.is(values::Kind::unknown) && fact.value.as<values::Unknown>()->is_number;
    own = own ||
        (fact.tensor || measured ? sharing != symbolic::Sharing::uniform
                                 : sharing == symbolic::Sharing::local);
  }
  return own;
}

bool JobView::parted_by_rank(const Decision& mine, const Decision& theirs) const {
  if (theirs.open || mine.yes == theirs.yes || !mine.branch) return false;
  const BranchEvent* branch = of_main(mine.place);
  return branch && depends_on_rank(record.symbols, branch->condition);
}

bool JobView::may_read_tensors(Place condition) const {
  if (!record.in_file(condition)) return true;  // values are noted of one file only
  const auto measured = [](values::Value value) {
    return value.is(values::Kind::tensor) ||
        (value.is(values::Kind::unknown) && value.as<values::Unknown>()->is_number);
  };
  return std::any_of(record.facts.begin(), record.facts.end(), [&](const Fact& fact) {
    if (fact.place.chunk != condition.chunk || fact.place.span.begin < condition.span.begin ||
        fact.place.span.end > condition.span.end)
      return false;
    if (fact.tensor || measured(fact.value)) return true;
    if (!fact.value.is(values::Kind::list)) return false;
    const auto& state = *values::Heap::list_state(fact.value);
    return std::any_of(state.items.begin(), state.items.end(), measured) ||
        (state.open && measured(state.rest));
  });
}

std::string JobView::at_line(Place place) const {
  if (!place) return {};
  const auto& chunk = record.chunk(place);
  return " (line " +
      std::to_string(
          chunk.module->text->position(record.span(place).begin, syntax::Encoding::utf8).line + 1) +
      ")";
}

std::string JobView::doing(int rank, const std::vector<std::size_t>& at) const {
  const RankTrace& own = trace(rank);
  const std::size_t where = at[static_cast<std::size_t>(rank)];
  if (where >= own.comms.size())
    return own.raised ? "rank " + std::to_string(rank) + " has failed"
                      : "rank " + std::to_string(rank) + " has finished";
  const CommEvent& comm = own.comms[where];
  return "rank " + std::to_string(rank) + " waits in " + call_text(comm.name) + at_line(comm.place);
}

std::string call_text(std::string_view name) {
  return name.find(' ') == std::string_view::npos ? "`" + std::string(name) + "`" : std::string(name);
}

bool depends_on_rank(const symbolic::Context& symbols, values::Cond condition) {
  using Form = symbolic::Context::Form;
  switch (symbols.form(condition)) {
  case Form::negation:
  case Form::conjunction:
  case Form::disjunction:
    return std::ranges::any_of(
        symbols.operands(condition), [&](values::Cond part) { return depends_on_rank(symbols, part); });
  default: return symbols.sharing(condition) == symbolic::Sharing::divergent;
  }
}

std::string plural(std::size_t count) { return count == 1 ? "" : "s"; }

std::string ranks_do(
    const std::vector<int>& ranks, int world, std::string_view singular, std::string_view plural_form) {
  std::string text = rank_words(ranks, world);
  const bool all_but_one = ranks.size() > 1 && text.starts_with("the ranks but ");
  if (all_but_one) text.replace(0, std::string_view("the ranks but").size(), "every rank but");
  return text + " " + std::string(ranks.size() == 1 || all_but_one ? singular : plural_form);
}

bool leads_to(const RankTrace& trace, std::size_t decision, const CommEvent& comm) {
  if (std::find(comm.turns.begin(), comm.turns.end(), decision) != comm.turns.end()) return true;
  const Decision& taken = trace.decisions[decision];
  bool leaves = false;
  visit(taken.yes ? taken.branch->no : taken.branch->yes,
      [&](const Event& event) { leaves = leaves || event.kind == interpreter::EventKind::exit; });
  return leaves;
}

std::string_view without_article(std::string_view name) {
  return name.starts_with("the ") ? name.substr(4) : name;
}

std::string rank_words(const std::vector<int>& ranks, int world) {
  if (ranks.size() == 1) return "rank " + std::to_string(ranks[0]);
  if (world > 0 && static_cast<int>(ranks.size()) == world - 1)
    for (int rank = 0; rank < world; ++rank)
      if (std::find(ranks.begin(), ranks.end(), rank) == ranks.end())
        return "the ranks but " + std::to_string(rank);
  std::string text = "ranks ";
  for (std::size_t i = 0; i < ranks.size(); ++i)
    text += (i == 0 ? "" : i + 1 == ranks.size() ? " and " : ", ") + std::to_string(ranks[i]);
  return text;
}

}  // namespace stepzero::rules
