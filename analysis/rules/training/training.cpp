#include "rules/training/training.hpp"

#include "libraries/table/class_roles.hpp"
#include "libraries/torch/meaning/gradients.hpp"
#include "rules/name_hints.hpp"
#include "rules/source.hpp"
#include "rules/training/choices.hpp"
#include "rules/training/gradient_typestate.hpp"
#include "rules/training/handed.hpp"
#include "rules/training/measured.hpp"
#include "rules/training/parts.hpp"
#include "values/kept.hpp"
#include "values/limits.hpp"

#include <algorithm>
#include <typeindex>

namespace stepzero::rules {

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

bool matters(Operation operation) {
  switch (operation) {
  case Operation::backward:
  case Operation::optimizer_step:
  case Operation::zero_grad:
  case Operation::scale:
  case Operation::unscale:
  case Operation::scaler_step:
  case Operation::scaler_update:
  case Operation::clip_gradients:
  case Operation::unseen: return true;
  default: return false;
  }
}

void collect(const Block& block, TrainingRoot& training_root, std::vector<const LoopEvent*>& loops,
    std::vector<Turn>& turns, bool in_handler, bool in_attempt) {
  for (const Event* event : block.events) {
    switch (event->kind) {
    case EventKind::operation:
      training_root.all.push_back(
          {static_cast<const OperationEvent*>(event), loops, turns, in_handler, in_attempt});
      break;
    case EventKind::branch: {
      const auto* branch = static_cast<const BranchEvent*>(event);
      for (const bool yes : {true, false}) {
        turns.push_back({branch, yes});
        collect(yes ? branch->yes : branch->no, training_root, loops, turns, in_handler, in_attempt);
        turns.pop_back();
      }
      break;
    }
    case EventKind::loop:
      loops.push_back(static_cast<const LoopEvent*>(event));
      for (const Block& iteration : static_cast<const LoopEvent*>(event)->iterations)
        collect(iteration, training_root, loops, turns, in_handler, in_attempt);
      loops.pop_back();
      break;
    case EventKind::call:
      collect(
          static_cast<const CallEvent*>(event)->body, training_root, loops, turns, in_handler, in_attempt);
      break;
    case EventKind::attempt: {
      const auto* attempt = static_cast<const AttemptEvent*>(event);
      collect(
          attempt->body, training_root, loops, turns, in_handler, in_attempt || !attempt->handlers.empty());
      for (const Block& handler : attempt->handlers)
        collect(handler, training_root, loops, turns, true, in_attempt);
      collect(attempt->orelse, training_root, loops, turns, in_handler, in_attempt);
      collect(attempt->finally, training_root, loops, turns, in_handler, in_attempt);
      break;
    }
    default: break;
    }
  }
}

// A gradient, or something that holds one.
bool holds_gradient(Value value, int depth = 0) {
  const auto any = [&](const auto& items) {
    return std::any_of(
        items.begin(), items.end(), [&](const Value& item) { return holds_gradient(item, depth + 1); });
  };
  if (depth > values::deepest_data) return false;
  switch (value.kind) {
  case Kind::tensor: return value.as<values::Tensor>()->now()->is_gradient;
  case Kind::unknown:
    return value.as<values::Unknown>()->is_gradient ||
        (value.as<values::Unknown>()->state.value &&
            holds_gradient(value.as<values::Unknown>()->state.value, depth + 1));
  case Kind::list:
    return any(values::Heap::list_state(value)->items) ||
        holds_gradient(values::Heap::list_state(value)->rest, depth + 1);
  case Kind::tuple: return any(value.as<values::Tuple>()->items);
  case Kind::choice:
    return holds_gradient(value.as<values::Choice>()->yes, depth + 1) ||
        holds_gradient(value.as<values::Choice>()->no, depth + 1);
  default: return false;
  }
}

bool has_words(const Record& record, const Turn& turn) {
  return turn.branch->condition && !record.symbols.text(turn.branch->condition).empty();
}

// The sides of branches on which the mistake's operation meets what it follows and what it spoils, beside
// those that it stands on itself; none if there are none, or one of them has no words.
// `is_same` of a turn: the operation is as wrong on the other side, where another object takes its place.
std::vector<Turn> way_to(
    const Record& record, const OrderViolation& violation, const std::function<bool(const Turn&)>& is_same) {
  const auto turns_of = [&](const OperationEvent* event) -> const std::vector<Turn>* {
    for (const TrainingEvent& each : violation.training_root->all)
      if (each.event == event) return &each.turns;
    return nullptr;
  };
  const auto among = [](const Turn& turn, const std::vector<Turn>& turns) {
    return std::any_of(turns.begin(), turns.end(),
        [&](const Turn& other) { return other.branch == turn.branch && other.yes == turn.yes; });
  };
  const auto* own = turns_of(violation.event);
  if (!own) return {};
  std::vector<Turn> found;
  for (const OperationEvent* met : {violation.before, violation.later}) {
    const auto* theirs = met ? turns_of(met) : nullptr;
    if (!theirs) continue;
    const bool beyond = std::any_of(
        theirs->begin(), theirs->end(), [&](const Turn& turn) { return !among(turn, *own); });
    // What stands under a condition of its own may have another name for the same.
    if (beyond && std::any_of(own->begin(), own->end(), [&](const Turn& turn) {
          return !among(turn, *theirs) && !is_same(turn);
        }))
      return {};
    for (const Turn& turn : *theirs) {
      if (among(turn, *own) || among(turn, found)) continue;
      if (!has_words(record, turn)) return {};
      found.push_back(turn);
    }
  }
  return found;
}

}  // namespace
static bool throws_gradient_away(const OperationEvent& event);
namespace {

// Is a gradient written there, or handed to what may do so?
bool works_on_gradients(const OperationEvent& event) {
  switch (event.row->operation) {
  case Operation::gradient_written: return !throws_gradient_away(event);
  case Operation::collective:
  case Operation::message:
  case Operation::unseen:
    return std::any_of(event.arguments.begin(), event.arguments.end(),
        [](const Value& argument) { return holds_gradient(argument); });
  default: return false;
  }
}

}  // namespace

