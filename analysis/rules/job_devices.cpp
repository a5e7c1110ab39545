#include "rules/job_devices.hpp"

#include "libraries/table/class_roles.hpp"
#include "values/devices.hpp"

#include <algorithm>

namespace stepzero::rules {

using namespace interpreter;

std::string_view backend_of_gpus(const Record& record) {
  std::string_view name;
  bool always = true;
  visit_operations(
      record, with_operation(values::Operation::group_settings), [&](const OperationEvent& event) {
        if (event.arguments.empty()) return;
        const std::string_view one = libraries::backend_of_gpus(event.arguments[0]);
        always = always && !one.empty() && (name.empty() || name == one);
        name = one;
      });
  return always ? name : std::string_view{};
}

bool computes_on_gpus(const Record& record) {
  return !backend_of_gpus(record).empty() || std::ranges::any_of(record.facts, [](const Fact& fact) {
    return fact.tensor && values::is_accelerator(fact.tensor->device);
  });
}

}  // namespace stepzero::rules
