// call/framework-method: a method that a framework calls does not take what it is given, or does not give
// what the framework needs.
#include "libraries/frameworks/called_methods.hpp"
#include "rules/classes.hpp"
#include "rules/report.hpp"
#include "rules/rule.hpp"
#include "rules/run_conditions.hpp"
#include "rules/source.hpp"

#include <algorithm>
#include <set>

namespace stepzero::rules::call::framework_method {

using namespace interpreter;
using namespace syntax;

namespace {

// Is the flag written anywhere in the classes, to whatever value?
bool is_written(const values::Class& cls, std::string_view flag) {
  const auto names = [&](const Expr* target) {
    return (target->kind == ExprKind::attribute && as<AttributeExpr>(*target).attribute.text() == flag) ||
        (target->kind == ExprKind::name && as<NameExpr>(*target).id.text() == flag);
  };
  bool found = false;
  for (const values::Class* each : cls.order)
    for_each_statement(*each->stmt, [&](const Stmt& stmt) {
      if (stmt.kind == StmtKind::assign)
        found = found || std::ranges::any_of(as<AssignStmt>(stmt).targets, names);
      if (stmt.kind == StmtKind::ann_assign) found = found || names(as<AnnAssignStmt>(stmt).target);
      if (stmt.kind == StmtKind::function) found = found || as<FunctionStmt>(stmt).name.text() == flag;
    });
  return found;
}

// Does it do something, and come to its end? One that only raises, or is empty, is there for others to write.
bool does_something(const FunctionStmt& function) {
  const auto is_silent = [](const Stmt* stmt) {
    return stmt->kind == StmtKind::pass ||
        (stmt->kind == StmtKind::expression && as<ExpressionStmt>(*stmt).value->kind != ExprKind::call);
  };
  return !std::ranges::all_of(function.body, is_silent) && function.body.back()->kind != StmtKind::raise;
}

// Several optimizers in a row: `[a, b]`, `[a, b], […]`, `a, b`. Lists of one, and what is no call or name,
// say nothing.
bool gives_several(const FunctionStmt& function) {
  bool several = false, other = false;
  const auto is_one = [](const Expr* each) {
    return each->kind == ExprKind::name || each->kind == ExprKind::call || each->kind == ExprKind::attribute;
  };
  const auto are_several = [&](std::span<const Expr* const> items) {
    return items.size() > 1 && std::ranges::all_of(items, is_one);
  };
  const auto each_return = [&](const Stmt& stmt) {
    if (stmt.kind != StmtKind::return_) return;
    const Expr* value = as<ReturnStmt>(stmt).value;
    if (value && value->kind == ExprKind::tuple && !as<TupleExpr>(*value).elements.empty() &&
        as<TupleExpr>(*value).elements[0]->kind == ExprKind::list)
      value = as<TupleExpr>(*value).elements[0];
    const bool are = value && value->kind == ExprKind::list && are_several(as<ListExpr>(*value).elements);
    several = several || are;
    other = other || !are;
  };
  for (const Stmt* stmt : function.body) for_each_statement(*stmt, each_return);
  return several && !other;
}

// The statement that makes the backward of what the function returns: `loss.backward()` before `return loss`
// or `return {"loss": loss}`; null if there is none, or it keeps the graph for another.
const Expr* backward_of_result(const FunctionStmt& function) {
  std::set<std::string_view> returned;
  const auto note = [&](const Expr& expr) {
    if (expr.kind == ExprKind::name) returned.insert(as<NameExpr>(expr).id.text());
  };
  const Expr* found = nullptr;
  const auto each = [&](const Stmt& stmt) {
    if (stmt.kind != StmtKind::return_ || !as<ReturnStmt>(stmt).value) return;
    const Expr& value = *as<ReturnStmt>(stmt).value;
    note(value);
    if (value.kind == ExprKind::dict)
      for (const DictItem& item : as<DictExpr>(value).items)
        if (item.key && item.key->kind == ExprKind::string && item.value) note(*item.value);
  };
  for (const Stmt* stmt : function.body) for_each_statement(*stmt, each);
  for_each_expression(function, [&](const Expr& expr) {
    if (expr.kind != ExprKind::call || !as<CallExpr>(expr).arguments.empty() ||
        !as<CallExpr>(expr).keywords.empty() || as<CallExpr>(expr).function->kind != ExprKind::attribute)
      return;
    const auto& method = as<AttributeExpr>(*as<CallExpr>(expr).function);
    if (method.attribute.text() == "backward" && method.object->kind == ExprKind::name &&
        returned.contains(as<NameExpr>(*method.object).id.text()))
      found = &expr;
  });
  return found;
}

// The loss that the function returns, by itself or as `{"loss": loss}`, where none of its values has a graph.
const Expr* without_graph(const Record& record, const values::Function& function) {
  const Expr* found = nullptr;
  const auto has_none = [&](const Expr& expr) {
    bool any = false, all = true;
    for (const Fact& fact : record.facts) {
      if (fact.place.chunk != function.chunk || !(fact.place.span == expr.span)) continue;
      any = true;
      all = all && fact.tensor && fact.tensor->requires_grad == values::Known::no && !fact.tensor->poisoned;
    }
    return any && all;
  };
  const auto each = [&](const Stmt& stmt) {
    if (found || stmt.kind != StmtKind::return_ || !as<ReturnStmt>(stmt).value) return;
    const Expr& value = *as<ReturnStmt>(stmt).value;
    const Expr* loss = &value;
    if (value.kind == ExprKind::dict) {
      loss = nullptr;
      for (const DictItem& item : as<DictExpr>(value).items)
        if (item.key && item.key->kind == ExprKind::string && as<StringExpr>(*item.key).value == "loss")
          loss = item.value;
    }
    if (loss && has_none(*loss)) found = loss;
  };
  for (const Stmt* stmt : function.stmt->body) for_each_statement(*stmt, each);
  return found;
}

// `return [a], [b]` where `a` is an object of a class of the module, and `b` is none: the list of `a`.
const Expr* swapped_result(const Record& record, const values::Function& function, std::string_view module) {
  const Expr* found = nullptr;
  const auto is_of = [&](const Expr& expr, bool wanted) {
    return std::ranges::any_of(record.facts, [&](const Fact& fact) {
      if (fact.place.chunk != function.chunk || !(fact.place.span == expr.span)) return false;
      const values::Value value = fact.value;
      const auto* instance = value.is(values::Kind::instance) ? value.as<values::Instance>() : nullptr;
      return instance && instance->native && instance->native->path.starts_with(module) == wanted;
    });
  };
  const auto each = [&](const Stmt& stmt) {
    if (stmt.kind != StmtKind::return_ || !as<ReturnStmt>(stmt).value) return;
    const Expr& value = *as<ReturnStmt>(stmt).value;
    if (value.kind != ExprKind::tuple || as<TupleExpr>(value).elements.size() != 2) return;
    const Expr* first = as<TupleExpr>(value).elements[0];
    if (first->kind == ExprKind::list && !as<ListExpr>(*first).elements.empty() &&
        is_of(*as<ListExpr>(*first).elements[0], true))
      found = first;
  };
  for (const Stmt* stmt : function.stmt->body) for_each_statement(*stmt, each);
  return found;
}

// Whether a schedule of that class, or of one below that module, is given to the framework without a key,
// such as the name of a metric, as one of the forms that it takes: a dict of an optimizer and its schedule, a
// list of such, or two lists.
class ScheduleSearch {
public:
  ScheduleSearch(std::string_view path, std::string_view key) : path_(path), key_(key) {}

