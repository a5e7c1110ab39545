// Losses of the library, as rows say it of functions and of classes. Knows no rule.
#pragma once

#include "rules/provenance.hpp"

namespace stepzero::rules {

// The loss that computed a tensor, by a function or by the forward of a module; null if none did.
const values::LossInfo* loss_of(const Producer& made);

// What a loss makes of its numbers, one for each sample, as its argument `reduction` says.
enum class LossReduction : std::uint8_t { mean, sum, none, unknown };
LossReduction reduction_of(Value given);  // absent: the default

// An option of a loss, of the call or of the module; absent if it is not given.
Value loss_option(const OperationEvent& loss, std::string_view name);

}  // namespace stepzero::rules
