#include "libraries/table/columns.hpp"

namespace stepzero::libraries {

std::vector<Column> columns() {
  std::vector<Column> all = ndim_columns();
  for (Column (*const column)() :
      {meaning_column, content_column, arithmetic_column, autocast_column, saved_column})
    all.push_back(column());
  return all;
}

}  // namespace stepzero::libraries
