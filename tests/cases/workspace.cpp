#include "workspace.hpp"

#include "documents/document.hpp"
#include "server/workspace/data.hpp"

namespace stepzero::cases {

void Workspace::write(const std::string& title, std::string text) {
  if (title.starts_with("src/") && roots_.size() == 1) roots_.push_back(path_of("src"));
  modules_[path_of(title)] = documents::module_of(path_of(title), text);
  texts_[title] = std::move(text);
}

std::shared_ptr<const syntax::Module> Workspace::module(const std::string& path) const {
  const auto it = modules_.find(path);
  return it == modules_.end() ? nullptr : it->second;
}

std::shared_ptr<const program::Data> Workspace::data(
    const std::string& path, program::DataFormat format) const {
  const auto text = path.size() > root.size() + 1 && path.starts_with(root) ? texts_.find(title_of(path))
                                                                            : texts_.end();
  return text == texts_.end() || text->first.ends_with(".py") ? nullptr
                                                              : server::read_data(path, text->second, format);
}

bool Workspace::is_folder(const std::string& path) const {
  const auto it = modules_.lower_bound(path + "/");
  return it != modules_.end() && it->first.starts_with(path + "/");
}

}  // namespace stepzero::cases
