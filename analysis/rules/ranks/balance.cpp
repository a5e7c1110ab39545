#include "rules/ranks/balance.hpp"

#include "rules/ranks/communication.hpp"

#include <algorithm>
#include <cctype>
#include <map>

namespace stepzero::rules {

using namespace interpreter;
using symbolic::Sharing;
using values::Operation;

namespace {

// A part of a rank's record as the others are compared with it.
struct Part {
  std::uint64_t what = 0;  // equal ones enter the same
  bool plain = true;       // nothing in it but collectives of all ranks under what they decide alike
  bool leaves = false;     // … and the function or the loop around goes on elsewhere
  bool any = false;        // anything that matters
};

void mix(std::uint64_t& into, std::uint64_t more) {
  into = (into ^ more) * 0x9E3779B97F4A7C15u + (into >> 29);
}

class Look {
public:
  Look(Runs& runs, RankRun& own, bool agreed)
      : runs_(runs), own_(own), symbols_(own.record->symbols), agreed_(agreed) {}

  Part of(const Block& block) {
    Part made;
    for (const Event* event : block.events) {
      switch (event->kind) {
      case EventKind::operation: operation(static_cast<const OperationEvent&>(*event), made); break;
      case EventKind::branch: branch(static_cast<const BranchEvent&>(*event), made); break;
      case EventKind::loop: loop(static_cast<const LoopEvent&>(*event), made); break;
      case EventKind::call: {
        Part inner = of(static_cast<const CallEvent*>(event)->body);
        inner.leaves = false;
        if (inner.any) parts[runs_.site(own_, event->place, event->calls)].push_back(inner);
        add(made, inner, 1);
        break;
      }
      case EventKind::attempt: attempt(static_cast<const AttemptEvent&>(*event), made); break;
      case EventKind::exit: {
        const auto& exit = static_cast<const ExitEvent&>(*event);
        made.any = true;
        made.plain = made.plain && (exit.exit != ExitKind::raise || exit.fails);
        made.leaves = made.leaves || exit.exit != ExitKind::raise;
        mix(made.what, 2 + static_cast<std::uint64_t>(exit.exit));
        break;
      }
      case EventKind::problem: break;
      }
    }
    return made;
  }

  // Do all ranks decide the branch alike?
  bool is_shared(const BranchEvent& branch) {
    return is_shared(branch.condition, branch, own_.record->text(branch.place));
  }

  std::unordered_map<int, std::vector<Part>> parts;  // by site: of calls and branches

private:
  bool is_shared(Cond condition, const BranchEvent& branch, std::string_view text) {
    using Form = symbolic::Context::Form;
    switch (symbols_.form(condition)) {
    case Form::constant: return true;
    case Form::negation:
    case Form::conjunction:
    case Form::disjunction:
      for (const Cond operand : symbols_.operands(condition))
        if (!is_shared(operand, branch, text)) return false;
      return true;
    default: break;
    }
    if (symbols_.evaluate(condition, {}) != symbolic::Answer::unknown) return true;
    if (symbols_.sharing(condition) == Sharing::uniform && !own_.record->unseen.contains(condition) &&
        !runs_.differs(own_, branch))
      return true;
    return agreed_ && may_be_agreed_on(*own_.record, condition, text);
  }

  static void add(Part& to, const Part& part, std::uint64_t as) {
    if (!part.any) return;
    to.any = true;
    to.plain = to.plain && part.plain;
    to.leaves = to.leaves || part.leaves;
    mix(to.what, as);
    mix(to.what, part.what);
  }

  void operation(const OperationEvent& event, Part& made) {
    if (!is_traced(event)) return;
    made.any = true;
    mix(made.what, static_cast<std::uint64_t>(runs_.site(own_, event.place, event.calls)));
    const auto given = [&](int at) {
      return at >= 0 && static_cast<std::size_t>(at) < event.arguments.size()
          ? event.arguments[static_cast<std::size_t>(at)]
          : values::Value{};
    };
    if (event.expected || event.row->message || event.row->operation == Operation::await ||
        event.row->operation == Operation::unseen_communication ||
        event.row->operation == Operation::group_settings)
      made.plain = false;
    if (const auto* info = event.row->collective) {
      const values::Value group = given(info->group), root = given(info->root);
      if (info->makes_group || info->only_if >= 0 || info->group_root >= 0 ||
          (info->async >= 0 && event.result.is(values::Kind::instance)) ||
          (group && !group.is(values::Kind::none)))
        made.plain = false;
      if (root) {
        const auto number = root.is(values::Kind::integer) ? symbols_.value(root.integer()) : std::nullopt;
        made.plain = made.plain && number;
        mix(made.what, static_cast<std::uint64_t>(number.value_or(0)));
      }
      if (info->tensor >= 0)
        if (const auto* state = event.argument_state(static_cast<std::size_t>(info->tensor))) {
          mix(made.what, static_cast<std::uint64_t>(state->dtype));
          for (const values::Dim& dim : state->shape.dims)
            mix(made.what,
                static_cast<std::uint64_t>(
                    (dim.size ? symbols_.value(dim.size) : std::nullopt).value_or(-1)));
        }
    }
  }

