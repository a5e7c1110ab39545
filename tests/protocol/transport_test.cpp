// The transports over real descriptors and sockets: order, whole messages, ends, and peers that do not read.
#include "protocol/transport.hpp"

#include <catch2/catch.hpp>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace stepzero::protocol;

namespace {

// Runs the loop until its transport ended, keeping what came.
struct Collector final : Receiver {
  explicit Collector(EventLoop& l) : loop(l) {}
  void on_message(std::string payload) override {
    received.push_back(std::move(payload));
    if (received.size() == enough) loop.stop();
  }
  void on_end(End with) override {
    end = with;
    loop.stop();
  }
  EventLoop& loop;
  std::vector<std::string> received;
  std::optional<End> end;
  std::size_t enough = 0;
};

struct Pipe {
  Pipe() { REQUIRE(::pipe(ends) == 0); }
  ~Pipe() {
    close_read();
    close_write();
  }
  void close_read() { close(ends[0]); }
  void close_write() { close(ends[1]); }
  static void close(int& fd) {
    if (fd >= 0) ::close(std::exchange(fd, -1));
  }
  void write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t size = ::write(ends[1], bytes.data(), bytes.size());
      if (size <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(size));
    }
  }
  int ends[2] = {-1, -1};
};

std::vector<std::string> read_frames(int fd, std::size_t count) {
  FrameDecoder decoder;
  std::vector<std::string> payloads;
  char bytes[65536];
  while (payloads.size() < count) {
    const ssize_t size = ::read(fd, bytes, sizeof bytes);
    if (size <= 0) break;
    decoder.feed(std::string_view(bytes, static_cast<std::size_t>(size)), payloads);
  }
  return payloads;
}

void close_and_wait(EventLoop& loop, Transport& transport) {
  transport.close([&loop] { loop.stop(); });
  loop.run();
}

struct TemporaryFolder {
  TemporaryFolder() {
    REQUIRE(::mkdtemp(name));
    socket = std::string(name) + "/socket";
  }
  ~TemporaryFolder() { ::rmdir(name); }
  char name[24] = "/tmp/stepzero-XXXXXX";
  std::string socket;  // a path in it
};

struct TemporaryFile {
  explicit TemporaryFile(std::string_view content) : fd(::mkstemp(name)) {
    REQUIRE(::write(fd, content.data(), content.size()) == static_cast<ssize_t>(content.size()));
    ::lseek(fd, 0, SEEK_SET);
  }
  ~TemporaryFile() {
    ::close(fd);
    ::unlink(name);
  }
  char name[24] = "/tmp/stepzero-XXXXXX";
  int fd;
};

}  // namespace

TEST_CASE("pipes carry messages both ways, then their end") {
  Pipe in, out;
  EventLoop loop;
  Collector got(loop);
  const auto transport = descriptor_transport(loop, in.ends[0], out.ends[1]);
  transport->start(got);
  in.write(frame("one") + frame("two"));
  got.enough = 2;
  loop.run();
  CHECK(got.received == std::vector<std::string>{"one", "two"});
  transport->send("three");
  CHECK(read_frames(out.ends[0], 1) == std::vector<std::string>{"three"});
  in.close_write();
  loop.run();
  REQUIRE(got.end);
  CHECK(got.end->kind == End::Kind::end_of_input);
  transport->send("after the end of input");
  close_and_wait(loop, *transport);
  CHECK(read_frames(out.ends[0], 1) == std::vector<std::string>{"after the end of input"});
}

TEST_CASE("regular files serve as input and output") {
  TemporaryFile in(frame("from a file")), out("");
  EventLoop loop;
  Collector got(loop);
  const auto transport = descriptor_transport(loop, in.fd, out.fd);
  transport->start(got);
  transport->send("to a file");
  loop.run();
  CHECK(got.received == std::vector<std::string>{"from a file"});
  CHECK(got.end->kind == End::Kind::end_of_input);
  close_and_wait(loop, *transport);
  ::lseek(out.fd, 0, SEEK_SET);
  CHECK(read_frames(out.fd, 1) == std::vector<std::string>{"to a file"});
}

