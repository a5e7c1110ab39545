// What a reader of training code looks for in a file: its models with their layers, the functions that
// communicate with what they send, and the jobs that run. Ordinary classes and functions are other servers'
// business. Knows no protocol.
#pragma once

#include "server/documents/analysis.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace stepzero::server {

struct Symbol {
  enum class Kind : std::uint8_t { job, model, layer, function, communication };
  Kind kind = Kind::model;
  std::string name;    // "Net", "fc1", "train", "all_reduce"
  std::string detail;  // "Linear", "2 collectives, all ranks"
  syntax::Span whole;
  syntax::Span place;  // its name, inside `whole`
  std::vector<Symbol> children;
};

// In the order of the text.
std::vector<Symbol> symbols(const Analysis& analysis);

// Whether the letters of `query` come in the name, in order, in any case.
bool matches(const std::string& name, const std::string& query);

}  // namespace stepzero::server
