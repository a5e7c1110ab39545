// Python's own functions of objects and types as rows: isinstance, getattr, type, super…
#include "interpreter/builtins/builtin_call.hpp"
#include "interpreter/roots/presumed.hpp"

#include "interpreter/classes/self_writes.hpp"
#include "values/internal_rows.hpp"
#include "values/kept.hpp"
#include "values/limits.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;
using values::ListKind;

Cond Interpreter::asked(std::string_view question, Value object, Value of, Sharing sharing) {
  std::string key(question);
  // What has no address of its own to be known by is spelled out.
  object = resolve(object);
  const bool spelled = object.is(Kind::tuple) || object.is(Kind::string);
  const void* const about = spelled ? nullptr : object.object();
  const std::function<void(Value, int)> add = [&](Value value, int depth) {
    value = resolve(value);
    key += " " + std::to_string(static_cast<int>(value.kind));
    if (value.is(Kind::tuple) && depth < values::deepest_data)
      for (const Value& item : value.as<values::Tuple>()->items) add(item, depth + 1);
    else if (value.is(Kind::string))
      key += std::string(value.text());
    else
      key += std::to_string(reinterpret_cast<std::uintptr_t>(value.object()));
  };
  if (spelled) add(object, 0);
  add(of, 0);
  if (const Cond answer = questions_.find(about, key)) return answer;
  const Cond answer = symbols().opaque(std::string(question), sharing);
  questions_.add(about, std::move(key), answer);
  return answer;
}

Value BuiltinCall::is_instance() const {
  const auto answer = run.is_instance(first, second);
  if (answer != symbolic::Answer::unknown) return heap().boolean(answer == symbolic::Answer::yes);
  const Cond condition = run.asked(
      "isinstance", first, second, heap().is_unseen(first) ? Sharing::unseen : heap().sharing(first));
  if (const Value object = run.resolve(first); object.is(Kind::instance) && !is_presumed(object))
    run.of_unseen_class_.insert(condition);
  return Value::of(condition);
}

// type(name, bases, dict): a class like any other.
Value BuiltinCall::make_type() const {
  auto* cls = heap().make<values::Class>();
  cls->name = Name(first.is(Kind::string) ? first.text() : std::string_view("type"));
  cls->chunk = run.chunk_;
  cls->born = where;
  cls->globals = run.frame_->scope->globals;
  cls->body = heap().make<values::Scope>();
  cls->body->globals = cls->globals;
  cls->body->is_class = true;
  const auto bases = run.elements(second, where);
  std::vector<values::Class*> parents;
  run.object_model_->add_bases(*cls, bases ? *bases : std::vector<Value>{heap().unseen("")}, parents);
  const Value members = positional[2];
  if (members.is(Kind::dict))
    for (const auto& [key, value] : values::Heap::dict_state(members)->items)
      if (key.is(Kind::string)) heap().set(heap().slot_of(cls->body->names, Name(key.text())), value);
  if (!members.is(Kind::dict) || values::Heap::dict_state(members)->open) cls->open = true;
  if (cls->is_named_tuple || cls->is_dataclass) Records::inherit_fields(*cls);
  return Value::of(Kind::class_, cls);
}

Value BuiltinCall::names_in(Interpreter& run, const values::Scope* scope) {
  std::vector<std::pair<Value, Value>> items;
  run.note_all_used(scope);
  if (scope)
    for (const auto& [key, slot] : scope->names.entries())
      if (slot->value) items.push_back({run.heap().string(key.text()), slot->value});
  return run.heap().dict(std::move(items), true, run.heap().unseen(""));
}
Value BuiltinCall::names_around() const {
  return names_in(run, name == "globals" ? run.frame_->scope->globals : run.frame_->scope);
}

