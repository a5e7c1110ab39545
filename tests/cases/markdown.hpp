// A file of cases as values: headings, the programs under them, and what their comments expect. Runs nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepzero::cases {

// What a comment expects of its line.
struct Expectation {
  enum class StandingFindings : std::uint8_t {
    right,            // so it is, and so it should be
    wrongly_absent,   // `FIXME error[…]`, `FIXME reveal: …`: should be found, is not yet
    wrongly_present,  // `FIXME no error[…]`: is found, should not be
  };
  bool reveal = false;
  StandingFindings standing = StandingFindings::right;
  std::string severity, rule;  // of a finding
  std::string name;            // of a reveal: which place of the line; empty: the only one
  std::string text;            // part of the message; all of the revealed text
  std::uint32_t line = 0;      // zero-based, in File::text
  std::uint32_t at = 0;        // one-based line of the Markdown file
};

struct File {
  std::string title;  // "pkg/mod.py"
  std::string text;   // without the expectations
  std::vector<Expectation> expected;
  std::vector<std::uint32_t> places;  // by line of the text: the one-based line of the Markdown
  std::uint32_t begin = 0, end = 0;   // bytes of the fence's content in the Markdown
  // A value that the engine knows, which a silent program could reveal: of the line of `text`.
  std::string could_reveal;
  std::uint32_t could_reveal_at = 0;
  bool could_reveal_size = false;  // it is a tensor of known size
};

// What the program above becomes.
struct AfterFix {
  std::string fix;  // the title of the fix that is applied; empty: all preferred ones
  File file;
};

struct Program {
  std::vector<File> files;  // the analyzed one last
  std::vector<AfterFix> after;
  bool torch = false;      // PyTorch has run it
  bool no_fix = false;     // its findings come without fixes
  bool silent = false;     // nothing is found, and a reveal shows that the engine had not given up
  std::string gpu_memory;  // the setting; empty: none
  std::uint32_t line = 0;  // one-based, of its first fence
};

struct Case {
  std::string heading;
  std::uint32_t line = 0;
  std::vector<Program> programs;
};

// Is nothing expected of the program, so that an engine that gave up would pass, too? Not of configurations
// and scripts alone.
bool is_silent_unseen(const Program& program);

// The cases of a Markdown text: a heading with at least one Python fence before the next heading is a case.
std::vector<Case> read_markdown(const std::string& text);

}  // namespace stepzero::cases
