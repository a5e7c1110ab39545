#include "rules/deadlock/trace.hpp"

#include "rules/report.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_map>

namespace stepzero::rules {

using namespace interpreter;
using symbolic::Answer;
using values::Kind;
using values::Operation;

namespace {

constexpr std::size_t most_acts = 600;       // of one process
constexpr std::uint64_t most_walked = 400'000;  // events, of one exploration
constexpr int most_rounds_deep = 64;         // blocks in blocks

constexpr std::string_view unbound_name = "unbound: ";  // what the interpreter words so

enum class Left : std::uint8_t { no, round, loop, call, process };

// Has the module, or one in it, buffers that DDP sends before a forward?
bool has_buffers(Value module, int depth = 0) {
  if (!module.is(Kind::instance) || depth > 6) return false;
  for (const auto& [name, slot] : module.as<values::Instance>()->attributes.entries()) {
    if (name.text() == "$has_buffers") return true;
    const Value part = slot->value;
    if (part.is(Kind::instance) && has_buffers(part, depth + 1)) return true;
    if (part.is(Kind::list) && name.text() == "$items")
      for (const Value& item : values::Heap::list_state(part)->items)
        if (has_buffers(item, depth + 1)) return true;
  }
  return false;
}

} // namespace

struct Worlds::State {
  explicit State(const Record& whole) : main(whole) {
    for (std::uint32_t i = 1; i < main.chunks.size(); ++i) chunks.try_emplace({main.chunks[i].path, main.chunks[i].offset}, i);
    for (const auto& root : main.roots)
      visit(root->block, [&](const Event& event) {
        if (event.kind != EventKind::loop) return;
        const auto& loop = static_cast<const LoopEvent&>(event);
        if (loop.stmt && loop.trips == symbolic::Sharing::divergent) divergent_loops.insert(loop.stmt);
      });
    for (const auto& root : main.roots)
      if (note(root->block)) {
        if (root->function) roots.insert(root->function->stmt);
        else if (root->owner) roots.insert(root->owner->stmt);
      }
  }

  // Branches and functions that lead to communication on some rank: who goes another way is of interest, too.
  bool note(const Block& block) {
    bool any = false;
    for (const Event* event : block.events) {
      bool here = false;
      switch (event->kind) {
      case EventKind::operation: {
        const Operation operation = static_cast<const OperationEvent*>(event)->row->operation;
        here = operation == Operation::collective || operation == Operation::message || operation == Operation::parallel_forward;
        break;
      }
      case EventKind::branch: {
        const auto& branch = static_cast<const BranchEvent&>(*event);
        const bool yes = note(branch.yes), no = note(branch.no);
        here = yes || no;
        if (here && event->place) branches.insert({main.chunk(event->place).path, main.span(event->place).begin});
        break;
      }
      case EventKind::loop:
        for (const Block& round : static_cast<const LoopEvent*>(event)->rounds) here = note(round) || here;
        break;
      case EventKind::call: {
        const auto& call = static_cast<const CallEvent&>(*event);
        here = note(call.body);
        if (here && call.function && call.function->stmt) functions.insert(call.function->stmt);
        break;
      }
      case EventKind::attempt: {
        const auto& attempt = static_cast<const AttemptEvent&>(*event);
        here = note(attempt.body);
        here = note(attempt.orelse) || here;
        here = note(attempt.finally) || here;
        for (const Block& handler : attempt.handlers) here = note(handler) || here;
        if (here && event->place) branches.insert({main.chunk(event->place).path, main.span(event->place).begin});
        break;
      }
      default: break;
      }
      any = any || here;
    }
    return any;
  }

  // The run of one rank, and what was found out about its places.
  struct Own {
    std::shared_ptr<Record> record;
    std::vector<std::uint32_t> chunk_of;                             // the same chunk in the main record; 0: not there
    std::unordered_map<const CallSite*, int> call_sites;
    std::unordered_map<const CallSite*, const CallSite*> translated;
    std::unordered_map<Cond, int> keys;
    std::unordered_map<int, int> keys_at;                            // by site: conditions first met there
    std::unordered_map<const Block*, bool> matters, communicates;
  };

