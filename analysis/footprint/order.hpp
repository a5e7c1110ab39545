// What comes first in an iteration of the training loop, by the places in the text: of the calls that led
// there, from the loop inwards.
#pragma once

#include "footprint/modules.hpp"

namespace stepzero::footprint {

// The places that led somewhere, from the outermost call inwards; the last one is its own.
using Route = std::vector<values::Place>;
Route route_of(const interpreter::CallSite* calls, values::Place place);

// The part of the route that lies inside the loop's statement; empty: it is outside, or there is no such
// statement.
Route part_inside(const interpreter::LoopEvent* loop, const Route& route);

// Does `a` stand before `b`? Of two ways that part in different texts neither does.
bool before(const Route& a, const Route& b);

// Where the statement of the loop's body begins that the route, which is inside the loop, goes through; of a
// `with`, an `if` or a `try` the one in it, of an inner loop the whole. What runs sooner has less.
std::uint32_t statement_of(const interpreter::LoopEvent& loop, const Route& route);

// Through the same lines? Of iterations that are run one by one each has calls of its own.
bool same_way(const interpreter::CallSite* a, const interpreter::CallSite* b);

}  // namespace stepzero::footprint
