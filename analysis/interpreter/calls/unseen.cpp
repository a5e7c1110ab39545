// What unseen code computed, and from what; whose methods its values are.
#include "interpreter/calls/unseen.hpp"
#include "interpreter/calls/unseen_notes.hpp"
#include "values/internal_rows.hpp"
#include "values/kept.hpp"
#include "values/limits.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <functional>

namespace stepzero::interpreter {

using syntax::Name;
using values::Kind;
using values::Object;
using values::Unknown;

namespace {

constexpr std::size_t most_sources = 8;  // that are remembered of one call: a loss has two
constexpr values::KeptKey batch_of_loader = values::UnknownState::batch,
                          part_of_batch = values::UnknownState::part_of_batch;

std::vector<const Object*> objects(Value tuple) {
  std::vector<const Object*> found;
  if (tuple.is(Kind::tuple))
    for (const Value& item : tuple.as<values::Tuple>()->items) found.push_back(item.object());
  return found;
}

}  // namespace

void note_part(values::Heap& heap, Value part, const Unknown& whole) {
  if (!part.is(Kind::unknown)) return;
  Unknown& made = *part.as<Unknown>();
  if (comes_from_unseen(whole))
    keep(heap, made, values::UnknownState::part_of, Value::of(Kind::unknown, &whole));
  if (kept(whole, values::UnknownState::moved))
    keep(heap, made, values::UnknownState::moved, heap.boolean(true));
  // Of a part of a part nobody knows that it is more than a number, which goes with any device.
  if (const Value device = kept(whole, values::UnknownState::parts_lie_on))
    keep(heap, made, values::UnknownState::lies_on, device);
  if (kept(whole, batch_of_loader)) keep(heap, made, part_of_batch, heap.boolean(true));
  keep(heap, made, values::UnknownState::whole, Value::of(Kind::unknown, &whole));
}

void note_another(values::Heap& heap, Value made, const Unknown& one) {
  for (const values::KeptKey key : {values::UnknownState::whole, values::UnknownState::part_of,
           values::UnknownState::given_by, values::UnknownState::moved})
    if (const Value known = kept(one, key)) keep(heap, *made.as<Unknown>(), key, known);
}

void date_back(Value part, const Unknown& whole) {
  if (!part.is(Kind::unknown)) return;
  Unknown& made = *part.as<Unknown>();
  made.attributes.birth = std::min(made.attributes.birth, whole.attributes.birth);
  made.state.birth = std::min(made.state.birth, whole.attributes.birth);
}

void note_batch(values::Heap& heap, Value value) {
  if (value.is(Kind::unknown)) keep(heap, *value.as<Unknown>(), batch_of_loader, heap.boolean(true));
}
Sharing sharing_of_length(const Unknown& value) {
  return value.sharing == Sharing::local && (kept(value, batch_of_loader) || kept(value, part_of_batch))
      ? Sharing::unseen
      : value.sharing;
}

void note_view(values::Heap& heap, Value made, const Unknown& of) {
  keep(heap, *made.as<Unknown>(), values::UnknownState::made_of, Value::of(Kind::unknown, &of));
}

void note_given_by(values::Heap& heap, Value made, Value function) {
  if (const Value object =
          function.is(Kind::unknown) ? kept(*function.as<Unknown>(), values::UnknownState::whole) : Value{})
    keep(heap, *made.as<Unknown>(), values::UnknownState::given_by, object);
}
void note_operands(values::Heap& heap, Value made, Value left, Value right) {
  note_beside_number(heap, made, left, right);
  std::vector<Value> from;
  for (const Value& side : {left, right})
    if (side.is(Kind::unknown) && comes_from_unseen(*side.as<Unknown>())) from.push_back(side);
  if (!from.empty())
    keep(heap, *made.as<Unknown>(), values::UnknownState::operands, heap.tuple(std::move(from)));
}

void note_computed(
    Runtime& run, Value made, Value function, std::string_view name, const Arguments& arguments) {
  std::vector<Value> from;
  bool computed = arguments.spread;
  Value device;
  // A method of such a value computes from it.
  if (function.is(Kind::unknown))
    if (const Unknown* object = whole_of(*function.as<Unknown>())) {
      from.push_back(Value::of(Kind::unknown, object));
      computed = true;
    }
  const std::function<void(Value, int)> take = [&](Value argument, int depth) {
    argument = run.resolve(argument);
    switch (argument.kind) {
    // Either may be what it was given.
    case Kind::choice:
      if (depth < values::most_choices)
        for (const Value side : {argument.as<values::Choice>()->yes, argument.as<values::Choice>()->no})
          take(side, depth + 1);
      return;
    case Kind::unknown:
    case Kind::tensor:
    case Kind::tuple:
    case Kind::list:
    case Kind::dict: computed = true; break;
    // `batch["x"].to(device)`
    case Kind::device: device = argument; return;
    default: return;
    }
    const Value tensor = argument.is(Kind::unknown) ? argument.as<Unknown>()->state.value : argument;
    if (tensor.is(Kind::tensor)) {
      const values::TensorState& state = *tensor.as<values::Tensor>()->now();
      for (const Object* source : state.graph)
        if (dynamic_cast<const Unknown*>(source) && from.size() < most_sources)
          from.push_back(Value::of(Kind::unknown, source));
      if (state.device && !values::chosen(state.device)) device = Value::of(Kind::device, state.device);
    } else if (argument.is(Kind::unknown)) {
      if (const values::Device* there = given_on(*argument.as<Unknown>()))
        device = Value::of(Kind::device, there);
      if (comes_from_unseen(*argument.as<Unknown>()) && from.size() < most_sources) from.push_back(argument);
    }
  };
  for (const Value& argument : arguments.positional) take(argument, 0);
  for (const auto& [keyword, argument] : arguments.keywords) take(argument, 0);
  Unknown& result = *made.as<Unknown>();
  if (device) keep(run.heap(), result, values::UnknownState::given_on, device);
  if (!computed) return;
  keep(run.heap(), result, values::UnknownState::given, run.heap().tuple(std::move(from)));
  if (is_model(run, function, name))
    keep(run.heap(), result, values::UnknownState::of_model, run.heap().boolean(true));
}

namespace {
constexpr values::KeptKey owner_kept = values::UnknownState::owner;
}  // namespace

void note_owner(Runtime& run, Value made, const Unknown& object, Name name) {
  if (made.is(Kind::unknown) && run.library().find(values::InternalRow::of_unseen + name.text()))
    keep(run.heap(), *made.as<Unknown>(), owner_kept, Value::of(Kind::unknown, &object));
}

void note_module(values::Heap& heap, const Unknown& object) {
  const Value self = Value::of(Kind::unknown, &object);
  if (!kept(object, owner_kept)) keep(heap, *self.as<Unknown>(), owner_kept, self);
}

void note_beginning(values::Heap& heap, Value text, std::string_view begins) {
  if (text.is(Kind::unknown) && !begins.empty())
    keep(heap, *text.as<Unknown>(), values::UnknownState::begins, heap.string(begins));
}
std::string_view beginning_of(Value text) {
  if (text.is(Kind::unknown)) text = kept(*text.as<Unknown>(), values::UnknownState::begins);
  return text.is(Kind::string) ? text.text() : std::string_view{};
}

namespace {
// Does whoever is asked for it say that it is a module: by its mode, by its parameters?
bool says_module(const values::Row* row) {
  return row &&
      (row->operation == values::Operation::train_mode || row->operation == values::Operation::eval_mode ||
          (row->operation == values::Operation::none && !row->run));
}
}  // namespace

// Was it used as only a module is, or is it called what programs call their models?
static bool is_used_as_model(Runtime& run, const Unknown& object) {
  const std::string_view word = object.name.substr(object.name.rfind('.') + 1);
  if (run.library().find(values::InternalRow::model + std::string(word)) ||
      kept(object, owner_kept).object() == &object)
    return true;
  return std::ranges::any_of(object.attributes.entries(), [&](const auto& entry) {
    return entry.second->value.is(Kind::unknown) &&
        kept(*entry.second->value.template as<Unknown>(), owner_kept).object() == &object &&
        says_module(run.library().find(values::InternalRow::of_unseen + entry.first.text()));
  });
}
bool is_model(Runtime& run, Value function, std::string_view name) {
  if (function.is(Kind::unknown) &&
      (kept(*function.as<Unknown>(), values::UnknownState::moved_to) ||
          kept(*function.as<Unknown>(), values::MovedState::module_on) ||
          is_used_as_model(run, *function.as<Unknown>())))
    return true;
  const std::string_view word = name.substr(name.find_last_of("._") + 1);
  return run.library().find(values::InternalRow::model + std::string(word)) != nullptr;
}
std::string_view method_name(const Unknown& owner, const Unknown& method) {
  if (!method.name.empty()) return method.name.substr(method.name.rfind('.') + 1);
  for (const auto& [name, slot] : owner.attributes.entries())
    if (slot->value.object() == &method) return name.text();
  return {};
}

Role role_of(Runtime& run, const Unknown& function, const Arguments& arguments) {
  const Value owner = kept(function, owner_kept);
  if (owner.object() == &function) return {run.library().find(values::InternalRow::called_unseen), &function};
  if (owner.is(Kind::unknown)) {
    const std::string_view method = method_name(*owner.as<Unknown>(), function);
    const values::Row* row = run.library().find(values::InternalRow::of_unseen + method);
    // `model.encode_image(x)` is a call of the model.
    if (row && row->operation == values::Operation::forward) {
      // What was moved to a device is one as well.
      const Unknown& asked = *owner.as<Unknown>();
      const bool is_moved = kept(asked, values::MovedState::same_module) ||
          kept(asked, values::MovedState::module_on);
      return is_moved || is_used_as_model(run, asked) ? Role{row, &asked} : Role{};
    }
    const bool fits = row && !arguments.spread && (arguments.keywords.empty() || row->takes_options) &&
        (arguments.positional.size() <= row->positional || row->takes_rest);
    return fits ? Role{row, owner.as<Unknown>()} : Role{};
  }
  for (const auto& [name, slot] : function.attributes.entries())
    if (slot->value.is(Kind::unknown) && kept(*slot->value.as<Unknown>(), owner_kept).object() == &function)
      return {run.library().find(values::InternalRow::called_unseen), &function};
  // By its name it is a model.
  const std::string_view word = function.name.substr(function.name.rfind('.') + 1);
  if (run.library().find(values::InternalRow::model + std::string(word)))
    return {run.library().find(values::InternalRow::called_unseen), &function};
  // What was moved to a device, and is called.
  if (kept(function, values::MovedState::same_module) || kept(function, values::MovedState::module_on))
    return {run.library().find(values::InternalRow::called_unseen), &function};
  // By its name it is a loss of what the model gave and what it should have given: `criterion`,
  // `train_criterion`.
  if (!arguments.spread && arguments.keywords.empty() && arguments.positional.size() == 2)
    for (std::string_view rest = word;;) {
      if (const values::Row* row = run.library().find(values::InternalRow::of_unseen + rest + "()"))
        return {row, &function};
      const auto under = rest.find('_');
      if (under == std::string_view::npos) break;
      rest.remove_prefix(under + 1);
    }
  return {};
}

bool comes_from_unseen(const Unknown& value) {
  int depth = 0;
  for (const Unknown* at = &value; at && depth < deepest_part; at = whole_of(*at), ++depth)
    if (kept(*at, values::UnknownState::given) || kept(*at, values::UnknownState::operands)) return true;
  return false;
}

std::vector<const Object*> operands_of(const Unknown& value) {
  return objects(kept(value, values::UnknownState::operands));
}
std::vector<const Object*> given_to(const Unknown& result) {
  return objects(kept(result, values::UnknownState::given));
}

const Unknown* whole_of(const Unknown& part) {
  const Value whole = kept(part, values::UnknownState::part_of);
  return whole.is(Kind::unknown) ? whole.as<Unknown>() : nullptr;
}

bool is_of_model(const Unknown& result) {
  return static_cast<bool>(kept(result, values::UnknownState::of_model));
}

const values::Device* given_on(const Unknown& result) {
  int depth = 0;
  for (const Unknown* at = &result; at && depth < deepest_part; at = whole_of(*at), ++depth)
    if (const Value device = kept(*at, values::UnknownState::given_on); device.is(Kind::device))
      return device.as<values::Device>();
  return nullptr;
}

}  // namespace stepzero::interpreter
