#include "rules/deadlock/agreement.hpp"

#include <algorithm>

namespace stepzero::rules {

namespace {

bool has_root(const values::CollectiveInfo& info) { return info.root >= 0 || info.group_root >= 0; }

// Do two ranks send the same sizes through the same collectives, in whatever order?
bool same_tensors(const JobView& story, int a, int b, const std::string& group) {
  const auto of = [&](int rank) {
    std::vector<std::pair<std::string_view, std::int64_t>> sizes;
    for (const CommEvent& act : story.trace(rank).acts)
      if (act.what == CommEvent::What::collective && act.group == group && act.elements)
        sizes.push_back({act.name, *act.elements});
    std::sort(sizes.begin(), sizes.end());
    return sizes;
  };
  return of(a) == of(b);
}

// Does the rank come to the call only by what tensors hold that are the same on all ranks, as the sizes that
// all have told each other? Then that may leave no way to it for tensors that differ.
bool by_what_was_gathered(const JobView& story, int rank, const CommEvent& act) {
  const auto& decisions = story.trace(rank).decisions;
  for (std::size_t i = 0; i < act.decided && i < decisions.size(); ++i) {
    const Decision& decision = decisions[i];
    if (!decision.open || decision.local || decision.unseen || !decision.branch ||
        !story.may_read_tensors(decision.place))
      continue;
    if (leads_to(story.trace(rank), i, act)) return true;
  }
  return false;
}

// What one rank brings to a collective, held against what the first of the ranks brings that meet there.
class Meeting {
public:
  Meeting(const JobView& whole, Mismatch& into, const CommEvent& of_first, int number)
      : story(whole), mismatch(into), first(of_first), first_rank(number),
        her("rank " + std::to_string(number)) {}

  enum class Verdict : std::uint8_t { fits, told, open };  // open: nothing can be said of the whole job
  Verdict judge(int of_rank, const CommEvent& of_act);

private:
  bool differ_in_groups() const;
  bool root_is_no_member() const { return act->root && !is_member(*act, static_cast<int>(*act->root)); }
  bool sizes_differ() const {
    return act->elements && first.elements && *act->elements != *first.elements && act->list_even &&
        first.list_even && !act->info->own_sizes;
  }
  bool types_differ() const {
    return act->dtype != values::Dtype::unknown && first.dtype != values::Dtype::unknown &&
        act->dtype != first.dtype;
  }
  bool is_of_root() const {
    return !has_root(*act->info) || act->root == rank;
  }  // of those with a root only that one has a list
  Verdict tell_groups();
  Verdict tell_no_member();
  Verdict tell_roots();
  Verdict tell_order();
  Verdict tell_sizes();
  Verdict tell_lists();
  Verdict tell_list_length();
  Verdict tell_one_for_all();
  Verdict tell_joined();

  Verdict told(Cause cause, std::string text) {
    mismatch.cause = cause;
    mismatch.text = std::move(text);
    return Verdict::told;
  }
  void relate_first() {
    if (!(first.place == act->place))
      mismatch.related.push_back({first.place, "where " + her + " enters it"});
  }
  std::string call() const { return call_text(mismatch.name); }
  static std::string count(std::int64_t number, const char* noun) {
    return std::to_string(number) + " " + noun + plural(static_cast<std::size_t>(number));
  }

