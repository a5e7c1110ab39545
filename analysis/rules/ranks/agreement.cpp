#include "rules/ranks/agreement.hpp"

#include "libraries/table/class_roles.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::rules {

namespace {

bool has_root(const values::CollectiveInfo& info) { return info.root >= 0 || info.group_root >= 0; }

// Do two ranks send the same sizes through the same collectives, in whatever order?
bool same_tensors(const JobView& view, int a, int b, const std::string& group) {
  const auto of = [&](int rank) {
    std::vector<std::pair<std::string_view, std::int64_t>> sizes;
    for (const CommEvent& comm : view.trace(rank).comms)
      if (comm.what == CommEvent::What::collective && comm.group == group && comm.elements)
        sizes.push_back({comm.name, *comm.elements});
    std::sort(sizes.begin(), sizes.end());
    return sizes;
  };
  return of(a) == of(b);
}

// Does the rank come to the call only by what tensors hold that are the same on all ranks, as the sizes that
// all have told each other? Then that may leave no way to it for tensors that differ.
bool by_what_was_gathered(const JobView& view, int rank, const CommEvent& comm) {
  const auto& decisions = view.trace(rank).decisions;
  for (std::size_t i = 0; i < comm.decided && i < decisions.size(); ++i) {
    const Decision& decision = decisions[i];
    if (!decision.open || decision.local || decision.unseen || !decision.branch ||
        !view.may_read_tensors(decision.place))
      continue;
    if (leads_to(view.trace(rank), i, comm)) return true;
  }
  return false;
}

// What one rank brings to a collective, held against what the first of the ranks brings that meet there.
class Meeting {
public:
  Meeting(const JobView& whole, Mismatch& into, const CommEvent& of_first, int number)
      : view(whole), mismatch(into), first(of_first), first_rank(number),
        her("rank " + std::to_string(number)) {}

  enum class Verdict : std::uint8_t { fits, told, open };  // open: nothing can be said of the whole job
  Verdict judge(int of_rank, const CommEvent& of_comm);

private:
  bool differ_in_groups() const;
  bool root_is_no_member() const { return comm->root && !is_member(*comm, static_cast<int>(*comm->root)); }
  bool sizes_differ() const {
    return comm->elements && first.elements && *comm->elements != *first.elements && comm->list_even &&
        first.list_even && !comm->info->own_sizes;
  }
  bool types_differ() const {
    return comm->dtype != values::Dtype::unknown && first.dtype != values::Dtype::unknown &&
        comm->dtype != first.dtype;
  }
  bool is_of_root() const {
    return !has_root(*comm->info) || comm->root == rank;
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
    if (!(first.place == comm->place))
      mismatch.related.push_back({first.place, "where " + her + " enters it"});
  }
  std::string call() const { return call_text(mismatch.name); }
  static std::string count(std::int64_t number, const char* noun) {
    return std::to_string(number) + " " + noun + plural(static_cast<std::size_t>(number));
  }

