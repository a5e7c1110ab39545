// Python's own functions of objects and types: isinstance, getattr, type, super…
#include "interpreter/interpreter.hpp"
#include "interpreter/presumed.hpp"

#include "interpreter/set_on_self.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;
using values::ListKind;

Cond Interpreter::asked(std::string_view question, Value object, Value of, Sharing sharing) {
  std::string key(question);
  // What has no address of its own to be known by is spelt out.
  object = resolve(object);
  const bool spelt = object.is(Kind::tuple) || object.is(Kind::string);
  const void* const about = spelt ? nullptr : object.object();
  const std::function<void(Value, int)> add = [&](Value value, int depth) {
    value = resolve(value);
    key += " " + std::to_string(static_cast<int>(value.kind));
    if (value.is(Kind::tuple) && depth < 3)
      for (const Value& item : value.as<values::Tuple>()->items) add(item, depth + 1);
    else if (value.is(Kind::string)) key += std::string(value.text());
    else key += std::to_string(reinterpret_cast<std::uintptr_t>(value.object()));
  };
  if (spelt) add(object, 0);
  add(of, 0);
  if (const Cond answer = questions_.find(about, key)) return answer;
  const Cond answer = symbols().opaque(std::string(question), sharing);
  questions_.add(about, std::move(key), answer);
  return answer;
}

