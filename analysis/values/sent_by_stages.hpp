// What the stages of a pipeline send, from the run of one process to that of another: in the conditions of a
// record, by name. Only runs that count memory have it.
#pragma once

#include <cstdint>
#include <string>

namespace stepzero::values {

struct SentByStages {
  // … and the tensors: the number of the type, whether it has a gradient, the sizes, each tensor behind a
  // `;`.
  static std::string sent(std::int64_t stage) { return "stage " + std::to_string(stage) + " sends "; }
  static constexpr char of_any[] = "stage ";
  // A stage is run here that is given what this one sends.
  static constexpr char asked[] = "asked of stage ";
};

}  // namespace stepzero::values
