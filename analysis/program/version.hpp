// Versions of packages: what PEP 440 takes for one, and how it orders them. Reads no file.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stepzero::program {

// N!N(.N)*[{a|b|rc}N][.postN][.devN][+local], with what PEP 440 allows to write otherwise.
struct Version {
  std::int64_t epoch = 0;
  std::vector<std::int64_t> release;
  std::optional<std::pair<char, std::int64_t>> pre;  // 'a', 'b' or 'r'
  std::optional<std::int64_t> post, dev;
  std::string local;
};

// Absent: the text is none.
std::optional<Version> parse_version(std::string_view text);
std::strong_ordering order(const Version& a, const Version& b);

}  // namespace stepzero::program
