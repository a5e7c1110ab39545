// A model as a picture needs it: the layers that its class makes, and how values go through its forward, each
// with the shape that the run knows. Of code that branches all branches are followed, of a loop one round.
// Knows no protocol and no picture.
#pragma once

#include "server/documents/analysis.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stepzero::server {

struct ModelLayer {
  std::string name;        // "fc1"; empty: a part of the layer around it
  std::string type;        // "Linear"
  std::string arguments;   // as they are written, known numbers in their place: "64, 256"
  std::string repeated;    // "range(layers)": one for each of these
  std::uint32_t line = 0;  // 1-based
  std::vector<ModelLayer> parts;
  std::optional<std::int64_t> parameters;  // numbers in it; see parameter_counts.hpp
};

struct FlowNode {
  enum class Kind : std::uint8_t { input, parameter, layer, operation, output };
  Kind kind = Kind::operation;
  std::string label;  // "fc1", "relu", "+"
  std::string text;   // the expression
  std::string shape;  // of its result: "float32[8, 64]"; empty: not known
  std::string loop;   // the head of the loop around it
  std::uint32_t line = 0;
  std::vector<std::size_t> from;  // the nodes whose results go in, each once
};

struct ModelOutline {
  std::string name;
  std::uint32_t line = 0;
  std::vector<ModelLayer> layers;
  std::vector<FlowNode> flow;  // in the order of the run
  std::optional<std::int64_t> parameters;
};

// Those of the analysis's file, in the order of the text.
std::vector<ModelOutline> model_outlines(const Analysis& analysis);

}  // namespace stepzero::server
