#include "interpreter/classes/lacking_attributes.hpp"

#include "interpreter/reasons.hpp"

#include "interpreter/classes/abstract.hpp"
#include "interpreter/classes/meant_name.hpp"
#include "interpreter/classes/self_writes.hpp"
#include "syntax/spelling.hpp"
#include "syntax/walk.hpp"
#include "values/kept.hpp"

#include <algorithm>
#include <cctype>
#include <set>

namespace stepzero::interpreter {

using values::Kind;

namespace {

// What the texts of the program say of a name.
struct Writes {
  bool names = false;          // it is set somewhere
  bool computes = false;       // attributes are set by names that are computed
  bool computes_here = false;  // for objects of this class, as far as can be told
};
Writes writes_of(const Record& record, const values::Instance& object, std::string_view name) {
  Writes found;
  for (std::size_t i = 1; i < record.chunks.size() && !found.names; ++i) {
    const ChunkOf& of = record.chunks[i];
    if (!of.statement()) continue;
    const syntax::AttributeWrites& writes = of.chunk->attribute_writes(of.text());
    found.names = writes.names(name);
    found.computes = found.computes || writes.computes() || writes.registers();
    const auto is_of_class = [&] {
      return std::ranges::any_of(object.cls->order, [&](const values::Class* cls) {
        return cls->chunk < record.chunks.size() && record.chunks[cls->chunk].path == of.path;
      });
    };
    // register_buffer(f"table_{i}", …): of that name nothing is known, whatever the object.
    found.computes_here = found.computes_here || writes.registers() ||
        ((writes.computes() || writes.computes_own()) && is_of_class());
  }
  return found;
}

// All that an object of the class has is seen: its own attributes, and the library class that it derives from
// is one whose names are known.
bool is_seen(const values::Instance& object) {
  if (!object.cls || !object.cls->stmt || object.open || object.attributes.find(scripted) ||
      object.cls->hooks_attributes || object.cls->is_enum || object.cls->is_named_tuple ||
      object.cls->holds != Kind::absent)
    return false;
  const values::LibrarySymbol* native = object.native ? object.native : object.cls->native;
  if (native && !(native->row && native->row->whole)) return false;
  return std::ranges::none_of(
      object.cls->order, [](const values::Class* cls) { return cls->open || !cls->stmt; });
}
// A decorator or a metaclass may put another class in its place.
bool may_be_another(const Record& record, const values::Instance& object) {
  return std::ranges::any_of(object.cls->order, [&](const values::Class* cls) {
    return std::ranges::any_of(cls->stmt->decorators, [&](const syntax::Expr* decorator) {
      return record.text({cls->chunk, decorator->span}).find("dataclass") == std::string_view::npos;
    });
  });
}

// Does the class ask its objects for other things, too, that neither it nor anybody sets? Then others
// complete it: a mixin.
bool is_completed_elsewhere(Interpreter& run, const values::Instance& object, std::string_view wanted) {
  constexpr std::size_t fewest_others = 3;  // one or two more may be other slips
  std::set<std::string_view> others;
  const values::LibrarySymbol* native = object.native ? object.native : object.cls->native;
  const auto has = [&](syntax::Name name) {
    for (const Row* base = native ? native->row : nullptr; base; base = base->base_row)
      if (run.library().find(std::string(base->path) + "." + std::string(name.text()))) return true;
    return std::ranges::any_of(object.cls->order,
        [&](const values::Class* cls) { return cls->body && cls->body->names.find(name); });
  };
  for (const values::Class* cls : object.cls->order)
    each_method(*cls, [&](const syntax::FunctionStmt& method) {
      run.note_body_read(method);
      const syntax::Name self = method.parameters->list.front().name;
      syntax::for_each_expression(method, [&](const syntax::Expr& expr) {
        if (expr.kind != syntax::ExprKind::attribute) return;
        const auto& access = syntax::as<syntax::AttributeExpr>(expr);
        const std::string_view name = access.attribute.text();
        const bool of_self = access.object->kind == syntax::ExprKind::name &&
            syntax::as<syntax::NameExpr>(*access.object).id == self;
        if (!of_self || name == wanted || name.starts_with("__") || others.contains(name) ||
            has(access.attribute))
          return;
        run.note_asked_attribute(name);
        if (!writes_of(run.record(), object, name).names) others.insert(name);
      });
    });
  return others.size() >= fewest_others;
}

// Two names that differ by capitals alone are mostly two.
bool differ_by_case(std::string_view one, std::string_view other) {
  return one.size() == other.size() && std::ranges::equal(one, other, [](unsigned char a, unsigned char b) {
    return std::tolower(a) == std::tolower(b);
  });
}

// The name that looks meant: one that the object or its class has.
std::string meant(const values::Instance& object, std::string_view wanted) {
  std::string found;
  std::size_t least = wanted.size() > 4 ? 3 : 2;
  const auto look = [&](const values::Table& names) {
    for (const auto& [name, slot] : names.entries()) {
      if (!slot->value || name.text() == wanted || values::is_kept(name.text()) || name.text().size() < 3 ||
          differ_by_case(name.text(), wanted))
        continue;
      // `grad_clip_threshold` and `grad_clip_thresh`: one is the other cut short.
      constexpr std::size_t shortest_begin = 8, longest_rest = 4;
      const std::string_view shorter = std::min(
          name.text(), wanted, [](auto a, auto b) { return a.size() < b.size(); });
      const bool cut = shorter.size() >= shortest_begin && name.text().starts_with(shorter) &&
          wanted.starts_with(shorter) &&
          std::max(name.text().size(), wanted.size()) <= shorter.size() + longest_rest;
      if (const std::size_t letters = cut ? 1 : syntax::letters_between(wanted, name.text(), least - 1);
          letters < least) {
        least = letters;
        found = name.text();
      }
    }
  };
  look(object.attributes);
  for (const values::Class* cls : object.cls->order)
    if (cls->body) look(cls->body->names);
  return found;
}

}  // namespace

namespace {

// What stands in front of the name, where the program writes it so, and no getattr(). Empty: it does not.
std::string_view owner_as_written(const Record& record, std::string_view wanted, Place where) {
  const std::string_view written = record.text(where);
  std::string_view owner = written.substr(0, written.ends_with(wanted) ? written.size() : written.find('('));
  if (!owner.ends_with(wanted) || owner.size() <= wanted.size() + 1 ||
      owner[owner.size() - wanted.size() - 1] != '.')
    return {};
  owner.remove_suffix(wanted.size() + 1);
  return owner;
}

// As Python's documentation lists them.
constexpr std::string_view methods_of_tuples[] = {"count", "index"};
constexpr std::string_view methods_of_lists[] = {
    "append", "clear", "copy", "count", "extend", "index", "insert", "pop", "remove", "reverse", "sort"};

}  // namespace

symbolic::Answer is_in_display(Value object, syntax::Name name) {
  const std::string_view wanted = name.text();
  const bool is_tuple = object.is(Kind::tuple);
  if ((!is_tuple && !object.is(Kind::list)) || !object.object()->born || wanted.starts_with("_"))
    return symbolic::Answer::unknown;
  if (is_tuple ? object.as<values::Tuple>()->cls != nullptr
               : object.as<values::List>()->kind != values::ListKind::list)
    return symbolic::Answer::unknown;
  const auto has = [&](const auto& names) { return std::ranges::find(names, wanted) != std::end(names); };
  const bool there = is_tuple ? has(methods_of_tuples) || has(object.as<values::Tuple>()->fields)
                              : has(methods_of_lists);
  return there ? symbolic::Answer::yes : symbolic::Answer::no;
}

Value judge_lacking_of_display(Interpreter& run, Value object, syntax::Name name, Place where) {
  if (is_in_display(object, name) != symbolic::Answer::no) return {};
  const std::string_view wanted = name.text();
  const std::string_view owner = owner_as_written(run.record(), wanted, where);
  if (owner.empty()) return {};
  const std::string kind = object.is(Kind::tuple) ? "tuple" : "list";
  ProblemEvent* event = run.problem_at(values::ProblemKind::no_attribute, where, nullptr);
  explain(*event, why<Reason::attribute_of_display>(owner, kind, wanted, run.of_any_use()));
  event->evidence.emplace_back(object.object()->born, "the " + kind + " is made here");
  event->overridable = event->overridable || run.of_any_use();
  const Value made = run.heap().unknown_from({}, where);
  made.as<values::Unknown>()->poisoned = true;
  return made;
}

void judge_lacking(Interpreter& run, const values::Instance& object, syntax::Name name, Place where) {
  const std::string_view wanted = name.text();
  if (wanted.size() < 2 || wanted.starts_with("_") || !is_seen(object)) return;
  const std::string_view owner = owner_as_written(run.record(), wanted, where);
  if (owner.empty()) return;
  const std::string near = meant(object, wanted);
  const bool certain = !object.symbolic && !object.of_many && !object.attributes.find(handed_out) &&
      !object.attributes.find(syntax::Name(values::ModuleState::in_hands)) &&
      !may_be_another(run.record(), object);
  // Of an object that nobody makes here a derived class may have it: netE beside netG.
  constexpr std::size_t short_name = 5, long_name = 8;
  const bool likely = !near.empty() && wanted.size() >= short_name &&
      (wanted.size() >= long_name || syntax::letters_between(wanted, near) < 2);
  if (!certain && (!likely || is_abstract_class(*object.cls))) return;
  run.note_asked_attribute(wanted);
  const Writes writes = writes_of(run.record(), object, wanted);
  if (writes.names || writes.computes_here || (writes.computes && near.empty())) return;
  if (!certain && is_completed_elsewhere(run, object, wanted)) return;
  const bool open = !certain || writes.computes;
  ProblemEvent* event = run.problem_at(values::ProblemKind::no_attribute, where, nullptr);
  const std::string_view of = object.cls->name.text();
  explain(*event,
      near.empty() ? why<Reason::attribute_of_object>(owner, of, wanted, open)
                   : why<Reason::other_attribute>(owner, of, wanted, open, near));
  offer_name(run.record(), *event, name, near);
  event->overridable = event->overridable || open;
  // Of two objects that it may be the other has the name, and the program may see to it in a way that does
  // not show.
  if (event->assumption && near.empty()) event->guarded = true;
}

}  // namespace stepzero::interpreter
