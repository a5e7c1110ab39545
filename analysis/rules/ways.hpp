// A search through the ways that a run may go where it asks what nothing decides, and how a condition is
// decided by its parts. Knows neither processes nor events: who searches walks one way from its beginning
// under the answers so far, and says where that came to.
#pragma once

#include "symbolic/expression.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

namespace stepzero::rules {

class WaySearch {
public:
  enum class Came : std::uint8_t { through, to_a_question, too_far, nowhere };

  // Every way: each question is answered both ways.
  static WaySearch every(std::size_t most_walks) { return {true, most_walks, 0}; }
  // One way, drawn by this number, and always the same one; by zero that in which every answer is no, where
  // that is possible.
  static WaySearch one(std::uint64_t drawn_by) { return {false, most_asked, drawn_by}; }
  std::uint64_t drawn_by() const { return random_; }  // for the next one

  // `walk(question)` walks one way; `under(question, answer, go_on)` goes on with an answer, and gives what
  // that came to, or nothing where the answer is impossible. Of every way: false if there are too many. Of
  // one: false if none was found.
  template <class Question, class WalkOne, class Under> bool follow(const WalkOne& walk, const Under& under) {
    if (++walks_ > most_walks_) return false;
    Question question;
    switch (walk(question)) {
    case Came::through: return true;
    case Came::too_far: return false;
    case Came::nowhere: return all_;
    case Came::to_a_question: break;
    }
    const auto answered = [&](bool answer) {
      const std::optional<bool> done = under(question, answer, [&] { return follow<Question>(walk, under); });
      return done.value_or(all_);
    };
    const bool first = first_answer(), done = answered(first);
    return done == all_ ? answered(!first) : done;
  }

private:
  static constexpr std::size_t most_asked = 2000;  // questions on one way, and answers that came to nothing

  WaySearch(bool all, std::size_t most_walks, std::uint64_t random)
      : all_(all), most_walks_(most_walks), random_(random) {}
  bool first_answer() {
    if (all_) return true;
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return (random_ >> 20 & 1) != 0;
  }

  bool all_;
  std::size_t most_walks_, walks_ = 0;
  std::uint64_t random_;
};

// Decides a condition by its parts; `leaf` answers those that have none. `missing` is the first part that has
// no answer: it is taken back where the others make it needless.
// `known` answers what of any condition needs no question: where that settles a part, nothing else of it is
// asked.
template <class Leaf, class Known = std::nullptr_t>
symbolic::Answer decide_by_parts(const symbolic::Context& symbols, symbolic::Cond condition,
    symbolic::Cond& missing, const Leaf& leaf, const Known& known = {}) {
  using Form = symbolic::Context::Form;
  using symbolic::Answer;
  switch (symbols.form(condition)) {
  case Form::constant: return symbols.decide(condition);
  case Form::negation: {
    const Answer inner = decide_by_parts(symbols, symbols.operands(condition)[0], missing, leaf, known);
    return inner == Answer::yes ? Answer::no : inner == Answer::no ? Answer::yes : inner;
  }
  case Form::conjunction:
  case Form::disjunction: {
    const bool all = symbols.form(condition) == Form::conjunction;
    const Answer settles = all ? Answer::no : Answer::yes;
    const symbolic::Cond missing_before = missing;
    if constexpr (!std::is_same_v<Known, std::nullptr_t>)
      for (const symbolic::Cond operand : symbols.operands(condition))
        if (known(operand) == settles) return settles;
    bool unknown = false;
    for (const symbolic::Cond operand : symbols.operands(condition)) {
      const Answer answer = decide_by_parts(symbols, operand, missing, leaf, known);
      if (answer == settles) {
        missing = missing_before;
        return settles;
      }
      unknown = unknown || answer == Answer::unknown;
    }
    return unknown ? Answer::unknown : all ? Answer::yes : Answer::no;
  }
  case Form::compare:
  case Form::opaque: return leaf(condition);
  }
  return Answer::unknown;
}

}  // namespace stepzero::rules
