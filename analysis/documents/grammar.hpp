// Trees of tree-sitter of the grammars that documents are written in. Only for the files of this floor.
#pragma once

#include "syntax/text.hpp"

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include <tree_sitter/api.h>

namespace stepzero::documents {

struct GrammarTreeDeleter {
  void operator()(TSTree* tree) const { ts_tree_delete(tree); }
};
using GrammarTree = std::unique_ptr<TSTree, GrammarTreeDeleter>;

// The tree of a document that is being edited: that of the next text is made of that of the last one, and of
// what differs between them. Which text was the last one does not show in the tree. Any thread may ask: of
// two that ask at once, one parses afresh.
class KeptTree {
public:
  KeptTree() = default;
  KeptTree(const KeptTree&) = delete;
  KeptTree& operator=(const KeptTree&) = delete;
  ~KeptTree();

  GrammarTree tree(const TSLanguage* language, std::string_view text);

private:
  struct Last;
  std::atomic<Last*> last_ = nullptr;  // owned; null while one who asked has taken it
};

// The one of the document whose text this is; null if it is not being edited.
KeptTree* kept_tree(const std::shared_ptr<const syntax::Text>& text);

// Null if the text holds so many errors that recovering from them takes too many steps: their cost grows with
// their square.
GrammarTree tree_of(const TSLanguage* language, std::string_view text, KeptTree* kept = nullptr);

}  // namespace stepzero::documents
