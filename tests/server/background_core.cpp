#include "server/scheduler/background_core.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <latch>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace stepzero;
using namespace stepzero::server;

TEST_CASE(
    "work elsewhere is done when it was waited for, by another thread, and the next can begin at once") {
  const syntax::BackgroundRunner background = another_core();
  if (!background) return;  // there is one core only
  for (int round = 0; round < 200; ++round) {
    std::thread::id by;
    background([&] { by = std::this_thread::get_id(); })->wait();
    CHECK(by != std::thread::id());
    CHECK(by != std::this_thread::get_id());
  }
}

TEST_CASE("what the work throws comes out where it is waited for") {
  const syntax::BackgroundRunner background = another_core();
  if (!background) return;
  const auto working = background([] { throw std::runtime_error("no tensor"); });
  CHECK_THROWS_WITH(working->wait(), "no tensor");
  bool done = false;
  background([&] { done = true; })->wait();
  CHECK(done);
}

TEST_CASE("work has ended when it is gone") {
  const syntax::BackgroundRunner background = another_core();
  if (!background) return;
  std::latch begun(1);
  std::atomic<bool> done = false;
  {
    const auto working = background([&] {
      begun.count_down();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      done = true;
    });
    begun.wait();
  }
  CHECK(done);
}

TEST_CASE("where all cores have something to do, who waits for it does the work") {
  const syntax::BackgroundRunner background = another_core();
  if (!background) return;
  const unsigned others = std::thread::hardware_concurrency() - 1;
  std::latch let_go(1), begun(static_cast<std::ptrdiff_t>(others));
  std::vector<std::unique_ptr<syntax::BackgroundTask>> busy;
  busy.reserve(others);
  for (unsigned i = 0; i < others; ++i)
    busy.push_back(background([&] {
      begun.count_down();
      let_go.wait();
    }));
  begun.wait();
  std::thread::id by;
  const auto one_more = background([&] { by = std::this_thread::get_id(); });
  CHECK(by == std::thread::id());
  one_more->wait();
  CHECK(by == std::this_thread::get_id());
  bool never = false;
  background([&] { never = true; }).reset();
  CHECK_FALSE(never);
  let_go.count_down();
  for (const auto& each : busy) each->wait();
}
