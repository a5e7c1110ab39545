// Conditions: canonical forms, texts, and evaluation under given values.
#include "symbolic/naming.hpp"
#include "world.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace stepzero::symbolic;

namespace {

struct Job : World {
  Int rank = fresh({"rank", 0, {}, Sharing::divergent, Role::rank});
  Int world = fresh({"world_size", 1, {}, Sharing::uniform, Role::world_size});
  Int epoch = atom("epoch", 0);
  Cond p = opaque("p", Sharing::uniform);
  Cond q = opaque("q", Sharing::local);
  Cond r = opaque("x is None", Sharing::uniform);
  Cond t = boolean(true);
  Cond f = boolean(false);
};

}  // namespace

TEST_CASE("equal comparisons are the same", "[symbolic]") {
  Job w;
  Int a = w.atom("a"), b = w.atom("b");
  CHECK(w.lt(a, b) == w.gt(b, a));
  CHECK(w.lt(a, b) == w.le(w.add(a, w.c(1)), b));
  CHECK(w.eq(a, b) == w.eq(b, a));
  CHECK(w.eq(w.mul(w.c(2), a), w.mul(w.c(4), b)) == w.eq(a, w.mul(w.c(2), b)));
  CHECK(w.le(w.mul(w.c(2), a), w.c(7)) == w.le(a, w.c(3)));
  CHECK(w.eq(w.mul(w.c(2), a), w.c(7)) == w.f);
  CHECK(w.ne(w.mul(w.c(2), a), w.c(7)) == w.t);
  CHECK(w.logical_not(w.lt(a, b)) == w.ge(a, b));
  CHECK(w.logical_not(w.eq(a, b)) == w.ne(a, b));
  CHECK(w.logical_not(w.logical_not(w.le(a, b))) == w.le(a, b));
}

TEST_CASE("bounds decide a comparison as it is made", "[symbolic]") {
  Job w;
  CHECK(w.lt(w.rank, w.c(0)) == w.f);
  CHECK(w.ge(w.rank, w.c(0)) == w.t);
  CHECK(w.lt(w.rank, w.c(1)) == w.eq(w.rank, w.c(0)));
  CHECK(w.gt(w.rank, w.c(0)) == w.ne(w.rank, w.c(0)));
  CHECK(w.eq(w.mod(w.epoch, w.c(10)), w.c(12)) == w.f);
  CHECK(w.lt(w.mod(w.epoch, w.world), w.world) == w.t);
  Int flag = w.atom("flag", 0, 1);
  CHECK(w.ge(flag, w.c(1)) == w.eq(flag, w.c(1)));
}

TEST_CASE("conjunctions and disjunctions simplify", "[symbolic]") {
  Job w;
  Int a = w.atom("a");
  CHECK(w.logical_and(w.p, w.q) == w.logical_and(w.q, w.p));
  CHECK(w.logical_or(w.p, w.logical_or(w.q, w.r)) == w.logical_or(w.logical_or(w.r, w.p), w.q));
  CHECK(w.logical_and(w.p, w.p) == w.p);
  CHECK(w.logical_and(w.p, w.t) == w.p);
  CHECK(w.logical_and(w.p, w.f) == w.f);
  CHECK(w.logical_or(w.p, w.t) == w.t);
  CHECK(w.logical_or(w.p, w.f) == w.p);
  CHECK(w.logical_and(w.p, w.logical_not(w.p)) == w.f);
  CHECK(w.logical_or(w.p, w.logical_not(w.p)) == w.t);
  CHECK(w.logical_and(w.lt(a, w.c(3)), w.ge(a, w.c(3))) == w.f);
  CHECK(w.logical_or(w.lt(a, w.c(3)), w.ge(a, w.c(3))) == w.t);
  CHECK(w.logical_and(w.eq(a, w.c(3)), w.eq(a, w.c(4))) == w.f);
  CHECK(w.logical_and(w.eq(a, w.c(3)), w.gt(a, w.c(3))) == w.f);
  CHECK(w.logical_and(w.lt(a, w.c(3)), w.lt(a, w.c(5))) == w.lt(a, w.c(3)));
  CHECK(w.logical_or(w.lt(a, w.c(3)), w.lt(a, w.c(5))) == w.lt(a, w.c(5)));
  CHECK(w.logical_and(w.eq(a, w.c(3)), w.ne(a, w.c(4))) == w.eq(a, w.c(3)));
  CHECK(w.logical_and(w.p, w.logical_or(w.q, w.p)) == w.p);
  CHECK(w.logical_or(w.p, w.logical_and(w.q, w.p)) == w.p);
  CHECK(w.logical_not(w.logical_and(w.p, w.q)) == w.logical_or(w.logical_not(w.p), w.logical_not(w.q)));
  CHECK(w.opaque("p", Sharing::uniform) != w.p);
}

