// See names.hpp.
#include "libraries/table/names.hpp"

#include "libraries/table/op.hpp"

namespace stepzero::libraries {

namespace {

std::unordered_map<const values::OperatorInfo*, std::string_view>& names() {
  static std::unordered_map<const values::OperatorInfo*, std::string_view> known;
  return known;
}

}  // namespace

void name_operator(const values::OperatorInfo* op, std::string_view name) { names().emplace(op, name); }

std::string_view operator_name(const Row& row) {
  if (const auto found = names().find(row.op); row.op && found != names().end()) return found->second;
  std::string_view path = row.path;
  if (path.ends_with(".forward")) path.remove_suffix(std::string_view(".forward").size());
  return last_part(path);
}

void share_roles(std::span<Row> rows) {
  // Functions and methods have rules of their own: what is asked of x.to(device) is not asked of every
  // function `to`.
  struct Of {
    const values::OperatorInfo* op;
    RowKind kind;
    values::Variant variant;
    bool operator==(const Of&) const = default;
  };
  std::vector<std::pair<Of, const Row*>> known;
  for (const Row& row : rows)
    if (row.op && row.operation != Operation::none) known.push_back({{row.op, row.kind, row.variant}, &row});
  for (Row& row : rows) {
    if (!row.op || row.operation != Operation::none) continue;
    for (const auto& [of, other] : known)
      if (of == Of{row.op, row.kind, row.variant}) {
        row.operation = other->operation;
        row.loss = other->loss;
        row.moved = other->moved;
      }
  }
}

}  // namespace stepzero::libraries
