// Programs of the other suites are edited at random, line by line and letter by letter; after each edit the analysis that goes on from
// the last one is compared with one from the beginning: findings, their places and fixes, and what is known of each place.
#include "server/workspace/files.hpp"
#include "server/workspace/paths.hpp"
#include "snapshot/snapshot.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <random>
#include <sstream>

namespace {

using namespace stepzero;

class OneFile : public program::Sources {
public:
  OneFile(std::string path, std::string text) : path_(std::move(path)), document_(std::move(text)) {}

  void replace_all(const std::string& text) {
    document_.apply({{{0, static_cast<std::uint32_t>(document_.bytes().size())}, text}});
    module_ = nullptr;
  }
  void edit(std::uint32_t begin, std::uint32_t end, const std::string& text) {
    document_.apply({{{begin, end}, text}});
    module_ = nullptr;
  }
  const std::string& bytes() const { return document_.bytes(); }

  std::shared_ptr<const syntax::Module> module(const std::string& path) const override {
    if (path != path_) return nullptr;
    if (!module_) module_ = document_.module();
    return module_;
  }
  bool is_file(const std::string& path) const override { return path == path_; }
  bool is_folder(const std::string&) const override { return false; }
  const std::vector<std::string>& roots() const override { return roots_; }

private:
  std::string path_;
  mutable syntax::Document document_;
  mutable std::shared_ptr<const syntax::Module> module_;
  std::vector<std::string> roots_;
};

// A file of an installed library, edited: its imports are read as they lie on the disk.
class InstalledFile {
public:
  explicit InstalledFile(std::string path, std::string text) : path_(std::move(path)), document_(std::move(text)) {}

  void edit(std::uint32_t begin, std::uint32_t end, const std::string& text) { document_.apply({{{begin, end}, text}}); }
  const std::string& bytes() const { return document_.bytes(); }
  snapshot::Result analyze(const snapshot::Options& options) {
    const auto overlay = std::make_shared<server::Overlay>(server::Overlay{{path_, document_.module()}});
    const server::FileSources sources(cache_, server::import_roots({}, path_), overlay);
    return snapshot::analyze(sources, path_, options);
  }

private:
  std::string path_;
  syntax::Document document_;
  std::shared_ptr<server::ModuleCache> cache_ = std::make_shared<server::ModuleCache>();
};

class OnAThread : public syntax::Working {
public:
  explicit OnAThread(std::function<void()> work) : done_(std::async(std::launch::async, std::move(work))) {}
  void wait() override { done_.get(); }

private:
  std::future<void> done_;
};

// All that a result says, as text.
std::string told(const snapshot::Result& result) {
  std::ostringstream out;
  const auto where = [&](const rules::Location& location) { out << location.path << ':' << location.span.begin << '-' << location.span.end << ' '; };
  for (const rules::Finding& finding : result.findings) {
    where(finding.where);
    out << finding.rule << ' ' << name(finding.severity) << ' ' << finding.message << '\n';
    for (const rules::Related& related : finding.related) {
      where(related.where);
      out << "  " << related.message << '\n';
    }
    for (const rules::Fix& fix : finding.fixes) {
      out << "  fix: " << fix.title << '\n';
      for (const rules::TextEdit& edit : fix.edits) {
        where(edit.where);
        out << "    " << edit.new_text << '\n';
      }
    }
  }
  for (const snapshot::Fact& fact : result.facts) out << fact.span.begin << '-' << fact.span.end << ' ' << fact.name << ": " << fact.value.short_text() << '\n';
  return out.str();
}

// The first line in which two texts differ, of both.
std::string difference(const std::string& a, const std::string& b) {
  std::istringstream first(a), second(b);
  std::string x, y;
  do {
    x = y = "(end)";
    std::getline(first, x);
    std::getline(second, y);
  } while (x == y && (first || second));
  return "after the edit: " + x + "\nfrom the beginning: " + y;
}

std::vector<std::string> programs() {
  std::vector<std::string> paths;
  const std::filesystem::path root = STEPZERO_SOURCE;
  for (const char* folder : {"examples", "tests/traces/programs", "tests/loops/programs", "tests/ranks/programs"})
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
  const auto below = [&](std::size_t bound) { return static_cast<std::uint32_t>(random() % std::max<std::size_t>(bound, 1)); };
  const auto at = below(text.size());
  const auto line = static_cast<std::uint32_t>(text.rfind('\n', at) + 1);  // npos + 1 is 0
  const auto end = static_cast<std::uint32_t>(std::min(text.find('\n', at), text.size() - 1) + 1);
  switch (below(6)) {
  case 0: {  // another number
    const auto digit = static_cast<std::uint32_t>(text.find_first_of("0123456789", at));
    if (digit < text.size()) return {digit, digit + 1, std::to_string(below(30))};
    return {at, at, "1"};
  }
  case 1: return {line, end, ""};                          // a line goes
  case 2: return {end, end, text.substr(line, end - line)};  // a line twice
  case 3: {  // a line goes somewhere else's way: the first word of another line
    const auto word = static_cast<std::uint32_t>(text.find_first_not_of(' ', line));
    return {std::min<std::uint32_t>(word, end), std::min<std::uint32_t>(word, end), "x = "};
  }
  case 4: return {at, at + (at < text.size() ? 1u : 0u), ""};  // a letter goes
  default: return {at, at, std::string(1, "(x0 =.#\n:"[below(9)])};
  }
}

} // namespace

