// Expressions: operators, calls and access.
#include "syntax/lower_common.hpp"

namespace stepzero::syntax {
namespace {

BinaryOp binary_op(Node token) {
  switch (token) {
  case Node::plus: return BinaryOp::add;
  case Node::minus: return BinaryOp::sub;
  case Node::star: return BinaryOp::mul;
  case Node::at: return BinaryOp::matmul;
  case Node::slash: return BinaryOp::div;
  case Node::slash_slash: return BinaryOp::floordiv;
  case Node::percent: return BinaryOp::mod;
  case Node::star_star: return BinaryOp::pow;
  case Node::shift_left: return BinaryOp::lshift;
  case Node::shift_right: return BinaryOp::rshift;
  case Node::ampersand: return BinaryOp::bit_and;
  case Node::bar: return BinaryOp::bit_or;
  default: return BinaryOp::bit_xor;
  }
}

CompareOp compare_op(Node token) {
  switch (token) {
  case Node::equal_equal: return CompareOp::eq;
  case Node::less: return CompareOp::lt;
  case Node::less_equal: return CompareOp::le;
  case Node::greater: return CompareOp::gt;
  case Node::greater_equal: return CompareOp::ge;
  case Node::is: return CompareOp::is;
  case Node::is_not: return CompareOp::is_not;
  case Node::in: return CompareOp::in;
  case Node::not_in: return CompareOp::not_in;
  default: return CompareOp::ne;
  }
}

}  // namespace

const Expr* Lowering::expression() {
  const TSNode here = node();
  const Deeper deeper(*this);
  if (deeper.too_deep()) return make(ErrorExpr{{ExprKind::error, span(here)}, {}});
  return expression_of(here, kind_of(here));
}

const Expr* Lowering::expression_of(TSNode node, Node kind) {
  switch (kind) {
  case Node::identifier: return name_expression(node);
  case Node::integer: return integer(node);
  case Node::real: return real(node);
  case Node::string: return string(node, false);
  case Node::concatenated_string: return string(node, true);
  case Node::true_: return make(BooleanExpr{{ExprKind::boolean, span(node)}, true});
  case Node::false_: return make(BooleanExpr{{ExprKind::boolean, span(node)}, false});
  case Node::none: return make(NoneExpr{{ExprKind::none, span(node)}});
  case Node::ellipsis: return make(EllipsisExpr{{ExprKind::ellipsis, span(node)}});
  case Node::attribute: return attribute(node);
  case Node::subscript: return subscript(node);
  case Node::slice: return slice(node);
  case Node::call: return call(node);
  case Node::binary_operator: return binary(node);
  case Node::unary_operator: return unary(node, false);
  case Node::not_operator: return unary(node, true);
  case Node::boolean_operator: return boolean(node);
  case Node::comparison_operator: return comparison(node);
  case Node::conditional_expression: return conditional(node);
  case Node::lambda: return lambda(node);
  case Node::tuple:
  case Node::tuple_pattern:
  case Node::expression_list:
  case Node::pattern_list: return display<TupleExpr>(node, ExprKind::tuple);
  case Node::list:
  case Node::list_pattern: return display<ListExpr>(node, ExprKind::list);
  case Node::set: return display<SetExpr>(node, ExprKind::set);
  case Node::dictionary: return dictionary(node);
  case Node::list_comprehension: return comprehension(node, ComprehensionKind::list);
  case Node::set_comprehension: return comprehension(node, ComprehensionKind::set);
  case Node::dictionary_comprehension: return comprehension(node, ComprehensionKind::dict);
  case Node::generator_expression: return comprehension(node, ComprehensionKind::generator);
  case Node::await: return await(node);
  case Node::yield: return yield(node);
  case Node::list_splat:
  case Node::list_splat_pattern:
  case Node::splat_type: return starred(node);
  case Node::parenthesized_expression:
  case Node::parenthesized_list_splat:
  case Node::as_pattern_target:
  case Node::type: return child_expression(node);
  case Node::named_expression: return named(node);
  case Node::as_pattern: {
    if (!with_target_) return error_expression(node);
    const Expr** target = with_target_;
    const WithItem item = with_item(kind);
    *target = item.target;
    with_target_ = target;
    return item.context;
  }
  case Node::generic_type: return generic_type(node);
  case Node::union_type: return union_type(node);
  case Node::member_type: return member_type(node);
  case Node::constrained_type: return constrained_type(node);
  case Node::dotted_name: return dotted(node);
  default: return error_expression(node);
  }
}

const Expr* Lowering::child_expression(TSNode node) {
  const Expr* inner = nullptr;
  children([&](TSNode, Node kind) {
    if (is_expression(kind) && !inner) inner = expression();
  });
  return inner ? inner : error_expression(node);
}

// Text that the grammar takes and Python does not.
const Expr* Lowering::error_expression(TSNode node) {
  has_error_ = true;
  Gather<const Expr*> parts(*this);
  gather_expressions(parts);
  return make(ErrorExpr{{ExprKind::error, span(node)}, parts.list()});
}

const Expr* Lowering::name_expression(TSNode node) {
  return make(NameExpr{{ExprKind::name, span(node)}, name(node)});
}

const Expr* Lowering::dotted(TSNode) {
  const Expr* value = nullptr;
  children([&](TSNode child, Node kind) {
    if (kind != Node::identifier) return;
    const Span at = span(child);
    if (!value) {
      value = make(NameExpr{{ExprKind::name, at}, name(child)});
    } else {
      value = make(AttributeExpr{{ExprKind::attribute, {value->span.begin, at.end}}, value, name(child), at});
    }
  });
  return value;
}

template <class T> const Expr* Lowering::hoisted(T made, const Expr* T::* operand) {
  const Expr* inner = made.*operand;
  if (!inner || inner->kind != ExprKind::starred) return make(made);
  const Span outer = made.span;
  made.*operand = as<StarredExpr>(*inner).value;
  made.span.begin = (made.*operand)->span.begin;
  return make(StarredExpr{{ExprKind::starred, outer}, make(made)});
}

const Expr* Lowering::attribute(TSNode node) {
  AttributeExpr out{{ExprKind::attribute, span(node)}, nullptr, {}, {}};
  children([&](TSNode child, Node kind) {
    if (!is_expression(kind)) return;
    if (!out.object) {
      out.object = expression();
    } else {
      out.attribute = name(child);
      out.attribute_span = span(child);
    }
  });
  return hoisted(out, &AttributeExpr::object);
}

const Expr* Lowering::one_or_tuple(Gather<const Expr*>& gathered, bool comma, Span span) {
  if (gathered.size() == 1 && !comma) return gathered.front();
  return make(TupleExpr{{ExprKind::tuple, span}, gathered.list()});
}

const Expr* Lowering::subscript(TSNode node) {
  SubscriptExpr out{{ExprKind::subscript, span(node)}, nullptr, nullptr};
  Gather<const Expr*> indices(*this);
  bool comma = false;
  Span inside{};
  children([&](TSNode child, Node kind) {
    if (kind == Node::comma) {
      comma = true;
      inside.end = span(child).end;
    } else if (is_expression(kind)) {
      if (!out.object) {
        out.object = expression();
        return;
      }
      const Span at = span(child);
      if (indices.size() == 0) inside.begin = at.begin;
      inside.end = at.end;
      indices.push(expression());
    }
  });
  // CPython makes a tuple of `a[*b]`.
  const bool starred = indices.size() == 1 && indices.front()->kind == ExprKind::starred;
  out.index = one_or_tuple(indices, comma || starred, inside);
  return hoisted(out, &SubscriptExpr::object);
}

const Expr* Lowering::slice(TSNode node) {
  const Expr* bounds[3] = {};
  std::size_t at = 0;
  children([&](TSNode, Node kind) {
    if (kind == Node::colon) {
      at = std::min<std::size_t>(at + 1, 2);
    } else if (is_expression(kind)) {
      bounds[at] = expression();
    }
  });
  return make(SliceExpr{{ExprKind::slice, span(node)}, bounds[0], bounds[1], bounds[2]});
}

void Lowering::arguments(Gather<const Expr*>& positional, Gather<Keyword>& keywords) {
  children([&](TSNode child, Node kind) {
    if (kind == Node::keyword_argument) {
      Keyword keyword{{}, nullptr, span(child)};
      children([&](TSNode part, Node part_kind) {
        if (!is_expression(part_kind)) return;
        if (keyword.name.empty()) {
          keyword.name = name(part);
        } else {
          keyword.value = expression();
        }
      });
      keywords.push(keyword);
    } else if (kind == Node::dictionary_splat) {
      keywords.push({{}, child_expression(child), span(child)});
    } else if (is_expression(kind)) {
      positional.push(expression());
    }
  });
}

const Expr* Lowering::call(TSNode node) {
  CallExpr out{{ExprKind::call, span(node)}, nullptr, {}, {}, {}};
  Gather<const Expr*> positional(*this);
  Gather<Keyword> keywords(*this);
  children([&](TSNode child, Node kind) {
    if (!out.function) {
      if (is_expression(kind)) out.function = expression();
      return;
    }
    out.arguments_span = span(child);
    if (kind == Node::argument_list) {
      arguments(positional, keywords);
    } else if (kind == Node::generator_expression) {
      positional.push(expression());
    }
  });
  out.arguments = positional.list();
  out.keywords = keywords.list();
  return hoisted(out, &CallExpr::function);
}

struct Lowering::Operand {
  const Expr* expr;
  Span outer;  // with its parentheses
  Node op;     // the operator after it
  Span op_span;
};

// The operands of a chain of `&` and `^`, from left to right.
void Lowering::bitwise_operands(std::vector<Operand>& out) {
  children([&](TSNode child, Node kind) {
    if (kind == Node::binary_operator) {
      Node op = Node::other;
      children([&](TSNode, Node token) {
        if (!is_expression(token)) op = token;
      });
      if (op == Node::ampersand || op == Node::caret) {
        const Deeper deeper(*this);
        if (!deeper.too_deep()) return bitwise_operands(out);
      }
    }
    if (is_expression(kind)) {
      out.push_back({expression(), span(child), Node::other, {}});
    } else if (!out.empty()) {
      out.back().op = kind;
      out.back().op_span = span(child);
    }
  });
}

// Python's `&` binds tighter than its `^`; in the grammar it is the other way round.
const Expr* Lowering::bitwise(TSNode) {
  std::vector<Operand> operands;
  bitwise_operands(operands);
  const auto join = [&](Node op) {
    std::vector<Operand> out;
    for (const Operand& right : operands) {
      if (out.empty() || out.back().op != op) {
        out.push_back(right);
        continue;
      }
      Operand& left = out.back();
      const Span both{left.outer.begin, right.outer.end};
      left.expr = make(
          BinaryExpr{{ExprKind::binary, both}, op == Node::ampersand ? BinaryOp::bit_and : BinaryOp::bit_xor,
              left.expr, right.expr, left.op_span});
      left.outer = both;
      left.op = right.op;
      left.op_span = right.op_span;
    }
    operands = std::move(out);
  };
  join(Node::ampersand);
  join(Node::caret);
  return operands.front().expr;
}

const Expr* Lowering::binary(TSNode node) {
  BinaryExpr out{{ExprKind::binary, span(node)}, BinaryOp::add, nullptr, nullptr, {}};
  Node op = Node::other;
  bool chained = false;
  children([&](TSNode child, Node kind) {
    if (kind == Node::binary_operator) chained = true;
    if (is_expression(kind)) return;
    op = kind;
    out.op = binary_op(kind);
    out.op_span = span(child);
  });
  if (chained && (op == Node::ampersand || op == Node::caret)) return bitwise(node);
  children([&](TSNode, Node kind) {
    if (is_expression(kind)) (out.left ? out.right : out.left) = expression();
  });
  return hoisted(out, &BinaryExpr::left);
}

const Expr* Lowering::unary(TSNode node, bool negation) {
  UnaryExpr out{{ExprKind::unary, span(node)}, UnaryOp::logical_not, nullptr};
  children([&](TSNode, Node kind) {
    if (is_expression(kind)) {
      out.operand = expression();
    } else if (!negation) {
      out.op = kind == Node::minus ? UnaryOp::minus : kind == Node::plus ? UnaryOp::plus : UnaryOp::invert;
    }
  });
  return make(out);
}

BoolOp Lowering::boolean_op() {
  BoolOp op = BoolOp::logical_and;
  children([&](TSNode, Node kind) {
    if (kind == Node::or_) op = BoolOp::logical_or;
  });
  return op;
}

// Python flattens `a and b and c`, but not what stands in parentheses: those are nodes of their own here.
void Lowering::boolean_operands(BoolOp op, Gather<const Expr*>& out) {
  const Deeper deeper(*this);
  if (deeper.too_deep()) {
    out.push(make(ErrorExpr{{ExprKind::error, span(node())}, {}}));
    return;
  }
  children([&](TSNode, Node kind) {
    if (kind == Node::boolean_operator && boolean_op() == op) {
      boolean_operands(op, out);
    } else if (is_expression(kind)) {
      out.push(expression());
    }
  });
}

const Expr* Lowering::boolean(TSNode node) {
  const BoolOp op = boolean_op();
  Gather<const Expr*> operands(*this);
  boolean_operands(op, operands);
  return make(BooleanOpExpr{{ExprKind::boolean_op, span(node)}, op, operands.list()});
}

const Expr* Lowering::comparison(TSNode node) {
  CompareExpr out{{ExprKind::compare, span(node)}, nullptr, {}, {}};
  Gather<CompareOp> ops(*this);
  Gather<const Expr*> rights(*this);
  children([&](TSNode, Node kind) {
    if (!is_expression(kind)) {
      ops.push(compare_op(kind));
    } else if (!out.left) {
      out.left = expression();
    } else {
      rights.push(expression());
    }
  });
  out.ops = ops.list();
  out.rights = rights.list();
  return hoisted(out, &CompareExpr::left);
}

const Expr* Lowering::conditional(TSNode node) {
  const Expr* parts[3] = {};
  std::size_t count = 0;
  children([&](TSNode, Node kind) {
    if (is_expression(kind) && count < 3) parts[count++] = expression();
  });
  ConditionalExpr out{{ExprKind::conditional, span(node)}, parts[1], parts[0], parts[2]};
  if (with_target_ && *with_target_) out.span.end = parts[2]->span.end;
  return hoisted(out, &ConditionalExpr::body);
}

const Expr* Lowering::lambda(TSNode node) {
  LambdaExpr out{{ExprKind::lambda, span(node)}, nullptr, nullptr};
  children([&](TSNode, Node kind) {
    if (kind == Node::lambda_parameters) {
      out.parameters = parameters();
    } else if (is_expression(kind)) {
      scopes_.emplace_back();  // a lambda is a scope of its own: what it binds or yields stays there
      out.body = expression();
      scopes_.pop_back();
    }
  });
  if (!out.parameters) out.parameters = make(Parameters{});
  return make(out);
}

const Expr* Lowering::await(TSNode node) {
  const Expr* value = child_expression(node);
  bool power = false;  // `await x ** 2` is `(await x) ** 2`
  children([&](TSNode, Node kind) { power = power || kind == Node::binary_operator; });
  if (power && value->kind == ExprKind::binary) {
    BinaryExpr out = as<BinaryExpr>(*value);
    const Span outer = span(node);
    out.left = make(AwaitExpr{{ExprKind::await, {outer.begin, out.left->span.end}}, out.left});
    out.span = outer;
    return make(out);
  }
  return make(AwaitExpr{{ExprKind::await, span(node)}, value});
}

const Expr* Lowering::yield(TSNode node) {
  scopes_.back().yields();
  bool from = false;
  const Expr* value = nullptr;
  children([&](TSNode, Node kind) {
    if (kind == Node::from) from = true;
    if (is_expression(kind)) value = expression();
  });
  if (from && value) return make(YieldFromExpr{{ExprKind::yield_from, span(node)}, value});
  return make(YieldExpr{{ExprKind::yield, span(node)}, value});
}

const Expr* Lowering::starred(TSNode node) {
  const Expr* value = child_expression(node);
  return make(StarredExpr{{ExprKind::starred, span(node)}, value});
}

const Expr* Lowering::named(TSNode node) {
  NamedExpr out{{ExprKind::named, span(node)}, {}, {}, nullptr};
  children([&](TSNode child, Node kind) {
    if (!is_expression(kind)) return;
    if (out.name.empty()) {
      out.name = name(child);
      out.name_span = span(child);
    } else {
      out.value = expression();
    }
  });
  scopes_.back().bind(out.name);
  return make(out);
}

}  // namespace stepzero::syntax
