// Integer expressions and conditions in canonical form, and what is known of them. An expression is a
// polynomial with 64-bit coefficients over atoms; floor-division, modulo, min and max of expressions are
// atoms themselves when they do not simplify. Equal expressions are the same pointer. Knows no tensor and no
// Python.
//
// The form of an expression or condition depends on the bounds that its atoms were born with and never on the
// facts of a path, so it means the same on every path. Divisors are taken to be non-zero: where one is zero
// Python raises.
//
// Everything belongs to a Context, which belongs to one run and one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stepzero::symbolic {

// How a value relates among the ranks of a job.
enum class Sharing : std::uint8_t {
  uniform,    // the same on every rank
  divergent,  // a function of the rank (and of uniform values)
  local,      // depends on per-rank data
  unseen,     // comes from code that was not seen: not even this is known
};
// The sharing of a value computed from both.
Sharing mix(Sharing a, Sharing b);

// Atoms with a meaning of their own; the others have `none`.
enum class Role : std::uint8_t { none, rank, local_rank, node_rank, world_size, local_world_size };

enum class Answer : std::uint8_t { no, yes, unknown };

struct AtomInfo {
  std::string name;                   // as the user would write it: "B", "config.n_head", "rank"
  std::optional<std::int64_t> lower;  // inclusive
  std::optional<std::int64_t> upper;
  Sharing sharing = Sharing::uniform;
  Role role = Role::none;
  std::optional<std::int64_t> usual = {};  // what it is where nobody says otherwise: a parameter's default
  bool varies = false;    // it stands for one of many that differ: sizes of the layers of a list
  bool stand_in = false;  // the name is one until the program gives another
  bool of_iteration =
      false;  // it was made in a round of a loop: each item of a list that the rounds filled has its own
  std::uint64_t made = ~std::uint64_t{
      0};  // when the value was made whose number it is, on the clock of who makes values; by default now
};

struct IntNode;
struct CondNode;
// Interned: compare with ==. Null means "not an integer that is known in any way".
using Int = const IntNode*;
using Cond = const CondNode*;

enum class Compare : std::uint8_t { eq, ne, lt, le, gt, ge };

// Values for some atoms, e.g. rank = 1 in a world of 2.
struct Assignment {
  Int atom;
  std::int64_t value;
};

class Context {
public:
  Context();
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // ------------------------------------------------------------ integers
  Int constant(std::int64_t value);
  // A new atom, different from all others even if the name is not.
  Int fresh(AtomInfo info);

  // Arithmetic that would overflow 64 bits, exceed 64 terms, degree 64 or 512 nodes, or nest deeper than 16
  // gives a fresh atom named "?" whose sharing is that of its parts; so does division by zero (Python raises
  // there: the caller looks first).
  Int add(Int a, Int b);
  Int sub(Int a, Int b);
  Int mul(Int a, Int b);
  Int negate(Int a);
  Int floordiv(Int a, Int b);  // Python's //: rounds down
  Int mod(Int a, Int b);       // Python's %: the sign of b
  Int min(Int a, Int b);
  Int max(Int a, Int b);
  Int power(Int base, std::int64_t exponent);  // exponent >= 0

  std::optional<std::int64_t> value(Int a) const;  // the constant, if it is one
  bool is_atom(Int a) const;
  const AtomInfo* atom_info(Int a) const;  // null if `a` is no single plain atom
  bool varies(Int a) const;                // does any of its atoms?
  // A loop notes at its end that the atoms made since its beginning are of its rounds, but for those of
  // values that were there before.
  std::size_t atoms_made() const;
  void note_iterations(std::size_t first, std::uint64_t began);
  bool is_of_iteration(Int a) const;  // is any of its atoms?
  // Another number of which as much is known as of `a` by its bounds.
  Int another(Int a);
  // The name of an atom that has a stand-in for one, from here on.
  void rename(Int atom, std::string name);
  bool has_stand_in(Int a) const;  // is it an atom with such a name?
  Sharing sharing(Int a) const;
  std::optional<std::int64_t> lower(Int a) const;  // bounds that follow from those of the atoms and the facts
  std::optional<std::int64_t> upper(Int a) const;
  // In the user's names: "B*T", "n_embd//n_head", "2*C + 1".
  std::string text(Int a) const;
  // a / b if it is an integer expression for all values of the atoms (b*q == a holds as polynomials).
  std::optional<Int> exact_quotient(Int a, Int b);
  // Calls `visit` for every plain atom that occurs in `a`, also within floor-divisions and the like.
  void atoms(Int a, const std::function<void(Int)>& visit) const;
  // `a` with the given atoms replaced.
  Int substitute(Int a, std::span<const Assignment> values);

  // ------------------------------------------------------------ facts
  // Facts hold on the current path only. mark() and rewind() nest: rewind(m) forgets what was assumed since
  // m.
  std::size_t mark() const;
  void rewind(std::size_t mark);
  // All disjunctions among what was assumed since.
  Cond disjunctions_since(std::size_t mark);
  // The condition holds from here on. False if it contradicts what is known: the path cannot be taken, and
  // what is known on it means nothing until the next rewind.
  bool assume(Cond condition);
  // What was assumed since, in order: to assume it again leads to the same.
  std::vector<Cond> assumed_since(std::size_t mark) const;
  Answer compare(Compare op, Int a, Int b) const;  // by the polynomials, the bounds and the facts
  Answer divides(Int divisor, Int a) const;
  // The truth if every atom has its usual value; unknown if one has none, or the condition is of something
  // else, too.
  Answer usually(Cond condition) const;
  // How many equalities were asked for so far, and left open, that usually do not hold; those with 0 and 1
  // are not counted, by which programs ask what kind of a size it is.
  std::size_t doubts() const;
  bool any_usual() const;     // has any atom a usual value?
  void doubt(Cond required);  // counts as one of them if it usually does not hold

  // ------------------------------------------------------------ conditions
  Cond boolean(bool value);
  // Simplifies. Canonical: only eq, lt and le remain; ne is the negation of eq.
  Cond compared(Compare op, Int a, Int b);
  // A truth value of which nothing else is known; always a new one.
  Cond opaque(std::string name, Sharing sharing);
  Cond logical_not(Cond a);
  Cond logical_and(Cond a, Cond b);
  Cond logical_or(Cond a, Cond b);

  // yes/no if it follows from the form, the bounds and the facts (an opaque condition assumed before is
  // known, too).
  Answer decide(Cond a) const;
  Sharing sharing(Cond a) const;
  std::string text(Cond a) const;  // "rank == 0 and epoch % 10 == 0", as it was first written
  bool is_named(Cond a) const;     // does its text name all that it asks for? "? > begin" tells nobody when
  // The truth for given atoms and, for opaque parts, given truths; unknown if it depends on anything else.
  // Does not look at the facts.
  struct Truth {
    Cond condition;
    bool value;
  };
  Answer evaluate(Cond a, std::span<const Assignment> values, std::span<const Truth> truths = {}) const;
  // Is every plain atom and opaque part of `a` of the given kind? Used to ask whether a condition is about
  // ranks.
  void parts(Cond a, const std::function<void(Int)>& atom, const std::function<void(Cond)>& opaque) const;
  // For walking: the operands of a conjunction or disjunction, the operand of a negation, else empty.
  enum class Form : std::uint8_t { constant, compare, opaque, negation, conjunction, disjunction };
  Form form(Cond a) const;
  std::span<const Cond> operands(Cond a) const;
  struct Comparison {
    Compare op;
    Int left;
    Int right;
  };
  std::optional<Comparison> comparison(Cond a) const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stepzero::symbolic
