// States of modules: names and sizes of what state_dict() gives, held against those of the module that
// load_state_dict() is asked of. Semantics as in the documentation of torch.nn.Module. Knows no file: rules
// that read the run do.
#include "libraries/torch/nn/states.hpp"

#include "interpreter/calls/noted_at.hpp"
#include "interpreter/record.hpp"
#include "libraries/table/op.hpp"
#include "libraries/torch/nn/modules.hpp"
#include "values/kept.hpp"
#include "values/limits.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <map>

namespace stepzero::libraries {

using values::TensorRole;

namespace {

constexpr std::size_t most_tensors = 1024;  // of one module that are named one by one
constexpr int most_levels = 16;             // modules in modules: keys of a state have fewer dots

struct Named {
  std::map<std::string, const TensorState*> tensors;
  std::map<std::string, Value> parts;  // of a module: the parameters and buffers themselves
  bool complete = true;                // there are no others
};

bool defines(const Instance& module, std::initializer_list<std::string_view> names) {
  return module.cls && std::ranges::any_of(module.cls->order, [&](const values::Class* each) {
    return each->open ||
        (each->body && std::ranges::any_of(each->body->names.entries(), [&](const auto& entry) {
          return std::ranges::find(names, entry.first.text()) != names.end();
        }));
  });
}
// Is it saved, or loaded, in a way of its own? It may then have other names, and take other sizes.
bool has_own_way(Runtime& run, const Instance& module, bool loading) {
  if (kept(run, module, values::ModuleState::own_state)) return true;
  return loading
      ? defines(module,
            {"_load_from_state_dict", "load_state_dict", "set_extra_state", "get_extra_state", "__setattr__"})
      : defines(module, {"_save_to_state_dict", "state_dict", "get_extra_state"});
}
// Can it be neither a tensor that is registered nor a part?
bool is_no_part(Runtime& run, Value value) {
  switch (value.kind) {
  case Kind::unknown:
  case Kind::choice: return false;
  case Kind::instance: {
    const values::Class* cls = value.as<Instance>()->cls;
    return !run.is_a(value, module_class) &&
        (!cls || std::ranges::none_of(cls->order, [](const values::Class* each) { return each->open; }));
  }
  default: return true;
  }
}
bool is_transient(Runtime& run, const Instance& module, std::string_view name) {
  const Value names = kept(run, module, values::ModuleState::transient);
  const auto known = names ? run.elements(names, {}) : std::nullopt;
  return known &&
      std::ranges::any_of(*known, [&](Value each) { return each.is(Kind::string) && each.text() == name; });
}

class Collector {
public:
  Collector(Runtime& run, Named& found, bool loading) : run_(run), found_(found), loading_(loading) {}

  void module(Value value, const std::string& prefix, int depth = 0) {
    const Instance& module = *value.as<Instance>();
    if (depth > most_levels || found_.tensors.size() > most_tensors || has_own_way(run_, module, loading_)) {
      found_.complete = false;
      return;
    }
    bool any = false;
    for (const auto& [name, slot] : module.attributes.entries()) {
      if (!slot->value || values::is_kept(name.text())) continue;
      const Value held = run_.resolve(slot->value);
      if (held.is(Kind::tensor))
        any = tensor(module, held, prefix, name.text()) || any;
      else if (!is_no_part(run_, held) && !run_.is_a(held, module_class))
        found_.complete = false;
    }
    const Value items = kept(run_, module, values::ContainerState::items),
                dict = kept(run_, module, values::ContainerState::dict);
    if (items.is(Kind::list))
      for (std::size_t i = 0; i < values::Heap::list_state(items)->items.size(); ++i)
        if (const Value held = run_.resolve(values::Heap::list_state(items)->items[i]); held.is(Kind::tensor))
          tensor(module, held, prefix, std::to_string(i));
    if (dict.is(Kind::dict))
      for (const auto& [key, item] : values::Heap::dict_state(dict)->items)
        if (const Value held = run_.resolve(item); held.is(Kind::tensor) && key.is(Kind::string))
          tensor(module, held, prefix, key.text());
    // A layer of the library that holds none may hold some that are not known.
    if (!module.cls && !items && !dict && !any && !kept(run_, module, values::ContainerState::complete))
      found_.complete = false;
    Parts parts = parts_of(run_, module);
    found_.complete = found_.complete && parts.complete;
    for (const Part& part : parts.list) {
      const auto named = std::ranges::count_if(
          parts.list, [&](const Part& other) { return other.name == part.name; });
      if (named == 1) this->module(part.module, prefix + part.name + ".", depth + 1);
    }
  }

private:
  bool tensor(const Instance& holder, Value value, const std::string& prefix, std::string_view name) {
    if (value.as<Tensor>()->role == TensorRole::plain) return false;
    if (value.as<Tensor>()->role == TensorRole::buffer &&
        interpreter::is_noted(run_.record(), transient_buffer)) {
      found_.complete = false;
      return true;
    }
    if (value.as<Tensor>()->role == TensorRole::parameter || !is_transient(run_, holder, name)) {
      found_.parts[prefix + std::string(name)] = value;
      found_.tensors[prefix + std::string(name)] = value.as<Tensor>()->now();
    }
    return true;
  }

