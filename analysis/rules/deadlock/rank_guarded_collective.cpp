// deadlock/rank-guarded-collective: a collective that only some ranks of its group enter. Every possible run
// of two, three and four processes is compared: an error is reported only if in each run that reaches the
// collective some rank of the group does not.
#include "rules/deadlock/rank_guarded_collective.hpp"

#include "rules/deadlock/fixes.hpp"
#include "rules/ranks/communication.hpp"
#include "rules/ranks/comparison.hpp"
#include "rules/ranks/job_view.hpp"
#include "rules/ranks/module_state.hpp"
#include "rules/rule.hpp"
#include "rules/sentences.hpp"
#include "rules/source.hpp"
#include "syntax/text.hpp"
#include "values/kept.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <unordered_map>

namespace stepzero::rules::deadlock::rank_guarded_collective {

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

// `model.module`, or words that hold the name of a method.
std::string what_is_inside(const values::CollectiveInfo& info) {
  const bool is_code = info.inside.find(' ') == std::string_view::npos;
  return is_code ? values::code(info.inside) : std::string(info.inside);
}

// "another broadcast", "another forward of a DDP module"
std::string another(std::string_view name) { return "another " + call_text(without_article(name)); }

// Do two steps of different ranks meet?
bool meet(const Step& a, const Step& b) { return collective_name(*a.event) == collective_name(*b.event); }

struct Seen {
  bool always_hangs = true;
  Guarded guarded;
  const OperationEvent* next_of_others = nullptr;
  int world = 4;
  std::string jobs;  // see Mismatch
  bool supposed = false;
};

std::string rank_list(const std::vector<int>& ranks, int world) {
  std::vector<int> others;
  for (int rank = 0; rank < world; ++rank)
    if (std::find(ranks.begin(), ranks.end(), rank) == ranks.end()) others.push_back(rank);
  if (ranks.size() == 1) return "only rank " + std::to_string(ranks[0]);
  if (others.size() == 1) return "every rank but " + std::to_string(others[0]);
  return "only " + rank_words(ranks, 0);
}

// Is the function called by a name that may be any function's: a parameter of a decorator, an item of a list
// of callbacks or its method?
bool by_another_name(const Record& record, const CallSite& site) {
  if (!site.function || !site.function->stmt || !record.chunk(site.place).chunk) return false;
  const std::string_view written = record.text(site.place), callee = written.substr(0, written.find('('));
  if (callee.size() == written.size() ||
      !std::ranges::all_of(callee, [](char c) { return syntax::is_word(c) || c == '.'; }))
    return false;
  const std::size_t point = callee.rfind('.');
  const std::string_view name = site.function->stmt->name.text();
  if (callee.substr(point + 1) != name) return !name.starts_with("__") && name != "forward";
  // `for callback in callbacks: callback.on_end()`
  const std::string_view object = point == std::string_view::npos ? std::string_view()
                                                                  : callee.substr(0, point);
  return std::ranges::any_of(
      enclosing(*record.chunk(site.place).chunk->stmt, site.place.span), [&](const Enclosing& each) {
        if (each.stmt->kind != syntax::StmtKind::for_) return false;
        const syntax::Expr& target = *syntax::as<syntax::ForStmt>(*each.stmt).target;
        return target.kind == syntax::ExprKind::name &&
            syntax::as<syntax::NameExpr>(target).id.text() == object;
      });
}

// Walks outward from the collective to the call that stands in the frame of the guard. What is guarded by a
// decorator is wrong where it communicates: the same guard is right around others.
std::pair<Place, const CallSite*> seen_from(
    const Record& record, const OperationEvent& event, const BranchEvent& guard) {
  std::vector<const CallSite*> sites;
  for (const CallSite* calls = event.calls; calls && calls != guard.calls; calls = calls->outer)
    sites.push_back(calls);
  while (!sites.empty() && by_another_name(record, *sites.back())) sites.pop_back();
  if (sites.empty()) return {event.place, event.calls};
  return {sites.back()->place, sites.back()->outer};
}

// In the order in which they were met.
struct AllSeen {
  std::vector<std::pair<const OperationEvent*, Seen>> in_order;
  std::unordered_map<const OperationEvent*, std::size_t> at;

