// What holds for every expression: values are kept, answers agree with brute force, forms are canonical.
#include "brute_force.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>

using namespace stepzero::symbolic;
using namespace stepzero::symbolic::brute_force;

namespace {

// STEPZERO_ROUNDS multiplies the work for a long run by hand.
std::uint64_t rounds(std::uint64_t usual) {
  const char* factor = std::getenv("STEPZERO_ROUNDS");
  return usual * (factor ? std::strtoull(factor, nullptr, 10) : 1);
}

constexpr std::array both{false, true};

}  // namespace

TEST_CASE("simplification keeps the value", "[symbolic][property]") {
  std::size_t compared = 0;
  for (std::uint64_t seed = 1; seed <= rounds(3000); ++seed) {
    Random random(seed);
    RandomContext context(random, 6);
    const auto tree = random_tree(random, 4);
    Int built = tree->build(context, context.atoms);
    const auto lower = context.lower(built), upper = context.upper(built);
    for (int i = 0; i < 20; ++i) {
      Values values;
      for (std::size_t k = 0; k < atom_count; ++k)
        values[k] = random.between(context.box.low[k], context.box.high[k]);
      const auto expected = tree->run(values);
      if (!expected) continue;
      const auto assignment = context.assignment(values);
      const auto found = context.value(context.substitute(built, assignment));
      if (!found) continue;  // a part stands for what was too deep
      ++compared;
      INFO("seed " << seed << ": " << context.text(built) << " at " << values[0] << ", " << values[1] << ", "
                   << values[2]);
      REQUIRE(*found == *expected);
      if (lower) REQUIRE(*lower <= *expected);
      if (upper) REQUIRE(*expected <= *upper);
    }
  }
  CHECK(compared > rounds(20000));
}

TEST_CASE("conditions keep their truth", "[symbolic][property]") {
  for (std::uint64_t seed = 1; seed <= rounds(3000); ++seed) {
    Random random(seed);
    RandomContext context(random);
    const auto claim = random_claim(random, 3, 2);
    Cond built = claim->build(context, context.atoms, context.opaques);
    for (int i = 0; i < 20; ++i) {
      Values values;
      for (std::size_t k = 0; k < atom_count; ++k)
        values[k] = random.between(context.box.low[k], context.box.high[k]);
      const Truths truths{random.chance(50), random.chance(50)};
      const auto expected = claim->run(values, truths);
      if (!expected) continue;
      const auto assignment = context.assignment(values);
      const Context::Truth given[] = {{context.opaques[0], truths[0]}, {context.opaques[1], truths[1]}};
      INFO("seed " << seed << ": " << context.text(built) << " at " << values[0] << ", " << values[1] << ", "
                   << values[2]);
      const Answer found = context.evaluate(built, assignment, given);
      REQUIRE(found == (*expected ? Answer::yes : Answer::no));
      REQUIRE(context.evaluate(context.logical_not(built), assignment, given) ==
          (*expected ? Answer::no : Answer::yes));
      const Answer partly = context.evaluate(built, std::span(assignment).first(2), std::span(given, 1));
      REQUIRE((partly == Answer::unknown || partly == found));
    }
  }
}

