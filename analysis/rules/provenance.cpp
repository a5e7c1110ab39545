#include "rules/provenance.hpp"

#include "values/limits.hpp"

#include <algorithm>

namespace stepzero::rules {

using values::Kind;

namespace {
constexpr std::size_t most_steps = 400'000;  // operations that are looked at
constexpr std::size_t most_items = 16;       // of a list of tensors
constexpr int longest_way = 12;              // back to what a tensor is the same as
}  // namespace

OpSemantics semantics(const TensorState* state) {
  return state && state->made ? libraries::semantics_of(*state->made->row) : OpSemantics::none;
}

Value argument(const Producer& made, std::string_view name) {
  for (std::size_t i = 0; i < made.row->parameters.size() && i < made.arguments.size(); ++i)
    if (made.row->parameters[i].text() == name) return made.arguments[i];
  return {};
}

Value argument(const Producer& made, std::size_t index) {
  return index < made.arguments.size() ? made.arguments[index] : Value{};
}

const TensorState* input(const Producer& made, std::size_t index) {
  return index < made.states.size() ? made.states[index] : nullptr;
}

std::vector<const TensorState*> inputs(const Producer& made) {
  std::vector<const TensorState*> found;
  for (const auto* list : {&made.states, &made.listed})
    for (const TensorState* state : *list)
      if (state && std::find(found.begin(), found.end(), state) == found.end()) found.push_back(state);
  return found;
}

std::optional<double> number(const Record& record, Value value) {
  if (value.is(Kind::real)) return value.real();
  if (value.is(Kind::integer))
    if (const auto known = record.symbols.value(value.integer())) return static_cast<double>(*known);
  return std::nullopt;
}

std::optional<std::int64_t> size_of(const Record& record, const Dim& dim) {
  return dim.size ? record.symbols.value(dim.size) : std::nullopt;
}

std::optional<std::vector<std::size_t>> dimensions(
    const Record& record, const Producer& made, std::string_view name) {
  const TensorState* of = input(made);
  if (!of || !of->shape.ndim_known) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(of->shape.dims.size());
  const Value given = argument(made, name);
  std::vector<std::size_t> found;
  const auto add = [&](Value value) {
    const auto at = number(record, value);
    if (!at || *at < static_cast<double>(-rank) || *at >= static_cast<double>(rank)) return false;
    const auto place = static_cast<std::int64_t>(*at);
    found.push_back(static_cast<std::size_t>(place < 0 ? place + rank : place));
    return true;
  };
  if (!given || given.is(Kind::none)) {
    for (std::size_t i = 0; i < of->shape.dims.size(); ++i) found.push_back(i);
    return found;
  }
  if (given.is(Kind::tuple) || given.is(Kind::list)) {
    const auto& items = given.is(Kind::tuple) ? given.as<values::Tuple>()->items
                                              : values::Heap::list_state(given)->items;
    for (const Value& item : items)
      if (!add(item)) return std::nullopt;
    return found;
  }
  if (!add(given)) return std::nullopt;
  return found;
}

const TensorState* source_of(const TensorState* state, bool moves) {
  for (int way = 0; way < longest_way; ++way) {
    const OpSemantics by = semantics(state);
    if (by != OpSemantics::same &&
        !(moves && (by == OpSemantics::rearranged || by == OpSemantics::reordered)))
      break;
    const TensorState* source = input(*state->made);
    if (!source) break;
    state = source;
  }
  return state;
}

std::vector<const TensorState*> ancestors(const TensorState* state) {
  std::vector<const TensorState*> found{state};
  std::unordered_set<const void*> seen{identity(state)};
  for (std::size_t i = 0; i < found.size() && found.size() < most_steps; ++i) {
    if (!found[i]->made) continue;
    for (const TensorState* source : inputs(*found[i]->made))
      if (seen.insert(identity(source)).second) found.push_back(source);
  }
  return found;
}

bool comes_from(const TensorState* state, const TensorState* source) {
  const auto all = ancestors(state);
  return std::any_of(
      all.begin(), all.end(), [&](const TensorState* each) { return identity(each) == identity(source); });
}

std::string text_of(const Record& record, const Producer& made) {
  std::string text(record.text(made.born));
  if (const auto line = text.find('\n'); line != std::string::npos) text = text.substr(0, line) + "…";
  return text;
}

std::optional<Scores> scores_of(const TensorState* chosen_from) {
  Scores scores;
  scores.last = chosen_from;
  const TensorState* at = chosen_from;
  for (int way = 0; at && way < longest_way; ++way) {
    if (!at->made) return std::nullopt;
    switch (semantics(at)) {
    case OpSemantics::same:
    case OpSemantics::rearranged:
    case OpSemantics::reordered:
    case OpSemantics::masked:
    case OpSemantics::softmax:
    // Groups of experts are scored by the best of each.
    case OpSemantics::sum:
    case OpSemantics::largest:
    case OpSemantics::chosen:
    case OpSemantics::sigmoid: at = input(*at->made); break;
    case OpSemantics::add:
    case OpSemantics::mul:
    case OpSemantics::div: {
      // A second tensor is a bias, noise or a temperature.
      const TensorState *a = input(*at->made, 0), *b = input(*at->made, 1);
      scores.biased = scores.biased || (semantics(at) == OpSemantics::add && a && b);
      at = a && a->made ? a : b;
      break;
    }
    case OpSemantics::linear:
    case OpSemantics::product:
      scores.logits = at;
      scores.weight = at->made;
      return scores;
    default: return std::nullopt;
    }
  }
  return std::nullopt;
}

const Provenance& Provenance::of(const Record& record) {
  auto& slot = record.derived[typeid(Provenance)];
  if (!slot) slot = std::make_shared<Provenance>(record);
  return *static_cast<const Provenance*>(slot.get());
}

Provenance::Provenance(const Record& record) {
  std::unordered_set<const void*> seen;
  std::unordered_set<const values::Object*> seen_data;  // a tuple or list may be held by many others
  const auto add_one = [&](const auto& self, const TensorState* state) -> void {
    if (!state || seen.size() >= most_steps) return;
    if (state->made) {
      if (seen.insert(state->made).second) all_.push_back({state, state->made});
    } else if (state->either && seen.insert(state->either).second) {
      self(self, state->either->one);
      self(self, state->either->other);
    }
  };
  const auto add = [&](const TensorState* state) { add_one(add_one, state); };
  const auto add_value = [&](const auto& self, Value value, int depth) -> void {
    if (value.is(Kind::tensor)) add(value.as<values::Tensor>()->now());
    if (value.is(Kind::tuple) && depth < values::deepest_data && seen_data.insert(value.object()).second)
      for (const Value& item : value.as<values::Tuple>()->items) self(self, item, depth + 1);
    // What a list holds is gone where the run that made it was taken back.
    const values::ListState* list = value.is(Kind::list) && depth < values::deepest_data &&
            value.as<values::List>()->state.value && seen_data.insert(value.object()).second
        ? values::Heap::list_state(value)
        : nullptr;
    for (std::size_t i = 0; list && i < list->items.size() && i < most_items; ++i)
      self(self, list->items[i], depth + 1);
    if (list && list->rest) self(self, list->rest, depth + 1);
  };
  for (const interpreter::Fact& fact : record.facts) {
    if (fact.tensor) {
      add(fact.tensor);
      if (fact.role == interpreter::Fact::Role::assignment || fact.role == interpreter::Fact::Role::attribute)
        if (const auto [name, is_new] = names_.try_emplace(identity(fact.tensor)); is_new)
          name->second = record.text(fact.place);
    } else {
      add_value(add_value, fact.value, 0);
    }
  }
  visit_operations(record, [&](const OperationEvent& event) {
    for (const TensorState* state : event.tensors) add(state);
  });
  for (std::size_t i = 0; i < all_.size(); ++i)
    if (const Producer* made = all_[i].made)
      for (const TensorState* source : inputs(*made)) add(source);
  std::unordered_map<const values::Row*, OpSemantics> known;  // of a row: most operators are met many times
  for (const Origin& each : all_) {
    const values::Row* const row = each.state->made ? each.state->made->row : nullptr;
    const auto [found, is_new] = known.try_emplace(row);
    if (is_new) found->second = semantics(each.state);
    by_semantics_[found->second].push_back(each);
  }
}

const std::vector<Origin>& Provenance::of_semantics(OpSemantics wanted) const {
  static const std::vector<Origin> none;
  const auto found = by_semantics_.find(wanted);
  return found == by_semantics_.end() ? none : found->second;
}

std::string_view Provenance::name_of(const TensorState* state) const {
  const auto found = names_.find(identity(state));
  return found == names_.end() ? std::string_view() : found->second;
}

}  // namespace stepzero::rules
