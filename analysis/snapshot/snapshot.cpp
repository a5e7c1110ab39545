#include "snapshot/snapshot.hpp"

#include "interpreter/interpreter.hpp"
#include "rules/deadlock/match.hpp"
#include "rules/report.hpp"
#include "snapshot/default_run.hpp"
#include "snapshot/described.hpp"
#include "snapshot/memory.hpp"
#include "snapshot/rank_runs.hpp"
#include "snapshot/schedule.hpp"
#include "snapshot/shown.hpp"
#include "snapshot/suppress.hpp"
#include "torch/table.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
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

bool takes_hint(interpreter::Fact::Role role) {
  using enum interpreter::Fact::Role;
  return role == assignment || role == attribute || role == parameter;
}

// Where the dimensions of shapes came from, told once for each.
class Origins {
public:
  explicit Origins(const Record& record) : record_(record) {}

  std::shared_ptr<const std::vector<rules::Related>> of(const values::Shape& shape) {
    std::vector<std::pair<const values::Origin*, symbolic::Int>> key;
    for (const values::Dim& dim : shape.dims)
      if (dim.origin && dim.origin->place && dim.size) key.push_back({dim.origin, dim.size});
    if (key.empty()) return nullptr;
    auto& told = told_[key];
    if (!told) {
      auto made = std::make_shared<std::vector<rules::Related>>();
      for (const auto& [origin, size] : key)
        made->push_back({{record_.chunk(origin->place).path, record_.span(origin->place)}, record_.symbols.text(size) + ": " + std::string(origin->what)});
      told = std::move(made);
    }
    return told;
  }

private:
  const Record& record_;
  std::map<std::vector<std::pair<const values::Origin*, symbolic::Int>>, std::shared_ptr<const std::vector<rules::Related>>> told_;
};

void collect_facts(const Record& record, std::vector<Fact>& facts) {
  Origins origins(record);
  using Role = interpreter::Fact::Role;
  // A place that was reached more than once keeps what is the same each time; one that has more than these in turn keeps nothing.
  constexpr std::size_t most_seen = 64;
  // What the program itself calls is run on symbols, too, where it is to be shown: that only gives names, and what no call of it shows.
  constexpr std::size_t program = 1;
  std::unordered_set<const syntax::FunctionStmt*> called;
  std::unordered_set<const syntax::ClassStmt*> constructed;
  for (const interpreter::Fact& fact : record.facts) {
    if (fact.root != program || !fact.function || !fact.function->stmt) continue;
    called.insert(fact.function->stmt);
    if (fact.function->owner && fact.function->name.text() == "__init__") constructed.insert(fact.function->owner->stmt);
  }
  const auto extra = [&](std::size_t root) {
    if (root <= program || root > record.roots.size()) return false;
    const interpreter::Root& run = *record.roots[root - 1];
    if (run.function) return called.contains(run.function->stmt);
    return run.owner && constructed.contains(run.owner->stmt);
  };
  std::vector<bool> is_extra(record.roots.size() + 1);
  for (std::size_t root = 0; root < is_extra.size(); ++root) is_extra[root] = extra(root);
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
      if (!made->origins && fact.tensor) made->origins = origins.of(fact.tensor->shape);
    }
    while (next < raw.size() && raw[next].span == raw[i].span) ++next;
    const auto only_names = [&](const Seen& each) { return each.root < is_extra.size() && is_extra[each.root]; };
    if (!std::all_of(seen.begin(), seen.end(), only_names))
      std::erase_if(seen, [&](const Seen& each) { return only_names(each) && !each.general; });
    if (auto value = agreed(std::move(seen))) {
      made->value = std::move(*value);
      if (made->value.kind != "tensor") made->origins.reset();
      if (made->is_place) made->name = std::string(record.text(raw[i].fact->place));
      facts.push_back(std::move(*made));
    }
    i = next;
  }
}

constexpr int most_runs_to_show = 3;

using Functions = std::unordered_set<const syntax::FunctionStmt*>;

const DescribedShape* said_of(const std::map<std::string, DescribedShape, std::less<>>& shapes, std::string_view key) {
  const auto found = shapes.find(key.substr(key.rfind(' ') + 1));
  return found == shapes.end() ? nullptr : &found->second;
}