TEST_CASE("an analysis that goes on from the last one says the same as one from the beginning") {
  constexpr int edits = 10;
  std::mt19937 random(20);
  const auto paths = programs();
  REQUIRE(paths.size() > 300);
  for (std::size_t i = 0; i < paths.size(); i += 3) {
    OneFile file("/work.py", text_of(paths[i]));
    snapshot::Memory memory;
    snapshot::Options warm, cold;
    warm.memory = &memory;
    // What a second core takes part in comes to the same.
    if (i % 2 == 0) warm.elsewhere = [](std::function<void()> work) { return std::make_unique<OnAThread>(std::move(work)); };
    snapshot::analyze(file, "/work.py", warm);
    std::string before;
    for (int n = 0; n < edits; ++n) {
      // Now and then the last edit is taken back, as somebody does who tries.
      if (n % 4 == 3) file.replace_all(before);
      else {
        before = file.bytes();
        const Change change = random_change(before, random);
        file.edit(change.begin, change.end, change.text);
      }
      const std::string again = told(snapshot::analyze(file, "/work.py", warm)), fresh = told(snapshot::analyze(file, "/work.py", cold));
      INFO(paths[i] << ", edit " << n << "\n" << difference(again, fresh) << "\n" << file.bytes());
      REQUIRE((again == fresh));
    }
  }
}

TEST_CASE("going on says the same for real files") {
  constexpr int edits = 24;
  std::mt19937 random(22);
  int files = 0;
  for (const char* name : {"torchvision/models/detection/roi_heads.py", "torchvision/ops/misc.py", "torch/distributed/fsdp/wrap.py", "torch/optim/swa_utils.py"}) {
    const std::string path = std::string("/usr/lib/python3/dist-packages/") + name;
    if (!std::filesystem::exists(path)) continue;
    ++files;
    InstalledFile file(path, text_of(path));
    snapshot::Memory memory;
    snapshot::Options warm, cold;
    warm.memory = &memory;
    file.analyze(warm);
    Change back;
    for (int n = 0; n < edits; ++n) {
      // Most edits are taken back: the file stays what its author wrote.
      const Change change = n % 2 != 0 ? back : random_change(file.bytes(), random);
      back = {change.begin, static_cast<std::uint32_t>(change.begin + change.text.size()), file.bytes().substr(change.begin, change.end - change.begin)};
      file.edit(change.begin, change.end, change.text);
      const std::string again = told(file.analyze(warm)), fresh = told(file.analyze(cold));
      INFO(path << ", edit " << n << " at " << change.begin << ": " << change.text << "\n" << difference(again, fresh));
      REQUIRE((again == fresh));
    }
  }
  if (files == 0) WARN("no library is installed: nothing was compared");
}
