// A typist with a stop-watch: starts the language server, sends it prepared messages and takes the time until
// each one's answer has come through the pipe. Knows frames, and what an answer looks like in the first place
// where it matters; the messages themselves come from tests/bench/run. Written in C++ so that its own time is
// small beside a parse.
//
//     stepzero_replay PROGRAM [ARGUMENT…] < SCRIPT
//
// A line of the script is a command, a tab, and a message (one line of JSON):
//
//     send <TAB> message            sends it and goes on
//     time NAME TEXT <TAB> message  sends it and waits until a message comes that contains TEXT; prints `NAME
//     nanoseconds` wait TEXT <TAB>               waits until a message comes that contains TEXT, without a
//     stop-watch start NAME TEXT <TAB> message as `time`, but counted from the start of the program memory
//     NAME <TAB>             prints `NAME bytes`: the peak of the server's resident memory so far
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(const std::string& why) {
  std::cerr << "replay: " << why << '\n';
  std::exit(1);
}

class Server {
public:
  explicit Server(char** command) {
    int in[2], out[2];
    if (pipe(in) != 0 || pipe(out) != 0) fail("no pipes");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    for (const int fd : {in[0], in[1], out[0], out[1]}) posix_spawn_file_actions_addclose(&actions, fd);
    started_ = Clock::now();
    if (posix_spawnp(&pid_, command[0], &actions, nullptr, command, environ) != 0)
      fail("cannot start the program");
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    write_ = in[1];
    read_ = out[0];
  }

  Clock::time_point started() const { return started_; }

  void send(const std::string& message) {
    const std::string bytes = "Content-Length: " + std::to_string(message.size()) + "\r\n\r\n" + message;
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t count = write(write_, bytes.data() + done, bytes.size() - done);
      if (count <= 0) fail("the server does not read");
      done += static_cast<std::size_t>(count);
    }
  }

  // The next message that contains `text`; the ones before it are passed over, requests of the server among
  // them.
  void wait_for(std::string_view text) {
    while (true) {
      const std::string message = receive();
      if (message.find(text) != std::string::npos) return;
    }
  }

  long peak() const {
    std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("VmHWM:")) return std::strtol(line.c_str() + 6, nullptr, 10) * 1024;
    return 0;
  }

  int end() {
    close(write_);
    int status = 0;
    waitpid(pid_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  }

private:
  std::string receive() {
    const std::size_t header = until([&] { return buffer_.find("\r\n\r\n"); }) + 4;
    const std::size_t at = buffer_.find("Content-Length: ");
    if (at == std::string::npos || at > header) fail("a frame without its length");
    const std::size_t length = std::strtoul(buffer_.c_str() + at + 16, nullptr, 10);
    until([&] { return buffer_.size() >= header + length ? std::size_t{0} : std::string::npos; });
    std::string message = buffer_.substr(header, length);
    buffer_.erase(0, header + length);
    return message;
  }

  template <class Found> std::size_t until(Found found) {
    while (true) {
      if (const std::size_t place = found(); place != std::string::npos) return place;
      const std::size_t old = buffer_.size();
      buffer_.resize(old + 65536);
      const ssize_t count = read(read_, buffer_.data() + old, 65536);
      if (count <= 0) fail("the server ended with " + std::to_string(end()));
      buffer_.resize(old + static_cast<std::size_t>(count));
    }
  }

  pid_t pid_ = 0;
  int write_ = -1, read_ = -1;
  std::string buffer_;
  Clock::time_point started_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) fail("which program?");
  std::vector<std::string> script;
  for (std::string line; std::getline(std::cin, line);) script.push_back(line);
  Server server(argv + 1);
  for (const std::string& line : script) {
    const std::size_t tab = line.find('\t');
    if (tab == std::string::npos) fail("a line of the script without a tab");
    std::istringstream words(line.substr(0, tab));
    const std::string message = line.substr(tab + 1);
    std::string command, name, text;
    words >> command;
    if (command != "send" && command != "wait") words >> name;
    words >> text;
    const auto begin = command == "start" ? server.started() : Clock::now();
    if (command != "wait" && command != "memory") server.send(message);
    if (command == "memory") std::printf("%s %ld\n", name.c_str(), server.peak());
    if (text.empty()) continue;
    server.wait_for(text);
    if (command == "wait") continue;
    const auto took = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
    std::printf("%s %lld\n", name.c_str(), static_cast<long long>(took));
  }
  return server.end() == 0 ? 0 : 1;
}
