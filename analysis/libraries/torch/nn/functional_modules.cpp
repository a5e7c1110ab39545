// As in the documentation of torch.func (functional_call, stack_module_state) and torch.nn.utils.
#include "libraries/torch/nn/functional_modules.hpp"

#include "libraries/table/names.hpp"
#include "libraries/table/op.hpp"
#include "values/kept.hpp"

#include <algorithm>
#include <map>

namespace stepzero::libraries {

using interpreter::Arguments;
using values::Kind;

Value with_shape(Call& call, const TensorState& of, Shape shape) {
  TensorState made = of;
  made.shape = std::move(shape);
  made.shape_value = {};
  made.content = nullptr;
  made.mean = nullptr;
  made.strides.clear();
  return result(call, std::move(made));
}

namespace {

// stack_module_state(models): their parameters and buffers by name, those of all models along a new first
// dimension.
Value stacked_states(Call& call) {
  const auto models = call.run.elements(call.at(0), call.place);
  if (!models || models->empty()) return unknown_of(call);
  const Dim count = known_dim(call.run,
      call.run.symbols().constant(static_cast<std::int64_t>(models->size())), call.place, call.row.path);
  std::vector<Value> both;
  for (const char* kind : {"named_parameters", "named_buffers"}) {
    const Value method = call.run.attribute_or_none(models->front(), syntax::Name(kind), call.place);
    const auto all = method ? call.run.elements(call.run.call(method, {}, call.place), call.place)
                            : std::nullopt;
    if (!all) return unknown_of(call);
    std::vector<std::pair<Value, Value>> items;
    for (const Value pair : *all) {
      const auto parts = call.run.elements(pair, call.place);
      const TensorState* state = parts && parts->size() == 2 ? tensor_state(call.run, (*parts)[1]) : nullptr;
      if (!state || !state->shape.ndim_known) return unknown_of(call);
      Shape shape = state->shape;
      shape.dims.insert(shape.dims.begin(), count);
      items.push_back({(*parts)[0], with_shape(call, *state, std::move(shape))});
    }
    both.push_back(call.run.heap().dict(std::move(items)));
  }
  return call.run.heap().tuple(std::move(both));
}

// ---------------------------------------------------------------- modules with other parameters

// All names of one dict, or of several of which each has its own; absent if that is not known.
Value as_one_dict(Call& call, Value given) {
  given = call.run.resolve(given);
  if (!given.is(Kind::tuple) && !given.is(Kind::list)) return given;
  const auto parts = call.run.elements(given, call.place);
  if (!parts) return {};
  std::vector<std::pair<Value, Value>> items;
  for (const Value& raw : *parts) {
    const Value part = call.run.resolve(raw);
    if (!part.is(Kind::dict) || values::Heap::dict_state(part)->open) return {};
    items.insert(items.end(), values::Heap::dict_state(part)->items.begin(),
        values::Heap::dict_state(part)->items.end());
  }
  return call.run.heap().dict(std::move(items));
}
// A part of a module, by its name among the others: "fc", or "2" of a Sequential. Absent if there is none.
Value part_named(Call& call, Value module, std::string_view name) {
  const values::Slot* slot = module.as<Instance>()->attributes.find(
      syntax::Name(values::ContainerState::items));
  const Value items = slot ? call.run.resolve(slot->value) : Value{};
  if (items.is(Kind::list)) {
    const auto& all = values::Heap::list_state(items)->items;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (std::to_string(i) == name) return call.run.resolve(all[i]);
  }
  const Value part = call.run.attribute_or_none(module, syntax::Name(name), call.place);
  return part ? call.run.resolve(part) : Value{};
}
// Is the name that of a parameter of a linear layer, whose sizes are those of its weight?
bool computes_by_weight(Call& call, Value module, std::string_view name) {
  for (auto dot = name.find('.'); dot != std::string_view::npos && module.is(Kind::instance);
      dot = name.find('.')) {
    module = part_named(call, module, name.substr(0, dot));
    name.remove_prefix(dot + 1);
  }
  return module.is(Kind::instance) && !module.as<Instance>()->cls && call.run.is_a(module, "torch.nn.Linear");
}
// Are the named tensors as large as the module's own of those names? With others it is another module. A name
// that is missing keeps its own.
bool fits(Call& call, Value module, Value given) {
  given = as_one_dict(call, given);
  if (!given.is(Kind::dict) || values::Heap::dict_state(given)->open) return false;
  std::map<std::string, Value, std::less<>> own;
  for (const char* kind : {"named_parameters", "named_buffers"}) {
    const Value method = call.run.attribute_or_none(module, syntax::Name(kind), call.place);
    const auto all = method ? call.run.elements(call.run.call(method, {}, call.place), call.place)
                            : std::nullopt;
    if (!all) return false;
    for (const Value pair : *all) {
      const auto parts = call.run.elements(pair, call.place);
      if (!parts || parts->size() != 2 || !(*parts)[0].is(Kind::string)) return false;
      own.emplace((*parts)[0].text(), (*parts)[1]);
    }
  }
  for (const auto& [key, value] : values::Heap::dict_state(given)->items) {
    if (!key.is(Kind::string)) return false;
    const auto found = own.find(key.text());
    const TensorState* mine = found == own.end() ? nullptr : tensor_state(call.run, found->second);
    const TensorState* theirs = tensor_state(call.run, value);
    if (!mine || !theirs || !mine->shape.ndim_known || !theirs->shape.ndim_known) return false;
    // A layer that computes by its weight takes another for what it is.
    const bool same = std::ranges::equal(mine->shape.dims, theirs->shape.dims,
        [](const Dim& a, const Dim& b) { return a.size && a.size == b.size; });
    if (!same &&
        (mine->shape.dims.size() != theirs->shape.dims.size() ||
            !computes_by_weight(call, module, key.text())))
      return false;
  }
  return true;
}

// The named tensors stand in the places of the module's own, while this lives.
class Replaced {
public:
  Replaced(Call& call, Value module, Value given) : heap_(call.run.heap()) {
    module = call.run.resolve(module);
    if (!given.is(Kind::dict) || !module.is(Kind::instance)) return;
    for (const auto& [key, value] : std::vector(values::Heap::dict_state(given)->items)) {
      if (!key.is(Kind::string)) continue;
      std::string_view rest = key.text();
      Value holder = module;
      for (auto dot = rest.find('.'); dot != std::string_view::npos && holder.is(Kind::instance);
          dot = rest.find('.')) {
        holder = part_named(call, holder, rest.substr(0, dot));
        rest.remove_prefix(dot + 1);
      }
      if (!holder.is(Kind::instance) || !holder.as<Instance>()->attributes.find(syntax::Name(rest))) continue;
      values::Slot& slot = heap_.slot_of(holder.as<Instance>()->attributes, syntax::Name(rest));
      const TensorState* state = tensor_state(call.run, value);
      if (state && call.run.resolve(value).as<Tensor>()->role == values::TensorRole::plain &&
          heap_.requires_grad(*state) != values::Known::no)
        has_history = true;
      before_.push_back({&slot, slot.value});
      heap_.set(slot, value);
    }
  }
  Replaced(const Replaced&) = delete;
  Replaced& operator=(const Replaced&) = delete;
  ~Replaced() {
    for (auto each = before_.rbegin(); each != before_.rend(); ++each) heap_.set(*each->first, each->second);
  }

