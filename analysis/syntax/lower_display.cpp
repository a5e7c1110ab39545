// Displays, comprehensions, parameter lists, and the grammar's own spellings of annotations.
#include "syntax/lower_common.hpp"

namespace stepzero::syntax {

List<const Expr*> Lowering::elements() {
  Gather<const Expr*> out(*this);
  children([&](TSNode, Node kind) {
    if (is_expression(kind)) out.push(expression());
  });
  return out.list();
}

template <class T> const Expr* Lowering::display(TSNode node, ExprKind kind) {
  T out;
  out.kind = kind;
  out.span = span(node);
  bool comma = false;
  Gather<const Expr*> gathered(*this);
  children([&](TSNode, Node child) {
    if (child == Node::comma) comma = true;
    if (is_expression(child)) gathered.push(expression());
  });
  // `(x): int` has a tuple of one in the grammar.
  if (kind == ExprKind::tuple && gathered.size() == 1 && !comma) return gathered.front();
  out.elements = gathered.list();
  return make(out);
}
template const Expr* Lowering::display<TupleExpr>(TSNode, ExprKind);
template const Expr* Lowering::display<ListExpr>(TSNode, ExprKind);
template const Expr* Lowering::display<SetExpr>(TSNode, ExprKind);

const Expr* Lowering::dictionary(TSNode node) {
  Gather<DictItem> items(*this);
  children([&](TSNode child, Node kind) {
    if (kind == Node::dictionary_splat) {
      items.push({nullptr, child_expression(child)});
    } else if (kind == Node::pair) {
      DictItem item{nullptr, nullptr};
      children([&](TSNode, Node part) {
        if (is_expression(part)) (item.key ? item.value : item.key) = expression();
      });
      items.push(item);
    }
  });
  return make(DictExpr{{ExprKind::dict, span(node)}, items.list()});
}

Generator Lowering::generator(TSNode node) {
  Generator out{nullptr, nullptr, {}, false};
  Gather<const Expr*> iterables(*this);
  bool comma = false;
  std::uint32_t begin = 0;
  children([&](TSNode child, Node kind) {
    if (kind == Node::async) {
      out.is_async = true;
    } else if (kind == Node::comma) {
      comma = true;
    } else if (is_expression(kind)) {
      if (!out.target) {
        out.target = expression();
      } else {
        if (iterables.size() == 0) begin = span(child).begin;
        iterables.push(expression());
      }
    }
  });
  if (comma) has_error_ = true;  // `for x in 1, 2` in a comprehension is Python 2
  out.iterable = one_or_tuple(iterables, comma, {begin, span(node).end});
  return out;
}

const Expr* Lowering::comprehension(TSNode node, ComprehensionKind comprehension_kind) {
  ComprehensionExpr out{{ExprKind::comprehension, span(node)}, comprehension_kind, nullptr, nullptr, {}};
  Gather<Generator> generators(*this);
  Generator current{nullptr, nullptr, {}, false};
  Gather<const Expr*> conditions(*this);
  std::size_t taken = 0;  // conditions that belong to earlier generators
  const auto finish = [&] {
    if (!current.target) return;
    const List<const Expr*> all = conditions.list();
    current.conditions = all.subspan(taken);
    taken = all.size();
    generators.push(current);
  };
  children([&](TSNode child, Node kind) {
    if (kind == Node::for_in_clause) {
      finish();
      current = generator(child);
    } else if (kind == Node::if_clause) {
      conditions.push(child_expression(child));
    } else if (kind == Node::pair) {
      children([&](TSNode, Node part) {
        if (is_expression(part)) (out.element ? out.value : out.element) = expression();
      });
    } else if (is_expression(kind)) {
      out.element = expression();
    }
  });
  finish();
  out.generators = generators.list();
  return make(out);
}

Parameter Lowering::parameter(TSNode node, Node kind) {
  Parameter out{{}, ParameterKind::normal, nullptr, nullptr, span(node)};
  const auto read_name = [&](TSNode at) {
    out.name = name(at);
    out.span = span(at);
  };
  const auto read_splat = [&](Node splat) {
    out.kind = splat == Node::list_splat_pattern ? ParameterKind::var_positional : ParameterKind::var_keyword;
    children([&](TSNode part, Node part_kind) {
      if (part_kind == Node::identifier) read_name(part);
    });
  };
  if (kind == Node::identifier) {
    read_name(node);
  } else if (kind == Node::list_splat_pattern || kind == Node::dictionary_splat_pattern) {
    read_splat(kind);
  } else {
    children([&](TSNode part, Node part_kind) {
      if (part_kind == Node::type) {
        out.annotation = expression();
      } else if (part_kind == Node::list_splat_pattern || part_kind == Node::dictionary_splat_pattern) {
        read_splat(part_kind);
      } else if (part_kind == Node::identifier && out.name.empty()) {
        read_name(part);
      } else if (is_expression(part_kind)) {
        out.default_value = expression();
      }
    });
  }
  if (out.name.empty()) has_error_ = true;  // the tuple parameters of Python 2
  return out;
}

const Parameters* Lowering::parameters() {
  Gather<Parameter> out(*this);
  std::size_t positional_only = 0;
  bool keyword_only = false;
  children([&](TSNode child, Node kind) {
    switch (kind) {
    case Node::positional_separator: positional_only = out.size(); break;
    case Node::keyword_separator: keyword_only = true; break;
    case Node::identifier:
    case Node::typed_parameter:
    case Node::default_parameter:
    case Node::typed_default_parameter:
    case Node::list_splat_pattern:
    case Node::dictionary_splat_pattern:
    case Node::tuple_pattern: {
      Parameter made = parameter(child, kind);
      if (made.kind == ParameterKind::normal && keyword_only) made.kind = ParameterKind::keyword_only;
      if (made.kind == ParameterKind::var_positional) keyword_only = true;
      out.push(made);
      break;
    }
    default: break;
    }
  });
  const List<Parameter> list = out.list();
  for (std::size_t index = 0; index < positional_only; ++index)
    const_cast<Parameter&>(list[index]).kind = ParameterKind::positional_only;
  return make(Parameters{list});
}

// `List[int]`, which the grammar does not see as a subscript where it expects a type.
const Expr* Lowering::generic_type(TSNode node) {
  SubscriptExpr out{{ExprKind::subscript, span(node)}, nullptr, nullptr};
  Gather<const Expr*> indices(*this);
  bool comma = false;
  Span inside{};
  children([&](TSNode, Node kind) {
    if (kind == Node::type_parameter) {
      children([&](TSNode part, Node part_kind) {
        if (part_kind == Node::comma) {
          comma = true;
          inside.end = span(part).end;
        } else if (is_expression(part_kind)) {
          if (indices.size() == 0) inside.begin = span(part).begin;
          inside.end = span(part).end;
          indices.push(expression());
        }
      });
    } else if (is_expression(kind)) {
      out.object = expression();
    }
  });
  const bool starred = indices.size() == 1 && indices.front()->kind == ExprKind::starred;
  out.index = one_or_tuple(indices, comma || starred, inside);
  return make(out);
}

const Expr* Lowering::union_type(TSNode node) {
  BinaryExpr out{{ExprKind::binary, span(node)}, BinaryOp::bit_or, nullptr, nullptr, {}};
  children([&](TSNode child, Node kind) {
    if (is_expression(kind)) {
      (out.left ? out.right : out.left) = expression();
    } else {
      out.op_span = span(child);
    }
  });
  return make(out);
}

const Expr* Lowering::member_type(TSNode node) { return attribute(node); }

// `a[x: y]` where a type is expected.
const Expr* Lowering::constrained_type(TSNode node) {
  const Expr* bounds[2] = {};
  std::size_t count = 0;
  children([&](TSNode, Node kind) {
    if (is_expression(kind) && count < 2) bounds[count++] = expression();
  });
  return make(SliceExpr{{ExprKind::slice, span(node)}, bounds[0], bounds[1], nullptr});
}

}  // namespace stepzero::syntax
