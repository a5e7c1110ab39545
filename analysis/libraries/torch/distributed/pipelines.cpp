// torch.distributed.pipelining: stages, and the schedules that send from one to the next.
#include "libraries/torch/distributed/spread.hpp"
#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::libraries {

namespace {

void refuse_pipeline(Call& call, interpreter::Refusal refusal) {
  explain(*call.run.problem(ProblemKind::argument, call), std::move(refusal));
}
std::optional<std::int64_t> positive(Call& call, Value value) {
  const auto known = value ? call.run.to_constant(call.run.resolve(value)) : std::nullopt;
  return known && *known > 0 ? known : std::nullopt;
}

// Stages of another group than the default one keep it.
Value made_stage(Call& call) {
  if (const Value group = call.run.resolve(call.at(6)); group && !group.is(Kind::none))
    keep(call, values::GroupState::group, group);
  keep(call, values::PipelineState::stages, call.at(2));
  constexpr std::string_view attributes[] = {"submod", "stage_index", "num_stages"};
  for (std::size_t i = 0; i < std::size(attributes); ++i)
    if (const Value value = call.at(static_cast<int>(i)))
      call.run.set_attribute(call.self, Name(attributes[i]), call.run.resolve(value));
  // Of one microbatch: where they are given, nothing is asked of the stage before.
  if (const Value inputs = call.run.resolve(call.at(4)); inputs.is(Kind::tensor) || inputs.is(Kind::tuple))
    call.run.set_attribute(
        call.self, Name("inputs_meta"), inputs.is(Kind::tuple) ? inputs : call.run.heap().tuple({inputs}));
  const auto index = call.run.to_constant(call.run.resolve(call.at(1))),
             count = call.run.to_constant(call.run.resolve(call.at(2)));
  if (index && count && *index >= *count) refuse_pipeline(call, why<Reason::no_such_stage>(*count, *index));
  return {};
}
// These have one stage on each rank, and a step whose forward and backward of a microbatch are those of its
// module.
constexpr std::string_view of_one_stage[] = {
    "torch.distributed.pipelining.ScheduleGPipe", "torch.distributed.pipelining.Schedule1F1B"};
// These schedules fill the pipeline before the first backward.
constexpr std::string_view fills_pipeline[] = {
    "torch.distributed.pipelining.Schedule1F1B", "torch.distributed.pipelining.ScheduleDualPipeV"};

Value made_schedule(Call& call) {
  Value stage = call.run.resolve(call.at(0));
  if (const auto all = stage.is(Kind::list) || stage.is(Kind::tuple) ? call.run.elements(stage, call.place)
                                                                     : std::nullopt;
      all && !all->empty())
    stage = call.run.resolve(all->front());
  // Of a stage that was made elsewhere the group is not known.
  const bool known = stage.is(Kind::instance) && stage.as<Instance>()->native &&
      stage.as<Instance>()->native->path.ends_with(".PipelineStage") && !stage.as<Instance>()->symbolic;
  const Value group = known ? kept(call.run, *stage.as<Instance>(), values::GroupState::group)
                            : call.run.heap().unseen("group", call.place);
  if (group) keep(call, values::GroupState::group, group);
  const Value stages = known ? kept(call.run, *stage.as<Instance>(), values::PipelineState::stages) : Value{};
  keep(call, values::PipelineState::microbatches, call.at(1));
  if (known && std::ranges::find(of_one_stage, call.row.path) != std::end(of_one_stage)) {
    call.run.set_attribute(call.self, Name("_stage"), stage);
    if (const Value loss = call.run.resolve(call.at(2)); loss && !loss.is(Kind::none))
      call.run.set_attribute(call.self, Name("_loss_fn"), loss);
  }
  const auto parts = positive(call, call.at(1)), count = positive(call, stages);
  if (parts && count && *parts < *count &&
      std::ranges::find(fills_pipeline, call.row.path) != std::end(fills_pipeline))
    refuse_pipeline(call,
        why<Reason::microbatches_few>(call.row.path.substr(call.row.path.rfind('.') + 1), *parts, *count));
  keep(call, values::PipelineState::alone,
      call.run.heap().boolean(stages && call.run.to_constant(stages) == 1));
  return {};
}
// Each argument is parted into the microbatches along its first dimension.
void judge_batch(Call& call) {
  const auto parts = positive(call, kept(call, values::PipelineState::microbatches));
  std::vector<Value> given = call.rest;
  given.push_back(call.at(0));
  for (const Value& each : given) {
    const TensorState* state = each ? tensor_state(call.run, call.run.resolve(each)) : nullptr;
    const Int size = state && state->shape.ndim_known && !state->shape.dims.empty()
        ? state->shape.dims.front().size
        : nullptr;
    if (!parts || !size ||
        call.run.symbols().decide(call.run.symbols().compared(
            symbolic::Compare::lt, size, call.run.symbols().constant(*parts))) != symbolic::Answer::yes)
      continue;
    return refuse_pipeline(call, why<Reason::batch_for_microbatches>(values::Dim{size}, *parts));
  }
}

Value attribute_of(Call& call, Value object, std::string_view name) {
  const Value found = object ? call.run.attribute_or_none(object, Name(name), call.place) : Value{};
  return found ? call.run.resolve(found) : Value{};
}
Value first_of_parts(Call& call, Value given, Value parts) {
  given = call.run.resolve(given);
  if (!given.is(Kind::tensor)) return given;
  const Value all = call.run.call(
      call.run.library_symbol("torch.tensor_split"), {{given, parts}, {}, false}, call.place);
  const auto each = call.run.elements(all, call.place);
  return each && !each->empty() ? each->front() : Value{};
}
// What a stage is given of a microbatch: its part of the batch, or what the stage before sends, whose
// gradient it sends back. Nullopt: not known.
std::optional<interpreter::Arguments> given_to_stage(Call& call, Value stage, bool is_first, Value parts) {
  interpreter::Arguments given;
  if (is_first) {
    if (call.rest.empty() || !call.options.empty()) return std::nullopt;
    for (const Value& each : call.rest) {
      const Value part = first_of_parts(call, each, parts);
      if (!part) return std::nullopt;
      given.positional.push_back(part);
    }
    return given;
  }
  const Value inputs = attribute_of(call, stage, "inputs_meta");
  if (!inputs.is(Kind::tuple)) return std::nullopt;
  for (const Value& each : inputs.as<values::Tuple>()->items) {
    const TensorState* like = tensor_state(call.run, call.run.resolve(each));
    if (!like) return std::nullopt;
    TensorState sent;
    sent.shape = like->shape;
    sent.dtype = like->dtype;
    sent.device = like->device;
    sent.sharing = Sharing::divergent;
    sent.requires_grad = values::is_floating(like->dtype) ? Known::yes : Known::no;
    sent.graph_complete = true;
    given.positional.push_back(call.run.heap().tensor(std::move(sent), call.place));
  }
  return given;
}
// What a stage does with each microbatch, once: its forward and, where there is a loss, its backward.
void run_microbatch(Call& call) {
  const Value stage = attribute_of(call, call.self, "_stage"),
              loss_of = attribute_of(call, call.self, "_loss_fn");
  const Value module = attribute_of(call, stage, "submod"),
              parts = kept(call, values::PipelineState::microbatches);
  const auto index = attribute_of(call, stage, "stage_index"),
             count = attribute_of(call, stage, "num_stages");
  const auto at = index ? call.run.to_constant(index) : std::nullopt,
             stages = count ? call.run.to_constant(count) : std::nullopt;
  if (!module || !loss_of || !at || !stages || *at < 0 || *at >= *stages || !positive(call, parts)) return;
  auto given = given_to_stage(call, stage, *at == 0, parts);
  if (!given) return;
  Value result = call.run.resolve(call.run.call(module, std::move(*given), call.place));
  interpreter::Arguments gradient;
  if (*at + 1 == *stages) {
    const Value target = call.at(0) ? first_of_parts(call, call.at(0), parts) : Value{};
    if (!target) return;
    result = call.run.resolve(call.run.call(loss_of, {{result, target}, {}, false}, call.place));
  } else if (result.is(Kind::tensor)) {
    // The next stage sends it.
    gradient.positional.push_back(
        call.run.call(call.run.library_symbol("torch.zeros_like"), {{result}, {}, false}, call.place));
  }
  if (!result.is(Kind::tensor)) return;
  auto* backward = call.run.heap().make<values::Bound>();
  backward->self = result;
  backward->function = call.run.library_symbol("torch.Tensor.backward");
  call.run.call(Value::of(Kind::bound, backward), std::move(gradient), call.place);
}
template <bool trains> Value step(Call& call) {
  judge_batch(call);
  if (trains) run_microbatch(call);
  const Value alone = kept(call, values::PipelineState::alone);
  call.arguments[2] = call.run.heap().boolean(
      alone.is(Kind::boolean) && call.run.symbols().decide(alone.condition()) == Answer::no);
  return unknown_of(call);
}

// pipeline(module, mb_args, mb_kwargs, split_spec, split_policy): the module is traced, and cut at the
// submodules that are named.
Value traced(Call& call) {
  Instance* pipe = call.run.make_native("torch.distributed.pipelining.Pipe", call.place);
  pipe->open = true;
  const Value module = call.run.resolve(call.at(0)), cuts = call.run.resolve(call.at(3));
  if (!cuts.is(Kind::dict) || values::Heap::dict_state(cuts)->open) return Value::of(Kind::instance, pipe);
  const auto& items = values::Heap::dict_state(cuts)->items;
  keep(call.run, *pipe, values::PipelineState::stages,
      call.run.heap().integer(static_cast<std::int64_t>(items.size() + 1)));
  const Instance* object = module.is(Kind::instance) ? module.as<Instance>() : nullptr;
  if (!object || !object->cls || object->cls->open || object->open || object->symbolic)
    return Value::of(Kind::instance, pipe);
  for (const auto& [key, value] : std::vector(items)) {
    if (!key.is(Kind::string)) continue;
    const std::string_view first = key.text().substr(0, key.text().find('.'));
    if (call.run.attribute_or_none(module, Name(first), call.place)) continue;
    refuse_pipeline(call, why<Reason::split_of_module>(key.text(), first));
    break;
  }
  return Value::of(Kind::instance, pipe);
}
Value built_stage(Call& call) {
  Instance* stage = call.run.make_native("torch.distributed.pipelining.PipelineStage", call.place);
  stage->open = true;
  const Value stages = kept(call, values::PipelineState::stages);
  if (stages) keep(call.run, *stage, values::PipelineState::stages, stages);
  if (const Value group = call.run.resolve(call.at(2)); group && !group.is(Kind::none))
    keep(call.run, *stage, values::GroupState::group, group);
  return Value::of(Kind::instance, stage);
}

constexpr Collective pipeline_collectives[] = {
    {"torch.distributed.pipelining.$Schedule.step",
        "*arguments, target=None, losses=None, sends=None, **options", step<true>,
        {.name = "the step of a pipeline",
            .hidden = true,
            .because = "each stage waits for what the stages before and after it send",
            .only_if = 2},
        RowKind::method},
    {"torch.distributed.pipelining.$Schedule.eval",
        "*arguments, target=None, losses=None, sends=None, **options", step<false>,
        {.name = "the evaluation of a pipeline",
            .hidden = true,
            .because = "each stage waits for what the stage before it sends",
            .only_if = 2},
        RowKind::method},
};

}  // namespace

