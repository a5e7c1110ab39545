#include "server/scheduler/memory.hpp"

#include <cstdlib>
#include <memory>
#include <vector>

namespace stepzero::server {

void prepare_memory(std::size_t bytes, const std::atomic<bool>& cancelled) {
  struct Free {
    void operator()(char* block) const { std::free(block); }
  };
  constexpr std::size_t page = 4096;
  constexpr std::size_t large_page = std::size_t{2} << 20;
  constexpr std::size_t block = 2 *
      large_page;  // what jemalloc keeps with all else; it gives back larger ones at once
  std::vector<std::unique_ptr<char, Free>> blocks;
  for (std::size_t taken = 0; taken < bytes && !cancelled; taken += block) {
    auto* made = static_cast<char*>(std::aligned_alloc(large_page, block));
    if (!made) return;
    blocks.emplace_back(made);
    for (std::size_t at = 0; at < block; at += page) static_cast<volatile char*>(made)[at] = 0;
  }
}

}  // namespace stepzero::server
