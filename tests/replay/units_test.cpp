// How much of a file is run again after an edit: of its functions that nobody calls and its classes, those
// that use what changed.
#include "server/workspace/files.hpp"
#include "server/workspace/paths.hpp"
#include "snapshot/snapshot.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace {

using namespace stepzero;

class Session {
public:
  Session(std::string path, std::string text, std::uint64_t steps = snapshot::Options().steps,
      std::vector<std::string> libraries = {})
      : path_(std::move(path)), document_(std::move(text)), steps_(steps), libraries_(std::move(libraries)) {
    analyze();
  }

  // Puts `text` in front of the first `at`, and takes it away again. Both have to be answered by going on.
  std::size_t insert(const std::string& at, const std::string& text) {
    const auto where = static_cast<std::uint32_t>(document_.bytes().find(at));
    INFO(path_ << ": " << text << " at " << at);
    REQUIRE(where < document_.bytes().size());
    document_.apply({{{where, where}, text}});
    const std::size_t there = analyze();
    CHECK(went_on);
    document_.apply({{{where, static_cast<std::uint32_t>(where + text.size())}, ""}});
    const std::size_t back = analyze();
    CHECK(went_on);
    return std::max(there, back);
  }
  // The same, and the objects that were made to run methods on.
  std::size_t objects_at(const std::string& at, const std::string& text) {
    most_objects_ = 0;
    insert(at, text);
    return most_objects_;
  }
  // … and the roots whose ranks were held against each other.
  std::size_t compared_at(const std::string& at, const std::string& text) {
    most_compared_ = 0;
    insert(at, text);
    return most_compared_;
  }
  bool went_on = false, ran_out = false;
  std::size_t findings = 0, most_findings = 0;
  std::uint64_t steps = 0;

private:
  std::size_t analyze() {
    const auto overlay = std::make_shared<server::Overlay>(server::Overlay{{path_, document_.module()}});
    const auto roots = server::import_roots({}, path_);
    const server::FileSources sources = libraries_.empty()
        ? server::FileSources(cache_, roots, overlay)
        : server::FileSources(cache_, roots, overlay, libraries_);
    snapshot::Options options;
    options.memory = &memory_;
    options.steps = steps_;
    options.want_facts = options.want_schedule = true;
    const snapshot::Result result = snapshot::analyze(sources, path_, options);
    went_on = result.went_on;
    ran_out = result.out_of_budget;
    findings = result.findings.size();
    steps = result.steps;
    most_findings = std::max(most_findings, findings);
    most_objects_ = std::max(most_objects_, result.objects_made);
    most_compared_ = std::max(most_compared_, result.roots_compared);
    return result.units_run;
  }

  std::size_t most_objects_ = 0, most_compared_ = 0;
  std::string path_;
  syntax::Document document_;
  std::uint64_t steps_;
  std::vector<std::string> libraries_;
  std::shared_ptr<server::ModuleCache> cache_ = std::make_shared<server::ModuleCache>();
  snapshot::RunCache memory_;
};

constexpr int layers = 80;

std::string large_file() {
  std::string text =
      "import functools\nimport torch\nfrom torch import nn\n\nWIDTH = 64\nDEPTH = 12\n\n\ndef noted(f):\n    @functools.wraps(f)\n    def inner(*a, **k):\n        return f(*a, **k)\n    return inner\n\n\n";
  for (int i = 0; i < layers; ++i) {
    const std::string n = std::to_string(i);
    text += "class Layer" + n +
        "(nn.Module):\n    def __init__(self, width):\n        super().__init__()\n        self.fc = nn.Linear(width, width)\n        # end of init " +
        n + "\n\n" + "    def forward(self, x):\n        y = self.fc(x)\n        return y + x  # " + n +
        "\n\n\n" + (i % 4 == 0 ? "@noted\n" : "") + "def apply" + n + "(x):\n    layer = Layer" + n + "(" +
        (i == 7 ? "WIDTH" : "32") + ")\n    return layer(x)\n\n\n";
  }
  return text;
}

}  // namespace

