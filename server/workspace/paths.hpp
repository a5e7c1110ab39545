// Paths as the analysis names them: absolute, lexically normal, with '/'. Knows the file system only to make
// a relative path absolute and to find where a package starts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stepzero::server {

// `path`, taken from `base` where it is relative; "." and ".." resolved as text; no trailing '/'.
std::string normal_path(std::string_view path, std::string_view base);
std::string current_folder();

// "/" for the files at the top.
std::string parent_folder(const std::string& path);
std::string_view file_name(std::string_view path);
std::string join(const std::string& folder, std::string_view name);

// Both normal. A path is inside itself.
bool is_inside(std::string_view path, std::string_view folder);
// `path` as seen from `folder`, which must contain it; empty for the folder itself.
std::string_view relative_to(std::string_view path, std::string_view folder);
// The same of any path: one outside of `folder` stays as it is.
std::string seen_from(const std::string& path, const std::string& folder);

// The first folder above `file` without __init__.py: where the absolute imports of its package start.
std::string package_top(const std::string& file);

// Where imports are looked for when `file` is checked: the workspace folders, their src/, the file's own
// folder, and the top of its package; each once.
std::vector<std::string> import_roots(
    const std::vector<std::string>& workspace_folders, const std::string& file);

}  // namespace stepzero::server
