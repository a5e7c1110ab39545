// tree-sitter's concrete trees, owned and typed: what kinds of node the grammar has, and how to make a tree.
// The only header that knows tree-sitter.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <tree_sitter/api.h>

namespace stepzero::syntax {

// A text as tree-sitter reads it. The view and what it shows outlive the parse.
TSInput input_of(std::string_view& text);
// Gives up once the recovery from errors has taken so many hundreds of steps, and counts them down in
// `patience`. Counts steps and no time, so that the same text always has the same tree.
TSParseOptions giving_up_after(int& patience);

// The grammar's node kinds that the lowering tells apart. The order groups them: see the is_… functions
// below.
enum class Node : std::uint8_t {
  other,
  error,
  extra,
  // expressions
  identifier,
  integer,
  real,
  string,
  concatenated_string,
  true_,
  false_,
  none,
  ellipsis,
  attribute,
  subscript,
  slice,
  call,
  binary_operator,
  unary_operator,
  not_operator,
  boolean_operator,
  comparison_operator,
  conditional_expression,
  lambda,
  tuple,
  tuple_pattern,
  list,
  list_pattern,
  set,
  dictionary,
  list_comprehension,
  set_comprehension,
  dictionary_comprehension,
  generator_expression,
  await,
  yield,
  list_splat,
  list_splat_pattern,
  parenthesized_expression,
  parenthesized_list_splat,
  named_expression,
  as_pattern,
  as_pattern_target,
  expression_list,
  pattern_list,
  type,
  generic_type,
  union_type,
  member_type,
  constrained_type,
  splat_type,
  dictionary_splat,
  dictionary_splat_pattern,
  dotted_name,
  // simple statements
  expression_statement,
  import_statement,
  import_from_statement,
  future_import_statement,
  print_statement,
  exec_statement,
  assert_statement,
  return_statement,
  delete_statement,
  raise_statement,
  pass_statement,
  break_statement,
  continue_statement,
  global_statement,
  nonlocal_statement,
  type_alias_statement,
  // compound statements
  if_statement,
  for_statement,
  while_statement,
  try_statement,
  with_statement,
  match_statement,
  function_definition,
  class_definition,
  decorated_definition,
  // parts
  assignment,
  augmented_assignment,
  block,
  elif_clause,
  else_clause,
  except_clause,
  finally_clause,
  case_clause,
  if_clause,
  for_in_clause,
  with_clause,
  with_item,
  decorator,
  argument_list,
  keyword_argument,
  pair,
  parameters,
  lambda_parameters,
  typed_parameter,
  default_parameter,
  typed_default_parameter,
  keyword_separator,
  positional_separator,
  aliased_import,
  relative_import,
  import_prefix,
  wildcard_import,
  chevron,
  type_parameter,
  string_start,
  string_content,
  string_end,
  interpolation,
  format_specifier,
  format_expression,
  type_conversion,
  // match patterns
  case_pattern,
  keyword_pattern,
  class_pattern,
  splat_pattern,
  union_pattern,
  dict_pattern,
  complex_pattern,
  // tokens
  colon,
  comma,
  equal,
  star,
  star_star,
  minus,
  plus,
  tilde,
  slash,
  slash_slash,
  percent,
  at,
  ampersand,
  bar,
  caret,
  shift_left,
  shift_right,
  less,
  less_equal,
  equal_equal,
  not_equal,
  greater_equal,
  greater,
  in,
  not_in,
  is,
  is_not,
  and_,
  or_,
  if_,
  elif,
  else_,
  async,
  from,
  def,
  class_,
  as,
  underscore,
  for_,
  add_assign,
  sub_assign,
  mul_assign,
  div_assign,
  matmul_assign,
  floordiv_assign,
  mod_assign,
  pow_assign,
  rshift_assign,
  lshift_assign,
  and_assign,
  xor_assign,
  or_assign,
};

constexpr bool is_expression(Node node) { return node >= Node::identifier && node <= Node::dotted_name; }
constexpr bool is_statement(Node node) {
  return node >= Node::expression_statement && node <= Node::decorated_definition;
}

Node kind_of(TSNode node);

struct TreeDeleter {
  void operator()(TSTree* tree) const { ts_tree_delete(tree); }
};
using Tree = std::shared_ptr<TSTree>;

// Most trees are of no use once they have an error; a broken line's is read for what can be made out in it.
enum class Errors : std::uint8_t { refused, kept };

// Parses Python text. Belongs to one thread at a time.
class Parser {
public:
  Parser();

  // The tree of a text, which need not be a whole file. Null if it has errors that are refused, if its errors
  // take too many steps to recover from (the cost of that grows with their square), or if the text would
  // exceed what the grammar's scanner can keep in its state (hundreds of nested indentations).
  Tree parse(std::string_view text, Errors errors);

private:
  struct Deleter {
    void operator()(TSParser* parser) const { ts_parser_delete(parser); }
  };
  std::unique_ptr<TSParser, Deleter> parser_;
};

}  // namespace stepzero::syntax
