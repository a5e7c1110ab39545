// How nodes are made, and made once. Knows no arithmetic.
#include "symbolic/state.hpp"

namespace stepzero::symbolic {

namespace {

bool same(std::span<const Term> a, std::span<const Term> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Term& x, const Term& y) {
    return x.coefficient == y.coefficient && x.monomial == y.monomial;
  });
}

}  // namespace

Sharing mix(Sharing a, Sharing b) { return std::max(a, b); }

Context::State::State() {
  auto* one = make<Monomial>();
  unit = one;
  monomials.insert(one);
  for (bool value : {false, true}) {
    CondNode draft;
    draft.form = Form::constant;
    draft.truth = value;
    draft.hash = value ? 1 : 2;
    truths[value ? 1 : 0] = intern(draft);
  }
  truths[0]->negation = truths[1];
  truths[1]->negation = truths[0];
}

std::string_view Context::State::keep(std::string_view text) {
  const std::span<const char> kept = keep(std::span<const char>(text));
  return {kept.data(), kept.size()};
}

Int Context::State::make_constant(std::int64_t value) {
  const bool is_small = value >= least_small && value <= greatest_small;
  const std::uint32_t hash = scramble(0x51, static_cast<std::uint64_t>(value));
  if (!is_small)
    if (Int found = ints.find(
            hash, [&](const IntNode& node) { return node.constant() && node.value() == value; }))
      return found;
  auto* node = make<IntNode>();
  node->kind = Kind::constant;
  node->index = made_ints++;
  node->hash = hash;
  node->bounds = Interval::point(value);
  node->own = {value, unit};
  if (value != 0) node->terms = {&node->own, 1};
  if (is_small)
    small[static_cast<std::size_t>(value - least_small)] = node;
  else
    ints.insert(node);
  return node;
}

IntNode* Context::State::new_atom(Kind kind, std::span<const Int> operands) {
  auto* node = make<IntNode>();
  node->kind = kind;
  node->index = made_ints++;
  node->number = static_cast<std::uint32_t>(known.size());
  node->mentions = mention(node->number);
  for (Int operand : operands) node->mentions |= operand->mentions;
  const Factor factor{node, 1};
  node->own = {1, intern(std::span(&factor, 1))};
  node->terms = {&node->own, 1};
  return node;
}

Int Context::State::fresh(AtomInfo info) {
  IntNode* node = new_atom(Kind::atom);
  node->sharing = info.sharing;
  node->bounds = {
      info.lower.value_or(Interval::unbounded_below), info.upper.value_or(Interval::unbounded_above)};
  if (node->bounds.empty()) node->bounds = {};
  any_varies = any_varies || info.varies;
  infos.push_back(std::move(info));
  node->info = &infos.back();
  known.push_back(node->bounds);
  return node;
}

Int Context::State::operation(Kind kind, std::span<const Int> operands) {
  std::uint64_t hash = static_cast<std::uint64_t>(kind);
  std::uint64_t size = 1;
  std::uint8_t depth = 0;
  Sharing shared = Sharing::uniform;
  for (Int operand : operands) {
    hash = scramble(hash, operand->index);
    size += operand->size;
    depth = std::max(depth, operand->depth);
    shared = mix(shared, operand->sharing);
  }
  if (depth >= deepest || size > largest) return nullptr;
  const auto small_hash = static_cast<std::uint32_t>(hash);
  if (Int found = ints.find(small_hash, [&](const IntNode& node) {
        return node.kind == kind &&
            std::equal(operands.begin(), operands.end(), node.operands.begin(), node.operands.end());
      }))
    return found;
  std::vector<Interval> parts;
  parts.reserve(operands.size());
  for (Int operand : operands) parts.push_back(operand->bounds);
  IntNode* node = new_atom(kind, operands);
  node->operands = keep(operands);
  node->hash = small_hash;
  node->size = static_cast<std::uint32_t>(size);
  node->depth = static_cast<std::uint8_t>(depth + 1);
  node->sharing = shared;
  node->bounds = operation_bounds(kind, parts);
  known.push_back(node->bounds);
  ints.insert(node);
  return node;
}

