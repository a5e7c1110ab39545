// What stands over a function that communicates, and over a model. Knows no protocol.
#pragma once

#include "server/documents/analysis.hpp"

#include <string>
#include <vector>

namespace stepzero::server {

struct Lens {
  syntax::Span span;  // the name of the function or the class, or where the model is made
  std::string title;  // "3 collectives, all ranks", "124 M parameters · 475 MiB float32 · AdamW 949 MiB"
  bool of_schedule = true;  // a click shows the schedule
};

// In the order of the text; none for an analysis without a schedule and a footprint.
std::vector<Lens> code_lenses(const Analysis& analysis);

}  // namespace stepzero::server
