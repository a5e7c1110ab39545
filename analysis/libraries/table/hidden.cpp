#include "libraries/table/hidden.hpp"

namespace stepzero::libraries {

void add_hidden(std::vector<Row>& rows, std::span<const Hidden> list) {
  for (const Hidden& call : list) {
    Row made = row(call.path, call.kind, call.signature, call.run, call.base, call.operation);
    made.collective = &call.info;
    made.backward = call.backward;
    rows.push_back(made);
  }
}

}  // namespace stepzero::libraries
