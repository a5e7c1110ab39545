// config/scheduler-steps: a schedule of the learning rate that warms up for longer than it lasts, or that is
// made for another number of steps than the training makes.
#include "libraries/table/class_roles.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/handed.hpp"
#include "rules/training/horizon.hpp"
#include "rules/training/own_schedule.hpp"
#include "rules/training/parts.hpp"
#include "rules/training/training_loops.hpp"
#include "rules/training/windows.hpp"
#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::rules::config::scheduler_steps {

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

struct Steps {
  std::int64_t count = 0;
  bool by_default = false;  // what the command line has where nobody says otherwise
};
std::optional<Steps> steps(const Record& record, Value value) {
  bool by_default = value.is(Kind::unknown) && value.as<values::Unknown>()->default_value;
  if (by_default) value = value.as<values::Unknown>()->default_value;
  if (!value.is(Kind::integer)) return std::nullopt;
  auto known = record.symbols.value(value.integer());
  if (const symbolic::AtomInfo* atom = known ? nullptr : record.symbols.atom_info(value.integer()))
    known = atom->usual, by_default = true;
  return known ? std::optional(Steps{*known, by_default}) : std::nullopt;
}

// The steps of a schedule, and how many it makes; each where it is known.
struct Schedule {
  std::optional<Steps> warmup, total;
  std::optional<std::int64_t> made;
  bool is_own = false;         // the program's
  bool rises_again = false;    // beyond its total
  bool stays_at_zero = false;  // …
  std::string_view unit = "step";
  Place stepped;
};

std::string by_defaults(const Schedule& schedule) {
  const bool by_default = (schedule.warmup && schedule.warmup->by_default) ||
      (schedule.total && schedule.total->by_default);
  return by_default ? "By the defaults of the command line the schedule" : "The schedule";
}

void tell(const Schedule& schedule, Place place, const interpreter::CallSite* calls, Report& report) {
  const auto& [warmup, total, made, is_own, rises_again, stays_at_zero, unit, stepped] = schedule;
  const auto times = [&](std::int64_t count) {
    return std::to_string(count) + " " + std::string(unit) + (count == 1 ? "" : "s");
  };
  Finding* finding = nullptr;
  if (warmup && total && total->count >= 1 && warmup->count > total->count) {
    report.add(Severity::warning, place, calls,
        by_defaults(schedule) + " warms up for " + times(warmup->count) + " and ends after " +
            std::to_string(total->count) +
            ": the learning rate never reaches what the optimizer was given. Warm up for a part of the " +
            std::string(unit) + "s.");
    return;
  }
  if (!made) return;
  if (warmup && warmup->count > *made) {
    finding = report.add(Severity::warning, place, calls,
        by_defaults(schedule) + " warms up for " + times(warmup->count) + ", and the training makes " +
            std::to_string(*made) +
            ": it ends on the way up, and the learning rate never reaches what was meant. Warm up for a part of the " +
            std::string(unit) + "s.");
  } else if (total && *made > total->count && total->count >= 1 && (rises_again || stays_at_zero)) {
    finding = report.add(Severity::warning, place, calls,
        by_defaults(schedule) + " is made for " + times(total->count) + ", and the training makes " +
            std::to_string(*made) + ": " +
            (rises_again ? "beyond its end the learning rate rises again"
                         : "beyond its end the learning rate is 0, and nothing is learned") +
            ". Give it the number of all " + std::string(unit) + "s.");
  } else if (constexpr std::int64_t few = 10; total && *made >= few && total->count >= 2 * *made) {
    finding = report.add(Severity::information, place, calls,
        by_defaults(schedule) + " is made for " + times(total->count) + ", and the training makes " +
            std::to_string(*made) + ": it ends while the learning rate is high. Give it the number of all " +
            std::string(unit) + "s.");
  }
  if (finding && stepped) report.relate(*finding, stepped, "the schedule steps here");
}

