#include "rules/amp/autocast.hpp"

#include "rules/source.hpp"

namespace stepzero::rules {

using namespace interpreter;
using values::Dtype;
using values::Kind;

namespace {

Value kept(const Instance& object, std::string_view name) {
  const values::Slot* slot = object.attributes.find(syntax::Name(name));
  return slot ? slot->value : Value{};
}

std::optional<Autocast> as_autocast(const Record& record, const Around* around, Value manager) {
  if (!manager.is(Kind::instance)) return std::nullopt;
  const auto* instance = manager.as<Instance>();
  if (!instance->native) return std::nullopt;
  const bool off = instance->native->path == "$casts_off";
  if (!off && instance->native->path != "$casts") return std::nullopt;
  Autocast found;
  found.around = around;
  found.manager = instance;
  const Value enabled = kept(*instance, "$enabled");
  found.enabled = off ? Answer::no : !enabled ? Answer::yes : Answer::unknown;
  if (enabled.is(Kind::unknown) && !enabled.as<values::Unknown>()->name.empty()) found.when = " whenever " + std::string(enabled.as<values::Unknown>()->name);
  if (!off && enabled.is(Kind::boolean)) {
    found.enabled = record.symbols.decide(enabled.condition());
    const std::string text = record.symbols.text(enabled.condition());
    if (found.enabled == Answer::unknown && !text.empty()) found.when = " whenever " + text;
  }
  // A region of a rehearsal of a loop, whose making was taken back.
  if (!kept(*instance, "$device_type")) return std::nullopt;
  if (const Value device = kept(*instance, "$device_type"); device.is(Kind::string)) found.device = device.text();
  else if (device.is(Kind::device)) found.device = device.as<values::Device>()->text;
  if (const auto colon = found.device.find(':'); colon != std::string_view::npos) found.device = found.device.substr(0, colon);
  const Value dtype = kept(*instance, "$dtype");
  if (dtype.is(Kind::dtype)) found.dtype = dtype.dtype();
  else if (!dtype || dtype.is(Kind::none)) found.dtype = found.device == "cuda" ? Dtype::float16 : found.device == "cpu" ? Dtype::bfloat16 : Dtype::unknown;
  for (const Around* outer = around; outer; outer = outer->outer) {
    if (!outer->manager.is(Kind::instance)) continue;
    const auto* other = outer->manager.as<Instance>();
    if (!other->native || other->native->path != "$grad_mode") continue;
    const Value on = kept(*other, "$on");
    found.without_gradients = !on.is(Kind::boolean) || record.symbols.decide(on.condition()) != Answer::yes;
    break;
  }
  return found;
}

} // namespace

std::optional<Autocast> autocast_around(const Record& record, const Around* around) {
  for (; around; around = around->outer) {
    if (!around->manager.is(Kind::instance)) return std::nullopt;
    if (auto found = as_autocast(record, around, around->manager)) return found;
  }
  return std::nullopt;
}

std::optional<Autocast> autocast_of_loss(const Record& record, const OperationEvent& backward) {
  if (const auto own = autocast_around(record, backward.around)) return own;
  if (!backward.self) return std::nullopt;
  // The last assignment of this very loss before the backward, and the `with` that stands around it.
  const Fact* last = nullptr;
  for (const Fact& fact : record.facts)
    if (fact.role == Fact::Role::assignment && fact.value == backward.self) last = &fact;
  if (!last) return std::nullopt;
  std::optional<Autocast> found;
  for (const auto& around : record.arounds) {
    if (around->place.chunk != last->place.chunk) continue;
    const auto path = enclosing(*record.chunk(last->place).chunk->stmt, last->place.span);
    for (const Enclosing& each : path)
      if (each.stmt->kind == syntax::StmtKind::with)
        for (const syntax::WithItem& item : syntax::as<syntax::WithStmt>(*each.stmt).items)
          if (item.context->span == around->place.span)
            if (auto region = as_autocast(record, around.get(), around->manager)) found = region;
  }
  return found;
}

std::vector<Autocast> training_regions(const Record& record) {
  std::vector<Autocast> found;
  for (const auto& around : record.arounds)
    if (auto region = as_autocast(record, around.get(), around->manager); region && region->enabled != Answer::no && !region->without_gradients)
      found.push_back(*region);
  return found;
}

} // namespace stepzero::rules
