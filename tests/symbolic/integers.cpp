// Integer expressions: canonical forms, Python's rounding, texts, and what does not fit.
#include "world.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>

using namespace stepzero::symbolic;

namespace {

constexpr std::int64_t greatest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();

}  // namespace

TEST_CASE("constants are folded with Python's rounding", "[symbolic]") {
  World w;
  CHECK(w.floordiv(w.c(-7), w.c(2)) == w.c(-4));
  CHECK(w.floordiv(w.c(7), w.c(-2)) == w.c(-4));
  CHECK(w.mod(w.c(-7), w.c(3)) == w.c(2));
  CHECK(w.mod(w.c(7), w.c(-3)) == w.c(-2));
  CHECK(w.power(w.c(2), 10) == w.c(1024));
  CHECK(w.min(w.c(3), w.c(-3)) == w.c(-3));
  CHECK(w.max(w.c(3), w.c(-3)) == w.c(3));
  CHECK(w.value(w.add(w.c(100000), w.c(1))) == 100001);
}

TEST_CASE("equal expressions are the same pointer", "[symbolic]") {
  World w;
  Int B = w.atom("B"), T = w.atom("T"), C = w.atom("C");
  CHECK(w.mul(B, w.add(T, C)) == w.add(w.mul(C, B), w.mul(T, B)));
  CHECK(w.sub(w.add(B, T), T) == B);
  CHECK(w.power(w.add(B, w.c(1)), 2) == w.add(w.mul(B, B), w.add(w.mul(B, w.c(2)), w.c(1))));
  CHECK(w.fresh({"B", {}, {}, Sharing::uniform, Role::none}) != B);
  CHECK(w.floordiv(w.add(B, T), C) == w.floordiv(w.add(T, B), C));
}

TEST_CASE("floor-division simplifies", "[symbolic]") {
  World w;
  Int a = w.atom("a"), b = w.atom("b", 1), x = w.atom("x"), y = w.atom("y", 0), z = w.atom("z", 1);
  CHECK(w.floordiv(w.mul(a, b), b) == a);
  CHECK(w.floordiv(w.add(w.mul(a, w.c(8)), w.c(19)), w.c(8)) == w.add(a, w.c(2)));
  CHECK(w.text(w.floordiv(w.add(w.mul(a, w.c(8)), x), w.c(8))) == "a + x//8");
  CHECK(w.floordiv(w.floordiv(a, w.c(2)), w.c(3)) == w.floordiv(a, w.c(6)));
  CHECK(w.floordiv(w.mul(w.c(4), a), w.c(6)) == w.floordiv(w.mul(w.c(2), a), w.c(3)));
  CHECK(w.floordiv(w.mul(x, b), w.mul(x, z)) == w.floordiv(b, z));
  CHECK(w.floordiv(w.add(w.mul(x, b), w.c(0)), b) == x);
  CHECK(w.floordiv(a, w.c(-3)) == w.floordiv(w.negate(a), w.c(3)));
  CHECK(w.floordiv(w.atom("small", 0, 7), w.c(8)) == w.c(0));
  // (x*q + r) // q where r is in [0, q)
  Int r = w.mod(y, z);
  CHECK(w.floordiv(w.add(w.mul(x, z), r), z) == x);
  // Two strided convolutions in a row are one of the product of the strides.
  Int half = w.floordiv(w.add(a, w.c(1)), w.c(2));
  CHECK(w.floordiv(w.add(half, w.c(1)), w.c(2)) == w.floordiv(w.add(a, w.c(3)), w.c(4)));
}

