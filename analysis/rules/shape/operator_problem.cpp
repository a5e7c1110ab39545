// Operators' own words become findings.
#include "rules/shape/operator_problem.hpp"

#include "libraries/table/class_roles.hpp"
#include "rules/condition_text.hpp"
#include "rules/run_conditions.hpp"
#include "rules/sentences.hpp"
#include "rules/shape/blocks.hpp"
#include "rules/shape/refusal_text.hpp"
#include "rules/shape/same_failures.hpp"
#include "rules/shape/shape_text.hpp"
#include "rules/source.hpp"
#include "rules/specialized.hpp"
#include "values/devices.hpp"
#include "values/limits.hpp"

#include <algorithm>
#include <functional>

namespace stepzero::rules {

namespace {

using interpreter::AttemptEvent;
using interpreter::Block;
using interpreter::BranchEvent;
using interpreter::CallEvent;
using interpreter::EventKind;
using interpreter::ExitEvent;
using interpreter::ExitKind;
using interpreter::LoopEvent;

bool raises(const Block& block) {
  return std::any_of(block.events.begin(), block.events.end(), [](const Event* event) {
    return event->kind == EventKind::exit && static_cast<const ExitEvent*>(event)->exit == ExitKind::raise;
  });
}
// Does a way through it lead out of its function or loop, other than by an exception?
bool leaves(const Block& block) {
  return std::any_of(block.events.begin(), block.events.end(), [](const Event* event) {
    if (event->kind == EventKind::exit) return static_cast<const ExitEvent*>(event)->exit != ExitKind::raise;
    if (event->kind == EventKind::call) return false;
    const auto inner = blocks_of(*event);
    return std::any_of(inner.begin(), inner.end(), [](const Block* each) { return leaves(*each); });
  });
}

// A question about what is not known, asked again of each value that comes by, may be what keeps from here
// those that fail: where it was asked of another one, in another iteration or call, the same place did not
// fail.
bool others_pass(const Record& record, const ProblemEvent& problem, const interpreter::Root& root) {
  const std::vector<Descent> path = path_to(root.block, problem);
  const auto differs = [](const interpreter::CallSite* a, const interpreter::CallSite* b) {
    while (a && b && a->place == b->place) {
      a = a->outer;
      b = b->outer;
    }
    return a && b;
  };
  bool unrolled = false;
  const bool partial = RunConditions::of(record).partial;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    const Event& event = *path[i].block->events[path[i].index];
    if (event.kind == EventKind::loop) unrolled = unrolled || static_cast<const LoopEvent&>(event).unrolled;
    if (event.kind != EventKind::branch) continue;
    const auto& branch = static_cast<const BranchEvent&>(event);
    const bool on_yes = path[i + 1].block == &branch.yes;
    if (!record.unseen.contains(branch.condition)) continue;
    if (partial) return true;  // roots that have not been run yet may ask it
    for (const auto& each : record.events) {
      if (each->kind != EventKind::branch || each.get() == &event) continue;
      const auto& other = static_cast<const BranchEvent&>(*each);
      if (!(other.place == branch.place) || other.condition == branch.condition ||
          !record.unseen.contains(other.condition))
        continue;
      if (!unrolled && !differs(other.calls, branch.calls)) continue;
      if (!fails_at(on_yes ? other.yes : other.no, problem.place)) return true;
    }
  }
  return false;
}

// Does it hold only where a number of the program is 0? `hop or size // 4` asks for it, and nobody means it.
bool of_zero(const symbolic::Context& symbols, symbolic::Cond condition) {
  if (symbols.form(condition) == symbolic::Context::Form::conjunction) {
    for (const symbolic::Cond part : symbols.operands(condition))
      if (of_zero(symbols, part)) return true;
    return false;
  }
  const auto compared = symbols.comparison(condition);
  return compared && compared->op == symbolic::Compare::eq &&
      (symbols.value(compared->left) == 0 || symbols.value(compared->right) == 0);
}

// Does it tell the reader when? Not by "a tensor", the truth of numbers that nobody knows, nor by a question
// of which only its kind is known, and nobody follows a page of decisions: such a way may be none that a run
// takes.
bool tells_when(const symbolic::Context& symbols, symbolic::Cond condition) {
  constexpr std::size_t most_parts = 6;  // conditions that one message names
  if (!symbols.is_named(condition)) return false;
  bool named = true;
  std::size_t parts = 0;
  const std::function<void(symbolic::Cond)> walk = [&](symbolic::Cond each) {
    const auto operands = symbols.operands(each);
    if (!operands.empty()) {
      for (const symbolic::Cond part : operands) walk(part);
      return;
    }
    if (++parts > most_parts) return;
    if (symbols.form(each) != symbolic::Context::Form::opaque) return;
    const std::string name = symbols.text(each);
    const bool of_something = !name.ends_with("()") ||
        name.find('.') != std::string::npos;  // "all()": of what?
    named = named && of_something && !name.starts_with("a ") && !name.starts_with("an ") &&
        name != "isinstance" && name != "issubclass" && name != "hasattr";
  };
  walk(condition);
  return named && parts <= most_parts;
}

// Does it rest on what a number comes to that no default decides? Where all that a program offers has its
// default, that is no choice of anybody's: it is only not known. (Of a function its caller gives sizes.)
static bool asks_open_size(const symbolic::Context& symbols, symbolic::Cond condition) {
  if (symbols.form(condition) == symbolic::Context::Form::compare) {
    bool open = true;
    symbols.parts(
        condition,
        [&](values::Int atom) {
          const symbolic::AtomInfo* info = symbols.atom_info(atom);
          open = open && info && !info->usual && info->role == symbolic::Role::none;
        },
        [&](symbolic::Cond) { open = false; });
    return open;
  }
  return std::ranges::any_of(
      symbols.operands(condition), [&](symbolic::Cond part) { return asks_open_size(symbols, part); });
}

// A problem in another file is told of the call in this one that leads to it: does the call come to it by all
// its ways that end well? A condition that the call does not decide may lead past it. Choices that the
// program names are told with the problem.
struct Passing {
  bool may = false;               // nobody could say when the call comes to it
  symbolic::Cond when = nullptr;  // it does when this holds; null: always
};
Passing passing(const Record& record, const ProblemEvent& problem, const interpreter::Root& root) {
  if (record.in_file(problem.place)) return {};
  const std::vector<Descent> path = path_to(root.block, problem);
  std::size_t from = 0;
  for (std::size_t i = 0; i < path.size(); ++i)
    if (const Event& event = *path[i].block->events[path[i].index];
        event.kind == EventKind::call && record.in_file(event.place))
      from = i + 1;
  Passing found;
  if (from == 0) return found;
  bool in_loop = false;  // of the callee: it is left there after some iterations
  for (std::size_t i = from; i < path.size(); ++i) {
    const auto& events = path[i].block->events;
    for (std::size_t before = 0; before < path[i].index; ++before)
      if (events[before]->kind == EventKind::branch)
        if (const auto& branch = static_cast<const BranchEvent&>(*events[before]);
            leaves(branch.yes) || leaves(branch.no)) {
          if (!in_loop || record.unseen.contains(branch.condition)) return {.may = true};
        }
    const Event& event = *events[path[i].index];
    in_loop = in_loop || event.kind == EventKind::loop;
    if (event.kind != EventKind::branch || i + 1 == path.size()) continue;
    const auto& branch = static_cast<const BranchEvent&>(event);
    const bool on_yes = path[i + 1].block == &branch.yes;
    const Block& other = on_yes ? branch.no : branch.yes;
    if (raises(other) || fails_at(other, problem.place)) continue;
    if (!branch.condition || record.unseen.contains(branch.condition) ||
        record.symbols.sharing(branch.condition) != symbolic::Sharing::uniform)
      return {.may = true};
    const symbolic::Cond side = on_yes ? branch.condition : record.symbols.logical_not(branch.condition);
    found.when = found.when ? record.symbols.logical_and(found.when, side) : side;
  }
  if (found.when && !tells_when(record.symbols, found.when)) found.may = true;
  return found;
}
}  // namespace

