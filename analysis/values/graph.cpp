#include "values/graph.hpp"

#include <algorithm>

namespace stepzero::values {

Graph::Graph(std::vector<const Object*> sources)
    : buffer_(std::make_shared<std::vector<const Object*>>(std::move(sources))), size_(buffer_->size()) {}

bool Graph::contains(const Object* source) const { return std::find(begin(), end(), source) != end(); }

void Graph::clear() {
  buffer_.reset();
  size_ = 0;
}

void Graph::push_back(const Object* source) {
  // After the end of the buffer nobody has seen anything; what another went on with stays its own.
  if (!buffer_ || buffer_->size() != size_) {
    auto own = std::make_shared<std::vector<const Object*>>();
    own->reserve(size_ + size_ / 2 + 4);
    own->assign(begin(), end());
    buffer_ = std::move(own);
  }
  buffer_->push_back(source);
  ++size_;
}

bool Graph::add(const Graph& other, std::size_t most) {
  if (other.buffer_ == buffer_) {
    size_ = std::max(size_, other.size_);
    return true;
  }
  if (empty()) {
    *this = other;
    return true;
  }
  const Object* const* from = std::mismatch(other.begin(), other.end(), begin(), end()).first;
  if (from == other.end()) return true;
  if (static_cast<std::size_t>(from - other.begin()) == size_) {
    *this = other;
    return true;
  }
  for (; from != other.end(); ++from) {
    if (contains(*from)) continue;
    if (size_ >= most) return false;
    push_back(*from);
  }
  return true;
}

}  // namespace stepzero::values
