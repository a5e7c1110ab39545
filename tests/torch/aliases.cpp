// Other names of an operator are rows of the same operator: what rules and side tables know of one they know
// of all.
#include "libraries/table/names.hpp"
#include "libraries/table/op.hpp"
#include "libraries/torch/meaning/op_semantics.hpp"

#include <catch2/catch.hpp>

#include <fstream>

using namespace stepzero;

namespace {

struct Alias {
  std::string name, of;
};
std::vector<Alias> aliases() {
  std::vector<Alias> found;
  std::ifstream file(STEPZERO_ALIASES);
  for (Alias each; std::getline(file, each.name, '\t') && std::getline(file, each.of);) found.push_back(each);
  return found;
}
// Some take less than what the database calls their operator: maximum, of two tensors alone. Others have a
// home of their own rules.
constexpr std::string_view of_their_own[] = {
    "torch.maximum", "torch.minimum", "torch.Tensor.maximum", "torch.Tensor.minimum"};

}  // namespace

TEST_CASE("Everything known of an operator is known of its other names") {
  REQUIRE(aliases().size() > 80);
  for (const auto& [name, of] : aliases()) {
    INFO(name << " is " << of);
    const values::Row *alias = libraries::table().find(libraries::table().canonical(name)),
                      *row = libraries::table().find(libraries::table().canonical(of));
    if (std::ranges::find(of_their_own, name) != std::end(of_their_own)) continue;
    CHECK(alias);
    CHECK(row);
    if (!alias || !row) continue;
    CHECK(libraries::operator_name(*alias) == libraries::operator_name(*row));
    CHECK(alias->op->shape == row->op->shape);
    CHECK(alias->op->type == row->op->type);
    CHECK(alias->op->column_role == row->op->column_role);
    CHECK(alias->op->content == row->op->content);
    CHECK(alias->op->trace == row->op->trace);
    CHECK(alias->variant == row->variant);
    CHECK(alias->one_device == row->one_device);
    CHECK(alias->operation == row->operation);
    CHECK(alias->loss == row->loss);
    CHECK(libraries::semantics_of(*alias) == libraries::semantics_of(*row));
  }
}

TEST_CASE("A name that writes into its tensor writes under its other names") {
  for (const values::Row& row : libraries::table().rows()) {
    if (!row.op || !row.path.ends_with('_') || row.path.ends_with("__")) continue;
    INFO(row.path);
    CHECK((row.variant != values::Variant::plain || row.op->writes));
  }
}