// How often all of these are made; nothing if that is not known.
std::optional<std::int64_t> made_of(const Record& record, const Training& training,
    const std::vector<const TrainingEvent*>& steps, std::optional<std::vector<Window>>& windows_found) {
  std::int64_t all = 0;
  for (const TrainingEvent* step : steps) {
    if (step->in_handler || step->in_attempt || step->loops.empty()) return std::nullopt;
    const std::optional<std::int64_t> known = times_made(record, *step);
    if (!known) return std::nullopt;
    std::int64_t times = *known;
    if (!step->turns.empty()) {
      if (!windows_found) windows_found = windows(record, training);
      const auto window = std::ranges::find_if(*windows_found, [&](const Window& each) {
        return each.loop->stmt == step->loops.back()->stmt && !each.loop->unrolled && !each.steps_always &&
            each.size_known && each.step->turns.size() == step->turns.size();
      });
      if (window == windows_found->end() || step->turns.size() != 1) return std::nullopt;
      times = std::max<std::int64_t>(times / window->size, 1);
    }
    all += times;
  }
  return steps.empty() ? std::nullopt : std::optional(all);
}

// The function of the program behind a LambdaLR, where there is one.
const values::Function* own_function(Value value) {
  constexpr int most_wrappers = 3;  // a partial of a bound method
  for (int depth = 0; depth < most_wrappers; ++depth) {
    if (value.is(Kind::function)) return value.as<values::Function>();
    if (value.is(Kind::bound))
      value = value.as<values::Bound>()->function;
    else if (value.is(Kind::partial))
      value = value.as<values::Partial>()->function;
    else if (value.is(Kind::list) && values::Heap::list_state(value)->items.size() == 1)
      value = values::Heap::list_state(value)->items.front();
  }
  return nullptr;
}

Schedule schedule_of(const Record& record, const OperationEvent& made) {
  Schedule schedule;
  schedule.warmup = steps(record, argument(made, "num_warmup_steps"));
  schedule.total = steps(record, argument(made, "num_training_steps"));
  const libraries::ScheduleInfo info = libraries::schedule_info(*made.row);
  schedule.stays_at_zero = info.stays_at_zero;
  schedule.rises_again = info.rises_again;
  const Value step = attribute(made.self, values::OptimizerState::step);
  const values::Function* function = step.is(Kind::integer) ? own_function(argument(made, "lr_lambda"))
                                                            : nullptr;
  if (function) {
    const OwnSchedule own = own_schedule(record, *function, step.integer());
    schedule.is_own = true;
    if (own.warmup) schedule.warmup = Steps{*own.warmup};
    if (own.total) schedule.total = Steps{*own.total};
    schedule.rises_again = schedule.rises_again || own.rises_again;
  }
  return schedule;
}

void check_objects(const Record& record, const Training& training, Report& report) {
  Once once;
  std::optional<std::vector<Window>> all;
  std::set<const OperationEvent*> judged;
  for (const TrainingRoot& training_root : training.training_roots())
    for (const TrainingEvent& made : training_root.all) {
      if (made.event->row->operation != Operation::scheduler_made || training_root.root->truncated) continue;
      Schedule schedule = schedule_of(record, *made.event);
      if (!schedule.warmup && !schedule.total) continue;
      std::vector<const TrainingEvent*> stepped;
      bool is_seen = trains_itself(training_root) && made.loops.empty();
      for (const TrainingEvent& each : training_root.all) {
        if (each.event->row->operation == Operation::scheduler_step &&
            each.event->self.object() == made.event->self.object())
          stepped.push_back(&each);
        is_seen = is_seen &&
            !(each.event->row->operation == Operation::unseen &&
                is_handed(*each.event, made.event->self.object()));
      }
      if (is_seen) schedule.made = made_of(record, training, stepped, all);
      // Made for the batches of one epoch: loop/scheduler-order tells of it.
      if (schedule.made && schedule.total && schedule.total->count > 0 &&
          *schedule.made % schedule.total->count == 0 && stepped.front()->loops.size() > 1)
        schedule.made.reset();
      if (!stepped.empty()) schedule.stepped = stepped.front()->event->place;
      judged.insert(made.event);
      if (once(made.event->place)) tell(schedule, made.event->place, made.event->calls, report);
    }
  visit_operations(record, with_operation(Operation::scheduler_made), [&](const OperationEvent& made) {
    if (judged.contains(&made)) return;
    const Schedule schedule = schedule_of(record, made);
    if ((schedule.warmup || schedule.total) && once(made.place))
      tell(schedule, made.place, made.calls, report);
  });
}

