// Collects what a scope's body binds while it is lowered. Knows which statements bind; knows no values.
#pragma once

#include "syntax/ast.hpp"

#include <memory_resource>
#include <unordered_set>
#include <vector>

namespace stepzero::syntax {

class Scope {
public:
  void bind(Name name) { add(locals_, name); }
  void bind(const Expr* target);  // names in it that an assignment to it would bind
  void declare_global(Name name) { add(globals_, name); }
  void declare_nonlocal(Name name) { add(nonlocals_, name); }
  void yields() { is_generator_ = true; }
  void returns_value() { returns_value_ = true; }

  // The scope as lists in the arena, in order of first mention; a declared name is no local.
  ScopeInfo finish(std::pmr::memory_resource& arena) const;

private:
  struct Names {
    std::vector<Name> order;
    std::unordered_set<Name> seen;  // used only once `order` is long
  };
  static void add(Names& names, Name name);
  static bool contains(const Names& names, Name name);

  Names locals_, globals_, nonlocals_;
  bool is_generator_ = false, returns_value_ = false;
};

}  // namespace stepzero::syntax
