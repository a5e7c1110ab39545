#include "server/workspace/paths.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace stepzero::server {

namespace fs = std::filesystem;

std::string normal_path(std::string_view path, std::string_view base) {
  std::string whole;
  if (path.empty() || path.front() != '/') whole.append(base).push_back('/');
  whole.append(path);
  std::vector<std::string_view> parts;
  for (std::string_view rest = whole; !rest.empty();) {
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    const std::string_view part = rest.substr(0, slash);
    rest.remove_prefix(std::min(slash + 1, rest.size()));
    if (part == "..") {
      if (!parts.empty()) parts.pop_back();
    } else if (!part.empty() && part != ".") {
      parts.push_back(part);
    }
  }
  std::string result;
  for (const std::string_view part : parts) result.append("/").append(part);
  return result.empty() ? "/" : result;
}

std::string current_folder() {
  std::error_code error;
  const fs::path path = fs::current_path(error);
  return error ? "/" : path.lexically_normal().generic_string();
}

std::string parent_folder(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos || slash == 0 ? "/" : path.substr(0, slash);
}

std::string_view file_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string join(const std::string& folder, std::string_view name) {
  std::string result = folder;
  if (result.empty() || result.back() != '/') result.push_back('/');
  return result.append(name);
}

bool is_inside(std::string_view path, std::string_view folder) {
  if (folder == "/") return true;
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

std::string_view relative_to(std::string_view path, std::string_view folder) {
  if (folder == "/") return path.substr(1);
  return path.size() <= folder.size() ? std::string_view() : path.substr(folder.size() + 1);
}

std::string seen_from(const std::string& path, const std::string& folder) {
  return is_inside(path, folder) ? std::string(relative_to(path, folder)) : path;
}

std::string package_top(const std::string& file) {
  std::string folder = parent_folder(file);
  std::error_code error;
  while (folder != "/" && fs::is_regular_file(join(folder, "__init__.py"), error))
    folder = parent_folder(folder);
  return folder;
}

std::vector<std::string> import_roots(
    const std::vector<std::string>& workspace_folders, const std::string& file) {
  std::vector<std::string> roots;
  const auto add = [&](std::string folder) {
    if (std::find(roots.begin(), roots.end(), folder) == roots.end()) roots.push_back(std::move(folder));
  };
  std::error_code error;
  for (const std::string& folder : workspace_folders) {
    add(folder);
    if (fs::is_directory(join(folder, "src"), error)) add(join(folder, "src"));
  }
  if (!file.empty()) {
    add(parent_folder(file));
    add(package_top(file));
  }
  return roots;
}

}  // namespace stepzero::server
