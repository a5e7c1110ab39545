// Modules that stand in others: DDP, FSDP, and what frameworks prepare.
#pragma once

#include "libraries/table/native.hpp"
#include "values/kept.hpp"

namespace stepzero::libraries {

// The forward of a module that stands in another, as its attribute `module`: that of the one inside, and what
// its backward communicates.
Value wrapped_forward(Call& call);

// Makes `module`, the first argument, the wrapped one. The group, and what is set against the usual, stay
// with it.
Value wrapped_init(Call& call);
// The context in which the module's backward leaves its part out.
Value no_sync(Call& call);
// Kept on a wrapper: goes along with what was computed where it is not known whether its part of the backward
// is held back.
constexpr values::KeptKey held_back = values::WrapperState::held_back;
// By the name of a parameter; absent if the row has none of it.
Value argument_named(const Call& call, std::string_view name);
// The results as the wrapper's mixed precision leaves them: of its output_dtype, or as its layers compute.
Value in_precision(Call& call, const Instance& wrapper, Value results);
// The backward of the results enters what that of the wrapper does.
void carries_backward(Call& call, Value results, const Instance& wrapper);

}  // namespace stepzero::libraries