TEST_CASE("an edit runs the units again that use what changed, and no others") {
  Session session("/work.py", large_file());
  CHECK(session.insert("        return y + x  # 40", "        y = y * 2\n") <=
      3);  // a body: the class, and who makes it
  CHECK(session.insert("        return y + x  # 40", "        y = y.\n") <= 3);        // half a statement
  CHECK(session.insert("        # end of init 40", "        self.extra = 3\n") <= 3);  // an __init__
  CHECK(session.insert("):\n        y = self.fc(x)\n        return y + x  # 41", ", scale=1") <=
      3);  // a signature
  CHECK(session.insert("        return y + x  # 42", "        # a comment\n") <= 3);
  CHECK(session.insert("class Layer40", "def another(x):\n    return x + 1\n\n\n") <= 2);  // a new function
  CHECK(session.insert("class Layer40", "LIMIT = 3\n\n\n") <= 1);                          // a new constant
  CHECK(session.insert("64\n", "1") <= 3);                        // a constant that one function uses
  CHECK(session.insert("import torch\n", "import math\n") <= 1);  // an import that nobody uses yet
}

TEST_CASE("an edit of a method does not construct the objects again that it is run on") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "stepzero-decorated";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "marks.py")
      << "import functools\n\n\ndef marked(f):\n    @functools.wraps(f)\n    def wrapper(self, *a, **k):\n"
         "        return f(self, *a, **k)\n    return wrapper\n";
  Session session((folder / "model.py").string(),
      "import torch\nfrom torch import nn\nfrom marks import marked\n\n\nclass Part(nn.Module):\n"
      "    def __init__(self, width):\n        super().__init__()\n        self.fc = nn.Linear(width, width)\n\n"
      "    @marked\n    def forward(self, x):\n        y = self.fc(x)\n        return x + y  # part\n\n\n"
      "class Whole(nn.Module):\n    def __init__(self, width):\n        super().__init__()\n"
      "        self.part = Part(width)\n\n    @marked\n    def extra(self, x):\n        return x * 2\n\n"
      "    @marked\n    def forward(self, x, callback):\n        callback(self.part)\n"
      "        return self.part(x)\n");
  CHECK(session.objects_at("        return x + y", "        scaled = x * 2\n") == 0);
  CHECK(session.objects_at("        return self.part(x)", "        x = x * 2\n") == 0);
  CHECK(session.objects_at("        return x * 2", "        x = x + 1\n") == 0);
  // Who reads what a method calls asks again where it calls something else.
  CHECK(session.objects_at("        return x + y", "        self.spread(x)\n") <= 2);
  CHECK(session.objects_at("        self.fc = ", "        width = width + 1\n") == 2);
  std::filesystem::remove_all(folder);
}

TEST_CASE("nor one of a method that hands out functions, or stands beside one that does") {
  Session session("/work.py",
      "import torch\n\n\nclass Engine:\n    def __init__(self, model, width):\n        self.model = model\n"
      "        self.width = width\n\n    def prepare(self, hooks):\n        def on_step(x):\n"
      "            return x + self.width  # inner\n\n        hooks.append(on_step)\n"
      "        return hooks  # prepare\n\n    def step(self, x):\n        return x * self.width  # step\n\n"
      "    def close(self):\n        return lambda: self.model\n");
  CHECK(session.objects_at("        return x * self.width  # step", "        x = torch.relu(x)\n") == 0);
  CHECK(session.objects_at("        return hooks  # prepare", "        kept = list(hooks)\n") == 0);
  CHECK(session.objects_at("            return x + self.width  # inner", "            x = x * 2\n") == 0);
}

TEST_CASE("an edit has the ranks compared where it may have changed what they do, and nowhere else") {
  Session session("/work.py",
      "import torch.distributed as dist\n\n\ndef reduce(x):\n    dist.all_reduce(x)\n    return x  # reduce\n\n\n"
      "class Trainer:\n    def log(self, x):\n        return str(x)  # log\n\n"
      "    def save(self, x):\n        if dist.get_rank() == 0:\n            print(x)\n"
      "        dist.barrier()  # save\n\n    def mean(self, x):\n        return reduce(x) / 2  # mean\n\n"
      "    def best(self, x):\n        return reduce(x).max()  # best\n");
  CHECK(session.compared_at("        return str(x)  # log", "        x = x * 2\n") == 0);
  CHECK(session.compared_at("        return reduce(x) / 2  # mean", "        print(x)\n") == 1);
  CHECK(session.compared_at("        dist.barrier()  # save", "        dist.barrier()\n") == 1);
  CHECK(session.compared_at("    return x  # reduce", "    dist.barrier()\n") == 2);
  CHECK(session.compared_at("        return reduce(x) / 2  # mean", "        # a comment\n") == 0);
  CHECK(session.findings == 0);
}