  Seen& of(const OperationEvent* event) {
    const auto [it, fresh] = at.try_emplace(event, in_order.size());
    if (fresh) in_order.push_back({event, {}});
    return in_order[it->second].second;
  }
  const Seen* find(const OperationEvent* event) const {
    const auto it = at.find(event);
    return it == at.end() ? nullptr : &in_order[it->second].second;
  }
};

class Check {
public:
  Check(const Record& record, Report& report) : record_(record), report_(report) {}

  void run() {
    const Comparison& comparison = report_.ranks().comparison();
    for (const auto& root : record_.roots) {
      if (root->truncated) continue;
      forwards_only_ = comparison.compared_roots.contains(root.get());
      look_at(*root);
    }
    for (const Mismatch& mismatch : comparison.found) {
      if (mismatch.cause != Cause::guard) continue;
      if (const auto* guarded = mismatch.as<GuardedEntry>(); mismatch.event && guarded && guarded->guard) {
        Seen seen;
        seen.guarded = {mismatch.event, guarded->guard, guarded->side, mismatch.ranks};
        seen.next_of_others = guarded->next_of_others;
        seen.world = mismatch.world;
        seen.jobs = mismatch.jobs;
        seen.supposed = mismatch.supposed;
        tell(seen);
      } else if (mismatch.place && told_.insert({mismatch.place.chunk, mismatch.place.span.begin}).second) {
        if (Finding* finding = report_.add(mismatch.certain ? Severity::error : Severity::warning,
                mismatch.place, mismatch.calls, mismatch.jobs + mismatch.text)) {
          for (const auto& [place, text] : mismatch.related) report_.relate(*finding, place, text);
          report_.relate_calls(*finding, mismatch.calls);
        }
      }
    }
    for (auto& [event, seen] : found_)
      if (!matched_elsewhere(seen)) {
        seen.jobs = if_it_is_one(*seen.guarded.event);
        seen.supposed = !seen.jobs.empty();
        tell(seen);
      }
  }

private:
  void look_at(const Root& root) {
    if (!any_operation(record_, root, with_operation(Operation::collective, Operation::parallel_forward)))
      return;
    Walk walk;
    walk.wanted = [&](const OperationEvent& event) {
      return (event.row->operation == Operation::collective ||
                 event.row->operation == Operation::parallel_forward) &&
          on_all_ranks(event);
    };
    AllSeen all;
    for (const int world : {2, 3, 4}) {
      std::vector<Process> processes;
      processes.reserve(world);
      for (int rank = 0; rank < world; ++rank) processes.push_back({rank, world});
      AllSeen here;
      walk.limit = world == 2 ? 1024 : 256;
      const bool complete = explore(
          record_, root.block, processes, walk, [&](const Run& run) { compare(run, world, here); });
      if (!complete) {
        // With more processes there are more combinations of what may differ: two processes are enough then.
        if (world == 2) return;
        break;
      }
      if (world == 2)
        all = std::move(here);
      else
        for (auto& [event, seen] : all.in_order)
          if (const Seen* there = here.find(event); !there || !there->always_hangs)
            seen.always_hangs = false;
          else
            seen.guarded.ranks = there->guarded.ranks;
    }
    for (auto& [event, seen] : all.in_order)
      if (seen.always_hangs && seen.guarded.guard && (!forwards_only_ || !hangs(*event) || is_open(*event)))
        found_.push_back({event, seen});
  }

