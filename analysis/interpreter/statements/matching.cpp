// `match`: patterns as conditions, and the names that they bind.
#include "interpreter/interpreter.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

Flow Interpreter::run_match(const MatchStmt& stmt, std::size_t from, Value subject) {
  if (from == stmt.cases.size()) return Flow::normal;
  const MatchCase& arm = stmt.cases[from];
  Cond condition = match_condition(*arm.pattern, subject);
  if (arm.guard) condition = symbols().logical_and(condition, truth(evaluate(*arm.guard)));
  return fork(
      condition, nullptr, {chunk_, arm.span}, [&] { return run_block(arm.body); },
      [&] { return run_match(stmt, from + 1, subject); });
}

Cond Interpreter::match_condition(const Pattern& pattern, Value subject) {
  const auto open = [&] { return symbols().opaque("a pattern", heap().sharing(subject)); };
  switch (pattern.kind) {
  case PatternKind::wildcard: return symbols().boolean(true);
  case PatternKind::capture:
    heap().set(variable(as<CapturePattern>(pattern).name), subject);
    return symbols().boolean(true);
  case PatternKind::value: return truth(compare(CompareOp::eq, subject, evaluate(*as<ValuePattern>(pattern).value)));
  case PatternKind::as: {
    const auto& named = as<AsPattern>(pattern);
    heap().set(variable(named.name), subject);
    return named.pattern ? match_condition(*named.pattern, subject) : symbols().boolean(true);
  }
  case PatternKind::or_: {
    Cond any = symbols().boolean(false);
    for (const Pattern* alternative : as<OrPattern>(pattern).alternatives)
      any = symbols().logical_or(any, match_condition(*alternative, subject));
    return any;
  }
  case PatternKind::sequence: {
    const auto& sequence = as<SequencePattern>(pattern);
    const Value matched = resolve(subject);
    if (matched.is(Kind::string) || matched.is(Kind::none) || matched.is(Kind::integer) || matched.is(Kind::real) || matched.is(Kind::boolean) || matched.is(Kind::dict))
      return symbols().boolean(false);
    const auto items = elements(matched, {chunk_, pattern.span});
    Cond all = symbols().boolean(true);
    std::size_t star = sequence.elements.size();
    for (std::size_t i = 0; i < sequence.elements.size(); ++i)
      if (sequence.elements[i]->kind == PatternKind::star) star = i;
    const bool has_star = star < sequence.elements.size();
    if (!items) {
      for (const Pattern* part : sequence.elements) match_condition(*part, heap().external(""));
      return open();
    }
    if (has_star ? items->size() + 1 < sequence.elements.size() : items->size() != sequence.elements.size()) return symbols().boolean(false);
    const std::size_t extra = items->size() + 1 - sequence.elements.size();
    for (std::size_t i = 0, from = 0; i < sequence.elements.size(); ++i) {
      if (i == star) {
        const auto begin = items->begin() + static_cast<std::ptrdiff_t>(from);
        if (const Name name = as<StarPattern>(*sequence.elements[i]).name; !name.empty())
          heap().set(variable(name), heap().list({begin, begin + static_cast<std::ptrdiff_t>(extra)}));
        from += extra;
      } else {
        all = symbols().logical_and(all, match_condition(*sequence.elements[i], (*items)[from++]));
      }
    }
    return all;
  }
  case PatternKind::mapping: {
    const auto& mapping = as<MappingPattern>(pattern);
    const Value dict = resolve(subject);
    if (dict.is(Kind::dict) && !values::Heap::dict_state(dict)->open) {
      Cond all = symbols().boolean(true);
      std::vector<std::pair<Value, Value>> rest = values::Heap::dict_state(dict)->items;
      for (std::size_t i = 0; i < mapping.keys.size() && i < mapping.patterns.size(); ++i) {
        const Value key = resolve(evaluate(*mapping.keys[i]));
        const auto found = std::find_if(rest.begin(), rest.end(), [&](const auto& item) { return same_key(item.first, key); });
        if (found == rest.end()) return symbols().boolean(false);
        if (found->second.is(Kind::choice)) all = open();
        all = symbols().logical_and(all, match_condition(*mapping.patterns[i], found->second));
        rest.erase(found);
      }
      if (!mapping.rest.empty()) heap().set(variable(mapping.rest), heap().dict(std::move(rest)));
      return all;
    }
    switch (dict.kind) {
    case Kind::none: case Kind::integer: case Kind::real: case Kind::boolean: case Kind::string: case Kind::tuple: case Kind::list:
      return symbols().boolean(false);
    default: break;
    }
    for (const Pattern* part : mapping.patterns) match_condition(*part, heap().external(""));
    if (!mapping.rest.empty()) heap().set(variable(mapping.rest), heap().external(""));
    return open();
  }
  case PatternKind::class_: {
    const auto& wanted = as<ClassPattern>(pattern);
    const Value type = resolve(evaluate(*wanted.type));
    const Value object = resolve(subject);
    const auto answer = is_instance(object, type);
    if (answer == symbolic::Answer::no) return symbols().boolean(false);
    Cond all = answer == symbolic::Answer::yes ? symbols().boolean(true) : open();
    for (std::size_t i = 0; i < wanted.arguments.size(); ++i) {
      Value part = heap().external("");
      if (type.is(Kind::library)) part = object;  // int(x), str(x): the value itself
      else if (type.is(Kind::class_) && i < type.as<values::Class>()->fields.size() && answer == symbolic::Answer::yes)
        part = attribute(object, type.as<values::Class>()->fields[i].name, {chunk_, pattern.span});
      else all = open();
      all = symbols().logical_and(all, match_condition(*wanted.arguments[i], part));
    }
    for (std::size_t i = 0; i < wanted.keyword_patterns.size(); ++i) {
      Value part = heap().external("");
      if (answer == symbolic::Answer::yes && i < wanted.keyword_names.size()) part = attribute(object, wanted.keyword_names[i], {chunk_, pattern.span});
      all = symbols().logical_and(all, match_condition(*wanted.keyword_patterns[i], part));
    }
    return all;
  }
  case PatternKind::star:
    if (!as<StarPattern>(pattern).name.empty()) heap().set(variable(as<StarPattern>(pattern).name), heap().external(""));
    return symbols().boolean(true);
  case PatternKind::error: return open();
  }
  return open();
}

} // namespace stepzero::interpreter
