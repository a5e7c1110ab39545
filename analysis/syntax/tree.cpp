#include "syntax/tree.hpp"

#include <bitset>
#include <unordered_map>
#include <vector>

extern "C" const TSLanguage* tree_sitter_python(void);

namespace stepzero::syntax {
namespace {

struct Entry {
  Node node;
  std::string_view name;
};

constexpr Entry named[] = {
    {Node::extra, "comment"},
    {Node::extra, "line_continuation"},
    {Node::identifier, "identifier"},
    {Node::integer, "integer"},
    {Node::real, "float"},
    {Node::string, "string"},
    {Node::concatenated_string, "concatenated_string"},
    {Node::true_, "true"},
    {Node::false_, "false"},
    {Node::none, "none"},
    {Node::ellipsis, "ellipsis"},
    {Node::attribute, "attribute"},
    {Node::subscript, "subscript"},
    {Node::slice, "slice"},
    {Node::call, "call"},
    {Node::binary_operator, "binary_operator"},
    {Node::unary_operator, "unary_operator"},
    {Node::not_operator, "not_operator"},
    {Node::boolean_operator, "boolean_operator"},
    {Node::comparison_operator, "comparison_operator"},
    {Node::conditional_expression, "conditional_expression"},
    {Node::lambda, "lambda"},
    {Node::tuple, "tuple"},
    {Node::tuple_pattern, "tuple_pattern"},
    {Node::list, "list"},
    {Node::list_pattern, "list_pattern"},
    {Node::set, "set"},
    {Node::dictionary, "dictionary"},
    {Node::list_comprehension, "list_comprehension"},
    {Node::set_comprehension, "set_comprehension"},
    {Node::dictionary_comprehension, "dictionary_comprehension"},
    {Node::generator_expression, "generator_expression"},
    {Node::await, "await"},
    {Node::yield, "yield"},
    {Node::list_splat, "list_splat"},
    {Node::list_splat_pattern, "list_splat_pattern"},
    {Node::parenthesized_expression, "parenthesized_expression"},
    {Node::parenthesized_list_splat, "parenthesized_list_splat"},
    {Node::named_expression, "named_expression"},
    {Node::as_pattern, "as_pattern"},
    {Node::as_pattern_target, "as_pattern_target"},
    {Node::expression_list, "expression_list"},
    {Node::pattern_list, "pattern_list"},
    {Node::type, "type"},
    {Node::generic_type, "generic_type"},
    {Node::union_type, "union_type"},
    {Node::member_type, "member_type"},
    {Node::constrained_type, "constrained_type"},
    {Node::splat_type, "splat_type"},
    {Node::dictionary_splat, "dictionary_splat"},
    {Node::dictionary_splat_pattern, "dictionary_splat_pattern"},
    {Node::dotted_name, "dotted_name"},
    {Node::expression_statement, "expression_statement"},
    {Node::import_statement, "import_statement"},
    {Node::import_from_statement, "import_from_statement"},
    {Node::future_import_statement, "future_import_statement"},
    {Node::print_statement, "print_statement"},
    {Node::exec_statement, "exec_statement"},
    {Node::assert_statement, "assert_statement"},
    {Node::return_statement, "return_statement"},
    {Node::delete_statement, "delete_statement"},
    {Node::raise_statement, "raise_statement"},
    {Node::pass_statement, "pass_statement"},
    {Node::break_statement, "break_statement"},
    {Node::continue_statement, "continue_statement"},
    {Node::global_statement, "global_statement"},
    {Node::nonlocal_statement, "nonlocal_statement"},
    {Node::type_alias_statement, "type_alias_statement"},
    {Node::if_statement, "if_statement"},
    {Node::for_statement, "for_statement"},
    {Node::while_statement, "while_statement"},
    {Node::try_statement, "try_statement"},
    {Node::with_statement, "with_statement"},
    {Node::match_statement, "match_statement"},
    {Node::function_definition, "function_definition"},
    {Node::class_definition, "class_definition"},
    {Node::decorated_definition, "decorated_definition"},
    {Node::assignment, "assignment"},
    {Node::augmented_assignment, "augmented_assignment"},
    {Node::block, "block"},
    {Node::elif_clause, "elif_clause"},
    {Node::else_clause, "else_clause"},
    {Node::except_clause, "except_clause"},
    {Node::finally_clause, "finally_clause"},
    {Node::case_clause, "case_clause"},
    {Node::if_clause, "if_clause"},
    {Node::for_in_clause, "for_in_clause"},
    {Node::with_clause, "with_clause"},
    {Node::with_item, "with_item"},
    {Node::decorator, "decorator"},
    {Node::argument_list, "argument_list"},
    {Node::keyword_argument, "keyword_argument"},
    {Node::pair, "pair"},
    {Node::parameters, "parameters"},
    {Node::lambda_parameters, "lambda_parameters"},
    {Node::typed_parameter, "typed_parameter"},
    {Node::default_parameter, "default_parameter"},
    {Node::typed_default_parameter, "typed_default_parameter"},
    {Node::keyword_separator, "keyword_separator"},
    {Node::positional_separator, "positional_separator"},
    {Node::aliased_import, "aliased_import"},
    {Node::relative_import, "relative_import"},
    {Node::import_prefix, "import_prefix"},
    {Node::wildcard_import, "wildcard_import"},
    {Node::chevron, "chevron"},
    {Node::type_parameter, "type_parameter"},
    {Node::string_start, "string_start"},
    {Node::string_content, "string_content"},
    {Node::string_end, "string_end"},
    {Node::interpolation, "interpolation"},
    {Node::format_specifier, "format_specifier"},
    {Node::format_expression, "format_expression"},
    {Node::type_conversion, "type_conversion"},
    {Node::case_pattern, "case_pattern"},
    {Node::keyword_pattern, "keyword_pattern"},
    {Node::class_pattern, "class_pattern"},
    {Node::splat_pattern, "splat_pattern"},
    {Node::union_pattern, "union_pattern"},
    {Node::dict_pattern, "dict_pattern"},
    {Node::complex_pattern, "complex_pattern"},
};

constexpr Entry tokens[] = {
    {Node::colon, ":"},
    {Node::comma, ","},
    {Node::equal, "="},
    {Node::star, "*"},
    {Node::star_star, "**"},
    {Node::minus, "-"},
    {Node::plus, "+"},
    {Node::tilde, "~"},
    {Node::slash, "/"},
    {Node::slash_slash, "//"},
    {Node::percent, "%"},
    {Node::at, "@"},
    {Node::ampersand, "&"},
    {Node::bar, "|"},
    {Node::caret, "^"},
    {Node::shift_left, "<<"},
    {Node::shift_right, ">>"},
    {Node::less, "<"},
    {Node::less_equal, "<="},
    {Node::equal_equal, "=="},
    {Node::not_equal, "!="},
    {Node::greater_equal, ">="},
    {Node::greater, ">"},
    {Node::in, "in"},
    {Node::not_in, "not in"},
    {Node::is, "is"},
    {Node::is_not, "is not"},
    {Node::and_, "and"},
    {Node::or_, "or"},
    {Node::if_, "if"},
    {Node::elif, "elif"},
    {Node::else_, "else"},
    {Node::async, "async"},
    {Node::from, "from"},
    {Node::def, "def"},
    {Node::class_, "class"},
    {Node::as, "as"},
    {Node::underscore, "_"},
    {Node::for_, "for"},
    {Node::add_assign, "+="},
    {Node::sub_assign, "-="},
    {Node::mul_assign, "*="},
    {Node::div_assign, "/="},
    {Node::matmul_assign, "@="},
    {Node::floordiv_assign, "//="},
    {Node::mod_assign, "%="},
    {Node::pow_assign, "**="},
    {Node::rshift_assign, ">>="},
    {Node::lshift_assign, "<<="},
    {Node::and_assign, "&="},
    {Node::xor_assign, "^="},
    {Node::or_assign, "|="},
};

// Indexed by TSSymbol.
std::vector<Node> make_kinds() {
  std::unordered_map<std::string_view, Node> nodes[2];  // by whether they are named
  for (const Entry& entry : tokens) nodes[0].emplace(entry.name, entry.node);
  for (const Entry& entry : named) nodes[1].emplace(entry.name, entry.node);
  const TSLanguage* language = tree_sitter_python();
  std::vector<Node> kinds(ts_language_symbol_count(language), Node::other);
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const auto symbol = static_cast<TSSymbol>(i);
    const TSSymbolType type = ts_language_symbol_type(language, symbol);
    if (type != TSSymbolTypeRegular && type != TSSymbolTypeAnonymous) continue;
    const auto& of_type = nodes[type == TSSymbolTypeRegular];
    if (const auto found = of_type.find(ts_language_symbol_name(language, symbol)); found != of_type.end())
      kinds[i] = found->second;
  }
  return kinds;
}

// The scanner serializes its stack of indentations into 1,024 bytes, two a level, beside up to 255 string
// delimiters.
constexpr std::size_t most_indentations = 370;

constexpr int most_error_checks = 300;  // nodes looked at for an error: each asks the parser

// An upper bound on how many indentations the scanner can hold at once: they grow strictly on its stack.
std::size_t indentation_bound(std::string_view text) {
  if (text.size() < 4096) return 0;
  static constexpr std::size_t widest = 1U << 16;  // columns of an indentation: the scanner keeps 16 bits
  std::bitset<widest> widths;
  std::size_t continued = 0;
  std::size_t width = 0;
  bool leading = true;
  for (const char c : text) {
    if (c == '\n') {
      leading = true, width = 0;
    } else if (leading) {
      if (c == ' ') {
        ++width;
      } else if (c == '\t') {
        width += 8;
      } else if (c == '\r' || c == '\f') {
        width = 0;
      } else {
        if (c == '\\') ++continued;
        widths.set(width % widest);
        leading = false;
      }
    }
  }
  return widths.count() + continued;
}

}  // namespace

