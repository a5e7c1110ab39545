#include "server/command_line/diff.hpp"

#include <algorithm>
#include <vector>

namespace stepzero::server {
namespace {

using Lines = std::vector<std::string_view>;

// Each with its '\n'; the last one may lack it.
Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return lines;
}

struct Step {
  char kind = ' ';  // ' ', '-' or '+'
  std::string_view line;
};

// The furthest `x` reached on each diagonal x - y.
class Reach {
public:
  explicit Reach(int limit) : limit_(limit), x_(static_cast<std::size_t>(2 * limit + 3), 0) {}
  int& operator[](int diagonal) { return x_[static_cast<std::size_t>(diagonal + limit_ + 1)]; }

  // Whether the path to `diagonal` in round `edits` comes from above (an insertion) and not from the left.
  bool comes_from_above(int diagonal, int edits) {
    return diagonal == -edits || (diagonal != edits && (*this)[diagonal - 1] < (*this)[diagonal + 1]);
  }

private:
  int limit_;
  std::vector<int> x_;
};

// Myers' shortest edit script of two runs of lines. Beyond `most_edits` everything is replaced as a whole:
// still correct, only longer.
std::vector<Step> edit_script(const std::string_view* before, int n, const std::string_view* after, int m) {
  constexpr int most_edits = 1000;
  const int limit = std::min(n + m, most_edits);
  Reach reach(limit);
  std::vector<Reach> history;  // before each round
  const auto reaches_end = [&](int edits) {
    for (int k = -edits; k <= edits; k += 2) {
      int x = reach.comes_from_above(k, edits) ? reach[k + 1] : reach[k - 1] + 1;
      while (x < n && x - k < m && before[x] == after[x - k]) ++x;
      reach[k] = x;
      if (x >= n && x - k >= m) return true;
    }
    return false;
  };
  std::vector<Step> steps;
  int edits = 0;
  for (; edits <= limit; ++edits) {
    history.push_back(reach);
    if (reaches_end(edits)) break;
  }
  if (edits > limit) {
    steps.reserve(n);
    for (int i = 0; i < n; ++i) steps.push_back({'-', before[i]});
    for (int i = 0; i < m; ++i) steps.push_back({'+', after[i]});
    return steps;
  }
  int x = n;
  int y = m;
  for (; edits > 0; --edits) {
    Reach& earlier = history[static_cast<std::size_t>(edits)];
    const int k = x - y;
    const bool inserted = earlier.comes_from_above(k, edits);
    const int from_x = earlier[inserted ? k + 1 : k - 1];
    const int from_y = from_x - (inserted ? k + 1 : k - 1);
    for (; x > from_x + (inserted ? 0 : 1); --x) steps.push_back({' ', before[x - 1]});
    steps.push_back(inserted ? Step{'+', after[from_y]} : Step{'-', before[from_x]});
    x = from_x;
    y = from_y;
  }
  for (; x > 0; --x) steps.push_back({' ', before[x - 1]});
  std::reverse(steps.begin(), steps.end());
  return steps;
}

// The whole of both texts as steps. What they share at both ends, mostly all, costs nothing.
std::vector<Step> all_steps(const Lines& before, const Lines& after) {
  const std::size_t shorter = std::min(before.size(), after.size());
  std::size_t prefix = 0;
  while (prefix < shorter && before[prefix] == after[prefix]) ++prefix;
  std::size_t suffix = 0;
  while (suffix < shorter - prefix && before[before.size() - 1 - suffix] == after[after.size() - 1 - suffix])
    ++suffix;
  std::vector<Step> steps;
  steps.reserve(std::max(before.size(), after.size()));
  for (std::size_t i = 0; i < prefix; ++i) steps.push_back({' ', before[i]});
  const std::vector<Step> middle = edit_script(before.data() + prefix,
      static_cast<int>(before.size() - prefix - suffix), after.data() + prefix,
      static_cast<int>(after.size() - prefix - suffix));
  steps.insert(steps.end(), middle.begin(), middle.end());
  for (std::size_t i = before.size() - suffix; i < before.size(); ++i) steps.push_back({' ', before[i]});
  return steps;
}

constexpr std::size_t context = 3;

// "@@ -3,4 +3,5 @@": an empty range is named by the line before it.
std::string range(std::size_t lines_before, std::size_t count) {
  const std::size_t line = count == 0 ? lines_before : lines_before + 1;
  return std::to_string(line) + (count == 1 ? "" : "," + std::to_string(count));
}

}  // namespace

std::string unified_diff(std::string_view before, std::string_view after, std::string_view name) {
  if (before == after) return {};
  const Lines old_lines = lines_of(before);
  const Lines new_lines = lines_of(after);
  const std::vector<Step> steps = all_steps(old_lines, new_lines);
  // A name with blanks ends at a tab.
  const std::string label = std::string(name) + (name.find(' ') == std::string_view::npos ? "\n" : "\t\n");
  std::string result = "--- " + label + "+++ " + label;
  std::size_t old_line = 0;
  std::size_t new_line = 0;
  for (std::size_t i = 0; i < steps.size();) {
    // The hunk reaches from `context` lines before a change to as many after the last one that is near.
    std::size_t first = i;
    while (first < steps.size() && steps[first].kind == ' ') ++first;
    if (first == steps.size()) break;
    const std::size_t begin = std::max(i, first - std::min(first, context));
    std::size_t end = first;
    for (std::size_t quiet = 0; end < steps.size() && quiet <= 2 * context; ++end) {
      quiet = steps[end].kind == ' ' ? quiet + 1 : 0;
    }
    std::size_t trailing = 0;
    while (steps[end - 1 - trailing].kind == ' ') ++trailing;
    end -= trailing - std::min(trailing, context);
    old_line += begin - i;
    new_line += begin - i;
    std::string body;
    std::size_t old_count = 0;
    std::size_t new_count = 0;
    for (std::size_t s = begin; s < end; ++s) {
      old_count += steps[s].kind != '+' ? 1 : 0;
      new_count += steps[s].kind != '-' ? 1 : 0;
      body.append(1, steps[s].kind).append(steps[s].line);
      if (!steps[s].line.ends_with('\n')) body += "\n\\ No newline at end of file\n";
    }
    result += "@@ -" + range(old_line, old_count) + " +" + range(new_line, new_count) + " @@\n" + body;
    old_line += old_count;
    new_line += new_count;
    i = end;
  }
  return result;
}

}  // namespace stepzero::server
