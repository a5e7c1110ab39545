// call/not-called: a statement that only names a function or a method, and so does nothing.
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/training.hpp"
#include "values/limits.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <map>

namespace stepzero::rules::call::not_called {

using namespace interpreter;
using values::code;
using values::Kind;

namespace {

// Can it be called without arguments? Of a method the object is the first.
bool takes_nothing(Value value) {
  bool bound = false;
  if (value.is(Kind::bound)) {
    bound = true;
    value = value.as<values::Bound>()->function;
  }
  if (value.is(Kind::library)) {
    const values::Row* row = value.as<values::LibrarySymbol>()->row;
    for (std::size_t i = 0; row && i < row->parameters.size(); ++i)
      if (i >= row->defaults.size() || row->defaults[i].kind == Kind::absent) return false;
    return row != nullptr;
  }
  if (!value.is(Kind::function) || !value.as<values::Function>()->parameters) return false;
  bool is_object = bound;  // the first parameter
  for (const syntax::Parameter& each : value.as<values::Function>()->parameters->list) {
    const bool needs = !each.default_value &&
        (each.kind == syntax::ParameterKind::positional_only || each.kind == syntax::ParameterKind::normal ||
            each.kind == syntax::ParameterKind::keyword_only);
    if (needs && !is_object) return false;
    is_object = false;
  }
  return true;
}

// Who asks whether something is there expects that it may fail: `try: model.generate`.
bool is_asked_for(const Record& record, Place place) {
  const auto path = enclosing(*record.chunk(place).chunk->stmt, place.span);
  return std::ranges::any_of(path, [](const Enclosing& each) {
    return each.stmt->kind == syntax::StmtKind::try_ || each.stmt->kind == syntax::StmtKind::with;
  });
}

void check(const Record& record, Report& report) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<const Fact*>> statements;
  for (const Fact& fact : record.facts)
    if (fact.role == Fact::Role::statement && record.in_file(fact.place))
      statements[{fact.place.chunk, fact.place.span.begin}].push_back(&fact);
  for (const auto& [at, facts] : statements) {
    const Fact& first = *facts.front();
    const bool is_callable = std::ranges::all_of(facts,
        [](const Fact* fact) { return fact->value.is(Kind::bound) || fact->value.is(Kind::function); });
    const std::string text(record.text(first.place));
    if (!is_callable || !values::is_quotable(text) || text.ends_with(')') ||
        is_asked_for(record, first.place))
      continue;
    const bool complete = std::ranges::all_of(
        facts, [](const Fact* fact) { return takes_nothing(fact->value); });
    Finding* finding = report.add(Severity::warning, first.place, nullptr,
        code(text) + " is named here and not called, so the statement does nothing. Call it: " +
            code(text + (complete ? "()" : "(…)")) + ".");
    if (!finding || !complete) continue;
    Fix fix;
    fix.title = "Call " + text + "()";
    fix.edits.push_back(
        {report.location({first.place.chunk, {first.place.span.end, first.place.span.end}}), "()"});
    finding->fixes.push_back(std::move(fix));
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "call/not-called",
    .severity = Severity::warning,
    .summary = "a statement that names a function or a method and does not call it",
    .why =
        "Python takes `optimizer.step` for an expression, computes it and drops it: nothing is stepped, nothing is cleared, the model stays in training mode, and no error tells of it.",
    .wrong = "loss.backward()\n"
             "optimizer.step\n",
    .right = "loss.backward()\n"
             "optimizer.step()\n",
    .silent =
        "A name in a `try` or a `with`, where a program asks whether something is there; attributes that are no functions; objects that are not seen.",
    .fix = "Adds the parentheses, where the function needs no arguments.",
    .fix_kind = FixKind::needs_decision,
    .check = check,
});

}  // namespace stepzero::rules::call::not_called