  bool lacks_key(Value given) const {
    if (given.is(values::Kind::dict)) return of_optimizer(given, true);
    const auto parts = items(given);
    if (given.is(values::Kind::tuple) && parts.size() == 2 && !parts[0].is(values::Kind::dict)) {
      return std::ranges::any_of(items(parts[1]), [&](Value each) { return of_schedule(each); });
    }
    return std::ranges::any_of(
        parts, [&](Value each) { return each.is(values::Kind::dict) && of_optimizer(each, false); });
  }

  bool of_schedule(Value given) const {
    if (!given.is(values::Kind::dict)) return is_schedule(given);
    const auto inner = at(given, Keys::inner);
    return inner && is_schedule(*inner) && lacks(given, key_);
  }

private:
  using Keys = libraries::ScheduleKeys;
  std::string_view path_, key_;

  bool is_schedule(Value value) const {
    const auto* object = value.is(values::Kind::instance) ? value.as<values::Instance>() : nullptr;
    return object && !object->cls && object->native &&
        (path_.ends_with('.') ? object->native->path.starts_with(path_) : object->native->path == path_);
  }
  static std::vector<Value> items(Value value) {
    if (value.is(values::Kind::tuple)) return value.as<values::Tuple>()->items;
    // What a list holds is gone where the run that made it was taken back.
    return value.is(values::Kind::list) && value.as<values::List>()->state.value
        ? values::Heap::list_state(value)->items
        : std::vector<Value>{};
  }
  // Absent if there is none, and nothing if that is not known.
  static std::optional<Value> at(Value dict, std::string_view key) {
    if (!dict.as<values::Dict>()->state.value) return std::nullopt;
    const values::DictState& state = *values::Heap::dict_state(dict);
    for (const auto& [name, item] : state.items) {
      if (!name.is(values::Kind::string)) return std::nullopt;
      if (name.text() == key) return item;
    }
    return state.rest || state.open ? std::nullopt : std::optional(Value{});
  }
  static bool lacks(Value dict, std::string_view key) {
    const auto found = at(dict, key);
    return found && (!*found || found->is(values::Kind::none));
  }
  bool of_optimizer(Value given, bool alone) const {
    const auto schedule = at(given, Keys::schedule);
    if (!schedule || !*schedule) return false;
    // Of one optimizer alone the metric may stand beside the schedule.
    return of_schedule(*schedule) && (schedule->is(values::Kind::dict) || !alone || lacks(given, key_));
  }
};

// What the function returns, where a schedule in it lacks the key.
const Expr* without_key(
    const Record& record, const values::Function& function, std::string_view path, std::string_view key) {
  const Expr* found = nullptr;
  const ScheduleSearch search(path, key);
  const auto any_fact = [&](const Expr& expr, const auto& holds) {
    return std::ranges::any_of(record.facts, [&](const Fact& fact) {
      return fact.place.chunk == function.chunk && fact.place.span == expr.span && holds(fact.value);
    });
  };
  const auto each = [&](const Stmt& stmt) {
    if (found || stmt.kind != StmtKind::return_ || !as<ReturnStmt>(stmt).value) return;
    const Expr* value = as<ReturnStmt>(stmt).value;
    if (any_fact(*value, [&](Value given) { return search.lacks_key(given); })) found = value;
    // `return [a], [b]`
    if (value->kind != ExprKind::tuple || as<TupleExpr>(*value).elements.size() != 2) return;
    const Expr* schedules = as<TupleExpr>(*value).elements[1];
    if (schedules->kind != ExprKind::list) return;
    for (const Expr* schedule : as<ListExpr>(*schedules).elements)
      if (any_fact(*schedule, [&](Value given) { return search.of_schedule(given); })) found = schedule;
  };
  for (const Stmt* stmt : function.stmt->body) for_each_statement(*stmt, each);
  return found;
}

bool takes(const FunctionStmt& function, std::string_view keyword) {
  return std::ranges::any_of(function.parameters->list, [&](const Parameter& each) {
    return each.kind == ParameterKind::var_keyword || each.name.text() == keyword;
  });
}

bool calls(const FunctionStmt& function, std::string_view method) {
  bool found = false;
  for_each_expression(function, [&](const Expr& each) {
    found = found || (each.kind == ExprKind::attribute && as<AttributeExpr>(each).attribute.text() == method);
  });
  return found && !method.empty();
}

// Does it compute with numbers of batches?
bool counts_batches(const FunctionStmt& function) {
  bool found = false;
  const auto is_one = [](syntax::Name name) {
    return std::ranges::find(libraries::batch_numbers, name.text()) != std::end(libraries::batch_numbers);
  };
  for_each_expression(function, [&](const Expr& each) {
    if (each.kind == ExprKind::attribute) found = found || is_one(as<AttributeExpr>(each).attribute);
    if (each.kind == ExprKind::call)
      for (const Keyword& keyword : as<CallExpr>(each).keywords) found = found || is_one(keyword.name);
  });
  return found;
}

void check(const Record& record, Report& report) {
  const RunConditions told = RunConditions::of(record);
  for (const values::Function* function : functions_that_ran(record)) {
    if (!function->owner || !function->stmt->decorators.empty() || function->owner->open ||
        function->stmt->body.empty())
      continue;
    for (const libraries::CalledMethod& each : libraries::called_methods()) {
      if (function->name.text() != each.method || !derives(*function->owner, each.of)) continue;
      if (!each.since.empty() && told.kept_below && told.kept_below(each.package, each.since)) continue;
      const FunctionStmt& stmt = *function->stmt;
      const bool wrong =
          (each.returns && !stmt.scope.returns_value && !stmt.scope.is_generator && does_something(stmt)) ||
          (each.one_optimizer && gives_several(stmt)) || (!each.given.empty() && !takes(stmt, each.given));
      const Expr* at = each.no_backward ? backward_of_result(stmt)
          : each.with_graph             ? without_graph(record, *function)
          : !each.first_of.empty()      ? swapped_result(record, *function, each.first_of)
          : !each.follows_metric.empty()
          ? without_key(record, *function, each.follows_metric, libraries::ScheduleKeys::metric)
          : !each.counts_batches.empty() && counts_batches(stmt)
          ? without_key(record, *function, each.counts_batches, libraries::ScheduleKeys::interval)
          : nullptr;
      if ((wrong || at) && !calls(stmt, each.unless_calls) &&
          (each.unless_off.empty() || !is_written(*function->owner, each.unless_off)))
        report.add(Severity::warning, {function->chunk, at ? at->span : stmt.name_span}, nullptr,
            std::string(each.why));
    }
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "call/framework-method",
    .severity = Severity::warning,
    .summary = "a method that a framework calls does not take or give what the framework needs",
    .why =
        "A framework calls methods of the program's classes and expects something of them. Lightning skips the step of a batch for which `training_step` returns nothing, with one warning; transformers gives `compute_loss` a keyword that older examples do not have.",
    .wrong = "class Model(LightningModule):\n"
             "    def training_step(self, batch, index):\n"
             "        loss = self.net(batch).mean()\n"
             "        self.log(\"loss\", loss)\n",
    .right = "class Model(LightningModule):\n"
             "    def training_step(self, batch, index):\n"
             "        loss = self.net(batch).mean()\n"
             "        self.log(\"loss\", loss)\n"
             "        return loss\n",
    .silent =
        "Manual optimization, however it is switched on; what a framework does only since a version below which the requirements keep it; methods that only raise, or are empty, for others to write; decorated ones; classes with bases that are not seen.",
    .fix = "None: decide what to return.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::call::framework_method