namespace {

Value isinstance(const BuiltinCall& call) { return call.count == 2 ? call.is_instance() : Value{}; }

Value issubclass(const BuiltinCall& call) {
  if (call.count != 2) return {};
  const auto answer = call.run.is_subclass(call.first, call.second);
  if (answer != symbolic::Answer::unknown) return call.heap().boolean(answer == symbolic::Answer::yes);
  return Value::of(call.symbols().opaque("issubclass", Sharing::uniform));
}

Value type(const BuiltinCall& call) {
  return call.count == 1 ? call.run.type_of(call.first, call.where)
      : call.count == 3  ? call.make_type()
                         : Value{};
}

Value getattr(const BuiltinCall& call) {
  if (call.count < 2) return {};
  if (!call.second.is(Kind::string)) {
    call.run.note_choice_by_text(call.second);
    if (!call.second.is(Kind::choice))
      return call.heap().unknown("", call.heap().sharing(call.first), call.where);
    return call.run.over_choices(call.second, [&](Value side) {
      std::vector<Value> one = call.positional;
      one[1] = side;
      return call.as(call.name, std::move(one));
    });
  }
  const Name wanted(call.second.text());
  if (call.count == 3) switch (call.run.has_attribute(call.first, wanted)) {
    case symbolic::Answer::no: return call.positional[2];
    case symbolic::Answer::yes: break;
    case symbolic::Answer::unknown:
      if (call.first.is(Kind::library) || call.first.is(Kind::class_))
        return call.heap().unseen(wanted.text(), call.where);
      break;
    }
  return call.run.attribute(call.first, wanted, call.where);
}

Value setattr(const BuiltinCall& call) {
  if (call.count != 3) return {};
  if (call.second.is(Kind::string)) {
    call.run.set_attribute(call.first, Name(call.second.text()), call.positional[2], call.where);
  } else if (call.first.is(Kind::instance)) {
    // `if hasattr(config, name): setattr(config, name, value)` gives it no attribute that it did not have.
    if (!call.is_known_there(call.first, call.second)) call.open_up(*call.first.as<values::Instance>());
    set_any(call.heap(), *call.first.as<values::Instance>(), call.positional[2]);
  }
  return Value::none();
}

Value delattr(const BuiltinCall& call) {
  if (call.count != 2) return {};
  if (call.second.is(Kind::string)) call.delete_attribute(call.first, Name(call.second.text()));
  return Value::none();
}

Value hasattr(const BuiltinCall& call) {
  if (call.count != 2) return {};
  const auto answer = call.second.is(Kind::string)
      ? call.run.has_attribute(call.first, Name(call.second.text()))
      : symbolic::Answer::unknown;
  if (answer != symbolic::Answer::unknown) return call.heap().boolean(answer == symbolic::Answer::yes);
  const Cond when = call.run.named_condition(
      "hasattr:" + (call.second.is(Kind::string) ? std::string(call.second.text()) : std::string()),
      call.heap().is_unseen(call.first) ? Sharing::unseen : Sharing::uniform);
  if (!call.second.is(Kind::string)) call.note_asked(call.first, call.second, when);
  return Value::of(when);
}

Value callable(const BuiltinCall& call) {
  if (call.count != 1) return {};
  const Value first = call.first;
  switch (first.kind) {
  case Kind::function:
  case Kind::bound:
  case Kind::partial:
  case Kind::class_: return call.heap().boolean(true);
  case Kind::instance:
    if (call.run.find_method(first.as<values::Instance>(), Name("__call__")))
      return call.heap().boolean(true);
    if (first.as<values::Instance>()->open) break;
    return call.heap().boolean(false);
  case Kind::library:
    if (const Row* row = first.as<values::LibrarySymbol>()->row;
        row && row->kind != values::RowKind::constant)
      return call.heap().boolean(true);
    if (first.as<values::LibrarySymbol>()->path.starts_with("builtins.")) return call.heap().boolean(true);
    break;
  case Kind::unknown:
  case Kind::choice: break;
  default: return call.heap().boolean(false);
  }
  return Value::of(call.symbols().opaque("callable", call.heap().sharing(first)));
}

Value vars(const BuiltinCall& call) {
  return call.count == 0 ? call.names_around()
      : call.count == 1  ? call.run.attribute(call.first, Name("__dict__"), call.where)
                         : Value{};
}
Value locals(const BuiltinCall& call) { return call.count == 0 ? call.names_around() : Value{}; }

Value text(const BuiltinCall& call) {
  if (call.count == 0) return call.name == "str" ? call.heap().string("") : Value{};
  if (call.name == "str" && call.first.is(Kind::string)) return call.first;
  if (const auto found = call.run.text_of(call.first, call.name != "str")) return call.heap().string(*found);
  return call.mixed();
}

Value formatted(const BuiltinCall& call) {
  if (call.count == 0) return {};
  const Value pattern = call.second ? call.second : call.heap().string("");
  if (const auto made = pattern.is(Kind::string) ? call.formatted(call.first, pattern.text()) : std::nullopt)
    return call.heap().string(*made);
  return call.mixed();
}

Value property(const BuiltinCall& call) {
  const Value getter = call.first ? call.first : call.keyword("fget");
  const Value setter = call.second ? call.second : call.keyword("fset");
  if (!getter.is(Kind::function)) return call.heap().unseen("", call.where);
  auto* made = call.heap().make<values::Function>();
  *made = *getter.as<values::Function>();
  made->is_property = true;
  if (setter && setter.is(Kind::function)) made->setter = setter.as<values::Function>();
  return Value::of(Kind::function, made);
}

// staticmethod and classmethod
Value plain_method(const BuiltinCall& call) {
  if (!call.first.is(Kind::function)) return {};
  auto* made = call.heap().make<values::Function>();
  *made = *call.first.as<values::Function>();
  (call.name == "staticmethod" ? made->is_static : made->is_class_method) = true;
  return Value::of(Kind::function, made);
}

Value object_setattr(const BuiltinCall& call) {
  if (call.count != 3) return {};
  if (call.first.is(Kind::instance) && call.second.is(Kind::string))
    call.heap().set(
        call.heap().slot_of(call.first.as<values::Instance>()->attributes, Name(call.second.text())),
        call.positional[2]);
  return Value::none();
}
Value object_getattribute(const BuiltinCall& call) {
  return call.count == 2 && call.second.is(Kind::string)
      ? call.run.attribute(call.first, Name(call.second.text()), call.where)
      : Value{};
}
Value object_new(const BuiltinCall& call) {
  if (call.count != 0 && !call.first.is(Kind::class_)) return {};
  auto* cls = call.first.is(Kind::class_) ? call.first.as<values::Class>() : nullptr;
  if (cls && cls->is_named_tuple) {
    Arguments fields = call.arguments;
    fields.positional.erase(fields.positional.begin());
    return call.make_named(*cls, fields);
  }
  auto* object = call.heap().make<values::Instance>();
  object->born = call.where;
  object->cls = cls;
  if (cls) object->open = cls->open;
  return Value::of(Kind::instance, object);
}
Value nothing(const BuiltinCall&) { return Value::none(); }

Value leave_process(const BuiltinCall& call) {
  if (const Value left = call.call_row("sys.exit")) return left;
  call.run.exit_process();
  return Value::none();
}

Value print(const BuiltinCall& call) {
  for (const Value& displayed : call.positional) call.record_read(displayed);
  return Value::none();
}

// What differs from process to process. But a small number is its own hash.
Value identity(const BuiltinCall& call) {
  constexpr std::int64_t largest_own_hash = std::int64_t{1} << 31;
  if (call.name == "hash" && call.first.is(Kind::integer))
    if (const auto value = call.run.to_constant(call.first);
        value && *value >= 0 && *value < largest_own_hash)
      return call.first;
  return call.heap().unknown("", Sharing::local, call.where);
}

Value open_file(const BuiltinCall& call) {
  const Value opened = call.call_row(values::InternalRow::open);
  Value file = opened ? call.run.refined(opened) : Value{};
  if (!file.is(Kind::unknown)) file = call.heap().unknown("", Sharing::local, call.where);
  // What it is called: what it holds may be known.
  Value path = call.first;
  if (path.is(Kind::instance)) {
    const values::Slot* slot = path.as<values::Instance>()->attributes.find(Name(values::FileState::path));
    path = slot ? call.run.resolve(slot->value) : Value{};
  }
  const bool of_rank = path.is(Kind::unknown) && !call.heap().is_unseen(path) &&
      call.heap().sharing(path) == Sharing::divergent;
  if (path.is(Kind::string) || of_rank) {
    values::Table& attributes = file.as<values::Unknown>()->attributes;
    call.heap().slot_of(attributes, Name(values::FileState::path)).value = path;
    auto* read = call.heap().make<values::Bound>();
    read->self = file;
    read->function = call.run.library_symbol(values::InternalRow::file_text);
    call.heap().slot_of(attributes, Name("read")).value = Value::of(Kind::bound, read);
  }
  return file;
}

}  // namespace

const BuiltinTable& object_functions() {
  static const BuiltinTable table{
      {"isinstance", isinstance},
      {"issubclass", issubclass},
      {"type", type},
      {"getattr", getattr},
      {"setattr", setattr},
      {"delattr", delattr},
      {"hasattr", hasattr},
      {"callable", callable},
      {"vars", vars},
      {"locals globals", locals},
      {"str repr ascii", text},
      {"format", formatted},
      {"property", property},
      {"staticmethod classmethod", plain_method},
      {"object.__setattr__", object_setattr},
      {"object.__getattribute__", object_getattribute},
      {"object.__new__ object", object_new},
      {"object.__init__ object.__init_subclass__", nothing},
      {"exit quit", leave_process},
      {"print", print},
      {"hash id", identity},
      {"open", open_file},
  };
  return table;
}

}  // namespace stepzero::interpreter
