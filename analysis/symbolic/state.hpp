// What a Context is made of: nodes, their interning, and the facts of the current path with their undo log.
// Internal to the floor; the outside sees expression.hpp only.
//
// Two sorts of knowledge are kept apart. The form of an expression depends on the bounds its atoms were born
// with and on nothing else, so it means the same on every path. The facts of a path only ever answer
// questions.
#pragma once

#include "symbolic/expression.hpp"
#include "symbolic/interval.hpp"

#include <array>
#include <bitset>
#include <deque>
#include <memory_resource>
#include <type_traits>

namespace stepzero::symbolic {

inline constexpr std::size_t most_terms = 64;     // of a sum: what is longer becomes an atom
inline constexpr std::uint32_t most_degree = 64;  // of a product: what is higher becomes an atom
inline constexpr std::uint32_t deepest = 16;      // quotients in quotients: what is deeper becomes an atom
inline constexpr std::uint32_t largest = 512;     // nodes of an expression written out as a tree
// Of a condition: what is asked of it costs its size, and it is asked at every branch.
inline constexpr std::uint32_t largest_condition = 128;
inline constexpr std::uint32_t deepest_condition =
    10;  // conditions in conditions: what is deeper becomes opaque
// A condition is reasoned about by trial, or remembered as a clause, only up to this size.
inline constexpr std::uint32_t largest_trial = 24;
inline constexpr std::size_t most_clauses = 24;  // disjunctions that are looked at again
inline constexpr std::size_t most_rules = 64;    // equations of one path: each question goes through them
inline constexpr std::size_t most_facts =
    256;  // inequalities, or differences; further ones are known as truths only

// The atoms and opaque conditions in an expression, each as one bit of many: two that have no bit in common
// have nothing in common. A long function has hundreds of them, and each question that is asked for nothing
// because two fell together costs more than the bits.
using Mentions = std::bitset<128>;
inline Mentions mention(std::size_t number) { return Mentions().set(number % Mentions().size()); }
inline bool meet(const Mentions& a, const Mentions& b) { return (a & b).any(); }

struct Factor {
  Int atom;
  std::uint32_t power;
};

// A product of atoms in order of their creation; interned. The one without factors is 1.
struct Monomial {
  std::span<const Factor> factors;
  std::uint32_t degree = 0;
  std::uint32_t hash = 0;
  Mentions mentions{};
};

struct Term {
  std::int64_t coefficient;
  const Monomial* monomial;
};

enum class Kind : std::uint8_t { constant, sum, atom, floordiv, mod, min, max };

// Invariant: terms are in descending order (degree first) with non-zero coefficients. A constant has one term
// of degree 0, or none; an atom (of any kind from `atom` on) has itself as its only term.
struct IntNode {
  Kind kind = Kind::constant;
  Sharing sharing = Sharing::uniform;
  std::uint8_t depth = 0;  // of nested operations
  std::uint32_t size = 1;  // as a tree
  std::uint32_t index =
      0;  // in order of creation: every order is made from it, so that none depends on addresses
  std::uint32_t number = 0;  // of an atom: its place among the atoms
  std::uint32_t hash = 0;
  Mentions mentions;  // also within operands
  Interval bounds;    // from the form alone
  std::span<const Term> terms;
  std::span<const Int> operands;  // of floordiv, mod, min, max
  AtomInfo* info = nullptr;       // of the state: the name may change
  Term own{0, nullptr};
  mutable Cond equals_zero = nullptr;  // once it was asked for, also what it comes to
  mutable Cond at_most_zero = nullptr;

