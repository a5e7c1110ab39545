#include "rules/settings.hpp"
#include "values/shape_text.hpp"

#include "rules/fact_index.hpp"
#include "values/internal_rows.hpp"

#include <algorithm>
#include <set>
#include <unordered_set>

namespace stepzero::rules {

using values::code;

using values::Kind;

namespace {
constexpr std::string_view of_classes =
    values::InternalRow::settings;  // rows: see libraries/frameworks/configurations.cpp
}  // namespace

std::optional<Setting> Settings::operator[](std::span<const std::string_view> names) const {
  for (const std::string_view name : names)
    for (const auto& [key, value] : given_.items)
      if (key.is(Kind::string) && key.text() == name) {
        const auto number = value.is(Kind::integer) ? record_.symbols.value(value.integer()) : std::nullopt;
        return number ? std::optional(Setting{name, *number, {}}) : std::nullopt;
      }
  if (!class_ || given_.open) return std::nullopt;
  for (const std::string_view name : names)
    for (std::size_t i = 0; i < class_->parameters.size(); ++i)
      if (class_->parameters[i].text() == name && class_->defaults[i].kind == Kind::integer)
        return Setting{name, class_->defaults[i].integer, class_->path.substr(class_->path.rfind('.') + 1)};
  return std::nullopt;
}

bool Settings::any_named(const std::function<bool(std::string_view)>& like) const {
  return std::any_of(given_.items.begin(), given_.items.end(),
      [&](const auto& item) { return !item.first.is(Kind::string) || like(item.first.text()); });
}

std::string says(const Setting& setting) {
  return values::code(setting.name) + " is " + std::to_string(setting.number) +
      (setting.by_default.empty() ? "" : " by default of " + values::code(setting.by_default));
}

void each_settings(const Record& record,
    const std::function<void(const Settings&, Place, const interpreter::CallSite*)>& look) {
  std::unordered_set<const values::DictState*> seen;        // by another name
  std::set<std::pair<std::uint32_t, std::uint32_t>> named;  // where those that have a name are written
  const auto written_at = [](const interpreter::Fact& fact) {
    const Place born = fact.value.object()->born;
    return std::pair{born.chunk, born.span.begin};
  };
  const auto look_at = [&](const interpreter::Fact& fact) {
    const auto* dict = values::Heap::dict_state(fact.value);
    if (record.in_file(fact.place) && seen.insert(dict).second)
      look(Settings(record, *dict, nullptr), fact.place, nullptr);
  };
  for (const interpreter::Fact* fact : FactIndex::of(record).dictionaries) {
    named.insert(written_at(*fact));
    look_at(*fact);
  }
  for (const interpreter::Fact* fact : FactIndex::of(record).displays)
    if (!named.contains(written_at(*fact))) look_at(*fact);
  const auto is_of_classes = [](const values::Row& row) { return row.path.starts_with(of_classes); };
  visit_operations(record, is_of_classes, [&](const OperationEvent& made) {
    if (made.arguments.size() == 1 && made.arguments[0].is(Kind::dict))
      look(Settings(record, *values::Heap::dict_state(made.arguments[0]), made.row), made.place, made.calls);
  });
}

}  // namespace stepzero::rules
