#include "server/command_line/fix_run.hpp"

#include "documents/document.hpp"
#include "server/command_line/fixes.hpp"
#include "server/command_line/parallel.hpp"

#include <algorithm>
#include <set>

namespace stepzero::server {
namespace {

constexpr int most_iterations = 20;

using Modules = std::map<std::string, std::shared_ptr<const syntax::Module>>;

class Rounds {
public:
  Rounds(const Inputs& inputs, const Checker& checker, std::vector<Checked> results)
      : inputs_(inputs), checker_(checker), editable_(inputs.files.begin(), inputs.files.end()) {
    run_.results = std::move(results);
    run_.overlay = inputs.overlay;
    std::erase_if(editable_, is_notebook);  // a program of cells is no text of a file
  }

  FixRun run() {
    for (int round = 0; round < most_iterations; ++round) {
      const std::vector<ChosenFix> chosen = choose();
      if (chosen.empty()) return std::move(run_);
      const Modules after = edited(chosen);
      if (refuse_what_breaks(chosen, after)) continue;
      run_.applied += chosen.size();
      if (!take(after)) {
        run_.notes.emplace_back("some fixes undo each other; stopped");
        return std::move(run_);
      }
      check_again(after);
    }
    if (!choose().empty()) {
      run_.notes.push_back(
          "stopped fixing after " + std::to_string(most_iterations) + " rounds; run it again for the rest");
    }
    return std::move(run_);
  }

private:
  std::vector<ChosenFix> choose() const {
    std::vector<const rules::Finding*> findings;
    for (const Checked& checked : run_.results) {
      findings.reserve(checked.findings.size());
      for (const rules::Finding& finding : checked.findings) findings.push_back(&finding);
    }
    return choose_fixes(findings, editable_, refused_);
  }

  std::shared_ptr<const syntax::Module> present(const std::string& path) const {
    return checker_.sources(path, run_.overlay).module(path);
  }

  Modules edited(const std::vector<ChosenFix>& chosen) const {
    std::map<std::string, std::vector<rules::TextEdit>> edits;
    for (const ChosenFix& fix : chosen) {
      for (const rules::TextEdit& edit : fix.fix->edits) edits[edit.where.path].push_back(edit);
    }
    Modules after;
    for (auto& [path, of_path] : edits) {
      const auto before = present(path);
      if (before)
        after[path] = documents::module_of(path, apply_edits(before->text->bytes(), std::move(of_path)));
    }
    return after;
  }

  bool breaks(const Modules& after) const {
    return std::any_of(after.begin(), after.end(),
        [this](const auto& edited) { return is_broken(*present(edited.first), *edited.second); });
  }

  // A fix that makes a text unparsable is never taken; neither are fixes that do so only together.
  bool refuse_what_breaks(const std::vector<ChosenFix>& chosen, const Modules& after) {
    if (!breaks(after)) return false;
    const std::size_t before = refused_.size();
    for (const ChosenFix& fix : chosen) {
      if (breaks(edited({fix}))) refuse(fix);
    }
    if (refused_.size() == before) {
      for (std::size_t i = 1; i < chosen.size(); ++i) refuse(chosen[i]);
    }
    return true;
  }

  void refuse(const ChosenFix& fix) {
    if (!refused_.insert(key(fix)).second) return;
    run_.notes.push_back(inputs_.names.displayed(fix.finding->where.path) + ": \"" + fix.fix->title +
        "\" would not leave Python behind; not applied");
  }

  // False if a text comes back to what it was.
  bool take(const Modules& after) {
    bool is_new = true;
    auto overlay = run_.overlay ? std::make_shared<Overlay>(*run_.overlay) : std::make_shared<Overlay>();
    for (const auto& [path, module] : after) {
      const auto before = present(path);
      FixRun::Changed& changed = run_.changed[path];
      if (!changed.before) {
        changed.before = before;
        seen_[path].insert(before->text->bytes());
      }
      changed.after = module;
      is_new = seen_[path].insert(module->text->bytes()).second && is_new;
      (*overlay)[path] = module;
    }
    run_.overlay = std::move(overlay);
    return is_new;
  }

  void check_again(const Modules& after) {
    std::vector<std::size_t> stale;
    for (std::size_t i = 0; i < inputs_.files.size(); ++i) {
      const std::vector<std::string>& read = run_.results[i].read;
      const auto was_edited = [&](const std::string& path) { return after.contains(path); };
      if (after.contains(inputs_.files[i]) || std::any_of(read.begin(), read.end(), was_edited))
        stale.push_back(i);
    }
    parallel(stale.size(), [&](std::size_t i) {
      run_.results[stale[i]] = checker_.check(inputs_.files[stale[i]], run_.overlay);
    });
  }

  const Inputs& inputs_;
  const Checker& checker_;
  std::set<std::string> editable_;
  std::set<std::string> refused_;
  std::map<std::string, std::set<std::string>> seen_;
  FixRun run_;
};

}  // namespace

FixRun run_fixes(const Inputs& inputs, const Checker& checker, std::vector<Checked> results) {
  return Rounds(inputs, checker, std::move(results)).run();
}

}  // namespace stepzero::server