  // One run: do the ranks' sequences fit, and if not, which collective is the one too many?
  void compare(const Run& run, int world, AllSeen& seen) {
    const auto ended = [&](const std::vector<Step>& steps, std::size_t at) { return at >= steps.size(); };
    // Up to `together` all ranks make the very same calls; at `hang` the calls that meet are not the same
    // collective.
    std::size_t together = 0, hang = 0;
    const auto all_like_first = [&](std::size_t at, bool same_call) {
      for (const auto& steps : run) {
        if (ended(steps, at) != ended(run[0], at)) return false;
        if (ended(steps, at)) continue;
        if (same_call ? steps[at].event != run[0][at].event : !meet(steps[at], run[0][at])) return false;
      }
      return true;
    };
    while (!ended(run[0], together) && all_like_first(together, true)) ++together;
    hang = together;
    while (!ended(run[0], hang) && all_like_first(hang, false)) ++hang;
    const bool fits = ended(run[0], hang) && all_like_first(hang, false);
    // What completes here is no proof of a hang.
    for (const auto& steps : run)
      for (std::size_t i = 0; i < steps.size() && (fits || i < together); ++i)
        seen.of(steps[i].event).always_hangs = false;
    if (fits) return;
    for (std::size_t at = together; at <= hang; ++at)
      for (const auto& steps : run)
        if (!ended(steps, at) && explain(run, steps[at], world, seen)) return;
  }

  // Is the step under a condition about ranks whose other side enters nothing?
  bool explain(const Run& run, const Step& step, int world, AllSeen& seen) {
    for (auto turn = step.turns.rbegin(); turn != step.turns.rend(); ++turn) {
      if (record_.symbols.sharing(turn->branch->condition) != symbolic::Sharing::divergent) continue;
      std::vector<int> entering;
      const OperationEvent* next = nullptr;
      for (std::size_t rank = 0; rank < run.size(); ++rank) {
        bool enters = false;
        for (const Step& theirs : run[rank]) {
          enters = enters || theirs.event == step.event;
          for (const Turn& there : theirs.turns)
            if (there.branch == turn->branch && there.yes != turn->yes) return false;
        }
        if (enters) entering.push_back(static_cast<int>(rank));
      }
      if (static_cast<int>(entering.size()) == world) return false;
      // What the others do where this one waits.
      for (std::size_t rank = 0; rank < run.size() && !next; ++rank) {
        if (std::find(entering.begin(), entering.end(), static_cast<int>(rank)) != entering.end()) continue;
        std::size_t before = 0;
        for (const Step& own : run[static_cast<std::size_t>(entering[0])]) {
          if (own.event == step.event) break;
          ++before;
        }
        if (before < run[rank].size()) next = run[rank][before].event;
      }
      Seen& entry = seen.of(step.event);
      entry.guarded.event = step.event;
      entry.guarded.guard = turn->branch;
      entry.guarded.on_yes = turn->yes;
      entry.guarded.ranks = entering;
      if (next) entry.next_of_others = next;
      return true;
    }
    return false;
  }

  // Does another function of the file make the same collective on exactly the other ranks? Then they may
  // belong together.
  bool matched_elsewhere(const Seen& seen) const {
    for (const auto& [event, other] : found_) {
      if (event == seen.guarded.event || collective_name(*event) != collective_name(*seen.guarded.event))
        continue;
      std::vector<int> both = seen.guarded.ranks;
      both.insert(both.end(), other.guarded.ranks.begin(), other.guarded.ranks.end());
      std::sort(both.begin(), both.end());
      if (both == std::vector<int>{0, 1, 2, 3}) return true;
    }
    return false;
  }

