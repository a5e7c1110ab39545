// What wraps modules without changing what they compute: torch.compile and TorchScript.
#include "libraries/torch/nn/modules.hpp"

#include "interpreter/classes/lacking_attributes.hpp"
#include "values/internal_rows.hpp"
#include "values/kept.hpp"

namespace stepzero::libraries {

using interpreter::Arguments;

namespace {

// What torch.compile makes of a module: one that runs it, and has it within under this name. A function is
// seen through.
constexpr std::string_view compiled_class = "torch._dynamo.OptimizedModule", within = "_orig_mod";
// `@torch.compile(mode=…)` and `torch.compile(model)` alike.
Value seen_through(Call& call) {
  return call.at(0) && !call.run.resolve(call.at(0)).is(Kind::none)
      ? call.at(0)
      : call.run.library_symbol(values::InternalRow::same);
}
// A module of TorchScript does what the one did that it was made of, and has attributes besides.
Value scripted(Call& call) {
  if (const Value model = call.run.resolve(call.at(0));
      model.is(Kind::instance) && call.run.is_a(model, module_class))
    keep(call.run, *model.as<Instance>(), interpreter::scripted.text(), call.run.heap().boolean(true));
  return seen_through(call);
}

Value compiled(Call& call) {
  const Value model = call.run.resolve(call.at(0));
  if (!model.is(Kind::instance) || !call.run.is_a(model, module_class)) return seen_through(call);
  Instance* made = call.run.make_native(compiled_class, call.place);
  made->symbolic = model.as<Instance>()->symbolic;
  call.run.set_attribute(Value::of(Kind::instance, made), Name(within), model);
  keep(call.run, *made, values::ContainerState::complete, call.run.heap().boolean(true));
  keep(call.run, *made, values::WrapperState::prefix, call.run.heap().string(std::string(within) + "."));
  return Value::of(Kind::instance, made);
}
Value compiled_forward(Call& call) {
  Arguments arguments{call.rest, call.options, call.spread};
  arguments.after = call.after;
  return call.run.call(kept(call, within), std::move(arguments), call.place, call.expr);
}
// What it is asked for, and given, the module within is.
Value compiled_attribute(Call& call) {
  const Value name = call.run.resolve(call.at(0)), model = kept(call, within);
  if (!name.is(Kind::string) || !model) return call.run.heap().unseen("", call.place);
  return call.run.attribute(model, Name(name.text()), call.place);
}
Value give_compiled(Call& call) {
  const Value name = call.run.resolve(call.at(0)), model = kept(call, within);
  if (!name.is(Kind::string) || !model || name.text() == within ||
      name.text() == values::ModuleState::training)
    return {};
  call.run.set_attribute(model, Name(name.text()), call.at(1), call.place);
  return call.run.heap().boolean(true);
}

// A function that runs on the local shards of what it is given. Shown are the sizes of what is not sharded.
Value on_shards(Call& call) {
  return call.run.policy().operands_fit ? seen_through(call) : call.run.heap().unseen("", call.place);
}

}  // namespace

Value within_compiled(Call& call) {
  return call.expr ? call.run.raise_builtin("AttributeError", call.place) : Value{};
}

std::vector<Row> compiled_rows() {
  using enum RowKind;
  return {
      row("torch.compile", function, "model=None, **options", compiled),
      row(compiled_class, class_, "mod, *more, **options", nullptr, module_class),
      row("torch._dynamo.OptimizedModule.forward", method, "*arguments, **options", compiled_forward),
      row("torch._dynamo.OptimizedModule.__getattr__", method, "name", compiled_attribute),
      row("torch._dynamo.OptimizedModule.__setattr__", method, "name, value", give_compiled),
      row("torch.nn.Module.__getattr__", method, "name", within_compiled),
      row("torch.distributed.tensor.experimental.local_map", function, "func=None, *arguments, **options",
          on_shards),
      row("torch.jit.script", function, "obj=None, **options", scripted),
      row("torch.jit.trace", function, "func, **options", scripted),
      row("torch.jit.ignore", function, "fn=None, **options", seen_through),
      row("torch.jit.unused", function, "fn", first_argument),
      row("torch.jit.export", function, "fn", first_argument),
      row("torch.jit.interface", function, "fn", first_argument),
      row("torch.jit.script_method", function, "fn", first_argument),
      row("torch.jit.script_if_tracing", function, "fn", first_argument),
      row("torch.jit.is_scripting", function, "", never),
      row("torch.jit.is_tracing", function, "", never),
      row("torch.compiler.disable", function, "fn=None, **options", seen_through),
      row("torch.compiler.is_compiling", function, "", never),
      row("torch._dynamo.disable", function, "fn=None, **options", seen_through),
      row("torch._dynamo.is_compiling", function, "", never),
      row("torch.compiler.is_exporting", function, "", never),
      row("torch.cuda.is_current_stream_capturing", function, "", never),
      row("torch.fx.wrap", function, "fn", first_argument),
      row("torch.fx._symbolic_trace.is_fx_tracing", function, "", never),
      row("torch._assert", function, "condition, message", nothing),
      row("torch._C._log_api_usage_once", function, "name", nothing),
      row("torch._C._get_tracing_state", function, "", nothing),
  };
}

}  // namespace stepzero::libraries
