// From what a tensor was computed. Knows nothing of the objects in it.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <vector>

namespace stepzero::values {

struct Object;

// The modules and parameters that a tensor was computed from, in the order in which they came in. What is
// computed step by step has longer and longer ones: they share one buffer, of which each is a beginning.
class Graph {
public:
  Graph() = default;
  Graph(std::initializer_list<const Object*> sources) : Graph(std::vector<const Object*>(sources)) {}
  explicit Graph(std::vector<const Object*> sources);
  const Object* const* begin() const { return buffer_ ? buffer_->data() : nullptr; }
  const Object* const* end() const { return begin() + size_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  bool contains(const Object* source) const;
  void clear();
  void push_back(const Object* source);
  // Adds what the other has and this has not, up to so many in all. False: something was left out.
  bool add(const Graph& other, std::size_t most);

private:
  std::shared_ptr<std::vector<const Object*>> buffer_;
  std::size_t size_ = 0;
};

}  // namespace stepzero::values
