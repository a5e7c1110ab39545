#include "judge.hpp"

#include "documents/document.hpp"
#include "footprint/text.hpp"
#include "snapshot/schedule.hpp"
#include "snapshot/snapshot.hpp"
#include "workspace.hpp"

#include <algorithm>
#include <map>
#include <regex>
#include <sstream>

namespace stepzero::cases {

namespace {

using rules::Finding;
using rules::Fix;
using snapshot::Result;
using StandingFindings = Expectation::StandingFindings;

struct Found {
  std::string title;
  Finding finding;
  std::uint32_t line = 0;
};

std::string shown(const Finding& finding) {
  return std::string(rules::name(finding.severity)) + "[" + std::string(finding.rule) + "]: \"" +
      finding.message + "\"";
}

std::map<std::string, std::map<std::string, std::string>> told;

// The message with code and numbers left out: what it says of whatever it is about.
std::string template_of(const std::string& message) {
  std::string found;
  bool in_code = false;
  for (const char c : message) {
    const bool digit = c >= '0' && c <= '9';
    if (c == '`') in_code = !in_code;
    if (c == '`' || (!in_code && !(digit && !found.empty() && found.back() == '0'))) found += digit ? '0' : c;
  }
  return found;
}

void tell(const Finding& finding) {
  std::string& first = told[std::string(finding.rule)]
                           [std::string(rules::name(finding.severity)) + ": " + template_of(finding.message)];
  if (first.empty() || finding.message < first) first = finding.message;
}

bool is(const Found& found, const Expectation& expected) {
  return found.line == expected.line && found.finding.rule == expected.rule &&
      rules::name(found.finding.severity) == expected.severity &&
      found.finding.message.find(expected.text) != std::string::npos;
}

class Judge {
public:
  Judge(Program& program, const Writing& writing)
      : program_(program), write_(writing.fixes), suggest_(writing.reveals && is_silent_unseen(program)) {}

  std::vector<std::string> run() {
    Workspace workspace;
    for (const File& file : program_.files) workspace.write(file.title, file.text);
    std::vector<Found> found;
    for (File& file : program_.files) {
      std::vector<Found> here = look(workspace, file);
      found.insert(found.end(), here.begin(), here.end());
    }
    if (program_.silent) check_silence();
    if (program_.no_fix)
      for (const Found& each : found)
        for (const Fix& fix : each.finding.fixes) complain(program_.line, "a fix is offered: " + fix.title);
    check_preferred(workspace, found);
    check_others(workspace, found);
    return std::move(complaints_);
  }

private:
  void check_silence() {
    bool revealed = false;
    for (const File& file : program_.files)
      for (const Expectation& each : file.expected) {
        revealed = revealed || (each.reveal && each.text != "unknown");
        if (!each.reveal) complain(each.at, "the block is marked `silent` and expects a finding");
      }
    if (!revealed)
      complain(program_.line, "a block marked `silent` has to reveal a value: the engine may have given up");
  }
  void complain(std::uint32_t at, const std::string& what) {
    complaints_.push_back("line " + std::to_string(at) + ": " + what);
  }
  std::vector<Found> analyze(
      const Workspace& workspace, const std::string& title, Result* whole = nullptr, bool facts = false) {
    snapshot::Options options;
    options.want_facts = facts;
    if (!program_.gpu_memory.empty())
      options.gpu_memory = footprint::parse_size(program_.gpu_memory).value_or(0);
    const auto all_launches = [&] {
      snapshot::Launches launches;
      for (const auto& [other, text] : workspace.files())
        if (documents::language_of(other, text) != documents::Language::none || other.ends_with(".py"))
          launches.add(workspace, Workspace::path_of(other));
      return launches;
    };
    options.launches = [&] { return all_launches().of(Workspace::path_of(title)); };
    options.named_as = [&] { return all_launches().named_as(Workspace::path_of(title)); };
    Result result = snapshot::analyze(workspace, Workspace::path_of(title), options);
    for (const std::string& failed : result.failed_rules)
      complain(program_.line, title + ": a rule threw: " + failed);
    if (result.out_of_budget) complain(program_.line, title + ": out of budget");
    const auto module = workspace.module(Workspace::path_of(title));
    std::vector<Found> found;
    for (const Finding& finding : result.findings) tell(finding);
    found.reserve(result.findings.size());
    for (const Finding& finding : result.findings)
      found.push_back(
          {title, finding, module->text->position(finding.where.span.begin, syntax::Encoding::utf8).line});
    if (whole) *whole = std::move(result);
    return found;
  }

