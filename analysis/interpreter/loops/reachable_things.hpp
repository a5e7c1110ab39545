// How the program comes to things that it made: from a variable of a function that runs, or from what was
// there before, by attributes and elements. Where a part of the run is taken back and run again, the same way
// leads to what was made in the place of what is gone.
#pragma once

#include "interpreter/frame.hpp"

#include <optional>
#include <unordered_map>
#include <vector>

namespace stepzero::interpreter {

class ReachableThings {
public:
  // Of things made after `since`, from the variables of the functions that run. What leads nowhere from these
  // is looked for in what was written since, unless that is very much.
  ReachableThings(const Frame* innermost, const values::Heap& heap, values::Mark since);

  struct Step {
    enum class By : std::uint8_t { function, slot, name, element, rest, state };
    By by = By::function;
    syntax::Name name = {};
    std::size_t index = 0;         // of functions from the innermost; of an element
    values::Slot* slot = nullptr;  // that was there before
    friend bool operator==(const Step&, const Step&) = default;
  };
  using Path = std::vector<Step>;

  // Absent: nothing leads there.
  std::optional<Path> to(const values::Slot* slot) { return to(slots_, slot); }
  std::optional<Path> to(const values::Object* object) { return to(objects_, object); }

  struct Thing {
    values::Slot* slot = nullptr;  // null: it lies in none of its own
    Value value;
  };
  // What the path leads to now; absent: there is no such thing.
  static std::optional<Thing> at(const Frame* innermost, const Path& path);

private:
  struct Found {
    std::size_t from;
    Step step;
    Thing thing;
  };
  template <class Known, class Of> std::optional<Path> to(const Known& known, const Of* of) {
    if (const auto it = known.find(of); it != known.end()) return path_to(it->second);
    look_at_written();
    const auto it = known.find(of);
    return it == known.end() ? std::nullopt : std::optional(path_to(it->second));
  }
  void look_at_written();
  void follow(std::size_t from);
  Path path_to(std::size_t at) const;

  const values::Heap& heap_;
  const values::Mark since_;
  bool written_ = false;  // that was looked at
  std::vector<Found> found_;
  std::unordered_map<const values::Slot*, std::size_t> slots_;
  std::unordered_map<const values::Object*, std::size_t> objects_;
};

// When the object was made whose parts change; nothing of a value without such parts.
std::optional<std::uint64_t> birth_of(Value value);

}  // namespace stepzero::interpreter
