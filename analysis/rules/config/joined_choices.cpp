// config/joined-choices: two texts of a list of choices are one, since the comma between them is missing.
#include "rules/rule.hpp"
#include "rules/training/training.hpp"
#include "syntax/walk.hpp"
#include "values/limits.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <cctype>
#include <span>

namespace stepzero::rules::config::joined_choices {

using values::code;

namespace {

bool is_word(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char each) {
    return std::isalnum(each) || each == '_' || each == '-' || each == '.';
  });
}

// The two words of `'a' 'b'` as they are written on one line; empty: it is nothing of the kind.
std::pair<std::string_view, std::string_view> two_words(std::string_view text) {
  if (text.size() < 6 || (text[0] != '\'' && text[0] != '"')) return {};
  const auto end = text.find(text[0], 1);
  if (end == std::string_view::npos) return {};
  const auto next = text.find_first_not_of(' ', end + 1);
  if (next == std::string_view::npos || (text[next] != '\'' && text[next] != '"')) return {};
  const auto last = text.find(text[next], next + 1);
  if (last != text.size() - 1) return {};
  const std::string_view one = text.substr(1, end - 1), other = text.substr(next + 1, last - next - 1);
  return is_word(one) && is_word(other) ? std::pair(one, other)
                                        : std::pair<std::string_view, std::string_view>();
}

// What is written in brackets.
std::span<const syntax::Expr* const> elements_of(const syntax::Expr& expr) {
  switch (expr.kind) {
  case syntax::ExprKind::list: return syntax::as<syntax::ListExpr>(expr).elements;
  case syntax::ExprKind::tuple: return syntax::as<syntax::TupleExpr>(expr).elements;
  case syntax::ExprKind::set: return syntax::as<syntax::SetExpr>(expr).elements;
  default: return {};
  }
}

void look_at(
    const Record& record, Report& report, Once& once, std::uint32_t chunk, const syntax::Expr& choices) {
  const auto elements = elements_of(choices);
  // Other choices are single words, each by itself.
  std::size_t words = 0;
  for (const syntax::Expr* each : elements) {
    if (each->kind != syntax::ExprKind::string || !is_word(syntax::as<syntax::StringExpr>(*each).value))
      return;
    words += two_words(record.text({chunk, each->span})).first.empty();
  }
  if (words == 0) return;
  for (const syntax::Expr* each : elements) {
    const std::string text(record.text({chunk, each->span}));
    const auto [one, other] = two_words(text);
    if (one.empty() || !values::is_quotable(text) || !once({chunk, each->span})) continue;
    report.add(Severity::warning, {chunk, each->span}, nullptr,
        code(text) + " is one text, " + code(std::string(one) + std::string(other)) + ": neither " +
            code(std::string(one)) + " nor " + code(std::string(other)) +
            " is among the choices. Put a comma between them.");
  }
}

void check(const Record& record, Report& report) {
  Once once;
  for (std::uint32_t i = 1; i < record.chunks.size(); ++i) {
    const interpreter::ChunkOf& chunk = record.chunks[i];
    if (!chunk.statement() || !record.in_file({i, chunk.chunk->stmt->span})) continue;
    syntax::for_each_expression(*chunk.chunk->stmt, [&](const syntax::Expr& expr) {
      if (expr.kind == syntax::ExprKind::compare) {
        const auto& compare = syntax::as<syntax::CompareExpr>(expr);
        for (std::size_t k = 0; k < compare.ops.size(); ++k)
          if (compare.ops[k] == syntax::CompareOp::in || compare.ops[k] == syntax::CompareOp::not_in)
            look_at(record, report, once, i, *compare.rights[k]);
      }
      if (expr.kind == syntax::ExprKind::call)
        for (const syntax::Keyword& each : syntax::as<syntax::CallExpr>(expr).keywords)
          if (each.name.text() == "choices") look_at(record, report, once, i, *each.value);
    });
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "config/joined-choices",
    .severity = Severity::warning,
    .summary = "two of the texts that are allowed are one, as the comma between them is missing",
    .why =
        "Python joins texts that stand beside each other: `['mean' 'sum', 'none']` has two items, `meansum` and `none`. Where it is what an option may be, both of its words are refused, or the branch that is meant for them is never taken.",
    .wrong = "assert reduction in [\"mean\" \"sum\", \"none\"]\n",
    .right = "assert reduction in [\"mean\", \"sum\", \"none\"]\n",
    .silent =
        "Texts of several words, or over several lines; lists that no `in` asks and that are not the choices of an option; lists without another word.",
    .fix = "None: the two may be one word that was split.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::config::joined_choices
