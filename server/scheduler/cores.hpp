// On which core a thread begins. Linux often leaves one that was just woken on the core of the thread that
// woke it, and both share that one for milliseconds while another is idle: longer than most of what is done
// here takes.
#pragma once

#include <thread>

namespace stepzero::server {

// Called by who is about to give the thread something to do, while it waits for it: it will begin on another
// core, if it may use one.
void keep_off_this_core(std::thread::native_handle_type thread);
// Called by the thread once it has begun: from then on it may go wherever the process may.
void run_on_any_core();

}  // namespace stepzero::server
