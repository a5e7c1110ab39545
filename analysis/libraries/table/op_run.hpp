// How a call of an operator or of a layer's constructor is held against its signature.
#pragma once

#include "libraries/table/op.hpp"

namespace stepzero::libraries {

// False after fail() where the call does not fit the signature: Python raises a TypeError. Functions have
// overloads whose parameters have other names, and get new ones with each release of PyTorch: a name that
// looks like none of theirs says nothing, and makes the result unknown.
bool fits(Op& op);

}  // namespace stepzero::libraries
