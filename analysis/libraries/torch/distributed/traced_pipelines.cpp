// torch.distributed.pipelining.pipeline: a module that is traced and cut into stages.
#include "interpreter/record.hpp"
#include "libraries/torch/distributed/spread.hpp"
#include "values/kept.hpp"

#include <algorithm>
#include <unordered_set>

namespace stepzero::libraries {

namespace {

Value attribute_of_pipe(Call& call, Value object, std::string_view name) {
  const Value found = object ? call.run.attribute_or_none(object, Name(name), call.place) : Value{};
  return found ? call.run.resolve(found) : Value{};
}
Value call_method(Call& call, Value object, std::string_view name, std::vector<Value> given) {
  const Value method = attribute_of_pipe(call, object, name);
  return method ? call.run.resolve(call.run.call(method, {std::move(given), {}, false}, call.place))
                : Value{};
}

// What goes over a cut: the stage after it is given a tensor without a history.
Value cut_at(Call& call, Value sent) {
  const Value list = attribute_of_pipe(call, call.self, "_sent");
  if (!list.is(Kind::list)) return Value::none();
  values::ListState state = *values::Heap::list_state(list);
  state.items.push_back(sent);
  call.run.heap().set_list(list, std::move(state));
  const auto anew = [&](Value each) {
    const TensorState* like = tensor_state(call.run, each = call.run.resolve(each));
    return like
        ? received_of_stage(call, like->shape, like->dtype, like->device, like->requires_grad != Known::no)
        : each;
  };
  if (!sent.is(Kind::tuple)) return anew(sent);
  std::vector<Value> all;
  for (const Value& each : sent.as<values::Tuple>()->items) all.push_back(anew(each));
  return call.run.heap().tuple(std::move(all));
}
Value cut_before(Call& call) { return cut_at(call, call.run.resolve(call.at(1))); }
Value cut_after(Call& call) { return cut_at(call, call.run.resolve(call.at(2))); }

// What each stage makes of the example that the module was traced with; the last is the result of all.
std::vector<Value> results_of(Call& call, Value pipe) {
  const Value cuts = attribute_of_pipe(call, pipe, "_cuts"),
              module = attribute_of_pipe(call, pipe, "_module"),
              given = attribute_of_pipe(call, pipe, "_given");
  if (!cuts.is(Kind::dict) || !module || !given.is(Kind::tuple) || attribute_of_pipe(call, pipe, "_options"))
    return {};
  const Value cut = Value::of(
      Kind::instance, call.run.make_native("torch.distributed.pipelining.$Cut", call.place));
  const Value sent = call.run.heap().list({});
  call.run.set_attribute(cut, Name("_sent"), sent);
  std::vector<Value> handles;
  const std::vector<std::pair<Value, Value>> items(
      values::Heap::dict_state(cuts)->items.begin(), values::Heap::dict_state(cuts)->items.end());
  for (const auto& [name, where] : items) {
    const Value at = call.run.resolve(where);
    const std::string_view word =
        at.is(Kind::library) ? values::last_name(at.as<values::LibrarySymbol>()->path) : std::string_view{};
    if (word != "BEGINNING" && word != "END") return {};
    const Value inner = call_method(call, module, "get_submodule", {name});
    if (!inner.is(Kind::instance)) return {};
    auto* hook = call.run.heap().make<values::Bound>();
    hook->self = cut;
    hook->function = call.run.library_symbol(word == "END" ? "torch.distributed.pipelining.$Cut.after"
                                                           : "torch.distributed.pipelining.$Cut.before");
    handles.push_back(
        call_method(call, inner, word == "END" ? "register_forward_hook" : "register_forward_pre_hook",
            {Value::of(Kind::bound, hook)}));
  }
  const Value result = call.run.resolve(
      call.run.call(module, {given.as<values::Tuple>()->items, {}, false}, call.place));
  for (const Value& handle : handles)
    if (handle) call_method(call, handle, "remove", {});
  std::vector<Value> all = values::Heap::list_state(sent)->items;
  if (all.size() != items.size()) return {};
  all.push_back(result);
  for (Value& each : all)
    if (each.is(Kind::tuple) && each.as<values::Tuple>()->items.size() == 1)
      each = call.run.resolve(each.as<values::Tuple>()->items.front());
  return all;
}

// The modules and parameters that the stage goes through and no other one does, as a module. Absent: not
// known.
Value part_of(Call& call, const std::vector<Value>& results, std::size_t at) {
  std::unordered_set<const values::Object*> others, own;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const TensorState* state = tensor_state(call.run, results[i]);
    if (!state || !state->graph_complete) return {};
    (i == at ? own : others).insert(state->graph.begin(), state->graph.end());
  }
  const Value module = attribute_of_pipe(call, call.self, "_module");
  const Value made = Value::of(Kind::instance, call.run.make_native("torch.nn.Module", call.place));
  for (const std::string_view kind : {"named_modules", "named_parameters"}) {
    const Value listed = call_method(call, module, kind, {});
    const auto all = listed ? call.run.elements(listed, call.place) : std::nullopt;
    if (!all) return {};
    for (const Value& each : *all) {
      const Value pair = call.run.resolve(each);
      if (!pair.is(Kind::tuple) || pair.as<values::Tuple>()->items.size() != 2) return {};
      const Value name = call.run.resolve(pair.as<values::Tuple>()->items[0]),
                  part = call.run.resolve(pair.as<values::Tuple>()->items[1]);
      if (!name.is(Kind::string) || !part.object() || own.erase(part.object()) == 0) continue;
      if (others.contains(part.object())) return {};
      call.run.set_attribute(made, Name(name.text()), part);
    }
  }
  // Layers without parameters may stand for themselves.
  for (const values::Object* each : own)
    if (dynamic_cast<const values::Tensor*>(each)) return {};
  call.run.set_attribute(made, Name("_pipe"), call.self);
  return made;
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
  call.run.set_attribute(Value::of(Kind::instance, pipe), Name("_cuts"), cuts);
  call.run.set_attribute(Value::of(Kind::instance, pipe), Name("_module"), module);
  for (int i = 1; i <= 2; ++i)
    if (const Value given = call.run.resolve(call.at(i)); given && !given.is(Kind::none))
      call.run.set_attribute(Value::of(Kind::instance, pipe), Name(i == 1 ? "_given" : "_options"), given);
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
  const Value made = Value::of(Kind::instance, stage), index = call.run.resolve(call.at(0));
  const auto at = index ? call.run.to_constant(index) : std::nullopt;
  if (!at || *at < 0 || !stages || !call.run.record().conditions.contains(values::RecordCondition::counted))
    return made;
  const std::vector<Value> results = results_of(call, call.self);
  const Value part = static_cast<std::size_t>(*at) < results.size()
      ? part_of(call, results, static_cast<std::size_t>(*at))
      : Value{};
  if (!part) return made;
  call.run.set_attribute(made, Name("submod"), part);
  call.run.set_attribute(made, Name("stage_index"), index);
  call.run.set_attribute(made, Name("num_stages"), call.run.resolve(stages));
  call.run.set_attribute(made, Name("_pipe"), call.self);
  return made;
}

}  // namespace

Value result_of_stage(Call& call, Value pipe, std::size_t at) {
  const std::vector<Value> results = results_of(call, pipe);
  return at < results.size() ? results[at] : Value{};
}

std::vector<Row> traced_pipeline_rows() {
  using enum RowKind;
  return {
      row("torch.distributed.pipelining.pipeline", function,
          "module, mb_args, mb_kwargs=None, split_spec=None, split_policy=None", traced),
      row("torch.distributed.pipelining.Pipe", class_, "*arguments, **options", nullptr),
      row("torch.distributed.pipelining.Pipe.build_stage", method, "stage_index, device, group=None",
          built_stage),
      row("torch.distributed.pipelining.$Cut", class_, "", nullptr),
      row("torch.distributed.pipelining.$Cut.before", method, "module, arguments", cut_before),
      row("torch.distributed.pipelining.$Cut.after", method, "module, arguments, output", cut_after),
  };
}

}  // namespace stepzero::libraries
