// `match` statements and their patterns.
#include "syntax/lower_common.hpp"

namespace stepzero::syntax {
namespace {

bool is_pattern(Node kind) {
  switch (kind) {
  case Node::case_pattern:
  case Node::keyword_pattern:
  case Node::class_pattern:
  case Node::splat_pattern:
  case Node::union_pattern:
  case Node::dict_pattern:
  case Node::complex_pattern:
  case Node::list_pattern:
  case Node::tuple_pattern:
  case Node::as_pattern:
  case Node::dotted_name:
  case Node::underscore:
  case Node::string:
  case Node::concatenated_string:
  case Node::integer:
  case Node::real:
  case Node::true_:
  case Node::false_:
  case Node::none: return true;
  default: return false;
  }
}

}  // namespace

const Pattern* Lowering::capture(Name name, Span span) {
  if (name.text() == "_") return make(WildcardPattern{{PatternKind::wildcard, span}});
  scopes_.back().bind(name);
  return make(CapturePattern{{PatternKind::capture, span}, name});
}

// Of the case_pattern at the cursor.
const Pattern* Lowering::pattern() {
  const Pattern* out = nullptr;
  bool negative = false;
  const Span at = span(node());
  const Deeper deeper(*this);
  if (!deeper.too_deep()) {
    children([&](TSNode child, Node kind) {
      if (kind == Node::minus) negative = true;
      if (is_pattern(kind) && !out) out = pattern_of(child, kind, negative);
    });
  }
  return out ? out : make(ErrorPattern{{PatternKind::error, at}});
}

// Of the node at the cursor; `negative` if a minus stands before it.
const Pattern* Lowering::pattern_of(TSNode node, Node kind, bool negative) {
  const Deeper deeper(*this);
  const Span at = span(node);
  if (deeper.too_deep()) return make(ErrorPattern{{PatternKind::error, at}});
  switch (kind) {
  case Node::case_pattern: return pattern();
  case Node::underscore: return make(WildcardPattern{{PatternKind::wildcard, at}});
  case Node::class_pattern: return class_pattern(node);
  case Node::dict_pattern: return mapping_pattern(node);
  case Node::union_pattern: return or_pattern(node);
  case Node::as_pattern: return as_pattern(node);
  case Node::list_pattern: return sequence_pattern(node, false);
  case Node::tuple_pattern: return sequence_pattern(node, true);
  case Node::splat_pattern: {
    StarPattern out{{PatternKind::star, at}, {}};
    children([&](TSNode child, Node part) {
      if (part == Node::identifier && original(child) != "_") out.name = name(child);
    });
    scopes_.back().bind(out.name);
    return make(out);
  }
  case Node::dotted_name: {
    const Expr* value = dotted(node);
    if (value->kind == ExprKind::name) return capture(as<NameExpr>(*value).id, at);
    return make(ValuePattern{{PatternKind::value, at}, value});
  }
  default: {
    const Expr* value = pattern_literal(node, kind, negative);
    return make(ValuePattern{{PatternKind::value, value->span}, value});
  }
  }
}

const Expr* Lowering::pattern_literal(TSNode node, Node kind, bool negative) {
  if (kind == Node::complex_pattern) return complex_literal(node);
  const Expr* value = expression_of(node, kind);
  if (!negative) return value;
  std::uint32_t begin = value->span.begin;  // the minus stands before it, perhaps after blanks
  while (begin > 0 && original_[begin_ + begin] != '-') --begin;
  return make(UnaryExpr{{ExprKind::unary, {begin, value->span.end}}, UnaryOp::minus, value});
}

// `-1 + 2j`
const Expr* Lowering::complex_literal(TSNode node) {
  const Span at = span(node);
  const Expr* left = nullptr;
  const Expr* right = nullptr;
  bool negative = false;
  BinaryExpr out{{ExprKind::binary, at}, BinaryOp::add, nullptr, nullptr, {}};
  children([&](TSNode child, Node kind) {
    if (kind == Node::integer || kind == Node::real) {
      (left ? right : left) = expression_of(child, kind);
    } else if (!left) {
      negative = kind == Node::minus;
    } else {
      out.op = kind == Node::minus ? BinaryOp::sub : BinaryOp::add;
      out.op_span = span(child);
    }
  });
  if (negative && left)
    left = make(UnaryExpr{{ExprKind::unary, {at.begin, left->span.end}}, UnaryOp::minus, left});
  out.left = left;
  out.right = right;
  return make(out);
}

const Pattern* Lowering::sequence_pattern(TSNode node, bool may_be_group) {
  Gather<const Pattern*> elements(*this);
  bool comma = false;
  children([&](TSNode child, Node kind) {
    if (kind == Node::comma) comma = true;
    if (is_pattern(kind)) elements.push(pattern_of(child, kind, false));
  });
  if (may_be_group && !comma && elements.size() == 1 && elements.front()->kind != PatternKind::star)
    return elements.front();
  return make(SequencePattern{{PatternKind::sequence, span(node)}, elements.list()});
}

const Pattern* Lowering::or_pattern(TSNode node) {
  Gather<const Pattern*> alternatives(*this);
  bool negative = false;
  children([&](TSNode child, Node kind) {
    if (is_pattern(kind)) {
      alternatives.push(pattern_of(child, kind, negative));
      negative = false;
    } else if (kind == Node::minus) {
      negative = true;
    }
  });
  return make(OrPattern{{PatternKind::or_, span(node)}, alternatives.list()});
}

const Pattern* Lowering::as_pattern(TSNode node) {
  AsPattern out{{PatternKind::as, span(node)}, nullptr, {}};
  children([&](TSNode child, Node kind) {
    if (kind == Node::identifier) {
      out.name = name(child);
    } else if (is_pattern(kind)) {
      out.pattern = pattern_of(child, kind, false);
    }
  });
  scopes_.back().bind(out.name);
  return make(out);
}

const Pattern* Lowering::class_pattern(TSNode node) {
  ClassPattern out{{PatternKind::class_, span(node)}, nullptr, {}, {}, {}};
  Gather<const Pattern*> positional(*this);
  Gather<Name> names(*this);
  std::vector<const Pattern*> named;
  const auto keyword = [&] {
    bool negative = false;
    children([&](TSNode part, Node kind) {
      if (kind == Node::identifier) {
        names.push(name(part));
      } else if (kind == Node::minus) {
        negative = true;
      } else if (is_pattern(kind)) {
        named.push_back(pattern_of(part, kind, negative));
      }
    });
  };
  children([&](TSNode child, Node kind) {
    if (kind == Node::dotted_name) {
      out.type = dotted(child);
    } else if (kind == Node::case_pattern) {
      bool is_keyword = false;
      children([&](TSNode, Node part) {
        if (part != Node::keyword_pattern) return;
        is_keyword = true;
        keyword();
      });
      if (!is_keyword) positional.push(pattern());
    }
  });
  out.arguments = positional.list();
  out.keyword_names = names.list();
  Gather<const Pattern*> copied(*this);
  for (const Pattern* each : named) copied.push(each);
  out.keyword_patterns = copied.list();
  return make(out);
}

const Pattern* Lowering::mapping_pattern(TSNode node) {
  MappingPattern out{{PatternKind::mapping, span(node)}, {}, {}, {}};
  Gather<const Expr*> keys(*this);
  Gather<const Pattern*> patterns(*this);
  bool is_key = true, negative = false;
  children([&](TSNode child, Node kind) {
    if (kind == Node::comma) {
      is_key = true;
    } else if (kind == Node::colon) {
      is_key = false;
    } else if (kind == Node::minus) {
      negative = true;
    } else if (kind == Node::splat_pattern) {
      const Pattern* rest = pattern_of(child, kind, false);
      out.rest = as<StarPattern>(*rest).name;
    } else if (is_pattern(kind) && is_key) {
      keys.push(is_expression(kind) || kind == Node::complex_pattern ? pattern_literal(child, kind, negative)
                                                                     : error_expression(child));
      negative = false;
    } else if (is_pattern(kind)) {
      patterns.push(pattern_of(child, kind, false));
    }
  });
  out.keys = keys.list();
  out.patterns = patterns.list();
  return make(out);
}

MatchCase Lowering::match_case(TSNode node) {
  MatchCase out{nullptr, nullptr, {}, span(node)};
  Gather<const Pattern*> patterns(*this);
  bool comma = false;
  std::uint32_t colon = 0;
  Span at{};
  children([&](TSNode child, Node kind) {
    if (kind == Node::case_pattern) {
      if (patterns.size() == 0) at.begin = span(child).begin;
      at.end = span(child).end;
      patterns.push(pattern());
    } else if (kind == Node::comma) {
      comma = true;
      at.end = span(child).end;
    } else if (kind == Node::if_clause) {
      out.guard = child_expression(child);
    } else if (kind == Node::colon) {
      colon = span(child).end;
    } else if (kind == Node::block) {
      out.body = block(colon);
    }
  });
  if (patterns.size() == 1 && !comma) {
    out.pattern = patterns.front();
  } else {
    out.pattern = make(SequencePattern{{PatternKind::sequence, at}, patterns.list()});
  }
  out.span.end = end_of({out.span.begin, colon}, out.body);
  return out;
}

const Stmt* Lowering::match(TSNode node) {
  MatchStmt out{{StmtKind::match, span(node)}, nullptr, {}};
  Gather<const Expr*> subjects(*this);
  Gather<MatchCase> cases(*this);
  bool comma = false;
  Span at{};
  children([&](TSNode child, Node kind) {
    if (kind == Node::comma) {
      comma = true;
      at.end = span(child).end;
    } else if (kind == Node::colon) {
      out.span.end = span(child).end;
    } else if (kind == Node::block) {
      children([&](TSNode each, Node part) {
        if (part == Node::case_clause) cases.push(match_case(each));
      });
    } else if (is_expression(kind)) {
      if (subjects.size() == 0) at.begin = span(child).begin;
      at.end = span(child).end;
      subjects.push(expression());
    }
  });
  out.subject = one_or_tuple(subjects, comma, at);
  out.cases = cases.list();
  if (!out.cases.empty()) out.span.end = std::max(out.span.end, out.cases.back().span.end);
  return make(out);
}

}  // namespace stepzero::syntax