TEST_CASE("answers under facts agree with brute force", "[symbolic][property]") {
  std::size_t answered = 0, missed = 0, contradictions = 0, contradictions_missed = 0;
  for (std::uint64_t seed = 1; seed <= rounds(800); ++seed) {
    Random random(seed);
    RandomContext context(random);
    std::vector<std::shared_ptr<const Claim>> facts, questions;
    for (std::int64_t i = random.between(1, 4); i > 0; --i) facts.push_back(random_claim(random, 2, 2));
    questions.reserve(6);
    for (int i = 0; i < 6; ++i) questions.push_back(random_claim(random, i < 4 ? 0 : 2, 2));

    std::vector<Cond> asked;
    std::vector<Answer> before;
    for (const auto& question : questions) {
      asked.push_back(question->build(context, context.atoms, context.opaques));
      before.push_back(context.decide(asked.back()));
    }
    const std::size_t mark = context.mark();
    bool consistent = true;
    std::string path_text;
    for (const auto& fact : facts) {
      Cond condition = fact->build(context, context.atoms, context.opaques);
      path_text += context.text(condition) + "; ";
      consistent = consistent && context.assume(condition);
    }
    std::vector<Answer> found;
    std::vector<std::optional<std::int64_t>> lower, upper;
    if (consistent) {
      found.reserve(asked.size());
      for (Cond each : asked) found.push_back(context.decide(each));
      for (Int atom : context.atoms) {
        lower.push_back(context.lower(atom));
        upper.push_back(context.upper(atom));
      }
    }

    std::size_t possible = 0;
    std::vector<std::array<bool, 2>> seen(questions.size());
    context.box.each([&](const Values& values) {
      for (bool p : both)
        for (bool q : both) {
          const Truths truths{p, q};
          const bool holds = std::all_of(facts.begin(), facts.end(),
              [&](const auto& fact) { return fact->run(values, truths) == true; });
          if (!holds) continue;
          ++possible;
          INFO("seed " << seed << ": " << path_text << " at " << values[0] << ", " << values[1] << ", "
                       << values[2]);
          if (!consistent) FAIL("called a contradiction, but this satisfies it");
          for (std::size_t k = 0; k < atom_count; ++k) {
            if (lower[k] && *lower[k] > values[k]) FAIL("lower bound " << *lower[k]);
            if (upper[k] && *upper[k] < values[k]) FAIL("upper bound " << *upper[k]);
          }
          for (std::size_t i = 0; i < questions.size(); ++i) {
            const auto truth = questions[i]->run(values, truths);
            if (!truth) continue;
            seen[i][*truth ? 1 : 0] = true;
            if (found[i] != Answer::unknown && (found[i] == Answer::yes) != *truth)
              FAIL("question " << context.text(asked[i]) << " is answered " << static_cast<int>(found[i]));
          }
        }
    });
    if (!consistent) ++contradictions;
    if (possible == 0 && consistent) ++contradictions_missed;
    if (possible > 0)
      for (std::size_t i = 0; i < questions.size(); ++i) {
        if (found[i] != Answer::unknown) ++answered;
        if (found[i] == Answer::unknown && seen[i][0] != seen[i][1]) ++missed;
      }
    context.rewind(mark);
    for (std::size_t i = 0; i < asked.size(); ++i) REQUIRE(context.decide(asked[i]) == before[i]);
  }
  // Unbounded atoms make much of the small box undecidable; what is answered today should not become less.
  CAPTURE(answered, missed, contradictions, contradictions_missed);
  CHECK(2 * answered > missed);
  CHECK(2 * contradictions > contradictions_missed);
}

TEST_CASE("polynomials that are equal are the same", "[symbolic][property]") {
  for (std::uint64_t seed = 1; seed <= rounds(3000); ++seed) {
    Random random(seed);
    RandomContext context(random);
    // Commutes, associates and distributes at random.
    const auto rewritten = [&](const auto& self, const Tree& tree) -> Int {
      if (tree.op == Op::constant || tree.op == Op::atom) return tree.build(context, context.atoms);
      if (tree.op == Op::sub) {
        Int a = self(self, *tree.left), b = self(self, *tree.right);
        return random.chance(50) ? context.negate(context.sub(b, a)) : context.add(context.negate(b), a);
      }
      const bool product = tree.op == Op::mul;
      Int a = self(self, *tree.left), b = self(self, *tree.right);
      if (product && random.chance(50) && (tree.left->op == Op::add || tree.left->op == Op::sub)) {
        Int x = self(self, *tree.left->left), y = self(self, *tree.left->right);
        Int second = context.mul(b, y);
        return tree.left->op == Op::add ? context.add(second, context.mul(x, b))
                                        : context.sub(context.mul(x, b), second);
      }
      if (tree.right->op == tree.op && random.chance(50)) {
        Int x = self(self, *tree.right->left), y = self(self, *tree.right->right);
        return product ? context.mul(context.mul(y, a), x) : context.add(context.add(y, a), x);
      }
      return product ? context.mul(b, a) : context.add(b, a);
    };
    const auto tree = random_tree(random, 4, true);
    Int first = tree->build(context, context.atoms);
    INFO("seed " << seed << ": " << context.text(first));
    REQUIRE(rewritten(rewritten, *tree) == first);
  }
}