  // Does a piece of a schedule say that something goes wrong?
  static bool tells(const snapshot::ScheduleNode& node) {
    using enum snapshot::ScheduleNode::Kind;
    if (node.kind == hang || node.kind == unmatched || (node.kind == step && !node.text.empty())) return true;
    return std::any_of(node.body.begin(), node.body.end(), tells);
  }
  // What is proven to hang stands in the schedule, in a job of the size that shows it. Calls of ranks that do
  // not exist fail, and are in none.
  void check_schedule(const Workspace& workspace, const File& file, const std::vector<Found>& found) {
    const auto hangs = [](const Found& each) {
      return each.finding.severity == rules::Severity::error && each.finding.rule.starts_with("deadlock/") &&
          each.finding.message.find("does not exist") == std::string::npos;
    };
    if (std::none_of(found.begin(), found.end(), hangs)) return;
    snapshot::Options options;
    options.want_schedule = true;
    const Result result = snapshot::analyze(workspace, Workspace::path_of(file.title), options);
    const bool is_told = result.schedule &&
        std::any_of(result.schedule->parts.begin(), result.schedule->parts.end(),
            [](const auto& part) { return std::any_of(part.nodes.begin(), part.nodes.end(), tells); });
    if (!is_told) complain(program_.line, file.title + ": the schedule does not show what hangs");
  }

  // Findings and shown values of one file against its expectations.
  std::vector<Found> look(const Workspace& workspace, File& file) {
    const bool reveals = std::any_of(
        file.expected.begin(), file.expected.end(), [](const auto& expected) { return expected.reveal; });
    Result result;
    std::vector<Found> found = analyze(workspace, file.title, &result, reveals || suggest_);
    check_schedule(workspace, file, found);
    if (suggest_) suggest(workspace, file, result);
    std::vector<bool> met(found.size(), false);
    for (const Expectation& expected : file.expected) {
      if (expected.reveal) {
        check_reveal(workspace, file, result, expected);
        continue;
      }
      std::size_t match = found.size();
      for (std::size_t i = 0; i < found.size() && match == found.size(); ++i)
        if (!met[i] && is(found[i], expected)) match = i;
      if (match < found.size()) met[match] = true;
      if (expected.standing == StandingFindings::wrongly_absent) {
        if (match < found.size()) complain(expected.at, "is found now; take the FIXME away");
      } else if (match == found.size()) {
        complain(expected.at,
            "not found: " + expected.severity + "[" + expected.rule + "]: \"" + expected.text + "\"");
      }
    }
    for (std::size_t i = 0; i < found.size(); ++i)
      if (!met[i])
        complain(found[i].line < file.places.size() ? file.places[found[i].line] : program_.line,
            "not expected: " + shown(found[i].finding));
    return found;
  }

