#include "interpreter/calls/unseen.hpp"
#include "values/devices.hpp"
#include "values/internal_rows.hpp"
#include "values/kept.hpp"
#include "values/kept_by_packages.hpp"
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
constexpr int deepest_part = 8;  // attributes of attributes, moved again and again: the chain has to end
constexpr values::KeptKey lies_on_kept = values::UnknownState::lies_on,
                          parts_lie_on = values::UnknownState::parts_lie_on,
                          moved_kept = values::UnknownState::moved,
                          made_kept = values::MovedState::made_anywhere,
                          moved_to_kept = values::UnknownState::moved_to,
                          batch_kept = values::UnknownState::batch,
                          part_of_batch = values::UnknownState::part_of_batch;

// What is noted was so from the beginning: no write.
void keep(values::Heap& heap, Unknown& value, values::KeptKey key, Value what) {
  heap.slot_of(value.attributes, Name(key)).value = what;
}
Value kept(const Unknown& value, values::KeptKey key) { return value.attributes.value(Name(key)); }
// What an operator made it of, which lies where it does; null: not known.
const Unknown* source_of(const Unknown& value) {
  for (const values::KeptKey key : {values::UnknownState::made_of, values::MovedState::beside_number})
    if (const Value source = kept(value, key); source.is(Kind::unknown)) return source.as<Unknown>();
  return nullptr;
}
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
  if (kept(whole, moved_kept)) keep(heap, made, moved_kept, heap.boolean(true));
  // Of a part of a part nobody knows that it is more than a number, which goes with any device.
  if (const Value device = kept(whole, parts_lie_on)) keep(heap, made, lies_on_kept, device);
  if (kept(whole, batch_kept)) keep(heap, made, part_of_batch, heap.boolean(true));
  keep(heap, made, values::UnknownState::whole, Value::of(Kind::unknown, &whole));
}

void date_back(Value part, const Unknown& whole) {
  if (!part.is(Kind::unknown)) return;
  Unknown& made = *part.as<Unknown>();
  made.attributes.birth = std::min(made.attributes.birth, whole.attributes.birth);
  made.state.birth = std::min(made.state.birth, whole.attributes.birth);
}

void note_batch(values::Heap& heap, Value value) {
  if (value.is(Kind::unknown)) keep(heap, *value.as<Unknown>(), batch_kept, heap.boolean(true));
}
Sharing sharing_of_length(const Unknown& value) {
  return value.sharing == Sharing::local && (kept(value, batch_kept) || kept(value, part_of_batch))
      ? Sharing::unseen
      : value.sharing;
}

void note_device(values::Heap& heap, Value value, const values::Device& device, bool of_parts) {
  if (!value.is(Kind::unknown)) return;
  keep(heap, *value.as<Unknown>(), lies_on_kept, Value::of(Kind::device, &device));
  if (of_parts) keep(heap, *value.as<Unknown>(), parts_lie_on, Value::of(Kind::device, &device));
}
static void forget(values::Heap& heap, Value value, values::KeptKey name) {
  if (value.is(Kind::unknown) && kept(*value.as<Unknown>(), name))
    heap.set(heap.slot_of(value.as<Unknown>()->attributes, Name(name)), Value::none());
}
void forget_device(values::Heap& heap, Value value) {
  if (!value.is(Kind::unknown)) return;
  forget(heap, value, lies_on_kept), forget(heap, value, parts_lie_on);
  if (computed_on(*value.as<Unknown>())) return;
  // What it is a part of, and what it was made of, say no more where it lies.
  const auto note = [&](values::KeptKey key, Value what) {
    heap.set(heap.slot_of(value.as<Unknown>()->attributes, Name(key)), what);
  };
  note(lies_on_kept, Value::none()), note(moved_kept, heap.boolean(true));
}
// Was it moved as a whole, or something stored under a key that is not known? Its parts may lie elsewhere
// then.
static bool may_be_moved_in_place(Value whole) {
  return whole.is(Kind::unknown) &&
      (kept(*whole.as<Unknown>(), values::UnknownState::stored) ||
          kept(*whole.as<Unknown>(), values::MovedState::module_on));
}
const values::Device* lies_on(const Unknown& value) {
  const Unknown* at = &value;
  for (int depth = 0; at && depth < deepest_part; ++depth) {
    if (!kept(*at, moved_to_kept) && may_be_moved_in_place(kept(*at, values::UnknownState::whole)))
      return nullptr;
    for (const values::KeptKey name : {lies_on_kept, moved_to_kept})
      if (const Value device = kept(*at, name))  // None: it was forgotten
        return device.is(Kind::device) ? device.as<values::Device>() : nullptr;
    const Unknown* source = source_of(*at);
    at = source ? source : whole_of(*at);
  }
  return nullptr;
}

