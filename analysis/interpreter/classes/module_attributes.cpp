#include "interpreter/classes/module_attributes.hpp"

#include "interpreter/reasons.hpp"

#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using values::Kind;
using values::TensorRole;

namespace {

// Is its constructor one that never runs that of the library?
bool skips_constructor(Interpreter& run, const values::Instance& module, const values::Function* running) {
  if (!running || !running->stmt || running->name.text() != "__init__" ||
      std::ranges::any_of(module.cls->order, [](const values::Class* each) {
        return each->open || !each->stmt || !each->stmt->keywords.empty();
      }))
    return false;
  if (!(run.find_in_order(module.cls->order, running->name) == Value::of(Kind::function, running)))
    return false;
  const std::string_view text = run.record().text({running->chunk, running->stmt->span});
  const auto own = text.find("__init__");
  return own != std::string_view::npos && text.find("__init__", own + 1) == std::string_view::npos &&
      text.find("super") == std::string_view::npos && text.find("__dict__") == std::string_view::npos;
}

}  // namespace

void judge_module_attribute(Interpreter& run, const values::Instance& module, syntax::Name name, Value held,
    Value value, const values::Function* running, Place where) {
  const values::LibrarySymbol* native = module.native ? module.native
      : module.cls                                    ? module.cls->native
                                                      : nullptr;
  const auto& types = run.library().types();
  if (!where || !native || module.symbolic || module.of_many || values::is_kept(name.text()) ||
      !run.is_a(Value::of(Kind::instance, &module), types.module))
    return;
  held = run.resolve(held);
  value = run.resolve(value);
  const auto* tensor = value.is(Kind::tensor) ? value.as<values::Tensor>() : nullptr;
  const bool registered = run.is_a(value, types.module) || (tensor && tensor->role == TensorRole::parameter);
  if (registered && module.cls && native->path == types.module && skips_constructor(run, module, running)) {
    explain(*run.problem_at(values::ProblemKind::argument, where, nullptr),
        why<Reason::assigned_before_init>(name.text(), tensor != nullptr));
    return;
  }
  if (!tensor || tensor->role != TensorRole::plain || !held.is(Kind::tensor) ||
      held.as<values::Tensor>()->role != TensorRole::parameter)
    return;
  const values::TensorState& state = *tensor->now();
  // What is called on a parameter may give back the parameter: `self.weight.to(device)`.
  const auto is_parameter = [](Value each) {
    return each.is(Kind::tensor) && each.as<values::Tensor>()->role == TensorRole::parameter;
  };
  if (state.unseen || !state.made || std::ranges::any_of(state.made->arguments, is_parameter) ||
      module.attributes.find(syntax::Name(values::ModuleState::own_state)))
    return;
  explain(*run.problem_at(values::ProblemKind::argument, where, nullptr),
      why<Reason::parameter_replaced>(name.text(), name.text(), types.parameter,
          types.parameter.substr(types.root.size()), types.no_gradients));
}

}  // namespace stepzero::interpreter