// Modules that write into each other as they are imported do so once.
TEST_CASE("a program whose modules register what they define is not begun again") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "stepzero-registry";
  std::filesystem::create_directories(folder / "shelf");
  std::ofstream(folder / "shelf" / "__init__.py") << "";
  std::ofstream(folder / "shelf" / "registry.py")
      << "ENTRIES = {}\n\n\ndef register(cls):\n    ENTRIES[cls.__name__] = cls\n    return cls\n";
  std::ofstream(folder / "shelf" / "blocks.py")
      << "from torch import nn\nfrom .registry import register\n\n\n@register\nclass Block(nn.Module):\n    def __init__(self, width):\n"
         "        super().__init__()\n        self.fc = nn.Linear(width, 4)\n\n    def forward(self, x):\n        return self.fc(x)\n";
  const std::string text =
      "import torch\nfrom torch import nn\nfrom shelf.registry import ENTRIES, register\nimport shelf.blocks\n\n\n@register\nclass Head(nn.Module):\n    def forward(self, x):\n        return x + 1\n\n\n@register\ndef tall(width):\n    head = Head()\n    return head\n\n\n"
      "def train(model, rounds):\n    for step in range(rounds):\n        out = model(torch.zeros(2, 3))\n    return out\n\n\ntrain(ENTRIES['Block'](3), 4)\nENTRIES['Head']()(torch.zeros(2))\n";
  Session session((folder / "train.py").string(), text);
  CHECK(session.insert("        return x + 1", "        x = x * 2\n") <= 2);
  CHECK(session.insert("    return out", "    out = out.sum()\n") <= 2);
  CHECK(session.insert("    return head", "    head = head or None\n") <=
      1);  // of a function that is registered
  CHECK(session.insert("train(ENTRIES", "print(1)\n") <= 2);
  CHECK(session.findings == 0);
  session.insert("train(ENTRIES", "ENTRIES['Block'](5)(torch.zeros(2, 3))\n");
  CHECK(session.most_findings == 1);
  CHECK(session.findings == 0);
  std::filesystem::remove_all(folder);
}

// Each function calls the one before it twice: more than the budget allows.
TEST_CASE("a script whose statements run out of steps is not begun again") {
  std::string text =
      "import torch\n\nprint('=' * 80)\n\n\ndef helper(x):\n    return x + 1\n\n\ndef work(x):\n"
      "    total = x + 2\n    total = total * 3\n    return total\n\n\n";
  for (int i = 0; i < 9; ++i) text += "value" + std::to_string(i) + " = 0\n";
  text += "print('=' * 80)\n\n";
  std::string last = "work";
  for (int i = 0; i < 12; ++i) {
    const std::string name = "twice" + std::to_string(i);
    text += "\ndef " + name + "(x):\n    return " + last + "(x) + " + last + "(x)\n\n";
    last = name;
  }
  text += "print('=' * 80)\n" + last + "(torch.zeros(3))\n";
  Session session("/work.py", text, 20'000);
  REQUIRE(session.ran_out);
  CHECK(session.insert("    return x + 1", "    x = x * 2\n") <= 2);  // nobody calls it
  CHECK(session.insert("    return total", "    total = total + 1\n") <= 20);
  CHECK(session.insert("value7 = ", "print(3)\n") <= 20);
  CHECK(session.insert("print('=' * 80)\n\n\ndef twice0", "print('=' * 80)\n") <= 20);
}

// What a script writes into its own objects no module sees that is imported later.
TEST_CASE("a script that declares arguments before it imports is not begun again") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "stepzero-arguments";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "later.py")
      << "TABLE = {}\n\n\ndef width():\n    TABLE['asked'] = 1\n    return 4\n";
  const std::string text =
      "import argparse\n\nimport torch\nfrom torch import nn\n\nparser = argparse.ArgumentParser()\n"
      "parser.add_argument('--width', type=int, default=8)\n\n\ndef main():\n    args = parser.parse_args()\n"
      "    import later\n    net = nn.Linear(4, later.width())\n    return net(torch.zeros(2, 4))\n\n\n"
      "if __name__ == '__main__':\n    main()\n";
  Session session((folder / "train.py").string(), text);
  CHECK(session.insert("    return net(", "    print(net)\n") <= 2);
  CHECK(session.insert("def main", "def other(x):\n    return x + 1\n\n\n") <= 2);
  CHECK(session.findings == 0);
  session.insert("    return net(", "    net(torch.zeros(2, 3))\n");
  CHECK(session.most_findings == 1);
  CHECK(session.findings == 0);
  std::filesystem::remove_all(folder);
}

