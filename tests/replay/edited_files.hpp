// Files that a test edits: one by itself, and one of an installed library.
#pragma once

#include "server/workspace/files.hpp"
#include "server/workspace/paths.hpp"
#include "snapshot/snapshot.hpp"

#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace stepzero::replay {

class OneFile : public program::Sources {
public:
  OneFile(std::string path, std::string text) : path_(std::move(path)), document_(std::move(text)) {}

  void replace_all(const std::string& text) {
    document_.apply({{{0, static_cast<std::uint32_t>(document_.bytes().size())}, text}});
    module_ = nullptr;
  }
  void edit(std::uint32_t begin, std::uint32_t end, const std::string& text) {
    document_.apply({{{begin, end}, text}});
    module_ = nullptr;
  }
  const std::string& bytes() const { return document_.bytes(); }

  std::shared_ptr<const syntax::Module> module(const std::string& path) const override {
    if (path != path_) return nullptr;
    if (!module_) module_ = document_.module();
    return module_;
  }
  bool is_file(const std::string& path) const override { return path == path_; }
  bool is_folder(const std::string&) const override { return false; }
  const std::vector<std::string>& roots() const override { return roots_; }

private:
  std::string path_;
  mutable syntax::Document document_;
  mutable std::shared_ptr<const syntax::Module> module_;
  std::vector<std::string> roots_;
};

// A file of an installed library, edited: its imports are read as they lie on the disk.
class InstalledFile {
public:
  explicit InstalledFile(std::string path, std::string text)
      : path_(std::move(path)), document_(std::move(text)) {}

  void edit(std::uint32_t begin, std::uint32_t end, const std::string& text) {
    document_.apply({{{begin, end}, text}});
  }
  const std::string& bytes() const { return document_.bytes(); }
  snapshot::Result analyze(const snapshot::Options& options) {
    const auto overlay = std::make_shared<server::Overlay>(server::Overlay{{path_, document_.module()}});
    const server::FileSources sources(cache_, server::import_roots({}, path_), overlay);
    return snapshot::analyze(sources, path_, options);
  }

private:
  std::string path_;
  syntax::Document document_;
  std::shared_ptr<server::ModuleCache> cache_ = std::make_shared<server::ModuleCache>();
};

// All that a result says, as text.
inline std::string told(const snapshot::Result& result) {
  std::ostringstream out;
  const auto where = [&](const rules::Location& location) {
    out << location.path << ':' << location.span.begin << '-' << location.span.end << ' ';
  };
  for (const rules::Finding& finding : result.findings) {
    where(finding.where);
    out << finding.rule << ' ' << name(finding.severity) << ' ' << finding.message << '\n';
    for (const rules::Related& related : finding.related) {
      where(related.where);
      out << "  " << related.message << '\n';
    }
    for (const rules::Fix& fix : finding.fixes) {
      out << "  fix: " << fix.title << '\n';
      for (const rules::TextEdit& edit : fix.edits) {
        where(edit.where);
        out << "    " << edit.new_text << '\n';
      }
    }
  }
  for (const snapshot::Fact& fact : result.facts)
    out << fact.span.begin << '-' << fact.span.end << ' ' << fact.name << ": " << fact.value.short_text()
        << '\n';
  return out.str();
}

// The first line in which two texts differ, of both.
inline std::string difference(const std::string& a, const std::string& b) {
  std::istringstream first(a), second(b);
  std::string x, y;
  do {
    x = y = "(end)";
    std::getline(first, x);
    std::getline(second, y);
  } while (x == y && (first || second));
  return "after the edit: " + x + "\nfrom the beginning: " + y;
}

}  // namespace stepzero::replay
