// data/drop-last: the last batch is smaller, and the program or a layer does not expect it.
#include "rules/rule.hpp"

#include "rules/shape/refusal_text.hpp"
#include "rules/training/absent.hpp"
#include "rules/training/loaders.hpp"

#include <algorithm>
#include <iterator>

namespace stepzero::rules::data::drop_last {

using namespace interpreter;
using symbolic::Int;
using values::Operation;

namespace {

std::string count(std::int64_t number, const char* one) {
  return std::to_string(number) + " " + one + (number == 1 ? "" : "s");
}

void add_drop_last(const Record& record, const Report& report, Finding& finding, const OperationEvent& made) {
  if (!made.expr || !record.in_file(made.place)) return;
  for (const syntax::Keyword& keyword : made.expr->keywords)
    if (keyword.name.text() == "drop_last") return;
  const auto end = made.expr->span.end - 1;
  Fix fix;
  fix.title = "Drop the last batch";
  fix.edits.push_back({report.location({made.place.chunk, {end, end}}), ", drop_last=True"});
  finding.fixes.push_back(std::move(fix));
}

Int product(const Record& record, const values::Shape& shape) {
  Int all = record.symbols.constant(1);
  for (const values::Dim& dim : shape.dims) {
    if (!dim.size) return nullptr;
    all = record.symbols.mul(all, dim.size);
  }
  return shape.ndim_known ? all : nullptr;
}

// Has the size of a batch a part in it?
bool holds_batch(const Record& record, const LastBatch& last, Int size) {
  bool found = false;
  record.symbols.atoms(size, [&](Int atom) {
    found = found || std::find(last.batches.begin(), last.batches.end(), atom) != last.batches.end();
  });
  return found;
}

// Every loop, whether it trains or not.
std::vector<TrainingLoop> all_loops(const Training& training) {
  std::vector<TrainingLoop> found;
  for (const auto* training_roots : {&training.training_roots(), &training.evaluating()})
    for (const TrainingRoot& training_root : *training_roots) {
      std::set<const interpreter::LoopEvent*> seen;
      for (const TrainingEvent& each : training_root.all)
        for (const interpreter::LoopEvent* loop : each.loops)
          if (repeats(*loop) && seen.insert(loop).second)
            found.push_back({&training_root, loop, nullptr, nullptr, {}});
    }
  return found;
}

// The loop, if it is one, in which the loader is asked for its batches by this event: it stands in the
// header.
const LoopEvent* loop_of(const Block& block, const OperationEvent& read) {
  for (const Event* event : block.events) {
    const LoopEvent* found = nullptr;
    const auto look = [&](const Block& inner) { found = found ? found : loop_of(inner, read); };
    switch (event->kind) {
    case EventKind::loop: {
      const auto* loop = static_cast<const LoopEvent*>(event);
      if (loop->place.chunk == read.place.chunk && loop->calls == read.calls &&
          loop->place.span.begin <= read.place.span.begin && read.place.span.end <= loop->place.span.end)
        return loop;
      std::ranges::for_each(loop->iterations, look);
      break;
    }
    case EventKind::branch:
      look(static_cast<const BranchEvent*>(event)->yes);
      look(static_cast<const BranchEvent*>(event)->no);
      break;
    case EventKind::call: look(static_cast<const CallEvent*>(event)->body); break;
    case EventKind::attempt: look(static_cast<const AttemptEvent*>(event)->body); break;
    default: break;
    }
    if (found) return found;
  }
  return nullptr;
}

// What the iterations of a loop or of a comprehension have left in a list is stacked: the last is smaller.
void look_at_stacks(const Record& record, const Training& training, Report& report, Once& once) {
  for (const auto* training_roots : {&training.training_roots(), &training.evaluating()})
    for (const TrainingRoot& training_root : *training_roots)
      for (const TrainingEvent& each : training_root.all) {
        const OperationEvent& event = *each.event;
        if (event.row->operation != Operation::has_to_fit || event.arguments.size() != 1 || each.in_attempt ||
            each.in_handler)
          continue;
        const Int size = event.arguments[0].integer();
        const auto reading = reading_of(record, training_root, size);
        const auto last = reading ? last_batch(record, *reading) : std::nullopt;
        if (!last) continue;
        const LoopEvent* loop = loop_of(training_root.root->block, *reading->reads[0]);
        if (loop &&
            (each.in(loop) ||
                std::any_of(loop->iterations.begin(), loop->iterations.end(),
                    [](const Block& iteration) { return is_left_early(iteration); })))
          continue;
        const auto of_others = size_for(record, *last, size, last->others),
                   of_last = size_for(record, *last, size, last->size);
        if (!of_others || !of_last || *of_others == *of_last || !once(event.place)) continue;
        Finding* finding = report.add(Severity::warning, event.place, event.calls,
            "The last of these tensors has size " + std::to_string(*of_last) + " where the others have " +
                std::to_string(*of_others) + ": " + count(last->samples, "sample") + " in batches of " +
                std::to_string(last->others) + " leave " + std::to_string(last->size) + " for the last one" +
                last->by_default +
                ", and tensors of different shapes cannot be stacked. Join them along the batch, `torch.cat(…, dim=0)`, or pass `drop_last=True` to the loader.");
        if (!finding) continue;
        report.relate(*finding, reading->made->place, "the loader");
        add_drop_last(record, report, *finding, *reading->made);
      }
}

// Something fails on the last batch alone, as the run of the last iteration has shown.
void look_at_last_iterations(const Record& record, const Training& training, Report& report, Once& once) {
  for (const auto* training_roots : {&training.training_roots(), &training.evaluating()})
    for (const TrainingRoot& training_root : *training_roots)
      for (const TrainingEvent& each : training_root.all) {
        const OperationEvent& event = *each.event;
        if (event.row->operation != Operation::has_to_fit || !event.self.is(values::Kind::instance) ||
            each.in_attempt || each.in_handler || !once(event.place))
          continue;
        const auto number = [&](std::string_view name) {
          return record.symbols.value(argument(event, name).integer()).value_or(0);
        };
        const std::string problem = text_of(record, event.refusal.get());
        Finding* finding = report.add(Severity::warning, event.place, event.calls,
            "This fails on the last batch, which has " + std::to_string(number("last")) +
                " where the others have " + std::to_string(number("others")) + ": " +
                count(number("samples"), "sample") + " do not divide into such batches. " +
                (problem.empty() ? std::string() : problem + ". ") +
                "Take the size from the batch, `x.size(0)`, or pass `drop_last=True` to the loader.");
        if (!finding) continue;
        report.relate(*finding, event.self.object()->born, "the loader");
        for (const TrainingEvent& other : training_root.all)
          if (other.event->row->operation == Operation::loader_made &&
              other.event->row->kind == values::RowKind::class_ &&
              other.event->self.object() == event.self.object()) {
            add_drop_last(record, report, *finding, *other.event);
            break;
          }
      }
}

// Does every iteration come to it? Of a loop that trains nothing: nothing decides about it but what decides
// about the loop.
bool comes_in_each_iteration(const Record& record, const Reading& reading, const TrainingEvent& each) {
  const TrainingLoop& loop = *reading.training;
  if (loop.backward) return in_every_iteration(record, loop, each);
  if (each.in_handler || !each.in(loop.loop) || loop.loop->unrolled) return false;
  const auto read = std::ranges::find_if(
      loop.training_root->all, [&](const TrainingEvent& other) { return other.event == reading.reads[0]; });
  return read != loop.training_root->all.end() && each.turns.size() == read->turns.size();
}

void check(const Record& record, Report& report) {
  const Training& training = Training::of(record);
  std::vector<TrainingLoop> loops = training_loops(training);
  std::ranges::copy_if(
      all_loops(training), std::back_inserter(loops), [trains = loops](const TrainingLoop& loop) {
        return std::ranges::none_of(
            trains, [&](const TrainingLoop& other) { return other.loop == loop.loop; });
      });
  Once once;
  look_at_stacks(record, training, report, once);
  look_at_last_iterations(record, training, report, once);
  for (const Reading& reading : readings(loops)) {
    const auto last = last_batch(record, reading);
    if (!last) continue;
    const auto& iterations = reading.training->loop->iterations;
    if (std::any_of(iterations.begin(), iterations.end(),
            [](const Block& iteration) { return is_left_early(iteration); }))
      continue;
    const auto is_batch = [&](const values::TensorState* input) {
      return input && input->shape.ndim_known && !input->shape.dims.empty() &&
          std::find(last->batches.begin(), last->batches.end(), input->shape.dims[0].size) !=
          last->batches.end();
    };
    bool told = false;
    for (const TrainingEvent& each : reading.training->training_root->all) {
      const OperationEvent& event = *each.event;
      if (each.in_attempt || !comes_in_each_iteration(record, reading, each)) continue;
      if (event.row->operation == Operation::has_to_fit && event.arguments.size() > 1 &&
          !event.self.is(values::Kind::instance)) {
        // Equal for all batches but the last.
        const symbolic::Int size = event.arguments[0].integer(), against = event.arguments[1].integer();
        const auto of_others = size_for(record, *last, size, last->others),
                   of_last = size_for(record, *last, size, last->size);
        const auto other = size_for(record, *last, against, last->others),
                   other_last = size_for(record, *last, against, last->size);
        if (!holds_batch(record, *last, size) || !of_others || !of_last || !other || !other_last ||
            *of_others != *other || *of_last == *other_last)
          continue;
        if (record.symbols.decide(event.arguments[2].condition()) != Answer::no &&
            (*of_last == 1 || *other_last == 1))
          continue;
        if (told || !once(event.place)) continue;
        told = true;
        Finding* finding = report.add(Severity::warning, event.place, event.calls,
            "The last batch does not fit the other operand, which has size " + std::to_string(*other) + ": " +
                count(last->samples, "sample") + " in batches of " + std::to_string(last->others) +
                " leave " + std::to_string(last->size) + " for the last one" + last->by_default +
                ". Take the size from the batch, `x.size(0)`, or pass `drop_last=True` to the loader.");
        if (!finding) continue;
        report.relate(*finding, reading.made->place, "the loader");
        add_drop_last(record, report, *finding, *reading.made);
      } else if (event.row->operation == Operation::normalizes_batch && reading.training->backward) {
        const values::TensorState* input = event.argument_state(0);
        if (last->size != 1 || !is_batch(input) || input->shape.dims.size() < 2) continue;
        // One value per channel: the sizes after the channels are all 1.
        bool single = true;
        for (std::size_t i = 2; i < input->shape.dims.size(); ++i)
          single = single && input->shape.dims[i].size &&
              record.symbols.value(input->shape.dims[i].size) == 1;
        if (!single || !once(reading.made->place)) continue;
        Finding* finding = report.add(Severity::warning, reading.made->place, reading.made->calls,
            count(last->samples, "sample") + " in batches of " + std::to_string(last->others) +
                " leave a last batch of one, for which `BatchNorm` raises \"Expected more than 1 value per channel when training\". Pass `drop_last=True`.");
        if (!finding) continue;
        report.relate(*finding, event.place, "normalized here");
        add_drop_last(record, report, *finding, *reading.made);
      } else if (event.row->operation == Operation::viewed) {
        const values::TensorState* input = event.self_state() ? event.self_state() : event.argument_state(0);
        if (!input || !event.made) continue;
        const Int before = product(record, input->shape), after = product(record, event.made->shape);
        if (!before || !after || !holds_batch(record, *last, before)) continue;
        const auto before_last = size_for(record, *last, before, last->size),
                   after_last = size_for(record, *last, after, last->size);
        if (!before_last || !after_last || *before_last == *after_last ||
            size_for(record, *last, before, last->others) != size_for(record, *last, after, last->others))
          continue;
        if (!once(event.place)) continue;
        Finding* finding = report.add(Severity::warning, event.place, event.calls,
            "The last batch does not fit this shape: " + count(last->samples, "sample") + " in batches of " +
                std::to_string(last->others) + " leave " + std::to_string(last->size) + " for the last one" +
                last->by_default +
                ". Take the size from the tensor, `x.size(0)`, or pass `drop_last=True` to the loader.");
        if (!finding) continue;
        report.relate(*finding, reading.made->place, "the loader");
        add_drop_last(record, report, *finding, *reading.made);
      }
    }
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "data/drop-last",
    .severity = Severity::warning,
    .summary = "a last batch that is smaller meets BatchNorm or a fixed shape",
    .why =
        "A loader gives what is left over as a last, smaller batch: 65 samples in batches of 16 come as 16, 16, 16, 16 and 1. A `view` with the batch size written in it "
        "raises there, at the end of the first epoch, as does a recurrent layer whose state has the size of the other batches, set so or left by the batch before, and BatchNorm has no variance of one value: \"Expected more than 1 value per channel when training\".",
    .wrong = "loader = DataLoader(dataset, batch_size=8)  # 30 samples\n"
             "for (x,) in loader:\n"
             "    flat = x.view(8, -1, 20)\n",
    .right = "loader = DataLoader(dataset, batch_size=8)\n"
             "for (x,) in loader:\n"
             "    flat = x.view(x.size(0), -1, 20)\n",
    .silent =
        "Data sets whose length is not known; lengths that divide; drop_last=True; shapes taken from the tensor; convolutional batch norms, which have many values per "
        "channel; loops that are left before the last batch; what stands in a try.",
    .fix = "Adds `drop_last=True`, which leaves samples out.",
    .fix_kind = FixKind::needs_decision,
    .check = check,
});

}  // namespace stepzero::rules::data::drop_last
