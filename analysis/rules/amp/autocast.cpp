#include "rules/amp/autocast.hpp"

#include "rules/condition_text.hpp"
#include "rules/source.hpp"
#include "values/kept.hpp"

namespace stepzero::rules {

using namespace interpreter;
using values::Dtype;
using values::Kind;
using values::Operation;

namespace {

bool is_manager(const Instance& object, Operation operation) {
  return object.native && object.native->row && object.native->row->operation == operation;
}

// What the value is where a condition of the library's own holds, of two that such a condition chooses from;
// `chosen` if it is one.
Value if_there(const Record& record, Value value, bool& chosen) {
  if (!value.is(Kind::choice)) return value;
  const auto& choice = *value.as<values::Choice>();
  for (const auto& [name, condition] : record.conditions) {
    const bool as_it_is = choice.condition == condition;
    if (!as_it_is && choice.condition != record.symbols.logical_not(condition)) continue;
    chosen = true;
    return as_it_is ? choice.yes : choice.no;
  }
  return value;
}

std::optional<Autocast> as_autocast(
    const Record& record, const Around* around, Value manager, bool if_there_too = false) {
  if (!manager.is(Kind::instance)) return std::nullopt;
  const auto* instance = manager.as<Instance>();
  if (!is_manager(*instance, Operation::autocast_region)) return std::nullopt;
  Autocast found;
  found.around = around;
  found.manager = instance;
  const Value enabled = instance->attributes.value(syntax::Name(values::ContextState::enabled));
  found.enabled = !enabled ? Answer::yes : Answer::unknown;
  if (enabled.is(Kind::unknown) && !enabled.as<values::Unknown>()->name.empty())
    found.when = " when `" + std::string(enabled.as<values::Unknown>()->name) + "`";
  if (enabled.is(Kind::boolean)) {
    found.enabled = record.symbols.decide(enabled.condition());
    const Cond condition = enabled.condition();
    if (if_there_too &&
        std::ranges::any_of(record.conditions, [&](const auto& each) { return each.second == condition; })) {
      found.enabled = Answer::yes;
      found.if_there = true;
    }
    if (found.enabled == Answer::unknown) found.when = when_text(record, condition);
  }
  // A region of a dry run of a loop, whose making was taken back.
  if (!instance->attributes.value(syntax::Name(values::ContextState::device_type))) return std::nullopt;
  bool chosen = false;
  const Value named = instance->attributes.value(syntax::Name(values::ContextState::device_type));
  if (const Value device = if_there_too ? if_there(record, named, chosen) : named; device.is(Kind::string))
    found.device = device.text();
  else if (device.is(Kind::device))
    found.device = device.as<values::Device>()->text;
  if (const auto colon = found.device.find(':'); colon != std::string_view::npos)
    found.device = found.device.substr(0, colon);
  const Value dtype = instance->attributes.value(syntax::Name(values::ModuleState::dtype));
  if (dtype.is(Kind::dtype))
    found.dtype = dtype.dtype();
  else if (!dtype || dtype.is(Kind::none))
    found.dtype = found.device == "cuda" ? Dtype::float16
        : found.device == "cpu"          ? Dtype::bfloat16
                                         : Dtype::unknown;
  found.if_there = found.if_there || chosen;
  found.without_gradients = around->gradients != values::Known::yes;
  return found;
}

// Of a loss of which nothing is known: where it was last assigned, and the `with` that stands around that.
std::optional<Autocast> autocast_of_text(const Record& record, Value loss) {
  const Fact* last = nullptr;
  for (const Fact& fact : record.facts)
    if (fact.role == Fact::Role::assignment && fact.value == loss) last = &fact;
  if (!last) return std::nullopt;
  std::optional<Autocast> found;
  for (const auto& around : record.arounds) {
    if (around->place.chunk != last->place.chunk) continue;
    for (const Enclosing& each : enclosing(*record.chunk(last->place).chunk->stmt, last->place.span))
      if (each.stmt->kind == syntax::StmtKind::with)
        for (const syntax::WithItem& item : syntax::as<syntax::WithStmt>(*each.stmt).items)
          if (item.context->span == around->place.span)
            if (auto region = as_autocast(record, around.get(), around->manager)) found = region;
  }
  return found;
}

}  // namespace

std::optional<Autocast> autocast_around(const Record& record, const Around* around) {
  for (; around; around = around->outer) {
    if (!around->manager.is(Kind::instance)) return std::nullopt;
    if (auto found = as_autocast(record, around, around->manager)) return found;
  }
  return std::nullopt;
}

std::optional<Autocast> autocast_of_loss(const Record& record, const OperationEvent& backward) {
  if (const auto own = autocast_around(record, backward.around)) return own;
  const values::TensorState* loss = backward.self_state();
  if ((!loss || (loss->unseen && !loss->cast_by)) && backward.self)
    return autocast_of_text(record, backward.self);
  if (!loss || !loss->cast_by) return std::nullopt;
  for (const auto& around : record.arounds)
    if (around->manager == Value::of(Kind::instance, loss->cast_by))
      return as_autocast(record, around.get(), around->manager);
  return std::nullopt;
}

std::optional<Autocast> autocast_of_loss_if_there(const Record& record, const OperationEvent& backward) {
  const values::TensorState* loss = backward.self_state();
  if (!loss || !loss->cast_by || autocast_around(record, backward.around)) return std::nullopt;
  for (const auto& around : record.arounds) {
    bool chosen = false;
    const Value manager = if_there(record, around->manager, chosen);
    if (!(manager == Value::of(Kind::instance, loss->cast_by))) continue;
    auto region = as_autocast(record, around.get(), manager, true);
    if (region) region->if_there = region->if_there || chosen;
    return region;
  }
  return std::nullopt;
}

std::vector<Autocast> training_regions(const Record& record) {
  std::vector<Autocast> found;
  for (const auto& around : record.arounds)
    if (auto region = as_autocast(record, around.get(), around->manager);
        region && region->enabled != Answer::no && !region->without_gradients)
      found.push_back(*region);
  return found;
}

}  // namespace stepzero::rules