  bool constant() const { return kind == Kind::constant; }
  bool atomic() const { return kind >= Kind::atom; }
  std::int64_t value() const { return own.coefficient; }  // of a constant
};

// Invariant: `polynomial == 0` (equal) or `polynomial <= 0`, with coprime coefficients.
struct CondNode {
  Context::Form form = Context::Form::constant;
  Sharing sharing = Sharing::uniform;
  bool truth = false;  // of a constant
  bool equal = false;  // of a comparison
  std::uint8_t depth = 0;
  std::uint32_t size = 1;
  std::uint32_t index = 0;
  std::uint32_t hash = 0;
  Mentions mentions{};
  Int polynomial = nullptr;
  // A comparison, or the negation of an equation, as it was first written; also rank < 1 for rank == 0.
  Compare written = Compare::eq;
  Int left = nullptr;
  Int right = nullptr;
  std::span<const Cond> operands;  // in the order first written
  std::span<const Cond> sorted;    // the same by index
  std::string_view name;           // of an opaque one
  mutable Cond negation = nullptr;
};

// An open-addressing table of interned nodes that carry their own hash.
template <class Node> class Table {
public:
  template <class Same> const Node* find(std::uint32_t hash, Same same) const {
    for (std::size_t i = hash & mask_;; i = (i + 1) & mask_) {
      const Node* node = slots_[i];
      if (!node || (node->hash == hash && same(*node))) return node;
    }
  }
  void insert(const Node* node) {
    if (2 * ++count_ > slots_.size()) grow();
    place(node);
  }

private:
  void place(const Node* node) {
    std::size_t i = node->hash & mask_;
    while (slots_[i]) i = (i + 1) & mask_;
    slots_[i] = node;
  }
  void grow() {
    std::vector<const Node*> old(slots_.size() * 2);
    old.swap(slots_);
    mask_ = slots_.size() - 1;
    for (const Node* node : old)
      if (node) place(node);
  }
  std::vector<const Node*> slots_ = std::vector<const Node*>(256);
  std::size_t mask_ = 255;
  std::size_t count_ = 0;
};

inline Answer answer(bool value) { return value ? Answer::yes : Answer::no; }
// Of the least number as well.
inline std::uint64_t magnitude(std::int64_t value) {
  return value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
}
// With a blank on either side.
inline const char* spelling(Compare op) {
  constexpr std::array spellings{" == ", " != ", " < ", " <= ", " > ", " >= "};
  return spellings[static_cast<std::size_t>(op)];
}

inline std::uint32_t scramble(std::uint64_t seed, std::uint64_t value) {
  std::uint64_t x = (seed ^ value) * 0x9E3779B97F4A7C15u + value;
  x ^= x >> 29;
  x *= 0xBF58476D1CE4E5B9u;
  return static_cast<std::uint32_t>(x ^ (x >> 32));
}

// What facts connect: sets of mentions of which no two meet. Each fact joins those that it meets; facts are
// taken back in the reverse order.
class Components {
public:
  void connect(const Mentions& fact) {
    counts_.push_back(static_cast<std::uint32_t>(parts_.size()));
    former_.insert(former_.end(), parts_.begin(), parts_.end());
    if (fact.none()) return;
    Mentions joined = fact;
    std::erase_if(parts_, [&](const Mentions& part) {
      if (!meet(part, fact)) return false;
      joined |= part;
      return true;
    });
    parts_.push_back(joined);
  }
  void disconnect() {
    const auto begin = former_.end() - counts_.back();
    parts_.assign(begin, former_.end());
    former_.erase(begin, former_.end());
    counts_.pop_back();
  }
  Mentions reached(Mentions from) const {
    for (const Mentions& part : parts_)
      if (meet(part, from)) from |= part;
    return from;
  }

private:
  std::vector<Mentions> parts_,
      former_;                         // `former_`: what the parts were before each fact, one after another
  std::vector<std::uint32_t> counts_;  // of those
};

// The name of what `value` adds to what `seed` names.
inline std::uint64_t named(std::uint64_t seed, std::uint64_t value) {
  std::uint64_t x = (seed + 0x9E3779B97F4A7C15u) ^ value * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x ^ x >> 31;
}

// What was found before, by the name of the question: a table in which an answer takes the place of another.
// It doubles when as many were put in as it has places: most files ask little, and those stay in the nearest
// cache.
template <class Found> class Memo {
public:
  explicit Memo(std::size_t most) : most_(most) {}
  const Found* find(std::uint64_t key) const {
    if (places_.empty()) return nullptr;
    const Place& place = places_[key & (places_.size() - 1)];
    return place.key == key ? &place.found : nullptr;
  }
  void put(std::uint64_t key, Found found) {
    if (places_.empty()) places_.resize(first);
    if (++put_ > places_.size() && places_.size() < most_) {
      put_ = 0;
      places_.assign(places_.size() * 2, {});
    }
    places_[key & (places_.size() - 1)] = {key, found};
  }
  // A question has two names: `key` holds all that is known, `near()` only what the answer rests on. Looks
  // under both, asks `answer()` where neither has it, and keeps it under both.
  template <class Near, class Find> Found ask(std::uint64_t key, const Near& near, const Find& answer) {
    if (const Found* found = find(key)) return *found;
    const std::uint64_t by_mentions = near();
    const Found* known = find(by_mentions);
    const Found result = known ? *known : answer();
    if (!known) put(by_mentions, result);
    put(key, result);
    return result;
  }

private:
  static constexpr std::size_t first = 1 << 8;
  struct Place {
    std::uint64_t key = 0;
    Found found{};
  };
  std::vector<Place> places_;
  std::size_t most_, put_ = 0;
};

// May a simplification look at the facts of the path?
enum class Use : std::uint8_t { form, facts };

struct Rule {
  const Monomial* monomial;  // coefficient * monomial == rest
  std::int64_t
      coefficient;  // > 0; 1 if the monomial is a single atom that occurs nowhere else in the equation
  Int rest;
  bool active = false;  // being applied: its atom stands for itself further in
};

struct Undo {
  enum class What : std::uint8_t { bound, truth, rule, inequality, apart, clause } what;
  std::uint32_t index = 0;
  Interval old{};
  std::uint64_t before = 0;   // what `now` was
  std::uint64_t learned = 0;  // names what is known by it
  Mentions mentions{};
  Mentions bounded{};  // what `State::bounded` was
};

struct Context::State {
  State();

