// What constructors of optimizers refuse, as those of PyTorch 2.13 answer.
#include "libraries/torch/optim/optimizer_checks.hpp"

#include "libraries/table/names.hpp"
#include "libraries/table/op.hpp"
#include "libraries/torch/meaning/meanings.hpp"
#include "libraries/torch/nn/modules.hpp"
#include "syntax/spelling.hpp"
#include "values/internal_rows.hpp"

#include <algorithm>
#include <charconv>
#include <map>

namespace stepzero::libraries {

namespace {

struct Limit {
  std::string_view parameter;
  double least = 0;      // allowed, unless `above`
  double below = 1e300;  // not allowed
  bool above = false;    // the least itself is not allowed
};
constexpr Limit limits[] = {
    {"lr"},
    {"momentum"},
    {"weight_decay"},
    {"eps"},
    {"lr_decay"},
    {"initial_accumulator_value"},
    {"momentum_decay"},
    {"betas", 0, 1},
    {"alpha"},
};
struct Own {
  std::string_view path, parameter;
  bool free = false;  // it refuses nothing of what the others refuse
  Limit limit = {};
};
constexpr Own own_limits[] = {
    {"torch.optim.ASGD", "alpha", true},
    {"torch.optim.SparseAdam", "lr", false, {"lr", 0, 1e300, true}},
    {"torch.optim.SparseAdam", "eps", false, {"eps", 0, 1e300, true}},
    {"torch.optim.Adafactor", "d", false, {"d", 1}},
};
// Two flags that are not both taken.
constexpr std::string_view exclusive[][2] = {{"fused", "foreach"}, {"fused", "differentiable"}};
// Of these optimizers only: Nesterov's momentum has to have a momentum, and no dampening.
constexpr std::string_view refuses_nesterov_alone = "torch.optim.SGD";
constexpr std::string_view takes_one_group = "torch.optim.LBFGS";

const Limit* limit_of(std::string_view path, std::string_view parameter) {
  for (const Own& own : own_limits)
    if (own.path == path && own.parameter == parameter) return own.free ? nullptr : &own.limit;
  const auto* found = std::ranges::find(limits, parameter, &Limit::parameter);
  return found == std::end(limits) ? nullptr : found;
}

}  // namespace

std::string optimizer_title(const Call& call) {
  return values::code(call.row.path.substr(call.row.path.rfind('.') + 1));
}
void refuse_optimizer(Call& call, interpreter::Refusal refusal) {
  explain(*call.run.problem(values::ProblemKind::argument, call), std::move(refusal));
}

std::optional<double> optimizer_number(Call& call, Value value) {
  value = call.run.resolve(value);
  if (value.is(Kind::real)) return value.real();
  const auto known = value.is(Kind::integer) ? call.run.symbols().value(value.integer()) : std::nullopt;
  return known ? std::optional(static_cast<double>(*known)) : std::nullopt;
}
namespace {

void judge_number(Call& call, std::string_view parameter, const Limit& limit, Value value) {
  const auto given = optimizer_number(call, value);
  if (!given || (*given < limit.below && (limit.above ? *given > limit.least : *given >= limit.least)))
    return;
  const std::string title = optimizer_title(call);
  refuse_optimizer(call,
      limit.below < 1e300 ? why<Reason::setting_between>(title, parameter, limit.least, limit.below, *given)
          : limit.above   ? why<Reason::setting_above>(title, parameter, limit.least, *given)
                          : why<Reason::setting_at_least>(title, parameter, limit.least, *given));
}

// A text where a number is compared.
void judge_text(Call& call, std::string_view parameter, std::string_view text) {
  const auto exponent = text.find_first_of("eE");
  const bool is_number = exponent != std::string_view::npos &&
      text.find_first_not_of("0123456789.eE+-") == std::string_view::npos;
  const std::string title = optimizer_title(call);
  refuse_optimizer(call,
      is_number && text.find('.') == std::string_view::npos
          ? why<Reason::setting_text_of_yaml>(title, parameter, text, text,
                std::string(text.substr(0, exponent)) + ".0" + std::string(text.substr(exponent)))
          : why<Reason::setting_text>(title, parameter, text));
}
}  // namespace

// An argument that it has not.
void judge_names(Call& call) {
  if (call.options.empty() || call.row.takes_options || call.spread) return;
  const std::string_view written = call.options.front().first.text();
  constexpr std::string_view rates[] = {"learning_rate", "learningrate", "lrate"};
  std::string meant = std::ranges::find(rates, written) != std::end(rates) ? "lr" : "";
  for (const Name parameter : call.row.parameters)
    if (meant.empty() && written.size() > 2 &&
        syntax::letters_between(written, parameter.text()) <= (parameter.text().size() > 4 ? 2u : 1u))
      meant = parameter.text();
  refuse_optimizer(
      call, interpreter::NoSuchArgument{optimizer_title(call), std::string(written), std::move(meant)});
}
// The numbers and flags.
void judge_settings(Call& call) {
  const auto is_on = [&](std::string_view name) {
    for (std::size_t i = 0; i < call.row.parameters.size() && i < call.arguments.size(); ++i)
      if (call.row.parameters[i].text() == name)
        return call.given[i] && call.run.symbols().decide(call.run.truth(call.at(i))) == Answer::yes;
    return false;
  };
  const auto setting = [&](std::string_view name) {
    for (std::size_t i = 0; i < call.row.parameters.size() && i < call.arguments.size(); ++i)
      if (call.row.parameters[i].text() == name) return optimizer_number(call, call.at(i));
    return std::optional<double>();
  };
  if (call.row.path == refuses_nesterov_alone && is_on("nesterov")) {
    if (const auto momentum = setting("momentum"); momentum && *momentum <= 0)
      return refuse_optimizer(call, why<Reason::nesterov_momentum>(optimizer_title(call), *momentum));
    if (const auto dampening = setting("dampening"); dampening && *dampening != 0)
      return refuse_optimizer(call, why<Reason::nesterov_dampening>(optimizer_title(call), *dampening));
  }
  for (const auto& [one, other] : exclusive)
    if (is_on(one) && is_on(other))
      return refuse_optimizer(call, why<Reason::settings_exclusive>(optimizer_title(call), one, other));
  for (std::size_t i = 1; i < call.row.parameters.size() && i < call.arguments.size(); ++i) {
    const std::string_view name = call.row.parameters[i].text();
    const Limit* limit = call.given[i] ? limit_of(call.row.path, name) : nullptr;
    if (!limit) continue;
    const Value value = call.run.resolve(call.at(i));
    if (value.is(Kind::string)) judge_text(call, name, value.text());
    if (value.is(Kind::tuple))
      for (const Value& item : value.as<values::Tuple>()->items) judge_number(call, name, *limit, item);
    else
      judge_number(call, name, *limit, value);
  }
}
// What it is to train: parameters, not what holds them.
void judge_trained(Call& call, Value given) {
  if (given.is(Kind::tensor))
    return refuse_optimizer(call, why<Reason::parameters_tensor>(optimizer_title(call)));
  if (!given.is(Kind::instance)) return;
  const auto* object = given.as<Instance>();
  if (object->native && object->native->path == values::InternalRow::parameters) return;
  const bool iterates = call.run.method_row(
                            object->native ? object->native->path : std::string_view{}, "__iter__") ||
      (object->cls &&
          (object->cls->open || call.run.find_in_order(object->cls->order, Name("__iter__")) ||
              call.run.find_in_order(object->cls->order, Name("__getitem__"))));
  if (object->symbolic || iterates || !call.run.is_a(given, module_class)) return;
  if (object->native
          ? object->native->path.starts_with("torch.nn.Parameter") ||
              object->native->path == "torch.nn.BufferList"
          : call.run.is_a(given, "torch.nn.ParameterList") || call.run.is_a(given, "torch.nn.ParameterDict"))
    return;
  refuse_optimizer(call, why<Reason::parameters_module>(optimizer_title(call)));
}
// Muon steps matrices.
void judge_matrices(Call& call, const std::vector<Value>& taken) {
  for (const Value& each : taken) {
    const TensorState* state = tensor_state(call.run, each);
    if (!state || !state->shape.ndim_known || state->shape.dims.size() == 2) continue;
    refuse_optimizer(call, why<Reason::matrices_only>(optimizer_title(call), state->shape.dims.size()));
    return;
  }
}

namespace {
// Was it computed, while gradients were recorded, from something that requires one? Who hands on what it was
// given, or may do so, does not compute, nor who is told whether the new tensor requires a gradient; a
// transfer to another device makes another tensor.
bool is_computed(Call& call, Value value) {
  const TensorState* state = tensor_state(call.run, value);
  if (!state || !value.is(Kind::tensor) || value.as<Tensor>()->role != values::TensorRole::plain ||
      value.as<Tensor>()->any_of || state->unseen || !state->made ||
      call.run.heap().requires_grad(*state) != values::Known::yes)
    return false;
  const values::Producer& made = *state->made;
  if (!made.row->op || made.row->op->writes || made.row->variant != values::Variant::plain) return false;
  const auto needs = [&](const TensorState* from) {
    return from && !from->unseen && call.run.heap().requires_grad(*from) == values::Known::yes;
  };
  if (std::ranges::find(made.row->parameters, "requires_grad", &values::Name::text) !=
      made.row->parameters.end())
    return false;
  const OperatorMeaning& means = meaning_of(operator_name(*made.row));
  if (means.memory == MemoryOf::own && (means.elementwise || computes(means.algebra)))
    return std::ranges::any_of(made.states, needs) || std::ranges::any_of(made.listed, needs);
  const TensorState* from = made.states.empty() ? nullptr : made.states[0];
  return means.memory == MemoryOf::cast && needs(from) && from->device && state->device &&
      from->device->text == "cpu" && state->device->text.starts_with("cuda");
}
}  // namespace

void judge_leaves(Call& call, const std::vector<Value>& taken) {
  const auto found = std::ranges::find_if(taken, [&](const Value& each) { return is_computed(call, each); });
  if (found == taken.end()) return;
  const values::Producer& made = *tensor_state(call.run, *found)->made;
  interpreter::ProblemEvent* event = call.run.problem(values::ProblemKind::argument, call);
  explain(*event, why<Reason::leaves_only>(optimizer_title(call)));
  if (made.born) event->evidence.emplace_back(made.born, "computed here");
}

// Whoever steps all parameters as one takes one group of them.
void judge_groups(Call& call) {
  if (call.row.path != takes_one_group) return;
  const Value given = call.run.resolve(call.at(0));
  const auto items = given.is(Kind::list) || given.is(Kind::tuple) ? call.run.elements(given, call.place)
                                                                   : std::nullopt;
  if (!items || items->size() < 2 ||
      !std::ranges::all_of(*items, [&](const Value& item) { return call.run.resolve(item).is(Kind::dict); }))
    return;
  refuse_optimizer(call, why<Reason::one_group>(optimizer_title(call), items->size()));
}

// The tensors among what an optimizer is given: a tensor, a sequence of them, groups of them. False if they
// are not all known.
bool optimized_tensors(Call& call, Value given, std::vector<Value>& taken, int depth) {
  constexpr int deepest_group = 1;  // PyTorch takes a list of groups, and none within a group
  given = call.run.resolve(given);
  if (given.is(Kind::tensor)) return taken.push_back(given), true;
  if (given.is(Kind::dict)) {
    const Value group =
        depth <= deepest_group ? call.run.dict_get(given, call.run.heap().string("params"), {}) : Value{};
    return group && optimized_tensors(call, group, taken, depth + 1);
  }
  const bool lists_parameters = given.is(Kind::instance) && given.as<Instance>()->native &&
      given.as<Instance>()->native->path == values::InternalRow::parameters;
  // An iterator is empty once it was read, and the optimizer has read it.
  const auto items = lists_parameters || given.is(Kind::list) ? call.run.elements(given, call.place)
                                                              : std::nullopt;
  return items && depth <= deepest_group + 1 &&
      std::all_of(items->begin(), items->end(),
          [&](const Value& item) { return optimized_tensors(call, item, taken, depth + 1); });
}

// A parameter is in one group only.
void judge_shared(Call& call) {
  const Value given = call.run.resolve(call.at(0));
  const auto groups = given.is(Kind::list) ? call.run.elements(given, call.place) : std::nullopt;
  if (!groups) return;
  std::map<const values::Object*, std::size_t> group_of;
  std::size_t shared = 0, first = 0, second = 0;
  for (std::size_t i = 0; i < groups->size(); ++i) {
    std::vector<Value> taken;
    if (!call.run.resolve((*groups)[i]).is(Kind::dict) || !optimized_tensors(call, (*groups)[i], taken, 1))
      return;
    for (const Value& each : taken) {
      if (each.as<Tensor>()->any_of) return;
      const auto [known, is_new] = group_of.emplace(each.object(), i);
      if (is_new || known->second == i) continue;
      if (shared++ == 0) first = known->second, second = i;
    }
  }
  if (shared == 0) return;
  refuse_optimizer(call, why<Reason::groups_share>(first + 1, second + 1, shared));
}

}  // namespace stepzero::libraries
