#include "syntax/dump.hpp"

#include <charconv>

namespace stepzero::syntax {
namespace {

constexpr std::string_view binary_ops[] = {"+",  "-",  "*",  "@", "/", "//", "%",
                                           "**", "<<", ">>", "&", "|", "^"};
constexpr std::string_view unary_ops[] = {"+", "-", "~", "not"};
constexpr std::string_view compare_ops[] = {"==", "!=", "<", "<=", ">", ">=", "is", "is-not", "in", "not-in"};
constexpr std::string_view comprehension_kinds[] = {"list", "set", "dict", "generator"};
constexpr std::string_view parameter_kinds[] = {"positional", "normal", "keyword", "*", "**"};

class Dumper {
public:
  std::string out;
  std::uint32_t offset = 0;

  void chunk(const Item& item) {
    offset = item.offset;
    stmt(*item.chunk->stmt);
    if (item.chunk->has_error) out += " error";
    out += '\n';
  }

private:
  void open(std::string_view kind, Span span) {
    out += '(';
    out += kind;
    out += ' ';
    where(span);
  }
  void close() { out += ')'; }
  void where(Span span) {
    number(offset + span.begin);
    out += ':';
    number(offset + span.end);
  }
  void number(std::uint64_t value) { out += std::to_string(value); }
  void word(std::string_view text) {
    out += ' ';
    out += text.empty() ? "-" : text;
  }
  void bytes(std::string_view value) {
    constexpr char digits[] = "0123456789abcdef";
    bool plain = true;
    for (const char c : value)
      plain = plain && c > ' ' && c < 127 && c != '(' && c != ')' && c != '#' && c != '"';
    out += ' ';
    if (plain) {
      out += '"';
      out += value;
      out += '"';
      return;
    }
    out += '#';
    for (const char c : value) {
      out += digits[static_cast<unsigned char>(c) >> 4];
      out += digits[static_cast<unsigned char>(c) & 15];
    }
  }
  void real(double value) {
    char buffer[40];
    const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
    word({buffer, static_cast<std::size_t>(result.ptr - buffer)});
  }

  void group(std::string_view label) {
    out += " (";
    out += label;
  }
  void names(std::string_view label, List<Name> list) {
    group(label);
    for (const Name name : list) word(name.text());
    close();
  }
  void exprs(std::string_view label, List<const Expr*> list) {
    group(label);
    for (const Expr* each : list) expr(each);
    close();
  }
  void keywords(List<Keyword> list) {
    group("keywords");
    for (const Keyword& keyword : list) {
      out += ' ';
      open("keyword", keyword.span);
      word(keyword.name.empty() ? "**" : keyword.name.text());
      expr(keyword.value);
      close();
    }
    close();
  }
  void block(std::string_view label, Block body) {
    group(label);
    for (const Stmt* each : body) {
      out += ' ';
      stmt(*each);
    }
    close();
  }
  void parameters(const Parameters& parameters) {
    group("parameters");
    for (const Parameter& parameter : parameters.list) {
      out += ' ';
      open(parameter_kinds[static_cast<std::size_t>(parameter.kind)], parameter.span);
      word(parameter.name.text());
      expr(parameter.annotation);
      expr(parameter.default_value);
      close();
    }
    close();
  }
  void scope(const ScopeInfo& scope) {
    names("locals", scope.locals);
    names("globals", scope.globals);
    names("nonlocals", scope.nonlocals);
    if (scope.is_generator) out += " generator";
  }
  void header(std::string_view label, Span span) {
    group(label);
    out += ' ';
    where(span);
    close();
  }

  void expr(const Expr* e);
  void stmt(const Stmt& s);
  void pattern(const Pattern* p);
  void definition(const Stmt& s);
};

void Dumper::expr(const Expr* e) {
  out += ' ';
  if (!e) {
    out += '-';
    return;
  }
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
  }
  close();
}

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
  case StmtKind::import:
  case StmtKind::import_from: {
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
    break;
  }
  case StmtKind::global:
    open("global", s.span);
    names("names", as<GlobalStmt>(s).names);
    break;
  case StmtKind::nonlocal:
    open("nonlocal", s.span);
    names("names", as<NonlocalStmt>(s).names);
    break;
  case StmtKind::function:
  case StmtKind::class_: definition(s); break;
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
  case StmtKind::type_alias:
    open("type-alias", s.span);
    word(as<TypeAliasStmt>(s).name.text());
    expr(as<TypeAliasStmt>(s).value);
    break;
  case StmtKind::error:
    open("error", s.span);
    block("parts", as<ErrorStmt>(s).parts);
    break;
  }
  close();
}

} // namespace

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

} // namespace stepzero::syntax
