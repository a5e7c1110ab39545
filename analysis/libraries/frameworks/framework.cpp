// What the files of training frameworks share.
#include "interpreter/record.hpp"
#include "libraries/frameworks/counted_steps.hpp"
#include "libraries/frameworks/frameworks.hpp"
#include "libraries/torch/distributed/wrapping.hpp"
#include "libraries/torch/meaning/saved.hpp"
#include "libraries/torch/nn/modules.hpp"

#include "interpreter/calls/unseen.hpp"
#include "interpreter/classes/self_writes.hpp"
#include "values/kept.hpp"
#include "values/kept_by_packages.hpp"
#include "values/limits.hpp"

namespace stepzero::libraries {

using symbolic::Role;

Value is_first(Call& call) {
  return Value::of(
      call.run.symbols().compared(Compare::eq, call.run.role(Role::rank), call.run.symbols().constant(0)));
}
Value is_local_first(Call& call) {
  return Value::of(call.run.symbols().compared(
      Compare::eq, call.run.role(Role::local_rank), call.run.symbols().constant(0)));
}
Value gathered(Call& call) {
  TensorState state = computed(call.run, {call.at(0)});
  state.sharing = Sharing::uniform;
  state.unseen = false;
  return result(call, state);
}
Value nothing_learned(Call& call) { return call.run.heap().unseen("", call.place); }
Value prepared_forward(Call& call) {
  // Who counts what is kept of a forward has to know the types.
  const bool counted = call.run.record().conditions.contains(values::RecordCondition::counted);
  return counted && kept(call, told_precision) ? nothing_learned(call) : wrapped_forward(call);
}

namespace {
bool is_optimizer(Runtime& run, Value value, int depth = 0) {
  value = run.resolve(value);
  if (value.is(Kind::choice) && depth < values::most_choices)
    return is_optimizer(run, value.as<values::Choice>()->yes, depth + 1) &&
        is_optimizer(run, value.as<values::Choice>()->no, depth + 1);
  return value.is(Kind::instance) && run.is_a(value, "torch.optim.Optimizer");
}
// A loader that draws the order itself: of a sampler of the program's own it is not known whether it does.
bool is_shuffled(Runtime& run, Value value) {
  if (!value.is(Kind::instance) || value.as<Instance>()->cls ||
      !run.is_a(value, "torch.utils.data.DataLoader"))
    return false;
  const auto is_set = [&](std::string_view name) {
    const Value given = kept(run, *value.as<Instance>(), name);
    return given && !given.is(Kind::none);
  };
  const Value shuffle = kept(run, *value.as<Instance>(), "shuffle");
  return shuffle && run.symbols().decide(run.truth(shuffle)) == symbolic::Answer::yes && !is_set("sampler") &&
      !is_set("batch_sampler") && !is_set(values::LoaderState::open);
}
}  // namespace

Value moves_modules(Call& call) {
  const auto moved = [&](Value value) {
    value = call.run.resolve(value);
    if (value.is(Kind::instance) && call.run.is_a(value, "torch.nn.Module")) lose_devices(call.run, value);
  };
  for (const auto* part : {&call.arguments, &call.rest})
    for (const Value& value : *part) moved(value);
  for (const auto& [name, value] : call.options) moved(value);
  return {};
}
Value prepared_item(Call& call, Value item, const Wrappers& wrappers, bool evaluated, bool& wraps) {
  const Value given = call.run.resolve(item);
  // What it adds to an optimizer holds its steps back while gradients are accumulated; else it is as before.
  if (is_optimizer(call.run, given)) return item;
  if (given.is(Kind::instance) && call.run.is_a(given, "torch.optim.lr_scheduler.LRScheduler")) return item;
  const bool shards = kept(call, values::AcceleratorState::shards) && !wrappers.sharded.empty();
  const std::string_view wrapper = shards ? wrappers.sharded : wrappers.usual;
  // Only to be evaluated: there is nothing to average then, and it is not wrapped.
  const bool model = given.is(Kind::instance) && call.run.is_a(given, "torch.nn.Module") &&
      !call.run.is_a(given, wrapper) && !evaluated;
  if (given.is(Kind::instance) && call.run.is_a(given, "torch.nn.Module")) lose_devices(call.run, given);
  // One process sends nothing, and its model is the model itself.
  if (counts_a_step(call) && model && !shards && !kept(call, told_precision)) return item;
  // Who counts what a step takes follows the batches.
  if (counts_a_step(call) && given.is(Kind::instance) && !given.as<Instance>()->cls &&
      call.run.is_a(given, "torch.utils.data.DataLoader")) {
    keep(call.run, *given.as<Instance>(), values::PreparedState::moves, call.run.heap().boolean(true));
    return item;
  }
  item = call.run.heap().unseen("", call.place);
  if (!model && !wrappers.shuffled.empty() && !kept(call, values::AcceleratorState::loads_otherwise) &&
      is_shuffled(call.run, given)) {
    Instance* loader = call.run.make_native(wrappers.shuffled, call.place);
    loader->open = true;
    return Value::of(Kind::instance, loader);
  }
  if (!model) return item;
  wraps = true;
  Instance* wrapped = call.run.make_native(wrapper, call.place);
  wrapped->open = true;
  call.run.set_attribute(Value::of(Kind::instance, wrapped), Name("module"), given);
  if (kept(call, values::AcceleratorState::kwargs_handlers))
    keep(call.run, *wrapped, values::WrapperState::keeps_buffers, call.run.heap().boolean(true));
  if (!call.run.record().conditions.contains(values::RecordCondition::counted)) lose_dtypes(call.run, given);
  if (kept(call, told_precision)) keep(call.run, *wrapped, told_precision, call.run.heap().boolean(true));
  return Value::of(Kind::instance, wrapped);
}

Value call_row(Call& call, Value self, std::string_view path) {
  auto* bound = call.run.heap().make<values::Bound>();
  bound->self = self;
  bound->function = call.run.library_symbol(path);
  return call.run.call(Value::of(Kind::bound, bound), {}, call.place);
}

namespace {
void judge_each(Call& call, Value loss, symbolic::Cond where, int depth) {
  auto& s = call.run.symbols();
  if (loss.is(Kind::choice) && depth < values::most_choices) {
    const auto* choice = loss.as<values::Choice>();
    const auto with = [&](symbolic::Cond side) { return where ? s.logical_and(where, side) : side; };
    judge_each(call, call.run.resolve(choice->yes), with(choice->condition), depth + 1);
    judge_each(call, call.run.resolve(choice->no), with(s.logical_not(choice->condition)), depth + 1);
  } else if (loss.is(Kind::tensor)) {
    judge_batch_of_losses(call, *loss.as<Tensor>()->now(), where);
  }
}
}  // namespace

Value backward_of_first(Call& call) {
  Value loss = call.run.resolve(call.at(0));
  if (loss.is(Kind::choice)) judge_each(call, loss, nullptr, 0);
  // One of several: whichever it is, gradients are there then.
  if (loss.is(Kind::choice) || loss.is(Kind::instance)) loss = call.run.heap().unseen("", call.place);
  if (loss.is(Kind::unknown) && interpreter::comes_from_unseen(*loss.as<values::Unknown>()))
    require_tensor(call.run, loss);
  if (loss.is(Kind::tensor) || loss.is(Kind::unknown)) call_row(call, loss, "torch.Tensor.backward");
  return Value::none();
}

symbolic::Answer is_given(Call& call, Value value) {
  using symbolic::Answer;
  if (!value) return Answer::no;
  value = call.run.resolve(value);
  switch (value.kind) {
  case Kind::none: return Answer::no;
  case Kind::instance: return value.as<Instance>()->symbolic ? Answer::unknown : Answer::yes;
  case Kind::dict: return Answer::yes;
  default: return Answer::unknown;
  }
}

namespace {
void hand_out(Call& call, Value value, int depth = 0) {
  value = call.run.resolve(value);
  if (value.is(Kind::list) && depth < values::deepest_data)
    for (const Value& item : std::vector(values::Heap::list_state(value)->items))
      hand_out(call, item, depth + 1);
  if (!value.is(Kind::instance)) return;
  auto* object = value.as<Instance>();
  interpreter::lose_set_by_methods(call.run.heap(), *object);
  if (object->cls && !object->symbolic && !object->attributes.find(interpreter::handed_out))
    call.run.heap().set(
        call.run.heap().slot_of(object->attributes, interpreter::handed_out), call.run.heap().boolean(true));
}
void hand_out_arguments(Call& call) {
  for (const auto* part : {&call.arguments, &call.rest})
    for (const Value& argument : *part) hand_out(call, argument);
  for (const auto& [name, argument] : call.options) hand_out(call, argument);
}
}  // namespace
Value trains(Call& call) {
  moves_modules(call);
  hand_out_arguments(call);
  return nothing(call);
}
Value evaluates(Call& call) {
  hand_out_arguments(call);
  return uniform(call);
}
Value predicts(Call& call) {
  hand_out_arguments(call);
  return unknown_of(call);
}
std::vector<Row> framework_rows() {
  struct Framework {
    std::vector<Row> (*rows)();
    bool leaves_loop = false, prepares_loaders = false;
  };
  constexpr Framework frameworks[] = {{accelerate_rows, true, true}, {lightning_rows},
      {fabric_rows, true, true}, {deepspeed_rows, true}, {timm_rows}, {apex_rows}, {metric_rows},
      {average_rows}, {dist_module_rows}, {trainer_rows}, {log_rows}, {pretrained_rows}, {schedule_rows},
      {summary_rows}};
  std::vector<Row> rows;
  for (const Framework& framework : frameworks)
    for (Row& each : framework.rows()) {
      each.leaves_loop = framework.leaves_loop && !runs_loop(each);
      each.prepares_loaders = framework.prepares_loaders;
      rows.push_back(std::move(each));
    }
  return rows;
}

void ArgumentChecks::tell(Call& call) const {
  for (const Misuse& misuse : found_) {
    // What the call made is poisoned by the last one: the others are no consequence of the first.
    const bool is_last = &misuse == &found_.back();
    Call told{call.run, *misuse.row, is_last ? call.self : Value{},
        is_last ? call.arguments : std::vector<Value>{}, {}, {}, {}, call.spread, call.expr, call.node,
        call.place};
    if (is_last) told.rest = call.rest, told.options = call.options;
    interpreter::ProblemEvent* event = call.run.problem(values::ProblemKind::argument, told);
    explain(*event, misuse.refusal);
    event->overridable = !misuse.is_certain;
    if (!call.expr) continue;
    for (const syntax::Keyword& each : call.expr->keywords)
      if (each.name.text() == misuse.name) event->place = {call.place.chunk, each.span};
  }
}

}  // namespace stepzero::libraries
