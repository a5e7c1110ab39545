// torch.distributed.pipelining: stages, and the schedules that send from one to the next.
#include "interpreter/record.hpp"
#include "libraries/torch/distributed/spread.hpp"
#include "values/kept.hpp"
#include "values/sent_by_stages.hpp"

#include <algorithm>
#include <sstream>

namespace stepzero::libraries {

void refuse_pipeline(Call& call, interpreter::Refusal refusal) {
  explain(*call.run.problem(ProblemKind::argument, call), std::move(refusal));
}

namespace {

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
  if (known) {
    if (const Value given = call.run.resolve(call.at(0)); given.is(Kind::instance))
      call.run.set_attribute(call.self, Name("_stage"), stage);
    else
      call.run.set_attribute(call.self, Name("_stages"), given);
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
}  // namespace
Value received_of_stage(
    Call& call, Shape shape, Dtype dtype, const values::Device* device, bool has_gradient) {
  TensorState sent;
  sent.shape = std::move(shape);
  sent.dtype = dtype;
  sent.device = device;
  sent.sharing = Sharing::divergent;
  sent.requires_grad = has_gradient && values::is_floating(dtype) ? Known::yes : Known::no;
  sent.graph_complete = true;
  return call.run.heap().tensor(std::move(sent), call.place);
}
namespace {
// Tensors of sizes that are numbers.
void note_sent(Call& call, std::int64_t stage, Value result) {
  auto& conditions = call.run.record().conditions;
  if (!conditions.contains(values::RecordCondition::counted)) return;
  std::string name = values::SentByStages::sent(stage);
  // The stage after is made for what the first batch brings.
  if (const auto found = conditions.lower_bound(name);
      found != conditions.end() && found->first.starts_with(name))
    return;
  const std::vector<Value> all = result.is(Kind::tuple) ? result.as<values::Tuple>()->items
                                                        : std::vector<Value>{result};
  for (const Value& each : all) {
    const TensorState* state = tensor_state(call.run, call.run.resolve(each));
    if (!state || !state->shape.ndim_known || state->dtype == Dtype::unknown) return;
    name += std::to_string(static_cast<int>(state->dtype)) +
        (state->requires_grad == Known::no ? " 0" : " 1");
    for (const values::Dim& dim : state->shape.dims) {
      const auto size = dim.size ? call.run.symbols().value(dim.size) : std::nullopt;
      if (!size) return;
      name += " " + std::to_string(*size);
    }
    name += ";";
  }
  conditions.emplace(std::move(name), call.run.symbols().boolean(true));
}
std::optional<interpreter::Arguments> sent_by(Call& call, std::int64_t stage) {
  auto& conditions = call.run.record().conditions;
  if (!conditions.contains(values::RecordCondition::counted)) return std::nullopt;
  const std::string name = values::SentByStages::sent(stage);
  const auto found = conditions.lower_bound(name);
  if (found == conditions.end() || !found->first.starts_with(name)) {
    conditions.emplace(values::SentByStages::asked + std::to_string(stage), call.run.symbols().boolean(true));
    return std::nullopt;
  }
  interpreter::Arguments given;
  std::istringstream tensors(found->first.substr(name.size()));
  for (std::string text; std::getline(tensors, text, ';');) {
    std::istringstream words(text);
    int dtype = 0, has_gradient = 0;
    words >> dtype >> has_gradient;
    Shape shape{true, {}};
    for (std::int64_t size = 0; words >> size;)
      shape.dims.push_back({call.run.symbols().constant(size), nullptr, nullptr});
    given.positional.push_back(
        received_of_stage(call, std::move(shape), static_cast<Dtype>(dtype), nullptr, has_gradient != 0));
  }
  return given;
}
// What a stage is given of a microbatch: its part of the batch, or what the stage before sends, whose
// gradient it sends back. Nullopt: not known.
std::optional<interpreter::Arguments> given_to_stage(Call& call, Value stage, std::int64_t at, Value parts) {
  interpreter::Arguments given;
  if (at == 0) {
    if (call.rest.empty() || !call.options.empty()) return std::nullopt;
    for (const Value& each : call.rest) {
      const Value part = first_of_parts(call, each, parts);
      if (!part) return std::nullopt;
      given.positional.push_back(part);
    }
    return given;
  }
  const Value inputs = attribute_of(call, stage, "inputs_meta");
  if (!inputs.is(Kind::tuple)) return sent_by(call, at - 1);
  for (const Value& each : inputs.as<values::Tuple>()->items) {
    const TensorState* like = tensor_state(call.run, call.run.resolve(each));
    if (!like) return std::nullopt;
    given.positional.push_back(received_of_stage(call, like->shape, like->dtype, like->device, true));
  }
  return given;
}
// What a stage does with each microbatch, once: its forward and, where there is a loss, its backward. False:
// not known.
bool run_stage(Call& call, Value stage, Value loss_of, Value parts) {
  const Value pipe = attribute_of(call, stage, "_pipe");
  const Value module = attribute_of(call, stage, "submod");
  const auto index = attribute_of(call, stage, "stage_index"),
             count = attribute_of(call, stage, "num_stages");
  const auto at = index ? call.run.to_constant(index) : std::nullopt,
             stages = count ? call.run.to_constant(count) : std::nullopt;
  if (!module || !loss_of || !at || !stages || *at < 0 || *at >= *stages) return false;
  Value result;
  if (pipe) {
    result = result_of_stage(call, pipe, static_cast<std::size_t>(*at));
  } else {
    auto given = given_to_stage(call, stage, *at, parts);
    if (!given) return false;
    result = call.run.resolve(call.run.call(module, std::move(*given), call.place));
  }
  interpreter::Arguments gradient;
  if (*at + 1 == *stages) {
    const Value target = call.at(0) ? first_of_parts(call, call.at(0), parts) : Value{};
    if (!target) return false;
    result = call.run.resolve(call.run.call(loss_of, {{result, target}, {}, false}, call.place));
  } else {
    note_sent(call, *at, result);
    if (result.is(Kind::tuple) && !result.as<values::Tuple>()->items.empty())
      result = call.run.resolve(result.as<values::Tuple>()->items.front());
    // The next stage sends it.
    if (result.is(Kind::tensor))
      gradient.positional.push_back(
          call.run.call(call.run.library_symbol("torch.zeros_like"), {{result}, {}, false}, call.place));
  }
  if (!result.is(Kind::tensor)) return false;
  auto* backward = call.run.heap().make<values::Bound>();
  backward->self = result;
  backward->function = call.run.library_symbol("torch.Tensor.backward");
  call.run.call(Value::of(Kind::bound, backward), std::move(gradient), call.place);
  return true;
}
void run_microbatch(Call& call) {
  const Value parts = kept(call, values::PipelineState::microbatches),
              loss_of = attribute_of(call, call.self, "_loss_fn"),
              several = attribute_of(call, call.self, "_stages");
  if (!positive(call, parts)) return;
  if (!several) {
    run_stage(call, attribute_of(call, call.self, "_stage"), loss_of, parts);
    return;
  }
  const auto stages = call.run.elements(several, call.place);
  if (stages)
    for (const Value& each : *stages)
      if (!run_stage(call, call.run.resolve(each), loss_of, parts)) return;
}
template <bool trains> Value step(Call& call) {
  judge_batch(call);
  if (trains) run_microbatch(call);
  const Value alone = kept(call, values::PipelineState::alone);
  call.arguments[2] = call.run.heap().boolean(
      alone.is(Kind::boolean) && call.run.symbols().decide(alone.condition()) == Answer::no);
  return unknown_of(call);
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
  for (Row& traced : traced_pipeline_rows()) rows.push_back(std::move(traced));
  for (const Collective& collective : pipeline_collectives) rows.push_back(row_of(collective));
  return rows;
}

}  // namespace stepzero::libraries
