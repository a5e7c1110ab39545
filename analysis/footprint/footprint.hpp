// The memory of a training step, as a run leaves it: plain values, ready to be shown.
#pragma once

#include "syntax/text.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace stepzero::interpreter {
class Record;
}

namespace stepzero::footprint {

// Kernels differ in what they keep: a mask of bools or of numbers, a fused attention or its parts.
enum class Device : std::uint8_t { cuda, cpu };

// What a size of the program is taken to be, by its name: of the options, else what it usually is.
struct Setting {
  std::string name;
  std::int64_t value = 0;
};

struct Amount {
  std::int64_t bytes = 0;  // where sizes are open: with their usual values, or those that were set
  std::string formula;     // of the open sizes; empty: it is a number
  bool at_least = false;   // something is not known: it is more than this
};

struct Where {
  std::string path;
  syntax::Span span;
  std::uint32_t line = 0;  // 1-based; 0: nowhere
};

// A module with all that it holds.
struct Share {
  std::string path;  // "layers.0"; empty: the model
  std::string type;
  int depth = 0;
  std::int64_t numbers = 0;  // of its parameters
  std::int64_t frozen = 0;   // of these
  std::string dtype;         // of the parameters; "mixed"
  Amount parameters, buffers;
  Where where;  // where it is made
  // Parameters of its own that another module holds, too, and is counted for.
  std::int64_t tied = 0, tied_bytes = 0;
  std::string tied_with = {};  // "embed.weight"
};

struct Model {
  std::string name;           // "model"; empty: the program gives it none
  Where where;                // where it is made
  Where of_class;             // the name of its class
  std::vector<Share> shares;  // the model first
  Amount gradients;
  // Of a model that several processes divide or copy; how is empty otherwise.
  std::string how;
  int units = 0, buckets = 0;
  Amount gathered, persistent, in_buckets;
  bool trained = false;                 // a step goes through it
  std::vector<std::size_t> optimizers;  // of Footprint::optimizers, those that have parameters of it
};

struct Stepper {
  std::string type;  // "AdamW"
  Where where;
  Amount state, temporary;
  bool known = true;
};

// What one line keeps for the backward, or has alive at the peak.
struct Line {
  std::string what;  // "relu", "gradients", "AdamW"
  Where where;
  Amount amount;
  int count = 1;  // operations
};

struct Step {
  Where where;  // of the backward
  Where loop;   // the header of the innermost loop around it
  bool complete = true;
  Amount saved;             // what is kept until the backward
  std::vector<Line> lines;  // of it, the largest first
  Amount moved;             // by collectives of an iteration, what one rank has in them
  std::int64_t microbatches = 0, microbatches_in_flight = 0;  // of a pipeline's step; 0: it is none
  // Batches that workers hold ready, in the memory of the host; workers is 0 if there are none.
  std::int64_t workers = 0, prefetched = 0;  // by each
  bool pinned = false;
  Amount batch, in_flight;
  std::vector<std::string> unknown;  // operators of which nothing is known
  std::vector<Line> gaps;            // what else makes it a bound: what is not known, and where
  std::int64_t operations = 0;
  std::int64_t flops = 0;           // of the forward
  std::int64_t backward_flops = 0;  // with what checkpointed regions compute again
  bool flops_at_least = false, backward_flops_at_least = false;
  // The peak of a step that is not the first.
  Amount peak;
  std::string moment;  // "forward", "backward", "optimizer"
  Where peak_where;
  std::vector<Line> at_peak;  // what stands then, the largest first
  std::string advice;         // what checkpointing would spare; empty: nothing, or little
};

// A model, or a part of one, that code makes which is not seen: its parameters, and what it keeps for the
// backward, are not counted.
struct Unseen {
  std::string name;     // "model"
  std::string made_by;  // "timm.create_model"; empty: not known
  Where where;          // of that call
  Where optimizer;      // that was given its parameters
};

struct Footprint {
  std::vector<Model> models;
  std::vector<Unseen> unseen;
  std::vector<Stepper> optimizers;
  std::vector<Step> steps;
  std::vector<Line> caches;                      // to which each round of a loop appends
  std::vector<std::string> open;                 // names of sizes that nothing decides
  std::vector<std::string> decided_by_settings;  // … and of those that a setting decides
  std::string launch;                            // "run.sh:12": what starts it so; empty: its own defaults
  int world = 1;                                 // processes that share the work
  std::uint64_t followed = 0;                    // steps of the runs that it was read from
  // What the program asks of the machine and nothing here decides, and how it is taken to be: "no file
  // data/meta.pkl".
  std::vector<std::string> assumed;
};

struct Options {
  Device device = Device::cuda;
  int world = 1;  // processes; what is told is of one of them
  int rank = 0;   // … of this one
  std::vector<Setting> settings;
};

// `record`: the program as it runs by itself, where its parameters have their defaults. `displayed`: of the
// same text; its facts give the names.
Footprint footprint_of(
    const interpreter::Record& record, const interpreter::Record& displayed, const Options& options = {});

}  // namespace stepzero::footprint
