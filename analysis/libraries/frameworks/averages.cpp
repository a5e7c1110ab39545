// torch_ema: a moving average of the parameters that it is given, kept beside them. Read in its source.
#include "libraries/frameworks/frameworks.hpp"

namespace stepzero::libraries {

// It holds the parameters weakly and changes them only in copy_to and restore, to numbers of their own
// shapes.
std::vector<Row> average_rows() {
  using enum RowKind;
#define EMA "torch_ema.ExponentialMovingAverage"
  return {
      row(EMA, class_, "parameters, decay, use_num_updates=True", nullptr),
      row(EMA ".update", method, "parameters=None", nothing),
      row(EMA ".copy_to", method, "parameters=None", nothing),
      row(EMA ".store", method, "parameters=None", nothing),
      row(EMA ".restore", method, "parameters=None", nothing),
      row(EMA ".average_parameters", method, "parameters=None", context),
      row(EMA ".to", method, "device=None, dtype=None", nothing),
      row(EMA ".state_dict", method, "", nullptr, {}, Operation::state_taken),
      row(EMA ".load_state_dict", method, "state_dict", nothing, {}, Operation::state_put),
  };
#undef EMA
}

}  // namespace stepzero::libraries
