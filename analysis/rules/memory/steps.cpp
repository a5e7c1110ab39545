#include "rules/memory/steps.hpp"
#include "libraries/table/class_roles.hpp"

#include "rules/training/handed.hpp"
#include "rules/training/training_loops.hpp"
#include "values/internal_rows.hpp"
#include "values/kept.hpp"

#include <algorithm>
#include <set>

namespace stepzero::rules {

using footprint::Account;
using footprint::StepAccount;
using values::Kind;
using values::Operation;

namespace {

struct HasSteps {
  bool yes = false;
};

bool is_sharded(const Instance& module) {
  if (module.attributes.find(syntax::Name(values::WrapperState::sharded))) return true;
  return libraries::role_of(module.native) == libraries::ClassRole::shards_model ||
      libraries::may_shard(module.native);
}

}  // namespace

bool has_steps(const Record& record) {
  auto& known = record.derived[std::type_index(typeid(HasSteps))];
  if (!known) {
    auto made = std::make_shared<HasSteps>();
    for (const TrainingRoot& training_root : Training::of(record).training_roots())
      made->yes = made->yes ||
          (!training_root.root->function && !training_root.root->truncated &&
              std::ranges::any_of(training_root.all, [](const TrainingEvent& each) {
                return each.event->row->operation == Operation::backward && each.event->self_state();
              }));
    known = std::move(made);
  }
  return static_cast<const HasSteps*>(known.get())->yes;
}

bool is_divided(const Account& account) {
  std::set<std::string_view> devices;
  for (const footprint::ModelAccount& model : account.models())
    for (const footprint::Module& module : model.tree.modules) {
      if (is_sharded(*module.object)) return true;
      for (const footprint::Held& held : module.own)
        if (held.tensor && held.tensor->now()->device) devices.insert(held.tensor->now()->device->text);
    }
  for (const footprint::Optimizer& optimizer : account.optimizers())
    if (optimizer.divided || values::is_internal(optimizer.type)) return true;
  return devices.size() > 1;
}

std::vector<const StepAccount*> steps_on_gpu(const Account& account, bool open_sizes) {
  std::vector<const StepAccount*> found;
  for (const StepAccount& step : account.steps()) {
    const values::TensorState* loss = step.backward->self_state();
    if (on_host(loss) || (!open_sizes && (step.peak.bytes.open() || step.peak.bytes.at_least()))) continue;
    found.push_back(&step);
  }
  return found;
}

}  // namespace stepzero::rules