const Monomial* Context::State::intern(std::span<const Factor> factors) {
  if (factors.empty()) return unit;
  std::uint64_t hash = 0x77;
  std::uint32_t degree = 0;
  for (const Factor& factor : factors) {
    hash = scramble(hash, (std::uint64_t{factor.atom->index} << 32) | factor.power);
    degree += factor.power;
  }
  const auto small_hash = static_cast<std::uint32_t>(hash);
  if (const Monomial* found = monomials.find(small_hash, [&](const Monomial& node) {
        return std::equal(factors.begin(), factors.end(), node.factors.begin(), node.factors.end(),
            [](const Factor& x, const Factor& y) { return x.atom == y.atom && x.power == y.power; });
      }))
    return found;
  auto* node = make<Monomial>();
  node->factors = keep(factors);
  node->degree = degree;
  node->hash = small_hash;
  for (const Factor& factor : factors) node->mentions |= factor.atom->mentions;
  monomials.insert(node);
  return node;
}

Int Context::State::intern(std::span<const Term> terms) {
  if (terms.empty()) return constant(0);
  if (terms.size() == 1) {
    const Monomial* only = terms[0].monomial;
    if (only->degree == 0) return constant(terms[0].coefficient);
    if (terms[0].coefficient == 1 && only->degree == 1) return only->factors[0].atom;
  }
  std::uint64_t hash = 0x99;
  for (const Term& term : terms)
    hash = scramble(hash ^ term.monomial->hash, static_cast<std::uint64_t>(term.coefficient));
  const auto small_hash = static_cast<std::uint32_t>(hash);
  if (Int found = ints.find(
          small_hash, [&](const IntNode& node) { return node.kind == Kind::sum && same(node.terms, terms); }))
    return found;
  if (terms.size() > most_terms) return nullptr;
  std::uint64_t size = 1;
  std::uint8_t depth = 0;
  Sharing shared = Sharing::uniform;
  Interval range = Interval::point(0);
  for (const Term& term : terms) {
    size += 1;
    for (const Factor& factor : term.monomial->factors) {
      size += factor.atom->size;
      depth = std::max(depth, factor.atom->depth);
      shared = mix(shared, factor.atom->sharing);
    }
    range = range + bounds(term, Use::form);
  }
  if (size > largest) return nullptr;
  auto* node = make<IntNode>();
  node->kind = Kind::sum;
  node->index = made_ints++;
  node->hash = small_hash;
  for (const Term& term : terms) node->mentions |= term.monomial->mentions;
  node->terms = keep(terms);
  node->size = static_cast<std::uint32_t>(size);
  node->depth = depth;
  node->sharing = shared;
  node->bounds = range;
  ints.insert(node);
  return node;
}

Cond Context::State::intern(const CondNode& draft) {
  if (Cond found = conds.find(draft.hash, [&](const CondNode& node) {
        return node.form == draft.form && draft.form != Form::opaque && node.truth == draft.truth &&
            node.equal == draft.equal && node.polynomial == draft.polynomial &&
            std::equal(node.sorted.begin(), node.sorted.end(), draft.sorted.begin(), draft.sorted.end());
      }))
    return found;
  auto* node = make<CondNode>();
  *node = draft;
  node->index = made_conds++;
  if (node->form == Form::opaque)
    node->mentions = mention(Mentions().size() - 1 - node->index % Mentions().size());
  if (node->polynomial) node->mentions |= node->polynomial->mentions;
  node->operands = keep(draft.operands);
  node->sorted = keep(draft.sorted);
  for (Cond operand : node->operands) node->mentions |= operand->mentions;
  conds.insert(node);
  assumed.push_back(Answer::unknown);
  return node;
}

}  // namespace stepzero::symbolic
