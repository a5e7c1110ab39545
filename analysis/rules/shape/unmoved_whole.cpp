#include "rules/shape/unmoved_whole.hpp"

#include "libraries/table/class_roles.hpp"
#include "rules/name_hints.hpp"
#include "rules/shape/batch_names.hpp"
#include "rules/source.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace stepzero::rules {

using namespace interpreter;
using namespace syntax;
using values::code;
using values::Operation;

namespace {

// The name of the batch in `batch["x"][0].float()`, in `{k: v for k, v in batch.items()}`, in
// `tuple(part for part in batch)`: what is computed of a part lies where the batch does. Empty: of something
// else.
std::string_view batch_in(const Expr* expr) {
  for (;;) switch (expr->kind) {
    case ExprKind::name: return as<NameExpr>(*expr).id.text();
    case ExprKind::attribute: expr = as<AttributeExpr>(*expr).object; break;
    case ExprKind::subscript: expr = as<SubscriptExpr>(*expr).object; break;
    case ExprKind::starred: expr = as<StarredExpr>(*expr).value; break;
    case ExprKind::comprehension: expr = as<ComprehensionExpr>(*expr).generators[0].iterable; break;
    case ExprKind::call: {
      const auto& call = as<CallExpr>(*expr);
      if (call.function->kind == ExprKind::attribute)
        expr = as<AttributeExpr>(*call.function).object;
      else if (call.function->kind == ExprKind::name && call.arguments.size() == 1 &&
          says(as<NameExpr>(*call.function).id.text(), Says::holding))
        expr = call.arguments[0];
      else
        return {};
      break;
    }
    default: return {};
    }
}

// The names of a loop that hold its batch or parts of it, and nothing else at any time.
std::set<std::string_view> parts_as_they_came(const ForStmt& loop) {
  std::set<std::string_view> names = names_of_batch(loop, batch_in);
  std::set<std::string_view> others;
  for_each_statement(loop, [&](const Stmt& stmt) {
    if (stmt.kind != StmtKind::assign || !as<AssignStmt>(stmt).value) return;
    if (names.contains(batch_in(as<AssignStmt>(stmt).value))) return;
    for (const Expr* target : as<AssignStmt>(stmt).targets) add_names_of(*target, others);
  });
  for (const std::string_view other : others) names.erase(other);
  return names;
}

// May anything be brought to a device there, by whatever is called so or is told one?
bool may_move(const Stmt& stmt, const Record& record, std::uint32_t chunk, std::string_view model) {
  bool moves = false;
  for_each_expression(stmt, [&](const Expr& expr) {
    if (expr.kind != ExprKind::call) return;
    const auto& call = as<CallExpr>(expr);
    const bool of_model = call.function->kind == ExprKind::attribute &&
        record.text({chunk, as<AttributeExpr>(*call.function).object->span}) == model;
    moves = moves ||
        (!of_model && (says(last_name(*call.function), Says::moving) || may_take_device(call))) ||
        std::ranges::any_of(call.arguments, [](const Expr* each) { return names(*each, Says::to_device); }) ||
        std::ranges::any_of(call.keywords, [](const Keyword& each) {
          return says(each.name.text(), Says::to_device) || names(*each.value, Says::to_device);
        });
  });
  return moves;
}

// What the statements say of the model: was it moved, and by nothing that moves its inputs, too?
struct MovedModel {
  bool moved = false;
  bool open = false;
};
void look_for_moves(
    const Stmt& in, const Record& record, std::uint32_t chunk, std::string_view name, MovedModel& model) {
  const auto text = [&](const Expr& expr) { return record.text({chunk, expr.span}); };
  const auto moves = [&](const Expr& expr) {
    if (expr.kind != ExprKind::call) return false;
    const auto& call = as<CallExpr>(expr);
    if (call.function->kind != ExprKind::attribute) return false;
    const std::string_view method = as<AttributeExpr>(*call.function).attribute.text();
    return says(method, Says::to_accelerator) ||
        (says(method, Says::to_given) && call.arguments.size() == 1 &&
            (names(*call.arguments[0], Says::to_device) || text(*call.arguments[0]).find("cuda") < 8));
  };
  for_each_statement(in, [&](const Stmt& stmt) {
    if (stmt.kind == StmtKind::expression) {
      const Expr& expr = *as<ExpressionStmt>(stmt).value;
      if (expr.kind == ExprKind::call) {
        const auto& call = as<CallExpr>(expr);
        const bool given = std::ranges::any_of(
            call.arguments, [&](const Expr* argument) { return text(*argument) == name; });
        const bool back = call.function->kind == ExprKind::attribute &&
            text(*as<AttributeExpr>(*call.function).object) == name && !moves(expr) &&
            says(as<AttributeExpr>(*call.function).attribute.text(), Says::moving);
        const bool to_cpu = says(last_name(*call.function), Says::to_host) &&
            text(*call.function).starts_with(name);
        model.open = model.open || (given && says(last_name(*call.function), Says::wrapping)) || back ||
            to_cpu;
      }
      model.moved = model.moved ||
          (moves(expr) && text(*as<AttributeExpr>(*as<CallExpr>(expr).function).object) == name);
    }
    if (stmt.kind != StmtKind::assign || !as<AssignStmt>(stmt).value) return;
    const auto& assigned = as<AssignStmt>(stmt);
    if (std::ranges::none_of(assigned.targets, [&](const Expr* target) {
          return text(*target) == name ||
              (target->kind == ExprKind::tuple && text(*target).find(name) != std::string_view::npos);
        }))
      return;
    model.moved = model.moved || moves(*assigned.value);
    // A wrapper moves what it is given, a framework whatever it likes.
    for_each_expression(*assigned.value, [&](const Expr& expr) {
      if (expr.kind == ExprKind::call)
        model.open = model.open || says(last_name(*as<CallExpr>(expr).function), Says::wrapping);
    });
  });
}

// Does the program say of its data that something moves them: what collates, or gives, samples?
bool data_may_be_moved(const Record& record) {
  if (std::ranges::any_of(
          libraries::loads_to_device, [&](std::string_view word) { return program_says(record, word); }))
    return true;
  bool moved = false;
  for (std::uint32_t i = 0; i < record.chunks.size(); ++i) {
    const Stmt* top = record.chunks[i].statement();
    if (!top || moved) continue;
    for_each_statement(*top, [&](const Stmt& stmt) {
      if (stmt.kind == StmtKind::function && says(as<FunctionStmt>(stmt).name.text(), Says::giving_samples))
        moved = moved || may_move(stmt, record, i, {});
    });
  }
  return moved;
}
// Does the model's own class move anything? Of one that is not seen nobody knows.
std::optional<bool> moves_what_it_is_given(const OperationEvent& forward) {
  if (!forward.self.is(values::Kind::instance)) return std::nullopt;
  const values::Class* cls = forward.self.as<values::Instance>()->cls;
  if (!cls) return false;
  bool moves = false;
  for (const values::Class* each : cls->order)
    if (each->stmt)
      for_each_expression(*each->stmt, [&](const Expr& expr) {
        if (expr.kind == ExprKind::call)
          moves = moves || says(last_name(*as<CallExpr>(expr).function), Says::moving);
      });
  return moves || cls->open ? (moves ? std::optional(true) : std::nullopt) : std::optional(false);
}

// Is what collates a function that is not seen, or that may move what it gives?
bool collates_itself(const Expr& made, const Record& record) {
  bool may = false;
  for_each_expression(made, [&](const Expr& expr) {
    if (expr.kind != ExprKind::call) return;
    for (const Keyword& keyword : as<CallExpr>(expr).keywords) {
      if (!says(keyword.name.text(), Says::giving_samples)) continue;
      bool seen = keyword.value->kind == ExprKind::none;
      for (std::uint32_t i = 0; i < record.chunks.size(); ++i)
        if (const Stmt* top = record.chunks[i].statement(); top && top->kind == StmtKind::function &&
            as<FunctionStmt>(*top).name.text() == last_name(*keyword.value))
          seen = !may_move(*top, record, i, {});
      may = may || !seen;
    }
  });
  return may;
}
bool trains_in(const Stmt& loop) { return calls(loop, Says::making_backward); }

struct WholeSearch {
  const Record& record;
  Report& report;
  std::set<const Stmt*> told;

