// parallel/unreduced-gradients: a backward of a loss that was computed by the module inside of a wrapper that
// reduces gradients, around the wrapper itself. Told where no backward goes through the wrapper, and nothing
// else sends gradients. And steps with gradients that no_sync() has held back.
#include "rules/parallel/held_back.hpp"
#include "rules/rule.hpp"
#include "rules/training/training.hpp"

#include <algorithm>
#include <set>

namespace stepzero::rules::parallel::unreduced_gradients {

using namespace interpreter;
using values::Kind;
using values::Operation;
using values::Value;

namespace {

// The parameters of a module and its parts, and these parts themselves.
void parameters_of(Value module, std::vector<const values::Object*>& found, int depth = 0) {
  constexpr int deepest = 8;           // parts of parts, where nothing remembers what was seen
  constexpr std::size_t most = 2'000;  // parameters: which of them it is does not matter
  if (depth > deepest || found.size() > most) return;
  if (module.is(Kind::tensor)) {
    if (module.as<values::Tensor>()->role == values::TensorRole::parameter) found.push_back(module.object());
  } else if (module.is(Kind::list)) {
    for (const Value& item : values::Heap::list_state(module)->items) parameters_of(item, found, depth + 1);
  } else if (module.is(Kind::instance)) {
    found.push_back(module.object());
    for (const auto& [name, slot] : module.as<values::Instance>()->attributes.entries())
      parameters_of(slot->value, found, depth + 1);
  }
}

struct Wrapper {
  const values::Instance* object = nullptr;
  Place made;
  std::vector<const values::Object*> parameters;
};

// What a tensor was computed from.
struct GradientPath {
  bool gradients = false;  // perhaps
  bool weights = false;

  void follow(const values::TensorState* state, int depth = 0) {
    constexpr int deepest = 12;  // parts of parts, where what was seen is remembered
    if (gradients) return;
    if (!state || state->unseen || state->is_gradient || depth > deepest) {
      gradients = true;
    } else if (!state->made || !state->made->row) {
      (state->requires_grad == values::Known::yes ? weights : gradients) = true;
    } else {
      bool any = false;
      for (const auto* sources : {&state->made->states, &state->made->listed})
        for (const values::TensorState* source : *sources)
          if (source) {
            any = true;
            follow(source, depth + 1);
          }
      // What begins empty may have been filled in place.
      gradients = gradients || !any;
    }
  }
};

// Does the program itself send what may be gradients, or weights that it may average?
bool may_send_gradients(const OperationEvent& event, bool writes_weights) {
  if (event.row->operation == Operation::unseen_communication) return true;
  const values::CollectiveInfo* info = event.row->collective;
  if (!info || info->hidden || info->tensor < 0) return false;
  const values::TensorState* sent = event.argument_state(static_cast<std::size_t>(info->tensor));
  if (sent && !sent->unseen && !sent->is_gradient && sent->shape.ndim_known && sent->shape.dims.empty())
    return false;
  GradientPath path;
  path.follow(sent);
  // Who only gathers weights leaves them as they are.
  return path.gradients || (path.weights && (info->list < 0 || writes_weights));
}

// What a backward goes through that reduces gradients, or holds that back.
const values::Instance* reduces(const values::Object* source) {
  const auto* object = dynamic_cast<const values::Instance*>(source);
  const values::Row* row = object && object->native ? object->native->row : nullptr;
  return row && (row->backward || row->covers == values::Covers::no_sync) ? object : nullptr;
}

void check(const Record& record, Report& report) {
  look_for_held_back(record, report);
  std::vector<Wrapper> wrappers;
  std::vector<const OperationEvent*> backwards, unseen;
  std::set<const values::Object*> called;
  bool steps = false, sends = false, reduced = false;
  const bool writes_weights = any_operation(record, with_operation(Operation::weights_written));
  visit_operations(record, [&](const OperationEvent& event) {
    sends = sends || may_send_gradients(event, writes_weights);
    steps = steps || event.row->operation == Operation::optimizer_step ||
        event.row->operation == Operation::scaler_step;
    // Whoever calls the wrapper somewhere may mean its module here; in Join the wrapper is in no graph.
    if ((event.row->operation == Operation::parallel_forward || event.row->operation == Operation::forward) &&
        event.self.is(Kind::instance))
      called.insert(event.self.object());
    if (event.row->operation == Operation::unseen) unseen.push_back(&event);
    if (event.row->operation == Operation::backward) {
      const values::TensorState* loss = event.self_state();
      if (!loss) return;
      backwards.push_back(&event);
      reduced = reduced ||
          std::any_of(loss->graph.begin(), loss->graph.end(),
              [](const values::Object* source) { return reduces(source) != nullptr; });
    }
    if (event.row->backward && event.row->collective) {
      const Value object = event.self.is(Kind::instance) ? event.self : event.result;
      if (!object.is(Kind::instance) || std::ranges::any_of(wrappers, [&](const Wrapper& known) {
            return known.object == object.object();
          }))
        return;
      Wrapper made{object.as<values::Instance>(), event.place, {}};
      parameters_of(made.object->attributes.value(values::Name("module")), made.parameters);
      wrappers.push_back(std::move(made));
    }
  });
  if (!steps || sends || reduced) return;
  for (const Wrapper& wrapper : wrappers) {
    if (called.contains(wrapper.object)) continue;
    const Value module = wrapper.object->attributes.value(values::Name("module"));
    if (std::ranges::any_of(unseen, [&](const OperationEvent* event) {
          return is_handed(*event, wrapper.object) ||
              is_handed(*event, module.is(Kind::instance) ? module.object() : nullptr);
        }))
      continue;
    for (const OperationEvent* event : backwards) {
      const auto& graph = event->self_state()->graph;
      if (std::ranges::none_of(
              wrapper.parameters, [&](const values::Object* parameter) { return graph.contains(parameter); }))
        continue;
      if (Finding* finding = report.add(Severity::warning, event->place, event->calls,
              "This loss was computed by the module inside the wrapper: its backward pass averages no gradients, and the weights of the ranks drift apart. Call the wrapper itself."))
        report.relate(*finding, wrapper.made, "the module is wrapped here");
      break;
    }
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "parallel/unreduced-gradients",
    .severity = Severity::warning,
    .summary = "a backward around the wrapper that averages gradients, or a step before they are averaged",
    .why =
        "DistributedDataParallel averages gradients in the backward of what its own forward has computed. `model.module(x)` computes the same, and "
        "its backward tells no other rank: each one trains by itself, and nothing says so. A forward under `no_sync()` leaves its gradients on its own rank, too, until a "
        "later backward outside of it averages what has come together.",
    .wrong = "model = DistributedDataParallel(net)\n"
             "loss = model.module(x).mean()\n"
             "loss.backward()\n"
             "optimizer.step()\n",
    .right = "model = DistributedDataParallel(net)\n"
             "loss = model(x).mean()\n"
             "loss.backward()\n"
             "optimizer.step()\n",
    .silent =
        "Micro-batches under `no_sync()` whose last one stands outside of it. Programs in which a backward goes through the wrapper; `model.module` in evaluation; gradients that the program sends itself, or that "
        "code may send that is not seen.",
    .fix = "None: what the loss needs of the module has to go through the wrapper's forward.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::parallel::unreduced_gradients
