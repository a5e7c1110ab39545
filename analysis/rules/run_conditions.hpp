// What the user told of the machine, what the workspace says of its packages, and of which run a record is.
// Kept with the record: rules that do not ask never see it.
#pragma once

#include "interpreter/record.hpp"

#include <cstdint>
#include <functional>
#include <string_view>

namespace stepzero::rules {

struct RunConditions {
  std::int64_t gpu_memory = 0;  // bytes of the GPU that the program is to run on; 0: not told
  bool by_defaults = false;     // the run in which the command line gives nothing
  bool partial = false;         // not all roots have been run yet
  std::int64_t launched = 0;    // processes of the launch that is run; 0: none, or it does not say
  // Do the requirements around the program keep a package below a version? Empty: nobody looked.
  std::function<bool(std::string_view package, std::string_view version)> kept_below = {};

  static RunConditions of(const interpreter::Record& record) {
    const auto found = record.derived.find(std::type_index(typeid(RunConditions)));
    return found == record.derived.end() ? RunConditions{}
                                         : *static_cast<const RunConditions*>(found->second.get());
  }
  void keep(const interpreter::Record& record) const {
    record.derived[std::type_index(typeid(RunConditions))] = std::make_shared<const RunConditions>(*this);
  }
};

}  // namespace stepzero::rules
