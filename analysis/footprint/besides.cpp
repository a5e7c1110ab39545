#include "footprint/besides.hpp"

#include "footprint/ranks.hpp"
#include "libraries/table/names.hpp"
#include "libraries/torch/meaning/meanings.hpp"
#include "values/kept.hpp"

#include <algorithm>
#include <map>

namespace stepzero::footprint {

using interpreter::Fact;
using interpreter::LoopEvent;
using interpreter::OperationEvent;
using values::Kind;
using values::Operation;

namespace {

constexpr int most_nested = 6;        // dicts and lists of one batch
constexpr int most_visited = 10'000;  // values in one: the same may lie in it again and again

// The tensors in tuples, lists and dicts; false: there is something else, of which this is not known.
template <class Each>
bool each_tensor_in(const Record& record, Value value, const Each& each, int& left, int depth) {
  value = decided(record, value);
  // A gradient, which is None before the first backward.
  if (value.is(Kind::choice)) {
    const auto& choice = *value.as<values::Choice>();
    if (choice.yes.is(Kind::none) || choice.no.is(Kind::none))
      value = decided(record, choice.yes.is(Kind::none) ? choice.no : choice.yes);
  }
  if (value.is(Kind::unknown) && value.as<values::Unknown>()->state.value.is(Kind::tensor))
    value = value.as<values::Unknown>()->state.value;
  const auto all = [&](const std::vector<Value>& items) {
    bool known = true;
    for (const Value& item : items) known = each_tensor_in(record, item, each, left, depth + 1) && known;
    return known;
  };
  if (depth > most_nested || --left < 0) return false;
  switch (value.kind) {
  case Kind::tensor: each(*value.as<values::Tensor>()->now()); return true;
  case Kind::tuple: return all(value.as<values::Tuple>()->items);
  case Kind::list: {
    const auto* state = values::Heap::list_state(value);
    return all(state->items) && !state->open;
  }
  case Kind::dict: {
    const auto* state = values::Heap::dict_state(value);
    bool known = !state->open;
    for (const auto& [key, item] : state->items)
      known = each_tensor_in(record, item, each, left, depth + 1) && known;
    return known;
  }
  case Kind::unknown:
  case Kind::choice:
  case Kind::instance: return false;
  default: return true;
  }
}

template <class Each> bool each_tensor(const Record& record, Value value, const Each& each) {
  int left = most_visited;
  return each_tensor_in(record, value, each, left, 0);
}

Amount amount_of(const Record& record, const Bytes& bytes, const std::vector<Setting>& settings) {
  return {bytes.number(record.symbols, settings), bytes.text(record.symbols, settings), bytes.at_least()};
}

// What the rank has in a collective: a tensor, or a list of them; nothing in one without tensors.
Bytes bytes_of_message(const Record& record, const OperationEvent& event) {
  Bytes made;
  const auto& info = *event.row->collective;
  const int at = info.tensor >= 0 ? info.tensor : info.sent >= 0 ? info.sent : info.list;
  if (at < 0 || static_cast<std::size_t>(at) >= event.arguments.size()) return made;
  const Value given = decided(record, event.arguments[static_cast<std::size_t>(at)]);
  if (!given || given.is(Kind::none)) return made;
  if (!each_tensor(record, given, [&](const TensorState& state) {
        made.add(record.symbols, bytes_of(record.symbols, state.shape, state.dtype));
      }))
    made.miss();
  return made;
}

}  // namespace

Bytes moved_in(const Account& account, const StepAccount& step) {
  const Record& record = account.record();
  Bytes moved;
  if (step.loop && !step.loop->iterations.empty())
    visit(step.loop->iterations.back(), step.loop, true,
        [&](const OperationEvent& event, const LoopEvent* loop, bool always) {
          if (!event.row->collective || event.row->collective->hidden || event.row->collective->makes_group ||
              event.row->kind == values::RowKind::class_)
            return;
          const Bytes each = bytes_of_message(record, event);
          moved.add(record.symbols, each);
          // Of rounds that were not run one by one there may be more.
          const auto rounds = loop && loop->length ? record.symbols.value(loop->length) : std::nullopt;
          const bool is_summarized = loop != step.loop &&
              (!loop->unrolled || (rounds && *rounds > static_cast<std::int64_t>(loop->iterations.size())));
          if ((!always || is_summarized) && (each.at_least() || account.number(each) > 0)) moved.miss();
        });
  // To the next stage, and from it.
  if (step.microbatches && !step.microbatches->is_last)
    moved.add(record.symbols,
        bytes_of(record.symbols, step.backward->self_state()->shape, step.backward->self_state()->dtype),
        2 * step.microbatches->all);
  for (const ModelAccount& model : account.models())
    if (model.division && model.trained)
      for (const Module& module : model.tree.modules)
        for (const std::int64_t bytes :
            {moved_by_forward(record, *module.object), moved_by_backward(record, *module.object)})
          moved.add(bytes);
  return moved;
}

std::optional<InFlight> in_flight(const Account& account, const StepAccount& step) {
  const Record& record = account.record();
  if (!step.loop || !step.loop->stmt || step.loop->stmt->kind != syntax::StmtKind::for_) return std::nullopt;
  const auto& loop = syntax::as<syntax::ForStmt>(*step.loop->stmt);
  const values::Place header{step.loop->place.chunk, loop.header};
  const values::Object* read = nullptr;
  std::vector<const OperationEvent*> loaders;
  for (const auto* roots : {&record.default_roots, &record.roots})
    for (const auto& root : *roots)
      visit(root->block, nullptr, true, [&](const OperationEvent& event, const LoopEvent*, bool) {
        if (event.row->operation != Operation::loader_made || !event.self.is(Kind::instance)) return;
        if (event.row->kind == values::RowKind::class_)
          loaders.push_back(&event);
        else if (event.place.chunk == header.chunk && header.span.holds(event.place.span))
          read = event.self.object();
      });
  const auto made = std::ranges::find_if(
      loaders, [&](const OperationEvent* event) { return event->self.object() == read; });
  if (!read || made == loaders.end()) return std::nullopt;
  const auto number = [&](std::string_view name) { return record.number(argument_of(record, **made, name)); };
  InFlight found;
  found.workers = number("num_workers").value_or(0);
  if (found.workers <= 0) return std::nullopt;
  constexpr std::int64_t by_default = 2;
  found.each = number("prefetch_factor").value_or(by_default);
  const Value pinned = argument_of(record, **made, "pin_memory");
  found.pinned = pinned.is(Kind::boolean) &&
      record.symbols.decide(pinned.condition()) == symbolic::Answer::yes;
  // What the loop's target gets, as it is shown: there a size that any batch may have is open.
  const Record* names = account.names();
  if (!names) return std::nullopt;
  const std::string& path = record.chunk(header).path;
  const syntax::Span target = record.span({header.chunk, loop.target->span});
  std::map<std::uint32_t, const Fact*> targets;
  for (const Fact& fact : names->facts)
    if (fact.role == Fact::Role::assignment && names->chunk(fact.place).path == path &&
        target.holds(names->span(fact.place)))
      targets[fact.place.span.begin] = &fact;
  Bytes batch;
  bool any = false;
  for (const auto& [at, fact] : targets) {
    const auto add = [&](const TensorState& state) {
      any = true;
      batch.add(names->symbols, bytes_of(names->symbols, state.shape, state.dtype));
    };
    if (fact->tensor)
      add(*fact->tensor);
    else if (!each_tensor(*names, fact->value, add))
      batch.miss();
  }
  if (!any) return std::nullopt;
  std::vector<Setting> settings = account.options().settings;
  if (const auto size = number("batch_size")) settings.push_back({"batch", *size});
  found.batch = amount_of(*names, batch, settings);
  return found;
}

std::vector<Cache> caches(const Account& account) {
  if (!account.names()) return {};
  const Record& record = *account.names();
  struct Found {
    values::Place place;
    Bytes bytes;
    std::unordered_set<const values::Producer*> tensors;
  };
  std::map<std::string_view, Found> found;  // by the name: the last
  for (const Fact& fact : record.facts) {
    if (fact.role != Fact::Role::assignment && fact.role != Fact::Role::attribute) continue;
    Found one{fact.place, {}, {}};
    const auto add = [&](const TensorState& state) {
      if (!state.made ||
          libraries::meaning_of(libraries::operator_name(*state.made->row)).algebra !=
              libraries::OpSemantics::joined ||
          Graph::requires_grad(state) || state.made->listed.size() < 2 || !values::is_floating(state.dtype))
        return;
      // What went in first came from here, too.
      const TensorState* before = state.made->listed[0];
      if (!before || !before->made || before->made->row != state.made->row ||
          !(before->made->born == state.made->born) || !one.tensors.insert(state.made).second)
        return;
      one.bytes.add(record.symbols, bytes_of(record.symbols, state.shape, state.dtype));
    };
    if (fact.tensor)
      add(*fact.tensor);
    else
      each_tensor(record, fact.value, add);
    if (!one.tensors.empty()) found[record.text(fact.place)] = std::move(one);
  }
  // One name for each: where all of it lies in something else, that is told.
  std::vector<Cache> made;
  for (const auto& [name, one] : found)
    if (std::ranges::none_of(found, [&](const auto& other) {
          const auto& all = other.second.tensors;
          return (all.size() > one.tensors.size() ||
                     (all.size() == one.tensors.size() && other.first < name)) &&
              std::ranges::all_of(one.tensors, [&](const auto* each) { return all.contains(each); });
        }))
      made.push_back({one.place, amount_of(record, one.bytes, account.options().settings)});
  return made;
}

}  // namespace stepzero::footprint
