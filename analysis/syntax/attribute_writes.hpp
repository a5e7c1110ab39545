// The attributes that a piece of a program may set, as far as its text alone shows it. Knows no values: a
// name counts whatever object it is set on.
#pragma once

#include "syntax/ast.hpp"

#include <string_view>
#include <vector>

namespace stepzero::syntax {

// Does a method of this name give its object an attribute of the name that it is given first:
// `self.register_buffer("mask", mask)`?
bool registers_attribute(std::string_view method);

class AttributeWrites {
public:
  // `text`: the text that the spans of `stmt` count from. Of what is not Python in it every word counts. The
  // names found lie in the text's syntax or are interned: they live as long as the statement.
  AttributeWrites(const Stmt& stmt, std::string_view text);

  // Is the name an attribute or a variable that is assigned, a keyword, a definition, a parameter with a
  // default or an annotation, or the begin of a text?
  bool names(std::string_view name) const;
  // Attributes are set by names that are computed: setattr, __dict__, __slots__, a metaclass, …
  bool computes() const { return computes_; }
  // The same, of objects of the class alone that stands here: `setattr(self, name, value)` in a method.
  bool computes_own() const { return computes_own_; }
  // Parts of a module are registered under names that are computed.
  bool registers() const { return registers_; }

private:
  std::vector<std::string_view> names_;  // sorted
  bool computes_ = false, computes_own_ = false, registers_ = false;
};

}  // namespace stepzero::syntax
