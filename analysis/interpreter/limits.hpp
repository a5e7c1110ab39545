// What a run may cost, and what it is a run of: one process, one launch, the defaults, or one whose shapes
// are shown.
#pragma once

#include "interpreter/one_rank.hpp"
#include "symbolic/expression.hpp"
#include "syntax/ast.hpp"

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace stepzero::interpreter {

// What was found of a parameter by running the function, and what it is called with.
struct Given {
  struct Size {
    std::optional<std::int64_t> number;
    std::string name;            // what the function itself calls it
    const void* same = nullptr;  // equal ones are the same size
    bool later = false;          // the function finds it out by itself
    bool only_said = false;      // by its words: what it finds out itself goes before
    friend bool operator==(const Size& a, const Size& b) {
      return a.number == b.number && a.name == b.name && a.later == b.later && a.only_said == b.only_said;
    }
  };
  bool open = false;  // in front of them there may be others: nobody found how many
  std::vector<Size> sizes;
  friend bool operator==(const Given&, const Given&) = default;
};
// By the function and the parameter: "Block.forward x".
using AllGiven = std::map<std::string, Given, std::less<>>;

// Numbers of the text that are others in one run.
using OtherNumbers = std::unordered_map<const syntax::Expr*, std::int64_t>;

struct Launch;

struct Limits {
  // The program as this process runs it: rank and world size are numbers. Absent: as any process does.
  std::optional<OneRank> as_rank = {};
  std::uint64_t steps = 1'500'000;
  std::uint64_t root_steps = 200'000;  // of one function that nobody calls
  const std::atomic<bool>* cancelled = nullptr;
  // Of the functions that nobody calls, and of classes, only these run. Null: all.
  const std::unordered_set<const syntax::Stmt*>* only = nullptr;
  // The program where the command line gives nothing: what may be given has its default. Only findings come
  // of it, and its root is among the record's default roots.
  bool with_defaults = false;
  // The program as a script starts it: what that gives has a value, what it leaves out has its default. Null:
  // started in any way.
  const Launch* launch = nullptr;
  // A run whose shapes are shown and whose problems are not told: parameters begin with these shapes, what
  // the program reaches is run on symbols, too, and of several ranks that an operator takes it is the usual
  // one. Null: an ordinary run.
  const AllGiven* given = nullptr;
  // The program with other numbers than its text has; what is known of each expression is kept for all of its
  // files. Null: as it is written.
  const OtherNumbers* numbers = nullptr;
};

// What a program makes is known up to these sizes; beyond them it is unknown, so that no loop can fill the
// memory.
constexpr std::size_t longest_text = 4096;      // bytes
constexpr std::size_t longest_sequence = 2048;  // items
constexpr std::size_t most_arguments = 4096;    // of one call

}  // namespace stepzero::interpreter
