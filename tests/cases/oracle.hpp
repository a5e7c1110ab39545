// What real PyTorch said of the blocks tagged `torch`: oracle.json, written by oracle.py.
#pragma once

#include "markdown.hpp"

#include <map>
#include <set>

namespace stepzero::cases {

class Oracle {
public:
  explicit Oracle(const std::string& path);
  // What is wrong with the record of this program and of its after-fix texts.
  std::vector<std::string> judge(const Program& program);
  // Recorded outcomes that belong to no block any more.
  std::vector<std::string> stale() const;

private:
  void look(const std::vector<File>& files, std::uint32_t line, std::vector<std::string>& complaints);
  std::map<std::string, std::string> outcomes_;  // by content: runs, raises, hangs
  std::set<std::string> asked_;
};

}  // namespace stepzero::cases
