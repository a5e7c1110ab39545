// packaging.version, by which programs ask which version of a library there is: numbers of versions as PEP
// 440 orders them. What is not written out is not known.
#include "libraries/frameworks/kernels.hpp"
#include "libraries/table/native.hpp"
#include "libraries/table/table.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace stepzero::libraries {

namespace {

constexpr std::string_view version_class = "packaging.version.Version";

// N!N(.N)*[{a|b|rc}N][.postN][.devN][+local], with what PEP 440 allows to write otherwise.
struct Version {
  std::int64_t epoch = 0;
  std::vector<std::int64_t> release;
  std::optional<std::pair<char, std::int64_t>> pre;  // 'a', 'b' or 'r'
  std::optional<std::int64_t> post, dev;
  std::string local;
};

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

std::string release_text(const Version& version) {
  std::string text = version.epoch ? std::to_string(version.epoch) + "!" : "";
  for (std::size_t i = 0; i < version.release.size(); ++i)
    text += (i ? "." : "") + std::to_string(version.release[i]);
  return text;
}
std::string public_text(const Version& version) {
  std::string text = release_text(version);
  if (version.pre)
    text += (version.pre->first == 'r' ? "rc" : std::string(1, version.pre->first)) +
        std::to_string(version.pre->second);
  if (version.post) text += ".post" + std::to_string(*version.post);
  if (version.dev) text += ".dev" + std::to_string(*version.dev);
  return text;
}

// What a version says of itself, as attributes; none of one that is not written out.
void describe_version(Call& call, Instance& made, Value written) {
  made.open = true;
  auto found = written.is(Kind::string) ? VersionText(written.text()).version() : std::nullopt;
  if (!found) return;
  values::Heap& heap = call.run.heap();
  const auto set = [&](std::string_view name, Value value) {
    heap.slot_of(made.attributes, Name(name)).value = value;
  };
  std::vector<Value> release;
  for (const std::int64_t part : found->release) release.push_back(heap.integer(part));
  const auto part = [&](std::size_t i) {
    return heap.integer(i < found->release.size() ? found->release[i] : 0);
  };
  set("epoch", heap.integer(found->epoch));
  set("release", heap.tuple(std::move(release)));
  set("major", part(0));
  set("minor", part(1));
  set("micro", part(2));
  set("base_version", heap.string(release_text(*found)));
  set("public", heap.string(public_text(*found)));
  set("local", found->local.empty() ? Value::none() : heap.string(found->local));
  set("is_prerelease", heap.boolean(found->pre || found->dev));
  set("is_postrelease", heap.boolean(found->post.has_value()));
  set("is_devrelease", heap.boolean(found->dev.has_value()));
}

Value version_made(Call& call) {
  describe_version(call, object(call), call.run.resolve(call.at(0)));
  return call.self;
}
Value version_parsed(Call& call) {
  Instance* made = call.run.make_native(version_class, call.place);
  describe_version(call, *made, call.run.resolve(call.at(0)));
  return Value::of(Kind::instance, made);
}

std::optional<Version> version_of(Call& call, Value value) {
  value = value ? call.run.resolve(value) : value;
  if (!value.is(Kind::instance)) return std::nullopt;
  const auto* held = value.as<Instance>();
  if (!held->native || held->native->path != version_class) return std::nullopt;
  const Value text = held->attributes.value(Name("public")), local = held->attributes.value(Name("local"));
  if (!text.is(Kind::string)) return std::nullopt;
  return VersionText(
      std::string(text.text()) + (local.is(Kind::string) ? "+" + std::string(local.text()) : ""))
      .version();
}

template <class Holds> Value compared(Call& call, Holds holds) {
  const auto a = version_of(call, call.self), b = version_of(call, call.at(0));
  if (!a || !b) return call.run.heap().unseen("", call.place);
  return call.run.heap().boolean(holds(order(*a, *b)));
}
Value is_equal(Call& call) {
  return compared(call, [](std::strong_ordering o) { return o == 0; });
}
Value differs(Call& call) {
  return compared(call, [](std::strong_ordering o) { return o != 0; });
}
Value is_less(Call& call) {
  return compared(call, [](std::strong_ordering o) { return o < 0; });
}
Value is_at_most(Call& call) {
  return compared(call, [](std::strong_ordering o) { return o <= 0; });
}
Value is_greater(Call& call) {
  return compared(call, [](std::strong_ordering o) { return o > 0; });
}
Value is_at_least(Call& call) {
  return compared(call, [](std::strong_ordering o) { return o >= 0; });
}

}  // namespace

std::vector<Row> version_rows() {
  using enum RowKind;
  return {
      row(version_class, class_, "version", version_made),
      row("packaging.version.parse", function, "version", version_parsed),
      row("packaging.version.Version.__eq__", method, "other", is_equal),
      row("packaging.version.Version.__ne__", method, "other", differs),
      row("packaging.version.Version.__lt__", method, "other", is_less),
      row("packaging.version.Version.__le__", method, "other", is_at_most),
      row("packaging.version.Version.__gt__", method, "other", is_greater),
      row("packaging.version.Version.__ge__", method, "other", is_at_least),
  };
}

}  // namespace stepzero::libraries
