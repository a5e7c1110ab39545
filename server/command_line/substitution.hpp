// A program with other numbers in the place of some of its own: of an assignment, a keyword argument, the
// default of a parameter or of an option of the command line. Works on the text; knows no analysis.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stepzero::server {

// `name = 12`, `name: int = 12`, `f(name=12)`, `add_argument("--name", default=12)`: the text with `value`
// everywhere; of a name of the module that begins as `name = None`, whatever is assigned to it. Nullopt: it
// says nowhere what the name is, or not as a number.
std::optional<std::string> substituted(std::string_view text, std::string_view name, std::int64_t value);

}  // namespace stepzero::server
