#include "server/version.hpp"

namespace stepzero::server {

std::string_view version() { return STEPZERO_VERSION; }

}  // namespace stepzero::server
