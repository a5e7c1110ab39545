// How much a mistake weighs: by what the scaler is enabled, by which way a run takes, by who made the
// optimizer.
#include "rules/condition_text.hpp"
#include "rules/training/training.hpp"

#include "rules/training/parts.hpp"
#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::rules {

using namespace interpreter;
using values::Kind;
using values::Operation;

Cond enabled(const Record& record, const Object* scaler) {
  const auto* instance = dynamic_cast<const Instance*>(scaler);
  if (!instance) return record.symbols.opaque("", symbolic::Sharing::uniform);
  if (const Value value = attribute(instance, values::ContextState::enabled); value.is(Kind::boolean))
    return value.condition();
  if (!instance->symbolic) return nullptr;
  const std::string name = std::string(instance->name) + ".is_enabled()";
  if (const auto it = record.conditions.find(name); it != record.conditions.end()) return it->second;
  return record.symbols.opaque(name, symbolic::Sharing::uniform);
}

std::optional<ConditionalSeverity> severity_under(const Record& record, const Object* scaler,
    const OperationEvent& event, const TrainingRoot& training_root) {
  ConditionalSeverity weight;
  const Cond scales = enabled(record, scaler);
  if (!scales) return weight;
  // `if scaler.is_enabled(): …`
  Cond all = scales, path = nullptr;
  for (const TrainingEvent& each : training_root.all) {
    if (each.event != &event) continue;
    for (const Turn& turn : each.turns) {
      const Cond side = turn.yes ? turn.branch->condition
                                 : record.symbols.logical_not(turn.branch->condition);
      path = path ? record.symbols.logical_and(path, side) : side;
    }
    break;
  }
  if (path) all = record.symbols.logical_and(all, path);
  if (record.symbols.decide(all) == Answer::no) return std::nullopt;
  if (record.symbols.decide(scales) == Answer::yes) return weight;
  if (path &&
      record.symbols.decide(record.symbols.logical_and(path, record.symbols.logical_not(scales))) ==
          Answer::no)
    return weight;
  weight.severity = Severity::warning;
  const std::string when = when_text(record, scales);
  weight.when = when.empty() ? " when the scaler is enabled" : when;
  return weight;
}

std::optional<ConditionalSeverity> severity_under(
    const Record& record, const OrderViolation& violation, const OperationEvent& event) {
  auto weight = severity_under(record, violation.scaler, event, *violation.training_root);
  if (!weight) return weight;
  if (!violation.on_path.empty()) return severity_under(record, violation);
  if (violation.training_root->presumed.contains(violation.optimizer.object()))
    weight->severity = Severity::warning;
  return weight;
}
ConditionalSeverity severity_under(const Record& record, const OrderViolation& violation) {
  ConditionalSeverity weight;
  if (!violation.on_path.empty()) weight = {Severity::warning, when_text(record, violation.on_path)};
  if (violation.training_root->presumed.contains(violation.optimizer.object()))
    weight.severity = Severity::warning;
  return weight;
}

}  // namespace stepzero::rules
