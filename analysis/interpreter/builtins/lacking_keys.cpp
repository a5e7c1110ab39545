#include "interpreter/builtins/lacking_keys.hpp"

#include "syntax/spelling.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using values::Kind;

namespace {
constexpr std::size_t most_named = 6;  // keys that a message lists
}

void judge_lacking_key(Interpreter& run, Value dict, Value key, const syntax::Expr& node, Place where) {
  if (!key.is(Kind::string) || node.kind != syntax::ExprKind::subscript || run.assumption()) return;
  const auto& object = *dict.as<values::Dict>();
  const values::DictState& state = *values::Heap::dict_state(dict);
  if (state.open || state.items.empty() || object.factory || object.counts || object.mirrored) return;
  std::string names, meant;
  std::size_t named = 0, least = key.text().size() > 4 ? 3 : 2;
  for (const auto& [each, value] : state.items) {
    if (!run.known_key(each) || run.same_key(each, key)) return;
    // Taken away on some paths, or on all.
    if (!each.is(Kind::string) || !value || value.is(Kind::choice)) continue;
    if (named++ < most_named) names += (names.empty() ? "'" : ", '") + std::string(each.text()) + "'";
    if (const std::size_t letters = syntax::letters_between(key.text(), each.text()); letters < least) {
      least = letters;
      meant = each.text();
    }
  }
  if (named == 0) return;
  const std::string_view owner = run.record().text(
      {where.chunk, syntax::as<syntax::SubscriptExpr>(node).object->span});
  const bool short_enough = !owner.empty() && owner.size() <= 40 &&
      owner.find('\n') == std::string_view::npos;
  ProblemEvent* event = run.problem_at(values::ProblemKind::no_attribute, where, &node,
      (short_enough ? "`" + std::string(owner) + "`" : std::string("This dict")) + " has no key '" +
          std::string(key.text()) + "': reading it raises KeyError. It has " + names +
          (named > most_named ? "…" : "") + (meant.empty() ? "" : ". Did you mean '" + meant + "'?"));
  const syntax::Expr& index = *syntax::as<syntax::SubscriptExpr>(node).index;
  if (!meant.empty() && index.kind == syntax::ExprKind::string) {
    const std::string_view written = run.record().text({where.chunk, index.span});
    if (const auto at = written.find(key.text()); at != std::string_view::npos) {
      std::string text(written);
      text.replace(at, key.text().size(), meant);
      event->cures.push_back({SuggestedEdit::How::replace, "", &index, text, "Write '" + meant + "'"});
    }
  }
}

}  // namespace stepzero::interpreter
