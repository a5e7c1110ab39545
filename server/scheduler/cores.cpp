#include "server/scheduler/cores.hpp"

#ifdef __linux__
#include <pthread.h>
#include <sched.h>
#endif

namespace stepzero::server {

#ifdef __linux__
namespace {

// What the process was allowed when it began; empty where that cannot be told, as on machines of more cores
// than a set holds.
struct Allowed {
  Allowed() {
    CPU_ZERO(&cores);
    if (sched_getaffinity(0, sizeof cores, &cores) != 0) CPU_ZERO(&cores);
  }
  cpu_set_t cores;
};
const cpu_set_t& allowed() {
  static const Allowed known;
  return known.cores;
}

}  // namespace

void keep_off_this_core(std::thread::native_handle_type thread) {
  cpu_set_t others = allowed();
  const int here = sched_getcpu();
  if (here < 0 || here >= CPU_SETSIZE) return;
  CPU_CLR(static_cast<std::size_t>(here), &others);
  if (CPU_COUNT(&others) > 0) pthread_setaffinity_np(thread, sizeof others, &others);
}

void run_on_any_core() {
  if (CPU_COUNT(&allowed()) > 0) pthread_setaffinity_np(pthread_self(), sizeof(cpu_set_t), &allowed());
}
#else
void keep_off_this_core(std::thread::native_handle_type) {}
void run_on_any_core() {}
#endif

}  // namespace stepzero::server
