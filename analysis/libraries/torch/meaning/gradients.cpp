#include "libraries/torch/meaning/gradients.hpp"

#include "libraries/table/columns.hpp"
#include "libraries/table/names.hpp"

#include <algorithm>

namespace stepzero::libraries {

namespace {

struct Named {
  std::string_view name;
  GradientWrite write;
};

using enum GradientWrite;
constexpr Named writes[] = {
    {"mul", less},
    {"div", less},
    {"clamp", limited},
    {"clamp_min", limited},
    {"clamp_max", limited},
    {"nan_to_num", less},
    {"detach_", cut},
    {"requires_grad_", cut},
    {"zero_", nothing},
};

}  // namespace

GradientWrite gradient_write_of(const values::Row& row) {
  const auto found = std::ranges::find(writes, operator_name(row), &Named::name);
  return found == std::end(writes) ? other : found->write;
}

GradientWrite gradient_write_of(std::string_view method) {
  const values::Row* row = table().find("torch.Tensor." + std::string(method));
  return row ? gradient_write_of(*row) : other;
}

Column gradient_column() { return column_of("what it makes of a gradient in place", writes); }

}  // namespace stepzero::libraries