  // The last tensor whose size the engine knows; where there is none, the last value that is assigned and of
  // which it knows anything.
  static void suggest(const Workspace& workspace, File& file, const Result& result) {
    const auto module = workspace.module(Workspace::path_of(file.title));
    if (!file.title.ends_with(".py") || !module) return;
    static const std::regex tensor(R"((float|int|bool|complex|uint)\w*\[[\w, *+]+\])");
    const auto lines = lines_of(file.text);
    for (const snapshot::Fact& fact : result.facts) {
      const std::string text = fact.value.short_text();
      const std::uint32_t line = module->text->position(fact.span.begin, syntax::Encoding::utf8).line;
      if (!fact.is_place || line >= lines.size() || lines[line].find('#') != std::string::npos ||
          lines[line].ends_with('\\'))
        continue;
      const bool has_size = std::regex_match(text, tensor);
      const bool is_known = has_size ||
          (text.find("unknown") == std::string::npos && text.find('\n') == std::string::npos &&
              !text.empty() && lines[line].find(" = ") != std::string::npos);
      if (!is_known || has_size < file.could_reveal_size ||
          (has_size == file.could_reveal_size && line < file.could_reveal_at))
        continue;
      file.could_reveal = text;
      file.could_reveal_at = line;
      file.could_reveal_size = has_size;
    }
  }
  static std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }

  void check_reveal(
      const Workspace& workspace, const File& file, const Result& result, const Expectation& expected) {
    const auto module = workspace.module(Workspace::path_of(file.title));
    std::string all;
    for (const snapshot::Fact& fact : result.facts) {
      if (!fact.is_place ||
          module->text->position(fact.span.begin, syntax::Encoding::utf8).line != expected.line)
        continue;
      if (!expected.name.empty() && fact.name != expected.name) continue;
      const std::string text = fact.value.short_text();
      if (text == expected.text) {
        if (expected.standing != StandingFindings::right)
          complain(expected.at, "is revealed now; take the FIXME away");
        return;
      }
      all += (all.empty() ? "" : "; ") + fact.name + ": " + text;
    }
    if (expected.standing == StandingFindings::wrongly_absent || (all.empty() && expected.text == "unknown"))
      return;
    complain(expected.at, "reveals " + (all.empty() ? "nothing" : all) + ", not " + expected.text);
  }

  // Applies those of the fixes that do not overlap; false if there was none.
  static bool apply(Workspace& workspace, const std::vector<const Fix*>& fixes) {
    std::map<std::string, std::vector<const rules::TextEdit*>> taken;
    for (const Fix* fix : fixes) {
      const bool free = std::none_of(fix->edits.begin(), fix->edits.end(), [&](const rules::TextEdit& edit) {
        const auto& others = taken[edit.where.path];
        return std::any_of(others.begin(), others.end(), [&](const rules::TextEdit* other) {
          return edit.where.span.begin < other->where.span.end &&
              other->where.span.begin < edit.where.span.end;
        });
      });
      if (free)
        for (const rules::TextEdit& edit : fix->edits) taken[edit.where.path].push_back(&edit);
    }
    for (auto& [path, edits] : taken) {
      std::stable_sort(edits.begin(), edits.end(),
          [](const auto* a, const auto* b) { return a->where.span.begin > b->where.span.begin; });
      const std::string title = Workspace::title_of(path);
      std::string text = workspace.text(title);
      for (const rules::TextEdit* edit : edits)
        text.replace(edit->where.span.begin, edit->where.span.end - edit->where.span.begin, edit->new_text);
      workspace.write(title, std::move(text));
    }
    return !taken.empty();
  }

  bool has_error(const Workspace& workspace) const {
    return std::any_of(workspace.files().begin(), workspace.files().end(),
        [&](const auto& file) { return workspace.module(Workspace::path_of(file.first))->has_error; });
  }

  static std::map<std::string, int> by_rule(const std::vector<Found>& found) {
    std::map<std::string, int> counts;
    for (const Found& each : found) ++counts[std::string(each.finding.rule)];
    return counts;
  }
  std::vector<Found> analyze_all(const Workspace& workspace) {
    std::vector<Found> found;
    for (const auto& [title, text] : workspace.files()) {
      std::vector<Found> here = analyze(workspace, title);
      found.insert(found.end(), here.begin(), here.end());
    }
    return found;
  }

