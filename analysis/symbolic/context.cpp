// The face of the floor: checks what comes in, asks the parts, and stands a fresh atom in for what does not
// fit. A null integer goes in and comes out as null.
#include "symbolic/state.hpp"

namespace stepzero::symbolic {
namespace {

std::optional<std::int64_t> finite(bool known, std::int64_t bound) {
  return known ? std::optional(bound) : std::nullopt;
}

Sharing mixed(Int a, Int b) { return mix(a->sharing, b->sharing); }

}  // namespace

Context::Context() : state_(std::make_unique<State>()) {}
Context::~Context() = default;

Int Context::constant(std::int64_t value) { return state_->constant(value); }
bool Context::varies(Int a) const {
  if (!a || !state_->any_varies) return false;
  bool found = false;
  atoms(a, [&](Int atom) { found = found || (atom->info && atom->info->varies); });
  return found;
}

std::size_t Context::atoms_made() const { return state_->infos.size(); }
void Context::note_iterations(std::size_t first, std::uint64_t began) {
  for (std::size_t i = first; i < state_->infos.size(); ++i)
    if (state_->infos[i].made > began) state_->infos[i].of_iteration = true;
}
bool Context::is_of_iteration(Int a) const {
  if (!a || value(a)) return false;
  bool found = false;
  atoms(a, [&](Int atom) { found = found || (atom->info && atom->info->of_iteration); });
  return found;
}
Int Context::another(Int a) {
  AtomInfo info;
  if (const AtomInfo* known = atom_info(a)) info = *known;
  info.lower = lower(a);
  info.upper = upper(a);
  info.sharing = sharing(a);
  info.role = Role::none;
  info.of_iteration = false;
  return fresh(std::move(info));
}

bool Context::has_stand_in(Int a) const {
  const AtomInfo* info = a ? atom_info(a) : nullptr;
  return info && info->stand_in;
}

void Context::rename(Int atom, std::string name) {
  const AtomInfo* info = atom ? atom_info(atom) : nullptr;
  if (!info || name.empty() || (!info->stand_in && !info->name.empty())) return;
  atom->info->name = std::move(name);
  atom->info->stand_in = false;
}

Int Context::fresh(AtomInfo info) {
  state_->any_usual = state_->any_usual || info.usual;
  return state_->fresh(std::move(info));
}

Int Context::add(Int a, Int b) {
  if (!a || !b) return nullptr;
  Int result = state_->add(a, b);
  return result ? result : state_->stand_in(mixed(a, b));
}

Int Context::sub(Int a, Int b) {
  if (!a || !b) return nullptr;
  Int result = state_->sub(a, b);
  return result ? result : state_->stand_in(mixed(a, b));
}

Int Context::mul(Int a, Int b) {
  if (!a || !b) return nullptr;
  Int result = state_->mul(a, b);
  return result ? result : state_->stand_in(mixed(a, b));
}

Int Context::negate(Int a) {
  if (!a) return nullptr;
  Int result = state_->scale(a, -1);
  return result ? result : state_->stand_in(a->sharing);
}

Int Context::floordiv(Int a, Int b) {
  if (!a || !b) return nullptr;
  Int result = state_->floordiv(a, b, Use::form);
  return result ? result : state_->stand_in(mixed(a, b));
}

Int Context::mod(Int a, Int b) {
  if (!a || !b) return nullptr;
  Int result = state_->mod(a, b, Use::form);
  return result ? result : state_->stand_in(mixed(a, b));
}

Int Context::min(Int a, Int b) {
  if (!a || !b) return nullptr;
  Int result = state_->extremum(Kind::min, std::array{a, b}, Use::form);
  return result ? result : state_->stand_in(mixed(a, b));
}

Int Context::max(Int a, Int b) {
  if (!a || !b) return nullptr;
  Int result = state_->extremum(Kind::max, std::array{a, b}, Use::form);
  return result ? result : state_->stand_in(mixed(a, b));
}

Int Context::power(Int base, std::int64_t exponent) {
  if (!base) return nullptr;
  Int result = exponent < 0 ? nullptr : state_->power(base, exponent);
  return result ? result : state_->stand_in(base->sharing);
}

std::optional<std::int64_t> Context::value(Int a) const {
  return a && a->constant() ? std::optional(a->value()) : std::nullopt;
}
bool Context::is_atom(Int a) const { return a && a->atomic(); }
const AtomInfo* Context::atom_info(Int a) const { return a ? a->info : nullptr; }
Sharing Context::sharing(Int a) const { return a ? a->sharing : Sharing::local; }

std::optional<std::int64_t> Context::lower(Int a) const {
  if (!a) return {};
  if (a->constant()) return a->value();
  Interval range = state_->bounds(a, Use::facts);
  if (Int negated = state_->scale(a, -1)) {
    const std::int64_t upper = state_->best_upper(negated, Interval::unbounded_below, Use::facts);
    if (upper != Interval::unbounded_above && upper != Interval::unbounded_below)
      range.low = std::max(range.low, -upper);
  }
  return finite(range.has_low(), range.low);
}

std::optional<std::int64_t> Context::upper(Int a) const {
  if (!a) return {};
  if (a->constant()) return a->value();
  const std::int64_t upper = state_->best_upper(a, Interval::unbounded_below, Use::facts);
  return finite(upper != Interval::unbounded_above, upper);
}

std::string Context::text(Int a) const { return a ? State::text(a) : "?"; }

std::optional<Int> Context::exact_quotient(Int a, Int b) {
  if (!a || !b) return {};
  Int result = state_->exact_quotient(a, b);
  return result ? std::optional(result) : std::nullopt;
}

void Context::atoms(Int a, const std::function<void(Int)>& visit) const {
  if (!a) return;
  if (a->kind == Kind::atom) return visit(a);
  for (Int operand : a->operands) atoms(operand, visit);
  if (a->kind != Kind::sum) return;
  for (const Term& term : a->terms)
    for (const Factor& factor : term.monomial->factors) atoms(factor.atom, visit);
}

Int Context::substitute(Int a, std::span<const Assignment> values) {
  if (!a || values.empty()) return a;
  Int result = state_->substitute(a, values);
  return result ? result : state_->stand_in(a->sharing);
}

std::size_t Context::mark() const { return state_->log.size(); }
void Context::rewind(std::size_t mark) { state_->rewind(mark); }
Cond Context::disjunctions_since(std::size_t mark) {
  std::size_t newer = 0;
  for (std::size_t i = mark; i < state_->log.size(); ++i) newer += state_->log[i].what == Undo::What::clause;
  Cond all = boolean(true);
  for (std::size_t i = state_->clauses.size() - newer; i < state_->clauses.size(); ++i)
    all = logical_and(all, state_->clauses[i]);
  return all;
}
bool Context::assume(Cond condition) {
  state_->effort = State::most_effort;
  if (!condition) return true;
  const std::size_t before = state_->log.size();
  const bool holds = state_->assume(condition);
  if (state_->log.size() > before) state_->assumptions.emplace_back(before, condition);
  return holds;
}
std::vector<Cond> Context::assumed_since(std::size_t mark) const {
  std::vector<Cond> found;
  for (const auto& [at, condition] : state_->assumptions)
    if (at >= mark) found.push_back(condition);
  return found;
}

namespace {

// Do the two differ with the usual values whatever the atoms are that have none? Tried with small and large
// positive values of each: where the difference keeps its sign, no value between them makes it 0, unless it
// rises and falls. A guess, by which it is decided whether a run with the defaults is worth its while.
bool differs_usually(const Context& context, Int a, Int b, Cond equal, Cond less) {
  constexpr std::size_t most_free = 6;  // symbols that are tried with a few numbers each
  constexpr std::int64_t small = 1, large = 1'000'003;
  std::vector<Assignment> values;
  std::vector<Int> free;
  bool known = true;
  context.parts(
      equal,
      [&](Int atom) {
        if (atom->info && atom->info->usual)
          values.push_back({atom, *atom->info->usual});
        else
          free.push_back(atom);
      },
      [&](Cond) { known = false; });
  if (!known || values.empty() || free.size() > most_free) return false;
  std::optional<bool> first;
  const auto keeps_its_sign = [&](std::size_t one, std::int64_t its, std::int64_t others) {
    std::vector<Assignment> all = values;
    for (std::size_t i = 0; i < free.size(); ++i) all.push_back({free[i], i == one ? its : others});
    if (context.evaluate(equal, all) != Answer::no) return false;
    const Answer below = context.evaluate(less, all);
    if (below == Answer::unknown) return false;
    if (!first) first = below == Answer::yes;
    return *first == (below == Answer::yes);
  };
  if (!keeps_its_sign(free.size(), small, small) || !keeps_its_sign(free.size(), large, large)) return false;
  for (std::size_t i = 0; i < free.size(); ++i)
    if (!keeps_its_sign(i, small, large) || !keeps_its_sign(i, large, small)) return false;
  return a != b;
}

}  // namespace

Answer Context::compare(Compare op, Int a, Int b) const {
  state_->effort = State::most_effort;
  if (!a || !b) return Answer::unknown;
  const Cond asked = state_->compared(op, a, b);
  const Answer found = state_->decide(asked);
  if (found == Answer::unknown && state_->any_usual && op == Compare::eq &&
      differs_usually(*this, a, b, asked, state_->compared(Compare::lt, a, b))) {
    const auto plain = [](Int x, Int y) {
      return x->constant() && (x->value() == 1 || (x->value() == 0 && y->kind == Kind::atom));
    };
    if (!plain(a, b) && !plain(b, a)) ++state_->doubts;
  }
  return found;
}

Answer Context::usually(Cond condition) const {
  if (!condition || !state_->any_usual) return Answer::unknown;
  std::vector<Assignment> values;
  bool all = true;
  parts(
      condition,
      [&](Int atom) {
        if (atom->info && atom->info->usual)
          values.push_back({atom, *atom->info->usual});
        else
          all = false;
      },
      [&](Cond) { all = false; });
  return all && !values.empty() ? evaluate(condition, values) : Answer::unknown;
}

bool Context::any_usual() const { return state_->any_usual; }

void Context::doubt(Cond required) {
  if (usually(required) == Answer::no) ++state_->doubts;
}

std::size_t Context::doubts() const { return state_->doubts; }

Answer Context::divides(Int divisor, Int a) const {
  if (!a || !divisor) return Answer::unknown;
  if (divisor->constant() && divisor->value() == 0) return Answer::unknown;
  Int remainder = state_->mod(a, divisor, Use::form);
  return remainder ? compare(Compare::eq, remainder, state_->constant(0)) : Answer::unknown;
}

Cond Context::boolean(bool value) { return state_->boolean(value); }

Cond Context::compared(Compare op, Int a, Int b) {
  return a && b ? state_->compared(op, a, b) : state_->opaque({}, Sharing::local);
}

Cond Context::opaque(std::string name, Sharing sharing) { return state_->opaque(name, sharing); }
Cond Context::logical_not(Cond a) { return a ? state_->negation(a) : nullptr; }

Cond Context::logical_and(Cond a, Cond b) {
  if (!a || !b) return nullptr;
  return state_->pair(Form::conjunction, a, b);
}

Cond Context::logical_or(Cond a, Cond b) {
  if (!a || !b) return nullptr;
  return state_->pair(Form::disjunction, a, b);
}

Answer Context::decide(Cond a) const {
  state_->effort = State::most_effort;
  return a ? state_->decide(a) : Answer::unknown;
}
Sharing Context::sharing(Cond a) const { return a ? a->sharing : Sharing::local; }
std::string Context::text(Cond a) const { return a ? State::text(a) : "?"; }

Answer Context::evaluate(Cond a, std::span<const Assignment> values, std::span<const Truth> truths) const {
  return a ? state_->evaluate(a, values, truths) : Answer::unknown;
}

void Context::parts(
    Cond a, const std::function<void(Int)>& atom, const std::function<void(Cond)>& opaque) const {
  if (!a) return;
  if (a->form == Form::opaque) opaque(a);
  if (a->form == Form::compare) atoms(a->polynomial, atom);
  for (Cond operand : a->operands) parts(operand, atom, opaque);
}

Context::Form Context::form(Cond a) const { return a ? a->form : Form::opaque; }
std::span<const Cond> Context::operands(Cond a) const { return a ? a->operands : std::span<const Cond>{}; }

std::optional<Context::Comparison> Context::comparison(Cond a) const {
  if (!a || a->form != Form::compare) return {};
  if (a->equal && a->written != Compare::eq) {
    const auto [left, right] = state_->sides(a->polynomial);
    return Comparison{Compare::eq, left, right};
  }
  switch (a->written) {
  case Compare::gt: return Comparison{Compare::lt, a->right, a->left};
  case Compare::ge: return Comparison{Compare::le, a->right, a->left};
  default: break;
  }
  if (a->equal && a->left->constant()) return Comparison{Compare::eq, a->right, a->left};
  return Comparison{a->written, a->left, a->right};
}

}  // namespace stepzero::symbolic