  const JobView& view;
  Mismatch& mismatch;
  const CommEvent& first;
  const int first_rank;
  const std::string her;
  const CommEvent* comm = nullptr;
  int rank = 0;
  std::string me;
};

Meeting::Verdict Meeting::judge(int of_rank, const CommEvent& of_comm) {
  comm = &of_comm;
  rank = of_rank;
  me = "rank " + std::to_string(rank);
  if (differ_in_groups()) return tell_groups();
  if (root_is_no_member()) return tell_no_member();
  if (comm->root && first.root && *comm->root != *first.root) return tell_roots();
  if (sizes_differ() && same_tensors(view, rank, first_rank, comm->group)) return tell_order();
  if (sizes_differ() || types_differ()) {
    if (by_what_was_gathered(view, rank, *comm) || by_what_was_gathered(view, first_rank, first))
      return Verdict::fits;
    return tell_sizes();
  }
  if (comm->objects && first.objects && *comm->objects != *first.objects) return tell_lists();
  if (comm->list_length && is_of_root() &&
      *comm->list_length != static_cast<std::int64_t>(comm->members.size()))
    return tell_list_length();
  if (comm->one_for_all && is_of_root()) return tell_one_for_all();
  if (comm->joined && comm->elements &&
      *comm->joined != *comm->elements * static_cast<std::int64_t>(comm->members.size()))
    return tell_joined();
  return Verdict::fits;
}

// Groups of one rank each connect nobody.
bool Meeting::differ_in_groups() const {
  return comm->makes_group && comm->made != first.made && !comm->made.empty() && !first.made.empty() &&
      (comm->made.size() > 1 || first.made.size() > 1);
}

Meeting::Verdict Meeting::tell_groups() {
  view.place(mismatch, *comm);
  return told(Cause::making_groups,
      "The ranks create different groups at the same time: " + me + " one of " + rank_words(comm->made, 0) +
          ", and " + her + " one of " + rank_words(first.made, 0) +
          ". They wait for each other, or the group connects the wrong ranks. Create the same groups in the same order on all ranks.");
}

Meeting::Verdict Meeting::tell_no_member() {
  if (*comm->root >= view.size() || *comm->root < 0) return Verdict::open;
  view.place(mismatch, *comm);
  return told(Cause::root,
      "The root of this " + call() + " is rank " + std::to_string(*comm->root) + " on " + me +
          ", which is not a member of the group of " + rank_words(comm->members, 0) +
          ": `src` and `dst` are ranks of the whole job. Name a member of the group.");
}

Meeting::Verdict Meeting::tell_roots() {
  view.place(mismatch, *comm);
  told(Cause::root,
      "The ranks disagree about the root of this " + call() + ": it is rank " + std::to_string(*comm->root) +
          " on " + me + " and rank " + std::to_string(*first.root) + " on " + her + ".");
  if (const std::string& where = comm->root_where.empty() ? first.root_where : comm->root_where;
      !where.empty()) {
    mismatch.text.back() = ',';
    mismatch.text += " when " + values::code(where) + ".";
    mismatch.certain = false;
    mismatch.by_surprise = true;
  }
  mismatch.text += " Pass the same root on all ranks.";
  relate_first();
  return Verdict::told;
}

Meeting::Verdict Meeting::tell_order() {
  view.place(mismatch, *comm);
  return told(Cause::order,
      "The ranks go through their tensors in different orders: in this " + call() + " a tensor of " +
          count(*comm->elements, "element") + " on " + me + " meets one of " +
          std::to_string(*first.elements) + " on " + her +
          ". Go through the tensors in the same order on all ranks.");
}

Meeting::Verdict Meeting::tell_sizes() {
  view.place(mismatch, *comm);
  if (sizes_differ())
    told(Cause::size,
        "The tensors of this " + call() + " differ in size: " + count(*comm->elements, "element") + " on " +
            me + ", " + std::to_string(*first.elements) + " on " + her +
            ". Give every rank a tensor of the same size.");
  else
    told(Cause::size,
        "The tensors of this " + call() + " differ in dtype: " + values::code(name(comm->dtype)) + " on " +
            me + ", " + values::code(name(first.dtype)) + " on " + her +
            ". Convert them to the same dtype first.");
  relate_first();
  return Verdict::told;
}

Meeting::Verdict Meeting::tell_lists() {
  view.place(mismatch, *comm);
  told(Cause::size,
      "The lists of this " + call() + " differ in length: " + count(*comm->objects, "object") + " on " + me +
          ", " + count(*first.objects, "object") + " on " + her +
          ". Give every rank a list of the same length.");
  relate_first();
  return Verdict::told;
}

Meeting::Verdict Meeting::tell_list_length() {
  view.place(mismatch, *comm);
  const auto whole = static_cast<std::size_t>(view.size());
  if (comm->members.size() == whole && *comm->list_length > 0) mismatch.made_for = comm->list_length;
  // As long as the job is large, for a group that is a part of it: right where the group is all of the job.
  mismatch.counts_the_job = comm->members.size() < whole &&
      *comm->list_length == static_cast<std::int64_t>(whole);
  return told(Cause::size,
      "The list of this " + call() + " has " + count(*comm->list_length, "item") + " on " + me +
          ", but the group has " + std::to_string(comm->members.size()) +
          " ranks. Give the list one item for each of them.");
}

Meeting::Verdict Meeting::tell_one_for_all() {
  view.place(mismatch, *comm);
  mismatch.certain = false;
  return told(Cause::size,
      "Every item of this list is the same tensor: `[buffer] * n` makes one buffer, in which the part of the last rank is written over those of all others. Make one for each rank, `[torch.empty_like(x) for _ in range(n)]`.");
}

Meeting::Verdict Meeting::tell_joined() {
  view.place(mismatch, *comm);
  // A job of one rank needs no collective.
  if (comm->members.size() == static_cast<std::size_t>(view.size()) && *comm->elements > 0 &&
      *comm->joined % *comm->elements == 0 && *comm->joined > *comm->elements)
    mismatch.made_for = *comm->joined / *comm->elements;
  const auto ranks = static_cast<std::int64_t>(comm->members.size());
  return told(Cause::size,
      "The larger tensor of this " + call() + " has " + count(*comm->joined, "element") + " on " + me +
          ", but " + std::to_string(ranks) + " ranks with " + std::to_string(*comm->elements) +
          " each need " + std::to_string(*comm->elements * ranks) + ". Make it that large.");
}

// What one rank has for another is not what that makes room for.
bool parts_differ(const JobView& view, const std::map<int, const CommEvent*>& meeting, Mismatch& mismatch) {
  const std::vector<int>& members = meeting.begin()->second->members;
  if (meeting.size() != members.size()) return false;
  const auto part = [&](const std::vector<std::int64_t>& parts, std::size_t at) {
    return parts.size() == members.size() ? std::optional(parts[at]) : std::nullopt;
  };
  for (std::size_t from = 0; from < members.size(); ++from)
    for (std::size_t to = 0; to < members.size(); ++to) {
      const auto one = meeting.find(members[from]), other = meeting.find(members[to]);
      if (one == meeting.end() || other == meeting.end()) return false;
      const auto given = part(one->second->gives, to), taken = part(other->second->takes, from);
      if (from == to || !given || !taken || *given == *taken) continue;
      view.place(mismatch, *one->second);
      mismatch.cause = Cause::size;
      mismatch.text = "The parts of this " + call_text(mismatch.name) + " do not fit: rank " +
          std::to_string(members[from]) + " has " + std::to_string(*given) + " row" +
          plural(static_cast<std::size_t>(*given)) + " for rank " + std::to_string(members[to]) +
          ", which takes " + std::to_string(*taken) +
          ". Exchange the sizes in another `all_to_all_single` first.";
      return true;
    }
  return false;
}

}  // namespace

