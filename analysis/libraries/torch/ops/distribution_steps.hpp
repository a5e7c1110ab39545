// What torch.distributions (PyTorch 2.13) computes, operator by operator: where memory is counted, what each
// of them keeps matters. Each answer is absent where it is not known.
#pragma once

#include "libraries/table/native.hpp"

namespace stepzero::libraries {

bool counts_memory(const Call& call);
// Of the classes, from scores or probabilities; `over_last`: each row is one distribution.
void keep_probabilities(Call& call, Value probs, Value logits, bool over_last);
// The distribution's parameters, if they have its shape.
void keep_parameters(Call& call, const Shape& shape);
Value counted_log_probability(Call& call);
Value counted_entropy(Call& call);
// loc + noise * scale
Value counted_sample(Call& call, Value noise);

}  // namespace stepzero::libraries