  bool leads_on(const Own& own, const Event& branch) const {
    return branch.place && branches.contains({own.record->chunk(branch.place).path, own.record->span(branch.place).begin});
  }

  Own& own(int rank, int world) {
    auto& slot = runs[{rank, world}];
    if (!slot) {
      slot = std::make_unique<Own>();
      slot->record = main.as_rank(rank, world, roots);
    }
    return *slot;
  }

  int site_id(const std::string& path, syntax::Span span, int calls) {
    return sites.try_emplace({path, span.begin, span.end, calls}, static_cast<int>(sites.size()) + 1).first->second;
  }
  int site(Own& own, Place place, const CallSite* calls) {
    int around = 0;
    if (calls) {
      const auto it = own.call_sites.find(calls);
      if (it != own.call_sites.end()) around = it->second;
      else {
        around = site(own, calls->place, calls->outer);
        own.call_sites[calls] = around;
      }
    }
    if (!place) return site_id("", {}, around);
    return site_id(own.record->chunk(place).path, own.record->span(place), around);
  }
  Place translate(Own& own, Place place) {
    if (!place) return {};
    const ChunkOf& chunk = own.record->chunk(place);
    const auto it = chunks.find({chunk.path, chunk.offset});
    return it == chunks.end() ? Place{} : Place{it->second, place.span};
  }
  const CallSite* translate(Own& own, const CallSite* calls) {
    if (!calls) return nullptr;
    if (const auto it = own.translated.find(calls); it != own.translated.end()) return it->second;
    auto made = std::make_unique<CallSite>();
    made->place = translate(own, calls->place);
    made->function = calls->function;
    made->outer = translate(own, calls->outer);
    const CallSite* raw = made.get();
    call_sites.push_back(std::move(made));
    return own.translated[calls] = raw;
  }

