#include "snapshot/snapshot.hpp"

#include "interpreter/interpreter.hpp"
#include "rules/report.hpp"
#include "snapshot/memory.hpp"
#include "snapshot/schedule.hpp"
#include "snapshot/shown.hpp"
#include "snapshot/suppress.hpp"
#include "torch/table.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <unordered_set>

namespace stepzero::snapshot {

using interpreter::Record;

namespace {

bool named(const std::vector<std::string>& list, std::string_view rule) {
  return std::any_of(list.begin(), list.end(), [&](const std::string& name) { return name == rule || name == rule.substr(0, rule.find('/')); });
}

bool takes_hint(interpreter::Fact::Role role) {
  using enum interpreter::Fact::Role;
  return role == assignment || role == attribute || role == parameter;
}

void collect_facts(const Record& record, std::vector<Fact>& facts) {
  using Role = interpreter::Fact::Role;
  // A place that was reached more than once keeps what is the same each time; one that has more than these in turn keeps nothing.
  constexpr std::size_t most_seen = 64;
  struct Raw {
    syntax::Span span;
    const interpreter::Fact* fact;
  };
  std::vector<Raw> raw;
  raw.reserve(record.facts.size());
  for (const interpreter::Fact& fact : record.facts)
    if (record.in_file(fact.place)) raw.push_back({record.span(fact.place), &fact});
  std::stable_sort(raw.begin(), raw.end(), [](const Raw& a, const Raw& b) {
    return std::tie(a.span.begin, a.span.end) < std::tie(b.span.begin, b.span.end);
  });
  for (std::size_t i = 0; i < raw.size();) {
    std::size_t next = i;
    std::optional<Fact> made;
    std::vector<Seen> seen;
    const Raw* last = nullptr;
    for (; next < raw.size() && raw[next].span == raw[i].span; ++next) {
      const interpreter::Fact& fact = *raw[next].fact;
      const bool is_place = fact.role != Role::expression;
      if (!made) {
        made.emplace();
        made->span = raw[i].span;
      }
      made->is_place = made->is_place || is_place;
      made->is_assignment = made->is_assignment || takes_hint(fact.role);
      const std::size_t root = fact.root;
      const bool general = fact.general;
      if (last && last->fact->value == fact.value && last->fact->tensor == fact.tensor && last->fact->general == general && last->fact->root == root) continue;
      last = &raw[next];
      Shown shown = show(record, fact.value, fact.tensor);
      std::string text = shown.short_text() + " " + shown.device;
      const auto known = [&, in = root, is_general = general](const Seen& other) { return other.general == is_general && other.root == in && other.text == text; };
      if (std::any_of(seen.begin(), seen.end(), known)) continue;
      if (seen.size() == most_seen) {
        seen.clear();
        break;
      }
      const bool rooted = root > 0 && root <= record.roots.size();
      seen.push_back({std::move(shown), std::move(text), general, root, rooted ? record.roots[root - 1]->owner : nullptr});
      if (made->origins.empty() && fact.tensor)
        for (const values::Dim& dim : fact.tensor->shape.dims)
          if (dim.origin && dim.origin->place && dim.size)
            made->origins.push_back({{record.chunk(dim.origin->place).path, record.span(dim.origin->place)},
                                     record.symbols.text(dim.size) + ": " + std::string(dim.origin->what)});
    }
    while (next < raw.size() && raw[next].span == raw[i].span) ++next;
    if (auto value = agreed(std::move(seen))) {
      made->value = std::move(*value);
      if (made->value.kind != "tensor") made->origins.clear();
      if (made->is_place) made->name = std::string(record.text(raw[i].fact->place));
      facts.push_back(std::move(*made));
    }
    i = next;
  }
}

} // namespace

Result analyze(const program::Sources& sources, const std::string& path, const Options& options) {
  Result result;
  const auto module = sources.module(path);
  if (!module) return result;
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
  std::unique_ptr<Run> run = options.memory ? options.memory->take(sources, path, options.steps) : nullptr;
  if (run) {
    run->sources.ask(&sources);
    if (!run->interpreter->run_again(options.cancelled)) run.reset();
  }
  if (!run) begin(*(run = std::make_unique<Run>()), limits);
  Record& record = run->record;
  record.as_rank = [&](int rank, int world, const std::unordered_set<const syntax::Stmt*>& roots) {
    std::shared_ptr<Run>& one = run->ranks[{rank, world}];
    if (one && !one->sources.agrees(sources, path)) one.reset();
    if (one) {
      one->sources.ask(&sources);
      if (!one->interpreter->run_again(options.cancelled, &roots)) one.reset();
    }
    if (!one) {
      interpreter::Limits small = limits;
      small.steps = std::min<std::uint64_t>(limits.steps, 150'000);
      small.as_rank = interpreter::OneRank{rank, world};
      small.only = &roots;
      begin(*(one = std::make_shared<Run>()), small);
    }
    return std::shared_ptr<Record>(one, &one->record);
  };
  std::unordered_set<std::string_view> told;
  for (const std::string& read : record.read)
    if (told.insert(read).second) result.read.push_back(read);
  result.steps = record.steps;
  result.out_of_budget = record.out_of_budget;
  if (record.cancelled) {
    result.cancelled = true;
    return result;
  }
  const Suppressions suppressions(*module);
  for (const rules::Rule& rule : rules::rules()) {
    if (named(options.ignore, rule.id) || (!options.select.empty() && !named(options.select, rule.id))) continue;
    std::vector<rules::Finding> findings;
    rules::Report report(record, rule, findings);
    try {
      rule.check(record, report);
    } catch (const std::exception& error) {
      result.failed_rules.push_back(std::string(rule.id) + ": " + error.what());
      continue;
    }
    for (rules::Finding& finding : findings) {
      if (suppressions.covers(finding)) continue;
      std::stable_sort(finding.fixes.begin(), finding.fixes.end(), [](const auto& a, const auto& b) { return a.preferred > b.preferred; });
      result.findings.push_back(std::move(finding));
    }
  }
  std::stable_sort(result.findings.begin(), result.findings.end(), [](const rules::Finding& a, const rules::Finding& b) {
    return std::tie(a.where.span.begin, a.where.span.end, a.rule) < std::tie(b.where.span.begin, b.where.span.end, b.rule);
  });
  // The same mistake reached on several ways is told once.
  const auto same = [](const rules::Finding& a, const rules::Finding& b) { return a.rule == b.rule && a.where == b.where; };
  result.findings.erase(std::unique(result.findings.begin(), result.findings.end(), same), result.findings.end());
  if (options.want_facts || options.want_schedule) {
    if (options.on_findings) options.on_findings(result);
    if (options.want_facts) collect_facts(record, result.facts);
    if (options.want_schedule) {
      result.schedule = std::make_shared<Schedule>(schedule_of(record, options.world));
      // The ranks' own runs heed the flag, too: what they left is not the whole.
      result.cancelled = options.cancelled && *options.cancelled;
    }
  }
  if (options.memory) options.memory->keep(std::move(run));
  return result;
}

} // namespace stepzero::snapshot
