// What stands over a function that communicates. Knows no protocol.
#pragma once

#include "server/documents/analysis.hpp"

#include <string>
#include <vector>

namespace stepzero::server {

struct Lens {
  syntax::Span span;  // the function's name
  std::string title;  // "3 collectives, all ranks"
};

// In the order of the text; none for an analysis without a schedule.
std::vector<Lens> code_lenses(const Analysis& analysis);

} // namespace stepzero::server
