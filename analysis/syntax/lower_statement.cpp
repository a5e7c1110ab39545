// Simple statements.
#include "syntax/lower_common.hpp"

#include <string>

namespace stepzero::syntax {
namespace {

BinaryOp assigned_op(Node token) {
  switch (token) {
  case Node::add_assign: return BinaryOp::add;
  case Node::sub_assign: return BinaryOp::sub;
  case Node::mul_assign: return BinaryOp::mul;
  case Node::div_assign: return BinaryOp::div;
  case Node::matmul_assign: return BinaryOp::matmul;
  case Node::floordiv_assign: return BinaryOp::floordiv;
  case Node::mod_assign: return BinaryOp::mod;
  case Node::pow_assign: return BinaryOp::pow;
  case Node::rshift_assign: return BinaryOp::rshift;
  case Node::lshift_assign: return BinaryOp::lshift;
  case Node::and_assign: return BinaryOp::bit_and;
  case Node::xor_assign: return BinaryOp::bit_xor;
  default: return BinaryOp::bit_or;
  }
}

bool is_assign_op(Node token) { return token >= Node::add_assign && token <= Node::or_assign; }

}  // namespace

void Lowering::statement(Gather<const Stmt*>& out) {
  const TSNode here = node();
  const Deeper deeper(*this);
  if (deeper.too_deep()) {
    out.push(make(ErrorStmt{{StmtKind::error, span(here)}, {}}));
  } else if (const Stmt* stmt = statement_of(here, kind_of(here))) {
    out.push(stmt);
  }
}

const Stmt* Lowering::statement_of(TSNode node, Node kind) {
  switch (kind) {
  case Node::expression_statement: return expression_statement(node);
  case Node::import_statement: return import(node);
  case Node::import_from_statement: return import_from(node, false);
  case Node::future_import_statement: return import_from(node, true);
  case Node::print_statement: return print(node);
  case Node::exec_statement: return exec(node);
  case Node::assert_statement: return assert_(node);
  case Node::return_statement: return return_(node);
  case Node::delete_statement: return delete_(node);
  case Node::raise_statement: return raise(node);
  case Node::pass_statement: return make(PassStmt{{StmtKind::pass, span(node)}});
  case Node::break_statement: return make(BreakStmt{{StmtKind::break_, span(node)}});
  case Node::continue_statement: return make(ContinueStmt{{StmtKind::continue_, span(node)}});
  case Node::global_statement: return declaration<GlobalStmt>(node, StmtKind::global);
  case Node::nonlocal_statement: return declaration<NonlocalStmt>(node, StmtKind::nonlocal);
  case Node::type_alias_statement: return type_alias(node);
  case Node::if_statement: return if_(node);
  case Node::for_statement: return for_(node);
  case Node::while_statement: return while_(node);
  case Node::try_statement: return try_(node);
  case Node::with_statement: return with(node);
  case Node::match_statement: return match(node);
  case Node::function_definition: return function(node, {}, span(node).begin);
  case Node::class_definition: return class_(node, {}, span(node).begin);
  case Node::decorated_definition: return decorated(node);
  default: return nullptr;
  }
}

const Stmt* Lowering::expression_statement(TSNode node) {
  Gather<const Expr*> values(*this);
  const Stmt* assigned_stmt = nullptr;
  bool comma = false;
  children([&](TSNode child, Node kind) {
    if (kind == Node::assignment) {
      assigned_stmt = assignment(child);
    } else if (kind == Node::augmented_assignment) {
      assigned_stmt = augmented_assignment(child);
    } else if (kind == Node::comma) {
      comma = true;
    } else if (is_expression(kind)) {
      values.push(expression());
    }
  });
  if (assigned_stmt) return assigned_stmt;
  if (values.size() == 0) return nullptr;
  const Expr* value = one_or_tuple(values, comma, span(node));
  return make(ExpressionStmt{{StmtKind::expression, span(node)}, value});
}

struct Lowering::Assigned {
  explicit Assigned(Lowering& lowering) : targets(lowering) {}
  Gather<const Expr*> targets;
  const Expr* annotation = nullptr;
  const Expr* value = nullptr;
};

// `a = b = v` nests to the right in the grammar.
void Lowering::assigned(Assigned& out) {
  const Deeper deeper(*this);
  bool left = true;
  children([&](TSNode child, Node kind) {
    if (kind == Node::equal || kind == Node::colon) {
      left = false;
    } else if (kind == Node::type) {
      if (out.targets.size() != 1) has_error_ = true;
      out.annotation = expression();
    } else if (kind == Node::assignment && !deeper.too_deep()) {
      if (out.annotation) has_error_ = true;
      assigned(out);
    } else if (kind == Node::assignment || kind == Node::augmented_assignment) {
      out.value = error_expression(child);
    } else if (is_expression(kind)) {
      const Expr* expr = expression();
      if (left) {
        out.targets.push(expr);
        scopes_.back().bind(expr);
      } else {
        out.value = expr;
      }
    }
  });
}

const Stmt* Lowering::assignment(TSNode node) {
  Assigned parts(*this);
  assigned(parts);
  const Span at = span(node);
  if (parts.annotation && parts.targets.size() == 1)
    return make(
        AnnAssignStmt{{StmtKind::ann_assign, at}, parts.targets.front(), parts.annotation, parts.value});
  if (!parts.value) parts.value = make(ErrorExpr{{ExprKind::error, at}, {}});
  return make(AssignStmt{{StmtKind::assign, at}, parts.targets.list(), parts.value});
}

const Stmt* Lowering::augmented_assignment(TSNode node) {
  AugAssignStmt out{{StmtKind::aug_assign, span(node)}, nullptr, BinaryOp::add, nullptr};
  children([&](TSNode child, Node kind) {
    if (is_assign_op(kind)) {
      out.op = assigned_op(kind);
    } else if (kind == Node::assignment || kind == Node::augmented_assignment) {
      out.value = error_expression(child);
    } else if (is_expression(kind)) {
      (out.target ? out.value : out.target) = expression();
    }
  });
  scopes_.back().bind(out.target);
  return make(out);
}

List<Name> Lowering::dotted_path() {
  Gather<Name> path(*this);
  children([&](TSNode child, Node kind) {
    if (kind == Node::identifier) path.push(name(child));
  });
  return path.list();
}

Alias Lowering::alias(Node kind, bool binds_first) {
  Alias out{{}, {}, span(node())};
  if (kind == Node::dotted_name) {
    out.path = dotted_path();
  } else {
    children([&](TSNode child, Node part) {
      if (part == Node::dotted_name) out.path = dotted_path();
      if (part == Node::identifier) out.alias = name(child);
    });
  }
  if (!out.alias.empty()) {
    scopes_.back().bind(out.alias);
  } else if (!out.path.empty()) {
    scopes_.back().bind(binds_first ? out.path.front() : out.path.back());
  }
  return out;
}

const Stmt* Lowering::import(TSNode node) {
  Gather<Alias> names(*this);
  children([&](TSNode, Node kind) {
    if (kind == Node::dotted_name || kind == Node::aliased_import) names.push(alias(kind, true));
  });
  return make(ImportStmt{{StmtKind::import, span(node)}, names.list()});
}

const Stmt* Lowering::import_from(TSNode node, bool future) {
  ImportFromStmt out{{StmtKind::import_from, span(node)}, {}, 0, {}, false};
  Gather<Alias> names(*this);
  bool module = !future;  // the next dotted name is the module's
  if (future) {
    Name* path = make(Name("__future__"));
    out.module = {path, 1};
  }
  children([&](TSNode, Node kind) {
    if (kind == Node::relative_import) {
      children([&](TSNode part, Node part_kind) {
        if (part_kind == Node::import_prefix) {
          const std::string_view dots = original(part);
          out.level = static_cast<std::uint32_t>(std::count(dots.begin(), dots.end(), '.'));
        } else if (part_kind == Node::dotted_name) {
          out.module = dotted_path();
        }
      });
      module = false;
    } else if (kind == Node::dotted_name && module) {
      out.module = dotted_path();
      module = false;
    } else if (kind == Node::dotted_name || kind == Node::aliased_import) {
      names.push(alias(kind, false));
    } else if (kind == Node::wildcard_import) {
      out.star = true;
    }
  });
  out.names = names.list();
  return make(out);
}

// `print "x"` is Python 2 and no expression; `print >> f, x` is a tuple in Python 3.
const Stmt* Lowering::print(TSNode node) {
  const Span at = span(node);
  const Span word{at.begin, at.begin + 5};
  Gather<const Expr*> parts(*this);
  bool chevron = false, comma = false;
  children([&](TSNode child, Node kind) {
    if (kind == Node::chevron) {
      chevron = true;
      BinaryExpr shift{
          {ExprKind::binary, {at.begin, span(child).end}}, BinaryOp::rshift, nullptr, nullptr, {}};
      shift.op_span = {span(child).begin, span(child).begin + 2};
      shift.left = make(NameExpr{{ExprKind::name, word}, Name("print")});
      shift.right = child_expression(child);
      parts.push(make(shift));
    } else if (kind == Node::comma) {
      comma = true;
    } else if (is_expression(kind)) {
      parts.push(expression());
    }
  });
  const Expr* value = nullptr;
  if (chevron) {
    value = one_or_tuple(parts, comma, at);
  } else {
    has_error_ = true;
    value = make(ErrorExpr{{ExprKind::error, at}, parts.list()});
  }
  return make(ExpressionStmt{{StmtKind::expression, at}, value});
}

const Stmt* Lowering::exec(TSNode node) {
  has_error_ = true;
  const List<const Expr*> parts = elements();
  const Expr* value = make(ErrorExpr{{ExprKind::error, span(node)}, parts});
  return make(ExpressionStmt{{StmtKind::expression, span(node)}, value});
}

const Stmt* Lowering::return_(TSNode node) {
  ReturnStmt out{{StmtKind::return_, span(node)}, nullptr};
  children([&](TSNode, Node kind) {
    if (is_expression(kind)) out.value = expression();
  });
  if (out.value) scopes_.back().returns_value();
  return make(out);
}

const Stmt* Lowering::raise(TSNode node) {
  RaiseStmt out{{StmtKind::raise, span(node)}, nullptr, nullptr};
  bool from = false;
  children([&](TSNode, Node kind) {
    if (kind == Node::from) from = true;
    if (!is_expression(kind)) return;
    if (kind == Node::expression_list) has_error_ = true;  // `raise E, "message"` is Python 2
    (from ? out.cause : out.exception) = expression();
  });
  return make(out);
}

const Stmt* Lowering::assert_(TSNode node) {
  AssertStmt out{{StmtKind::assert_, span(node)}, nullptr, nullptr};
  children([&](TSNode, Node kind) {
    if (is_expression(kind)) (out.test ? out.message : out.test) = expression();
  });
  return make(out);
}

const Stmt* Lowering::delete_(TSNode node) {
  DeleteStmt out{{StmtKind::delete_, span(node)}, {}};
  Gather<const Expr*> targets(*this);
  bool listed = false;
  children([&](TSNode, Node kind) {
    if (kind == Node::expression_list) {
      out.targets = elements();
      listed = true;
    } else if (is_expression(kind)) {
      targets.push(expression());
    }
  });
  if (!listed) out.targets = targets.list();
  for (const Expr* target : out.targets) scopes_.back().bind(target);
  return make(out);
}

// `type(x).y = z` assigns, but the grammar prefers to see a type alias. Reads the statement again under
// another word.
const Stmt* Lowering::with_other_word(TSNode node) {
  const std::uint32_t begin = source_.origin + ts_node_start_byte(node);
  std::string code(text_.substr(begin, ts_node_end_byte(node) - ts_node_start_byte(node)));
  code[0] = '_';
  const Tree tree = trees_.tree(code);
  if (!tree) return nullptr;
  const Nested nested(*this, ts_tree_root_node(tree.get()), {nullptr, begin});
  const Stmt* out = nullptr;
  children([&](TSNode child, Node kind) {
    if (kind == Node::expression_statement) out = expression_statement(child);
  });
  return out;
}

const Stmt* Lowering::type_alias(TSNode node) {
  TypeAliasStmt out{{StmtKind::type_alias, span(node)}, {}, nullptr};
  const Expr* left = nullptr;
  children([&](TSNode, Node kind) {
    if (kind == Node::type) (left ? out.value : left) = expression();
  });
  if (left && left->kind == ExprKind::subscript) left = as<SubscriptExpr>(*left).object;
  const bool alias = left && left->kind == ExprKind::name && original_[begin_ + left->span.begin - 1] != '(';
  if (const Stmt* other = alias ? nullptr : with_other_word(node)) return other;
  if (left && left->kind == ExprKind::name) out.name = as<NameExpr>(*left).id;
  scopes_.back().bind(out.name);
  return make(out);
}

template <class T> const Stmt* Lowering::declaration(TSNode node, StmtKind kind) {
  Gather<Name> names(*this);
  children([&](TSNode child, Node part) {
    if (part == Node::identifier) names.push(name(child));
  });
  const List<Name> list = names.list();
  for (const Name declared : list) {
    if (kind == StmtKind::global) {
      scopes_.back().declare_global(declared);
    } else {
      scopes_.back().declare_nonlocal(declared);
    }
  }
  T out;
  out.kind = kind;
  out.span = span(node);
  out.names = list;
  return make(out);
}
template const Stmt* Lowering::declaration<GlobalStmt>(TSNode, StmtKind);
template const Stmt* Lowering::declaration<NonlocalStmt>(TSNode, StmtKind);

}  // namespace stepzero::syntax