static bool throws_gradient_away(const OperationEvent& event) {
  return event.row->operation == Operation::gradient_written && !event.arguments.empty() &&
      event.arguments[0].is(Kind::none);
}

bool TrainingEvent::in(const LoopEvent* loop) const {
  return std::find(loops.begin(), loops.end(), loop) != loops.end();
}

const Training& Training::of(const Record& record) {
  auto& known = record.derived[std::type_index(typeid(Training))];
  if (!known) known = std::make_shared<const Training>(record);
  return *static_cast<const Training*>(known.get());
}

Training::Training(const Record& record) : record_(record) {
  training_roots_.reserve(record.roots.size());
  evaluating_.reserve(record.roots.size());
  for (const auto& root : record.roots) look_at(*root);
}

void Training::look_at(const Root& root) {
  const bool any = any_operation(record_, root, [](const values::Row& row) {
    return row.operation != Operation::unseen && row.operation != Operation::zero_grad &&
        matters(row.operation);
  });
  const bool evaluates = any_operation(record_, root,
      with_operation(Operation::forward, Operation::has_to_fit, Operation::viewed, Operation::sampler_made));
  if (!any && !evaluates) return;
  TrainingRoot& training_root = (any ? training_roots_ : evaluating_).emplace_back();
  training_root.root = &root;
  std::vector<const LoopEvent*> loops;
  std::vector<Turn> turns;
  collect(root.block, training_root, loops, turns, false, false);
  if (!any) return;
  replace_choices(training_root, copies_);
  find_optimizers(record_, training_root);
  for (const TrainingEvent& each : training_root.all) {
    const OperationEvent& event = *each.event;
    if (event.row->operation == Operation::framework) training_root.handed_over = true;
    // accelerator.backward(loss), engine.backward(loss): of something that is no tensor.
    if (event.row->operation == Operation::backward && !event.self_state() && !event.arguments.empty() &&
        event.arguments[0] && !event.arguments[0].is(Kind::none))
      training_root.handed_over = true;
  }
  if (!trains_itself(training_root) || root.truncated) return;
  find_violations(training_root);
  std::stable_sort(
      violations_.begin(), violations_.end(), [](const OrderViolation& a, const OrderViolation& b) {
        return std::pair(a.event->place.chunk, a.event->place.span.begin) <
            std::pair(b.event->place.chunk, b.event->place.span.begin);
      });
}

