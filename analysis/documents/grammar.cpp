#include "documents/grammar.hpp"

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
  TSInput input{};
  input.payload = &text;
  input.encoding = TSInputEncodingUTF8;
  input.read = [](void* payload, std::uint32_t at, TSPoint, std::uint32_t* length) -> const char* {
    const std::string_view& all = *static_cast<std::string_view*>(payload);
    *length = at < all.size() ? static_cast<std::uint32_t>(all.size() - at) : 0;
    return *length ? all.data() + at : "";
  };
  int patience = most_error_checks;
  TSParseOptions options{};
  options.payload = &patience;
  options.progress_callback = [](TSParseState* state) {
    return state->has_error && --*static_cast<int*>(state->payload) < 0;
  };
  return GrammarTree(ts_parser_parse_with_options(parser.get(), nullptr, input, options));
}

}  // namespace stepzero::documents
