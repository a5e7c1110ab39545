// The products of matrices that an einsum is made of.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepzero::footprint {

// One of them: the letters of both operands, and of what comes out.
struct Contraction {
  std::string left, right, result;
};
// "bi,oij,bj->bo": from left to right, as PyTorch goes where opt_einsum is not installed; the left operand of
// all but the first is what the one before gave. Nothing where an operand has a letter twice, or alone and
// summed.
std::optional<std::vector<Contraction>> contractions_of(std::string_view equation);

}  // namespace stepzero::footprint
