#include "footprint/modules.hpp"

#include "footprint/built_layers.hpp"
#include "footprint/reparametrized.hpp"
#include "values/kept.hpp"
#include "values/limits.hpp"

#include <algorithm>

namespace stepzero::footprint {

using values::Kind;
using values::TensorRole;

namespace {

const values::Row* class_row(const Instance& object) {
  const values::LibrarySymbol* native = object.native ? object.native
      : object.cls                                    ? object.cls->native
                                                      : nullptr;
  return native ? native->row : nullptr;
}

std::string type_of(const Instance& object) {
  if (object.cls) return std::string(object.cls->name.text());
  const std::string_view path = object.native ? object.native->path : std::string_view("module");
  return std::string(path.substr(path.rfind('.') + 1));
}

// Is one of the things that it may be a module, or a tensor? Code that is not seen may have made either.
bool may_be_part(Value value) {
  if (value.is(Kind::choice)) {
    const auto* choice = value.as<values::Choice>();
    return may_be_part(choice->yes) || may_be_part(choice->no);
  }
  return is_module(value) || value.is(Kind::tensor) ||
      (value.is(Kind::unknown) && value.as<values::Unknown>()->unseen);
}

// What somebody has only asked an object for that is all known: nobody has put it there.
bool is_only_asked(const Instance& module, std::string_view name, Value value) {
  if (!value.is(Kind::unknown) || module.open || module.symbolic || (module.cls && module.cls->open))
    return false;
  const std::string_view own = value.as<values::Unknown>()->name;
  return own.size() > name.size() && own.ends_with(name) && own[own.size() - name.size() - 1] == '.';
}
// One of several modules, none of which has a parameter or buffer: whether paths are dropped, or nothing is
// done.
bool holds_nothing(const Record& record, Value value, int depth = 0) {
  value = decided(record, value);
  if (value.is(Kind::choice) && depth < values::deepest_module) {
    const auto* choice = value.as<values::Choice>();
    return holds_nothing(record, choice->yes, depth + 1) && holds_nothing(record, choice->no, depth + 1);
  }
  if (!is_module(value)) return value.is(Kind::none);
  const Tree tree = tree_of(record, *value.as<Instance>());
  return tree.complete && tree.modules.size() == 1 && tree.modules[0].own.empty();
}

// Calls `each` with the name and the module of every part, and how many it stands for. False: there may be
// others.
template <class Each> bool each_part(const Record& record, const Instance& module, const Each& each,
    std::vector<UnseenPart>* unseen = nullptr) {
  bool complete = !module.symbolic && !(module.cls && module.open);
  for (const auto& [name, slot] : module.attributes.entries()) {
    if (!slot->value || values::is_kept(name.text()) || name.text().starts_with("__")) continue;
    const Value value = decided(record, slot->value);
    if (is_module(value))
      each(name.text(), *value.template as<Instance>(), std::int64_t{1});
    else if (!value.is(Kind::tensor) && may_be_part(value) && !is_only_asked(module, name.text(), value) &&
        !(value.is(Kind::choice) && holds_nothing(record, value))) {
      complete = false;
      if (unseen && value.is(Kind::unknown))
        unseen->push_back({std::string(name.text()), value.object()->born});
    }
  }
  if (const Value list = attribute(record, module, values::ContainerState::items); list.is(Kind::list)) {
    const auto* items = values::Heap::list_state(list);
    complete = complete && !items->open;
    const Value names = attribute(record, module, values::ContainerState::names);
    for (std::size_t i = 0; i < items->items.size(); ++i) {
      const Value item = decided(record, items->items[i]);
      Value name;
      if (names.is(Kind::list) && i < values::Heap::list_state(names)->items.size())
        name = values::Heap::list_state(names)->items[i];
      const bool stands = is_module(item) && item.template as<Instance>()->of_many;
      if (stands &&
          std::find(items->items.begin(), items->items.begin() + static_cast<std::ptrdiff_t>(i),
              items->items[i]) != items->items.begin() + static_cast<std::ptrdiff_t>(i))
        continue;
      const std::int64_t copies =
          stands ? std::count(items->items.begin(), items->items.end(), items->items[i]) : 1;
      if (is_module(item))
        each(name.is(Kind::string) ? name.text() : std::string_view(std::to_string(i)),
            *item.template as<Instance>(), copies);
      else if (!item.is(Kind::none) && !item.is(Kind::tensor))
        complete = false;
    }
  }
  if (const Value dict = attribute(record, module, values::ContainerState::dict); dict.is(Kind::dict)) {
    const auto* items = values::Heap::dict_state(dict);
    complete = complete && !items->open;
    for (const auto& [key, value] : items->items) {
      const Value item = decided(record, value);
      if (key.is(Kind::string) && is_module(item))
        each(key.text(), *item.template as<Instance>(), std::int64_t{1});
      else if (!item.is(Kind::tensor))
        complete = false;
    }
  }
  return complete;
}

class Walk {
public:
  explicit Walk(const Record& record) : record_(record) {}

