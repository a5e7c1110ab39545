// Documents: chunks that survive edits, text with errors, and text that nobody should write.
#include "syntax/dump.hpp"

#include <catch2/catch.hpp>

#include <future>

using namespace stepzero::syntax;

namespace {

std::string read(std::string text) { return dump(*parse(std::move(text))); }
bool has(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE("an edit keeps the chunks of all other statements") {
  Document document("def f():\n  return 1\n\ndef g():\n  return 2\n\nx = 3  # c\n");
  const auto before = document.module();
  CHECK(document.module() == before);
  document.apply({{{18, 19}, "10"}});
  const auto after = document.module();
  REQUIRE(after->items.size() == 3);
  CHECK(after->items[0].chunk != before->items[0].chunk);
  CHECK(after->items[0].chunk->hash != before->items[0].chunk->hash);
  CHECK(after->items[1].chunk == before->items[1].chunk);
  CHECK(after->items[2].chunk == before->items[2].chunk);
  CHECK(after->items[1].offset == before->items[1].offset + 1);
  CHECK(after->text->slice({after->items[2].offset, after->items[2].offset + after->items[2].chunk->size}) ==
      "x = 3  # c");
  CHECK(before->text->slice({18, 19}) == "1");
}

TEST_CASE("edits apply in order and are clamped") {
  Document document("abc");
  document.apply({{{1, 2}, "XY"}, {{3, 4}, ""}, {{90, 99}, "!"}, {{2, 1}, "-"}});
  CHECK(document.bytes() == "aX-Y!");
  CHECK(document.module()->text->bytes() == document.bytes());
}

TEST_CASE("a moved statement keeps its chunk, and of equal ones each has its own") {
  Document document("a = 1\nb = 2\n");
  const auto before = document.module();
  document.apply({{{0, 12}, "b = 2\na = 1\na = 1\n"}});
  const auto after = document.module();
  REQUIRE(after->items.size() == 3);
  CHECK(after->items[0].chunk == before->items[1].chunk);
  CHECK(after->items[1].chunk == before->items[0].chunk);
  CHECK(after->items[2].chunk != after->items[1].chunk);

  document.apply({{{0, 6}, "b = 3\n"}});
  const auto edited = document.module();
  CHECK(edited->items[1].chunk == after->items[1].chunk);
  CHECK(edited->items[2].chunk == after->items[2].chunk);
}

TEST_CASE("an error costs its line and nothing more") {
  const std::string out = read(
      "def f(x):\n  y = foo(x, \n  return y\n\ndef g(a):\n  if a ==:\n    b = a\n  return b\n\n"
      "class A:\n  def m(self):\n    self.\n\n  def n(self): return 1\nz = 1\n");
  CHECK(has(out, "(function 0:"));
  CHECK(has(out, " g "));
  CHECK(has(out, "(class "));
  CHECK(has(out, " m "));
  CHECK(has(out, " n "));
  CHECK(has(out, "(locals m n)"));
  CHECK(has(out, "(assign 12:22 (targets (name 12:13 y)) (error"));
  CHECK(has(out, "(return 26:34 (name 33:34 y))"));
  CHECK_FALSE(has(out.substr(out.find("(assign", out.find("(class"))), "error\n("));
}

TEST_CASE("what is read in a broken line keeps no value, and binds its names") {
  CHECK(has(read("x = f(1"), "(targets (name 0:1 x)) (error"));
  CHECK(has(read("x: int = f(1"), "(ann-assign 0:12 (name 0:1 x) (name 3:6 int) (error"));
  CHECK(has(read("self.x, y = f(1"), "(tuple 0:9 (elements (attribute 0:6"));
  CHECK(has(read("def f(x\n"), "(assign 4:5 (targets (name 4:5 f)) (error"));
  CHECK(has(read("import a, b.\n"), "(targets (name 7:8 a))"));
  CHECK(has(read("x +="), "(targets (name 0:1 x)) (error"));
}

TEST_CASE("an unclosed bracket or string does not swallow the definitions that follow") {
  for (const std::string broken : {"x = foo(", "x = [1, 2", "x = {", "x = 'abc", "x = \"\"\"abc", "def h(a, ",
           "@deco(", "f'{a", "for i in (", "class C(", "x = \\"}) {
    const std::string out = read(
        broken + "\n\ndef f(a):\n  return a\n\nclass B:\n  '''doc'''\n  def m(self): pass\n");
    INFO(broken << '\n' << out);
    CHECK(has(out, "(function "));
    CHECK(has(out, "(class "));
    CHECK(has(out, "(return "));
    CHECK(has(out, "has-error"));
  }
}

TEST_CASE("half a match and half a try keep their bodies") {
  const std::string match = read("match x:\n  case [a, b]:\n    y = (a\n  case _:\n    z = 1\n");
  CHECK(has(match, "(match "));
  CHECK(has(match, "(wildcard"));
  CHECK(has(match, "(targets (name 49:50 z)"));
  const std::string attempt = read("try:\n  a = f(\nexcept E:\n  b = 1\n");
  CHECK(has(attempt, "(try "));
  CHECK(has(attempt, "(except "));
  CHECK(has(attempt, "b)"));
}

TEST_CASE("line endings and a byte order mark do not matter") {
  const std::string unix_text = "def f():\n  a = 1\n  if a:\n    b = 2\n  else:\n    c = 3\nd = 4\n";
  const auto kinds = [](const std::string& text) {
    std::string out;
    const auto module = parse(text);
    for (const Item& item : module->items)
      out += static_cast<char>('a' + static_cast<int>(item.chunk->stmt->kind));
    return out + (module->has_error ? "!" : "");
  };
  std::string windows, old_mac;
  for (const char c : unix_text) {
    windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
    old_mac += c == '\n' ? '\r' : c;
  }
  CHECK(kinds(windows) == kinds(unix_text));
  CHECK(kinds(old_mac) == kinds(unix_text));
  CHECK(read(old_mac) == read(unix_text));
  CHECK(kinds("\xef\xbb\xbf" + unix_text) == kinds(unix_text));
}

TEST_CASE("strange bytes do no harm") {
  CHECK(has(read(std::string("a = 1\0\nb = 2\n", 13)), "(targets (name 7:8 b))"));
  CHECK(has(read("a = '\xff\xfe'\nb = 2\n"), "(targets (name 9:10 b))"));
  CHECK(has(read("\xff\xfe\nb = 2\n"), "b"));
  CHECK(read("").empty());
  CHECK(read("\n\n  \n").empty());
  read(std::string(1000, '\0'));
  read("\\");
  read("x = \\\n");
  read("'''");
  read("f'{");
  read("  indented\nnot\n");
  CHECK(has(read("  indented\nnot\n"), "has-error"));
}

TEST_CASE("deep nesting ends in error nodes") {
  for (const auto& [left, right] : {std::pair{"(", ")"}, {"[", "]"}, {"{1:", "}"}, {"f(", ")"}, {"-", ""},
           {"not ", ""}, {"a.", ""}, {"lambda: ", ""}, {"a[", "]"}, {"x if y else ", ""}, {"a + ", ""},
           {"a and ", ""}, {"a ^ b & ", ""}, {"await ", ""}, {"x = ", ""}}) {
    for (const bool closed : {true, false}) {
      std::string text = "before = 1\n";
      for (int level = 0; level < 10'000; ++level) text += left;
      text += "x";
      for (int level = 0; closed && level < 10'000; ++level) text += right;
      text += "\ndef after(): pass\n";
      const std::string out = read(text);
      INFO(left);
      CHECK(has(out, "before"));
      CHECK(has(out, " after "));
    }
  }
}

TEST_CASE("deep blocks and long chains end in error nodes") {
  std::string blocks, chain = "if a: b\n", clauses = "x = 1\n";
  for (int level = 0; level < 1000; ++level) {
    blocks += std::string(static_cast<std::size_t>(level), ' ') + "if a:\n";
    chain += "elif a: b\n";
  }
  for (int level = 0; level < 10'000; ++level) clauses += "else:\n";
  CHECK(has(read(blocks + "\nx = 1\n"), "x"));
  CHECK(has(read(chain + "x = 1\n"), "(name 10008:10009 x)"));
  CHECK(has(read(clauses), "x"));
}

TEST_CASE("a line that is too long is not read, but binds its names") {
  std::string text = "table = [";
  for (int count = 0; count < 150'000; ++count) text += "1,";
  const std::string out = read(text + "]\nafter = 1\n");
  CHECK(has(out, "(assign 0:300010 (targets (name 0:5 table)) (error"));
  CHECK(has(out, "after"));
}

TEST_CASE("two threads read a text as one does") {
  std::string text;
  for (int count = 0; count < 400; ++count) {
    const std::string number = std::to_string(count);
    text += "class C" + number + ":\n  def f(self, x):\n    return x + " + number + "\nx" + number + " = C" +
        number + "().f(\n" + (count % 7 == 0 ? "" : ")\n");
  }
  class Thread : public BackgroundTask {
  public:
    explicit Thread(std::function<void()> work) : done_(std::async(std::launch::async, std::move(work))) {}
    void wait() override { done_.get(); }

  private:
    std::future<void> done_;
  };
  int begun = 0;
  const BackgroundRunner background = [&](std::function<void()> work) {
    return ++begun, std::make_unique<Thread>(std::move(work));
  };
  CHECK(dump(*parse(text, background)) == read(text));
  CHECK(begun == 1);
  Document document(text);
  CHECK(dump(*document.module(background)) == read(text));
  document.apply({{{0, 0}, "y = 1\n"}});
  CHECK(dump(*document.module(background)) == read("y = 1\n" + text));
  CHECK(begun == 2);  // one statement is not worth it
}

TEST_CASE("a text over 8 MiB gives a module without items") {
  const auto module = parse(std::string((8U << 20) + 1, '\n') + "x = 1");
  CHECK(module->items.empty());
  CHECK(module->text->line_count() == (8U << 20) + 2);
}
