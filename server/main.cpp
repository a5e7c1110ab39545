#include "server/command_line/program.hpp"

// Read by jemalloc. A run fills fresh memory fast: taken in large pages, a twentieth to a tenth of its time goes.
extern "C" {
extern const char* const malloc_conf;
const char* const malloc_conf = "thp:always";
}

int main(int argc, char** argv) { return stepzero::server::run_program(argc, argv); }