// Does it rest on the shape that an annotation gives? Nothing makes callers keep to it.
static bool rests_on_annotation(const ProblemEvent& problem) {
  constexpr std::size_t most_looked_at = 64;  // tensors before the problem
  std::vector<const values::TensorState*> open;
  const auto add = [&](const values::TensorState* state) {
    if (state && open.size() < most_looked_at && std::find(open.begin(), open.end(), state) == open.end())
      open.push_back(state);
  };
  for (const values::TensorState* state : problem.states) add(state);
  for (std::size_t i = 0; i < open.size(); ++i) {
    const values::TensorState& state = *open[i];
    if (std::any_of(state.shape.dims.begin(), state.shape.dims.end(),
            [](const values::Dim& dim) { return dim.origin && dim.origin->what == "annotation"; }))
      return true;
    if (!state.made) continue;
    for (const auto* given : {&state.made->states, &state.made->listed})
      for (const values::TensorState* source : *given) add(source);
  }
  return false;
}

// A number that the words need and nobody knows: "needs ?". In brackets it is one size of many.
static bool needs_unknown_number(std::string_view text) {
  int depth = 0;
  bool code = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '`') code = !code;
    if (text[i] == '[' || text[i] == '(')
      ++depth;
    else if (text[i] == ']' || text[i] == ')')
      --depth;
    else if (text[i] == '?' && depth <= 0 && (i == 0 || text[i - 1] == ' ' || (code && text[i - 1] == '`')) &&
        (i + 1 == text.size() || text[i + 1] == '`' || text[i + 1] == ' ' || text[i + 1] == ',' ||
            text[i + 1] == '.'))
      return true;
  }
  return false;
}

