// Names of libraries as one run asks for them: the symbol of a path, the row of a method, what a class
// derives from. Whatever is asked twice is looked up once.
#pragma once

#include "interpreter/library.hpp"
#include "values/heap.hpp"

#include <string>
#include <unordered_map>

namespace stepzero::interpreter {

class LibraryNames {
public:
  LibraryNames(const Library& library, values::Heap& heap) : library_(library), heap_(heap) {}

  // However the path is spelled: the same symbol for the same thing.
  values::LibrarySymbol* symbol(std::string_view path);
  // `symbol.name`.
  values::LibrarySymbol* member(const values::LibrarySymbol& symbol, syntax::Name name);
  // Of the class, or of the nearest one that it derives from. `class_path` lives as long as the run.
  const values::Row* method_row(std::string_view class_path, syntax::Name method) const;
  // What constructs an object of a library class: its own row, or the `__init__` of the nearest class that
  // has one.
  const values::Row* constructor_row(std::string_view class_path) const;
  // An instance of a library class or of one derived from it.
  bool is_a(values::Value object, std::string_view class_path) const;

private:
  // What follows a name of something: (the owner's address, the name).
  struct Member {
    const void* owner;
    syntax::Name name;
    friend bool operator==(const Member&, const Member&) = default;
  };
  struct MemberHash {
    std::size_t operator()(const Member& member) const {
      return member.name.hash() ^ (reinterpret_cast<std::uintptr_t>(member.owner) * 0x9E3779B97F4A7C15u);
    }
  };
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  const Library& library_;
  values::Heap& heap_;
  std::unordered_map<std::string, values::LibrarySymbol*> symbols_;  // by canonical path
  std::unordered_map<std::string, values::LibrarySymbol*, TextHash, std::equal_to<>>
      spellings_;                                                           // the same, however spelled
  std::unordered_map<Member, values::LibrarySymbol*, MemberHash> members_;  // owner: a LibrarySymbol
  mutable std::unordered_map<Member, const values::Row*, MemberHash>
      method_rows_;  // owner: the text of the class's path
};

}  // namespace stepzero::interpreter
