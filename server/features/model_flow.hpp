// How values go through one function, read from its syntax and the facts of the run.
#pragma once

#include "server/features/model_outline.hpp"

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace stepzero::server {

// Facts by place, and the text that places count in.
class FactsAt {
public:
  FactsAt(const syntax::Text& text, const std::vector<snapshot::Fact>& facts);
  const snapshot::Fact* at(syntax::Span span) const;
  std::string text(syntax::Span span) const;  // one line, shortened
  std::uint32_t line(std::uint32_t offset) const {
    return text_.position(offset, syntax::Encoding::utf8).line + 1;
  }

private:
  const syntax::Text& text_;
  std::unordered_map<std::uint64_t, const snapshot::Fact*> facts_;
};

// `offset`: where the function's chunk lies. `layers`: the types of the object's layers, by name.
std::vector<FlowNode> flow_of(const syntax::FunctionStmt& function, std::uint32_t offset,
    const FactsAt& facts, const std::map<std::string, std::string>& layers);

}  // namespace stepzero::server
