#include "snapshot/schedule.hpp"
#include "snapshot/rank_results.hpp"

#include "rules/ranks/communication.hpp"
#include "rules/ranks/comparison.hpp"
#include "rules/ranks/job_size.hpp"
#include "rules/report.hpp"
#include "snapshot/schedule_rows.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace stepzero::snapshot {

using interpreter::Record;
using interpreter::Root;
using values::Operation;

namespace {

constexpr std::size_t most_ways = 256;  // through one root that are brought together

bool communicates(const Root& root) {
  bool any = false;
  rules::visit(root.block, [&](const interpreter::Event& event) {
    if (event.kind != interpreter::EventKind::operation) return;
    const auto& operation = static_cast<const interpreter::OperationEvent&>(event);
    any = any || operation.row->operation == Operation::parallel_forward || rules::communicates(operation);
  });
  return any;
}

// Two pieces of a schedule that have the same text here are the same to a reader.
std::string text_of(const Communication& call) {
  std::string text = std::to_string(call.rank) + call.name + call.where.path +
      std::to_string(call.where.span.begin) + call.tensor.short_text() + " t" + std::to_string(call.tag);
  if (call.root) text += " r" + std::to_string(*call.root);
  if (call.peer) text += " p" + std::to_string(*call.peer);
  for (const int member : call.members) text += "," + std::to_string(member);
  for (const int member : call.made) text += ";" + std::to_string(member);
  for (const Caller& caller : call.callers) text += " " + std::to_string(caller.call.span.begin);
  return text;
}
std::string text_of(const std::vector<ScheduleNode>& nodes) {
  std::string text = "(";
  for (const ScheduleNode& node : nodes) {
    text += std::to_string(static_cast<int>(node.kind)) + node.text + (node.holds ? "+" : "-") +
        std::to_string(node.where.span.begin) + (node.times ? "x" + std::to_string(*node.times) : "");
    for (const Communication& call : node.calls) text += "|" + text_of(call);
    for (const int rank : node.ended) text += "e" + std::to_string(rank);
    text += text_of(node.body);
  }
  return text + ")";
}

// Rows in the blocks that are around them.
class Blocks {
public:
  explicit Blocks(Rows& rows) : rows_(rows), list_(rows.rows().begin(), rows.rows().end()) {}

  std::vector<ScheduleNode> nodes() { return nodes(0, list_.size(), 0, false); }

private:
  std::vector<ScheduleNode> nodes(std::size_t begin, std::size_t end, std::size_t depth, bool unreached) {
    std::vector<ScheduleNode> made;
    while (begin < end) {
      const Row& row = list_[begin];
      std::size_t next = begin + 1;
      ScheduleNode node;
      if (row.unreached && !unreached) {
        while (next < end && list_[next].unreached) ++next;
        node.kind = ScheduleNode::Kind::unreached;
        node.body = nodes(begin, next, depth, true);
      } else if (row.frames.size() > depth) {
        const Frame& frame = row.frames[depth];
        const bool loop = frame.kind == Frame::Kind::loop;
        const auto inside = [&](const Row& other) {
          if (other.frames.size() <= depth) return false;
          const Frame& theirs = other.frames[depth];
          return theirs.kind == frame.kind && theirs.site == frame.site && theirs.nth == frame.nth &&
              theirs.yes == frame.yes;
        };
        while (next < end && inside(list_[next])) ++next;
        node.kind = loop                        ? ScheduleNode::Kind::loop
            : frame.kind == Frame::Kind::choice ? ScheduleNode::Kind::choice
                                                : ScheduleNode::Kind::handler;
        node.text = frame.text;
        node.where = frame.where;
        node.holds = frame.yes;
        node.local = frame.local;
        if (loop && frame.unrolled)
          iterations(node, begin, next, depth, unreached);
        else
          node.body = nodes(begin, next, depth + 1, unreached);
      } else {
        node.kind = row.kind;
        node.calls = row.calls;
        node.text = row.problem;
        node.ended = row.ended;
        node.open = row.open;
        node.holds = row.certain;
        node.where = row.calls.front().where;
      }
      made.push_back(std::move(node));
      begin = next;
    }
    return made;
  }

