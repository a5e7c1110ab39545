// Does a program ask for runs that give the same numbers each time? By its words: it switches deterministic
// algorithms on, which no value of the run shows.
#pragma once

#include "rules/checkpoint/files.hpp"

namespace stepzero::rules {

// Where a run that goes on from a checkpoint begins its random numbers anew, though the program asks for the
// same ones each time: it switches deterministic algorithms on, seeds once, draws, and keeps the state of no
// generator. No place: it does not, or nothing says so.
values::Place asks_for_same_numbers(const Record& record, const CheckpointRoot& checkpoint_root);

}  // namespace stepzero::rules
