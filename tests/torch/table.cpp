// The table of what is known of libraries is one table: every name stands in it once, and says where it was
// read.
#include "libraries/table/table.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace stepzero;

TEST_CASE("Every path has one row") {
  std::set<std::string_view> seen;
  for (const values::Row& row : libraries::table().rows()) {
    INFO(row.path);
    CHECK(seen.insert(row.path).second);
  }
}

TEST_CASE("Every row says where its meaning was read") {
  for (const values::Row& row : libraries::table().rows()) {
    INFO(row.path);
    CHECK_FALSE(row.source.empty());
  }
}

TEST_CASE("A row is found by the canonical spelling of its path alone") {
  for (const values::Row& row : libraries::table().rows()) {
    INFO(row.path);
    const std::string canonical = libraries::table().canonical(row.path);
    CHECK(libraries::table().find(canonical));
  }
}
