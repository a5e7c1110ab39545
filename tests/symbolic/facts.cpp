// Facts of a path: what they decide, what contradicts them, and how they are forgotten.
#include "world.hpp"

#include <catch2/catch.hpp>

using namespace stepzero::symbolic;

TEST_CASE("heads times their size is the width only if it divides", "[symbolic]") {
  World w;
  Int B = w.atom("B", 0), T = w.atom("T", 0), C = w.atom("C", 0), n_head = w.atom("n_head", 1);
  Int viewed = w.mul(w.mul(B, T), w.mul(n_head, w.floordiv(C, n_head)));
  Int whole = w.mul(w.mul(B, T), C);
  CHECK(w.compare(Compare::eq, viewed, whole) == Answer::unknown);
  CHECK(w.compare(Compare::le, viewed, whole) == Answer::yes);
  const std::size_t mark = w.mark();
  REQUIRE(w.assume(w.eq(w.mod(C, n_head), w.c(0))));
  CHECK(w.compare(Compare::eq, viewed, whole) == Answer::yes);
  CHECK(w.divides(n_head, C) == Answer::yes);
  CHECK(w.divides(n_head, w.mul(B, C)) == Answer::yes);
  CHECK(w.divides(n_head, B) == Answer::unknown);
  w.rewind(mark);
  CHECK(w.compare(Compare::eq, viewed, whole) == Answer::unknown);
}

TEST_CASE("divisibility is transitive", "[symbolic]") {
  World w;
  Int C = w.atom("C", 1), n = w.atom("n", 1);
  REQUIRE(w.assume(w.eq(w.mod(C, w.c(64)), w.c(0))));
  CHECK(w.divides(w.c(8), C) == Answer::yes);
  CHECK(w.divides(w.c(8), w.add(C, w.c(3))) == Answer::no);
  CHECK(w.divides(w.c(128), C) == Answer::unknown);
  REQUIRE(w.assume(w.eq(w.mod(n, C), w.c(0))));
  CHECK(w.divides(w.c(8), n) == Answer::yes);
  CHECK(w.compare(Compare::eq, w.mod(w.add(C, w.c(5)), w.c(16)), w.c(5)) == Answer::yes);
}

TEST_CASE("equations replace what they define", "[symbolic]") {
  World w;
  Int a = w.atom("a"), b = w.atom("b"), c = w.atom("c");
  REQUIRE(w.assume(w.eq(a, w.add(b, w.c(1)))));
  CHECK(w.compare(Compare::eq, w.mul(a, c), w.add(w.mul(b, c), c)) == Answer::yes);
  CHECK(w.compare(Compare::lt, b, a) == Answer::yes);
  CHECK(w.compare(Compare::eq, a, b) == Answer::no);
  REQUIRE(w.assume(w.eq(b, w.c(7))));
  CHECK(w.compare(Compare::eq, a, w.c(8)) == Answer::yes);
  CHECK(w.lower(a) == 8);
  CHECK(w.upper(a) == 8);
  CHECK(w.compare(Compare::eq, w.floordiv(c, w.c(8)), w.floordiv(c, a)) == Answer::yes);
  CHECK_FALSE(w.assume(w.eq(a, w.c(9))));
}

TEST_CASE("an equation of products", "[symbolic]") {
  World w;
  Int a = w.atom("a"), b = w.atom("b"), c = w.atom("c"), d = w.atom("d"), e = w.atom("e");
  REQUIRE(w.assume(w.eq(w.mul(a, b), w.mul(c, d))));
  CHECK(w.compare(Compare::eq, w.mul(w.mul(a, b), e), w.mul(w.mul(d, e), c)) == Answer::yes);
  REQUIRE(w.assume(w.eq(a, w.c(4))));
  CHECK(w.compare(Compare::eq, w.mul(w.c(4), b), w.mul(c, d)) == Answer::yes);
}

TEST_CASE("order is transitive", "[symbolic]") {
  World w;
  Int a = w.atom("a"), b = w.atom("b"), c = w.atom("c"), n = w.atom("n", 0);
  REQUIRE(w.assume(w.lt(a, b)));
  REQUIRE(w.assume(w.lt(b, c)));
  CHECK(w.compare(Compare::lt, a, c) == Answer::yes);
  CHECK(w.compare(Compare::le, w.add(a, w.c(2)), c) == Answer::yes);
  CHECK(w.compare(Compare::ne, a, c) == Answer::yes);
  CHECK(w.compare(Compare::gt, w.add(a, w.c(3)), c) == Answer::unknown);
  CHECK(w.compare(Compare::le, w.mul(a, n), w.mul(b, n)) == Answer::yes);
  CHECK(w.compare(Compare::lt, w.mul(a, n), w.mul(b, n)) == Answer::unknown);
  CHECK_FALSE(w.assume(w.le(c, a)));
}

