// The files of one program in memory, as the analysis sees them.
#pragma once

#include "program/sources.hpp"

#include <map>

namespace stepzero::cases {

class Workspace : public program::Sources {
public:
  void write(const std::string& title, std::string text);
  const std::string& text(const std::string& title) const { return texts_.at(title); }
  const std::map<std::string, std::string>& files() const { return texts_; }
  static constexpr std::string_view root = "/project";
  static std::string path_of(const std::string& title) { return std::string(root) + "/" + title; }
  static std::string title_of(const std::string& path) { return path.substr(root.size() + 1); }

  std::shared_ptr<const syntax::Module> module(const std::string& path) const override;
  bool is_file(const std::string& path) const override { return modules_.contains(path); }
  bool is_folder(const std::string& path) const override;
  std::shared_ptr<const program::Data> data(
      const std::string& path, program::DataFormat format) const override;
  const std::vector<std::string>& roots() const override { return roots_; }

private:
  std::map<std::string, std::string> texts_;
  std::map<std::string, std::shared_ptr<const syntax::Module>> modules_;
  std::vector<std::string> roots_ = {std::string(root)};
};

}  // namespace stepzero::cases
