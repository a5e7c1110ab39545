// States of modules: what state_dict() gives, and what load_state_dict() takes.
#pragma once

#include "libraries/table/native.hpp"

namespace stepzero::libraries {

// Noted where a buffer is made that is not saved, whatever module it is given to.
inline constexpr std::string_view transient_buffer = "buffer that is not saved";

// Module.state_dict(): a dict from names to tensors, as they are at that moment; open where not all is known.
Value state_dict(Call& call);
// Module.load_state_dict(): holds the names and sizes of what it is given against those of the module. What
// the module had is left in the argument `own` of the call, for rules that know where an unknown state comes
// from; `nothing` says that no name is in both.
Value load_state(Call& call);
// Methods that have the module saved or loaded in a way of its own.
Value takes_part_in_state(Call& call);

}  // namespace stepzero::libraries
