// Trees of tree-sitter of the grammars that documents are written in. Only for the files of this floor.
#pragma once

#include <memory>
#include <string_view>

#include <tree_sitter/api.h>

namespace stepzero::documents {

struct GrammarTreeDeleter {
  void operator()(TSTree* tree) const { ts_tree_delete(tree); }
};
using GrammarTree = std::unique_ptr<TSTree, GrammarTreeDeleter>;

// Null if the text holds so many errors that recovering from them takes too many steps: their cost grows with
// their square.
GrammarTree tree_of(const TSLanguage* language, std::string_view text);

}  // namespace stepzero::documents
