// `stepzero check`.
#include "server/command_line/baseline.hpp"
#include "server/command_line/cache.hpp"
#include "server/command_line/causes.hpp"
#include "server/command_line/commands.hpp"
#include "server/command_line/console.hpp"
#include "server/command_line/diff.hpp"
#include "server/command_line/display.hpp"
#include "server/command_line/fix_run.hpp"
#include "server/command_line/parallel.hpp"
#include "server/command_line/picture.hpp"
#include "server/command_line/report.hpp"
#include "server/command_line/revision.hpp"
#include "server/command_line/statistics.hpp"
#include "server/command_line/watch.hpp"
#include "server/command_line/with_progress.hpp"
#include "server/command_line/write_file.hpp"
#include "server/features/parameter_counts.hpp"
#include "server/workspace/paths.hpp"
#include "server/workspace/read.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <unistd.h>

namespace stepzero::server {
namespace {

class Check {
public:
  // `kept`: what an earlier round found.
  explicit Check(const CheckOptions& options, Kept* kept = nullptr)
      : options_(options), kept_(kept),
        inputs_(find_inputs(options.paths, options.stdin_filename, configuration_)),
        checker_(inputs_, configuration_, options.settings) {
    // What changes files sees them in more than one state.
    if (options.use_cache && !kept && !options.fix && !options.diff)
      cache_.emplace(join(current_folder(), ".stepzero_cache"));
  }

  int run() {
    for (const std::string& note : inputs_.notes) say(note);
    if (!read_known()) return exit_status::trouble;
    if ((options_.fix || options_.diff) &&
        std::any_of(inputs_.files.begin(), inputs_.files.end(), is_notebook))
      say("notebooks are fixed in an editor only; here they are just checked");
    std::vector<Checked> results = check_all();
    if (options_.statistics) {
      std::vector<std::string> names;
      names.reserve(inputs_.files.size());
      for (const std::string& path : inputs_.files) names.push_back(inputs_.names.displayed(path));
      write_error(statistics(names, results) + statistics(checker_.launch_counts(inputs_.overlay)));
    }
    FixRun fixed;
    if (options_.diff) {
      fixed = run_fixes(inputs_, checker_, results);
    } else if (options_.fix) {
      fixed = run_fixes(inputs_, checker_, std::move(results));
      results = std::move(fixed.results);
      overlay_ = fixed.overlay;
    } else {
      overlay_ = inputs_.overlay;
    }
    for (const std::string& note : fixed.notes) say(note);
    bool is_written = true;
    if (options_.fix && !options_.diff) is_written = write(fixed);
    if (!is_written) {  // what is said below is said of the files as they are, and of how many problems are
                        // gone nothing
      results = check_all();
      overlay_ = inputs_.overlay;
      fixed.applied = 0;
    }
    Collected found = collect(results);
    leave_out_known(found);
    Report& report = found.report;
    if (!options_.write_baseline.empty()) return write_baseline(report);
    report.fixed = fixed.applied;
    if (std::find(found.fails.begin(), found.fails.end(), true) != found.fails.end())
      report.exit_status = exit_status::findings;
    if (!report.unreadable.empty() || !is_written) report.exit_status = exit_status::trouble;
    return options_.diff ? show_diff(fixed, report) : show(report);
  }

  std::size_t files() const { return inputs_.files.size(); }

private:
  std::vector<Checked> check_all() {
    std::vector<Checked> results(inputs_.files.size());
    if (cache_) same_for_all_ = program_identity() + "\n" + cache_->states(checker_.scripts());
    Progress progress("checking", results.size());
    std::atomic<std::size_t> done = 0;
    const std::vector<std::size_t> order = largest_first();
    parallel(results.size(), [&](std::size_t turn) {
      const std::size_t i = order[turn];
      results[i] = check_one(inputs_.files[i]);
      progress.at(++done);
    });
    return results;
  }

  Checked check_one(const std::string& path) {
    const auto check = [&] { return checker_.check(path, inputs_.overlay); };
    if (kept_) return kept_->checked(path, checker_.configuration(path), check);
    return cache_ && path != inputs_.standard_input ? cache_->checked(path, made_with(path), check) : check();
  }

