// How the shape rules speak: shapes and sizes in the user's names, and the edits that several of them offer.
#pragma once

#include "rules/report.hpp"
#include "values/shape_text.hpp"

namespace stepzero::rules {

std::string shape_text(const Record& record, const values::Shape& shape);  // "[B, T, 768]", "[*, 768]"
std::string size_words(const Record& record, const values::Dim& dim);      // "64", "`n_embd`"
// The text of the expression that gave an operand, or its kind: "x", "self.fc1", "the input".
std::string operand_text(const Record& record, const ProblemEvent& problem, std::size_t index);
// The layer as the program calls it, "self.fc1", or as it was made, "nn.Linear(3, 4)".
std::string layer_text(const Record& record, const ProblemEvent& problem);
// The expression that gave an operand and could be replaced; null if there is none.
const syntax::Expr* operand_expression(const ProblemEvent& problem, std::size_t index);
// "32×5×5 = 800", "`C*5*5`", if the size came from a flatten; else empty.
std::string arithmetic_text(const Record& record, const values::Dim& dim);
void relate_origin(const Report& report, Finding& finding, const values::Dim& dim, const std::string& what);

// "Set in_features to 128": changes the constructor's argument to what arrives, if that is a number and the
// constructor stands in the analyzed file with a literal there.
std::optional<Fix> fix_constructor(
    const Record& record, const ProblemEvent& problem, std::string_view parameter);
// What the operator itself offers.
std::optional<Fix> fix_of(
    const Record& record, const ProblemEvent& problem, const interpreter::SuggestedEdit& edit);
// Puts a suffix after an operand: a decision of the user.
std::optional<Fix> fix_append(const Record& record, const ProblemEvent& problem, std::size_t operand,
    const std::string& suffix, std::string title);
// "Transpose …", offered where the last two dimensions, swapped, fit.
std::optional<Fix> fix_transpose(const Record& record, const ProblemEvent& problem, std::size_t operand);

}  // namespace stepzero::rules
