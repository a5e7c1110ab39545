// Expressions and conditions as a user would write them in Python.
#include "symbolic/state.hpp"

#include <algorithm>

namespace stepzero::symbolic {
namespace {

enum class Level : std::uint8_t { sum, product, factor };

void write(std::string& out, Int a, Level level);

std::string enclosed(Int a, Level level) {
  std::string out;
  write(out, a, level);
  return out;
}

// An atom alone: a name, a call, or an operation of the product level.
void write_atom(std::string& out, Int atom, Level level) {
  switch (atom->kind) {
  case Kind::atom: out += atom->info->name.empty() ? "?" : atom->info->name; return;
  case Kind::min:
  case Kind::max: {
    // In an order that does not depend on what was met first: numbers first in max, last in min.
    std::vector<std::pair<bool, std::string>> operands;
    operands.reserve(atom->operands.size());
    for (Int operand : atom->operands)
      operands.emplace_back(
          (operand->kind == Kind::constant) == (atom->kind == Kind::min), enclosed(operand, Level::sum));
    std::sort(operands.begin(), operands.end());
    out += atom->kind == Kind::min ? "min(" : "max(";
    const char* separator = "";
    for (const auto& [late, text] : operands) {
      out += separator + text;
      separator = ", ";
    }
    out += ')';
    return;
  }
  default: break;
  }
  const bool brackets = level == Level::factor;
  if (brackets) out += '(';
  // x % 8//2 would read as if 8//2 came first.
  const bool mod_in_floordiv = atom->kind == Kind::floordiv && atom->operands[0]->kind == Kind::mod;
  write(out, atom->operands[0], mod_in_floordiv ? Level::factor : Level::product);
  out += atom->kind == Kind::mod ? " % " : "//";
  write(out, atom->operands[1], Level::factor);
  if (brackets) out += ')';
}

void write_magnitude(std::string& out, const Term& term) {
  const std::uint64_t coefficient = magnitude(term.coefficient);
  const auto factors = term.monomial->factors;
  if (coefficient != 1 || factors.empty()) out += std::to_string(coefficient);
  const bool alone = coefficient == 1 && term.coefficient > 0 && factors.size() == 1 && factors[0].power == 1;
  const char* separator = coefficient != 1 ? "*" : "";
  for (const Factor& factor : factors) {
    out += separator;
    write_atom(out, factor.atom, alone ? Level::product : Level::factor);
    if (factor.power > 1) out += "**" + std::to_string(factor.power);
    separator = "*";
  }
}

void write(std::string& out, Int a, Level level) {
  if (a->atomic()) return write_atom(out, a, level);
  if (a->terms.empty()) {
    out += '0';
    return;
  }
  const bool plain = a->constant() && a->value() >= 0;
  const bool brackets = !plain &&
      (level == Level::factor || (level == Level::product && a->terms.size() > 1));
  if (brackets) out += '(';
  // A positive term comes first if there is one.
  const auto first = std::find_if(
      a->terms.begin(), a->terms.end(), [](const Term& t) { return t.coefficient > 0; });
  const Term* lead = first == a->terms.end() ? &a->terms[0] : &*first;
  if (lead->coefficient < 0) out += '-';
  write_magnitude(out, *lead);
  for (const Term& term : a->terms) {
    if (&term == lead) continue;
    out += term.coefficient < 0 ? " - " : " + ";
    write_magnitude(out, term);
  }
  if (brackets) out += ')';
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

enum class Around : std::uint8_t { nothing, disjunction, conjunction, negation };

void write(std::string& out, Cond a, Around around) {
  switch (a->form) {
  case Context::Form::constant: out += a->truth ? "True" : "False"; return;
  case Context::Form::compare:
    out += enclosed(a->left, Level::sum) + spelling(a->written) + enclosed(a->right, Level::sum);
    return;
  case Context::Form::opaque: {
    const bool brackets = (around == Around::negation && has(a->name, " ")) ||
        (around == Around::conjunction && (has(a->name, " or ") || has(a->name, " if ")));
    if (brackets) out += '(';
    out += a->name.empty() ? "?" : a->name;
    if (brackets) out += ')';
    return;
  }
  case Context::Form::negation: {
    Cond inner = a->operands[0];
    if (a->left) {
      out += enclosed(a->left, Level::sum) + spelling(a->written) + enclosed(a->right, Level::sum);
      return;
    }
    out += "not ";
    const bool brackets = inner->form != Context::Form::opaque;
    if (brackets) out += '(';
    write(out, inner, Around::negation);
    if (brackets) out += ')';
    return;
  }
  default: break;
  }
  const bool all = a->form == Context::Form::conjunction;
  const bool brackets = !all && around == Around::conjunction;
  if (brackets) out += '(';
  const char* separator = "";
  for (Cond operand : a->operands) {
    out += separator;
    write(out, operand, all ? Around::conjunction : Around::disjunction);
    separator = all ? " and " : " or ";
  }
  if (brackets) out += ')';
}

}  // namespace

std::string Context::State::text(Int a) { return enclosed(a, Level::sum); }

std::string Context::State::text(Cond a) {
  std::string out;
  write(out, a, Around::nothing);
  return out;
}

}  // namespace stepzero::symbolic
