#include "snapshot/schedule_rows.hpp"

#include "footprint/ranks.hpp"
#include "rules/ranks/collective_simulator.hpp"
#include "snapshot/display_value.hpp"

#include <algorithm>

namespace stepzero::snapshot {

using interpreter::CallSite;
using interpreter::Record;
using rules::CommEvent;
using rules::RankTrace;
using values::Place;

namespace {

std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\n' || c == '\r' || c == '\t';
    if (!blank)
      line += c;
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

std::string loop_text(const Record& record, const interpreter::LoopEvent& loop, Place place) {
  const auto text = [&](const syntax::Expr& expr) { return one_line(record.text({place.chunk, expr.span})); };
  if (loop.stmt && loop.stmt->kind == syntax::StmtKind::for_) {
    const auto& stmt = syntax::as<syntax::ForStmt>(*loop.stmt);
    return "for " + text(*stmt.target) + " in " + text(*stmt.iterable);
  }
  if (loop.stmt && loop.stmt->kind == syntax::StmtKind::while_)
    return "while " + text(*syntax::as<syntax::WhileStmt>(*loop.stmt).test);
  return one_line(record.text(place));
}

}  // namespace

Rows::Rows(const Record& record, rules::JobExplorer& worlds, int world, const rules::Comparison& comparison,
    bool of_function)
    : record_(record), worlds_(worlds), world_(world), of_function_(of_function) {
  for (const rules::Mismatch& mismatch : comparison.found)
    if (mismatch.cause != rules::Cause::name && mismatch.cause != rules::Cause::request)
      wrong_.try_emplace(mismatch.key, &mismatch);
}

Spot spot_of(const Record& record, Place place) {
  if (!place) return {};
  const auto& chunk = record.chunk(place);
  const syntax::Span span = record.span(place);
  return {chunk.path, span, chunk.module->text->position(span.begin, syntax::Encoding::utf8).line + 1};
}

std::pair<int, int> Rows::iterations(const Frame& loop) const {
  const auto found = loop_iterations_.find({loop.site, loop.nth});
  return found == loop_iterations_.end() ? std::pair(0, 0) : found->second;
}

// Acts of all runs have numbers: the rank, the place with its calls, the iterations of the loops around, and
// which one it is of those alike.
void Rows::number(const rules::JobRun& run) {
  numbers_.assign(run.size(), {});
  for (std::size_t rank = 0; rank < run.size(); ++rank) {
    std::map<std::vector<int>, int> times;
    for (const CommEvent& comm : run[rank].comms) {
      std::vector<int> key{static_cast<int>(rank), comm.site};
      for (const rules::Iteration& iteration : comm.iterations)
        key.insert(key.end(), {iteration.site, iteration.nth, iteration.iteration});
      key.push_back(-1 - times[key]++);
      numbers_[rank].push_back(
          cell_numbers_.try_emplace(std::move(key), static_cast<int>(cell_numbers_.size())).first->second);
    }
  }
}

// Rows of communications from `from` up to `until`, by rank. What meets stands in one row where each rank's
// order allows it; without `partners`, what is entered at the same place.
std::vector<std::vector<Head>> Rows::side_by_side(const rules::JobRun& run, const Partners* partners,
    const std::vector<std::size_t>& from, const std::vector<std::size_t>& until) const {
  const std::vector<Head> none;
  const auto others = [&](const Head& head) -> const std::vector<Head>& {
    return partners ? partners->of(head) : none;
  };
  std::vector<std::size_t> at = from;
  const auto is_head = [&](const Head& head) {
    return at[static_cast<std::size_t>(head.first)] == head.second &&
        head.second < until[static_cast<std::size_t>(head.first)];
  };
  const auto is_ready = [&](const Head& head) {
    const CommEvent& comm = run[static_cast<std::size_t>(head.first)].comms[head.second];
    if (comm.starts || comm.what == CommEvent::What::await) return true;
    const auto& all = others(head);
    return std::all_of(all.begin(), all.end(), [&](const Head& other) {
      const auto rank = static_cast<std::size_t>(other.first);
      return is_head(other) || other.second < at[rank] || other.second >= until[rank];
    });
  };
  std::vector<std::vector<Head>> rows;
  for (;;) {
    std::vector<Head> heads;
    for (std::size_t rank = 0; rank < run.size(); ++rank)
      if (at[rank] < until[rank]) heads.push_back({static_cast<int>(rank), at[rank]});
    if (heads.empty()) return rows;
    const auto first_ready = std::find_if(heads.begin(), heads.end(), is_ready);
    const bool in_step = first_ready != heads.end();  // else messages cross, and are told one by one
    std::vector<Head> row{in_step ? *first_ready : heads.front()};
    const auto in_row = [&](const Head& head) {
      return std::find(row.begin(), row.end(), head) != row.end();
    };
    const auto site = [&](const Head& head) {
      return run[static_cast<std::size_t>(head.first)].comms[head.second].site;
    };
    for (std::size_t i = 0; i < row.size(); ++i) {
      for (const Head& other : others(row[i]))
        if (in_step && is_head(other) && !in_row(other)) row.push_back(other);
      for (const Head& other : heads)
        if (!in_row(other) && site(other) == site(row[i]) && (!in_step || is_ready(other)))
          row.push_back(other);
    }
    std::sort(row.begin(), row.end());
    for (const Head& head : row) ++at[static_cast<std::size_t>(head.first)];
    rows.push_back(std::move(row));
  }
}

std::vector<Frame> Rows::frames_of(const RankTrace& trace, const CommEvent& comm) const {
  std::vector<Frame> frames;
  const auto add_loop = [&](const rules::Iteration& iteration) {
    if (!iteration.loop) return;
    Frame frame{Frame::Kind::loop, iteration.site, iteration.nth, iteration.iteration,
        iteration.loop->unrolled, true, false, spot_of(record_, iteration.place),
        loop_text(record_, *iteration.loop, iteration.place)};
    frames.push_back(std::move(frame));
  };
  std::size_t next = 0;
  for (std::size_t i = 0; i <= comm.turns.size(); ++i) {
    for (; next < comm.iterations.size() && comm.iterations[next].turns <= i; ++next)
      add_loop(comm.iterations[next]);
    if (i == comm.turns.size()) break;
    const rules::Decision& decision = trace.decisions[comm.turns[i]];
    if (decision.attempt && decision.yes) continue;
    if (!decision.attempt && !decision.open) continue;
    frames.push_back({decision.attempt ? Frame::Kind::handler : Frame::Kind::choice, decision.site,
        decision.nth, 0, false, decision.yes, decision.local, spot_of(record_, decision.place),
        decision.attempt ? std::string() : one_line(record_.text(decision.place))});
  }
  return frames;
}

namespace {

// That the rank has in the collective or the message.
std::int64_t bytes_in(const Record& own, const CommEvent& comm) {
  if (comm.elements) return *comm.elements * values::width(comm.dtype);
  // A wrapper communicates out of sight: its object is called, or its mark is put on a module that is.
  if (comm.module) return footprint::moved_by_backward(own, *comm.module);
  if (!comm.event || comm.event->row->kind == values::RowKind::class_) return 0;
  for (const values::Value each :
      {comm.event->self, comm.event->arguments.empty() ? values::Value{} : comm.event->arguments[0]})
    if (each.is(values::Kind::instance) && comm.info && comm.info->hidden)
      return footprint::moved_by_forward(own, *each.as<values::Instance>());
  return 0;
}

}  // namespace

Communication Rows::describe(int rank, const CommEvent& comm) const {
  Communication made;
  made.rank = rank;
  switch (comm.what) {
  case CommEvent::What::collective: made.what = Communication::What::collective; break;
  case CommEvent::What::send: made.what = Communication::What::send; break;
  case CommEvent::What::receive: made.what = Communication::What::receive; break;
  case CommEvent::What::await: made.what = Communication::What::wait; break;
  }
  made.name = std::string(comm.name);
  made.where = spot_of(record_, comm.place);
  const Record& own = worlds_.of(rank, world_);
  for (const CallSite *calls = comm.calls, *own_calls = comm.own_calls; calls && own_calls;
      calls = calls->outer, own_calls = own_calls->outer) {
    const values::Function* function = own_calls->function;
    if (!function || !function->stmt) continue;
    Caller caller;
    caller.function = std::string(function->qualified.empty() ? function->name.text() : function->qualified);
    caller.definition = spot_of(own, {function->chunk, function->stmt->name_span});
    caller.call = spot_of(record_, calls->place);
    if (caller.call.path == caller.definition.path &&
        caller.call.span.begin <= caller.definition.span.begin &&
        caller.definition.span.begin < caller.call.span.end)
      caller.call = {};
    made.callers.push_back(std::move(caller));
  }
  made.members = comm.members;
  made.whole_group = comm.members.empty() || comm.members.size() == static_cast<std::size_t>(world_);
  made.root = comm.root;
  // Who sends calls the root its source.
  if (const auto* info = comm.event->row->collective; info && info->root >= 0)
    made.root_sends = comm.event->row->parameters[static_cast<std::size_t>(info->root)].text().ends_with(
        "src");
  if (comm.what == CommEvent::What::send || comm.what == CommEvent::What::receive) made.peer = comm.peer;
  made.tag = comm.tag;
  made.made = comm.made;
  made.starts = comm.starts;
  if (comm.tensor) made.tensor = show(own, *comm.tensor);
  made.bytes = bytes_in(own, comm);
  return made;
}

// What several ranks are in together stands in the blocks that all of them are in.
Row Rows::row_of(const rules::JobRun& run, const std::vector<Head>& heads) {
  Row row;
  bool first = true;
  for (const auto& [rank, at] : heads) {
    const RankTrace& trace = run[static_cast<std::size_t>(rank)];
    const CommEvent& comm = trace.comms[at];
    row.cells.push_back(numbers_[static_cast<std::size_t>(rank)][at]);
    row.calls.push_back(describe(rank, comm));
    std::vector<Frame> frames = frames_of(trace, comm);
    if (first) {
      row.frames = std::move(frames);
      first = false;
      continue;
    }
    std::size_t common = 0;
    while (
        common < row.frames.size() && common < frames.size() && row.frames[common].same_block(frames[common]))
      ++common;
    // Loops of their own, side by side, are told as that of the first.
    while (common < row.frames.size() && common < frames.size() &&
        row.frames[common].kind == Frame::Kind::loop && frames[common].kind == Frame::Kind::loop)
      ++common;
    row.frames.resize(common);
  }
  return row;
}

bool Rows::explained(const rules::JobRun& run) const {
  const auto wrong = [&](int site) { return wrong_.contains(site); };
  for (const RankTrace& trace : run)
    if (std::any_of(trace.comms.begin(), trace.comms.end(),
            [&](const CommEvent& comm) { return wrong(comm.site); }) ||
        std::any_of(trace.exits.begin(), trace.exits.end(),
            [&](const rules::PathExit& exit) { return wrong(exit.site); }) ||
        std::any_of(trace.loops.begin(), trace.loops.end(),
            [&](const rules::LoopRun& loop) { return wrong(loop.site); }))
      return true;
  return false;
}

// All come, and what they bring does not fit together.
std::string Rows::problem_of(const rules::JobRun& run, const std::vector<Head>& heads, bool stuck) const {
  for (const auto& [rank, at] : heads) {
    const auto wrong = wrong_.find(run[static_cast<std::size_t>(rank)].comms[at].site);
    if (wrong == wrong_.end()) continue;
    const rules::Cause cause = wrong->second->cause;
    if (cause == rules::Cause::root || cause == rules::Cause::size || cause == rules::Cause::order ||
        cause == rules::Cause::making_groups)
      return wrong->second->text;
    if (cause == rules::Cause::iterations && wrong->second->certain && !stuck)
      return wrong->second->text;  // of iterations that are told as one
  }
  return {};
}

// Do ranks take different sides of what says nothing of ranks? Such a run is one of local data: the runs in
// which they agree tell what there is to see.
bool Rows::parted(const rules::JobRun& run) {
  std::map<std::pair<int, int>, const rules::Decision*> sides;
  for (const RankTrace& trace : run)
    for (const rules::Decision& decision : trace.decisions) {
      const auto [it, fresh] = sides.try_emplace({decision.site, decision.nth}, &decision);
      if (!fresh && it->second->yes != decision.yes && decision.open && it->second->open) return true;
    }
  return false;
}

// A rank whose communication is not known from some point on proves nothing of what comes after it.
bool Rows::known_until(const rules::JobRun& run, const std::vector<std::size_t>& at) {
  for (std::size_t rank = 0; rank < run.size(); ++rank)
    if (run[rank].uncertain && at[rank] >= run[rank].certain_comms &&
        !rules::waits_for_who_has_ended(run, at, rank))
      return false;
  return true;
}

void Rows::add(const rules::JobRun& run) {
  if (parted(run)) return;
  if (std::any_of(run.begin(), run.end(), [](const RankTrace& trace) { return trace.impossible; })) {
    names_more_ = true;
    return;
  }
  // What fails on every rank is not worth showing, but for what the rules say of the way there.
  const bool all_raise = std::all_of(
      run.begin(), run.end(), [](const RankTrace& trace) { return trace.raised; });
  if (all_raise && !explained(run)) return;
  ++runs_;
  number(run);
  for (const RankTrace& trace : run) {
    for (const rules::LoopRun& loop : trace.loops) {
      const auto [known, fresh] = loop_iterations_.try_emplace(
          {loop.site, loop.nth}, std::pair(loop.iterations, loop.iterations));
      if (!fresh)
        known->second = {
            std::min(known->second.first, loop.iterations), std::max(known->second.second, loop.iterations)};
    }
    for (const rules::Decision& decision : trace.decisions)
      sides_[{decision.site, decision.nth}].insert(decision.yes);
  }
  const Partners partners(run);
  const std::vector<std::size_t> start(run.size(), 0);
  std::vector<std::size_t> all;
  all.reserve(run.size());
  for (const RankTrace& trace : run) all.push_back(trace.comms.size());
  const bool proven = explained(run);
  bool certain = true;
  std::vector<std::size_t> until = stall(run, partners, true);
  if (until == all && proven) {
    until = stall(run, partners, false);
    certain = until == all;
  }
  // What nobody calls here may have its other half elsewhere; else what the rules do not say is not said
  // here.
  if (!known_until(run, until) || (!proven && !of_function_)) until = all;
  const bool stuck = until != all;
  std::vector<Row> made;
  std::vector<std::size_t> done = start;
  for (const auto& heads : side_by_side(run, &partners, start, until)) {
    made.push_back(row_of(run, heads));
    for (const Head& head : heads) ++done[static_cast<std::size_t>(head.first)];
    for (std::size_t rank = 0; rank < run.size(); ++rank)
      if (run[rank].uncertain && done[rank] >= run[rank].certain_comms &&
          std::none_of(heads.begin(), heads.end(),
              [&](const Head& head) { return head.first == static_cast<int>(rank); }))
        made.back().open.push_back(static_cast<int>(rank));
    made.back().problem = problem_of(run, heads, stuck);
  }
  std::vector<Head> waiting;
  std::vector<int> ended;
  for (std::size_t rank = 0; rank < run.size() && stuck; ++rank)
    if (until[rank] < all[rank])
      waiting.push_back({static_cast<int>(rank), until[rank]});
    else
      ended.push_back(static_cast<int>(rank));
  if (!waiting.empty()) {
    Row row = row_of(run, waiting);
    row.kind = proven ? ScheduleNode::Kind::hang : ScheduleNode::Kind::unmatched;
    row.certain = certain;
    row.ended = std::move(ended);
    hangs_ = hangs_ || proven;
    made.push_back(std::move(row));
  }
  if (stuck) {
    std::vector<std::size_t> after = until;
    for (const Head& head : waiting) ++after[static_cast<std::size_t>(head.first)];
    for (const auto& heads : side_by_side(run, nullptr, after, all)) {
      made.push_back(row_of(run, heads));
      made.back().unreached = true;
    }
  }
  merge(std::move(made));
}

// The rows of a run go between those that are known already: all runs have their communications in one order.
void Rows::merge(std::vector<Row> made) {
  std::vector<std::list<Row>::iterator> before(made.size());  // what a row stands in front of
  auto next = rows_.end();
  for (std::size_t i = made.size(); i-- > 0;) {
    before[i] = next;
    for (const int cell : made[i].cells)
      if (const auto known = last_row_.find(cell); known != last_row_.end()) next = known->second;
  }
  for (std::size_t i = 0; i < made.size(); ++i) {
    std::vector<int> key = made[i].cells;
    key.push_back(-1 - static_cast<int>(made[i].kind) - (made[i].unreached ? 100 : 0));
    if (!present_.insert(key).second) continue;
    const auto cells = made[i].cells;
    const auto place = rows_.insert(before[i], std::move(made[i]));
    for (const int cell : cells) last_row_[cell] = place;
  }
}

const std::list<Row>& Rows::rows() {
  // What some run reaches is not after a hang; conditions that are always so say nothing.
  std::set<int> reached;
  for (const Row& row : rows_)
    if (!row.unreached) reached.insert(row.cells.begin(), row.cells.end());
  for (auto row = rows_.begin(); row != rows_.end();) {
    if (row->unreached)
      for (std::size_t i = row->cells.size(); i-- > 0;)
        if (reached.contains(row->cells[i])) {
          row->cells.erase(row->cells.begin() + static_cast<std::ptrdiff_t>(i));
          row->calls.erase(row->calls.begin() + static_cast<std::ptrdiff_t>(i));
        }
    std::erase_if(row->frames, [&](const Frame& frame) {
      return frame.kind == Frame::Kind::choice && sides_[{frame.site, frame.nth}].size() < 2;
    });
    row = row->cells.empty() ? rows_.erase(row) : std::next(row);
  }
  return rows_;
}

}  // namespace stepzero::snapshot