TEST_CASE("broken and cut frames end the connection with their reason") {
  Pipe in, out;
  EventLoop loop;
  Collector got(loop);
  const auto transport = descriptor_transport(loop, in.ends[0], out.ends[1]);
  transport->start(got);
  End::Kind expected{};
  SECTION("broken") {
    in.write(frame("good") + "Content-Length: -1\r\n\r\n");
    expected = End::Kind::broken_frame;
  }
  SECTION("cut") {
    in.write(frame("good") + "Content-Length: 10\r\n\r\n{");
    in.close_write();
    expected = End::Kind::cut_frame;
  }
  loop.run();
  CHECK(got.received == std::vector<std::string>{"good"});
  REQUIRE(got.end);
  CHECK(got.end->kind == expected);
  CHECK_FALSE(got.end->reason.empty());
}

TEST_CASE("a peer that is gone is an end, not a signal") {
  Pipe in, out;
  EventLoop loop;
  Collector got(loop);
  const auto transport = descriptor_transport(loop, in.ends[0], out.ends[1]);
  transport->start(got);
  out.close_read();
  transport->send("nobody");
  loop.run();
  REQUIRE(got.end);
  CHECK(got.end->kind == End::Kind::failed);
  close_and_wait(loop, *transport);
}

TEST_CASE("a peer that does not read blocks nobody, and in the end is left") {
  Pipe in, out;
  EventLoop loop;
  Collector got(loop);
  TransportLimits limits;
  limits.unread = std::size_t{1} << 20;
  limits.last_writes = std::chrono::milliseconds(20);
  const auto transport = descriptor_transport(loop, in.ends[0], out.ends[1], limits);
  transport->start(got);
  const std::string payload(100'000, 'x');
  SECTION("reading goes on, what waits arrives in order once it is read") {
    for (int i = 0; i < 8; ++i) transport->send(std::to_string(i) + payload);
    in.write(frame("still heard"));
    got.enough = 1;
    loop.run();
    CHECK(got.received.size() == 1);
    const auto read = read_frames(out.ends[0], 8);
    REQUIRE(read.size() == 8);
    for (int i = 0; i < 8; ++i) CHECK(read[static_cast<std::size_t>(i)] == std::to_string(i) + payload);
  }
  SECTION("beyond the limit the connection ends") {
    for (int i = 0; i < 30; ++i) transport->send(payload);
    loop.run();
    REQUIRE(got.end);
    CHECK(got.end->kind == End::Kind::not_read);
  }
  SECTION("closing waits for its time and no longer") {
    for (int i = 0; i < 8; ++i) transport->send(payload);
    close_and_wait(loop, *transport);
    SUCCEED("closed");
  }
}

TEST_CASE("messages of many threads go out whole, those of one in order") {
  Pipe in, out;
  EventLoop loop;
  Collector got(loop);
  const auto transport = descriptor_transport(loop, in.ends[0], out.ends[1]);
  transport->start(got);
  constexpr int threads = 4, each = 200;
  std::vector<std::thread> senders;
  senders.reserve(threads);
  for (int t = 0; t < threads; ++t)
    senders.emplace_back([&, t] {
      for (int i = 0; i < each; ++i)
        transport->send(
            std::to_string(t) + std::string(static_cast<std::size_t>(i) * 10, '.') + std::to_string(i));
    });
  const auto read = read_frames(out.ends[0], threads * each);
  for (std::thread& sender : senders) sender.join();
  REQUIRE(read.size() == threads * each);
  int next[threads] = {};
  for (const std::string& message : read) {
    const int t = message[0] - '0';
    const int i = next[t]++;
    CHECK(message ==
        std::to_string(t) + std::string(static_cast<std::size_t>(i) * 10, '.') + std::to_string(i));
  }
}

TEST_CASE("sockets carry messages both ways: one end listens, the other connects") {
  const bool tcp = GENERATE(true, false);
  TemporaryFolder folder;
  EventLoop loop, other;
  Collector got(loop);
  const std::string big(3'000'000, 'x');
  std::vector<std::string> answers;
  std::thread editor;
  const Endpoint listen = tcp ? *Endpoint::socket("listen:0") : *Endpoint::pipe("listen:" + folder.socket);
  const auto server = open_transport(loop, listen, [&](const std::string& place) {
    editor = std::thread([&, place] {
      Collector back(other);
      const auto client = open_transport(other, tcp ? *Endpoint::socket(place) : *Endpoint::pipe(place));
      client->start(back);
      client->send("hello");
      client->send(big);
      back.enough = 1;
      other.run();  // until the answer
      answers = back.received;
      close_and_wait(other, *client);
    });
  });
  CHECK(::access(folder.socket.c_str(), F_OK) != 0);  // nobody else can come
  server->start(got);
  got.enough = 2;
  loop.run();
  CHECK(got.received == std::vector<std::string>{"hello", big});
  server->send(big);
  loop.run();
  editor.join();
  CHECK(answers == std::vector<std::string>{big});
  REQUIRE(got.end);
  CHECK(got.end->kind == End::Kind::end_of_input);
}

TEST_CASE("a socket's peer that does not read is left at the limit") {
  TemporaryFolder folder;
  EventLoop loop, other;
  Collector got(loop);
  std::unique_ptr<Transport> silent;
  std::thread connecting;
  TransportLimits limits;
  limits.unread = std::size_t{1} << 20;
  limits.last_writes = std::chrono::milliseconds(20);
  const auto server = open_transport(
      loop, *Endpoint::pipe("listen:" + folder.socket),
      [&](const std::string& place) {
        connecting = std::thread([&, place] { silent = open_transport(other, *Endpoint::pipe(place)); });
      },
      limits);
  connecting.join();
  server->start(got);
  for (int i = 0; i < 30; ++i) server->send(std::string(100'000, 'x'));
  loop.run();
  REQUIRE(got.end);
  CHECK(got.end->kind == End::Kind::not_read);
  close_and_wait(loop, *server);
}

TEST_CASE("endpoints are read strictly") {
  CHECK(Endpoint::socket("5007")->port == 5007);
  CHECK_FALSE(Endpoint::socket("5007")->listen);
  CHECK(Endpoint::socket("listen:0")->listen);
  for (const char* wrong : {"", "0", "-1", "+1", "65536", "0x50", "80 ", "listen:", "listen:x", "host:80"})
    CHECK_FALSE(Endpoint::socket(wrong));
  CHECK(Endpoint::pipe("/a/b")->path == "/a/b");
  CHECK(Endpoint::pipe("listen:/a/b")->listen);
  CHECK_FALSE(Endpoint::pipe(""));
  CHECK_FALSE(Endpoint::pipe("listen:"));
}

TEST_CASE("nobody to connect to is one line") {
  EventLoop loop;
  for (const std::string& path : {std::string("/never/there.sock"), std::string(500, 'x')}) {
    try {
      open_transport(loop, *Endpoint::pipe(path));
      FAIL("connected");
    } catch (const std::runtime_error& error) {
      CHECK(std::string(error.what()).find('\n') == std::string::npos);
    }
  }
}

TEST_CASE("a timer runs once when due, and not after its reset") {
  EventLoop loop;
  int ran = 0;
  Timer first = loop.after(std::chrono::milliseconds(1), [&] { ++ran; });
  Timer second = loop.after(std::chrono::milliseconds(1), [&] { ran += 10; });
  Timer last = loop.after(std::chrono::milliseconds(20), [&] { loop.stop(); });
  second.reset();
  loop.run();
  CHECK(ran == 1);
}
