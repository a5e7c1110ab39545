#include "interpreter/roots/annotated_objects.hpp"

#include "syntax/walk.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

namespace {

constexpr int deepest_configuration = 5;  // configurations that hold configurations
constexpr std::size_t most_texts = 6;     // of a Literal
constexpr std::size_t most_fields = 400;  // of an object and all that it holds

class Declaring {
public:
  explicit Declaring(Interpreter& run) : run_(run) {}

  Value value(
      const values::Scope* scope, const Expr* annotation, std::string_view name, Place born, int depth) {
    bool optional = false;
    annotation = annotation_without_none(annotation, optional);
    if (!annotation) return {};
    if (const Value number = one_number(annotation, optional, name, born)) return number;
    Value made = annotation->kind == ExprKind::subscript ? one_of_texts(as<SubscriptExpr>(*annotation), name)
                                                         : Value{};
    if (!made)
      if (const Value found = named(scope, *annotation, depth); found.is(Kind::class_)) {
        auto& cls = *found.as<values::Class>();
        made = cls.is_named_tuple ? named_tuple(cls, name, born, depth) : object(cls, name, born, depth);
      }
    if (!made || !optional) return made;
    return run_.heap().choose(
        run_.symbols().opaque(std::string(name) + " is not None", values::Sharing::uniform), made,
        Value::none());
  }

private:
  Value one_number(const Expr* annotation, bool optional, std::string_view name, Place born) {
    if (annotation->kind != ExprKind::name) return {};
    const std::string_view type = as<NameExpr>(*annotation).id.text();
    if (type != "int" && type != "float") return {};
    const Value made = run_.symbol(name, values::Sharing::uniform, born);
    if (!made.is(Kind::unknown)) return made;
    if (type == "int" && !optional) return Value::of(run_.to_int(made));
    // What may be None is a number wherever something is computed from it.
    (type == "int" ? made.as<values::Unknown>()->is_number : made.as<values::Unknown>()->is_real) = true;
    return made;
  }

  Value one_of_texts(const SubscriptExpr& annotation, std::string_view name) {
    if (last_name(*annotation.object) != "Literal") return {};
    std::vector<const Expr*> texts{annotation.index};
    if (annotation.index->kind == ExprKind::tuple)
      texts.assign(
          as<TupleExpr>(*annotation.index).elements.begin(), as<TupleExpr>(*annotation.index).elements.end());
    if (texts.empty() || texts.size() > most_texts ||
        std::any_of(
            texts.begin(), texts.end(), [](const Expr* text) { return text->kind != ExprKind::string; }))
      return {};
    Value made;
    for (auto text = texts.rbegin(); text != texts.rend(); ++text) {
      const std::string_view one = as<StringExpr>(**text).value;
      const Value value = run_.heap().string(one);
      made = made
          ? run_.heap().choose(run_.symbols().opaque(std::string(name) + " == '" + std::string(one) + "'",
                                   values::Sharing::uniform),
                value, made)
          : value;
    }
    return made;
  }

  // What the names in an annotation stand for.
  Value named(const values::Scope* scope, const Expr& expr, int depth) {
    if (expr.kind == ExprKind::name) {
      return run_.named_in(scope, as<NameExpr>(expr).id);
    }
    if (expr.kind != ExprKind::attribute) return {};
    const Value object = named(scope, *as<AttributeExpr>(expr).object, depth);
    if (!object.is(Kind::class_) && !object.is(Kind::module)) return {};
    return run_.resolve(run_.attribute(object, as<AttributeExpr>(expr).attribute, {}));
  }

  static const Expr* annotation_of(const values::Class& cls, Name field) {
    if (!cls.stmt) return nullptr;
    for (const Stmt* stmt : cls.stmt->body)
      if (stmt->kind == StmtKind::ann_assign)
        if (const auto& assign = as<AnnAssignStmt>(*stmt);
            assign.target->kind == ExprKind::name && as<NameExpr>(*assign.target).id == field)
          return assign.annotation;
    return nullptr;
  }

  Value field(const values::Class& cls, const values::ClassField& field, std::string_view name, Place born,
      int depth) {
    const std::string path = std::string(name) + "." + std::string(field.name.text());
    for (const values::Class* owner : cls.order)
      if (const Expr* annotation = annotation_of(*owner, field.name)) {
        if (const Value value = this->value(owner->body, annotation, path, born, depth + 1)) return value;
        break;
      }
    return run_.symbol(path, values::Sharing::uniform, born);
  }

  Value named_tuple(values::Class& cls, std::string_view name, Place born, int depth) {
    if (depth > deepest_configuration || fields_ + cls.fields.size() > most_fields) return {};
    fields_ += cls.fields.size();
    std::vector<Value> items;
    items.reserve(cls.fields.size());
    for (const values::ClassField& each : cls.fields) items.push_back(field(cls, each, name, born, depth));
    const Value made = run_.heap().tuple(std::move(items));
    made.as<values::Tuple>()->cls = &cls;
    return made;
  }

  Value object(values::Class& cls, std::string_view name, Place born, int depth) {
    if (!cls.is_dataclass || depth > deepest_configuration || fields_ + cls.fields.size() > most_fields)
      return {};
    fields_ += cls.fields.size();
    auto* made = run_.heap().make<values::Instance>();
    made->born = born;
    made->cls = &cls;
    made->symbolic = made->open = true;
    made->name = run_.heap().keep(std::string(name));
    for (const values::ClassField& each : cls.fields)
      if (!each.init_only)
        run_.heap().slot_of(made->attributes, each.name).value = field(cls, each, name, born, depth);
    return Value::of(Kind::instance, made);
  }

  Interpreter& run_;
  std::size_t fields_ = 0;
};

}  // namespace

const Expr* annotation_without_none(const Expr* annotation, bool& optional) {
  if (!annotation) return nullptr;
  if (annotation->kind == ExprKind::subscript &&
      last_name(*as<SubscriptExpr>(*annotation).object) == "Optional") {
    optional = true;
    return as<SubscriptExpr>(*annotation).index;
  }
  if (annotation->kind == ExprKind::binary) {
    const auto& either = as<BinaryExpr>(*annotation);
    if (either.op != BinaryOp::bit_or ||
        (either.left->kind == ExprKind::none) == (either.right->kind == ExprKind::none))
      return nullptr;
    optional = true;
    return either.left->kind == ExprKind::none ? either.right : either.left;
  }
  return annotation;
}

Value class_of_annotation(Interpreter& run, const values::Scope* scope, const Expr* annotation) {
  bool optional = false;
  annotation = annotation_without_none(annotation, optional);
  if (!annotation || annotation->kind != ExprKind::name) return Value::none();
  const Value found = run.named_in(scope, as<NameExpr>(*annotation).id);
  return found.is(Kind::class_) ? found : Value::none();
}

Value annotated_object(
    Interpreter& run, const values::Scope* scope, const Expr* annotation, std::string_view name, Place born) {
  return Declaring(run).value(scope, annotation, name, born, 0);
}

}  // namespace stepzero::interpreter
