// fsdp/one-unit: a model of many layers that is sharded as one piece.
#include "rules/fsdp/wraps.hpp"
#include "rules/list.hpp"
#include "rules/loop/parts.hpp"

#include <algorithm>

namespace stepzero::rules {

using namespace interpreter;
using namespace fsdp;
using values::Kind;

namespace {

constexpr std::size_t many = 4;  // layers

// The name of a row of layers of the program's own, such as "blocks"; empty if there is none.
std::string layers_of(const Instance& module, int depth = 0) {
  for (const auto& [name, slot] : module.attributes.entries()) {
    if (!slot->value.is(Kind::instance) || name.text().starts_with('$')) continue;
    const Instance& part = *slot->value.as<Instance>();
    if (part.native && (part.native->path == "torch.nn.ModuleList" || part.native->path == "torch.nn.Sequential")) {
      const Value items = attribute(&part, "$items");
      if (!items.is(Kind::list)) continue;
      const auto& list = values::Heap::list_state(items)->items;
      const auto own = std::count_if(list.begin(), list.end(), [](const Value& item) { return item.is(Kind::instance) && item.as<Instance>()->cls; });
      if (static_cast<std::size_t>(own) >= many) return std::string(name.text());
    } else if (depth < 3) {
      if (const std::string inner = layers_of(part, depth + 1); !inner.empty()) return std::string(name.text()) + "." + inner;
    }
  }
  return {};
}

bool is_sharded_inside(const Instance& module, const std::vector<Wrap>& wraps) {
  Parts parts;
  parts.add(Value::of(Kind::instance, const_cast<Instance*>(&module)));
  if (!parts.complete) return true;
  return std::any_of(wraps.begin(), wraps.end(), [&](const Wrap& each) {
    const Value one = each.in_place ? each.module : each.event->self;
    // Of a row of modules, or one that is not known, it may be any part.
    return !one.is(Kind::instance) || (one.object() != &module && parts.found.contains(one.object()));
  });
}

void check(const Record& record, Report& report) {
  Once once;
  for (const auto& root : record.roots) {
    const std::vector<Wrap> wraps = wraps_in(record, *root);
    for (const Wrap& wrap : wraps) {
      if (!wrap.module.is(Kind::instance) || (!wrap.in_place && !wrap.leaves_out("auto_wrap_policy"))) continue;
      const Instance& module = *wrap.module.as<Instance>();
      const std::string layers = layers_of(module);
      if (layers.empty() || is_sharded_inside(module, wraps) || !once(wrap.event->place)) continue;
      report.add(Severity::information, wrap.event->place, wrap.event->calls,
                 wrap.in_place ? "Only the whole model is sharded, so each forward gathers all parameters at once and keeps them until the backward. Call `fully_shard` on each of `" + layers + "` first: then one layer is gathered at a time, while the one before computes."
                               : "Without an `auto_wrap_policy` the whole model is one unit: each forward gathers all parameters at once and keeps them until the backward. Pass `ModuleWrapPolicy` of the class of `" + layers + "`: then one layer is gathered at a time, while the one before computes.");
    }
  }
}

} // namespace

constexpr Rule fsdp_one_unit = complete({
    .id = "fsdp/one-unit",
    .severity = Severity::information,
    .summary = "a model of many layers is sharded as one unit, and gathered as one",
    .why = "FSDP gathers the parameters of a unit before its forward and again before its backward. A model that is one unit needs room for all of its "
           "parameters at once, which is what sharding was to avoid, and nothing can be sent while something is computed. With a unit for each "
           "layer the peak is one layer, and the next one comes meanwhile.",
    .wrong = "model = FullyShardedDataParallel(transformer)\n",
    .right = "model = FullyShardedDataParallel(transformer, auto_wrap_policy=ModuleWrapPolicy({Block}))\n",
    .silent = "Models without a row of at least four layers of their own; models of which a part is sharded, too; policies that are not known.",
    .fix = "None: which class is a layer has to be chosen.",
    .fix_kind = FixKind::none,
    .check = check,
});

} // namespace stepzero::rules
