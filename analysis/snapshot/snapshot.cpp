#include "snapshot/snapshot.hpp"

#include "interpreter/interpreter.hpp"
#include "libraries/table/table.hpp"
#include "rules/launch/pins.hpp"
#include "rules/ranks/comparison.hpp"
#include "rules/report.hpp"
#include "rules/run_conditions.hpp"
#include "snapshot/default_run.hpp"
#include "snapshot/display_run.hpp"
#include "snapshot/documents.hpp"
#include "snapshot/equal_sizes.hpp"
#include "snapshot/facts.hpp"
#include "snapshot/launched_run.hpp"
#include "snapshot/rank_results.hpp"
#include "snapshot/rank_runs.hpp"
#include "snapshot/run_cache.hpp"
#include "snapshot/schedule.hpp"
#include "snapshot/suppress.hpp"
#include "snapshot/why.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <unordered_set>
#include <utility>

namespace stepzero::snapshot {

using interpreter::Record;
using syntax::InPhase;
using syntax::Phase;

namespace {

bool named(const std::vector<std::string>& list, std::string_view rule) {
  return std::any_of(list.begin(), list.end(),
      [&](const std::string& name) { return name == rule || name == rule.substr(0, rule.find('/')); });
}

// Is a rule wanted that asks what each rank does?
bool compares_ranks(const Options& options) {
  const auto wanted = [&](const rules::Rule& rule) {
    return rule.id.starts_with("deadlock/") && !named(options.ignore, rule.id) &&
        (options.select.empty() || named(options.select, rule.id));
  };
  const auto& all = rules::rules();
  return std::any_of(all.begin(), all.end(), wanted);
}

// A schedule of many ranks is too long to read.
int ranks_of(const Launch& launch, int asked) {
  constexpr std::int64_t most = 8;  // ranks, each of which is a run
  return asked == 0 && launch.world && *launch.world >= 2 && *launch.world <= most
      ? static_cast<int>(*launch.world)
      : asked;
}

// One analysis of one file: its own run, the runs beside it, and what the rules say of them.
class Analyzer {
public:
  Analyzer(const program::Sources& sources, const std::string& path, const Options& options,
      const syntax::Module& module)
      : sources_(sources), path_(path), options_(options), module_(module), suppressions_(module) {
    limits_.steps = options.steps;
    limits_.cancelled = options.cancelled;
  }

  Result run(std::unique_ptr<Run> kept) {
    again_ = run_file(std::move(kept));
    Record& record = run_->record;
    result_.went_on = again_;
    result_.steps = record.steps;
    result_.units_run = run_->interpreter->units_run();
    result_.objects_made = run_->interpreter->objects_made();
    constexpr std::size_t most_told = 3;  // roots that a report of times lists
    if (options_.clock) result_.costly_roots = run_->interpreter->costly_roots(most_told);
    result_.out_of_budget = record.out_of_budget;
    result_.cancelled = record.cancelled || !judge_all();
    if (options_.why_line && !result_.cancelled) result_.why = why_silent(*of_ranks_, options_.why_line);
    if (!result_.cancelled && (options_.want_facts || options_.want_schedule)) {
      if (options_.on_findings) options_.on_findings(result_);
      if (options_.want_facts) collect_facts_of_run();
      if (options_.want_schedule) collect_schedules();
      result_.cancelled = options_.cancelled && *options_.cancelled;
    }
    if (of_ranks_) result_.roots_compared = of_ranks_->roots_looked_at();
    of_launched_.clear();
    of_ranks_.reset();
    launched_ranks_.clear();
    ranks_.reset();
    defaults_.reset();
    return std::move(result_);
  }
  std::unique_ptr<Run> take_run() { return std::move(run_); }

private:
  // Steps after which nobody waits for the whole answer; some tenths of a second.
  static constexpr std::uint64_t long_run = 40'000;

  // Of the functions that nobody calls none: the program alone.
  static const RankRuns::Only& nothing() {
    static const RankRuns::Only none;
    return none;
  }

