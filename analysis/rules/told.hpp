// What the user told of the machine, and of which run a record is. Kept with the record: rules that do not ask never see it.
#pragma once

#include "interpreter/record.hpp"

#include <cstdint>

namespace stepzero::rules {

struct Told {
  std::int64_t gpu_memory = 0;  // bytes of the GPU that the program is to run on; 0: not told
  bool by_defaults = false;     // the run in which the command line gives nothing
  bool partial = false;         // not all roots have been run yet
  std::int64_t launched = 0;    // processes of the launch that is run; 0: none, or it does not say

  static Told of(const interpreter::Record& record) {
    const auto found = record.derived.find(std::type_index(typeid(Told)));
    return found == record.derived.end() ? Told{} : *static_cast<const Told*>(found->second.get());
  }
  void keep(const interpreter::Record& record) const { record.derived[std::type_index(typeid(Told))] = std::make_shared<const Told>(*this); }
};

} // namespace stepzero::rules