// A library's module that is first asked for on a path, after the program wrote into the library: it
// registers something, and what the program wrote stands beside it.
TEST_CASE("a script that asks for a library's module late is not begun again") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "stepzero-late";
  std::filesystem::create_directories(folder / "installed" / "timm");
  const auto write = [&](const char* name, const char* text) {
    std::ofstream(folder / "installed" / "timm" / name) << text;
  };
  write("__init__.py", "");
  write("state.py",
      "ENTRIES = {}\nLEVEL = [0]\n\n\ndef set_level(level):\n    LEVEL[0] = level\n\n\n"
      "def register(cls):\n    ENTRIES[cls.__name__] = cls\n    return cls\n");
  write("late.py",
      "from torch import nn\nfrom .state import LEVEL, register\n\nWIDTH = 4 + LEVEL[0]\n\n\n"
      "@register\nclass Late(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
      "        self.fc = nn.Linear(WIDTH, WIDTH)\n\n    def forward(self, x):\n        return self.fc(x)\n");
  const std::string text =
      "import sys\nimport torch\nfrom timm.state import set_level, LEVEL\n\n\ndef main():\n    set_level(2)\n"
      "    if len(sys.argv) > 3:\n        from timm.late import Late\n        model = Late()\n"
      "        model(torch.zeros(2, 4))\n    print(torch.zeros(LEVEL[0]) + torch.zeros(2))\n\n\nmain()\n";
  Session session(
      (folder / "train.py").string(), text, snapshot::Options().steps, {(folder / "installed").string()});
  CHECK(session.findings == 0);
  session.insert("    set_level(2)", "    torch.zeros(2, 3)\n");
  session.insert("        model = Late()", "        print(sys.argv)\n");
  CHECK(session.findings == 0);
  session.insert("        model = Late()", "        Late()(torch.zeros(2, 5))\n");
  CHECK(session.most_findings == 1);
  session.insert("    print(torch.zeros(LEVEL[0])", "    torch.zeros(LEVEL[0]) + torch.zeros(3)\n");
  CHECK(session.most_findings == 1);
  CHECK(session.findings == 0);
}

// The program and a library's module that a function of it asks for late both register what they define.
TEST_CASE("a program that fills the registry of a library is not begun again") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "stepzero-filled";
  std::filesystem::create_directories(folder / "installed" / "timm");
  const auto write = [&](const char* name, const char* text) {
    std::ofstream(folder / "installed" / "timm" / name) << text;
  };
  write("__init__.py", "");
  write("state.py",
      "ENTRIES = {}\nNAMES = []\n\n\ndef register(cls):\n    ENTRIES[cls.__name__] = cls\n"
      "    NAMES.append(cls.__name__)\n    return cls\n");
  write("late.py",
      "from torch import nn\nfrom .state import register\n\n\n@register\nclass Late(nn.Module):\n"
      "    def forward(self, x):\n        return x.view(3)\n");
  const std::string text =
      "import torch\nfrom torch import nn\nfrom timm.state import register, ENTRIES, NAMES\n\n\n"
      "class Base(nn.Module):\n    def __init__(self, width=4):\n        super().__init__()\n"
      "        self.fc = nn.Linear(width, width)\n\n\n@register\nclass Head(Base):\n"
      "    def forward(self, x):\n        return self.fc(x)\n\n\n"
      "def build():\n    from timm.late import Late\n    Late()(torch.zeros(3))\n"
      "    ENTRIES['Head']()(torch.zeros(2, 4))\n    return ENTRIES['Late']\n\n\n"
      "def count():\n    return torch.zeros(len(NAMES)) + torch.zeros(len(ENTRIES))\n";
  Session session(
      (folder / "train.py").string(), text, snapshot::Options().steps, {(folder / "installed").string()});
  CHECK(session.findings == 0);
  session.insert("        self.fc = ", "        width = width + 0\n");
  session.insert("class Base", "print(NAMES)\n");
  session.insert("    ENTRIES['Head']", "    print(1)\n");
  CHECK(session.findings == 0);
  session.insert("    return ENTRIES", "    ENTRIES['Late']()(torch.zeros(4))\n");
  CHECK(session.most_findings == 1);
  session.insert("    def forward", "    def again(self, x):\n        return x.view(2, 3).view(4)\n");
  CHECK(session.most_findings == 1);
  CHECK(session.findings == 0);
  std::filesystem::remove_all(folder);
}

