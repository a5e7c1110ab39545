// What a program says of the causal language models of transformers that it trains or asks, in the words of
// that library's interface: `labels=`, `padding=`, `padding_side=`. Read from the text alone. Knows no rule.
#pragma once

#include "interpreter/record.hpp"
#include "syntax/walk.hpp"

#include <functional>
#include <string_view>

namespace stepzero::rules {

// Does the program name a class of transformers whose models predict the next token? They shift the labels
// that they are given by one, and leave out those that are -100.
bool uses_causal_model(const interpreter::Record& record);
// Is a model given labels, by name or within a batch, or a trainer that does so?
bool gives_labels(const interpreter::Record& record);
// Does the call ask a tokenizer to pad: `padding=True`, `padding="max_length"`?
bool pads(const syntax::CallExpr& call);
// Each statement, and each expression, of the analyzed file or of all of the program's own, with its chunk.
void each_statement(const interpreter::Record& record, bool in_file,
    const std::function<void(std::uint32_t, const syntax::Stmt&)>& each);
void each_expression(const interpreter::Record& record, bool in_file,
    const std::function<void(std::uint32_t, const syntax::Expr&)>& each);

}  // namespace stepzero::rules
