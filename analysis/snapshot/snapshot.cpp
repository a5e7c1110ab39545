#include "snapshot/snapshot.hpp"

#include "interpreter/interpreter.hpp"
#include "rules/deadlock/match.hpp"
#include "rules/report.hpp"
#include "rules/told.hpp"
#include "snapshot/default_run.hpp"
#include "snapshot/documents.hpp"
#include "snapshot/facts.hpp"
#include "snapshot/launched_run.hpp"
#include "snapshot/memory.hpp"
#include "snapshot/rank_runs.hpp"
#include "snapshot/schedule.hpp"
#include "snapshot/shown_run.hpp"
#include "snapshot/suppress.hpp"
#include "torch/table.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_set>

namespace stepzero::snapshot {

using interpreter::Record;

namespace {

bool named(const std::vector<std::string>& list, std::string_view rule) {
  return std::any_of(list.begin(), list.end(), [&](const std::string& name) { return name == rule || name == rule.substr(0, rule.find('/')); });
}

// Is a rule wanted that asks what each rank does?
bool compares_ranks(const Options& options) {
  const auto wanted = [&](const rules::Rule& rule) {
    return rule.id.starts_with("deadlock/") && !named(options.ignore, rule.id) && (options.select.empty() || named(options.select, rule.id));
  };
  const auto& all = rules::rules();
  return std::any_of(all.begin(), all.end(), wanted);
}

// A schedule of many ranks is too long to read.
int ranks_of(const Launch& launch, int asked) {
  constexpr std::int64_t most = 8;
  return asked == 0 && launch.world && *launch.world >= 2 && *launch.world <= most ? static_cast<int>(*launch.world) : asked;
}

} // namespace

Result analyze(const program::Sources& sources, const std::string& path, const Options& options) {
  Result result;
  const auto module = sources.module(path);
  if (!module) return result;
  if (const auto language = documents::language_of(path, module->text->bytes()); language != documents::Language::none) return analyze_document(sources, path, language, *module, options);
  interpreter::Limits limits;
  limits.steps = options.steps;
  limits.cancelled = options.cancelled;
  const auto begin = [&](Run& run, const interpreter::Limits& bounds) {
    run.path = path;
    run.steps = bounds.steps;
    run.sources.ask(&sources);
    run.sources.roots(), run.sources.libraries();  // of which it is to be known whether they change
    run.interpreter = std::make_unique<interpreter::Interpreter>(run.sources, torch::table(), bounds, run.record);
    run.interpreter->run_file(path);
  };
  const auto run_rank = [&](Run& one, interpreter::OneRank rank, const RankRuns::Only& only, const Launch* launch = nullptr) {
    interpreter::Limits small = limits;
    small.launch = launch;
    small.steps = std::min<std::uint64_t>(limits.steps, 150'000);
    small.as_rank = std::move(rank);
    small.only = &only;
    begin(one, small);
  };
  const auto as_rank = [&](std::shared_ptr<Run>& one, int rank, int world, const RankRuns::Only& only) {
    if (one && !one->sources.agrees(sources, path)) one.reset();
    if (one) {
      one->sources.ask(&sources);
      if (!one->interpreter->run_again(options.cancelled, &only)) one.reset();
    }
    if (one) return;
    run_rank(*(one = std::make_shared<Run>()), {rank, world}, only);
  };
  // Is run again where an earlier one was kept.
  static const RankRuns::Only nothing;
  const auto by_defaults = [&](std::shared_ptr<Run>& one) {
    if (one && !one->sources.agrees(sources, path)) one.reset();
    if (one) {
      one->sources.ask(&sources);
      if (one->interpreter->run_again(options.cancelled, &nothing)) return;
    }
    one = std::make_shared<Run>();
    interpreter::Limits bounds = limits;
    bounds.with_defaults = true;
    bounds.only = &nothing;
    begin(*one, bounds);
  };
  const auto as_launched = [&](std::shared_ptr<LaunchedRun>& one, const Launch& launch) {
    if (one && !one->run.sources.agrees(sources, path)) one.reset();
    if (one) {
      one->run.sources.ask(&sources);
      if (one->run.interpreter->run_again(options.cancelled, &nothing)) return;
    }
    one = std::make_shared<LaunchedRun>();
    one->launch = launch;
    interpreter::Limits bounds = limits;
    bounds.launch = &one->launch;
    bounds.only = &nothing;
    begin(one->run, bounds);
  };
  const bool wants_ranks = options.elsewhere && (options.want_schedule || compares_ranks(options));
  std::unique_ptr<Run> run;
  std::unique_ptr<DefaultRun> defaults;  // these go before the run that they work on
  std::unique_ptr<RankRuns> ranks;
  const auto attend = [&] {
    defaults = std::make_unique<DefaultRun>(*run, by_defaults);
    ranks = std::make_unique<RankRuns>(*run, as_rank, options.elsewhere);
    run->record.on_statements = [&] {
      const bool open = run->record.open_to_defaults;
      if (wants_ranks && rules::may_part(run->record)) ranks->begin(2, open ? defaults->work() : nullptr);
      else if (open && options.elsewhere) defaults->begin(options.elsewhere);
    };
  };
  if (options.memory) run = options.memory->take(sources, path, options.steps);
  if (run) {
    attend();
    run->sources.ask(&sources);
    if (!run->interpreter->run_again(options.cancelled)) {
      ranks.reset();
      defaults.reset();
      run.reset();
    }
  }
  const bool again = result.went_on = run != nullptr;
  if (!run) {
    run = std::make_unique<Run>();
    attend();
    begin(*run, limits);
  }
  Record& record = run->record;
  record.as_rank = [&](const interpreter::OneRank& rank, const RankRuns::Only& only) -> std::shared_ptr<Record> {
    if (!rank.told && !rank.by_defaults) return ranks->of(rank.rank, rank.world, only);
    const auto one = std::make_shared<Run>();
    run_rank(*one, rank, only);
    return {one, &one->record};
  };
  result.steps = record.steps;
  result.units_run = run->interpreter->units_run();
  result.out_of_budget = record.out_of_budget;
  if (record.cancelled) {
    result.cancelled = true;
    return result;
  }
  // What the statements alone make of the defaults is told of them, too.
  const bool open = record.open_to_defaults && !record.out_of_budget;
  const Run* const other = open ? defaults->get() : nullptr;
  const Record* const with_defaults = other ? &other->record : nullptr;
  if (with_defaults && with_defaults->cancelled) {
    result.cancelled = true;
    return result;
  }
  std::unordered_set<std::string> told;
  const auto has_read = [&](const Record& one) {
    for (const std::string& read : one.read)
      if (told.insert(read).second) result.read.push_back(read);
  };
  has_read(record);
  if (with_defaults) has_read(*with_defaults);
  rules::Told{options.gpu_memory, false}.keep(record);
  if (with_defaults) rules::Told{options.gpu_memory, true}.keep(*with_defaults);
  const Suppressions suppressions(*module);
  const auto judge = [&](std::initializer_list<const Record*> records, const Launch* launch) {
    for (const rules::Rule& rule : rules::rules()) {
      if (named(options.ignore, rule.id) || (!options.select.empty() && !named(options.select, rule.id))) continue;
      if (launch && rule.id.starts_with("deadlock/")) continue;
      std::vector<rules::Finding> findings;
      try {
        for (const Record* const one : records) {
          if (!one) continue;
          rules::Report report(*one, rule, findings);
          rule.check(*one, report);
        }
      } catch (const std::exception& error) {
        result.failed_rules.push_back(std::string(rule.id) + ": " + error.what());
        continue;
      }
      if (launch) tell_of_launch(*launch, findings);
      for (rules::Finding& finding : findings) {
        if (suppressions.covers(finding)) continue;
        std::stable_sort(finding.fixes.begin(), finding.fixes.end(), [](const auto& a, const auto& b) { return a.preferred > b.preferred; });
        result.findings.push_back(std::move(finding));
      }
    }
  };
  judge({&record, with_defaults}, nullptr);
  const auto kept = std::exchange(run->launched, {});
  const std::vector<Launch> launches = options.launches && !record.out_of_budget ? launches_to_run(options.launches()) : std::vector<Launch>();
  if (!launches.empty() && reads_its_launch(record, sources))
    for (const Launch& launch : launches) {
      const auto known = std::find_if(kept.begin(), kept.end(), [&](const auto& one) { return one->launch == launch; });
      std::shared_ptr<LaunchedRun>& one = run->launched.emplace_back(known == kept.end() ? nullptr : *known);
      as_launched(one, launch);
      Record& launched = one->run.record;
      if (launched.cancelled) {
        result.cancelled = true;
        return result;
      }
      has_read(launched);
      if (told.insert(launch.path).second) result.read.push_back(launch.path);
      judge({&launched}, &launch);
      launched.as_rank = [&run_rank, &launch = one->launch](const interpreter::OneRank& rank, const RankRuns::Only& only) -> std::shared_ptr<Record> {
        const auto own = std::make_shared<Run>();
        run_rank(*own, rank, only, &launch);
        return {own, &own->record};
      };
    }
  std::stable_sort(result.findings.begin(), result.findings.end(), [](const rules::Finding& a, const rules::Finding& b) {
    return std::tie(a.where.span.begin, a.where.span.end, a.rule) < std::tie(b.where.span.begin, b.where.span.end, b.rule);
  });
  // The same mistake reached on several ways is told once.
  const auto same = [](const rules::Finding& a, const rules::Finding& b) { return a.rule == b.rule && a.where == b.where; };
  result.findings.erase(std::unique(result.findings.begin(), result.findings.end(), same), result.findings.end());
  if (options.want_facts || options.want_schedule) {
    if (options.on_findings) options.on_findings(result);
    if (options.want_facts) {
      const Record* shown = run_to_show(*run, sources, path, limits, begin);
      collect_facts(shown ? *shown : record, result.facts);
      if (options.want_footprint && !record.out_of_budget)
        if (auto made = footprint::footprint_of(with_defaults ? *with_defaults : record, shown ? *shown : record); !made.models.empty()) result.footprint = std::make_shared<footprint::Footprint>(std::move(made));
      result.facts.shrink_to_fit();
      // Kept for the next edit where there was one before: most files that are opened are only read.
      if (!again) run->shown.reset();
      result.cancelled = options.cancelled && *options.cancelled;
    }
    if (options.want_schedule) {
      result.schedule = std::make_shared<Schedule>(schedule_of(record, options.world));
      for (std::size_t i = 0; options.want_launched && i < run->launched.size(); ++i) {
        const LaunchedRun& one = *run->launched[i];
        auto schedule = std::make_shared<Schedule>(schedule_of(one.run.record, ranks_of(one.launch, options.world)));
        schedule->launch = one.launch.name;
        result.launched.push_back(std::move(schedule));
      }
      // The ranks' own runs heed the flag, too: what they left is not the whole.
      result.cancelled = options.cancelled && *options.cancelled;
    }
  }
  ranks.reset();
  defaults.reset();
  if (options.memory) options.memory->keep(std::move(run));
  return result;
}

} // namespace stepzero::snapshot
