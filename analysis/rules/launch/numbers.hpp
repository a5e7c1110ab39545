// What int() and float() of Python take.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace stepzero::rules::launch {

// True for digits of other scripts, too: they are not told apart here.
bool reads_as_int(std::string_view text);
bool reads_as_float(std::string_view text);
// As HfArgumentParser reads truth values: "yes", "f", "1"…
bool reads_as_truth(std::string_view text);
// The number, where it is a small one.
std::optional<std::int64_t> int_of(std::string_view text);

}  // namespace stepzero::rules::launch