  const Record& main;
  std::set<std::pair<std::string, std::uint32_t>> branches;
  std::set<const syntax::FunctionStmt*> functions;
  std::unordered_set<const syntax::Stmt*> roots;  // that communicate: functions and classes
  std::map<std::pair<std::string, std::uint32_t>, std::uint32_t> chunks;
  std::set<const syntax::Stmt*> divergent_loops;
  std::map<std::tuple<std::string, std::uint32_t, std::uint32_t, int>, int> sites;
  std::vector<std::unique_ptr<CallSite>> call_sites;
  std::map<std::pair<int, int>, std::unique_ptr<Own>> runs;
};

namespace {

// Walks one process through its record.
template <class State, class Own> class Walker {
public:
  struct Choices {
    const std::map<int, bool>& shared;
    const std::map<Cond, bool>& own;
  };

  Walker(State& state, Own& own, int rank, int world, Choices choices, std::uint64_t& walked)
      : state_(state), own_(own), record_(*own.record), symbols_(own.record->symbols), rank_(rank), world_(world), choices_(choices), walked_(walked) {}

  Trace run(const Block& block) {
    const Left left = walk(block);
    trace_.raised = left == Left::process && !missing;
    return std::move(trace_);
  }

  Cond missing = nullptr;       // a condition that was asked for and is not chosen
  bool missing_is_shared = false;
  int missing_key = 0;
  bool too_long = false;

private:
  bool wanted(const OperationEvent& event) const {
    switch (event.row->operation) {
    case Operation::collective:
    case Operation::message:
    case Operation::await: return !event.expected;
    case Operation::parallel_forward: return !event.expected && has_buffers(event.self);
    default: return false;
    }
  }

  template <class Each> bool any_in(const Event& event, const Each& each) {
    switch (event.kind) {
    case EventKind::branch: return each(static_cast<const BranchEvent&>(event).yes) || each(static_cast<const BranchEvent&>(event).no);
    case EventKind::loop:
      for (const Block& round : static_cast<const LoopEvent&>(event).rounds)
        if (each(round)) return true;
      return false;
    case EventKind::attempt: {
      const auto& attempt = static_cast<const AttemptEvent&>(event);
      if (each(attempt.body) || each(attempt.orelse) || each(attempt.finally)) return true;
      for (const Block& handler : attempt.handlers)
        if (each(handler)) return true;
      return false;
    }
    default: return false;
    }
  }
  // Some other rank may communicate there.
  bool leads_on(const CallEvent& call) {
    return (call.function && call.function->stmt && state_.functions.contains(call.function->stmt)) || communicates(call.body);
  }
  bool leads_on(const Event& event) {
    if (event.kind == EventKind::attempt) return state_.leads_on(own_, event);
    if (event.kind != EventKind::branch) return false;
    const auto& branch = static_cast<const BranchEvent&>(event);
    return symbols_.form(branch.condition) == symbolic::Context::Form::constant && state_.leads_on(own_, branch);
  }
  bool communicates(const Block& block) {
    if (const auto it = own_.communicates.find(&block); it != own_.communicates.end()) return it->second;
    bool any = false;
    for (const Event* event : block.events) {
      if (event->kind == EventKind::operation) any = wanted(static_cast<const OperationEvent&>(*event));
      else if (event->kind == EventKind::problem) any = static_cast<const ProblemEvent*>(event)->text.starts_with(unbound_name);
      else if (event->kind == EventKind::call) any = leads_on(static_cast<const CallEvent&>(*event));
      else any = leads_on(*event) || any_in(*event, [&](const Block& part) { return communicates(part); });
      if (any) break;
    }
    return own_.communicates[&block] = any;
  }
  // From here on it is not known what the process sends and receives.
  void unsettle() {
    if (!trace_.unsettled) trace_.settled = trace_.acts.size();
    trace_.unsettled = true;
  }
  bool sends(const Block& block) {
    for (const Event* event : block.events) {
      if (event->kind == EventKind::operation && static_cast<const OperationEvent*>(event)->row->operation == Operation::message) return true;
      if (event->kind == EventKind::call ? sends(static_cast<const CallEvent*>(event)->body) : any_in(*event, [&](const Block& part) { return sends(part); })) return true;
    }
    return false;
  }
  bool raises(const Block& block) {
    for (const Event* event : block.events) {
      if (event->kind == EventKind::exit && static_cast<const ExitEvent*>(event)->exit == ExitKind::raise) return true;
      if (event->kind == EventKind::call ? raises(static_cast<const CallEvent*>(event)->body) : any_in(*event, [&](const Block& part) { return raises(part); })) return true;
    }
    return false;
  }
  // Anything that matters to who compares: communication, or a way out that skips some.
  bool matters(const Block& block) {
    if (const auto it = own_.matters.find(&block); it != own_.matters.end()) return it->second;
    bool any = false;
    for (const Event* event : block.events) {
      if (event->kind == EventKind::operation) any = wanted(static_cast<const OperationEvent&>(*event));
      else if (event->kind == EventKind::exit) any = true;
      else if (event->kind == EventKind::call) any = leads_on(static_cast<const CallEvent&>(*event));
      else any = leads_on(*event) || any_in(*event, [&](const Block& part) { return matters(part); });
      if (any) break;
    }
    return own_.matters[&block] = any;
  }

  Answer leaf(Cond condition, int branch_site) {
    if (const Answer answer = symbols_.evaluate(condition, {}); answer != Answer::unknown) return answer;
    // Who communicates has a process group.
    if (const auto it = record_.conditions.find("torch.distributed.is_initialized"); it != record_.conditions.end() && it->second == condition) return Answer::yes;
    if (symbols_.sharing(condition) == symbolic::Sharing::uniform && !record_.external.contains(condition)) {
      auto [it, fresh] = own_.keys.try_emplace(condition, 0);
      if (fresh) it->second = state_.site_id("?", {static_cast<std::uint32_t>(branch_site), static_cast<std::uint32_t>(own_.keys_at[branch_site]++)}, 0);
      if (const auto chosen = choices_.shared.find(it->second); chosen != choices_.shared.end()) return chosen->second ? Answer::yes : Answer::no;
      if (!missing) {
        missing = condition;
        missing_is_shared = true;
        missing_key = it->second;
      }
      return Answer::unknown;
    }
    (symbols_.sharing(condition) == symbolic::Sharing::local && !record_.external.contains(condition) ? locally_ : unseen_) = true;
    if (const auto chosen = choices_.own.find(condition); chosen != choices_.own.end()) return chosen->second ? Answer::yes : Answer::no;
    if (!missing) {
      missing = condition;
      missing_is_shared = false;
    }
    return Answer::unknown;
  }

  Answer decide(Cond condition, int branch_site) {
    using Form = symbolic::Context::Form;
    switch (symbols_.form(condition)) {
    case Form::constant: return symbols_.decide(condition);
    case Form::negation: {
      const Answer inner = decide(symbols_.operands(condition)[0], branch_site);
      return inner == Answer::yes ? Answer::no : inner == Answer::no ? Answer::yes : inner;
    }
    case Form::conjunction:
    case Form::disjunction: {
      const bool all = symbols_.form(condition) == Form::conjunction;
      const Answer settles = all ? Answer::no : Answer::yes;
      const Cond asked_before = missing;
      bool unknown = false;
      for (const Cond operand : symbols_.operands(condition)) {
        const Answer answer = decide(operand, branch_site);
        if (answer == settles) {
          missing = asked_before;
          return settles;
        }
        unknown = unknown || answer == Answer::unknown;
      }
      if (unknown) return Answer::unknown;
      return all ? Answer::yes : Answer::no;
    }
    case Form::compare:
    case Form::opaque: return leaf(condition, branch_site);
    }
    return Answer::unknown;
  }

  Left walk(const Block& block) {
    if (++nesting_ > 4 * most_rounds_deep) too_long = true;
    Left left = Left::no;
    for (std::size_t i = 0; i < block.events.size() && left == Left::no; ++i) {
      const Event* event = block.events[i];
      if (++walked_ > most_walked || too_long) {
        too_long = true;
        left = Left::process;
        break;
      }
      switch (event->kind) {
      case EventKind::operation: {
        const auto& operation = static_cast<const OperationEvent&>(*event);
        if (wanted(operation)) act(operation);
        break;
      }
      case EventKind::branch: left = walk_branch(static_cast<const BranchEvent&>(*event)); break;
      case EventKind::loop: left = walk_loop(static_cast<const LoopEvent&>(*event)); break;
      case EventKind::call: {
        const auto& call = static_cast<const CallEvent&>(*event);
        const bool quiet = !leads_on(call);
        if (quiet && !raises(call.body)) break;
        if (quiet) {
          // Only what is known for certain ends the process here.
          left = certain_end(call.body);
          break;
        }
        left = walk(call.body);
        if (left == Left::call) left = Left::no;
        break;
      }
      case EventKind::attempt: left = walk_attempt(static_cast<const AttemptEvent&>(*event)); break;
      case EventKind::exit: left = leave(static_cast<const ExitEvent&>(*event)); break;
      case EventKind::problem: {
        const auto& problem = static_cast<const ProblemEvent&>(*event);
        if (problem.text.starts_with(unbound_name))
          trace_.missing.push_back({problem.text.substr(unbound_name.size()), state_.site(own_, event->place, event->calls), state_.translate(own_, event->place),
                                    state_.translate(own_, event->calls), turns_});
        break;
      }
      }
      if (missing) left = Left::process;
    }
    --nesting_;
    return left;
  }

  // Of a call without communication: does it end the process whatever is not known? Then its way out is kept.
  Left certain_end(const Block& block) {
    for (const Event* event : block.events) {
      ++walked_;
      if (event->kind == EventKind::exit) {
        const auto& exit = static_cast<const ExitEvent&>(*event);
        if (exit.exit == ExitKind::raise) return leave(exit);
        return Left::no;
      }
      if (event->kind == EventKind::branch) {
        const auto& branch = static_cast<const BranchEvent&>(*event);
        const Answer answer = symbols_.form(branch.condition) == symbolic::Context::Form::constant ? symbols_.decide(branch.condition) : Answer::unknown;
        if (answer == Answer::unknown) {
          if (matters(branch.yes) || matters(branch.no)) return Left::no;
          continue;
        }
        push_decision(branch, answer == Answer::yes, state_.site(own_, branch.place, branch.calls), false);
        const Block& side = answer == Answer::yes ? branch.yes : branch.no;
        const bool leaves = !side.events.empty() && matters(side);
        const Left left = leaves ? certain_end(side) : Left::no;
        turns_.pop_back();
        if (leaves) return left;
        continue;
      }
      if (event->kind == EventKind::call) {
        if (const Left left = certain_end(static_cast<const CallEvent*>(event)->body); left != Left::no) return left;
        continue;
      }
      if (event->kind != EventKind::operation && event->kind != EventKind::problem) return Left::no;
    }
    return Left::no;
  }

  void push_decision(const BranchEvent& branch, bool yes, int site, bool local) {
    trace_.decisions.push_back({site, times_[site]++, yes, local, symbols_.form(branch.condition) != symbolic::Context::Form::constant, unseen_, false, &branch, state_.translate(own_, branch.place), branch.calls});
    turns_.push_back(trace_.decisions.size() - 1);
  }

  Left walk_branch(const BranchEvent& branch) {
    const bool constant = symbols_.form(branch.condition) == symbolic::Context::Form::constant;
    if (!constant && !matters(branch.yes) && !matters(branch.no)) return Left::no;
    const int site = state_.site(own_, branch.place, branch.calls);
    locally_ = unseen_ = false;
    const Answer answer = decide(branch.condition, site);
    if (answer == Answer::unknown) return Left::process;
    missing = nullptr;
    push_decision(branch, answer == Answer::yes, site, locally_);
    const Left left = walk(answer == Answer::yes ? branch.yes : branch.no);
    turns_.pop_back();
    return left;
  }

  Left walk_loop(const LoopEvent& loop) {
    bool any = false;
    for (const Block& round : loop.rounds) any = any || matters(round);
    if (!any) return Left::no;
    const int site = state_.site(own_, loop.place, loop.calls);
    const int nth = times_[site]++;
    const Place place = state_.translate(own_, loop.place);
    if (!loop.unrolled && loop.stmt && state_.divergent_loops.contains(loop.stmt))
      for (const Block& round : loop.rounds) if (communicates(round)) unsettle();
    // How many messages there are is not known.
    if (!loop.unrolled && (loop.trips != symbolic::Sharing::uniform || (loop.stmt && loop.stmt->kind == syntax::StmtKind::while_)))
      for (const Block& round : loop.rounds) if (sends(round)) unsettle();
    const std::size_t entry = trace_.loops.size();
    trace_.loops.push_back({site, nth, 0, place, state_.translate(own_, loop.calls)});
    int number = 0;
    for (const Block& round : loop.rounds) {
      rounds_.push_back({site, nth, number++, place, &loop, turns_.size()});
      trace_.loops[entry].rounds = number;
      const Left left = walk(round);
      rounds_.pop_back();
      if (left == Left::round || left == Left::no) continue;
      if (left == Left::loop) return Left::no;
      return left;
    }
    return Left::no;
  }

  Left walk_attempt(const AttemptEvent& attempt) {
    // The run in which nothing is raised by surprise.
    const bool handles = !attempt.handlers.empty();
    const std::size_t decision = trace_.decisions.size();
    const int site = state_.site(own_, attempt.place, attempt.calls);
    trace_.decisions.push_back({site, times_[site]++, true, false, false, false, true, nullptr, state_.translate(own_, attempt.place), attempt.calls});
    turns_.push_back(decision);
    const std::size_t exits = trace_.exits.size();
    Left left = walk(attempt.body);
    if (!missing && !too_long) {
      if (left == Left::process && handles) {
        trace_.decisions[decision].yes = false;
        for (std::size_t i = exits; i < trace_.exits.size(); ++i)
          trace_.exits[i].caught = trace_.exits[i].caught || trace_.exits[i].kind == ExitKind::raise;
        if (attempt.caught) left = walk(attempt.handlers.back());
        else unsettle();
      } else if (left == Left::no) {
        left = walk(attempt.orelse);
      }
    }
    turns_.pop_back();
    if (missing || too_long) return left;
    // What is left runs what stands in `finally`, too.
    const Left last = walk(attempt.finally);
    return last == Left::no ? left : last;
  }

  Left leave(const ExitEvent& exit) {
    Leaving leaving;
    leaving.kind = exit.exit;
    leaving.site = state_.site(own_, exit.place, exit.calls);
    leaving.place = state_.translate(own_, exit.place);
    leaving.calls = state_.translate(own_, exit.calls);
    leaving.turns = turns_;
    leaving.rounds = rounds_;
    leaving.at = trace_.acts.size();
    trace_.exits.push_back(std::move(leaving));
    switch (exit.exit) {
    case ExitKind::return_: return Left::call;
    case ExitKind::break_: return Left::loop;
    case ExitKind::continue_: return Left::round;
    case ExitKind::raise: return Left::process;
    }
    return Left::no;
  }

  std::optional<std::int64_t> number(Value value) const {
    if (!value.is(Kind::integer)) return std::nullopt;
    return symbols_.value(value.integer());
  }
  static Value kept(const values::Instance& object, std::string_view name) {
    const values::Slot* slot = object.attributes.find(values::Name(name));
    return slot ? slot->value : Value{};
  }
  Value argument(const OperationEvent& event, int index) const {
    return index >= 0 && static_cast<std::size_t>(index) < event.arguments.size() ? event.arguments[static_cast<std::size_t>(index)] : Value{};
  }
  void describe(Act& act, const values::TensorState* state) const {
    if (!state || state->blamed) return;
    act.tensor = state;
    act.dtype = state->dtype;
    if (!state->shape.rank_known) return;
    std::int64_t all = 1;
    for (const values::Dim& dim : state->shape.dims) {
      const auto size = dim.size ? symbols_.value(dim.size) : std::nullopt;
      if (!size || *size < 0 || (*size > 0 && all > (std::int64_t{1} << 40) / *size)) return;
      all *= *size;
    }
    act.elements = all;
  }

  // The group, if it is known; else false.
  bool group_of(Value group, Act& act) {
    const auto whole = [&] {
      act.group = "world";
      for (int rank = 0; rank < world_; ++rank) act.members.push_back(rank);
      return true;
    };
    if (!group || group.is(Kind::none)) return whole();
    if (!group.is(Kind::instance)) return false;
    const auto* object = group.as<values::Instance>();
    const auto known = groups_.find(object);
    if (known != groups_.end()) {
      act.group = known->second.first;
      act.members = known->second.second;
      return true;
    }
    if (kept(*object, "$all")) return whole();
    const Value ranks = kept(*object, "$ranks");
    if (!ranks.is(Kind::tuple)) return false;
    act.group = "group";
    for (const Value& item : ranks.as<values::Tuple>()->items) {
      act.members.push_back(static_cast<int>(number(item).value_or(-1)));
      act.group += " " + std::to_string(act.members.back());
    }
    return true;
  }

  void act(const OperationEvent& event) {
    if (trace_.acts.size() >= most_acts) {
      too_long = true;
      return;
    }
    Act made;
    made.event = &event;
    made.place = state_.translate(own_, event.place);
    made.calls = state_.translate(own_, event.calls);
    made.own_calls = event.calls;
    made.site = state_.site(own_, event.place, event.calls);
    made.turns = turns_;
    made.rounds = rounds_;
    if (event.row->operation == Operation::await) {
      made.what = Act::What::await;
      made.name = "wait";
      made.request = event.self.object();
      if (event.self.is(Kind::instance)) trace_.acts.push_back(std::move(made));
      return;
    }
    if (event.row->operation == Operation::message) {
      message(event, *event.row->message, std::move(made));
      return;
    }
    if (event.row->operation == Operation::parallel_forward) {
      made.name = "the forward of a DDP module";
      group_of({}, made);
      trace_.acts.push_back(std::move(made));
      return;
    }
    const values::CollectiveInfo& info = *event.row->collective;
    made.name = info.name;
    if (!group_of(argument(event, info.group), made)) return;  // of a group that is not known: no rank is told to wait
    if (info.root >= 0) made.root = number(argument(event, info.root));
    if (info.group_root >= 0)
      if (const auto place = number(argument(event, info.group_root)); place && *place >= 0 && *place < static_cast<std::int64_t>(made.members.size()))
        made.root = made.members[static_cast<std::size_t>(*place)];
    if (made.root && (*made.root < 0 || *made.root >= world_)) trace_.impossible = true;
    if (info.tensor >= 0) describe(made, event.argument_state(static_cast<std::size_t>(info.tensor)));
    if (const Value list = argument(event, info.list); list.is(Kind::list)) {
      if (const auto* state = event.list_state(static_cast<std::size_t>(info.list)); state && !state->open) {
        made.list_length = static_cast<std::int64_t>(state->items.size());
        constexpr std::int64_t not_known = -1;
        std::int64_t all = not_known;
        for (const Value& item : state->items) {
          Act each;
          if (item.is(Kind::tensor)) describe(each, item.as<values::Tensor>()->now());
          const std::int64_t elements = each.elements.value_or(not_known);
          made.list_even = made.list_even && elements != not_known && (all == not_known || all == elements);
          all = elements;
        }
      } else {
        made.list_even = false;
      }
    }
    if (info.async >= 0 && event.result.is(Kind::instance)) {
      made.starts = true;
      made.request = event.result.object();
    }
    if (info.makes_group && event.result.is(Kind::instance)) {
      made.makes_group = true;
      const auto* object = event.result.as<values::Instance>();
      Act described;
      if (group_of(event.result, described)) {
        made.made = described.members;
        const std::string text = described.group == "world" ? "all" : described.group;
        groups_[object] = {text + " #" + std::to_string(groups_made_[text]++), described.members};
        for (const int member : described.members)
          if (member < 0 || member >= world_) trace_.impossible = true;  // made for another world
      }
      // Where the group itself says that its members only make it.
      if (const Value own = argument(event, 4); own && !(own.is(Kind::boolean) && symbols_.decide(own.condition()) == Answer::no)) return;
    }
    trace_.acts.push_back(std::move(made));
  }

  void message(const OperationEvent& event, const values::MessageInfo& info, Act made) {
    if (info.batch >= 0) {
      const Value results = event.result;
      const auto* listed = event.list_state(static_cast<std::size_t>(info.batch));
      if (!listed || listed->open || !results.is(Kind::list)) {
        unsettle();
        return;
      }
      const auto& items = listed->items;
      const auto& requests = values::Heap::list_state(results)->items;
      for (std::size_t i = 0; i < items.size(); ++i) {
        const Value item = items[i];
        if (!item.is(Kind::instance) || i >= requests.size()) {
          unsettle();
          return;
        }
        const auto& object = *item.as<values::Instance>();
        const Value what = kept(object, "op");
        const values::Row* row = what.is(Kind::library) ? what.as<values::LibrarySymbol>()->row : nullptr;
        if (!row || !row->message) {
          unsettle();
          return;
        }
        Act one = made;
        if (object.born) one.place = state_.translate(own_, object.born);
        one.what = row->message->sends ? Act::What::send : Act::What::receive;
        one.name = row->message->name;
        one.starts = true;
        one.request = requests[i].object();
        const Value tensor = kept(object, "tensor");
        if (tensor.is(Kind::tensor)) describe(one, tensor.as<values::Tensor>()->now());
        send_or_receive(std::move(one), kept(object, "peer"), kept(object, "tag"), kept(object, "group"), kept(object, "group_peer"));
      }
      return;
    }
    made.what = info.sends ? Act::What::send : Act::What::receive;
    made.name = info.name;
    made.starts = info.starts;
    if (made.starts) made.request = event.result.object();
    describe(made, event.argument_state(static_cast<std::size_t>(info.tensor)));
    send_or_receive(std::move(made), argument(event, info.peer), argument(event, info.tag), argument(event, info.group), argument(event, info.group_peer));
  }
  void send_or_receive(Act made, Value peer, Value tag, Value group, Value group_peer) {
    Act in;
    if (!group_of(group, in)) {
      unsettle();
      return;
    }
    made.group = in.group;
    made.members = in.members;
    auto other = number(peer);
    if (const auto place = number(group_peer); place && *place >= 0 && *place < static_cast<std::int64_t>(in.members.size())) other = in.members[static_cast<std::size_t>(*place)];
    const auto number_of_tag = tag ? number(tag) : std::optional<std::int64_t>(0);
    if (!other || !number_of_tag) {
      unsettle();  // any source
      return;
    }
    if (*other < 0 || *other >= world_) {
      trace_.impossible = true;
      return;
    }
    made.peer = static_cast<int>(*other);
    made.tag = *number_of_tag;
    trace_.acts.push_back(std::move(made));
  }

  State& state_;
  Own& own_;
  const Record& record_;
  symbolic::Context& symbols_;
  int rank_, world_;
  Choices choices_;
  std::uint64_t& walked_;
  Trace trace_;
  std::vector<std::size_t> turns_;
  std::vector<Round> rounds_;
  std::unordered_map<int, int> times_;  // by site
  std::map<const values::Instance*, std::pair<std::string, std::vector<int>>> groups_;
  std::map<std::string, int> groups_made_;
  bool locally_ = false, unseen_ = false;
  int nesting_ = 0;
};

} // namespace

Worlds::Worlds(const Record& record) : state_(std::make_unique<State>(record)) {}
Worlds::~Worlds() = default;

const Record& Worlds::of(int rank, int world) { return *state_->own(rank, world).record; }

bool Worlds::explore(const Root& root, int world, std::size_t limit, const std::function<void(const World&)>& each) {
  State& state = *state_;
  if (!state.main.as_rank) return false;
  std::vector<State::Own*> runs;
  std::vector<const Block*> blocks;
  for (int rank = 0; rank < world; ++rank) {
    State::Own& own = state.own(rank, world);
    if (!own.record || own.record->cancelled) return false;
    const Root* same = nullptr;
    for (const auto& other : own.record->roots)
      if (other->name == root.name && (other->function ? other->function->stmt : nullptr) == (root.function ? root.function->stmt : nullptr)) {
        same = other.get();
        break;
      }
    if (!same || same->truncated) return false;
    runs.push_back(&own);
    blocks.push_back(&same->block);
  }
  std::map<int, bool> shared;
  std::vector<std::map<Cond, bool>> own(static_cast<std::size_t>(world));
  std::size_t explored = 0;
  std::uint64_t walked = 0;
  const std::function<bool()> choose = [&]() -> bool {
    if (++explored > limit) return false;
    World made;
    for (int rank = 0; rank < world; ++rank) {
      const auto at = static_cast<std::size_t>(rank);
      Walker<State, State::Own> walker(state, *runs[at], rank, world, {shared, own[at]}, walked);
      Trace trace = walker.run(*blocks[at]);
      if (walker.too_long) return false;
      if (!walker.missing) {
        made.push_back(std::move(trace));
        continue;
      }
      const Cond missing = walker.missing;
      const bool is_shared = walker.missing_is_shared;
      const int key = walker.missing_key;
      auto& symbols = runs[at]->record->symbols;
      const auto mark = symbols.mark();
      for (const bool value : {true, false}) {
        if (is_shared) shared[key] = value;
        else own[at][missing] = value;
        const bool possible = symbols.assume(value ? missing : symbols.logical_not(missing));
        const bool complete = !possible || choose();
        symbols.rewind(mark);
        if (!complete) {
          if (is_shared) shared.erase(key);
          else own[at].erase(missing);
          return false;
        }
      }
      if (is_shared) shared.erase(key);
      else own[at].erase(missing);
      return true;
    }
    each(made);
    return true;
  };
  return choose();
}

} // namespace stepzero::rules
