// The classes that a class derives from, and the order in which its attributes are looked for.
#include "interpreter/calls/unseen.hpp"
#include "interpreter/classes/exceptions.hpp"
#include "interpreter/classes/object_model.hpp"
#include "interpreter/interpreter.hpp"
#include "interpreter/roots/presumed.hpp"
#include "values/internal_rows.hpp"

#include <algorithm>
#include <cctype>

namespace stepzero::interpreter {

using values::Kind;

// Python's method resolution order (C3): an ancestor comes before the next base only if no other order puts
// it later.
static void merge_orders(values::Class& cls, const std::vector<values::Class*>& parents) {
  std::vector<std::vector<values::Class*>> lists;
  lists.reserve(parents.size());
  for (const values::Class* parent : parents) lists.push_back(parent->order);
  lists.push_back(parents);
  while (true) {
    std::erase_if(lists, [](const auto& list) { return list.empty(); });
    if (lists.empty()) return;
    const auto free = [&](values::Class* head) {
      return std::none_of(lists.begin(), lists.end(),
          [&](const auto& list) { return std::find(list.begin() + 1, list.end(), head) != list.end(); });
    };
    auto next = std::find_if(
        lists.begin(), lists.end(), [&](const auto& list) { return free(list.front()); });
    if (next == lists.end()) next = lists.begin();  // Python refuses such a class
    values::Class* const head = next->front();
    cls.order.push_back(head);
    for (auto& list : lists) std::erase(list, head);
  }
}

// A library class that adds nothing to those deriving from it.
static bool is_plain_base(std::string_view path) {
  constexpr std::string_view plain[] = {
      "builtins.object", "typing.Generic", "abc.ABC", "typing.Protocol", "builtins.type"};
  return std::find(std::begin(plain), std::end(plain), path) != std::end(plain);
}

// What is known of a class that is not there to be read, by its package and the end of its name: of
// `transformers…BertPreTrainedModel` what is known of `PreTrainedModel`. Null: nothing.
static const Row* unseen_base(const Library& library, std::string_view path) {
  const std::string package(path.substr(0, path.find('.')));
  const std::string_view name = path.substr(path.rfind('.') + 1);
  for (std::size_t i = 0; i < name.size(); ++i)
    if (std::isupper(static_cast<unsigned char>(name[i])) != 0)
      if (const Row* found = library.find(
              values::InternalRow::of_unseen + (package + "." + std::string(name.substr(i))));
          found && found->kind == values::RowKind::class_)
        return found;
  return nullptr;
}

void ObjectModel::add_bases(
    values::Class& cls, const std::vector<Value>& bases, std::vector<values::Class*>& parents) {
  if (std::find(cls.order.begin(), cls.order.end(), &cls) == cls.order.end()) cls.order.push_back(&cls);
  for (const Value& given : bases) {
    const Value base = run_.resolve(given);
    if (base.is(Kind::class_)) {
      auto* parent = base.as<values::Class>();
      parents.push_back(parent);
      if (!cls.native) cls.native = parent->native;
      if (cls.holds == Kind::absent) cls.holds = parent->holds;
      cls.open = cls.open || parent->open;
      cls.is_dataclass = cls.is_dataclass || parent->is_dataclass;
      cls.is_named_tuple = cls.is_named_tuple || parent->is_named_tuple;
      cls.is_enum = cls.is_enum || parent->is_enum;
      cls.enum_mixes = cls.enum_mixes || parent->enum_mixes;
      cls.enum_is_text = cls.enum_is_text || parent->enum_is_text;
      cls.hooks_attributes = cls.hooks_attributes || parent->hooks_attributes;
    } else if (base.is(Kind::library)) {
      auto* found = base.as<values::LibrarySymbol>();
      const std::string_view path = found->path;
      if (path == "enum.Enum" || path == "enum.IntEnum" || path == "enum.StrEnum" || path == "enum.Flag" ||
          path == "enum.IntFlag") {
        cls.is_enum = true;
        cls.enum_is_text = cls.enum_is_text || path == "enum.StrEnum";
        cls.enum_mixes = cls.enum_mixes || path == "enum.IntEnum" || path == "enum.StrEnum" ||
            path == "enum.IntFlag";
      } else if (path == "typing.NamedTuple") {
        cls.is_named_tuple = true;
      } else if (path == "builtins.dict" || path == "collections.OrderedDict" ||
          path == "collections.UserDict" || path == "typing.Dict") {
        cls.holds = Kind::dict;
      } else if (path == "builtins.list" || path == "collections.UserList") {
        cls.holds = Kind::list;
      } else if (found->row && found->row->kind == values::RowKind::class_) {
        if (!cls.native) cls.native = found;
      } else if (path.starts_with("builtins.") && is_exception(path.substr(9))) {
        if (!cls.native) cls.native = found;
      } else if (path == "builtins.int" || path == "builtins.str" || path == "builtins.float") {
        // Before an Enum: its members are numbers or text. Alone it makes numbers with more to them.
        cls.enum_mixes = true;
        cls.enum_is_text = path == "builtins.str";
        if (bases.size() == 1) cls.open = true;
      } else if (!is_plain_base(path)) {
        cls.open = true;
      }
    } else {
      cls.open = true;
      if (const Row* known = cls.native ? nullptr : unseen_base(run_.library_, imported_from(base)))
        cls.native = run_.library_symbol(known->path).as<values::LibrarySymbol>();
    }
  }
  if (!cls.is_enum) cls.enum_mixes = false;
  merge_orders(cls, parents);
}

}  // namespace stepzero::interpreter
