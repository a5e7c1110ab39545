#include "snapshot/standing_findings.hpp"

#include "syntax/difference.hpp"

#include <algorithm>
#include <optional>

namespace stepzero::snapshot {

namespace {

// Where a span of one text stands in another. Nothing where the edit lies in the span or cuts into it; a span
// around the whole edit grows with it.
std::optional<syntax::Span> moved(syntax::Span span, const syntax::Difference& edit) {
  const auto after = [&](std::uint32_t at) { return at - edit.end_before + edit.end_now; };
  if (span.begin >= edit.end_before) return syntax::Span{after(span.begin), after(span.end)};
  if (span.end <= edit.begin) return span;
  if (span.begin < edit.begin && span.end > edit.end_before) return syntax::Span{span.begin, after(span.end)};
  return std::nullopt;
}

}  // namespace

std::vector<rules::Finding> StandingFindings::in(const syntax::Text& now, const std::string& path,
    const std::function<bool(const std::string& root)>& judged_again) const {
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
    std::erase_if(finding.fixes, [&](rules::Fix& fix) {
      return !std::ranges::all_of(fix.edits, [&](rules::TextEdit& edit) { return move(edit.where); });
    });
    standing.push_back(std::move(finding));
  }
  return standing;
}

std::optional<std::vector<rules::Finding>> StandingFindings::in_other_comments(
    const syntax::Text& now, const std::string& path) const {
  const syntax::Difference change = syntax::difference(text->bytes(), now.bytes());
  const auto apart = [&](const rules::Location& where) {
    return where.path != path || where.span.end <= change.begin || where.span.begin >= change.end_before;
  };
  // Who is told of a line by its number would be told of another one; and a comment may switch rules off.
  const auto says = [](std::string_view words) { return words.find("line") != std::string_view::npos; };
  const auto speaks = [](std::string_view comment) {
    return comment.find("stepzero") != std::string_view::npos;
  };
  const auto lines_around = [](std::string_view bytes, std::uint32_t begin, std::uint32_t end) {
    const std::size_t first = begin == 0 ? 0 : bytes.rfind('\n', begin - 1) + 1;  // npos + 1 is 0
    return bytes.substr(first, std::min(bytes.find('\n', end), bytes.size()) - first);
  };
  if (speaks(lines_around(text->bytes(), change.begin, change.end_before)) ||
      speaks(lines_around(now.bytes(), change.begin, change.end_now)))
    return std::nullopt;
  for (const One& one : findings) {
    if (one.local) continue;
    const rules::Finding& finding = one.finding;
    const bool stands = apart(finding.where) && !says(finding.message) &&
        std::ranges::all_of(finding.related,
            [&](const rules::Related& related) { return apart(related.where) && !says(related.message); }) &&
        std::ranges::all_of(finding.fixes, [&](const rules::Fix& fix) {
          return std::ranges::all_of(
              fix.edits, [&](const rules::TextEdit& edit) { return apart(edit.where); });
        });
    if (!stands) return std::nullopt;
  }
  return in(now, path, [](const std::string&) { return true; });
}

}  // namespace stepzero::snapshot
