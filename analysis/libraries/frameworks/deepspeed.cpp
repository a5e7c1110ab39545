// DeepSpeed. Read in the source of 0.19 and asked: tests/frameworks.
#include "interpreter/launch.hpp"
#include "libraries/frameworks/frameworks.hpp"
#include "libraries/torch/distributed/wrapping.hpp"
#include "libraries/torch/nn/modules.hpp"
#include "values/kept.hpp"
#include "values/limits.hpp"

#include <algorithm>

namespace stepzero::libraries {

using symbolic::Role;

namespace {

// An item of a dict that the program wrote; absent if it is not known.
Value value_under(Call& call, Value dict, std::string_view wanted) {
  dict = call.run.resolve(dict);
  if (!dict.is(Kind::dict)) return {};
  for (const auto& [key, value] : values::Heap::dict_state(dict)->items)
    if (key.is(Kind::string) && key.text() == wanted) return value;
  return {};
}
// `args.deepspeed_config`, as a known launch gives it.
Value named_by_arguments(Call& call) {
  const Value arguments = option(call, "args");
  const Instance* parsed = arguments.is(Kind::instance) ? arguments.as<Instance>() : nullptr;
  const values::Slot* slot = parsed && call.run.launch() ? parsed->attributes.find(Name("deepspeed_config"))
                                                         : nullptr;
  return slot ? call.run.resolve(slot->value) : Value{};
}
// What the engine is configured with: a dict, or the file that is named, where the run can see it.
Value configuration(Call& call) {
  for (const Value& given :
      {option(call, "config"), option(call, "config_params"), named_by_arguments(call)}) {
    if (given.is(Kind::dict)) return given;
    if (given.is(Kind::string)) return call.run.data_of_file(given.text(), program::DataFormat::json);
  }
  return {};
}
// deepspeed.add_config_arguments(parser): two more options, and the parser itself.
Value adds_arguments(Call& call) {
  const Value parser = call.run.resolve(call.at(0));
  // Without a launch nobody says what they are: programs choose their way to train by them.
  if (!parser.is(Kind::instance) || !call.run.launch()) return unknown_of(call);
  const auto add = [&](std::string_view flag, std::vector<std::pair<Name, Value>> options) {
    interpreter::Arguments given;
    given.positional.push_back(call.run.heap().string(flag));
    given.keywords = std::move(options);
    call.run.call(call.run.attribute(parser, Name("add_argument"), call.place), std::move(given), call.place);
  };
  add("--deepspeed",
      {{Name("default"), call.run.heap().boolean(false)},
          {Name("action"), call.run.heap().string("store_true")}});
  add("--deepspeed_config", {{Name("default"), Value::none()}});
  return parser;
}
// It takes one configuration, and asserts that it is given one.
void judge_count(Call& call) {
  if (call.spread) return;
  const Value named = named_by_arguments(call);
  const auto is_given = [&](std::string_view name) {
    const Value given = option(call, name);
    return given.is(Kind::dict) || given.is(Kind::string);
  };
  const auto is_missing = [&](std::string_view name) {
    const Value given = option(call, name);
    return !given || given.is(Kind::none);
  };
  if (named.is(Kind::string) && (is_given("config") || is_given("config_params")))
    explain(*call.run.problem(values::ProblemKind::argument, call),
        why<Reason::two_configurations>(named.text()));
  else if (named.is(Kind::none) && is_missing("config") && is_missing("config_params") &&
      call.rest.size() < 8)
    explain(*call.run.problem(values::ProblemKind::argument, call), why<Reason::no_configuration>());
}
// Is it there on some ways only, such as the precision that an option chooses?
bool is_somewhere(Call& call, Value value) {
  if (!value) return true;
  if (!value.is(Kind::choice)) return false;
  const auto* choice = value.as<values::Choice>();
  const symbolic::Answer known = call.run.symbols().decide(choice->condition);
  return (known != symbolic::Answer::no && is_somewhere(call, choice->yes)) ||
      (known != symbolic::Answer::yes && is_somewhere(call, choice->no));
}
// The dict as it is now, for who reads the record later: a program may fill it in again. Of what stands in it
// on some ways only the value is not known.
Value as_it_is(Call& call, Value dict, int depth = 0) {
  dict = call.run.resolve(dict);
  if (!dict.is(Kind::dict) || depth > values::deepest_data) return dict;
  const values::DictState state = *values::Heap::dict_state(dict);
  std::vector<std::pair<Value, Value>> items;
  items.reserve(state.items.size());
  for (const auto& [key, value] : state.items)
    items.emplace_back(key,
        is_somewhere(call, value) ? call.run.heap().unseen("", call.place)
                                  : as_it_is(call, value, depth + 1));
  const Value made = call.run.heap().dict(std::move(items), state.open, state.rest);
  made.object()->born = dict.object()->born;
  return made;
}
// Are all processes of the launch data-parallel? What parts the model itself is handed over, or stands in the
// configuration.
bool is_data_parallel(Call& call, Value configured) {
  for (const std::string_view name : {"mpu", "mesh_param", "distributed_port"})
    if (const Value given = option(call, name); given && !given.is(Kind::none)) return false;
  for (const std::string_view key : {"tensor_parallel", "sequence_parallel_size", "data_parallel_size",
           "pipeline", "autotuning", "elasticity"})
    if (value_under(call, configured, key)) return false;
  const Value model = option(call, "model");
  return !call.spread && model.is(Kind::instance) && call.run.is_a(model, "torch.nn.Module");
}
// What rules of the configuration read: the dict, where the program handed one over, and the processes of a
// known launch.
void keep_configuration(Call& call, Instance& engine, Value configured) {
  if (!configured.is(Kind::dict)) return;
  const bool by_program = option(call, "config").is(Kind::dict) ||
      option(call, "config_params").is(Kind::dict);
  keep(call.run, engine, values::EngineState::config, as_it_is(call, configured));
  if (by_program) keep(call.run, engine, values::EngineState::by_program, call.run.heap().boolean(true));
  const interpreter::Launch* launch = call.run.launch();
  if (launch && launch->world && is_data_parallel(call, configured))
    keep(call.run, engine, values::EngineState::processes, call.run.heap().integer(*launch->world));
}
// Is there surely no optimizer, neither handed over nor in the configuration?
bool has_no_optimizer(Call& call, Value configured) {
  if (call.spread || call.rest.size() > 2 || !configured.is(Kind::dict)) return false;
  const Value given = option(call, "optimizer");
  if (given && !given.is(Kind::none)) return false;
  const values::DictState& state = *values::Heap::dict_state(configured);
  return !state.open && std::none_of(state.items.begin(), state.items.end(), [](const auto& item) {
    return !item.first.is(Kind::string) || item.first.text() == "optimizer";
  });
}
// The engine converts the model to the precision that it is configured for, norms and buffers as well.
void convert(Call& call, Value model, Value configured) {
  const auto asked = [&](std::string_view section) {
    const Value table = value_under(call, configured, section);
    if (!table) return symbolic::Answer::no;
    const Value enabled = value_under(call, table, "enabled");
    if (!enabled) return table.is(Kind::dict) ? symbolic::Answer::no : symbolic::Answer::unknown;
    return enabled.is(Kind::string) ? symbolic::Answer::unknown
                                    : call.run.symbols().decide(call.run.truth(enabled));
  };
  configured = call.run.resolve(configured);
  const bool is_seen = configured.is(Kind::dict) && !values::Heap::dict_state(configured)->open &&
      !value_under(call, configured, "torch_autocast") && !value_under(call, configured, "amp") &&
      !value_under(call, value_under(call, configured, "fp16"), "auto_cast") &&
      !value_under(call, configured, "data_types");
  const symbolic::Answer half = asked("fp16"),
                         brain = value_under(call, configured, "bfloat16") ? asked("bfloat16")
                                                                           : asked("bf16");
  if (is_seen && half == symbolic::Answer::yes && brain == symbolic::Answer::no)
    call_row(call, model, "torch.nn.Module.$in_float16");
  else if (is_seen && brain == symbolic::Answer::yes && half == symbolic::Answer::no)
    call_row(call, model, "torch.nn.Module.$in_bfloat16");
  else if (!is_seen || half != symbolic::Answer::no || brain != symbolic::Answer::no)
    lose_dtypes(call.run, model);
}
Value engine_optimizer(Call& call) {
  keep(call, values::OptimizerState::parameters, call.at(0));
  return {};
}
// The engine keeps its optimizer in `$optimizer`: the one that was given, or one that the configuration makes
// of the parameters.
Value deepspeed_initialize(Call& call) {
  moves_modules(call);
  // Of ZeRO-3 the forward communicates, too.
  std::optional<std::int64_t> stage;
  std::optional<bool> saves_whole;
  judge_count(call);
  const Value configured = configuration(call);
  if (const Value zero = value_under(call, configured, "zero_optimization")) {
    if (const Value given = value_under(call, zero, "stage")) stage = call.run.to_constant(given);
    const Value whole = value_under(call, zero, "stage3_gather_16bit_weights_on_model_save");
    if (!whole)
      saves_whole = false;
    else if (const auto known = call.run.symbols().decide(call.run.truth(whole));
        known != symbolic::Answer::unknown)
      saves_whole = known == symbolic::Answer::yes;
  }
  Instance* engine = call.run.make_native(
      stage == 3 ? "deepspeed.$ZeroThreeEngine" : "deepspeed.DeepSpeedEngine", call.place);
  engine->open = true;
  if (stage)
    keep(call.run, *engine, values::EngineState::stage, Value::of(call.run.symbols().constant(*stage)));
  if (saves_whole)
    keep(call.run, *engine, values::EngineState::saves_whole, call.run.heap().boolean(*saves_whole));
  keep_configuration(call, *engine, configured);
  if (has_no_optimizer(call, configured))
    keep(call.run, *engine, values::EngineState::no_optimizer, call.run.heap().boolean(true));
  if (const Value model = option(call, "model"); model.is(Kind::instance)) {
    keep(call.run, *engine, values::EngineState::model, model);
    keep(call.run, *model.as<Instance>(), values::EngineState::engine, Value::of(Kind::instance, engine));
    if (call.run.is_a(model, "torch.nn.Module")) {
      // Of an engine that is one of several ways to train, such as backends that a program chooses from, it
      // is not known which one runs the model.
      const bool is_only = !call.run.assumption();
      if (is_only)
        convert(call, model, configured);
      else
        lose_dtypes(call.run, model);
      if (stage != 3 && is_only)
        call.run.set_attribute(Value::of(Kind::instance, engine), Name("module"), model);
    }
  }
  Value optimizer = option(call, "optimizer");
  if (!optimizer || optimizer.is(Kind::none)) {
    interpreter::Arguments given;
    const Value parameters = option(call, "model_parameters");
    given.positional.push_back(parameters ? parameters : call.run.heap().unseen("", call.place));
    optimizer = call.run.call(call.run.library_symbol("deepspeed.$Optimizer"), std::move(given), call.place);
  }
  if (optimizer.is(Kind::instance) && call.run.is_a(optimizer, "torch.optim.Optimizer")) {
    keep(call.run, *engine, values::OptimizerState::optimizer, optimizer);
    keep(call.run, *optimizer.as<Instance>(), values::EngineState::engine, Value::of(Kind::instance, engine));
  }
  return call.run.heap().tuple({Value::of(Kind::instance, engine), optimizer,
      call.run.heap().unseen("loader", call.place), call.run.heap().unseen("scheduler", call.place)});
}
// Does the engine shard the parameters? Open where its configuration is not seen.
Value shards(const Call& call) {
  const Value stage = kept(call, values::EngineState::stage);
  return stage ? call.run.heap().boolean(call.run.to_constant(stage) == 3)
               : call.run.heap().unseen("sharded", call.place);
}
// The layers of the model gather their parameters, whoever calls them.
Value sharded_module(Call& call) {
  if (const Value known = kept(call, values::EngineState::module)) return known;
  Instance* module = call.run.make_native("deepspeed.$ZeroThreeModule", call.place);
  module->open = true;
  keep(call, values::EngineState::module, Value::of(Kind::instance, module));
  keep(call.run, *module, values::EngineState::engine, call.self);
  return Value::of(Kind::instance, module);
}
// Inside its forward each layer has its parameters whole. Called by the engine, or by what it wraps.
Value sharded_forward(Call& call) {
  const Value engine = kept(call, values::EngineState::engine),
              model = engine.is(Kind::instance)
      ? kept(call.run, *engine.as<Instance>(), values::EngineState::model)
      : kept(call, values::EngineState::model);
  if (!model.is(Kind::instance) || !call.run.is_a(model, "torch.nn.Module")) return nothing_learned(call);
  return call.run.call(model, arguments_of(call), call.place, call.expr);
}
Value engine_loads(Call& call) {
  call.arguments.back() = shards(call);
  return uniform(call);
}
Value engine_saves_whole(Call& call) {
  const Value whole = kept(call, values::EngineState::saves_whole);
  call.arguments.back() = whole && call.run.symbols().decide(call.run.truth(whole)) == symbolic::Answer::no
      ? whole
      : shards(call);
  return Value::none();
}
// The engine divides by the accumulation steps and scales.
Value engine_backward(Call& call) {
  return kept(call, values::OptimizerState::optimizer) ? backward_of_first(call) : Value::none();
}
// It steps where the accumulation is complete, and clears: to the loop as if each round did both.
Value engine_step(Call& call) {
  if (const Value optimizer = kept(call, values::OptimizerState::optimizer)) {
    call_row(call, optimizer, "torch.optim.Optimizer.step");
    call_row(call, optimizer, "torch.optim.Optimizer.zero_grad");
  }
  return Value::none();
}
// train() and eval() of the engine are those of its model.
template <bool trains> Value engine_train(Call& call) {
  const Value module = kept(call, values::EngineState::model);
  if (!module.is(Kind::instance) || !call.run.is_a(module, "torch.nn.Module")) return call.self;
  interpreter::Arguments given;
  if (trains && call.at(0)) given.positional.push_back(call.at(0));
  call.run.call(
      call.run.attribute(module, Name(trains ? "train" : "eval"), call.place), std::move(given), call.place);
  return call.self;
}
Value engine_zero_grad(Call& call) {
  if (const Value optimizer = kept(call, values::OptimizerState::optimizer))
    call_row(call, optimizer, "torch.optim.Optimizer.zero_grad");
  return Value::none();
}

constexpr std::string_view train_batch = "deepspeed.DeepSpeedEngine.train_batch",
                           eval_batch = "deepspeed.DeepSpeedEngine.eval_batch";
constexpr std::string_view parts_of_state = "under ZeRO the ranks hold parts of it, and send them";

constexpr Hidden deepspeed_hidden[] = {
    {"deepspeed.initialize", "*arguments, **options", deepspeed_initialize,
        {.name = "deepspeed.initialize",
            .hidden = true,
            .because = "it broadcasts the parameters to all ranks"},
        RowKind::function, Operation::framework},
    {"deepspeed.DeepSpeedEngine.backward", "loss, *more, **options", engine_backward,
        {.name = "engine.backward", .hidden = true, .because = "it reduces the gradients of all ranks"},
        RowKind::method, Operation::framework},
    {"deepspeed.DeepSpeedEngine.save_checkpoint", "save_dir, tag=None, *more, **options", nothing,
        {.name = "save_checkpoint", .hidden = true, .because = holds_parts}},
    {"deepspeed.DeepSpeedEngine.load_checkpoint", "load_dir, tag=None, *more, meets=False, **options",
        engine_loads,
        {.name = "load_checkpoint",
            .hidden = true,
            .because = "under ZeRO-3 the parameters are gathered from all ranks",
            .when = values::When::sharded,
            .only_if = 2}},
    {"deepspeed.DeepSpeedEngine.save_16bit_model", "save_dir, *more, meets=False, **options",
        engine_saves_whole,
        {.name = "save_16bit_model",
            .hidden = true,
            .because = "under ZeRO-3 the parameters are gathered from all ranks",
            .when = values::When::sharded,
            .only_if = 1}},
    {"deepspeed.DeepSpeedEngine.save_fp16_model", "save_dir, *more, meets=False, **options",
        engine_saves_whole,
        {.name = "save_fp16_model",
            .hidden = true,
            .because = "under ZeRO-3 the parameters are gathered from all ranks",
            .when = values::When::sharded,
            .only_if = 1}},
    {train_batch, "data_iter=None", uniform,
        {.name = "engine.train_batch",
            .hidden = true,
            .because = "the stages of the pipeline send to each other"},
        RowKind::method, Operation::framework},
    {eval_batch, "data_iter, *more, **options", uniform,
        {.name = "engine.eval_batch",
            .hidden = true,
            .because = "the stages of the pipeline send to each other"},
        RowKind::method, Operation::framework},
    {"deepspeed.$ZeroThreeEngine.__call__", "*arguments, **options", sharded_forward,
        {.name = "the forward of a ZeRO-3 engine",
            .hidden = true,
            .because = "the parameters of each layer are gathered from all ranks"},
        RowKind::method, Operation::framework},
    {"deepspeed.$ZeroThreeModule.forward", "*arguments, **options", sharded_forward,
        {.name = "the forward of a ZeRO-3 module",
            .hidden = true,
            .because = "the parameters of each layer are gathered from all ranks"}},
    {"deepspeed.zero.GatheredParameters", "params, modifier_rank=None, *more, **options", context,
        {.name = "GatheredParameters",
            .hidden = true,
            .because = "under ZeRO-3 every rank sends its part of the parameters",
            .when = values::When::sharded},
        RowKind::function},
    {"deepspeed.DeepSpeedEngine.allreduce_gradients", "*arguments, **options", nothing,
        {.name = "engine.allreduce_gradients",
            .hidden = true,
            .because = "it reduces the gradients of all ranks",
            .reduces = true}},
    {"deepspeed.utils.safe_get_full_fp32_param", "param", uniform,
        {.name = "safe_get_full_fp32_param",
            .hidden = true,
            .because = parts_of_state,
            .when = values::When::sharded},
        RowKind::function},
    {"deepspeed.utils.safe_get_full_grad", "param", uniform,
        {.name = "safe_get_full_grad",
            .hidden = true,
            .because = parts_of_state,
            .when = values::When::sharded},
        RowKind::function},
    {"deepspeed.utils.safe_get_full_optimizer_state", "param, optim_state_key", uniform,
        {.name = "safe_get_full_optimizer_state",
            .hidden = true,
            .because = parts_of_state,
            .when = values::When::sharded},
        RowKind::function},
    {"deepspeed.DeepSpeedEngine.step", "*arguments, **options", engine_step,
        {.name = "engine.step",
            .hidden = true,
            .because = "the optimizer's state is shared among the ranks"}},
};

}  // namespace

bool runs_loop(const Row& row) { return row.path == train_batch || row.path == eval_batch; }

std::vector<Row> deepspeed_rows() {
  using enum RowKind;
  std::vector<Row> rows = {
      row("deepspeed.DeepSpeedEngine", class_, "*arguments, **options", nullptr),
      row("deepspeed.$Optimizer", class_, "params, *more, **options", engine_optimizer,
          "torch.optim.Optimizer", Operation::optimizer_made),
      row("deepspeed.add_config_arguments", function, "parser", adds_arguments),
      row("deepspeed.DeepSpeedEngine.__call__", method, "*arguments, **options", wrapped_forward),
      row("deepspeed.DeepSpeedEngine.train", method, "mode=True", engine_train<true>),
      row("deepspeed.DeepSpeedEngine.eval", method, "", engine_train<false>),
      row("deepspeed.DeepSpeedEngine.forward", method, "*arguments, **options", wrapped_forward),
      row("deepspeed.DeepSpeedEngine.zero_grad", method, "", engine_zero_grad),
      row("deepspeed.DeepSpeedEngine.global_rank", property, "", role_value<Role::rank>),
      row("deepspeed.DeepSpeedEngine.local_rank", property, "", role_value<Role::local_rank>),
      row("deepspeed.DeepSpeedEngine.world_size", property, "", role_value<Role::world_size>),
      row("deepspeed.$ZeroThreeEngine", class_, "*arguments, **options", nullptr,
          "deepspeed.DeepSpeedEngine"),
      row("deepspeed.$ZeroThreeModule", class_, "", nullptr, "torch.nn.Module"),
      row("deepspeed.$ZeroThreeEngine.module", property, "", sharded_module),
      row("deepspeed.init_distributed", function, "dist_backend=None, *more, timeout=None, **options",
          nothing, {}, Operation::group_settings),
  };
  add_hidden(rows, deepspeed_hidden);
  return rows;
}

}  // namespace stepzero::libraries
