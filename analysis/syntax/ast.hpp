// The typed syntax that every higher floor reads instead of tree-sitter nodes: Python's own abstract syntax,
// with the spans of the text. Immutable once built; lives in the arena of its Chunk. Knows no meaning of any
// name.
#pragma once

#include "syntax/name.hpp"
#include "syntax/text.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace stepzero::syntax {

template <class T> using List = std::span<T const>;

// ---------------------------------------------------------------- expressions

enum class ExprKind : std::uint8_t {
  name,
  integer,
  real,
  imaginary,
  string,
  bytes,
  format,
  none,
  boolean,
  ellipsis,
  attribute,
  subscript,
  slice,
  call,
  binary,
  unary,
  boolean_op,
  compare,
  conditional,
  lambda,
  tuple,
  list,
  set,
  dict,
  comprehension,
  await,
  yield,
  yield_from,
  starred,
  named,
  error,
};

// Spans are byte offsets from the begin of the enclosing Chunk, so that a chunk may move without being
// rebuilt. A parenthesised expression's span leaves the parentheses out, except for tuples.
struct Expr {
  ExprKind kind;
  Span span;
};

enum class BinaryOp : std::uint8_t {
  add,
  sub,
  mul,
  matmul,
  div,
  floordiv,
  mod,
  pow,
  lshift,
  rshift,
  bit_and,
  bit_or,
  bit_xor
};
enum class UnaryOp : std::uint8_t { plus, minus, invert, logical_not };
enum class CompareOp : std::uint8_t { eq, ne, lt, le, gt, ge, is, is_not, in, not_in };
enum class BoolOp : std::uint8_t { logical_and, logical_or };
enum class ComprehensionKind : std::uint8_t { list, set, dict, generator };

struct NameExpr : Expr {
  Name id;
};
// `fits` is false for literals beyond 64 bits; `value` is then 0.
struct IntegerExpr : Expr {
  std::int64_t value;
  bool fits;
};
struct RealExpr : Expr {
  double value;
};
struct ImaginaryExpr : Expr {
  double value;
};
// Escapes resolved, adjacent literals joined. For bytes, the bytes.
struct StringExpr : Expr {
  std::string_view value;
};
struct BytesExpr : Expr {
  std::string_view value;
};
// An f-string: the parts in order, literal text as StringExpr. Conversions and format specs: nested values
// are appended as parts too, the spec's text is dropped, and `plain` is false if any part has a conversion or
// a spec.
struct FormatExpr : Expr {
  List<const Expr*> parts;
  bool plain;
};
struct NoneExpr : Expr {};
struct BooleanExpr : Expr {
  bool value;
};
struct EllipsisExpr : Expr {};
struct AttributeExpr : Expr {
  const Expr* object;
  Name attribute;
  Span attribute_span;
};
// `a[i, j]` has a TupleExpr as index.
struct SubscriptExpr : Expr {
  const Expr* object;
  const Expr* index;
};
struct SliceExpr : Expr {
  const Expr* lower;
  const Expr* upper;
  const Expr* step;
};  // each may be null
struct Keyword {
  Name name;
  const Expr* value;
  Span span;
};  // `**value` has an empty name
// Positional arguments may be StarredExpr. `f(x for x in y)` has the comprehension as its one argument.
// `arguments_span` covers the parentheses.
struct CallExpr : Expr {
  const Expr* function;
  List<const Expr*> arguments;
  List<Keyword> keywords;
  Span arguments_span;
};
struct BinaryExpr : Expr {
  BinaryOp op;
  const Expr* left;
  const Expr* right;
  Span op_span;
};
struct UnaryExpr : Expr {
  UnaryOp op;
  const Expr* operand;
};
struct BooleanOpExpr : Expr {
  BoolOp op;
  List<const Expr*> operands;
};  // two or more, flattened as Python does
struct CompareExpr : Expr {
  const Expr* left;
  List<CompareOp> ops;
  List<const Expr*> rights;
};
struct ConditionalExpr : Expr {
  const Expr* test;
  const Expr* body;
  const Expr* orelse;
};
struct Parameters;
struct LambdaExpr : Expr {
  const Parameters* parameters;
  const Expr* body;
};
struct TupleExpr : Expr {
  List<const Expr*> elements;
};
struct ListExpr : Expr {
  List<const Expr*> elements;
};
struct SetExpr : Expr {
  List<const Expr*> elements;
};
struct DictItem {
  const Expr* key;
  const Expr* value;
};  // `**value` has a null key
struct DictExpr : Expr {
  List<DictItem> items;
};
struct Generator {
  const Expr* target;
  const Expr* iterable;
  List<const Expr*> conditions;
  bool is_async;
};
// `value` is the mapped value of a dict comprehension, else null.
struct ComprehensionExpr : Expr {
  ComprehensionKind comprehension;
  const Expr* element;
  const Expr* value;
  List<Generator> generators;
};
struct AwaitExpr : Expr {
  const Expr* value;
};
struct YieldExpr : Expr {
  const Expr* value;
};  // may be null
struct YieldFromExpr : Expr {
  const Expr* value;
};
struct StarredExpr : Expr {
  const Expr* value;
};
struct NamedExpr : Expr {
  Name name;
  Span name_span;
  const Expr* value;
};
// Text that is no expression yet. Evaluates to unknown; its lowerable parts are kept so that they are still
// analyzed. All that is read in a broken line stands below an ErrorExpr; an expression that is none holds no
// error.
struct ErrorExpr : Expr {
  List<const Expr*> parts;
};