TEST_CASE("modulo simplifies", "[symbolic]") {
  World w;
  Int a = w.atom("a"), b = w.atom("b", 1), x = w.atom("x");
  CHECK(w.mod(w.mul(a, b), b) == w.c(0));
  CHECK(w.mod(w.add(w.mul(a, w.c(8)), w.c(19)), w.c(8)) == w.c(3));
  CHECK(w.mod(w.add(w.mul(a, b), x), b) == w.mod(x, b));
  CHECK(w.mod(w.mod(a, w.c(12)), w.c(4)) == w.mod(a, w.c(4)));
  CHECK(w.mod(w.mod(a, b), b) == w.mod(a, b));
  CHECK(w.mod(w.mul(w.c(4), a), w.c(6)) == w.mul(w.c(2), w.mod(w.mul(w.c(2), a), w.c(3))));
  CHECK(w.mod(w.atom("small", 0, 7), w.c(8)) != w.c(0));
  CHECK(w.text(w.mod(w.negate(a), w.c(8))) == "-a % 8");
  CHECK(w.mod(a, w.c(-5)) == w.negate(w.mod(w.negate(a), w.c(5))));
  Int small = w.atom("small", 0, 7);
  CHECK(w.mod(small, w.c(8)) == small);
}

TEST_CASE("min and max drop what is superfluous", "[symbolic]") {
  World w;
  Int a = w.atom("a", 0, 10), b = w.atom("b", 20), x = w.atom("x");
  CHECK(w.min(a, b) == a);
  CHECK(w.max(a, b) == b);
  CHECK(w.min(x, w.add(x, w.c(1))) == x);
  CHECK(w.min(x, w.min(a, x)) == w.min(a, x));
  CHECK(w.min(w.min(x, a), w.c(3)) == w.min(w.c(3), w.min(a, x)));
  CHECK(w.max(x, w.min(x, a)) == x);
  CHECK(w.upper(w.min(x, a)) == 10);
}

TEST_CASE("exact quotients", "[symbolic]") {
  World w;
  Int a = w.atom("a"), b = w.atom("b");
  Int sum = w.add(a, b), difference = w.sub(a, b);
  CHECK(w.exact_quotient(w.mul(sum, difference), sum) == difference);
  CHECK(w.exact_quotient(w.mul(w.c(6), a), w.c(-2)) == w.mul(w.c(-3), a));
  CHECK_FALSE(w.exact_quotient(a, b));
  CHECK_FALSE(w.exact_quotient(a, w.c(2)));
  CHECK_FALSE(w.exact_quotient(a, w.c(0)));
  CHECK(w.exact_quotient(w.c(0), a) == w.c(0));
}

TEST_CASE("what does not fit becomes a fresh atom of the same sharing", "[symbolic]") {
  World w;
  Int local = w.fresh({"n", {}, {}, Sharing::local, Role::none});
  Int big = w.c(greatest);
  Int over = w.add(big, w.c(1));
  CHECK(w.is_atom(over));
  CHECK(w.sharing(over) == Sharing::uniform);
  CHECK(over != w.add(big, w.c(1)));
  CHECK(w.sharing(w.mul(w.mul(local, big), w.c(2))) == Sharing::local);
  CHECK(w.is_atom(w.negate(w.c(least))));
  CHECK(w.is_atom(w.floordiv(w.c(least), w.c(-1))));
  CHECK(w.value(w.mod(w.c(least), w.c(-1))) == 0);
  CHECK(w.is_atom(w.floordiv(local, w.c(0))));
  CHECK(w.sharing(w.mod(local, w.c(0))) == Sharing::local);
  CHECK(w.is_atom(w.power(w.c(10), 30)));
  CHECK(w.compare(Compare::lt, w.mul(local, big), w.c(0)) == Answer::unknown);

  Int sum = w.c(0);
  for (int i = 0; i < 200; ++i) sum = w.add(sum, w.atom(std::to_string(i)));
  Int deep = w.atom("d");
  for (int i = 0; i < 100; ++i) deep = w.floordiv(w.add(w.mul(deep, deep), w.c(i)), w.atom("q"));
  Int wide = w.power(sum, 7);
  CHECK(wide);
  CHECK(w.text(deep).size() < 10000);
}

