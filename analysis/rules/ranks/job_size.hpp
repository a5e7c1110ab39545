// For which jobs a program is made: the sizes and the ranks that it names by their numbers.
#pragma once

#include "rules/ranks/comparison.hpp"

namespace stepzero::rules {

// The size of the job that every run of the root asks for by its number; 0: none.
int size_of_job(const Record& record, const interpreter::Root& root);

// Is the peer of the message there computed from how many ranks there are? Else the program may be made for
// two.
bool counts_ranks(const Record& record, Place place);

// The highest of the ranks that the program asks for by their numbers; -1: none.
int highest_named_rank(const Record& record);

// Roots and peers that a job of so many ranks has not: the call fails, whoever makes it.
std::vector<Mismatch> ranks_beyond(const Record& record, const interpreter::Root& root, int size);

}  // namespace stepzero::rules
