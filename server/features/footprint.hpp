// The memory of a training step as a person reads it. Knows no protocol and no terminal.
#pragma once

#include "footprint/footprint.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace stepzero::server {

// How a path is written in front of a line; the program's own file is left out.
using DisplayPath = std::function<std::string(const std::string& path)>;

// "at least 474.7 MiB", "4*B*T*50257 B"
std::string amount_text(const footprint::Amount& amount);

// Is it more than nothing?
bool is_some(const footprint::Amount& amount);

// "4 workers × 2 batches of 3.00 MiB, pinned"
std::string in_flight_text(const footprint::Step& step);

// "the parameters of `model` …: `timm.create_model` (line 3) makes it, whose code is not seen"; `place`: of
// that call.
std::string unseen_text(const footprint::Unseen& unseen, const std::string& place);

// "124 M parameters · 475 MiB float32 · AdamW 949 MiB"; empty: it has no parameters.
std::string model_line(const footprint::Footprint& footprint, const footprint::Model& model);

// What there is to say of the place in the file: a model or a layer that is made there, an optimizer, a
// backward, the loop around it.
struct FootprintNote {
  syntax::Span span;
  std::vector<std::string> lines;  // the first is what it is about
};
std::vector<FootprintNote> notes_at(
    const footprint::Footprint& footprint, const std::string& path, std::uint32_t offset);

// ", as launched by run.sh:12, one of 8 processes"; empty: its own defaults.
std::string launch_text(const footprint::Footprint& footprint);

std::string footprint_text(
    const footprint::Footprint& footprint, const std::string& path, const DisplayPath& name);

}  // namespace stepzero::server
