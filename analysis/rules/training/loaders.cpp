#include "rules/training/loaders.hpp"
#include "values/kept.hpp"
#include "values/limits.hpp"
#include "values/numbers.hpp"

#include <algorithm>

namespace stepzero::rules {

using namespace interpreter;
using values::Kind;
using values::Operation;

Value kept(Value object, values::AttributeKey name) {
  if (!object.is(Kind::instance)) return {};
  return object.as<Instance>()->attributes.value(syntax::Name(name.text()));
}

std::vector<Reading> readings(const std::vector<TrainingLoop>& loops) {
  std::vector<Reading> found;
  for (const TrainingLoop& training : loops) {
    const Place header = training.loop->place;
    for (const TrainingEvent& each : training.training_root->all) {
      if (each.event->row->operation != Operation::loader_made ||
          each.event->row->kind != values::RowKind::method || !each.event->self.is(Kind::instance))
        continue;
      // `for batch in loader:` asks in the header of the loop, in front of its iterations.
      const Place at = each.event->place;
      if (at.chunk != header.chunk || at.span.begin < header.span.begin || header.span.end < at.span.end)
        continue;
      const auto known = std::find_if(found.begin(), found.end(), [&](const Reading& other) {
        return other.training == &training && other.made->self.object() == each.event->self.object();
      });
      if (known != found.end()) {
        known->reads.push_back(each.event);
        continue;
      }
      for (const TrainingEvent& other : training.training_root->all)
        if (other.event->row->operation == Operation::loader_made &&
            other.event->row->kind == values::RowKind::class_ &&
            other.event->self.object() == each.event->self.object()) {
          found.push_back({&training, other.event, {each.event}});
          break;
        }
    }
  }
  return found;
}

std::optional<Reading> reading_of(
    const Record& record, const TrainingRoot& training_root, symbolic::Int size) {
  const OperationEvent* read = nullptr;
  record.symbols.atoms(size, [&](symbolic::Int atom) {
    for (const TrainingEvent& each : training_root.all) {
      const OperationEvent& event = *each.event;
      if (event.row->operation != Operation::loader_made || event.row->kind != values::RowKind::method ||
          !event.self.is(Kind::instance))
        continue;
      if (const Value batch = argument(event, values::LoaderState::batch);
          batch.is(Kind::integer) && batch.integer() == atom)
        read = &event;
    }
  });
  if (!read) return std::nullopt;
  for (const TrainingEvent& each : training_root.all)
    if (each.event->row->operation == Operation::loader_made &&
        each.event->row->kind == values::RowKind::class_ && each.event->self.object() == read->self.object())
      return Reading{nullptr, each.event, {read}};
  return std::nullopt;
}

std::vector<Value> datasets_of(Value loader) {
  std::vector<Value> found;
  for (Value at = kept(loader, values::LoaderState::dataset);
      at.is(Kind::instance) && static_cast<int>(found.size()) < values::deepest_data;
      at = kept(at, values::LoaderState::dataset))
    found.push_back(at);
  return found;
}

std::optional<Workers> workers_of(const Record& record, const OperationEvent& made) {
  const Value given = argument(made, "num_workers");
  if (const auto known = record.number(given)) return Workers{*known, false};
  if (given.is(Kind::choice)) {
    const auto* choice = given.as<values::Choice>();
    const auto yes = record.number(choice->yes), no = record.number(choice->no);
    return yes || no ? std::optional(Workers{std::max(yes.value_or(0), no.value_or(0)), true}) : std::nullopt;
  }
  const auto usual = values::number_by_default(record.symbols, given);
  return usual ? std::optional(Workers{static_cast<std::int64_t>(*usual), true}) : std::nullopt;
}

bool is_left_early(const Block& block, bool inner) {
  return std::any_of(block.events.begin(), block.events.end(), [&](const Event* event) {
    switch (event->kind) {
    case EventKind::exit: {
      const ExitKind exit = static_cast<const ExitEvent*>(event)->exit;
      return exit == ExitKind::return_ || (exit == ExitKind::break_ && !inner);
    }
    case EventKind::branch:
      return is_left_early(static_cast<const BranchEvent*>(event)->yes, inner) ||
          is_left_early(static_cast<const BranchEvent*>(event)->no, inner);
    case EventKind::loop: {
      const auto& iterations = static_cast<const LoopEvent*>(event)->iterations;
      return std::any_of(iterations.begin(), iterations.end(),
          [](const Block& iteration) { return is_left_early(iteration, true); });
    }
    case EventKind::attempt: {
      const auto* attempt = static_cast<const AttemptEvent*>(event);
      return is_left_early(attempt->body, inner) || is_left_early(attempt->orelse, inner) ||
          std::any_of(attempt->handlers.begin(), attempt->handlers.end(),
              [&](const Block& handler) { return is_left_early(handler, inner); });
    }
    default: return false;
    }
  });
}

std::optional<std::int64_t> size_for(
    const Record& record, const LastBatch& last, symbolic::Int size, std::int64_t batch) {
  std::vector<symbolic::Assignment> known;
  record.symbols.atoms(size, [&](symbolic::Int atom) {
    const auto* info = record.symbols.atom_info(atom);
    if (std::find(last.batches.begin(), last.batches.end(), atom) != last.batches.end())
      known.push_back({atom, batch});
    else if (info && info->usual)
      known.push_back({atom, *info->usual});
  });
  return record.symbols.value(record.symbols.substitute(size, known));
}

std::optional<LastBatch> last_batch(const Record& record, const Reading& reading) {
  const Value given = argument(*reading.made, "batch_size");
  const symbolic::Int size = given.is(Kind::integer) ? given.integer()
      : given.is(Kind::unknown)                      ? given.as<values::Unknown>()->integer
                                                     : nullptr;
  if (!size || truth(record, argument(*reading.made, "drop_last")) != Answer::no) return std::nullopt;
  LastBatch last;
  for (const OperationEvent* read : reading.reads) {
    const Value samples = argument(*read, values::LoaderState::samples),
                batch = argument(*read, values::LoaderState::batch);
    if (!samples.is(Kind::integer) || !batch.is(Kind::integer) || !record.symbols.is_atom(batch.integer()))
      continue;
    last.samples = record.symbols.value(samples.integer()).value_or(0);
    last.batches.push_back(batch.integer());
  }
  last.others = size_for(record, last, size, 0).value_or(0);
  if (!record.symbols.value(size))
    last.by_default = ", with the default of `" + record.symbols.text(size) + "`";
  if (last.batches.empty() || last.others < 1 || last.samples <= last.others ||
      last.samples % last.others == 0)
    return std::nullopt;
  last.size = last.samples % last.others;
  return last;
}

}  // namespace stepzero::rules
