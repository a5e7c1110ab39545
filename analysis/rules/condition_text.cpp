#include "rules/condition_text.hpp"

#include "values/limits.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::rules {

using interpreter::Record;
using Form = symbolic::Context::Form;

namespace {

// Does a condition of this name say in words what is supposed? What the program asks, it asks by a name or by
// a comparison: after its first word stands an operator.
bool is_prose(std::string_view name) {
  constexpr std::string_view operators[] = {"==", "!=", "<", "<=", ">", ">=", "in", "is", "not", "and", "or",
      "+", "-", "*", "/", "//", "%", "@", "**", "&", "|", "^", "<<", ">>", "if"};
  const std::size_t space = name.find(' ');
  if (space == std::string_view::npos || name.starts_with("not ")) return false;
  if (name.starts_with('`')) return true;
  const std::string_view rest = name.substr(space + 1), second = rest.substr(0, rest.find(' '));
  return name.find('(') > space && std::ranges::find(operators, second) == std::end(operators);
}

std::string when(std::string words) { return words.empty() ? words : " when " + words; }

}  // namespace

std::string in_words(const Record& record, symbolic::Cond condition) {
  const symbolic::Context& symbols = record.symbols;
  if (!symbols.is_named(condition)) return {};
  std::string text = symbols.text(condition);
  const Form form = symbols.form(condition);
  if (form == Form::conjunction) {
    text.clear();
    for (const symbolic::Cond part : symbols.operands(condition))
      text += (text.empty() ? "" : " and ") + in_words(record, part);
    return text;
  }
  const symbolic::Cond asked = form == Form::negation ? symbols.operands(condition)[0] : condition;
  const auto named = record.conditions.find(symbols.text(asked));
  const bool in_prose = named != record.conditions.end() && named->second == asked && is_prose(named->first);
  return in_prose ? text : values::code(text);
}

std::string in_words(const Record& record, const Turn& turn) {
  const interpreter::BranchEvent& branch = *turn.branch;
  if (branch.condition) {
    const symbolic::Cond side = turn.yes ? branch.condition : record.symbols.logical_not(branch.condition);
    if (std::string text = in_words(record, side); !text.empty()) return text;
  }
  if (!branch.stmt || branch.stmt->kind != syntax::StmtKind::if_) return {};
  const std::string_view test = record.text(
      {branch.place.chunk, syntax::as<syntax::IfStmt>(*branch.stmt).test->span});
  if (!values::is_quotable(test)) return {};
  return values::code(turn.yes ? std::string(test) : "not (" + std::string(test) + ")");
}

std::string when_text(const Record& record, symbolic::Cond condition) {
  return when(in_words(record, condition));
}
std::string when_text(const Record& record, const Turn& turn) { return when(in_words(record, turn)); }
std::string when_text(const Record& record, const std::vector<Turn>& turns) {
  std::string text;
  for (const Turn& turn : turns)
    if (const std::string side = in_words(record, turn); !side.empty())
      text += (text.empty() ? "" : " and ") + side;
  return when(std::move(text));
}

}  // namespace stepzero::rules
