// What the tensors of messages hold, where the program is run as one process that was told what the others send.
#pragma once

#include "torch/native.hpp"

namespace stepzero::torch {

// Of a tensor that is sent: what is kept of its elements is what it holds now.
void settle_content(Call& call, Value tensor);

// A tensor was received: it holds what was sent. Who receives what nobody sends does not go on.
void hear(Call& call);

// Something was received, and from whom is not followed.
void hear_anything(Interpreter& run);

} // namespace stepzero::torch
