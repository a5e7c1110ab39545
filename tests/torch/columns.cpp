// What is known of operators beside the table's own columns is looked up by an operator's own name. Each name
// in such a column is that of an operator or a layer; a misspelled one, or an alias, would be a fact that
// nobody ever finds.
#include "libraries/table/columns.hpp"
#include "footprint/saving_table.hpp"
#include "libraries/table/class_roles.hpp"
#include "libraries/table/names.hpp"
#include "libraries/table/table.hpp"

#include <catch2/catch.hpp>

#include <set>
#include <unordered_map>

using namespace stepzero;

namespace {
std::set<std::string_view> own_names() {
  std::set<std::string_view> names;
  for (const values::Row& row : libraries::table().rows())
    if (row.op || row.operation == values::Operation::recomputed) names.insert(libraries::operator_name(row));
  return names;
}
void hold(const std::vector<libraries::Column>& columns) {
  const std::set<std::string_view> names = own_names();
  for (const libraries::Column& column : columns) {
    std::set<std::string_view> seen;
    for (const std::string_view name : column.operators) {
      INFO(column.says << ": " << name);
      CHECK(names.contains(name));
      CHECK(seen.insert(name).second);
    }
  }
}
}  // namespace

TEST_CASE("Columns beside the table name operators by their own names") { hold(libraries::columns()); }

TEST_CASE("So do the columns of what operators keep in memory") { hold(footprint::columns()); }

TEST_CASE("Classes with roles and schedules have rows") {
  for (const std::string_view name : libraries::names_with_roles()) {
    INFO(name);
    CHECK(libraries::table().find(name));
  }
}

TEST_CASE("The record of an operator is complete") {
  std::unordered_map<const values::OperatorInfo*, std::string_view> names;
  for (const values::Row& row : libraries::table().rows()) {
    if (!row.op) continue;
    INFO(row.path);
    CHECK(row.run);                   // a shape function
    CHECK_FALSE(row.source.empty());  // where it was read
    const std::string_view name = libraries::operator_name(row);
    CHECK_FALSE(name.empty());
    // All names of one operator are one operator.
    CHECK(names.emplace(row.op, name).first->second == name);
    // A default has its parameter, and what is positional is among the parameters.
    CHECK(row.defaults.size() <= row.parameters.size());
    CHECK(row.positional <= row.parameters.size());
  }
  CHECK(names.size() > 500);
}
