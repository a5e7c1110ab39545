#include "program/version.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <tuple>

namespace stepzero::program {

namespace {

class VersionText {
public:
  explicit VersionText(std::string_view text) {
    for (const char c : text)
      if (!std::isspace(static_cast<unsigned char>(c)))
        lower_ += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    rest_ = lower_;
  }

  // Absent: it is none.
  std::optional<Version> version() {
    Version found;
    take("v");
    auto number = this->number();
    if (!number) return std::nullopt;
    if (take("!")) {
      found.epoch = *number;
      if (!(number = this->number())) return std::nullopt;
    }
    found.release.push_back(*number);
    while (rest_.size() > 1 && rest_[0] == '.' && is_digit(rest_[1])) {
      rest_.remove_prefix(1);
      found.release.push_back(*this->number());
    }
    constexpr std::array<std::pair<std::string_view, char>, 8> pres = {{{"alpha", 'a'}, {"beta", 'b'},
        {"preview", 'r'}, {"pre", 'r'}, {"rc", 'r'}, {"a", 'a'}, {"b", 'b'}, {"c", 'r'}}};
    for (const auto& [word, kind] : pres)
      if (!found.pre && marked(word)) found.pre = {kind, implied()};
    if (marked("post") || marked("rev") || marked("r"))
      found.post = implied();
    else if (rest_.size() > 1 && rest_[0] == '-' && is_digit(rest_[1])) {
      rest_.remove_prefix(1);
      found.post = this->number();
    }
    if (marked("dev")) found.dev = implied();
    if (take("+")) {
      found.local = rest_;
      std::ranges::replace(found.local, '-', '.');
      std::ranges::replace(found.local, '_', '.');
      rest_ = {};
    }
    return rest_.empty() ? std::optional(std::move(found)) : std::nullopt;
  }

private:
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  void skip_separator() {
    if (!rest_.empty() && std::string_view(".-_").find(rest_[0]) != std::string_view::npos)
      rest_.remove_prefix(1);
  }
  bool marked(std::string_view word) {
    const std::string_view before = rest_;
    skip_separator();
    if (take(word)) return true;
    rest_ = before;
    return false;
  }
  std::int64_t implied() {
    const std::string_view before = rest_;
    skip_separator();
    if (const auto found = number()) return *found;
    rest_ = before;
    return 0;
  }
  std::optional<std::int64_t> number() {
    std::int64_t found = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), found);
    if (error != std::errc{} || rest_.starts_with('-')) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return found;
  }
  std::string lower_;
  std::string_view rest_;
};

// Parts of a local version: numbers come after words, and by their value.
std::vector<std::pair<std::int64_t, std::string>> local_parts(const std::string& local) {
  std::vector<std::pair<std::int64_t, std::string>> parts;
  for (std::size_t from = 0; !local.empty() && from <= local.size();) {
    const std::size_t dot = std::min(local.find('.', from), local.size());
    const std::string part = local.substr(from, dot - from);
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    const bool is_number = error == std::errc{} && end == part.data() + part.size();
    parts.emplace_back(is_number ? number : -1, is_number ? "" : part);
    from = dot + 1;
  }
  return parts;
}

}  // namespace

std::optional<Version> parse_version(std::string_view text) { return VersionText(text).version(); }

// PEP 440, "Summary of permitted suffixes and relative ordering".
std::strong_ordering order(const Version& a, const Version& b) {
  static constexpr std::int64_t first = -1, last = std::int64_t{1} << 62;
  const auto key = [](const Version& v) {
    std::vector<std::int64_t> release = v.release;
    while (!release.empty() && release.back() == 0) release.pop_back();
    const bool only_dev = !v.pre && !v.post && v.dev;
    const std::pair<std::int64_t, std::int64_t> pre = v.pre
        ? std::pair<std::int64_t, std::int64_t>(v.pre->first, v.pre->second)
        : only_dev ? std::pair(first, first)
                   : std::pair(last, last);
    return std::tuple(v.epoch, release, pre, v.post.value_or(first), v.dev.value_or(last), !v.local.empty(),
        local_parts(v.local));
  };
  const auto x = key(a), y = key(b);
  return x < y ? std::strong_ordering::less
      : y < x  ? std::strong_ordering::greater
               : std::strong_ordering::equal;
}

}  // namespace stepzero::program