TEST_CASE("long conditions stay bounded", "[symbolic]") {
  Job w;
  Cond all = w.t, some = w.q;
  for (int i = 0; i < 40; ++i) all = w.logical_and(all, w.opaque("c", Sharing::uniform));
  CHECK(w.operands(all).size() == 40);
  CHECK(w.logical_and(all, w.logical_not(w.operands(all)[7])) == w.f);
  for (int i = 0; i < 2000; ++i) {
    some = w.logical_or(
        w.logical_and(some, w.opaque("c", Sharing::uniform)), w.opaque("d", Sharing::uniform));
    REQUIRE(w.text(some).size() < 10000);
  }
  CHECK(w.sharing(some) == Sharing::local);
  REQUIRE(w.assume(some));
}

TEST_CASE("conditions are written as a user writes", "[symbolic]") {
  Job w;
  Cond first = w.eq(w.rank, w.c(0));
  Cond tenth = w.eq(w.mod(w.epoch, w.c(10)), w.c(0));
  CHECK(w.text(w.logical_and(first, tenth)) == "rank == 0 and epoch % 10 == 0");
  CHECK(w.text(w.logical_not(first)) == "rank != 0");
  CHECK(w.text(w.logical_or(first, tenth)) == "rank == 0 or epoch % 10 == 0");
  CHECK(w.text(w.logical_and(w.q, w.logical_or(first, tenth))) == "q and (rank == 0 or epoch % 10 == 0)");
  CHECK(w.text(w.logical_not(w.p)) == "not p");
  CHECK(w.text(w.logical_not(w.r)) == "not (x is None)");
  CHECK(w.text(w.lt(w.epoch, w.c(10))) == "epoch < 10");
  CHECK(w.text(w.logical_not(w.lt(w.epoch, w.c(10)))) == "epoch >= 10");
  CHECK(w.text(w.gt(w.world, w.c(1))) == "world_size > 1");
  CHECK(w.text(w.ge(w.epoch, w.c(100))) == "epoch >= 100");
  CHECK(w.text(w.le(w.world, w.c(1))) == "world_size == 1");
  CHECK(w.text(w.t) == "True");
  // The order is the one first written.
  Cond b_first = w.logical_and(w.r, w.p);
  CHECK(w.text(w.logical_and(w.p, w.r)) == w.text(b_first));
}

TEST_CASE("conditions can be walked", "[symbolic]") {
  Job w;
  Cond first = w.eq(w.c(0), w.rank);
  const auto comparison = w.comparison(first);
  REQUIRE(comparison);
  CHECK(comparison->op == Compare::eq);
  CHECK(comparison->left == w.rank);
  CHECK(comparison->right == w.c(0));
  const auto other = w.comparison(w.lt(w.world, w.c(2)));
  REQUIRE(other);
  CHECK(other->op == Compare::eq);
  CHECK(other->left == w.world);
  CHECK(other->right == w.c(1));
  CHECK(w.form(w.logical_not(first)) == Context::Form::negation);
  CHECK(w.operands(w.logical_not(first))[0] == first);
  Cond both = w.logical_and(w.q, first);
  REQUIRE(w.operands(both).size() == 2);
  CHECK(w.operands(both)[0] == w.q);
  std::vector<Int> atoms;
  std::vector<Cond> opaque;
  w.parts(w.logical_or(both, w.p), [&](Int a) { atoms.push_back(a); }, [&](Cond c) { opaque.push_back(c); });
  CHECK(atoms == std::vector<Int>{w.rank});
  CHECK(opaque == std::vector<Cond>{w.q, w.p});
  CHECK(w.sharing(first) == Sharing::divergent);
  CHECK(w.sharing(both) == Sharing::local);
  CHECK(w.sharing(w.eq(w.sub(w.rank, w.rank), w.c(0))) == Sharing::uniform);
}