std::vector<Row> pipeline_rows() {
  using enum RowKind;
  std::vector<Row> rows = {
      row("torch.distributed.pipelining.PipelineStage", class_,
          "submodule, stage_index, num_stages, device, input_args=None, output_args=None, group=None, **options",
          made_stage),
      row("torch.distributed.pipelining.pipeline", function,
          "module, mb_args, mb_kwargs=None, split_spec=None, split_policy=None", traced),
      row("torch.distributed.pipelining.Pipe", class_, "*arguments, **options", nullptr),
      row("torch.distributed.pipelining.Pipe.build_stage", method, "stage_index, device, group=None",
          built_stage),
      row("torch.distributed.pipelining.$Schedule", class_, "*arguments, **options", nullptr),
  };
  for (const std::string_view path :
      {"torch.distributed.pipelining.ScheduleGPipe", "torch.distributed.pipelining.Schedule1F1B",
          "torch.distributed.pipelining.ScheduleInterleaved1F1B",
          "torch.distributed.pipelining.ScheduleLoopedBFS",
          "torch.distributed.pipelining.ScheduleInterleavedZeroBubble",
          "torch.distributed.pipelining.ScheduleZBVZeroBubble",
          "torch.distributed.pipelining.ScheduleDualPipeV"})
    rows.push_back(row(path, class_, "stages, n_microbatches, loss_fn=None, *more, **options", made_schedule,
        "torch.distributed.pipelining.$Schedule"));
  for (const Collective& collective : pipeline_collectives) rows.push_back(row_of(collective));
  return rows;
}

}  // namespace stepzero::libraries
