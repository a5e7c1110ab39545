// A configuration or a script of the shell while it is edited, as syntax::Document is for Python: whoever
// parses one of its texts goes on from the tree of the text before. Knows no file system.
#pragma once

#include "syntax/document.hpp"

#include <memory>
#include <string>
#include <vector>

namespace stepzero::documents {

// Belongs to one thread at a time; the modules that it hands out are free.
class EditedDocument {
public:
  explicit EditedDocument(std::string text);
  ~EditedDocument();
  EditedDocument(EditedDocument&&) noexcept;
  EditedDocument& operator=(EditedDocument&&) noexcept;

  void replace(std::string text);
  // In order, each to the result of the ones before it; a span outside the text is clamped to it.
  void apply(const std::vector<syntax::Edit>& edits);

  // Of the present text, and of nothing else: see `unparsed`.
  std::shared_ptr<const syntax::Module> module();

private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stepzero::documents
