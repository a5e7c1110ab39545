// What each kind of statement and expression is lowered to, with its spans.
#include "syntax/dump.hpp"

#include <catch2/catch.hpp>

using namespace stepzero::syntax;

namespace {

std::string read(std::string text) {
  std::string out = dump(*parse(std::move(text)));
  if (!out.empty()) out.pop_back();
  return out;
}

// The dump of an expression that stands alone.
std::string expr(std::string text) {
  const std::string out = read(std::move(text));
  const std::size_t begin = out.find('(', 1);
  return begin == out.npos ? out : out.substr(begin, out.rfind(')') - begin);
}

}  // namespace

TEST_CASE("numbers") {
  CHECK(expr("1_000") == "(integer 0:5 1000)");
  CHECK(expr("0xFF") == "(integer 0:4 255)");
  CHECK(expr("0b1_01") == "(integer 0:6 5)");
  CHECK(expr("0o17") == "(integer 0:4 15)");
  CHECK(expr("00") == "(integer 0:2 0)");
  CHECK(expr("9223372036854775807") == "(integer 0:19 9223372036854775807)");
  CHECK(expr("9223372036854775808") == "(integer 0:19 big)");
  CHECK(expr("0xffffffffffffffffff") == "(integer 0:20 big)");
  CHECK(expr("1e-3") == "(real 0:4 0.001)");
  CHECK(expr("1_0.5") == "(real 0:5 10.5)");
  CHECK(expr("1e999") == "(real 0:5 inf)");
  CHECK(expr("2j") == "(imaginary 0:2 2)");
  CHECK(expr("-3") == "(unary 0:2 - (integer 1:2 3))");
  CHECK(read("017").ends_with("has-error"));
}

