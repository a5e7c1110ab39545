#include "documents/document.hpp"
#include "documents/shell_walk.hpp"

extern "C" const TSLanguage* tree_sitter_bash();

namespace stepzero::documents {

namespace {

// `# a comment` in backticks is a command of nothing, which keeps a continued line going. The grammar lets the comment take the second
// backtick, and the script with it: the parser sees blanks.
std::string without_backtick_comments(std::string_view text) {
  std::string made(text);
  for (std::size_t at = 0; (at = made.find('`', at)) != std::string::npos; ++at) {
    if (at > 0 && made[at - 1] != ' ' && made[at - 1] != '\t' && made[at - 1] != '\n') continue;
    const std::size_t inner = made.find_first_not_of(" \t", at + 1);
    if (inner == std::string::npos || made[inner] != '#') continue;
    const std::size_t end = made.find_first_of("`\n", inner);
    if (end == std::string::npos || made[end] != '`') continue;
    std::fill(made.begin() + static_cast<std::ptrdiff_t>(at), made.begin() + static_cast<std::ptrdiff_t>(end) + 1, ' ');
  }
  return made;
}

} // namespace

bool read_shell(std::string_view text, Script& into, std::vector<Span>& comments) {
  const std::string readable = without_backtick_comments(text);
  const GrammarTree tree = tree_of(tree_sitter_bash(), readable);
  if (!tree) return false;
  const TSNode root = ts_tree_root_node(tree.get());
  Walk(text, into, comments).run(root);
  return !ts_node_has_error(root);
}

} // namespace stepzero::documents