  // All preferred fixes, in rounds, as fix-all does.
  void check_preferred(const Workspace& before, const std::vector<Found>& found) {
    Workspace workspace = before;
    std::vector<Found> present = found;
    bool any = false;
    for (int round = 0; round < 8; ++round) {
      std::vector<const Fix*> fixes;
      for (const Found& each : present)
        for (const Fix& fix : each.finding.fixes)
          if (fix.preferred) {
            fixes.push_back(&fix);
            break;
          }
      if (!apply(workspace, fixes)) break;
      any = true;
      present = analyze_all(workspace);
    }
    const auto fence = std::find_if(program_.after.begin(), program_.after.end(),
        [](const AfterFix& after) { return after.fix.empty(); });
    if (fence != program_.after.end()) {
      if (!any) return complain(program_.line, "an after-fix fence, but no preferred fix");
      for (AfterFix& after : program_.after)
        if (after.fix.empty()) compare(workspace, after.file);
    }
    if (!any) return;
    if (!has_error(before) && has_error(workspace))
      complain(program_.line, "after the preferred fixes this does not parse:\n" + all_texts(workspace));
    if (fence != program_.after.end()) return;
    auto left = by_rule(present);
    for (const Found& each : found)
      if (std::none_of(each.finding.fixes.begin(), each.finding.fixes.end(),
              [](const Fix& fix) { return fix.preferred; }))
        --left[std::string(each.finding.rule)];
    for (const auto& [rule, count] : left)
      if (count > 0)
        complain(program_.line,
            "after the preferred fixes " + rule + " is still found, or found anew:\n" + all_texts(workspace));
  }

  // The fixes that need a decision, one at a time.
  void check_others(const Workspace& before, const std::vector<Found>& found) {
    for (const AfterFix& after : program_.after)
      if (!after.fix.empty() && std::none_of(found.begin(), found.end(), [&](const Found& each) {
            return std::any_of(each.finding.fixes.begin(), each.finding.fixes.end(),
                [&](const Fix& fix) { return fix.title == after.fix; });
          }))
        complain(program_.line, "no fix is called \"" + after.fix + "\"");
    for (const Found& each : found)
      for (const Fix& fix : each.finding.fixes) {
        const auto fence = std::find_if(program_.after.begin(), program_.after.end(),
            [&](const AfterFix& after) { return after.fix == fix.title; });
        if (fix.preferred && fence == program_.after.end()) continue;
        Workspace workspace = before;
        apply(workspace, {&fix});
        if (!has_error(before) && has_error(workspace))
          complain(
              program_.line, "after \"" + fix.title + "\" this does not parse:\n" + all_texts(workspace));
        if (fence != program_.after.end()) {
          compare(workspace, fence->file);
          continue;
        }
        auto left = by_rule(analyze_all(workspace));
        auto was = by_rule(found);
        --was[std::string(each.finding.rule)];
        for (const auto& [rule, count] : left)
          if (count > was[rule])
            complain(program_.line,
                "after \"" + fix.title + "\" " + rule + " is still found, or found anew:\n" +
                    all_texts(workspace));
      }
  }

  void compare(const Workspace& workspace, File& expected) {
    const std::string& text = workspace.text(expected.title);
    if (text != expected.text) {
      if (write_) {
        expected.text = text;
        expected.expected.clear();
      } else {
        complain(program_.line, "the fixes give another text:\n" + text);
        return;
      }
    }
    look(workspace, expected);
  }

  static std::string all_texts(const Workspace& workspace) {
    std::string all;
    for (const auto& [title, text] : workspace.files()) all += "--- " + title + "\n" + text;
    return all;
  }

  Program& program_;
  bool write_, suggest_;
  std::vector<std::string> complaints_;
};

}  // namespace

const std::map<std::string, std::map<std::string, std::string>>& messages() { return told; }

std::vector<std::string> judge(Program& program, const Writing& writing) {
  return Judge(program, writing).run();
}

}  // namespace stepzero::cases
