// Calls that communicate out of sight: rows of libraries that wrap the collectives of torch.distributed.
#pragma once

#include "libraries/table/native.hpp"

#include <span>
#include <vector>

namespace stepzero::libraries {

// A call of a framework that communicates.
struct Hidden {
  std::string_view path;
  std::string_view signature;
  Value (*run)(Call&);
  CollectiveInfo info;
  RowKind kind = RowKind::method;
  Operation operation = Operation::collective;
  std::string_view base = {};                // of a class
  const CollectiveInfo* backward = nullptr;  // of a class of modules
};
// The list lives as long as the rows.
void add_hidden(std::vector<Row>& rows, std::span<const Hidden> list);

}  // namespace stepzero::libraries
