#include "documents/grammar.hpp"

#include "syntax/tree.hpp"

#include <cstdint>

namespace stepzero::documents {

namespace {
constexpr int most_error_checks = 300;
}

GrammarTree tree_of(const TSLanguage* language, std::string_view text) {
  struct ParserDeleter {
    void operator()(TSParser* parser) const { ts_parser_delete(parser); }
  };
  const std::unique_ptr<TSParser, ParserDeleter> parser(ts_parser_new());
  ts_parser_set_language(parser.get(), language);
  int patience = most_error_checks;
  return GrammarTree(ts_parser_parse_with_options(
      parser.get(), nullptr, syntax::input_of(text), syntax::giving_up_after(patience)));
}

}  // namespace stepzero::documents
