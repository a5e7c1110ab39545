// fsdp/parameter-groups: groups of an optimizer that are chosen by names which flat parameters have not.
#include "rules/fsdp/wraps.hpp"
#include "rules/rule.hpp"
#include "rules/training/parts.hpp"
#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::rules::fsdp::parameter_groups {

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

// How many parameters a group of the optimizer has; nothing if it is not known.
std::optional<std::size_t> size_of(Value group) {
  if (!group.is(Kind::dict) || values::Heap::dict_state(group)->open) return std::nullopt;
  for (const auto& [key, value] : values::Heap::dict_state(group)->items) {
    if (!key.is(Kind::string) || key.text() != "params") continue;
    if (value.is(Kind::list) && !values::Heap::list_state(value)->open)
      return values::Heap::list_state(value)->items.size();
    if (value.is(Kind::tuple)) return value.as<values::Tuple>()->items.size();
  }
  return std::nullopt;
}

// Of several groups some have parameters, and one has none.
bool has_empty_group(Value given) {
  if (!given.is(Kind::list) || values::Heap::list_state(given)->open) return false;
  bool empty = false, filled = false;
  for (const Value group : values::Heap::list_state(given)->items) {
    const auto size = size_of(group);
    if (!size) return false;
    (*size == 0 ? empty : filled) = true;
  }
  return empty && filled;
}

std::optional<Fix> keeping_names(const Record& record, const Report& report, const Wrap& wrap) {
  if (!wrap.event->expr || !record.in_file(wrap.event->place)) return std::nullopt;
  const syntax::CallExpr& call = *wrap.event->expr;
  if (call.arguments.empty() ||
      std::any_of(call.keywords.begin(), call.keywords.end(),
          [](const syntax::Keyword& keyword) { return keyword.name.text() == "use_orig_params"; }))
    return std::nullopt;
  const std::uint32_t last = call.keywords.empty() ? call.arguments[call.arguments.size() - 1]->span.end
                                                   : call.keywords[call.keywords.size() - 1].span.end;
  return Fix{"Pass use_orig_params=True", true,
      {{report.location({wrap.event->place.chunk, {last, last}}), ", use_orig_params=True"}}};
}

void check(const Record& record, Report& report) {
  Once once;
  for (const auto& root : record.roots) {
    const std::vector<Wrap>& wraps = wraps_in(record, *root);
    const auto wrap = std::find_if(wraps.begin(), wraps.end(), [](const Wrap& one) {
      return !one.in_place && attribute(one.event->self, values::WrapperState::flat);
    });
    if (wrap == wraps.end()) continue;
    visit(root->block, [&](const Event& event) {
      if (event.kind != EventKind::operation) return;
      const auto& made = static_cast<const OperationEvent&>(event);
      if (!made.row || made.row->operation != Operation::optimizer_made || made.arguments.empty() ||
          !has_empty_group(made.arguments.front()) || !once(event.place))
        return;
      Finding* finding = report.add(Severity::warning, event.place, event.calls,
          "One of these groups is empty, and the other has the whole model: `FullyShardedDataParallel` makes one flat parameter of each unit, whose name and shape do not tell its biases and norms from its weights. Pass `use_orig_params=True`, with which the parameters keep their names.");
      if (!finding) return;
      report.relate(*finding, wrap->event->place, "the parameters are flattened here");
      if (auto fix = keeping_names(record, report, *wrap)) finding->fixes.push_back(std::move(*fix));
    });
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "fsdp/parameter-groups",
    .severity = Severity::warning,
    .summary = "groups of an optimizer are chosen by names that flat parameters do not have",
    .why =
        "Without `use_orig_params=True` the parameters of a unit become one flat parameter, called `_flat_param`, of one dimension. Who sorts `named_parameters()` by \"bias\" or \"norm\", or by the "
        "number of dimensions, finds it in one group alone: either everything is decayed, biases and norms with it, or nothing is. Nothing fails.",
    .wrong =
        "model = FullyShardedDataParallel(net)\ndecay = [p for n, p in model.named_parameters() if \"bias\" not in n]\nrest = [p for n, p in model.named_parameters() if \"bias\" in n]\n"
        "optimizer = torch.optim.AdamW([{\"params\": decay, \"weight_decay\": 0.1}, {\"params\": rest, \"weight_decay\": 0.0}])\n",
    .right =
        "model = FullyShardedDataParallel(net, use_orig_params=True)\ndecay = [p for n, p in model.named_parameters() if \"bias\" not in n]\nrest = [p for n, p in model.named_parameters() if \"bias\" in n]\n"
        "optimizer = torch.optim.AdamW([{\"params\": decay, \"weight_decay\": 0.1}, {\"params\": rest, \"weight_decay\": 0.0}])\n",
    .silent =
        "`use_orig_params=True`; an `auto_wrap_policy` that is not made of classes; groups that are not known; `fully_shard`, which keeps each parameter.",
    .fix = "Passes `use_orig_params=True`.",
    .fix_kind = FixKind::always_right,
    .check = check,
});

}  // namespace stepzero::rules::fsdp::parameter_groups
