// nn.Module itself: its tree of parts, its parameters and modes. Semantics as in the documentation of
// torch.nn.Module.
#include "libraries/torch/nn/modules.hpp"

#include "interpreter/record.hpp"
#include "libraries/torch/nn/module_calls.hpp"
#include "libraries/torch/nn/states.hpp"
#include "syntax/walk.hpp"
#include "values/internal_rows.hpp"
#include "values/kept.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <unordered_set>

namespace stepzero::libraries {

namespace {

// `DropPath(rate) if rate > 0 else nn.Identity()`: calls `each` with every module that the value may be. Are
// they all modules, that is known?
template <class Each> bool each_of_choice(Runtime& run, Value value, const Each& each) {
  value = run.resolve(value);
  if (value.is(Kind::choice)) {
    const auto* choice = value.as<values::Choice>();
    const bool yes = each_of_choice(run, choice->yes, each), no = each_of_choice(run, choice->no, each);
    return yes && no;
  }
  if (!run.is_a(value, module_class)) return false;
  each(value);
  return true;
}

enum class KnownParts { all, one_of_each_choice, some };

// Is one of the things that it may be a module? Code that is not seen may have made one.
bool may_be_module(Runtime& run, Value value) {
  if (value.is(Kind::choice)) {
    const auto* choice = value.as<values::Choice>();
    return may_be_module(run, choice->yes) || may_be_module(run, choice->no);
  }
  if (value.is(Kind::unknown)) return value.as<values::Unknown>()->unseen;
  // What it derives from may be a module.
  if (value.is(Kind::instance) && value.as<Instance>()->cls && value.as<Instance>()->cls->open) return true;
  return run.is_a(value, module_class);
}
// Calls `each` with the name and the value of every part, and with each of several modules of which one is
// the part.
template <class Each> KnownParts each_part(Runtime& run, const Instance& module, Each each) {
  static const Name items_name(values::ContainerState::items), names_name(values::ContainerState::names),
      dict_name(values::ContainerState::dict);
  const auto held = [&](Name name) {
    const values::Slot* slot = module.attributes.find(name);
    return slot ? run.resolve(slot->value) : Value{};
  };
  bool complete = !module.symbolic && !module.of_many && !(module.cls && module.open), chosen = false;
  for (const auto& [name, slot] : module.attributes.entries()) {
    if (!slot->value || values::is_kept(name.text()) || name.text().starts_with("__")) continue;
    const Value value = run.resolve(slot->value);
    if (run.is_a(value, module_class))
      each(name.text(), value);
    else if (each_of_choice(run, value, [](const Value&) {})) {
      each_of_choice(run, value, [&](const Value& side) { each(name.text(), side); });
      chosen = true;
    } else if (may_be_module(run, value)) {
      complete = false;
    }
  }
  if (const Value list = held(items_name); list.is(Kind::list)) {
    const auto* items = values::Heap::list_state(list);
    complete = complete && !items->open;
    const Value names = held(names_name);
    const auto known = names && !names.is(Kind::none) ? run.elements(names, {}) : std::nullopt;
    for (std::size_t i = 0; i < items->items.size(); ++i) {
      const Value item = run.resolve(items->items[i]);
      const Value name = known && i < known->size() ? run.resolve((*known)[i]) : Value{};
      char number[24];
      const std::string_view index(number,
          static_cast<std::size_t>(std::to_chars(std::begin(number), std::end(number), i).ptr - number));
      if (run.is_a(item, module_class))
        each(name.is(Kind::string) ? name.text() : index, item);
      else if (!item.is(Kind::none) && !item.is(Kind::tensor))
        complete = false;
    }
  }
  if (const Value dict = held(dict_name); dict.is(Kind::dict)) {
    const auto* items = values::Heap::dict_state(dict);
    complete = complete && !items->open;
    for (const auto& [key, value] : items->items) {
      const Value item = run.resolve(value);
      if (key.is(Kind::string) && run.is_a(item, module_class))
        each(key.text(), item);
      else if (!key.is(Kind::string) || !item.is(Kind::tensor))
        complete = false;
    }
  }
  if (!complete) return KnownParts::some;
  return chosen ? KnownParts::one_of_each_choice : KnownParts::all;
}

}  // namespace

Parts parts_of(Runtime& run, const Instance& module) {
  Parts parts;
  const KnownParts known = each_part(run, module,
      [&](std::string_view name, Value part) { parts.list.push_back({std::string(name), part}); });
  parts.complete = known == KnownParts::all;
  parts.or_others = known == KnownParts::some;
  return parts;
}

namespace {

constexpr std::size_t max_modules = 4096;  // of one tree that is walked
constexpr std::size_t max_applied = 512;   // modules to which a function is applied one by one

// ---------------------------------------------------------------- the tree

struct Tree {
  std::vector<Part> list;  // itself first, each module once
  bool complete = true;
  std::unordered_set<const values::Object*> seen;
};
void walk(Runtime& run, Value module, const std::string& prefix, Tree& tree) {
  if (tree.list.size() >= max_modules) {
    tree.complete = false;
    return;
  }
  if (!tree.seen.insert(module.object()).second) return;
  tree.list.push_back({prefix, module});
  const Parts parts = parts_of(run, *module.as<Instance>());
  // Whoever does something to all modules does it to both of two of which one is there.
  tree.complete = tree.complete && !parts.or_others;
  for (const Part& part : parts.list)
    walk(run, part.module, prefix.empty() ? part.name : prefix + "." + part.name, tree);
}

// The same without names, and with what may be there: `Head() if args.head else None`.
void gather(Runtime& run, Value module, std::vector<Value>& modules,
    std::unordered_set<const values::Object*>& seen) {
  if (modules.size() >= max_modules || !seen.insert(module.object()).second) return;
  modules.push_back(module);
  const Instance& own = *module.as<Instance>();
  each_part(run, own, [&](std::string_view, Value part) { gather(run, part, modules, seen); });
  for (const auto& [name, slot] : own.attributes.entries())
    if (slot->value && slot->value.is(Kind::choice) && !values::is_kept(name.text()))
      each_of_choice(run, slot->value, [&](const Value& part) { gather(run, part, modules, seen); });
}

// One value per part, or a list of which nothing is known.
template <class Each> Value listed(Call& call, const std::vector<Part>& list, bool complete, Each each) {
  values::Heap& heap = call.run.heap();
  if (!complete) return heap.open_list(heap.unseen("", call.place));
  std::vector<Value> items;
  items.reserve(list.size());
  for (const Part& part : list) items.push_back(each(part));
  return heap.list(std::move(items));
}
Value named(Call& call, const Part& part) {
  return call.run.heap().tuple({call.run.heap().string(part.name), part.module});
}

template <bool with_names> Value children(Call& call) {
  Parts parts = parts_of(call.run, object(call));
  std::unordered_set<const values::Object*> seen;
  std::erase_if(parts.list, [&](const Part& part) { return !seen.insert(part.module.object()).second; });
  if (!parts.complete) lose_dtypes(call.run, call.self);
  return listed(call, parts.list, parts.complete,
      [&](const Part& part) { return with_names ? named(call, part) : part.module; });
}
template <bool with_names> Value modules(Call& call) {
  Tree tree;
  const Value prefix = with_names ? call.run.resolve(call.at(1)) : Value{};
  walk(call.run, call.self, prefix.is(Kind::string) ? std::string(prefix.text()) : "", tree);
  if (!tree.complete) lose_dtypes(call.run, call.self);
  return listed(call, tree.list, tree.complete,
      [&](const Part& part) { return with_names ? named(call, part) : part.module; });
}
// `layers._modules.items()`: is the dict there only read? Other parts may be put into one that is handed on.
bool is_only_read(const interpreter::Record& record, values::Place dict) {
  constexpr std::string_view reading[] = {"items", "keys", "values", "get"};
  const syntax::Stmt* root = record.chunk(dict).statement();
  bool found = false;
  if (root)
    syntax::for_each_expression(*root, [&](const syntax::Expr& expr) {
      if (expr.kind != syntax::ExprKind::call) return;
      const syntax::Expr& callee = *syntax::as<syntax::CallExpr>(expr).function;
      if (callee.kind != syntax::ExprKind::attribute) return;
      const auto& method = syntax::as<syntax::AttributeExpr>(callee);
      found = found ||
          (method.object->span == dict.span &&
              std::ranges::find(reading, method.attribute.text()) != std::end(reading));
    });
  return found;
}
Value parts_dict(Call& call) {
  if (!is_only_read(call.run.record(), call.place)) lose_dtypes(call.run, call.self);
  const Parts parts = parts_of(call.run, object(call));
  std::vector<std::pair<Value, Value>> items;
  items.reserve(parts.list.size());
  for (const Part& part : parts.list) items.push_back({call.run.heap().string(part.name), part.module});
  return call.run.heap().dict(
      std::move(items), !parts.complete, parts.complete ? Value{} : call.run.heap().unseen(""));
}
Value submodule(Call& call) {
  const Value path = call.run.resolve(call.at(0));
  if (!path.is(Kind::string)) return call.run.heap().unseen("", call.place);
  std::string_view rest = path.text();
  Value at = call.self;
  while (!rest.empty()) {
    const auto dot = rest.find('.');
    at = call.run.attribute(at, Name(rest.substr(0, dot)), call.place);
    rest = dot == std::string_view::npos ? std::string_view{} : rest.substr(dot + 1);
  }
  return at;
}
// The dtypes and devices of a module's own tensors.
std::vector<std::pair<Dtype, const values::Device*>> placed(Runtime& run, Value module) {
  std::vector<std::pair<Dtype, const values::Device*>> found;
  for (const auto& [name, slot] : module.as<Instance>()->attributes.entries())
    if (const Value tensor = run.resolve(slot->value); tensor.is(Kind::tensor))
      found.emplace_back(tensor.as<Tensor>()->now()->dtype, tensor.as<Tensor>()->now()->device);
  return found;
}
Value apply(Call& call) {
  Tree tree;
  walk(call.run, call.self, "", tree);
  // Parts first, as PyTorch does. In a large tree what it does to one of a class it does to each.
  const bool one_by_one = tree.list.size() <= max_applied;
  std::set<const void*> met;
  bool converts = false;
  for (auto part = tree.list.rbegin(); part != tree.list.rend(); ++part) {
    const Instance& module = *part->module.as<Instance>();
    const void* const kind = module.cls ? static_cast<const void*>(module.cls) : module.native;
    if (!one_by_one && !met.insert(kind).second) continue;
    const auto before = one_by_one ? std::vector<std::pair<Dtype, const values::Device*>>()
                                   : placed(call.run, part->module);
    call.run.call(call.at(0), {{part->module}, {}, false}, call.place);
    converts = converts || (!one_by_one && before != placed(call.run, part->module));
  }
  if (converts && !call.run.record().conditions.contains(values::RecordCondition::counted))
    lose_dtypes(call.run, call.self);
  if (!tree.complete)
    call.run.call(call.at(0), {{call.run.heap().unseen("", call.place)}, {}, false}, call.place);
  return call.self;
}

// ---------------------------------------------------------------- parameters

// parameters(): what an optimizer is given; `$of` tells whose they are.
Value parameters(Call& call) {
  Instance* list = call.run.make_native(values::InternalRow::parameters, call.place);
  keep(call.run, *list, values::OptimizerState::of, call.self);
  return Value::of(Kind::instance, list);
}
struct Tensors {
  std::vector<Part> list;
  bool complete = true;
};
// The tensors of a tree that are parameters, or those registered as buffers. A layer of PyTorch's that holds
// none may hold some that are not known: `$complete` says that it does not.
Tensors tensors_of(Runtime& run, Value module, bool buffers) {
  Tree tree;
  walk(run, module, "", tree);
  Tensors found;
  found.complete = tree.complete;
  std::unordered_set<const values::Object*> seen;
  bool holds_unknown = false;
  for (const Part& part : tree.list) {
    const Instance& holder = *part.module.as<Instance>();
    bool any = false;
    for (const auto& [name, slot] : holder.attributes.entries()) {
      if (!slot->value || values::is_kept(name.text())) continue;
      const Value value = run.resolve(slot->value);
      holds_unknown = holds_unknown || value.is(Kind::unknown);
      if (!value.is(Kind::tensor)) continue;
      const auto role = value.as<Tensor>()->role;
      any = any || role != values::TensorRole::plain;
      if (role == (buffers ? values::TensorRole::buffer : values::TensorRole::parameter) &&
          seen.insert(value.object()).second)
        found.list.push_back(
            {part.name.empty() ? std::string(name.text()) : part.name + "." + std::string(name.text()),
                value});
    }
    const auto take = [&](std::string_view name, Value item) {
      const Value value = run.resolve(item);
      if (value.is(Kind::tensor) &&
          value.as<Tensor>()->role ==
              (buffers ? values::TensorRole::buffer : values::TensorRole::parameter) &&
          seen.insert(value.object()).second)
        found.list.push_back({(part.name.empty() ? "" : part.name + ".") + std::string(name), value});
    };
    if (const Value list = kept(run, holder, values::ContainerState::items); list.is(Kind::list))
      for (std::size_t i = 0; i < values::Heap::list_state(list)->items.size(); ++i)
        take(std::to_string(i), values::Heap::list_state(list)->items[i]);
    if (const Value dict = kept(run, holder, values::ContainerState::dict); dict.is(Kind::dict))
      for (const auto& [key, item] : std::vector(values::Heap::dict_state(dict)->items))
        if (key.is(Kind::string)) take(key.text(), item);
    const bool container = holder.cls || kept(run, holder, values::ContainerState::items) ||
        kept(run, holder, values::ContainerState::dict) ||
        kept(run, holder, values::ContainerState::complete);
    found.complete = found.complete && (container || any);
  }
  // An unknown attribute is seldom a module, but one that has none besides would train nothing.
  found.complete = found.complete && !(found.list.empty() && holds_unknown);
  return found;
}
}  // namespace
Value unseen_weights(Call& call, Value module, values::TensorRole role) {
  auto* producer = call.run.heap().make<values::Producer>();
  producer->born = call.place;
  producer->row = &call.row;
  producer->self = module;
  producer->calls = call.run.site();
  TensorState state;
  state.sharing = Sharing::unseen;
  state.unseen = true;
  state.made = producer;
  const Value made = result(call, std::move(state));
  made.as<Tensor>()->role = role;
  made.as<Tensor>()->any_of = true;
  return made;
}
namespace {
// Those of a module of which not all is known are any of them.
template <bool with_names> Value any_weights(Call& call, Value module, values::TensorRole role) {
  values::Heap& heap = call.run.heap();
  const Value one = unseen_weights(call, module, role);
  return heap.open_list(with_names ? heap.tuple({heap.unknown("", Sharing::uniform, call.place), one}) : one);
}
Value parameters_list(Call& call) {
  const Value of = kept(call, values::OptimizerState::of);
  const Tensors found = call.run.is_a(of, module_class) ? tensors_of(call.run, of, false)
                                                        : Tensors{{}, false};
  if (!found.complete) return any_weights<false>(call, of, values::TensorRole::parameter);
  return listed(call, found.list, true, [&](const Part& part) { return part.module; });
}
template <bool buffers, bool with_names> Value tensors(Call& call) {
  const Tensors found = call.self.is(Kind::instance) ? tensors_of(call.run, call.self, buffers)
                                                     : Tensors{{}, false};
  if (!found.complete)
    return any_weights<with_names>(
        call, call.self, buffers ? values::TensorRole::buffer : values::TensorRole::parameter);
  return listed(
      call, found.list, true, [&](const Part& part) { return with_names ? named(call, part) : part.module; });
}
// Of a module of which not all is known, what is known is set.
Value set_trained(Call& call) {
  const Answer wanted = call.run.symbols().decide(call.run.truth(call.at(0)));
  const Known known = wanted == Answer::yes ? Known::yes : wanted == Answer::no ? Known::no : Known::unknown;
  for (const Part& part : tensors_of(call.run, call.self, false).list)
    require_grad(call.run, part.module, known);
  return call.self;
}
Value register_module(Call& call) {
  const Value name = call.run.resolve(call.at(0));
  if (name.is(Kind::string)) {
    call.run.set_attribute(call.self, Name(name.text()), call.at(1));
  } else if (const Value dict = kept(call, values::ContainerState::dict); dict.is(Kind::dict)) {
    call.run.dict_set(dict, name, call.at(1));
  } else if (const Value list = kept(call, values::ContainerState::items); list.is(Kind::list)) {
    // Of a list of modules it may be any one.
    values::ListState state = *values::Heap::list_state(list);
    state.open = true;
    state.length = nullptr;
    state.rest = call.run.heap().merge(state.rest, call.at(1), Sharing::uniform);
    call.run.heap().set_list(list, std::move(state));
  } else {
    object(call).open = true;
  }
  return Value::none();
}
// ---------------------------------------------------------------- modes

// A module that the program has made trains until it is told otherwise; one that stands for any use of its
// class may do either.
Value training(Call& call) {
  const Instance& module = object(call);
  const Value mode = kept(call, values::ModuleState::training);
  if (!call.run.of_any_use() && !module.symbolic && !mode.is(Kind::unknown))
    return mode ? mode : call.run.heap().boolean(true);
  return Value::of(call.run.named_condition("training", Sharing::uniform));
}
Value set_mode(Call& call, Value mode) {
  static const Name name(values::ModuleState::training);
  std::vector<Value> modules;
  std::unordered_set<const values::Object*> seen;
  gather(call.run, call.self, modules, seen);
  for (const Value& module : modules) {
    values::Slot& slot = call.run.heap().slot_of(module.as<Instance>()->attributes, name);
    if (!(slot.value == mode)) call.run.heap().set(slot, mode);
  }
  return call.self;
}
Value train(Call& call) { return set_mode(call, Value::of(call.run.truth(call.at(0)))); }
Value eval(Call& call) { return set_mode(call, call.run.heap().boolean(false)); }

// The same of an object of which nothing is known: what it says of its mode is what was set.
Value train_unseen(Call& call) {
  call.run.set_attribute(call.self, Name("training"), Value::of(call.run.truth(call.at(0))));
  return call.self;
}
Value eval_unseen(Call& call) {
  call.run.set_attribute(call.self, Name("training"), call.run.heap().boolean(false));
  return call.self;
}

// f(tensor) of each of its tensors: where they lie then is not known.
Value apply_to_tensors(Call& call) {
  lose_dtypes(call.run, call.self);
  return call.self;
}
Value hidden(Call& call) { return call.run.heap().unseen("", call.place); }
// Whoever asks for the module's own tables may put other tensors and parts into them.
Value own_table(Call& call) {
  keep(call, values::ModuleState::own_state, call.run.heap().boolean(true));
  lose_dtypes(call.run, call.self);
  return hidden(call);
}
}  // namespace

std::vector<Row> module_rows() {
  using enum RowKind;
  std::vector<Row> rows = {
      row("torch.nn.Module", class_, "*arguments, **options", nullptr),
      row("torch.nn.Module.__init__", method, "*arguments, **options", itself),
      row("torch.nn.Module.training", property, "", training),
      // Of objects of which nothing is known but that the program asks this of them.
      row(values::under<values::InternalRow::of_unseen, "train">, method, "mode=True", train_unseen, {},
          Operation::train_mode),
      row(values::under<values::InternalRow::of_unseen, "eval">, method, "", eval_unseen, {},
          Operation::eval_mode),
      row(values::InternalRow::called_unseen, method, "", nullptr, {}, Operation::forward),
      // Who has them is a module.
      row(values::under<values::InternalRow::of_unseen, "parameters">, method, "", nullptr),
      row(values::InternalRow::given_together, method, "*inputs", given_to_unseen),
      row(values::InternalRow::combined, function, "left, right", combined_unseen),
      row("torch.nn.Module.train", method, "mode=True", train, {}, Operation::train_mode),
      row("torch.nn.Module.eval", method, "", eval, {}, Operation::eval_mode),
      row("torch.nn.Module.requires_grad_", method, "requires_grad=True", set_trained),
      // A plain attribute: it reaches no parameter.
      row(
          "torch.nn.Module.$set.requires_grad", method, "value", [](Call&) { return Value::none(); }, {},
          Operation::flag_of_module),
      row("torch.nn.Module.parameters", method, "recurse=True", parameters),
      row("torch.nn.Module.named_parameters", method, "prefix='', recurse=True, remove_duplicate=True",
          tensors<false, true>),
      row("torch.nn.Module.buffers", method, "recurse=True", tensors<true, false>),
      row("torch.nn.Module.named_buffers", method, "prefix='', recurse=True, remove_duplicate=True",
          tensors<true, true>),
      row("torch.nn.Module.children", method, "", children<false>),
      row("torch.nn.Module.named_children", method, "", children<true>),
      row("torch.nn.Module.modules", method, "", modules<false>),
      row("torch.nn.Module.named_modules", method, "memo=None, prefix='', remove_duplicate=True",
          modules<true>),
      row("torch.nn.Module._modules", property, "", parts_dict),
      row("torch.nn.Module.get_submodule", method, "target", submodule),
      row("torch.nn.Module.get_parameter", method, "target", submodule),
      row("torch.nn.Module.get_buffer", method, "target", submodule),
      row("torch.nn.Module.apply", method, "fn", apply),
      row("torch.nn.Module.register_parameter", method, "name, param", register_module),
      row("torch.nn.Module.add_module", method, "name, module", register_module),
      row("torch.nn.Module.register_module", method, "name, module", register_module),
      row("torch.nn.Module.register_full_backward_hook", method, "hook, **options", nothing),
      row("torch.nn.Module.register_backward_hook", method, "hook, **options", nothing),
      row("torch.nn.Module.state_dict", method, "*arguments, **options", state_dict),
      row("torch.nn.Module.load_state_dict", method,
          "state_dict, strict=True, assign=False, *, own=None, nothing=None", load_state),
      row("torch.nn.Module._apply", method, "fn, recurse=True", apply_to_tensors),
      row("torch.nn.Module.zero_grad", method, "set_to_none=True", nothing, {}, Operation::zero_grad),

      row(values::InternalRow::same, function, "x", first_argument),
      row(values::InternalRow::parameters, class_, "", nullptr),
      row(values::InternalRow::parameters_iter, method, "", parameters_list),
  };
  // By these methods programs run a part of what they call their model.
  for (const std::string_view name : {values::under<values::InternalRow::of_unseen, "forward">,
           values::under<values::InternalRow::of_unseen, "forward_features">,
           values::under<values::InternalRow::of_unseen, "extract_features">,
           values::under<values::InternalRow::of_unseen, "encode">,
           values::under<values::InternalRow::of_unseen, "encode_image">,
           values::under<values::InternalRow::of_unseen, "encode_text">,
           values::under<values::InternalRow::of_unseen, "get_image_features">,
           values::under<values::InternalRow::of_unseen, "get_text_features">,
           values::under<values::InternalRow::of_unseen, "get_intermediate_layers">,
           values::under<values::InternalRow::of_unseen, "inference">})
    rows.push_back(row(name, method, "", nullptr, {}, Operation::forward));
  for (const std::string_view name : {values::under<values::InternalRow::of_unseen, "criterion()">,
           values::under<values::InternalRow::of_unseen, "crit()">,
           values::under<values::InternalRow::of_unseen, "loss()">,
           values::under<values::InternalRow::of_unseen, "loss_fn()">,
           values::under<values::InternalRow::of_unseen, "loss_func()">,
           values::under<values::InternalRow::of_unseen, "loss_function()">,
           values::under<values::InternalRow::of_unseen, "loss_fct()">})
    rows.push_back(row(name, method, "input, target", compared_by_unseen));
  for (const auto& more : {module_call_rows(), compiled_rows(), tensor_rows()})
    rows.insert(rows.end(), more.begin(), more.end());
  rows.push_back(row("torch.nn.Module.share_memory", method, "*arguments, **options", itself));
  for (const std::string_view name : {"torch.nn.Module._parameters", "torch.nn.Module._buffers"})
    rows.push_back(row(name, property, "", own_table));
  for (const std::string_view name : {"torch.nn.Module._load_state_dict_post_hooks",
           "torch.nn.Module._load_state_dict_pre_hooks", "torch.nn.Module._register_load_state_dict_pre_hook",
           "torch.nn.Module._register_state_dict_hook", "torch.nn.Module._state_dict_hooks",
           "torch.nn.Module._state_dict_pre_hooks", "torch.nn.Module.register_load_state_dict_post_hook",
           "torch.nn.Module.register_load_state_dict_pre_hook",
           "torch.nn.Module.register_state_dict_post_hook", "torch.nn.Module.register_state_dict_pre_hook"})
    rows.push_back(row(name, property, "", takes_part_in_state));
  for (const std::string_view name : other_names_of_modules())
    rows.push_back(row(name, property, "", hidden));
  for (const std::string_view name : names_of_layers()) rows.push_back(row(name, property, "", hidden));
  rows.front().whole = true;
  return rows;
}

}  // namespace stepzero::libraries
