// Columns of the table of operators that are kept beside it, each in a file of its own, by the operator's own
// name. tests/torch holds them against the table: each name is that of an operator, none is an alias, and
// none stands twice.
#pragma once

#include <string_view>
#include <vector>

namespace stepzero::libraries {

struct Column {
  std::string_view says;
  std::vector<std::string_view> operators;
};

// The names of a table whose rows have one.
template <class Rows> Column column_of(std::string_view says, const Rows& rows) {
  Column column{says, {}};
  for (const auto& row : rows) column.operators.push_back(row.name);
  return column;
}
template <class Names> Column column_of_names(std::string_view says, const Names& names) {
  return {says, {std::begin(names), std::end(names)}};
}

Column meaning_column();             // algebra, memory, losses, gradients
Column content_column();             // elements that are made or arranged
Column arithmetic_column();          // … or computed
Column autocast_column();            // types under autocast
Column saved_column();               // what backward reads again
std::vector<Column> ndim_columns();  // dimensions of tensors of unknown ndim

std::vector<Column> columns();

}  // namespace stepzero::libraries