  // All that decides what is said of a file, beside the files that are read on the way.
  std::string made_with(const std::string& path) const {
    const Settings& settings = checker_.settings(path);
    const FileSources sources = checker_.sources(path, inputs_.overlay);
    std::string all = same_for_all_;
    const auto add = [&](const std::vector<std::string>& list) {
      for (const std::string& each : list) all += each + "\n";
      all += "\n";
    };
    for (const auto* list : {&settings.select, &settings.ignore, &settings.library_folders, &sources.roots(),
             &sources.libraries()})
      add(*list);
    for (const auto& [rule, severity] : settings.severity)
      all += rule + "=" + std::string(rules::name(severity)) + "\n";
    return all + std::string(rules::name(settings.min_severity)) + " " + std::to_string(settings.gpu_memory);
  }

  // The files by number. None that takes long begins when the others are nearly done, and leaves the other
  // cores without work.
  std::vector<std::size_t> largest_first() const {
    std::vector<std::uint64_t> sizes;
    sizes.reserve(inputs_.files.size());
    for (const std::string& path : inputs_.files)
      sizes.push_back(file_stamp(path).value_or(FileStamp{}).size);
    std::vector<std::size_t> order(sizes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(
        order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return sizes[a] > sizes[b]; });
    return order;
  }

  // False if a file could not be written.
  bool write(const FixRun& fixed) {
    bool is_written = true;
    for (const auto& [path, changed] : fixed.changed) {
      const std::string& after = changed.after->text->bytes();
      if (path == inputs_.standard_input) {
        is_written = write_out(after) != Written::failed && is_written;
        continue;
      }
      const std::string error = replace_file(path, changed.before->text->bytes(), after);
      if (error.empty()) continue;
      say(inputs_.names.displayed(path) + ": not fixed: " + error);
      is_written = false;
    }
    // Whoever pipes a text through `check --fix -` gets a text back, fixed or not.
    if (!inputs_.standard_input.empty() && !inputs_.standard_input_cells &&
        !fixed.changed.contains(inputs_.standard_input)) {
      is_written = write_out(inputs_.overlay->at(inputs_.standard_input)->text->bytes()) != Written::failed &&
          is_written;
    }
    return is_written;
  }

  struct Collected {
    Report report;
    std::vector<bool> fails;  // of each finding: is it one that the exit status tells?
  };

  Collected collect(std::vector<Checked>& results) const {
    Collected found{Report(inputs_.names), {}};
    Report& report = found.report;
    report.unreadable = inputs_.unreadable;
    std::set<std::tuple<std::string_view, std::string, std::uint32_t, std::uint32_t, std::string>> seen;
    const Causes causes(results);
    const auto add = [&](rules::Finding& finding, const Settings& settings) {
      const syntax::Span span = finding.where.span;
      if (causes.are_told_elsewhere(finding)) return;
      if (!seen.emplace(finding.rule, finding.where.path, span.begin, span.end, finding.message).second)
        return;
      found.fails.push_back(finding.severity <= settings.fail_on);
      report.findings.push_back(std::move(finding));
    };
    for (const auto& file : checker_.configurations()) {
      std::vector<rules::Finding> problems = file->problems;
      checker_.settings_of(*file).apply(problems);
      for (rules::Finding& problem : problems) add(problem, checker_.settings_of(*file));
      if (!file->path.empty()) report.texts[file->path] = file->text;
    }
    std::set<std::string> failures;
    std::size_t unparsed = 0;
    for (std::size_t i = 0; i < results.size(); ++i) {
      const std::string& path = inputs_.files[i];
      if (!results[i].unreadable.empty()) {
        report.unreadable.push_back({inputs_.names.displayed(path), results[i].unreadable});
        continue;
      }
      if (!results[i].not_checked.empty()) {
        // Of a folder nobody asked that each of its files be a configuration.
        if (!inputs_.found_documents.contains(path))
          say(inputs_.names.displayed(path) + ": not checked: " + results[i].not_checked);
        continue;
      }
      ++report.files;
      if (results[i].is_too_large)
        say(inputs_.names.displayed(path) + ": too large to be analyzed (over 8 MiB)");
      if (!results[i].unparsed.empty() && ++unparsed <= most_unparsed_named)
        say_unparsed(inputs_.names.displayed(path), results[i].unparsed);
      for (const std::string& failure : results[i].failures) {
        if (failures.insert(failure.substr(0, failure.find(':'))).second) {
          say(inputs_.names.displayed(path) + ": internal error in " + failure);
        }
      }
      for (rules::Finding& finding : results[i].findings) add(finding, checker_.settings(path));
    }
    if (unparsed > most_unparsed_named)
      say(std::to_string(unparsed - most_unparsed_named) +
          " more of the files hold lines that cannot be read as Python");
    for (const rules::Finding& finding : report.findings) add_texts(report, finding, overlay_);
    return found;
  }