  // The iterations of a loop, one by one where they differ.
  void iterations(ScheduleNode& loop, std::size_t begin, std::size_t end, std::size_t depth, bool unreached) {
    const auto [fewest, most] = rows_.iterations(list_[begin].frames[depth]);
    loop.times = most;
    loop.fewer = fewest < most;
    while (begin < end) {
      std::size_t next = begin + 1;
      const int number = list_[begin].frames[depth].iteration;
      while (next < end && list_[next].frames[depth].iteration == number) ++next;
      ScheduleNode iteration;
      iteration.kind = ScheduleNode::Kind::iteration;
      iteration.where = loop.where;
      iteration.times = number + 1;
      iteration.body = nodes(begin, next, depth + 1, unreached);
      loop.body.push_back(std::move(iteration));
      begin = next;
    }
    // Those in a row that are alike are told once.
    std::vector<ScheduleNode> told;
    std::string before;
    for (ScheduleNode& iteration : loop.body) {
      std::string text = text_of(iteration.body);
      const int number = *iteration.times;
      if (!told.empty() && text == before && told.back().last + 1 == number) {
        told.back().last = number;
        continue;
      }
      iteration.last = number;
      before = std::move(text);
      told.push_back(std::move(iteration));
    }
    const bool all = told.size() == 1 && told.front().times == 1 && told.front().last == *loop.times;
    std::vector<ScheduleNode> body = all ? std::move(told.front().body) : std::move(told);
    loop.body = std::move(body);
  }

  Rows& rows_;
  std::vector<Row> list_;
};

// Counts the communication of each function of the file.
class Functions {
public:
  explicit Functions(const std::string& path) : path_(path) {}

  void add(const Row& row) {
    std::vector<bool> done(row.calls.size(), false);
    for (std::size_t i = 0; i < row.calls.size(); ++i) {
      const Communication& first = row.calls[i];
      if (done[i] || first.what == Communication::What::wait) continue;
      // Who is in it together: of a hang, those that wait for the same.
      std::vector<const Communication*> together;
      for (std::size_t j = i; j < row.calls.size(); ++j) {
        const Communication& other = row.calls[j];
        const bool meet = first.what == Communication::What::collective &&
            row.kind == ScheduleNode::Kind::step && other.what == first.what &&
            other.members == first.members;
        if (j != i && !meet && !(other.where == first.where)) continue;
        together.push_back(&other);
        done[j] = true;
      }
      count(together, row);
    }
  }

  std::vector<FunctionCommunication> take() {
    std::map<std::uint32_t, FunctionCommunication> made;
    for (const auto& [key, seen] : seen_) {
      FunctionCommunication& function = made[key.first];
      function.function = seen.caller->function;
      function.definition = seen.caller->definition;
      if (seen.what == Communication::What::send) ++function.sends;
      if (seen.what == Communication::What::receive) ++function.receives;
      if (seen.what != Communication::What::collective) continue;
      ++function.collectives;
      // Who waits forever elsewhere would have come, too.
      std::vector<int> partly = seen.partly;
      if (partly.empty() && !seen.apart.empty() &&
          !std::includes(seen.apart.begin(), seen.apart.end(), seen.members.begin(), seen.members.end()))
        partly.assign(seen.apart.begin(), seen.apart.end());
      if (partly.empty()) continue;
      const auto same = std::find_if(function.partly.begin(), function.partly.end(),
          [&](const auto& each) { return each.ranks == partly; });
      if (same != function.partly.end())
        ++same->count;
      else
        function.partly.push_back({partly, 1});
    }
    std::vector<FunctionCommunication> functions;
    functions.reserve(made.size());
    for (auto& [begin, function] : made) functions.push_back(std::move(function));
    return functions;
  }

private:
  struct Seen {
    std::optional<Caller> caller;
    Communication::What what{};
    std::vector<int> partly;  // the ranks, where not all members are among them
    std::set<int> apart;      // ranks that enter it in a hang, or after it
    std::set<int> members;
  };

