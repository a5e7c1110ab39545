#include "snapshot/standing.hpp"

#include "syntax/difference.hpp"

#include <algorithm>
#include <optional>

namespace stepzero::snapshot {

namespace {

// Where a span of one text stands in another. Nothing where the edit lies in the span or cuts into it; a span around the whole edit grows with it.
std::optional<syntax::Span> moved(syntax::Span span, const syntax::Difference& edit) {
  const auto behind = [&](std::uint32_t at) { return at - edit.end_before + edit.end_now; };
  if (span.begin >= edit.end_before) return syntax::Span{behind(span.begin), behind(span.end)};
  if (span.end <= edit.begin) return span;
  if (span.begin < edit.begin && span.end > edit.end_before) return syntax::Span{span.begin, behind(span.end)};
  return std::nullopt;
}

} // namespace

std::vector<rules::Finding> Standing::in(const syntax::Text& now, const std::string& path, const std::function<bool(const std::string& root)>& judged_again) const {
  std::vector<rules::Finding> standing;
  if (!text) return standing;
  const syntax::Difference change = syntax::difference(text->bytes(), now.bytes());
  const auto move = [&](rules::Location& where) {
    if (where.path != path) return true;
    const auto span = moved(where.span, change);
    if (span) where.span = *span;
    return span.has_value();
  };
  for (const One& one : findings) {
    if (one.local && judged_again(one.finding.root)) continue;
    rules::Finding finding = one.finding;
    if (!move(finding.where)) continue;
    std::erase_if(finding.related, [&](rules::Related& related) { return !move(related.where); });
    std::erase_if(finding.fixes, [&](rules::Fix& fix) { return !std::ranges::all_of(fix.edits, [&](rules::TextEdit& edit) { return move(edit.where); }); });
    standing.push_back(std::move(finding));
  }
  return standing;
}

} // namespace stepzero::snapshot
