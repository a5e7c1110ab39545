#include "interpreter/builtins/lacking_keys.hpp"

#include "interpreter/reasons.hpp"

#include "syntax/spelling.hpp"
#include "values/limits.hpp"

#include <algorithm>
#include <cctype>

namespace stepzero::interpreter {

using values::Kind;

namespace {
constexpr std::size_t most_named = 6;  // keys that a message lists
}

namespace {
// The object as it is written before the brackets, or other words for it.
std::string owner_of(Interpreter& run, const syntax::Expr& node, Place where, std::string_view otherwise) {
  const std::string_view owner = run.record().text(
      {where.chunk, syntax::as<syntax::SubscriptExpr>(node).object->span});
  return values::is_quotable(owner) ? "`" + std::string(owner) + "`" : std::string(otherwise);
}
// A key: `lr`, `3`; a text that would read as a number keeps its quotes: `'3'`.
std::string written(Interpreter& run, Value key) {
  if (key.is(Kind::string)) {
    const std::string text(key.text());
    const bool reads_as_name = !text.empty() &&
        (std::isalpha(static_cast<unsigned char>(text[0])) || text[0] == '_');
    return reads_as_name ? "`" + text + "`" : "`'" + text + "'`";
  }
  const auto number = run.to_constant(key);
  return number ? "`" + std::to_string(*number) + "`" : "?";
}
}  // namespace

void judge_beyond_end(Interpreter& run, Value sequence, std::int64_t size, std::int64_t index,
    const syntax::Expr& node, Place where) {
  if (node.kind != syntax::ExprKind::subscript || run.assumption() || size == 0) return;
  const bool tuple = sequence.is(Kind::tuple);
  explain(*run.problem_at(values::ProblemKind::index, where, &node),
      why<Reason::item_beyond>(owner_of(run, node, where, tuple ? "This tuple" : "This list"), size, index));
}

void judge_lacking_key(Interpreter& run, Value dict, Value key, const syntax::Expr& node, Place where) {
  const bool text = key.is(Kind::string);
  if ((!text && !(key.is(Kind::integer) && run.to_constant(key))) ||
      node.kind != syntax::ExprKind::subscript || run.assumption())
    return;
  const auto& object = *dict.as<values::Dict>();
  const values::DictState& state = *values::Heap::dict_state(dict);
  if (state.open || state.items.empty() || object.factory || object.counts || object.mirrored) return;
  std::vector<std::string> names;
  std::string meant;
  std::size_t named = 0, least = text && key.text().size() > 4 ? 3 : 2;
  for (const auto& [each, value] : state.items) {
    if (!run.known_key(each) || run.same_key(each, key)) return;
    // Taken away on some paths, or on all.
    if (!(each.is(Kind::string) || each.is(Kind::integer)) || !value || value.is(Kind::choice)) continue;
    if (named++ < most_named) names.push_back(written(run, each));
    if (!text || !each.is(Kind::string)) continue;
    if (const std::size_t letters = syntax::letters_between(key.text(), each.text(), least - 1);
        letters < least) {
      least = letters;
      meant = each.text();
    }
  }
  if (named == 0) return;
  ProblemEvent* event = run.problem_at(values::ProblemKind::no_attribute, where, &node);
  explain(*event,
      NoSuchKey{owner_of(run, node, where, "This dict"), written(run, key), std::move(names),
          named > most_named, meant});
  const syntax::Expr& index = *syntax::as<syntax::SubscriptExpr>(node).index;
  if (!meant.empty() && index.kind == syntax::ExprKind::string) {
    const std::string_view written = run.record().text({where.chunk, index.span});
    if (const auto at = written.find(key.text()); at != std::string_view::npos) {
      std::string mended(written);
      mended.replace(at, key.text().size(), meant);
      event->suggested_edits.push_back(
          {SuggestedEdit::How::replace, "", &index, mended, "Write '" + meant + "'"});
    }
  }
}

}  // namespace stepzero::interpreter
