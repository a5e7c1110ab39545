// The program's arguments and what they start.
#pragma once

namespace stepzero::server {

// The exit status.
int run_program(int argc, char** argv);

}  // namespace stepzero::server
