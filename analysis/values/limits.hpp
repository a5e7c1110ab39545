// How far values are followed into each other, and how much of a text a message quotes. What is deeper stays
// unknown: programs nest less, and a value that holds itself, or a walk that branches at each level, has to
// end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stepzero::values {

inline constexpr int most_choices = 6;  // choices within a choice: each has two sides, so 64 values at most
inline constexpr int deepest_data = 4;  // lists, tuples and dicts within each other: samples, batches, states
inline constexpr int deepest_fields = 32;  // fields of a configuration: files nest, and hold no cycle
inline constexpr int deepest_module = 32;  // modules within modules, where what was seen is remembered
inline constexpr int deepest_search =
    6;  // parts of parts where it is not: a cycle costs its width to this power
inline constexpr int deepest_source = 16;   // operations back from a tensor, each with several operands
inline constexpr int longest_chain = 4096;  // operations back along one operand each: a long loop, unrolled
inline constexpr std::size_t most_parts = 4096;  // objects that one leads to: large models have fewer

inline constexpr std::size_t most_operations = 256;      // before a tensor, all its operands together
inline constexpr std::size_t most_compared_events = 64;  // of one kind, each with each
inline constexpr std::int64_t most_stacked = 512;        // layers of a stack that a number gives

inline constexpr std::size_t longest_quote = 60;  // of a message's line, so that the rest of it can be read

// Can a message quote it: a name, an expression of one line?
inline bool is_quotable(std::string_view text) {
  return !text.empty() && text.size() <= longest_quote && text.find('\n') == std::string_view::npos;
}

}  // namespace stepzero::values