  void add(const Instance& module, const std::string& path, int depth, std::int64_t copies) {
    constexpr std::size_t most = 20'000;  // of one model: an answer takes a second at most
    if (!modules_.insert(&module).second) return;
    if (tree.modules.size() >= most || depth > values::deepest_module) {
      tree.complete = false;
      return;
    }
    const std::size_t at = tree.modules.size();
    tree.modules.push_back({path, type_of(module), &module, depth, copies, {}, {}});
    const auto inside = [&](std::string_view name) {
      return path.empty() ? std::string(name) : path + "." + std::string(name);
    };
    bool any = false;
    const auto look = [&](std::string_view name, Value value) {
      if (value.is(Kind::choice) && may_be_part(value) && !holds_nothing(record_, value))
        tree.complete = false;
      if (!value.is(Kind::tensor)) return;
      const auto* tensor = value.as<values::Tensor>();
      if (tensor->role == TensorRole::plain) return;
      any = true;
      const TensorState& now = *tensor->now();
      const auto [first, is_new] = tensors_.try_emplace(tensor, inside(name));
      if (!is_new) {
        if (tensor->role == TensorRole::parameter)
          tree.modules[at].tied.push_back({first->second, now.shape, now.dtype});
        return;
      }
      tree.modules[at].own.push_back({inside(name), tensor, &module, now.shape, now.dtype,
          tensor->role == TensorRole::parameter, record_.heap.requires_grad(now), copies});
    };
    for (const auto& [name, slot] : module.attributes.entries())
      if (slot->value && !values::is_kept(name.text())) look(name.text(), decided(record_, slot->value));
    // ParameterList, ParameterDict.
    if (const Value list = attribute(record_, module, values::ContainerState::items); list.is(Kind::list))
      for (std::size_t i = 0; i < values::Heap::list_state(list)->items.size(); ++i)
        look(std::to_string(i), decided(record_, values::Heap::list_state(list)->items[i]));
    if (const Value dict = attribute(record_, module, values::ContainerState::dict); dict.is(Kind::dict))
      for (const auto& [key, value] : values::Heap::dict_state(dict)->items)
        look(key.is(Kind::string) ? key.text() : "?", decided(record_, value));
    bool built = false;
    if (!module.cls || !any)
      if (auto held = held_by_built_layer(record_, module, path)) {
        built = true;
        for (Held& each : *held) {
          each.copies *= copies;
          tree.modules[at].own.push_back(std::move(each));
        }
      }
    if (const auto computed = computed_weight(record_, module)) {
      if (auto held = held_for_weight(record_, module, *computed, path))
        for (Held& each : *held) {
          each.copies *= copies;
          tree.modules[at].own.push_back(std::move(each));
        }
      else
        tree.complete = false;
    }
    std::vector<UnseenPart> unseen;
    const bool parts = each_part(
        record_, module,
        [&](std::string_view name, const Instance& part, std::int64_t each) {
          add(part, inside(name), depth + 1, copies * each);
        },
        &unseen);
    for (UnseenPart& part : unseen) tree.unseen.push_back({inside(part.path), part.made});
    const bool container = module.cls || attribute(record_, module, values::ContainerState::items) ||
        attribute(record_, module, values::ContainerState::dict) ||
        attribute(record_, module, values::ContainerState::complete);
    if (!built && !(parts && (container || any || parts_follow(at)))) tree.complete = false;
  }

