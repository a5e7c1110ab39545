// Tells when the editor's process is gone, be it a zombie that nobody waits for. Belongs to the loop's
// thread.
#pragma once

#include "protocol/event_loop.hpp"

#include <functional>

namespace stepzero::server {

class ParentWatch {
public:
  // Looks once a second, the first time a moment later; `gone` runs once.
  ParentWatch(protocol::EventLoop& loop, int process, std::function<void(bool was_there)> gone);
  ~ParentWatch();
  ParentWatch(const ParentWatch&) = delete;
  ParentWatch& operator=(const ParentWatch&) = delete;

private:
  bool alive() const;
  void look();

  protocol::EventLoop& loop_;
  int process_;
  int descriptor_;  // of the process; -1 where the system has none
  std::function<void(bool was_there)> gone_;
  bool was_there_;
  protocol::Timer timer_;
};

}  // namespace stepzero::server
