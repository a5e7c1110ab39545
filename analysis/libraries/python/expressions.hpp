// Regular expressions as Python's `re` reads them, run by PCRE2. What the two take differently is not run at
// all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stepzero::libraries {

// Where the groups of one match stand, in bytes, the whole match first; absent: a group that took no part.
struct Match {
  std::vector<std::optional<std::pair<std::size_t, std::size_t>>> groups;
  std::size_t begin() const { return groups[0]->first; }
  std::size_t end() const { return groups[0]->second; }
  bool empty() const { return begin() == end(); }
};

class RegularExpression {
public:
  enum class Flags : std::uint32_t { none = 0, ignore_case = 1, multi_line = 2, dot_all = 4, verbose = 8 };
  enum class Place : std::uint8_t { anywhere, at_start, whole };

  // Null where the pattern is none, has letters outside ASCII, or means something else to PCRE2 than to
  // Python.
  static std::shared_ptr<const RegularExpression> read(std::string_view pattern, Flags flags);

  // Calls `found` for each match from the left as `finditer` gives them, until it returns false. False where
  // that is not known: the text has letters outside ASCII, or the search takes too long.
  bool each(std::string_view text, Place place, const std::function<bool(const Match&)>& found) const;

  std::size_t groups() const { return groups_; }  // without the whole match
  const std::vector<std::pair<std::string, std::size_t>>& names() const { return names_; }

private:
  struct Code;
  std::shared_ptr<Code> code_;
  std::size_t groups_ = 0;
  std::vector<std::pair<std::string, std::size_t>> names_;
};

constexpr RegularExpression::Flags operator|(RegularExpression::Flags a, RegularExpression::Flags b) {
  return static_cast<RegularExpression::Flags>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
constexpr bool has(RegularExpression::Flags all, RegularExpression::Flags one) {
  return (static_cast<std::uint32_t>(all) & static_cast<std::uint32_t>(one)) != 0;
}

}  // namespace stepzero::libraries