TSInput input_of(std::string_view& text) {
  TSInput input{};
  input.payload = &text;
  input.encoding = TSInputEncodingUTF8;
  input.read = [](void* payload, std::uint32_t at, TSPoint, std::uint32_t* length) -> const char* {
    const std::string_view& all = *static_cast<std::string_view*>(payload);
    *length = at < all.size() ? static_cast<std::uint32_t>(all.size() - at) : 0;
    return *length ? all.data() + at : "";
  };
  return input;
}

TSParseOptions giving_up_after(int& patience) {
  TSParseOptions options{};
  options.payload = &patience;
  // Called every hundred steps.
  options.progress_callback = [](TSParseState* state) {
    return state->has_error && --*static_cast<int*>(state->payload) < 0;
  };
  return options;
}

Node kind_of(TSNode node) {
  static const std::vector<Node> kinds = make_kinds();
  const TSSymbol symbol = ts_node_symbol(node);
  return symbol < kinds.size() ? kinds[symbol] : Node::error;
}

Parser::Parser() : parser_(ts_parser_new()) { ts_parser_set_language(parser_.get(), tree_sitter_python()); }

Tree Parser::parse(std::string_view text, Errors errors) {
  if (indentation_bound(text) > most_indentations) return nullptr;
  int patience = errors == Errors::refused ? 0 : most_error_checks;
  TSTree* tree = ts_parser_parse_with_options(
      parser_.get(), nullptr, input_of(text), giving_up_after(patience));
  if (!tree) {
    ts_parser_reset(parser_.get());
    return nullptr;
  }
  Tree out(tree, TreeDeleter{});
  if (errors == Errors::refused && ts_node_has_error(ts_tree_root_node(tree))) return nullptr;
  return out;
}

}  // namespace stepzero::syntax
