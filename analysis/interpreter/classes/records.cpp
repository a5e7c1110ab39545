// Classes that describe data: dataclasses, named tuples, enums.
#include "interpreter/classes/records.hpp"
#include "interpreter/calls/function_calls.hpp"
#include "values/internal_rows.hpp"
#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

namespace {

// The last part of an annotation's name: `dataclasses.InitVar[int]` is an InitVar. Quoted ones are left
// alone.
std::string_view annotation_name(const Expr* annotation) {
  if (!annotation) return {};
  switch (annotation->kind) {
  case ExprKind::name: return as<NameExpr>(*annotation).id.text();
  case ExprKind::attribute: return as<AttributeExpr>(*annotation).attribute.text();
  case ExprKind::subscript: return annotation_name(as<SubscriptExpr>(*annotation).object);
  default: return {};
  }
}

}  // namespace

// ---------------------------------------------------------------- dataclasses

// A field of the same name keeps its place, as in Python.
static void put_field(std::vector<values::ClassField>& fields, const values::ClassField& field) {
  const auto same = std::ranges::find(fields, field.name, &values::ClassField::name);
  if (same == fields.end())
    fields.push_back(field);
  else
    *same = field;
}

// The fields of the classes above, in Python's order: the furthest first.
void Records::inherit_fields(values::Class& cls) {
  if (!cls.fields.empty()) return;
  for (auto it = cls.order.rbegin(); it != cls.order.rend(); ++it)
    for (const values::ClassField& field : (*it)->fields) put_field(cls.fields, field);
}

void Interpreter::make_dataclass(values::Class& cls, bool keyword_only, bool with_init) {
  cls.fields.clear();
  records_->inherit_fields(cls);
  cls.is_dataclass = true;
  if (!cls.stmt || !cls.body) return;
  bool after_marker = false;
  for (const Stmt* stmt : cls.stmt->body) {
    if (stmt->kind != StmtKind::ann_assign || as<AnnAssignStmt>(*stmt).target->kind != ExprKind::name)
      continue;
    const auto& assign = as<AnnAssignStmt>(*stmt);
    const std::string_view kind = annotation_name(assign.annotation);
    if (kind == "ClassVar") continue;
    if (kind == "KW_ONLY") {
      after_marker = true;
      continue;
    }
    values::ClassField field;
    field.name = as<NameExpr>(*assign.target).id;
    field.init_only = kind == "InitVar";
    field.keyword_only = keyword_only || after_marker;
    if (values::Slot* slot = cls.body->names.find(field.name); slot && slot->value) {
      const Value given = resolve(slot->value);
      if (is_a(given, "dataclasses.Field")) {
        const auto* options = given.as<values::Instance>();
        const auto option = [&](std::string_view name) -> Value {
          const values::Slot* found = options->attributes.find(Name(name));
          return found ? resolve(found->value) : Value{};
        };
        field.default_value = option("default");
        field.factory = option("default_factory");
        if (const Value init = option("init")) field.in_init = to_constant(init) != 0;
        if (const Value only = option("kw_only")) field.keyword_only = to_constant(only) == 1;
        heap().set(*slot, field.default_value);
      } else {
        field.default_value = given;
      }
    }
    put_field(cls.fields, field);
  }
  // The constructor that dataclass makes stands where one of the class's own would.
  if (with_init && !cls.body->names.find(Name("__init__")))
    heap().set(heap().slot_of(cls.body->names, Name("__init__")),
        library_symbol(values::InternalRow::dataclass_init));
}

void Interpreter::fill_dataclass(values::Instance& object, Arguments arguments, Place where) {
  values::Class& cls = *object.cls;
  std::size_t next = 0;
  std::vector<Value> handed_on;
  const Value self = Value::of(Kind::instance, &object);
  for (const values::ClassField& field : cls.fields) {
    Value value;
    if (field.in_init) {
      if (!field.keyword_only && next < arguments.positional.size()) value = arguments.positional[next++];
      for (const auto& [name, argument] : arguments.keywords)
        if (name == field.name) value = argument;
      if (!value && arguments.spread) {
        value = heap().unknown(field.name.text(), Sharing::uniform);
        value.as<values::Unknown>()->default_value = field.default_value;
      }
    }
    if (!value && field.factory) value = call(field.factory, {}, where);
    if (!value) value = field.default_value;
    if (field.init_only) {
      handed_on.push_back(value ? value : heap().unseen(field.name.text()));
      continue;
    }
    // A field without a value: the method after the constructor sets it, or nobody does.
    if (!value && !field.in_init) continue;
    if (!value) value = heap().unseen(field.name.text());
    heap().set(heap().slot_of(object.attributes, field.name), value);
  }
  if (const Value after = find_in_order(cls.order, Name("__post_init__")); after.is(Kind::function))
    function_calls_->call_function(
        *after.as<values::Function>(), {std::move(handed_on), {}, false}, where, self);
}

// The fields of a dataclass object, as far as they are attributes.
std::vector<std::pair<Name, Value>> Interpreter::field_values(const values::Instance& object) {
  std::vector<std::pair<Name, Value>> fields;
  if (object.cls)
    for (const values::ClassField& field : object.cls->fields) {
      if (field.init_only) continue;
      const values::Slot* slot = object.attributes.find(field.name);
      fields.push_back({field.name, slot ? resolve(slot->value) : Value{}});
    }
  return fields;
}

// ---------------------------------------------------------------- named tuples

