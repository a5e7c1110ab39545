// perf/dataloader: a loader whose settings make the training wait for its data.
#include "rules/name_hints.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/loaders.hpp"
#include "values/limits.hpp"

#include <algorithm>
#include <set>

namespace stepzero::rules::perf::dataloader {

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

// The file that a sample of the loader's data is read from, or the text that is split into tokens.
const OperationEvent* work_of(const Reading& reading) {
  const std::vector<Value> sets = datasets_of(reading.loader());
  for (const TrainingEvent& each : reading.training->training_root->all) {
    const Operation operation = each.event->row->operation;
    if (operation != Operation::file_read && operation != Operation::load &&
        operation != Operation::tokenized)
      continue;
    for (const CallSite* call = each.event->calls; call; call = call->outer) {
      if (!call->function || call->function->name.text() != "__getitem__" || !call->function->owner) continue;
      const bool ours = std::any_of(sets.begin(), sets.end(), [&](Value set) {
        const auto* cls = set.as<Instance>()->cls;
        return cls &&
            std::find(cls->order.begin(), cls->order.end(), call->function->owner) != cls->order.end();
      });
      if (ours) return each.event;
    }
  }
  return nullptr;
}

void collect(Value value, std::set<const Object*>& found, int depth = 0) {
  if (depth > values::deepest_data) return;
  const auto each = [&](const std::vector<Value>& items) {
    for (const Value& item : items) collect(item, found, depth + 1);
  };
  switch (value.kind) {
  case Kind::tensor: found.insert(value.object()); return;
  case Kind::tuple: each(value.as<values::Tuple>()->items); return;
  case Kind::list: {
    const auto* state = values::Heap::list_state(value);
    each(state->items);
    if (state->rest) collect(state->rest, found, depth + 1);
    return;
  }
  case Kind::dict:
    for (const auto& [key, item] : values::Heap::dict_state(value)->items) collect(item, found, depth + 1);
    return;
  default: return;
  }
}

// `next(batches)`, `iter(loader)`
bool is_call_of_one(const syntax::Expr& expr, Says what) {
  if (expr.kind != syntax::ExprKind::call) return false;
  const auto& call = syntax::as<syntax::CallExpr>(expr);
  return call.function->kind == syntax::ExprKind::name && says(last_name(*call.function), what) &&
      call.arguments.size() == 1;
}

// Is an iterator that the statement gives a name to asked once, and not in a loop of its own: `it =
// iter(loader)` and `next(it)`?
bool is_asked_once(const syntax::Stmt& around, const syntax::Stmt& named) {
  if (named.kind != syntax::StmtKind::assign) return false;
  const auto& targets = syntax::as<syntax::AssignStmt>(named).targets;
  if (targets.size() != 1 || targets[0]->kind != syntax::ExprKind::name) return false;
  const syntax::Name name = syntax::as<syntax::NameExpr>(*targets[0]).id;
  int reads = 0;
  const syntax::Expr* asked = nullptr;
  std::vector<syntax::Span> comprehensions;
  for_each_expression(around, [&](const syntax::Expr& expr) {
    if (expr.kind == syntax::ExprKind::comprehension) comprehensions.push_back(expr.span);
    if (expr.kind == syntax::ExprKind::name && syntax::as<syntax::NameExpr>(expr).id == name) ++reads;
    if (!is_call_of_one(expr, Says::taking_next)) return;
    const syntax::Expr& of = *syntax::as<syntax::CallExpr>(expr).arguments[0];
    if (of.kind == syntax::ExprKind::name && syntax::as<syntax::NameExpr>(of).id == name) asked = &expr;
  });
  if (reads != 1 || !asked) return false;
  bool repeated = std::ranges::any_of(
      comprehensions, [&](const syntax::Span& span) { return span.holds(asked->span); });
  for_each_statement(around, [&](const syntax::Stmt& stmt) {
    if (stmt.kind == syntax::StmtKind::for_ || stmt.kind == syntax::StmtKind::while_)
      repeated = repeated || (stmt.span.holds(asked->span) && !stmt.span.holds(named.span));
  });
  return !repeated;
}

// Is the first batch all that is taken of the reading: `next(iter(loader))`?
bool takes_first(const Record& record, const OperationEvent& read) {
  if (!record.chunk(read.place).chunk) return false;
  const auto path = enclosing(*record.chunk(read.place).chunk->stmt, read.place.span);
  if (path.empty()) return false;
  bool found = false;
  for_each_expression(*path.back().stmt, [&](const syntax::Expr& expr) {
    if (!is_call_of_one(expr, Says::taking_next)) return;
    const syntax::Expr& inner = *syntax::as<syntax::CallExpr>(expr).arguments[0];
    found = found || (is_call_of_one(inner, Says::making_iterator) && inner.span.holds(read.place.span));
  });
  return found || is_asked_once(*record.chunk(read.place).chunk->stmt, *path.back().stmt);
}

void look_for_first_batches(const Record& record, const std::vector<TrainingLoop>& loops, Report& report) {
  Once once;
  for (const TrainingLoop& loop : loops)
    for (const TrainingEvent& each : loop.training_root->all) {
      const OperationEvent& read = *each.event;
      if (read.row->operation != Operation::loader_made || read.row->kind != values::RowKind::method ||
          !in_every_iteration(record, loop, each) || !takes_first(record, read) || !once(read.place))
        continue;
      const OperationEvent* made = nullptr;
      for (const TrainingEvent& other : loop.training_root->all)
        if (other.event->row->operation == Operation::loader_made &&
            other.event->row->kind == values::RowKind::class_ &&
            other.event->self.object() == read.self.object())
          made = other.event;
      const auto given = [&](std::string_view name) {
        return made && argument(*made, name) && !argument(*made, name).is(Kind::none);
      };
      const bool same = made && truth(record, argument(*made, "shuffle")) == Answer::no &&
          !given("sampler") && !given("batch_sampler");
      Finding* finding = report.add(same ? Severity::warning : Severity::information, read.place, read.calls,
          same
              ? "Every iteration restarts the loader and takes its first batch, which is the same each time: nothing else is ever trained on. Create the iterator before the loop, or loop over the loader."
              : "Every iteration restarts the loader and takes one batch: its order is drawn and its workers start again for each step. Create the iterator before the loop, or loop over the loader.");
      if (!finding) continue;
      if (made) report.relate(*finding, made->place, "the loader is made here");
      report.relate(*finding, loop.backward->event->place, "the training step");
    }
}

void check(const Record& record, Report& report) {
  const Training& training = Training::of(record);
  const std::vector<TrainingLoop> loops = training_loops(training);
  look_for_first_batches(record, loops, report);
  Once slow, pageable;
  for (const Reading& reading : readings(loops)) {
    const OperationEvent& made = *reading.made;
    const Value workers = argument(made, "num_workers");
    if (workers.is(Kind::integer) && record.symbols.value(workers.integer()) == 0)
      if (const OperationEvent* work = work_of(reading); work && slow(made.place)) {
        const bool text = work->row->operation == Operation::tokenized;
        Finding* finding = report.add(Severity::information, made.place, made.calls,
            std::string(text ? "The text of each sample is split into tokens, again in every epoch,"
                             : "Each sample is read from a file,") +
                " and with `num_workers=0` that happens between two steps, while the GPU waits. " +
                (text ? "Do that once, before training, or pass `num_workers`" : "Pass `num_workers`") +
                ", as many as there are CPU cores to spare.");
        if (finding)
          report.relate(*finding, work->place, text ? "tokens are made here" : "the samples are read here");
      }
    if (truth(record, argument(made, "pin_memory")) != Answer::no) continue;
    std::set<const Object*> batch;
    for (const OperationEvent* read : reading.reads) collect(read->result, batch);
    for (const TrainingEvent& each : reading.training->training_root->all) {
      const OperationEvent& moved = *each.event;
      if (moved.row->operation != Operation::transfer || !each.in(reading.training->loop) ||
          on_host(moved.made) || !batch.contains(moved.self.object()))
        continue;
      if (truth(record, argument(moved, "non_blocking")) != Answer::yes || !pageable(made.place)) continue;
      Finding* finding = report.add(Severity::information, made.place, made.calls,
          "`non_blocking=True` has no effect on these batches: only pinned memory is copied while the program goes on. Pass `pin_memory=True` to the loader.");
      if (!finding) continue;
      report.relate(*finding, moved.place, "copied here");
      if (!made.expr || !record.in_file(made.place)) continue;
      Fix fix;
      fix.title = "Pin the memory of the batches";
      fix.preferred = true;
      const auto keyword = std::find_if(made.expr->keywords.begin(), made.expr->keywords.end(),
          [](const syntax::Keyword& one) { return one.name.text() == "pin_memory"; });
      const auto end = made.expr->span.end - 1;
      if (keyword != made.expr->keywords.end())
        fix.edits.push_back({report.location({made.place.chunk, keyword->value->span}), "True"});
      else
        fix.edits.push_back({report.location({made.place.chunk, {end, end}}), ", pin_memory=True"});
      finding->fixes.push_back(std::move(fix));
    }
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "perf/dataloader",
    .severity = Severity::information,
    .summary = "a loader that reads files or makes tokens without workers, or copies without pinned memory",
    .why =
        "With `num_workers=0` the batch is read and decoded in the training process itself: the GPU stands idle meanwhile. With workers it is ready when it is needed. "
        "A copy to the GPU with `non_blocking=True` goes on beside the computation only if it comes from pinned memory; from ordinary memory the call waits as it does without. "
        "`next(iter(loader))` starts the loader again, with new workers, and without shuffling it gives the same batch each time.",
    .wrong = "loader = DataLoader(images, batch_size=64, shuffle=True)\n"
             "for x, y in loader:\n"
             "    x = x.to(\"cuda\", non_blocking=True)\n",
    .right = "loader = DataLoader(images, batch_size=64, shuffle=True, num_workers=8, pin_memory=True)\n"
             "for x, y in loader:\n"
             "    x = x.to(\"cuda\", non_blocking=True)\n",
    .silent =
        "One batch taken outside the loop, and an iterator that is created again when it has ended; data that lies in memory; loaders that no training loop reads; settings that are not known; blocking copies.",
    .fix = "Adds `pin_memory=True`. The number of workers depends on the machine.",
    .fix_kind = FixKind::always_right,
    .check = check,
});

}  // namespace stepzero::rules::perf::dataloader