namespace {

// The side of a branch on which the scaler does not unscale the gradients that the step takes; none if it has
// no words.
std::vector<Turn> unless_unscaled(const Record& record, const OrderViolation& violation) {
  for (const TrainingEvent& each : violation.training_root->all) {
    if (each.event->row->operation != Operation::unscale || each.event->self.object() != violation.scaler ||
        each.turns.empty() || !each.turns.back().branch->condition)
      continue;
    const Turn& turn = each.turns.back();
    return has_words(record, turn) ? std::vector<Turn>{{turn.branch, !turn.yes}} : std::vector<Turn>{};
  }
  return {};
}

// What was found out about the runs of a part of a training root.
struct Explored {
  GradientTypestate::Found found;
  std::map<const OperationEvent*, std::size_t> reached;
  std::vector<std::set<const OperationEvent*>> runs;  // what each of them makes
  // How many runs come to the mistake's operation, what it follows and what it spoils.
  std::size_t together(const OrderViolation& violation) const {
    return static_cast<std::size_t>(std::count_if(runs.begin(), runs.end(), [&](const auto& run) {
      return run.contains(violation.event) && (!violation.before || run.contains(violation.before)) &&
          (!violation.later || run.contains(violation.later));
    }));
  }
};
std::optional<Explored> explored(const Record& record, const TrainingRoot& training_root,
    CommonToRuns& common, const Block& block, const Walk& walk) {
  Explored result;
  const bool all = explore(record, block, {{0, 1}}, walk, [&](const Run& run) {
    GradientTypestate(training_root, common, result.found, result.reached).run(run[0]);
    auto& made = result.runs.emplace_back();
    for (const Step& step : run[0]) {
      const auto other = training_root.as.find(step.event);
      made.insert(other == training_root.as.end() ? step.event : other->second);
    }
  });
  if (!all) return std::nullopt;
  return result;
}

// The one operation that a block makes, or that each side of its only branch makes: what one call is, whose
// object is one of several. Null: it is something else.
const OperationEvent* single(const TrainingRoot& training_root, const Walk& walk, const Block& block);

// Do two of them come to the same: by one call, of one optimizer, of losses that feed the same ones?
bool are_equivalent(
    const TrainingRoot& training_root, const OperationEvent& one, const OperationEvent& other) {
  if (one.row != other.row || !(one.place == other.place) || one.calls != other.calls) return false;
  const auto as = [&](const OperationEvent& event) -> const OperationEvent& {
    const auto it = training_root.as.find(&event);
    return it == training_root.as.end() ? event : *it->second;
  };
  const OperationEvent &a = as(one), &b = as(other);
  if (one.row->operation != Operation::backward) {
    const auto same = [](Value x, Value y) { return x.object() && x.object() == y.object(); };
    if (a.row->operation == Operation::optimizer_step || a.row->operation == Operation::zero_grad)
      return same(a.self, b.self);
    return false;
  }
  const values::TensorState *mine = a.self_state(), *theirs = b.self_state();
  if ((mine ? mine->scaled_by : nullptr) != (theirs ? theirs->scaled_by : nullptr)) return false;
  return std::ranges::all_of(training_root.optimizers, [&](const Object* optimizer) {
    return feeds(training_root, a, as_value(optimizer)) == feeds(training_root, b, as_value(optimizer));
  });
}
// Is there an operation on each way through the block, and is each of them so?
bool is_all(const Walk& walk, const Block& block, const std::function<bool(const OperationEvent&)>& is) {
  bool any = false;
  for (const Event* event : block.events) {
    if (event->kind == EventKind::branch) {
      const auto& branch = static_cast<const BranchEvent&>(*event);
      if (!is_all(walk, branch.yes, is) || !is_all(walk, branch.no, is)) return false;
      any = true;
    } else if (event->kind == EventKind::operation) {
      const auto& operation = static_cast<const OperationEvent&>(*event);
      if (!walk.wanted(operation)) continue;
      if (!is(operation)) return false;
      any = true;
    } else if (event->kind != EventKind::problem) {
      return false;
    }
  }
  return any;
}
const OperationEvent* single(const TrainingRoot& training_root, const Walk& walk, const BranchEvent& branch) {
  const OperationEvent *yes = single(training_root, walk, branch.yes),
                       *no = single(training_root, walk, branch.no);
  return yes && no && are_equivalent(training_root, *yes, *no) ? yes : nullptr;
}
const OperationEvent* single(const TrainingRoot& training_root, const Walk& walk, const Block& block) {
  const OperationEvent* found = nullptr;
  for (const Event* event : block.events) {
    const OperationEvent* here = nullptr;
    switch (event->kind) {
    case EventKind::operation: here = static_cast<const OperationEvent*>(event); break;
    case EventKind::branch:
      here = single(training_root, walk, static_cast<const BranchEvent&>(*event));
      if (!here) return nullptr;
      break;
    case EventKind::problem: continue;
    default: return nullptr;
    }
    if (!walk.wanted(*here)) continue;
    if (found) return nullptr;
    found = here;
  }
  return found;
}

}  // namespace

