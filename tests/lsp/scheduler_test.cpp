#include "manual_loop.hpp"

#include "server/scheduler/scheduler.hpp"

#include <catch2/catch.hpp>

#include <latch>
#include <string>
#include <vector>

using namespace stepzero::server;
using namespace std::chrono_literals;

namespace {

struct Bench {
  ManualLoop loop;
  ManualClock clock;
  Pool pool{2};
  std::vector<std::string> log;  // of the scheduler's thread
  Scheduler scheduler{pool, hooks()};

  Scheduler::Hooks hooks() {
    Scheduler::Hooks made;
    made.post = [this](std::function<void()> task) { loop.post(std::move(task)); };
    made.now = [this] { return clock.now(); };
    made.failed = [this](const std::string& key, const std::string& what) {
      log.push_back(key + " failed: " + what);
    };
    return made;
  }

  // A work that ends at once.
  Scheduler::Work quick(std::string name) {
    return [this, name](const std::atomic<bool>&) { return [this, name] { log.push_back(name); }; };
  }
  // A work that says that it started and ends when it is let go; it reports whether it was cancelled.
  Scheduler::Work held(std::string name, std::latch& started, std::latch& let_go) {
    return [this, name, &started, &let_go](const std::atomic<bool>& cancelled) {
      started.count_down();
      let_go.wait();
      return
          [this, name, stopped = cancelled.load()] { log.push_back(name + (stopped ? " cancelled" : "")); };
    };
  }
  void settle() {
    bool idle = false;
    scheduler.when_idle([&idle] { idle = true; });
    loop.run_until([&idle] { return idle; });
  }
};

}  // namespace

TEST_CASE("the latest request of a key replaces the one that waits") {
  Bench bench;
  std::latch started(1), let_go(1);
  bench.scheduler.request("a", Urgency::typing, bench.held("first", started, let_go));
  started.wait();
  bench.scheduler.request("a", Urgency::typing, bench.quick("second"));
  bench.scheduler.request("a", Urgency::typing, bench.quick("third"));
  CHECK(bench.scheduler.busy("a"));
  let_go.count_down();
  bench.settle();
  CHECK(bench.log == std::vector<std::string>{"first", "third"});
  CHECK_FALSE(bench.scheduler.busy("a"));
}

TEST_CASE("an edit cancels the running work only if something was published a moment ago") {
  const auto [age, expected] = GENERATE(table<std::chrono::milliseconds, std::string>(
      {{0ms, "first cancelled"}, {250ms, "first cancelled"}, {251ms, "first"}}));
  Bench bench;
  bench.scheduler.published("a");
  bench.clock.advance(age);
  std::latch started(1), let_go(1);
  bench.scheduler.request("a", Urgency::typing, bench.held("first", started, let_go));
  started.wait();
  bench.scheduler.request("a", Urgency::typing, bench.quick("second"));
  let_go.count_down();
  bench.settle();
  CHECK(bench.log == std::vector<std::string>{expected, "second"});
}

TEST_CASE("an edit cancels the running work that has published something itself, however long ago") {
  Bench bench;
  std::latch started(1), let_go(1);
  bench.scheduler.request("a", Urgency::typing, bench.held("first", started, let_go));
  started.wait();
  bench.scheduler.published("a");
  bench.clock.advance(10s);
  bench.scheduler.request("a", Urgency::typing, bench.quick("second"));
  let_go.count_down();
  bench.settle();
  CHECK(bench.log == std::vector<std::string>{"first cancelled", "second"});
}

TEST_CASE("without a publication nothing is cancelled, nor by another document's") {
  Bench bench;
  bench.scheduler.published("b");
  std::latch started(1), let_go(1);
  bench.scheduler.request("a", Urgency::typing, bench.held("first", started, let_go));
  started.wait();
  bench.scheduler.request("a", Urgency::typing, bench.quick("second"));
  let_go.count_down();
  bench.settle();
  CHECK(bench.log == std::vector<std::string>{"first", "second"});
}

