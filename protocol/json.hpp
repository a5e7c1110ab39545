// The JSON value, by name only: a header that passes it by reference need not pay for its definition.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace stepzero::protocol {

using Json = nlohmann::json;

}  // namespace stepzero::protocol
