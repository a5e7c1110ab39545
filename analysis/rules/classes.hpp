// Functions and classes of the program, as rules about methods ask for them. Knows no rule.
#pragma once

#include "rules/report.hpp"

#include <string_view>
#include <vector>

namespace stepzero::rules {

// Is the library's class this one, or does it derive from it?
bool derives(const values::LibrarySymbol* native, std::string_view path);
// The same of the nearest library class above a class of the program.
bool derives(const values::Class& cls, std::string_view path);
// The method of that name, of the class or of the nearest one above that is seen; null if there is none.
const syntax::FunctionStmt* method_of(const values::Class& cls, std::string_view name);
// The functions of the program that ran, by themselves or called, each once, in the order of the run.
std::vector<const values::Function*> functions_that_ran(const Record& record);

}  // namespace stepzero::rules
