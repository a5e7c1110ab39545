// The analysis of a file that is no Python: a configuration or a script of the shell. Nothing of it is run.
#pragma once

#include "documents/document.hpp"
#include "snapshot/snapshot.hpp"

#include <set>

namespace stepzero::snapshot {

Result analyze_document(const program::Sources& sources, const std::string& path,
    documents::Language language, const syntax::Module& module, const Options& options);

// What the same rules say of the commands that a program of Python starts. `wanted` is asked of a rule's id,
// `read` gets the other files that were asked for.
std::vector<rules::Finding> judge_commands(const program::Sources& sources, const std::string& path,
    const syntax::Module& module, const std::function<bool(const rules::Rule&)>& wanted,
    std::set<std::string>& read);

// What is known of the key at a place, and the keys that may be written there. `named`: what launch lines and
// programs take the file for.
std::optional<KeyHover> hover_key(
    const std::string& path, const syntax::Module& module, std::uint32_t offset, rules::Role named = {});
struct KeyCompletion {
  std::string key, detail, markdown;
  bool is_value = false;  // of the key in front of it
};
std::vector<KeyCompletion> complete_key(
    const std::string& path, const syntax::Module& module, std::uint32_t offset, rules::Role named = {});

}  // namespace stepzero::snapshot
