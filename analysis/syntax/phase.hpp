// What an analysis is busy with, told to whoever has a clock: nothing here has one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stepzero::syntax {

enum class Phase : std::uint8_t {
  other,
  statements,  // of the file, as a program
  imports,     // modules that a run asks for, in any of the runs
  roots,       // functions and classes that the program did not reach
  defaults,    // the file with the defaults of its command line
  ranks,       // the file as each process of a small job
  launches,    // the file as scripts launch it
  rules,
  facts,  // what hints, hovers and schedules show
  count,
};
constexpr std::array<std::string_view, static_cast<std::size_t>(Phase::count)> phase_names = {
    "other", "statements", "imports", "roots", "defaults", "ranks", "launches", "rules", "facts"};

// Belongs to one analysis, whose runs are then made one after the other.
class PhaseClock {
public:
  virtual ~PhaseClock() = default;
  virtual Phase enter(Phase phase) = 0;  // returns the one that is left
};

// A phase within another, until the end of the scope. `clock` may be null.
class InPhase {
public:
  InPhase(PhaseClock* clock, Phase phase) : clock_(clock) {
    if (clock_) around_ = clock_->enter(phase);
  }
  ~InPhase() {
    if (clock_) clock_->enter(around_);
  }
  InPhase(const InPhase&) = delete;
  InPhase& operator=(const InPhase&) = delete;

private:
  PhaseClock* clock_;
  Phase around_ = Phase::other;
};

}  // namespace stepzero::syntax