  void tell(const Seen& seen) {
    const OperationEvent& event = *seen.guarded.event;
    const auto [place, calls] = seen_from(record_, event, *seen.guarded.guard);
    if (!told_.insert({place.chunk, place.span.begin}).second) return;
    // One collective that one guard leads to by several calls is one mistake.
    const Place guarded = seen.guarded.guard->place;
    if (!(place == event.place) &&
        !led_to_.insert({event.place.chunk, event.place.span.begin, guarded.chunk, guarded.span.begin})
            .second)
      return;
    const bool forward = event.row->operation == Operation::parallel_forward;
    const bool hangs = !forward || sends_buffers(event.self);
    const std::string who = rank_list(seen.guarded.ranks, seen.world);
    std::string name(collective_name(event));
    std::string message;
    const std::string entering = capitalized(who);
    const OperationEvent* const met = forward && hangs ? next_forward(seen) : nullptr;
    if (met) {
      message = entering + (seen.guarded.ranks.size() == 1 || who.starts_with("every") ? " runs " : " run ") +
          name + ", which sends its buffers: the other ranks take them in their next forward" +
          at_line(met->place) +
          ", and from then on they are apart. Whether that hangs depends on the backend and on what follows, at the end of the job at the latest. Call " +
          what_is_inside(*event.row->collective) + " here.";
    } else if (forward && !hangs) {
      message = entering + " runs " + name +
          (may_send_buffers(event.self)
                  ? ". If it has buffers, as those of batch norms, it sends them, and the other ranks take them in place of what comes next. Call "
                  : ". It has no buffers to send, so this works until it gets one or runs backward. Call ") +
          what_is_inside(*event.row->collective) + " here.";
    } else {
      const bool one = seen.guarded.ranks.size() == 1;
      message = both(seen.jobs, condition_of(event));
      message += entering + (one || who.starts_with("every") ? " enters " : " enter ") + call_text(name) +
          " and " + (one || who.starts_with("every") ? "waits" : "wait") + " forever: the other ranks ";
      if (seen.next_of_others)
        message += "go on to " +
            (collective_name(*seen.next_of_others) == name
                    ? another(name)
                    : call_text(collective_name(*seen.next_of_others))) +
            at_line(seen.next_of_others->place) + ".";
      else
        message += "never enter it.";
      if (event.row->collective && event.row->collective->hidden)
        message += " " + capitalized(event.row->collective->because) + ".";
      // Several that enter a reduction may be meant to be a group of their own.
      const bool of_several = seen.guarded.ranks.size() > 1 && !who.starts_with("every") &&
          event.row->collective && event.row->collective->group >= 0;
      message += of_several ? " Call it on all ranks, or pass the group of those that enter it."
                            : " Call it on all ranks.";
    }
    Finding* finding = report_.add(!hangs                               ? Severity::hint
            : met || !seen.jobs.empty() || !condition_of(event).empty() ? Severity::warning
                                                                        : Severity::error,
        place, calls, message);
    if (!finding) return;
    const auto& guard = *seen.guarded.guard;
    report_.relate(*finding, guard.place,
        (seen.guarded.on_yes ? "" : "the other side of ") +
            std::string(seen.guarded.on_yes
                    ? who + (seen.guarded.ranks.size() == 1 || who.starts_with("every") ? " goes" : " go") +
                        " on from here"
                    : "this condition: " + who));
    if (calls != guard.calls) report_.relate_calls(*finding, calls);
    if (!(place == event.place)) report_.relate(*finding, event.place, call_text(name) + " is entered here");
    if (seen.next_of_others)
      report_.relate(*finding, seen.next_of_others->place,
          "the other ranks are in " + call_text(collective_name(*seen.next_of_others)) + " here");
    // What each rank gives to a call of any arguments is its own: the others may have to give something else.
    const bool gives_its_own = event.expr && event.row->takes_rest && event.row->positional == 0 &&
        !event.expr->arguments.empty();
    if (forward)
      finding->fixes = call_module_inside(record_, seen.guarded, place);
    else if (hangs && !gives_its_own)
      finding->fixes = fixes_for(record_, seen.guarded);
    for (Fix& fix : finding->fixes) fix.preferred = fix.preferred && !seen.supposed;
  }

  // The forward of the same module that the other ranks go on to: at once, or in the next iteration of a loop
  // around the guard.
  const OperationEvent* next_forward(const Seen& seen) const {
    const OperationEvent& event = *seen.guarded.event;
    const auto is_same = [&](const OperationEvent& other) {
      return other.row == event.row && other.self == event.self;
    };
    if (seen.next_of_others) return is_same(*seen.next_of_others) ? seen.next_of_others : nullptr;
    const OperationEvent* found = nullptr;
    visit_roots(record_, [&](const Event& around) {
      if (found || around.kind != EventKind::loop || static_cast<const LoopEvent&>(around).unrolled) return;
      for (const interpreter::Block& iteration : static_cast<const LoopEvent&>(around).iterations) {
        bool guard_is_here = false;
        const OperationEvent* first = nullptr;
        visit(iteration, [&](const Event& inner) {
          guard_is_here = guard_is_here || &inner == seen.guarded.guard;
          if (!guard_is_here && !first && inner.kind == EventKind::operation &&
              is_same(static_cast<const OperationEvent&>(inner)))
            first = static_cast<const OperationEvent*>(&inner);
        });
        if (guard_is_here && first) found = first;
      }
    });
    return found;
  }

