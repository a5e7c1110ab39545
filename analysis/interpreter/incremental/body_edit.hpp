// An edit that changes the body of one function or method and nothing around it, or comments alone. What else
// was run of the statement stands: the function, or its class, goes on with the new body in the place of the
// old one. Compares two versions of a statement; runs nothing.
#pragma once

#include "syntax/difference.hpp"
#include "syntax/document.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace stepzero::interpreter {

struct BodyEdit {
  syntax::Difference where;  // in bytes of the statement's chunk
  enum class Of : std::uint8_t { comments, function, method };
  Of of = Of::comments;    // what changed: comments and blank lines alone, or the body of this
  std::size_t member = 0;  // the method, in the body of the class
};

// Of a top-level statement before and after an edit, with the texts of their chunks. Nothing where the edit
// reaches further, or where others can see what it did to the function without calling it: what it sets on
// its object or declares global, whether it is abstract or a generator.
std::optional<BodyEdit> find_body_edit(const syntax::Chunk& was, std::string_view text_before,
    const syntax::Chunk& is, std::string_view text_now);

}  // namespace stepzero::interpreter
