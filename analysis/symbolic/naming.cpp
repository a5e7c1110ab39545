// Which symbols have names. An atom or an opaque condition without one is anonymous; a combination is named
// if all of its parts are.
#include "symbolic/naming.hpp"

#include "symbolic/state.hpp"

#include <algorithm>

namespace stepzero::symbolic {
namespace {

// What is not known of a name that was put together stands in it as `?`: "? % every".
constexpr char unknown_part = '?';
bool is_named(std::string_view name) { return !name.empty() && name.find(unknown_part) == name.npos; }
bool is_uncalled(std::string_view name) { return is_named(name) && name.find('(') == std::string_view::npos; }

using Fits = bool (*)(std::string_view);

bool all_names(Int a, Fits fits) {
  if (a->kind == Kind::atom) return fits(a->info->name);
  if (a->atomic())
    return std::ranges::all_of(a->operands, [&](Int operand) { return all_names(operand, fits); });
  return std::ranges::all_of(a->terms, [&](const Term& term) {
    return std::ranges::all_of(
        term.monomial->factors, [&](const Factor& factor) { return all_names(factor.atom, fits); });
  });
}

// By the sides as they were written: what both have is none of the polynomial's atoms.
bool all_names(Cond a, Fits fits) {
  if (a->left) return all_names(a->left, fits) && all_names(a->right, fits);
  if (a->form == Context::Form::opaque) return fits(a->name);
  return std::ranges::all_of(a->operands, [&](Cond operand) { return all_names(operand, fits); });
}

}  // namespace

bool is_anonymous(Cond condition) {
  return condition && condition->form == Context::Form::opaque && condition->name.empty();
}

bool asks_by_names(Cond condition) { return condition && all_names(condition, is_uncalled); }

bool Context::is_named(Cond a) const { return a && all_names(a, symbolic::is_named); }

bool Context::State::is_named(Int a) { return all_names(a, symbolic::is_named); }

}  // namespace stepzero::symbolic
