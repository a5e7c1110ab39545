// perf/host-sync-in-loop: every step waits for the device, to read a value from it.
#include "interpreter/calls/unseen.hpp"
#include "rules/provenance.hpp"
#include "rules/rule.hpp"
#include "rules/training/training_loops.hpp"
#include "values/devices.hpp"
#include "values/kept.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::rules::perf::host_sync_in_loop {

using values::code;

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

// Is it, or may it be, one that computes besides the CPU: "cuda" if torch.cuda.is_available() else "cpu"?
bool may_be_device(Value given) {
  if (given.is(Kind::choice))
    return may_be_device(given.as<values::Choice>()->yes) || may_be_device(given.as<values::Choice>()->no);
  if (given.is(Kind::unknown))
    if (const values::Slot* chosen = given.as<values::Unknown>()->attributes.find(
            syntax::Name(values::UnknownState::chosen)))
      return may_be_device(chosen->value);
  const std::string_view text = device_text(given);
  return !text.empty() && !text.starts_with("cpu") && text != "meta";
}
// Does the loop move its data to a device, or make it there? Then it is meant for one, whatever the device is
// called.
bool moves_to_device(const TrainingLoop& training) {
  for (const TrainingEvent& each : training.training_root->all) {
    if (!each.in(training.loop)) continue;
    if (each.event->row->operation == Operation::transfer && !on_host(each.event->made)) return true;
    if (each.event->row->operation == Operation::created && may_be_device(argument(*each.event, "device")))
      return true;
  }
  return false;
}
// Lie the parameters of the layer on a device?
bool lies_on_device(const Object* source) {
  const auto* layer = dynamic_cast<const values::Instance*>(source);
  if (!layer) return false;
  for (const auto& [name, slot] : layer->attributes.entries())
    if (slot->value.is(Kind::tensor) &&
        slot->value.as<values::Tensor>()->role == values::TensorRole::parameter &&
        on_device(slot->value.as<values::Tensor>()->now()))
      return true;
  return false;
}

// Was it computed by unseen code from tensors on a device, or by a layer there?
bool from_device(const values::TensorState& state) {
  for (const Object* source : state.graph)
    if (lies_on_device(source))
      return true;
    else if (const auto* unseen = dynamic_cast<const values::Unknown*>(source))
      if (values::is_accelerator(interpreter::given_on(*unseen))) return true;
  return false;
}

// Is it a flag that the ranks agree on in each iteration: handed to a collective before it is read, or read
// to be put into a tensor that is handed to one? So are sums of losses, which would have to be read anyhow.
bool is_agreed(const TrainingLoop& training, const TrainingEvent& read) {
  bool was_read = false;
  for (const TrainingEvent& each : training.training_root->all) {
    was_read = was_read || each.event == read.event;
    if (each.event->row->operation != Operation::collective || !each.in(training.loop)) continue;
    for (const Value& argument : each.event->arguments) {
      // Others than these are numbers, flags and names.
      if (!argument.is(Kind::tensor) && !argument.is(Kind::unknown) && !argument.is(Kind::list)) continue;
      const Object* tensor = argument.object();
      const Place born = tensor->born, place = read.event->place;
      if (was_read ? born && born.chunk == place.chunk && born.span.holds(place.span)
                   : tensor == read.event->self.object())
        return true;
    }
  }
  return false;
}

