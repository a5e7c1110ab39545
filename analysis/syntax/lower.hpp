// From tree-sitter's concrete trees to the typed syntax, one top-level statement at a time. Knows the
// grammar's node kinds and what Python's own parser makes of them.
#pragma once

#include "syntax/document.hpp"
#include "syntax/layout.hpp"
#include "syntax/scope.hpp"
#include "syntax/tree.hpp"

#include <memory_resource>
#include <string_view>
#include <tuple>
#include <vector>

namespace stepzero::syntax {

// Where trees come from: parses a piece of the text, or remembers having done so.
class TreeSource {
public:
  virtual ~TreeSource() = default;
  // Null if there is none: see Parser.
  virtual Tree tree(std::string_view piece, Errors errors = Errors::refused) = 0;
};

// A chunk together with where it begins in the piece of text it was made of.
struct PlacedChunk {
  std::shared_ptr<const Chunk> chunk;
  std::uint32_t offset = 0;
};

// What a piece of text, the lines [first, last) of a layout, holds as top-level statements. `text` is what
// trees are made of, `original` what literals are read from; they have the same length. Without errors one
// tree covers the piece. Else it is read line by line, so that what is broken costs no more than its own
// line.
std::vector<PlacedChunk> lower_piece(std::string_view original, std::string_view text, const Layout& layout,
    std::size_t first, std::size_t last, TreeSource& trees);

// What, beside its bytes, decides how the piece that begins with a line is read.
std::uint64_t salt(const Layout& layout, std::size_t first);

// Lowers the statements of one chunk into its arena. All spans are relative to the chunk's begin.
class Lowering {
public:
  Lowering(std::string_view original, std::string_view text, std::uint32_t chunk_begin, TreeSource& trees,
      std::pmr::memory_resource& arena);
  ~Lowering();
  Lowering(const Lowering&) = delete;
  Lowering& operator=(const Lowering&) = delete;

  // The statement at `node` of a tree whose byte 0 is the text's byte `origin`.
  const Stmt* whole(TSNode node, std::uint32_t origin);
  // The statement that the lines [first, last) make, which has errors.
  const Stmt* by_lines(const std::vector<Line>& lines, std::size_t first, std::size_t last);

  bool has_error() const { return has_error_; }

private:
  static constexpr std::uint32_t deepest = 500;  // expressions in expressions: the stack has to hold

  // A tree being walked. While a statement is read by lines, `lines` names the lines that are the bodies of
  // its headers: the tree was made of the headers only.
  struct Source {
    TSTreeCursor* cursor = nullptr;
    std::uint32_t origin = 0;
    const std::vector<Line>* lines = nullptr;
    std::size_t first = 0, last = 0;
  };
  class Nested;  // switches to another source for its lifetime
  class Deeper;  // one level of nesting for its lifetime

  // ---- the cursor
  TSNode node() const { return ts_tree_cursor_current_node(source_.cursor); }
  Span span(TSNode node) const;
  std::string_view original(TSNode node) const;
  Name name(TSNode node) const { return Name(original(node)); }
  template <class Visit> void children(Visit visit);

  // ---- the arena
  template <class T> T* make(T value);
  std::string_view keep(std::string_view text);
  template <class T> class Gather;

  // ---- expressions: of the node at the cursor, which stays where it is. A node with errors is never lowered
  // whole.
  const Expr* expression();
  const Expr* expression_of(TSNode node, Node kind);
  const Expr* child_expression(TSNode node);
  const Expr* error_expression(TSNode node);
  void gather_expressions(Gather<const Expr*>& out);
  const Expr* name_expression(TSNode node);
  const Expr* dotted(TSNode node);
  const Expr* attribute(TSNode node);
  const Expr* subscript(TSNode node);
  const Expr* slice(TSNode node);
  const Expr* call(TSNode node);
  void arguments(Gather<const Expr*>& positional, Gather<Keyword>& keywords);
  // `*a.b()` is `*(a.b())`, but the grammar may read it as `(*a).b()`: moves the star of an operand out of
  // `made`.
  template <class T> const Expr* hoisted(T made, const Expr* T::* operand);
  const Expr* binary(TSNode node);
  const Expr* bitwise(TSNode node);
  struct Operand;
  void bitwise_operands(std::vector<Operand>& out);
  const Expr* unary(TSNode node, bool negation);
  const Expr* boolean(TSNode node);
  BoolOp boolean_op();
  void boolean_operands(BoolOp op, Gather<const Expr*>& out);
  const Expr* comparison(TSNode node);
  const Expr* conditional(TSNode node);
  const Expr* lambda(TSNode node);
  const Expr* await(TSNode node);
  const Expr* yield(TSNode node);
  const Expr* starred(TSNode node);
  const Expr* named(TSNode node);
  const Expr* generic_type(TSNode node);
  const Expr* union_type(TSNode node);
  const Expr* member_type(TSNode node);
  const Expr* constrained_type(TSNode node);

