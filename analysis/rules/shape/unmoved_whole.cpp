// Batches that lie where an unseen loader left them, though the model that they are given to was moved. Where
// they and the model lie is asked of the run. Of what the run does not enter only the text tells: what
// collates samples, which nobody calls here, and the class of a model that may move what it is given.
#include "rules/shape/unmoved_whole.hpp"

#include "interpreter/calls/unseen.hpp"
#include "libraries/table/class_roles.hpp"
#include "rules/call_at.hpp"
#include "rules/name_hints.hpp"
#include "rules/shape/batch_names.hpp"
#include "rules/source.hpp"
#include "rules/training/parts.hpp"
#include "values/devices.hpp"
#include "values/kept_by_packages.hpp"
#include "values/limits.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <vector>

namespace stepzero::rules {

using namespace interpreter;
using namespace syntax;
using values::code;
using values::Kind;
using values::Operation;
using values::Unknown;

namespace {

// What the run found that an expression of the text is, whoever ran it.
std::vector<Value> values_of(const Record& record, std::uint32_t chunk, const Expr& expr) {
  const Place place = record.as_run({chunk, expr.span});
  std::vector<Value> found;
  for (const Fact& fact : record.facts)
    if (fact.place == place && fact.role == Fact::Role::expression) found.push_back(fact.value);
  return found;
}

// Does all of it lie where the loader left it? Everything else may be moved.
class LeftByLoader {
public:
  explicit LeftByLoader(Value loader) : loader_(loader) {}

  bool holds(Value value, int depth = 0) const {
    if (depth > values::most_choices) return false;
    const auto all = [&](const auto& items) {
      return std::ranges::all_of(items, [&](Value each) { return !each || holds(each, depth + 1); });
    };
    switch (value.kind) {
    case Kind::integer: return true;  // of `enumerate`
    case Kind::tuple: return all(value.as<values::Tuple>()->items);
    case Kind::choice:
      return all(std::array{value.as<values::Choice>()->yes, value.as<values::Choice>()->no});
    case Kind::list:
    case Kind::iterator: {
      const auto* state = values::Heap::list_state(value);
      return state && all(state->items) && all(std::array{state->rest});
    }
    case Kind::dict: {
      const auto* state = values::Heap::dict_state(value);
      return all(state->items | std::views::values) && all(std::array{state->rest});
    }
    case Kind::unknown: return is_part(*value.as<Unknown>());
    default: return false;
    }
  }

private:
  bool is_part(const Unknown& value) const {
    const auto kept = [](const Unknown& of, values::KeptKey key) {
      return of.attributes.find(Name(key)) != nullptr;
    };
    const Unknown* at = &value;
    for (int depth = 0; at && depth < values::deepest_module; ++depth) {
      if (at == loader_.object()) return depth > 0;
      if (may_be_moved(*at) || kept(*at, values::UnknownState::stored) ||
          kept(*at, values::MovedState::module_on))
        return false;
      // Of PyTorch's own loader.
      if (loader_.is(Kind::instance) && kept(*at, values::UnknownState::batch)) return true;
      at = source_of(*at);
    }
    return false;
  }
  // What it is a part of, or what its method gave it.
  static const Unknown* source_of(const Unknown& value) {
    for (const values::KeptKey key :
        {values::UnknownState::whole, values::UnknownState::given_by, values::UnknownState::made_of})
      if (const Value source = value.attributes.value(Name(key)); source.is(Kind::unknown))
        return source.as<Unknown>();
    return nullptr;
  }

