// Which scripts launch which programs: the launch lines of scripts, with what each gives its program.
#pragma once

#include "program/sources.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace stepzero::interpreter {
struct Launch;
}
namespace stepzero::documents {
struct Document;
struct Script;
}  // namespace stepzero::documents
namespace stepzero::rules {
enum class Role : std::uint8_t;
}

namespace stepzero::snapshot {

// Those of one program, in order; null: none.
using LaunchesOfOne = std::shared_ptr<const std::vector<interpreter::Launch>>;

// Of all launch lines that name a program: how many are known wholly, and what of the others is not.
struct LaunchCounts {
  std::size_t all = 0;
  std::size_t whole =
      0;  // the program is there, and its arguments, its environment and the launcher's options are known
  std::size_t open = 0;        // the program is there, and the script does not decide some of the words
  std::size_t background = 0;  // the program is not among the sources, or its name is not known
};

class Launches {
public:
  // Those of a script, or of a program that starts others, and the configurations that it names. Launches
  // that give the same are one; the first counts.
  void add(const program::Sources& sources, const std::string& script);
  const LaunchCounts& counts() const { return counts_; }
  LaunchesOfOne of(const std::string& program) const;
  // What a launch line or a program takes the file for; Role::nothing: none names it, or several take it for
  // several things.
  rules::Role named_as(const std::string& file) const;
  // The programs that are launched in another way than there, and the configurations that are taken for
  // something else.
  std::set<std::string> changed_since(const Launches& before) const;

private:
  void name(rules::Role role, const std::string& file);
  void add(const program::Sources& sources, const std::string& script, const syntax::Text& text,
      const documents::Script& commands, const documents::Document* document);

  std::map<std::string, std::shared_ptr<std::vector<interpreter::Launch>>> by_program_;
  std::map<std::string, rules::Role> named_;
  LaunchCounts counts_;
};

}  // namespace stepzero::snapshot
