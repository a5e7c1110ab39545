// What an option of a command line, or a field of a configuration, takes.
#pragma once

#include <cstdint>
#include <string_view>

namespace stepzero::program {

enum class Takes : std::uint8_t { none, one, optional, several };  // words

enum class ValueType : std::uint8_t { text, integer, number, truth, unknown };

constexpr bool is_number(ValueType type) { return type == ValueType::integer || type == ValueType::number; }

// By the name of Python's type, or of click's: `int`, `INT`; any other is unknown.
ValueType type_named(std::string_view name);

// "an integer"
std::string_view in_words(ValueType type);

}  // namespace stepzero::program
