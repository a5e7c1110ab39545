#include "interpreter/roots/declared_arguments.hpp"

#include "interpreter/reasons.hpp"

#include "interpreter/classes/meant_name.hpp"
#include "syntax/spelling.hpp"
#include "values/kept.hpp"

#include <set>

namespace stepzero::interpreter {

using values::Kind;

namespace {

// Is the name written anywhere as something that is set: `args.name =`, `"name"` for setattr or a dict of
// defaults?
bool is_set_somewhere(const Record& record, std::string_view name) {
  std::set<const void*> seen;
  const std::string attribute = "." + std::string(name), single = "'" + std::string(name) + "'",
                    twice = "\"" + std::string(name) + "\"";
  for (const ChunkOf& chunk : record.chunks) {
    if (!chunk.module || !seen.insert(chunk.module.get()).second) continue;
    const std::string_view text = chunk.module->text->bytes();
    // What is set by a name that is computed.
    for (const std::string_view way : {"setattr(", "__dict__", "vars("})
      if (text.find(way) != std::string_view::npos) return true;
    if (text.find(single) != std::string_view::npos || text.find(twice) != std::string_view::npos)
      return true;
    for (auto at = text.find(attribute); at != std::string_view::npos; at = text.find(attribute, at + 1)) {
      auto end = at + attribute.size();
      while (end < text.size() && (text[end] == ' ' || text[end] == '\t')) ++end;
      if (end >= text.size()) continue;
      const char next = text[end], after = end + 1 < text.size() ? text[end + 1] : ' ';
      if ((next == '=' && after != '=') ||
          (std::string_view("+-*/|").find(next) != std::string_view::npos && after == '='))
        return true;
    }
  }
  return false;
}

}  // namespace

void judge_declared(Interpreter& run, const values::Instance& object, syntax::Name name, Place where) {
  static const syntax::Name declared_names(values::ParserState::known_names);
  const values::Slot* slot = object.cls ? nullptr : object.attributes.find(declared_names);
  const Value declared = slot ? run.resolve(slot->value) : Value{};
  const std::string_view wanted = name.text();
  if (!declared.is(Kind::list) || wanted.starts_with("_") || object.attributes.find(handed_out)) return;
  const std::string_view written = run.record().text(where);
  if (!written.ends_with(wanted) || written.size() <= wanted.size() ||
      written[written.size() - wanted.size() - 1] != '.')
    return;
  std::string meant;
  for (const Value& each : values::Heap::list_state(declared)->items) {
    if (!each.is(Kind::string) || each.text() == wanted) return;
    if (wanted.size() > 1 &&
        syntax::letters_between(wanted, each.text()) <=
            (std::min(wanted.size(), each.text().size()) > 4 ? 2u : 1u))
      meant = each.text();
  }
  if (is_set_somewhere(run.record(), wanted)) return;
  ProblemEvent* problem = run.problem_at(values::ProblemKind::undeclared, where, nullptr);
  explain(*problem,
      meant.empty() ? why<Reason::not_declared>(wanted) : why<Reason::declared_otherwise>(wanted, meant));
  offer_name(run.record(), *problem, name, meant);
}

}  // namespace stepzero::interpreter
