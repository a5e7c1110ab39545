#include "rules/ranks/runs.hpp"

#include "rules/fact_index.hpp"
#include "rules/ranks/communication.hpp"
#include "rules/report.hpp"
#include "rules/walk.hpp"
#include "symbolic/naming.hpp"

#include <algorithm>

namespace stepzero::rules {

using namespace interpreter;

namespace {
// Does a condition ask for something that was computed from the rank and is not known, as the sum of a tensor
// of its own?
bool measures(const symbolic::Context& symbols, values::Cond condition) {
  bool any = false;
  symbols.parts(
      condition,
      [&](values::Int atom) {
        const auto* info = symbols.atom_info(atom);
        any = any ||
            (info && info->role == symbolic::Role::none && info->sharing == symbolic::Sharing::divergent);
      },
      [&](values::Cond part) { any = any || symbols.sharing(part) == symbolic::Sharing::divergent; });
  return any;
}

// An assertion about the rank and what has a name. One of what was computed tells nothing of the ranks: its
// answers would only be more ways to follow.
bool tells_of_ranks(const BranchEvent& branch) {
  return branch.is_assertion() && symbolic::asks_by_names(branch.condition);
}

// The answer to a condition in every job of several ranks; unknown where these differ.
symbolic::Answer in_several(const Record& record, Cond condition) {
  if (record.symbols.form(condition) == symbolic::Context::Form::negation) {
    const symbolic::Answer inner = in_several(record, record.symbols.operands(condition)[0]);
    return inner == symbolic::Answer::yes ? symbolic::Answer::no
        : inner == symbolic::Answer::no   ? symbolic::Answer::yes
                                          : inner;
  }
  if (asks_for_group(record, condition)) return symbolic::Answer::yes;
  const auto world = record.roles[static_cast<int>(symbolic::Role::world_size)];
  if (!world) return record.symbols.evaluate(condition, {});
  constexpr std::int64_t sizes[] = {2, 3, 4, 64};
  std::optional<symbolic::Answer> found;
  for (const std::int64_t size : sizes) {
    const symbolic::Assignment job[] = {{world, size}};
    const symbolic::Answer answer = record.symbols.evaluate(condition, job);
    if (found && *found != answer) return symbolic::Answer::unknown;
    found = answer;
  }
  return *found;
}
// How a condition relates among the ranks of a job of several: what one process alone keeps for itself does
// not matter to them.
symbolic::Sharing among_several(const Record& record, Cond condition) {
  using Form = symbolic::Context::Form;
  const Form form = record.symbols.form(condition);
  if (form == Form::negation) return among_several(record, record.symbols.operands(condition)[0]);
  if (form != Form::conjunction && form != Form::disjunction) return record.symbols.sharing(condition);
  const symbolic::Answer decides = form == Form::conjunction ? symbolic::Answer::no : symbolic::Answer::yes;
  symbolic::Sharing mixed = symbolic::Sharing::uniform;
  for (const Cond operand : record.symbols.operands(condition)) {
    const symbolic::Answer answer = in_several(record, operand);
    if (answer == decides) return symbolic::Sharing::uniform;
    if (answer == symbolic::Answer::unknown) mixed = symbolic::mix(mixed, among_several(record, operand));
  }
  return mixed;
}

// Does an operation fail on one side, as a division by how many of the rank's parts there are?
bool is_failure(const BranchEvent& branch) {
  return !branch.stmt && !branch.yes.events.empty() && branch.yes.events.back()->kind == EventKind::exit &&
      static_cast<const ExitEvent*>(branch.yes.events.back())->exit == ExitKind::raise;
}
}  // namespace

Runs::Runs(const Record& whole, RunOfRank run, bool by_defaults)
    : main_(whole), run_(std::move(run)), by_defaults_(by_defaults), main_files_(files(whole)),
      known_(whole) {
  for (std::uint32_t i = 1; i < main_.chunks.size(); ++i)
    if (main_.chunks[i].moves.empty()) chunks_.try_emplace(spot(Place{i, {}}), i);
  mark_loops();
  for (const auto& root : main_.roots)
    if (note(root->block)) {
      if (root->function)
        roots_.insert(main_.as_written(root->function->stmt));
      else if (root->owner)
        roots_.insert(main_.as_written(root->owner->stmt));
    }
}

void Runs::mark_loops() {
  visit_kind(main_, EventKind::loop, [&](const Event& event) {
    if (!event.place) return;
    const auto& loop = static_cast<const LoopEvent&>(event);
    const bool is_local = loop.trips == symbolic::Sharing::local && !loop.unrolled;
    if (!loop.stmt) {
      if (is_local) mark(Trait::local_comprehension, loop.place);
      return;
    }
    if (loop.trips == symbolic::Sharing::divergent) mark(Trait::divergent_loop, loop.place);
    if (is_local) mark(Trait::local_loop, loop.place);
    mark(loop.trips == symbolic::Sharing::uniform ? Trait::equivalent_loop : Trait::other_loop, loop.place);
  });
}

// Branches and functions that lead to communication on some rank: who goes another way is of interest, too.
bool Runs::differs(const RankRun& own, const Event& branch) const {
  return has(Trait::differs, own, branch.place);
}

bool Runs::is_decided_equally(const RankRun& own, const Event& branch) const {
  return has(Trait::equal, own, branch.place) && !has(Trait::unlike, own, branch.place);
}

bool Runs::is_local(const RankRun& own, const LoopEvent& loop) const {
  if (!loop.stmt) return has(Trait::local_comprehension, own, loop.place);
  // In the run of one rank what was computed from its number looks like everybody's.
  const bool by_rank = loop.stmt->kind == syntax::StmtKind::while_ && is_divergent(own, loop);
  return has(Trait::local_loop, own, loop.place) || by_rank ||
      (loop.trips == symbolic::Sharing::local &&
          (has(Trait::other_loop, own, loop.place) || !has(Trait::equivalent_loop, own, loop.place)));
}

bool Runs::fails_equally(const RankRun& own, const BranchEvent& branch) const {
  return is_failure(branch) && !differs(own, branch);
}

bool Runs::asks_for_gradients(const BranchEvent& branch) const {
  const auto within = [&](const Fact& fact) {
    return fact.place.chunk == branch.place.chunk && fact.place.span.begin >= branch.place.span.begin &&
        fact.place.span.end <= branch.place.span.end;
  };
  const auto& gradients = FactIndex::of(main_).gradients;
  if (std::none_of(gradients.begin(), gradients.end(), [&](const Fact* fact) { return within(*fact); }))
    return false;
  return std::none_of(main_.facts.begin(), main_.facts.end(), [&](const Fact& fact) {
    if (!within(fact) || fact.tensor || !fact.value.is(values::Kind::unknown)) return false;
    const auto& unknown = *fact.value.as<values::Unknown>();
    return !unknown.is_gradient &&
        (unknown.is_number || main_.heap.sharing(fact.value) != symbolic::Sharing::uniform ||
            main_.heap.is_unseen(fact.value));
  });
}

bool Runs::is_about_gradients(const RankRun& own, const Event& branch) const {
  return has(Trait::about_gradients, own, branch.place);
}

bool Runs::is_about_rank(const RankRun& own, const Event& branch) const {
  return has(Trait::about_rank, own, branch.place);
}

bool Runs::may_fail(const RankRun& own, const Event& operation) const {
  return has(Trait::fallible, own, operation.place);
}

int Runs::one_of(int site, std::int64_t value) {
  const int key = this->site(Of::values, site, static_cast<int>(value));
  site_of_key_[key] = site;
  keys_at_[site].insert(key);
  return key;
}

bool Runs::is_excluded(int key, const std::map<int, bool>& chosen) const {
  const auto site = site_of_key_.find(key);
  if (site == site_of_key_.end()) return false;
  for (const int other : keys_at_.at(site->second))
    if (const auto it = chosen.find(other); other != key && it != chosen.end() && it->second) return true;
  return false;
}

// Do only some ranks leave the function or the loop around here?
bool Runs::leaves_by_rank(const Block& block, bool of_some_ranks) const {
  return std::ranges::any_of(block.events, [&](const Event* event) {
    if (event->kind == EventKind::exit) return of_some_ranks;
    if (event->kind != EventKind::branch) return false;
    const auto& branch = static_cast<const BranchEvent&>(*event);
    const bool by_rank = of_some_ranks ||
        main_.symbols.sharing(branch.condition) == symbolic::Sharing::divergent;
    return leaves_by_rank(branch.yes, by_rank) || leaves_by_rank(branch.no, by_rank);
  });
}

bool Runs::note(const Block& block, bool of_some_ranks) {
  bool any = false;
  for (const Event* event : block.events) {
    bool here = false;
    switch (event->kind) {
    case EventKind::operation: {
      const auto& operation = static_cast<const OperationEvent&>(*event);
      // Who meets by the keys of a store communicates, too, though nobody waits in that for all others.
      here = is_traced(operation) || operation.row->operation == values::Operation::store_set ||
          operation.row->operation == values::Operation::store_asked;
      if (works_on_files(operation) && event->place) {
        const auto own = [&](const Value& value) {
          return value && !main_.heap.is_unseen(value) &&
              main_.heap.sharing(value) != symbolic::Sharing::uniform;
        };
        if (of_some_ranks || own(operation.self) || std::ranges::any_of(operation.arguments, own))
          mark(Trait::fallible, event->place);
      }
      break;
    }
    case EventKind::branch: {
      const auto& branch = static_cast<const BranchEvent&>(*event);
      const bool by_rank = of_some_ranks ||
          main_.symbols.sharing(branch.condition) == symbolic::Sharing::divergent;
      const bool yes = note(branch.yes, by_rank), no = note(branch.no, by_rank);
      here = yes || no;
      if (!event->place) break;
      if (here || (by_rank && tells_of_ranks(branch)) || leaves_by_rank(branch.yes, by_rank) ||
          leaves_by_rank(branch.no, by_rank))
        mark(Trait::leads_on, event->place);
      // Of what compares numbers that follow from the rank's own the runs of the ranks know all that can be
      // known.
      auto sharing = main_.symbols.sharing(branch.condition);
      if (sharing == symbolic::Sharing::local) sharing = among_several(main_, branch.condition);
      if (here && sharing != symbolic::Sharing::divergent && asks_for_gradients(branch))
        mark(Trait::about_gradients, event->place);
      if (sharing == symbolic::Sharing::divergent) mark(Trait::about_rank, event->place);
      mark(sharing == symbolic::Sharing::uniform && !main_.unseen.contains(branch.condition) ? Trait::equal
                                                                                             : Trait::unlike,
          event->place);
      if (!main_.unseen.contains(branch.condition) &&
          (sharing == symbolic::Sharing::local ||
              (sharing == symbolic::Sharing::divergent &&
                  (measures(main_.symbols, branch.condition) || is_failure(branch)))))
        mark(Trait::differs, event->place);
      break;
    }
    case EventKind::loop:
      for (const Block& iteration : static_cast<const LoopEvent*>(event)->iterations)
        here = note(iteration, of_some_ranks) || here;
      break;
    case EventKind::call: {
      const auto& call = static_cast<const CallEvent&>(*event);
      here = note(call.body, of_some_ranks);
      if (here && call.function && call.function->stmt &&
          functions_.insert(main_.as_written(call.function->stmt)).second)
        known_.add(call.function->qualified);
      break;
    }
    case EventKind::attempt: {
      const auto& attempt = static_cast<const AttemptEvent&>(*event);
      here = note(attempt.body, of_some_ranks);
      here = note(attempt.orelse, of_some_ranks) || here;
      here = note(attempt.finally, of_some_ranks) || here;
      for (const Block& handler : attempt.handlers) here = note(handler, of_some_ranks) || here;
      if (here && event->place) mark(Trait::leads_on, event->place);
      break;
    }
    default: break;
    }
    any = any || here;
  }
  return any;
}

bool Runs::leads_on(const RankRun& own, const Event& branch) const {
  return has(Trait::leads_on, own, branch.place);
}

std::unique_ptr<RankRun> Runs::make(int rank, int world, const std::shared_ptr<const PeerMessages>& told) {
  auto made = std::make_unique<RankRun>();
  const auto asked = asked_.find(world);
  made->record = run_({rank, world, told, by_defaults_}, asked == asked_.end() ? roots_ : asked->second);
  made->world = world;
  if (!made->record) return made;
  made->files = files(*made->record);
  made->chunk_of.resize(made->files.size());
  for (std::uint32_t i = 1; i < made->files.size(); ++i)
    if (const auto same = chunks_.find(spot(*made, Place{i, {}})); same != chunks_.end())
      made->chunk_of[i] = same->second;
  visit_kind(*made->record, EventKind::loop, [&](const Event& event) {
    if (static_cast<const LoopEvent&>(event).unrolled)
      made->unrolled.insert(made->record->as_written(static_cast<const LoopEvent&>(event).stmt));
  });
  return made;
}

const Root* Runs::same_root(const RankRun& own, const Root& root) {
  const auto stmt = [](const Root& of) { return of.function ? of.function->stmt : nullptr; };
  const auto same = std::ranges::find_if(own.record->roots,
      [&](const auto& other) { return other->name == root.name && stmt(*other) == stmt(root); });
  return same == own.record->roots.end() ? nullptr : same->get();
}

void Runs::ask(const Root& root, int world) {
  if (first_world_ == 0) first_world_ = world;
  if (world == first_world_) return;
  const auto [asked, fresh] = asked_.try_emplace(world);
  const std::size_t before = asked->second.size();
  if (!root.function && !root.owner)
    // The ranks tell each other what the program itself sends: such runs are not made again.
    asked->second = roots_;
  else if (const syntax::Stmt* const stmt = main_.as_written(
               root.function ? static_cast<const syntax::Stmt*>(root.function->stmt) : root.owner->stmt);
      roots_.contains(stmt))
    asked->second.insert(stmt);
  if (fresh || asked->second.size() == before) return;
  for (auto& [of, run] : runs_)
    if (of.second == world && run) former_.push_back(std::move(run));
}

RankRun& Runs::of(int rank, int world) {
  auto& slot = runs_[{rank, world}];
  if (!slot) slot = make(rank, world, nullptr);
  return *slot;
}

bool Runs::tell(int rank, int world, const std::shared_ptr<const PeerMessages>& told) {
  auto made = make(rank, world, told);
  if (!made->record || made->record->cancelled || made->record->out_of_budget) return false;
  runs_[{rank, world}] = std::move(made);
  return true;
}

std::vector<std::uint32_t> Runs::files(const Record& record) {
  std::vector<std::uint32_t> numbers{0};
  for (std::size_t i = 1; i < record.chunks.size(); ++i)
    numbers.push_back(
        files_.try_emplace(record.chunks[i].path, static_cast<std::uint32_t>(files_.size()) + first_file)
            .first->second);
  return numbers;
}

Runs::Spot Runs::spot(Place place) const {
  return Spot{main_files_[place.chunk]} << 32 | main_.span(place).begin;
}
Runs::Spot Runs::spot(const RankRun& own, Place place) const {
  return Spot{own.files[place.chunk]} << 32 | own.record->span(place).begin;
}

int Runs::site(std::uint32_t file, syntax::Span span, int calls) {
  return sites_.try_emplace({file, span.begin, span.end, calls}, static_cast<int>(sites_.size()) + 1)
      .first->second;
}

int Runs::site(RankRun& own, Place place, const CallSite* calls) {
  int around = 0;
  if (calls) {
    const auto it = own.call_sites.find(calls);
    if (it != own.call_sites.end())
      around = it->second;
    else {
      around = site(own, calls->place, calls->outer);
      own.call_sites[calls] = around;
    }
  }
  if (!place) return site(static_cast<std::uint32_t>(Of::nowhere), {}, around);
  return site(own.files[place.chunk], own.record->span(place), around);
}

int Runs::question(RankRun& own, int at, values::Cond condition) {
  const std::string text = own.record->symbols.text(condition);
  const int words = words_.try_emplace(text, static_cast<int>(words_.size())).first->second;
  // What has a name is the same wherever it is asked first in a root; what is computed may have changed.
  const int in_root = site(Of::roots, own.root, words);
  const auto known = own.record->conditions.find(text);
  const bool is_fixed = (known != own.record->conditions.end() && known->second == condition) ||
      symbolic::asks_by_names(condition);
  const bool named = is_fixed && own.named.insert(in_root).second;
  const int place = named ? in_root : site(Of::words, at, words);
  const int key = site(Of::conditions, place, own.keys_at[place]++);
  own.asked_as[key] = condition;
  return key;
}

bool Runs::ends_elsewhere(const RankRun& own, const LoopEvent& loop) const {
  return std::any_of(runs_.begin(), runs_.end(), [&](const auto& each) {
    return each.first.second == own.world && each.second &&
        each.second->unrolled.contains(own.record->as_written(loop.stmt));
  });
}

Place Runs::translate(RankRun& own, Place place) const {
  if (!place) return {};
  const std::uint32_t chunk = own.chunk_of[place.chunk];
  if (!chunk) return {};
  const interpreter::ChunkOf& there = own.record->chunks[place.chunk];
  if (main_.parts.empty()) return {chunk, there.moves.now(place.span)};
  // After edits the part of its statement has to be looked for, and ways through the program ask for the same
  // places again and again.
  const auto [known, fresh] = own.translated_places.try_emplace(
      {place.chunk, place.span.begin, place.span.end});
  if (fresh) known->second = main_.as_run({chunk, there.moves.now(place.span)});
  return known->second;
}

const CallSite* Runs::translate(RankRun& own, const CallSite* calls) {
  if (!calls) return nullptr;
  if (const auto it = own.translated.find(calls); it != own.translated.end()) return it->second;
  auto made = std::make_unique<CallSite>();
  made->place = translate(own, calls->place);
  made->function = calls->function;
  made->outer = translate(own, calls->outer);
  const CallSite* raw = made.get();
  call_sites_.push_back(std::move(made));
  return own.translated[calls] = raw;
}

}  // namespace stepzero::rules
