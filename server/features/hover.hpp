// What is known of the place under the pointer, as text. Knows no protocol; a link's target is given by the
// caller.
#pragma once

#include "server/documents/analysis.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace stepzero::server {

enum class Markup { plain, markdown };

struct Hover {
  syntax::Span span;
  std::string text;
};

// Where a related place can be opened: "file:///…/model.py#L12"; empty if nowhere.
using Link = std::function<std::string(const rules::Location&, std::uint32_t line)>;

// The rules whose findings lie at the offset, the value of the innermost expression there, and what the ranks
// do in the function or the job that is named there. `pages`: the client links each finding to the page of
// its rule, so that the reasons need not stand here as well.
std::optional<Hover> hover(
    const Analysis& analysis, std::uint32_t offset, Markup markup, const Link& link, bool pages = false);

// What is known of the name that ends at the offset: its value, and where its sizes come from. Empty if
// nothing is.
std::string assigned(const Analysis& analysis, std::uint32_t end, Markup markup, const Link& link);

}  // namespace stepzero::server
