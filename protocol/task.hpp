// A piece of work to run once: a callable that may own what cannot be copied, such as a Reply.
#pragma once

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

namespace stepzero::protocol {

class Task {
public:
  Task() = default;
  template <class F>
    requires(!std::same_as<std::remove_cvref_t<F>, Task> && std::invocable<std::decay_t<F>&>)
  Task(F&& work)  // NOLINT: implicit, as std::function
      : work_(std::make_unique<Of<std::decay_t<F>>>(std::forward<F>(work))) {}

  explicit operator bool() const { return work_ != nullptr; }
  void operator()() { work_->run(); }

private:
  struct Work {
    virtual ~Work() = default;
    virtual void run() = 0;
  };
  template <class F> struct Of final : Work {
    template <class G> explicit Of(G&& given) : work(std::forward<G>(given)) {}
    void run() override { work(); }
    F work;
  };
  std::unique_ptr<Work> work_;
};

}  // namespace stepzero::protocol
