#include "snapshot/default_run.hpp"

namespace stepzero::snapshot {

void DefaultRun::make() {
  State open = State::open;
  if (!state_.compare_exchange_strong(open, State::taken)) return;
  struct Tell {  // also where it throws: somebody waits
    std::atomic<State>& state;
    ~Tell() {
      state = State::made;
      state.notify_all();
    }
  } const tell{state_};
  make_(of_.by_defaults);
}

std::function<void()> DefaultRun::work() {
  return [this] { make(); };
}

const Run* DefaultRun::get() {
  make();
  state_.wait(State::taken);
  return of_.by_defaults.get();
}

}  // namespace stepzero::snapshot
