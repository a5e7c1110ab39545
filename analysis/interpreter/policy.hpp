// What a run takes for granted where the program leaves it open. Problems are found by runs that prove: they
// take nothing for granted. Shapes are shown by runs that presume what is usual, and of which nothing is
// reported. Each question is a member of its own, so that whoever asks says what it is about. Holds no state.
#pragma once

namespace stepzero::interpreter {

struct Policy {
  // Presumed of values
  bool usual_ndim =
      false;  // of several numbers of dimensions that an operator takes, the usual one; a name is one size
  bool operands_fit =
      false;  // calls succeed as they are meant: what is not known of one operand is as the other needs it
  bool optional_is_given = false;     // what may be None is not
  bool believes_annotations = false;  // parameters are what their annotations say
  bool joins_equivalent = false;      // two values with the same shape are one
  bool names_sizes = false;           // a size that is not known goes by a name that the program gives it
  // What is run
  bool runs_called_functions =
      false;  // on symbols, as if nobody called them: what holds of every call is shown
  bool follows_keyword_choices = false;
  bool picks_override = false;  // an abstract method is one of those that override it
  bool skips_equal_iterations =
      false;  // of an unrolled loop, those that would do what the one before did to other objects
  bool looks_for_failures = true;  // iterations that nothing but failures is learned from
  bool facts_of_other_classes =
      true;  // what a method does for an object of a derived class is a fact of its text, too
};

inline constexpr Policy proving{};
inline constexpr Policy showing{true, true, true, true, true, true, true, true, true, true, false, false};

}  // namespace stepzero::interpreter
