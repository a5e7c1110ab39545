// `match`: patterns as conditions, and the names that they bind.
#include "interpreter/interpreter.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

// Under which condition a value fits a pattern. What the pattern names is bound on the way, whether it fits
// or not.
struct Interpreter::Matching {
  Interpreter& run;
  const Pattern& pattern;
  Value subject;

  Cond condition();

private:
  Cond any_alternative();
  Cond of_sequence();
  Cond of_mapping();
  Cond of_class();
  Cond all_of(std::span<const Value> items);
  void bind_parts(syntax::List<const Pattern*> parts);  // to what is not known

  Cond yes() const { return run.symbols().boolean(true); }
  Cond no() const { return run.symbols().boolean(false); }
  Cond open() const { return run.symbols().opaque("a pattern", run.heap().sharing(subject)); }
  Cond both(Cond a, Cond b) const { return run.symbols().logical_and(a, b); }
  Cond of_part(const Pattern& part, Value value) const { return Matching{run, part, value}.condition(); }
  void bind(Name name, Value value) const { run.heap().set(run.variable(name), value); }
};

Flow Interpreter::run_match(const MatchStmt& stmt, std::size_t from, Value subject) {
  if (from == stmt.cases.size()) return Flow::normal;
  const MatchCase& arm = stmt.cases[from];
  Cond condition = Matching{*this, *arm.pattern, subject}.condition();
  if (arm.guard) condition = symbols().logical_and(condition, truth(evaluate(*arm.guard)));
  return fork(
      condition, nullptr, {chunk_, arm.span}, [&] { return run_block(arm.body); },
      [&] { return run_match(stmt, from + 1, subject); });
}

Cond Interpreter::Matching::condition() {
  switch (pattern.kind) {
  case PatternKind::wildcard: return yes();
  case PatternKind::capture: bind(as<CapturePattern>(pattern).name, subject); return yes();
  case PatternKind::value:
    return run.truth(run.compare(CompareOp::eq, subject, run.evaluate(*as<ValuePattern>(pattern).value)));
  case PatternKind::as: {
    const auto& named = as<AsPattern>(pattern);
    bind(named.name, subject);
    return named.pattern ? of_part(*named.pattern, subject) : yes();
  }
  case PatternKind::or_: return any_alternative();
  case PatternKind::sequence: return of_sequence();
  case PatternKind::mapping: return of_mapping();
  case PatternKind::class_: return of_class();
  case PatternKind::star:
    if (const Name name = as<StarPattern>(pattern).name; !name.empty()) bind(name, run.heap().unseen(""));
    return yes();
  case PatternKind::error: return open();
  }
  return open();
}

Cond Interpreter::Matching::any_alternative() {
  Cond any = no();
  for (const Pattern* alternative : as<OrPattern>(pattern).alternatives)
    any = run.symbols().logical_or(any, of_part(*alternative, subject));
  return any;
}

void Interpreter::Matching::bind_parts(syntax::List<const Pattern*> parts) {
  for (const Pattern* part : parts) of_part(*part, run.heap().unseen(""));
}

Cond Interpreter::Matching::of_sequence() {
  const auto& parts = as<SequencePattern>(pattern).elements;
  const Value matched = run.resolve(subject);
  if (matched.is(Kind::string) || matched.is(Kind::none) || matched.is(Kind::integer) ||
      matched.is(Kind::real) || matched.is(Kind::boolean) || matched.is(Kind::dict))
    return no();
  const auto items = run.elements(matched, {run.chunk_, pattern.span});
  if (!items) {
    bind_parts(parts);
    return open();
  }
  return all_of(*items);
}

// One part takes each item, but for one with a star, which takes those that are left.
Cond Interpreter::Matching::all_of(std::span<const Value> items) {
  const auto& parts = as<SequencePattern>(pattern).elements;
  std::size_t star = parts.size();
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (parts[i]->kind == PatternKind::star) star = i;
  const bool has_star = star < parts.size();
  if (has_star ? items.size() + 1 < parts.size() : items.size() != parts.size()) return no();
  const std::size_t taken = items.size() + 1 - parts.size();
  Cond all = yes();
  for (std::size_t i = 0, from = 0; i < parts.size(); ++i) {
    if (i == star) {
      const auto rest = items.subspan(from, taken);
      if (const Name name = as<StarPattern>(*parts[i]).name; !name.empty())
        bind(name, run.heap().list({rest.begin(), rest.end()}));
      from += taken;
    } else {
      all = both(all, of_part(*parts[i], items[from++]));
    }
  }
  return all;
}

Cond Interpreter::Matching::of_mapping() {
  const auto& mapping = as<MappingPattern>(pattern);
  const Value dict = run.resolve(subject);
  if (dict.is(Kind::dict) && !values::Heap::dict_state(dict)->open) {
    Cond all = yes();
    std::vector<std::pair<Value, Value>> rest = values::Heap::dict_state(dict)->items;
    for (std::size_t i = 0; i < mapping.keys.size() && i < mapping.patterns.size(); ++i) {
      const Value key = run.resolve(run.evaluate(*mapping.keys[i]));
      const auto found = std::find_if(
          rest.begin(), rest.end(), [&](const auto& item) { return run.same_key(item.first, key); });
      if (found == rest.end()) return no();
      if (found->second.is(Kind::choice)) all = open();
      all = both(all, of_part(*mapping.patterns[i], found->second));
      rest.erase(found);
    }
    if (!mapping.rest.empty()) bind(mapping.rest, run.heap().dict(std::move(rest)));
    return all;
  }
  switch (dict.kind) {
  case Kind::none:
  case Kind::integer:
  case Kind::real:
  case Kind::boolean:
  case Kind::string:
  case Kind::tuple:
  case Kind::list: return no();
  default: break;
  }
  bind_parts(mapping.patterns);
  if (!mapping.rest.empty()) bind(mapping.rest, run.heap().unseen(""));
  return open();
}

Cond Interpreter::Matching::of_class() {
  const auto& wanted = as<ClassPattern>(pattern);
  const Value type = run.resolve(run.evaluate(*wanted.type));
  const Value object = run.resolve(subject);
  const auto answer = run.is_instance(object, type);
  if (answer == symbolic::Answer::no) return no();
  const bool is_one = answer == symbolic::Answer::yes;
  Cond all = is_one ? yes() : open();
  for (std::size_t i = 0; i < wanted.arguments.size(); ++i) {
    Value part = run.heap().unseen("");
    if (type.is(Kind::library))
      part = object;  // int(x), str(x): the value itself
    else if (type.is(Kind::class_) && i < type.as<values::Class>()->fields.size() && is_one)
      part = run.attribute(object, type.as<values::Class>()->fields[i].name, {run.chunk_, pattern.span});
    else
      all = open();
    all = both(all, of_part(*wanted.arguments[i], part));
  }
  for (std::size_t i = 0; i < wanted.keyword_patterns.size(); ++i) {
    Value part = run.heap().unseen("");
    if (is_one && i < wanted.keyword_names.size())
      part = run.attribute(object, wanted.keyword_names[i], {run.chunk_, pattern.span});
    all = both(all, of_part(*wanted.keyword_patterns[i], part));
  }
  return all;
}

}  // namespace stepzero::interpreter
