#include "rules/digits.hpp"

#include <array>
#include <cstdio>

namespace stepzero::rules {

std::string in_digits(double number) {
  std::array<char, 32> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%g", number);
  return buffer.data();
}

}  // namespace stepzero::rules
