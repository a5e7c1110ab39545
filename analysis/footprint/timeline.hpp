// The memory of one step in time: what the forward makes and keeps, what the backward makes and lets go, and what stands all the while.
#pragma once

#include "footprint/footprint.hpp"
#include "footprint/saving.hpp"

namespace stepzero::footprint {

// What is there before the step begins, and comes with it.
struct Standing {
  std::vector<std::pair<std::string, Bytes>> kept;  // parameters, buffers, the optimizer's state
  std::vector<std::pair<std::string, Bytes>> during;  // in forward and backward only
  Bytes gradients;                                  // of all parameters that are trained
  Bytes temporary;                                  // of the optimizer, while it steps
  void add(symbolic::Context& s, const std::string& what, const Bytes& bytes);
};

struct Peak {
  struct Part {
    std::string what;
    values::Place place;
    Bytes bytes;
    int count = 1;
  };
  Bytes bytes;
  std::string moment;
  values::Place place;
  std::vector<Part> parts;
};
// `savings`: of each node of the graph. `named`: nodes whose results outlive the step.
Peak peak_of(const Graph& graph, const std::vector<Saving>& savings, const Standing& standing, const Options& options, const std::vector<std::size_t>& named);

} // namespace stepzero::footprint
