#include "rules/ranks/communication.hpp"

#include "libraries/torch/distributed/jobs.hpp"
#include "rules/ranks/module_state.hpp"
#include "rules/report.hpp"
#include "values/kept.hpp"
#include "values/kept_by_packages.hpp"

#include <algorithm>

namespace stepzero::rules {

using namespace interpreter;
using values::Kind;
using values::Operation;

Value argument_at(const OperationEvent& event, int index) {
  return index >= 0 && static_cast<std::size_t>(index) < event.arguments.size()
      ? event.arguments[static_cast<std::size_t>(index)]
      : Value{};
}

namespace {

// Is it asked of what works in one process alone?
bool is_alone(const OperationEvent& event) {
  return event.self.is(Kind::instance) &&
      event.self.as<values::Instance>()->attributes.find(syntax::Name(values::TrainerState::alone));
}

// Does the call communicate at all?
bool happens(const OperationEvent& event, const values::CollectiveInfo& info) {
  if (is_alone(event)) return false;
  if (info.joins && joined_by(event)) return false;
  if (info.only_if >= 0) {
    const Value asked = argument_at(event, info.only_if);
    if (!asked.is(Kind::boolean) || event.row->collective != &info) return false;
  } else if (info.when == values::When::sharded || info.when == values::When::parted) {
    return false;
  }
  if (info.when != values::When::with_buffers) return true;
  return sends_buffers(event.self);
}

std::optional<std::int64_t> product_of(const symbolic::Context& symbols, std::span<const Value> items) {
  std::int64_t product = 1;
  for (const Value& item : items) {
    const auto size = item.is(Kind::integer) ? symbols.value(item.integer()) : std::nullopt;
    if (!size || *size < 1 || *size > (1 << 20) / product) return std::nullopt;
    product *= *size;
  }
  return items.empty() ? std::nullopt : std::optional(product);
}

}  // namespace

std::vector<const values::Instance*> modules_that_send(const OperationEvent& event) {
  std::vector<const values::Instance*> modules;
  if (const values::TensorState* loss = event.self_state())
    for (const values::Object* source : loss->graph)
      if (const auto* module = dynamic_cast<const values::Instance*>(source);
          module && module->native && module->native->row && module->native->row->backward)
        modules.push_back(module);
  return modules;
}

bool may_be_held_back(const OperationEvent& event) {
  if (event.row->operation != Operation::backward) return false;
  const values::TensorState* loss = event.self_state();
  return loss && std::any_of(loss->graph.begin(), loss->graph.end(), [](const values::Object* source) {
    const auto* made = dynamic_cast<const values::Instance*>(source);
    return made && made->native && made->native->row && made->native->row->covers == values::Covers::no_sync;
  });
}

bool communicates_if_reached(const OperationEvent& event) {
  if (event.row->operation == Operation::await || event.row->message) return true;
  if (event.row->operation == Operation::backward) return !modules_that_send(event).empty();
  return event.row->collective && happens(event, *event.row->collective);
}

const Around* joined_by(const OperationEvent& event) {
  for (const Around* around = event.around; around; around = around->outer) {
    if (!around->manager.is(Kind::instance)) continue;
    const auto* native = around->manager.as<values::Instance>()->native;
    if (native && native->row && native->row->covers == values::Covers::join) return around;
  }
  return nullptr;
}

bool is_traced(const OperationEvent& event) {
  return event.row->operation == Operation::unseen_communication || event.row->operation == Operation::slow ||
      event.row->operation == Operation::group_settings || communicates_if_reached(event) ||
      may_be_held_back(event);
}

std::optional<std::int64_t> ranks_asked_for(const OperationEvent& event, const symbolic::Context& symbols) {
  constexpr std::int64_t most = 1 << 20;  // ranks: a product of more is no job
  const std::string_view factors = libraries::job_size(*event.row);
  std::int64_t product = 1;
  for (std::size_t begin = 0; begin < factors.size();) {
    const std::size_t end = std::min(factors.find(' ', begin), factors.size());
    std::string_view name = factors.substr(begin, end - begin);
    begin = end + 1;
    const bool of_entries = name.starts_with('*');
    if (of_entries) name.remove_prefix(1);
    std::optional<std::int64_t> given;
    for (std::size_t i = 0; i < event.row->parameters.size() && i < event.arguments.size(); ++i) {
      if (event.row->parameters[i].text() != name) continue;
      const Value value = event.arguments[i];
      if (value.is(Kind::integer)) given = symbols.value(value.integer());
      if (of_entries) {
        const auto* list = event.list_state(i);
        given = value.is(Kind::tuple) ? product_of(symbols, value.as<values::Tuple>()->items)
            : list && !list->open     ? product_of(symbols, list->items)
                                      : std::nullopt;
        continue;
      }
      // Devices may be named one by one.
      if (const auto* list = event.list_state(i); list && !list->open)
        given = static_cast<std::int64_t>(list->items.size());
    }
    if (!given || *given <= 0) return std::nullopt;
    product = std::min(product * std::min(*given, most), most);
  }
  return factors.empty() ? std::nullopt : std::optional(product);
}

// What is expected to fail may do so before it has come to that.
bool communicates(const OperationEvent& event) { return !event.expected && communicates_if_reached(event); }

std::string_view collective_name(const OperationEvent& event) {
  if (event.row->collective) return event.row->collective->name;
  const auto modules = modules_that_send(event);
  return modules.empty() ? std::string_view("communication") : modules.front()->native->row->backward->name;
}

bool communicates(const Record& record, const Root& root) {
  const auto may_communicate = [](const values::Row& row) {
    return row.operation == Operation::await || row.operation == Operation::backward || row.message ||
        row.collective;
  };
  bool any = false;
  visit_operations(
      record, root, may_communicate, [&](const OperationEvent& event) { any = any || communicates(event); });
  return any;
}

static bool is_settled(const OperationEvent& event, int argument) {
  return argument >= 0 && static_cast<std::size_t>(argument) < event.arguments.size() &&
      event.arguments[static_cast<std::size_t>(argument)].is(Kind::boolean);
}

bool is_open(const OperationEvent& event) {
  const values::CollectiveInfo* info = event.row->collective;
  return info && (info->when == values::When::sharded || info->when == values::When::parted) &&
      !is_settled(event, info->only_if);
}

bool on_all_ranks(const OperationEvent& event) {
  if (event.expected || is_alone(event)) return false;
  if (event.row->operation == Operation::parallel_forward) return true;
  // A backward communicates by the wrapper of its model, which says who takes part.
  if (!event.row->collective) return false;
  // Where it communicates for certain, or not at all, the comparison of the ranks tells.
  if (const int only_if = event.row->collective->only_if; only_if >= 0 && !is_open(event)) return false;
  const int group = event.row->collective->group;
  if (group < 0 || static_cast<std::size_t>(group) >= event.arguments.size()) return true;
  const Value value = event.arguments[static_cast<std::size_t>(group)];
  if (!value || value.is(Kind::none)) return true;
  if (!value.is(Kind::instance)) return false;
  const values::Slot* all = value.as<values::Instance>()->attributes.find(
      syntax::Name(values::GroupState::all));
  return all && all->value;
}

bool works_on_files(const OperationEvent& event) {
  switch (event.row->operation) {
  case values::Operation::fallible:
    return event.row->parameters.empty() ||
        event.row->parameters.front().text() != "status";  // the end of the process
  case values::Operation::file_read:
  case values::Operation::file_moved:
  case values::Operation::load:
  case values::Operation::save: return true;
  default: return false;
  }
}

}  // namespace stepzero::rules