// Is every question on the way to it one that the program asks by a name, other than those that it fails on
// each answer of? What it asks of data may be what nothing ever answers so.
static bool has_named_way(const Record& record, const ProblemEvent& problem, const interpreter::Root& root) {
  const std::vector<symbolic::Cond> known = questions_of_failures(record, problem);
  const std::vector<Descent> path = path_to(root.block, problem);
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    const Event& event = *path[i].block->events[path[i].index];
    if (event.kind != EventKind::branch) continue;
    const symbolic::Cond condition = static_cast<const BranchEvent&>(event).condition;
    if (!condition) return false;
    std::vector<symbolic::Cond> asked;
    questions_of(record.symbols, condition, asked);
    for (const symbolic::Cond leaf : asked)
      if (std::ranges::find(known, leaf) == known.end() && !tells_when(record.symbols, leaf)) return false;
  }
  return true;
}

namespace {
// Does a part of what it takes have one of these names?
bool takes(const Record& record, const ProblemEvent& problem,
    const std::function<bool(std::string_view name, symbolic::Cond part)>& is_it) {
  bool found = false;
  if (problem.assumption)
    record.symbols.parts(
        problem.assumption, [](values::Int) {},
        [&](symbolic::Cond part) { found = found || is_it(record.symbols.text(part), part); });
  return found;
}
// Where things lie that nobody constructs here, and why nothing is said of it.
std::string_view silence_of_devices(const Record& record, const ProblemEvent& problem) {
  if (problem.problem != values::ProblemKind::device || !problem.assumption) return {};
  const auto of = [&](const ProblemEvent& one, std::string_view condition) {
    const auto asked = record.conditions.find(condition);
    return asked != record.conditions.end() &&
        takes(record, one, [&](std::string_view, symbolic::Cond part) { return part == asked->second; });
  };
  // A layer takes what lies where its weights do: whether the input is there too is no choice.
  if (of(problem, values::DeviceCondition::model_on_gpu) &&
      takes(record, problem, [](std::string_view name, symbolic::Cond) {
        return name.find('.') != std::string_view::npos &&
            values::last_name(name) == libraries::on_accelerator;
      }))
    return "the model and its input lie on one device";
  // A choice of the program that says where one of the two lies, `use_gpu`, says so of the model as well.
  const auto is_of_program = [&](std::string_view, symbolic::Cond part) {
    return std::ranges::none_of(record.conditions, [&](const auto& named) { return named.second == part; });
  };
  if (of(problem, values::DeviceCondition::model_on_gpu) && takes(record, problem, is_of_program))
    return "a choice of the program says where the model lies";
  // What several functions leave to their models is left to them on purpose, and no slip.
  const auto function_of = [](const ProblemEvent& one) {
    return one.calls && one.calls->function ? one.calls->function->stmt : nullptr;
  };
  bool elsewhere = false;
  if (of(problem, values::DeviceCondition::inputs_stay))
    visit_problems(record, [&](const ProblemEvent& other, const interpreter::Root&) {
      elsewhere = elsewhere ||
          (other.problem == problem.problem && function_of(other) != function_of(problem) &&
              of(other, values::DeviceCondition::inputs_stay));
    });
  return elsewhere ? "the models are left their inputs elsewhere, too" : std::string_view();
}
}  // namespace

std::string_view silence_of(const Record& record, const ProblemEvent& problem, const interpreter::Root& root,
    std::string_view message) {
  // Where the answer to one of the two changes nothing, it takes the other alone.
  const auto takes_one = [&] {
    const symbolic::Cond needed = problem.assumption ? needed_of(record, problem) : nullptr;
    return needed && needed != problem.assumption &&
        record.symbols.form(needed) != symbolic::Context::Form::conjunction;
  };
  if (problem.guarded &&
      !(problem.of_two_choices &&
          (takes_one() || (fails_on_each(record, problem, root) && has_named_way(record, problem, root)))))
    return problem.of_two_choices ? "it takes two choices of the program at once"
                                  : "a try may catch it, or a test expects it";
  if (is_ruled_out(record, problem, root)) return "the branches around it rule it out";
  if (needs_unknown_number(message)) return "its words need a number that is not known";
  const Passing way = passing(record, problem, root);
  if (way.may) return "the call may come past it";
  if (others_pass(record, problem, root)) return "the same question was answered otherwise elsewhere";
  if (const auto why = silence_of_devices(record, problem); !why.empty()) return why;
  if (!problem.assumption || fails_on_each(record, problem, root)) return {};
  const symbolic::Cond needed = needed_of(record, problem);
  // A choice that both the way and the failure take is one.
  if (way.when && record.symbols.logical_and(way.when, needed) != needed)
    return "the call may come past it, and it takes another choice as well";
  if (of_zero(record.symbols, needed)) return "it needs a number of the program to be 0";
  if (!root.defaults.empty() && !root.function && !root.owner && asks_open_size(record.symbols, needed))
    return "with the defaults it needs a size that is not known to be so";
  if (!tells_when(record.symbols, needed)) return "it fails on one way only, and nobody could say which";
  return {};
}

