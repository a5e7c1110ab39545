// Messages whose contents are known to their senders: the runs of the ranks that receive them are made again
// with these.
#pragma once

#include "rules/ranks/runs.hpp"

namespace stepzero::rules {

// Of a root that the program itself runs. Every iteration follows from what is certain of the one before:
// what a rank has sent before anything that is not known of it, and that it sends no more where nothing is
// left open.
void exchange_contents(Runs& runs, int world, const interpreter::Root& root);

}  // namespace stepzero::rules
