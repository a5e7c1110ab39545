// What the parts of the lowering share: walking children, and building lists in the arena. Private to the
// lowering.
#pragma once

#include "syntax/lower.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <type_traits>

namespace stepzero::syntax {

class Lowering::Nested {
public:
  Nested(Lowering& lowering, TSNode node, Source source) : lowering_(lowering), outer_(lowering.source_) {
    cursor_ = ts_tree_cursor_new(node);
    source.cursor = &cursor_;
    lowering_.source_ = source;
  }
  ~Nested() {
    lowering_.source_ = outer_;
    ts_tree_cursor_delete(&cursor_);
  }
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;

private:
  Lowering& lowering_;
  Source outer_;
  TSTreeCursor cursor_;
};

class Lowering::Deeper {
public:
  explicit Deeper(Lowering& lowering) : lowering_(lowering) { ++lowering_.depth_; }
  ~Deeper() { --lowering_.depth_; }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;
  bool too_deep() const { return lowering_.depth_ > deepest; }

private:
  Lowering& lowering_;
};

// A list under construction. All lists of one element type share a stack: the innermost open list is its top,
// so lists must be finished in the reverse order of their begin, which the recursion of the lowering does by
// itself.
template <class T> class Lowering::Gather {
public:
  explicit Gather(Lowering& lowering)
      : lowering_(lowering), stack_(std::get<std::vector<T>>(lowering.stacks_)), begin_(stack_.size()) {}
  ~Gather() { stack_.resize(begin_); }
  Gather(const Gather&) = delete;
  Gather& operator=(const Gather&) = delete;

  void push(T element) { stack_.push_back(std::move(element)); }
  void replace_last(T element) { stack_.back() = std::move(element); }
  std::size_t size() const { return stack_.size() - begin_; }
  const T& front() const { return stack_[begin_]; }
  const T& operator[](std::size_t index) const { return stack_[begin_ + index]; }
  List<T> list() const {
    const std::size_t count = size();
    if (count == 0) return {};
    T* out = static_cast<T*>(lowering_.arena_.allocate(count * sizeof(T), alignof(T)));
    std::uninitialized_copy(stack_.begin() + static_cast<std::ptrdiff_t>(begin_), stack_.end(), out);
    return {out, count};
  }

private:
  Lowering& lowering_;
  std::vector<T>& stack_;
  std::size_t begin_;
};

template <class T> T* Lowering::make(T value) {
  static_assert(std::is_trivially_destructible_v<T>);
  return new (arena_.allocate(sizeof(T), alignof(T))) T(std::move(value));
}

// Visits each child of the node at the cursor, comments left out; the cursor stands at the child during the
// visit. Only a block after its colon may have no bytes: any other child that ends where its parent ends is
// the last, and to look for another is dear.
template <class Visit> void Lowering::children(Visit visit) {
  const std::uint32_t end = ts_node_end_byte(node());
  if (!ts_tree_cursor_goto_first_child(source_.cursor)) return;
  TSNode child;
  Node kind;
  do {
    child = node();
    kind = kind_of(child);
    if (kind != Node::extra) visit(child, kind);
  } while ((ts_node_end_byte(child) != end || kind == Node::colon) &&
      ts_tree_cursor_goto_next_sibling(source_.cursor));
  ts_tree_cursor_goto_parent(source_.cursor);
}

}  // namespace stepzero::syntax