// Of how many modules a container is made, a program may know by what it asks of data before it reads one:
// `if "norm.weight" in saved: block[1]`. The question around the very index, in the same call, as it is
// written.
static std::string asked_of_data(
    const Record& record, const ProblemEvent& problem, const interpreter::Root& root) {
  if (problem.problem != values::ProblemKind::index || !problem.self.is(values::Kind::instance) ||
      !problem.states.empty())
    return {};
  std::string asked;
  const std::vector<Descent> path = path_to(root.block, problem);
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    const Event& event = *path[i].block->events[path[i].index];
    if (event.kind != EventKind::branch || event.calls != problem.calls) continue;
    const auto& branch = static_cast<const BranchEvent&>(event);
    if (!branch.stmt || branch.stmt->kind != syntax::StmtKind::if_) continue;
    const auto& question = static_cast<const syntax::IfStmt&>(*branch.stmt);
    const std::string text(SourceLines(record, branch.place.chunk).text(*question.test));
    asked = path[i + 1].block == &branch.yes ? text : "not (" + text + ")";
  }
  return asked;
}

std::optional<Severity> qualify(const Record& record, const ProblemEvent& problem,
    const interpreter::Root& root, Severity severity, std::string& message) {
  if (!silence_of(record, problem, root, message).empty()) return std::nullopt;
  symbolic::Cond when = passing(record, problem, root).when;
  if (problem.assumption && !fails_on_each(record, problem, root)) {
    const symbolic::Cond needed = needed_of(record, problem);
    when = when ? record.symbols.logical_and(when, needed) : needed;
  } else if (problem.assumption && fails_otherwise(record, problem)) {
    message = with_condition(std::move(message),
        tells_when(record.symbols, problem.assumption)
            ? ", when " + in_words(record, problem.assumption) + "; it fails otherwise, too"
            : "; it fails with the other choices, too");
  }
  if (when) {
    message = with_condition(std::move(message), ", when " + in_words(record, when));
    if (severity == Severity::error) severity = Severity::warning;
  }
  if (const std::string asked = asked_of_data(record, problem, root); !asked.empty()) {
    message = with_condition(std::move(message),
        values::is_quotable(asked) ? ", when " + values::code(asked)
                                   : ", where the branch around it is taken");
    if (severity == Severity::error) severity = Severity::warning;
  }
  if (problem.overridable && severity == Severity::error) severity = Severity::warning;
  if (rests_on_annotation(problem)) {
    message = with_condition(std::move(message), ", as annotated");
    if (severity == Severity::error) severity = Severity::warning;
  }
  if (!root.defaults.empty()) {
    message = with_condition(std::move(message), ", with the defaults of " + root.defaults);
    if (severity == Severity::error) severity = Severity::warning;
  }
  message = as_sentences(std::move(message));
  return severity;
}

void report_problems(const Record& record, Report& report, values::ProblemKind kind, Severity severity,
    const std::function<void(const ProblemEvent&, Finding&)>& refine, std::string_view reporting_rule) {
  visit_problems(record, [&](const ProblemEvent& problem, const interpreter::Root& root) {
    if (problem.problem != kind || reporting_rule_of(record, problem) != reporting_rule) return;
    std::string message = text_of(record, problem);
    if (message.empty()) return;
    const auto given = qualify(record, problem, root, severity, message);
    Finding* finding = given ? report.add(*given, problem.place, problem.calls, message) : nullptr;
    if (!finding) return;
    relate_evidence(record, report, *finding, problem);
    report.relate_calls(*finding, problem.calls);
    for (const interpreter::SuggestedEdit& edit : problem.suggested_edits)
      if (auto fix = fix_of(record, problem, edit)) finding->fixes.push_back(std::move(*fix));
    if (refine) refine(problem, *finding);
  });
}

}  // namespace stepzero::rules
