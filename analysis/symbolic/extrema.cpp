// min and max of expressions: flat, without what another operand makes superfluous.
#include "symbolic/state.hpp"

namespace stepzero::symbolic {

Int Context::State::extremum(Kind kind, std::span<const Int> operands, Use use) {
  std::vector<Int> flat;
  for (Int operand : operands) {
    if (operand->kind == kind)
      flat.insert(flat.end(), operand->operands.begin(), operand->operands.end());
    else
      flat.push_back(operand);
  }
  std::sort(flat.begin(), flat.end(), [](Int x, Int y) { return x->index < y->index; });
  flat.erase(std::unique(flat.begin(), flat.end()), flat.end());
  if (flat.size() > most_terms) return nullptr;

  // Does `a` make `b` superfluous?
  const auto covers = [&](Int a, Int b) {
    if (a->constant() && b->constant())
      return kind == Kind::min ? a->value() <= b->value() : a->value() >= b->value();
    Int difference = kind == Kind::min ? sub(a, b) : sub(b, a);
    return difference && at_most_zero(difference, use);
  };
  for (std::size_t i = 0; i < flat.size();) {
    bool superfluous = false;
    for (std::size_t j = 0; j < flat.size() && !superfluous; ++j)
      superfluous = j != i && covers(flat[j], flat[i]);
    if (superfluous)
      flat.erase(flat.begin() + static_cast<std::ptrdiff_t>(i));
    else
      ++i;
  }
  return flat.size() == 1 ? flat[0] : operation(kind, flat);
}

}  // namespace stepzero::symbolic
