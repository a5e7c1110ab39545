// What is assumed only to ask a question under it: it is forgotten where the Supposition ends. Knows facts
// alone; for a piece of the run see interpreter/paths/speculation.hpp.
#pragma once

#include "symbolic/expression.hpp"

namespace stepzero::symbolic {

class Supposition {
public:
  explicit Supposition(Context& symbols) : symbols_(symbols), mark_(symbols.mark()) {}
  Supposition(Context& symbols, Cond assumed) : Supposition(symbols) { possible_ = symbols_.assume(assumed); }
  ~Supposition() { symbols_.rewind(mark_); }
  Supposition(const Supposition&) = delete;
  Supposition& operator=(const Supposition&) = delete;

  // False where it contradicts what is known, or what was assumed before.
  bool assume(Cond condition) { return possible_ = symbols_.assume(condition) && possible_; }
  bool possible() const { return possible_; }
  void retract() {
    symbols_.rewind(mark_);
    possible_ = true;
  }

private:
  Context& symbols_;
  std::size_t mark_;
  bool possible_ = true;
};

}  // namespace stepzero::symbolic
