// The device of tensors whose call names none: the innermost `with torch.device(…)`, else the CPU unless the
// program chose another.
#pragma once

#include "libraries/table/shapes.hpp"

namespace stepzero::libraries {

// Null: not known.
const values::Device* device_around(Runtime& run);

// Where a tensor is made whose call names no device. Of a function that nobody calls here: on the CPU, when
// the default device is that.
const values::Device* default_device(Runtime& run);
// Where the parameters and buffers of a module lie whose class nobody constructs here: on a GPU, if it was
// moved there.
const values::Device* device_of_model(Runtime& run);

// What is not seen and shows the same elements: `images`, of `images.detach()` and `Variable(images)`. Null:
// there is nothing such behind it.
const values::Unknown* unseen_behind(Runtime& run, Value tensor);

// The device that holds shapes and dtypes alone. What lies there has no numbers to copy.
bool is_meta(const values::Device& device);

}  // namespace stepzero::libraries