// `group["lr"] = …`: what is assigned; null for all else.
const syntax::Expr* rate_set(const syntax::Stmt& stmt) {
  using namespace syntax;
  if (stmt.kind != StmtKind::assign) return nullptr;
  const auto& assign = as<AssignStmt>(stmt);
  for (const Expr* target : assign.targets) {
    if (target->kind != ExprKind::subscript) continue;
    const Expr& index = *as<SubscriptExpr>(*target).index;
    if (index.kind == ExprKind::string && as<StringExpr>(index).value == "lr") return assign.value;
  }
  return nullptr;
}

// `group["lr"] *= …`
bool adds_to_rate(const syntax::Stmt& stmt) {
  using namespace syntax;
  if (stmt.kind != StmtKind::aug_assign) return false;
  const Expr& target = *as<AugAssignStmt>(stmt).target;
  if (target.kind != ExprKind::subscript) return false;
  const Expr& index = *as<SubscriptExpr>(target).index;
  return index.kind == ExprKind::string && as<StringExpr>(index).value == "lr";
}

// Where the loop is left: `while step < limit`, `if step >= limit: break`; the number of its rounds.
std::optional<std::int64_t> rounds_until(const Record& record, const syntax::Stmt& loop, std::uint32_t chunk,
    std::string_view counter,
    const std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t>& numbers) {
  using namespace syntax;
  std::optional<std::int64_t> found;
  const auto look = [&](const Expr& test, bool goes_on) {
    if (test.kind != ExprKind::compare) return;
    const auto& compare = as<CompareExpr>(test);
    if (compare.rights.size() != 1 || record.text({chunk, compare.left->span}) != counter) return;
    const Expr& right = *compare.rights[0];
    const auto known = numbers.find({right.span.begin, right.span.end});
    if (known == numbers.end()) return;
    const CompareOp op = compare.ops[0];
    const bool is_last = op == (goes_on ? CompareOp::le : CompareOp::gt);
    if (is_last || op == (goes_on ? CompareOp::lt : CompareOp::ge))
      found = std::min(found.value_or(known->second + is_last), known->second + is_last);
  };
  if (loop.kind == StmtKind::while_) look(*as<WhileStmt>(loop).test, true);
  for_each_statement(loop, [&](const Stmt& stmt) {
    if (stmt.kind != StmtKind::if_) return;
    const auto& choice = as<IfStmt>(stmt);
    if (choice.body.size() == 1 && choice.body[0]->kind == StmtKind::break_) look(*choice.test, false);
  });
  return found;
}

// Rates that the loop sets itself, of a function of the step.
class RatesSet {
public:
  RatesSet(const Record& record, Report& report) : record_(record), report_(report) {}

  void look_at(const TrainingLoop& training) {
    if (!training.loop->stmt || !judged_.insert(training.loop->stmt).second) return;
    const std::uint32_t chunk = training.loop->place.chunk;
    const syntax::Stmt& loop = *training.loop->stmt;
    std::map<std::string, const syntax::CallExpr*> calls;  // by the name that holds what they give
    std::vector<const syntax::Expr*> set;
    std::vector<const syntax::CallExpr*> setters;
    for_each_statement(loop, [&](const syntax::Stmt& stmt) {
      if (const syntax::Expr* rate = rate_set(stmt)) set.push_back(rate);
      // A function of the program's that sets them.
      if (stmt.kind == syntax::StmtKind::expression)
        if (const syntax::CallExpr* call = call_in(*syntax::as<syntax::ExpressionStmt>(stmt).value))
          setters.push_back(call);
      if (stmt.kind != syntax::StmtKind::assign) return;
      const auto& assign = syntax::as<syntax::AssignStmt>(stmt);
      if (const syntax::CallExpr* call = call_in(*assign.value);
          call && assign.targets.size() == 1 && assign.targets[0]->kind == syntax::ExprKind::name)
        calls[std::string(syntax::as<syntax::NameExpr>(*assign.targets[0]).id.text())] = call,
        setters.push_back(call);
    });
    for (const syntax::CallExpr* call : setters) {
      const values::Function* function = function_of(*call, chunk);
      bool sets = false;
      if (function && function->stmt)
        for_each_statement(*function->stmt,
            [&](const syntax::Stmt& stmt) { sets = sets || rate_set(stmt) || adds_to_rate(stmt); });
      if (sets) judge_by_name(training, *call, *function, chunk);
    }
    for (const syntax::Expr* rate : set) {
      const syntax::CallExpr* call = call_in(*rate);
      if (!call && rate->kind == syntax::ExprKind::name)
        if (const auto known = calls.find(std::string(syntax::as<syntax::NameExpr>(*rate).id.text()));
            known != calls.end())
          call = known->second;
      if (call) judge(training, *call, chunk);
    }
  }

private:
  // `get_lr(step)`, `get_lr(step) if decay else lr`, `scale * get_lr(step)`.
  static const syntax::CallExpr* call_in(const syntax::Expr& expr) {
    if (expr.kind == syntax::ExprKind::call) return &syntax::as<syntax::CallExpr>(expr);
    if (expr.kind == syntax::ExprKind::conditional)
      return call_in(*syntax::as<syntax::ConditionalExpr>(expr).body);
    if (expr.kind != syntax::ExprKind::binary) return nullptr;
    const auto& product = syntax::as<syntax::BinaryExpr>(expr);
    const syntax::CallExpr* left = call_in(*product.left);
    return left ? left : call_in(*product.right);
  }

