// An edit that changes the body of one method and nothing around it, or comments alone. What else was run of
// the class stands: the class goes on with the new body in the place of the old one. Compares two versions of
// a statement; runs nothing.
#pragma once

#include "syntax/difference.hpp"
#include "syntax/document.hpp"

#include <optional>
#include <string_view>

namespace stepzero::interpreter {

struct BodyEdit {
  syntax::Difference where;  // in bytes of the statement's chunk
  std::optional<std::size_t>
      member;  // of the class's body: the method. Absent: only comments and blank lines changed
};

// Of a top-level statement before and after an edit, with the texts of their chunks. Nothing where the edit
// reaches further, or where others can see what it did to the method without calling it: what it sets on its
// object or declares global, whether it is abstract or a generator.
std::optional<BodyEdit> find_body_edit(const syntax::Chunk& was, std::string_view text_before,
    const syntax::Chunk& is, std::string_view text_now);

}  // namespace stepzero::interpreter
