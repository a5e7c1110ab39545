// What one analysis reads: open documents before the files of their name, each asked once, so that a run sees
// one moment. An open document is parsed only if the run asks for it. Knows no protocol.
#pragma once

#include "program/sources.hpp"
#include "server/documents/parsed_draft.hpp"
#include "server/workspace/files.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace stepzero::server {

using OpenDrafts = std::map<std::string, std::shared_ptr<ParsedDraft>>;  // by path

class RunSources final : public program::Sources {
public:
  RunSources(std::shared_ptr<const OpenDrafts> open, std::shared_ptr<ModuleCache> cache,
      std::vector<std::string> roots, const std::vector<std::string>& library_folders = {});

  // The version of the open document that this run saw; -1 if the path is not open.
  int version(const std::string& path) const;
  // Of the open notebook, as this run saw it; null if the path is none.
  std::shared_ptr<const Cells> cells(const std::string& path) const;

  std::shared_ptr<const syntax::Module> module(const std::string& path) const override;
  bool is_file(const std::string& path) const override;
  bool is_folder(const std::string& path) const override { return files_.is_folder(path); }
  std::shared_ptr<const program::Data> data(
      const std::string& path, program::DataFormat format) const override;
  const std::vector<std::string>& roots() const override { return files_.roots(); }
  const std::vector<std::string>& libraries() const override { return files_.libraries(); }

private:
  ParsedDraft::State open(const std::string& path) const;

  std::shared_ptr<const OpenDrafts> open_;
  FileSources files_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, ParsedDraft::State> seen_;
};

}  // namespace stepzero::server