  // ---- displays, comprehensions, parameters
  List<const Expr*> elements();
  template <class T> const Expr* display(TSNode node, ExprKind kind);
  const Expr* dictionary(TSNode node);
  const Expr* comprehension(TSNode node, ComprehensionKind kind);
  Generator generator(TSNode node);
  const Expr* one_or_tuple(Gather<const Expr*>& gathered, bool comma, Span span);
  const Parameters* parameters();
  Parameter parameter(TSNode node, Node kind);

  // ---- literals
  const Expr* integer(TSNode node);
  const Expr* real(TSNode node);
  struct StringParts;
  const Expr* string(TSNode node, bool concatenated);
  void string_part(StringParts& parts);
  void interpolation(StringParts& parts);

  // ---- statements: appended to a list, because `a; b` is two of them
  void statement(Gather<const Stmt*>& out);
  const Stmt* statement_of(TSNode node, Node kind);  // null for what is no statement
  const Stmt* expression_statement(TSNode node);
  const Stmt* assignment(TSNode node);
  struct Assigned;
  void assigned(Assigned& parts);
  const Stmt* augmented_assignment(TSNode node);
  const Stmt* import(TSNode node);
  const Stmt* import_from(TSNode node, bool future);
  Alias alias(Node kind, bool binds_first);
  List<Name> dotted_path();
  const Stmt* print(TSNode node);
  const Stmt* exec(TSNode node);
  const Stmt* return_(TSNode node);
  const Stmt* raise(TSNode node);
  const Stmt* assert_(TSNode node);
  const Stmt* delete_(TSNode node);
  const Stmt* type_alias(TSNode node);
  const Stmt* with_other_word(TSNode node);
  template <class T> const Stmt* declaration(TSNode node, StmtKind kind);

  // ---- compound statements
  struct Clause;  // a keyword's header, the expression in it, and its body
  Clause clause(TSNode node);
  const Stmt* if_(TSNode node);
  const Stmt* while_(TSNode node);
  const Stmt* for_(TSNode node);
  const Stmt* try_(TSNode node);
  ExceptHandler handler(TSNode node);
  const Stmt* with(TSNode node);
  void with_items(Gather<WithItem>& out);
  WithItem with_item(Node kind);
  const Stmt* match(TSNode node);
  MatchCase match_case(TSNode node);
  const Stmt* function(TSNode node, List<const Expr*> decorators, std::uint32_t begin);
  const Stmt* class_(TSNode node, List<const Expr*> decorators, std::uint32_t begin);
  const Stmt* decorated(TSNode node);
  // The statements of the block at the cursor, whose header's colon ends at `colon`, in bytes of the chunk.
  Block block(std::uint32_t colon);
  static std::uint32_t end_of(Span span, Block body);

  // ---- what has errors
  void by_tree(const std::vector<Line>& lines, std::size_t first, std::size_t last, Gather<const Stmt*>& out);
  void lines_of_body(
      const std::vector<Line>& lines, std::size_t first, std::size_t last, Gather<const Stmt*>& out);
  const Stmt* broken(const std::vector<Line>& lines, std::size_t first, std::size_t last);
  const Stmt* starred_tuple(const Line& line);
  void broken_line(const Line& line, Gather<const Stmt*>& out);
  bool broken_assignment(const Line& line, Gather<const Stmt*>& out);
  void gather_statements(Gather<const Stmt*>& out);
  const Stmt* weakened(const Stmt* stmt);
  const Expr* unknown(const Expr* expr);

  // ---- match patterns
  const Pattern* pattern();
  const Pattern* pattern_of(TSNode node, Node kind, bool negative);
  const Pattern* sequence_pattern(TSNode node, bool may_be_group);
  const Pattern* class_pattern(TSNode node);
  const Pattern* mapping_pattern(TSNode node);
  const Pattern* or_pattern(TSNode node);
  const Pattern* as_pattern(TSNode node);
  const Pattern* capture(Name name, Span span);
  const Expr* pattern_literal(TSNode node, Node kind, bool negative);
  const Expr* complex_literal(TSNode node);

  std::string_view original_;
  std::string_view text_;
  std::uint32_t begin_;
  TreeSource& trees_;
  std::pmr::memory_resource& arena_;
  Source source_;
  std::vector<Scope> scopes_;
  std::uint32_t depth_ = 0;
  const Expr** with_target_ =
      nullptr;  // where `x as target` puts its target while the item of a `with` is read
  bool has_error_ = false;
  // Lists under construction, one stack for each element type: see Gather.
  std::tuple<std::vector<const Expr*>, std::vector<const Stmt*>, std::vector<const Pattern*>,
      std::vector<Keyword>, std::vector<DictItem>, std::vector<Generator>, std::vector<CompareOp>,
      std::vector<Name>, std::vector<Alias>, std::vector<Parameter>, std::vector<WithItem>,
      std::vector<ExceptHandler>, std::vector<MatchCase>>
      stacks_;
};

}  // namespace stepzero::syntax