  const JobView& story;
  Mismatch& mismatch;
  const CommEvent& first;
  const int first_rank;
  const std::string her;
  const CommEvent* act = nullptr;
  int rank = 0;
  std::string me;
};

Meeting::Verdict Meeting::judge(int of_rank, const CommEvent& of_act) {
  act = &of_act;
  rank = of_rank;
  me = "rank " + std::to_string(rank);
  if (differ_in_groups()) return tell_groups();
  if (root_is_no_member()) return tell_no_member();
  if (act->root && first.root && *act->root != *first.root) return tell_roots();
  if (sizes_differ() && same_tensors(story, rank, first_rank, act->group)) return tell_order();
  if (sizes_differ() || types_differ()) {
    if (by_what_was_gathered(story, rank, *act) || by_what_was_gathered(story, first_rank, first))
      return Verdict::fits;
    return tell_sizes();
  }
  if (act->objects && first.objects && *act->objects != *first.objects) return tell_lists();
  if (act->list_length && is_of_root() && *act->list_length != static_cast<std::int64_t>(act->members.size()))
    return tell_list_length();
  if (act->one_for_all && is_of_root()) return tell_one_for_all();
  if (act->joined && act->elements &&
      *act->joined != *act->elements * static_cast<std::int64_t>(act->members.size()))
    return tell_joined();
  return Verdict::fits;
}

// Groups of one rank each connect nobody.
bool Meeting::differ_in_groups() const {
  return act->makes_group && act->made != first.made && !act->made.empty() && !first.made.empty() &&
      (act->made.size() > 1 || first.made.size() > 1);
}

Meeting::Verdict Meeting::tell_groups() {
  story.place(mismatch, *act);
  return told(Cause::making_groups,
      "All ranks must create the same groups in the same order: here " + me + " creates one of " +
          rank_words(act->made, 0) + ", and " + her + " at the same time one of " +
          rank_words(first.made, 0) +
          ". They wait for each other, or the group connects other ranks than are meant.");
}

Meeting::Verdict Meeting::tell_no_member() {
  if (*act->root >= story.size() || *act->root < 0) return Verdict::open;
  story.place(mismatch, *act);
  return told(Cause::root,
      "Rank " + std::to_string(*act->root) + ", which " + call() + " is told to use here on " + me +
          ", is no member of the group of " + rank_words(act->members, 0) +
          ": src and dst are ranks of the whole job.");
}

Meeting::Verdict Meeting::tell_roots() {
  story.place(mismatch, *act);
  told(Cause::root,
      "The ranks disagree about the root of this " + call() + ": it is rank " + std::to_string(*act->root) +
          " on " + me + " and rank " + std::to_string(*first.root) + " on " + her + ".");
  if (const std::string& where = act->root_where.empty() ? first.root_where : act->root_where;
      !where.empty()) {
    mismatch.text.back() = ',';
    mismatch.text += " where " + where + ".";
    mismatch.certain = false;
    mismatch.by_surprise = true;
  }
  relate_first();
  return Verdict::told;
}

Meeting::Verdict Meeting::tell_order() {
  story.place(mismatch, *act);
  return told(Cause::order,
      "The ranks go through their tensors in different orders: in this " + call() + " a tensor of " +
          count(*act->elements, "element") + " on " + me + " meets one of " +
          std::to_string(*first.elements) + " on " + her + ".");
}

Meeting::Verdict Meeting::tell_sizes() {
  story.place(mismatch, *act);
  if (sizes_differ())
    told(Cause::size,
        "The tensors of this " + call() + " differ in size: " + count(*act->elements, "element") + " on " +
            me + ", " + std::to_string(*first.elements) + " on " + her + ".");
  else
    told(Cause::size,
        "The tensors of this " + call() + " differ in dtype: " + std::string(name(act->dtype)) + " on " + me +
            ", " + std::string(name(first.dtype)) + " on " + her + ".");
  relate_first();
  return Verdict::told;
}

Meeting::Verdict Meeting::tell_lists() {
  story.place(mismatch, *act);
  told(Cause::size,
      "The lists of this " + call() + " differ in length: " + count(*act->objects, "object") + " on " + me +
          ", " + count(*first.objects, "object") + " on " + her +
          ". Give every rank a list of the same length.");
  relate_first();
  return Verdict::told;
}

Meeting::Verdict Meeting::tell_list_length() {
  story.place(mismatch, *act);
  const auto whole = static_cast<std::size_t>(story.size());
  if (act->members.size() == whole) mismatch.made_for = act->list_length;
  // As long as the job is large, for a group that is a part of it: right where the group is all of the job.
  mismatch.counts_the_job = act->members.size() < whole &&
      *act->list_length == static_cast<std::int64_t>(whole);
  return told(Cause::size,
      "The list of this " + call() + " has " + count(*act->list_length, "item") + " on " + me +
          ", and the group has " + std::to_string(act->members.size()) + " ranks: one for each is needed.");
}

Meeting::Verdict Meeting::tell_one_for_all() {
  story.place(mismatch, *act);
  mismatch.certain = false;
  return told(Cause::size,
      "Every item of this list is the same tensor: `[buffer] * n` makes one buffer, in which the part of the last rank is written over those of all others. Make one for each rank, `[torch.empty_like(x) for _ in range(n)]`.");
}

Meeting::Verdict Meeting::tell_joined() {
  story.place(mismatch, *act);
  // A job of one rank needs no collective.
  if (act->members.size() == static_cast<std::size_t>(story.size()) && *act->elements > 0 &&
      *act->joined % *act->elements == 0 && *act->joined > *act->elements)
    mismatch.made_for = *act->joined / *act->elements;
  const auto ranks = static_cast<std::int64_t>(act->members.size());
  return told(Cause::size,
      "The tensor of this " + call() + " that has a part for each rank has " +
          count(*act->joined, "element") + " on " + me + ", and " + std::to_string(ranks) + " ranks with " +
          std::to_string(*act->elements) + " each make " + std::to_string(*act->elements * ranks) + ".");
}

}  // namespace

bool unequal(const JobView& story, Mismatch& mismatch, bool stops) {
  std::map<std::pair<std::string, std::size_t>, std::map<int, const CommEvent*>> meetings;
  for (int rank = 0; rank < story.size(); ++rank) {
    std::map<std::string, std::size_t> entered;
    for (const CommEvent& act : story.trace(rank).acts)
      if (act.what == CommEvent::What::collective && is_member(act, rank))
        meetings[{act.group, entered[act.group]++}][rank] = &act;
  }
  std::set<std::string> apart;  // groups whose ranks have parted
  for (const auto& [key, meeting] : meetings) {
    const CommEvent& first = *meeting.begin()->second;
    if (stops) {
      const bool together = !apart.contains(key.first) && meeting.size() == first.members.size() &&
          std::ranges::all_of(meeting, [&](const auto& each) { return each.second->site == first.site; });
      if (!together) {
        apart.insert(key.first);
        continue;
      }
    }
    Meeting judged(story, mismatch, first, meeting.begin()->first);
    for (const auto& [rank, act] : meeting)
      if (const Meeting::Verdict verdict = judged.judge(rank, *act); verdict != Meeting::Verdict::fits)
        return verdict == Meeting::Verdict::told;
  }
  return false;
}

namespace {

// The argument of a parameter as it stands in the text, where it is a name or an attribute; else empty.
std::string_view named_argument(const JobView& story, const OperationEvent& event, int index) {
  if (!event.expr || index < 0 || static_cast<std::size_t>(index) >= event.row->parameters.size()) return {};
  const auto& call = *event.expr;
  const syntax::Expr* given = static_cast<std::size_t>(index) < call.arguments.size()
      ? call.arguments[static_cast<std::size_t>(index)]
      : nullptr;
  for (const syntax::Keyword& keyword : call.keywords)
    if (keyword.name == event.row->parameters[static_cast<std::size_t>(index)]) given = keyword.value;
  if (!given || (given->kind != syntax::ExprKind::name && given->kind != syntax::ExprKind::attribute))
    return {};
  return story.record.text({event.place.chunk, given->span});
}

// What a reduction does with the parts: "SUM"; empty where it is not known, or there is nothing to do.
std::string_view operation_of(const CommEvent& act) {
  for (std::size_t i = 0; i < act.event->row->parameters.size() && i < act.event->arguments.size(); ++i) {
    if (act.event->row->parameters[i].text() != "op") continue;
    const values::Value given = act.event->arguments[i];
    if (!given) return "SUM";
    if (!given.is(values::Kind::library)) return {};
    const std::string_view path = given.as<values::LibrarySymbol>()->path;
    return path.substr(path.rfind('.') + 1);
  }
  return {};
}

}  // namespace

bool mixed(const JobView& story, Mismatch& mismatch) {
  if (story.size() < 2) return false;
  // Those of rank 0 and of another one, side by side.
  const auto of = [&](int rank) {
    std::vector<const CommEvent*> acts;
    for (const CommEvent& act : story.trace(rank).acts)
      if (act.what == CommEvent::What::collective && act.group == "world" && is_member(act, rank))
        acts.push_back(&act);
    return acts;
  };
  const auto first = of(0);
  for (int rank = 1; rank < story.size(); ++rank) {
    const auto theirs = of(rank);
    if (theirs.size() != first.size()) continue;
    for (std::size_t i = 0; i < first.size(); ++i) {
      const CommEvent &mine = *first[i], &other = *theirs[i];
      if (mine.site == other.site || mine.event->row != other.event->row) continue;
      const auto mine_does = operation_of(mine), other_does = operation_of(other);
      if (!mine_does.empty() && !other_does.empty() && mine_does != other_does) {
        mismatch.cause = Cause::order;
        story.place(mismatch, mine);
        mismatch.text = "The ranks meet in this " + call_text(mismatch.name) +
            " with different operations: " + std::string(mine_does) + " on rank 0, " +
            std::string(other_does) + " on rank " + std::to_string(rank) + story.at_line(other.place) +
            ". What comes out is neither. Enter them in the same order on all ranks.";
        mismatch.related.push_back({other.place, "rank " + std::to_string(rank) + " enters it here"});
        return true;
      }
      const OperationEvent *here = story.of_main(mine), *there = story.of_main(other);
      if (!here || !there || !mine.info || mine.info->tensor < 0) continue;
      const std::string mine_sends(named_argument(story, *here, mine.info->tensor)),
          other_sends(named_argument(story, *there, mine.info->tensor));
      if (mine_sends.empty() || other_sends.empty() || mine_sends == other_sends) continue;
      // The same names the other way round, in what they enter next.
      for (std::size_t j = i + 1; j < first.size() && first[j]->event->row == mine.event->row &&
          theirs[j]->event->row == mine.event->row;
          ++j) {
        const OperationEvent *later = story.of_main(*first[j]), *theirs_later = story.of_main(*theirs[j]);
        if (!later || !theirs_later || named_argument(story, *later, mine.info->tensor) != other_sends ||
            named_argument(story, *theirs_later, mine.info->tensor) != mine_sends)
          continue;
        mismatch.cause = Cause::order;
        story.place(mismatch, mine);
        mismatch.text = "The ranks meet in this " + call_text(mismatch.name) + " with different tensors: `" +
            mine_sends + "` on rank 0, `" + other_sends + "` on rank " + std::to_string(rank) +
            story.at_line(other.place) +
            ". What comes out is a mixture of the two. Enter them in the same order on all ranks.";
        mismatch.related.push_back({other.place, "rank " + std::to_string(rank) + " enters it here"});
        return true;
      }
    }
  }
  return false;
}

bool root_of_own_data(const JobView& story, Mismatch& mismatch) {
  for (const CommEvent& act : story.trace(0).acts) {
    if (act.what != CommEvent::What::collective || act.info->root < 0 || act.root || act.members.size() < 2)
      continue;
    const OperationEvent* event = story.of_main(act);
    const auto at = static_cast<std::size_t>(act.info->root);
    if (!event || at >= event->arguments.size()) continue;
    const values::Value root = event->arguments[at];
    if (!root || story.record.heap.is_external(root) ||
        story.record.heap.sharing(root) != symbolic::Sharing::local)
      continue;
    mismatch.cause = Cause::root;
    mismatch.certain = false;
    mismatch.by_surprise = true;
    story.place(mismatch, act);
    mismatch.text = "Each rank computes the root of this " + call_text(mismatch.name) +
        " from its own data: where the ranks disagree, nothing that is sent is received, and they wait forever. Make the ranks agree on it first.";
    return true;
  }
  return false;
}

bool outsiders(const JobView& story, const CollectiveSimulator& player, Mismatch& mismatch) {
  if (player.foreign().empty()) return false;
  const auto& [first, at] = player.foreign().front();
  const CommEvent& act = story.trace(first).acts[at];
  if (act.makes_group || act.info->hidden || act.members.empty()) return false;
  std::vector<int> outside;
  for (const auto& [rank, place] : player.foreign())
    if (story.trace(rank).acts[place].site == act.site && std::ranges::find(outside, rank) == outside.end())
      outside.push_back(rank);
  std::ranges::sort(outside);
  mismatch.cause = Cause::outsider;
  mismatch.severity = Severity::information;
  mismatch.by_surprise = true;
  story.place(mismatch, act);
  mismatch.ranks = outside;
  mismatch.text = "The group is that of " + rank_words(act.members, 0) + ": on " + rank_words(outside, 0) +
      " this " + call_text(mismatch.name) +
      " does nothing but warn, and what it was given stays as it was. Let only the members call it.";
  return true;
}

}  // namespace stepzero::rules