  // ------------------------------------------------------------ runs
  void begin(Run& run, const interpreter::Limits& bounds) const {
    run.path = path_;
    run.steps = bounds.steps;
    run.sources.ask(&sources_);
    run.sources.roots(), run.sources.libraries();  // of which it is to be known whether they change
    run.interpreter = std::make_unique<interpreter::Interpreter>(
        run.sources, libraries::table(), bounds, run.record);
    run.interpreter->tell(options_.clock);
    run.interpreter->run_file(path_);
    run.fresh_events = run.record.events.size();
  }
  // Brings a kept run up to date. False: that cannot be done, and it is of no use.
  bool go_on(Run& run, const RankRuns::Only* only = nullptr) const {
    if (!run.sources.agrees(sources_, path_)) return false;
    run.sources.ask(&sources_);
    return run.interpreter->run_again(options_.cancelled, only);
  }
  void run_rank(
      Run& one, interpreter::OneRank rank, const RankRuns::Only& only, const Launch* launch = nullptr) const {
    interpreter::Limits small = limits_;
    small.launch = launch;
    small.steps = std::min<std::uint64_t>(limits_.steps, 300'000);
    small.as_rank = std::move(rank);
    small.only = &only;
    begin(one, small);
  }
  void as_rank(std::shared_ptr<Run>& one, int rank, int world, const RankRuns::Only& only,
      const Launch* launch = nullptr) const {
    const InPhase phase(options_.clock, Phase::ranks);
    if (one && go_on(*one, &only)) return;
    run_rank(*(one = std::make_shared<Run>()), {rank, world}, only, launch);
  }
  void by_defaults(std::shared_ptr<Run>& one) const {
    const InPhase phase(options_.clock, Phase::defaults);
    if (one && go_on(*one, &nothing())) return;
    one = std::make_shared<Run>();
    interpreter::Limits bounds = limits_;
    bounds.with_defaults = true;
    bounds.only = &nothing();
    begin(*one, bounds);
  }
  void as_launched(std::shared_ptr<LaunchedRun>& one, const Launch& launch) const {
    const InPhase phase(options_.clock, Phase::launches);
    if (one && go_on(one->run, &nothing())) return;
    one = std::make_shared<LaunchedRun>();
    one->launch = launch;
    interpreter::Limits bounds = limits_;
    bounds.launch = &one->launch;
    bounds.only = &nothing();
    begin(one->run, bounds);
  }

  // What goes on beside the run, and what it tells while it goes on.
  void attend() {
    defaults_ = std::make_unique<DefaultRun>(*run_, [this](std::shared_ptr<Run>& one) { by_defaults(one); });
    ranks_ = std::make_unique<RankRuns>(
        *run_,
        [this](std::shared_ptr<Run>& one, int rank, int world, const RankRuns::Only& only) {
          as_rank(one, rank, world, only);
        },
        options_.background);
    const bool wants_ranks = options_.background && (options_.want_schedule || compares_ranks(options_));
    run_->record.on_statements = [this, wants_ranks] {
      if (options_.clock) options_.clock->enter(Phase::roots);
      const bool open = run_->record.open_to_defaults;
      const bool may_part = wants_ranks && rules::may_part(run_->record);
      run_->record.derived.clear();  // what readers found out is of a part of the run
      if (may_part)
        ranks_->begin(RankRuns::first_world, open ? defaults_->work() : nullptr);
      else if (open && options_.background)
        defaults_->begin(options_.background);
      if (run_->record.on_root) run_->record.on_root();
    };
    if (options_.on_findings && run_->standing.text)
      run_->record.on_focus = [this](const std::vector<std::string>& roots) { tell_focus(roots); };
    else if (options_.on_findings)
      run_->record.on_root = [this] { tell_so_far(); };
  }
  rules::RunConditions conditions(bool by_defaults, bool partial = false, std::int64_t launched = 0) const {
    return {options_.gpu_memory, by_defaults, partial, launched,
        [&sources = run_->sources, this](std::string_view package, std::string_view version) {
          return rules::launch::is_kept_below(sources, path_, package, version);
        }};
  }
  // What decides, beside the program, what is found.
  std::string asked_for() const {
    std::string words = "gpu-memory " + std::to_string(options_.gpu_memory);
    for (const auto* list : {&options_.select, &options_.ignore}) {
      words += ';';
      for (const std::string& rule : *list) words += rule + ' ';
    }
    return words;
  }
  // True: it went on from the kept run.
  bool run_file(std::unique_ptr<Run> kept) {
    StandingFindings standing;
    run_ = std::move(kept);
    const bool told_before = run_ && std::exchange(run_->told, {}) == asked_for();
    if (run_) {
      attend();
      const InPhase phase(options_.clock, Phase::statements);
      run_->sources.ask(&sources_);
      if (!run_->interpreter || !run_->interpreter->run_again(options_.cancelled)) {
        ranks_.reset();
        defaults_.reset();
        standing = std::move(run_->standing);
        run_.reset();
      }
    }
    const bool again = run_ != nullptr;
    only_comments_ = again && told_before && run_->interpreter->only_comments_changed();
    if (!run_) {
      run_ = std::make_unique<Run>();
      run_->standing = std::move(standing);
      attend();
      const InPhase phase(options_.clock, Phase::statements);
      begin(*run_, limits_);
    }
    of_ranks_ = std::make_unique<RankResults>(run_->record, started_by(*ranks_), &run_->compared);
    return again;
  }
  // How the runs of single ranks are made.
  rules::RunOfRank started_by(RankRuns& ranks, const Launch* launch = nullptr) const {
    return [this, &ranks, launch](
               const interpreter::OneRank& rank, const RankRuns::Only& only) -> std::shared_ptr<Record> {
      if (!rank.told && !rank.by_defaults) return ranks.of(rank.rank, rank.world, only);
      const InPhase phase(options_.clock, Phase::ranks);
      const auto one = std::make_shared<Run>();
      run_rank(*one, rank, only, launch);
      return {one, &one->record};
    };
  }

  // ------------------------------------------------------------ findings
  bool wanted(const rules::Rule& rule) const {
    return !named(options_.ignore, rule.id) && (options_.select.empty() || named(options_.select, rule.id));
  }

  void judge(const rules::Rule& rule, std::initializer_list<const RankResults*> records, const Launch* launch,
      std::vector<StandingFindings::One>& all) {
    const InPhase phase(options_.clock, Phase::rules);
    std::vector<rules::Finding> findings;
    std::size_t own = 0;  // of the first record
    try {
      for (const RankResults* const one : records) {
        if (!one) continue;
        rules::Report report(one->record(), *one, rule, findings);
        rule.check(one->record(), report);
        if (one == *records.begin()) own = findings.size();
      }
    } catch (const std::exception& error) {
      result_.failed_rules.push_back(std::string(rule.id) + ": " + error.what());
      return;
    }
    if (launch) tell_of_launch(*launch, all, findings);
    for (std::size_t i = 0; i < findings.size(); ++i) {
      rules::Finding& finding = findings[i];
      if (suppressions_.covers(finding)) continue;
      std::stable_sort(finding.fixes.begin(), finding.fixes.end(),
          [](const auto& a, const auto& b) { return a.preferred > b.preferred; });
      all.push_back({std::move(finding), rule.local && !launch && i < own});
    }
  }

  // By place; the same mistake reached on several ways is told once.
  static void put_in_order(std::vector<StandingFindings::One>& all) {
    std::stable_sort(
        all.begin(), all.end(), [](const StandingFindings::One& a, const StandingFindings::One& b) {
          return std::tie(a.finding.where.span.begin, a.finding.where.span.end, a.finding.rule) <
              std::tie(b.finding.where.span.begin, b.finding.where.span.end, b.finding.rule);
        });
    const auto same = [](const StandingFindings::One& a, const StandingFindings::One& b) {
      return a.finding.rule == b.finding.rule && a.finding.where == b.finding.where;
    };
    all.erase(std::unique(all.begin(), all.end(), same), all.end());
  }
  static std::vector<rules::Finding> findings_of(const std::vector<StandingFindings::One>& all) {
    std::vector<rules::Finding> findings;
    findings.reserve(all.size());
    for (const StandingFindings::One& one : all) findings.push_back(one.finding);
    return findings;
  }

  // A file that nothing has been said of yet, and that takes long: what its statements and the roots that
  // have been run show. Each answer comes after twice the steps, so that all of them judge twice as much as
  // one.
  void tell_so_far() {
    const Record& record = run_->record;
    if (record.steps < tell_from_) return;
    tell_from_ = 2 * record.steps;
    conditions(false, true).keep(record);
    std::vector<StandingFindings::One> all;
    const RankResults alone(record);
    judge_locally({&alone}, all);
    tell_early(std::move(all), {});
    record.derived.clear();  // what readers found out is of a part of the run
    result_.failed_rules.clear();
  }

  // An edited function has been run, and the rest has not.
  void tell_focus(const std::vector<std::string>& roots) {
    const Record& record = run_->record;
    conditions(false, true).keep(record);
    std::vector<StandingFindings::One> all;
    const RankResults alone(record);
    judge_locally({&alone}, all);
    std::vector<std::string> judged_again = roots;
    judged_again.emplace_back();
    tell_early(std::move(all), run_->standing.in(*module_.text, path_, [&](const std::string& root) {
      return std::ranges::find(judged_again, root) != judged_again.end();
    }));
    result_.failed_rules.clear();
  }

  void judge_locally(
      std::initializer_list<const RankResults*> records, std::vector<StandingFindings::One>& all) {
    for (const rules::Rule& rule : rules::rules())
      if (rule.local && wanted(rule)) judge(rule, records, nullptr, all);
  }

  void tell_early(std::vector<StandingFindings::One> fresh, std::vector<rules::Finding> standing) {
    for (rules::Finding& finding : standing)
      if (!suppressions_.covers(finding)) fresh.push_back({std::move(finding), false});
    put_in_order(fresh);
    Result early;
    early.partial = true;
    early.findings = findings_of(fresh);
    early.read = run_->record.read;
    early.failed_rules = result_.failed_rules;
    options_.on_findings(early);
  }

  void has_read(const Record& one) {
    for (const std::string& read : one.read)
      if (told_.insert(read).second) result_.read.push_back(read);
  }

  // False: it was cancelled.
  bool judge_all() {
    const Record& record = run_->record;
    conditions(false).keep(record);
    // Comparing ranks, running the file with the defaults and as it is launched may take long: until then
    // what these said of the text before stands.
    std::vector<StandingFindings::One> all;
    judge_locally({of_ranks_.get()}, all);
    if (options_.on_findings && (run_->standing.text || record.steps >= long_run) &&
        (options_.want_facts || options_.want_schedule))
      tell_early(all, run_->standing.in(*module_.text, path_, [](const std::string&) { return true; }));
    // What the statements alone make of the defaults is told of them, too.
    const bool open = record.open_to_defaults && !record.out_of_budget;
    const Run* const other = open ? defaults_->get() : nullptr;
    const Record* const with_defaults = with_defaults_ = other ? &other->record : nullptr;
    if (with_defaults && with_defaults->cancelled) return false;
    has_read(record);
    if (with_defaults) has_read(*with_defaults);
    std::optional<RankResults> defaults;
    if (with_defaults) {
      defaults.emplace(*with_defaults);
      conditions(true).keep(*with_defaults);
      all.clear();
      result_.failed_rules.clear();
      judge_locally({of_ranks_.get(), &*defaults}, all);
    }
    const auto as_before = only_comments_ && run_->launched.empty()
        ? run_->standing.in_other_comments(*module_.text, path_)
        : std::nullopt;
    if (as_before) {
      for (const rules::Finding& finding : *as_before) all.push_back({finding, false});
    } else {
      for (const rules::Rule& rule : rules::rules())
        if (!rule.local && wanted(rule))
          judge(rule, {of_ranks_.get(), defaults ? &*defaults : nullptr}, nullptr, all);
    }
    if (!as_before) judge_equal_sizes(all);
    judge_commands_of_program(all);
    if (!judge_launches(all)) return false;
    put_in_order(all);
    result_.findings = findings_of(all);
    const bool cut = options_.cancelled && *options_.cancelled;
    if (options_.memory && !cut) {
      run_->standing = {module_.text, std::move(all)};
      run_->told = asked_for();
    }
    return true;
  }

  // What is right only because sizes are equal by chance: rules about operators judge runs with other sizes.
  void judge_equal_sizes(std::vector<StandingFindings::One>& all) {
    const auto is_asked = [&](const rules::Rule& rule) {
      return rule.local && rule.id.starts_with("shape/") && wanted(rule);
    };
    if (run_->record.out_of_budget || std::ranges::none_of(rules::rules(), is_asked)) return;
    std::vector<const Record*> records{&run_->record};
    if (with_defaults_) records.push_back(with_defaults_);
    const auto run = [this](const interpreter::OtherNumbers& numbers, bool by_defaults, std::uint64_t steps) {
      const InPhase phase(options_.clock, Phase::defaults);
      const auto one = std::make_shared<Run>();
      interpreter::Limits bounds = limits_;
      bounds.steps = std::min(bounds.steps, steps);
      bounds.with_defaults = by_defaults;
      bounds.only = &nothing();
      bounds.numbers = &numbers;
      begin(*one, bounds);
      return one;
    };
    for (const EqualByChance& found : equal_by_chance(records, sources_, run)) {
      const Record& record = found.run->record;
      conditions(found.by_defaults).keep(record);
      const RankResults alone(record);
      std::vector<StandingFindings::One> fresh;
      for (const rules::Rule& rule : rules::rules())
        if (is_asked(rule)) judge(rule, {&alone}, nullptr, fresh);
      for (StandingFindings::One& one : fresh) {
        const bool is_it = !record.in_file(found.problem->place) ||
            one.finding.where.span == record.span(found.problem->place);
        const bool is_known = std::ranges::any_of(all,
            [&](const StandingFindings::One& other) { return other.finding.where == one.finding.where; });
        if (!is_it || is_known || one.finding.severity > rules::Severity::warning) continue;
        tell_by_chance(found, one.finding);
        one.local = false;
        all.push_back(std::move(one));
        break;
      }
    }
  }

  void judge_commands_of_program(std::vector<StandingFindings::One>& all) {
    std::set<std::string> read;
    for (rules::Finding& finding : judge_commands(
             sources_, path_, module_, [this](const rules::Rule& rule) { return wanted(rule); }, read))
      if (!suppressions_.covers(finding)) all.push_back({std::move(finding), false});
    for (const std::string& path : read)
      if (path != path_ && told_.insert(path).second) result_.read.push_back(path);
  }

  bool judge_launches(std::vector<StandingFindings::One>& all) {
    const auto kept = std::exchange(run_->launched, {});
    const std::vector<Launch> launches = options_.launches && !run_->record.out_of_budget
        ? launches_to_run(options_.launches())
        : std::vector<Launch>();
    if (launches.empty() || !reads_its_launch(run_->record, sources_)) return true;
    bool compared = false;
    for (const Launch& launch : launches) {
      const auto known = std::find_if(
          kept.begin(), kept.end(), [&](const auto& one) { return one->launch == launch; });
      std::shared_ptr<LaunchedRun>& one = run_->launched.emplace_back(known == kept.end() ? nullptr : *known);
      as_launched(one, launch);
      Record& launched = one->run.record;
      if (launched.cancelled) return false;
      has_read(launched);
      if (told_.insert(launch.path).second) result_.read.push_back(launch.path);
      const Launch& own = one->launch;
      launched_ranks_.push_back(std::make_unique<RankRuns>(
          one->run,
          [this, &own](std::shared_ptr<Run>& run, int rank, int world, const RankRuns::Only& only) {
            as_rank(run, rank, world, only, &own);
          },
          options_.background));
      const auto& results = of_launched_.emplace_back(
          std::make_unique<RankResults>(launched, started_by(*launched_ranks_.back(), &own)));
      conditions(false, false, launch.world.value_or(0)).keep(launched);
      // As many runs as there are ranks: of one launch, the first of few processes.
      const bool compares = !compared && ranks_are_compared(launch, launched.steps);
      compared = compared || compares;
      for (const rules::Rule& rule : rules::rules())
        if (wanted(rule) && (compares || !rule.id.starts_with("deadlock/")))
          judge(rule, {results.get()}, &launch, all);
    }
    return true;
  }

  // ------------------------------------------------------------ what is shown
  void collect_facts_of_run() {
    const InPhase phase(options_.clock, Phase::facts);
    const Record& record = run_->record;
    const Record* displayed = run_to_show(*run_, sources_, path_, limits_,
        [this](Run& run, const interpreter::Limits& bounds) { begin(run, bounds); });
    collect_facts(displayed ? *displayed : record, result_.facts);
    if (options_.want_footprint && !record.out_of_budget)
      if (auto made = footprint::footprint_of(
              with_defaults_ ? *with_defaults_ : record, displayed ? *displayed : record);
          !made.models.empty() || !made.unseen.empty())
        result_.footprint = std::make_shared<footprint::Footprint>(std::move(made));
    result_.facts.shrink_to_fit();
    // Kept for the next edit where there was one before: most files that are opened are only read.
    if (!again_) run_->displayed = run_->without_words = nullptr;
  }
  // The ranks' own runs heed the flag of a cancelled analysis, too: what they left is not the whole then.
  void collect_schedules() {
    const InPhase phase(options_.clock, Phase::facts);
    result_.schedule = std::make_shared<Schedule>(schedule_of(*of_ranks_, options_.world));
    for (std::size_t i = 0; options_.want_launched && i < run_->launched.size(); ++i) {
      const LaunchedRun& one = *run_->launched[i];
      auto schedule = std::make_shared<Schedule>(
          schedule_of(*of_launched_[i], ranks_of(one.launch, options_.world)));
      schedule->launch = one.launch.name;
      result_.launched.push_back(std::move(schedule));
    }
  }

  const program::Sources& sources_;
  const std::string& path_;
  const Options& options_;
  const syntax::Module& module_;
  const Suppressions suppressions_;
  interpreter::Limits limits_;
  Result result_;
  std::unordered_set<std::string> told_;  // the files that `result_.read` names
  bool again_ = false;
  std::uint64_t tell_from_ = long_run;  // steps of the first run after which more is told
  bool only_comments_ = false;          // were edited since the last whole answer
  std::unique_ptr<Run> run_;
  const Record* with_defaults_ = nullptr;
  std::unique_ptr<DefaultRun> defaults_;  // these end before the run that they work on
  std::unique_ptr<RankRuns> ranks_;
  std::vector<std::unique_ptr<RankRuns>> launched_ranks_;
  std::unique_ptr<RankResults> of_ranks_;  // what these came to
  std::vector<std::unique_ptr<RankResults>> of_launched_;
};

}  // namespace

Result analyze(const program::Sources& sources, const std::string& path, const Options& options) {
  const auto module = sources.module(path);
  if (!module) return {};
  if (const auto language = documents::language_of(path, module->text->bytes());
      language != documents::Language::none)
    return analyze_document(sources, path, language, *module, options);
  Analyzer analyzer(sources, path, options, *module);
  Result result = analyzer.run(options.memory ? options.memory->take(sources, path, options.steps) : nullptr);
  if (options.memory) options.memory->keep(analyzer.take_run());
  return result;
}

}  // namespace stepzero::snapshot
