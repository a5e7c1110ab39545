// The loop's inside, for the files that do speak Asio: included before any header of it.
#pragma once

#include "protocol/event_loop.hpp"

// ThreadSanitizer knows no fences, and gcc says so; the loop's mutex orders the same without them.
#if defined(__SANITIZE_THREAD__)
#define BOOST_ASIO_DISABLE_FENCED_BLOCK
#endif
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

namespace stepzero::protocol {

struct EventLoop::Impl {
  boost::asio::io_context context{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{context.get_executor()};
};

}  // namespace stepzero::protocol
