// The units that FullyShardedDataParallel makes of a module: what is flattened together, and which parts a
// policy gives units of their own.
#pragma once

#include "libraries/table/native.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepzero::libraries {

// Of the parameters that one wrapper would flatten together: are some trained and others not, does any lie on
// the CPU, and is it known of all parts which unit they belong to?
struct Flattened {
  bool trained = false, frozen = false, on_cpu = false, is_one_unit = true;
  bool mixed_unit = false;                      // of a part that is a unit of its own by the policy: both
  bool is_unsure = false;                       // of some part it is not known whether it is a unit
  const values::Device* place = nullptr;        // of its first parameter, as far as known
  std::vector<std::string> units;               // their paths
  const std::vector<Value>* classes = nullptr;  // of the parts that the policy makes units
  std::string path;
  int depth = 0;

  bool is_mixed() const { return !is_unsure && (mixed_unit || (trained && frozen)); }
  void add(Runtime& run, Value value);
  // A part by its name: a unit of its own where the policy says so.
  void add_part(Runtime& run, std::string_view name, Value part);
};

// The classes whose parts a policy makes units of their own; nothing where the policy is not known to go by
// classes alone.
std::optional<std::vector<Value>> unit_classes(Runtime& run, Value policy, values::Place place);
Row wrap_policy_row();

}  // namespace stepzero::libraries
