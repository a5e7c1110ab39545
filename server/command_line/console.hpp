// Standard output and standard error as the command line uses them. Knows no findings.
#pragma once

#include <string>
#include <string_view>

namespace stepzero::server {

// At the start of the program: a closed pipe is an error of a write and no signal, and descriptors 0 to 2 are
// taken, so that no file that is opened later becomes "standard output".
void prepare_streams();

enum class Written { all, reader_gone, failed };

// Writes to standard output. A reader that went away (`| head`) is no failure of ours; a full disk is, and is
// said on standard error.
Written write_out(std::string_view text);

void write_error(std::string_view text);

// One line on standard error: "stepzero: …".
void say(std::string_view message);

// NO_COLOR and a dumb terminal are honoured.
bool has_colors(int descriptor);
bool is_terminal(int descriptor);

// A line on standard error that shows how far the work is, if that is a terminal and the work is long.
// Thread-safe.
class Progress {
public:
  Progress(std::string_view doing, std::size_t total);
  ~Progress();
  void at(std::size_t done);

private:
  std::string doing_;
  std::size_t total_;
  bool displayed_;
};

}  // namespace stepzero::server
