// What an edit leaves standing. The run of a file falls into parts: its top-level statements, one after the
// other, and units, each begun from what the statements left and taken back at its end. A part keeps what it
// used. Where the statements that changed, and those that use what they bind, do no more than bind names
// (functions, classes, constants, imports), they are run in place of those that stood there, and a unit that
// uses none of these names stands as it was. Where they do more, all statements are run once more; the
// modules that they import are not. Holds numbers and names, runs nothing.
#pragma once

#include "interpreter/incremental/body_edit.hpp"
#include "interpreter/incremental/focus.hpp"
#include "interpreter/record.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace stepzero::interpreter {

// The globals of the analyzed file that a part of the run looked up, found or not. What libraries define is
// left out.
struct Used {
  std::unordered_set<syntax::Name> names;
  bool all = false;                               // it asked for all of them
  unsigned roles = 0;                             // that it asked for, as bits by symbolic::Role
  std::set<std::string, std::less<>> attributes;  // of which it asked whether the text sets them anywhere
  std::unordered_set<const syntax::FunctionStmt*> bodies,  // of functions that it read and did not run
      calls;                                               // and of others only which names they call

  void add(const Used& other) {
    names.insert(other.names.begin(), other.names.end());
    all = all || other.all;
    roles |= other.roles;
    attributes.insert(other.attributes.begin(), other.attributes.end());
    bodies.insert(other.bodies.begin(), other.bodies.end());
    calls.insert(other.calls.begin(), other.calls.end());
  }
};

// What changed in the text.
struct Changed {
  Used used;  // the globals
  std::unordered_map<const syntax::FunctionStmt*, const syntax::FunctionStmt*>
      bodies;          // methods whose bodies alone changed, as they were and are: see body_edit.hpp
  bool calls = false;  // and they call other names
  std::vector<ChunkOf> before, now;  // the statements that changed
};

// A moment between two top-level statements: how far everything had grown.
struct Moments {
  values::Mark heap;
  std::size_t events = 0, facts = 0, functions = 0, classes = 0, reached = 0, models = 0, built = 0;
  std::uint64_t steps = 0;
  values::Writes writes;
  bool default_device = false;
  std::uint64_t switched = 0;  // what else the run has switched for good, as a number
  bool plain = false;          // nothing was learned, and no path was left
};

// A top-level statement that was run.
struct ItemRun {
  const syntax::Chunk* chunk = nullptr;  // of the text as it is
  Moments before;
  Used used;
  std::vector<syntax::Name> bound;  // the globals that it wrote
  bool pure = false;                // and it did nothing else
  bool ran_code = false;            // of a function: a decorator's
  bool meddled = false;             // it wrote to something that is neither its own nor a global of the file
  std::vector<std::pair<values::Slot*, values::Value>> outside;  // that, and what was there before it
};

// How the program accounts for gradients by itself: see Interpreter::note_gradients.
struct Gradients {
  std::optional<Sharing> own;
  bool lost = false;
  friend bool operator==(const Gradients&, const Gradients&) = default;
};
// How a stream of random numbers was begun.
enum class Seeds : std::uint8_t { never, same, by_rank, unknown };
// What a part of the run switches for good, beside the heap. The default device alone stays switched after a
// unit: see Unit::device_after.
struct Switched {
  int switches = 0;
  const values::Instance* unentered = nullptr;
  std::array<Seeds, 3> seeds{};
  Gradients gradients;
  std::set<std::string, std::less<>> resized;
  bool default_device = false;
  friend bool operator==(const Switched&, const Switched&) = default;
};

// One root of a unit, and the functions of the file that ran in it.
struct RootRun {
  const syntax::FunctionStmt* function = nullptr;  // null: the constructor of `owner`
  values::Function* called = nullptr;              // the same as a value: several methods may be one wrapper
  const syntax::Stmt* owner = nullptr;             // the class; null: a function by itself
  bool of_built = false;  // on something that the program made: the forward of a model, a closure
  std::uint64_t begin = 0, steps = 0;
  std::unordered_set<const syntax::FunctionStmt*> executed;
  std::size_t root = 0, facts = 0;  // where it begins in the record, counted from the unit's beginning
  std::size_t numbers = 0;          // where it begins among those: see Replay
  values::Writes writes, writes_after;
  Switched switched, switched_after;
  bool doubtful = false;        // it left an equality open that defaults may decide
  bool cut = false;             // it ran out of steps
  std::uint64_t allowance = 0;  // the steps that it might have taken
  std::uint64_t least = 0,
                most = std::numeric_limits<std::uint64_t>::max();  // it is the same with any of these
};