TEST_CASE("nothing wraps", "[symbolic][property]") {
  constexpr std::array<std::int64_t, 10> extremes{
      INT64_MIN, INT64_MIN + 1, INT64_MIN / 2, -2, -1, 1, 2, INT64_MAX / 2, INT64_MAX - 1, INT64_MAX};
  for (std::uint64_t seed = 1; seed <= rounds(3000); ++seed) {
    Random random(seed);
    World w;
    std::vector<Int> pool;
    const auto extreme = [&] { return extremes[static_cast<std::size_t>(random.between(0, 9))]; };
    for (int i = 0; i < 3; ++i) {
      pool.push_back(w.c(extreme()));
      const std::int64_t a = extreme(), b = extreme();
      pool.push_back(w.atom("n", std::min(a, b), std::max(a, b)));
    }
    const auto pick = [&] { return pool[static_cast<std::size_t>(random.next() % pool.size())]; };
    for (int i = 0; i < 12; ++i) {
      Int a = pick(), b = pick();
      switch (random.between(0, 7)) {
      case 0: pool.push_back(w.add(a, b)); break;
      case 1: pool.push_back(w.sub(a, b)); break;
      case 2: pool.push_back(w.mul(a, b)); break;
      case 3: pool.push_back(w.floordiv(a, b)); break;
      case 4: pool.push_back(w.mod(a, b)); break;
      case 5: pool.push_back(w.min(a, b)); break;
      case 6: pool.push_back(w.negate(a)); break;
      default: pool.push_back(w.power(a, random.between(0, 70))); break;
      }
      REQUIRE(pool.back());
      Cond claim = w.compared(static_cast<Compare>(random.between(0, 5)), a, pool.back());
      if (random.chance(40)) w.assume(claim);
      w.decide(claim);
      w.lower(pool.back());
      w.divides(b, a);
      w.exact_quotient(a, b);
      const Assignment one[] = {{pool[1], extreme()}, {pool[3], extreme()}};
      w.evaluate(claim, one);
      REQUIRE(w.text(claim).size() < 100000);
    }
  }
  World w;
  for (std::int64_t a : extremes)
    for (std::int64_t b : extremes) {
      __extension__ typedef __int128 Wide;
      const Wide sum = Wide{a} + b, product = Wide{a} * b;
      const auto fits = [](Wide value) { return value >= INT64_MIN && value <= INT64_MAX; };
      CHECK(w.value(w.add(w.c(a), w.c(b))).has_value() == fits(sum));
      CHECK(w.value(w.mul(w.c(a), w.c(b))).has_value() == fits(product));
      const Wide remainder = Wide{a} % b;
      const bool down = remainder != 0 && (remainder < 0) != (b < 0);
      CHECK(w.value(w.mod(w.c(a), w.c(b))) == static_cast<std::int64_t>(remainder + (down ? b : 0)));
      const Wide quotient = Wide{a} / b - (down ? 1 : 0);
      CHECK(w.value(w.floordiv(w.c(a), w.c(b))).has_value() == fits(quotient));
      if (const auto value = w.value(w.floordiv(w.c(a), w.c(b)))) CHECK(Wide{*value} == quotient);
      if (const auto value = w.value(w.mul(w.c(a), w.c(b)))) CHECK(Wide{*value} == product);
    }
}
