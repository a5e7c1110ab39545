#include "syntax/name.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <new>

namespace stepzero::syntax {
namespace {

constexpr std::size_t bucket_count = 1U << 16;
// Heads of singly linked lists. An entry is published once by a compare-and-swap of its bucket's head and
// never changes or goes away after that.
std::array<std::atomic<Name::Entry*>, bucket_count> buckets;

// Looks from `head` up to (not including) `stop`.
Name::Entry* find(Name::Entry* head, const Name::Entry* stop, std::string_view text, std::uint64_t hash) {
  for (Name::Entry* entry = head; entry != stop; entry = entry->next)
    if (entry->hash == hash && entry->text == text) return entry;
  return nullptr;
}

// The entry and its characters share one allocation, which lives as long as the process.
Name::Entry* make(std::string_view text, std::uint64_t hash) {
  char* memory = static_cast<char*>(::operator new(sizeof(Name::Entry) + text.size()));
  char* characters = memory + sizeof(Name::Entry);
  std::memcpy(characters, text.data(), text.size());
  return new (memory) Name::Entry{std::string_view(characters, text.size()), hash, nullptr};
}

} // namespace

Name::Name(std::string_view text) {
  if (text.empty()) return;
  const std::uint64_t hash = std::hash<std::string_view>{}(text);
  std::atomic<Entry*>& bucket = buckets[(hash ^ (hash >> 32)) % bucket_count];
  Entry* head = bucket.load(std::memory_order_acquire);
  if ((entry_ = find(head, nullptr, text, hash))) return;
  Entry* made = make(text, hash);
  made->next = head;
  while (!bucket.compare_exchange_weak(head, made, std::memory_order_acq_rel, std::memory_order_acquire)) {
    if (Entry* theirs = find(head, made->next, text, hash)) {
      ::operator delete(made);
      entry_ = theirs;
      return;
    }
    made->next = head;
  }
  entry_ = made;
}

} // namespace stepzero::syntax
