// Conditions in canonical form: comparisons of a polynomial with zero, truths of which nothing is known, and
// negations, conjunctions and disjunctions of them. What is decided by the form alone never becomes a node.
#include "symbolic/state.hpp"

#include <tuple>

namespace stepzero::symbolic {
namespace {

constexpr std::size_t most_paired = 12;  // operands up to which each is compared with each

std::uint32_t hash_of(Context::Form form, std::span<const Cond> operands) {
  std::uint64_t hash = static_cast<std::uint64_t>(form) + 0x33;
  for (Cond operand : operands) hash = scramble(hash, operand->index);
  return static_cast<std::uint32_t>(hash);
}

Compare opposite(Compare op) {
  switch (op) {
  case Compare::eq: return Compare::ne;
  case Compare::ne: return Compare::eq;
  case Compare::lt: return Compare::ge;
  case Compare::le: return Compare::gt;
  case Compare::gt: return Compare::le;
  case Compare::ge: return Compare::lt;
  }
  return op;
}

bool holds(Compare op, std::int64_t a, std::int64_t b) {
  switch (op) {
  case Compare::eq: return a == b;
  case Compare::ne: return a != b;
  case Compare::lt: return a < b;
  case Compare::le: return a <= b;
  case Compare::gt: return a > b;
  case Compare::ge: return a >= b;
  }
  return false;
}

// A comparison or the negation of one.
Cond comparison_of(Cond a) {
  if (a->form == Context::Form::compare) return a;
  if (a->form != Context::Form::negation) return nullptr;
  return a->operands[0]->form == Context::Form::compare ? a->operands[0] : nullptr;
}

}  // namespace

Cond Context::State::compared(Compare op, Int a, Int b) {
  if (a->constant() && b->constant()) return boolean(holds(op, a->value(), b->value()));
  if (op == Compare::ne) {
    Cond equal = compared(Compare::eq, a, b);
    return equal->form == Form::compare ? differing(equal, op, a, b) : negation(equal);
  }
  const bool swapped = op == Compare::gt || op == Compare::ge;
  Int sum = swapped ? sub(b, a) : sub(a, b);
  if (sum && (op == Compare::lt || op == Compare::gt)) sum = add(sum, constant(1));
  if (!sum) return opaque(text(a) + spelling(op) + text(b), mix(a->sharing, b->sharing));
  return comparison(op == Compare::eq, sum, op, a, b);
}

Cond Context::State::comparison(bool equal, Int sum, Compare written, Int left, Int right) {
  if (sum->constant()) return boolean(equal ? sum->value() == 0 : sum->value() <= 0);
  Cond& made = equal ? sum->equals_zero : sum->at_most_zero;
  if (!made) made = make_comparison(equal, sum, written, left, right);
  return made;
}

Cond Context::State::make_comparison(bool equal, Int sum, Compare written, Int left, Int right) {
  const auto multiple = static_cast<std::int64_t>(content(sum, false));
  if (multiple > 1) {
    if (equal && constant_part(sum) % multiple != 0) return boolean(false);
    // An upper bound rounds towards what is still below it: the constant rounds up.
    Int negative = scale(sum, -1);
    Int divided = negative ? divide_coefficients(negative, multiple) : nullptr;
    divided = divided ? scale(divided, -1) : nullptr;
    if (divided) sum = divided;
  }
  if (equal && sum->terms[0].coefficient < 0)
    if (Int negative = scale(sum, -1)) sum = negative;

  const Interval range = sum->bounds;
  if (equal && !range.contains(0)) return boolean(false);
  if (!equal && range.high <= 0) return boolean(true);
  if (!equal && range.low > 0) return boolean(false);
  if (sum->depth > 0) {
    Int above = scale(sum, -1);
    above = above ? add(above, constant(1)) : nullptr;  // <= 0 where the sum is >= 1
    if (above && at_most_zero(above, Use::form)) return boolean(false);
    if (!equal && at_most_zero(sum, Use::form)) return boolean(true);
    if (equal && best_upper(sum, -1, Use::form) <= -1) return boolean(false);
  }
  if (!equal) {
    // Never below zero: at most zero means zero. Never above one: at most zero means not one.
    if (range.low == 0) return comparison(true, sum, written, left, right);
    if (range.high == 1)
      if (Int less = sub(sum, constant(1)))
        return differing(comparison(true, less, Compare::eq, nullptr, nullptr), written, left, right);
  }

  CondNode draft;
  draft.form = Form::compare;
  draft.equal = equal;
  draft.polynomial = sum;
  draft.hash = scramble(equal ? 0x11 : 0x22, sum->index);
  draft.sharing = sum->sharing;
  draft.size = sum->size;
  if (!left) {
    std::tie(left, right) = sides(sum);
    written = equal ? Compare::eq : Compare::le;
  }
  draft.written = written;
  draft.left = left;
  draft.right = right;
  return intern(draft);
}

// The terms of a polynomial, each on the side of a comparison where it is positive; constants on the right.
std::pair<Int, Int> Context::State::sides(Int sum) {
  Int left = constant(0), right = constant(0);
  for (const Term& term : sum->terms) {
    Int part = intern(std::span(&term, 1));
    const bool on_left = term.coefficient > 0 && term.monomial->degree > 0;
    Int moved = !part ? nullptr : on_left ? add(left, part) : sub(right, part);
    if (!moved) return {sum, constant(0)};
    (on_left ? left : right) = moved;
  }
  return {left, right};
}

// The negation of an equation, as it is written here unless it was made before.
Cond Context::State::differing(Cond equation, Compare written, Int left, Int right) {
  if (equation->form != Form::compare || equation->negation) return negation(equation);
  CondNode draft;
  draft.form = Form::negation;
  draft.sharing = equation->sharing;
  draft.size = equation->size;
  draft.operands = draft.sorted = std::span(&equation, 1);
  draft.hash = hash_of(Form::negation, draft.sorted);
  draft.written = written;
  draft.left = left;
  draft.right = right;
  Cond result = intern(draft);
  equation->negation = result;
  result->negation = equation;
  return result;
}

Cond Context::State::opaque(std::string_view name, Sharing sharing) {
  CondNode draft;
  draft.form = Form::opaque;
  draft.sharing = sharing;
  draft.name = keep(name);
  draft.hash = scramble(0x44, made_conds);
  return intern(draft);
}

Cond Context::State::negation(Cond a) {
  if (a->negation) return a->negation;
  Cond result = nullptr;
  if (a->form == Form::compare && a->equal) return differing(a, opposite(a->written), a->left, a->right);
  if (a->form == Form::conjunction || a->form == Form::disjunction) {
    std::vector<Cond> operands;
    operands.reserve(a->operands.size());
    for (Cond operand : a->operands) operands.push_back(negation(operand));
    result = combined(a->form == Form::conjunction ? Form::disjunction : Form::conjunction, operands);
  } else if (a->form == Form::compare && !a->equal) {
    Int sum = scale(a->polynomial, -1);
    sum = sum ? add(sum, constant(1)) : nullptr;
    if (sum) result = comparison(false, sum, opposite(a->written), a->left, a->right);
  }
  if (!result) {
    CondNode draft;
    draft.form = Form::negation;
    draft.sharing = a->sharing;
    draft.depth = a->depth;
    draft.size = a->size;
    draft.operands = draft.sorted = std::span(&a, 1);
    draft.hash = hash_of(Form::negation, draft.sorted);
    result = intern(draft);
  }
  a->negation = result;
  if (!result->negation) result->negation = a;
  return result;
}

// By the signs of sums and differences of the two polynomials; false if that does not tell.
bool Context::State::implies(Cond a, Cond b) {
  if (a == b) return true;
  Cond x = comparison_of(a), y = comparison_of(b);
  if (!x || !y || a != x) return false;  // "differs" implies little
  Int p = x->polynomial, q = y->polynomial;
  if (p->terms[0].monomial != q->terms[0].monomial) return false;
  Int difference = sub(q, p), total = add(q, p);
  const Interval apart_by = difference ? difference->bounds : Interval{};
  const Interval together = total ? total->bounds : Interval{};
  if (b == y && !y->equal) return apart_by.high <= 0 || (x->equal && together.high <= 0);
  if (b == y) return false;
  if (y->equal) {
    if (x->equal) return !apart_by.contains(0) || !together.contains(0);
    return together.low >= 1 || apart_by.high <= -1;
  }
  return false;
}

Cond Context::State::pair(Form form, Cond a, Cond b) {
  if (a->form == Form::constant || b->form == Form::constant) return combined(form, std::array{a, b});
  const std::uint64_t key = named(
      form == Form::conjunction ? 1 : 2, std::uint64_t{a->index} << 32 | b->index);
  if (const Cond* found = pairs.find(key)) return *found;
  const std::uint32_t made = made_conds;
  const Cond result = combined(form, std::array{a, b});
  // What has grown too large is another unknown condition each time.
  if (result->form != Form::opaque || result->index < made) pairs.put(key, result);
  return result;
}

Cond Context::State::combined(Form form, std::span<const Cond> operands) {
  const bool all = form == Form::conjunction;
  std::vector<Cond> flat;
  const auto add_operand = [&](Cond operand) {
    if (std::find(flat.begin(), flat.end(), operand) == flat.end()) flat.push_back(operand);
  };
  for (Cond operand : operands) {
    if (operand->form == Form::constant) {
      if (operand->truth != all) return operand;
      continue;
    }
    if (operand->form == form)
      for (Cond inner : operand->operands) add_operand(inner);
    else
      add_operand(operand);
  }
  for (Cond each : flat)
    if (std::find(flat.begin(), flat.end(), negation(each)) != flat.end()) return boolean(!all);
  if (flat.size() <= most_paired)
    for (std::size_t i = 0; i < flat.size();) {
      bool superfluous = false;
      for (std::size_t j = 0; j < flat.size() && !superfluous; ++j) {
        if (i == j) continue;
        Cond each = flat[i], other = flat[j];
        Cond opposite_of_other = negation(other);
        const auto& inner = each->sorted;
        superfluous = each->form == (all ? Form::disjunction : Form::conjunction) &&
            std::find(inner.begin(), inner.end(), other) != inner.end();
        if (all) {
          if (implies(each, opposite_of_other)) return boolean(false);
          superfluous = superfluous || implies(other, each);
        } else {
          if (implies(opposite_of_other, each)) return boolean(true);
          superfluous = superfluous || implies(each, other);
        }
      }
      if (superfluous)
        flat.erase(flat.begin() + static_cast<std::ptrdiff_t>(i));
      else
        ++i;
    }
  if (flat.empty()) return boolean(all);
  if (flat.size() == 1) return flat[0];

  CondNode draft;
  draft.form = form;
  std::uint64_t size = 1;
  for (Cond operand : flat) {
    draft.sharing = mix(draft.sharing, operand->sharing);
    draft.depth = std::max(draft.depth, operand->depth);
    size += operand->size;
  }
  if (size > largest_condition || draft.depth >= deepest_condition || flat.size() > most_terms)
    return opaque({}, draft.sharing);
  draft.size = static_cast<std::uint32_t>(size);
  ++draft.depth;
  std::vector<Cond> sorted = flat;
  std::sort(sorted.begin(), sorted.end(), [](Cond x, Cond y) { return x->index < y->index; });
  draft.operands = flat;
  draft.sorted = sorted;
  draft.hash = hash_of(form, sorted);
  return intern(draft);
}

}  // namespace stepzero::symbolic
