#include "program/imports.hpp"

#include <algorithm>

namespace stepzero::program {

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return "";
  return slash == 0 ? "/" : path.substr(0, slash);
}

bool Imports::is_file(const std::string& path) const {
  if (known_.insert(path).second) tried_.push_back(path);
  return sources_.is_file(path);
}

std::optional<Target> Imports::below(
    const std::string& folder, std::span<const std::string_view> names) const {
  std::string at = folder;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string next = at + "/" + std::string(names[i]);
    const bool last = i + 1 == names.size();
    if (is_file(next + "/__init__.py")) {
      if (last) return Target{next + "/__init__.py", true, false};
    } else if (last && is_file(next + ".py")) {
      return Target{next + ".py", false, false};
    } else if (sources_.is_folder(next)) {
      if (last) return Target{next, true, true};
    } else {
      return std::nullopt;
    }
    at = next;
  }
  return std::nullopt;
}

std::optional<Target> Imports::absolute(
    std::span<const std::string_view> names, const std::string& from) const {
  if (names.empty()) return std::nullopt;
  // A namespace folder is only taken if no root has a real module of that name.
  std::optional<Target> folder;
  const auto look = [&](const std::string& root) -> std::optional<Target> {
    auto found = below(root, names);
    if (found && found->path == from)
      return std::nullopt;  // `import visdom` in visdom.py means the other one
    if (found && found->is_namespace) {
      if (!folder) folder = found;
      return std::nullopt;
    }
    return found;
  };
  // As Python runs a script: its own folder first. Then the roots that the file lies in, the nearest first,
  // and the folder above its top package: of several copies of a package in one repository it means its own.
  // Then the other roots.
  const std::string own = folder_of(from);
  if (auto found = look(own)) return found;
  std::vector<std::string_view> roots(sources_.roots().begin(), sources_.roots().end());
  const auto around = std::stable_partition(roots.begin(), roots.end(), [&](std::string_view root) {
    return from.size() > root.size() && from.starts_with(root) && from[root.size()] == '/';
  });
  std::stable_sort(
      roots.begin(), around, [](std::string_view a, std::string_view b) { return a.size() > b.size(); });
  for (auto root = roots.begin(); root != around; ++root)
    if (auto found = look(std::string(*root))) return found;
  std::string top = own;
  while (!top.empty() && top != "/" && sources_.is_file(top + "/__init__.py")) top = folder_of(top);
  if (auto found = look(top)) return found;
  for (auto root = around; root != roots.end(); ++root)
    if (auto found = look(std::string(*root))) return found;
  return folder;
}

std::optional<Target> Imports::installed(std::span<const std::string_view> names) const {
  if (names.empty()) return std::nullopt;
  for (const std::string& folder : sources_.libraries())
    if (auto found = below(folder, names); found && !(found->is_namespace && names.size() == 1)) return found;
  return std::nullopt;
}

std::string_view Imports::within_library(const std::string& path) const {
  const auto below_it = [&](const std::string& folder) {
    const bool inside = path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
    return inside ? std::string_view(path).substr(folder.size() + 1) : std::string_view();
  };
  for (const std::string& folder : sources_.libraries())
    if (const std::string_view rest = below_it(folder); !rest.empty()) return rest;
  if (!reads_) return {};
  // In a workspace that holds the sources of such a library.
  for (const std::string& root : sources_.roots())
    if (const std::string_view rest = below_it(root); !rest.empty()) {
      const std::string_view top = rest.substr(0, rest.find('/'));
      if (top.size() < rest.size() && reads_(top) &&
          sources_.is_file(root + "/" + std::string(top) + "/__init__.py"))
        return rest;
    }
  return {};
}

std::optional<Target> Imports::relative(
    std::uint32_t level, std::span<const std::string_view> names, const std::string& from) const {
  std::string package = folder_of(from);
  for (std::uint32_t i = 1; i < level; ++i) {
    if (package.empty() || package == "/") return std::nullopt;
    package = folder_of(package);
  }
  if (!names.empty()) return below(package, names);
  if (is_file(package + "/__init__.py")) return Target{package + "/__init__.py", true, false};
  return Target{package, true, true};
}

std::optional<Target> Imports::within(const Target& package, std::string_view name) const {
  if (!package.is_package) return std::nullopt;
  const std::string folder = package.is_namespace ? package.path : folder_of(package.path);
  return below(folder, std::span(&name, 1));
}

}  // namespace stepzero::program
