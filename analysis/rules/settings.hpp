// Settings of models: numbers under the names that programs and published configurations give them, in
// dictionaries and in calls of the configuration classes of transformers. Says nothing to the user.
#pragma once

#include "rules/report.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace stepzero::rules {

struct Setting {
  std::string_view name;
  std::int64_t number = 0;
  std::string_view by_default;  // the class whose default it is; empty: it is given
};

class Settings {
public:
  // `cls`: what has the settings that are not given; null: a dictionary, which has no others.
  Settings(const Record& record, const values::DictState& given, const values::Row* cls)
      : record_(record), given_(given), class_(cls) {}

  // The number under the first of the names that is there. Nothing if it is no known number, or if what is
  // not known may hold it.
  std::optional<Setting> operator[](std::span<const std::string_view> names) const;
  std::optional<Setting> operator[](std::string_view name) const { return (*this)[std::span(&name, 1)]; }
  // Is a name like this given, whatever its value?
  bool any_named(const std::function<bool(std::string_view)>& like) const;
  bool is_dictionary() const { return !class_; }
  const values::DictState& given() const { return given_; }

private:
  const Record& record_;
  const values::DictState& given_;
  const values::Row* class_;
};

// "n_heads is 32", "num_key_value_heads is 8 by default of MistralConfig"
std::string says(const Setting& setting);

// All settings that the program gives at places of the file, in order. `at`: where.
void each_settings(const Record& record,
    const std::function<void(const Settings&, Place at, const interpreter::CallSite* calls)>& look);

}  // namespace stepzero::rules
