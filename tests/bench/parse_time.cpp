// What a full parse costs: each file given is parsed from scratch by tree-sitter alone, and the time is
// printed. The unit of every figure of the bench.
//
//     stepzero_parse_time TIMES FILE…      one line: nanoseconds (all files together, median of TIMES
//     passes), bytes, lines
#include <tree_sitter/api.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" const TSLanguage* tree_sitter_python();

namespace {

using Clock = std::chrono::steady_clock;

std::int64_t parse(TSParser* parser, const std::string& text) {
  const auto begin = Clock::now();
  TSTree* tree = ts_parser_parse_string(
      parser, nullptr, text.data(), static_cast<std::uint32_t>(text.size()));
  const auto end = Clock::now();
  ts_tree_delete(tree);
  ts_parser_reset(parser);
  return std::chrono::duration_cast<std::chrono::nanoseconds>(end - begin).count();
}

}  // namespace

int main(int argc, char** argv) {
  const int times = argc > 2 ? std::atoi(argv[1]) : 0;
  if (times < 1) {
    std::fprintf(stderr, "usage: %s TIMES FILE...\n", argv[0]);
    return 2;
  }
  std::vector<std::string> texts;
  std::size_t bytes = 0, lines = 0;
  const auto add = [&](const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    bytes += texts.back().size();
    lines += static_cast<std::size_t>(std::count(texts.back().begin(), texts.back().end(), '\n'));
  };
  for (int i = 2; i < argc; ++i) {
    const std::string path = argv[i];
    if (path != "-") {
      add(path);
      continue;
    }
    for (char line[4096];
        std::fgets(line, sizeof line, stdin) != nullptr;) {  // `-`: the paths come by standard input
      std::string name = line;
      while (!name.empty() && name.back() == '\n') name.pop_back();
      add(name);
    }
  }

  TSParser* parser = ts_parser_new();
  ts_parser_set_language(parser, tree_sitter_python());
  std::vector<std::int64_t> passes;
  for (int i = 0; i < times; ++i) {
    std::int64_t all = 0;
    for (const std::string& text : texts) all += parse(parser, text);
    passes.push_back(all);
  }
  ts_parser_delete(parser);
  std::nth_element(passes.begin(), passes.begin() + times / 2, passes.end());
  std::printf(
      "%lld %zu %zu\n", static_cast<long long>(passes[static_cast<std::size_t>(times / 2)]), bytes, lines);
}
