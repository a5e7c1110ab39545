#include "rules/deepspeed/sections.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

namespace stepzero::rules::deepspeed {

namespace {

// DeepSpeed finds its own optimizers by their names in lower case.
std::string optimizer_section(const std::string& type) {
  const auto same = [&](std::string_view name) {
    return std::equal(name.begin(), name.end(), type.begin(), type.end(),
        [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); });
  };
  for (const Key& key : keys())
    if (is_of_optimizer(key.section) && same(key.section.substr(key.section.find(':') + 1)))
      return std::string(key.section);
  return "optimizer.params:" + type;
}

void descend(const Node& root, const std::string& section, const Node& table,
    const std::function<void(std::string_view, const Node&)>& each) {
  each(section, table);
  for (const Field& field : table.fields) {
    if (!field.value.is(Node::Kind::table)) continue;
    const std::string inner = section_of(root, section, field.key);
    if (is_section(inner)) descend(root, inner, field.value, each);
  }
}

}  // namespace

std::string section_of(const Node& root, std::string_view section, std::string_view key) {
  if (section.empty()) return key == "bfloat16" ? "bf16" : std::string(key);
  if (section == "scheduler" && key == "params") {
    const Node* type = root.at("scheduler") ? root.at("scheduler")->at("type") : nullptr;
    return "scheduler.params:" + (type ? type->text : std::string());
  }
  if (section == "optimizer" && key == "params") {
    const Node* type = root.at("optimizer") ? root.at("optimizer")->at("type") : nullptr;
    return optimizer_section(type ? type->text : std::string());
  }
  return std::string(section) + "." + std::string(key);
}

void each_section(const Node& root, const std::function<void(std::string_view, const Node&)>& each) {
  if (root.is(Node::Kind::table)) descend(root, "", root, each);
}

bool is_auto(const Node* value) { return value && value->is_text("auto"); }

std::optional<std::int64_t> integer(const Node* value) {
  if (!value) return std::nullopt;
  if (value->is(Node::Kind::integer)) return value->integer;
  if (value->is(Node::Kind::real) && value->real == std::floor(value->real) && std::abs(value->real) < 1e18)
    return static_cast<std::int64_t>(value->real);
  return std::nullopt;
}

std::optional<bool> truth(const Node* value) {
  if (!value) return std::nullopt;
  if (value->is(Node::Kind::boolean)) return value->truth;
  if (value->is(Node::Kind::integer) && (value->integer == 0 || value->integer == 1))
    return value->integer == 1;
  if (!value->is(Node::Kind::text)) return std::nullopt;
  std::string text = value->text;
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const std::string_view yes : {"true", "yes", "on", "1", "t", "y"})
    if (text == yes) return true;
  for (const std::string_view no : {"false", "no", "off", "0", "f", "n"})
    if (text == no) return false;
  return std::nullopt;
}

std::optional<std::int64_t> stage_of(const Node& root) {
  const Node* zero = root.at("zero_optimization");
  if (!zero) return 0;
  if (zero->is(Node::Kind::boolean)) return zero->truth ? 1 : 0;
  const Node* stage = zero->at("stage");
  return stage ? integer(stage) : 0;
}

}  // namespace stepzero::rules::deepspeed
