// What follows an assigned name. Knows facts and settings; knows no protocol.
#pragma once

#include "server/configuration/settings.hpp"
#include "snapshot/snapshot.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace stepzero::server {

struct Hint {
  std::uint32_t at = 0;  // the byte after the name
  std::string label;     // ": float32[B, T]", shortened
  std::string whole;     // the text that was too long for the label; empty if it was not
  bool more = false;     // there is more to say of it than the label does
};

// The hints whose place lies in `range`, in order.
std::vector<Hint> inlay_hints(
    const std::vector<snapshot::Fact>& facts, syntax::Span range, InlayHints wanted);

}  // namespace stepzero::server
