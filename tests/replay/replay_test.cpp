// Programs of the other suites are edited at random, line by line and letter by letter; after each edit the
// analysis that goes on from the last one is compared with one from the beginning: findings, their places and
// fixes, and what is known of each place.
#include "edited_files.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <random>
#include <set>

namespace {

using namespace stepzero;
using replay::difference;
using replay::InstalledFile;
using replay::OneFile;
using replay::told;

class OnAThread : public syntax::BackgroundTask {
public:
  explicit OnAThread(std::function<void()> work) : done_(std::async(std::launch::async, std::move(work))) {}
  void wait() override { done_.get(); }

private:
  std::future<void> done_;
};

std::vector<std::string> programs() {
  std::vector<std::string> paths;
  const std::filesystem::path root = STEPZERO_SOURCE;
  for (const char* folder :
      {"examples", "tests/traces/programs", "tests/loops/programs", "tests/ranks/programs"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder))
      if (entry.path().extension() == ".py") paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// What somebody may do to a text: (begin, end, new text).
struct Change {
  std::uint32_t begin, end;
  std::string text;
};
Change random_change(const std::string& text, std::mt19937& random) {
  const auto below = [&](std::size_t bound) {
    return static_cast<std::uint32_t>(random() % std::max<std::size_t>(bound, 1));
  };
  const auto at = below(text.size());
  const auto line = static_cast<std::uint32_t>(text.rfind('\n', at) + 1);  // npos + 1 is 0
  const auto end = static_cast<std::uint32_t>(std::min(text.find('\n', at), text.size() - 1) + 1);
  switch (below(6)) {
  case 0: {  // another number
    const auto digit = static_cast<std::uint32_t>(text.find_first_of("0123456789", at));
    if (digit < text.size()) return {digit, digit + 1, std::to_string(below(30))};
    return {at, at, "1"};
  }
  case 1: return {line, end, ""};                            // a line goes
  case 2: return {end, end, text.substr(line, end - line)};  // a line twice
  case 3: {  // a line goes somewhere else's way: the first word of another line
    const auto word = static_cast<std::uint32_t>(text.find_first_not_of(' ', line));
    return {std::min<std::uint32_t>(word, end), std::min<std::uint32_t>(word, end), "x = "};
  }
  case 4: return {at, at + (at < text.size() ? 1u : 0u), ""};  // a letter goes
  default: return {at, at, std::string(1, "(x0 =.#\n:"[below(9)])};
  }
}

// A finding without its related places and fixes, by what it says of which bytes.
std::string key(const rules::Finding& finding, std::int64_t shift = 0) {
  return std::string(finding.rule) + ' ' + std::to_string(finding.where.span.begin + shift) + '-' +
      std::to_string(finding.where.span.end + shift) + ' ' + finding.message;
}

// What an edit of one function is answered first, beside the whole results before and after it: nothing that
// neither of them says, and all that both say away from the edit.
std::string wrong_in_part(const snapshot::Result& before, const snapshot::Result& part,
    const snapshot::Result& after, const Change& change) {
  const std::int64_t shift = static_cast<std::int64_t>(change.text.size()) - (change.end - change.begin);
  std::set<std::string> stood, now, told;
  for (const auto& finding : before.findings) {
    const auto& span = finding.where.span;
    if (span.end <= change.begin)
      stood.insert(key(finding));
    else if (span.begin >= change.end)
      stood.insert(key(finding, shift));
  }
  std::set<std::string> around;  // a span grows with an edit in it
  for (const auto& finding : before.findings) around.insert(std::string(finding.rule) + finding.message);
  for (const auto& finding : after.findings) now.insert(key(finding));
  for (const auto& finding : part.findings) told.insert(key(finding));
  for (const auto& finding : part.findings) {
    const auto& span = finding.where.span;
    const bool grown = span.begin < change.begin && span.end > change.begin + change.text.size() &&
        around.contains(std::string(finding.rule) + finding.message);
    if (!grown && !stood.contains(key(finding)) && !now.contains(key(finding)))
      return "only in the part: " + key(finding);
  }
  for (const std::string& each : stood)
    if (now.contains(each) && !told.contains(each)) return "not in the part: " + each;
  return "";
}

}  // namespace

// Blocks of which every third has layers that do not fit, and what uses them all: edits of one leave much to
// be run again.
std::string models() {
  std::string text = "import torch\nfrom torch import nn\n\n\ndef scaled(x, by=2):\n    return x * by\n\n\n";
  constexpr int blocks = 24;
  for (int i = 0; i < blocks; ++i) {
    const std::string n = std::to_string(i), out = i % 3 == 0 ? "48" : "32";
    text += "class Block" + n +
        "(nn.Module):\n    def __init__(self, width=32):\n        super().__init__()\n        self.first = nn.Linear(width, 64)\n        self.second = nn.Linear(" +
        (i % 3 == 0 ? "60" : "64") + ", " + out + ")\n\n" +
        "    def widened(self, x):\n        return scaled(torch.relu(self.first(x)))\n\n    def forward(self, x):\n        y = self.widened(x)\n        y = self.second(y)\n        return y.reshape(-1, " +
        out + ")\n\n\n";
  }
  for (int i = 0; i < blocks; ++i) {
    text += "def run" + std::to_string(i) + "(batch):\n    total = 0\n    for step in range(40):\n";
    for (int j = 1; j < blocks; j += 3)
      text += "        total = total + Block" + std::to_string(j) + "()(torch.zeros(4, 32)).sum()\n";
    text += "    wrong = torch.zeros(3, " + std::to_string(i + 5) +
        ") @ torch.zeros(4, 2)\n    return total, wrong, batch\n\n\n";
  }
  return text;
}

TEST_CASE(
    "what is said of an edited function first is said before or after, and nothing that stands is lost") {
  constexpr int edits = 60;
  std::mt19937 random(24);
  OneFile file("/work.py", models());
  snapshot::RunCache memory;
  snapshot::Options options;
  options.memory = &memory;
  std::vector<snapshot::Result> told_early;
  options.on_findings = [&](const snapshot::Result& result) {
    if (result.partial) told_early.push_back(result);
  };
  snapshot::Result before = snapshot::analyze(file, "/work.py", options);
  REQUIRE(before.findings.size() > 20);
  Change back;
  int of_function = 0;
  for (int n = 0; n < edits; ++n) {
    const Change change = n % 2 != 0 ? back : random_change(file.bytes(), random);
    back = {change.begin, static_cast<std::uint32_t>(change.begin + change.text.size()),
        file.bytes().substr(change.begin, change.end - change.begin)};
    file.edit(change.begin, change.end, change.text);
    told_early.clear();
    snapshot::Result after = snapshot::analyze(file, "/work.py", options);
    INFO("edit " << n << " at " << change.begin << ": " << change.text);
    for (const snapshot::Result& part : told_early) CHECK(wrong_in_part(before, part, after, change) == "");
    of_function += told_early.size() >
        1;  // the edited function's own, and that of the whole file before slower rules
    before = std::move(after);
  }
  CHECK(of_function > edits / 8);
}

TEST_CASE(
    "a file that takes long when it is opened is answered before all of it has been run, and nothing is taken back") {
  OneFile file("/work.py", models());
  snapshot::RunCache memory;
  snapshot::Options options;
  options.memory = &memory;
  std::vector<std::set<std::string>> told;
  options.on_findings = [&](const snapshot::Result& result) {
    std::set<std::string>& one = told.emplace_back();
    for (const auto& finding : result.findings) one.insert(key(finding));
  };
  const snapshot::Result whole = snapshot::analyze(file, "/work.py", options);
  std::set<std::string> all;
  for (const auto& finding : whole.findings) all.insert(key(finding));
  told.push_back(all);
  CHECK(told.size() > 3);
  CHECK(told.front().size() < all.size());
  for (std::size_t i = 1; i < told.size(); ++i) CHECK(std::ranges::includes(told[i], told[i - 1]));
}

TEST_CASE(
    "an analysis that was cancelled leaves what it finished, and the next says the same as one from the beginning") {
  constexpr int edits = 72;
  std::mt19937 random(25);
  OneFile file("/work.py", models());
  snapshot::RunCache memory;
  std::atomic<bool> cancelled = false;
  snapshot::Options typed, whole, cold;
  typed.memory = whole.memory = &memory;
  typed.cancelled = &cancelled;
  typed.on_findings = [&](const snapshot::Result& result) {
    cancelled = result.partial;
  };  // as the next key does
  snapshot::analyze(file, "/work.py", whole);
  int cut = 0, went_on = 0;
  for (int n = 0; n < edits; ++n) {
    if (n % 9 == 0) file.replace_all(models());  // it stays a program
    const Change change = random_change(file.bytes(), random);
    file.edit(change.begin, change.end, change.text);
    cancelled = false;
    cut += snapshot::analyze(file, "/work.py", typed).cancelled;
    if (n % 3 != 2) continue;
    const snapshot::Result result = snapshot::analyze(file, "/work.py", whole);
    went_on += result.went_on;
    const std::string again = told(result), fresh = told(snapshot::analyze(file, "/work.py", cold));
    INFO("edit " << n << "\n" << difference(again, fresh));
    REQUIRE((again == fresh));
  }
  CHECK(cut > edits / 12);  // of most edits so little runs again that nothing is told first
  CHECK(went_on > edits / 6);
}

TEST_CASE("an analysis that goes on from the last one says the same as one from the beginning") {
  constexpr int edits = 10;
  std::mt19937 random(20);
  const auto paths = programs();
  REQUIRE(paths.size() > 300);
  for (std::size_t i = 0; i < paths.size(); i += 3) {
    OneFile file("/work.py", text_of(paths[i]));
    snapshot::RunCache memory;
    snapshot::Options warm, cold;
    warm.memory = &memory;
    // What a second core takes part in comes to the same.
    if (i % 2 == 0)
      warm.background = [](std::function<void()> work) {
        return std::make_unique<OnAThread>(std::move(work));
      };
    snapshot::analyze(file, "/work.py", warm);
    std::string before;
    for (int n = 0; n < edits; ++n) {
      // Now and then the last edit is taken back, as somebody does who tries.
      if (n % 4 == 3)
        file.replace_all(before);
      else {
        before = file.bytes();
        const Change change = random_change(before, random);
        file.edit(change.begin, change.end, change.text);
      }
      const std::string again = told(snapshot::analyze(file, "/work.py", warm)),
                        fresh = told(snapshot::analyze(file, "/work.py", cold));
      INFO(paths[i] << ", edit " << n << "\n" << difference(again, fresh) << "\n" << file.bytes());
      REQUIRE((again == fresh));
    }
  }
}

TEST_CASE("what a statement let pass is told once an edit takes the statement away") {
  constexpr std::string_view programs[] = {
      "import os\nimport torch\ntext = os.environ[\"RANK\"]\nimport torch.distributed as dist\nos.environ[\"OTHER\"] = dist.get_rank()\n",
      "from torch import nn\nimport torch\ntorch.serialization.add_safe_globals([nn.Linear])\ntorch.save({\"model\": nn.Linear(4, 2)}, \"m.pt\")\nsame = torch.load(\"m.pt\", weights_only=True)\n",
  };
  for (const std::string_view program : programs)
    for (const bool put_back : {false, true}) {
      OneFile file("/work.py", std::string(program));
      snapshot::RunCache memory;
      snapshot::Options warm, cold;
      warm.memory = &memory;
      snapshot::analyze(file, "/work.py", warm);
      const auto begin = static_cast<std::uint32_t>(program.find('\n', program.find("import torch")) + 1);
      const auto end = static_cast<std::uint32_t>(program.find('\n', begin) + 1);
      REQUIRE(snapshot::analyze(file, "/work.py", cold).findings.empty());
      file.edit(begin, end, "");
      REQUIRE(snapshot::analyze(file, "/work.py", cold).findings.size() == 1);
      if (put_back) {
        snapshot::analyze(file, "/work.py", warm);
        file.replace_all(std::string(program));
      }
      const std::string again = told(snapshot::analyze(file, "/work.py", warm)),
                        fresh = told(snapshot::analyze(file, "/work.py", cold));
      INFO(difference(again, fresh) << "\n" << file.bytes());
      CHECK((again == fresh));
    }
}

TEST_CASE("going on says the same for real files") {
  constexpr int edits = 24;
  std::mt19937 random(22);
  int files = 0;
  for (const char* name : {"torchvision/models/detection/roi_heads.py", "torchvision/ops/misc.py",
           "torch/distributed/fsdp/wrap.py", "torch/optim/swa_utils.py"}) {
    const std::string path = std::string("/usr/lib/python3/dist-packages/") + name;
    if (!std::filesystem::exists(path)) continue;
    ++files;
    InstalledFile file(path, text_of(path));
    snapshot::RunCache memory;
    snapshot::Options warm, cold;
    warm.memory = &memory;
    file.analyze(warm);
    Change back;
    for (int n = 0; n < edits; ++n) {
      // Most edits are taken back: the file stays what its author wrote.
      const Change change = n % 2 != 0 ? back : random_change(file.bytes(), random);
      back = {change.begin, static_cast<std::uint32_t>(change.begin + change.text.size()),
          file.bytes().substr(change.begin, change.end - change.begin)};
      file.edit(change.begin, change.end, change.text);
      const std::string again = told(file.analyze(warm)), fresh = told(file.analyze(cold));
      INFO(path << ", edit " << n << " at " << change.begin << ": " << change.text << "\n"
                << difference(again, fresh));
      REQUIRE((again == fresh));
    }
  }
  if (files == 0) WARN("no library is installed: nothing was compared");
}

// Edits a right program in one place: what is wrong with it then is told, by going on as from the start.
static void tells_one_more(OneFile& file, std::string_view before, std::string_view after) {
  snapshot::RunCache memory;
  snapshot::Options warm, cold;
  warm.memory = &memory;
  REQUIRE(snapshot::analyze(file, "/work.py", warm).findings.empty());
  const auto at = static_cast<std::uint32_t>(file.bytes().find(before));
  file.edit(at, static_cast<std::uint32_t>(at + before.size()), std::string(after));
  const snapshot::Result again = snapshot::analyze(file, "/work.py", warm);
  CHECK(again.findings.size() == 1);
  CHECK((told(again) == told(snapshot::analyze(file, "/work.py", cold))));
}

TEST_CASE("a method that an edit makes communicate is compared beside those that did before") {
  OneFile file("/work.py",
      "import torch.distributed as dist\n\n\nclass Trainer:\n    def save(self):\n        if dist.get_rank() == 0:\n"
      "            print()\n        dist.barrier()\n\n    def log(self, step):\n        print(step)\n");
  tells_one_more(file, "print(step)", "if dist.get_rank() == 0:\n            dist.barrier()");
}

TEST_CASE("a root that an edit changes is compared where the others stand") {
  OneFile file("/work.py",
      "import torch.distributed as dist\n\n\ndef gather(x, whole):\n    if whole:\n        dist.all_reduce(x)\n\n\n"
      "class Trainer:\n    def save(self, x, whole):\n        gather(x, whole)\n        dist.barrier()\n\n"
      "    def log(self, x):\n        gather(x, True)\n");
  tells_one_more(file, "gather(x, True)", "gather(x, dist.get_rank() == 0)");
}

TEST_CASE("what is typed into a property that has a setter is run") {
  OneFile file("/work.py",
      "import torch\n\n\nclass A:\n    def __init__(self, config):\n        self.config = config\n\n    @property\n"
      "    def split(self):\n        return self.config.split\n\n    @split.setter\n    def split(self, value):\n"
      "        self.config.split = value\n");
  tells_one_more(file, "        return self.config.split",
      "        torch.zeros(3, 5) @ torch.zeros(4, 7)\n        return self.config.split");
}
