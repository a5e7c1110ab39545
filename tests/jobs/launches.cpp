// What is made out of the launches in scripts of the shell: one line for each, with how much of it the text
// decides.
#include "documents/document.hpp"
#include "rules/launch/line.hpp"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>

int main(int argc, char** argv) {
  using namespace stepzero;
  std::size_t all = 0, whole = 0, every = 0;
  for (int i = 1; i < argc; ++i) {
    std::ifstream in(argv[i], std::ios::binary);
    const auto text = std::make_shared<const syntax::Text>(
        std::string(std::istreambuf_iterator<char>(in), {}));
    const documents::Document document = documents::parse(documents::Language::shell, text);
    for (const rules::launch::LaunchLine& line : rules::launch::launch_lines(document.script)) {
      const bool known = std::all_of(line.arguments.begin(), line.arguments.end(),
          [](const documents::Word& word) { return word.is_known(); });
      ++all;
      whole += line.is_whole && line.script;
      every += line.is_whole && line.script && known;
      std::cout << argv[i] << ":" << text->position(line.command->span.begin, syntax::Encoding::utf8).line + 1
                << " " << name(line.launcher) << " " << (line.script ? line.script->text : "-") << " "
                << line.processes_per_node().value_or(-1) << "x" << line.nodes().value_or(-1) << " "
                << (line.is_whole ? known ? "whole" : "launcher" : "part");
      // Where the words stand that the text leaves open.
      for (const documents::Word& word : line.command->words)
        if (!word.is_known()) std::cout << "  " << text->slice(word.span);
      std::cout << "\n";
    }
  }
  std::cerr << all << " launches; of " << whole << " the launcher's words are known, of " << every
            << " all words\n";
}