void Records::finish_named_tuple(values::Class& cls) {
  inherit_fields(cls);
  if (!cls.stmt || !cls.fields.empty()) return;
  for (const Stmt* stmt : cls.stmt->body) {
    if (stmt->kind != StmtKind::ann_assign || as<AnnAssignStmt>(*stmt).target->kind != ExprKind::name)
      continue;
    values::ClassField field;
    field.name = as<NameExpr>(*as<AnnAssignStmt>(*stmt).target).id;
    if (values::Slot* slot = cls.body->names.find(field.name); slot && slot->value) {
      field.default_value = slot->value;
      heap().set(*slot, {});
    }
    cls.fields.push_back(field);
  }
}

Value Records::make_named(values::Class& cls, const Arguments& arguments, Place where) {
  std::vector<Value> items(cls.fields.size());
  for (std::size_t i = 0; i < items.size() && i < arguments.positional.size(); ++i)
    items[i] = arguments.positional[i];
  for (const auto& [name, value] : arguments.keywords)
    for (std::size_t i = 0; i < items.size(); ++i)
      if (cls.fields[i].name == name) items[i] = value;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!items[i] && !arguments.spread) items[i] = cls.fields[i].default_value;
    if (!items[i]) items[i] = heap().unseen(cls.fields[i].name.text(), where);
  }
  const Value made = heap().tuple(std::move(items));
  made.as<values::Tuple>()->cls = &cls;
  return made;
}

Value Records::named_tuple_method(
    Value self, std::string_view name, const Arguments& arguments, Place where) {
  const auto* tuple = self.as<values::Tuple>();
  if (name == "_replace") {
    std::vector<Value> items = tuple->items;
    for (const auto& [key, value] : arguments.keywords)
      for (std::size_t i = 0; i < items.size() && i < tuple->cls->fields.size(); ++i)
        if (tuple->cls->fields[i].name == key) items[i] = value;
    const Value made = heap().tuple(std::move(items));
    made.as<values::Tuple>()->cls = tuple->cls;
    return made;
  }
  if (name == "_asdict") {
    std::vector<std::pair<Value, Value>> items;
    for (std::size_t i = 0; i < tuple->items.size() && i < tuple->cls->fields.size(); ++i)
      items.push_back({heap().string(tuple->cls->fields[i].name.text()), tuple->items[i]});
    return heap().dict(std::move(items));
  }
  return heap().unseen("", where);
}

Value Interpreter::named_tuple_class(
    std::string_view name, std::vector<values::ClassField> fields, Place where) {
  auto* cls = heap().make<values::Class>();
  cls->name = Name(name);
  cls->chunk = chunk_;
  cls->born = where;
  cls->globals = frame_->scope->globals;
  cls->body = heap().make<values::Scope>();
  cls->body->globals = cls->globals;
  cls->body->is_class = true;
  cls->order.push_back(cls);
  cls->is_named_tuple = true;
  cls->fields = std::move(fields);
  return Value::of(Kind::class_, cls);
}

// ---------------------------------------------------------------- enums

void Records::finish_enum(values::Class& cls) {
  std::optional<std::int64_t> last = 0;
  const Value init = run_.find_in_order(cls.order, Name("__init__"));
  for (const auto& [name, slot] : cls.body->names.entries()) {
    const std::string_view text = name.text();
    if (!slot->value || text.starts_with("_")) continue;
    Value value = run_.resolve(slot->value);
    if (value.is(Kind::function) || value.is(Kind::class_)) continue;
    if (run_.is_a(value, "enum.auto")) {
      value = cls.enum_is_text || !last ? heap().unseen("") : heap().integer(*last + 1);
    }
    if (value.is(Kind::integer)) last = run_.to_constant(value);
    Value member;
    for (const Value& other : cls.members)
      if (const values::Slot* known = other.as<values::Instance>()->attributes.find(
              Name(values::ContextState::value));
          known && (known->value == value || (run_.known_key(value) && run_.same_key(known->value, value))))
        member = other;
    if (!member) {
      auto* object = heap().make<values::Instance>();
      object->cls = &cls;
      object->born = cls.born;
      object->open = cls.open;
      member = Value::of(Kind::instance, object);
      const auto keep = [&](std::string_view attribute_name, Value kept) {
        heap().set(heap().slot_of(object->attributes, Name(attribute_name)), kept);
      };
      keep("name", heap().string(text));
      keep("_name_", heap().string(text));
      keep(values::ContextState::value, value);
      keep("_value_", value);
      if (init.is(Kind::function)) {
        Arguments arguments{{value}, {}, false};
        if (value.is(Kind::tuple)) arguments.positional = value.as<values::Tuple>()->items;
        run_.function_calls_->call_function(
            *init.as<values::Function>(), std::move(arguments), cls.born, member);
      }
      const values::Slot* kept = object->attributes.find(Name("_value_"));
      keep("value", kept->value);
      cls.members.push_back(member);
    }
    heap().set(*slot, member);
  }
}

Value Records::enum_member(values::Class& cls, Value wanted, Place where) {
  bool known = run_.known_key(wanted);
  for (const Value& member : cls.members) {
    if (member == wanted) return member;
    const values::Slot* value = member.as<values::Instance>()->attributes.find(Name("value"));
    if (!value) continue;
    if (run_.known_key(value->value) && known && run_.same_key(value->value, wanted)) return member;
    known = known && run_.known_key(value->value);
  }
  if (known && !run_.find_in_order(cls.order, Name("_missing_")))
    return run_.raise_builtin("ValueError", where);
  return heap().unseen("", where);
}

}  // namespace stepzero::interpreter
