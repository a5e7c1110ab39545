// Writes the syntax of files as text: `stepzero_dump_syntax FILE…`, or the paths on standard input with `-`.
// After each file comes a line with a single dot. With `--measure` it prints what parsing and lowering cost
// instead.
#include "syntax/document.hpp"
#include "syntax/dump.hpp"
#include "syntax/layout.hpp"
#include "syntax/tree.hpp"

#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

using namespace stepzero::syntax;

namespace {

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Of the processor, so that a busy machine does not count.
double seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

void measure(const std::vector<std::string>& paths) {
  std::vector<std::string> texts;
  std::size_t bytes = 0;
  texts.reserve(paths.size());
  for (const std::string& path : paths) texts.push_back(read(path)), bytes += texts.back().size();
  Parser parser;
  double parsed = 1e9, laid_out = 1e9, whole = 1e9;
  const int rounds = bytes > 5'000'000 ? 2 : 20;
  for (int round = 0; round < rounds; ++round) {
    double from = seconds();
    for (const std::string& text : texts) parser.parse(text, Errors::kept);
    parsed = std::min(parsed, seconds() - from);
    from = seconds();
    for (const std::string& text : texts) layout(text);
    laid_out = std::min(laid_out, seconds() - from);
    from = seconds();
    for (const std::string& text : texts) parse(text);
    whole = std::min(whole, seconds() - from);
  }
  const double scale = 1e9 / static_cast<double>(bytes);
  std::printf("%zu files, %zu bytes\n", texts.size(), bytes);
  std::printf("tree-sitter parse of the whole text  %7.1f ns/byte\n", parsed * scale);
  std::printf("layout (lines and comments)          %7.1f ns/byte\n", laid_out * scale);
  std::printf(
      "module from scratch                  %7.1f ns/byte (%.2f parses)\n", whole * scale, whole / parsed);
  if (texts.size() != 1) return;
  // An edit in the middle: a letter typed into a line of code, and taken away again.
  Document document(texts[0]);
  document.module();
  const auto lines = layout(texts[0]).lines;
  double edit = 1e9, total = 0;
  int edits = 0;
  for (std::size_t index = 0; index < lines.size(); index += lines.size() / 100 + 1) {
    const std::uint32_t at = lines[index].end;
    for (const bool type : {true, false}) {
      const double from = seconds();
      document.apply({type ? Edit{{at, at}, "x"} : Edit{{at, at + 1}, ""}});
      document.module();
      const double took = seconds() - from;
      edit = std::min(edit, took), total += took, ++edits;
    }
  }
  std::printf("module after an edit: mean %.3f ms (%.3f parses), best %.3f ms\n", total / edits * 1e3,
      total / edits / parsed, edit * 1e3);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> paths(argv + 1, argv + argc);
  const bool measures = !paths.empty() && paths.front() == "--measure";
  if (measures) paths.erase(paths.begin());
  if (paths.size() == 1 && paths.front() == "-") {
    paths.clear();
    for (std::string line; std::getline(std::cin, line);) paths.push_back(line);
  }
  if (measures) {
    measure(paths);
    return 0;
  }
  for (const std::string& path : paths) {
    const std::string text = dump(*parse(read(path)));
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fputs(".\n", stdout);
  }
}