const Unknown& module_itself(const Unknown& moved) {
  const Unknown* at = &moved;
  for (int depth = 0; depth < deepest_part; ++depth) {
    const Value object = kept(*at, values::MovedState::same_module);
    if (!object.is(Kind::unknown)) break;
    at = object.as<Unknown>();
  }
  return *at;
}
const values::Device* module_on(const Unknown& model) {
  if (const Value device = kept(model, values::MovedState::module_on))
    return device.is(Kind::device) ? device.as<values::Device>() : nullptr;
  return lies_on(model);
}

namespace {
// What was noted on one way alone: `if args.cuda: x = x.cuda()`.
Value device_in(Value noted) {
  for (int depth = 0; noted.is(Kind::choice) && depth < values::most_choices; ++depth) {
    const auto* choice = noted.as<values::Choice>();
    noted = choice->yes ? choice->yes : choice->no;
  }
  return noted;
}
// What its batch says of a part that was not moved.
const values::Device* by_other_parts(const Unknown& value, values::KeptKey key) {
  const Unknown* at = &value;
  for (int depth = 0; at && depth < deepest_part; ++depth) {
    if (kept(*at, moved_kept)) return nullptr;
    // `image[None]` lies where the image does.
    if (const Unknown* source = source_of(*at); source && kept(*at, values::UnknownState::whole)) {
      at = source;
      continue;
    }
    if (const Value whole = kept(*at, values::UnknownState::whole); whole.is(Kind::unknown)) {
      const auto& batch = *whole.as<Unknown>();
      const Value device = device_in(kept(batch, key));
      const bool changed = batch.attributes.find(Name(values::UnknownState::stored)) != nullptr;
      return device.is(Kind::device) && !changed ? device.as<values::Device>() : nullptr;
    }
    at = source_of(*at);
  }
  return nullptr;
}
}  // namespace

const values::Device* left_on(const Unknown& value) {
  return by_other_parts(value, values::UnknownState::others_lie_on);
}
const values::Device* left_by(const Unknown& value) {
  return by_other_parts(value, values::UnknownState::others_moved_to);
}

const values::Device* computed_on(const Unknown& value) {
  const Unknown* at = &value;
  for (int depth = 0; at && depth < deepest_part; ++depth) {
    if (const Value device = kept(*at, moved_to_kept); device.is(Kind::device))
      return device.as<values::Device>();
    const Value whole = kept(*at, values::UnknownState::whole);
    at = whole.is(Kind::unknown) ? whole.as<Unknown>() : nullptr;
  }
  return nullptr;
}

namespace {
// The name of a method. Those of an object without a name, as one of two objects is, have none themselves.
std::string_view method_name(const Unknown& owner, const Unknown& method) {
  if (!method.name.empty()) return method.name.substr(method.name.rfind('.') + 1);
  for (const auto& [name, slot] : owner.attributes.entries())
    if (slot->value.object() == &method) return name.text();
  return {};
}
std::string_view without_underscores(std::string_view word) {
  while (word.starts_with('_')) word.remove_prefix(1);
  return word;
}
// Whose it is, and how it is called there: `args` and `device` of "self.args.device", "args['device'][0]" and
// "self._args._device". The owner of a variable is empty.
std::pair<std::string_view, std::string_view> owner_and_word(std::string_view name) {
  const auto last = [](std::string_view path) {
    return without_underscores(path.substr(path.rfind('.') + 1));  // npos + 1 is 0
  };
  for (auto open = name.rfind('['); name.ends_with(']') && open != std::string_view::npos;
      open = name.rfind('[')) {
    const std::string_view key = name.substr(open + 1, name.size() - open - 2);
    name = name.substr(0, open);
    if (key.size() > 2 && (key.front() == '\'' || key.front() == '"'))
      return {last(name), key.substr(1, key.size() - 2)};
    if (key.empty() || key.find_first_not_of("0123456789") != std::string_view::npos) return {};
  }
  const auto dot = name.rfind('.');
  return {dot == std::string_view::npos ? std::string_view{} : last(name.substr(0, dot)), last(name)};
}
}  // namespace