  // What is read before anything is checked, so that a mistake in it is told at once. False: it was told.
  bool read_known() {
    if (!options_.baseline.empty()) {
      ReadBaseline read = read_baseline(normal_path(options_.baseline, current_folder()));
      if (!read.baseline) {
        say("--baseline " + sanitized(options_.baseline) + ": " + read.reason);
        return false;
      }
      baseline_ = std::move(*read.baseline);
    }
    if (!options_.since.empty()) {
      if (!inputs_.standard_input.empty()) {
        say("--since compares files: standard input has no revision");
        return false;
      }
      revision_ = read_revision(options_.since, inputs_.files);
      if (!revision_.error.empty()) {
        say(sanitized(revision_.error));
        return false;
      }
    }
    return true;
  }

  // Only files with findings are checked as they were.
  Baseline found_before(const Report& report) const {
    std::set<std::string> paths;
    for (const rules::Finding& finding : report.findings) paths.insert(finding.where.path);
    std::vector<std::string> files;
    std::copy_if(inputs_.files.begin(), inputs_.files.end(), std::back_inserter(files),
        [&](const std::string& path) { return paths.contains(path); });
    std::vector<Checked> results(files.size());
    parallel(files.size(), [&](std::size_t i) { results[i] = checker_.check(files[i], revision_.overlay); });
    Report before(inputs_.names);
    for (Checked& checked : results)
      std::move(checked.findings.begin(), checked.findings.end(), std::back_inserter(before.findings));
    Baseline known;
    for (const rules::Finding& finding : before.findings) {
      add_texts(before, finding, revision_.overlay);
      known.add(fingerprint(before, finding, finding.where.path));
    }
    return known;
  }

  void leave_out_known(Collected& found) {
    Report& report = found.report;
    if (options_.baseline.empty() && options_.since.empty()) return;
    Baseline before = options_.since.empty() ? Baseline() : found_before(report);
    const std::string folder = parent_folder(normal_path(options_.baseline, current_folder()));
    std::vector<rules::Finding> findings;
    std::vector<bool> fails;
    for (std::size_t i = 0; i < report.findings.size(); ++i) {
      rules::Finding& finding = report.findings[i];
      const std::string& path = finding.where.path;
      if (before.take(fingerprint(report, finding, path)) ||
          baseline_.take(fingerprint(report, finding, seen_from(path, folder)))) {
        ++report.known;
        continue;
      }
      findings.push_back(std::move(finding));
      fails.push_back(found.fails[i]);
    }
    report.findings = std::move(findings);
    found.fails = std::move(fails);
    std::set<std::string> checked;
    for (const std::string& path : inputs_.files) checked.insert(seen_from(path, folder));
    if (const std::size_t gone = baseline_.left(checked); gone != 0)
      say(std::to_string(gone) + " of the findings in " + sanitized(options_.baseline) +
          " are gone; `--write-baseline` brings it up to date");
  }

  int write_baseline(const Report& report) const {
    say_unreadable(report);
    const std::string path = normal_path(options_.write_baseline, current_folder());
    if (const std::string error = write_file(path, baseline_text(report, parent_folder(path)));
        !error.empty()) {
      say("--write-baseline " + sanitized(options_.write_baseline) + ": " + error);
      return exit_status::trouble;
    }
    say("wrote " + std::to_string(report.findings.size()) +
        (report.findings.size() == 1 ? " finding" : " findings") + " to " +
        sanitized(options_.write_baseline));
    return report.unreadable.empty() ? exit_status::success : exit_status::trouble;
  }

  void add_texts(
      Report& report, const rules::Finding& finding, const std::shared_ptr<const Overlay>& overlay) const {
    const auto add = [&](const std::string& path) {
      const auto [text, is_new] = report.texts.try_emplace(path);
      if (!is_new) return;
      if (const auto module = checker_.sources(path, overlay).module(path)) text->second = module->text;
      if (const auto cells = checker_.cells(path)) report.cells[path] = cells;
    };
    add(finding.where.path);
    for (const rules::Related& related : finding.related) add(related.where.path);
    for (const rules::Fix& fix : finding.fixes) {
      for (const rules::TextEdit& edit : fix.edits) add(edit.where.path);
    }
  }

  static constexpr std::size_t most_unparsed_named = 10;
  // What is broken costs no more than its own lines; but who checks a file that does not run should hear of
  // it.
  static void say_unparsed(const std::string& name, const std::vector<std::uint32_t>& lines) {
    std::string list;
    for (std::size_t i = 0; i < lines.size() && i < 3; ++i)
      list += (i == 0 ? "" : ", ") + std::to_string(lines[i] + 1);
    if (lines.size() > 3) list += "…";
    say(name + ": cannot be read as Python at line " + list + ": nothing is said of what stands there");
  }

