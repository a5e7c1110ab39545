#include "server/features/steady_hints.hpp"

#include "syntax/text.hpp"

#include <algorithm>

namespace stepzero::server {
namespace {

bool continues_a_name(const std::string& text) { return !text.empty() && syntax::is_name_byte(text[0]); }

bool touches(const syntax::Edit& edit, std::uint32_t at) {
  if (at < edit.span.begin || at > edit.span.end) return false;
  // After the name something else begins or ends.
  return at != edit.span.begin || continues_a_name(edit.text);
}

}  // namespace

void SteadyHints::edited(const std::vector<syntax::Edit>& edits) {
  for (const syntax::Edit& edit : edits) {
    std::erase_if(last_, [&](const Hint& hint) { return touches(edit, hint.at); });
    for (Hint& hint : last_)
      if (hint.at > edit.span.begin)
        hint.at += static_cast<std::uint32_t>(edit.text.size()) - (edit.span.end - edit.span.begin);
  }
}

const std::vector<Hint>& SteadyHints::with(std::vector<Hint> fresh, bool typing) {
  kept_ = false;
  if (typing) {
    const auto before = [](const Hint& a, const Hint& b) { return a.at < b.at; };
    std::vector<Hint> lost;
    std::set_difference(
        last_.begin(), last_.end(), fresh.begin(), fresh.end(), std::back_inserter(lost), before);
    kept_ = !lost.empty();
    std::vector<Hint> all;
    std::merge(fresh.begin(), fresh.end(), lost.begin(), lost.end(), std::back_inserter(all), before);
    fresh = std::move(all);
  }
  last_ = std::move(fresh);
  return last_;
}

}  // namespace stepzero::server
