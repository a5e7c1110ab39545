// Any text as a Python program: the analysis ends within its budget, says the same twice, and every place
// that it names lies in the text; a fix's edits can be applied. A line `#%% NAME` begins another file of the
// program.
#include "program/sources.hpp"
#include "rules/finding.hpp"
#include "snapshot/snapshot.hpp"
#include "syntax/document.hpp"
#include "syntax/text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace stepzero;

namespace {

class Files : public program::Sources {
public:
  void add(const std::string& name, std::string text) {
    modules_[root_.front() + "/" + name] = syntax::parse(std::move(text));
  }

  std::shared_ptr<const syntax::Module> module(const std::string& path) const override {
    const auto found = modules_.find(path);
    return found == modules_.end() ? nullptr : found->second;
  }
  bool is_file(const std::string& path) const override { return modules_.contains(path); }
  bool is_folder(const std::string& path) const override {
    return std::any_of(modules_.begin(), modules_.end(),
        [&](const auto& file) { return file.first.starts_with(path + "/"); });
  }
  const std::vector<std::string>& roots() const override { return root_; }

private:
  std::vector<std::string> root_{"/program"};
  std::map<std::string, std::shared_ptr<const syntax::Module>> modules_;
};

void require(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}

void require_inside(const Files& files, const rules::Location& where, const std::string& what) {
  const auto module = files.module(where.path);
  require(module != nullptr, what + ": no such file: " + where.path);
  require(where.span.begin <= where.span.end && where.span.end <= module->text->size(),
      what + ": outside the text");
}

void require_sound(const Files& files, const snapshot::Result& result) {
  for (const rules::Finding& finding : result.findings) {
    const std::string name(finding.rule);
    require(!finding.message.empty(), name + ": says nothing");
    require_inside(files, finding.where, name);
    for (const rules::Related& related : finding.related)
      require_inside(files, related.where, name + ", related");
    for (const rules::Fix& fix : finding.fixes) {
      require(!fix.edits.empty() && !fix.title.empty(), name + ": an empty fix");
      auto edits = fix.edits;
      std::sort(edits.begin(), edits.end(), [](const auto& a, const auto& b) {
        return std::pair(a.where.path, a.where.span.begin) < std::pair(b.where.path, b.where.span.begin);
      });
      for (std::size_t i = 0; i < edits.size(); ++i) {
        require_inside(files, edits[i].where, name + ", fix");
        require(i == 0 || edits[i - 1].where.path != edits[i].where.path ||
                edits[i - 1].where.span.end <= edits[i].where.span.begin,
            name + ": edits of a fix that overlap");
      }
    }
  }
  require(result.failed_rules.empty(),
      result.failed_rules.empty() ? "" : "a rule failed: " + result.failed_rules.front());
}

std::vector<std::pair<std::string, syntax::Span>> said(const snapshot::Result& result) {
  std::vector<std::pair<std::string, syntax::Span>> all;
  all.reserve(result.findings.size());
  for (const rules::Finding& finding : result.findings)
    all.emplace_back(std::string(finding.rule) + ": " + finding.message, finding.where.span);
  for (const snapshot::Fact& fact : result.facts)
    all.emplace_back(fact.name + " = " + fact.value.short_text(), fact.span);
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  Files files;
  for (std::string name = "train.py"; true;) {
    const std::size_t border = rest.find("\n#%% ");
    files.add(name, std::string(rest.substr(0, border)));
    if (border == std::string_view::npos) break;
    rest.remove_prefix(border + 5);
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    name = std::string(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  snapshot::Options options;
  options.steps = 20'000;
  const snapshot::Result first = snapshot::analyze(files, "/program/train.py", options);
  require_sound(files, first);
  require(said(first) == said(snapshot::analyze(files, "/program/train.py", options)),
      "it says something else the second time");
  return 0;
}