// Whether a loop is run iteration by iteration is found out by running its first one: that must not take as
// long as the loop itself, or it is paid for once more in each loop around.
TEST_CASE("what tries a loop ends when its allowance is used up") {
  const auto steps_of = [](const std::string& head, const std::string& indent) {
    std::string text = "import torch\n\nx = torch.zeros(4)\n" + head;
    for (int i = 0; i < 2'000; ++i) text += indent + "y = torch.relu(x)\n";
    return Session("/loop.py", text).steps;
  };
  const std::uint64_t once = steps_of("", "");
  // An iteration for what it changes, and one for good.
  CHECK(steps_of("for i in range(200):\n", "    ") < once * 9 / 4);
  CHECK(steps_of("while True:\n", "    ") < once * 2 + 3'500);
}

// The dry run of the outermost loop tells what the loops inside it change, too.
TEST_CASE("loops in loops are run once more, not once more for each of them") {
  const auto steps_of = [](std::string head, const std::string& indent) {
    std::string text = "import torch\n\n\nclass Meter:\n    def __init__(self):\n        self.total = 0\n\n\n"
                       "x = torch.zeros(4)\nseen = 0\n";
    text += head;
    for (int i = 0; i < 2'000; ++i) text += indent + "y = torch.relu(x)\n";
    return Session("/loops.py", text).steps;
  };
  const std::uint64_t once = steps_of("", "");
  CHECK(steps_of("for k in range(300):\n    for i in range(200):\n", "        ") < once * 9 / 4);
  CHECK(steps_of("for k in range(300):\n    for j in range(300):\n        for i in range(200):\n",
            "            ") < once * 9 / 4);
  // What is changed was made in an iteration of the loop around.
  CHECK(
      steps_of(
          "for k in range(300):\n    meters = {'loss': Meter(), 'all': [Meter()]}\n    for i in range(200):\n"
          "        meters['loss'].total = x\n        meters['all'][0].total = seen\n",
          "        ") < once * 9 / 4);
}

TEST_CASE("in real files, too") {
  const std::string libraries = "/usr/lib/python3/dist-packages/";
  const auto text_of = [](const std::string& path) {
    std::ifstream file(path);
    return std::string{std::istreambuf_iterator<char>(file), {}};
  };
  int files = 0;
  if (const std::string path = libraries + "torchvision/models/detection/roi_heads.py";
      std::filesystem::exists(path)) {
    ++files;
    Session session(path, text_of(path));
    CHECK(session.insert("    labels = torch.cat(labels, dim=0)", "    scaled = 2 * 3\n") <= 3);
    CHECK(session.insert("def fastrcnn_loss", "def another(x):\n    return x + 1\n\n\n") <= 2);
    CHECK(session.insert("import torch\n", "import string\n") <= 1);
  }
  if (const std::string path = libraries + "torch/distributed/fsdp/wrap.py"; std::filesystem::exists(path)) {
    ++files;
    Session session(path, text_of(path));
    CHECK(session.insert("def always_wrap_policy", "def another(x):\n    return x + 1\n\n\n") <= 2);
    CHECK(session.insert("import contextlib\n", "import string\n") <= 1);
  }
  if (files == 0) WARN("no library is installed: nothing was counted");
}
