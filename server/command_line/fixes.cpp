#include "server/command_line/fixes.hpp"

#include "server/features/fixes.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace stepzero::server {
namespace {

bool equal(const rules::TextEdit& left, const rules::TextEdit& right) {
  return left.where == right.where && left.new_text == right.new_text;
}

// Whether most lines end with "\r\n".
bool has_carriage_returns(std::string_view text) {
  std::size_t all = 0;
  std::size_t with = 0;
  for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
    ++all;
    if (at > 0 && text[at - 1] == '\r') ++with;
  }
  return with * 2 > all;
}

std::string with_carriage_returns(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\n' && !result.ends_with('\r')) result += '\r';
    result += c;
  }
  return result;
}

}  // namespace

std::string key(const ChosenFix& chosen) {
  std::string result(chosen.finding->rule);
  return result.append("\n")
      .append(chosen.finding->where.path)
      .append("\n")
      .append(chosen.finding->message)
      .append("\n")
      .append(chosen.fix->title);
}

std::vector<ChosenFix> choose_fixes(const std::vector<const rules::Finding*>& findings,
    const std::set<std::string>& editable, const std::set<std::string>& refused) {
  std::vector<ChosenFix> chosen;
  std::map<std::string, std::vector<rules::TextEdit>> taken;
  const auto fits = [&](const rules::TextEdit& edit) {
    if (!editable.contains(edit.where.path)) return false;
    const auto& others = taken[edit.where.path];
    return std::none_of(others.begin(), others.end(),
        [&](const rules::TextEdit& other) { return !equal(edit, other) && conflict(edit, other); });
  };
  for (const rules::Finding* finding : findings) {
    for (const rules::Fix& fix : finding->fixes) {
      if (!fix.preferred || fix.edits.empty()) continue;
      const ChosenFix candidate = {finding, &fix};
      if (!refused.contains(key(candidate)) && std::all_of(fix.edits.begin(), fix.edits.end(), fits)) {
        for (const rules::TextEdit& edit : fix.edits) taken[edit.where.path].push_back(edit);
        chosen.push_back(candidate);
      }
      break;
    }
  }
  return chosen;
}

std::string apply_edits(std::string_view text, std::vector<rules::TextEdit> edits) {
  std::stable_sort(edits.begin(), edits.end(), [](const rules::TextEdit& left, const rules::TextEdit& right) {
    return std::tie(left.where.span.begin, left.where.span.end) <
        std::tie(right.where.span.begin, right.where.span.end);
  });
  edits.erase(std::unique(edits.begin(), edits.end(), equal), edits.end());
  const bool returns = has_carriage_returns(text);
  std::string result;
  std::size_t done = 0;
  for (const rules::TextEdit& edit : edits) {
    const std::size_t begin = std::clamp<std::size_t>(edit.where.span.begin, done, text.size());
    result += text.substr(done, begin - done);
    result += returns ? with_carriage_returns(edit.new_text) : edit.new_text;
    done = std::clamp<std::size_t>(edit.where.span.end, begin, text.size());
  }
  result += text.substr(done);
  return result;
}

bool is_broken(const syntax::Module& before, const syntax::Module& after) {
  const auto errors = [](const syntax::Module& module) {
    return std::count_if(module.items.begin(), module.items.end(),
        [](const syntax::Item& item) { return item.chunk && item.chunk->has_error; });
  };
  return (after.has_error && !before.has_error) || errors(after) > errors(before);
}

}  // namespace stepzero::server
