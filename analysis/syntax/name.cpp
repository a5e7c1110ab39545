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

// Names that were asked for last, by where their text lay: literals are asked for again and again.
struct Recent {
  const char* at = nullptr;
  const Name::Entry* entry = nullptr;
};
thread_local std::array<Recent, 1024> recent;

Recent& recent_of(std::string_view text) {
  return recent[(reinterpret_cast<std::uintptr_t>(text.data()) * 0x9E3779B97F4A7C15U + text.size()) >> 54];
}

}  // namespace

Name::Name(std::string_view text) {
  if (text.empty()) return;
  Recent& last = recent_of(text);
  if (last.at == text.data() && last.entry->text == text) {
    entry_ = last.entry;
    return;
  }
  entry_ = intern(text);
  last = {text.data(), entry_};
}

const Name::Entry* Name::intern(std::string_view text) {
  const std::uint64_t hash = std::hash<std::string_view>{}(text);
  std::atomic<Entry*>& bucket = buckets[(hash ^ (hash >> 32)) % bucket_count];
  Entry* head = bucket.load(std::memory_order_acquire);
  if (Entry* known = find(head, nullptr, text, hash)) return known;
  Entry* made = make(text, hash);
  made->next = head;
  while (!bucket.compare_exchange_weak(head, made, std::memory_order_acq_rel, std::memory_order_acquire)) {
    if (Entry* theirs = find(head, made->next, text, hash)) {
      ::operator delete(made);
      return theirs;
    }
    made->next = head;
  }
  return made;
}

}  // namespace stepzero::syntax