TEST_CASE("evaluation projects a condition onto a rank", "[symbolic]") {
  Job w;
  Cond first = w.eq(w.rank, w.c(0));
  Cond last = w.eq(w.rank, w.sub(w.world, w.c(1)));
  const Assignment one_of_two[] = {{w.rank, 1}, {w.world, 2}};
  CHECK(w.evaluate(first, one_of_two) == Answer::no);
  CHECK(w.evaluate(last, one_of_two) == Answer::yes);
  CHECK(w.evaluate(w.logical_and(first, w.p), one_of_two) == Answer::no);
  CHECK(w.evaluate(w.logical_and(last, w.p), one_of_two) == Answer::unknown);
  CHECK(w.evaluate(w.logical_or(last, w.p), one_of_two) == Answer::yes);
  const Context::Truth given[] = {{w.p, true}, {w.logical_not(w.q), true}};
  CHECK(w.evaluate(w.logical_and(last, w.p), one_of_two, given) == Answer::yes);
  CHECK(w.evaluate(w.q, {}, given) == Answer::no);
  CHECK(w.evaluate(w.logical_not(w.p), {}, given) == Answer::no);
  CHECK(w.evaluate(last, std::span(one_of_two, 1)) == Answer::unknown);
  CHECK(w.evaluate(w.eq(w.mod(w.add(w.mul(w.c(2), w.epoch), w.rank), w.c(2)), w.c(0)), one_of_two) ==
      Answer::no);
  REQUIRE(w.assume(first));
  CHECK(w.evaluate(first, {}) == Answer::unknown);
}

TEST_CASE("a condition is named if all that it asks for is", "[symbolic]") {
  Job w;
  Int nameless = w.fresh({"", 0, {}, Sharing::uniform}),
      length = w.fresh({"len(batch)", 0, {}, Sharing::local});
  Cond nobody = w.opaque("", Sharing::uniform);
  CHECK(is_anonymous(nobody));
  CHECK_FALSE(is_anonymous(w.logical_not(nobody)));
  CHECK_FALSE(is_anonymous(w.p));
  CHECK_FALSE(is_anonymous(nullptr));
  CHECK_FALSE(w.is_named(nobody));
  CHECK_FALSE(w.is_named(w.logical_or(w.p, nobody)));
  CHECK_FALSE(w.is_named(w.lt(w.floordiv(nameless, w.c(2)), w.epoch)));
  CHECK(w.is_named(w.lt(w.floordiv(w.rank, w.c(2)), w.epoch)));
  // As it was written, though it does not depend on it.
  CHECK_FALSE(w.is_named(w.lt(w.add(w.rank, nameless), w.add(w.epoch, nameless))));
  Cond either = w.opaque("mode == ?", Sharing::uniform);
  CHECK_FALSE(w.is_named(w.logical_not(either)));
  CHECK_FALSE(is_anonymous(either));
  CHECK(w.is_named(w.lt(w.epoch, length)));
  CHECK_FALSE(asks_by_names(w.lt(w.epoch, length)));
  CHECK(asks_by_names(w.logical_not(w.logical_and(w.p, w.lt(w.epoch, w.world)))));
  w.rename(nameless, "steps");
  CHECK(w.is_named(w.lt(nameless, w.epoch)));
}