// One number after another of a tensor that lies on a device, by the index of a loop, in whatever loop it is.
void look_at_elements(const Record& record, const TrainingRoot& training_root, Report& report, Once& once) {
  for (const TrainingEvent& each : training_root.all) {
    const values::TensorState* read = each.event->self_state();
    if (each.event->row->operation != Operation::host_read || each.loops.empty() || !read || !read->made ||
        semantics(read) != OpSemantics::picked || read->made->arguments.size() < 2 ||
        !read->shape.ndim_known || !read->shape.dims.empty())
      continue;
    const TensorState* whole = input(*read->made);
    const Value index = read->made->arguments[1];
    if (!on_device(whole) || !index.is(Kind::integer) ||
        !(each.loops.back()->unrolled || record.symbols.is_of_iteration(index.integer())) ||
        !once(each.event->place))
      continue;
    const std::string name(Provenance::of(record).name_of(whole));
    Finding* finding = report.add(Severity::information, each.event->place, each.event->calls,
        "Each iteration waits for the GPU to read one number of " +
            (name.empty() ? std::string("a tensor") : code(name)) +
            ". Compute with the whole tensor, or read it once before the loop with `.tolist()`.");
    if (finding) report.relate(*finding, each.loops.back()->place, "in this loop");
  }
}

void check(const Record& record, Report& report) {
  const Training& training = Training::of(record);
  Once once;
  for (const auto* training_roots : {&training.training_roots(), &training.evaluating()})
    for (const TrainingRoot& training_root : *training_roots)
      look_at_elements(record, training_root, report, once);
  for (const TrainingLoop& loop : training_loops(training)) {
    std::vector<const OperationEvent*> reads;
    const bool moves = moves_to_device(loop);
    Once apart;
    for (const TrainingEvent& each : loop.training_root->all) {
      if (each.event->row->operation != Operation::host_read || !in_every_iteration(record, loop, each))
        continue;
      const values::TensorState* read = each.event->self_state();
      if (!read || on_host(read) ||
          !(on_device(read) || from_device(*read) ||
              (moves &&
                  (!read->graph.empty() ||
                      each.event->self.object() == loop.backward->event->self.object()))))
        continue;
      // Whether to go on is for all ranks to agree on in each iteration, and to be read by each.
      if (is_agreed(loop, each)) continue;
      if (apart(each.event->place)) reads.push_back(each.event);
    }
    if (reads.empty() || !once(loop.loop->place) || !once(reads[0]->place)) continue;
    // Who calls `trainer.train()` of another file has nothing to mend: it is told there.
    if (!record.in_file(loop.loop->place) && !record.in_file(reads[0]->place)) continue;
    const std::string text = source_excerpt(record, reads[0]->place);
    Finding* finding = report.add(Severity::information, reads[0]->place, reads[0]->calls,
        (text.empty() ? std::string("This") : code(text)) +
            " waits in every step until the GPU has finished it, and the GPU then waits for the next work. Read values now and then, as in `if step % 100 == 0:`, and add up with `.detach()` in between.");
    if (!finding) continue;
    for (std::size_t i = 1; i < reads.size() && i < 4; ++i)
      report.relate(*finding, reads[i]->place, "so does this");
    report.relate(*finding, loop.backward->event->place, "the training step");
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "perf/host-sync-in-loop",
    .severity = Severity::information,
    .summary = "a training loop reads values from the GPU at every step",
    .why =
        "A GPU lags behind the program: operations are queued, and Python runs ahead. `.item()`, `.cpu()`, `.tolist()`, `float(loss)` and printing a tensor "
        "have to wait until all that is queued has been computed; meanwhile nothing new is queued, and the GPU stands idle while Python prepares the next step. "
        "For small models this costs as much as the step itself.",
    .wrong = "for step, (x, y) in enumerate(loader):\n"
             "    loss = train_step(x.cuda(), y.cuda())\n"
             "    running += loss.item()\n",
    .right = "for step, (x, y) in enumerate(loader):\n"
             "    loss = train_step(x.cuda(), y.cuda())\n"
             "    running += loss.detach()\n"
             "    if step % 100 == 0:\n"
             "        print(step, running.item() / 100)\n",
    .silent =
        "Reads at an interval or under another condition; loops that are not known to train, evaluation without gradients, the end of an epoch; tensors on the CPU; flags that the ranks have agreed on. "
        "One finding for a loop, however much it reads.",
    .fix = "None: how often a value is needed is the program's choice.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::perf::host_sync_in_loop
