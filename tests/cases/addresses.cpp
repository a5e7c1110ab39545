// With STEPZERO_LATER_BELOW=1 in the environment, what is made later lies at lower addresses, and no address
// is given twice. What is found must not depend on where things lie: a rule that goes through a set of
// pointers in their order finds something else then.
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define STEPZERO_OWN_NEW  // a sanitizer's
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STEPZERO_OWN_NEW
#endif

#ifndef STEPZERO_OWN_NEW
namespace {

constexpr std::size_t region_size = std::size_t{1} << 17;  // bytes
constexpr std::size_t alignment = alignof(std::max_align_t);

bool later_below() {
  static const bool asked = std::getenv("STEPZERO_LATER_BELOW") != nullptr;
  return asked;
}

// Memory that is given from its end to its beginning, and freed once it is given back and no more is taken.
struct Region {
  std::atomic<std::size_t> users = 1;  // what lies in it, and the thread that takes from it
  std::size_t left = region_size;      // bytes

  void leave() {
    if (--users == 0) {
      this->~Region();
      std::free(this);
    }
  }
};
constexpr std::size_t first = (sizeof(Region) + alignment - 1) / alignment * alignment;
// Before each piece of memory: where it lies; null where it has memory of its own.
struct alignas(alignment) Header {
  Region* region;
};

struct Current {
  Region* region = nullptr;
  ~Current() {
    if (Region* const last = std::exchange(region, nullptr)) last->leave();  // more may be made after this
  }
};

void* made(std::size_t size) {
  size = (size + sizeof(Header) + alignment - 1) / alignment * alignment;
  Region* region = nullptr;
  char* memory = nullptr;
  if (later_below() && size < region_size / 4) {
    thread_local Current current;
    if (!current.region || current.region->left < size) {
      if (current.region) current.region->leave();
      void* const raw = std::malloc(first + region_size);
      if (!raw) throw std::bad_alloc();
      current.region = new (raw) Region;
    }
    region = current.region;
    ++region->users;
    region->left -= size;
    memory = reinterpret_cast<char*>(region) + first + region->left;
  } else {
    memory = static_cast<char*>(std::malloc(size));
    if (!memory) throw std::bad_alloc();
  }
  (new (memory) Header)->region = region;
  return memory + sizeof(Header);
}

void given_back(void* memory) {
  if (!memory) return;
  auto* const header = reinterpret_cast<Header*>(static_cast<char*>(memory) - sizeof(Header));
  if (header->region)
    header->region->leave();
  else
    std::free(header);
}

}  // namespace

void* operator new(std::size_t size) { return made(size); }
void* operator new[](std::size_t size) { return made(size); }
void operator delete(void* memory) noexcept { given_back(memory); }
void operator delete[](void* memory) noexcept { given_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { given_back(memory); }
void operator delete[](void* memory, std::size_t) noexcept { given_back(memory); }
#endif
