// deadlock/skipped-in-except: an exception of one rank that makes it skip a collective, or enter one alone.
// Told where the runs of small worlds (see match.hpp) have a rank whose try ends otherwise than that of the
// others.
#include "rules/deadlock/tell.hpp"
#include "rules/ranks/communication.hpp"
#include "rules/ranks/job_view.hpp"
#include "rules/rule.hpp"
#include "rules/shape/blocks.hpp"
#include "values/internal_rows.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace stepzero::rules::deadlock::skipped_in_except {

namespace {

using namespace interpreter;
using interpreter::Block;

// The first collective that the program itself writes there; null: there is none. With `any` everything that
// communicates counts.
const OperationEvent* first_collective(const Block& block, bool any) {
  const OperationEvent* found = nullptr;
  visit(block, [&](const Event& event) {
    if (found || event.kind != EventKind::operation) return;
    const auto& operation = static_cast<const OperationEvent&>(event);
    const auto* info = operation.row->collective;
    const bool counts = any
        ? info || operation.row->message || operation.row->operation == values::Operation::backward ||
            operation.row->operation == values::Operation::unseen_communication
        : info && !info->hidden && !info->makes_group && !operation.expected;
    if (counts) found = &operation;
  });
  return found;
}

// What is noted of a handler: see Interpreter::run_try; null where nothing is.
const OperationEvent* noted_of(const Block& handler) {
  const auto* noted = !handler.events.empty() && handler.events.front()->kind == EventKind::operation
      ? static_cast<const OperationEvent*>(handler.events.front())
      : nullptr;
  return noted && noted->row->path == values::InternalRow::handler ? noted : nullptr;
}

// Does the handler take what may fail in one process, as the reading of files or the work of a step?
bool takes_failures(const Record& record, const Block& handler) {
  const auto* noted = noted_of(handler);
  return noted && std::ranges::any_of(noted->arguments, [&](values::Value each) {
    return each.is(values::Kind::boolean) && record.symbols.decide(each.condition()) == symbolic::Answer::yes;
  });
}

// What nothing decides but who fails: a collective in a handler of a try that has none.
void tell_of_handlers(const Record& record, Report& report) {
  const auto& found = report.ranks().comparison().found;
  std::set<std::pair<std::uint32_t, std::uint32_t>> told;
  visit_kind(record, EventKind::attempt, [&](const Event& event) {
    const auto& attempt = static_cast<const AttemptEvent&>(event);
    if (!attempt.raised || record.symbols.sharing(attempt.raised) == symbolic::Sharing::uniform ||
        first_collective(attempt.body, true) || first_collective(attempt.orelse, true))
      return;
    for (const Block& handler : attempt.handlers) {
      const OperationEvent* entered = takes_failures(record, handler) ? first_collective(handler, false)
                                                                      : nullptr;
      if (!entered || std::ranges::any_of(found, [&](const Mismatch& mismatch) {
            return mismatch.place == entered->place ||
                std::ranges::any_of(
                    mismatch.related, [&](const auto& each) { return each.first == attempt.place; });
          }))
        continue;
      if (!told.insert({entered->place.chunk, entered->place.span.begin}).second) continue;
      const std::string name(entered->row->collective->name);
      if (Finding* finding = report.add(Severity::information, entered->place, entered->calls,
              "Only the ranks whose `try` fails enter this " + std::string(without_article(name)) +
                  ": where one of them fails alone, it waits forever. Let all ranks enter it after the `try`, with a flag that says which rank failed."))
        report.relate(*finding, attempt.place, "the try");
    }
  });
}

// What may fail in one process alone: it reads or writes a file of a name that is given, or the program
// raises where its own data say so.
struct Failure {
  Place place;
  bool of_file = false;
};
std::optional<Failure> first_failure(const Record& record, const Block& block, const OperationEvent* before) {
  for (const Event* event : block.events) {
    if (event == before) return std::nullopt;
    if (event->kind == EventKind::operation) {
      const auto& operation = static_cast<const OperationEvent&>(*event);
      if (works_on_files(operation) && operation.place && !operation.arguments.empty() &&
          !operation.arguments[0].is(values::Kind::string))
        return Failure{operation.place, true};
    } else if (event->kind == EventKind::branch) {
      const auto& branch = static_cast<const BranchEvent&>(*event);
      if (record.symbols.sharing(branch.condition) == symbolic::Sharing::uniform) continue;
      for (const Block* side : {&branch.yes, &branch.no})
        if (!side->events.empty() && side->events.back()->kind == EventKind::exit &&
            static_cast<const ExitEvent*>(side->events.back())->exit == ExitKind::raise)
          return Failure{side->events.back()->place, false};
    } else if (event->kind == EventKind::call) {
      if (auto found = first_failure(record, static_cast<const CallEvent*>(event)->body, before))
        return found;
    }
  }
  return std::nullopt;
}

// Does the handler take it, and go on?
bool swallows(const Record& record, const Block& handler, const Failure& failure) {
  const auto* noted = noted_of(handler);
  if (!noted || noted->arguments.size() < 2 || first_collective(handler, true)) return false;
  const auto& of_files = noted->arguments[0];
  const bool takes = failure.of_file ? of_files.is(values::Kind::boolean) &&
          record.symbols.decide(of_files.condition()) == symbolic::Answer::yes
                                     : noted->arguments[1].is(values::Kind::tuple) &&
          !noted->arguments[1].as<values::Tuple>()->items.empty();
  const Event& last = *handler.events.back();
  return takes &&
      (last.kind != EventKind::exit || static_cast<const ExitEvent&>(last).exit != ExitKind::raise);
}

// The tries after which the process communicates again, in order or in another iteration; all of them in a
// function that nobody calls. After others it ends.
std::vector<const AttemptEvent*> tries_with_more_after(const Root& root) {
  std::vector<const AttemptEvent*> found;
  std::vector<const AttemptEvent*> open;  // tries that follow
  const std::function<void(const Block&, bool)> walk = [&](const Block& block, bool repeated) {
    for (const Event* event : block.events) {
      if (event->kind == EventKind::operation && static_cast<const OperationEvent*>(event)->row->collective) {
        found.insert(found.end(), open.begin(), open.end());
        open.clear();
      }
      const bool repeats = repeated || event->kind == EventKind::loop || root.function;
      for (const Block* inner : blocks_of(*event)) walk(*inner, repeats);
      if (event->kind != EventKind::attempt) continue;
      if (repeats)
        found.push_back(static_cast<const AttemptEvent*>(event));
      else
        open.push_back(static_cast<const AttemptEvent*>(event));
    }
  };
  walk(root.block, false);
  return found;
}

// The other way round: a collective in the try, after what may fail on one rank alone.
void tell_of_bodies(const Record& record, Report& report) {
  const auto& found = report.ranks().comparison().found;
  std::set<std::pair<std::uint32_t, std::uint32_t>> told;
  const auto look = [&](const AttemptEvent& attempt) {
    if (!attempt.raised || record.symbols.sharing(attempt.raised) == symbolic::Sharing::uniform) return;
    const OperationEvent* entered = first_collective(attempt.body, false);
    const auto failure = entered ? first_failure(record, attempt.body, entered) : std::nullopt;
    if (!failure || std::ranges::none_of(attempt.handlers, [&](const Block& handler) {
          return swallows(record, handler, *failure);
        }))
      return;
    if (std::ranges::any_of(found, [&](const Mismatch& mismatch) {
          return mismatch.place == entered->place ||
              std::ranges::any_of(
                  mismatch.related, [&](const auto& each) { return each.first == attempt.place; });
        }))
      return;
    if (!told.insert({entered->place.chunk, entered->place.span.begin}).second) return;
    Finding* finding = report.add(Severity::information, entered->place, entered->calls,
        "A rank whose `try` fails alone goes on without this " + call_text(entered->row->collective->name) +
            ", and the others wait in it forever. Let all ranks enter it after the `try`, with a flag that says which rank failed.");
    if (finding)
      report.relate(*finding, failure->place,
          failure->of_file ? "this may fail on one rank alone" : "this may be raised on one rank alone");
  };
  for (const auto& root : record.roots)
    for (const AttemptEvent* attempt : tries_with_more_after(*root)) look(*attempt);
}

void check(const Record& record, Report& report) {
  tell(report, Cause::handler, Severity::warning);
  tell_of_handlers(record, report);
  tell_of_bodies(record, report);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "deadlock/skipped-in-except",
    .severity = Severity::warning,
    .summary = "an exception of one rank makes it skip a collective, or enter one alone",
    .why =
        "Exceptions are raised by one rank: its batch is corrupt, its memory is full. A handler that goes on has skipped the collectives "
        "of the try, in which the other ranks wait; a collective in the handler is entered by that rank alone.",
    .wrong = "try:\n"
             "    loss = train_step(batch)\n"
             "except RuntimeError:\n"
             "    dist.all_reduce(failed)  # only the rank that failed gets here\n",
    .right = "failed = torch.zeros(1)\n"
             "try:\n"
             "    loss = train_step(batch)\n"
             "except RuntimeError:\n"
             "    failed += 1\n"
             "dist.all_reduce(failed)\n",
    .silent =
        "A try without collectives in it and in its handlers; a handler that raises again or ends the process; exceptions that every rank "
        "has (imports, configuration).",
    .fix =
        "None: let every rank enter the collective after the try, with a flag that says which rank failed.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::deadlock::skipped_in_except