TEST_CASE("strings: prefixes, escapes and concatenation") {
  CHECK(expr(R"('a' "b")") == "(string 0:7 \"ab\")");
  CHECK(expr(R"('\x41\u0042\103\n')") == "(string 0:18 #4142430a)");
  CHECK(expr(R"(r'\n')") == "(string 0:5 \"\\n\")");
  CHECK(expr(R"('\d')") == "(string 0:4 \"\\d\")");
  CHECK(expr(R"(b'\xff\u0041')") == "(bytes 0:13 #ff5c7530303431)");
  CHECK(expr(R"('\U0001f600')") == "(string 0:12 #f09f9880)");
  CHECK(expr(R"('\ud800')") == "(string 0:8 #eda080)");
  CHECK(expr("'a\\\nb'") == "(string 0:6 \"ab\")");
  CHECK(expr("'''a\r\nb\rc'''") == "(string 0:12 #610a620a63)");
  CHECK(expr("''") == "(string 0:2 \"\")");
  CHECK(expr(R"("it's")") == "(string 0:6 \"it's\")");
}

TEST_CASE("f-strings") {
  CHECK(expr("f'a{x}b'") == "(format 0:8 (parts (string 2:3 \"a\") (name 4:5 x) (string 6:7 \"b\")))");
  CHECK(expr("f'{x!r}'") == "(format-spec 0:8 (parts (name 3:4 x)))");
  CHECK(expr("f'{x:>{w}}'") == "(format-spec 0:11 (parts (name 3:4 x) (name 7:8 w)))");
  CHECK(expr("f'{{}}'") == "(format 0:7 (parts (string 2:6 \"{}\")))");
  CHECK(
      expr("'a' f'{x}' 'b'") == "(format 0:14 (parts (string 0:3 \"a\") (name 7:8 x) (string 11:14 \"b\")))");
  CHECK(expr("f'{x=}'") == "(format-spec 0:7 (parts (string 3:5 \"x=\") (name 3:4 x)))");
}

TEST_CASE("operators") {
  CHECK(expr("a + b * c") == "(binary 0:9 + 2:3 (name 0:1 a) (binary 4:9 * 6:7 (name 4:5 b) (name 8:9 c)))");
  CHECK(expr("(a + b) * c") ==
      "(binary 0:11 * 8:9 (binary 1:6 + 3:4 (name 1:2 a) (name 5:6 b)) (name 10:11 c))");
  CHECK(expr("-x ** 2") == "(unary 0:7 - (binary 1:7 ** 3:5 (name 1:2 x) (integer 6:7 2)))");
  CHECK(expr("a ^ b & c") == "(binary 0:9 ^ 2:3 (name 0:1 a) (binary 4:9 & 6:7 (name 4:5 b) (name 8:9 c)))");
  CHECK(expr("a & b ^ c") == "(binary 0:9 ^ 6:7 (binary 0:5 & 2:3 (name 0:1 a) (name 4:5 b)) (name 8:9 c))");
  CHECK(expr("a and b and c or d") ==
      "(or 0:18 (operands (and 0:13 (operands (name 0:1 a) (name 6:7 b) (name 12:13 c))) (name 17:18 d)))");
  CHECK(expr("(a and b) and c") ==
      "(and 0:15 (operands (and 1:8 (operands (name 1:2 a) (name 7:8 b))) (name 14:15 c)))");
  CHECK(expr("a < b is not c not in d") ==
      "(compare 0:23 (name 0:1 a) (ops < is-not not-in) (rights (name "
      "4:5 b) (name 13:14 c) (name 22:23 d)))");
  CHECK(expr("not a == b") == "(unary 0:10 not (compare 4:10 (name 4:5 a) (ops ==) (rights (name 9:10 b))))");
  CHECK(expr("a if b else c") == "(conditional 0:13 (name 5:6 b) (name 0:1 a) (name 12:13 c))");
  CHECK(expr("(n := 10)") == "(named 1:8 n 1:2 (integer 6:8 10))");
  CHECK(expr("await x ** 2") == "(binary 0:12 ** 8:10 (await 0:7 (name 6:7 x)) (integer 11:12 2))");
}

TEST_CASE("calls and access") {
  CHECK(expr("f(a, *b, k=1, **d)") ==
      "(call 0:18 (name 0:1 f) (arguments (name 2:3 a) (starred 5:7 (name 6:7 b))) (keywords (keyword 9:12 k "
      "(integer 11:12 1)) (keyword 14:17 ** (name 16:17 d))) 1:18)");
  CHECK(expr("f(x for x in y)") ==
      "(call 0:15 (name 0:1 f) (arguments (comprehension 1:15 generator (name "
      "2:3 x) - (for (name 8:9 x) (name "
      "13:14 y) (if)))) (keywords) 1:15)");
  CHECK(expr("a.b.c") == "(attribute 0:5 (attribute 0:3 (name 0:1 a) b 2:3) c 4:5)");
  CHECK(expr("a[i, j]") == "(subscript 0:7 (name 0:1 a) (tuple 2:6 (elements (name 2:3 i) (name 5:6 j))))");
  CHECK(expr("a[1:, ::2]") ==
      "(subscript 0:10 (name 0:1 a) (tuple 2:9 (elements (slice 2:4 (integer 2:3 1) "
      "- -) (slice 6:9 - - (integer "
      "8:9 2)))))");
  CHECK(expr("a[...]") == "(subscript 0:6 (name 0:1 a) (ellipsis 2:5))");
  CHECK(expr("a[(1)]") == "(subscript 0:6 (name 0:1 a) (integer 3:4 1))");
  CHECK(expr("x = *a.b(), c").starts_with("(targets"));
  CHECK(read("x = *a.b(), c").find("(starred 4:10 (call 5:10 (attribute 5:8") != std::string::npos);
}

TEST_CASE("displays and comprehensions") {
  CHECK(expr("()") == "(tuple 0:2 (elements))");
  CHECK(expr("(a,)") == "(tuple 0:4 (elements (name 1:2 a)))");
  CHECK(expr("a,") == "(tuple 0:2 (elements (name 0:1 a)))");
  CHECK(expr("{**a, 'b': 1}") ==
      "(dict 0:13 (item - (name 3:4 a)) (item (string 6:9 \"b\") (integer 11:12 1)))");
  CHECK(expr("{a, *b}") == "(set 0:7 (elements (name 1:2 a) (starred 4:6 (name 5:6 b))))");
  CHECK(expr("[x for x in a if p if q for y in b]") ==
      "(comprehension 0:35 list (name 1:2 x) - (for (name "
      "7:8 x) (name 12:13 a) (if (name 17:18 p) (name 22:23 "
      "q))) (for (name 28:29 y) (name 33:34 b) (if)))");
  CHECK(expr("{k: v async for k, v in a}") ==
      "(comprehension 0:26 dict (name 1:2 k) (name 4:5 v) (async-for "
      "(tuple 16:20 (elements (name 16:17 k) (name "
      "19:20 v))) (name 24:25 a) (if)))");
  CHECK(expr("lambda a, /, *b, c=1, **d: a") ==
      "(lambda 0:28 (parameters (positional 7:8 a - -) (* 14:15 b "
      "- -) (keyword 17:18 c - (integer 19:20 1)) (** "
      "24:25 d - -)) (name 27:28 a))");
}

TEST_CASE("simple statements") {
  CHECK(read("a = b, *c = d") ==
      "(assign 0:13 (targets (name 0:1 a) (tuple 4:9 (elements (name 4:5 b) (starred 7:9 "
      "(name 8:9 c))))) (name 12:13 d))");
  CHECK(read("x: List[int] = 1") ==
      "(ann-assign 0:16 (name 0:1 x) (subscript 3:12 (name 3:7 List) (name 8:11 int)) "
      "(integer 15:16 1))");
  CHECK(read("x @= y") == "(aug-assign 0:6 @ (name 0:1 x) (name 5:6 y))");
  CHECK(read("import a.b as c, d") == "(import 0:18 (alias 7:15 (path a b) c) (alias 17:18 (path d) -))");
  CHECK(read("from ..a import (b as c,)") == "(import-from 0:25 2 (module a) (alias 17:23 (path b) c))");
  CHECK(read("from . import *") == "(import-from 0:15 1 (module) *)");
  CHECK(read("from __future__ import annotations") ==
      "(import-from 0:34 0 (module __future__) (alias 23:34 (path annotations) -))");
  CHECK(read("raise A from b") == "(raise 0:14 (name 6:7 A) (name 13:14 b))");
  CHECK(read("assert a, 'b'") == "(assert 0:13 (name 7:8 a) (string 10:13 \"b\"))");
  CHECK(read("del a, b[0]") ==
      "(delete 0:11 (targets (name 4:5 a) (subscript 7:11 (name 7:8 b) (integer 9:10 0))))");
  CHECK(read("return") == "(return 0:6 -)");
  CHECK(read("global a, b") == "(global 0:11 (names a b))");
  CHECK(read("type X = int") == "(type-alias 0:12 X (name 9:12 int))");
  CHECK(read("type(x).y = z").starts_with("(assign 0:13 (targets (attribute 0:9 (call 0:7 (name 0:4 type)"));
  CHECK(read("a; b") == "(expression 0:1 (name 0:1 a))\n(expression 3:4 (name 3:4 b))");
  CHECK(read("print(a)") ==
      "(expression 0:8 (call 0:8 (name 0:5 print) (arguments (name 6:7 a)) (keywords) 5:8))");
}

TEST_CASE("the statements of Python 2 lower without harm") {
  CHECK(read("print 'x'\ny = 1") ==
      "(expression 0:9 (error 0:9 (parts (string 6:9 \"x\")))) error\n(assign 10:15 (targets (name 10:11 y)) "
      "(integer 14:15 1))\nhas-error");
  CHECK(read("exec 'x'").ends_with("has-error"));
  CHECK(read("print >>f, x") ==
      "(expression 0:12 (tuple 0:12 (elements (binary 0:9 >> 6:8 (name 0:5 print) (name 8:9 "
      "f)) (name 11:12 x))))");
}

TEST_CASE("compound statements and their headers") {
  CHECK(read("if a:\n b\nelif c:\n d\nelse:\n e") ==
      "(if 0:28 (header 0:5) (name 3:4 a) (body (expression "
      "7:8 (name 7:8 b))) (else-span 9:16) (else (elif 9:28 "
      "(header 9:16) (name 14:15 c) (body (expression 18:19 "
      "(name 18:19 d))) (else-span 20:25) (else (expression "
      "27:28 (name 27:28 e))))))");
  CHECK(read("for i, j in a, b: c\nelse: d") ==
      "(for 0:27 (header 0:17) (tuple 4:8 (elements (name 4:5 i) "
      "(name 7:8 j))) (tuple 12:16 (elements (name 12:13 "
      "a) (name 15:16 b))) (body (expression 18:19 (name 18:19 "
      "c))) (else (expression 26:27 (name 26:27 d))))");
  CHECK(read("while a: b") ==
      "(while 0:10 (header 0:8) (name 6:7 a) (body (expression 9:10 (name 9:10 b))) (else))");
  CHECK(read("with (a as b, c): d") ==
      "(with 0:19 (header 0:17) (item (name 6:7 a) (name 11:12 b)) (item "
      "(name 14:15 c) -) (body (expression 18:19 "
      "(name 18:19 d))))");
  CHECK(read("with a if b else c as d: e") ==
      "(with 0:26 (header 0:24) (item (conditional 5:18 (name 10:11 "
      "b) (name 5:6 a) (name 17:18 c)) (name 22:23 "
      "d)) (body (expression 25:26 (name 25:26 e))))");
  CHECK(read("try: a\nexcept (B, C) as d: e\nelse: f\nfinally: g") ==
      "(try 0:47 (body (expression 5:6 (name 5:6 a))) (except 7:28 (tuple 14:20 (elements (name 15:16 B) "
      "(name "
      "18:19 C))) d (body (expression 27:28 (name 27:28 e)))) (else (expression 35:36 (name 35:36 f))) "
      "(finally "
      "(expression 46:47 (name 46:47 g))))");
  CHECK(read("try: a\nexcept* B: c").find("(except* 7:19 (name 15:16 B) - ") != std::string::npos);
}

TEST_CASE("functions and classes know their scope") {
  CHECK(read("@d\nasync def f(a, b: int = 1) -> c:\n  'doc'\n  global g\n  g = x = (y := 1)\n  yield") ==
      "(async-function 0:81 f 13:14 (header 3:35) (decorators (name 1:2 d)) (parameters (normal 15:16 a - -) "
      "(normal 18:19 b (name 21:24 int) (integer 27:28 1))) (name 33:34 c) (doc \"doc\") (locals a b x y) "
      "(globals g) "
      "(nonlocals) generator (body (expression 38:43 (string 38:43 \"doc\")) (global 46:54 (names g)) "
      "(assign 57:73 "
      "(targets (name 57:58 g) (name 61:62 x)) (named 66:72 y 66:67 (integer 71:72 1))) (expression 76:81 "
      "(yield "
      "76:81 -))))");
  CHECK(read("class A(B, metaclass=M): x = 1") ==
      "(class 0:30 A 6:7 (header 0:24) (decorators) (bases (name "
      "8:9 B)) (keywords (keyword 11:22 metaclass (name "
      "21:22 M))) (locals x) (globals) (nonlocals) (body (assign "
      "25:30 (targets (name 25:26 x)) (integer 29:30 1))))");
  const std::string scoped = read("def f():\n import a.b, c as d\n for e in []: pass\n with g as h: pass\n"
                                  " try: pass\n except I as j: pass\n def k(): l = 1\n class M: n = 1\n"
                                  " [o for o in p]\n lambda: (q := 1)\n match r:\n  case [s, *t]: pass\n");
  CHECK(scoped.find("(locals a d e h j k M s t)") != std::string::npos);
}

TEST_CASE("match statements") {
  CHECK(read("match a, b:\n case 1 | -2: c\n case x.y: d\n case [p, *_] if q: e\n case _: f") ==
      "(match 0:73 (tuple 6:10 (elements (name 6:7 a) (name 9:10 b))) "
      "(case 13:27 (or 18:24 (value 18:19 (integer 18:19 1)) (value 22:24 (unary 22:24 - (integer 23:24 "
      "2)))) - "
      "(body (expression 26:27 (name 26:27 c)))) "
      "(case 29:40 (value 34:37 (attribute 34:37 (name 34:35 x) y 36:37)) - (body (expression 39:40 (name "
      "39:40 "
      "d)))) "
      "(case 42:62 (sequence 47:54 (capture 48:49 p) (star 51:53 -)) (name 58:59 q) (body (expression "
      "61:62 (name "
      "61:62 e)))) "
      "(case 64:73 (wildcard 69:70) - (body (expression 72:73 (name 72:73 f)))))");
  CHECK(read("match a:\n case {'k': v, **r}: b")
            .find("(mapping 15:28 r (keys (string 16:19 \"k\")) (capture 21:22 v))") != std::string::npos);
  CHECK(read("match a:\n case P(x, y=1) as z: b")
            .find("(as 15:29 (class 15:24 (name 15:16 P) (arguments (capture 17:18 x)) (names y) (value "
                  "22:23 (integer "
                  "22:23 1))) z)") != std::string::npos);
  CHECK(read("match(a)").starts_with("(expression 0:8 (call"));
}

TEST_CASE("comments") {
  CHECK(read("# a\nx = '#'  # [B, T]\n  # c") ==
      "(assign 4:11 (targets (name 4:5 x)) (string 8:11 #23))\ncomment 0:3\ntrailing-comment "
      "13:21\ncomment 24:27");
}
