// torch.distributed.pipelining: stages, and the schedules that send from one to the next.
#include "torch/spread.hpp"
#include "values/kept.hpp"

#include <deque>

namespace stepzero::torch {

namespace {

// Stages of another group than the default one keep it.
Value made_stage(Call& call) {
  if (const Value group = call.run.resolve(call.at(6)); group && !group.is(Kind::none)) keep(call, values::GroupState::group, group);
  keep(call, "$stages", call.at(2));
  return {};
}
Value made_schedule(Call& call) {
  Value stage = call.run.resolve(call.at(0));
  if (const auto all = stage.is(Kind::list) || stage.is(Kind::tuple) ? call.run.elements(stage, call.place) : std::nullopt; all && !all->empty()) stage = call.run.resolve(all->front());
  // Of a stage that was made elsewhere the group is not known.
  const bool known = stage.is(Kind::instance) && stage.as<Instance>()->native && stage.as<Instance>()->native->path.ends_with(".PipelineStage") && !stage.as<Instance>()->symbolic;
  const Value group = known ? kept(call.run, *stage.as<Instance>(), values::GroupState::group) : call.run.heap().external("group", call.place);
  if (group) keep(call, values::GroupState::group, group);
  const Value stages = known ? kept(call.run, *stage.as<Instance>(), "$stages") : Value{};
  keep(call, "$alone", call.run.heap().boolean(stages && call.run.to_constant(stages) == 1));
  return {};
}
Value step(Call& call) {
  const Value alone = kept(call, "$alone");
  call.arguments[2] = call.run.heap().boolean(alone.is(Kind::boolean) && call.run.symbols().decide(alone.condition()) == Answer::no);
  return unknown_of(call);
}

const std::deque<Collective>& collectives() {
  static const std::deque<Collective> list = {
      {"torch.distributed.pipelining.$Schedule.step", "*arguments, target=None, losses=None, sends=None, **options", step,
       {.name = "the step of a pipeline", .hidden = true, .because = "each stage waits for what the stages before and after it send", .only_if = 2}, RowKind::method},
      {"torch.distributed.pipelining.$Schedule.eval", "*arguments, target=None, losses=None, sends=None, **options", step,
       {.name = "the evaluation of a pipeline", .hidden = true, .because = "each stage waits for what the stage before it sends", .only_if = 2}, RowKind::method},
  };
  return list;
}

} // namespace

std::vector<Row> pipeline_rows() {
  using enum RowKind;
  std::vector<Row> rows = {
      row("torch.distributed.pipelining.PipelineStage", class_, "submodule, stage_index, num_stages, device, input_args=None, output_args=None, group=None, **options", made_stage),
      row("torch.distributed.pipelining.$Schedule", class_, "*arguments, **options", nullptr),
  };
  for (const std::string_view path : {"torch.distributed.pipelining.ScheduleGPipe", "torch.distributed.pipelining.Schedule1F1B", "torch.distributed.pipelining.ScheduleInterleaved1F1B",
                                      "torch.distributed.pipelining.ScheduleLoopedBFS", "torch.distributed.pipelining.ScheduleInterleavedZeroBubble", "torch.distributed.pipelining.ScheduleZBVZeroBubble",
                                      "torch.distributed.pipelining.ScheduleDualPipeV"})
    rows.push_back(row(path, class_, "stages, n_microbatches, loss_fn=None, *more, **options", made_schedule, "torch.distributed.pipelining.$Schedule"));
  for (const Collective& collective : collectives()) rows.push_back(row_of(collective));
  return rows;
}

} // namespace stepzero::torch
