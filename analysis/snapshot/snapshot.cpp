#include "snapshot/snapshot.hpp"

#include "interpreter/interpreter.hpp"
#include "rules/report.hpp"
#include "snapshot/shown.hpp"
#include "snapshot/suppress.hpp"
#include "torch/table.hpp"

#include <algorithm>
#include <tuple>

namespace stepzero::snapshot {

using interpreter::Record;

namespace {

bool named(const std::vector<std::string>& list, std::string_view rule) {
  return std::any_of(list.begin(), list.end(), [&](const std::string& name) { return name == rule || name == rule.substr(0, rule.find('/')); });
}

void collect_facts(const Record& record, Result& result) {
  using Role = interpreter::Fact::Role;
  std::vector<Fact> facts;
  for (const interpreter::Fact& fact : record.facts) {
    if (!record.in_file(fact.place)) continue;
    Fact made;
    made.value = show(record, fact.value, fact.tensor);
    if (made.value.kind.empty()) continue;
    made.span = record.span(fact.place);
    made.is_place = fact.role != Role::expression;
    made.is_assignment = fact.role == Role::assignment || fact.role == Role::attribute;
    if (made.is_place) made.name = std::string(record.text(fact.place));
    if (made.value.kind == "tensor" && fact.tensor)
      for (const values::Dim& dim : fact.tensor->shape.dims)
        if (dim.origin && dim.origin->place && dim.size)
          made.origins.push_back({{record.chunk(dim.origin->place).path, record.span(dim.origin->place)},
                                  record.symbols.text(dim.size) + ": " + std::string(dim.origin->what)});
    facts.push_back(std::move(made));
  }
  // A place that was reached more than once keeps what is the same each time.
  std::stable_sort(facts.begin(), facts.end(), [](const Fact& a, const Fact& b) {
    return std::tie(a.span.begin, a.span.end, b.is_place) < std::tie(b.span.begin, b.span.end, a.is_place);
  });
  for (std::size_t i = 0; i < facts.size();) {
    std::size_t next = i + 1;
    bool same = true;
    while (next < facts.size() && facts[next].span == facts[i].span) {
      same = same && facts[next].value.short_text() == facts[i].value.short_text();
      ++next;
    }
    if (same) {
      for (std::size_t k = i + 1; k < next; ++k) facts[i].is_place = facts[i].is_place || facts[k].is_place;
      result.facts.push_back(std::move(facts[i]));
    } else if (facts[i].value.kind == "tensor") {
      // Dimensions that differ are left open.
      Fact merged = facts[i];
      bool tensors = true;
      for (std::size_t k = i + 1; k < next; ++k) {
        const Shown& other = facts[k].value;
        tensors = tensors && other.kind == "tensor";
        if (!tensors) break;
        if (merged.value.dtype != other.dtype) merged.value.dtype.clear();
        if (merged.value.device != other.device) merged.value.device.clear();
        if (!merged.value.shape || !other.shape || merged.value.shape->size() != other.shape->size()) merged.value.shape.reset();
        else
          for (std::size_t d = 0; d < merged.value.shape->size(); ++d) {
            auto& dim = (*merged.value.shape)[d];
            const auto& theirs = (*other.shape)[d];
            if (dim.is_int != theirs.is_int || dim.value != theirs.value || dim.text != theirs.text) dim = {false, 0, "?"};
          }
      }
      if (tensors) result.facts.push_back(std::move(merged));
    }
    i = next;
  }
}

} // namespace

Result analyze(const program::Sources& sources, const std::string& path, const Options& options) {
  Result result;
  const auto module = sources.module(path);
  if (!module) return result;
  Record record;
  interpreter::Limits limits;
  limits.steps = options.steps;
  limits.cancelled = options.cancelled;
  {
    interpreter::Interpreter run(sources, torch::table(), limits, record);
    run.run_file(path);
  }
  result.read = record.read;
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
  if (options.want_facts) collect_facts(record, result);
  return result;
}

} // namespace stepzero::snapshot
