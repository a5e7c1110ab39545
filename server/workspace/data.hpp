// Reads the data that a program loads from files, as the reader that the program uses would.
#pragma once

#include "program/data.hpp"

#include <memory>
#include <string_view>

namespace stepzero::server {

// Null if the text is nothing of the format, or holds more than any configuration does. All readers of TOML
// make the same of it, and no other format has its name: there the path says what it is.
std::shared_ptr<const program::Data> read_data(
    std::string_view path, std::string_view text, program::DataFormat format);

// Of each format; false: it is none.
bool read_json(std::string_view text, program::Data& into);
bool read_toml(std::string_view text, program::Data& into);
// With `bare_exponents` numbers such as 1e-5 are numbers; PyYAML takes them for text.
bool read_yaml(std::string_view text, program::Data& into, bool bare_exponents);

}  // namespace stepzero::server
