// Rows of what a program hands to other processes: variables of the environment, commands.
#pragma once

#include "libraries/table/table.hpp"

namespace stepzero::libraries {

std::vector<Row> process_rows();
// os.environ.setdefault(key, value): the value is judged as one that is set.
void judge_variable(Call& call, std::string_view key, Value value);
// A rank that the program has a value of its own for where none is given, -1 or None: which of them it is
// stays a question. `which` says the role where the value is a number, as in the run of one rank.
Value role_or_else(Call& call, Value role, std::string_view given, Value otherwise,
    symbolic::Role which = symbolic::Role::none);
// init_method="tcp://host:port": where the ranks meet.
void judge_address(Call& call, Value address);

}  // namespace stepzero::libraries
