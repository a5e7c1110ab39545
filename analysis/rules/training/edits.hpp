// Edits of whole statements, and the words of the program that they are made of. Knows no rule.
#pragma once

#include "rules/report.hpp"

#include <string>

namespace stepzero::rules {

// The text in front of `.step(…)`; `otherwise` if there is none.
std::string object_text(const Record& record, const OperationEvent& event, std::string otherwise);

// False if the statement is not one that can be moved: it is not alone on its lines, or the call is not all
// of it. Is the call all of a statement: nothing is made of its result?
bool is_statement(const Record& record, const OperationEvent& event);
bool is_statement(const Record& record, values::Place call, const syntax::CallExpr* expr);
bool remove_statement(const Record& record, const OperationEvent& event, Fix& fix);
bool insert_before(const Record& record, const OperationEvent& event, const std::string& text, Fix& fix);
bool insert_after(const Record& record, const OperationEvent& event, const std::string& text, Fix& fix);
// Moves the statement to follow (or before) that of another operation, in the same function.
bool move_statement(
    const Record& record, const OperationEvent& event, const OperationEvent& to, bool after, Fix& fix);

}  // namespace stepzero::rules