TEST_CASE("a slow key does not delay another") {
  Bench bench;
  std::latch started(1), let_go(1);
  bench.scheduler.request("slow", Urgency::typing, bench.held("slow", started, let_go));
  started.wait();
  bench.scheduler.request("quick", Urgency::typing, bench.quick("quick"));
  bench.loop.run_until([&] { return !bench.scheduler.busy("quick"); });
  CHECK(bench.log == std::vector<std::string>{"quick"});
  let_go.count_down();
  bench.settle();
}

TEST_CASE("background work leaves a thread to what is typed") {
  Bench bench;
  std::latch started(1), let_go(1);
  bench.scheduler.request("file1", Urgency::background, bench.held("file1", started, let_go));
  started.wait();
  bench.scheduler.request("file2", Urgency::background, bench.quick("file2"));
  bench.scheduler.request("dependent", Urgency::dependent, bench.quick("dependent"));
  bench.scheduler.request("typed", Urgency::typing, bench.quick("typed"));
  bench.loop.run_until([&] { return !bench.scheduler.busy("typed"); });
  CHECK(bench.log == std::vector<std::string>{"typed"});
  let_go.count_down();
  bench.settle();
  CHECK(bench.log == std::vector<std::string>{"typed", "file1", "dependent", "file2"});
}

TEST_CASE("a request that waits becomes more urgent, never less") {
  Bench bench;
  std::latch started(2), let_go(1);
  bench.scheduler.request("x", Urgency::typing, bench.held("x", started, let_go));
  bench.scheduler.request("y", Urgency::typing, bench.held("y", started, let_go));
  started.wait();
  bench.scheduler.request("a", Urgency::background, bench.quick("a"));
  bench.scheduler.request("b", Urgency::typing, bench.quick("b"));
  bench.scheduler.request("b", Urgency::background, bench.quick("b2"));
  bench.scheduler.request("a", Urgency::typing, bench.quick("a2"));
  let_go.count_down();
  bench.settle();
  REQUIRE(bench.log.size() == 4);
  CHECK(bench.log[2].substr(0, 1) != bench.log[3].substr(0, 1));
  CHECK(std::count(bench.log.begin(), bench.log.end(), "a2") == 1);
  CHECK(std::count(bench.log.begin(), bench.log.end(), "b2") == 1);
}

TEST_CASE("a dropped key finishes nothing") {
  Bench bench;
  std::latch started(1), let_go(1);
  bench.scheduler.request("a", Urgency::typing, bench.held("first", started, let_go));
  started.wait();
  bench.scheduler.request("a", Urgency::typing, bench.quick("second"));
  bench.scheduler.drop("a");
  CHECK(bench.scheduler.idle());
  bench.scheduler.request("a", Urgency::typing, bench.quick("opened again"));
  let_go.count_down();
  bench.settle();
  CHECK(bench.log == std::vector<std::string>{"opened again"});
}

TEST_CASE("a work that throws is reported and the next one runs") {
  Bench bench;
  bench.scheduler.request("a", Urgency::typing,
      [](const std::atomic<bool>&) -> Scheduler::Finish { throw std::runtime_error("no"); });
  bench.settle();
  bench.scheduler.request("a", Urgency::typing, bench.quick("next"));
  bench.settle();
  CHECK(bench.log == std::vector<std::string>{"a failed: no", "next"});
}

TEST_CASE("progress: 60 ms of analysis under an edit every 20 ms for 3 s publishes about ten times") {
  Bench bench;
  int published = 0;
  for (int elapsed = 0; elapsed < 3000; elapsed += 60) {
    std::latch started(1), let_go(1);
    bench.scheduler.request(
        "a", Urgency::typing, [&](const std::atomic<bool>& cancelled) -> Scheduler::Finish {
          started.count_down();
          let_go.wait();
          return [&, stopped = cancelled.load()] {
            if (stopped) return;
            ++published;
            bench.scheduler.published("a");
          };
        });
    started.wait();
    for (int edit = 0; edit < 2; ++edit) {
      bench.clock.advance(20ms);
      bench.scheduler.request("a", Urgency::typing, [](const std::atomic<bool>&) { return [] {}; });
    }
    bench.clock.advance(20ms);
    let_go.count_down();
    bench.settle();
  }
  CHECK(published >= 8);
  CHECK(published <= 13);
}
