#include "documents/document.hpp"
#include "documents/shell_walk.hpp"

extern "C" const TSLanguage* tree_sitter_bash();

namespace stepzero::documents {

namespace {

// `# a comment` in backticks is a command of nothing, which keeps a continued line going. The grammar lets
// the comment take the second backtick, and the script with it: the parser sees blanks.
std::string without_backtick_comments(std::string_view text) {
  std::string made(text);
  for (std::size_t at = 0; (at = made.find('`', at)) != std::string::npos; ++at) {
    if (at > 0 && made[at - 1] != ' ' && made[at - 1] != '\t' && made[at - 1] != '\n') continue;
    const std::size_t inner = made.find_first_not_of(" \t", at + 1);
    if (inner == std::string::npos || made[inner] != '#') continue;
    const std::size_t end = made.find_first_of("`\n", inner);
    if (end == std::string::npos || made[end] != '`') continue;
    std::fill(made.begin() + static_cast<std::ptrdiff_t>(at),
        made.begin() + static_cast<std::ptrdiff_t>(end) + 1, ' ');
  }
  return made;
}

}  // namespace

void Walk::source(const ShellCommand& command) {
  constexpr int most_nested = 4;  // scripts that source scripts: one that sources itself ends here
  const auto text = reader_ && sourced_ < most_nested && command.words.size() > 1 &&
          command.words[1].is_known()
      ? reader_(command.words[1].text)
      : nullptr;
  const Variables before = variables_;
  if (!text) {
    all_by_default();
    return;
  }
  const std::string readable = without_backtick_comments(*text);
  const GrammarTree tree = tree_of(tree_sitter_bash(), readable);
  Script other;
  std::vector<Span> comments;
  Walk inner(*text, other, comments, reader_);
  inner.variables_ = variables_;
  inner.sourced_ = sourced_ + 1;
  if (tree) inner.statements(ts_tree_root_node(tree.get()), 0);
  variables_ = inner.variables_;
  // What it sets has no place here but that of the command.
  const std::uint32_t at = command.span.begin;
  variables_.change_beside(
      before,
      [](const NamedVariable& each, const Variable* known) { return !known || !(*known == each.variable); },
      [&](std::string_view, Variable& variable, const Variable*) {
        variable.name_span = command.span;
        for (Chars& item : variable.items) std::fill(item.at.begin(), item.at.end(), at);
      });
}

bool read_shell(std::string_view text, Script& into, std::vector<Span>& comments, const ShellReader& reader,
    KeptTree* kept) {
  const std::string readable = without_backtick_comments(text);
  const GrammarTree tree = tree_of(tree_sitter_bash(), readable, kept);
  if (!tree) return false;
  const TSNode root = ts_tree_root_node(tree.get());
  Walk(text, into, comments, reader).run(root);
  return !ts_node_has_error(root);
}

}  // namespace stepzero::documents