  bool has_history = false;  // what was computed stands in the place of a parameter

private:
  values::Heap& heap_;
  std::vector<std::pair<values::Slot*, Value>> before_;
};

// Layers have their own parameters again once it has returned: what else they were given is not found there.
Value by_other_parameters(Call& call, Value value) {
  value = call.run.resolve(value);
  if (value.is(Kind::tuple)) {
    std::vector<Value> items;
    for (const Value& item : value.as<values::Tuple>()->items)
      items.push_back(by_other_parameters(call, item));
    return call.run.heap().tuple(std::move(items));
  }
  const TensorState* state = value.is(Kind::tensor) ? tensor_state(call.run, value) : nullptr;
  if (!state || !state->made) return value;
  auto* made = call.run.heap().make<values::Producer>();
  made->born = call.place;
  made->row = &call.row;
  made->calls = call.run.site();
  made->arguments = call.run.heap().array<Value>(call.row.parameters.size());
  const auto states = call.run.heap().array<const TensorState*>(1);
  states[0] = state;
  made->states = states;
  TensorState result_state = *state;
  result_state.made = made;
  return result(call, std::move(result_state));
}

// functional_call(module, parameters, args, kwargs): the module's forward. With parameters of other sizes it
// is only shown what its own give, but for linear layers.
Value functional_call(Call& call) {
  if (!call.run.policy().operands_fit && !fits(call, call.at(0), call.at(1))) return unknown_of(call);
  Arguments arguments;
  arguments.spread = call.spread;
  const Value given = call.run.resolve(call.at(2)), options = call.run.resolve(call.at(3));
  if (given.is(Kind::tuple))
    arguments.positional = given.as<values::Tuple>()->items;
  else if (given.is(Kind::unknown))
    return unknown_of(call);  // one, or a tuple of them
  else if (given && !given.is(Kind::none))
    arguments.positional.push_back(given);
  if (options.is(Kind::dict) && !values::Heap::dict_state(options)->open) {
    for (const auto& [key, value] : values::Heap::dict_state(options)->items) {
      if (!key.is(Kind::string)) return unknown_of(call);
      arguments.keywords.push_back({syntax::Name(key.text()), value});
    }
  } else if (options && !options.is(Kind::none)) {
    return unknown_of(call);
  }
  const Replaced replaced(call, call.at(0), as_one_dict(call, call.at(1)));
  const Value made = call.run.call(call.at(0), std::move(arguments), call.place);
  return replaced.has_history ? by_other_parameters(call, made) : made;
}

// All of the parameters, one after the other.
Value to_vector(Call& call) {
  const Value given = call.run.resolve(call.at(0));
  const auto all = call.run.elements(given, call.place);
  auto& s = call.run.symbols();
  Int total = all ? s.constant(0) : nullptr;
  TensorState made = all ? computed(call.run, std::span<const Value>(*all)) : TensorState{};
  if (!all) {
    made.unseen = true;
    made.graph_complete = false;
  }
  for (std::size_t i = 0; all && i < all->size(); ++i) {
    const TensorState* part = tensor_state(call.run, call.run.resolve((*all)[i]));
    made.dtype = part && (i == 0 || made.dtype == part->dtype) ? part->dtype : Dtype::unknown;
    Int size = part && part->shape.ndim_known && total ? s.constant(1) : nullptr;
    for (std::size_t d = 0; size && d < part->shape.dims.size(); ++d)
      size = part->shape.dims[d].size ? s.mul(size, part->shape.dims[d].size) : nullptr;
    total = size ? s.add(total, size) : nullptr;
  }
  made.shape = {true, {total ? known_dim(call.run, total, call.place, call.row.path) : Dim{}}};
  return result(call, std::move(made));
}
// How many numbers a list of parameters holds; null: not known.
Int numbers_of(Call& call, Value given) {
  given = call.run.resolve(given);
  const auto all = call.run.elements(given, call.place);
  auto& s = call.run.symbols();
  Int total = all ? s.constant(0) : nullptr;
  for (std::size_t i = 0; total && i < all->size(); ++i) {
    const TensorState* part = tensor_state(call.run, call.run.resolve((*all)[i]));
    Int size = part && part->shape.ndim_known ? s.constant(1) : nullptr;
    for (std::size_t d = 0; size && d < part->shape.dims.size(); ++d)
      size = part->shape.dims[d].size ? s.mul(size, part->shape.dims[d].size) : nullptr;
    total = size ? s.add(total, size) : nullptr;
  }
  return total;
}
// They are views of the vector from here on.
Value from_vector(Call& call) {
  call.run.heap().note_write(nullptr);
  auto& s = call.run.symbols();
  const TensorState* vector = tensor_state(call.run, call.run.resolve(call.at(0)));
  const Int asked = numbers_of(call, call.at(1)),
            given = vector && vector->shape.ndim_known && vector->shape.dims.size() == 1
      ? vector->shape.dims[0].size
      : nullptr;
  if (asked && given && s.compare(Compare::gt, asked, given) == Answer::yes)
    explain(*call.run.problem(ProblemKind::reshape, call),
        why<Reason::vector_size>(values::Dim{asked}, values::Dim{given}));
  return Value::none();
}

}  // namespace

std::vector<Row> functional_module_rows() {
  using enum RowKind;
  return {
      row("torch.func.stack_module_state", function, "models", stacked_states),
      row("torch.func.functional_call", function,
          "module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False",
          functional_call),
      row("torch.nn.utils.parameters_to_vector", function, "parameters", to_vector),
      row("torch.nn.utils.vector_to_parameters", function, "vec, parameters", from_vector),
  };
}

}  // namespace stepzero::libraries
