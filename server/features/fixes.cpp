#include "server/features/fixes.hpp"

#include <algorithm>

namespace stepzero::server {
namespace {

bool same(const rules::TextEdit& a, const rules::TextEdit& b) {
  return a.where == b.where && a.new_text == b.new_text;
}

// Appends the fix's edits unless one conflicts with what is there.
void take(std::vector<rules::TextEdit>& taken, const rules::Fix& fix) {
  std::vector<rules::TextEdit> added;
  for (const rules::TextEdit& edit : fix.edits) {
    if (std::any_of(taken.begin(), taken.end(), [&](const auto& other) { return same(edit, other); }))
      continue;
    if (std::any_of(taken.begin(), taken.end(), [&](const auto& other) { return conflict(edit, other); }))
      return;
    added.push_back(edit);
  }
  taken.insert(taken.end(), added.begin(), added.end());
}

}  // namespace

bool conflict(const rules::TextEdit& a, const rules::TextEdit& b) {
  if (a.where.path != b.where.path) return false;
  const syntax::Span x = a.where.span, y = b.where.span;
  if (x.begin == y.begin) return true;
  return x.begin < y.end && y.begin < x.end;
}

std::vector<rules::TextEdit> fix_all(const std::vector<rules::Finding>& findings, const std::string& path) {
  std::vector<rules::TextEdit> taken;
  for (const rules::Finding& finding : findings) {
    const auto fix = std::find_if(
        finding.fixes.begin(), finding.fixes.end(), [](const rules::Fix& each) { return each.preferred; });
    if (fix == finding.fixes.end()) continue;
    if (std::all_of(fix->edits.begin(), fix->edits.end(),
            [&](const rules::TextEdit& edit) { return edit.where.path == path; }))
      take(taken, *fix);
  }
  return taken;
}

}  // namespace stepzero::server