  // ------------------------------------------------------------ storage (context.cpp)
  std::pmr::monotonic_buffer_resource arena{16 * 1024};
  bool any_usual = false;  // has an atom a usual value?
  std::size_t doubts = 0;
  std::deque<AtomInfo> infos;
  bool any_varies = false;
  Table<IntNode> ints;
  Table<Monomial> monomials;
  Table<CondNode> conds;
  std::uint32_t made_ints = 0;
  std::uint32_t made_conds = 0;
  static constexpr std::int64_t least_small = -64, greatest_small = 4096;
  std::array<Int, greatest_small - least_small + 1> small{};
  const Monomial* unit = nullptr;
  Cond truths[2] = {nullptr, nullptr};

  template <class T> std::span<const T> keep(std::span<const T> source) {
    static_assert(std::is_trivially_destructible_v<T>);
    if (source.empty()) return {};
    T* place = static_cast<T*>(arena.allocate(source.size_bytes(), alignof(T)));
    std::uninitialized_copy(source.begin(), source.end(), place);
    return {place, source.size()};
  }
  template <class T> T* make() { return new (arena.allocate(sizeof(T), alignof(T))) T(); }
  std::string_view keep(std::string_view text);

  Int constant(std::int64_t value) {
    if (value >= least_small && value <= greatest_small)
      if (Int found = small[static_cast<std::size_t>(value - least_small)]) return found;
    return make_constant(value);
  }
  Int make_constant(std::int64_t value);
  Int fresh(AtomInfo info);
  Int stand_in(Sharing sharing) { return fresh({{}, {}, {}, sharing, Role::none}); }
  Int operation(Kind kind, std::span<const Int> operands);  // null if too deep or too large
  Int intern(std::span<const Term> terms);                  // in order; null if too large
  const Monomial* intern(std::span<const Factor> factors);
  IntNode* new_atom(Kind kind, std::span<const Int> operands = {});
  Cond intern(const CondNode& draft);

