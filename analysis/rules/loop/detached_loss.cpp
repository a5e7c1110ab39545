// loop/detached-loss: the backward of a loss that has no history: of a number, of a tensor that was detached,
// or of a new one; and of a sum of which one term has none.
#include "rules/provenance.hpp"
#include "rules/rule.hpp"
#include "rules/training/training.hpp"
#include "values/limits.hpp"
#include "values/numbers.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::rules::loop::detached_loss {

using values::code;

using namespace interpreter;
using values::Kind;
using values::Known;
using values::Operation;

namespace {

bool has_no_backward(Value value) {
  return value.is(Kind::integer) || value.is(Kind::real) || value.is(Kind::boolean) ||
      values::is_read_number(value);
}

// Does the program say so itself, as `detach()` and `.data` do? Other operations have no gradient to give.
bool is_on_purpose(const values::Origin& cut) {
  return cut.what == "no_grad" || cut.what.ends_with(')') || cut.what.starts_with('.');
}

std::string cut_text(const values::Origin& cut) {
  return "by " + code(cut.what) + (is_on_purpose(cut) ? "" : ", whose results have no gradient");
}

void tell(const Record& record, Report& report, const OperationEvent& event) {
  const std::string loss = object_text(record, event, "the loss");
  if (has_no_backward(event.self)) {
    Finding* finding = report.add(Severity::error, event.place, event.calls,
        code(loss) +
            " is a Python number here, so `backward()` fails: \"'float' object has no attribute 'backward'\". Call it on the tensor that the number was read from.");
    if (finding && event.self.is(Kind::unknown) && event.self.object()->born)
      report.relate(*finding, event.self.object()->born, "the number is read from the tensor here");
    return;
  }
  const values::TensorState* state = event.self_state();
  if (!state || state->poisoned || event.expected) return;
  if (state->requires_grad == Known::no) {
    Finding* finding = report.add(Severity::error, event.place, event.calls,
        code(loss + ".backward()") +
            " fails: \"element 0 of tensors does not require grad and does not have a grad_fn\". " +
            (state->cut ? "The history of " + code(loss) + " was cut " + cut_text(*state->cut) +
                        ". Compute the loss without it."
                        : "Nothing that " + code(loss) +
                        " was computed from requires a gradient. Compute it from the parameters that are trained."));
    if (finding && state->cut) report.relate(*finding, state->cut->place, "the history is cut here");
    return;
  }
  // A new tensor of numbers that were read from others: the gradient ends at it.
  if (state->requires_grad == Known::yes && state->cut && from_numbers(*state)) {
    Finding* finding = report.add(Severity::error, event.place, event.calls,
        code(loss) + " is computed from numbers alone, which " + code(state->cut->what) +
            " read from other tensors: no parameter gets a gradient, and nothing is trained. Compute the loss from the tensors.");
    if (finding) report.relate(*finding, state->cut->place, "the history is cut here");
  }
}

// What the loss is the sum of, over means, signs and factors that are no tensors.
void add_terms(const TensorState* state, std::vector<const TensorState*>& terms, int depth = 0) {
  constexpr int longest_sum = 12;  // operations since the first term
  if (!state) return;
  if (!state->made && state->either && depth < longest_sum) {
    add_terms(state->either->one, terms, depth + 1);
    add_terms(state->either->other, terms, depth + 1);
    return;
  }
  if (state->made && depth < longest_sum) {
    const std::vector<const TensorState*> parts = rules::inputs(*state->made);
    switch (rules::semantics(state)) {
    case OpSemantics::add:
    case OpSemantics::sub:
      for (const TensorState* part : parts) add_terms(part, terms, depth + 1);
      return;
    case OpSemantics::mul:
    case OpSemantics::div:
      if (parts.size() != 1) break;
      [[fallthrough]];
    case OpSemantics::negate:
    case OpSemantics::mean:
    case OpSemantics::sum:
    case OpSemantics::same:
    case OpSemantics::rearranged:
      if (!parts.empty()) add_terms(parts.front(), terms, depth + 1);
      return;
    default: break;
    }
  }
  terms.push_back(state);
}

// Who detaches a term itself, or the difference of two, wants its number alone: `y + (x - y).detach()`.
bool is_constant(const TensorState& term) {
  if (term.requires_grad != Known::no || !term.cut || !is_on_purpose(*term.cut) || !term.made ||
      term.poisoned)
    return false;
  const OpSemantics by = rules::semantics(&term);
  return by == OpSemantics::none || libraries::computes(by);
}

// One of several terms adds nothing to any gradient.
void tell_term(const Record& record, Report& report, Once& once, const OperationEvent& event) {
  const TensorState* loss = event.self_state();
  if (!loss || loss->poisoned || event.expected || loss->requires_grad != Known::yes) return;
  std::vector<const TensorState*> terms;
  add_terms(loss, terms);
  for (const TensorState* term : terms) {
    if (!is_constant(*term) || !record.in_file(term->made->born) || !once(term->made->born)) continue;
    const std::string text(record.text(term->made->born));
    const values::Origin& cut = *term->cut;
    Finding* finding = report.add(Severity::warning, term->made->born, term->made->calls,
        (values::is_quotable(text) ? code(text) : std::string("This")) +
            " is a term of the loss and has no gradient: its history was cut " + cut_text(cut) +
            ", so it trains nothing. Compute it from tensors that keep their history.");
    if (!finding) continue;
    report.relate(*finding, cut.place, "the history is cut here");
    report.relate(*finding, event.place, "the loss is differentiated here");
  }
}

bool has_history(const OperationEvent& event) {
  const values::TensorState* state = event.self_state();
  return !has_no_backward(event.self) && (!state || state->requires_grad != Known::no);
}

// The loss is one of two, and the other has a history: not every run that comes here fails.
bool is_one_of_two(const TrainingRoot& training_root, const TrainingEvent& each) {
  const auto is_other_way = [&](const Turn& turn) {
    return std::any_of(each.turns.begin(), each.turns.end(),
        [&](const Turn& own) { return own.branch == turn.branch && own.yes != turn.yes; });
  };
  return std::any_of(training_root.all.begin(), training_root.all.end(), [&](const TrainingEvent& other) {
    return other.event->place == each.event->place && other.event->calls == each.event->calls &&
        std::any_of(other.turns.begin(), other.turns.end(), is_other_way) && has_history(*other.event);
  });
}

void check(const Record& record, Report& report) {
  Once once, once_per_term;
  for (const TrainingRoot& training_root : Training::of(record).training_roots())
    for (const TrainingEvent& each : training_root.all) {
      const OperationEvent& event = *each.event;
      if (event.row->operation != Operation::backward || each.in_handler || each.in_attempt) continue;
      tell_term(record, report, once_per_term, event);
      if (is_one_of_two(training_root, each)) continue;
      if (once(event.place)) tell(record, report, event);
    }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "loop/detached-loss",
    .severity = Severity::error,
    .summary = "the backward of a loss that has no history, or has a term without one",
    .why =
        "`backward()` walks back through the operations that made the loss. A number that `item()` gave has no `backward` at all. A tensor that was "
        "detached, computed under `no_grad`, or made of integers (`argmax`) has no history: \"element 0 of tensors does not require "
        "grad and does not have a grad_fn\". And a new tensor of numbers, made with `requires_grad=True`, has a gradient of its own, and the "
        "parameters get none (measured: 4 of 4). A sum of which one term has no history runs, and that term trains nothing: a policy's loss whose "
        "probabilities were detached, a penalty that was computed under `no_grad`.",
    .wrong = "loss = loss_fn(model(x), y).detach()\n"
             "loss.backward()\n",
    .right = "loss = loss_fn(model(x), y)\n"
             "loss.backward()\n"
             "total += loss.detach()\n",
    .silent =
        "Targets, weights and factors that are detached on purpose, and terms that are detached themselves, as in `y + (x - y).detach()`; losses of which it is not known what they were computed from; "
        "a `try` that catches the failure; tests of it.",
    .fix = "None: decide where the history was to be kept.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::loop::detached_loss