  static void say_unreadable(const Report& report) {
    for (const Unreadable& unreadable : report.unreadable) say(unreadable.name + ": " + unreadable.reason);
  }

  int show_diff(const FixRun& fixed, const Report& report) const {
    say_unreadable(report);
    std::string diff;
    for (const auto& [path, changed] : fixed.changed) {
      diff += unified_diff(
          changed.before->text->bytes(), changed.after->text->bytes(), inputs_.names.displayed(path));
    }
    return write_out(diff) == Written::failed ? exit_status::trouble : report.exit_status;
  }

  int show(const Report& report) const {
    say_unreadable(report);
    std::string output;
    switch (options_.format) {
    case Format::text: output = text_report(report, has_colors(STDOUT_FILENO)); break;
    case Format::json: output = json_report(report); break;
    case Format::sarif: output = sarif_report(report); break;
    case Format::github: output = github_report(report); break;
    case Format::gitlab: output = gitlab_report(report); break;
    case Format::page: return show_page(report);
    case Format::svg:
    case Format::mermaid: break;  // of schedules
    }
    if (options_.fix && !inputs_.standard_input.empty()) {
      // Standard output holds the fixed text.
      write_error(output);
      return report.exit_status;
    }
    return write_out(output) == Written::failed ? exit_status::trouble : report.exit_status;
  }

  // Not a gate: findings are no failure here.
  int show_page(const Report& report) const {
    std::vector<std::string> paths = options_.paths;
    for (std::string& path : paths)
      if (path == "-" && !options_.stdin_filename.empty()) path = options_.stdin_filename;
    const std::string page = report_page(report, paths, pictures());
    const int status = report.exit_status == exit_status::trouble ? exit_status::trouble
                                                                  : exit_status::success;
    if (options_.output.empty()) return write_out(page) == Written::failed ? exit_status::trouble : status;
    if (const std::string error = write_file(normal_path(options_.output, current_folder()), page);
        !error.empty()) {
      say("-o " + sanitized(options_.output) + ": " + error);
      return exit_status::trouble;
    }
    return status;
  }

  std::vector<Picture> pictures() const {
    auto pictures = with_progress("drawing", inputs_.files.size(),
        [&](std::size_t i) { return picture_of(checker_, inputs_, inputs_.files[i], options_.world); });
    // A class stands in one file, and the program that makes its objects in another.
    std::vector<footprint::Model> made;
    for (Picture& picture : pictures)
      std::move(picture.made.begin(), picture.made.end(), std::back_inserter(made));
    for (Picture& picture : pictures) count_parameters(picture.models, made);
    return pictures;
  }

  const CheckOptions& options_;
  Kept* const kept_;
  ConfigurationFiles configuration_;
  Inputs inputs_;
  Checker checker_;
  std::shared_ptr<const Overlay> overlay_;  // of the texts that the report speaks of
  std::optional<Cache> cache_;
  std::string same_for_all_;  // see made_with
  Baseline baseline_;
  Revision revision_;
};

}  // namespace

int run_check(const CheckOptions& options) { return Check(options).run(); }

int run_watch(const CheckOptions& options) {
  constexpr std::string_view clear = "\x1b[2J\x1b[3J\x1b[H";
  const bool terminal = is_terminal(STDOUT_FILENO);
  Kept kept;
  while (true) {
    if (terminal && write_out(clear) != Written::all) return exit_status::success;
    kept.begin();
    Check check(options, &kept);
    const int status = check.run();
    end_in_order();
    say("watching " + std::to_string(check.files()) + (check.files() == 1 ? " file" : " files") +
        "; Ctrl-C ends");
    std::string changed;
    const bool go_on = wait_for_change([&] {
      kept.begin();
      ConfigurationFiles configuration;
      const Inputs inputs = find_inputs(options.paths, {}, configuration);
      const std::vector<std::string> paths = kept.changed(inputs, configuration);
      for (std::size_t i = 0; i < paths.size() && i < 3; ++i)
        changed += (i == 0 ? "" : ", ") + sanitized(inputs.names.displayed(paths[i]));
      if (paths.size() > 3) changed += " and " + std::to_string(paths.size() - 3) + " more";
      return !paths.empty();
    });
    if (!go_on) return status;
    // Whoever reads a pipe sees where a state begins.
    if (!terminal && write_out("\n" + changed + " changed:\n\n") != Written::all) return status;
  }
}

}  // namespace stepzero::server