void Training::find_violations(const TrainingRoot& training_root) {
  Walk walk;
  std::map<const BranchEvent*, bool> equivalent;
  walk.is_equivalent = [&](const BranchEvent& branch) {
    if (const auto known = equivalent.find(&branch); known != equivalent.end()) return known->second;
    return equivalent[&branch] = single(training_root, walk, branch) != nullptr;
  };
  const bool scales = std::any_of(training_root.all.begin(), training_root.all.end(),
      [](const TrainingEvent& each) { return each.event->row->operation == Operation::scale; });
  std::set<const Object*> watched(training_root.optimizers.begin(), training_root.optimizers.end());
  for (const TrainingEvent& each : training_root.all)
    if (each.event->row->operation == Operation::scaler_made ||
        each.event->row->operation == Operation::scaler_step ||
        each.event->row->operation == Operation::scale)
      watched.insert(each.event->self.object());
  std::map<const OperationEvent*, bool> handed;
  walk.wanted = [&](const OperationEvent& event) {
    if (event.row->operation != Operation::unseen)
      return matters(event.row->operation) ||
          (scales && (measures_gradients(record_, event) || limits_gradient(event)));
    // Only what may work on an optimizer or a scaler makes a difference.
    if (const auto known = handed.find(&event); known != handed.end()) return known->second;
    return handed[&event] = hands_any(event, watched);
  };
  CommonToRuns common(training_root);
  std::vector<Explored> parts;
  if (auto whole = explored(record_, training_root, common, training_root.root->block, walk)) {
    parts.push_back(std::move(*whole));
  } else {
    // Too many ways: each innermost loop that makes gradients and steps is looked at by itself.
    std::set<const LoopEvent*> tried;
    for (const TrainingEvent& each : training_root.all) {
      if (each.event->row->operation != Operation::backward || each.in_handler) continue;
      for (auto it = each.loops.rbegin(); it != each.loops.rend(); ++it) {
        const LoopEvent* loop = *it;
        const bool steps = std::any_of(
            training_root.all.begin(), training_root.all.end(), [&](const TrainingEvent& other) {
              return (other.event->row->operation == Operation::scaler_step ||
                         other.event->row->operation == Operation::optimizer_step) &&
                  other.in(loop);
            });
        if (!steps) continue;
        if (loop->iterations.empty() || !tried.insert(loop).second) break;
        if (auto part = explored(record_, training_root, common, loop->iterations[0], walk))
          parts.push_back(std::move(*part));
        break;
      }
    }
  }
  for (const Explored& part : parts)
    for (const auto& [key, entry] : part.found) {
      OrderViolation violation = entry.violation;
      const auto past = part.found.find({key.first, ViolationKind::step_past_scaler});
      if (key.second == ViolationKind::plain_step && past != part.found.end() &&
          entry.wrong + past->second.wrong == part.reached.at(key.first)) {
        // Unscaled in some runs, and stepped past the scaler in all.
        violation.on_path = unless_unscaled(record_, violation);
        if (violation.on_path.empty()) continue;
      } else if (entry.wrong != part.reached.at(key.first)) {
        if (entry.first_way != part.together(violation)) continue;
        violation.on_path = way_to(record_, violation, [&](const Turn& turn) {
          if (turn.branch->place != violation.event->place) return false;
          return is_all(
              walk, turn.yes ? turn.branch->no : turn.branch->yes, [&](const OperationEvent& other) {
                return other.row == violation.event->row &&
                    (violation.kind != ViolationKind::plain_backward || common.is_plain(other));
              });
        });
        if (violation.on_path.empty()) continue;
      }
      violations_.push_back(violation);
    }
}

namespace {
bool scales(const syntax::AugAssignStmt& written) {
  return written.op == syntax::BinaryOp::div || written.op == syntax::BinaryOp::mul;
}
// Does it make one result of what several ranks have?
bool reduces(const values::Row& row) {
  return row.operation == Operation::collective && row.collective && row.collective->reduces;
}
// Is what is left of a gradient there made of the gradient that was there before: less of it, its part of a
// sum over the ranks, or nothing?
bool only_changes_gradient(const Record& record, const OperationEvent& event) {
  if (event.row->operation == Operation::collective) return reduces(*event.row);
  if (remakes_gradient(record, event)) return true;
  if (event.row->operation != Operation::gradient_written) return false;
  // `p.grad /= n` writes what it has computed.
  const auto path = enclosing(*record.chunk(event.place).chunk->stmt, event.place.span);
  if (!path.empty() && path.back().stmt->kind == syntax::StmtKind::aug_assign &&
      scales(syntax::as<syntax::AugAssignStmt>(*path.back().stmt)))
    return true;
  return event.by && libraries::gradient_write_of(*event.by) != libraries::GradientWrite::other;
}
}  // namespace

