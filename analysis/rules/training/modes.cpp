#include "rules/training/modes.hpp"

#include "rules/name_hints.hpp"
#include "rules/training/parts.hpp"
#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::rules {

using values::Kind;
using values::Operation;

const Instance* by_mode(const Object* module) {
  Parts parts;
  parts.add(as_value(module));
  for (const Object* part : parts.found) {
    const auto* layer = dynamic_cast<const Instance*>(part);
    if (!layer || !layer->native || !layer->native->row || !layer->native->row->by_mode) continue;
    const Value p = attribute(layer, "p");
    if (!p.is(Kind::real) || p.real() > 0) return layer;
  }
  return nullptr;
}

bool has_own_modes(const Object* module) {
  Parts parts;
  parts.add(as_value(module));
  return std::any_of(parts.found.begin(), parts.found.end(), [](const Object* part) {
    const auto* instance = dynamic_cast<const Instance*>(part);
    if (!instance || !instance->cls) return false;
    for (const values::Class* cls : instance->cls->order)
      for (const std::string_view name : {"train", "eval"})
        if (cls->body && cls->body->names.find(syntax::Name(name))) return true;
    return false;
  });
}

bool trains_from_here(const Record& record, const OperationEvent& event) {
  if (event.row->operation != Operation::train_mode || event.arguments.empty()) return false;
  const Value mode = event.arguments[0];
  return !mode || (mode.is(Kind::boolean) && record.symbols.decide(mode.condition()) == Answer::yes);
}

bool is_mode_of(const OperationEvent& event, const Object* model, const Instance* layer) {
  if (event.self.object() == model) return true;
  if (!layer || !event.self.is(Kind::instance)) return false;
  Parts whole, part;
  whole.add(as_value(model));
  part.add(event.self);
  return whole.found.contains(event.self.object()) && part.found.contains(layer);
}

bool may_differ_by_mode(const Record& record, const Object* module) {
  Parts parts;
  parts.add(as_value(module));
  if (!parts.complete || by_mode(module)) return true;
  return std::any_of(parts.found.begin(), parts.found.end(), [&](const Object* part) {
    const auto* instance = dynamic_cast<const Instance*>(part);
    if (!instance) return false;
    if (instance->symbolic || instance->of_many || (instance->cls && instance->open)) return true;
    if (!instance->cls) {
      if (!instance->native || !instance->native->row) return true;
      const Value dropout = attribute(instance, "dropout"),
                  statistics = attribute(instance, "track_running_stats");
      if (dropout || instance->native->row->explodes) return !dropout.is(Kind::real) || dropout.real() != 0;
      return statistics &&
          !(statistics.is(Kind::boolean) && record.symbols.decide(statistics.condition()) == Answer::no);
    }
    if (instance->cls->open) return true;
    return std::ranges::any_of(instance->cls->order,
        [](const values::Class* cls) { return cls->stmt && names(*cls->stmt, Says::asking_mode); });
  });
}

}  // namespace stepzero::rules