  Tree tree;

private:
  bool parts_follow(std::size_t at) const { return tree.modules.size() > at + 1; }

  const Record& record_;
  std::unordered_set<const Instance*> modules_;
  std::unordered_map<const values::Tensor*, std::string> tensors_;
};

}  // namespace

bool is_a(const Instance& object, std::string_view class_path) {
  for (const values::Row* row = class_row(object); row; row = row->base_row)
    if (row->path == class_path) return true;
  return false;
}

Value decided(const Record& record, Value value) {
  while (value.is(Kind::choice)) {
    const auto* choice = value.as<values::Choice>();
    const symbolic::Answer answer = record.symbols.decide(choice->condition);
    if (answer == symbolic::Answer::unknown) break;
    value = answer == symbolic::Answer::yes ? choice->yes : choice->no;
  }
  return value;
}

Value attribute(const Record& record, const Instance& object, std::string_view name) {
  const values::Slot* slot = object.attributes.find(syntax::Name(name));
  const Value value = slot ? decided(record, slot->value) : Value{};
  return value.is(Kind::none) ? Value{} : value;
}

Value argument_of(const Record& record, const interpreter::OperationEvent& event, std::string_view name) {
  for (std::size_t i = 0; i < event.row->parameters.size() && i < event.arguments.size(); ++i)
    if (event.row->parameters[i].text() == name) return decided(record, event.arguments[i]);
  return {};
}

bool is_given_off(const Record& record, const interpreter::OperationEvent& event, std::string_view name) {
  const Value given = argument_of(record, event, name);
  return given.is(values::Kind::boolean) && record.symbols.decide(given.condition()) == symbolic::Answer::no;
}

Tree tree_of(const Record& record, const Instance& model) {
  Walk walk(record);
  walk.add(model, "", 0, 1);
  return std::move(walk.tree);
}

bool is_frozen(const Record& record, const Instance& module) {
  const Tree tree = tree_of(record, module);
  bool any = false;
  for (const Module& part : tree.modules)
    for (const Held& held : part.own) {
      any = any || held.is_parameter;
      if (held.is_parameter && held.trained != values::Known::no) return false;
    }
  return any && tree.complete;
}

std::vector<const Instance*> models_of(const Record& record, const std::vector<Value>& values) {
  std::vector<const Instance*> found;
  std::unordered_set<const Instance*> seen, parts;
  const auto add = [&](Value value) {
    value = decided(record, value);
    if (!is_module(value)) return;
    const auto* module = value.as<Instance>();
    if (module->symbolic || module->of_many || !seen.insert(module).second) return;
    found.push_back(module);
  };
  for (const Value& value : values) add(value);
  for (const Instance* module : found) {
    std::unordered_set<const Instance*> inner;
    const auto walk = [&](const auto& self, const Instance& at, int depth) -> void {
      // What a stack was built from is copied.
      if (const Value copied = attribute(record, at, values::ModuleState::layer); copied.is(Kind::instance))
        parts.insert(copied.as<Instance>());
      each_part(record, at, [&](std::string_view, const Instance& part, std::int64_t) {
        parts.insert(&part);
        if (depth < values::deepest_module && inner.insert(&part).second) self(self, part, depth + 1);
      });
    };
    if (!parts.contains(module)) walk(walk, *module, 0);
  }
  std::erase_if(found, [&](const Instance* module) { return parts.contains(module); });
  return found;
}

}  // namespace stepzero::footprint
