#include "interpreter/lacking_attributes.hpp"

#include "interpreter/abstract.hpp"
#include "syntax/spelling.hpp"

#include <algorithm>
#include <cctype>

namespace stepzero::interpreter {

using values::Kind;

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Does the text set the name there, as an attribute, a variable of a class, a method, an argument or a text?
bool is_set_at(std::string_view text, std::size_t at, std::size_t size) {
  const char before = at > 0 ? text[at - 1] : ' ', next = at + size < text.size() ? text[at + size] : ' ';
  if (before == '\'' || before == '"') return true;
  std::size_t end = at + size;
  while (end < text.size() && (text[end] == ' ' || text[end] == '\t')) ++end;
  const char first = end < text.size() ? text[end] : ' ', second = end + 1 < text.size() ? text[end + 1] : ' ';
  if ((first == '=' && second != '=') || (second == '=' && std::string_view("+-*/|@%&^").find(first) != std::string_view::npos)) return true;
  // `name: annotation`, and not the end of a condition.
  if (before != '.' && next == ':') return true;
  const auto begin = text.rfind('\n', at) == std::string_view::npos ? 0 : text.rfind('\n', at) + 1;
  const std::string_view line = text.substr(begin, std::min(text.find('\n', at), text.size()) - begin), lead = line.substr(0, at - begin);
  if (before != '.') return lead.ends_with("def ") || lead.ends_with("class ");
  // One of several targets: `self.a, self.b = …`, `for self.i in …`, `with open(path) as self.file`.
  const auto word = lead.find_last_of(" \t(,[");
  const std::string_view in_front = word == std::string_view::npos ? std::string_view{} : lead.substr(0, word + 1);
  if (in_front.ends_with("as ") || in_front.ends_with("for ") || in_front.ends_with("del ")) return true;
  const bool only_targets = std::ranges::all_of(lead, [](char c) { return is_word(c) || std::string_view(" \t.,*()[]").find(c) != std::string_view::npos; });
  return only_targets && (first == ',' || first == ')' || first == ']') && line.find(" = ") != std::string_view::npos;
}

struct Texts {
  bool names = false;     // the name is set somewhere
  bool computes = false;  // attributes are set by names that are computed
  bool computes_here = false;  // in the module of one of the classes
};
Texts texts_of(const Record& record, const values::Instance& object, std::string_view name) {
  Texts found;
  for (std::uint32_t i = 1; i < record.chunks.size(); ++i) {
    const ChunkOf& chunk = record.chunks[i];
    if (!chunk.chunk || !chunk.chunk->stmt) continue;
    // As it is now: the module may be older than an edit.
    const std::string_view text = record.text({i, chunk.chunk->stmt->span});
    const bool of_class = std::ranges::any_of(object.cls->order, [&](const values::Class* cls) { return cls->chunk < record.chunks.size() && record.chunks[cls->chunk].path == chunk.path; });
    for (const std::string_view way : {"setattr(", "__dict__", "vars(", "locals()", "__slots__", "__getattr", "__new__", "metaclass", "copyreg", "__setstate__", "__set_name__"})
      if (text.find(way) != std::string_view::npos) {
        found.computes = true;
        found.computes_here = found.computes_here || of_class;
      }
    for (auto at = text.find(name); at != std::string_view::npos && !found.names; at = text.find(name, at + 1)) {
      if ((at > 0 && is_word(text[at - 1])) || (at + name.size() < text.size() && is_word(text[at + name.size()]))) continue;
      found.names = is_set_at(text, at, name.size());
    }
    // register_buffer(f"table_{i}", …): of that name nothing is known.
    for (const std::string_view registers : {"register_buffer(", "register_parameter(", "add_module(", "register_module("})
      for (auto at = text.find(registers); at != std::string_view::npos; at = text.find(registers, at + 1)) {
        const auto argument = text.find_first_not_of(" \t\r\n", at + registers.size());
        if (argument == std::string_view::npos || (text[argument] != '"' && text[argument] != '\'')) found.computes = found.computes_here = true;
      }
  }
  return found;
}

// All that an object of the class has is seen: its own attributes, and the library class that it derives from is one whose names are known.
bool is_seen(const values::Instance& object) {
  if (!object.cls || !object.cls->stmt || object.open || object.cls->hooks_attributes || object.cls->is_enum || object.cls->is_named_tuple || object.cls->holds != Kind::absent) return false;
  const values::LibrarySymbol* native = object.native ? object.native : object.cls->native;
  if (native && !(native->row && native->row->whole)) return false;
  return std::ranges::none_of(object.cls->order, [](const values::Class* cls) { return cls->open || !cls->stmt; });
}
// A decorator or a metaclass may put another class in its place.
bool may_be_another(const Record& record, const values::Instance& object) {
  return std::ranges::any_of(object.cls->order, [&](const values::Class* cls) {
    return std::ranges::any_of(cls->stmt->decorators, [&](const syntax::Expr* decorator) { return record.text({cls->chunk, decorator->span}).find("dataclass") == std::string_view::npos; });
  });
}

// There are other classes that its objects are of: what these have is not seen here.
bool is_abstract_class(const values::Class& of) {
  return std::ranges::any_of(of.order, [](const values::Class* cls) {
    return cls->body && std::ranges::any_of(cls->body->names.entries(), [](const auto& entry) {
      const values::Value member = entry.second->value;
      const auto* function = member.is(Kind::function) ? member.as<values::Function>() : nullptr;
      return function && function->stmt && is_abstract(*function->stmt);
    });
  });
}

// Two names that differ by capitals alone are mostly two.
bool differ_by_case(std::string_view one, std::string_view other) {
  return one.size() == other.size() && std::ranges::equal(one, other, [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); });
}

