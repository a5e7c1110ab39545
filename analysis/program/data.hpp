// What a file of data holds that a program reads: JSON, YAML and the like, as plain values. Knows no format.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace stepzero::program {

// What is to read the file: each makes other values of the same text.
enum class DataFormat : std::uint8_t {
  json,
  yaml,
  omegaconf
};  // OmegaConf reads YAML, with more forms of numbers

struct Data {
  // `unknown`: a value that is no plain one, such as a date or an object with a tag.
  enum class Kind : std::uint8_t { null, boolean, integer, real, text, list, table, unknown };
  Kind kind = Kind::null;
  bool truth = false;
  std::int64_t integer = 0;
  double real = 0;
  std::string text;
  std::vector<Data> items;  // of a list
  std::vector<std::pair<std::string, Data>>
      fields;  // of a table, in order; a later one of the same name wins
  // Under this name the table of a file of YAML holds what a comment `@package` in front of it says.
  static constexpr std::string_view package = "@package";

  bool operator==(const Data&) const = default;
};

}  // namespace stepzero::program
