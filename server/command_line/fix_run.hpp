// `--fix`: rounds of fixing and checking until nothing is left to fix. Writes nothing.
#pragma once

#include "server/command_line/checker.hpp"

#include <map>
#include <string>
#include <vector>

namespace stepzero::server {

struct FixRun {
  struct Changed {
    std::shared_ptr<const syntax::Module> before;
    std::shared_ptr<const syntax::Module> after;
  };
  std::map<std::string, Changed> changed;  // by path
  std::shared_ptr<const Overlay> overlay;  // the texts after, and standard input
  std::vector<Checked> results;            // of the texts after, in the order of the inputs
  std::size_t applied = 0;
  std::vector<std::string> notes;
};

// `results`: of the texts as they are, in the order of the inputs.
FixRun run_fixes(const Inputs& inputs, const Checker& checker, std::vector<Checked> results);

}  // namespace stepzero::server
