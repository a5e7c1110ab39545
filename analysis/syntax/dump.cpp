// Statements and patterns as text. Expressions are in dump_expressions.cpp.
#include "syntax/dumper.hpp"

namespace stepzero::syntax {

void Dumper::pattern(const Pattern* p) {
  out += ' ';
  switch (p->kind) {
  case PatternKind::value:
    open("value", p->span);
    expr(as<ValuePattern>(*p).value);
    break;
  case PatternKind::capture:
    open("capture", p->span);
    word(as<CapturePattern>(*p).name.text());
    break;
  case PatternKind::wildcard: open("wildcard", p->span); break;
  case PatternKind::sequence:
    open("sequence", p->span);
    for (const Pattern* each : as<SequencePattern>(*p).elements) pattern(each);
    break;
  case PatternKind::mapping: {
    const auto& mapping = as<MappingPattern>(*p);
    open("mapping", p->span);
    word(mapping.rest.text());
    exprs("keys", mapping.keys);
    for (const Pattern* each : mapping.patterns) pattern(each);
    break;
  }
  case PatternKind::class_: {
    const auto& class_pattern = as<ClassPattern>(*p);
    open("class", p->span);
    expr(class_pattern.type);
    group("arguments");
    for (const Pattern* each : class_pattern.arguments) pattern(each);
    close();
    names("names", class_pattern.keyword_names);
    for (const Pattern* each : class_pattern.keyword_patterns) pattern(each);
    break;
  }
  case PatternKind::star:
    open("star", p->span);
    word(as<StarPattern>(*p).name.text());
    break;
  case PatternKind::or_:
    open("or", p->span);
    for (const Pattern* each : as<OrPattern>(*p).alternatives) pattern(each);
    break;
  case PatternKind::as:
    open("as", p->span);
    if (as<AsPattern>(*p).pattern) pattern(as<AsPattern>(*p).pattern);
    word(as<AsPattern>(*p).name.text());
    break;
  case PatternKind::error: open("error", p->span); break;
  }
  close();
}

void Dumper::definition(const Stmt& s) {
  if (s.kind == StmtKind::function) {
    const auto& function = as<FunctionStmt>(s);
    open(function.is_async ? "async-function" : "function", s.span);
    word(function.name.text());
    out += ' ';
    where(function.name_span);
    header("header", function.header);
    exprs("decorators", function.decorators);
    parameters(*function.parameters);
    expr(function.returns);
    if (!function.docstring.empty()) {
      group("doc");
      bytes(function.docstring);
      close();
    }
    scope(function.scope);
    block("body", function.body);
    return;
  }
  const auto& class_ = as<ClassStmt>(s);
  open("class", s.span);
  word(class_.name.text());
  out += ' ';
  where(class_.name_span);
  header("header", class_.header);
  exprs("decorators", class_.decorators);
  exprs("bases", class_.bases);
  keywords(class_.keywords);
  if (!class_.docstring.empty()) {
    group("doc");
    bytes(class_.docstring);
    close();
  }
  scope(class_.scope);
  block("body", class_.body);
}

void Dumper::stmt(const Stmt& s) {
  switch (s.kind) {
  case StmtKind::expression:
  case StmtKind::assign:
  case StmtKind::aug_assign:
  case StmtKind::ann_assign:
  case StmtKind::return_:
  case StmtKind::delete_:
  case StmtKind::pass:
  case StmtKind::break_:
  case StmtKind::continue_:
  case StmtKind::raise:
  case StmtKind::assert_:
  case StmtKind::global:
  case StmtKind::nonlocal:
  case StmtKind::type_alias:
  case StmtKind::error: simple(s); break;
  case StmtKind::if_:
  case StmtKind::while_:
  case StmtKind::for_:
  case StmtKind::with:
  case StmtKind::try_:
  case StmtKind::match: compound(s); break;
  case StmtKind::import:
  case StmtKind::import_from: imports(s); break;
  case StmtKind::function:
  case StmtKind::class_: definition(s); break;
  }
  close();
}

// One line.
void Dumper::simple(const Stmt& s) {
  switch (s.kind) {
  case StmtKind::expression:
    open("expression", s.span);
    expr(as<ExpressionStmt>(s).value);
    break;
  case StmtKind::assign:
    open("assign", s.span);
    exprs("targets", as<AssignStmt>(s).targets);
    expr(as<AssignStmt>(s).value);
    break;
  case StmtKind::aug_assign:
    open("aug-assign", s.span);
    word(binary_ops[static_cast<std::size_t>(as<AugAssignStmt>(s).op)]);
    expr(as<AugAssignStmt>(s).target);
    expr(as<AugAssignStmt>(s).value);
    break;
  case StmtKind::ann_assign:
    open("ann-assign", s.span);
    expr(as<AnnAssignStmt>(s).target);
    expr(as<AnnAssignStmt>(s).annotation);
    expr(as<AnnAssignStmt>(s).value);
    break;
  case StmtKind::return_:
    open("return", s.span);
    expr(as<ReturnStmt>(s).value);
    break;
  case StmtKind::delete_:
    open("delete", s.span);
    exprs("targets", as<DeleteStmt>(s).targets);
    break;
  case StmtKind::pass: open("pass", s.span); break;
  case StmtKind::break_: open("break", s.span); break;
  case StmtKind::continue_: open("continue", s.span); break;
  case StmtKind::raise:
    open("raise", s.span);
    expr(as<RaiseStmt>(s).exception);
    expr(as<RaiseStmt>(s).cause);
    break;
  case StmtKind::assert_:
    open("assert", s.span);
    expr(as<AssertStmt>(s).test);
    expr(as<AssertStmt>(s).message);
    break;
  case StmtKind::global:
    open("global", s.span);
    names("names", as<GlobalStmt>(s).names);
    break;
  case StmtKind::nonlocal:
    open("nonlocal", s.span);
    names("names", as<NonlocalStmt>(s).names);
    break;
  case StmtKind::type_alias:
    open("type-alias", s.span);
    word(as<TypeAliasStmt>(s).name.text());
    expr(as<TypeAliasStmt>(s).value);
    break;
  case StmtKind::error:
    open("error", s.span);
    block("parts", as<ErrorStmt>(s).parts);
    break;
  default: break;
  }
}

// Statements with blocks.
void Dumper::compound(const Stmt& s) {
  switch (s.kind) {
  case StmtKind::if_: {
    const auto& branch = as<IfStmt>(s);
    open(branch.is_elif ? "elif" : "if", s.span);
    header("header", branch.header);
    expr(branch.test);
    block("body", branch.body);
    if (!branch.orelse.empty()) {
      header("else-span", branch.else_span);
      block("else", branch.orelse);
    }
    break;
  }
  case StmtKind::while_:
    open("while", s.span);
    header("header", as<WhileStmt>(s).header);
    expr(as<WhileStmt>(s).test);
    block("body", as<WhileStmt>(s).body);
    block("else", as<WhileStmt>(s).orelse);
    break;
  case StmtKind::for_:
    open(as<ForStmt>(s).is_async ? "async-for" : "for", s.span);
    header("header", as<ForStmt>(s).header);
    expr(as<ForStmt>(s).target);
    expr(as<ForStmt>(s).iterable);
    block("body", as<ForStmt>(s).body);
    block("else", as<ForStmt>(s).orelse);
    break;
  case StmtKind::with:
    open(as<WithStmt>(s).is_async ? "async-with" : "with", s.span);
    header("header", as<WithStmt>(s).header);
    for (const WithItem& item : as<WithStmt>(s).items) {
      group("item");
      expr(item.context);
      expr(item.target);
      close();
    }
    block("body", as<WithStmt>(s).body);
    break;
  case StmtKind::try_: {
    const auto& attempt = as<TryStmt>(s);
    open("try", s.span);
    block("body", attempt.body);
    for (const ExceptHandler& handler : attempt.handlers) {
      out += ' ';
      open(handler.is_star ? "except*" : "except", handler.span);
      expr(handler.type);
      word(handler.name.text());
      block("body", handler.body);
      close();
    }
    block("else", attempt.orelse);
    block("finally", attempt.finally);
    break;
  }
  case StmtKind::match:
    open("match", s.span);
    expr(as<MatchStmt>(s).subject);
    for (const MatchCase& each : as<MatchStmt>(s).cases) {
      out += ' ';
      open("case", each.span);
      pattern(each.pattern);
      expr(each.guard);
      block("body", each.body);
      close();
    }
    break;
  default: break;
  }
}

void Dumper::imports(const Stmt& s) {
  List<Alias> aliases;
  if (s.kind == StmtKind::import) {
    open("import", s.span);
    aliases = as<ImportStmt>(s).names;
  } else {
    open("import-from", s.span);
    word(std::to_string(as<ImportFromStmt>(s).level));
    names("module", as<ImportFromStmt>(s).module);
    if (as<ImportFromStmt>(s).star) word("*");
    aliases = as<ImportFromStmt>(s).names;
  }
  for (const Alias& alias : aliases) {
    out += ' ';
    open("alias", alias.span);
    names("path", alias.path);
    word(alias.alias.text());
    close();
  }
}

std::string dump(const Module& module) {
  Dumper dumper;
  for (const Item& item : module.items) dumper.chunk(item);
  for (const Comment& comment : module.comments) {
    dumper.out += comment.trailing ? "trailing-comment " : "comment ";
    dumper.out += std::to_string(comment.span.begin) + ':' + std::to_string(comment.span.end) + '\n';
  }
  if (module.has_error) dumper.out += "has-error\n";
  return dumper.out;
}

std::string dump_without_places(const Stmt& stmt) {
  Dumper dumper;
  dumper.places = false;
  dumper.one(stmt);
  return dumper.out;
}

}  // namespace stepzero::syntax