TEST_CASE("bounds tighten", "[symbolic]") {
  World w;
  Int a = w.atom("a", 0), x = w.atom("x");
  REQUIRE(w.assume(w.le(a, w.c(10))));
  CHECK(w.upper(a) == 10);
  REQUIRE(w.assume(w.ne(a, w.c(10))));
  CHECK(w.upper(a) == 9);
  REQUIRE(w.assume(w.ne(a, w.c(0))));
  CHECK(w.lower(a) == 1);
  REQUIRE(w.assume(w.ge(w.floordiv(x, w.c(2)), w.c(3))));
  CHECK(w.lower(x) == 6);
  CHECK(w.compare(Compare::ge, x, w.c(6)) == Answer::yes);
  REQUIRE(w.assume(w.ge(w.min(x, a), w.c(5))));
  CHECK(w.compare(Compare::ge, a, w.c(5)) == Answer::yes);
}

TEST_CASE("a loop that follows the rank", "[symbolic]") {
  World w;
  Int rank = w.fresh({"rank", 0, {}, Sharing::divergent, Role::rank});
  Int world = w.fresh({"world_size", 1, {}, Sharing::uniform, Role::world_size});
  REQUIRE(w.assume(w.lt(rank, world)));
  CHECK(w.compare(Compare::eq, w.mod(rank, world), rank) == Answer::yes);
  CHECK(w.compare(Compare::eq, w.floordiv(rank, world), w.c(0)) == Answer::yes);
  CHECK(w.compare(Compare::lt, w.mod(w.add(rank, w.c(1)), world), world) == Answer::yes);
  const std::size_t mark = w.mark();
  REQUIRE(w.assume(w.eq(world, w.c(1))));
  CHECK(w.compare(Compare::eq, rank, w.c(0)) == Answer::yes);
  w.rewind(mark);
  REQUIRE(w.assume(w.gt(rank, w.c(0))));
  CHECK(w.decide(w.gt(world, w.c(1))) == Answer::yes);
}

TEST_CASE("truths, and what follows from them", "[symbolic]") {
  World w;
  Cond a = w.opaque("a", Sharing::uniform), b = w.opaque("b", Sharing::uniform),
       c = w.opaque("c", Sharing::uniform);
  const std::size_t start = w.mark();
  REQUIRE(w.assume(w.logical_or(a, b)));
  CHECK(w.decide(a) == Answer::unknown);
  CHECK(w.decide(w.logical_or(b, w.logical_or(c, a))) == Answer::yes);
  const std::size_t mark = w.mark();
  REQUIRE(w.assume(w.logical_not(a)));
  CHECK(w.decide(b) == Answer::yes);
  CHECK(w.decide(w.logical_not(b)) == Answer::no);
  CHECK_FALSE(w.assume(a));
  w.rewind(mark);
  CHECK(w.decide(b) == Answer::unknown);
  REQUIRE(w.assume(w.logical_or(a, w.logical_not(b))));
  CHECK(w.decide(a) == Answer::yes);
  w.rewind(start);
  REQUIRE(w.assume(w.logical_not(w.logical_and(a, b))));
  REQUIRE(w.assume(a));
  CHECK(w.decide(b) == Answer::no);
  w.rewind(start);
  REQUIRE(w.assume(w.logical_and(a, w.logical_not(b))));
  CHECK(w.decide(a) == Answer::yes);
  CHECK(w.decide(b) == Answer::no);
  CHECK(w.decide(w.logical_or(b, c)) == Answer::unknown);
}

TEST_CASE("cases of a disjunction", "[symbolic]") {
  World w;
  Int rank = w.atom("rank", 0);
  Cond c = w.opaque("c", Sharing::uniform);
  REQUIRE(w.assume(w.logical_or(w.eq(rank, w.c(0)), w.eq(rank, w.c(1)))));
  CHECK(w.decide(w.lt(rank, w.c(2))) == Answer::yes);
  CHECK(w.decide(w.eq(rank, w.c(2))) == Answer::no);
  CHECK(w.decide(w.eq(rank, w.c(1))) == Answer::unknown);
  CHECK(w.decide(c) == Answer::unknown);
  REQUIRE(w.assume(w.ne(rank, w.c(0))));
  CHECK(w.decide(w.eq(rank, w.c(1))) == Answer::yes);
}

TEST_CASE("operands that contradict each other", "[symbolic]") {
  World w;
  Int a = w.atom("a"), b = w.atom("b"), c = w.atom("c");
  CHECK(w.decide(w.logical_and(w.lt(a, b), w.logical_and(w.lt(b, c), w.lt(c, a)))) == Answer::no);
  CHECK(w.decide(w.logical_or(w.ge(a, b), w.logical_or(w.ge(b, c), w.lt(a, c)))) == Answer::yes);
  CHECK(w.mark() == 0);
}
