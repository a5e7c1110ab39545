#include "interpreter/calls/called_names.hpp"

#include "syntax/text.hpp"

#include <algorithm>

namespace stepzero::interpreter {

namespace {

std::vector<CalledName> each_once(std::string_view text) {
  std::vector<CalledName> names = called_names(text);
  std::ranges::sort(names);
  const auto rest = std::ranges::unique(names);
  names.erase(rest.begin(), rest.end());
  return names;
}

}  // namespace

std::vector<CalledName> called_names(std::string_view text) {
  std::vector<CalledName> found;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '(') continue;
    std::size_t begin = i;
    while (begin > 0 && syntax::is_word(text[begin - 1])) --begin;
    if (begin == i) continue;
    const std::string_view before = text.substr(0, begin);
    found.push_back({text.substr(begin, i - begin),
        before.ends_with("self.")   ? CalledName::Of::self
            : before.ends_with(".") ? CalledName::Of::other
                                    : CalledName::Of::scope});
  }
  return found;
}

bool call_the_same(std::string_view one, std::string_view other) {
  return each_once(one) == each_once(other);
}

}  // namespace stepzero::interpreter
