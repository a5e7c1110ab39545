// How a value of the run looks to a person.
#pragma once

#include "interpreter/record.hpp"
#include "snapshot/snapshot.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace stepzero::snapshot {

// What can be shown of the value; `kind` is empty if nothing is known. `tensor` is its state where the value
// is a tensor.
DisplayValue show(const interpreter::Record& record, interpreter::Value value,
    const values::TensorState* tensor, int depth = 0);
DisplayValue show(const interpreter::Record& record, const values::TensorState& tensor);

// What one run had at a place.
struct Seen {
  DisplayValue value;
  std::string text;                      // of the value, with its device
  bool general = false;                  // true of every call: see interpreter::FactRun
  std::size_t root = 0;                  // the run
  const values::Class* owner = nullptr;  // and whose method it runs
};
// What is true of a place whatever run comes there: sizes that differ go by the name that the function itself
// has for them, or are left open. Nothing if nothing is common.
std::optional<DisplayValue> common_value(std::vector<Seen> seen);

}  // namespace stepzero::snapshot
