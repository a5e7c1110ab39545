// Functions that nobody calls in which an earlier comparison of the ranks found nothing, and what each of
// these comparisons rested on. Where an edit leaves all of that as it was the function is not compared again.
// Knows not how roots are compared.
#pragma once

#include "interpreter/record.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stepzero::rules {

// What a whole record tells of places, as sums over the lines, more or less, that these stand in. A sum stays
// as it is while all that is told of its places does, in whichever order, and wherever their chunk has moved.
class KnownPlaces {
public:
  struct Line {  // bytes of a chunk that share a sum
    std::uint32_t chunk = 0, number = 0;
    auto operator<=>(const Line&) const = default;
  };
  static constexpr std::uint32_t bytes_of_line = 64;

  explicit KnownPlaces(const interpreter::Record& record);
  void add(values::Place place, std::uint64_t what);
  void add(std::string_view what);  // of the whole program
  // Of lines of the record, or of another one of the same file. Nothing: the record has not all of their
  // chunks.
  std::optional<std::uint64_t> of(const std::vector<Line>& lines, const interpreter::Record& record) const;
  static std::uint64_t mixed(std::uint64_t sum, std::uint64_t number);

private:
  std::uint64_t everywhere_ = 0;
  std::vector<std::vector<std::uint64_t>> sums_;  // by chunk and line
  std::unordered_map<const syntax::Chunk*, std::uint32_t> chunks_;
};

class ComparedBefore {
public:
  struct Outcome {
    std::uint64_t rests_on = 0;                         // in the file's own record
    std::vector<std::pair<int, std::uint64_t>> worlds;  // those that were asked, and what rests on their runs
    std::optional<int> highest_named;                   // rank; where that was asked for
    bool wholly = false;                                // see Comparison::compared_roots
  };

  // A comparison begins: what it does not keep again is forgotten with the next one.
  void begin();
  // Null: the root was not compared, or something was found.
  const Outcome* find(const interpreter::Root& root) const;
  void keep(const interpreter::Root& root, Outcome outcome);
  // Sizes of the worlds that a root of this name was last compared in: an edited one hardly asks for others.
  const std::set<int>& worlds_of(const std::string& name) const;
  void keep_worlds(const std::string& name, std::set<int> worlds) { worlds_[name] = std::move(worlds); }
  // The root of a record, and what is known of the places that it comes to. Nothing: it comes to chunks of
  // which nothing can be known.
  std::optional<std::uint64_t> rests_on(
      const interpreter::Root& root, const interpreter::Record& record, const KnownPlaces& known);

private:
  struct Kept {
    std::vector<KnownPlaces::Line> lines;  // that the root comes to, of its record
    std::optional<Outcome> outcome;
    bool asked = true;  // by the last comparison
  };
  std::map<std::string, std::set<int>, std::less<>> worlds_, former_worlds_;
  std::unordered_map<std::uint64_t, Kept> by_serial_;  // of the file's record, and of ranks' runs
};

}  // namespace stepzero::rules