Value Interpreter::object_builtin(std::string_view name, const Arguments& arguments, Place where) {
  const auto& positional = arguments.positional;
  const std::size_t count = positional.size();
  const Value first = count > 0 ? positional[0] : Value{};
  if (name == "isinstance" && count == 2) {
    const auto answer = is_instance(first, positional[1]);
    if (answer != symbolic::Answer::unknown) return heap().boolean(answer == symbolic::Answer::yes);
    const Cond condition = asked("isinstance", first, positional[1], heap().is_external(first) ? Sharing::unseen : heap().sharing(first));
    if (const Value object = resolve(first); object.is(Kind::instance) && !is_presumed(object) && object.as<values::Instance>()->native && !object.as<values::Instance>()->cls) of_unseen_class_.insert(condition);
    return Value::of(condition);
  }
  if (name == "issubclass" && count == 2) {
    const auto answer = is_subclass(first, positional[1]);
    if (answer != symbolic::Answer::unknown) return heap().boolean(answer == symbolic::Answer::yes);
    return Value::of(symbols().opaque("issubclass", Sharing::uniform));
  }
  if (name == "type" && count == 1) return type_of(first, where);
  if (name == "type" && count == 3) {
    // type(name, bases, dict): a class like any other.
    auto* cls = heap().make<values::Class>();
    cls->name = Name(first.is(Kind::string) ? first.text() : std::string_view("type"));
    cls->chunk = chunk_;
    cls->born = where;
    cls->globals = frame_->scope->globals;
    cls->body = heap().make<values::Scope>();
    cls->body->globals = cls->globals;
    cls->body->is_class = true;
    const auto bases = elements(positional[1], where);
    std::vector<values::Class*> parents;
    add_bases(*cls, bases ? *bases : std::vector<Value>{heap().external("")}, parents);
    const Value members = positional[2];
    if (members.is(Kind::dict))
      for (const auto& [key, value] : values::Heap::dict_state(members)->items)
        if (key.is(Kind::string)) heap().set(heap().slot_of(cls->body->names, Name(key.text())), value);
    if (!members.is(Kind::dict) || values::Heap::dict_state(members)->open) cls->open = true;
    if (cls->is_named_tuple || cls->is_dataclass) inherit_fields(*cls);
    return Value::of(Kind::class_, cls);
  }
  if (name == "getattr" && count >= 2) {
    if (!positional[1].is(Kind::string)) {
      note_choice_by_text(positional[1]);
      if (positional[1].is(Kind::choice))
        return over_choices(positional[1], [&](Value side) {
          Arguments one = arguments;
          one.positional[1] = side;
          return object_builtin(name, one, where);
        });
      return heap().unknown("", heap().sharing(first), where);
    }
    const Name wanted(positional[1].text());
    if (count == 3)
      switch (has_attribute(first, wanted)) {
      case symbolic::Answer::no: return positional[2];
      case symbolic::Answer::yes: break;
      case symbolic::Answer::unknown:
        if (first.is(Kind::library) || first.is(Kind::class_)) return heap().external(wanted.text(), where);
        break;
      }
    return attribute(first, wanted, where);
  }
  if (name == "setattr" && count == 3) {
    if (positional[1].is(Kind::string)) set_attribute(first, Name(positional[1].text()), positional[2], where);
    else if (first.is(Kind::instance)) {
      open_up(*first.as<values::Instance>());
      set_any(heap(), *first.as<values::Instance>(), positional[2]);
    }
    return Value::none();
  }
  if (name == "delattr" && count == 2) {
    if (positional[1].is(Kind::string)) delete_attribute(first, Name(positional[1].text()), where);
    return Value::none();
  }
  if (name == "hasattr" && count == 2) {
    const auto answer = positional[1].is(Kind::string) ? has_attribute(first, Name(positional[1].text())) : symbolic::Answer::unknown;
    if (answer != symbolic::Answer::unknown) return heap().boolean(answer == symbolic::Answer::yes);
    return Value::of(named_condition("hasattr:" + (positional[1].is(Kind::string) ? std::string(positional[1].text()) : std::string()),
                                     heap().is_external(first) ? Sharing::unseen : Sharing::uniform));
  }
  if (name == "callable" && count == 1) {
    switch (first.kind) {
    case Kind::function: case Kind::bound: case Kind::partial: case Kind::class_: return heap().boolean(true);
    case Kind::instance:
      if (find_method(first.as<values::Instance>(), Name("__call__"))) return heap().boolean(true);
      if (first.as<values::Instance>()->open) break;
      return heap().boolean(false);
    case Kind::library:
      if (const Row* row = first.as<values::LibrarySymbol>()->row; row && row->kind != values::RowKind::constant) return heap().boolean(true);
      if (first.as<values::LibrarySymbol>()->path.starts_with("builtins.")) return heap().boolean(true);
      break;
    case Kind::unknown: case Kind::choice: break;
    default: return heap().boolean(false);
    }
    return Value::of(symbols().opaque("callable", heap().sharing(first)));
  }
  if (name == "vars" && count == 1) return attribute(first, Name("__dict__"), where);
  if ((name == "locals" || name == "globals" || name == "vars") && count == 0) {
    std::vector<std::pair<Value, Value>> items;
    const values::Scope* scope = name == "globals" ? frame_->scope->globals : frame_->scope;
    note_all_used(scope);
    if (scope)
      for (const auto& [key, slot] : scope->names.entries())
        if (slot->value) items.push_back({heap().string(key.text()), slot->value});
    return heap().dict(std::move(items), true, heap().external(""));
  }
  if ((name == "str" || name == "repr" || name == "ascii") && count >= 1) {
    if (name == "str" && first.is(Kind::string)) return first;
    if (const auto text = text_of(first, name != "str")) return heap().string(*text);
    return mixed_result(positional, where);
  }
  if (name == "str") return heap().string("");
  if (name == "format" && count >= 1) {
    const Value pattern = count > 1 ? positional[1] : heap().string("");
    if (const auto text = pattern.is(Kind::string) ? formatted(first, pattern.text()) : std::nullopt) return heap().string(*text);
    return mixed_result(positional, where);
  }
  if (name == "property") {
    const auto keyword = [&](std::string_view wanted) -> Value {
      for (const auto& [key, value] : arguments.keywords)
        if (key.text() == wanted) return resolve(value);
      return {};
    };
    const Value getter = count > 0 ? first : keyword("fget");
    const Value setter = count > 1 ? positional[1] : keyword("fset");
    if (!getter.is(Kind::function)) return heap().external("", where);
    auto* made = heap().make<values::Function>();
    *made = *getter.as<values::Function>();
    made->is_property = true;
    if (setter && setter.is(Kind::function)) made->setter = setter.as<values::Function>();
    return Value::of(Kind::function, made);
  }
  if ((name == "staticmethod" || name == "classmethod") && first.is(Kind::function)) {
    auto* made = heap().make<values::Function>();
    *made = *first.as<values::Function>();
    (name == "staticmethod" ? made->is_static : made->is_class_method) = true;
    return Value::of(Kind::function, made);
  }
  if (name == "object.__setattr__" && count == 3) {
    if (first.is(Kind::instance) && positional[1].is(Kind::string))
      heap().set(heap().slot_of(first.as<values::Instance>()->attributes, Name(positional[1].text())), positional[2]);
    return Value::none();
  }
  if (name == "object.__getattribute__" && count == 2 && positional[1].is(Kind::string)) return attribute(first, Name(positional[1].text()), where);
  if ((name == "object.__new__" || name == "object") && (count == 0 || first.is(Kind::class_))) {
    if (first.is(Kind::class_) && first.as<values::Class>()->is_named_tuple) {
      Arguments fields = arguments;
      fields.positional.erase(fields.positional.begin());
      return make_named(*first.as<values::Class>(), fields, where);
    }
    auto* object = heap().make<values::Instance>();
    object->born = where;
    if (first.is(Kind::class_)) {
      object->cls = first.as<values::Class>();
      object->open = object->cls->open;
    }
    return Value::of(Kind::instance, object);
  }
  if (name == "object.__init__" || name == "object.__init_subclass__") return Value::none();
  if (name == "exit" || name == "quit") {
    const Value row = library_symbol("sys.exit");
    if (row.is(Kind::library)) return call_library(*row.as<values::LibrarySymbol>(), {}, arguments, where, nullptr);
    exit_process();
    return Value::none();
  }
  if (name == "print") {
    for (const Value& shown : positional) record_read(shown, where);
    return Value::none();
  }
  // A small number is its own hash; that of a text is another one in each process.
  if (name == "hash" && first.is(Kind::integer))
    if (const auto value = to_constant(first); value && *value >= 0 && *value < (std::int64_t{1} << 31)) return first;
  if (name == "id" || name == "hash") return heap().unknown("", Sharing::local, where);
  if (name == "open") {
    const Value row = library_symbol("$open");
    Value file = row.is(Kind::library) ? settled(call_library(*row.as<values::LibrarySymbol>(), {}, arguments, where, nullptr)) : Value{};
    if (!file.is(Kind::unknown)) file = heap().unknown("", Sharing::local, where);
    // What it is called: what it holds may be known.
    Value path = count >= 1 ? first : Value{};
    if (path.is(Kind::instance)) {
      const values::Slot* slot = path.as<values::Instance>()->attributes.find(Name("$path"));
      path = slot ? resolve(slot->value) : Value{};
    }
    if (path.is(Kind::string)) {
      values::Table& attributes = file.as<values::Unknown>()->attributes;
      heap().slot_of(attributes, Name("$path")).value = path;
      auto* read = heap().make<values::Bound>();
      read->self = file;
      read->function = library_symbol("$file_text");
      heap().slot_of(attributes, Name("read")).value = Value::of(Kind::bound, read);
    }
    return file;
  }
  return {};
}

} // namespace stepzero::interpreter