TEST_CASE("bounds", "[symbolic]") {
  World w;
  Int a = w.atom("a", 1, 10), b = w.atom("b", -2, 3), n = w.atom("n", 1);
  CHECK(w.lower(w.mul(a, b)) == -20);
  CHECK(w.upper(w.mul(a, b)) == 30);
  CHECK(w.lower(w.mul(b, b)) == 0);
  CHECK(w.upper(w.floordiv(a, w.c(3))) == 3);
  CHECK(w.lower(w.mod(b, n)) == 0);
  CHECK_FALSE(w.upper(n));
  CHECK(w.lower(w.c(5)) == 5);
  CHECK(w.lower(w.c(least)) == least);
  CHECK(w.compare(Compare::lt, w.mod(b, n), n) == Answer::yes);
  CHECK(w.compare(Compare::ge, w.sub(a, b), w.c(-2)) == Answer::yes);
  CHECK(w.compare(Compare::gt, a, w.c(10)) == Answer::no);
  CHECK(w.compare(Compare::gt, a, w.c(9)) == Answer::unknown);
  CHECK(w.compare(Compare::le, w.mul(w.floordiv(b, n), n), b) == Answer::yes);
}

TEST_CASE("texts are as a user writes", "[symbolic]") {
  World w;
  Int B = w.atom("B"), T = w.atom("T"), C = w.atom("C"), n = w.atom("n_head", 1);
  CHECK(w.text(w.mul(T, B)) == "B*T");
  CHECK(w.text(w.add(w.c(1), w.mul(w.c(2), C))) == "2*C + 1");
  CHECK(w.text(w.floordiv(C, n)) == "C//n_head");
  CHECK(w.text(w.mul(w.mul(B, T), w.floordiv(C, n))) == "B*T*(C//n_head)");
  CHECK(w.text(w.sub(C, B)) == "C - B");
  CHECK(w.text(w.sub(w.c(1), B)) == "1 - B");
  CHECK(w.text(w.negate(B)) == "-B");
  CHECK(w.text(w.power(B, 2)) == "B**2");
  CHECK(w.text(w.floordiv(w.mul(B, T), w.mul(w.c(2), n))) == "B*T//(2*n_head)");
  CHECK(w.text(w.floordiv(w.add(B, w.c(1)), w.c(2))) == "(B + 1)//2");
  CHECK(w.text(w.mul(w.c(2), w.mod(B, w.c(3)))) == "2*(B % 3)");
  CHECK(w.text(w.min(B, w.c(5))) == "min(B, 5)");
  CHECK(w.text(w.c(-5)) == "-5");
  CHECK(w.text(Int{}) == "?");
}

TEST_CASE("substitution and the atoms inside", "[symbolic]") {
  World w;
  Int B = w.atom("B"), C = w.atom("C"), n = w.atom("n", 1);
  Int value = w.add(w.mul(B, w.floordiv(C, n)), w.mod(C, w.c(7)));
  const Assignment some[] = {{C, 30}, {n, 4}};
  CHECK(w.substitute(value, some) == w.add(w.mul(w.c(7), B), w.c(2)));
  std::vector<Int> met;
  w.atoms(value, [&](Int atom) { met.push_back(atom); });
  for (Int atom : {B, C, n}) CHECK(std::count(met.begin(), met.end(), atom) >= 1);
  const Assignment zero[] = {{n, 0}};
  CHECK(w.substitute(value, zero));
}

TEST_CASE("null means nothing is known", "[symbolic]") {
  World w;
  CHECK_FALSE(w.add(nullptr, w.c(1)));
  CHECK(w.compare(Compare::eq, nullptr, nullptr) == Answer::unknown);
  CHECK(w.decide(w.compared(Compare::eq, nullptr, w.c(1))) == Answer::unknown);
  CHECK_FALSE(w.lower(nullptr));
}