  // ------------------------------------------------------------ polynomials (polynomial.cpp)
  // Null where the result would overflow or grow too large, also in division.cpp and extrema.cpp.
  Int add(Int a, Int b);
  Int sub(Int a, Int b) { return plus_scaled(a, b, -1); }
  Int plus_scaled(Int a, Int b, std::int64_t factor);
  Int mul(Int a, Int b);
  Int mul_term(Int a, Term term);
  Int scale(Int a, std::int64_t factor) { return mul_term(a, {factor, unit}); }
  Int power(Int base, std::int64_t exponent);
  const Monomial* product(const Monomial* a, const Monomial* b);
  const Monomial* quotient(const Monomial* a, const Monomial* b);  // null if b does not divide a
  const Monomial* common(const Monomial* a, const Monomial* b);
  static bool before(const Monomial* a, const Monomial* b);
  Int of_monomial(const Monomial* monomial);
  static std::int64_t constant_part(Int a);
  // The greatest common divisor of the coefficients, those of degree 0 included or not. 0 for 0.
  static std::uint64_t content(Int a, bool with_constant);
  Int divide_coefficients(Int a, std::int64_t divisor);  // the constant part rounds down
  bool occurs(Int atom, Int in) const;
  Int substitute(Int a, std::span<const Assignment> values);
  std::optional<std::int64_t> evaluate(Int a, std::span<const Assignment> values) const;
  std::vector<Term> scratch;

  // ------------------------------------------------------------ division and extrema
  Int exact_quotient(Int a, Int b);
  Int floordiv(Int a, Int b, Use use);
  Int mod(Int a, Int b, Use use);
  Int extremum(Kind kind, std::span<const Int> operands, Use use);
  bool cancel(Int& a, Int& b, Int& factor);

  // ------------------------------------------------------------ bounds (bounds.cpp)
  Interval bounds(Int a, Use use) const;
  Interval bounds_now(Int a) const;  // by the facts; not remembered
  Interval bounds(const Monomial* monomial, Use use) const;
  Interval bounds(const Term& term, Use use) const;
  mutable Memo<Interval> ranges{1 << 13};  // of operations in operations
  static Interval operation_bounds(Kind kind, std::span<const Interval> operands);
  // An upper bound of a, found by adding inequalities that hold; stops at the first that is <= goal.
  std::int64_t best_upper(Int a, std::int64_t goal, Use use);
  std::int64_t find_upper(Int a, std::int64_t goal, Use use);  // the same, not remembered
  Memo<std::int64_t> uppers{1 << 13};
  std::uint64_t bounds_near(
      const Mentions& mentions) const;  // names all that is known of them and bounds something
  // Was a number above the limit found that it may be, by all that the search looks at? No: nothing is known.
  bool exceeds(Int a, std::int64_t limit, Use use);
  std::vector<Int> sampled_atoms;          // of exceeds()
  std::vector<Assignment> sampled_values;  // of exceeds()
  bool at_most_zero(Int a, Use use) { return best_upper(a, 0, use) <= 0; }
  struct Search;
  std::int64_t search_upper(Int a, std::int64_t goal, Search& search, int depth);
  // Inequalities `<= 0` that hold by the meaning of an operation.
  void axioms(Int atom, Use use, std::vector<Int>& out);

  // ------------------------------------------------------------ facts (facts.cpp, rewrite.cpp)
  std::vector<Interval> known;  // by atom number
  std::vector<Answer> assumed;  // by condition index
  std::vector<Rule> rules;
  std::vector<Int> inequalities;  // <= 0
  std::vector<Int> apart;         // != 0
  std::vector<Cond> clauses;      // disjunctions that hold
  // Of each what it mentions, and what two alternatives do that were open when it was last looked at. They
  // were so before what was learned since, and are while nothing is learned of them.
  struct Watched {
    Mentions clause, so_far, open;  // `so_far`: of this one and those before it
    bool is_open = false;
  };
  std::vector<Watched> watched;
  std::vector<Undo> log;
  // Names the present state of the facts: made of what was learned, in order, so that to learn the same again
  // leads to the same name. Different states have different ones, but for the chance that 64 bits leave.
  std::uint64_t now = 1;
  Mentions bounded{};  // by the log's entries: of all else the bounds are those of the form
  int nesting = 0;     // of assumptions made for the sake of an answer
  // Questions that the present answer may still raise; then what is left of it is unknown. Counted, so that
  // the same questions have the same answers.
  static constexpr int most_effort = 48;
  int effort = most_effort;
  bool exhausted = false;  // was a question left open for want of effort?
  // What was found before, and what it took: who finds it here is charged the same, so that an answer does
  // not depend on what was asked before it. By the question, the state of the facts and the depth.
  struct Decision {
    std::int8_t budget = 0, cost = 0;
    bool exhausted = false;  // then it holds for the same budget only
    Answer found = Answer::unknown;
  };
  Memo<Decision> decisions{1 << 13};
  const Decision* made_before(std::uint64_t key) const;  // null if it was not, or with other means
  Answer charge(const Decision& made);
  // Names all that is known and has to do with what is mentioned: an answer depends on nothing else.
  std::uint64_t known_near(const Mentions& mentions) const;