  void branch(const BranchEvent& branch, Part& made) {
    if (symbols_.form(branch.condition) == symbolic::Context::Form::constant) {
      add(made, of(symbols_.decide(branch.condition) == symbolic::Answer::yes ? branch.yes : branch.no), 7);
      return;
    }
    const Part yes = of(branch.yes), no = of(branch.no);
    if (!yes.any && !no.any) return;
    Part both;
    add(both, yes, 8);
    add(both, no, 9);
    both.plain = both.plain && is_shared(branch);
    const int site = runs_.site(own_, branch.place, branch.calls);
    mix(both.what, static_cast<std::uint64_t>(site));
    parts[site].push_back(both);
    add(made, both, 10);
  }

  void loop(const LoopEvent& loop, Part& made) {
    Part iterations;
    for (const Block& iteration : loop.iterations) add(iterations, of(iteration), 11);
    for (const Block& iteration : loop.first) add(iterations, of(iteration), 12);
    if (!iterations.any) return;
    bool returns = false;  // leaves more than the loop
    for (const Block& iteration : loop.iterations) returns = returns || returns_from(iteration);
    iterations.leaves = returns;
    if (loop.any_order || !loop.first.empty() || !loop.counts.sizes.empty() || loop.trips == Sharing::local ||
        loop.trips == Sharing::divergent)
      iterations.plain = false;
    if (!loop.unrolled && loop.length)
      mix(iterations.what, static_cast<std::uint64_t>(symbols_.value(loop.length).value_or(-1)));
    mix(iterations.what, static_cast<std::uint64_t>(loop.unrolled ? loop.iterations.size() : 0));
    add(made, iterations, 13);
  }

  static bool returns_from(const Block& block) {
    return std::ranges::any_of(block.events, [](const Event* event) {
      if (event->kind == EventKind::exit)
        return static_cast<const ExitEvent*>(event)->exit == ExitKind::return_;
      if (event->kind == EventKind::branch)
        return returns_from(static_cast<const BranchEvent*>(event)->yes) ||
            returns_from(static_cast<const BranchEvent*>(event)->no);
      if (event->kind == EventKind::loop)
        return std::ranges::any_of(static_cast<const LoopEvent*>(event)->iterations, returns_from);
      return event->kind == EventKind::attempt;  // of which nothing is taken for plain anyway
    });
  }

  void attempt(const AttemptEvent& attempt, Part& made) {
    Part inside;
    for (const Block* part : {&attempt.body, &attempt.orelse, &attempt.finally}) add(inside, of(*part), 14);
    for (const Block& handler : attempt.handlers) {
      const Part handled = of(handler);
      if (handled.any && !dies(handler)) add(inside, handled, 15);
    }
    if (!inside.any) return;
    inside.plain = inside.plain && attempt.handlers.empty();
    add(made, inside, 16);
  }

