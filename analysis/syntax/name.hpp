// Identifiers, interned: two names are equal exactly if their pointers are. Knows nothing of scopes.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace stepzero::syntax {

// An interned identifier. Cheap to copy and to compare; its text lives as long as the process. Names may be
// made from any thread: the table only grows, and its buckets are lock-free lists.
class Name {
public:
  Name() = default;
  explicit Name(std::string_view text);

  std::string_view text() const { return entry_ ? entry_->text : std::string_view{}; }
  bool empty() const { return entry_ == nullptr; }
  std::uint64_t hash() const { return entry_ ? entry_->hash : 0; }
  friend bool operator==(Name a, Name b) { return a.entry_ == b.entry_; }

  struct Entry {
    std::string_view text;
    std::uint64_t hash;
    Entry* next;
  };

private:
  static const Entry* intern(std::string_view text);
  const Entry* entry_ = nullptr;
};

}  // namespace stepzero::syntax

template <> struct std::hash<stepzero::syntax::Name> {
  std::size_t operator()(stepzero::syntax::Name name) const noexcept { return name.hash(); }
};
