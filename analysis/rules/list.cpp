#include "rules/rule.hpp"

namespace stepzero::rules {
std::string_view name(Severity severity) {
  constexpr std::string_view names[] = {"error", "warning", "information", "hint"};
  return names[static_cast<int>(severity)];
}
std::span<const Rule> rules() { return {}; }
const Rule* find_rule(std::string_view) { return nullptr; }
std::string page(const Rule& rule) { return std::string(rule.id); }
} // namespace stepzero::rules
