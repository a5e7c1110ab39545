// Which attributes a text may set, in all spellings of Python.
#include "syntax/document.hpp"

#include <catch2/catch.hpp>

using namespace stepzero::syntax;

namespace {

// Of a text with one statement at its top level, in which the names lie.
struct Written {
  explicit Written(const std::string& text)
      : document(text), module(document.module()), item(module->items.at(0)),
        writes(*item.chunk->stmt, module->text->slice({item.offset, item.offset + item.chunk->size})) {
    REQUIRE(module->items.size() == 1);
  }
  bool names(std::string_view name) const { return writes.names(name); }
  bool computes() const { return writes.computes(); }
  bool registers() const { return writes.registers(); }

  Document document;
  std::shared_ptr<const Module> module;
  const Item& item;
  AttributeWrites writes;
};
Written writes_of(const std::string& text) { return Written(text); }

}  // namespace

TEST_CASE("whatever sets an attribute names it") {
  for (const char* text :
      {"self.head = 1\n", "self.a, (self.head, *self.b) = x\n", "self.head: int = 1\n", "self.head += 1\n",
          "del self.head\n", "for self.head in x: pass\n", "with f() as (self.a, self.head): pass\n",
          "class C:\n    head: int\n", "class C:\n    def head(self): pass\n",
          "class C:\n    class head: pass\n", "def f(head=1): pass\n", "def f(head: int): pass\n",
          "f(head=1)\n", "f({'head': 1})\n", "x = 'head of a text'\n", "g = lambda head=1: head\n",
          "head = 1\n", "if x:\n    try:\n        pass\n    except E:\n        self.head = 1\n",
          "@d(head=1)\ndef f(): pass\n", "class C(B, head=1): pass\n", "def f(x=g('head')): pass\n"})
    CHECK(writes_of(text).names("head"));
}

TEST_CASE("reading an attribute does not name it") {
  for (const char* text :
      {"x = self.head\n", "self.head(1)\n", "self.head[0] = 1\n", "self.head.weight = 1\n", "f(self.head)\n",
          "def f(head): pass\n", "x = 'the head'\n", "self.header = 1\n", "x = 1  # head = 2\n",
          "for head in x: pass\n", "with f() as head: pass\n", "import a as head\n", "f(head := 1)\n"})
    CHECK_FALSE(writes_of(text).names("head"));
}

TEST_CASE("attributes by computed names") {
  for (const char* text :
      {"setattr(self, name, 1)\n", "self.__dict__.update(x)\n", "class C:\n    __slots__ = x\n",
          "class C:\n    def __getattr__(self, name): pass\n", "class C(B, metaclass=M): pass\n",
          "vars(self)['a'] = 1\n", "object.__setattr__(self, name, 1)\n", "import copyreg\n"})
    CHECK(writes_of(text).computes());
  CHECK_FALSE(writes_of("x = getattr(self, name)\n").computes());
  CHECK(writes_of("self.register_buffer(f'table_{i}', x)\n").registers());
  CHECK(writes_of("self.add_module(name, x)\n").registers());
  CHECK_FALSE(writes_of("self.register_buffer('table', x)\n").registers());
}

TEST_CASE("of what is no Python yet every word counts") {
  CHECK(writes_of("def f(self):\n    self.head = (\n    x = 1\n").names("head"));
  CHECK_FALSE(writes_of("def f(self):\n    x = = 1\n    y = self.tail\n").names("tail"));
}