  // Elsewhere the related location says where.
  std::string at_line(Place at) const {
    if (!record_.in_file(at)) return {};
    return " (line " +
        std::to_string(
            record_.chunk(at).module->text->position(record_.span(at).begin, syntax::Encoding::utf8).line +
            1) +
        ")";
  }

  // "When `x` is an object of `torch.Tensor`: " and "When the tensor is sharded: " as one condition.
  static std::string both(const std::string& jobs, const std::string& condition) {
    if (jobs.empty() || condition.empty()) return jobs + condition;
    constexpr std::string_view when = "When ";
    return jobs.substr(0, jobs.size() - 2) + " and " + condition.substr(when.size());
  }

  // Where it communicates, if the text does not say that it does.
  static std::string condition_of(const OperationEvent& event) {
    if (!event.row->collective) return {};
    if (!is_open(event)) return {};
    return event.row->collective->when == values::When::parted ? "When the tensor is sharded: "
                                                               : "When the model is sharded: ";
  }

  // Else it is a forward that works, for now.
  static bool hangs(const OperationEvent& event) {
    return event.row->operation != Operation::parallel_forward || sends_buffers(event.self);
  }

  const Record& record_;
  Report& report_;
  bool forwards_only_ =
      false;  // the root was compared rank by rank: all that is left are forwards that work, and what is open
  std::vector<std::pair<const OperationEvent*, Seen>> found_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> told_;
  std::set<std::array<std::uint32_t, 4>>
      led_to_;  // the places of collectives and of guards before their calls
};

void check(const Record& record, Report& report) { Check(record, report).run(); }

}  // namespace

extern constexpr Rule rule = complete({
    .id = "deadlock/rank-guarded-collective",
    .severity = Severity::error,
    .summary = "a collective that only some ranks of its group enter",
    .why =
        "A collective returns when every rank of its process group has entered it. A rank that enters one alone waits until "
        "the group's timeout (ten minutes with NCCL, thirty with gloo) and then dies; with two collectives in flight the wrong "
        "ones may pair up and exchange garbage instead. Some calls hide a collective: an FSDP `state_dict()`, a DeepSpeed "
        "`save_checkpoint()`, `accelerator.gather()`, `metric.compute()`, `dist.new_group()`.",
    .wrong = "def validate(rank, model, loader):\n"
             "    if rank == 0:\n"
             "        loss = evaluate(model, loader)\n"
             "        dist.broadcast(torch.tensor([loss]).cuda(), src=0)  # the other ranks never get here\n",
    .right = "def validate(rank, model, loader):\n"
             "    if rank == 0:\n"
             "        loss = torch.tensor([evaluate(model, loader)]).cuda()\n"
             "    else:\n"
             "        loss = torch.zeros(1).cuda()  # a buffer to receive into\n"
             "    dist.broadcast(loss, src=0)\n",
    .silent =
        "Guards that are the same on every rank (world size, is_initialized, epoch, configuration); a pair like "
        "`if rank != 0: barrier()` … `if rank == 0: barrier()`; both sides with the same sequence; collectives on a sub-group; "
        "work of one rank without communication (saving, logging).",
    .fix =
        "Runs the collective on all ranks: it is moved out of the guard, the guard keeps the rank's own work, and for a "
        "collective that sends data the other ranks get a buffer of the same shape and dtype to receive into. Preferred where "
        "the shape is known or the call carries no data.",
    .fix_kind = FixKind::always_right,
    .check = check,
});

}  // namespace stepzero::rules::deadlock::rank_guarded_collective
