// Where the bytes of a text stand after edits. Knows no Python.
#pragma once

#include "syntax/difference.hpp"
#include "syntax/text.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace stepzero::syntax {

// From bytes of a text as it was to bytes of the text as it is; its last byte stands through all edits. What
// an edit replaced has no place in the new text: only spans that end before an edit, begin after it, or lie
// around it are to be asked for.
class Moves {
public:
  bool empty() const { return moves_.empty(); }
  std::uint32_t now(std::uint32_t then) const {
    const auto after = std::upper_bound(moves_.begin(), moves_.end(), then,
        [](std::uint32_t at, const Move& move) { return at < move.from; });
    return after == moves_.begin() ? then : static_cast<std::uint32_t>(then + std::prev(after)->by);
  }
  // Its end follows its last byte.
  Span now(Span then) const {
    return then.begin == then.end ? Span{now(then.begin), now(then.begin)}
                                  : Span{now(then.begin), now(then.end - 1) + 1};
  }

  // The other way round, of a byte that has stood through all edits.
  std::uint32_t then(std::uint32_t now) const {
    for (auto move = moves_.rbegin(); move != moves_.rend(); ++move)
      if (static_cast<std::int64_t>(now) - move->by >= move->from)
        return static_cast<std::uint32_t>(now - move->by);
    return now;
  }
  Span then(Span now) const {
    return now.begin == now.end ? Span{then(now.begin), then(now.begin)}
                                : Span{then(now.begin), then(now.end - 1) + 1};
  }

  // One more edit, in bytes of the text as it is.
  void add(const Difference& edit) {
    const std::int64_t by = static_cast<std::int64_t>(edit.end_now) - edit.end_before;
    // The first byte of the text as it was that follows the edit.
    std::size_t at = 0;
    std::int64_t from = edit.end_before, moved = 0;
    for (; at < moves_.size(); ++at) {
      from = std::max<std::int64_t>(at == 0 ? 0 : moves_[at - 1].from, edit.end_before - moved);
      // What was taken out in front of the next move stands nowhere: where that move's first byte stands, its
      // bytes begin.
      if (from < moves_[at].from && edit.end_before < moves_[at].from + moves_[at].by) break;
      moved = moves_[at].by;
    }
    if (at == moves_.size())
      from = std::max<std::int64_t>(at == 0 ? 0 : moves_[at - 1].from, edit.end_before - moved);
    for (std::size_t i = at; i < moves_.size(); ++i) moves_[i].by += by;
    if (at > 0 && moves_[at - 1].from == from)
      moves_[at - 1].by = moved + by;
    else
      moves_.insert(moves_.begin() + static_cast<std::ptrdiff_t>(at),
          Move{static_cast<std::uint32_t>(from), moved + by});
  }

private:
  // The bytes from `from` to the next move's stand `by` further behind.
  struct Move {
    std::uint32_t from;
    std::int64_t by;
  };
  std::vector<Move> moves_;
};

}  // namespace stepzero::syntax
