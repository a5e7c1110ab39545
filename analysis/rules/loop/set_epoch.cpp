// loop/set-epoch: a DistributedSampler that gives every epoch the same order.
#include "rules/condition_text.hpp"
#include "rules/loop/epoch_samplers.hpp"
#include "rules/name_hints.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/absent.hpp"
#include "rules/training/handed.hpp"
#include "rules/training/parts.hpp"
#include "values/kept.hpp"
#include "values/limits.hpp"

#include <algorithm>

namespace stepzero::rules::loop::set_epoch {

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

// The name to which the statement gives what it reads: `batches = zip(first, second)`. Empty if it gives it
// to none.
std::string_view named(const Record& record, const OperationEvent& read) {
  if (!record.chunk(read.place).chunk) return {};
  const auto path = enclosing(*record.chunk(read.place).chunk->stmt, read.place.span);
  if (path.empty() || path.back().stmt->kind != syntax::StmtKind::assign) return {};
  const auto& targets = syntax::as<syntax::AssignStmt>(*path.back().stmt).targets;
  return targets.size() == 1 && targets[0]->kind == syntax::ExprKind::name
      ? syntax::as<syntax::NameExpr>(*targets[0]).id.text()
      : std::string_view{};
}

// Does the loop's header read it, be it in a call or by a name: `enumerate(loader)`, a generator of the
// program's own?
bool heads(const Record& record, const LoopEvent& loop, const OperationEvent& read) {
  const auto within = [&](Place at) {
    return at && at.chunk == loop.place.chunk && loop.place.span.begin <= at.span.begin &&
        at.span.end <= loop.place.span.end;
  };
  if (within(read.place)) return true;
  for (const auto* site = read.calls; site; site = site->outer)
    if (within(site->place)) return true;
  if (read.calls != loop.calls || read.place.chunk != loop.place.chunk || !loop.stmt ||
      loop.stmt->kind != syntax::StmtKind::for_)
    return false;
  const std::string_view name = named(record, read);
  bool asks = false;
  if (!name.empty())
    for_each_expression(*syntax::as<syntax::ForStmt>(*loop.stmt).iterable, [&](const syntax::Expr& part) {
      asks = asks ||
          (part.kind == syntax::ExprKind::name && syntax::as<syntax::NameExpr>(part).id.text() == name);
    });
  return asks;
}
// Did the program ask for an iterator, `iter(loader)`, which it holds from then on?
bool gives_iterator(const OperationEvent& read) {
  return read.result.is(Kind::iterator) ||
      (read.result.is(Kind::list) && read.result.as<values::List>()->kind == values::ListKind::iterator);
}
// `batches = iter(loader)`, of which the loop takes one after another by `next(batches)`?
bool takes_from(const Record& record, const LoopEvent& loop, const OperationEvent& read) {
  if (read.calls != loop.calls || read.place.chunk != loop.place.chunk || !loop.stmt || !gives_iterator(read))
    return false;
  const std::string_view name = named(record, read);
  bool takes = false;
  if (!name.empty())
    for_each_expression(*loop.stmt, [&](const syntax::Expr& part) {
      if (part.kind != syntax::ExprKind::call) return;
      const auto& call = syntax::as<syntax::CallExpr>(part);
      takes = takes ||
          (!call.arguments.empty() && says(last_name(*call.function), Says::taking_next) &&
              call.arguments[0]->kind == syntax::ExprKind::name && last_name(*call.arguments[0]) == name);
    });
  return takes;
}
bool is_read(const TrainingEvent& each) {
  return each.event->row->operation == Operation::loader_made &&
      each.event->row->kind == values::RowKind::method;
}
// `except StopIteration: self.batches = iter(self.loader)`: the loader begins again whenever it has ended.
bool begins_again(const TrainingEvent& read) { return read.in_handler && gives_iterator(*read.event); }
// The call of the function that reads it: where an object that is made keeps `iter(loader)`, who makes the
// object.
const CallSite* begun_for(const OperationEvent& read) {
  const bool kept = read.calls && read.calls->function && read.calls->function->name.text() == "__init__" &&
      gives_iterator(read);
  return kept ? read.calls->outer : read.calls;
}
// Is a backward made in the loop that reads it? One whose header does not say what it reads is over what its
// own function has begun to read: `batches = iter(loader)`, `with tqdm(batches) as bar: for batch in bar`.
bool trains_on(const Record& record, const TrainingRoot& training_root, const TrainingEvent& read,
    const LoopEvent& epochs) {
  const auto reads_another = [&](const LoopEvent& loop) {
    return std::ranges::any_of(training_root.all, [&](const TrainingEvent& other) {
      return is_read(other) && other.event->self.object() != read.event->self.object() &&
          (heads(record, loop, *other.event) || other.event->calls == loop.calls);
    });
  };
  const CallSite* begun_in = begun_for(*read.event);
  return std::any_of(training_root.all.begin(), training_root.all.end(), [&](const TrainingEvent& each) {
    if (each.event->row->operation != Operation::backward || !each.in(&epochs)) return false;
    if (takes_from(record, epochs, *read.event) || begins_again(read)) return true;
    if (!read.loops.empty() && read.loops.back() != &epochs && each.in(read.loops.back())) return true;
    for (auto it = each.loops.rbegin(); it != each.loops.rend() && *it != &epochs; ++it)
      if (heads(record, **it, *read.event) ||
          ((*it)->calls && (*it)->calls == begun_in && !reads_another(**it)))
        return true;
    return false;
  });
}

// The epoch loop: around the loop that reads the loader, with training inside.
const LoopEvent* epoch_loop(const TrainingRoot& training_root, const TrainingEvent& read) {
  for (auto it = read.loops.rbegin(); it != read.loops.rend(); ++it) {
    const LoopEvent* loop = *it;
    const Place header = loop->place, at = read.event->place;
    const bool own = header.chunk == at.chunk && header.span.begin <= at.span.begin &&
        at.span.end <= header.span.end;
    if (own || !repeats(*loop)) continue;
    const bool trains = std::any_of(training_root.all.begin(), training_root.all.end(),
        [&](const TrainingEvent& each) { return stepped_optimizer(*each.event) && each.in(loop); });
    if (trains) return loop;
  }
  return nullptr;
}

// A loop over epochs by its name, in which no backward is seen, around the reading of what is called training
// data, or in a function that is called a training: `train_one_epoch(model, loader)` of which the rest is not
// seen.
const LoopEvent* named_epoch_loop(
    const Record& record, const TrainingRoot& training_root, const TrainingEvent& read) {
  const syntax::FunctionStmt* function = function_around(record, read.event->place);
  const std::string_view text = record.text(read.event->place);
  if (!says(text, Says::training) &&
      (says(text, Says::other_data) || !function || !says(function->name.text(), Says::training)))
    return nullptr;
  for (auto it = read.loops.rbegin(); it != read.loops.rend(); ++it) {
    const LoopEvent& loop = **it;
    if (!loop.stmt || loop.stmt->kind != syntax::StmtKind::for_ || !repeats(loop)) continue;
    const syntax::Expr& target = *syntax::as<syntax::ForStmt>(*loop.stmt).target;
    if (target.kind != syntax::ExprKind::name ||
        !says(syntax::as<syntax::NameExpr>(target).id.text(), Says::epoch))
      continue;
    const bool seen = std::ranges::any_of(training_root.all, [&](const TrainingEvent& each) {
      return each.event->row->operation == Operation::backward && each.in(&loop);
    });
    return seen ? nullptr : &loop;
  }
  return nullptr;
}

// The data set draws by its epoch, and nobody tells it.
void look_at_data(const Record& record, Report& report, const TrainingRoot& training_root,
    const TrainingEvent& read, Once& once) {
  const Instance* data = seeded_data(record, *read.event);
  if (!data || tells_epochs(record, training_root, data) || escapes(record, training_root, data, nullptr))
    return;
  const LoopEvent* loop = epoch_loop(training_root, read);
  if (!loop || !trains_on(record, training_root, read, *loop) ||
      record.span(data->born).begin >= record.span(loop->place).begin || !once(loop->place))
    return;
  Finding* finding = report.add(Severity::warning, loop->place, loop->calls,
      "Every epoch draws the same numbers: `" + std::string(data->cls->name.text()) +
          "` seeds by its epoch, which is never set. Call `set_epoch(epoch)` on it at the start of each epoch.");
  if (!finding) return;
  report.relate(*finding, data->born, "the data set");
  report.relate(*finding, read.event->place, "the loader is read here");
}

// A framework that prepares loaders tells their samplers the epoch.
bool is_prepared(const TrainingRoot& training_root, const Object* loader) {
  return std::ranges::any_of(training_root.all, [&](const TrainingEvent& each) {
    return each.event->row->operation == Operation::framework &&
        (is_handed(*each.event, loader) || each.event->result.object() == loader ||
            each.event->row->prepares_loaders);
  });
}

// A sampler that is never told the epoch, and the loop over epochs that reads by it.
struct Untold {
  Value sampler;
  values::Cond when = nullptr;          // see Sampler
  values::Cond shuffled = nullptr;      // what has to hold for it to shuffle; null: it does
  const TrainingEvent* made = nullptr;  // where the sampler was made; null: that was not seen
  const LoopEvent* loop = nullptr;
  bool trains = false;  // a backward is seen in it; else names alone tell that it is a training
};

std::optional<Untold> untold_sampler(
    const Record& record, const TrainingRoot& training_root, const TrainingEvent& read) {
  const auto [sampler, when, inside] = sampler_of(record, *read.event);
  if (!sampler) return std::nullopt;
  Untold found{sampler, when};
  bool set = false;
  for (const TrainingEvent& each : training_root.all) {
    if (each.event->row->operation == Operation::sampler_made &&
        each.event->self.object() == sampler.object())
      found.made = &each;
    // Of what is not known to be another it may be this one's.
    set = set ||
        (each.event->row->operation == Operation::set_epoch &&
            may_tell(record, each.event->self, sampler.object()));
  }
  if ((!found.made && is_librarys(sampler)) || set ||
      ((inside || !is_librarys(sampler)) && tells_epochs(record, training_root, sampler.object())) ||
      escapes(record, training_root, sampler.object(), nullptr) ||
      is_prepared(training_root, read.event->self.object()))
    return std::nullopt;
  const std::optional<values::Cond> shuffled = shuffles(record, found.made, sampler);
  if (!shuffled) return std::nullopt;
  found.shuffled = *shuffled;
  if (when && found.shuffled &&
      record.symbols.decide(record.symbols.logical_and(when, found.shuffled)) == Answer::no)
    return std::nullopt;
  found.loop = epoch_loop(training_root, read);
  found.trains = found.loop && trains_on(record, training_root, read, *found.loop);
  if (!found.trains) found.loop = named_epoch_loop(record, training_root, read);
  if (!found.loop || (found.made && found.made->in(found.loop))) return std::nullopt;
  return found;
}

// `for epoch in …: for batch in loader:` in one function: the loader is told the epoch in front of its
// iterations.
std::optional<Fix> told_epoch(const Record& record, const TrainingEvent& read, const Untold& found) {
  const LoopEvent& loop = *found.loop;
  // Where there may be no such sampler, the program says how it asks.
  const auto is_around = [&](const Turn& turn) {
    return std::ranges::any_of(
        read.turns, [&](const Turn& other) { return other.branch == turn.branch && other.yes == turn.yes; });
  };
  if (found.when || found.shuffled || !found.made || !std::ranges::all_of(found.made->turns, is_around))
    return std::nullopt;
  if (!loop.stmt || loop.stmt->kind != syntax::StmtKind::for_ || read.event->calls != loop.calls ||
      !record.in_file(loop.place))
    return std::nullopt;
  const auto& stmt = syntax::as<syntax::ForStmt>(*loop.stmt);
  if (stmt.target->kind != syntax::ExprKind::name || stmt.body.empty()) return std::nullopt;
  const SourceLines source(record, loop.place.chunk);
  const syntax::Stmt& first = *stmt.body[0];
  std::string loader(record.text(read.event->place));
  if (stmt.iterable->span == read.event->place.span)
    loader = record.text({read.event->place.chunk, iterated_in(stmt.iterable)->span});
  if (loader.empty() || loader.find_first_of(" (\n,") != std::string::npos || !source.own_line(first))
    return std::nullopt;
  // Where the loader has it.
  std::string path;
  for (const char* attribute_name : {".sampler", ".batch_sampler"})
    if (attribute(read.event->self, attribute_name + 1).object() == found.sampler.object() && path.empty())
      path = attribute_name;
  if (path.empty()) return std::nullopt;
  Fix fix;
  fix.title = "Set the sampler's epoch";
  // Started in one process, the program may have chosen another sampler, which has no epoch: `--local_rank`
  // is -1 then.
  fix.preferred = false;
  const auto begin = source.lines(first, first).begin;
  fix.edits.push_back({{source.path(), {begin, begin}},
      source.indentation(first) + loader + path + ".set_epoch(" + std::string(source.text(*stmt.target)) +
          ")" + source.line_ending()});
  return fix;
}

// "When `args.distributed`, every epoch reads", with as much of the condition as can be told.
std::string where(const Record& record, const Untold& found) {
  if (!found.when && !found.shuffled) return "Every epoch reads";
  const auto told = [&](values::Cond condition) -> std::string {
    const std::string text = in_words(record, condition);
    return values::is_quotable(text) ? "When " + text : "";
  };
  const values::Cond both = !found.when ? found.shuffled
      : found.shuffled                  ? record.symbols.logical_and(found.when, found.shuffled)
                                        : found.when;
  std::string condition = told(both);
  if (condition.empty() && !found.when) condition = "When the sampler shuffles";
  if (condition.empty() && found.shuffled)
    if (condition = told(found.when); !condition.empty()) condition += " and the sampler shuffles";
  if (condition.empty())
    condition = found.shuffled ? "When the loader has one that shuffles" : "When the loader has one";
  return condition + ", every epoch reads";
}

void look_at_sampler(const Record& record, Report& report, const TrainingRoot& training_root,
    const TrainingEvent& read, Once& once) {
  const auto found = untold_sampler(record, training_root, read);
  if (!found || !once(found->loop->place)) return;
  const auto* cls = found->sampler.as<Instance>()->cls;
  const std::string kind(cls ? cls->name.text() : "DistributedSampler");
  Finding* finding = report.add(found->trains ? Severity::warning : Severity::information, found->loop->place,
      found->loop->calls,
      where(record, *found) + " the data in the same order: the `" + kind +
          "` shuffles by its epoch, which is never set. Call `set_epoch(epoch)` on it at the start of each epoch.");
  if (!finding) return;
  report.relate(
      *finding, found->made ? found->made->event->place : found->sampler.object()->born, "the sampler");
  report.relate(*finding, read.event->place, "the loader is read here");
  // A generator reads it for the loop that trains.
  if (!record.in_file(read.event->place)) report.relate_calls(*finding, read.event->calls);
  if (auto fix = told_epoch(record, read, *found)) finding->fixes.push_back(std::move(*fix));
}

void check(const Record& record, Report& report) {
  const Training& training = Training::of(record);
  Once once;
  // Where the training is not seen, all that is seen are the loops and what they read.
  for (const auto* training_roots : {&training.training_roots(), &training.evaluating()})
    for (const TrainingRoot& training_root : *training_roots) {
      if (!trains_itself(training_root) || training_root.root->truncated) continue;
      for (const TrainingEvent& read : training_root.all) {
        if (!is_read(read)) continue;
        if (sampler_of(record, *read.event).value)
          look_at_sampler(record, report, training_root, read, once);
        else
          look_at_data(record, report, training_root, read, once);
      }
    }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "loop/set-epoch",
    .severity = Severity::warning,
    .summary =
        "a DistributedSampler, or a data set seeded by its epoch, in a loop over epochs without set_epoch()",
    .why =
        "A DistributedSampler shuffles with its seed and its epoch, so that all ranks agree on the order. The epoch stays 0 until "
        "`set_epoch` is called: every epoch then reads the same samples in the same order, in the same batches (measured: "
        "rank 0 of 2 reads 8, 5, 7, 2, 3, 11 in each of three epochs). Data sets and samplers of a program's own that seed by an epoch that they are told are the same.",
    .wrong = "for epoch in range(epochs):\n"
             "    for x, y in loader:\n"
             "        train_step(x, y)\n",
    .right = "for epoch in range(epochs):\n"
             "    loader.sampler.set_epoch(epoch)\n"
             "    for x, y in loader:\n"
             "        train_step(x, y)\n",
    .silent =
        "`shuffle=False`; a single epoch; a sampler of the validation data; a sampler that is handed to code that is not seen.",
    .fix =
        "Adds `loader.sampler.set_epoch(epoch)` at the start of the epoch. Only a `DistributedSampler` has the method: a program that may choose another "
        "sampler has to ask.",
    .fix_kind = FixKind::needs_decision,
    .check = check,
});

}  // namespace stepzero::rules::loop::set_epoch
