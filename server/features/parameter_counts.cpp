#include "server/features/parameter_counts.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace stepzero::server {
namespace {

using footprint::Share;

// What one object of a class holds, by the path from there.
using Object = std::map<std::string, const Share*>;

bool known(const Share& share) { return !share.parameters.at_least && share.parameters.formula.empty(); }

bool equivalent(const Object& a, const Object& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& one, const auto& other) {
    return one.first == other.first && one.second->numbers == other.second->numbers &&
        one.second->type == other.second->type;
  });
}

// The objects of the class, wherever they stand; empty if they are not alike.
Object object_of(const std::string& type, const std::vector<footprint::Model>& made) {
  Object first;
  for (const footprint::Model& model : made)
    for (const Share& top : model.shares) {
      if (top.type != type) continue;
      Object object;
      const std::string prefix = top.path.empty() ? "" : top.path + ".";
      for (const Share& share : model.shares) {
        if (share.path == top.path)
          object[""] = &share;
        else if (share.path.starts_with(prefix))
          object[share.path.substr(prefix.size())] = &share;
      }
      if (first.empty())
        first = std::move(object);
      else if (!equivalent(first, object))
        return {};
    }
  return first;
}

std::string without_quotes(const std::string& name) {
  const bool quoted = name.size() >= 2 && (name.front() == '"' || name.front() == '\'') &&
      name.front() == name.back();
  return quoted ? name.substr(1, name.size() - 2) : name;
}

class Count {
public:
  explicit Count(const Object& object) : object_(object) {}

  void layer(ModelLayer& layer, const std::string& path) const {
    const auto found = object_.find(path);
    if (found == object_.end() || (!layer.type.empty() && found->second->type != layer.type)) return;
    if (known(*found->second)) layer.parameters = found->second->numbers;
    std::size_t index = 0;
    for (ModelLayer& part : layer.parts) {
      const std::string name = part.name.empty() ? std::to_string(index) : without_quotes(part.name);
      if (part.repeated.empty() || same(path)) this->layer(part, path + "." + name);
      if (!part.repeated.empty())
        break;  // how many there are is not known here, and so not where the others stand
      ++index;
    }
  }

private:
  // Do all parts of the list hold as much?
  bool same(const std::string& path) const {
    std::set<std::int64_t> counts;
    for (auto each = object_.lower_bound(path + ".");
        each != object_.end() && each->first.starts_with(path + "."); ++each)
      if (each->first.find('.', path.size() + 1) == std::string::npos) counts.insert(each->second->numbers);
    return counts.size() == 1;
  }

  const Object& object_;
};

}  // namespace

void count_parameters(std::vector<ModelOutline>& outlines, const std::vector<footprint::Model>& made) {
  for (ModelOutline& outline : outlines) {
    const Object object = object_of(outline.name, made);
    if (object.empty()) continue;
    if (known(*object.at(""))) outline.parameters = object.at("")->numbers;
    for (ModelLayer& layer : outline.layers) Count(object).layer(layer, layer.name);
  }
}

}  // namespace stepzero::server
