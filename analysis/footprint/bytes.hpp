// Amounts of memory as sums: a number, terms with sizes that the program leaves open, and whether something
// is missing from it.
#pragma once

#include "footprint/footprint.hpp"
#include "interpreter/record.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stepzero::footprint {

using interpreter::Record;
using symbolic::Int;
using values::Dtype;
using values::Shape;
using values::TensorState;
using values::Value;

class Bytes {
public:
  // `size` null: not known, and the sum is a lower bound.
  void add(symbolic::Context& s, Int size, std::int64_t times = 1);
  void add(symbolic::Context& s, const Bytes& other, std::int64_t times = 1);
  void add(std::int64_t bytes) { whole_ += bytes; }
  void miss() { at_least_ = true; }

  bool at_least() const { return at_least_; }
  bool open() const { return !terms_.empty(); }
  // The number where the open sizes have the settings' values, or those that they usually have; of sizes
  // without one 1 is taken.
  std::int64_t number(symbolic::Context& s, const std::vector<Setting>& settings) const;
  // The terms that no setting decides, in the program's own names: "50257*4*B*T"; empty: it is a number.
  std::string text(symbolic::Context& s, const std::vector<Setting>& settings) const;
  // The names of the sizes in them.
  std::vector<std::string> open_names(symbolic::Context& s, const std::vector<Setting>& settings) const;

private:
  std::int64_t whole_ = 0;
  std::vector<Int> terms_;  // each a polynomial; several only where one would grow too large
  bool at_least_ = false;
};

// With the settings' values put in.
Int substituted(symbolic::Context& s, Int size, const std::vector<Setting>& settings);

// The elements of a tensor of this shape; null: not known.
Int elements(symbolic::Context& s, const Shape& shape);
// … and their bytes.
Int bytes_of(symbolic::Context& s, const Shape& shape, Dtype dtype);
inline Int bytes_of(symbolic::Context& s, const TensorState& state) {
  return bytes_of(s, state.shape, state.dtype);
}

}  // namespace stepzero::footprint
