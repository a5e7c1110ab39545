// The analysis of a file that is no Python: a configuration or a script of the shell. Nothing of it is run.
#pragma once

#include "documents/document.hpp"
#include "snapshot/snapshot.hpp"

namespace stepzero::snapshot {

Result analyze_document(const program::Sources& sources, const std::string& path, documents::Language language, const syntax::Module& module, const Options& options);

// What is known of the key at a place, and the keys that may be written there.
struct KeyHover {
  syntax::Span span;
  std::string markdown;
};
std::optional<KeyHover> hover_key(const std::string& path, const syntax::Module& module, std::uint32_t offset);
struct KeyCompletion {
  std::string key, detail, markdown;
};
std::vector<KeyCompletion> complete_key(const std::string& path, const syntax::Module& module, std::uint32_t offset);

} // namespace stepzero::snapshot