  Runtime& run_;
  Named& found_;
  bool loading_;
};

Named named_tensors(Runtime& run, Value module, bool loading) {
  Named found;
  if (!module.is(Kind::instance))
    found.complete = false;
  else
    Collector(run, found, loading).module(module, "");
  return found;
}

// PyTorch gives `part.detach()`: they share their memory.
const values::Producer* detached(Call& call, Value part, const TensorState* state) {
  values::Heap& heap = call.run.heap();
  auto* made = heap.make<values::Producer>();
  made->born = call.place;
  static const values::Row* const row = table().find("torch.Tensor.detach");
  made->row = row;
  made->calls = call.run.site();
  const auto arguments = heap.array<Value>(row->parameters.size());
  arguments[0] = part;
  made->arguments = arguments;
  const auto states = heap.array<const TensorState*>(row->parameters.size());
  states[0] = state;
  made->states = states;
  return made;
}

Value as_dict(Call& call, const Named& named) {
  values::Heap& heap = call.run.heap();
  std::vector<std::pair<Value, Value>> items;
  for (const auto& [name, from] : named.tensors) {
    TensorState state;
    state.dtype = from->dtype;
    state.requires_grad = Known::no;
    state.sharing = from->sharing;
    state.unseen = from->unseen;
    state.graph_complete = true;
    state.shape = from->shape;
    state.device = from->device;
    if (const auto part = named.parts.find(name); part != named.parts.end())
      state.made = detached(call, part->second, from);
    items.push_back({heap.string(name), heap.tensor(std::move(state), call.place)});
  }
  return heap.dict(std::move(items), !named.complete,
      named.complete ? Value{} : unseen_weights(call, call.self, TensorRole::parameter));
}

// What the state holds, as far as it is known.
std::optional<Named> state_of(Runtime& run, Value value) {
  if (!value.is(Kind::dict) || value.as<values::Dict>()->factory) return std::nullopt;
  const values::DictState& dict = *values::Heap::dict_state(value);
  Named found;
  found.complete = !dict.open;
  for (const auto& [key, item] : dict.items) {
    const Value held = run.resolve(item);
    const TensorState* state = tensor_state(run, held);
    if (!key.is(Kind::string))
      found.complete = false;
    else if (!state)
      return std::nullopt;
    else
      found.tensors[std::string(key.text())] = state;
  }
  return found;
}

bool known(const Shape& shape) {
  return shape.ndim_known &&
      std::ranges::all_of(shape.dims, [](const Dim& dim) { return dim.size != nullptr; });
}
// Of a layer, its weight says more than its bias.
const std::string* differing(Runtime& run, const Named& theirs, const Named& ours) {
  const std::string* found = nullptr;
  std::size_t dims = 0;
  for (const auto& [name, state] : theirs.tensors) {
    const auto own = ours.tensors.find(name);
    if (own == ours.tensors.end() || !known(state->shape) || !known(own->second->shape)) continue;
    const auto &a = state->shape.dims, &b = own->second->shape.dims;
    // One number in a list is taken for a number.
    if (b.empty() && a.size() == 1) continue;
    bool other = a.size() != b.size();
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
      other = other ||
          (run.symbols().compare(symbolic::Compare::eq, a[i].size, b[i].size) == Answer::no &&
              !run.symbols().varies(a[i].size) && !run.symbols().varies(b[i].size));
    if (!other || (found && a.size() <= dims)) continue;
    found = &name;
    dims = a.size();
  }
  return found;
}
// What batches were counted is not asked of states of old.
std::string lacking(const Named& one, const Named& other) {
  for (const auto& [name, state] : one.tensors)
    if (!other.tensors.contains(name) && !name.ends_with("num_batches_tracked")) return name;
  return {};
}
// What a wrapper puts in front of each name, where one of the two has it and the other not.
std::string prefix_of(const Named& with, const Named& without) {
  for (const std::string_view prefix : {"module.", "_orig_mod."}) {
    const auto begins = [&](const auto& each) { return each.first.starts_with(prefix); };
    const bool all = !with.tensors.empty() && std::ranges::all_of(with.tensors, begins);
    if (all && std::ranges::none_of(without.tensors, begins) &&
        without.tensors.contains(with.tensors.begin()->first.substr(prefix.size())))
      return std::string(prefix);
  }
  return {};
}

std::optional<interpreter::Refusal> wrong_names(const Named& theirs, const Named& ours) {
  const std::string missing = lacking(ours, theirs), unexpected = lacking(theirs, ours);
  if (missing.empty() && unexpected.empty()) return {};
  if (const std::string prefix = prefix_of(theirs, ours); !prefix.empty())
    return why<Reason::state_of_wrapped>(prefix, prefix.substr(0, prefix.size() - 1));
  if (const std::string prefix = prefix_of(ours, theirs); !prefix.empty())
    return why<Reason::state_for_wrapped>(prefix, prefix.substr(0, prefix.size() - 1));
  return missing.empty() ? why<Reason::state_unexpected>(unexpected) : why<Reason::state_missing>(missing);
}

enum Argument : std::size_t { state, strict, assign, own, nothing_shared };

void judge(Call& call, const Named& ours) {
  const std::optional<Named> theirs =
      call.spread ? std::nullopt : state_of(call.run, call.run.resolve(call.at(Argument::state)));
  if (!theirs || theirs->tensors.empty() || ours.tensors.empty()) return;
  const auto tell = [&](interpreter::Refusal refusal) {
    interpreter::ProblemEvent* event = call.run.problem(values::ProblemKind::state, call);
    explain(*event, std::move(refusal));
    if (call.self.object()->born)
      event->evidence.emplace_back(call.self.object()->born, "the model that loads it is made here");
  };
  if (const std::string* name = differing(call.run, *theirs, ours)) {
    tell(why<Reason::shape_in_state>(*name, theirs->tensors.at(*name)->shape, ours.tensors.at(*name)->shape));
    return;
  }
  if (!theirs->complete || !ours.complete) return;
  const Answer all = call.run.symbols().decide(call.run.truth(call.at(Argument::strict)));
  if (all == Answer::yes) {
    if (auto refusal = wrong_names(*theirs, ours)) tell(std::move(*refusal));
  } else if (all == Answer::no && std::ranges::none_of(ours.tensors, [&](const auto& each) {
               return theirs->tensors.contains(each.first);
             })) {
    call.arguments[Argument::nothing_shared] = call.run.heap().boolean(true);
  }
}

// A module that takes its state in its own way may take tensors of other sizes with it.
void forget_sizes(Call& call, Value value, int depth = 0) {
  value = call.run.resolve(value);
  if (depth > values::deepest_data) return;
  if (value.is(Kind::list)) {
    for (const Value& item : std::vector(values::Heap::list_state(value)->items))
      forget_sizes(call, item, depth + 1);
    return;
  }
  if (!value.is(Kind::instance) || !call.run.is_a(value, module_class)) return;
  auto* module = value.as<Instance>();
  const bool by_itself = module->cls &&
      call.run.find_in_order(module->cls->order, Name("_load_from_state_dict")).is(Kind::function);
  for (std::size_t i = 0; i < module->attributes.entries().size(); ++i) {
    const Value held = module->attributes.entries()[i].second->value;
    const TensorState* known = by_itself ? tensor_state(call.run, held) : nullptr;
    if (!known) {
      forget_sizes(call, held, depth + 1);
      continue;
    }
    TensorState state = *known;
    state.shape = {};
    state.first.clear();
    state.content = nullptr;
    state.extent = nullptr;
    state.strides.clear();
    set_state(call.run, held, state);
  }
}

}  // namespace

Value state_dict(Call& call) {
  // `destination` and `prefix` are somebody else's business.
  const bool plain = !call.spread && call.rest.empty() &&
      std::ranges::all_of(call.options, [](const auto& each) { return each.first.text() == "keep_vars"; });
  if (!plain || !call.self.is(Kind::instance) || !call.run.is_a(call.self, module_class))
    return call.run.heap().dict({}, true, unseen_weights(call, call.self, values::TensorRole::parameter));
  return as_dict(call, named_tensors(call.run, call.self, false));
}

Value load_state(Call& call) {
  if (call.self.is(Kind::instance) && call.run.is_a(call.self, module_class)) {
    const Named ours = named_tensors(call.run, call.self, true);
    judge(call, ours);
    call.arguments[Argument::own] = as_dict(call, ours);
  }
  call.run.heap().note_write(nullptr);
  forget_sizes(call, call.self);
  // What is assigned stays where it was loaded.
  if (call.at(Argument::assign) &&
      call.run.symbols().decide(call.run.truth(call.at(Argument::assign))) != Answer::no)
    lose_devices(call.run, call.self);
  // The names that did not fit.
  static constexpr std::string_view names[] = {"missing_keys", "unexpected_keys"};
  values::Heap& heap = call.run.heap();
  const auto some = [&] { return heap.open_list(heap.unknown("", Sharing::uniform, call.place)); };
  const Value misfits = heap.tuple({some(), some()});
  misfits.as<values::Tuple>()->fields = names;
  misfits.as<values::Tuple>()->born = call.place;
  return misfits;
}

Value takes_part_in_state(Call& call) {
  keep(call, values::ModuleState::own_state, call.run.heap().boolean(true));
  return call.run.heap().unseen("", call.place);
}

}  // namespace stepzero::libraries