bool remakes_gradient(const Record& record, const OperationEvent& event) {
  const auto path = enclosing(*record.chunk(event.place).chunk->stmt, event.place.span);
  if (path.empty()) return false;
  const syntax::Stmt& stmt = *path.back().stmt;
  const auto text = [&](const syntax::Expr& expr) { return record.text({event.place.chunk, expr.span}); };
  const auto is_gradient = [](const syntax::Expr& expr) { return is_attribute(expr, Says::gradient); };
  if (stmt.kind == syntax::StmtKind::aug_assign) {
    const auto& written = syntax::as<syntax::AugAssignStmt>(stmt);
    return is_gradient(*written.target) && scales(written);
  }
  if (stmt.kind != syntax::StmtKind::assign) return false;
  const auto& written = syntax::as<syntax::AssignStmt>(stmt);
  if (written.targets.size() != 1 || written.targets[0]->kind != syntax::ExprKind::attribute) return false;
  const auto& target = syntax::as<syntax::AttributeExpr>(*written.targets[0]);
  // `p.grad`, or `p.grad.data`
  if (!is_gradient(target) && !(last_name(target) == "data" && is_gradient(*target.object))) return false;
  bool reads = false;
  syntax::for_each_expression(*written.value, [&](const syntax::Expr& part) {
    reads = reads || (part.kind == syntax::ExprKind::attribute && text(part) == text(target));
  });
  return reads;
}

bool clears_gradient(const OperationEvent& event) {
  if (event.row->operation != Operation::gradient_written) return false;
  return throws_gradient_away(event) ||
      (event.by && libraries::gradient_write_of(*event.by) == libraries::GradientWrite::nothing);
}

// Is it done in a function of the program's that averages gradients over the ranks, by its name? It writes
// back what a backward has left.
static bool in_reduction(const OperationEvent& event) {
  for (const interpreter::CallSite* site = event.calls; site; site = site->outer)
    if (site->function && says(site->function->name.text(), Says::combining_ranks)) return true;
  return false;
}

bool makes_gradients(const Record& record, const TrainingRoot& training_root, const LoopEvent* loop) {
  auto& [making, looked_at] = training_root.making_gradients;
  for (std::size_t& i = looked_at; i < training_root.all.size(); ++i) {
    const OperationEvent& event = *training_root.all[i].event;
    if (works_on_gradients(event) && !only_changes_gradient(record, event) && !in_optimizer(event) &&
        !in_reduction(event))
      making.push_back(i);
  }
  return std::any_of(
      making.begin(), making.end(), [&](std::size_t i) { return !loop || training_root.all[i].in(loop); });
}
bool makes_gradients(const Record& record, const TrainingRoot& training_root, const OperationEvent& event) {
  for (const TrainingEvent& each : training_root.all)
    if (each.event == &event)
      return makes_gradients(record, training_root, each.loops.empty() ? nullptr : each.loops.back());
  return makes_gradients(record, training_root, nullptr);
}

bool by_hand(const TrainingRoot& training_root, const LoopEvent* loop) {
  return std::any_of(training_root.all.begin(), training_root.all.end(), [&](const TrainingEvent& each) {
    return (!loop || each.in(loop)) && works_on_gradients(*each.event) && !in_optimizer(*each.event);
  });
}
bool steps_by_hand(const Record& record, const TrainingRoot& training_root) {
  return std::any_of(training_root.all.begin(), training_root.all.end(), [&](const TrainingEvent& each) {
    if (in_optimizer(*each.event)) return false;
    return each.event->row->operation == Operation::gradient_written || works_on_gradients(*each.event)
        ? !remakes_gradient(record, *each.event) && !reduces(*each.event->row)
        : each.event->row->operation == Operation::weights_written && !each.event->arguments.empty() &&
            holds_gradient(each.event->arguments[0]);
  });
}
bool by_hand(const TrainingRoot& training_root, const OperationEvent& event) {
  for (const TrainingEvent& each : training_root.all)
    if (each.event == &event) return by_hand(training_root, each.loops.empty() ? nullptr : each.loops.back());
  return by_hand(training_root, nullptr);
}

}  // namespace stepzero::rules
