// The loop's inside, for the files that do speak Asio.
#pragma once

#include "protocol/event_loop.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

namespace stepzero::protocol {

struct EventLoop::Impl {
  boost::asio::io_context context{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{context.get_executor()};
};

} // namespace stepzero::protocol
