#include "server/command_line/program.hpp"

int main(int argc, char** argv) { return stepzero::server::run_program(argc, argv); }
