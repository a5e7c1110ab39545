#include "libraries/table/columns.hpp"

namespace stepzero::libraries {

std::vector<Column> columns() {
  std::vector<Column> all = ndim_columns();
  for (Column (*const column)() : {sense_column, outcome_column, crossing_column, content_column,
           arithmetic_column, autocast_column, saved_column, memory_column, order_column, gradient_column})
    all.push_back(column());
  return all;
}

}  // namespace stepzero::libraries