  Value loader_;
};

// May the device be an accelerator, as the program chooses it? That somebody else may have moved a model that
// nobody constructs here is no choice of the program's.
bool may_be_accelerator(const Record& record, const values::Device* device) {
  if (const values::ChosenDevice* choice = values::chosen(device)) {
    const auto of_others = record.conditions.find(values::DeviceCondition::model_on_gpu);
    return (of_others == record.conditions.end() || choice->condition != of_others->second) &&
        (may_be_accelerator(record, choice->yes) || may_be_accelerator(record, choice->no));
  }
  return values::is_accelerator(device) && !values::is_reserved(device->text);
}
// Was the model moved there, as far as the run knows?
bool is_moved(const Record& record, Value model) {
  // A wrapper may move what it hands on.
  if (model.is(Kind::unknown)) {
    const Unknown& unseen = *model.as<Unknown>();
    return !unseen.attributes.find(Name(values::WrapperState::wrapped)) &&
        may_be_accelerator(record, module_on(module_itself(unseen)));
  }
  if (attribute(model, values::WrapperState::prefix) || attribute(model, values::WrapperState::held_back))
    return false;
  Parts parts;
  parts.add(model);
  return std::ranges::any_of(parts.found, [&](const Object* part) {
    const auto* tensor = dynamic_cast<const values::Tensor*>(part);
    return tensor && tensor->role == values::TensorRole::parameter && tensor->now() &&
        may_be_accelerator(record, tensor->now()->device);
  });
}

// May it bring anything to a device: by what is called so, or is told one?
bool may_move(const CallExpr& call) {
  return says(last_name(*call.function), Says::moving) || may_take_device(call) ||
      std::ranges::any_of(call.arguments, [](const Expr* each) { return names(*each, Says::to_device); }) ||
      std::ranges::any_of(call.keywords, [](const Keyword& each) {
        return says(each.name.text(), Says::to_device) || names(*each.value, Says::to_device);
      });
}
template <class Syntax> bool any_may_move(const Syntax& in) {
  bool moves = false;
  for_each_expression(in, [&](const Expr& expr) {
    moves = moves || (expr.kind == ExprKind::call && may_move(as<CallExpr>(expr)));
  });
  return moves;
}

// Is the loader made here, and left to give its batches as they come: by PyTorch's own class, or by unseen
// code that was told no device? What is given to a function whoever calls it may have made to move them.
bool leaves_batches(const Record& record, Value loader) {
  const Object* made = loader.object();
  if (loader.is(Kind::unknown)) {
    const auto* unknown = loader.as<Unknown>();
    if (!comes_from_unseen(*unknown) || may_be_moved(*unknown)) return false;
    while (const Unknown* whole = whole_of(*unknown)) unknown = whole;
    made = unknown;
  } else if (!loader.is(Kind::instance) || loader.as<values::Instance>()->cls) {
    return false;
  }
  const Place place = as_it_stands(record, made->born);
  const CallExpr* call = call_at(record, place);
  if (!call || any_may_move(*call)) return false;
  // What collates is seen, or there is nothing that does.
  return std::ranges::all_of(call->keywords, [&](const Keyword& each) {
    if (!says(each.name.text(), Says::giving_samples)) return true;
    const std::vector<Value> given = values_of(record, place.chunk, *each.value);
    return std::ranges::all_of(given, [](Value value) {
      return value.is(Kind::none) ||
          (value.is(Kind::function) && value.as<values::Function>()->stmt &&
              !any_may_move(*value.as<values::Function>()->stmt));
    });
  });
}

// Does the program say of its data that something moves them: what collates, or gives, samples?
bool data_may_be_moved(const Record& record) {
  if (program_says(record, Says::loading_to_device)) return true;
  bool moved = false;
  for (const ChunkOf& chunk : record.chunks)
    if (const Stmt* top = moved ? nullptr : chunk.statement())
      for_each_statement(*top, [&](const Stmt& stmt) {
        moved = moved ||
            (stmt.kind == StmtKind::function &&
                says(as<FunctionStmt>(stmt).name.text(), Says::giving_samples) && any_may_move(stmt));
      });
  return moved;
}

// Does the model's own class move anything? Of one that is not seen nobody knows.
std::optional<bool> moves_what_it_is_given(const OperationEvent& forward) {
  if (!forward.self.is(Kind::instance)) return std::nullopt;
  const values::Class* cls = forward.self.as<values::Instance>()->cls;
  if (!cls) return false;
  const bool moves = std::ranges::any_of(
      cls->order, [](const values::Class* each) { return each->stmt && calls(*each->stmt, Says::moving); });
  if (moves) return true;
  return cls->open ? std::nullopt : std::optional(false);
}

struct WholeSearch {
  const Record& record;
  Report& report;
  std::set<const Stmt*> told;

  void look(const OperationEvent& event);
  const Expr* left_in(const CallExpr& call, std::uint32_t chunk, const Expr& loader) const;
};

// An input of the call that lies where the loader left it, if the loader was told no device; null: none, or
// one of which this is not known.
const Expr* WholeSearch::left_in(const CallExpr& call, std::uint32_t chunk, const Expr& loader) const {
  const std::vector<Value> loaders = values_of(record, chunk, loader);
  const auto is_left = [&](const Expr& input) {
    const std::vector<Value> given = values_of(record, chunk, input);
    return !given.empty() && std::ranges::all_of(given, [&](Value each) {
      return std::ranges::any_of(loaders,
          [&](Value from) { return leaves_batches(record, from) && LeftByLoader(from).holds(each); });
    });
  };
  for (const Expr* argument : call.arguments)
    if (is_left(argument->kind == ExprKind::starred ? *as<StarredExpr>(*argument).value : *argument))
      return argument;
  for (const Keyword& keyword : call.keywords)
    if (is_left(*keyword.value)) return keyword.value;
  return nullptr;
}

void WholeSearch::look(const OperationEvent& event) {
  if (!is_moved(record, event.self)) return;
  const Place place = as_it_stands(record, event.place);
  const ForStmt* loop = batch_loop_around(record, place).loop;
  const CallExpr* call = loop ? call_at(record, place) : nullptr;
  if (!call || told.contains(loop)) return;
  const Expr& source = *iterated_in(loop->iterable);
  const std::string_view made_by = last_name(
      source.kind == ExprKind::call ? *as<CallExpr>(source).function : source);
  const bool is_loader = says(made_by, Says::loader);
  if (!is_loader && !calls(*loop, Says::making_backward)) return;
  const Expr* given = left_in(*call, place.chunk, source);
  if (!given || data_may_be_moved(record) || fails_by_device(record, place.chunk, loop->span)) return;
  const std::optional<bool> moves = moves_what_it_is_given(event);
  if (moves.value_or(false)) return;
  told.insert(loop);
  const bool known = is_loader && moves.has_value();
  const auto text = [&](const Expr& expr) {
    return code(std::string(record.text({place.chunk, expr.span})));
  };
  report.add(known ? Severity::warning : Severity::information, event.place, event.calls,
      text(*given) + " stays where " + text(source) + (is_loader ? ", by its name a loader," : "") +
          " made it, and " + text(*call->function) +
          " is moved: nothing in the loop moves a batch. Move it to the model's device first" +
          (known ? "." : ", unless one of the two does so itself."));
}

}  // namespace

void look_for_batches_left_whole(const Record& record, Report& report) {
  WholeSearch search{record, report, {}};
  visit_operations(record, with_operation(Operation::forward), [&](const OperationEvent& event) {
    if (record.in_file(event.place)) search.look(event);
  });
}

}  // namespace stepzero::rules