  const values::Function* function_of(const syntax::CallExpr& call, std::uint32_t chunk) const {
    for (const Fact& fact : record_.facts)
      if (fact.place.chunk == chunk && fact.role == Fact::Role::expression &&
          fact.place.span == call.function->span)
        if (const values::Function* function = own_function(fact.value)) return function;
    return nullptr;
  }

  // How many rounds a loop of the function makes whose own number the name is; nothing if that is not known.
  std::optional<std::int64_t> rounds_of(
      const syntax::Expr& name, std::uint32_t chunk, syntax::Span within) const {
    using namespace syntax;
    std::optional<std::int64_t> rounds;
    bool is_left = false;
    for (const Enclosing& around : enclosing(*record_.chunks[chunk].chunk->stmt, within)) {
      if (around.stmt->kind != StmtKind::for_) continue;
      const auto& loop = as<ForStmt>(*around.stmt);
      if (record_.text({chunk, loop.target->span}) != record_.text({chunk, name.span})) continue;
      for_each_statement(loop, [&](const Stmt& stmt) { is_left = is_left || stmt.kind == StmtKind::break_; });
      if (loop.iterable->kind != ExprKind::call) return std::nullopt;
      const auto& range = as<CallExpr>(*loop.iterable);
      if (last_name(*range.function) != "range" || range.arguments.size() > 2 || range.arguments.empty())
        return std::nullopt;
      const Expr& end = *range.arguments[range.arguments.size() - 1];
      if (end.kind == ExprKind::integer) rounds = as<IntegerExpr>(end).value;
      for (const Fact& fact : record_.facts)
        if (!rounds && fact.role == Fact::Role::expression && fact.place.chunk == chunk &&
            fact.place.span == end.span)
          rounds = record_.number(fact.value);
      return is_left ? std::nullopt : rounds;
    }
    // The number of a loop in another function, which hands it on.
    for (const Fact& fact : record_.facts) {
      const symbolic::Int value = fact.role == Fact::Role::expression && fact.place.chunk == chunk &&
              fact.place.span == name.span
          ? as_size(fact.value)
          : nullptr;
      const auto last = value && record_.symbols.is_atom(value) ? record_.symbols.upper(value) : std::nullopt;
      if (last) return *last + 1;
    }
    return std::nullopt;
  }

