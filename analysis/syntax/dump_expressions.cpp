#include "syntax/dumper.hpp"

namespace stepzero::syntax {

void Dumper::expr(const Expr* e) {
  out += ' ';
  if (!e) {
    out += '-';
    return;
  }
  switch (e->kind) {
  case ExprKind::name:
  case ExprKind::integer:
  case ExprKind::real:
  case ExprKind::imaginary:
  case ExprKind::string:
  case ExprKind::bytes:
  case ExprKind::format:
  case ExprKind::none:
  case ExprKind::boolean:
  case ExprKind::ellipsis: literal(e); break;
  case ExprKind::attribute:
  case ExprKind::subscript:
  case ExprKind::slice:
  case ExprKind::call:
  case ExprKind::await:
  case ExprKind::yield:
  case ExprKind::yield_from:
  case ExprKind::starred:
  case ExprKind::named:
  case ExprKind::error: access(e); break;
  case ExprKind::binary:
  case ExprKind::unary:
  case ExprKind::boolean_op:
  case ExprKind::compare:
  case ExprKind::conditional:
  case ExprKind::lambda: operation(e); break;
  case ExprKind::tuple:
  case ExprKind::list:
  case ExprKind::set:
  case ExprKind::dict:
  case ExprKind::comprehension: display(e); break;
  }
  close();
}

// A name, or what stands for itself.
void Dumper::literal(const Expr* e) {
  switch (e->kind) {
  case ExprKind::name:
    open("name", e->span);
    word(as<NameExpr>(*e).id.text());
    break;
  case ExprKind::integer:
    open("integer", e->span);
    word(as<IntegerExpr>(*e).fits ? std::to_string(as<IntegerExpr>(*e).value) : "big");
    break;
  case ExprKind::real:
    open("real", e->span);
    real(as<RealExpr>(*e).value);
    break;
  case ExprKind::imaginary:
    open("imaginary", e->span);
    real(as<ImaginaryExpr>(*e).value);
    break;
  case ExprKind::string:
    open("string", e->span);
    bytes(as<StringExpr>(*e).value);
    break;
  case ExprKind::bytes:
    open("bytes", e->span);
    bytes(as<BytesExpr>(*e).value);
    break;
  case ExprKind::format:
    open(as<FormatExpr>(*e).plain ? "format" : "format-spec", e->span);
    exprs("parts", as<FormatExpr>(*e).parts);
    break;
  case ExprKind::none: open("none", e->span); break;
  case ExprKind::boolean: open(as<BooleanExpr>(*e).value ? "true" : "false", e->span); break;
  case ExprKind::ellipsis: open("ellipsis", e->span); break;
  default: break;
  }
}

// What is read of something, and calls.
void Dumper::access(const Expr* e) {
  switch (e->kind) {
  case ExprKind::attribute:
    open("attribute", e->span);
    expr(as<AttributeExpr>(*e).object);
    word(as<AttributeExpr>(*e).attribute.text());
    out += ' ';
    where(as<AttributeExpr>(*e).attribute_span);
    break;
  case ExprKind::subscript:
    open("subscript", e->span);
    expr(as<SubscriptExpr>(*e).object);
    expr(as<SubscriptExpr>(*e).index);
    break;
  case ExprKind::slice:
    open("slice", e->span);
    expr(as<SliceExpr>(*e).lower);
    expr(as<SliceExpr>(*e).upper);
    expr(as<SliceExpr>(*e).step);
    break;
  case ExprKind::call:
    open("call", e->span);
    expr(as<CallExpr>(*e).function);
    exprs("arguments", as<CallExpr>(*e).arguments);
    keywords(as<CallExpr>(*e).keywords);
    out += ' ';
    where(as<CallExpr>(*e).arguments_span);
    break;
  case ExprKind::await:
    open("await", e->span);
    expr(as<AwaitExpr>(*e).value);
    break;
  case ExprKind::yield:
    open("yield", e->span);
    expr(as<YieldExpr>(*e).value);
    break;
  case ExprKind::yield_from:
    open("yield-from", e->span);
    expr(as<YieldFromExpr>(*e).value);
    break;
  case ExprKind::starred:
    open("starred", e->span);
    expr(as<StarredExpr>(*e).value);
    break;
  case ExprKind::named:
    open("named", e->span);
    word(as<NamedExpr>(*e).name.text());
    out += ' ';
    where(as<NamedExpr>(*e).name_span);
    expr(as<NamedExpr>(*e).value);
    break;
  case ExprKind::error:
    open("error", e->span);
    exprs("parts", as<ErrorExpr>(*e).parts);
    break;
  default: break;
  }
}

// Operators and what is chosen by conditions.
void Dumper::operation(const Expr* e) {
  switch (e->kind) {
  case ExprKind::binary:
    open("binary", e->span);
    word(binary_ops[static_cast<std::size_t>(as<BinaryExpr>(*e).op)]);
    out += ' ';
    where(as<BinaryExpr>(*e).op_span);
    expr(as<BinaryExpr>(*e).left);
    expr(as<BinaryExpr>(*e).right);
    break;
  case ExprKind::unary:
    open("unary", e->span);
    word(unary_ops[static_cast<std::size_t>(as<UnaryExpr>(*e).op)]);
    expr(as<UnaryExpr>(*e).operand);
    break;
  case ExprKind::boolean_op:
    open(as<BooleanOpExpr>(*e).op == BoolOp::logical_and ? "and" : "or", e->span);
    exprs("operands", as<BooleanOpExpr>(*e).operands);
    break;
  case ExprKind::compare:
    open("compare", e->span);
    expr(as<CompareExpr>(*e).left);
    group("ops");
    for (const CompareOp op : as<CompareExpr>(*e).ops) word(compare_ops[static_cast<std::size_t>(op)]);
    close();
    exprs("rights", as<CompareExpr>(*e).rights);
    break;
  case ExprKind::conditional:
    open("conditional", e->span);
    expr(as<ConditionalExpr>(*e).test);
    expr(as<ConditionalExpr>(*e).body);
    expr(as<ConditionalExpr>(*e).orelse);
    break;
  case ExprKind::lambda:
    open("lambda", e->span);
    parameters(*as<LambdaExpr>(*e).parameters);
    expr(as<LambdaExpr>(*e).body);
    break;
  default: break;
  }
}

// What is made of several elements.
void Dumper::display(const Expr* e) {
  switch (e->kind) {
  case ExprKind::tuple:
    open("tuple", e->span);
    exprs("elements", as<TupleExpr>(*e).elements);
    break;
  case ExprKind::list:
    open("list", e->span);
    exprs("elements", as<ListExpr>(*e).elements);
    break;
  case ExprKind::set:
    open("set", e->span);
    exprs("elements", as<SetExpr>(*e).elements);
    break;
  case ExprKind::dict:
    open("dict", e->span);
    for (const DictItem& item : as<DictExpr>(*e).items) {
      group("item");
      expr(item.key);
      expr(item.value);
      close();
    }
    break;
  case ExprKind::comprehension: {
    const auto& comprehension = as<ComprehensionExpr>(*e);
    open("comprehension", e->span);
    word(comprehension_kinds[static_cast<std::size_t>(comprehension.comprehension)]);
    expr(comprehension.element);
    expr(comprehension.value);
    for (const Generator& generator : comprehension.generators) {
      group(generator.is_async ? "async-for" : "for");
      expr(generator.target);
      expr(generator.iterable);
      exprs("if", generator.conditions);
      close();
    }
    break;
  }
  default: break;
  }
}

}  // namespace stepzero::syntax