const values::Device* presumed_device(Runtime& run, Value value) {
  if (!value.is(Kind::unknown)) return nullptr;
  // `x.to(image.device)`, where it is known where that lies.
  const std::string_view name = value.as<Unknown>()->name;
  const auto [owner, word] = owner_and_word(name);
  if (!run.library().find(values::InternalRow::device + std::string(word))) return nullptr;
  const Value object = kept(*value.as<Unknown>(), values::UnknownState::whole);
  if (object.is(Kind::unknown))
    if (const values::Device* there = lies_on(*object.as<Unknown>())) return there;
  // That of a tensor is where the tensor lies: `x.to(image.device)`. What a program, its settings or its
  // framework have chosen is none.
  if (!owner.empty() && !value.as<Unknown>()->is_option &&
      !run.library().find(values::InternalRow::chooses_device + std::string(owner)))
    return nullptr;
  const Cond is_gpu = run.named_condition(values::code(name) + " is a GPU", Sharing::uniform);
  return values::gpu_or_other(run.heap(), is_gpu);
}

namespace {
bool is_used_as_model(Runtime& run, const Unknown& object);

// What was moved to a device and is called is a module, and so is what programs call their models:
// `self.teacher_model` by its last word.
bool is_model(Runtime& run, Value function, std::string_view name) {
  if (function.is(Kind::unknown) &&
      (kept(*function.as<Unknown>(), moved_to_kept) || is_used_as_model(run, *function.as<Unknown>())))
    return true;
  const std::string_view word = name.substr(name.find_last_of("._") + 1);
  return run.library().find(values::InternalRow::model + std::string(word)) != nullptr;
}

// Where the tensors among the arguments lie, on an accelerator if any does; null: not known. Lengths and the
// like stay on the CPU beside an input that was moved.
const values::Device* device_of_any(Runtime& run, const Arguments& arguments) {
  // `if args.cuda: x = x.cuda()` leaves one thing or another.
  const auto device_of = [&](Value argument, const auto& again, int depth) -> const values::Device* {
    argument = run.resolve(argument);
    if (argument.is(Kind::choice) && depth < values::most_choices) {
      const auto* choice = argument.as<values::Choice>();
      return values::choose_gpu(run.heap(), choice->condition, run.symbols().logical_not(choice->condition),
          again(choice->yes, again, depth + 1), again(choice->no, again, depth + 1));
    }
    const Value tensor = argument.is(Kind::unknown) ? argument.as<Unknown>()->state.value : argument;
    if (tensor.is(Kind::tensor)) return tensor.as<values::Tensor>()->now()->device;
    return argument.is(Kind::unknown) ? lies_on(*argument.as<Unknown>()) : nullptr;
  };
  const values::Device* found = nullptr;
  const auto look = [&](Value argument) {
    const values::Device* device = device_of(argument, device_of, 0);
    if (device && (!found || values::is_cpu(found))) found = device;
  };
  for (const Value& argument : arguments.positional) look(argument);
  for (const auto& [name, argument] : arguments.keywords) look(argument);
  if (arguments.named_rest) look(arguments.named_rest);
  return found;
}

// The device that a call of a transfer's row moves to; null: not known.
const values::Device* target_of(Runtime& run, const values::Row& row, const Arguments& arguments) {
  if (row.moves == values::Moves::to_accelerator)
    return run.heap().device(run.library().types().accelerator).as<values::Device>();
  if (row.moves != values::Moves::to_given) return nullptr;
  const Value target = arguments.positional.empty() ? Value{} : run.resolve(arguments.positional.front());
  const values::Device* device = arguments.spread ? nullptr : values::device_named(run.heap(), target);
  return device ? device : presumed_device(run, target);
}

// `object.to(device)`, `object.cuda()` of what is not known.
void note_moved(
    Runtime& run, Unknown& made, const Unknown& object, const values::Row& row, const Arguments& arguments) {
  values::Heap& heap = run.heap();
  const values::Device* device = target_of(run, row, arguments);
  if (!device) return;
  keep(heap, made, moved_to_kept, Value::of(Kind::device, device));
  if (values::is_cpu(device)) return;
  // `image[None].cuda()`, `label.float().to(device)`: the image, the label is moved.
  const Unknown* part = &object;
  for (int depth = 0; depth < deepest_part; ++depth) {
    const Unknown* source = source_of(*part);
    if (!source) break;
    part = source;
  }
  const Value batch = kept(*part, values::UnknownState::whole);
  if (!batch.is(Kind::unknown)) return;
  if (const values::Device* host = values::default_device(
          heap, run.named_condition(values::DeviceCondition::samples_on_cpu, Sharing::uniform))) {
    auto& attributes = batch.as<Unknown>()->attributes;
    heap.set(
        heap.slot_of(attributes, Name(values::UnknownState::others_lie_on)), Value::of(Kind::device, host));
    heap.set(heap.slot_of(attributes, Name(values::UnknownState::others_moved_to)),
        Value::of(Kind::device, device));
  }
}
}  // namespace

