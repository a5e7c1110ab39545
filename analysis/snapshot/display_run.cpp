#include "snapshot/display_run.hpp"

#include "snapshot/docstring_shapes.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace stepzero::snapshot {

using interpreter::Record;

namespace {

constexpr int most_runs_to_show = 3;  // each learns shapes from the one before

using FunctionSet = std::unordered_set<const syntax::Stmt*>;

const DocumentedShape* said_of(
    const std::map<std::string, DocumentedShape, std::less<>>& shapes, std::string_view key) {
  const auto found = shapes.find(key.substr(key.rfind(' ') + 1));
  return found == shapes.end() ? nullptr : &found->second;
}

// A parameter of one of the file's functions, as the facts have it.
struct FoundParameter {
  const interpreter::Fact* own = nullptr;  // where the function begins on its own
  std::size_t rank = 0;                    // of what the calls give, where they agree
  bool called = false, agree = true, tensor = false;
  const syntax::FunctionStmt* function = nullptr;
};
// By the names of function and parameter.
using FoundParameters = std::map<std::string, FoundParameter, std::less<>>;
// What the words of functions say of their parameters.
using DocumentedFunctions =
    std::unordered_map<const syntax::FunctionStmt*, std::map<std::string, DocumentedShape, std::less<>>>;

bool may_be_tensor(values::Value value) {
  if (value.is(values::Kind::choice))
    return may_be_tensor(value.as<values::Choice>()->yes) || may_be_tensor(value.as<values::Choice>()->no);
  return value.is(values::Kind::tensor) ||
      (value.is(values::Kind::unknown) && value.as<values::Unknown>()->state.value);
}

// Functions that are `mistaken` in their words are not described.
FoundParameters found_parameters(
    const Record& record, const FunctionSet& mistaken, DocumentedFunctions& documented) {
  FoundParameters found;
  for (const interpreter::Fact& fact : record.facts) {
    if (fact.role != interpreter::Fact::Role::parameter || !fact.function || !record.in_file(fact.place))
      continue;
    FoundParameter& each =
        found[std::string(fact.function->qualified) + " " + std::string(record.text(fact.place))];
    if (const auto* stmt = fact.function->stmt; stmt && fact.function->name.text() != "__init__") {
      each.function = stmt;
      const interpreter::ChunkOf& chunk = record.chunks[fact.function->chunk];
      if (!mistaken.contains(record.as_written(stmt)) && !documented.contains(stmt))
        documented[stmt] = documented_parameters(*stmt, chunk.module->text->bytes(),
            chunk.absolute(stmt->name_span).begin - stmt->name_span.begin);
    }
    if (fact.general) {
      each.own = &fact;
      continue;
    }
    const bool known = fact.tensor && fact.value.is(values::Kind::tensor) &&
        fact.value.as<values::Tensor>()->now()->shape.ndim_known;
    const std::size_t rank = known ? fact.value.as<values::Tensor>()->now()->shape.dims.size() : 0;
    each.tensor = each.tensor || may_be_tensor(fact.value);
    each.agree = each.agree && known && (!each.called || each.rank == rank);
    each.called = true;
    each.rank = rank;
  }
  return found;
}

// What the parameters of the file's functions were found to be, where they did not begin with it: by the
// functions themselves, or by all of their calls.
//
// Where neither tells how many dimensions there are, the function's words do, unless it is `mistaken`.
interpreter::AllGiven given_by(const Record& record, std::uintptr_t offset, const FunctionSet& mistaken) {
  // What may be None is asked about what it is where it is not.
  const auto there = [](values::Value value) {
    while (value.is(values::Kind::choice)) {
      const auto* either = value.as<values::Choice>();
      value = either->yes.is(values::Kind::none) ? either->no : either->yes;
    }
    return value;
  };
  DocumentedFunctions documented;
  const FoundParameters found = found_parameters(record, mistaken, documented);
  interpreter::AllGiven given;
  std::unordered_map<symbolic::Int, std::uintptr_t>
      numbers;  // of the sizes, in order: the same whenever it is run
  std::map<std::pair<const syntax::FunctionStmt*, std::string>, std::uintptr_t> said;
  for (const auto& [key, each] : found) {
    interpreter::Given one;
    const values::Shape* own = nullptr;
    bool as_given = true;  // nothing was done to it in place
    if (each.own) {
      values::Value value = there(each.own->value);
      if (value.is(values::Kind::unknown)) {
        const auto* unknown = value.as<values::Unknown>();
        // What an iteration of a loop taught is not so on every way; here it only gives names.
        const values::Value state = unknown->state.value;
        const bool known = state.is(values::Kind::tensor) &&
            state.as<values::Tensor>()->now()->shape.ndim_known;
        value = known ? state : unknown->attributes.value(syntax::Name(values::UnknownState::learned));
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
        size.same = reinterpret_cast<const void*>(
            numbers.try_emplace(dim.size, offset + numbers.size() + 1).first->second);
      }
    };
    const auto words = documented.find(each.function);
    const auto shape = words == documented.end() ? nullptr : said_of(words->second, key);
    if (own && own->ndim_known) {
      learned();
    } else if (each.called && each.agree) {
      one.sizes.resize(each.rank);
    } else if (!shape) {
      if (!own && !each.tensor) continue;
      one.open = true;
      if (own && as_given && (!each.called || !each.agree)) learned();
    } else {
      for (const DocumentedSize& size : *shape) {
        one.sizes.push_back({size.number, size.name, nullptr, !size.number && size.name.empty(), true});
        if (!size.name.empty())
          one.sizes.back().same = reinterpret_cast<const void*>(
              said.try_emplace({each.function, size.name}, offset + 50'000 + said.size()).first->second);
      }
    }
    given.emplace(key, std::move(one));
  }
  return given;
}

bool same_given(const interpreter::AllGiven& a, const interpreter::AllGiven& b) {
  const auto same_sizes = [](const interpreter::Given::Size& x, const interpreter::Given::Size& y) {
    return x == y && x.same == y.same;
  };
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [&](const auto& x, const auto& y) {
    return x.first == y.first && x.second.open == y.second.open &&
        x.second.sizes.size() == y.second.sizes.size() &&
        std::equal(x.second.sizes.begin(), x.second.sizes.end(), y.second.sizes.begin(), same_sizes);
  });
}

// The functions that were given what their words say, and in which something fails that did not fail before.
FunctionSet refuted(const Record& before, const Record& displayed, const interpreter::AllGiven& given) {
  FunctionSet wrong;
  const auto by_words = [&](const values::Function& function) {
    return function.stmt &&
        std::ranges::any_of(function.parameters->list, [&](const syntax::Parameter& parameter) {
          const auto found = given.find(
              std::string(function.qualified) + " " + std::string(parameter.name.text()));
          return found != given.end() &&
              std::ranges::any_of(found->second.sizes, &interpreter::Given::Size::only_said);
        });
  };
  std::set<std::pair<std::uint32_t, std::uint32_t>> known;
  const auto each_problem = [](const Record& record, const auto& look) {
    for (const auto& event : record.events)
      if (event->kind == interpreter::EventKind::problem)
        look(static_cast<const interpreter::ProblemEvent&>(*event));
  };
  each_problem(before, [&](const interpreter::ProblemEvent& problem) {
    known.emplace(before.span(problem.place).begin, before.span(problem.place).end);
  });
  each_problem(displayed, [&](const interpreter::ProblemEvent& problem) {
    if (problem.guarded ||
        known.contains({displayed.span(problem.place).begin, displayed.span(problem.place).end}))
      return;
    for (const interpreter::CallSite* site = problem.calls; site; site = site->outer)
      if (site->function && by_words(*site->function))
        wrong.insert(displayed.as_written(site->function->stmt));
  });
  return wrong;
}

void forget_displayed(Run& run) {
  run.displayed.reset();
  run.without_words.reset();
}

const Record* run_to_show(Run& run, const program::Sources& sources, const std::string& path,
    const interpreter::Limits& limits, const std::function<void(Run&, const interpreter::Limits&)>& begin,
    int left, const FunctionSet& mistaken) {
  interpreter::AllGiven given = given_by(run.record, static_cast<std::uintptr_t>(left) * 100'000, mistaken);
  if (run.given) {
    const bool more = std::any_of(given.begin(), given.end(), [&](const auto& one) {
      const auto before = run.given->find(one.first);
      return !one.second.open && (before == run.given->end() || before->second.open);
    });
    if (!more || left == 0) {
      forget_displayed(run);
      return &run.record;
    }
    for (const auto& [key, sizes] : *run.given)
      if (!sizes.open || !given.contains(key)) given[key] = sizes;
  }
  std::shared_ptr<Run>& displayed = mistaken.empty() ? run.displayed : run.without_words;
  if (displayed && (!same_given(*displayed->given, given) || !displayed->sources.agrees(sources, path)))
    displayed.reset();
  if (displayed) {
    displayed->sources.ask(&sources);
    if (!displayed->interpreter->run_again(limits.cancelled)) displayed.reset();
  }
  if (!displayed) {
    displayed = std::make_shared<Run>();
    displayed->given = std::make_unique<interpreter::AllGiven>(std::move(given));
    interpreter::Limits to_show = limits;
    to_show.given = displayed->given.get();
    begin(*displayed, to_show);
  }
  // What fails only as the words have it is not as they say.
  if (mistaken.empty()) {
    if (const FunctionSet wrong = refuted(run.record, displayed->record, *displayed->given); !wrong.empty()) {
      forget_displayed(*displayed);
      return run_to_show(run, sources, path, limits, begin, left, wrong);
    }
    run.without_words.reset();
  }
  const bool whole = (!displayed->record.out_of_budget || run.record.out_of_budget) &&
      !displayed->record.cancelled;
  if (!whole) return run.given ? &run.record : nullptr;
  return run_to_show(*displayed, sources, path, limits, begin, left - 1, mistaken);
}

}  // namespace

const Record* run_to_show(Run& run, const program::Sources& sources, const std::string& path,
    const interpreter::Limits& limits, const std::function<void(Run&, const interpreter::Limits&)>& begin) {
  return run_to_show(run, sources, path, limits, begin, most_runs_to_show, {});
}

}  // namespace stepzero::snapshot
