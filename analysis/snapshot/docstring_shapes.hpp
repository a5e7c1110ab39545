// What the words of a function say of its parameters' shapes: its docstring, `x (Tensor): hidden states of
// shape (batch, time, width)`, and comments, `x: Tensor,  # [B, T, C]` and `# x: (B, T, C)`. Only words: who
// shows them holds them against what the run finds.
#pragma once

#include "syntax/ast.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepzero::snapshot {

struct DocumentedSize {
  std::string name;  // empty: only that there is one
  std::optional<std::int64_t> number;
};
using DocumentedShape = std::vector<DocumentedSize>;
// The text between a pair of brackets as the sizes of a shape: "B, T, 768". Nothing if it does not name every
// one of them.
std::optional<DocumentedShape> documented_sizes(std::string_view text);
// By the names of the parameters that may be tensors. `text` is that of the whole file, in which the function
// begins at `offset` further than its spans say.
std::map<std::string, DocumentedShape, std::less<>> documented_parameters(
    const syntax::FunctionStmt& function, std::string_view text, std::uint32_t offset);

}  // namespace stepzero::snapshot
