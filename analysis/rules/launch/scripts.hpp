// The files that a launch means, and the program's own modules that a script imports.
#pragma once

#include "documents/shell.hpp"
#include "program/sources.hpp"
#include "syntax/ast.hpp"

#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace stepzero::rules::launch {

// The files that a launch may mean by "src/train.py", or by a module's name: seen from where the script of
// the shell lies, or from a folder above it. From which of these folders it is started the text does not say:
// several files of one name are several answers.
std::vector<std::string> script_files(const program::Sources& sources, const std::string& shell_script,
    const std::string& folder, const std::string& written, bool is_module, std::set<std::string>& read);
// The only one; nothing if there is none, or more.
std::optional<std::string> script_file(const program::Sources& sources, const std::string& shell_script,
    const std::string& folder, const std::string& written, bool is_module, std::set<std::string>& read);

// Reads what the script of the shell runs in itself, `source env.sh`.
documents::ShellReader reader_of(
    const program::Sources& sources, const std::string& shell_script, std::set<std::string>& read);

// The modules that an import statement of `path` names, where their text is known.
std::vector<std::string> imported_by(const program::Sources& sources, const syntax::Stmt& stmt,
    const std::string& path, std::set<std::string>& read);
// Does the script, or one of the program's own modules that it imports, hold one of the words?
bool mentions(const program::Sources& sources, const std::string& path,
    std::initializer_list<std::string_view> words, std::set<std::string>& read);

}  // namespace stepzero::rules::launch