// ---------------------------------------------------------------- statements

enum class StmtKind : std::uint8_t {
  expression,
  assign,
  aug_assign,
  ann_assign,
  return_,
  delete_,
  pass,
  break_,
  continue_,
  if_,
  while_,
  for_,
  with,
  try_,
  raise,
  assert_,
  import,
  import_from,
  global,
  nonlocal,
  function,
  class_,
  match,
  type_alias,
  error,
};

struct Stmt {
  StmtKind kind;
  Span span;  // from the first token (a decorator, too) to the last token of the last statement in it
};
// A `header` spans from the statement's own keyword (`async` counts, decorators do not) through the colon.
using Block = List<const Stmt*>;

struct ExpressionStmt : Stmt {
  const Expr* value;
};
struct AssignStmt : Stmt {
  List<const Expr*> targets;
  const Expr* value;
};  // `a = b = v` has two targets
struct AugAssignStmt : Stmt {
  const Expr* target;
  BinaryOp op;
  const Expr* value;
};
struct AnnAssignStmt : Stmt {
  const Expr* target;
  const Expr* annotation;
  const Expr* value;
};  // value may be null
struct ReturnStmt : Stmt {
  const Expr* value;
};  // may be null
struct DeleteStmt : Stmt {
  List<const Expr*> targets;
};
struct PassStmt : Stmt {};
struct BreakStmt : Stmt {};
struct ContinueStmt : Stmt {};
// `elif` is an IfStmt alone in `orelse` with `is_elif` set on it. `else_span` covers `else:`, or the header
// of the elif; it is empty if there is neither.
struct IfStmt : Stmt {
  const Expr* test;
  Block body;
  Block orelse;
  bool is_elif;
  Span header;
  Span else_span;
};
struct WhileStmt : Stmt {
  const Expr* test;
  Block body;
  Block orelse;
  Span header;
};
struct ForStmt : Stmt {
  const Expr* target;
  const Expr* iterable;
  Block body;
  Block orelse;
  bool is_async;
  Span header;
};
struct WithItem {
  const Expr* context;
  const Expr* target;
};  // target may be null
struct WithStmt : Stmt {
  List<WithItem> items;
  Block body;
  bool is_async;
  Span header;
};
struct ExceptHandler {
  const Expr* type;
  Name name;
  Block body;
  Span span;
  bool is_star;
};  // type may be null
struct TryStmt : Stmt {
  Block body;
  List<ExceptHandler> handlers;
  Block orelse;
  Block finally;
};
struct RaiseStmt : Stmt {
  const Expr* exception;
  const Expr* cause;
};  // each may be null
struct AssertStmt : Stmt {
  const Expr* test;
  const Expr* message;
};  // message may be null
// `import a.b as c`: path {a, b}, alias c. `from . import x as y`: path {x}, alias y. An absent alias is
// empty.
struct Alias {
  List<Name> path;
  Name alias;
  Span span;
};
struct ImportStmt : Stmt {
  List<Alias> names;
};
// `level` counts the leading dots; `module` is empty for `from . import x`; `star` for `import *`.
struct ImportFromStmt : Stmt {
  List<Name> module;
  std::uint32_t level;
  List<Alias> names;
  bool star;
};
struct GlobalStmt : Stmt {
  List<Name> names;
};
struct NonlocalStmt : Stmt {
  List<Name> names;
};

