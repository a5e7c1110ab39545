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

  // Every way: each question is answered both ways. Where the ways so far show that there are far too many
  // the search ends before it has gone through as many as it may.
  static WaySearch every(std::size_t most_walks) { return {true, most_walks, 0}; }
  // One way, drawn by this number, and always the same one; by zero that in which every answer is no, where
  // that is possible.
  static WaySearch one(std::uint64_t drawn_by) { return {false, most_asked, drawn_by}; }
  std::uint64_t drawn_by() const { return random_; }  // for the next one

  // `walk(question)` walks one way; `under(question, answer, go_on)` goes on with an answer, and gives what
  // that came to, or nothing where the answer is impossible. Of every way: false if there are too many. Of
  // one: false if none was found.
  template <class Question, class WalkOne, class Under> bool follow(const WalkOne& walk, const Under& under) {
    if (++walks_ > most_walks_ || hopeless_) return false;
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
    const std::size_t before = walks_;
    ++open_;
    const bool first = first_answer(), done = answered(first);
    --open_;
    if (done != all_) return done;
    const std::size_t by_first = walks_ - before;
    if (all_ && are_far_too_many(by_first)) return false;
    const bool too = answered(!first);
    if (by_first >= few) note_growth(static_cast<double>(walks_ - before) / static_cast<double>(by_first));
    return too;
  }

private:
  static constexpr std::size_t most_asked = 2000;  // questions on one way, and answers that came to nothing

  static constexpr std::size_t few = 8;  // walks that tell nothing of how their number grows yet
  static constexpr std::size_t enough = 64;
  static constexpr double far_too_many = 64;  // times the most: the estimate may be wrong by so much

  // How many times as many walks there are for one more question; of the questions answered last.
  void note_growth(double times) { growth_ = growth_ == 0 ? times : (growth_ + times) / 2; }
  // Each question around that has one answer so far makes their number grow as those did that have both.
  bool are_far_too_many(std::size_t walks) {
    if (walks < enough || growth_ == 0) return false;
    const double most = far_too_many * static_cast<double>(most_walks_);
    double all = static_cast<double>(walks);
    for (std::size_t question = 0; question <= open_ && all < most; ++question) all *= growth_;
    return hopeless_ = all >= most;
  }

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
  std::size_t open_ = 0;  // questions of which the first answer is being followed
  double growth_ = 0;     // 0: not known
  bool hopeless_ = false;
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