bool unequal(const JobView& view, Mismatch& mismatch, bool stops) {
  std::map<std::pair<std::string, std::size_t>, std::map<int, const CommEvent*>> meetings;
  for (int rank = 0; rank < view.size(); ++rank) {
    std::map<std::string, std::size_t> entered;
    for (const CommEvent& comm : view.trace(rank).comms)
      if (comm.what == CommEvent::What::collective && is_member(comm, rank))
        meetings[{comm.group, entered[comm.group]++}][rank] = &comm;
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
    Meeting judged(view, mismatch, first, meeting.begin()->first);
    for (const auto& [rank, comm] : meeting)
      if (const Meeting::Verdict verdict = judged.judge(rank, *comm); verdict != Meeting::Verdict::fits)
        return verdict == Meeting::Verdict::told;
    if (parts_differ(view, meeting, mismatch)) return true;
  }
  return false;
}

namespace {

// The argument of a parameter as it stands in the text, where it is a name or an attribute; else empty.
std::string_view named_argument(const JobView& view, const OperationEvent& event, int index) {
  if (!event.expr || index < 0 || static_cast<std::size_t>(index) >= event.row->parameters.size()) return {};
  const auto& call = *event.expr;
  const syntax::Expr* given = static_cast<std::size_t>(index) < call.arguments.size()
      ? call.arguments[static_cast<std::size_t>(index)]
      : nullptr;
  for (const syntax::Keyword& keyword : call.keywords)
    if (keyword.name == event.row->parameters[static_cast<std::size_t>(index)]) given = keyword.value;
  if (!given || (given->kind != syntax::ExprKind::name && given->kind != syntax::ExprKind::attribute))
    return {};
  return view.record.text({event.place.chunk, given->span});
}

// What a reduction does with the parts: "SUM"; empty where it is not known, or there is nothing to do.
std::string_view operation_of(const CommEvent& comm) {
  if (std::ranges::find(comm.event->row->parameters, values::Name("op")) == comm.event->row->parameters.end())
    return {};
  const values::Value given = argument(*comm.event, "op");
  return given ? libraries::reduction_of(given) : libraries::usual_reduction;
}

}  // namespace

