// The memory of one step in time: what the forward makes and keeps, what the backward makes and lets go, and
// what stands all the while.
#pragma once

#include "footprint/footprint.hpp"
#include "footprint/saving.hpp"

#include <functional>

namespace stepzero::footprint {

// What is there before the step begins, and comes with it.
struct StandingMemory {
  std::vector<std::pair<std::string, Bytes>> kept;    // parameters, buffers, the optimizer's state
  std::vector<std::pair<std::string, Bytes>> during;  // in forward and backward only
  Bytes gradients;                                    // of all parameters that the backward reaches
  Bytes gradients_before;                        // those that are there in the forward, of another step …
  Bytes gradients_kept;                          // … and those that the backward adds to
  std::function<bool(const Held&)> accumulates;  // is it one of those?
  std::int64_t gradient_parts = 1;               // of each, where it is sent off while the backward goes on
  Bytes copy_gradients;                          // of what the optimizer steps in the place of parameters …
  bool copy_gradients_stay = false;              // … which are there in the next forward and backward, too
  Bytes temporary;                               // of the optimizer, while it steps
  // What operations keep through which this backward does not go: of later ones of the same iteration, and of
  // tensors with names.
  std::vector<std::pair<Saved, const Producer*>> beside;
  std::vector<std::pair<Saved, const Producer*>> named;  // tensors with names and a history
  bool graph_stays = false;                              // the backward keeps it for another one
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
// What the timeline asks of each node of the graph, besides the graph itself.
struct TimedNode {
  Saving saving;
  bool has_gradient = true;  // else nothing of it is kept, and no backward goes through it
  bool is_new = true;        // it runs in each step; else its results are there before
  bool is_named = false;     // its result has a name, by which it outlives the step
};
// `nodes`: of each node of the graph, which has the operations too that no gradient goes through.
Peak peak_of(const Graph& graph, const std::vector<TimedNode>& nodes, const StandingMemory& standing,
    const Options& options);

}  // namespace stepzero::footprint
