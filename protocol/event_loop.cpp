// The loop and its timers on Asio.
#include "protocol/event_loop.hpp"
#include "protocol/event_loop_impl.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

namespace stepzero::protocol {

struct Timer::State {
  State(boost::asio::io_context& context, std::chrono::milliseconds delay, Task work)
      : timer(context, delay), task(std::move(work)) {}
  boost::asio::steady_timer timer;
  Task task;  // empty once run or reset
};

Timer::Timer() = default;
Timer::Timer(Timer&&) noexcept = default;
Timer& Timer::operator=(Timer&& other) noexcept {
  if (this != &other) {
    reset();
    state_ = std::move(other.state_);
  }
  return *this;
}
Timer::~Timer() { reset(); }

void Timer::reset() {
  if (!state_) return;
  // The wait may have ended already and its handler be in the queue: without a task it does nothing.
  state_->task = Task();
  state_->timer.cancel();
  state_.reset();
}

EventLoop::EventLoop() : impl_(std::make_unique<Impl>()) {}
EventLoop::~EventLoop() = default;

void EventLoop::run() {
  impl_->context.restart();
  impl_->context.run();
}

void EventLoop::stop() { impl_->context.stop(); }

std::size_t EventLoop::poll() {
  impl_->context.restart();
  return impl_->context.poll();
}

void EventLoop::post(Task task) {
  boost::asio::post(impl_->context, [work = std::move(task)]() mutable { work(); });
}

Timer EventLoop::after(std::chrono::milliseconds delay, Task task) {
  Timer timer;
  timer.state_ = std::make_shared<Timer::State>(impl_->context, delay, std::move(task));
  timer.state_->timer.async_wait([state = timer.state_](const boost::system::error_code& error) {
    if (error || !state->task) return;
    Task due = std::move(state->task);
    state->task = Task();
    due();
  });
  return timer;
}

}  // namespace stepzero::protocol