// The name that looks meant: one that the object or its class has.
std::string meant(const values::Instance& object, std::string_view wanted) {
  std::string found;
  std::size_t least = wanted.size() > 4 ? 3 : 2;
  const auto look = [&](const values::Table& names) {
    for (const auto& [name, slot] : names.entries()) {
      if (!slot->value || name.text() == wanted || name.text().starts_with("$") || name.text().size() < 3 || differ_by_case(name.text(), wanted)) continue;
      if (const std::size_t letters = syntax::letters_between(wanted, name.text()); letters < least) {
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

} // namespace

void judge_lacking(Interpreter& run, const values::Instance& object, syntax::Name name, Place where) {
  const std::string_view wanted = name.text();
  if (wanted.size() < 2 || wanted.starts_with("_") || !is_seen(object)) return;
  // As the program writes it, and no getattr().
  const std::string_view written = run.record().text(where);
  const auto end = written.find('(');
  std::string_view owner = written.substr(0, written.ends_with(wanted) ? written.size() : end);
  if (!owner.ends_with(wanted) || owner.size() <= wanted.size() + 1 || owner[owner.size() - wanted.size() - 1] != '.') return;
  owner.remove_suffix(wanted.size() + 1);
  const std::string near = meant(object, wanted);
  const bool certain = !object.symbolic && !object.of_many && !object.attributes.find(handed_out) && !object.attributes.find(syntax::Name("$in_hands")) && !may_be_another(run.record(), object);
  // Of an object that nobody makes here a derived class may have it: netE beside netG.
  constexpr std::size_t short_name = 5, long_name = 8;
  const bool likely = !near.empty() && wanted.size() >= short_name && (wanted.size() >= long_name || syntax::letters_between(wanted, near) < 2);
  if (!certain && (!likely || is_abstract_class(*object.cls))) return;
  const Texts texts = texts_of(run.record(), object, wanted);
  if (texts.names || texts.computes_here || (texts.computes && near.empty())) return;
  const bool open = !certain || texts.computes;
  ProblemEvent* event = run.problem_at(values::ProblemKind::no_attribute, where, nullptr,
                                       "`" + std::string(owner) + "` is of the class `" + std::string(object.cls->name.text()) + "`, which has no attribute `" + std::string(wanted) + "`" +
                                           (open ? ", unless code that is not seen sets it" : "") + ": reading it raises AttributeError" + (near.empty() ? "" : "; `" + near + "` looks meant"));
  event->overridable = event->overridable || open;
  // Of two objects that it may be the other has the name, and the program may see to it in a way that does not show.
  if (event->assumption && near.empty()) event->guarded = true;
}

} // namespace stepzero::interpreter