bool mixed(const JobView& view, Mismatch& mismatch) {
  if (view.size() < 2) return false;
  // Those of rank 0 and of another one, side by side.
  const auto of = [&](int rank) {
    std::vector<const CommEvent*> comms;
    for (const CommEvent& comm : view.trace(rank).comms)
      if (comm.what == CommEvent::What::collective && comm.group == world_group && is_member(comm, rank))
        comms.push_back(&comm);
    return comms;
  };
  const auto first = of(0);
  for (int rank = 1; rank < view.size(); ++rank) {
    const auto theirs = of(rank);
    if (theirs.size() != first.size()) continue;
    for (std::size_t i = 0; i < first.size(); ++i) {
      const CommEvent &mine = *first[i], &other = *theirs[i];
      if (mine.site == other.site || mine.event->row != other.event->row) continue;
      const auto mine_does = operation_of(mine), other_does = operation_of(other);
      if (!mine_does.empty() && !other_does.empty() && mine_does != other_does) {
        mismatch.cause = Cause::order;
        view.place(mismatch, mine);
        mismatch.text = "The ranks meet in this " + call_text(mismatch.name) +
            " with different operations: " + values::code(mine_does) + " on rank 0, " +
            values::code(other_does) + " on rank " + std::to_string(rank) + view.at_line(other.place) +
            ". The result is neither. Enter them in the same order on all ranks.";
        mismatch.related.push_back({other.place, "rank " + std::to_string(rank) + " enters it here"});
        return true;
      }
      const OperationEvent *here = view.of_main(mine), *there = view.of_main(other);
      if (!here || !there || !mine.info || mine.info->tensor < 0) continue;
      const std::string mine_sends(named_argument(view, *here, mine.info->tensor)),
          other_sends(named_argument(view, *there, mine.info->tensor));
      if (mine_sends.empty() || other_sends.empty() || mine_sends == other_sends) continue;
      // The same names the other way round, in what they enter next.
      for (std::size_t j = i + 1; j < first.size() && first[j]->event->row == mine.event->row &&
          theirs[j]->event->row == mine.event->row;
          ++j) {
        const OperationEvent *later = view.of_main(*first[j]), *theirs_later = view.of_main(*theirs[j]);
        if (!later || !theirs_later || named_argument(view, *later, mine.info->tensor) != other_sends ||
            named_argument(view, *theirs_later, mine.info->tensor) != mine_sends)
          continue;
        mismatch.cause = Cause::order;
        view.place(mismatch, mine);
        mismatch.text = "The ranks meet in this " + call_text(mismatch.name) + " with different tensors: `" +
            mine_sends + "` on rank 0, `" + other_sends + "` on rank " + std::to_string(rank) +
            view.at_line(other.place) +
            ". What comes out is a mixture of the two. Enter them in the same order on all ranks.";
        mismatch.related.push_back({other.place, "rank " + std::to_string(rank) + " enters it here"});
        return true;
      }
    }
  }
  return false;
}

bool root_of_own_data(const JobView& view, Mismatch& mismatch) {
  for (const CommEvent& comm : view.trace(0).comms) {
    if (comm.what != CommEvent::What::collective || comm.info->root < 0 || comm.root ||
        comm.members.size() < 2)
      continue;
    const OperationEvent* event = view.of_main(comm);
    const auto at = static_cast<std::size_t>(comm.info->root);
    if (!event || at >= event->arguments.size()) continue;
    const values::Value root = event->arguments[at];
    if (!root || view.record.heap.is_unseen(root) ||
        view.record.heap.sharing(root) != symbolic::Sharing::local)
      continue;
    mismatch.cause = Cause::root;
    mismatch.certain = false;
    mismatch.by_surprise = true;
    view.place(mismatch, comm);
    mismatch.text = "Each rank computes the root of this " + call_text(mismatch.name) +
        " from its own data: where the ranks disagree, nothing that is sent is received, and they wait forever. Make the ranks agree on it first.";
    return true;
  }
  return false;
}

bool outsiders(const JobView& view, const CollectiveSimulator& simulator, Mismatch& mismatch) {
  if (simulator.foreign().empty()) return false;
  const auto& [first, at] = simulator.foreign().front();
  const CommEvent& comm = view.trace(first).comms[at];
  if (comm.makes_group || comm.info->hidden || comm.members.empty()) return false;
  std::vector<int> outside;
  for (const auto& [rank, place] : simulator.foreign())
    if (view.trace(rank).comms[place].site == comm.site && std::ranges::find(outside, rank) == outside.end())
      outside.push_back(rank);
  std::ranges::sort(outside);
  mismatch.cause = Cause::outsider;
  mismatch.severity = Severity::information;
  mismatch.by_surprise = true;
  view.place(mismatch, comm);
  mismatch.ranks = outside;
  mismatch.text = "The group is that of " + rank_words(comm.members, 0) + ": on " + rank_words(outside, 0) +
      " this " + call_text(mismatch.name) +
      " does nothing but warn, and what it was given stays as it was. Let only the members call it.";
  return true;
}

}  // namespace stepzero::rules
