// packaging.version, by which programs ask which version of a library there is: numbers of versions as PEP
// 440 orders them. What is not written out is not known.
#include "libraries/frameworks/kernels.hpp"
#include "libraries/table/native.hpp"
#include "libraries/table/table.hpp"
#include "program/version.hpp"

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

using program::Version;

namespace {

constexpr std::string_view version_class = "packaging.version.Version";

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
  auto found = written.is(Kind::string) ? program::parse_version(written.text()) : std::nullopt;
  if (!found) return;
  values::Heap& heap = call.run.heap();
  const auto set = [&](std::string_view name, Value value) {
    heap.slot_of(made.attributes, Name(name)).value = value;
  };
  std::vector<Value> release;
  release.reserve(found->release.size());
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
  return program::parse_version(
      std::string(text.text()) + (local.is(Kind::string) ? "+" + std::string(local.text()) : ""));
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