  Runs& runs_;
  RankRun& own_;
  symbolic::Context& symbols_;
  bool agreed_;
};

// Do the words of a text ask which of the processes it is, or for what each has for itself?
bool asks_who(std::string_view text) {
  static constexpr std::string_view anywhere[] = {
      "rank", "master", "chief", "leader", "process_index", "proc_id"};
  static constexpr std::string_view words[] = {"main", "lead", "first", "last", "zero", "head", "primary",
      "root", "worker", "local", "node", "host", "device", "devices", "gpu", "stage", "pipe", "mine", "my",
      "own", "owner", "owns", "coordinator", "driver", "member", "members", "shard", "shards", "writer",
      "group", "groups", "leads", "mesh"};
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (std::ranges::any_of(
          anywhere, [&](std::string_view part) { return lower.find(part) != std::string::npos; }))
    return true;
  // Words stand between underscores, too.
  for (std::size_t begin = 0; begin < lower.size();) {
    if (!std::isalpha(static_cast<unsigned char>(lower[begin]))) {
      ++begin;
      continue;
    }
    std::size_t end = begin;
    while (end < lower.size() && std::isalpha(static_cast<unsigned char>(lower[end]))) ++end;
    if (std::ranges::find(words, std::string_view(lower).substr(begin, end - begin)) != std::end(words))
      return true;
    begin = end;
  }
  return false;
}

// Every branch inside of what is balanced as a whole.
void collect(Runs& runs, RankRun& own, Look& look, const Block& block, const std::unordered_set<int>& whole,
    bool inside, std::unordered_set<int>& made) {
  for (const Event* event : block.events) switch (event->kind) {
    case EventKind::branch: {
      const auto& branch = static_cast<const BranchEvent&>(*event);
      const int site = runs.site(own, branch.place, branch.calls);
      const bool here = inside || whole.contains(site);
      if (here && look.is_shared(branch)) made.insert(site);
      collect(runs, own, look, branch.yes, whole, here, made);
      collect(runs, own, look, branch.no, whole, here, made);
      break;
    }
    case EventKind::call:
      collect(runs, own, look, static_cast<const CallEvent*>(event)->body, whole,
          inside || whole.contains(runs.site(own, event->place, event->calls)), made);
      break;
    case EventKind::loop:
      for (const Block& iteration : static_cast<const LoopEvent*>(event)->iterations)
        collect(runs, own, look, iteration, whole, inside, made);
      break;
    case EventKind::attempt: {
      const auto& attempt = static_cast<const AttemptEvent&>(*event);
      for (const Block* part : {&attempt.body, &attempt.orelse, &attempt.finally})
        collect(runs, own, look, *part, whole, inside, made);
      for (const Block& handler : attempt.handlers) collect(runs, own, look, handler, whole, inside, made);
      break;
    }
    default: break;
    }
}

}  // namespace

std::unordered_set<int> balanced_branches(
    Runs& runs, const std::vector<RankRun*>& ranks, const std::vector<const Block*>& blocks, bool agreed) {
  std::vector<Look> looks;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    looks.emplace_back(runs, *ranks[i], agreed);
    looks.back().of(*blocks[i]);
  }
  std::unordered_set<int> whole;
  for (const auto& [site, parts] : looks.front().parts) {
    const auto same = [&](const Look& other) {
      const auto theirs = other.parts.find(site);
      return theirs != other.parts.end() &&
          std::ranges::equal(parts, theirs->second, [](const Part& a, const Part& b) {
            return a.what == b.what && a.plain && b.plain && !a.leaves && !b.leaves;
          });
    };
    if (std::ranges::all_of(looks, same)) whole.insert(site);
  }
  std::unordered_set<int> made;
  if (!whole.empty()) collect(runs, *ranks.front(), looks.front(), *blocks.front(), whole, false, made);
  return made;
}

namespace {
// Each way through a root asks the same conditions again, where they stand in the same text.
struct AskedBefore {
  mutable std::map<std::pair<Cond, const char*>, bool> agreed;
};
}  // namespace

bool may_be_agreed_on(const Record& record, Cond condition, std::string_view text) {
  const Sharing sharing = record.symbols.sharing(condition);
  const bool unseen = record.unseen.contains(condition);
  if (sharing == Sharing::divergent || (!unseen && sharing == Sharing::uniform)) return false;
  auto& kept = record.derived[std::type_index(typeid(AskedBefore))];
  if (!kept) kept = std::make_shared<const AskedBefore>();
  auto& known = static_cast<const AskedBefore*>(kept.get())->agreed;
  const auto [it, fresh] = known.try_emplace({condition, text.data()}, false);
  if (fresh) it->second = !asks_who(text.substr(0, 200)) && !asks_who(record.symbols.text(condition));
  return it->second;
}

bool dies(const Block& block) {
  if (block.events.empty()) return false;
  const Event& last = *block.events.back();
  if (last.kind == EventKind::exit)
    return static_cast<const ExitEvent&>(last).exit == ExitKind::raise &&
        static_cast<const ExitEvent&>(last).fails;
  return false;
}

}  // namespace stepzero::rules
