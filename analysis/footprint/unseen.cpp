#include "footprint/unseen.hpp"

#include "libraries/table/table.hpp"
#include "syntax/walk.hpp"
#include "values/internal_rows.hpp"
#include "values/kept_by_packages.hpp"
#include "values/limits.hpp"

#include <algorithm>

namespace stepzero::footprint {

using interpreter::Fact;
using syntax::Name;
using values::Kind;
using values::Place;
using values::Unknown;

namespace {

Value kept(const Unknown& value, values::KeptKey key) { return value.attributes.value(Name(key)); }

// The object that it is a part of or that gave it; null: it is the program's own. A module of Python gives
// all that is called in it.
const Unknown* source_of(const Unknown& value, values::KeptKey key) {
  const Value source = kept(value, key);
  return source.is(Kind::unknown) && !kept(*source.as<Unknown>(), values::UnknownState::imported)
      ? source.as<Unknown>()
      : nullptr;
}

// `model.half()` gives the model.
bool is_given_by_module(const Unknown& value) {
  std::string_view method = value.name.substr(value.name.rfind('.') + 1);
  if (!method.ends_with("()")) return false;
  method.remove_suffix(2);
  return libraries::table().find(std::string(libraries::table().types().module) + "." + std::string(method));
}

// The object that a call made: what was moved is what it was before, and a part belongs to the whole.
const Unknown& made_first(const Unknown& value) {
  const Unknown* at = &value;
  for (int steps = 0; steps < values::deepest_module; ++steps) {
    const Unknown* source = source_of(*at, values::MovedState::same_module);
    if (!source) source = source_of(*at, values::UnknownState::whole);
    if (!source && is_given_by_module(*at)) source = source_of(*at, values::UnknownState::given_by);
    if (!source) break;
    at = source;
  }
  return *at;
}

class Search {
public:
  explicit Search(const Account& account) : account_(account), record_(account.record()) {}

  std::vector<UnseenModel> find() {
    for (const ModelAccount& model : account_.models()) add_parts(model);
    for (const Optimizer& optimizer : account_.optimizers())
      if (!optimizer.complete)
        for (const Value& given : optimizer.made->arguments) add_trained(given, &optimizer, 0);
    for (const Value& value : account_.values())
      if (value.is(Kind::instance))
        add_model(attribute(record_, *value.as<Instance>(), values::TrainerState::model), nullptr);
    // Whoever is given the parameters of a model may be unseen, too.
    if (found_.empty() && account_.models().empty())
      for (const Fact& fact : record_.facts)
        if (record_.in_file(fact.place)) add_listed(fact.value, nullptr);
    return std::move(found_);
  }

private:
  std::string_view name_of(const ModelAccount& model) const {
    for (const Fact& fact : record_.facts)
      if (fact.role == Fact::Role::assignment && fact.value.is(Kind::instance) &&
          fact.value.as<Instance>() == model.object && record_.in_file(fact.place))
        return record_.text(fact.place);
    return {};
  }
  // What the call is assigned to; empty: it stands in another statement.
  std::string_view name_at(Place call) const {
    std::string_view found;
    if (const syntax::Stmt* statement = record_.chunk(call).statement())
      syntax::for_each_statement(*statement, [&](const syntax::Stmt& stmt) {
        if (stmt.kind != syntax::StmtKind::assign) return;
        const auto& assign = syntax::as<syntax::AssignStmt>(stmt);
        if (assign.targets.size() == 1 && assign.value && assign.value->span.holds(call.span))
          found = record_.text({call.chunk, assigned_to(*assign.targets[0], *assign.value, call)->span});
      });
    return found;
  }
  // Of `trunk, head = create(…), create(…)` the one that gets the call.
  static const syntax::Expr* assigned_to(const syntax::Expr& target, const syntax::Expr& value, Place call) {
    if (target.kind != syntax::ExprKind::tuple || value.kind != syntax::ExprKind::tuple) return &target;
    const auto& targets = syntax::as<syntax::TupleExpr>(target).elements;
    const auto& values = syntax::as<syntax::TupleExpr>(value).elements;
    if (targets.size() == values.size())
      for (std::size_t i = 0; i < values.size(); ++i)
        if (values[i]->span.holds(call.span)) return targets[i];
    return &target;
  }
  void add(UnseenModel model) {
    if (std::ranges::none_of(found_, [&](const UnseenModel& other) {
          return other.name == model.name && other.made_by == model.made_by;
        }))
      found_.push_back(std::move(model));
  }
  // What is called, `timm.create_model` of a call there; empty: it is no call of something with a name.
  std::string_view called_at(Place place) const {
    const std::string_view text = place ? record_.text(place) : std::string_view{};
    const std::string_view called = text.substr(0, text.find('('));
    return called.size() < text.size() && called.find_first_of("\n ") == std::string_view::npos
        ? called
        : std::string_view{};
  }