  // Once for each function that led to it, and each of its own lines that did.
  void count(const std::vector<const Communication*>& together, const Row& row) {
    std::vector<int> ranks;
    ranks.reserve(together.size());
    for (const Communication* call : together) ranks.push_back(call->rank);
    const auto& members = together.front()->members;
    const bool all = std::all_of(members.begin(), members.end(),
        [&](int member) { return std::find(ranks.begin(), ranks.end(), member) != ranks.end(); });
    std::map<std::uint32_t, std::pair<const Caller*, std::set<std::pair<std::uint32_t, std::string>>>>
        functions;
    for (const Communication* call : together)
      for (std::size_t i = 0; i < call->callers.size(); ++i) {
        const Caller& caller = call->callers[i];
        if (caller.definition.path != path_) continue;
        const Spot& own = i == 0 ? call->where : call->callers[i - 1].call;
        auto& function = functions[caller.definition.span.begin];
        function.first = &caller;
        function.second.insert(
            {own.span.begin, call->where.path + " " + std::to_string(call->where.span.begin)});
      }
    for (const auto& [begin, function] : functions) {
      Seen& seen = seen_[{begin, function.second}];
      seen.caller = *function.first;
      seen.what = together.front()->what;
      if (seen.what != Communication::What::collective) continue;
      seen.members.insert(members.begin(), members.end());
      if (row.unreached || row.kind != ScheduleNode::Kind::step)
        seen.apart.insert(ranks.begin(), ranks.end());
      else if (!all)
        seen.partly = ranks;
    }
  }

  std::string path_;
  std::map<std::pair<std::uint32_t, std::set<std::pair<std::uint32_t, std::string>>>, Seen> seen_;
};

bool worth_telling(const Root& root) { return !root.truncated && communicates(root); }

enum class Fit : std::uint8_t { yes, no, too_few };

// Is the program made for so many ranks?
Fit run_world(const Record& record, rules::ComparedJob& job, int world, Schedule& made) {
  made = {};
  made.world = world;
  Functions functions(record.path);
  bool fits = false, too_few = false;
  for (const auto& root : record.roots) {
    if (!worth_telling(*root)) continue;
    Rows rows(record, job.worlds, world, job, root->function != nullptr);
    SchedulePart part;
    part.complete = job.worlds.explore(
        *root, world, most_ways, [&](const rules::JobRun& run) { rows.add(run); });
    if (root->function) {
      part.function = root->name;
      if (root->function->stmt)
        part.where = spot_of(record, {root->function->chunk, root->function->stmt->name_span});
    } else {
      part.where = {record.path, {}, 1};
    }
    fits = fits || rows.seen();
    too_few = too_few || rows.too_few_ranks();
    part.hangs = rows.any_hang();
    part.nodes = Blocks(rows).nodes();
    for (const Row& row : rows.rows()) functions.add(row);
    if (!part.complete || !part.nodes.empty()) made.parts.push_back(std::move(part));
  }
  made.functions = functions.take();
  return fits ? Fit::yes : too_few ? Fit::too_few : Fit::no;
}

}  // namespace

Schedule schedule_of(const RankResults& ranks, int world) {
  const Record& record = ranks.record();
  Schedule made;
  if (world > 0) made.world = world;
  if (!ranks.can_run() || std::none_of(record.roots.begin(), record.roots.end(), [](const auto& root) {
        return worth_telling(*root);
      }))
    return made;
  rules::ComparedJob& job = ranks.job();
  if (world > 0) {
    run_world(record, job, world, made);
    return made;
  }
  // The size that the program gives, where it gives one.
  constexpr int largest = 16;
  std::set<int> given;
  for (const auto& root : record.roots)
    if (worth_telling(*root)) given.insert(rules::size_of_job(record, *root));
  given.erase(0);
  if (given.size() == 1 && *given.begin() <= largest) {
    run_world(record, job, *given.begin(), made);
    return made;
  }
  int proven = 0;
  for (const rules::Mismatch& mismatch : job.found)
    proven = std::max(proven, mismatch.certain && mismatch.world <= largest ? mismatch.world : 0);
  Fit fit = Fit::too_few;
  int fitting = 2;
  for (const int size : {2, 3, 4, 8, largest}) {
    if (size > 4 && size > proven && (size > 8 || fit != Fit::too_few)) break;
    fit = run_world(record, job, size, made);
    if (fit == Fit::yes) {
      fitting = size;
      break;
    }
  }
  // What hangs in larger jobs alone is shown in one of those.
  const auto hangs = [](const Schedule& one) {
    return std::any_of(
        one.parts.begin(), one.parts.end(), [](const SchedulePart& part) { return part.hangs; });
  };
  if (fit == Fit::yes && !hangs(made))
    for (const int size : {3, 4, 8, 16}) {
      if (size <= fitting || size > proven) continue;
      Schedule larger;
      if (run_world(record, job, size, larger) == Fit::yes && hangs(larger)) return larger;
    }
  if (fit != Fit::yes) run_world(record, job, 2, made);
  return made;
}

}  // namespace stepzero::snapshot