// Is it something that a model is built of: a name, a number, a class, a setting? Not another object, nor
// what holds the device that the program has chosen.
static bool only_describes(Runtime& run, Value argument, int depth = 0) {
  argument = run.resolve(argument);
  switch (argument.kind) {
  case Kind::choice:
    return depth < values::most_choices &&
        only_describes(run, argument.as<values::Choice>()->yes, depth + 1) &&
        only_describes(run, argument.as<values::Choice>()->no, depth + 1);
  case Kind::unknown: {
    const Unknown& given = *argument.as<Unknown>();
    const std::string_view word = std::string_view(given.name).substr(given.name.rfind('.') + 1);
    return !comes_from_unseen(given) && !kept(given, made_kept) && !kept(given, batch_kept) &&
        !run.library().find(values::InternalRow::chooses_device + std::string(word)) &&
        !run.library().find(values::InternalRow::device + std::string(word));
  }
  case Kind::string:  // "cuda:0" is no name of a model
    return !argument.text().starts_with(run.library().types().accelerator) &&
        !values::is_cpu(values::device_named(run.heap(), argument));
  case Kind::none:
  case Kind::boolean:
  case Kind::integer:
  case Kind::real:
  case Kind::dtype:
  case Kind::class_: return true;
  default: return false;
  }
}

// `build_model("resnet", num_classes=10)`: no method of a tensor or of what was made so itself.
static bool is_built_here(Runtime& run, Value function, const Arguments& arguments) {
  if (!function.is(Kind::unknown) || arguments.spread) return false;
  if (const Value object = kept(*function.as<Unknown>(), values::UnknownState::whole);
      object.is(Kind::unknown) &&
      (comes_from_unseen(*object.as<Unknown>()) || kept(*object.as<Unknown>(), made_kept)))
    return false;
  return std::ranges::all_of(arguments.positional, [&](Value each) { return only_describes(run, each); }) &&
      std::ranges::all_of(
          arguments.keywords, [&](const auto& each) { return only_describes(run, each.second); });
}

bool is_made_anywhere(const Unknown& value) {
  return kept(value, made_kept).is(Kind::boolean) && !kept(value, moved_kept) &&
      !kept(value, values::MovedState::module_on);  // on some way
}
void note_moved_with_whole(values::Heap& heap, Value part) { forget(heap, part, made_kept); }
void note_view(values::Heap& heap, Value made, const Unknown& of) {
  keep(heap, *made.as<Unknown>(), values::UnknownState::made_of, Value::of(Kind::unknown, &of));
}

