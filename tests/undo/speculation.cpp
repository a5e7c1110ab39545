// A program that speculates at random from inside of itself: what was discarded has left nothing.
#include "interpreter/paths/speculation.hpp"
#include "interpreter/interpreter.hpp"
#include "libraries/table/table.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <random>

using namespace stepzero;
using interpreter::Interpreter;
using interpreter::Speculation;
using values::Kind;
using values::Value;

namespace {

const std::string file = "/train.py";

class OneFile : public program::Sources {
public:
  explicit OneFile(const std::string& text) : module_(syntax::Document(text).module()) {}
  std::shared_ptr<const syntax::Module> module(const std::string& path) const override {
    return path == file ? module_ : nullptr;
  }
  bool is_file(const std::string& path) const override { return path == file; }
  bool is_folder(const std::string&) const override { return false; }
  const std::vector<std::string>& roots() const override { return roots_; }

private:
  std::shared_ptr<const syntax::Module> module_;
  std::vector<std::string> roots_;
};

// Everything that the program can see, each time in the same words: the model copies it.
const std::string text = R"(import torch
import sys


class Box:
    pass


count = 0
items = []
table = {}
box = Box()
box.size = 1
unknown = len(sys.argv)


def dump():
    return [count, list(items), list(table.items()), box.size, hasattr(box, "more")]


def add_item():
    items.append(count)


def drop_item():
    if items:
        items.pop()


def set_key():
    table[str(count % 3)] = count


def set_size():
    box.size = count


def count_up():
    global count
    count = count + 1


def loop():
    global count
    for i in range(unknown):
        items.append(i)
        if i > 3:
            break
        count = i


def branch():
    if unknown > 3:
        box.size = 7
        return
    items.append("small")


def fail():
    items.append("failed")
    if unknown > 5:
        raise ValueError("too many")
    count_up()


def define():
    class Inner:
        def method(self):
            return 1

    def inner():
        return 2
    table["made"] = Inner()


def known_rounds():
    n = 0
    while n < 4:
        n = n + 1
        items.append(n)
        if n == unknown:
            raise ValueError("met")


torch.play_undo(dump, [add_item, drop_item, set_key, set_size, count_up, loop, branch, fail, define, known_rounds])
torch.play_undo(dump, [])
)";

// What the program sees, by the handles of its values: two moments are the same if all of them are.
struct Seen {
  std::vector<Value> names, contents;
  std::size_t facts = 0, told = 0;
  friend bool operator==(const Seen&, const Seen&) = default;
};

struct Played {
  unsigned seed = 0;
  int discarded = 0, rewound = 0;
  bool same = true;
  std::string wrong;
};
Played* played = nullptr;

// All that can be reached from the functions' module, as handles and contents.
Seen seen(interpreter::Runtime& run, Value dump) {
  Seen found;
  found.facts = run.symbols().mark();
  found.told = run.record().facts.size();
  const values::Scope* globals = run.resolve(dump).as<values::Function>()->closure->globals;
  for (const auto& [name, slot] : globals->names.entries()) {
    found.names.push_back(slot->value);
    const Value held = slot->value;
    if (held.is(Kind::list)) found.contents.push_back(held.as<values::List>()->state.value);
    if (held.is(Kind::dict)) found.contents.push_back(held.as<values::Dict>()->state.value);
    if (held.is(Kind::instance))
      for (const auto& [attribute, inner] : held.as<values::Instance>()->attributes.entries())
        if (inner->value) found.contents.push_back(inner->value);
  }
  return found;
}

Value play(interpreter::Call& call) {
  interpreter::Runtime& run = call.run;
  const Value dump = call.at(0);
  const auto functions = run.elements(call.at(1), call.place);
  if (!functions || functions->empty()) return Value::none();
  std::mt19937 random(played->seed);
  const auto number = [&](std::size_t below) {
    return std::uniform_int_distribution<std::size_t>(0, below - 1)(random);
  };
  const auto check = [&](const Seen& before, const char* what) {
    if (seen(run, dump) == before) return;
    played->same = false;
    played->wrong = what;
  };
  const auto act = [&](const auto& self, int depth) -> void {
    for (std::size_t i = 1 + number(4); i > 0; --i) {
      if (depth < 4 && number(3) == 0) {
        const bool trial = number(2) == 0;
        const Seen before = seen(run, dump);
        Seen inside;
        {
          Speculation speculation(run, trial ? Speculation::Of::trial : Speculation::Of::path);
          self(self, depth + 1);
          inside = seen(run, dump);
          switch (number(3)) {
          case 0: speculation.commit(); continue;
          case 1: {
            const values::Delta taken = speculation.take();
            Seen back = seen(run, dump);
            if (!trial)
              back.told = before.told;  // what was told on a path stays
            else
              back.told = before.told;
            if (!(back == before)) played->same = false, played->wrong = "take";
            speculation.become(taken);
            Seen again = seen(run, dump);
            again.facts = inside.facts;
            if (!(again == inside)) played->same = false, played->wrong = "become";
            break;
          }
          default: break;
          }
        }
        (trial ? played->discarded : played->rewound)++;
        Seen expected = before;
        if (!trial) expected.told = run.record().facts.size();
        check(expected, trial ? "discarded" : "rewound");
      } else {
        run.call((*functions)[number(functions->size())], {}, call.place);
      }
    }
  };
  act(act, 0);
  return Value::none();
}

// The table, and one function of the test's own.
class WithProbe : public libraries::Table {
public:
  WithProbe() {
    row_ = libraries::row("torch.play_undo", values::RowKind::function, "dump, functions", play);
    row_.parameters = {syntax::Name("dump"), syntax::Name("functions")};
    row_.positional = 2;
    row_.defaults.resize(2);
  }
  const values::Row* find(std::string_view path) const override {
    return path == "torch.play_undo" ? &row_ : libraries::Table::find(path);
  }

private:
  values::Row row_;
};

}  // namespace

TEST_CASE("A run that speculates sees what it saw before wherever it is taken back") {
  const OneFile sources(text);
  const WithProbe library;
  int discarded = 0, rewound = 0;
  for (unsigned seed = 0; seed < 150; ++seed) {
    CAPTURE(seed);
    Played one;
    one.seed = seed;
    played = &one;
    interpreter::Record record;
    Interpreter run(sources, library, {}, record);
    run.run_file(file);
    CAPTURE(one.wrong);
    REQUIRE(one.same);
    discarded += one.discarded;
    rewound += one.rewound;
  }
  CHECK(discarded > 50);
  CHECK(rewound > 50);
}

TEST_CASE("Functions and classes of a trial that is discarded are not run as if nobody called them") {
  // The rounds of the loop are too many and cost too much: those that were run one by one are discarded.
  const OneFile sources(R"(made = []
for i in range(500):
    class Inner:
        def method(self, x):
            return x.reshape(3, 2)
    for k in range(300):
        made.append(k * 2 + 1)
        made.append(k * 3 + 1)
)");
  interpreter::Record record;
  Interpreter run(sources, libraries::table(), {}, record);
  run.run_file(file);
  std::map<std::string, int> roots;
  for (const auto& root : record.roots) ++roots[root->name];
  for (const auto& [name, count] : roots) {
    CAPTURE(name);
    CHECK(count == 1);
  }
}
