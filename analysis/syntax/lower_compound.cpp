// Compound statements: headers, bodies and clauses.
#include "syntax/lower_common.hpp"

namespace stepzero::syntax {
namespace {

std::string_view docstring_of(Block body) {
  if (body.empty() || body.front()->kind != StmtKind::expression) return {};
  const Expr& value = *as<ExpressionStmt>(*body.front()).value;
  return value.kind == ExprKind::string ? as<StringExpr>(value).value : std::string_view{};
}

}  // namespace

std::uint32_t Lowering::end_of(Span span, Block body) {
  return body.empty() ? span.end : std::max(span.end, body.back()->span.end);
}

Block Lowering::block(std::uint32_t colon) {
  Gather<const Stmt*> out(*this);
  if (!source_.lines) {
    children([&](TSNode, Node kind) {
      if (is_statement(kind)) statement(out);
    });
    return out.list();
  }
  // The tree was made of the headers, and its blocks hold only what stands on a header's own line. The body
  // of this one is the deeper lines after the line of its colon.
  const std::vector<Line>& lines = *source_.lines;
  const std::uint32_t at = begin_ + colon;
  std::size_t header = source_.first;
  while (header + 1 < source_.last && lines[header + 1].begin < at) ++header;
  std::size_t end = header + 1;
  while (end < source_.last && lines[end].indent > lines[header].indent) ++end;
  children([&](TSNode child, Node kind) {
    if (is_statement(kind) && begin_ + span(child).begin < lines[header].end) statement(out);
  });
  lines_of_body(lines, header + 1, end, out);
  return out.list();
}

struct Lowering::Clause {
  Span header{};  // from the keyword through the colon
  const Expr* target = nullptr;
  const Expr* value = nullptr;
  Block body;
  Block orelse;
  bool is_async = false;
  std::uint32_t end = 0;
};

// Reads `[async] keyword [target in] value: body [else: orelse]`. A target is bound before the body.
Lowering::Clause Lowering::clause(TSNode node) {
  Clause out;
  const bool has_target = kind_of(node) == Node::for_statement;
  out.header.begin = span(node).begin;
  children([&](TSNode child, Node kind) {
    if (kind == Node::async) {
      out.is_async = true;
    } else if (kind == Node::colon) {
      out.header.end = span(child).end;
    } else if (kind == Node::block) {
      out.body = block(out.header.end);
    } else if (kind == Node::else_clause) {
      const Clause orelse = clause(child);
      out.orelse = orelse.body;
    } else if (is_expression(kind)) {
      if (has_target && !out.target) {
        out.target = expression();
        scopes_.back().bind(out.target);
      } else {
        out.value = expression();
      }
    }
  });
  out.end = end_of({out.header.begin, end_of(out.header, out.body)}, out.orelse);
  return out;
}

const Stmt* Lowering::if_(TSNode node) {
  // The clauses of a chain, as statements that are linked from the last to the first.
  Gather<const Stmt*> chain(*this);
  IfStmt head{{StmtKind::if_, span(node)}, nullptr, {}, {}, false, {}, {}};
  head.header.begin = head.span.begin;
  Block last;
  Span last_header{};
  children([&](TSNode child, Node kind) {
    if (kind == Node::colon) {
      head.header.end = span(child).end;
    } else if (kind == Node::block) {
      head.body = block(head.header.end);
    } else if (kind == Node::elif_clause) {
      const Clause part = clause(child);
      const Span at{part.header.begin, part.end};
      chain.push(make(IfStmt{{StmtKind::if_, at}, part.value, part.body, {}, true, part.header, {}}));
    } else if (kind == Node::else_clause) {
      const Clause part = clause(child);
      last = part.body;
      last_header = part.header;
    } else if (is_expression(kind)) {
      head.test = expression();
    }
  });
  head.span.end = end_of(head.header, head.body);
  const std::size_t room = deepest > depth_ ? deepest - depth_ : 0;
  for (std::size_t index = chain.size(); index-- > 0;) {
    auto* part = const_cast<IfStmt*>(&as<IfStmt>(*chain[index]));
    part->orelse = last;
    part->else_span = last_header;
    part->span.end = end_of(part->span, last);
    const Stmt* link = part;
    // A chain longer than the nesting limit ends in text that is not looked at.
    if (index >= room) link = make(ErrorStmt{{StmtKind::error, part->span}, {}});
    const Stmt** one = make(link);
    last = Block(one, 1);
    last_header = part->header;
  }
  head.orelse = last;
  head.else_span = last_header;
  head.span.end = end_of(head.span, last);
  return make(head);
}

const Stmt* Lowering::while_(TSNode node) {
  const Clause part = clause(node);
  return make(WhileStmt{
      {StmtKind::while_, {part.header.begin, part.end}}, part.value, part.body, part.orelse, part.header});
}

const Stmt* Lowering::for_(TSNode node) {
  const Clause part = clause(node);
  return make(ForStmt{{StmtKind::for_, {part.header.begin, part.end}}, part.target, part.value, part.body,
      part.orelse, part.is_async, part.header});
}

ExceptHandler Lowering::handler(TSNode node) {
  ExceptHandler out{nullptr, {}, {}, span(node), false};
  Gather<const Expr*> types(*this);
  std::uint32_t colon = 0;
  bool after_as = false;
  const auto bind = [&](TSNode at) {
    out.name = name(at);
    scopes_.back().bind(out.name);
  };
  children([&](TSNode child, Node kind) {
    if (kind == Node::star) {
      out.is_star = true;
    } else if (kind == Node::colon) {
      colon = span(child).end;
    } else if (kind == Node::as) {
      after_as = true;
    } else if (kind == Node::as_pattern) {
      children([&](TSNode part, Node part_kind) {
        if (part_kind == Node::as_pattern_target) {
          bind(part);
        } else if (is_expression(part_kind)) {
          types.push(expression());
        }
      });
    } else if (kind == Node::block) {
      out.body = block(colon);
    } else if (is_expression(kind)) {
      if (after_as) {
        bind(child);
      } else {
        types.push(expression());
      }
    }
  });
  if (types.size() > 1) has_error_ = true;  // `except E, e` is Python 2
  if (types.size() > 0) out.type = types.front();
  out.span.end = end_of({out.span.begin, colon}, out.body);
  return out;
}

const Stmt* Lowering::try_(TSNode node) {
  TryStmt out{{StmtKind::try_, span(node)}, {}, {}, {}, {}};
  Gather<ExceptHandler> handlers(*this);
  std::uint32_t colon = 0;
  out.span.end = out.span.begin;
  const auto extend = [&](std::uint32_t end) { out.span.end = std::max(out.span.end, end); };
  children([&](TSNode child, Node kind) {
    if (kind == Node::colon) {
      colon = span(child).end;
      extend(colon);
    } else if (kind == Node::block) {
      out.body = block(colon);
      extend(end_of(out.span, out.body));
    } else if (kind == Node::except_clause) {
      handlers.push(handler(child));
      extend(handlers[handlers.size() - 1].span.end);
    } else if (kind == Node::else_clause || kind == Node::finally_clause) {
      const Clause part = clause(child);
      (kind == Node::else_clause ? out.orelse : out.finally) = part.body;
      extend(part.end);
    }
  });
  out.handlers = handlers.list();
  return make(out);
}

WithItem Lowering::with_item(Node kind) {
  if (kind != Node::as_pattern) {
    // `a if b else c as d`: the grammar lets the target cling to `c`.
    const Expr* target = nullptr;
    const bool open = kind == Node::conditional_expression || kind == Node::lambda;
    with_target_ = open ? &target : nullptr;
    const Expr* context = expression();
    with_target_ = nullptr;
    return {context, target};
  }
  with_target_ = nullptr;
  WithItem out{nullptr, nullptr};
  children([&](TSNode, Node part) {
    if (!is_expression(part)) return;
    if (out.context) {
      out.target = expression();
    } else {
      out.context = expression();
    }
  });
  scopes_.back().bind(out.target);
  return out;
}

// The items of a with_clause. `with (a as b, c):` and `with (a, c):` list items in parentheses, which the
// grammar may take for a tuple.
void Lowering::with_items(Gather<WithItem>& out) {
  bool parenthesised = false;
  std::size_t items = 0;
  children([&](TSNode, Node kind) {
    if (kind == Node::with_item) ++items;
    if (kind == Node::other) parenthesised = true;
  });
  children([&](TSNode, Node clause_part) {
    if (clause_part != Node::with_item) return;
    children([&](TSNode child, Node kind) {
      if (!is_expression(kind)) return;
      bool listed = false;
      if (items == 1 && !parenthesised && (kind == Node::tuple || kind == Node::parenthesized_expression)) {
        listed = true;
        std::size_t count = 0;
        children([&](TSNode, Node part) {
          if (!is_expression(part)) return;
          ++count;
          listed = listed && part != Node::list_splat && part != Node::yield &&
              part != Node::named_expression && part != Node::parenthesized_list_splat;
        });
        listed = listed && count > 0;
      }
      if (!listed) {
        out.push(with_item(kind));
        return;
      }
      children([&](TSNode, Node part) {
        if (is_expression(part)) out.push(with_item(part));
      });
      static_cast<void>(child);
    });
  });
}

const Stmt* Lowering::with(TSNode node) {
  WithStmt out{{StmtKind::with, span(node)}, {}, {}, false, {}};
  out.header.begin = out.span.begin;
  Gather<WithItem> items(*this);
  children([&](TSNode child, Node kind) {
    if (kind == Node::async) {
      out.is_async = true;
    } else if (kind == Node::with_clause) {
      with_items(items);
    } else if (kind == Node::colon) {
      out.header.end = span(child).end;
    } else if (kind == Node::block) {
      out.body = block(out.header.end);
    }
  });
  out.items = items.list();
  out.span.end = end_of(out.header, out.body);
  return make(out);
}

const Stmt* Lowering::function(TSNode node, List<const Expr*> decorators, std::uint32_t begin) {
  FunctionStmt out{};
  out.kind = StmtKind::function;
  out.decorators = decorators;
  out.header.begin = span(node).begin;
  children([&](TSNode child, Node kind) {
    switch (kind) {
    case Node::async: out.is_async = true; break;
    case Node::identifier:
      out.name = name(child);
      out.name_span = span(child);
      scopes_.back().bind(out.name);
      break;
    case Node::parameters: out.parameters = parameters(); break;
    case Node::type: out.returns = expression(); break;
    case Node::colon: out.header.end = span(child).end; break;
    case Node::block:
      scopes_.emplace_back();
      if (out.parameters)
        for (const Parameter& each : out.parameters->list) scopes_.back().bind(each.name);
      out.body = block(out.header.end);
      out.scope = scopes_.back().finish(arena_);
      scopes_.pop_back();
      break;
    default: break;
    }
  });
  if (!out.parameters) out.parameters = make(Parameters{});
  out.docstring = docstring_of(out.body);
  out.span = {begin, end_of(out.header, out.body)};
  return make(out);
}

const Stmt* Lowering::class_(TSNode node, List<const Expr*> decorators, std::uint32_t begin) {
  ClassStmt out{};
  out.kind = StmtKind::class_;
  out.decorators = decorators;
  out.header.begin = span(node).begin;
  Gather<const Expr*> bases(*this);
  Gather<Keyword> keywords(*this);
  children([&](TSNode child, Node kind) {
    switch (kind) {
    case Node::identifier:
      out.name = name(child);
      out.name_span = span(child);
      scopes_.back().bind(out.name);
      break;
    case Node::argument_list: arguments(bases, keywords); break;
    case Node::colon: out.header.end = span(child).end; break;
    case Node::block:
      scopes_.emplace_back();
      out.body = block(out.header.end);
      out.scope = scopes_.back().finish(arena_);
      scopes_.pop_back();
      break;
    default: break;
    }
  });
  out.bases = bases.list();
  out.keywords = keywords.list();
  out.docstring = docstring_of(out.body);
  out.span = {begin, end_of(out.header, out.body)};
  return make(out);
}

const Stmt* Lowering::decorated(TSNode node) {
  Gather<const Expr*> decorators(*this);
  const std::uint32_t begin = span(node).begin;
  const Stmt* out = nullptr;
  children([&](TSNode child, Node kind) {
    if (kind == Node::decorator) {
      decorators.push(child_expression(child));
    } else if (kind == Node::function_definition) {
      out = function(child, decorators.list(), begin);
    } else if (kind == Node::class_definition) {
      out = class_(child, decorators.list(), begin);
    }
  });
  return out;
}

}  // namespace stepzero::syntax