// What the parameters of the file's functions were found to be, where they did not begin with it: by the functions themselves, or by all
// of their calls.
//
// Where neither tells how many dimensions there are, the function's words do, unless it is `mistaken`.
interpreter::AllGiven given_by(const Record& record, std::uintptr_t offset, const Functions& mistaken) {
  struct Found {
    const interpreter::Fact* own = nullptr;
    std::size_t rank = 0;
    bool called = false, agree = true, tensor = false;
    const syntax::FunctionStmt* function = nullptr;
  };
  // What may be None is asked about what it is where it is not.
  const auto there = [](values::Value value) {
    while (value.is(values::Kind::choice)) {
      const auto* either = value.as<values::Choice>();
      value = either->yes.is(values::Kind::none) ? either->no : either->yes;
    }
    return value;
  };
  const std::function<bool(values::Value)> may_be_tensor = [&](values::Value value) {
    if (value.is(values::Kind::choice)) return may_be_tensor(value.as<values::Choice>()->yes) || may_be_tensor(value.as<values::Choice>()->no);
    return value.is(values::Kind::tensor) || (value.is(values::Kind::unknown) && value.as<values::Unknown>()->state.value);
  };
  std::map<std::string, Found, std::less<>> found;
  std::unordered_map<const syntax::FunctionStmt*, std::map<std::string, DescribedShape, std::less<>>> described;
  for (const interpreter::Fact& fact : record.facts) {
    if (fact.role != interpreter::Fact::Role::parameter || !fact.function || !record.in_file(fact.place)) continue;
    Found& each = found[std::string(fact.function->qualified) + " " + std::string(record.text(fact.place))];
    if (const auto* stmt = fact.function->stmt; stmt && fact.function->name.text() != "__init__") {
      each.function = stmt;
      const interpreter::ChunkOf& chunk = record.chunks[fact.function->chunk];
      if (!mistaken.contains(stmt) && !described.contains(stmt)) described[stmt] = described_parameters(*stmt, chunk.module->text->bytes(), chunk.offset);
    }
    if (fact.general) {
      each.own = &fact;
      continue;
    }
    const bool known = fact.tensor && fact.value.is(values::Kind::tensor) && fact.value.as<values::Tensor>()->now()->shape.rank_known;
    const std::size_t rank = known ? fact.value.as<values::Tensor>()->now()->shape.dims.size() : 0;
    each.tensor = each.tensor || may_be_tensor(fact.value);
    each.agree = each.agree && known && (!each.called || each.rank == rank);
    each.called = true;
    each.rank = rank;
  }
  interpreter::AllGiven given;
  std::unordered_map<symbolic::Int, std::uintptr_t> numbers;  // of the sizes, in order: the same whenever it is run
  std::map<std::pair<const syntax::FunctionStmt*, std::string>, std::uintptr_t> said;
  for (const auto& [key, each] : found) {
    interpreter::Given one;
    const values::Shape* own = nullptr;
    bool as_given = true;  // nothing was done to it in place
    if (each.own) {
      values::Value value = there(each.own->value);
      if (value.is(values::Kind::unknown)) {
        const auto* unknown = value.as<values::Unknown>();
        // What a round of a loop taught is not so on every way; here it only gives names.
        const values::Value state = unknown->state.value;
        const bool known = state.is(values::Kind::tensor) && state.as<values::Tensor>()->now()->shape.rank_known;
        value = known ? state : unknown->attributes.value(syntax::Name("$learned"));
        if (!value) value = state;
      }
      if (value.is(values::Kind::tensor)) {
        own = &value.as<values::Tensor>()->now()->shape;
        as_given = !value.as<values::Tensor>()->now()->made;
      }
    }
    const auto learned = [&] {
      for (const values::Dim& dim : own->dims) {
        auto& size = one.sizes.emplace_back();
        if (!dim.size) continue;
        size.number = record.symbols.value(dim.size);
        if (size.number) continue;
        // What the function itself has a name for; the rest it learns from what it was made with.
        const symbolic::AtomInfo* atom = record.symbols.atom_info(dim.size);
        size.later = !atom || atom->lower != 0 || atom->name.empty();
        if (size.later) continue;
        size.name = atom->name;
        size.same = reinterpret_cast<const void*>(numbers.try_emplace(dim.size, offset + numbers.size() + 1).first->second);
      }
    };
    const auto words = described.find(each.function);
    const auto shape = words == described.end() ? nullptr : said_of(words->second, key);
    if (own && own->rank_known) {
      learned();
    } else if (each.called && each.agree) {
      one.sizes.resize(each.rank);
    } else if (!shape) {
      if (!own && !each.tensor) continue;
      one.open = true;
      if (own && as_given && (!each.called || !each.agree)) learned();
    } else {
      for (const DescribedSize& size : *shape) {
        one.sizes.push_back({size.number, size.name, nullptr, !size.number && size.name.empty(), true});
        if (!size.name.empty()) one.sizes.back().same = reinterpret_cast<const void*>(said.try_emplace({each.function, size.name}, offset + 50'000 + said.size()).first->second);
      }
    }
    given.emplace(key, std::move(one));
  }
  return given;
}

bool same_given(const interpreter::AllGiven& a, const interpreter::AllGiven& b) {
  const auto same_sizes = [](const interpreter::Given::Size& x, const interpreter::Given::Size& y) { return x == y && x.same == y.same; };
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [&](const auto& x, const auto& y) {
           return x.first == y.first && x.second.open == y.second.open && x.second.sizes.size() == y.second.sizes.size() &&
                  std::equal(x.second.sizes.begin(), x.second.sizes.end(), y.second.sizes.begin(), same_sizes);
         });
}

// The functions that were given what their words say, and in which something fails that did not fail before.
Functions refuted(const Record& before, const Record& shown, const interpreter::AllGiven& given) {
  Functions wrong;
  const auto by_words = [&](const values::Function& function) {
    return function.stmt && std::ranges::any_of(function.parameters->list, [&](const syntax::Parameter& parameter) {
             const auto found = given.find(std::string(function.qualified) + " " + std::string(parameter.name.text()));
             return found != given.end() && std::ranges::any_of(found->second.sizes, &interpreter::Given::Size::only_said);
           });
  };
  std::set<std::pair<std::uint32_t, std::uint32_t>> known;
  const auto each_problem = [](const Record& record, const auto& look) {
    for (const auto& event : record.events)
      if (event->kind == interpreter::EventKind::problem) look(static_cast<const interpreter::ProblemEvent&>(*event));
  };
  each_problem(before, [&](const interpreter::ProblemEvent& problem) { known.emplace(before.span(problem.place).begin, before.span(problem.place).end); });
  each_problem(shown, [&](const interpreter::ProblemEvent& problem) {
    if (problem.guarded || known.contains({shown.span(problem.place).begin, shown.span(problem.place).end})) return;
    for (const interpreter::CallSite* site = problem.calls; site; site = site->outer)
      if (site->function && by_words(*site->function)) wrong.insert(site->function->stmt);
  });
  return wrong;
}

// The record of the run that is shown; null: the file's own. It begins with what the run before it found of parameters, and may tell more
// of others: a few runs at most follow each other. Each goes on behind an edit that leaves what it began with.
const Record* run_to_show(Run& run, const program::Sources& sources, const std::string& path, const interpreter::Limits& limits,
                          const std::function<void(Run&, const interpreter::Limits&)>& begin, int left, const Functions& mistaken = {}) {
  interpreter::AllGiven given = given_by(run.record, static_cast<std::uintptr_t>(left) * 100'000, mistaken);
  if (run.given) {
    const bool more = std::any_of(given.begin(), given.end(), [&](const auto& one) {
      const auto before = run.given->find(one.first);
      return !one.second.open && (before == run.given->end() || before->second.open);
    });
    if (!more || left == 0) {
      run.shown.reset();
      return &run.record;
    }
    for (const auto& [key, sizes] : *run.given)
      if (!sizes.open || !given.contains(key)) given[key] = sizes;
  }
  std::shared_ptr<Run>& shown = run.shown;
  if (shown && (!same_given(*shown->given, given) || !shown->sources.agrees(sources, path))) shown.reset();
  if (shown) {
    shown->sources.ask(&sources);
    if (!shown->interpreter->run_again(limits.cancelled)) shown.reset();
  }
  if (!shown) {
    shown = std::make_shared<Run>();
    shown->given = std::make_unique<interpreter::AllGiven>(std::move(given));
    interpreter::Limits to_show = limits;
    to_show.given = shown->given.get();
    begin(*shown, to_show);
  }
  // What fails only as the words have it is not as they say.
  if (mistaken.empty())
    if (const Functions wrong = refuted(run.record, shown->record, *shown->given); !wrong.empty()) return run_to_show(run, sources, path, limits, begin, left, wrong);
  const bool whole = (!shown->record.out_of_budget || run.record.out_of_budget) && !shown->record.cancelled;
  if (!whole) return run.given ? &run.record : nullptr;
  return run_to_show(*shown, sources, path, limits, begin, left - 1, mistaken);
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
  const auto run_rank = [&](Run& one, interpreter::OneRank rank, const RankRuns::Only& only) {
    interpreter::Limits small = limits;
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
  const bool again = run != nullptr;
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
  std::unordered_set<std::string_view> told;
  for (const Record* const one : {static_cast<const Record*>(&record), with_defaults})
    if (one)
      for (const std::string& read : one->read)
        if (told.insert(read).second) result.read.push_back(read);
  const Suppressions suppressions(*module);
  for (const rules::Rule& rule : rules::rules()) {
    if (named(options.ignore, rule.id) || (!options.select.empty() && !named(options.select, rule.id))) continue;
    std::vector<rules::Finding> findings;
    try {
      for (const Record* const one : {static_cast<const Record*>(&record), with_defaults}) {
        if (!one) continue;
        rules::Report report(*one, rule, findings);
        rule.check(*one, report);
      }
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
    if (options.want_facts) {
      const Record* shown = run_to_show(*run, sources, path, limits, begin, most_runs_to_show);
      collect_facts(shown ? *shown : record, result.facts);
      result.facts.shrink_to_fit();
      // Kept for the next edit where there was one before: most files that are opened are only read.
      if (!again) run->shown.reset();
      result.cancelled = options.cancelled && *options.cancelled;
    }
    if (options.want_schedule) {
      result.schedule = std::make_shared<Schedule>(schedule_of(record, options.world));
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