enum class ParameterKind : std::uint8_t {
  positional_only,
  normal,
  keyword_only,
  var_positional,
  var_keyword
};
struct Parameter {
  Name name;
  ParameterKind kind;
  const Expr* annotation;     // may be null
  const Expr* default_value;  // may be null
  Span span;                  // of the name
};
struct Parameters {
  List<Parameter> list;
};

// What a scope needs to know of its body, nested scopes left out.
struct ScopeInfo {
  List<Name> locals;  // bound here: parameters, assignments, imports, loops, with, except, def, class, walrus
  List<Name> globals;    // declared global
  List<Name> nonlocals;  // declared nonlocal
  bool is_generator;     // has yield or yield from
  bool returns_value;    // has a `return` with one
};

struct FunctionStmt : Stmt {
  Name name;
  Span name_span;
  List<const Expr*> decorators;
  const Parameters* parameters;
  const Expr* returns;  // may be null
  Block body;
  bool is_async;
  std::string_view docstring;  // empty if there is none; the statement stays in body
  ScopeInfo scope;
  Span header;  // `def name(…):`
};
struct ClassStmt : Stmt {
  Name name;
  Span name_span;
  List<const Expr*> decorators;
  List<const Expr*> bases;
  List<Keyword> keywords;
  Block body;
  std::string_view docstring;
  ScopeInfo scope;
  Span header;
};

// match: patterns keep the shape of Python's own.
enum class PatternKind : std::uint8_t {
  value,
  capture,
  wildcard,
  sequence,
  mapping,
  class_,
  star,
  or_,
  as,
  error
};
struct Pattern {
  PatternKind kind;
  Span span;
};
struct ValuePattern : Pattern {
  const Expr* value;
};  // literals, dotted names, None, True
struct CapturePattern : Pattern {
  Name name;
};
struct WildcardPattern : Pattern {};
struct SequencePattern : Pattern {
  List<const Pattern*> elements;
};
struct MappingPattern : Pattern {
  List<const Expr*> keys;
  List<const Pattern*> patterns;
  Name rest;
};
struct ClassPattern : Pattern {
  const Expr* type;
  List<const Pattern*> arguments;
  List<Name> keyword_names;
  List<const Pattern*> keyword_patterns;
};
struct StarPattern : Pattern {
  Name name;
};  // empty for `*_`
struct OrPattern : Pattern {
  List<const Pattern*> alternatives;
};
struct AsPattern : Pattern {
  const Pattern* pattern;
  Name name;
};
struct ErrorPattern : Pattern {};
struct MatchCase {
  const Pattern* pattern;
  const Expr* guard;
  Block body;
  Span span;
};  // guard may be null
struct MatchStmt : Stmt {
  const Expr* subject;
  List<MatchCase> cases;
};
struct TypeAliasStmt : Stmt {
  Name name;
  const Expr* value;
};
// Text that is no statement yet; what could be read in it is kept in order. The names that the text may bind
// are bound by AssignStmts to an ErrorExpr among the parts, so that no old value outlives it. A compound
// statement whose header cannot be read has its body among the parts.
struct ErrorStmt : Stmt {
  Block parts;
};

// Checked down-cast: the caller has looked at `kind`.
template <class T> const T& as(const Expr& expr) { return static_cast<const T&>(expr); }
template <class T> const T& as(const Stmt& stmt) { return static_cast<const T&>(stmt); }
template <class T> const T& as(const Pattern& pattern) { return static_cast<const T&>(pattern); }

}  // namespace stepzero::syntax
