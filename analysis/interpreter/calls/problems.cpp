// What is recorded of a call that fails: under which condition, whether something catches it, and what is not
// told again because of it.
#include "interpreter/calls/library_calls.hpp"
#include "interpreter/calls/unseen_code.hpp"
#include "interpreter/interpreter.hpp"
#include "interpreter/roots/required_ndims.hpp"
#include "interpreter/statements/assertions.hpp"
#include "interpreter/statements/contexts.hpp"
#include "values/kept.hpp"

#include <algorithm>
#include <set>

namespace stepzero::interpreter {

using syntax::Name;
using values::Kind;

namespace {

// Does it hold where some number is 0?
bool asks_for_none(const symbolic::Context& symbols, Cond condition) {
  if (const auto compared = symbols.comparison(condition))
    return (compared->op == symbolic::Compare::eq || compared->op == symbolic::Compare::le) &&
        symbols.value(compared->right) == 0 && !symbols.value(compared->left);
  if (symbols.form(condition) == symbolic::Context::Form::negation) return false;
  const auto parts = symbols.operands(condition);
  return std::any_of(parts.begin(), parts.end(), [&](Cond part) { return asks_for_none(symbols, part); });
}

// The choices that a condition is about: each unknown answer is one, and comparisons of the same numbers are
// one together.
class Choices {
public:
  explicit Choices(const symbolic::Context& symbols) : symbols_(symbols) {}
  // One that the program asks as a whole: `if use_ddp and rank != -1`.
  void add_whole(Cond condition) {
    std::set<const void*> about;
    symbols_.parts(condition, [&](Int atom) { about.insert(atom); }, [&](Cond part) { about.insert(part); });
    join(std::move(about));
  }
  void add(Cond condition) {
    using Form = symbolic::Context::Form;
    switch (symbols_.form(condition)) {
    case Form::constant: return;
    case Form::negation:
    case Form::conjunction:
    case Form::disjunction:
      for (const Cond part : symbols_.operands(condition)) add(part);
      return;
    case Form::opaque: return join({condition});
    case Form::compare: {
      std::set<const void*> about;
      symbols_.parts(
          condition, [&](Int atom) { about.insert(atom); }, [&](Cond part) { about.insert(part); });
      return join(std::move(about));
    }
    }
  }
  std::size_t count() const { return choices_.size(); }

private:
  void join(std::set<const void*> about) {
    std::erase_if(choices_, [&](const std::set<const void*>& other) {
      if (std::none_of(other.begin(), other.end(), [&](const void* each) { return about.contains(each); }))
        return false;
      about.insert(other.begin(), other.end());
      return true;
    });
    choices_.push_back(std::move(about));
  }
  const symbolic::Context& symbols_;
  std::vector<std::set<const void*>> choices_;
};

}  // namespace

// Does the condition say that somebody gave what may be left out?
bool LibraryCalls::is_about_option(Cond given) const {
  const auto parts = record_.symbols.operands(given);
  for (const Frame* frame = run_.frame_; frame; frame = frame->outer) {
    if (!frame->function || !frame->function->parameters) continue;
    for (const syntax::Parameter& parameter : frame->function->parameters->list) {
      const values::Slot* slot = frame->scope->names.find(parameter.name);
      if (!slot || !slot->value.is(Kind::unknown)) continue;
      const auto* unknown = slot->value.as<values::Unknown>();
      if (unknown->is_none && unknown->default_value.is(Kind::none) &&
          std::ranges::find(parts, unknown->is_none) != parts.end())
        return true;
    }
  }
  return false;
}

// How many of the tries around have handlers for other exceptions alone.
int LibraryCalls::tries_for_others(std::string_view raised) {
  if (raised.empty()) return 0;
  const Value exception = run_.library_symbol("builtins." + std::string(raised));
  int others = 0;
  for (const Frame* frame = run_.frame_; frame; frame = frame->outer) {
    for (const TryTarget* target : frame->tries)
      others += target->guards && std::ranges::all_of(target->taken, [&](Value type) {
        return type && run_.contexts_->catches(type, exception) == symbolic::Answer::no;
      });
    // What is imported is run apart from the tries around the import.
    if (!frame->function) break;
  }
  return others;
}

// A condition that holds wherever the other does, as its form shows: `a or b` where `a` is chosen.
static bool is_implied(const symbolic::Context& symbols, Cond condition, Cond by) {
  using Form = symbolic::Context::Form;
  const auto is_given = [&](Cond part) {
    const auto parts = symbols.operands(by);
    return part == by ||
        (symbols.form(by) == Form::conjunction && std::ranges::find(parts, part) != parts.end());
  };
  const auto holds = [&](Cond part) {
    const auto parts = symbols.operands(part);
    return is_given(part) ||
        (symbols.form(part) == Form::conjunction && std::ranges::all_of(parts, is_given));
  };
  if (symbols.form(condition) != Form::disjunction) return holds(condition);
  const auto alternatives = symbols.operands(condition);
  return std::ranges::any_of(alternatives, holds);
}

// Is it the answer to a question after two things at once, `if several and gpu`, where the one is given? Who
// asks so offers the one without the other.
static bool is_left_open(symbolic::Context& symbols, Cond alternatives, Cond by) {
  using Form = symbolic::Context::Form;
  const auto parts = symbols.operands(alternatives);
  return by && std::ranges::all_of(parts, [&](Cond one) { return symbols.form(one) == Form::negation; }) &&
      std::ranges::any_of(parts, [&](Cond one) { return is_implied(symbols, symbols.operands(one)[0], by); });
}

// Is the opposite of a part of the condition taken as well, as the program writes it? A setting that is asked
// again is mostly as it was, though unseen code may have changed it; what is drawn anew is not. Such a
// setting is another symbol then: its text is all that the two questions have in common.
static bool is_denied(symbolic::Context& symbols, Cond condition, std::span<const Cond> taken) {
  const auto operands = symbols.operands(condition);
  const std::vector<Cond> parts = symbols.form(condition) == symbolic::Context::Form::conjunction
      ? std::vector<Cond>(operands.begin(), operands.end())
      : std::vector<Cond>{condition};
  return std::ranges::any_of(parts, [&](Cond part) {
    if (symbols.sharing(part) != Sharing::uniform) return false;
    if (!symbols.is_named(part)) return false;  // what has no name may be another question
    const std::string opposite = symbols.text(symbols.logical_not(part));
    const auto says_so = [&](Cond each) { return each != part && symbols.text(each) == opposite; };
    return std::ranges::any_of(taken, says_so) || std::ranges::any_of(parts, says_so);
  });
}

// Who may catch it, and under which condition it happens.
void LibraryCalls::qualify(ProblemEvent& event, Cond when, bool again, std::string_view raises) {
  const int others = std::min(tries_for_others(raises), run_.guards_);
  run_.guards_ -= others;
  event.guarded = run_.may_not_fail() || again || run_.unseen_->asked_by_callee();
  run_.guards_ += others;
  event.assumption = run_.assumption();
  // With the defaults of a class or function nobody knows how what it leaves open goes together.
  event.guarded = event.guarded ||
      (run_.with_defaults_ && !run_.limits_.with_defaults && !run_.path_.empty());
  const Cond chosen = event.assumption                                  ? event.assumption
      : when && symbols().form(when) == symbolic::Context::Form::opaque ? when
                                                                        : nullptr;
  if (when) event.assumption = event.assumption ? symbols().logical_and(event.assumption, when) : when;
  // A test knows what it tests, though its fixtures do not show here. And of two options nothing says that
  // they are ever chosen together.
  if (chosen && run_.assertions_->in_test()) event.guarded = true;
  // What fails of anything but nothing is right where the program asks whether there is nothing. Where it
  // lies is asked of nothing, too.
  if (when && event.problem != values::ProblemKind::device)
    event.guarded = event.guarded || std::any_of(run_.path_.begin(), run_.path_.end(), [&](Cond taken) {
      return asks_for_none(symbols(), taken);
    });
  if (event.assumption) event.guarded = event.guarded || is_denied(symbols(), event.assumption, run_.path_);
  if (chosen && !event.guarded) {
    Choices choices(symbols());
    for (const Cond whole : run_.assumed_.empty() ? std::vector<Cond>{chosen} : run_.assumed_)
      if (symbols().form(whole) == symbolic::Context::Form::disjunction &&
          !is_left_open(symbols(), whole, event.assumption))
        choices.add(whole);  // one of them is chosen, whichever
      else
        choices.add_whole(whole);
    for (const Cond taken : run_.path_) {
      if (std::find(run_.assumed_.begin(), run_.assumed_.end(), taken) != run_.assumed_.end() ||
          is_implied(symbols(), taken, chosen))
        continue;
      const auto form = symbols().form(taken);
      if (form == symbolic::Context::Form::opaque ||
          (form == symbolic::Context::Form::negation && is_about_option(taken)))
        choices.add(taken);
      // One on this side of another choice, a second on the other.
      if (form == symbolic::Context::Form::disjunction && !is_left_open(symbols(), taken, event.assumption))
        symbols().parts(taken, [](Int) {}, [&](Cond part) { choices.add(part); });
    }
    event.of_two_choices = event.guarded = choices.count() > 1;
  }
}

ProblemEvent* Interpreter::problem(
    values::ProblemKind kind, const Call& called, Cond when, std::string_view raises) {
  if (raises.empty()) raises = library_.raises(kind, &called.row);
  auto* event = record_.event<ProblemEvent>();
  event->problem = kind;
  event->place = called.place;
  event->calls = site_;
  event->row = &called.row;
  event->expr = called.expr;
  event->node = called.node;
  event->self = called.self;
  bool again = false;
  library_calls_->each_operand(called, [&](Value operand) { again = again || heap().is_poisoned(operand); });
  library_calls_->qualify(*event, when, again, raises);
  // One branch is for one kind of tensor: who gives what is for another kind does not get there.
  for (const Frame* frame = frame_; frame && frame->outer && !event->guarded; frame = frame->outer) {
    if (!frame->function || !frame->function->parameters) continue;
    const auto& parameters = frame->function->parameters->list;
    const std::span<const Cond> taken = std::span(path_).subspan(std::min(frame->depth, path_.size()));
    const auto is_asked = [&](const syntax::Parameter& parameter) {
      return asked_for_ndim(*frame->scope, parameter.name) ||
          asked_for_ndim(*this, questions_, *frame->scope, parameter.name, taken);
    };
    if (std::none_of(parameters.begin(), parameters.end(), is_asked)) continue;
    for (const syntax::Parameter& parameter : parameters)
      if (const values::Slot* slot = frame->scope->names.find(parameter.name); slot && !is_asked(parameter))
        library_calls_->each_operand(called,
            [&](Value operand) { event->guarded = event->guarded || operand == resolve(slot->value); });
  }
  if (!event->guarded) {
    library_calls_->each_operand(called, [&](Value operand) {
      const values::TensorState* state = operand.is(Kind::tensor) ? operand.as<values::Tensor>()->now()
                                                                  : nullptr;
      if (state && !event->overridable)
        for (const values::Object* source : state->graph)
          if (const auto* function = dynamic_cast<const values::Unknown*>(source);
              function && function->attributes.find(Name(values::UnknownState::keeps_size))) {
            event->overridable = true;
            event->evidence.emplace_back(function->born, "taken to keep the size of what it is given");
          }
    });
  }
  if (again ||
      (!event->guarded && !event->assumption && !event->overridable &&
          kind < values::ProblemKind::first_without_failure))
    poison(called);
  // What fails in the first iteration of a loop is seen in its dry run.
  if (dry_runs_ <= 1) append(event);
  // One process goes on in the handler that takes it.
  const std::string_view raised = !raises.empty() ? raises
      : kind == values::ProblemKind::argument     ? ""
      : kind == values::ProblemKind::index        ? "IndexError"
                                                  : "RuntimeError";
  if (limits_.as_rank && catching_ > 0 && !again && !event->assumption && !event->overridable &&
      kind < values::ProblemKind::first_without_failure && !raised.empty())
    (void)raise_builtin(raised, called.place);
  return event;
}

ProblemEvent* Interpreter::problem_at(values::ProblemKind kind, Place where, const syntax::Expr* node) {
  auto* event = record_.event<ProblemEvent>();
  event->problem = kind;
  event->place = where;
  event->calls = site_;
  event->node = node;

  library_calls_->qualify(*event, nullptr, false, library_.raises(kind, nullptr));
  if (dry_runs_ <= 1) append(event);
  return event;
}

}  // namespace stepzero::interpreter