  // The number of a loop, or it and the share of its round that has passed: `epoch + i / len(loader)`.
  void judge_by_name(const TrainingLoop& training, const syntax::CallExpr& call,
      const values::Function& function, std::uint32_t chunk) {
    using namespace syntax;
    const std::size_t first = function.stmt && !function.stmt->parameters->list.empty() &&
            function.stmt->parameters->list[0].name.text() == "self"
        ? 1
        : 0;
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      const Expr* counter = call.arguments[i];
      bool is_share = false;
      if (counter->kind == ExprKind::binary && as<BinaryExpr>(*counter).op == BinaryOp::add) {
        const auto& sum = as<BinaryExpr>(*counter);
        const auto is_part = [](const Expr& expr) {
          return expr.kind == ExprKind::binary && as<BinaryExpr>(expr).op == BinaryOp::div;
        };
        is_share = is_part(*sum.left) != is_part(*sum.right);
        if (is_share) counter = is_part(*sum.left) ? sum.right : sum.left;
      }
      if (counter->kind != ExprKind::name || !function.stmt ||
          first + i >= function.stmt->parameters->list.size())
        continue;
      const OwnSchedule own = own_schedule(record_, function, function.stmt->parameters->list[first + i]);
      if (!own.warmup && !own.total) continue;
      Schedule schedule;
      schedule.is_own = true;
      if (own.warmup) schedule.warmup = Steps{*own.warmup};
      if (own.total) schedule.total = Steps{*own.total};
      schedule.rises_again = schedule.rises_again || own.rises_again;
      if (is_share) schedule.unit = "epoch";
      schedule.made = rounds_of(*counter, chunk, call.span);
      tell(schedule, {chunk, call.span}, training.step->event->calls, report_);
      return;
    }
  }

  void judge(const TrainingLoop& training, const syntax::CallExpr& call, std::uint32_t chunk) {
    const values::Function* function = nullptr;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> numbers;
    for (const Fact& fact : record_.facts) {
      if (fact.place.chunk != chunk || fact.role != Fact::Role::expression) continue;
      if (fact.place.span == call.function->span) function = own_function(fact.value);
      if (const auto number = record_.number(fact.value))
        numbers[{fact.place.span.begin, fact.place.span.end}] = *number;
    }
    if (!function || !function->stmt || call.arguments.empty()) return;
    // The step is the first of its numbers that is not the same in each round.
    symbolic::Int step = nullptr;
    for (const Fact& fact : record_.facts)
      if (fact.role == Fact::Role::parameter && fact.function == function && !fact.general && !step)
        if (const symbolic::Int value = as_size(fact.value); value && record_.symbols.is_atom(value))
          step = value;
    if (!step) return judge_by_name(training, call, *function, chunk);
    const OwnSchedule own = own_schedule(record_, *function, step);
    Schedule schedule;
    schedule.is_own = true;
    if (own.warmup) schedule.warmup = Steps{*own.warmup};
    if (own.total) schedule.total = Steps{*own.total};
    schedule.rises_again = schedule.rises_again || own.rises_again;
    if (!own.warmup && !own.total) return;
    const std::string_view counter = record_.text({chunk, call.arguments.front()->span});
    schedule.made = rounds_until(record_, *training.loop->stmt, chunk, counter, numbers);
    if (const auto last = record_.symbols.upper(step); !schedule.made && last) schedule.made = *last + 1;
    tell(schedule, {chunk, call.span}, training.step->event->calls, report_);
  }

  const Record& record_;
  Report& report_;
  std::set<const syntax::Stmt*> judged_;
};

void check(const Record& record, Report& report) {
  const Training& training = Training::of(record);
  check_objects(record, training, report);
  RatesSet rates(record, report);
  for (const TrainingLoop& each : training_loops(training)) rates.look_at(each);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "config/scheduler-steps",
    .severity = Severity::warning,
    .summary =
        "a schedule of the learning rate that warms up for longer than it lasts, or does not fit the steps",
    .why =
        "A schedule with a warm-up raises the learning rate from 0 during its first steps and lowers it during the others. Where the warm-up, often a number of a configuration for a longer training, is more "
        "than all steps, the training ends on the way up (asked of transformers 5.23: 2000 steps of warm-up and 1000 in all end at half of the learning rate). Steps are updates of the optimizer: with accumulation they are fewer than batches. "
        "The same is asked of a function of the step that the program hands to LambdaLR, or sets `group[\"lr\"]` by, and of one of the epoch and its share (`epoch + i / len(loader)`). One that is made for fewer steps than the training makes is at 0 from there on, "
        "or, as a cosine, rises again; one that is made for many more never comes down.",
    .wrong =
        "scheduler = get_linear_schedule_with_warmup(optimizer, num_warmup_steps=2000, num_training_steps=1000)\n",
    .right =
        "scheduler = get_linear_schedule_with_warmup(optimizer, num_warmup_steps=100, num_training_steps=1000)\n",
    .silent =
        "Numbers that are not known; functions of the program's own that do other arithmetic than a warm-up and a way down; schedules that end a little after the training.",
    .fix = "None: how long to warm up is your decision.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::config::scheduler_steps