  bool assume(Cond condition);
  bool learn(Cond condition);
  bool propagate(const Mentions& learned);
  void spend_on_open_clause(int before);  // `before`: the effort that was left
  // All that facts connect with what is mentioned, so that what is learned of the one may tell of the other;
  // also through disjunctions that hold.
  Components by_facts, by_clauses;
  Mentions reached(const Mentions& from) const { return by_facts.reached(from); }
  Mentions reached_by_clauses(const Mentions& from) const { return by_clauses.reached(from); }
  // Are all alternatives of the disjunction connected with what is mentioned, not counting that itself?
  bool leads_to_each(Mentions from, Cond clause) const;
  void connect(const Mentions& fact) {
    by_facts.connect(fact);
    by_clauses.connect(fact);
  }
  void disconnect() {
    by_facts.disconnect();
    by_clauses.disconnect();
  }
  bool set_truth(Cond condition, bool value);
  bool tighten(Int at_most_zero);
  bool set_bounds(Int atom, Interval bounds);
  bool add_equation(Int zero, int depth, bool quotient_of_itself);
  bool nudge_apart();
  bool solve(Int zero, bool quotient_of_itself);  // adds the rule that replaces an atom or a product
  // `content` and `more` say what is learned, `about` of what.
  void note(Undo undo, const Mentions& about, std::uint64_t content, std::uint64_t more = 0) {
    undo.before = now;
    undo.mentions = about;
    undo.bounded = bounded;
    if (undo.what == Undo::What::bound) bounded |= about;
    undo.learned = named(named(static_cast<std::uint64_t>(undo.what) << 32 | undo.index, content), more);
    log.push_back(undo);
    now = named(now, log.back().learned);
  }
  std::vector<std::pair<std::size_t, Cond>>
      assumptions;  // what the log's entries come from, by where each begins
  void rewind(std::size_t mark);
  Int rewrite(Int a);
  Int rewrite_now(Int a);  // the same, not remembered
  Int rewrite(Int a, int& fuel);
  Int rewrite_once(Int a, int& fuel);
  Int rewrite_atom(Int atom, int& fuel);
  Int rewrite_products(Int a);
  Int operate(Kind kind, std::span<const Int> operands, Use use);
  bool rewriting = false;
  bool restating = false;  // a rule stands for itself
  Memo<Int> rewrites{1 << 13};
  bool propagating = false;

  // ------------------------------------------------------------ conditions (condition.cpp, decide.cpp)
  Cond boolean(bool value) const { return truths[value ? 1 : 0]; }
  Cond compared(Compare op, Int a, Int b);
  Cond comparison(bool equal, Int polynomial, Compare written, Int left, Int right);
  Cond make_comparison(bool equal, Int polynomial, Compare written, Int left, Int right);
  Cond differing(Cond equation, Compare written, Int left, Int right);
  std::pair<Int, Int> sides(Int sum);
  Cond opaque(std::string_view name, Sharing sharing);
  Cond negation(Cond a);
  Cond combined(Form form, std::span<const Cond> operands);
  Cond pair(Form form, Cond a, Cond b);  // the same of two, remembered
  Memo<Cond> pairs{1 << 13};
  Answer decide(Cond a);
  Answer decide_now(Cond a);
  bool spend();  // one unit of effort; false if there is none left
  Answer decide_comparison(Cond a);
  Answer decide_combined(Cond a);
  Answer decide_by_cases(Cond a);
  bool implies(Cond a, Cond b);  // of single comparisons, by the form
  Answer evaluate(Cond a, std::span<const Assignment> values, std::span<const Truth> given);

  // ------------------------------------------------------------ text (text.cpp)
  static std::string text(Int a);
  static std::string text(Cond a);

  static bool is_named(Int a);  // naming.cpp
};

}  // namespace stepzero::symbolic