void note_transfer(Runtime& run, Value made, Value function, const Arguments& arguments) {
  const auto carries = [&](Value value, const auto& again, int depth = 0) -> bool {
    value = run.resolve(value);
    if (value.is(Kind::choice) && depth < values::most_choices)
      return again(value.as<values::Choice>()->yes, again, depth + 1) ||
          again(value.as<values::Choice>()->no, again, depth + 1);
    return values::is_device(value) || (value.is(Kind::unknown) && kept(*value.as<Unknown>(), moved_kept));
  };
  const auto names_device = [&](std::string_view name) {
    return run.library().find(values::InternalRow::device + std::string(name)) != nullptr;
  };
  bool moved = std::ranges::any_of(
                   arguments.positional, [&](Value each) { return carries(each, carries); }) ||
      std::ranges::any_of(arguments.keywords, [&](const auto& given) {
        return carries(given.second, carries) || names_device(given.first.text());
      });
  if (function.is(Kind::unknown)) {
    const Value object = kept(*function.as<Unknown>(), values::UnknownState::whole);
    const std::string_view called = function.as<Unknown>()->name,
                           method = object.is(Kind::unknown)
        ? method_name(*object.as<Unknown>(), *function.as<Unknown>())
        : called.substr(called.rfind('.') + 1);
    const values::Row* row = run.method_row(run.library().types().tensor, Name(method));
    const bool transfers = row && row->operation == values::Operation::transfer;
    moved = moved || carries(function, carries) || transfers;
    if (row && object.is(Kind::unknown) && made.is(Kind::unknown)) {
      if (row->moves != values::Moves::nowhere) {
        const values::Device* there = target_of(run, *row, arguments);
        keep(run.heap(), *made.as<Unknown>(), values::MovedState::same_module, object);
        run.heap().set(
            run.heap().slot_of(object.as<Unknown>()->attributes, Name(values::MovedState::module_on)),
            there ? Value::of(Kind::device, there) : Value::none());
      }
      // `x.type(Tensor)`: what says a type may say a device, but for a dtype.
      const bool may_transfer = !transfers && row->moves != values::Moves::nowhere &&
          !arguments.positional.empty() && !run.resolve(arguments.positional.front()).is(Kind::dtype);
      moved = moved || may_transfer;
      if (transfers)
        note_moved(run, *made.as<Unknown>(), *object.as<Unknown>(), *row, arguments);
      else if (may_transfer)
        keep(run.heap(), *made.as<Unknown>(), lies_on_kept, Value::none());
      else if (row->op && row->operation == values::Operation::none)
        keep(run.heap(), *made.as<Unknown>(), values::UnknownState::made_of, object);
    }
  }
  if (!made.is(Kind::unknown)) return;
  if (moved)
    keep(run.heap(), *made.as<Unknown>(), moved_kept, run.heap().boolean(true));
  else if (is_built_here(run, function, arguments))
    keep(run.heap(), *made.as<Unknown>(), made_kept, run.heap().boolean(true));
  // A model computes where its input lies.
  if (function.is(Kind::unknown) && is_model(run, function, function.as<Unknown>()->name))
    if (const values::Device* device = device_of_any(run, arguments))
      keep(run.heap(), *made.as<Unknown>(), moved_to_kept, Value::of(Kind::device, device));
}
void note_given_by(values::Heap& heap, Value made, Value function) {
  if (const Value object =
          function.is(Kind::unknown) ? kept(*function.as<Unknown>(), values::UnknownState::whole) : Value{})
    keep(heap, *made.as<Unknown>(), values::UnknownState::given_by, object);
}
bool may_be_moved(const Unknown& value) { return static_cast<bool>(kept(value, moved_kept)); }

void note_beside_number(values::Heap& heap, Value made, Value left, Value right) {
  const auto is_number = [](Value side) {
    return side.is(Kind::integer) || side.is(Kind::real) || side.is(Kind::boolean);
  };
  const Value other = is_number(left) ? right : is_number(right) ? left : Value{};
  if (other.is(Kind::unknown) && !other.as<Unknown>()->is_real)
    keep(heap, *made.as<Unknown>(), values::MovedState::beside_number, other);
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
// Was it used as only a module is, or is it called what programs call their models?
bool is_used_as_model(Runtime& run, const Unknown& object) {
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
}  // namespace

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