  void look(const OperationEvent& event);
};

// An input of the call that is the batch, or a part of it.
const Expr* part_given(const CallExpr& call, const std::set<std::string_view>& parts) {
  for (const Expr* argument : call.arguments)
    if (parts.contains(batch_in(argument))) return argument;
  for (const Keyword& keyword : call.keywords)
    if (parts.contains(batch_in(keyword.value))) return keyword.value;
  return nullptr;
}

void WholeSearch::look(const OperationEvent& event) {
  const auto [function, loop] = batch_loop_around(record, event.place);
  if (!loop || told.contains(loop)) return;
  const ChunkOf& chunk = record.chunk(event.place);
  const CallExpr* call = call_of(record, event);
  if (!call) return;
  const Expr* given = part_given(*call, parts_as_they_came(*loop));
  if (!given) return;
  const std::uint32_t at = event.place.chunk;
  const std::string_view name = record.text({at, call->function->span});
  const Expr* source = iterated_in(loop->iterable);
  // What is given to a function, whoever calls it may have made to move its batches.
  bool loader_is_made = source->kind == ExprKind::call;
  const std::string_view made_by = source->kind == ExprKind::call ? last_name(*as<CallExpr>(*source).function)
                                                                  : last_name(*source);
  const bool is_loader = says(made_by, Says::loader);
  if (made_by.empty() ||
      (!is_loader && (!trains_in(*loop) || says(made_by, Says::iterating) || says(made_by, Says::counting))))
    return;
  // A loader that was told a device brings its batches there.
  if (may_move(*loop, record, at, name) || names(*loop->iterable, Says::to_device)) return;
  MovedModel model;
  bool loader_is_told = false;
  const auto look_in = [&](const Stmt& stmt, std::uint32_t in) {
    look_for_moves(stmt, record, in, name, model);
    const std::string_view loader = record.text({at, source->span});
    for_each_statement(stmt, [&](const Stmt& each) {
      if (each.kind != StmtKind::assign || !as<AssignStmt>(each).value) return;
      const auto& assigned = as<AssignStmt>(each);
      for (const Expr* target : assigned.targets)
        if (record.text({in, target->span}).find(loader) != std::string_view::npos) {
          loader_is_made = loader_is_made || assigned.value->kind == ExprKind::call;
          loader_is_told = loader_is_told || names(*assigned.value, Says::to_device) ||
              calls(*assigned.value, Says::moving) || collates_itself(*assigned.value, record);
        }
    });
  };
  if (function) {
    look_in(*function, at);
  } else {
    for (std::uint32_t i = 0; i < record.chunks.size(); ++i)
      if (const Stmt* top = record.chunks[i].statement(); top && record.chunks[i].path == chunk.path &&
          top->kind != StmtKind::function && top->kind != StmtKind::class_)
        look_in(*top, i);
  }
  if (!model.moved || model.open || !loader_is_made || loader_is_told ||
      collates_itself(*loop->iterable, record) || data_may_be_moved(record) ||
      fails_by_device(record, at, loop->span))
    return;
  const std::optional<bool> moves = moves_what_it_is_given(event);
  if (moves.value_or(false)) return;
  told.insert(loop);
  const bool known = is_loader && moves.has_value();
  report.add(known ? Severity::warning : Severity::information, event.place, event.calls,
      code(std::string(batch_in(given))) + " stays where " +
          code(std::string(record.text({at, source->span}))) + (is_loader ? ", by its name a loader," : "") +
          " made it, and " + code(std::string(name)) +
          " is moved: nothing in the loop moves a batch. Move it to the model's device first" +
          (known ? "." : ", unless one of the two does so itself."));
}

}  // namespace

void look_for_batches_left_whole(const Record& record, Report& report) {
  WholeSearch search{record, report, {}};
  visit_operations(record, [&](const OperationEvent& event) {
    if (event.row->operation == Operation::forward && record.in_file(event.place)) search.look(event);
  });
}

}  // namespace stepzero::rules
