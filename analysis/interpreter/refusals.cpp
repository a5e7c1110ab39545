#include "interpreter/refusals.hpp"

#include "interpreter/events.hpp"

namespace stepzero::interpreter {

void explain(ProblemEvent& problem, Refusal refusal) {
  problem.refusal = std::make_shared<const RefusalBox>(std::move(refusal));
}

}  // namespace stepzero::interpreter