  void add_parts(const ModelAccount& model) {
    const std::string_view name = name_of(model);
    for (const UnseenPart& part : model.tree.unseen) {
      const std::string_view by = called_at(part.made);
      // What moves it does not make it.
      if (by.empty() || by.ends_with(".to") || by.ends_with(".cuda")) continue;
      add({(name.empty() ? model.tree.modules[0].type : std::string(name)) + "." + part.path, std::string(by),
          part.made, nullptr});
    }
  }

  void add_model(Value model, const Optimizer* optimizer) {
    if (!model.is(Kind::unknown)) return;
    const Unknown& made = made_first(*model.as<Unknown>());
    const std::string_view by = called_at(made.born);
    if (by.empty()) return;
    const std::string_view name = name_at(made.born);

    add({std::string(name.empty() ? record_.text(made.born) : name), std::string(by), made.born, optimizer});
  }

  // `model.parameters()`
  bool add_listed(Value value, const Optimizer* optimizer) {
    const auto* list = value.is(Kind::instance) ? value.as<Instance>() : nullptr;
    if (!list || !list->native || list->native->path != values::InternalRow::parameters) return false;
    add_model(attribute(record_, *list, values::OptimizerState::of), optimizer);
    return true;
  }

  // The models of what an optimizer is given.
  void add_trained(Value value, const Optimizer* optimizer, int depth) {
    if (depth > values::deepest_data || add_listed(value, optimizer)) return;
    const auto each = [&](const std::vector<Value>& items) {
      for (const Value& item : items) add_trained(item, optimizer, depth + 1);
    };
    switch (value.kind) {
    case Kind::choice:
      add_trained(value.as<values::Choice>()->yes, optimizer, depth + 1);
      add_trained(value.as<values::Choice>()->no, optimizer, depth + 1);
      return;
    case Kind::tensor:
      if (const auto* made = value.as<values::Tensor>()->now()->made; made && made->self)
        add_model(made->self, optimizer);
      return;
    case Kind::tuple: return each(value.as<values::Tuple>()->items);
    case Kind::list:
    case Kind::iterator:
      if (const auto* state = values::Heap::list_state(value)) {
        each(state->items);
        add_trained(state->rest, optimizer, depth + 1);
      }
      return;
    case Kind::dict:
      if (const auto* state = values::Heap::dict_state(value))
        for (const auto& [key, item] : state->items) add_trained(item, optimizer, depth + 1);
      return;
    case Kind::unknown:
      // What a method of the model gave: `model.parameter_groups()`.
      for (const values::KeptKey key : {values::UnknownState::whole, values::UnknownState::given_by})
        if (const Unknown* source = source_of(*value.as<Unknown>(), key))
          return add_trained(Value::of(Kind::unknown, source), optimizer, depth + 1);
      return add_model(value, optimizer);
    default: return;
    }
  }

  const Account& account_;
  const Record& record_;
  std::vector<UnseenModel> found_;
};

}  // namespace

std::vector<UnseenModel> unseen_models(const Account& account) { return Search(account).find(); }

}  // namespace stepzero::footprint
