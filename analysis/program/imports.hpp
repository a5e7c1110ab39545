// Which file an import means: packages, relative imports, `src/` layouts, namespace folders. Runs nothing.
#pragma once

#include "program/sources.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace stepzero::program {

struct Target {
  std::string path;         // the module's file; for a namespace package the folder
  bool is_package = false;  // submodules lie beside it
  bool is_namespace = false;
};

// Resolves dotted imports as seen from one file. `tried` receives every path that was looked at, found or
// not: the answer can change only if one of them does.
class Imports {
public:
  // `reads`: is a top-level name that of a library whose sources are run? A root that holds its sources holds
  // an installed library.
  Imports(const Sources& sources, std::vector<std::string>& tried,
      std::function<bool(std::string_view)> reads = {})
      : sources_(sources), tried_(tried), reads_(std::move(reads)) {}

  // `import a.b` seen from `from`; absolute.
  std::optional<Target> absolute(std::span<const std::string_view> names, const std::string& from) const;
  // `from ..a import …` with `level` dots; an empty `names` is the package itself.
  std::optional<Target> relative(
      std::uint32_t level, std::span<const std::string_view> names, const std::string& from) const;
  // `import a.b` among the installed libraries.
  std::optional<Target> installed(std::span<const std::string_view> names) const;
  // Does the file belong to an installed library?
  bool is_installed(const std::string& path) const { return !within_library(path).empty(); }
  // The file as the library names it, "timm/models/vision_transformer.py"; empty if it belongs to none.
  std::string_view within_library(const std::string& path) const;
  // The module `name` inside a package.
  std::optional<Target> within(const Target& package, std::string_view name) const;

private:
  std::optional<Target> below(const std::string& folder, std::span<const std::string_view> names) const;
  bool is_file(const std::string& path) const;
  const Sources& sources_;
  std::vector<std::string>& tried_;
  std::function<bool(std::string_view)> reads_;
  mutable std::unordered_set<std::string> known_;  // those among `tried`
};

std::string folder_of(const std::string& path);

}  // namespace stepzero::program
