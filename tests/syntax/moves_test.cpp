// Where bytes stand after edits, one after the other, beside a text whose bytes are numbered.
#include "syntax/moves.hpp"

#include <catch2/catch.hpp>

#include <random>
#include <vector>

using namespace stepzero::syntax;

TEST_CASE("Bytes that stand through edits are found at their new places, and back", "[syntax]") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    constexpr std::uint32_t size = 40;
    std::vector<int> text(size);  // which byte of the old text it is; -1: a new one
    for (std::uint32_t i = 0; i < size; ++i) text[i] = static_cast<int>(i);
    Moves moves;
    for (int edit = 0; edit < 6; ++edit) {
      const auto begin = static_cast<std::uint32_t>(random() % text.size()),
                 end = begin +
          static_cast<std::uint32_t>(random() % (std::min<std::size_t>(text.size() - 1 - begin, 5) + 1)),
                 added = static_cast<std::uint32_t>(random() % 6);
      text.erase(text.begin() + begin, text.begin() + end);
      text.insert(text.begin() + begin, added, -1);
      moves.add({begin, end, begin + added});
    }
    for (std::uint32_t now = 0; now < text.size(); ++now) {
      if (text[now] < 0) continue;
      const auto then = static_cast<std::uint32_t>(text[now]);
      CHECK(moves.now(then) == now);
      CHECK(moves.then(now) == then);
    }
  }
}
