#include "rules/training/gated.hpp"

#include "rules/condition_text.hpp"
#include "rules/training/decided_before.hpp"
#include "values/limits.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <span>

namespace stepzero::rules {

using namespace interpreter;
using symbolic::Int;
using values::Cond;
using values::Operation;

namespace {

enum class Varies : std::uint8_t { no, maybe, certain };

// Does the condition fail in one of the first iterations? Its only unknown has to be an index that counts
// from 0 or 1.
Varies fails_early(const Record& record, Cond condition) {
  std::set<Int> atoms;
  bool opaque = false;
  record.symbols.parts(condition, [&](Int atom) { atoms.insert(atom); }, [&](Cond) { opaque = true; });
  if (record.symbols.text(condition).find('%') == std::string::npos) return Varies::no;
  if (opaque || atoms.size() != 1) return Varies::maybe;
  bool fails = false;
  for (int i = 1; i < 3; ++i) {
    const symbolic::Assignment at[] = {{*atoms.begin(), i}};
    fails = fails || record.symbols.evaluate(condition, at) == Answer::no;
  }
  return fails ? Varies::certain : Varies::no;
}

// Does what the iteration computes decide it: a norm, a loss? Not a rank, nor what was chosen before.
bool is_of_data(
    const Record& record, const TrainingRoot& training_root, const LoopEvent& loop, const BranchEvent& gate) {
  if (!gate.stmt) return false;
  // Each iteration that was run has asked something else.
  if (loop.unrolled)
    return std::ranges::any_of(training_root.all, [&](const TrainingEvent& each) {
      return each.in(&loop) && std::ranges::any_of(each.turns, [&](const Turn& turn) {
        return turn.branch->stmt == gate.stmt && turn.branch->condition != gate.condition;
      });
    });
  if (loop.stmt && loop.place.chunk == gate.place.chunk && loop.stmt->span.holds(gate.place.span))
    return !decided_before(record, loop, gate.place);
  bool varies = record.symbols.sharing(gate.condition) == Sharing::local;
  record.symbols.parts(
      gate.condition,
      [&](Int atom) {
        const auto* info = record.symbols.atom_info(atom);
        varies = varies && info && info->varies;
      },
      [](Cond) {});
  return varies;
}

// The events of the iteration that `each` stands in: of a loop that was run iteration by iteration those up
// to where the same is done again; else all of the loop. Empty: the last one, of which nothing says where it
// ends.
std::span<const TrainingEvent> iteration_of(const TrainingRoot& training_root, const TrainingEvent& each) {
  const std::span all(training_root.all);
  if (!each.loops.back()->unrolled) return all;
  const auto from = all.subspan(static_cast<std::size_t>(&each - all.data()));
  const auto again = std::find_if(from.begin() + 1, from.end(), [&](const TrainingEvent& other) {
    return other.event->place == each.event->place && other.in(each.loops.back());
  });
  return again == from.end() ? std::span<const TrainingEvent>{}
                             : from.first(static_cast<std::size_t>(again - from.begin()));
}

// The branch on a side of which an iteration ends between two of its operations: `if bad: continue`. The turn
// is the one that the later operation is behind. Nothing of a scaler is done where the iteration ends.
std::optional<Turn> left_between(
    const Block& block, const TrainingEvent& before, const TrainingEvent& after, int depth = 0) {
  if (depth > values::deepest_data) return std::nullopt;
  const auto ends = [&](const Block& side) {
    if (side.events.empty() || side.events.back()->kind != EventKind::exit) return false;
    const auto& exit = static_cast<const ExitEvent&>(*side.events.back());
    return exit.exit == ExitKind::continue_ && exit.number > before.event->number &&
        exit.number < after.event->number &&
        std::ranges::none_of(
            side.events,
            [](const Event* event) {
              return event->kind == EventKind::operation &&
                  (static_cast<const OperationEvent*>(event)->row->operation == Operation::scaler_update ||
                      static_cast<const OperationEvent*>(event)->row->operation == Operation::unseen);
            });
  };
  for (const Event* event : block.events) {
    if (event->kind != EventKind::branch) continue;
    const auto& branch = static_cast<const BranchEvent&>(*event);
    if (ends(branch.yes)) return Turn{&branch, false};
    if (ends(branch.no)) return Turn{&branch, true};
    for (const Block* side : {&branch.yes, &branch.no})
      if (const auto found = left_between(*side, before, after, depth + 1)) return found;
  }
  return std::nullopt;
}
std::optional<Turn> left_between(const TrainingEvent& before, const TrainingEvent& after) {
  for (const Block& iteration : before.loops.back()->iterations)
    if (const auto found = left_between(iteration, before, after)) return found;
  return std::nullopt;
}

// As the program writes it, where it is an `if` of one line.
std::string text_of(const Record& record, const Turn& gate) {
  if (gate.branch->stmt && gate.branch->stmt->kind == syntax::StmtKind::if_) {
    std::string text(
        record.text({gate.branch->place.chunk, syntax::as<syntax::IfStmt>(*gate.branch->stmt).test->span}));
    const bool negated = text.starts_with("not "),
               compound = text.find(" and ") != std::string::npos || text.find(" or ") != std::string::npos;
    if (!gate.yes) text = compound ? "not (" + text + ")" : negated ? text.substr(4) : "not " + text;
    if (values::is_quotable(text)) return values::code(text);
  }
  return in_words(record, gate);
}

}  // namespace

std::vector<Gated> gated_steps(const Record& record, const Training& training, Operation operation) {
  std::vector<Gated> found;
  for (const TrainingRoot& training_root : training.training_roots()) {
    if (training_root.handed_over || training_root.root->truncated) continue;
    for (const TrainingEvent& each : training_root.all) {
      if (each.event->row->operation != operation || each.loops.empty() || each.in_handler) continue;
      const LoopEvent* loop = each.loops.back();
      const TrainingEvent* step = nullptr;
      const BranchEvent* gate = nullptr;
      bool gate_side = true, all_gated = true, calms = false;
      for (const TrainingEvent& other : iteration_of(training_root, each)) {
        if (!other.in(loop)) continue;
        const Operation what = other.event->row->operation;
        const bool same = other.event->self.object() == each.event->self.object();
        if (what == Operation::unseen && is_handed(*other.event, each.event->self.object())) calms = true;
        // An unscale makes the checks that an update asks for; updates in every iteration allow the next
        // unscale.
        if (same && operation == Operation::scaler_update && what == Operation::unscale &&
            other.turns.size() <= each.turns.size())
          calms = true;
        const bool scales = same && (what == Operation::scaler_update || what == Operation::scaler_step);
        const std::optional<Turn> left = scales ? left_between(each, other) : std::nullopt;
        if (same && operation == Operation::unscale && what == Operation::scaler_update &&
            other.turns.size() <= each.turns.size() && !left)
          calms = true;
        if (!same || what != Operation::scaler_step) continue;
        // The first branch that the step stands under and the operation does not.
        const Turn* own = left ? &*left : nullptr;
        for (const Turn& turn : other.turns) {
          bool shared = false;
          for (const Turn& mine : each.turns) shared = shared || mine.branch == turn.branch;
          if (!shared && !own) {
            own = &turn;
            break;
          }
        }
        if (!own || (gate && gate != own->branch)) {
          all_gated = false;
          continue;
        }
        step = &other;
        gate = own->branch;
        gate_side = own->yes;
      }
      if (!step || !gate || !all_gated || calms) continue;
      const Cond condition = gate_side ? gate->condition : record.symbols.logical_not(gate->condition);
      const bool by_data = is_of_data(record, training_root, *loop, *gate);
      const Varies varies = loop->unrolled ? Varies::no : fails_early(record, condition);
      if (varies == Varies::no && !by_data) continue;
      found.push_back({&training_root, each.event, step->event, text_of(record, {gate, gate_side}),
          varies == Varies::certain, varies == Varies::no});
    }
  }
  return found;
}

std::string record_call(const Record& record, const OperationEvent& event) {
  const std::string text(record.text(event.place));
  return values::is_quotable(text) ? text : "the step";
}

}  // namespace stepzero::rules
