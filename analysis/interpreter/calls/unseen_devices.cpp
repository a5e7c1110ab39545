// Where tensors and modules lie of which nothing is known: what moved them, and what that leaves open.
#include "interpreter/calls/unseen.hpp"
#include "interpreter/calls/unseen_notes.hpp"
#include "values/devices.hpp"
#include "values/internal_rows.hpp"
#include "values/limits.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using syntax::Name;
using values::Kind;
using values::Unknown;

namespace {

constexpr values::KeptKey lies_on_kept = values::UnknownState::lies_on,
                          parts_lie_on = values::UnknownState::parts_lie_on,
                          moved_kept = values::UnknownState::moved,
                          made_kept = values::MovedState::made_anywhere,
                          moved_to_kept = values::UnknownState::moved_to;

// What an operator made it of, which lies where it does; null: not known.
const Unknown* source_of(const Unknown& value) {
  for (const values::KeptKey key : {values::UnknownState::made_of, values::MovedState::beside_number})
    if (const Value source = kept(value, key); source.is(Kind::unknown)) return source.as<Unknown>();
  return nullptr;
}

}  // namespace

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
    if (!source) source = whole_of(*at);
    // What a model gave without a history is a part of its results as well.
    if (const Value whole = source ? Value{} : kept(*at, values::UnknownState::whole);
        whole.is(Kind::unknown) && kept(*whole.as<Unknown>(), moved_to_kept))
      source = whole.as<Unknown>();
    at = source;
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
// Was it taken out of another by an index, or by unpacking? What a loop gives is none of what it goes over.
bool is_taken_out(const Unknown& part) { return part.name.empty() || part.name.ends_with(']'); }
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
      if (batch.attributes.find(Name(values::UnknownState::stored))) return nullptr;
      if (device.is(Kind::device)) return device.as<values::Device>();
      // An item of the targets is a part of what these are a part of.
      if (!is_taken_out(batch)) return nullptr;
      at = &batch;
      continue;
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
std::string_view without_underscores(std::string_view word) {
  while (word.starts_with('_')) word.remove_prefix(1);
  return word;
}
// Whose it is, and how it is called there: `args` and `device` of "self.args.device", "args['device'][0]" and
// "self._args._device". The owner of a variable is empty.
std::pair<std::string_view, std::string_view> owner_and_word(std::string_view name) {
  const auto last = [](std::string_view path) {
    const std::string_view word = path.substr(path.rfind('.') + 1);  // npos + 1 is 0
    // `kwargs['args']`
    const auto open = word.find('[');
    const bool has_key = open != std::string_view::npos && word.size() > open + 4 && word.ends_with("']");
    return without_underscores(has_key ? word.substr(open + 2, word.size() - open - 4) : word);
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

}  // namespace

void note_part_moved(Runtime& run, const Unknown& object, const values::Device& there) {
  if (values::is_cpu(&there)) return;
  values::Heap& heap = run.heap();
  // `image[None].cuda()`, `label.float().to(device)`: the image, the label is moved.
  const Unknown* part = &object;
  for (int depth = 0; depth < deepest_part; ++depth) {
    const Unknown* source = source_of(*part);
    if (!source) break;
    part = source;
  }
  const Value whole = kept(*part, values::UnknownState::whole);
  if (!whole.is(Kind::unknown)) return;
  const values::Device* host = values::default_device(
      heap, run.named_condition(values::DeviceCondition::samples_on_cpu, Sharing::uniform));
  if (!host) return;
  const auto note = [&](Unknown& batch) {
    auto& attributes = batch.attributes;
    heap.set(
        heap.slot_of(attributes, Name(values::UnknownState::others_lie_on)), Value::of(Kind::device, host));
    heap.set(heap.slot_of(attributes, Name(values::UnknownState::others_moved_to)),
        Value::of(Kind::device, &there));
  };
  note(*whole.as<Unknown>());
  // `[each.cuda() for each in targets]`, of `images, targets = batch`: the targets are a part of the batch.
  if (const Value batch = kept(*whole.as<Unknown>(), values::UnknownState::whole);
      batch.is(Kind::unknown) && is_taken_out(*whole.as<Unknown>()))
    note(*batch.as<Unknown>());
}

namespace {
// `object.to(device)`, `object.cuda()` of what is not known.
void note_moved(
    Runtime& run, Unknown& made, const Unknown& object, const values::Row& row, const Arguments& arguments) {
  values::Heap& heap = run.heap();
  const values::Device* device = target_of(run, row, arguments);
  if (!device) return;
  keep(heap, made, moved_to_kept, Value::of(Kind::device, device));
  note_part_moved(run, object, *device);
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
    return !comes_from_unseen(given) && !kept(given, made_kept) &&
        !kept(given, values::UnknownState::batch) &&
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
}

void note_place_by_model(Runtime& run, Value made, const Arguments& arguments) {
  if (const values::Device* device = device_of_any(run, arguments))
    keep(run.heap(), *made.as<Unknown>(), moved_to_kept, Value::of(Kind::device, device));
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
}  // namespace stepzero::interpreter
