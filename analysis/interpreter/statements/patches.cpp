// What is put in the place of something by its name, as tests do: `setattr(module, "load", …)`,
// `patch("package.module.load")`.
#include "interpreter/calls/unseen_code.hpp"
#include "interpreter/statements/module_loader.hpp"

#include "interpreter/classes/self_writes.hpp"

#include <algorithm>
#include <cctype>

namespace stepzero::interpreter {

using values::Kind;

namespace {
// Names with points between them?
bool is_dotted(std::string_view text) {
  bool begins = true;
  for (const char c : text) {
    const bool letter = std::isalpha(static_cast<unsigned char>(c)) || c == '_';
    if (begins ? !letter : !letter && !std::isdigit(static_cast<unsigned char>(c)) && c != '.') return false;
    begins = c == '.';
  }
  return !begins;
}
// What is left of a dotted name behind that of the module in a file: nothing, or the names of what lies in
// it. Absent if it is of another module.
std::optional<std::string_view> below_module(std::string_view dotted, std::string_view path) {
  if (path.ends_with(".py")) path.remove_suffix(3);
  if (path.ends_with("/__init__")) path.remove_suffix(9);
  const auto names = [&](std::string_view module) {
    if (module.size() > path.size() ||
        (module.size() < path.size() && path[path.size() - module.size() - 1] != '/'))
      return false;
    return std::equal(module.begin(), module.end(), path.end() - static_cast<std::ptrdiff_t>(module.size()),
        [](char a, char b) { return a == b || (a == '.' && b == '/'); });
  };
  for (std::size_t end = dotted.size();; end = dotted.rfind('.', end - 1)) {
    if (end == std::string_view::npos) return std::nullopt;
    if (names(dotted.substr(0, end))) return dotted.substr(std::min(end + 1, dotted.size()));
    if (end == 0) return std::nullopt;
  }
}
}  // namespace

void UnseenCode::lose_patched(const Arguments& arguments, Place where) {
  constexpr std::size_t most_asked =
      3;  // arguments: `patch(target, new)` names what it replaces among the first
  const auto lose = [&](Value owner, std::string_view attribute) {
    owner = run_.resolve(owner);
    const syntax::Name wanted(attribute);
    bool found = owner.is(Kind::library);
    if (owner.is(Kind::module)) {
      const auto* globals = owner.as<values::ModuleObject>()->globals;
      found = globals && globals->names.value(wanted);
    } else if (owner.is(Kind::class_)) {
      found = static_cast<bool>(run_.find_in_order(owner.as<values::Class>()->order, wanted));
    } else if (owner.is(Kind::instance)) {
      // Past the object's own ways to set an attribute: it may be one of them that is called here.
      auto* object = owner.as<values::Instance>();
      if (object->attributes.find(wanted) || (object->cls && run_.find_in_order(object->cls->order, wanted)))
        heap().set(heap().slot_of(object->attributes, wanted), heap().unseen(attribute, where));
      return;
    }
    if (found) run_.set_attribute(owner, wanted, heap().unseen(attribute, where), where);
  };
  const auto& given = arguments.positional;
  for (std::size_t i = 0; i < std::min(given.size(), most_asked); ++i) {
    const Value text = run_.resolve(given[i]);
    if (!text.is(Kind::string) || !is_dotted(text.text())) continue;
    if (i > 0) {
      lose(given[i - 1], text.text());
      continue;
    }
    const auto dot = text.text().rfind('.');
    if (dot == std::string_view::npos) continue;
    if (const std::string path(run_.library_.canonical(text.text())); run_.library_.find(path))
      note_replaced(heap(), outermost_globals(run_.frame_), path);
    const std::string_view attribute = text.text().substr(dot + 1);
    for (const auto& [path, module] : run_.loader_->modules()) {
      const auto rest = module.object && module.object->globals
          ? below_module(text.text().substr(0, dot), path)
          : std::nullopt;
      if (!rest) continue;
      Value owner = Value::of(Kind::module, module.object);
      for (std::string_view left = *rest; !left.empty() && owner;) {
        const syntax::Name part(left.substr(0, left.find('.')));
        left.remove_prefix(std::min(left.size(), part.text().size() + 1));
        // A module that is being imported, or was not seen, has no names yet.
        const auto* globals = owner.is(Kind::module) ? owner.as<values::ModuleObject>()->globals : nullptr;
        owner = run_.resolve(globals     ? globals->names.value(part)
                : owner.is(Kind::class_) ? run_.find_in_order(owner.as<values::Class>()->order, part)
                                         : Value{});
      }
      if (owner) lose(owner, attribute);
    }
  }
}

}  // namespace stepzero::interpreter