// A function that nobody calls, or a class with its methods, run on symbols: from what the statements left.
struct Unit {
  Used used;
  std::vector<RootRun> root_runs;
  std::vector<bool> condition;  // of the other units, as far as it depends on them
  std::size_t roots[2] = {}, default_roots[2] = {}, facts[2] = {};  // its ranges in the record
  std::uint64_t begin = 0, steps = 0;
  values::Writes writes;         // at its end; each begins with those of the statements
  std::size_t built_before = 0;  // models run as such in the file until then
  std::size_t built_runs = 0;    // and in it
  bool built = false;            // it made models
  bool doubtful = false;         // it left an equality open that defaults may decide
  bool out_of_budget = false;
  bool taken_over = false;  // by the last run, from the one before
  bool device_before = false, device_after = false;
  // Of a class: the object that its methods are run on one after the other, what its constructor wrote into
  // older objects, and what is known after it. Null: a method can be run only with the constructor before
  // it.
  values::Instance* object = nullptr;
  std::uint64_t clock = 0;  // of the heap, when it began
  std::size_t numbers_after = 0;
  values::Delta made;
  std::vector<Cond> learned;

  bool ran(std::size_t root_run, const Changed& changed) const {
    return std::ranges::any_of(
        changed.bodies, [&](const auto& body) { return root_runs[root_run].executed.contains(body.first); });
  }
  // The root runs of a method and, after it, of the functions that it made and handed out.
  std::size_t end_of_group(std::size_t method) const;
  bool group_ran(std::size_t method, const Changed& changed) const;
};
// What runs in it, and whether with the defaults of the parameters.
using UnitKey = std::pair<const void*, bool>;

// A statement that stands through edits in its functions and comments.
struct StandingStatement {
  const syntax::Stmt* stmt =
      nullptr;  // as it was run: a function, or the methods of a class, with the bodies of now
  std::vector<std::uint32_t> chunks;  // in which its parts are found; the first is that in which it was run
};
// A class whose methods stand in several chunks.
struct MergedClass {
  syntax::ClassStmt stmt;
  std::vector<const syntax::Stmt*> body;
};

// The numbers that an object of a class holds which is made without arguments, and what it took to find them.
struct DefaultNumbers {
  std::vector<std::pair<syntax::Name, std::int64_t>> numbers;
  Used used;
  std::uint64_t steps = 0;
  bool stands = false;  // until statements of the file run again
};

struct Replay {
  std::deque<ItemRun> items;
  Moments end;                                       // after the last statement
  std::map<UnitKey, Unit> units, old_units;          // those of this run, and of the one before
  std::vector<const syntax::FunctionStmt*> reached;  // in the order in which that was found
  std::vector<const values::Object*> models;         // the same for objects whose forward ran
  std::vector<values::Instance*> built;              // by the statements: see RootRunner::built_
  std::unordered_map<const syntax::Chunk*, std::uint32_t> chunks;  // of the file, in the record
  std::unordered_map<const syntax::Chunk*, StandingStatement>
      standing;  // the same, where what was run is not of this chunk alone
  std::deque<MergedClass> mended;
  std::vector<std::uint32_t> copies;  // the same chunks once more: where another module imports the file
  std::vector<std::shared_ptr<const syntax::Chunk>> dropped;  // chunks of the file that are no more
  // Unknowns older than the root that first took them for integers, in the order in which roots did: what
  // roots after it find there hangs on it.
  std::vector<values::Unknown*> numbers;
  std::size_t base_facts = 0;     // of the symbols, where the file begins
  std::size_t doubts = 0;         // the same
  bool meddled = false;           // one of the statements so far wrote to what modules share with the file
  unsigned roles_of_imports = 0;  // that modules asked for when they were imported: see Used::roles
  std::optional<values::Mark> file_begin;  // of the heap, before the first statement
  std::vector<std::pair<std::uint64_t, std::uint64_t>>
      imports;  // what was born in them, by the clock of the heap: after the first, up to the second
  // Was it made by the file's own statements, not by a module that they import? Then no such module sees it.
  bool is_of_statements(const values::Slot& slot) const;
  bool program_left = false;  // modules of the program itself wrote some of `left`
  values::Delta left;  // what imported modules wrote into others: stays when the statements are run again
  std::vector<std::string>
      unsteady;               // modules that would have to be run again with the statements that import them
  std::size_t units_run = 0;  // by the last run
  std::size_t objects_made = 0;              // by it, of classes that are roots
  bool only_comments = false;                // differ between the last run's text and the one before
  std::size_t fresh_events = 0;              // of the record, after the last run from the beginning
  std::optional<FocusRoot> displayed_first;  // by the last run that showed one
  bool possible = true;
  // While it goes on: what changed, and what the last run left.
  bool replaying = false;
  Changed changed;
  std::optional<Focus> focus;
  std::vector<std::unique_ptr<Root>> old_roots, old_default_roots;
  std::vector<Fact> old_facts;
};

}  // namespace stepzero::interpreter
