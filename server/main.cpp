#include "server/command_line/program.hpp"

// Read by jemalloc. A run fills fresh memory fast: taken in large pages, a twentieth to a tenth of its time
// goes. The few threads share what each of them gives back: no run touches fresh memory where another has
// just left some.
extern "C" {
extern const char* const malloc_conf;
const char* const malloc_conf = "thp:always,narenas:1";
}

int main(int argc, char** argv) { return stepzero::server::run_program(argc, argv); }
