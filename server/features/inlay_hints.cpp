#include "server/features/inlay_hints.hpp"

#include <algorithm>
#include <cctype>

namespace stepzero::server {
namespace {

constexpr std::size_t longest_label = 60;

bool has_letter(const std::string& text) {
  return std::any_of(text.begin(), text.end(), [](unsigned char c) { return std::isalpha(c) || c >= 0x80; });
}

// A literal `n = 3` says it itself, and so does a name that stands for itself (`rank = rank`); a tensor, or
// an int that is computed, does not.
bool worth_saying(const snapshot::DisplayValue& value) {
  if (value.kind == "tensor") return true;
  if (value.kind == "int") return has_letter(value.value);
  return std::any_of(value.items.begin(), value.items.end(), worth_saying);
}

bool has_named_dim(const snapshot::DisplayValue& value) {
  if (value.kind == "int") return has_letter(value.value);
  if (value.shape && std::any_of(value.shape->begin(), value.shape->end(), [](const auto& dim) {
        return !dim.is_int && has_letter(dim.text);
      }))
    return true;
  return std::any_of(value.items.begin(), value.items.end(), has_named_dim);
}

// At most `limit` bytes, cut between code points.
std::string shortened(const std::string& text, std::size_t limit) {
  std::size_t end = limit;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

}  // namespace

std::vector<Hint> inlay_hints(
    const std::vector<snapshot::Fact>& facts, syntax::Span range, InlayHints wanted) {
  std::vector<Hint> hints;
  if (wanted == InlayHints::off) return hints;
  for (const snapshot::Fact& fact : facts) {
    if (!fact.is_assignment || fact.span.end < range.begin || fact.span.end > range.end) continue;
    if (!worth_saying(fact.value) || (fact.value.kind == "int" && fact.value.value == fact.name) ||
        (wanted == InlayHints::named && !has_named_dim(fact.value)))
      continue;
    std::string text = ": " + fact.value.short_text();
    Hint hint{fact.span.end, {}, {}, fact.origins && !fact.origins->empty()};
    if (text.size() > longest_label) {
      hint.label = shortened(text, longest_label);
      hint.whole = text.substr(2);
      hint.more = true;
    } else {
      hint.label = std::move(text);
    }
    hints.push_back(std::move(hint));
  }
  // Facts are sorted by where they begin; `a.b = c` and names in tuples may end in another order.
  std::stable_sort(hints.begin(), hints.end(), [](const Hint& a, const Hint& b) { return a.at < b.at; });
  return hints;
}

}  // namespace stepzero::server
